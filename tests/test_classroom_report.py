"""`course.py report`: students who do what students do, and a report that is whole all the same."""

import contextlib
import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from classroom_samples import COURSE, FAULTS, Book, answer, c39, exercise, progress, snapshot

from helpers import texts
from helpers.classroom import cells, in_kernel, kernel, scoring, table
from helpers.classroom.course import lesson_of, lessons
from helpers.classroom.gather import gather
from helpers.classroom.progress import report_progress
from helpers.classroom.report import report
from helpers.classroom.scoring import report_notebook
from helpers.classroom.states import check_state

KNOWN = [lesson for edition in ("en", "es") for lesson in lessons(edition=edition)]
STEMS = [lesson.stem for lesson in KNOWN]
UNSTOPPABLE = """\
while True:
    try:
        while True:
            pass
    except KeyboardInterrupt:
        pass"""


def said(*paths: Path, **options) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = report(list(paths), **options)
    return code, out.getvalue()


# C39: what students do to a notebook ---------------------------------------------------------


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """Three students in a folder with accents and spaces: (folder, exit code, report, csv)."""
    texts.set_language("en")
    top = tmp_path_factory.mktemp("class") / "Atención 1º B"
    book = c39()
    book.keep_only(
        "setup", *[id for id in book.ids() if id.endswith(("-stub", "-check"))], "4e5f6a7b"
    )
    book.save(top / "Núñez, Ana" / "tarea de attention.ipynb")
    troubled().save(top / "luis" / "02_heads-and-projections.ipynb")
    progress(top / "=HYPERLINK(1)", exercise("02.head_size", True))
    (top / "__MACOSX" / "luis").mkdir(parents=True)
    (top / "__MACOSX" / "luis" / "._02.ipynb").write_bytes(b"\0\1")
    (top / "luis" / ".ipynb_checkpoints").mkdir()
    (top / "luis" / ".ipynb_checkpoints" / "02-checkpoint.ipynb").write_bytes(b"{")
    before = snapshot(top)
    file = top.parent / "notas.csv"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "GRACE", 1)
        patch.setenv("ATTENTION_COURSE_PROGRESS", str(top.parent / "kept.jsonl"))
        code, out = said(top, csv=file, limit=4)
    return top, code, out, file, before


def troubled() -> Book:
    """Lesson 02 of a student with an answer for each way of not coming to an end."""
    book = Book("02")
    book.keep_only(*[id for id in book.ids() if id.startswith(("setup", "exercise"))])
    book.write(
        "exercise-1-stub", "def head_size(d_model, num_heads):\n    while True:\n        pass"
    )
    book.solve(2)
    book.write("exercise-2-stub", book.source("exercise-2-stub") + "\nexit()")
    book.write("exercise-3-stub", "def looped_multi_head(X, W_Q:\n    return X")
    book.add("exercise-3-help", "import os\nos._exit(1)", "00000001")
    book.add("exercise-3-help", UNSTOPPABLE, "00000002")
    book.add("exercise-3-help", "name = input('Your name? ')", "00000003")
    book.add("exercise-3-help", "later = undefined_name", "00000004")
    book.add("exercise-3-help", "project_one_head = 'a name used again'", "00000005")
    return book


def part_of(out: str, student: str) -> str:
    """The lines of the report that are about one student."""
    return out.split(f"\n\n{student}\n")[1].split("\n\n")[0]


def test_c39_every_exercise_is_scored_whatever_became_of_its_check(handed_in):
    ana = part_of(handed_in[2], "Núñez, Ana")
    assert "tarea de attention.ipynb · lesson 06" in ana
    assert "right  exercise 1 (06.parameter_factor)" in ana
    assert "tried  exercise 2 (06.map_factor): " in ana
    assert "right  exercise 3 (06.first_weight)" in ana
    assert "right  exercise 4 (06.divisor)" in ana, "the import in the check cell counts"
    assert "open   exercise 5 (06.hot_weight)" in ana


def test_c39_the_report_says_what_became_of_each_check(handed_in):
    ana = part_of(handed_in[2], "Núñez, Ana").splitlines()
    for line in (
        "check missing: exercise 1 (06.parameter_factor); scored all the same",
        "check edited: exercise 2 (06.map_factor); scored all the same",
        "check turned into text: exercise 3 (06.first_weight); scored all the same",
        "lines added to the check: exercise 4 (06.divisor); scored all the same",
    ):
        assert f"    {line}" in ana
    assert not [line for line in ana if "check" in line and "06.hot_weight" in line]


