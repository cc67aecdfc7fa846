"""Exercises whose answer is a number: a prediction, written before looking.

    register(ValueExercise("06.map_factor", reference=4)).misconception("one_side_only", 2)

Wrong answers are numbers too. The words common to all of these exercises are in
texts/<language>/check_values.json; where to look when a number is nobody's misconception is
`check_NN.<name>.look`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ..quiz.marking import read_numbers
from .base import Exercise
from .case import Finding
from .comparing import described, written

WORDS = "check_values"


@dataclass
class ValueExercise(Exercise):
    """A number that the reader assigns to the name after the dot.

    reference: the number itself. tolerance: how far from it an answer may lie, so that a rounded
    one passes. Misconceptions are wrong numbers; rounded to two decimals they count as well.
    """

    reference: float = 0.0
    call: str = ""
    axes: tuple[str, ...] = ()
    make_probes: Callable[[], list] = list
    shared_words: tuple[str, ...] = (WORDS,)
    tolerance: float = 0.005

    def finding(self, answer) -> Finding:
        """The verdict on the reader's value, whatever it is."""
        if answer is None or answer is Ellipsis:
            return Finding("no_value_yet", None, own=True)
        try:
            number = as_number(answer)
        except NoNumberError as problem:
            values, quotes = {"got": described(answer)}, _quoted(answer)
            return Finding(problem.kind, own=True, values=values, quotes=quotes)
        if abs(number - self.reference) <= self.tolerance:
            return Finding("passed", True)
        values = {"got": _told(number)}
        if kind := self._kind(number):
            return Finding(kind, own=True, values=values)
        look = (f"{self.topic}.{self.name}.look", {})
        return Finding("another_number", own=True, values=values, hints=(look,))

    def _kind(self, number: float) -> str | None:
        """The misconception of the nearest wrong number where one is near, else what a rule says.

        A rule of such an exercise takes the number and gives a kind or None.
        """
        near = [
            idea
            for idea in self.misconceptions
            if math.isclose(number, idea.wrong, rel_tol=0.0051, abs_tol=0.0051)
        ]
        if near:
            return min(near, key=lambda idea: abs(number - idea.wrong)).kind
        return next((kind for rule in self.rules if (kind := rule(number))), None)


class NoNumberError(Exception):
    """The reader's value is not one number; `kind` says why."""

    def __init__(self, kind: str):
        self.kind = kind
        super().__init__(kind)


def as_number(answer) -> float:
    """int, float, Fraction, Decimal; tensors and arrays that hold one number.

    Raises NoNumberError of kind "number_as_text", "not_one_number" or "not_a_value".
    """
    if isinstance(answer, (str, bytes)):
        text = answer.decode(errors="replace") if isinstance(answer, bytes) else answer
        raise NoNumberError("number_as_text" if read_numbers(text) else "not_a_value")
    if isinstance(answer, (tuple, list, set)):
        raise NoNumberError("not_one_number" if answer else "not_a_value")
    try:
        if isinstance(shape := getattr(answer, "shape", None), tuple):  # of torch, of numpy
            if math.prod(shape) != 1:
                raise NoNumberError("not_one_number")
            answer = answer.item()
        if isinstance(answer, bool) or math.isnan(number := float(answer)):
            raise NoNumberError("not_a_value")
        return number
    except OverflowError:  # an int too long for a float
        return math.inf if answer > 0 else -math.inf
    except NoNumberError:
        raise
    except Exception as error:  # the reader's own thing may raise anything when asked for a number
        raise NoNumberError("not_a_value") from error


def _told(number: float) -> str:
    """As a person writes it: 16,384, 0.5, 1.25e+10."""
    text = written(number)[0]
    if "e" in text or not math.isfinite(number):
        return text
    whole, _, decimals = text.partition(".")
    if whole.strip("-0"):  # "-0" would lose its sign
        whole = f"{int(whole):,}"
    return ".".join(filter(None, (whole, decimals.rstrip("0"))))


def _quoted(answer) -> tuple[tuple[str, str], ...]:
    """Text and lists as the reader wrote them; other things are named by their kind alone."""
    if not isinstance(answer, (str, bytes, tuple, list)):
        return ()
    try:
        return (("value", repr(answer)[:200]),)
    except Exception:  # something of the reader's in the list
        return ()
