"""The launcher's parts: the lock, ports, the command line, the lessons by the real nbval."""

import errno
import json
import socket
import sys
import threading
from pathlib import Path

import nbformat
import pytest

from launcher import cli, lab, lock, set_up, testing
from launcher.environment import READER_FILES, Environment
from launcher.say import StepError

# Two at once --------------------------------------------------------------------------------


def test_a_second_start_waits_for_the_first(tmp_path, monkeypatch):
    order, said, waiting = [], [], threading.Event()
    monkeypatch.setattr(lock, "say", lambda text: (said.append(text), waiting.set()))

    def second():
        with lock.one_at_a_time(tmp_path):
            order.append("second")

    thread = threading.Thread(target=second)
    with lock.one_at_a_time(tmp_path):
        thread.start()
        assert waiting.wait(30)
        order.append("first")
    thread.join(30)
    assert order == ["first", "second"]
    assert len(said) == 1 and "waiting for it" in said[0]


def test_a_second_start_finds_the_work_done(here, monkeypatch):
    """What another start finished while this one waited is not done again."""
    monkeypatch.setattr(set_up, "find", lambda sets: here)
    monkeypatch.setattr(set_up, "set_up", lambda *_: pytest.fail("set up again"))

    class Finished:
        def __init__(self, folder):
            pass

        def __enter__(self):
            here.mark(READER_FILES)

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(set_up, "one_at_a_time", Finished)
    assert set_up.ready() is here


# Ports --------------------------------------------------------------------------------------


def test_a_free_port_passes_and_a_taken_one_is_named():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(1)
        port = server.getsockname()[1]
        assert lab.listening_fails(port)
        with pytest.raises(StepError, match=f"port {port} is taken") as caught:
            lab.check_port(port)
        assert f"--port {port}," not in caught.value.advice
    lab.check_port(lab.free_port(port))


def test_a_port_that_is_not_for_users(monkeypatch):
    monkeypatch.setattr(lab, "listening_fails", lambda port: errno.EACCES if port < 1024 else None)
    with pytest.raises(StepError, match="does not let you use port 80") as caught:
        lab.check_port(80)
    assert "--port 1024" in caught.value.advice


def test_the_command_line():
    wishes = cli.Wishes(["--lang=es", "lab", "--port", "9000", "--no-browser"])
    asked = (wishes.command, wishes.language, wishes.port, wishes.browser)
    assert asked == ("lab", "es", 9000, False)
    wishes = cli.Wishes(["test", "tests/test_x.py", "-k", "lab", "--lang", "en", "-x"])
    assert (wishes.command, wishes.rest) == ("test", ["tests/test_x.py", "-k", "lab", "-x"])
    assert cli.Wishes([]).command is None
    assert cli.Wishes(["lab", "--help"]).help


# JupyterLab ---------------------------------------------------------------------------------


def test_c23_an_answer_of_the_kernel_is_not_held_back(monkeypatch):
    """JupyterLab's own line to the page, and on it each message is sent when it comes."""
    from jupyter_server.serverapp import ServerApp
    from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
    from jupyter_server.services.kernels.websocket import KernelWebsocketHandler

    _, name = lab.PROMPT.split("=")
    ours = ServerApp(kernel_websocket_connection_class=name).kernel_websocket_connection_class
    done, usual = [], ZMQChannelsWebsocketConnection
    monkeypatch.setattr(usual, "connect", lambda self: done.append("connect"))
    line, page = ours.__new__(ours), KernelWebsocketHandler.__new__(KernelWebsocketHandler)
    page.set_nodelay, line.websocket_handler = done.append, page
    line.connect()
    assert issubclass(ours, usual)
    assert done == [True, "connect"]


# The lessons, by the real nbval -------------------------------------------------------------


def lesson(folder: Path, printed: str) -> None:
    """A lesson of one cell that prints 2 and draws, by an author whose kernel has another name."""
    notebook = nbformat.v4.new_notebook()
    notebook.metadata["kernelspec"] = {"name": "conda-env-clase-py", "display_name": "clase"}
    source = "import matplotlib\nprint(1 + 1, 'inline' in matplotlib.get_backend())"
    output = nbformat.v4.new_output("stream", name="stdout", text=printed)
    notebook.cells = [nbformat.v4.new_code_cell(source, outputs=[output], execution_count=1)]
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / "00_start-here.ipynb")


def test_c32_lessons_pass_whatever_kernel_the_author_had(tmp_path, monkeypatch, capfd):
    """The first lesson passes, the second, which shows another number, fails."""
    lesson(tmp_path / "notebooks/en", "2 True\n")
    lesson(tmp_path / "notebooks/es", "3 True\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(testing, "PROJECT", tmp_path)
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only")
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_CURRENT_TEST"):
        monkeypatch.delenv(name, raising=False)
    ours = Environment(Path(sys.prefix))
    env = testing.variables(ours, tmp_path / "scratch")
    result = testing.lessons(ours, env, tmp_path / "scratch")
    out = capfd.readouterr().out
    assert result == (False, "1 passed, 1 failed, 0 skipped"), out
    assert "FAILED notebooks/es/00_start-here.ipynb::Cell 0" in out
    assert "not one cell was run" not in out


def test_what_the_tests_load_is_compiled_once(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    env = testing.variables(Environment(Path(sys.prefix)), tmp_path)
    assert "PYTHONDONTWRITEBYTECODE" not in env


def test_the_quiet_settings_are_jupyterlabs_own_names():
    """The keys of overrides.json are settings that this JupyterLab has."""
    schemas = Path(sys.prefix) / "share/jupyter/lab/schemas"
    for plugin, settings in set_up.QUIET["share/jupyter/lab/settings/overrides.json"].items():
        package, name = plugin.split(":")
        schema = json.loads((schemas / package / f"{name}.json").read_text(encoding="utf-8"))
        assert settings.keys() <= schema["properties"].keys()
    schema = schemas / "@jupyterlab/translation-extension/plugin.json"
    assert "locale" in json.loads(schema.read_text(encoding="utf-8"))["properties"]


def test_kernels_read_the_quiet_settings(tmp_path):
    """ipykernel takes its settings from etc/ipython in the environment."""
    from IPython.core.application import ENV_CONFIG_DIRS

    (name,) = [name for name in set_up.QUIET if "ipython" in name]
    assert str(Path(sys.prefix) / Path(name).parent) in ENV_CONFIG_DIRS
    assert Path(name).name == "ipython_kernel_config.json"
