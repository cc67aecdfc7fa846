"""Try the reader's answer and find the nearest true thing to say about it.

The first trial that fails is looked at, layer by layer, from the most telling to the plainest:
a known misconception, a random answer, an easier trial that comes out right, the kind of thing
returned, its shape, NaN, a mask that changes nothing, the lesson's own rules, and at last where
the numbers are furthest apart.
"""

import inspect
from dataclasses import replace

import torch
from torch import Tensor

from . import comparing, errors
from .base import Exercise, Probe
from .case import Case, Finding, named, size_values, symbols
from .matching import fails, matching, same_arguments
from .trying import attempt, gradients
from .values import ValueExercise

MASK_ALONE = (("checks.hints.with_a_mask_only", {}),)


def diagnose(exercise: Exercise, answer) -> Finding:
    """The verdict on one answer. Only KeyboardInterrupt comes through."""
    if isinstance(exercise, ValueExercise):
        return exercise.finding(answer)
    form = _wrong_form(exercise, answer)
    if form:
        return Finding(form, values={"got": comparing.described(answer)})
    earlier: list[Probe] = []
    changed: list[str] = []
    for probe in exercise.probes:
        outcome = attempt(exercise, answer, probe)
        if finding := judge(Case(exercise, answer, probe, outcome, tuple(earlier))):
            return finding
        changed += [name for name in outcome.changed if name not in changed]
        earlier.append(probe)
    if changed:
        return Finding("changed_input", values={"names": changed})
    if exercise.differentiable and (names := cut_gradients(exercise, answer)):
        return Finding("detached", values={"names": names})
    case = Case(exercise, answer, probe, outcome)  # the last: remarks look at no other
    remarks = tuple(said for remark in exercise.remarks if (said := remark(case)))
    return Finding("passed", True, hints=remarks)


def _wrong_form(exercise: Exercise, answer) -> str | None:
    if inspect.isclass(exercise.reference):
        return None if inspect.isclass(answer) else "not_a_class"
    return None if callable(answer) else "not_callable"


def judge(case: Case) -> Finding | None:
    """None when this trial came out right."""
    error = case.outcome.error
    if errors.is_a_stub(error) and not case.earlier:
        return not_yet(case)
    if case.probe.raises:
        return errors.judge_expected_error(case)
    if error is not None:
        return told_by_easier(case) or hard_coded_size(case) or errors.raised(case)
    if case.got is None and case.expected is not None:
        if case.earlier:
            return case.finding("none_sometimes", numbers=False)
        function = errors.forgot_return(case.answer)
        if not function:
            return not_yet(case)
        finding = case.finding("no_return", numbers=False, values={"function": function})
        return replace(finding, passed=None)
    if case.right:
        return None
    return next(finding for layer in LAYERS if (finding := layer(case)))


def not_yet(case: Case) -> Finding:
    made = inspect.isclass(case.exercise.reference)
    hint = "checks.hints.write_class" if made else "checks.hints.write_function"
    hints = ((hint, {"name": case.exercise.name}),)
    return replace(case.finding("not_yet", numbers=False, hints=hints), passed=None)


def misconception(case: Case) -> Finding | None:
    idea = matching(case)
    if idea is None:
        return None
    # What is wrong with a mask alone: the reader looks for it in lines that are right without one.
    elsewhere = _first_mask(case) and fails(case, idea.wrong, case.earlier)
    return case.finding(idea.kind, own=True, hints=MASK_ALONE if elsewhere else ())


def _first_mask(case: Case) -> bool:
    """Is this the first trial with a mask, after others that came out right?"""
    *earlier, now = ("mask" in probe.inputs for probe in (*case.earlier, case.probe))
    return bool(earlier) and now and not any(earlier)


def unstable(case: Case) -> Finding | None:
    """Two calls with the same inputs that differ: dropout, fresh random weights, hidden state."""
    if comparing.as_numbers(case.got) is None and not isinstance(case.got, (tuple, list)):
        return None  # no numbers to compare, a NumPy array for one: a later question names that
    if not comparing.same(case.got, case.got):
        return None  # a list of such things
    again = attempt(case.exercise, case.answer, case.probe, seed=1)
    if again.error is None and comparing.same(again.output, case.got):
        return None
    return case.finding("random", numbers=False)


