"""The parts of the check machinery, each by its values: numbers, trials, findings."""

import importlib
import math
import re
from fractions import Fraction

import numpy as np
import pytest
import torch

from helpers.checks import base, comparing
from helpers.checks.base import (
    Exercise,
    Misconception,
    Probe,
    copied,
    random_tensors,
)
from helpers.checks.case import Case, named, numbers, size_values, symbols
from helpers.checks.diagnosis import _agree, diagnose
from helpers.checks.errors import judge_expected_error
from helpers.checks.trying import Outcome, attempt, gradients, own_random_state, words_of

# --- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((999_999.0,), ["999999"]),
        ((1e6,), ["1e+06"]),
        ((-1_234_567.0,), ["-1.23e+06"]),
        ((1_234_567.5,), ["1.23e+06"]),
        ((0.5, 0.5), ["0.500", "0.500"]),
        ((0.12341, 0.12342), ["0.12341", "0.12342"]),
        ((0.1234561, 0.1234569), ["0.123456", "0.123457"]),
        ((1e-7, 2e-7), ["1e-07", "2e-07"]),
        ((-1e-7,), ["0.000"]),
        ((math.inf, -math.inf, math.nan), ["inf", "-inf", "NaN"]),
    ],
)
def test_written_takes_the_fewest_digits_that_tell_numbers_apart(values, texts):
    assert comparing.written(*values) == texts


def test_a_row_is_written_up_to_eight_numbers():
    assert comparing.written_row(torch.arange(8.0)) == "[0, 1, 2, 3, 4, 5, 6, 7]"
    assert comparing.written_row(torch.arange(9.0)) == "[0, 1, 2, 3, 4, 5, 6, 7, …]"
    assert comparing.written_row(torch.tensor([[0.5, 1.25], [2, 3]])) == "[0.500, 1.250, 2, 3]"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (torch.zeros(2, 3), "Tensor (2, 3) float32"),
        (torch.zeros(4, dtype=torch.int64), "Tensor (4,) int64"),
        ((), "tuple ()"),
        ([1, "a", None, 2.0], "list (int, str, NoneType, float)"),
        ((1, 2, 3, 4, 5), "tuple (int, int, int, int, …)"),
        (np.zeros((5, 5)), "ndarray (5, 5)"),
        (5, "int 5"),
        (0.5, "float 0.5"),
        (Fraction(1, 3), "Fraction 1/3"),
        (True, "bool True"),
        (None, "NoneType"),
        ("long text", "str"),
    ],
)
def test_a_thing_is_described_in_pythons_own_words(value, words):
    assert comparing.described(value) == words


def test_what_holds_numbers_and_what_does_not():
    for value, want in ((2, 2), (Fraction(1, 4), 0.25), (torch.tensor([1, 2]), [1, 2])):
        found = comparing.as_numbers(value)
        assert found.tolist() == want and found.dtype == torch.float64
    assert comparing.as_numbers(torch.eye(2).to_sparse()).tolist() == [[1, 0], [0, 1]]
    for value in (True, "1", None, [1.0], torch.tensor(1j), torch.empty(2, device="meta")):
        assert comparing.as_numbers(value) is None


def test_the_coarsest_dtype_sets_the_tolerance():
    half, brain = torch.zeros(1).half(), torch.zeros(1).bfloat16()
    single, double, whole = torch.zeros(1), torch.zeros(1).double(), torch.zeros(1).long()
    assert comparing.tolerance(1.0, 2) == comparing.tolerance(double) == 1e-9
    assert comparing.tolerance(double, single) == comparing.tolerance(whole, 1.0) == 1e-5
    assert comparing.tolerance(single, half) == 5e-3
    assert comparing.tolerance(half, brain, double) == 2e-2


@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        ("a", "a", True),
        ("a", "b", False),
        (None, None, True),
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": 2}, False),
        ((1, "a"), [1, "a"], True),
        ((1, "a"), (1, "b"), False),
        (True, True, True),
        (True, "True", False),
        ((), (), True),
        ("1", 1, False),
        (object, object, False),
        (torch.tensor([1.0]), torch.tensor([1.0 + 1e-6]), True),
        (torch.tensor([0.0]), torch.tensor([2e-5]), False),
    ],
)
def test_the_same_things_are_the_same(a, b, alike):
    assert comparing.same(a, b) is alike


