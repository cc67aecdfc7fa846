"""Which misconception of the catalogue gives what the reader's answer gave."""

from collections.abc import Iterable
from itertools import compress

from . import comparing
from .base import Misconception, Probe
from .case import Case
from .trying import Outcome, attempt, kept_attempt


def matching(case: Case) -> Misconception | None:
    """The misconception that gives what came here; where several do, the one that fits most.

    One that would have failed an earlier trial with the same arguments is not what the reader did.
    A single number may be the same by chance: there, it has to fit all trials of the same kind.
    """
    exercise, best, most = case.exercise, None, 0
    passed = same_arguments(case)
    others = [probe for probe in exercise.probes if probe is not case.probe]
    alike = [case.probe.inputs.keys() == other.inputs.keys() for other in others]
    own = None
    for idea in exercise.misconceptions:
        there = kept_attempt(exercise, idea.wrong, case.probe)
        if not comparing.same(there.output, case.got) or fails(case, idea.wrong, passed):
            continue
        own = own or [attempt(exercise, case.answer, probe) for probe in others]
        agree = [
            agrees(kept_attempt(exercise, idea.wrong, probe), outcome)
            for probe, outcome in zip(others, own, strict=True)
        ]
        if comparing.is_number(case.expected) and not all(compress(agree, alike)):
            continue
        agreements = 1 + sum(agree)
        if agreements > most:
            best, most = idea, agreements
    return best


def same_arguments(case: Case) -> list[Probe]:
    """Trials that came out right with the same arguments; refusals say nothing about numbers."""
    asked = case.probe.inputs.keys()
    return [
        before for before in case.earlier if before.inputs.keys() == asked and not before.raises
    ]


def fails(case: Case, wrong, probes: Iterable[Probe]) -> bool:
    """Would this wrong answer of the catalogue have failed one of these trials?"""
    exercise = case.exercise
    return not all(
        Case(exercise, wrong, probe, kept_attempt(exercise, wrong, probe)).right for probe in probes
    )


def agrees(a: Outcome, b: Outcome) -> bool:
    if a.error is not None or b.error is not None:
        return type(a.error) is type(b.error)
    return comparing.same(a.output, b.output)
