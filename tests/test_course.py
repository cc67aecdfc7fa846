"""`course.py` run for real, as a reader types it, in a copy whose packages are empty.

See fake_course.py: real environments and the real pip, in a folder with accents and spaces.
"""

import ast
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
from fake_course import PROJECT, FakeCourse, pins, write_wheel

import course as entry

posix = pytest.mark.skipif(os.name == "nt", reason="signals and links as on Linux and macOS")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A course that was started once: (course, exit code, what it printed, what was started)."""
    top = tmp_path_factory.mktemp("course")
    fake = FakeCourse(top / "Curso de atención" / "ñandú 1", top / "outside")
    code, out = fake.run("lab")
    return fake, code, out, fake.calls()


@pytest.fixture
def course(fresh):
    """The same course, ready, with nothing started yet."""
    fake = fresh[0]
    fake.calls()
    return fake


@contextmanager
def listener():
    """A port of this machine where somebody listens, and never says anything."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(8)
        yield server


def words(text: str) -> str:
    return " ".join(text.split())


# The first start, and the later ones -------------------------------------------------------


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
    fake = fresh[0]
    for package, version in (pins("requirements.txt") | pins("requirements-model.txt")).items():
        asked = f"import importlib.metadata as m; print(m.version({package!r}))"
        assert fake.ask(asked) == version


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


def test_a_later_start_sets_nothing_up(course):
    log = course.folder / ".venv" / "course-setup.log"
    before = log.read_text(encoding="utf-8")
    code, out = course.run("lab", "--no-browser")
    assert code == 0
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
    half = fake.ask("import sysconfig; print(sysconfig.get_path('purelib'))")
    record = f"{half}/torch-{pins('requirements.txt')['torch']}.dist-info"
    os.mkdir(record)
    with open(f"{record}/METADATA", "w", encoding="utf-8") as file:
        file.write(
            f"Metadata-Version: 2.1\nName: torch\nVersion: {pins('requirements.txt')['torch']}\n"
        )

    code, out = fake.run("lab")
    assert code == 0, out
    assert "was not finished" in out
    assert fake.ask("import torch; print(torch.version)") == pins("requirements.txt")["torch"]
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

    # and now its Python goes away, as after an upgrade of the system
    for link in moved.python.parent.glob("python*"):
        link.unlink()
    moved.python.symlink_to("/nowhere/python3")
    code, out = moved.run("lab", "--lang", "es")
    assert code == 0, out
    assert "ya no funciona" in out
    assert moved.ask("print(1)") == "1"


# Failures, in words ------------------------------------------------------------------------


@pytest.fixture
def unfinished(course):
    """The ready course without its markers: every start sets up again. Put back afterwards."""
    markers = {path: path.read_bytes() for path in (course.folder / ".venv").glob("course-*.json")}
    for path in markers:
        path.unlink()
    yield course
    for path, content in markers.items():
        path.write_bytes(content)


def test_no_index(unfinished):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # taken, but nobody listens
        index = f"http://127.0.0.1:{closed.getsockname()[1]}/simple"
        write_wheel(unfinished.wheels, "numpy", "99.1")
        unfinished.write("requirements.txt", "numpy==98\n")
        try:
            code, out = unfinished.run(
                "lab", PIP_NO_INDEX=None, PIP_INDEX_URL=index, PIP_RETRIES="0"
            )
        finally:
            shutil.copy(PROJECT / "requirements.txt", unfinished.folder)
    assert code == 1
    assert "This step did not work: Installing what the lessons need" in out
    assert "the package index does not answer" in out
    assert "HTTPS_PROXY" in out
    assert str(unfinished.folder / ".venv" / "course-setup.log") in out
    assert unfinished.calls() == []


@pytest.mark.parametrize(
    ("language", "why"),
    [
        ("en", "the package index has no numpy==98"),
        ("es", "en el índice de paquetes no hay numpy==98"),
    ],
)
def test_a_pin_that_is_not_there(unfinished, language, why):
    unfinished.write("requirements.txt", "numpy==98\n")
    try:
        code, out = unfinished.run("lab", "--lang", language)
    finally:
        shutil.copy(PROJECT / "requirements.txt", unfinished.folder)
    assert code == 1
    assert why in words(out)
    assert "    | ERROR: No matching distribution found for numpy==98" in out
    assert len(out.splitlines()) < 25  # no walls of text
    assert unfinished.calls() == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full: a disk that is full")
