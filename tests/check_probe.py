"""What the tests of the exercise checks share: right ways pass, wrong ones are named."""

import re

import pytest
import torch

from helpers import texts
from helpers.checks import check, exercises
from helpers.checks.base import Exercise, Probe
from helpers.markup import without_stars


class NotAModule:
    def __init__(self, d_model, num_heads):
        pass


def without_output_matrix(layer: type) -> type:
    """The same class, its W_O left out."""

    class NoOutputMatrix(layer):
        def __init__(self, d_model, num_heads):
            super().__init__(d_model, num_heads)
            del self.W_O

    return NoOutputMatrix


def double_exercise(**more) -> Exercise:
    """An exercise of one trial, for the machinery: x times n."""
    inputs = {"x": torch.tensor([1.0, 2.0]), "n": 3}
    made = dict(
        id="98.double.twice",
        call="double(x, n)",
        axes=("T",),
        reference=lambda x, n: x * n,
        make_probes=lambda: [Probe(inputs, {"T": 2, "n": 3})],
    )
    return Exercise(**{**made, **more})


ENOUGH = 8  # right ways, and misconceptions, for each exercise


@pytest.fixture(params=["en", "es"], name="language")
def one_language(request):
    """Each test that asks for it runs in English and in Spanish."""
    texts.set_language(request.param)
    yield request.param
    texts.set_language("en")


def each_right_way(right: dict):
    """Parametrises a test (exercise, answer) over {exercise: [answer, …]}."""
    cases = [(id, way) for id, ways in right.items() for way in ways]
    return pytest.mark.parametrize(("exercise", "answer"), cases)


def each_wrong_way(wrong: dict):
    """Parametrises a test (exercise, answer, kind) over {exercise: [(answer, kind), …]}."""
    cases = [(id, way, kind) for id, ways in wrong.items() for way, kind in ways]
    ids = [f"{id}-{kind}" for id, _, kind in cases]
    return pytest.mark.parametrize(("exercise", "answer", "kind"), cases, ids=ids)


def assert_passes(exercise, answer):
    result = check(exercise, answer)
    assert result.passed is True, result.message
    assert result.kind == "passed", result.kind


def assert_named(exercise, answer, kind, without_number=()) -> str:
    """The answer fails for this misconception, and the message tells all three parts of it;
    returns that message.

    without_number: kinds whose message has no number to show.
    """
    result = check(exercise, answer)
    assert result.passed is False, result.message
    assert result.kind == kind, f"{result.kind}: {result.message}"
    for part in ("expected", "got", "look"):
        said = getattr(result, part)
        assert said.strip(), f"{part} is empty"
        line = f"{texts.t(f'checks.labels.{part}')}: {without_stars(said)}"
        assert line in result.message, f"no line {line!r} in {result.message}"
    if kind not in without_number:
        assert re.search(r"\d", result.message.split("\n", 1)[1]), "no number in it"
    return result.message


def assert_enough_right_ways(lesson: str, right: dict):
    """Every exercise of the lesson is here, each with enough right ways."""
    assert {id for id in exercises() if id.startswith(f"{lesson}.")} == right.keys(), list(right)
    for id, ways in right.items():
        assert len(ways) >= ENOUGH, (id, len(ways))


def assert_enough_misconceptions(wrong: dict):
    for id, ways in wrong.items():
        kinds = {kind for _, kind in ways}
        assert len(kinds) >= ENOUGH, (id, kinds)
