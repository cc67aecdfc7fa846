"""`course.py lab` run for real, as a reader types it: the first start, later ones, changes.

The packages are empty, see fake_course.py: real environments and the real pip, in a folder
with accents and spaces.
"""

import json
import os
import shutil
import signal
from pathlib import Path

from fake_course import FakeCourse, listener, pins, posix, write_wheel

from launcher.lab import PROMPT


def test_c35_first_start_sets_up_in_a_folder_with_accents_and_opens_lesson_00(fresh):
    fake, code, out, calls = fresh
    assert code == 0, out
    for step in ("[1/4] Making", "[2/4] Installing", "[3/4] Installing", "[4/4] Looking"):
        assert step in out
    (lab,) = [call for call in calls if call["program"] == "jupyterlab"]
    assert "--LabApp.default_url=/lab/tree/notebooks/en/00_start-here.ipynb" in lab["arguments"]
    assert f"--ServerApp.root_dir={fake.folder}" in lab["arguments"]
    assert "--ServerApp.ip=localhost" in lab["arguments"]
    assert "--no-browser" not in lab["arguments"]
    assert not [a for a in lab["arguments"] if "token" in a or "password" in a]
    assert lab["environment"]["JUPYTER_PREFER_ENV_PATH"] == "1"


def test_everything_the_files_ask_for_is_installed(fresh):
    wanted = pins("requirements.txt") | pins("requirements-model.txt")
    assert fresh[0].versions(wanted) == wanted


def test_what_was_installed_is_compiled_before_anybody_waits_for_it(fresh):
    name = "jsonschema"  # which the set-up does not import
    compiled = f"u.cache_from_source(u.find_spec({name!r}).origin)"
    code = f"import importlib.util as u, os; print(os.path.exists({compiled}))"
    assert name in pins("requirements.txt") and fresh[0].ask(code) == "True"


def test_the_helpers_can_be_imported_from_any_folder(fresh):
    fake = fresh[0]
    found = fake.ask("import helpers; print(helpers.__file__)")
    assert found == str(fake.folder / "helpers" / "__init__.py")


def test_jupyterlab_asks_nothing_and_calls_nobody(fresh):
    fake, _, _, calls = fresh
    file = fake.folder / ".venv/share/jupyter/lab/settings/overrides.json"
    settings = json.loads(file.read_text(encoding="utf-8"))
    notifications = settings["@jupyterlab/apputils-extension:notification"]
    assert notifications == {"fetchNews": "false", "checkForUpdates": False}
    assert settings["@jupyterlab/extensionmanager-extension:plugin"] == {"enabled": False}
    arguments = calls[-1]["arguments"]
    assert "--LabApp.news_url=None" in arguments
    assert "--LabApp.extension_manager=readonly" in arguments


def test_c23_jupyterlab_sends_the_kernels_answers_at_once(fresh):
    assert PROMPT in fresh[3][-1]["arguments"]


def test_a_later_start_sets_nothing_up(course):
    log = course.folder / ".venv" / "course-setup.log"
    before = log.read_text(encoding="utf-8")
    code, out = course.run("lab", "--no-browser")
    assert code == 0 and "cannot be saved" not in out
    assert "[1/" not in out and "nvironment" not in out
    assert log.read_text(encoding="utf-8") == before
    assert "--no-browser" in course.calls()[0]["arguments"]


def test_spanish_opens_spanish_and_leaves_english_english(course):
    code, out = course.run("lab", "--lang", "es")
    assert code == 0 and "Para cerrarlo" in out
    code, out = course.run("lab")
    assert code == 0 and "To stop it" in out
    spanish, english = course.calls()
    assert "--LabApp.default_url=/lab/tree/notebooks/es/00_start-here.ipynb" in spanish["arguments"]
    assert spanish["overrides"] == [
        {"@jupyterlab/translation-extension:plugin": {"locale": "es_ES"}}
    ]
    assert english["overrides"] == [{"@jupyterlab/translation-extension:plugin": {"locale": "en"}}]


def test_the_folder_of_a_run_is_gone_after_it(course):
    course.run("lab")
    assert [p for p in (course.outside / "tmp").iterdir() if p.is_dir()] == []


def test_foreign_settings_do_not_reach_the_programs(course):
    course.run("lab", PYTHONPATH="/elsewhere", PYTHONHOME=None, PIP_TARGET="/elsewhere")
    environment = course.calls()[0]["environment"]
    assert "PYTHONPATH" not in environment and "PIP_TARGET" not in environment
    assert environment["PATH"].split(os.pathsep)[0] == str(course.python.parent)


# Changes, interruptions, damage ------------------------------------------------------------


def test_a_changed_requirement_brings_the_environment_up_to_date(course):
    file = course.folder / "requirements.txt"
    before = file.read_text(encoding="utf-8")
    write_wheel(course.wheels, "numpy", "99.1")
    file.write_text(before.replace(f"numpy=={pins(file)['numpy']}", "numpy==99.1"), "utf-8")
    code, out = course.run("lab")
    assert code == 0, out
    assert "other packages than last time" in out
    assert course.ask("import numpy; print(numpy.version)") == "99.1"
    file.write_text(before, "utf-8")
    assert course.run("lab")[0] == 0
    assert course.ask("import numpy; print(numpy.version)") == pins(file)["numpy"]


def test_a_changed_comment_or_line_end_changes_nothing(course):
    file = course.folder / "requirements.txt"
    before = file.read_bytes()
    file.write_bytes(b"# another comment\r\n" + before.replace(b"\n", b"\r\n"))
    code, out = course.run("lab")
    file.write_bytes(before)
    assert code == 0 and "[1/" not in out


@posix
def test_an_interrupted_first_start_is_noticed_and_finished(tmp_path):
    fake = FakeCourse(tmp_path / "course", tmp_path / "outside")
    with listener() as server:
        # an index that never answers: pip waits for it in the middle of the set-up
        index = f"http://127.0.0.1:{server.getsockname()[1]}/simple"
        process = fake.start("lab", PIP_NO_INDEX=None, PIP_INDEX_URL=index)
        server.settimeout(120)
        connection, _ = server.accept()
        os.killpg(process.pid, signal.SIGINT)  # what Ctrl-C does
        out = process.communicate(timeout=60)[0].decode()
        connection.close()
    assert process.returncode == 130, out
    assert "Stopped." in out and "course.py lab goes on from here" in out
    assert "Traceback" not in out
    assert fake.python.exists()

    # pip was putting a package down: its record is there, its files are not
    torch = pins("requirements.txt")["torch"]
    packages = fake.ask("import sysconfig; print(sysconfig.get_path('purelib'))")
    record = Path(packages) / f"torch-{torch}.dist-info"
    record.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: torch\nVersion: {torch}\n"
    (record / "METADATA").write_text(metadata, encoding="utf-8")

    code, out = fake.run("lab")
    assert code == 0, out
    assert "was not finished" in out
    assert fake.ask("import torch; print(torch.version)") == torch
    assert [call["program"] for call in fake.calls()] == ["jupyterlab"]


@posix
def test_c35_a_renamed_folder_gets_its_environment_anew(tmp_path, course):
    """The copy has the same environment as the first, made for another folder."""
    moved = FakeCourse(tmp_path / "otro sitio", tmp_path / "outside")
    shutil.copytree(course.folder / ".venv", moved.folder / ".venv", symlinks=True)
    code, out = moved.run("lab")
    assert code == 0, out
    assert "was moved or copied" in out
    found = moved.ask("import helpers; print(helpers.__file__)")
    assert found == str(moved.folder / "helpers" / "__init__.py")