def test_a_full_disk(unfinished):
    log = unfinished.folder / ".venv" / "course-setup.log"
    log.unlink()
    log.symlink_to("/dev/full")
    try:
        code, out = unfinished.run("lab", "--lang", "es")
    finally:
        log.unlink()
        log.touch()
    assert code == 1
    assert "Por qué: no queda sitio en el disco." in out
    assert "TMPDIR" in out


def test_a_package_that_cannot_be_imported(unfinished):
    broken = "raise ImportError('DLL load failed while importing _C')"
    folder = unfinished.ask("import safetensors; print(safetensors.__path__[0])")
    file = os.path.join(folder, "__init__.py")
    with open(file, encoding="utf-8") as before:
        whole = before.read()
    with open(file, "w", encoding="utf-8") as after:
        after.write(broken)
    code, out = unfinished.run("lab")
    with open(file, "w", encoding="utf-8") as after:
        after.write(whole)
    assert code == 1
    assert "not all of it can be imported" in out
    assert "DLL load failed while importing _C" in out and "Visual C++" in out


def test_port_taken(course):
    with listener() as server:
        port = server.getsockname()[1]
        code, out = course.run("lab", "--port", str(port))
        assert code == 1
        assert f"port {port} is taken" in out
        code, spanish = course.run("lab", f"--port={port}", "--lang=es")
        assert code == 1 and f"el puerto {port} está ocupado" in spanish
    assert course.calls() == []
    suggested = out.split("--port ")[1].split(",")[0]
    code, out = course.run("lab", "--port", suggested)
    assert code == 0, out
    assert f"--ServerApp.port={suggested}" in course.calls()[0]["arguments"]


def test_a_course_without_its_lessons(course):
    lesson = course.folder / "notebooks/es/00_start-here.ipynb"
    lesson.rename(lesson.with_suffix(".away"))
    code, out = course.run("lab", "--lang", "es")
    lesson.with_suffix(".away").rename(lesson)
    assert code == 1
    assert "le falta el archivo notebooks/es/00_start-here.ipynb" in out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["lab", "--port", "many"], "a whole number from 1 to 65535"),
        (["lab", "--port", "70000"], "a whole number from 1 to 65535"),
        (["lab", "--lang", "fr"], "English (en) and Spanish (es)"),
        (["lab", "--lang"], "--lang needs a value"),
        (["laboratory"], "do not know the word laboratory"),
        (["lab", "--fast"], "do not know the word --fast"),
        (["--lang", "es", "nada"], "No conozco la palabra nada"),
    ],
)
def test_a_command_line_it_does_not_know(course, line, said):
    code, out = course.run(*line)
    assert code == 2
    assert said in out and "course.py --help" in out


# A locked-down machine ---------------------------------------------------------------------


def test_c36_a_home_that_cannot_be_written_to(course):
    code, out = course.run("lab", HOME=os.devnull, USERPROFILE=os.devnull)
    assert code == 0, out
    assert "Your home folder cannot be written to" in out
    environment = course.calls()[0]["environment"]
    for name in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR"):
        assert environment[f"JUPYTER_{name}"].startswith(str(course.outside / "tmp"))
    for name in ("IPYTHONDIR", "MPLCONFIGDIR"):
        assert environment[name].startswith(str(course.outside / "tmp"))


