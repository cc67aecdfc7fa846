"""The parts of a trial, each by its values: exercises, inputs, calls, gradients."""

import importlib

import pytest
import torch
from check_probe import double_exercise

from helpers.checks import base
from helpers.checks.base import (
    Misconception,
    Probe,
    copied,
    random_tensors,
)
from helpers.checks.diagnosis import diagnose
from helpers.checks.trying import Outcome, attempt, gradients, own_random_state, words_of


def test_a_trial_is_written_as_its_inputs():
    probe = Probe({"X": torch.zeros(2, 3), "H": 4, "name": "a", "weights": {"W": 1}}, {"T": 2})
    assert probe.trial == "X (2, 3), H = 4, name = 'a'"
    shown = [Probe({"words": list(range(n))}, {}).trial for n in (3, 35)]
    assert shown == ["words = [0, 1, 2]", "words = [0, 1, 2, 3, 4, 5, …] (len 35)"]


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
    words = ["a", "b"]
    assert copied(words) == words and copied(words) is not words


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
    head, wider = torch.zeros(2), torch.zeros(3)
    assert pair.compared([head]) is pair.compared([head, wider]) is head
    assert pair.compared((head, head)) is head
    heads = [head, head]  # no (output, weights): a list that was not concatenated
    assert pair.compared(heads) is heads


def test_registered_exercises_are_found_and_others_are_not(monkeypatch):
    monkeypatch.setattr(base, "_exercises", {})
    exercise = double_exercise()
    assert base.register(exercise) is exercise
    assert base.find("98.double.twice") is exercise
    assert base.find("98.other") is None and base.find("nonsense.x") is None


def test_a_lessons_file_is_read_only_where_its_exercise_is_not_known_yet(monkeypatch):
    read, known = [], double_exercise(id="03.known")
    monkeypatch.setattr(base, "_exercises", {"03.known": known})
    monkeypatch.setattr(base.importlib, "import_module", read.append)
    assert base.find("03.known") is known and read == []
    for id in ("04.not.known", "77.no_lesson", "nonsense", "s.x"):
        assert base.find(id) is None
    assert read == ["helpers.checks.lesson04"]


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


def test_within_a_lesson_exercises_keep_the_order_of_its_file(monkeypatch):
    base.exercises()  # reads all files
    ids = ["10.a", "02.b.x", "02.a"]
    monkeypatch.setattr(base, "_exercises", {id: double_exercise(id=id) for id in ids})
    assert list(base.exercises()) == ["02.b.x", "02.a", "10.a"]


def test_random_tensors_are_seeded_scaled_and_leave_the_global_state_alone():
    state = torch.get_rng_state()
    a, b = random_tensors(7, (2, 3), (4,))
    again = random_tensors(7, (2, 3), (4,), scale=10.0)
    assert (a.shape, b.shape) == ((2, 3), (4,)) and a.dtype == torch.float32
    assert torch.equal(again[0], 10 * a) and torch.equal(again[1], 10 * b)
    assert torch.equal(a, torch.randn(2, 3, generator=torch.Generator().manual_seed(7)))
    assert torch.equal(state, torch.get_rng_state())


def test_random_tensors_do_not_follow_the_readers_defaults():
    (plain,) = random_tensors(7, (2,))
    torch.set_default_dtype(torch.float64)
    try:
        with torch.device("meta"):
            (made,) = random_tensors(7, (2,))
    finally:
        torch.set_default_dtype(torch.float32)
    assert made.dtype == torch.float32 and torch.equal(made, plain)


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
