"""`course.py` where little is allowed, on any terminal, and how it stops."""

import os
import shutil
import signal
import subprocess
import sys

import pytest
from fake_course import FakeCourse, posix

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
    assert "Your answers cannot be saved in this folder" in out
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
