"""`course.py carry`: a reader's answers go into a new version of the course, none is lost."""

import contextlib
import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from classroom_samples import COURSE, Book, c39, exercise, progress, small_course, snapshot

from helpers.classroom import cells, moving
from helpers.classroom.carry import carry
from helpers.classroom.course import lessons
from helpers.classroom.states import check_state
from helpers.progress import read_log

ANSWER = "def head_size(d_model, num_heads):\n    return d_model // num_heads"


@pytest.fixture
def old(tmp_path):
    """The reader's folder, with lessons 02 and 06, not worked in yet."""
    return small_course(tmp_path / "Curso de atención" / "ñandú 1", "02", "06")


@pytest.fixture
def new(tmp_path):
    """Version 1.1: another title, a new text cell, a cell that is gone, another helper."""
    folder = small_course(tmp_path / "curso 1.1", "02", "06")
    for edition in ("en", "es"):
        for name in ("02", "06"):
            book = Book(name, edition, folder)
            book.write("title", book.source("title") + "\n\nVersion 1.1")
            book.add("title", "News 1.1", "news", "markdown")
            book.save_in(folder, edition)
        book = Book("02", edition, folder)
        book.delete("cost-note")
        book.save_in(folder, edition)
    (folder / "helpers" / "toy.py").write_text("seed = 1\n", encoding="utf-8")
    (folder / "helpers" / "more.py").write_text("", encoding="utf-8")
    return folder


def carried(old: Path, new: Path, **options) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = carry(old, new, **options)
    return code, out.getvalue()


def answered(course: Path, source: str = ANSWER, edition: str = "en") -> Book:
    """Lesson 02 in `course`, its first exercise answered and saved."""
    book = Book("02", edition, course)
    book.write("exercise-1-stub", source)
    book.save_in(course, edition)
    return book


# C39: what a reader did to the notebook ------------------------------------------------------


def test_c39_answers_survive_and_lost_checks_come_back(old, new):
    c39("en", old).save_in(old)
    code, out = carried(old, new)
    assert code == 0
    book = Book("06", "en", new)
    assert book.source("one-stub") == "parameter_factor = 1"
    assert book.source("two-stub") == "map_factor = 2  # T = 9 -> T = 18"
    assert book.source("three-stub") == "first_weight = 1.0"
    assert book.source("four-stub") == "divisor = math.sqrt(4)"
    (lesson,) = [lesson for lesson in lessons(new) if lesson.number == "06"]
    found = cells.cells_of(book.json)
    assert {check_state(part, found) for part in lesson.exercises} == {"there"}
    for line in (
        "answer carried: exercise 1 (06.parameter_factor)",
        "answer carried: exercise 4 (06.divisor)",
        "check is back: exercise 1 (06.parameter_factor), was missing",
        "check is back: exercise 2 (06.map_factor), was edited",
        "check is back: exercise 3 (06.first_weight), was turned into text",
    ):
        assert f"  {line}\n" in out
    assert "06.hot_weight" not in out


def test_c39_an_import_in_a_check_cell_stands_before_the_answer_that_needs_it(old, new):
    c39("en", old).save_in(old)
    carried(old, new)
    book = Book("06", "en", new)
    ids = book.ids()
    before = book.cells[ids.index("four-stub") - 1]
    assert "".join(before["source"]) == "import math"
    assert book.source("four-check") == Book("06").source("four-check")
    # what was left of the other checks is no work of the reader's
    news = {id for id in ids if id not in Book("06", "en", old).ids()}
    assert news == {"news", "one-check", "three-check", before["id"]}


def test_c39_changed_files_are_listed(old, new):
    c39("en", old).save_in(old)
    out = carried(old, new)[1].split("Files that changed")[1]
    assert "notebooks/en/06_explore.ipynb: cells changed: 1, new: 1, gone: 0" in out
    assert "notebooks/es/06_explore.ipynb: cells changed: 1, new: 1, gone: 0" in out
    assert "notebooks/en/02_heads-and-projections.ipynb: cells changed: 1, new: 1, gone: 1" in out
    assert "helpers: toy.py (changed)" in out and "helpers: more.py (new)" in out
    assert "course.py" not in out


