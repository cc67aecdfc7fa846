"""What a check says of a failed trial: the numbers in its words, refusals, the layers in order."""

import math
import re

import pytest
import torch
from check_probe import double_exercise

from helpers.checks.base import Probe
from helpers.checks.case import Case, named, numbers, size_values, symbols
from helpers.checks.diagnosis import diagnose
from helpers.checks.errors import judge_expected_error
from helpers.checks.matching import agrees
from helpers.checks.trying import Outcome, attempt

# --- the words' numbers -------------------------------------------------------------------------


def test_symbols_stand_for_sizes_that_one_symbol_has():
    assert (symbols(()), symbols(("T",)), symbols(("B", "T"))) == ("()", "(T,)", "(B, T)")
    sizes = {"B": 2, "T": 5, "H": 2, "d_model": 6}
    assert named((5, 2, 6), sizes) == "(T, 2, d_model)"
    assert named((7,), sizes) == "(7,)"


def test_texts_may_use_each_size_its_root_and_the_call():
    probe = Probe({"x": torch.zeros(4, 2)}, {"T": 4, "d_k": 2})
    assert size_values(probe) == {
        "sizes": "T = 4, d_k = 2",
        "T": 4,
        "sqrt_T": "2",
        "d_k": 2,
        "sqrt_d_k": "1.414",
        "trial": "x (4, 2)",
    }


@pytest.mark.parametrize(
    ("answer", "rows", "sentence"),
    [
        (lambda x, n: x + 1, False,
         ("checks.number_at", {"index": "1", "expected": "6", "got": "3"})),
        (lambda x, n: x + 2, False,
         ("checks.number_at", {"index": "1", "expected": "6", "got": "4"})),
        (lambda x, n: x + 2, True, ("checks.number", {"expected": "[3, 6]", "got": "[3, 4]"})),
        (lambda x, n: x[None], False, ("checks.shapes", {"expected": (2,), "got": (1, 2)})),
        (lambda x, n: [3, 6], False, None),
    ],
)  # fmt: skip
def test_the_sentence_of_numbers(answer, rows, sentence):
    exercise = double_exercise(rows=rows)
    (probe,) = exercise.probes
    case = Case(exercise, answer, probe, attempt(exercise, answer, probe))
    if sentence is not None:
        key, values = sentence
        sentence = key, {**values, "trial": "x (2,), n = 3"}
    assert numbers(case) == sentence


# --- refusals -----------------------------------------------------------------------------------


def refusal(answer):
    """The finding on a trial where a right answer raises and names 64 and 5."""
    inputs = {"d_model": 64, "num_heads": 5}
    probe = Probe(inputs, {"d": 64, "H": 5}, "", (ValueError, AssertionError), ("64", "5"))
    exercise = double_exercise(make_probes=lambda: [probe])
    return judge_expected_error(Case(exercise, answer, probe, attempt(exercise, answer, probe)))


def test_a_refusal_that_did_not_come_is_told_with_what_came():
    finding = refusal(lambda d_model, num_heads: 12)
    assert (finding.kind, finding.passed, finding.own) == ("should_raise", False, False)
    assert (finding.values["error"], finding.values["got"]) == ("ValueError", "int 12")
    assert (finding.values["d"], finding.values["trial"]) == (64, "d_model = 64, num_heads = 5")
    assert finding.evidence == finding.quotes == finding.hints == ()


def test_a_refusal_without_its_numbers_is_quoted_and_told_which_are_missing():
    def nameless(d_model, num_heads):
        raise AssertionError("640 and 5x do not fit")

    def half(d_model, num_heads):
        raise ValueError(f"{num_heads} heads")

    finding = refusal(nameless)
    assert finding.kind == "error_without_numbers" and finding.values["missing"] == ["64", "5"]
    assert finding.values["error"] == "ValueError"
    (line, source), words = finding.quotes
    assert line == "line" and re.fullmatch(r"\d+: raise AssertionError\(.*\)", source)
    assert words == ("words", "AssertionError: 640 and 5x do not fit")
    assert refusal(half).values["missing"] == ["64"]