def test_where_tensors_differ_in_three_dimensions():
    a = torch.zeros(2, 3, 4, dtype=torch.float64)
    a[1, 0, 0] = math.inf
    b = a.clone()
    b[0, 2, 1], b[1, 1, 3] = 0.1, 0.3
    assert comparing.largest_difference(a, b) == (1, 1, 3)  # inf against inf is no difference
    assert comparing.first_different_row(a, b, 1e-5) == (0, 2)
    assert comparing.first_different_row(a, b, 0.2) == (1, 1)
    a[0, 0, 2] = b[0, 0, 2] = math.nan
    assert comparing.first_different_row(a, b, 1e-5) == (0, 2)


# --- trials -------------------------------------------------------------------------------------


def test_a_trial_is_written_as_its_inputs():
    probe = Probe({"X": torch.zeros(2, 3), "H": 4, "name": "a", "weights": {"W": 1}}, {"T": 2})
    assert probe.trial == "X (2, 3), H = 4, name = 'a'"


def test_copies_are_fresh_and_one_may_be_left_out():
    X = torch.ones(2, requires_grad=True)
    probe = Probe({"X": X, "weights": {"W": torch.ones(1)}, "H": 2}, {})
    copies = probe.copies(without="H")
    assert list(copies) == ["X", "weights"]
    copies["X"].zero_()
    copies["weights"]["W"].zero_()
    assert not copies["X"].requires_grad
    assert probe.inputs["X"].tolist() == [1, 1] and probe.inputs["weights"]["W"].tolist() == [1]
    assert copied("text") == "text"


def double_exercise(**more):
    inputs = {"x": torch.tensor([1.0, 2.0]), "n": 3}
    made = dict(
        id="98.double.twice",
        call="double(x, n)",
        axes=("T",),
        reference=lambda x, n: x * n,
        make_probes=lambda: [Probe(inputs, {"T": 2, "n": 3})],
    )
    return Exercise(**{**made, **more})


def test_an_exercise_knows_its_name_and_its_file_of_words():
    exercise = double_exercise()
    assert (exercise.name, exercise.topic) == ("double.twice", "check_98")
    assert exercise.easier == [] and exercise.probes is exercise.probes
    first, second = abs, len
    exercise.misconception("kind", first, second)
    exercise.misconception("other", first)
    assert exercise.misconceptions == [
        Misconception("kind", first), Misconception("kind", second), Misconception("other", first),
    ]  # fmt: skip


def test_an_answer_is_called_in_the_order_of_its_inputs_or_as_the_exercise_says():
    inputs = {"x": 5, "n": 2}
    assert double_exercise().call_with(lambda a, b: a - b, inputs) == 3
    by_name = double_exercise(run=lambda answer, *, n, x: answer(n, x))
    assert by_name.call_with(lambda a, b: a - b, inputs) == -3


def test_the_first_of_a_pair_is_compared_only_where_the_exercise_says_so():
    pair = double_exercise(first_of_tuple=True)
    assert pair.compared((1, 2)) == pair.compared([1, 2]) == pair.compared(1) == 1
    assert pair.compared(()) == () and pair.compared("ab") == "ab"
    assert double_exercise().compared((1, 2)) == (1, 2)


def test_registered_exercises_are_found_and_others_are_not(monkeypatch):
    monkeypatch.setattr(base, "_exercises", {})
    exercise = double_exercise()
    assert base.register(exercise) is exercise
    assert base.find("98.double.twice") is exercise
    assert base.find("98.other") is None and base.find("nonsense.x") is None


def test_all_lessons_are_read_in_their_order(monkeypatch):
    called, real = [], importlib.import_module

    def reading(name):
        called.append(name)
        return real(name)

    monkeypatch.setattr(base.importlib, "import_module", reading)
    found = [id.split(".")[0] for id in base.exercises()]
    lessons = [f"helpers.checks.lesson{number:02d}" for number in range(1, 11)]
    assert [name for name in called if name.startswith("helpers")] == ["helpers.checks", *lessons]
    assert found == sorted(found) and set(found) >= {name[-2:] for name in lessons}


def test_random_tensors_are_seeded_scaled_and_leave_the_global_state_alone():
    state = torch.get_rng_state()
    a, b = random_tensors(7, (2, 3), (4,))
    again = random_tensors(7, (2, 3), (4,), scale=10.0)
    assert (a.shape, b.shape) == ((2, 3), (4,)) and a.dtype == torch.float32
    assert torch.equal(again[0], 10 * a) and torch.equal(again[1], 10 * b)
    assert torch.equal(a, torch.randn(2, 3, generator=torch.Generator().manual_seed(7)))
    assert torch.equal(state, torch.get_rng_state())