def test_c39_no_cell_can_keep_the_report_waiting(handed_in):
    """Endless loops that can and cannot be stopped, a dead kernel, exit(), input(), no Python."""
    luis = part_of(handed_in[2], "luis")
    place = {id: number for number, id in enumerate(troubled().ids(), start=1)}
    syntax = f"cell {place['exercise-3-stub']}: Python cannot read it"
    assert "tried  exercise 1 (02.head_size): no end after 4 seconds" in luis
    assert f"tried  exercise 3 (02.looped_multi_head): {syntax}" in luis
    for id, words in {
        "exercise-2-stub": "it leaves with exit(); the cells after it were run",
        "exercise-3-stub": "Python cannot read it (",
        "00000004": "NameError: name 'undefined_name' is not defined",
        "00000003": "it asks with input(), and nobody answers here",
        "00000002": "no end after 4 seconds, stopped",
        "00000001": "it ended the kernel and was left out",
    }.items():
        assert f"\n    cell {place[id]}: {words}" in luis


def test_c39_the_others_are_scored_and_the_report_is_whole(handed_in):
    _, code, out, *_ = handed_in
    assert code == 0 and "not whole" not in out
    rows = {line.split("  ")[0]: line.split()[-4:] for line in out.split("\n\n")[0].splitlines()}
    assert rows["Núñez, Ana"][-3:-1] == ["3", "1"]
    assert rows["luis"][-3:-1] == ["0", "3"]


def test_c39_a_students_folder_stays_as_it_was(handed_in):
    top, *_, before = handed_in
    assert snapshot(top) == before


def test_what_students_cells_check_is_no_progress_of_the_teachers(handed_in):
    assert not (handed_in[0].parent / "kept.jsonl").exists()


def test_the_table_for_a_spreadsheet(handed_in):
    file = handed_in[3]
    assert file.read_bytes().startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8-sig"))))
    by_name = {row["Student"]: row for row in rows}
    assert by_name.keys() == {"Núñez, Ana", "luis", "'=HYPERLINK(1)"}
    ana = by_name["Núñez, Ana"]
    assert (ana["06.divisor"], ana["06.map_factor"], ana["02.head_size"]) == ("right", "tried", "")
    assert "check missing: exercise 1" in ana["Notes"]
    assert by_name["'=HYPERLINK(1)"]["02.head_size"] == "right"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1"])
def test_a_cell_that_a_spreadsheet_would_calculate(text):
    assert table.harmless(text) == "'" + text
    assert table.harmless("a" + text) == "a" + text


def test_a_name_that_is_no_utf8_can_be_written(tmp_path):
    """As archives from other systems leave it: \\udcf1 is a byte of a file name."""
    student = table.Student("\udcf1and\udcc3\udcba")
    table.write_csv(tmp_path / "x.csv", [student], [])
    assert "\ufffdandú" in (tmp_path / "x.csv").read_text(encoding="utf-8-sig")


def test_a_report_that_cannot_go_where_it_should_is_said(tmp_path):
    path = progress(tmp_path, exercise("02.head_size", True))
    code, out = said(path, csv=tmp_path)
    assert code == 1 and "The table cannot be written" in out


# The state of a check cell -------------------------------------------------------------------


def states(book: Book, number: str) -> dict[str, str]:
    lesson = next(lesson for lesson in KNOWN if lesson.number == number)
    found = cells.cells_of(book.json)
    return {part.id: check_state(part, found) for part in lesson.exercises}


def test_c39_states_of_check_cells():
    found = states(c39(), "06")
    assert found == {
        FAULTS["deleted"]: "missing",
        FAULTS["edited"]: "edited",
        FAULTS["text"]: "text",
        FAULTS["import"]: "added",
        "06.hot_weight": "there",
    }


@pytest.mark.parametrize(
    ("source", "state"),
    [
        ('from helpers.checks import check\n# try it\ncheck(  "02.head_size" )', "there"),
        ('check("02.head_size")', "added"),
        ('# check("02.head_size")', "edited"),
        ('check("02.head_sise")', "missing"),
        ('result = check("02.head_size")', "edited"),
        ('check("02.head_size", lambda d, h: d // h)', "edited"),
        ('check("02.head_size"', "edited"),
        ("", "edited"),
        ("%time\n", "edited"),
    ],
)
def test_c39_a_check_cell_by_its_source(source, state):
    book = Book("02")
    book.write("exercise-1-check", source)
    assert states(book, "02")["02.head_size"] == state


def test_c39_a_check_cell_turned_into_text_and_written_anew():
    book = Book("02")
    book["exercise-1-check"].update(cell_type="markdown", source="Works for me.")
    assert states(book, "02")["02.head_size"] == "text"


def test_c39_a_check_cell_without_its_name_is_found():
    """Cut and pasted, a cell has another id; Colab's files of old formats have none."""
    book = Book("02")
    for cell in book.cells:
        del cell["id"]
    assert set(states(book, "02").values()) == {"there"}