def test_c36_a_course_folder_that_cannot_be_written_to(tmp_path):
    """The environment goes to a folder of the user's; the course's folder stays as it is."""
    fake = FakeCourse(tmp_path / "Sólo lectura", tmp_path / "outside")
    code = (
        "import sys; from launcher import PROJECT, children, cli\n"
        "real = children.can_write\n"
        "children.can_write = lambda folder: folder != PROJECT and real(folder)\n"
        "sys.exit(cli.main(sys.argv[1:]))"
    )
    before = sorted(fake.folder.rglob("*.*"))
    home = fake.outside / "home"
    where = {"XDG_DATA_HOME": str(home), "LOCALAPPDATA": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    status, out = fake.run("lab", code=code, **where)
    assert status == 0, out
    assert "cannot be written to, so the environment is in" in out
    assert sorted(fake.folder.rglob("*.*")) == before
    (lab,) = fake.calls()
    environment = lab["environment"]["VIRTUAL_ENV"]
    assert environment.startswith(str(home)) or sys.platform == "darwin"
    python = shutil.which("python", path=lab["environment"]["PATH"])
    asked = [python, "-c", "import helpers; print(ascii(helpers.__file__))"]
    for locale in ({}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
        found = subprocess.check_output(asked, cwd=home, env=fake.variables(**locale))
        assert b"lectura" in found
    status, out = fake.run("lab", code=code, **where)
    assert status == 0 and "[1/" not in out


@pytest.mark.parametrize(
    "locale",
    [
        {"PYTHONIOENCODING": "cp1252"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
    ],
)
@pytest.mark.parametrize("line", [["--help", "--lang", "es"], ["lab", "--lang", "es"]])
def test_c35_any_terminal_can_print_what_it_says(course, locale, line):
    process = course.start(*line, **locale)
    out = process.communicate(timeout=120)[0]
    assert process.returncode == 0, out
    text = out.decode("cp1252" if locale.get("PYTHONIOENCODING") == "cp1252" else "utf-8")
    assert "lecci" in text or "direcci" in text
    if "cp1252" not in locale.values():
        assert "leccion" in text or "direccion" in text  # the accent goes, the letter stays


def test_c35_a_set_up_in_a_c_locale(unfinished):
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code, out = unfinished.run("lab", "--lang", "es", **locale)
    assert code == 0, out
    assert "El entorno esta listo" in out
    code, out = unfinished.run("lab", "--lang", "es")  # made in one locale, ready in another
    assert code == 0 and "[1/" not in out


# Stopping ----------------------------------------------------------------------------------


@posix
def test_ctrl_c_is_for_jupyterlab_to_answer(course):
    process = course.start("lab", WAITS="jupyterlab")
    while b"waiting" not in process.stdout.readline():
        assert process.poll() is None
    os.kill(process.pid, signal.SIGINT)  # only us: JupyterLab goes on, and so do we
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    os.killpg(process.pid, signal.SIGINT)
    out = process.communicate(timeout=30)[0]
    assert process.returncode != 0 and b"launcher" not in out  # no traceback of ours


@posix
def test_ending_the_launcher_ends_jupyterlab(course):
    process = course.start("lab", WAITS="jupyterlab")
    while b"waiting" not in process.stdout.readline():
        assert process.poll() is None
    process.terminate()
    process.communicate(timeout=30)  # returns only when JupyterLab let go of the output, too
    assert process.returncode == 143


# test, save, bench -------------------------------------------------------------------------

CELLS = '<testcase classname="notebooks.{}.00_start-here.ipynb" name="Cell 0">{}</testcase>'
BOTH = CELLS.format("en", "") + CELLS.format("es", "")
CASES = '<testcase classname="tests.a"/><testcase classname="tests.b"><skipped/></testcase>'


def test_test_runs_what_ci_runs(course):
    code, out = course.run("test", CELLS=BOTH, CASES=CASES)
    assert code == 0, out
    assert "All 4 parts passed: style, format, tests, lessons." in out.splitlines()
    assert "tests    passed  1 passed, 0 failed, 1 skipped" in out
    assert "lessons  passed  2 passed, 0 failed, 0 skipped" in out
    style, formatting, tests, lessons = course.calls()
    assert (style["program"], style["arguments"]) == ("ruff", ["check", "."])
    assert formatting["arguments"] == ["format", "--check", "."]
    assert tests["arguments"][:5] == ["tests", "-n", "2", "--dist", "loadscope"]
    assert lessons["arguments"][:3] == ["--nbval", "notebooks/en", "notebooks/es"]
    assert "--nbval-cell-timeout 120" in " ".join(lessons["arguments"])
    assert "-n 2 --dist loadscope" in " ".join(lessons["arguments"])
    for call in (tests, lessons):
        environment = call["environment"]
        assert environment["HF_HUB_OFFLINE"] == environment["PYTHONUTF8"] == "1"
        for name in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR"):
            assert environment[f"JUPYTER_{name}"].startswith(str(course.outside / "tmp"))
    for package, version in pins("requirements-dev.txt").items():
        asked = f"import importlib.metadata as m; print(m.version({package!r}))"
        assert course.ask(asked) == version


@pytest.mark.parametrize(
    ("fails", "failed"),
    [
        ("ruff check", ["style"]),
        ("ruff format", ["format"]),
        ("pytest tests", ["tests"]),
        ("pytest --nbval", ["lessons"]),
        ("ruff check, ruff format, pytest tests", ["style", "format", "tests"]),
    ],
)
def test_each_part_runs_and_any_can_fail(course, fails, failed):
    code, out = course.run("test", CELLS=BOTH, CASES=CASES, FAILS=fails)
    assert code == 1
    assert len(course.calls()) == 4
    assert f"Parts that failed ({len(failed)}): {', '.join(failed)}." in out.splitlines()


def test_test_speaks_spanish(course):
    out = course.run("test", "--lang", "es", CELLS=BOTH, CASES=CASES, FAILS="ruff format")[1]
    assert "Partes que han fallado (1): formato." in out.splitlines()
    out = course.run("test", "--lang", "es", CELLS=BOTH, CASES=CASES)[1]
    assert "Las 4 partes han ido bien: estilo, formato, pruebas, lecciones." in out.splitlines()


@pytest.mark.parametrize(
    "cells",
    ["", CELLS.format("en", ""), CELLS.format("en", "") + CELLS.format("es", "<skipped/>")],
)
def test_a_lesson_of_which_no_cell_ran_is_a_failure(course, cells):
    code, out = course.run("test", CELLS=cells, CASES=CASES)
    assert code == 1
    assert "notebooks/es/00_start-here.ipynb: not one cell was run." in out
    assert "Parts that failed (1): lessons." in out


def test_an_edition_without_lessons_is_a_failure(course):
    lesson = course.folder / "notebooks/es/00_start-here.ipynb"
    lesson.rename(lesson.with_suffix(".away"))
    code, out = course.run("test", CELLS=BOTH, CASES=CASES)
    lesson.with_suffix(".away").rename(lesson)
    assert code == 1
    assert "There is no lesson in notebooks/es" in out


def test_words_after_test_go_to_pytest_alone(course):
    code, _ = course.run("test", "-k", "quiz", "--lang", "en", "-x")
    assert code == 0
    (call,) = course.calls()
    assert call["arguments"] == ["-n", "2", "--dist", "loadscope", "-k", "quiz", "-x"]
    code, _ = course.run("test", "-k", "quiz", FAILS="pytest -n")
    assert code == 1


def test_save_and_bench_run_the_authors_tools(course):
    (course.folder / "notes.ipynb").touch()
    assert course.run("save", "notes.ipynb", "01", "--check")[0] == 0
    (call,) = course.calls()
    assert call["arguments"] == [str(course.folder / "notes.ipynb"), "01", "--check"]
    assert call["folder"] == str(course.folder)
    assert course.run("bench", "--short")[0] == 0
    assert course.calls()[0]["arguments"] == ["--short"]
    assert course.run("save", FAILS="tools ")[0] == 1


# Python that is too old --------------------------------------------------------------------


def test_course_py_can_be_read_by_any_python():
    source = (PROJECT / "course.py").read_text(encoding="utf-8")
    assert source.isascii()  # Python 2 reads no other without being told
    tree = ast.parse(source, feature_version=(3, 4))
    new = (ast.JoinedStr, ast.NamedExpr, ast.AnnAssign, ast.Match, ast.AsyncFunctionDef)
    assert [node for node in ast.walk(tree) if isinstance(node, new)] == []
    annotated = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.returns]
    assert annotated == []


def test_old_python_is_told_in_both_languages(monkeypatch, capsys):
    monkeypatch.setattr(entry.sys, "version_info", (3, 8, 18, "final", 0))
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert entry.main() == 1
    out = capsys.readouterr().out
    assert "needs Python 3.11 or newer; this is Python 3.8.18" in out
    assert "necesita Python 3.11 o posterior, y este es Python 3.8.18" in out
    assert "python.org" in out


def test_old_python_names_a_newer_one_that_is_there(monkeypatch, capsys):
    monkeypatch.setattr(entry.sys, "version_info", (3, 9, 6, "final", 0))
    monkeypatch.setattr("shutil.which", lambda name: name == "python3.12")
    assert entry.main() == 1
    assert "python3.12 course.py lab" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["python2.7", "python3.6", "python3.8", "python3.10"])
def test_old_python_for_real_where_there_is_one(name):
    """A message and exit code 1, no traceback; a machine without that Python has nothing to show."""
    found = subprocess.run(["sh", "-c", f"{name} -c 'print(1)'"], capture_output=True).returncode
    if found != 0:
        return
    done = subprocess.run([name, "course.py", "lab"], cwd=PROJECT, capture_output=True)
    assert done.returncode == 1
    assert b"needs Python 3.11 or newer" in done.stdout and done.stderr == b""