def test_c39_the_same_version_has_no_changed_files(old, tmp_path):
    answered(old)
    code, out = carried(old, small_course(tmp_path / "again", "02", "06"))
    assert code == 0 and "No file of the course changed" in out


# What is the reader's, and what was the course's ---------------------------------------------


def test_cells_of_the_reader_stay_behind_the_cell_they_stood_behind(old, new):
    book = answered(old)
    book.add("exercise-1-check", "head_size(64, 8)", "11111111")
    book.add("11111111", "My **note**", "22222222", "markdown")
    book.add("cost-note", "after a cell that is gone", "33333333")
    book["22222222"]["attachments"] = {"a.png": {"image/png": "AAAA"}}
    book.save_in(old)
    carried(old, new)
    found = Book("02", "en", new)
    ids = found.ids()
    place = ids.index("exercise-1-check")
    assert ids[place : place + 4] == ["exercise-1-check", "11111111", "22222222", "exercise-1-help"]
    assert ids[ids.index("33333333") - 1] == "cost-run"
    assert "cost-note" not in ids, "the course took it away"
    assert found["22222222"]["attachments"] == {"a.png": {"image/png": "AAAA"}}
    assert found["11111111"]["outputs"] == [] and found["11111111"]["execution_count"] is None


def test_an_answer_is_found_by_its_name_when_its_cell_has_another_id(old, new):
    book = Book("02", "en", old)
    book.delete("exercise-1-stub")
    book.add("exercise-1-check", ANSWER, "44444444")
    book.save_in(old)
    code, out = carried(old, new)
    found = Book("02", "en", new)
    assert found.source("exercise-1-stub") == ANSWER and "44444444" not in found.ids()
    assert "added" not in out and "your cell" not in out


def test_answers_follow_their_exercise_when_it_moved(old, new):
    """Version 1.1 has its first two exercises the other way round, under the same ids."""
    answered(old)
    for edition in ("en", "es"):
        book = Book("02", edition, new)
        for part in ("stub", "check", "help"):
            first, second = (book[f"exercise-{number}-{part}"] for number in (1, 2))
            first["source"], second["source"] = second["source"], first["source"]
        book.save_in(new, edition)
    carried(old, new)
    found = Book("02", "en", new)
    assert found.source("exercise-2-stub") == ANSWER
    assert "project_one_head" in found.source("exercise-1-stub")


@pytest.mark.parametrize(
    "source",
    [
        "def head_size(d_model, num_heads):\n    retrun 3",
        "class head_size: ...\n\n\nx = 1",
        "# I do not know yet\nsize = 3",
        "head_size = lambda d_model, num_heads: d_model // num_heads",
        "import math\n\n\ndef head_size(*sizes):\n    return None or 8",
    ],
)
def test_unfinished_work_is_work(old, new, source):
    answered(old, source)
    carried(old, new)
    assert Book("02", "en", new).source("exercise-1-stub") == source


def test_the_same_answer_in_both_editions_is_work(old, new):
    for edition in ("en", "es"):
        answered(old, edition=edition)
    carried(old, new)
    for edition in ("en", "es"):
        assert Book("02", edition, new).source("exercise-1-stub") == ANSWER


def test_an_untouched_stub_gives_way_to_the_new_one(old, new):
    stub = "def head_size(d_model, num_heads, strict=True):\n    return None"
    for edition in ("en", "es"):
        answered(new, stub, edition)
    code, out = carried(old, new)
    assert "No answers and no cells of yours" in out
    assert Book("02", "en", new).source("exercise-1-stub") == stub


def test_an_untouched_stub_is_known_without_the_other_edition(old, new):
    """A reader who handed over one folder of notebooks only."""
    for path in (old / "notebooks/es").iterdir():
        path.unlink()
    stub = "def head_size(d_model, num_heads, strict=True):\n    return None"
    for edition in ("en", "es"):
        answered(new, stub, edition)
    book = Book("02", "en", old)
    book.write("exercise-2-stub", "def project_one_head(X, W, head):\n    return X @ W[head]")
    book.save_in(old)
    carried(old, new)
    found = Book("02", "en", new)
    assert found.source("exercise-1-stub") == stub
    assert found.source("exercise-2-stub") == book.source("exercise-2-stub")


