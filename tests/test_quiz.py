"""Answering a quiz: every answer of every question, what counts, and what breaks."""

import itertools
import json
import random
import re

import ipywidgets
import pytest
from quiz_probe import (
    answered,
    both_languages,  # noqa: F401
    each_question,
    page,
    press,
    question_of,
    right_answer,
    score,
    sent_as,
    wrong_answer,
)

from helpers import texts
from helpers.quiz import Quiz, card

# Answers ----------------------------------------------------------------------------------


@each_question
def test_c41_each_option_gets_its_own_explanation(quiz_id, name):
    question = question_of(quiz_id, name)
    for option in question.options:
        quiz = answered(quiz_id, name, [option], only=[name])
        said, sent = quiz.feedback(name), page(quiz)
        assert question.whys[option] in said
        assert sent_as(question.whys[option])[1] in sent
        for other in set(question.options) - {option}:
            assert question.whys[other] not in said
            assert not any(form in sent for form in sent_as(question.whys[other]))
        right = question.right == [option]
        assert quiz.results[name]["right"] is right
        words = texts.texts_under("quiz.verdict")
        assert said.startswith(words["right"]) is right


@each_question
def test_numbers_known_to_be_wrong_get_their_own_explanation(quiz_id, name):
    question = question_of(quiz_id, name)
    if question.kind != "numeric":
        return
    numbers = {"right": question.right[0], "other": -17.25, **question.known_wrong}
    for reason, number in numbers.items():
        quiz = answered(quiz_id, name, number, only=[name])
        why = question.whys[reason]
        assert quiz.feedback(name).endswith(why)
        assert quiz.results[name]["right"] is (reason == "right")
        assert sum(other in quiz.feedback(name) for other in question.whys.values()) == 1


@each_question
def test_several_right_wants_exactly_the_right_ones(quiz_id, name):
    question = question_of(quiz_id, name)
    if question.kind != "several":
        return
    words = texts.texts_under("quiz")
    for size in range(1, len(question.options) + 1):
        for chosen in itertools.combinations(question.options, size):
            quiz = answered(quiz_id, name, chosen, only=[name])
            missing = set(question.right) - set(chosen)
            wrong = set(chosen) - set(question.right)
            said = quiz.feedback(name)
            assert quiz.results[name]["right"] is (not missing and not wrong)
            verdict = "right" if not missing and not wrong else "partly"
            verdict = verdict if set(chosen) & set(question.right) else "wrong"
            assert said.startswith(words["verdict"][verdict])
            assert said.count(f"\n{words['mark']['wrong'].capitalize()}: ") == len(wrong)
            many = words["missing_many"].format(count=len(missing))
            told = {0: "", 1: words["missing_one"]}.get(len(missing), many)
            assert told in said.splitlines()[0]
            for option in question.options:
                assert (question.whys[option] in said) is (option in chosen)


@pytest.mark.parametrize("quiz_id, name", [("03", "q5"), ("01", "q6")])
def test_an_explained_option_ends_before_its_explanation(quiz_id, name):
    """One full stop after the quotation mark, whether the option is a sentence or not."""
    question = question_of(quiz_id, name)
    for option, text in question.options.items():
        line = answered(quiz_id, name, [option]).feedback(name).splitlines()[1]
        assert re.search(rf"[“«]{re.escape(text.rstrip('.'))}[”»]\. ", line), line
        assert line.endswith(question.whys[option])


def test_the_second_miss_names_what_is_missing():
    question = question_of("01", "q6")
    quiz = answered("01", "q6", ["b"])
    assert question.whys["c"] not in quiz.feedback("q6")
    quiz.answer("q6", ["b", "a"])
    quiz.check("q6")
    missing = texts.t("quiz.mark.missing").capitalize()
    assert f"\n{missing}: " in quiz.feedback("q6")
    assert quiz.feedback("q6").endswith(question.whys["c"])


@pytest.mark.parametrize("name, nothing", [("q1", []), ("q6", []), ("q4", [""]), ("q4", ["  "])])
def test_checking_nothing_asks_for_an_answer(name, nothing):
    quiz = answered("01", name, nothing)
    kind = question_of("01", name).kind
    assert quiz.feedback(name) == texts.t(f"quiz.empty.{kind}")
    assert quiz.results[name] == Quiz("01").results[name]


# What counts ------------------------------------------------------------------------------


def test_results_count_tries_and_the_first():
    quiz = Quiz("01")
    for option in ("a", "a", "b", "c"):
        quiz.answer("q1", option)
        quiz.check("q1")
    quiz.answer("q2", "b")
    quiz.check("q2")
    done = {"answered": True, "right": True}
    assert quiz.results["q1"] == {**done, "tries": 3, "first_try": False, "answer": ["c"]}
    assert quiz.results["q2"] == {**done, "tries": 1, "first_try": True, "answer": ["b"]}
    assert quiz.results["q3"]["answered"] is False
    assert score(quiz) == texts.t("quiz.score", count=1, total=6)


def test_looking_at_other_options_after_the_right_one_costs_nothing():
    quiz = answered("01", "q1", "c")
    before = quiz.results
    quiz.answer("q1", "a")
    quiz.check("q1")
    assert quiz.results == before
    assert question_of("01", "q1").whys["a"] in quiz.feedback("q1")


