"""`course.py test`, `save` and `bench`, run for real with stand-ins for ruff and pytest."""

import pytest
from fake_course import pins

CELLS = '<testcase classname="notebooks.{}.00_start-here.ipynb" name="Cell 0">{}</testcase>'
BOTH = CELLS.format("en", "") + CELLS.format("es", "")
TWO_WORKERS = ["-n", "2", "--dist", "loadscope", "--no-loadscope-reorder"]
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
    assert tests["arguments"][:8] == ["tests", "-m", "not tools", *TWO_WORKERS]
    assert lessons["arguments"][:3] == ["--nbval", "notebooks/en", "notebooks/es"]
    assert "--nbval-cell-timeout 300" in " ".join(lessons["arguments"])
    assert " ".join(TWO_WORKERS) in " ".join(lessons["arguments"])
    for call in (tests, lessons):
        environment = call["environment"]
        assert environment["HF_HUB_OFFLINE"] == environment["PYTHONUTF8"] == "1"
        assert environment["OMP_NUM_THREADS"] == "1"
        for name in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR"):
            assert environment[f"JUPYTER_{name}"].startswith(str(course.outside / "tmp"))
    wanted = pins("requirements-dev.txt")
    assert course.versions(wanted) == wanted


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
    assert call["arguments"] == [*TWO_WORKERS, "-k", "quiz", "-x"]
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
    assert course.run("save", FAILS="tools")[0] == 1
