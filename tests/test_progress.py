"""The reader's progress file: what goes in, where it is, and what is made of it."""

import json
import os
import sys
import threading
from pathlib import Path

import pytest

from helpers import checks, contents, progress, texts
from helpers.checks import check, exercises
from helpers.progress import log, place, read_log
from helpers.progress.board import ProgressBoard
from helpers.progress.scores import exercise_scores, quiz_scores
from helpers.quiz import Quiz
from helpers.quiz.marking import load_questions

PROJECT = Path(__file__).resolve().parents[1]
LANGUAGES = ("en", "es")


@pytest.fixture(params=LANGUAGES)
def language(request):
    texts.set_language(request.param)
    return request.param


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A progress file of this test's own; not there yet."""
    path = tmp_path / "año 1" / "mi progreso.jsonl"
    path.parent.mkdir()
    monkeypatch.setenv(place.VARIABLE, str(path))
    monkeypatch.setattr(checks, "_kept", {})  # as in a fresh kernel
    log._event.cache_clear()  # another test's line of this very second may be the same
    return path


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def answer(quiz, name, choice):
    quiz.answer(name, choice)
    quiz.check(name)
    assert quiz.error is None


def without_time(events):
    return [{k: v for k, v in event.items() if k != "time"} for event in events]


# --- what goes in --------------------------------------------------------------------------------


def test_each_answer_is_one_line(file):
    quiz = Quiz("01")
    assert not file.exists()  # looking is not answering
    answer(quiz, "q1", "a")
    answer(quiz, "q1", "c")
    quiz.reset()
    assert without_time(lines(file)) == [
        dict(what="question", quiz="01", id="q1", answer=["a"], right=False, tries=1),
        dict(what="question", quiz="01", id="q1", answer=["c"], right=True, tries=2),
        dict(what="reset", quiz="01", ids=list(quiz.results)),
    ]


def test_an_empty_answer_is_none(file):
    quiz = Quiz("01")
    quiz.check("q1")
    answer(quiz, "q4", "no number")
    assert not file.exists()


def test_a_check_is_kept_when_its_verdict_is_new(file):
    check("01.row_entropy", lambda weights: None)
    assert not file.exists()  # "not yet" is no attempt

    def uniform(weights):
        return weights.sum(-1)

    check("01.row_entropy", uniform)
    check("01.row_entropy", uniform)
    [only] = lines(file)
    assert (only["what"], only["id"], only["passed"]) == ("exercise", "01.row_entropy", False)
    assert only["kind"] and only["time"].endswith("+00:00")


def test_c41_test_mode_keeps_the_answer_and_no_verdict(file):
    quiz = Quiz("01", test_mode=True)
    answer(quiz, "q1", "c")
    [event] = lines(file)
    assert (event["answer"], event["right"]) == (["c"], None)