def test_a_right_refusal_is_none_and_another_error_is_the_readers_own():
    def right(d_model, num_heads):
        raise ValueError(f"{d_model} over {num_heads}")

    def other(d_model, num_heads):
        raise KeyError(d_model, num_heads)

    assert refusal(right) is None
    assert refusal(other).kind == "raised"


def test_a_line_whose_text_is_gone_is_told_by_its_number():
    space = {}
    exec(compile("def answer(x, n):\n    raise ValueError", "gone.py", "exec"), space)
    line, words = diagnose(double_exercise(), space["answer"]).quotes
    assert (line, words) == (("line", "2"), ("words", "ValueError"))


@pytest.mark.parametrize(
    ("file", "of_the_reader"),
    [
        ("/opt/site-packages/torch/some.py", False),
        ("/usr/lib/python3/dist-packages/some.py", False),
        ("<string>", False),
        ("<ipython-input-3-0a1b>", True),
        ("/tmp/ipykernel_12/345.py", True),
    ],
)
def test_the_line_shown_is_the_readers_and_never_a_packages(file, of_the_reader):
    space = {}
    exec(compile("def fails():\n    raise ValueError", file, "exec"), space)

    def answer(x, n):
        return space["fails"]()

    (_, line), _ = diagnose(double_exercise(), answer).quotes
    assert line == "2" if of_the_reader else line.endswith(': return space["fails"]()')


def test_a_pass_says_so_and_nothing_else():
    finding = diagnose(double_exercise(), lambda x, n: n * x)
    assert (finding.kind, finding.passed, finding.values) == ("passed", True, {})
    assert finding.evidence == finding.hints == finding.quotes == ()


@pytest.mark.parametrize(
    ("answer", "got"),
    [
        (lambda x, n: (x * n).long(), "Tensor (2,) int64"),
        (lambda x, n: x * n + 1j, "Tensor (2,) complex64"),
    ],
)
def test_numbers_of_another_kind_are_told_by_their_dtype(answer, got):
    made = [Probe({"x": torch.tensor([1.25, 2.0]), "n": 3}, {"T": 2, "n": 3})]
    finding = diagnose(double_exercise(make_probes=lambda: made), answer)
    assert (finding.kind, finding.values["got"]) == ("wrong_dtype", got)
    assert finding.evidence == finding.quotes == ()


def test_an_error_agrees_with_an_error_of_its_kind_alone():
    error, other, nothing = Outcome(error=ValueError()), Outcome(error=KeyError()), Outcome()
    assert agrees(error, Outcome(error=ValueError("words"))) and agrees(nothing, Outcome())
    assert not agrees(error, other) and not agrees(error, nothing) and not agrees(nothing, error)


# --- from the most telling to the plainest ------------------------------------------------------


def trial(*numbers, condition="", n=3, **more):
    return Probe({"x": torch.tensor(numbers), "n": n, **more}, {"T": len(numbers)}, condition)


def exercise_of(*probes, easier=(), **more):
    return double_exercise(make_probes=lambda: [*probes], make_easier=lambda: [*easier], **more)


def added(x, n):
    return x + n


def refusing_above_one(x, n):
    if len(x) > 1:
        raise ValueError
    return x + n


def test_a_mistake_that_fits_one_trial_alone_is_named():
    exercise = exercise_of(trial(1.0, 2.0), trial(5.0, 6.0))
    exercise.misconception("added", added)
    assert diagnose(exercise, lambda x, n: x + n if x[0] == 1 else x - n).kind == "added"


def test_of_mistakes_that_fit_equally_well_the_first_is_named():
    exercise = exercise_of(trial(1.0, 2.0))
    exercise.misconception("added", added)
    exercise.misconception("again", added)
    assert diagnose(exercise, added).kind == "added"


def test_without_a_mask_nothing_is_said_of_one_in_later_trials_either():
    exercise = exercise_of(trial(1.0, 2.0), trial(5.0, 6.0))
    finding = diagnose(exercise, lambda x, n: x * n + (x == 5))
    assert (finding.kind, finding.hints) == ("wrong_values", ())