def test_an_answer_counts_although_a_later_cell_of_the_course_uses_its_name(monkeypatch):
    names = {"head_size": lambda d_model, num_heads: None}
    monkeypatch.setattr(in_kernel, "_names", lambda: names)
    monkeypatch.setattr(in_kernel, "_answers", {})
    monkeypatch.setenv("ATTENTION_COURSE_PROGRESS", "off")
    in_kernel.keep("02.head_size", "head_size")
    names["head_size"] = "something of the lesson's"
    assert in_kernel.score("02.head_size", "en")["kind"] == "not_yet"
    in_kernel.keep("02.project_one_head", "project_one_head")  # not there: nothing to keep
    assert in_kernel.score("02.project_one_head", "en")["kind"] == "undefined"


def test_only_what_can_matter_is_run(tmp_path):
    """An answer needs the cells above it; what the course has below it would only take time."""
    book = Book("07")
    book.write("exercise-2-stub", "heads_needed = (2, numbers_from_above)")
    book.add("exercise-2", "numbers_from_above = 3")
    book.keep_only(*("setup", "0a1b2c3d", "exercise-2-stub", "exercise-3-stub", "exercise-3-check"))
    run = scoring._Run(tmp_path, cells.cells_of(book.json), KNOWN[7], 1)
    run_ids = [c.id for p, c in enumerate(run.cells) if not run._is_left_out(p, c)]
    assert run_ids == ["setup", "0a1b2c3d", "exercise-2-stub"]
    untouched = scoring._Run(tmp_path, cells.cells_of(Book("07").json), KNOWN[7], 1)
    assert [c.id for p, c in enumerate(untouched.cells) if not untouched._is_left_out(p, c)] == []


# Which lesson, whose file --------------------------------------------------------------------


@pytest.mark.parametrize("number", ["01", "02", "05", "07"])
def test_a_lesson_is_known_by_its_cells_whatever_its_name(number):
    for edition in ("en", "es"):
        found = lesson_of("08_entrega.ipynb", cells.cells_of(Book(number, edition).json), KNOWN)
        assert found.number == number


def test_a_lesson_is_known_by_its_name_when_its_cells_are_gone():
    assert lesson_of("Luis 02_heads-and-projections (1).ipynb", [], KNOWN).number == "02"
    assert lesson_of("holidays.ipynb", [], KNOWN) is None


def test_a_notebook_that_is_no_lesson_is_not_run(tmp_path):
    book = Book("02")
    book.keep_only("setup")
    book.add("setup", "open('ran', 'w').close()")
    found = report_notebook(book.save(tmp_path / "holidays.ipynb"), KNOWN)
    assert found.lesson is None and "not run" in found.problem
    assert not (tmp_path / "ran").exists()


def test_whose_file_it_is(tmp_path):
    files = [
        "Ana/02_heads-and-projections.ipynb",
        "Ana/curso/notebooks/es/03_view-and-transpose.ipynb",
        "Ana/my-progress.jsonl",
        "luis_02.ipynb",
        "eva.jsonl",
        "eva/.ipynb_checkpoints/02-checkpoint.ipynb",
        "__MACOSX/Ana/._02.ipynb",
        "notes.txt",
        "late.ZIP",
    ]
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    found = gather([tmp_path], STEMS)
    names = {who: sorted(path.name for path in paths) for who, paths in found.items()}
    assert names == {
        "Ana": [
            "02_heads-and-projections.ipynb",
            "03_view-and-transpose.ipynb",
            "my-progress.jsonl",
        ],
        "luis_02": ["luis_02.ipynb"],
        "eva": ["eva.jsonl"],
    }
    assert [path.name for path in found.packed] == ["late.ZIP"]
    one = gather([tmp_path / "Ana" / "my-progress.jsonl", tmp_path / "luis_02.ipynb"], STEMS)
    assert list(one) == ["Ana", "luis_02"]
    own = gather([tmp_path / "Ana" / "curso"], STEMS)
    assert list(own) == ["curso"]


# Files that are damaged ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"cells": 3}', b'{"nbformat": 3, "worksheets": []}', b"\xff"]
)
def test_a_file_that_is_no_notebook_is_said_and_the_report_is_not_whole(tmp_path, content):
    (tmp_path / "02_x.ipynb").write_bytes(content)
    progress(tmp_path / "eva", exercise("02.head_size", True))
    code, out = said(tmp_path)
    assert code == 1 and "02_x.ipynb is not a notebook of format 4" in out
    assert "exercises: 1 right" in part_of(out, "eva")


def test_nothing_to_report_on(tmp_path):
    assert said(tmp_path) == (1, texts.t("classroom.report.nothing") + "\n")


# Progress files ------------------------------------------------------------------------------


