"""One failed trial, what a check found about it, and the numbers that go with it."""

from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt

from torch import Tensor

from . import comparing
from .base import Exercise, Probe
from .trying import Outcome, kept_attempt


@dataclass(frozen=True)
class Finding:
    """What a check found.

    kind names the words: title, expected, got, look. `own`: they stand in the lesson's file, not
    among the common ones. `values` fill them.
    evidence: (text key, values) of sentences with numbers, said after "got"; hints: the same,
    said after "look". quotes: (label, text), the reader's own code or Python's words.
    """

    kind: str
    passed: bool | None = False
    own: bool = False
    values: dict = field(default_factory=dict)
    evidence: tuple[tuple[str, dict], ...] = ()
    hints: tuple[tuple[str, dict], ...] = ()
    quotes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Case:
    """One trial of the reader's answer: what was asked, what should have come, what came.

    `earlier`: the trials before it, all of which came out right.
    """

    exercise: Exercise
    answer: object
    probe: Probe
    outcome: Outcome
    earlier: tuple[Probe, ...] = ()

    @cached_property
    def expected(self):
        """The reference's output. An error in it is a fault of the exercise and is raised."""
        outcome = kept_attempt(self.exercise, self.exercise.reference, self.probe)
        if outcome.error is not None:
            raise outcome.error
        return outcome.output

    @property
    def got(self):
        return self.outcome.output

    @property
    def right(self) -> bool:
        return self.outcome.error is None and comparing.same(self.expected, self.got)

    def tensors(self) -> tuple[Tensor, Tensor] | None:
        """Expected and got as numbers when both are and have the same shape, else None."""
        x, y = comparing.as_numbers(self.expected), comparing.as_numbers(self.got)
        return (x, y) if x is not None and y is not None and x.shape == y.shape else None

    def finding(self, kind: str, *, own: bool = False, numbers: bool = True, **more) -> Finding:
        """A failure of this kind, its words filled with the sizes and numbers of this trial."""
        values = {**size_values(self.probe), **more.pop("values", {})}
        evidence = evidence_of(self) if numbers else ()
        return Finding(kind, own=own, values=values, evidence=evidence, **more)


def evidence_of(case: Case) -> tuple[tuple[str, dict], ...]:
    """The sentence of numbers, then those of the exercise's facts; nothing where code raised."""
    if case.outcome.error is not None:
        return ()
    sentences = [numbers(case)]
    if case.tensors():
        sentences += [fact(case) for fact in case.exercise.facts]
    return tuple(sentence for sentence in sentences if sentence)


def numbers(case: Case) -> tuple[str, dict] | None:
    """The sentence that holds what was expected against what came: a number or a shape."""
    trial = {"trial": case.probe.trial}
    if pair := case.tensors():
        expected, got = pair
        if expected.dim() and case.exercise.rows:
            within = comparing.tolerance(case.expected, case.got)
            index = comparing.first_different_row(expected, got, within)
            texts = [comparing.written_row(x[index]) for x in pair]
        else:
            index = comparing.largest_difference(expected, got)
            texts = comparing.written(float(expected[index]), float(got[index]))
            if comparing.is_truth(case.expected) and comparing.is_truth(case.got):
                texts = [str(bool(x[index])) for x in pair]
        values = {"expected": texts[0], "got": texts[1], **trial}
        if not index:
            return "checks.number", values
        return "checks.number_at", {"index": ", ".join(map(str, index)), **values}
    shapes = [tuple(x.shape) for x in (case.expected, case.got) if isinstance(x, Tensor)]
    if len(shapes) == 2:
        return "checks.shapes", {"expected": shapes[0], "got": shapes[1], **trial}
    return None


def symbols(axes: tuple[str, ...]) -> str:
    return f"({', '.join(axes)}{',' if len(axes) == 1 else ''})"


def named(shape: tuple[int, ...], sizes: dict[str, int]) -> str:
    """(5, 2, 6) as "(T, B, d_model)" where a size belongs to one symbol, else as numbers."""
    owners = {size: [s for s in sizes if sizes[s] == size] for size in shape}
    return symbols(tuple(owners[n][0] if len(owners[n]) == 1 else str(n) for n in shape))


def size_values(probe: Probe) -> dict:
    """What any text may use: each size, its square root as sqrt_<symbol>, and the whole call."""
    values = {"sizes": ", ".join(f"{symbol} = {size}" for symbol, size in probe.sizes.items())}
    for symbol, size in probe.sizes.items():
        values[symbol] = size
        values[f"sqrt_{symbol}"] = comparing.written(sqrt(size))[0]
    return {**values, "trial": probe.trial}
