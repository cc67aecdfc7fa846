"""Lesson 06's predictions: numbers written many ways pass, wrong ones are named; and what the
lesson and its quiz claim is so.
"""

import fractions
import math
from decimal import Decimal

import numpy as np
import pytest
import torch
from check_probe import (
    one_language,  # noqa: F401
)

from helpers import texts, toy
from helpers.checks import check, exercises
from helpers.checks.values import NoNumberError, ValueExercise, as_number
from helpers.explorers import MultiHeadExplorer, Playground

IDS = ["parameter_factor", "map_factor", "first_weight", "divisor", "hot_weight"]

# --- right ways -------------------------------------------------------------------------------

RIGHT = {
    "06.parameter_factor": [
        1, 1.0, 16384 / 16384, (16 * 4) / (2 * 32), torch.tensor(1), np.float64(1), Decimal("1"),
        fractions.Fraction(8, 8), 1.001,
    ],
    "06.map_factor": [
        4, 4.0, 2**2, (18 / 9) ** 2, 324 / 81, 18 * 18 // 81, np.int64(4), torch.tensor([4]),
        torch.ones(18, 18).numel() / torch.ones(9, 9).numel(),
    ],
    "06.first_weight": [
        1, 1.0, 1.00, 0.999, torch.tensor([[0.3]]).softmax(-1), np.array([1.0]),
        torch.tensor(1.0, requires_grad=True), torch.tensor(1, dtype=torch.bfloat16),
        math.exp(0.7) / math.exp(0.7),
    ],
    "06.divisor": [
        2, 2.0, 4**0.5, math.sqrt(64 / 16), (64 // 16) ** (1 / 2), np.sqrt(4),
        torch.tensor(4.0).sqrt(), fractions.Fraction(4, 2), Decimal("2.00"), max(1, 2),
    ],
    "06.hot_weight": [
        1 / 9, 0.11, 0.111, 0.1111, 0.112, fractions.Fraction(1, 9), Decimal(1) / 9,
        torch.zeros(9).softmax(0)[0], torch.tensor(1 / 9, dtype=torch.float16), np.float32(1 / 9),
        math.exp(0) / (9 * math.exp(0)),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("id", "value"), [(id, value) for id in RIGHT for value in RIGHT[id]])
def test_c15_right_numbers_pass_however_they_are_written(id, value, language):
    result = check(id, value)
    assert result.passed is True, result.message
    assert result.message.splitlines()[1].strip()


def test_at_least_eight_right_ways_each_and_every_exercise_is_here():
    lesson = {id for id in exercises() if id.startswith("06.")}
    assert lesson == RIGHT.keys() == WRONG.keys() == {f"06.{name}" for name in IDS}
    assert all(len(ways) >= 8 for ways in RIGHT.values())


# --- wrong ways -------------------------------------------------------------------------------

WRONG = {
    "06.parameter_factor": [
        (8, "more_heads_more_weights"), (16 / 2, "more_heads_more_weights"),
        (1 / 8, "narrower_heads_fewer_weights"), (0.125, "narrower_heads_fewer_weights"),
        (0.13, "narrower_heads_fewer_weights"), (1 / 64, "narrower_heads_fewer_weights"),
        (64, "squared"), (0, "growth_not_factor"), (16, "heads_not_factor"),
        (14, "heads_not_factor"), (16384, "parameters_not_factor"),
        (16640, "parameters_not_factor"), (2, "doubled"), (4, "matrices_not_factor"),
        (3, "another_number"), ("1", "number_as_text"), (True, "not_a_value"),
    ],
    "06.map_factor": [
        (2, "one_side_only"), (18 / 9, "one_side_only"), (1, "same_size"), (0, "same_size"),
        (8, "one_axis_too_many"), (16, "squared_twice"), (3, "added_not_factor"),
        (324 - 81, "difference_not_factor"), (324, "cells_not_factor"), (81, "cells_not_factor"),
        (18, "T_not_factor"), (9, "T_not_factor"), (0.25, "upside_down"), (0.5, "upside_down"),
        (4.5, "another_number"), ("4", "number_as_text"),
    ],
    "06.first_weight": [
        (0, "not_even_itself"), (0.0, "not_even_itself"), (1 / 9, "mask_forgotten"),
        (0.11, "mask_forgotten"), (0.5, "shared_with_the_next"), (1 / 8, "others_only"),
        (0.37, "shared_with_others"), (0.9, "shared_with_others"),
        (-math.inf, "score_not_weight"), (float("inf"), "score_not_hidden"), (100, "percent"),
        (9, "number_of_keys"), (3.5, "not_a_share"), (-1, "not_a_share"),
        (torch.tensor([1.0, 0.0]), "not_one_number"),
    ],
    "06.divisor": [
        (8, "root_of_d_model"), (64**0.5, "root_of_d_model"), (4, "root_forgotten_or_of_H"),
        (16**0.5, "root_forgotten_or_of_H"), (64, "whole_d_model"), (16, "number_of_heads"),
        (0.5, "multiplied_not_divided"), (1 / 4, "multiplied_not_divided"), (3, "root_of_T"),
        (2**0.5, "root_twice"), (1.41, "root_twice"), (32**0.5, "other_side"),
        (5.66, "other_side"), (32, "other_side"), (1, "no_scale"), (1024, "width_times_heads"),
        (2.5, "another_number"), (math.sqrt, "not_a_value"),
    ],
    "06.hot_weight": [
        (0, "all_to_zero"), (1, "one_takes_all"), (0.5, "sigmoid_of_zero"),
        (9, "keys_not_share"), (11.1, "percent"), (11, "percent"), (1 / 81, "whole_map"),
        (0.012, "whole_map"), (1 / 8, "itself_left_out"), (0.12, "itself_left_out"),
        (0.1, "ten_keys"), (math.inf, "temperature_not_weight"),
        (10**400, "temperature_not_weight"), (0.3, "another_number"), (-0.2, "not_a_share"),
        (7, "not_a_share"), ("0.111", "number_as_text"), ("1/9", "number_as_text"),
        ("0,111", "number_as_text"), ((0, 111), "not_one_number"), ([1 / 9], "not_one_number"),
        ((1 / 9,), "not_one_number"), (torch.zeros(9).softmax(0), "not_one_number"),
        ("one ninth", "not_a_value"), (float("nan"), "not_a_value"), (lambda: 1, "not_a_value"),
        ({}, "not_a_value"), ([], "not_a_value"), (1j, "not_a_value"),
        (torch.tensor(True), "not_a_value"), (torch.tensor(1j), "not_a_value"),
        (torch.nn.Linear, "not_a_value"),
    ],
}  # fmt: skip
COMMON = {"another_number", "not_a_share", "number_as_text", "not_one_number", "not_a_value"}


@pytest.mark.parametrize(("id", "value", "kind"), [(id, *way) for id in WRONG for way in WRONG[id]])
def test_wrong_numbers_are_named(id, value, kind, language):
    result = check(id, value)
    assert (result.passed, result.kind) == (False, kind), result.message
    for part in ("title", "expected", "got", "look"):
        assert getattr(result, part).strip(), f"{part} is empty"
    assert result.expected == texts.t(f"check_06.{id[3:]}.wanted")
    assert "{" not in result.message and "Traceback" not in result.message


def test_at_least_eight_wrong_numbers_each_have_a_name_of_their_own():
    for id, ways in WRONG.items():
        named = {kind for _, kind in ways} - COMMON
        assert named == {idea.kind for idea in exercises()[id].misconceptions} | (
            {"shared_with_others"} if id == "06.first_weight" else set()
        )
        assert len(named) >= 8, id


SOLUTIONS = {
    "parameter_factor": ["factor 1", "factor is 1", "× 1 "],
    "map_factor": ["factor 4", "factor is 4", "× 4"],
    "first_weight": ["1.0", "weight 1", "peso 1"],
    "divisor": ["√4", "2.0", "by 2", "entre 2"],
    "hot_weight": ["1 / 9", "0.111", "ninth", "noveno"],
}


@pytest.mark.parametrize("name", IDS)
def test_c15_no_message_about_a_wrong_number_gives_the_answer_away(name, language):
    for value in [7.77, "x", *(idea.wrong for idea in exercises()[f"06.{name}"].misconceptions)]:
        said = check(f"06.{name}", value).message
        for solution in [f"{name} =", *SOLUTIONS[name]]:
            assert solution not in said, said


@pytest.mark.parametrize("name", IDS)
def test_untouched_is_not_yet_and_friendly(name, language):
    for untouched in (None, ...):
        result = check(f"06.{name}", untouched)
        assert (result.passed, result.kind) == (None, "no_value_yet")
        assert f"`{name}`" in result.title and "None" in result.got
        assert "return" not in result.message  # the words for functions would be wrong here


def test_the_number_is_looked_up_where_check_is_called():
    space = {"check": check, "divisor": 2.0, "map_factor": None}
    exec("right, not_yet = check('06.divisor'), check('06.map_factor')", space)
    exec("missing = check('06.hot_weight')", space)
    assert space["right"].passed and space["not_yet"].kind == "no_value_yet"
    assert space["missing"].kind == "undefined" and space["missing"].passed is None


def test_c20_what_the_reader_wrote_is_shown_as_text():
    result = check("06.divisor", "<b>2</b>")
    assert result.quotes == (("Your answer", "'<b>2</b>'"),)
    assert "&lt;b&gt;2" in result._repr_html_() and "<b>2" not in result._repr_html_()


class Contrary:
    """Fails at everything that it may be asked."""

    def __float__(self):
        raise RuntimeError("no")

    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize("value", [Contrary(), [Contrary()], (Contrary(), 1)])
def test_c15_no_value_makes_the_check_raise(value, language):
    assert check("06.divisor", value).passed is False


def test_warnings_stay_silent(recwarn):
    for value in (np.array([2.0]), np.array([[2.0]]), torch.tensor([[2.0]], requires_grad=True)):
        assert check("06.divisor", value).passed
    assert len(recwarn) == 0


def test_a_tiny_number_is_written_whole(language):
    assert check("06.hot_weight", 1e-9).got.startswith("0:")
    assert check("06.hot_weight", 0.25).got == "0.25."


def test_the_nearest_wrong_number_names_it():
    exercise = ValueExercise("99.x", reference=5)
    exercise.misconception("tenth", 0.1)
    exercise.misconception("near_tenth", 0.104)
    assert exercise.finding(0.1011).kind == "tenth"
    assert exercise.finding(0.1032).kind == "near_tenth"
    assert exercise.finding(5.0049).passed is True and exercise.finding(5.006).passed is False
    assert exercise.finding(0.12).kind == "another_number"


def test_what_is_no_number_says_why():
    for value, kind in [("7", "number_as_text"), (b"7", "number_as_text"), ((), "not_a_value")]:
        with pytest.raises(NoNumberError) as raised:
            as_number(value)
        assert raised.value.kind == kind
    assert as_number(-(10**400)) == -math.inf


# --- what the lesson says ---------------------------------------------------------------------


def test_c38_the_answers_are_what_the_playground_measures():
    heads = Playground(left={"H": 2}, right={"H": 16}).comparison
    longer = Playground(left={"T": 9}, right={"T": 18}).comparison
    answers = {id[3:]: exercises()[id].reference for id in RIGHT}
    assert heads["parameters"] == (16384, 16384) and answers["parameter_factor"] == 1
    assert heads["operations"][0] == heads["operations"][1]
    assert longer["cells"] == (81, 324) and answers["map_factor"] == 324 / 81
    assert heads["divisor"][1] == answers["divisor"]
    assert round(longer["operations"][1] / longer["operations"][0], 2) == 2.13
    wide = Playground(left={"d_model": 64}, right={"d_model": 128}).comparison
    assert wide["parameters"][1] == 4 * wide["parameters"][0]
    narrow = Playground(left={"H": 64}, right={"H": 2}).comparison
    assert narrow["divisor"][0] == 1 and narrow["divisor"][1] == pytest.approx(32**0.5)


def test_where_scores_and_values_cost_as_much_as_the_projections():
    from helpers.shapes import count_flops

    flops = count_flops(MultiHeadExplorer(d_model=64, T=128).trace)
    assert flops["attention"] == flops["projections"]


def test_the_first_token_keeps_all_and_heat_makes_a_row_even():
    for seed in range(3):
        causal = MultiHeadExplorer(mask="causal", seed=seed)
        torch.testing.assert_close(causal.weights[:, 0, 0], torch.ones(8))
    hot = MultiHeadExplorer(temperature=1e4).weights
    torch.testing.assert_close(hot, torch.full_like(hot, exercises()["06.hot_weight"].reference),
                               atol=5e-4, rtol=0)  # fmt: skip
    order = MultiHeadExplorer().weights.argsort(-1)
    assert torch.equal(order, MultiHeadExplorer(temperature=4.0).weights.argsort(-1))
    assert MultiHeadExplorer(temperature=0.1).weights.max(-1).values.mean() > 0.9


# --- what the quiz says -----------------------------------------------------------------------


def test_c38_quiz_06_seed_and_cut():
    one, two = MultiHeadExplorer(seed=0), MultiHeadExplorer(seed=1)
    shapes = [[x.shape for _, x in e.trace if hasattr(x, "shape")] for e in (one, two)]
    assert shapes[0] == shapes[1]  # q1
    torch.testing.assert_close(two.weights.sum(-1), torch.ones(8, 9))
    assert not torch.equal(one.weights.argmax(-1), two.weights.argmax(-1))
    assert not torch.allclose(one.trace.output, two.trace.output, atol=0.1)
    few, many = MultiHeadExplorer(H=2), MultiHeadExplorer(H=16)
    assert torch.equal(few.trace.Q, many.trace.Q)  # q4
    assert not torch.allclose(few.weights[0], many.weights[0], atol=0.1)
    assert not torch.allclose(few.trace.output, many.trace.output, atol=0.1)


def test_c38_quiz_06_temperature_and_equal_words():
    scores = torch.tensor([3.0, 1.0, 0.0])
    cool, warm = scores.softmax(0), (scores / 4).softmax(0)
    assert torch.equal(cool.argsort(), warm.argsort())  # q3
    assert (warm.diff().abs() < cool.diff().abs()).tolist() == [True, True]
    assert warm.max() - warm.min() < cool.max() - cool.min() and warm[0] < cool[0]
    assert warm[1] > cool[1] and warm[2] > cool[2] and len(set(warm.tolist())) == 3
    words = toy.words("the cat sat on the mat because the mat was warm")
    X = torch.stack([toy.embed([word], 64, 0)[0, 0] for word in words])[None]
    weights = toy.layer(64, 8, 0).trace(X).weights[0]
    first, second = 5, 8
    torch.testing.assert_close(weights[:, first], weights[:, second])  # q5
    torch.testing.assert_close(weights[:, :, first], weights[:, :, second])
    assert not torch.allclose(weights[:, 0], weights[:, 1], atol=0.1)
    causal = toy.layer(64, 8, 0).trace(X, torch.ones(11, 11).tril()).weights[0]
    assert not torch.allclose(causal[:, first], causal[:, second], atol=1e-3)
