"""The questions in both languages, their keys, and numbers as people write them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quiz_probe import (
    LANGUAGES,
    answered,
    both_languages,  # noqa: F401
    each_question,
    question_of,
    questions,
)

from helpers import texts
from helpers.quiz.marking import load_questions, mark, quiz_ids, read_numbers
from helpers.quiz.text import as_plain

# The questions ----------------------------------------------------------------------------


def test_there_are_quizzes_for_the_lessons():
    assert {"00", "01"} <= set(quiz_ids())
    assert len(load_questions("00")) == 3
    assert 5 <= len(load_questions("01")) <= 6


def test_c42_both_languages_have_the_same_questions_and_options():
    shapes = []
    for code in LANGUAGES:
        texts.set_language(code)
        shapes.append(
            [(quiz, q.id, q.kind, sorted(q.options), sorted(q.whys)) for quiz, q in questions()]
        )
    assert shapes[0] == shapes[1]


@each_question
def test_a_key_points_at_what_is_there(quiz_id, name):
    question = question_of(quiz_id, name)
    if question.kind == "numeric":
        assert len(question.right) == 1
        assert set(question.whys) == {"right", "other", *question.known_wrong}
        far = [abs(v - question.right[0]) for v in question.known_wrong.values()]
        assert all(distance > 2 * question.tolerance for distance in far)
    else:
        assert set(question.right) <= set(question.options)
        assert set(question.whys) == set(question.options)
        assert 3 <= len(question.options) <= 6
        assert len(question.right) < len(question.options)
        assert (len(question.right) == 1) == (question.kind == "single")
    explanations = [as_plain(why) for why in question.whys.values()]
    assert len(set(explanations)) == len(explanations)
    assert all(len(why) > 30 for why in explanations)
    assert len({as_plain(option) for option in question.options.values()}) == len(question.options)


def test_c41_neither_place_nor_length_gives_the_answer_away(language):
    choices = [q for _, q in questions() if q.kind == "single"]
    file_places, shown_places, longest = [], [], 0
    for question in choices:
        right = question.right[0]
        file_places.append(sorted(question.options).index(right))
        shown_places.append(list(question.options).index(right))
        lengths = {option: len(as_plain(text)) for option, text in question.options.items()}
        longest += lengths[right] == max(lengths.values())
    assert len(set(file_places)) > 1 and len(set(shown_places)) > 1
    assert longest <= len(choices) / 2


def test_options_are_plain_text_with_code():
    for _, question in questions():
        for text in question.options.values():
            assert not re.search(r"[$<>\\]", text)
            assert text.count("`") % 2 == 0


def test_plain_text_has_no_latex_left():
    for _, question in questions():
        for text in (question.prompt, *question.options.values(), *question.whys.values()):
            assert not re.search(r"[$\\`{}^]", as_plain(text)), as_plain(text)
    assert as_plain(r"$\sqrt{d_k}$, $QK^\top$ and `x`") == "√d_k, QKᵀ and x"
    assert as_plain(r"$\sqrt{d_\text{model} + 1}$ is $2 \times 3$") == "√(d_model + 1) is 2 × 3"


# Numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "typed, number",
    [
        *[
            ("0.5", 0.5),
            ("0,5", 0.5),
            ("1/2", 0.5),
            (" 1 / 2 ", 0.5),
            ("\t.5\n", 0.5),
            ("50 %", 0.5),
        ],
        *[("0,500", 0.5), ("5e-1", 0.5), ("5E-1", 0.5), ("+0.5", 0.5), ("2,5/5", 0.5)],
        *[("-3", -3), ("−3", -3), ("64.", 64), ("６４", 64), ("064", 64)],
        *[("1,048,576", 1048576), ("1.048.576", 1048576), ("1 048 576", 1048576)],
        *[("1\u202f024", 1024), ("1,024.5", 1024.5), ("1.024,5", 1024.5)],
    ],
)
def test_numbers_are_read_as_people_write_them(typed, number):
    assert read_numbers(typed) == [pytest.approx(number)]


def test_a_number_with_two_readings_counts_for_both():
    assert read_numbers("1,024") == read_numbers("1.024") == [1.024, 1024]


@pytest.mark.parametrize(
    "typed",
    [
        "half",
        "1 1/2",
        "1/0",
        "1/2/3",
        "--1",
        "0..5",
        "12 34",
        "1e999",
        "nan",
        "inf",
        "0x10",
        "²",
        "%",
    ],
)
def test_what_is_no_number_is_met_with_words(typed):
    assert read_numbers(typed) == []
    quiz = answered("01", "q4", typed)
    assert typed in quiz.feedback("q4") and "1/2" in quiz.feedback("q4")
    assert quiz._cards["q4"].box.answer == [typed]
    assert quiz.results["q4"]["tries"] == 0


@given(st.text(max_size=30))
def test_no_typed_text_raises(typed):
    assert all(isinstance(number, float) for number in read_numbers(typed))


def test_the_tolerance_counts_its_edge():
    quiz_right = [v for v in ("0.395", "0.405", "2/5", "0,4", "40%") if _is_right("q4", v)]
    assert quiz_right == ["0.395", "0.405", "2/5", "0,4", "40%"]
    assert not _is_right("q4", "0.3949") and not _is_right("q4", "0.4051")
    assert _is_right("q5", "64.0") and _is_right("q5", "63") and not _is_right("q5", "62.9")


def _is_right(name, typed):
    return mark(question_of("01", name), [typed]).verdict == "right"