def test_exercises_of_a_progress_file(tmp_path):
    path = progress(
        tmp_path,
        exercise("02.head_size", False, 1),
        exercise("02.head_size", True, 2),
        exercise("02.head_size", False, 3),
        exercise("03.split_heads", False, 4),
        exercise("99.gone", True, 5),
        '{"time": "2026-11-30T04:06:00+00:00", "what": "exer',
        "not a line of ours",
    )
    found = report_progress(path)
    assert (found.exercises["02.head_size"], found.exercises["03.split_heads"]) == (
        "right",
        "tried",
    )
    assert found.count("open") == len(found.exercises) - 2
    assert (found.damaged, found.unknown) == (2, 1)
    code, out = said(path)
    assert code == 0
    assert "damaged lines, left out: 2" in out
    assert "answers to what this version of the course does not have: 1" in out


def test_first_tries_by_topic(tmp_path):
    """The first answer counts for the first try, the last one for right or not."""
    key = json.loads((COURSE / "helpers/data/quiz/01.json").read_text(encoding="utf-8"))
    assert key["q1"]["right"] == "c"
    reset = {"time": "2026-11-30T04:05:00+00:00", "what": "reset", "quiz": "01", "ids": ["q2"]}
    path = progress(
        tmp_path,
        answer("01", "q1", ["c"], True, 1, 1),
        answer("01", "q2", ["a"], False, 1, 2),
        json.dumps(reset),
        answer("01", "q2", ["b"], True, 1, 6),
        answer("01", "q3", ["a"], False, 1, 7),
        answer("01", "no_such", ["a"], True, 1, 8),
        answer("01", "q4", ["0.4"], True, 2, 9),  # the line of the first try is lost
    )
    topic = report_progress(path).topics["01"]
    assert topic.questions >= len(key)
    assert (topic.answered, topic.right, topic.first_try, topic.in_test) == (4, 3, 1, 0)


def test_c41_answers_given_in_test_mode_are_marked_here_only(tmp_path):
    """The file says nothing about right or wrong; the report does."""
    path = progress(
        tmp_path,
        answer("01", "q1", ["c"], None, 1, 1),
        answer("01", "q2", ["a"], None, 1, 2),
        answer("01", "q2", ["b"], None, 2, 3),
        answer("01", "q4", ["0,4"], None, 1, 4),
        answer("01", "q6", ["b"], None, 1, 5),
        answer("01", "q6", ["c", "b"], None, 2, 6),
    )
    assert "true" not in path.read_text(encoding="utf-8")
    topic = report_progress(path).topics["01"]
    assert (topic.answered, topic.right, topic.first_try, topic.in_test) == (4, 4, 2, 4)
    code, out = said(path)
    assert code == 0
    assert "4 right, 2 on the first try (4 given in test mode, marked here)" in out
    # one answer that is not whole is not right
    more = path.read_text(encoding="utf-8") + answer("01", "q6", ["c"], None, 3, 7) + "\n"
    path.write_text(more, encoding="utf-8")
    assert report_progress(path).topics["01"].right == 3


def test_questions_of_the_last_quiz_count_for_the_lesson_they_are_about(tmp_path):
    key = json.loads((COURSE / "helpers/data/quiz/10.json").read_text(encoding="utf-8"))
    name, question = next((n, k) for n, k in key.items() if k["lesson"] != "10")
    path = progress(tmp_path, answer("10", name, ["a"], True))
    assert report_progress(path).topics[question["lesson"]].answered == 1


# Languages and terminals ---------------------------------------------------------------------


def test_c42_the_report_in_spanish_has_no_english_words(tmp_path):
    texts.set_language("es")
    found = scoring.Scored(KNOWN[2].exercises[1], "tried", "", "missing")
    notebook = scoring.NotebookReport(Path("02.ipynb"), KNOWN[2], [found])
    student = table.Student("ana", [notebook])
    out = "\n".join(table.lines([student], [found.exercise.id]))
    assert "intentado  ejercicio 2 (02.project_one_head)" in out
    assert "falta la comprobación: ejercicio 2" in out
    assert not {"exercise", "check", "Right", "lesson"} & set(out.replace(":", " ").split())


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", None])
def test_c35_the_report_speaks_on_any_terminal(tmp_path, encoding):
    path = progress(tmp_path / "ñandú 1", exercise("02.head_size", True))
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONUTF8", "PYTHONIOENCODING")}
    env |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    env |= {"PYTHONIOENCODING": encoding} if encoding else {}
    command = [sys.executable, "-m", "helpers.classroom", "--lang", "es", "report", str(path)]
    done = subprocess.run(command, cwd=COURSE, env=env, capture_output=True)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    shown = done.stdout.decode(encoding or "ascii")
    assert "ejercicios: 1 bien, 0 intentados" in shown
    assert ("ñandú 1" if encoding == "cp1252" else "nandu 1") in shown