def test_the_random_state_inside_is_the_seed_and_afterwards_as_before():
    before = torch.get_rng_state()
    with own_random_state(4):
        drawn = torch.rand(3)
    assert torch.equal(drawn, torch.rand(3, generator=torch.Generator().manual_seed(4)))
    assert torch.equal(before, torch.get_rng_state())
    with pytest.raises(ZeroDivisionError), own_random_state(4):
        raise ZeroDivisionError
    assert torch.equal(before, torch.get_rng_state())


def test_an_attempt_tells_output_error_and_what_changed():
    exercise = double_exercise(first_of_tuple=True)
    (probe,) = exercise.probes

    def changing(x, n):
        x.mul_(2)
        return x, "second"

    outcome = attempt(exercise, changing, probe)
    assert outcome.output.tolist() == [2, 4] and outcome.error is None
    assert outcome.changed == ("x",) and probe.inputs["x"].tolist() == [1, 2]
    assert attempt(exercise, lambda x, n: n, probe) == Outcome(output=3)
    error = ValueError("no")

    def failing(x, n):
        raise error

    assert attempt(exercise, failing, probe) == Outcome(error=error)
    drawn = attempt(exercise, lambda x, n: torch.rand(2), probe).output
    other = attempt(exercise, lambda x, n: torch.rand(2), probe, seed=1).output
    assert torch.equal(drawn, torch.rand(2, generator=torch.Generator().manual_seed(0)))
    assert torch.equal(other, torch.rand(2, generator=torch.Generator().manual_seed(1)))
    assert attempt(exercise, lambda x: float(x.sum()), probe, without="n").output == 3


class UnsayableError(Exception):
    def __str__(self):
        raise ValueError


def test_an_exceptions_words_are_one_line_of_at_most_300_signs():
    assert words_of(ValueError("a\n  b")) == "ValueError: a b"
    assert words_of(KeyError()) == "KeyError"
    assert words_of(UnsayableError()) == "UnsayableError"
    assert words_of(ValueError("x" * 300)) == "ValueError: " + "x" * 300
    assert words_of(ValueError("x" * 301)) == "ValueError: " + "x" * 299 + "…"


def test_gradients_are_those_of_unequal_weights_on_the_output():
    exercise = double_exercise()
    (probe,) = exercise.probes
    found = gradients(exercise, exercise.reference, probe)
    assert found.keys() == {"x"} and found["x"].tolist() == [-3, 3]  # n · (-1, 1)
    assert gradients(exercise, lambda x, n: x.detach() * n, probe) == {"x": None}
    assert gradients(exercise, lambda x, n: 6.0, probe) == {"x": None}
    fine = Probe({"x": torch.ones(4, dtype=torch.float64), "n": 3}, {})
    exact = gradients(exercise, exercise.reference, fine)["x"].tolist()
    assert exact == pytest.approx([-3, -1, 1, 3], abs=1e-12)


def passing_on(gradient):
    """Right forwards; backwards each input gets `gradient` in place of n."""
    return lambda x, n: (x * n).detach() + (x - x.detach()) * gradient


@pytest.mark.parametrize(
    ("n", "gradient", "kind"),
    [
        (3, 3 * 1.0005, "passed"),
        (3, 3 * 1.01, "detached"),
        (3, 3.9, "detached"),
        (1e-5, 5e-5, "passed"),  # both next to nothing
    ],
)
def test_gradients_must_be_near_those_of_the_reference(n, gradient, kind):
    probe = Probe({"x": torch.tensor([1.0, 2.0]), "n": n}, {})
    exercise = double_exercise(make_probes=lambda: [probe], differentiable=True)
    finding = diagnose(exercise, passing_on(gradient))
    assert finding.kind == kind
    assert finding.values == ({} if kind == "passed" else {"names": ["x"]})


def test_wrong_numbers_are_counted_and_without_a_mask_nothing_is_said_of_one():
    x = torch.tensor([1.0, 2.0, 3.0])
    probe = Probe({"x": x, "n": 2}, {"T": 3})
    exercise = double_exercise(make_probes=lambda: [probe])
    finding = diagnose(exercise, lambda x, n: x.clamp(max=2) * n + (x == 1))
    assert (finding.kind, finding.values["wrong"], finding.values["total"]) == (
        "wrong_values",
        2,
        3,
    )
    assert finding.hints == () and len(finding.evidence) == 1
    listed = diagnose(exercise, lambda x, n: (x * n).tolist())
    assert (listed.kind, listed.quotes) == ("not_a_tensor", ())


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
    assert _agree(error, Outcome(error=ValueError("words"))) and _agree(nothing, Outcome())
    assert not _agree(error, other) and not _agree(error, nothing) and not _agree(nothing, error)