def test_another_choice_takes_back_what_was_said_of_the_last_one():
    quiz = answered("01", "q1", "a")
    card = quiz._cards["q1"]
    assert card.box.verdict == "wrong" and card.why.value and card.box.spoken
    quiz.answer("q1", "b")
    assert quiz.feedback("q1") == ""
    assert [card.box.verdict, card.box.said, card.box.spoken, card.why.value] == [""] * 4
    assert list(card.box.marks) == ["a"]


def test_c26_reset_brings_back_the_first_state():
    quiz = Quiz("01")
    fresh, results = page(quiz), quiz.results
    for name in quiz.results:
        question = question_of("01", name)
        for answer in (wrong_answer(question), right_answer(question)):
            quiz.answer(name, answer)
            quiz.check(name)
    assert page(quiz) != fresh
    button = quiz.children[-1].children[0].children[1]
    assert isinstance(button, ipywidgets.Button)
    button.click()
    assert quiz.error is None
    assert page(quiz) == fresh
    assert quiz.results == results


def test_c26_c27_quizzes_share_nothing_and_come_out_the_same():
    first, second = Quiz("01"), Quiz("01")
    untouched = page(second)
    assert page(first) == untouched
    first.answer("q1", "a")
    first.check("q1")
    assert page(second) == untouched and not second.results["q1"]["answered"]
    assert page(Quiz("01")) == untouched


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_c41_shuffling_is_repeatable_and_leaves_scoring_alone(seed):
    random.seed(1)
    expected = random.random()
    random.seed(1)
    quiz = Quiz("01", seed=seed)
    assert random.random() == expected
    assert page(quiz) == page(Quiz("01", seed=seed))
    for name in quiz.results:
        quiz.answer(name, right_answer(question_of("01", name)))
        quiz.check(name)
    assert all(result["first_try"] for result in quiz.results.values())


def test_c41_the_order_hangs_on_the_seed_and_not_on_what_else_is_shown():
    orders = {json.dumps(Quiz("01", seed=s)._cards["q1"].box.options) for s in range(8)}
    assert len(orders) > 3
    alone = Quiz("01", only=["q2"])
    assert list(alone.results) == ["q2"]
    assert alone._cards["q2"].box.options == Quiz("01")._cards["q2"].box.options


# From the page, and when something breaks --------------------------------------------------


def test_the_press_of_the_button_carries_the_answer():
    quiz = Quiz("01")
    quiz.answer("q1", "a")  # what the kernel knew last
    press(quiz, "q1", ["c"])
    assert quiz.results["q1"]["answer"] == ["c"] and quiz.results["q1"]["first_try"]
    press(quiz, "q4", ["2/5"])
    press(quiz, "q6", ["b", "c"])
    assert quiz.results["q4"]["right"] and quiz.results["q6"]["right"]
    quiz._cards["q1"].box._handle_custom_msg({"something": "else"}, [])
    assert quiz.error is None


def test_listeners_hear_each_answer():
    heard = []
    quiz = Quiz("01")
    quiz.on_answer(lambda name, result: heard.append((name, result["right"], result["tries"])))
    press(quiz, "q1", ["a"])
    press(quiz, "q1", ["c"])
    press(quiz, "q4", [""])
    press(quiz, "q4", ["what"])
    assert heard == [("q1", False, 1), ("q1", True, 2)]


def test_c24_a_failing_listener_is_told_and_the_answer_is_kept(language):
    quiz = Quiz("01")

    def fail(name, result):
        raise OSError("<b>disk</b> full {x}")

    quiz.on_answer(fail)
    press(quiz, "q1", ["c"])
    assert isinstance(quiz.error, OSError)
    trouble = quiz._trouble.value
    assert "OSError: &lt;b&gt;disk&lt;/b&gt; full {x}" in trouble and 'role="alert"' in trouble
    assert quiz.results["q1"]["right"] is True and quiz._cards["q1"].box.verdict == "right"
    quiz._listeners.clear()
    press(quiz, "q2", ["b"])
    assert quiz.error is None and quiz._trouble.value == ""


@pytest.mark.parametrize("broken", ["mark", "as_html"])
def test_c24_an_exception_in_a_callback_shows_and_passes(broken, monkeypatch):
    quiz = Quiz("01")
    with monkeypatch.context() as patch:
        patch.setattr(card, broken, lambda *_: 1 / 0)
        press(quiz, "q1", ["a"])
        assert isinstance(quiz.error, ZeroDivisionError)
        assert "ZeroDivisionError" in quiz._trouble.value
        assert quiz._cards["q1"].box.answer == ["a"]
    press(quiz, "q1", ["a"])
    assert quiz.error is None and quiz.feedback("q1")


def test_what_does_not_exist_is_named():
    with pytest.raises(ValueError, match="77.*00, 01"):
        Quiz("77")
    with pytest.raises(ValueError, match="q9.*q1, q2"):
        Quiz("01", only=["q1", "q9"])
    quiz = Quiz("01")
    for attempt in (lambda: quiz.answer("q9", "a"), lambda: quiz.check("q9")):
        with pytest.raises(ValueError, match="q9"):
            attempt()
    with pytest.raises(ValueError, match="q1.*z|z.*q1"):
        quiz.answer("q1", "z")
    with pytest.raises(ValueError, match="q1"):
        quiz.answer("q1", ["a", "b"])
    press(quiz, "q1", ["z"])
    assert isinstance(quiz.error, ValueError) and not quiz.results["q1"]["answered"]