def test_two_kernels_at_once_lose_nothing(file):
    def many(name):
        for _ in range(200):
            progress.keep(dict(what="exercise", id=name, passed=True, kind="right"))

    threads = [threading.Thread(target=many, args=(f"0{i}.x",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_log().events) == 800 and read_log().damaged == 0


def test_c39_what_cannot_be_read_stays_and_all_else_counts(file):
    good = dict(time="2026-01-01T00:00:00+00:00", what="exercise", id="01.a", passed=True, kind="r")
    bad = [
        '{"what": "exercise", "id": "01.b", "pas',  # a kernel killed in the middle
        "<<<<<<< HEAD",
        "[1, 2]",
        "null",
        '{"time": "x", "what": "party"}',
        json.dumps(good | {"passed": "yes"}),
        json.dumps(dict(good, what="question", quiz="01", answer=[{"<b>": 1}], right=1, tries=1)),
        "[" * 100_000,
    ]
    file.write_bytes("\n".join([json.dumps(good), *bad]).encode() + b"\xff\xfe")
    before = file.read_bytes()
    found = read_log()
    assert found.events == [good] and found.damaged == len(bad)
    progress.keep(dict(what="exercise", id="01.c", passed=False, kind="k"))
    assert file.read_bytes().startswith(before + b"\n")  # the broken line does not swallow ours
    assert [event["id"] for event in read_log().events] == ["01.a", "01.c"]


# --- where it is ---------------------------------------------------------------------------------


def test_off_keeps_nothing_and_says_nothing(monkeypatch):
    monkeypatch.setenv(place.VARIABLE, "OFF")
    quiz = Quiz("01")
    answer(quiz, "q1", "a")
    assert progress.places() == [] and quiz._kept.value == ""
    assert "ATTENTION_COURSE_PROGRESS" in ProgressBoard("01").frame["notes"][0]


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A course folder, a home and a temporary folder of the test's own."""
    monkeypatch.delenv(place.VARIABLE)
    made = {name: tmp_path / name for name in ("course", "home", "temporary")}
    for folder in made.values():
        folder.mkdir()
    (made["course"] / "notebooks").mkdir()
    monkeypatch.setattr(place, "COURSE", made["course"])
    monkeypatch.setattr(place.Path, "home", lambda: made["home"])
    monkeypatch.setattr(place.tempfile, "gettempdir", lambda: str(made["temporary"]))
    return made


def locked(folder):
    """Nothing can be written at `folder`, not even by root: it is a file now."""
    for child in folder.iterdir():
        child.rmdir()
    folder.rmdir()
    folder.touch()


@pytest.mark.parametrize("count, kind", list(enumerate(["course", "home", "temporary"])))
def test_c39_the_first_place_that_can_be_written_to(folders, monkeypatch, count, kind, language):
    monkeypatch.setattr(place, "COURSE", folders["course"])
    for name in ("course", "home")[:count]:
        if name == "course":
            # the course can be read, not written: its file is a folder
            (folders["course"] / place.NAME).mkdir()
        else:
            locked(folders[name])
    quiz = Quiz("01")
    answer(quiz, "q1", "a")
    kept = read_log().places[-1]
    assert kept.kind == kind and kept.path.parent.is_relative_to(folders[kind])
    told = quiz._kept.value
    assert (str(kept.path) in told) == (kind != "course")  # the usual place is no news
    assert (texts.t("progress.kept.temporary", path=kept.path) in told) == (kind == "temporary")
    # the board shows the place in every case
    assert str(kept.path) in ProgressBoard("01").frame["notes"][0]


def test_looking_makes_no_folder_and_neither_does_an_answer_that_has_its_place(folders):
    answer(Quiz("01"), "q1", "a")
    assert read_log().places[-1].kind == "course"
    assert not list(folders["temporary"].iterdir())


def test_no_place_at_all_is_said_and_the_verdict_comes_all_the_same(folders, language):
    (folders["course"] / place.NAME).mkdir()
    locked(folders["home"])
    locked(folders["temporary"])
    quiz = Quiz("01")
    answer(quiz, "q1", "c")
    assert quiz.results["q1"]["right"] is True
    assert texts.t("progress.not_kept") in quiz._kept.value


@pytest.mark.skipif(not hasattr(os, "symlink") or sys.platform == "win32", reason="needs links")
def test_a_link_somebody_else_put_into_the_temporary_folder_is_not_followed(folders):
    target = folders["home"] / "elsewhere"
    target.mkdir()
    mine = place._temporary_folder()
    mine.rmdir()
    mine.symlink_to(target)
    assert place._temporary_folder() is None


def test_installed_by_themselves_the_helpers_write_nothing_beside_them(folders):
    (folders["course"] / "notebooks").rmdir()
    assert [found.kind for found in progress.places()] == ["home", "temporary"]


def test_answers_of_another_place_still_count(folders):
    """The folder was read-only yesterday and is not today."""
    (folders["course"] / place.NAME).mkdir()
    answer(Quiz("01"), "q1", "c")
    (folders["course"] / place.NAME).rmdir()
    answer(Quiz("01"), "q2", "a")
    assert set(read_log().latest_answers("01")) == {"q1", "q2"}


def test_git_leaves_the_file_alone():
    assert place.NAME in (PROJECT / ".gitignore").read_text(encoding="utf-8").split()


# --- coming back ---------------------------------------------------------------------------------


def test_c26_tomorrow_the_quiz_shows_what_was_answered(file, language):
    first = Quiz("01")
    answer(first, "q1", "a")
    answer(first, "q1", "c")
    answer(first, "q4", "0,4")
    answer(first, "q6", ["a"])
    again = Quiz("01")
    assert again.results == first.results
    assert again._score.value == first._score.value
    for name in first.results:
        old, new = first._cards[name], again._cards[name]
        assert new.box.answer == old.box.answer and new.box.verdict == old.box.verdict
        assert new.why.value == old.why.value
    assert len(lines(file)) == 4  # showing them is not answering them again


def test_started_again_is_empty_tomorrow_too(file):
    first = Quiz("01")
    answer(first, "q1", "c")
    first.reset()
    assert not Quiz("01").results["q1"]["answered"]


def test_a_question_that_has_changed_since_is_asked_anew(file):
    for answer_then in (["z"], ["a", "z"], []):
        progress.keep(
            dict(what="question", quiz="01", id="q1", answer=answer_then, right=True, tries=1)
        )
        quiz = Quiz("01")
        assert not quiz.results["q1"]["answered"] and quiz.error is None
    progress.keep(dict(what="question", quiz="01", id="gone", answer=["a"], right=True, tries=1))
    assert "gone" not in Quiz("01").results


def test_c41_another_day_in_test_mode_tells_no_verdict(file):
    answer(Quiz("01"), "q1", "c")
    quiz = Quiz("01", test_mode=True)
    assert quiz.results["q1"]["answered"] and quiz.results["q1"]["right"] is None
    card = quiz._cards["q1"]
    assert (card.box.verdict, card.why.value, card.box.marks) == ("recorded", "", {})


# --- scores --------------------------------------------------------------------------------------


def test_scores_by_topic(file):
    questions = {q.id: q for q in load_questions("01")}
    quiz = Quiz("01")
    answer(quiz, "q1", questions["q1"].right)
    answer(quiz, "q2", next(o for o in questions["q2"].options if o not in questions["q2"].right))
    answer(quiz, "q2", questions["q2"].right)
    answer(quiz, "q4", "-17")
    [score] = quiz_scores(read_log(), "01")
    assert score.lesson == "01"
    assert score.parts == dict(
        q1="first_try", q2="later", q3="open", q4="not_yet", q5="open", q6="open"
    )
    assert score.count("first_try", "later") == 2


def test_an_exercise_once_right_stays_right(file):
    for passed in (False, True, False):
        progress.keep(dict(what="exercise", id="01.row_entropy", passed=passed, kind="k"))
    progress.keep(dict(what="exercise", id="03.split_heads", passed=False, kind="k"))
    progress.keep(dict(what="exercise", id="99.unknown", passed=True, kind="k"))
    scores = {score.lesson: score for score in exercise_scores(read_log())}
    assert scores["01"].parts["01.row_entropy"] == "later"
    assert scores["03"].parts["03.split_heads"] == "not_yet"
    assert sum(len(score.parts) for score in scores.values()) == len(exercises())
    assert sum(score.count("open") for score in scores.values()) == len(exercises()) - 2


# --- the board -----------------------------------------------------------------------------------


def cell_of(board, lesson, column):
    name = contents.LESSONS[lesson]
    [row] = [row for row in board.frame["rows"] if row["lesson"]["file"] == name]
    return row[column]


def test_the_board_follows_each_answer(file, language):
    board, quiz = ProgressBoard("01"), Quiz("01")
    before = board.summary
    answer(quiz, "q1", "a")
    answer(quiz, "q1", "c")
    check("01.row_entropy", lambda weights: weights.sum(-1))
    states = cell_of(board, "01", "quiz")["states"]
    assert states == ["later"] + ["open"] * 5 and board.error is None
    assert "not_yet" in cell_of(board, "01", "exercises")["states"]
    assert board.frame["summary"] == board.summary != before
    quiz.reset()
    assert cell_of(board, "01", "quiz")["states"] == ["open"] * 6


def test_the_board_takes_apart_only_what_was_added(file, monkeypatch):
    board, quiz = ProgressBoard("01"), Quiz("01")
    for _ in range(30):
        answer(quiz, "q1", "a")
        quiz.reset()
    taken_apart = []
    loads = json.loads

    def counted(text, **options):
        taken_apart.append(text)
        return loads(text, **options)

    monkeypatch.setattr(json, "loads", counted)
    answer(quiz, "q1", "c")
    # One line, and no question was read again either.
    assert taken_apart == file.read_text(encoding="utf-8").splitlines()[-1:]
    assert board.scores[0].parts["q1"] == "first_try"


def test_a_progress_file_put_in_the_place_of_another_is_read_wholly(file):
    board = ProgressBoard("01")
    answer(Quiz("01"), "q1", "c")
    first = file.read_text(encoding="utf-8")
    other = first.replace('"q1"', '"q2"')  # as long as before
    for content, right in ((other, "q2"), (other + first, "q1 q2"), ("", ""), (first, "q1")):
        file.write_text(content, encoding="utf-8")
        board.refresh()
        parts = board.scores[0].parts.items()
        assert [name for name, state in parts if state == "first_try"] == right.split()


def test_a_board_that_is_gone_hears_nothing(file):
    import gc

    board = ProgressBoard("01")
    count = len(log._listeners)
    board.close()
    del board
    gc.collect()
    progress.keep(dict(what="reset", quiz="01", ids=[]))
    assert len(log._listeners) < count


def test_c39_the_board_says_what_is_damaged_and_where(file, language):
    file.write_text("half a li", encoding="utf-8")
    notes = ProgressBoard("01").frame["notes"]
    assert str(file) in notes[0]
    assert notes[1] == texts.t("progress.board.damaged", count=1)


def test_a_board_that_cannot_be_filled_says_so(file, monkeypatch, language):
    board = ProgressBoard("01")
    monkeypatch.setattr("helpers.progress.board.quiz_scores", lambda *_: 1 / 0)
    answer(Quiz("01"), "q1", "a")
    assert isinstance(board.error, ZeroDivisionError)
    assert "ZeroDivisionError" in board.frame["notes"][0]
    assert board.frame["rows"] == []  # no old score stands as if it were the new one
    monkeypatch.undo()


def test_an_exercise_of_no_lesson_and_a_broken_listener_stop_no_verdict(file, monkeypatch):
    board = ProgressBoard("01")
    from helpers.progress.scores import Score

    stray = [Score("99", {"99.split_heads": "later"})]
    monkeypatch.setattr("helpers.progress.board.exercise_scores", lambda log: stray)
    answer(Quiz("01"), "q1", "c")
    assert board.error is None and len(board.frame["rows"]) == 1
    monkeypatch.setattr(ProgressBoard, "_rows", lambda self: 1 / 0)
    answer(Quiz("01"), "q2", "a")  # the verdict comes, the answer is kept
    assert len(lines(file)) == 2


def test_saved_words_are_the_same_whatever_was_answered(file, language):
    def saved():
        bundle = ProgressBoard("01")._repr_mimebundle_()
        return (bundle[0] if isinstance(bundle, tuple) else bundle)["text/plain"]

    before = saved()
    answer(Quiz("01"), "q1", "c")
    assert saved() == before and str(file) not in before


def test_the_table_of_contents_is_what_there_is():
    found = sorted(path.name for path in (PROJECT / "notebooks" / "en").glob("*.ipynb"))
    assert found == sorted(contents.LESSONS.values())
    for language in LANGUAGES:
        texts.set_language(language)
        for number, name in contents.LESSONS.items():
            cells = json.loads(
                (PROJECT / "notebooks" / language / name).read_text(encoding="utf-8")
            )["cells"]
            title = "".join(cells[0]["source"]).splitlines()[0]
            assert title == f"# {contents.link(number)['text']}"


def test_a_wrong_answer_links_to_its_lesson(file, language):
    quiz = Quiz("10")
    for question in load_questions("10"):
        link = quiz._cards[question.id].box
        assert link.link == {}
        wrong = next((o for o in question.options if o not in question.right), "-17.25")
        answer(quiz, question.id, wrong)
        assert link.link["file"] == contents.LESSONS[question.lesson]
        assert link.link["text"].startswith(question.lesson)
        answer(quiz, question.id, [str(part) for part in question.right])
        assert link.link == {}


def test_a_lessons_own_quiz_does_not_send_away(file):
    quiz = Quiz("01")
    answer(quiz, "q1", "a")
    assert quiz._cards["q1"].box.link == {}


def test_quiz_of_some_lessons_only(language):
    some = Quiz("10", lessons=["01", "03"])
    wanted = [q.id for q in load_questions("10") if q.lesson in ("01", "03")]
    assert list(some.results) == wanted and len(wanted) == 6
    with pytest.raises(ValueError, match="77.*01.*09"):
        Quiz("10", lessons=["77"])


def test_questions_or_lessons_are_asked_for_not_both(language):
    for lessons in (["01"], []):
        with pytest.raises(ValueError) as caught:
            Quiz("10", only=["q1"], lessons=lessons)
        assert str(caught.value) == texts.t("quiz.only_or_lessons")
        assert "`only`" in str(caught.value) and "`lessons`" in str(caught.value)