def test_of_random_numbers_none_is_shown():
    finding = diagnose(exercise_of(trial(1.0, 2.0)), lambda x, n: torch.rand(2))
    assert (finding.kind, finding.evidence) == ("random", ())


def test_an_easier_trial_with_other_inputs_is_passed_over_for_the_next():
    easier = [trial(1.0, condition="mask", mask=None), trial(1.0, condition="T = 1")]
    exercise = exercise_of(trial(1.0, 2.0), easier=easier)
    finding = diagnose(exercise, lambda x, n: x * n if len(x) == 1 else x)
    assert (finding.kind, finding.values["condition"]) == ("works_only_when", "T = 1")


def test_where_an_easier_trial_tells_the_mistake_the_one_that_fits_most_is_named():
    exercise = exercise_of(trial(1.0, 2.0), easier=[trial(1.0)])
    exercise.misconception("added", added)
    exercise.misconception("added_and_refused", refusing_above_one)
    assert diagnose(exercise, refusing_above_one).kind == "added_and_refused"


def test_what_an_easier_trial_tells_is_not_named_where_an_earlier_trial_disproves_it():
    exercise = exercise_of(trial(1.0, 2.0), trial(5.0, 6.0), easier=[trial(1.0)])
    exercise.misconception("added", added)

    def answer(x, n):
        return x * n if len(x) == 2 and x[0] == 1 else refusing_above_one(x, n)

    assert diagnose(exercise, answer).kind == "raised"


def test_a_long_answer_that_is_no_tensor_is_cut():
    exercise = double_exercise(reference=lambda x, n: ("T",))
    finding = diagnose(exercise, lambda x, n: ("T", "x" * 300))
    ((label, text),) = finding.quotes
    assert (finding.kind, label, len(text)) == ("wrong_answer", "value", 200)


def test_nan_is_told_unless_the_right_answer_is_not_finite_either():
    def with_nan(x, n):
        return torch.where(x == 2, math.nan, x * n)

    assert diagnose(exercise_of(trial(1.0, 2.0)), with_nan).kind == "not_finite"
    assert diagnose(exercise_of(trial(math.inf, 2.0)), with_nan).kind == "wrong_values"


def test_the_exercises_own_rules_speak_in_their_order_with_their_numbers():
    rules = [lambda case: None, lambda case: ("half", {"share": 5}), lambda case: ("late", {})]
    finding = diagnose(double_exercise(rules=rules), lambda x, n: x)
    assert (finding.kind, finding.own, finding.values["share"]) == ("half", True, 5)


def test_what_rounding_explains_is_not_counted_as_wrong():
    fine = exercise_of(trial(1.0, 2.0))
    finding = diagnose(fine, lambda x, n: torch.tensor([3 + 3e-6, 7], dtype=torch.float64))
    assert (finding.values["wrong"], finding.values["total"]) == (1, 2)
    coarse = exercise_of(trial(0.0, 1.0, 2.0, math.nan))
    finding = diagnose(coarse, lambda x, n: torch.tensor([0.003, 3.01, 7, math.nan]).half())
    assert (finding.values["wrong"], finding.values["total"]) == (1, 4)


class NoWayBack(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise ValueError


def test_an_answer_that_raises_backwards_has_no_gradients():
    finding = diagnose(double_exercise(differentiable=True), lambda x, n: NoWayBack.apply(x) * n)
    assert (finding.kind, finding.values["names"]) == ("detached", ["x"])


@pytest.mark.parametrize(
    ("x", "got", "index"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], torch.tensor([[3, 6 + 6e-6], [9, 0]], dtype=torch.float64), "1"),
        ([[1.0, 2.0], [3.0, 4.0]], torch.tensor([[3, 6.02], [9, 0]]).half(), "1"),
    ],
)
def test_the_row_shown_is_one_that_rounding_does_not_explain(x, got, index):
    probe = Probe({"x": torch.tensor(x), "n": 3}, {"T": 2})
    exercise = double_exercise(rows=True, make_probes=lambda: [probe])
    ((_, values),) = diagnose(exercise, lambda x, n: got.clone()).evidence
    assert values["index"] == index
