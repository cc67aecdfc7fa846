"""`course.py report` and `carry`, as they are typed: what they start, and what they refuse."""

import os

import pytest
from fake_course import RECORDER

from helpers.texts import set_language
from launcher import classroom
from launcher.say import UsageError


@pytest.fixture
def classed(course):
    """The ready course, with a stand-in for helpers.classroom."""
    course.write("helpers/classroom/__init__.py", "")
    course.write("helpers/classroom/__main__.py", RECORDER)
    (course.folder / "entregas de 1º").mkdir(exist_ok=True)
    return course


def test_report_hands_over_whole_paths_and_the_language(classed):
    where = classed.folder
    code, out = classed.run(
        "report", "entregas de 1º", "--csv=notas ñ.csv", "--lang", "es", "--limit", "30"
    )
    assert code == 0, out
    (call,) = classed.calls()
    assert call["program"] == "classroom"
    assert call["arguments"] == [
        *("--lang", "es", "report", "--csv", str(where / "notas ñ.csv"), "--limit", "30"),
        str(where / "entregas de 1º"),
    ]
    assert call["folder"] == str(where)
    assert call["environment"]["PYTHONUTF8"] == "1"


def test_c35_report_speaks_in_the_encoding_of_the_terminal(classed):
    classed.run("report", "course.py", PYTHONIOENCODING="cp1252")
    assert classed.calls()[0]["environment"]["PYTHONIOENCODING"] == "cp1252"


def test_carry_hands_over_the_folder(classed):
    assert classed.run("carry", "--dry-run", "entregas de 1º")[0] == 0
    (call,) = classed.calls()
    assert call["arguments"] == [
        *("--lang", "en", "carry", "--dry-run", str(classed.folder / "entregas de 1º"))
    ]


def test_the_exit_code_is_the_commands_own(classed):
    assert classed.run("report", "course.py", FAILS="classroom --lang")[0] == 1
    assert classed.run("carry", "helpers", FAILS="classroom --lang")[0] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["report"], "report needs something to report on"),
        (["report", "--csv", "x.csv"], "report needs something to report on"),
        (["report", "not there.ipynb"], "There is no file or folder not there.ipynb"),
        (["report", "course.py", "--csv"], "--csv needs a value after it"),
        (["report", "course.py", "--csv", "no/x.csv"], "--csv no/x.csv: name a file in a folder"),
        (["report", "course.py", "--csv", "helpers"], "--csv helpers: name a file in a folder"),
        (["report", "course.py", "--limit", "0"], "--limit 0: seconds, a whole number from 1"),
        (["report", "course.py", "--limit=1.5"], "--limit 1.5: seconds"),
        (["report", "course.py", "--cvs", "x"], "I do not know the word --cvs"),
        (["carry"], "carry needs one folder"),
        (["carry", "helpers", "launcher"], "carry needs one folder"),
        (["carry", "--dry", "helpers"], "I do not know the word --dry"),
    ],
)
def test_a_wrong_line_is_said_before_anything_is_set_up(course, words, said):
    code, out = course.run(*words)
    assert code == 2 and said in out and "Traceback" not in out
    assert "[1/" not in out and course.calls() == []


@pytest.mark.parametrize(
    ("language", "warning"), [("en", "notebooks is RUN, in"), ("es", "estudiantes SE EJECUTA")]
)
def test_the_help_says_that_the_students_code_is_run(course, language, warning):
    code, out = course.run("report", "--help", "--lang", language)
    assert code == 0 and warning in " ".join(out.split()) and "--csv" in out
    code, out = course.run("carry", "--help", "--lang", language)
    assert code == 0 and "--dry-run" in out and "--csv" not in out
    code, out = course.run("--lang", language)
    assert "course.py report" in out and "course.py carry" in out


def test_a_path_may_hold_an_equals_sign_or_begin_with_a_dash(tmp_path, monkeypatch):
    set_language("en")
    monkeypatch.chdir(tmp_path)
    for name in ("a=b.ipynb", "-x.ipynb"):
        (tmp_path / name).touch()
    words = classroom.module_and_words("report", "en", ["a=b.ipynb", "-x.ipynb"])
    here = os.path.realpath(tmp_path)
    assert words[-2:] == [os.path.join(here, "a=b.ipynb"), os.path.join(here, "-x.ipynb")]
    with pytest.raises(UsageError):
        classroom.module_and_words("report", "en", ["-y.ipynb"])