def test_a_cell_that_was_cut_and_pasted_is_not_the_readers(old, new):
    book = answered(old)
    source = book.source("width-run")
    book.delete("width-run")
    book.add("loop-run", source, "66666666")
    book.save_in(old)
    out = carried(old, new)[1]
    assert "your cell" not in out and "are back" not in out
    assert "66666666" not in Book("02", "en", new).ids()


def test_a_cell_that_the_course_took_away_is_not_the_readers(old, new):
    for edition in ("en", "es"):
        book = Book("02", edition, new)
        book.delete("loop-run")
        book.save_in(new, edition)
    answered(old)
    carried(old, new)
    assert "loop-run" not in Book("02", "en", new).ids()


def test_a_change_in_a_cell_of_the_course_is_said(old, new):
    book = answered(old)
    book.write("width-run", "d_model = 128")
    book.save_in(old)
    before = Book("02", "en", new).source("width-run")
    code, out = carried(old, new)
    assert "which stay in the old folder: width-run" in out
    assert Book("02", "en", new).source("width-run") == before


def test_other_cells_that_the_reader_deleted_are_back(old, new):
    book = answered(old)
    book.delete("width-run")
    book.save_in(old)
    code, out = carried(old, new)
    assert "cells that are back: width-run" in out
    assert "width-run" in Book("02", "en", new).ids()


def test_a_notebook_without_ids_is_carried_too(old, new):
    """As Colab and old tools write them."""
    book = answered(old)
    for place, cell in enumerate(book.cells):
        cell["metadata"]["id"] = cell.pop("id") if place % 2 else cell.pop("id") and "x"
    book.json["nbformat_minor"] = 0
    book.save_in(old)
    assert carried(old, new)[0] == 0
    found = Book("02", "en", new)
    assert found.source("exercise-1-stub") == ANSWER
    assert len(set(found.ids())) == len(found.ids())


# Nothing is overwritten ----------------------------------------------------------------------


def test_twice_is_as_once(old, new):
    c39("en", old).save_in(old)
    progress(old, exercise("02.head_size", True))
    carried(old, new)
    before = snapshot(new)
    code, out = carried(old, new)
    assert code == 0 and "notebooks/en/06_explore.ipynb holds all of this already" in out
    assert "my-progress.jsonl: answers added: 0" in out
    assert snapshot(new) == before


def test_after_running_the_lesson_again_nothing_is_carried_twice(old, new):
    answered(old)
    carried(old, new)
    book = Book("02", "en", new)
    book["exercise-1-stub"]["execution_count"] = 7
    book.write("exercise-2-stub", "def project_one_head(X, W, head):\n    return X @ W[head]")
    book.save_in(new)
    before = snapshot(new)
    assert carried(old, new)[0] == 0
    assert snapshot(new) == before


@pytest.mark.parametrize("work", ["answer", "cell", "code", "deleted"])
def test_c39_a_lesson_that_holds_work_stays_and_gets_a_clean_copy_beside_it(old, new, work):
    answered(old)
    book = Book("02", "en", new)
    if work == "answer":
        book.write("exercise-1-stub", "def head_size(d_model, num_heads):\n    return 8")
    elif work == "cell":
        book.add("width-run", "mine", "55555555")
    elif work == "code":
        book.write("width-run", "d_model = 128")
    else:
        book.delete("width-run")
    mine = book.save_in(new).read_bytes()
    code, out = carried(old, new)
    assert code == 0
    assert (new / "notebooks/en" / book.file).read_bytes() == mine
    copy = new / "notebooks/en/02_heads-and-projections-carried.ipynb"
    assert f"now in notebooks/en/{copy.name}, a clean copy: {book.file} here holds work" in out
    found = {cell.id: cell.source for cell in cells.cells_of(cells.read_json(copy))}
    assert found["exercise-1-stub"] == ANSWER
    assert found["width-run"] == Book("02").source("width-run")
    assert "55555555" not in found and 'start_lesson("en")' in found["setup"]
    before = snapshot(new)
    code, out = carried(old, new)
    assert code == 0 and out.count("answer carried") == 1
    assert snapshot(new) == before