def told_by_easier(case: Case) -> Finding | None:
    """An easier trial that comes out right says when; one that stops raising may say why."""
    exercise = case.exercise
    if _earlier_alike(case):
        return None  # a trial no easier than this one came out right: that is not the reason
    for probe in exercise.easier:
        if probe.inputs.keys() != case.probe.inputs.keys():
            continue  # a trial without a mask says nothing about masks
        outcome = attempt(exercise, case.answer, probe)
        easy = Case(exercise, case.answer, probe, outcome, case.earlier)
        if easy.outcome.error is not None or easy.got is None:
            continue
        if easy.right:
            values = {"condition": probe.condition}
            return case.finding("works_only_when", values=values, quotes=_said(case))
        if case.outcome.error is not None and (idea := matching(easy)):
            return easy.finding(idea.kind, own=True)
    return None


def _said(case: Case) -> tuple[tuple[str, str], ...]:
    error = case.outcome.error
    return errors.quotes(error) if error is not None else ()


def kind_of_thing(case: Case) -> Finding | None:
    expected, got = case.expected, case.got
    numeric = comparing.as_numbers(got) is not None
    if comparing.is_number(expected):
        wrong = None if numeric and case.tensors() else "not_a_number"
    elif not isinstance(expected, Tensor):
        wrong = "wrong_answer"
    elif not isinstance(got, Tensor):
        wrong = "not_a_tensor"
    else:
        wrong = None if numeric and _same_family(expected, got) else "wrong_dtype"
    if not wrong:
        return None
    if wrong == "wrong_answer" and (finding := hard_coded_size(case) or rules(case)):
        return finding
    # What is no number has no sentence of numbers: show the thing itself.
    quotes = (("value", repr(got)[:200]),) if wrong == "wrong_answer" else ()
    values = {"got": comparing.described(got)}
    return case.finding(wrong, numbers=False, values=values, quotes=quotes)


def _same_family(expected: Tensor, got: Tensor) -> bool:
    return got.is_floating_point() or not expected.is_floating_point()


def shape(case: Case) -> Finding | None:
    if case.tensors():
        return None
    if finding := hard_coded_size(case):
        return finding
    expected, got = (tuple(comparing.as_numbers(x).shape) for x in (case.expected, case.got))
    kind = "wrong_axis_order" if sorted(expected) == sorted(got) else "wrong_shape"
    axes, got_axes = symbols(case.exercise.axes), named(got, case.probe.sizes)
    return case.finding(kind, values={"axes": axes, "got_axes": got_axes})


def not_finite(case: Case) -> Finding | None:
    expected, got = case.tensors()
    if got.isfinite().all() or not expected.isfinite().all():
        return None
    return case.finding("not_finite")


def ignores_mask(case: Case) -> Finding | None:
    if case.probe.inputs.get("mask") is None:
        return None
    without = attempt(case.exercise, case.answer, case.probe, without="mask")
    if without.error is not None or not comparing.same(without.output, case.got):
        return None
    return case.finding("mask_ignored")


def rules(case: Case) -> Finding | None:
    for rule in case.exercise.rules:
        if found := rule(case):
            kind, values = found
            return case.finding(kind, own=True, values=values)
    return None


def _earlier_alike(case: Case) -> list[Probe]:
    """Trials that came out right with the same arguments at other sizes."""
    return [before for before in same_arguments(case) if before.sizes != case.probe.sizes]


def hard_coded_size(case: Case) -> Finding | None:
    """Right at other sizes with the same arguments: a size is written by hand somewhere."""
    alike = _earlier_alike(case)
    if not alike:
        return None
    values = {"before": size_values(alike[0])["sizes"]}
    return case.finding("hard_coded_size", values=values, quotes=_said(case))


def wrong_values(case: Case) -> Finding:
    if comparing.is_number(case.expected):
        return case.finding("wrong_number")
    expected, got = case.tensors()
    within = comparing.tolerance(case.expected, case.got)
    near = torch.isclose(expected, got, rtol=within, atol=within, equal_nan=True)
    values = {"wrong": int((~near).sum()), "total": near.numel()}
    hints = MASK_ALONE if _first_mask(case) else ()
    return case.finding("wrong_values", values=values, hints=hints)


LAYERS = (
    misconception,
    unstable,
    told_by_easier,
    kind_of_thing,
    shape,
    not_finite,
    ignores_mask,
    rules,
    hard_coded_size,
    wrong_values,
)


def cut_gradients(exercise: Exercise, answer) -> list[str]:
    """The inputs whose gradient is missing or another than the reference's."""
    probe = exercise.probes[0]
    right = gradients(exercise, exercise.reference, probe)
    try:
        own = gradients(exercise, answer, probe)
    except Exception:  # right forwards, yet backwards impossible
        return list(right)
    return [
        name
        for name, grad in right.items()
        if grad is not None
        and (own[name] is None or not torch.allclose(grad, own[name], rtol=1e-3, atol=1e-4))
    ]
