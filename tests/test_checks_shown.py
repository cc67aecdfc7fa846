"""What a verdict and a report show, whole; numbers as answers, told as they were written."""

import re

import pytest

from helpers import texts
from helpers.checks import errors
from helpers.checks.base import ProblemError, exercises
from helpers.checks.case import Finding
from helpers.checks.report import Report
from helpers.checks.result import Result, result_of
from helpers.checks.values import NoNumberError, ValueExercise, as_number


@pytest.fixture(autouse=True)
def english():
    texts.set_language("en")


def a_result(passed, kind="kind", **more):
    return Result("98.a", passed, kind, "A title", **more)


def test_a_results_page_holds_its_parts_in_reading_order_with_nothing_between():
    result = a_result(False, expected="3", got="4", look="There", quotes=(("Line", "x < 1"),))
    assert result.parts() == [
        ("Expected", "3", False), ("What came", "4", False), ("Line", "x < 1", True),
        ("Next", "There", False),
    ]  # fmt: skip
    assert result.message == (
        "✗ Not right yet · 98.a\nA title\nExpected: 3\nWhat came: 4\nLine: x < 1\nNext: There"
    )
    page = result._repr_html_()
    texts_alone = re.sub("<[^>]*>", "|", page)
    assert [part for part in texts_alone.split("|") if part.strip()] == [
        "✗ Not right yet", " · ", "98.a", "A title", "Expected:", " 3", "What came:", " 4",
        "Line:", "x &lt; 1", "Next:", " There",
    ]  # fmt: skip
    assert page.count("<div") == page.count("</div>") == 7
    assert "white-space:pre-wrap" in page and "--jp-error-color1" in page
    assert "--jp-success-color1" in a_result(True)._repr_html_()
    assert "--jp-info-color1" in a_result(None)._repr_html_()


def test_a_verdict_for_a_file_holds_exercise_passed_and_kind():
    assert a_result(None, "not_yet").as_dict() == {
        "exercise": "98.a", "passed": None, "kind": "not_yet",
    }  # fmt: skip
    assert (bool(a_result(True)), bool(a_result(None)), bool(a_result(False))) == (1, 0, 0)


def test_a_report_goes_on_after_a_missing_check():
    report = Report(
        {"98.a": a_result(True), "98.b": None, "98.c": a_result(False), "98.d": a_result(None)}
    )
    assert (report.passed, report.missing) == (["98.a"], ["98.b"])
    assert (report.failed, report.not_yet) == (["98.c"], ["98.d"])
    lines = [
        "✓ Correct: 98.a", "– Check missing: 98.b has not run.", "✗ Not right yet: 98.c · A title",
        "○ Not yet: 98.d",
    ]  # fmt: skip
    assert report.lines() == lines
    assert str(report) == "\n".join(["1 of 4 exercises correct.", *lines])
    assert report.as_dicts()[1] == {"exercise": "98.b", "passed": None, "kind": "missing"}
    page = report._repr_html_()
    assert "<strong>1 of 4 exercises correct.</strong>" in page
    assert "".join(f"<li>{line}</li>" for line in lines) in page
    assert "list-style:none" in page  # the icons are the marks
    assert report._repr_mimebundle_() == {"text/plain": str(report), "text/html": page}


def test_a_problem_carries_its_kind_and_numbers():
    problem = ProblemError("missing_attribute", names=["W_O"])
    assert (str(problem), problem.kind) == ("missing_attribute", "missing_attribute")
    assert problem.values == {"names": ["W_O"]}


# --- a number as the answer ---------------------------------------------------------------------


def test_a_predicted_number_is_told_or_what_came_in_its_place():
    exercise = ValueExercise("98.x", reference=7)
    assert exercise.finding(7.004) == Finding("passed", True)
    for answer, got in ((3000, "3,000"), (0.5, "0.5"), (2.0, "2"), (1 / 3, "0.333")):
        finding = exercise.finding(answer)
        assert (finding.kind, finding.values) == ("another_number", {"got": got})
    nothing = exercise.finding({"a": 1})
    assert (nothing.kind, nothing.values) == ("not_a_value", {"got": "dict"})


def test_bytes_that_are_no_text_are_no_value():
    with pytest.raises(NoNumberError) as raised:
        as_number(b"\xff")
    assert raised.value.kind == "not_a_value"


# --- a right answer with a remark, an untouched one ---------------------------------------------


def test_remarks_on_a_right_answer_stand_after_one_another_below_its_title():
    exercise = next(iter(exercises().values()))
    said = [(f"checks.hints.write_{kind}", {"name": kind}) for kind in ("class", "function")]
    result = result_of(exercise, Finding("passed", True, hints=tuple(said)))
    assert result.passed and result.look == " ".join(texts.t(key, **more) for key, more in said)
    assert result_of(exercise, Finding("passed", True)).look == ""


def test_only_the_error_of_a_stub_says_that_nothing_is_written_yet():
    assert errors.is_a_stub(NotImplementedError())
    assert errors.is_a_stub(NotImplementedError("later"))
    for words in ("\"add\" not implemented for 'Half'", "Could not run 'aten::x' with arguments"):
        assert not errors.is_a_stub(NotImplementedError(words))
    assert not errors.is_a_stub(RuntimeError()) and not errors.is_a_stub(None)