def test_a_copy_with_other_work_is_not_overwritten_either(old, new):
    answered(old)
    answered(new, ANSWER + "  # mine")
    carried(old, new)
    answered(old, ANSWER + "  # later")
    first = (new / "notebooks/en/02_heads-and-projections-carried.ipynb").read_bytes()
    carried(old, new)
    assert (new / "notebooks/en/02_heads-and-projections-carried.ipynb").read_bytes() == first
    assert (new / "notebooks/en/02_heads-and-projections-carried-2.ipynb").exists()


def test_a_readers_copy_of_a_lesson_keeps_its_name(old, new):
    book = answered(old)
    book.write("exercise-1-stub", ANSWER + "  # second try")
    book.save(old / "notebooks/en/02_heads-and-projections-Copy1.ipynb")
    (old / "notebooks/en/my notes.ipynb").write_text('{"cells": []}', encoding="utf-8")
    code, out = carried(old, new)
    assert Book("02", "en", new).source("exercise-1-stub") == ANSWER
    copy = cells.read_json(new / "notebooks/en/02_heads-and-projections-Copy1.ipynb")
    found = {cell.id: cell.source for cell in cells.cells_of(copy)}
    assert found["exercise-1-stub"] == ANSWER + "  # second try"
    assert "notebooks/en/my notes.ipynb is no lesson of this version" in out
    assert code == 0


def test_the_spanish_lesson_comes_into_the_spanish_lesson(old, new):
    answered(old, edition="es")
    carried(old, new)
    assert Book("02", "es", new).source("exercise-1-stub") == ANSWER
    assert 'start_lesson("es")' in Book("02", "es", new).source("setup")
    assert "return None" in Book("02", "en", new).source("exercise-1-stub")


def test_work_in_one_edition_leaves_the_other_free(old, new):
    answered(old, edition="es")
    answered(new, ANSWER + "  # in English")
    out = carried(old, new)[1]
    assert Book("02", "es", new).source("exercise-1-stub") == ANSWER
    assert "clean copy" not in out


def test_a_dry_run_writes_nothing(old, new):
    c39("en", old).save_in(old)
    progress(old, exercise("02.head_size", True))
    before = snapshot(new)
    code, out = carried(old, new, dry_run=True)
    assert code == 0 and "answer carried: exercise 1" in out and "answers added: 1" in out
    assert "nothing is written" in out
    assert snapshot(new) == before


