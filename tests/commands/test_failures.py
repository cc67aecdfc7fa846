"""What `course.py` says when something does not work: which step, why, what to try."""

import os
import shutil
import socket

import pytest
from fake_course import PROJECT, listener


def words(text: str) -> str:
    return " ".join(text.split())


def test_no_index(unfinished):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # taken, but nobody listens
        index = f"http://127.0.0.1:{closed.getsockname()[1]}/simple"
        unfinished.write("requirements.txt", "numpy==98\n")
        try:
            code, out = unfinished.run(
                "lab", PIP_NO_INDEX=None, PIP_INDEX_URL=index, PIP_RETRIES="1"
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


def test_a_course_without_its_lessons_says_so_before_it_installs(unfinished):
    lesson = unfinished.folder / "notebooks/es/00_start-here.ipynb"
    lesson.rename(lesson.with_suffix(".away"))
    code, out = unfinished.run("lab", "--lang", "es")
    lesson.with_suffix(".away").rename(lesson)
    assert code == 1
    assert "le falta el archivo notebooks/es/00_start-here.ipynb" in out and "[1/" not in out


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