def test_the_old_folder_is_only_read(old, new):
    c39("en", old).save_in(old)
    progress(old, exercise("02.head_size", True))
    before = snapshot(old)
    folders = [old, *(path for path in old.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(stat.S_IREAD | stat.S_IEXEC)
    try:
        assert carried(old, new)[0] == 0
    finally:
        for folder in folders:
            folder.chmod(stat.S_IRWXU)
    assert snapshot(old) == before


def test_a_failed_write_leaves_the_lesson_as_it_was(old, new, monkeypatch):
    answered(old)
    before = snapshot(new)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    code, out = carried(old, new)
    assert code == 1 and "could not be written" in out and "No space left" in out
    assert snapshot(new) == before


# The progress file ---------------------------------------------------------------------------


def test_progress_is_added_to_what_is_there(old, new):
    same, damaged = exercise("02.head_size", True, 1), '{"time": "2026'
    progress(old, same, exercise("02.head_size", False, 3), same, damaged)
    path = progress(new, same, exercise("06.divisor", True, 2))
    path.write_text(path.read_text(encoding="utf-8").rstrip("\n"), encoding="utf-8")
    before = path.read_text(encoding="utf-8")
    code, out = carried(old, new)
    assert code == 0 and "answers added: 3" in out
    assert path.read_text(encoding="utf-8").startswith(before + "\n")
    log = read_log(path)
    assert [event["passed"] for event in log.events] == [True, True, True, False]
    assert log.damaged == 1


def test_without_a_progress_file_none_is_made(old, new):
    answered(old)
    assert carried(old, new)[0] == 0
    assert not (new / "my-progress.jsonl").exists()


# Folders -------------------------------------------------------------------------------------


def test_the_folder_may_be_named_from_above_or_below(old):
    for folder in (old, old.parent, old / "notebooks", old / "notebooks" / "en"):
        assert moving.course_in(folder) == old


def test_a_folder_without_a_course_and_the_course_itself_are_said(new, tmp_path):
    (tmp_path / "empty").mkdir()
    code, out = carried(tmp_path / "empty", new)
    assert code == 1 and "There is no course in" in out
    code, out = carried(new, new)
    assert code == 1 and "is this version of the course itself" in out


def test_an_old_notebook_that_cannot_be_read_is_said_and_the_others_are_carried(old, new):
    answered(old)
    (old / "notebooks/en/06_explore.ipynb").write_bytes(b"{")
    code, out = carried(old, new)
    assert code == 1 and "06_explore.ipynb is not a notebook of format 4" in out
    assert Book("02", "en", new).source("exercise-1-stub") == ANSWER


def test_line_ends_of_windows_are_no_change(old, new):
    (new / "helpers" / "toy.py").write_bytes(b"seed = 0\r\n")
    assert "toy.py" not in carried(old, new)[1]


def test_c35_carry_speaks_on_any_terminal_and_needs_no_torch(old, tmp_path):
    """Run in this version itself, only listing."""
    answered(old)
    env = {k: v for k, v in os.environ.items() if k != "PYTHONUTF8"}
    env |= {"LC_ALL": "C", "PYTHONUTF8": "1", "PYTHONIOENCODING": "ascii"}
    code = (
        "import sys; sys.modules['torch'] = sys.modules['nbformat'] = None\n"
        "from helpers.classroom.__main__ import main\n"
        "sys.exit(main(['--lang', 'es', 'carry', sys.argv[1], '--dry-run']))"
    )
    command = [sys.executable, "-c", code, str(old)]
    done = subprocess.run(command, cwd=COURSE, env=env, capture_output=True)
    shown = done.stdout.decode("ascii")
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert "respuesta traida: ejercicio 1 (02.head_size)" in shown
    assert "Curso de atencion" in shown


# The real lessons ----------------------------------------------------------------------------


def test_untouched_lessons_hold_no_work_and_give_none(tmp_path):
    """Every lesson there is: carried from an untouched copy, nothing comes along."""
    names = [path.name[:2] for path in sorted((COURSE / "notebooks/en").glob("??_*.ipynb"))]
    assert len(names) >= 9
    old = small_course(tmp_path / "old", *names)
    new = small_course(tmp_path / "new", *names)
    found = moving.plan(old, new)
    assert len(found.moved) == 2 * len(names)
    assert [moved.source.name for moved in found.moved if moved.done.has_work] == []
    assert [moved.source.name for moved in found.moved if moved.done.left] == []


def test_every_exercise_of_every_lesson_can_be_carried(tmp_path):
    """Whatever is written into a stub arrives in the same stub, and nowhere else."""
    names = [path.name[:2] for path in sorted((COURSE / "notebooks/en").glob("??_*.ipynb"))]
    old = small_course(tmp_path / "old", *names)
    new = small_course(tmp_path / "new", *names)
    written = {}
    for lesson in lessons(old):
        book = Book(lesson.number, "en", old)
        for part in lesson.exercises:
            written[part.id] = f"{part.name} = 'an answer to {part.id}'"
            book.write(part.stub.id, written[part.id])
        book.save_in(old)
    assert len(written) >= 25
    assert carried(old, new)[0] == 0
    arrived = {}
    for lesson in lessons(new):
        text = json.dumps(lesson.book)
        for part in lesson.exercises:
            arrived[part.id] = part.stub.source
            assert text.count(f"an answer to {part.id}'") == 1
    assert arrived == written
