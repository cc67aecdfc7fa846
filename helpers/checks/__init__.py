"""Exercise checks that name the misconception.

    from helpers.checks import check
    check("01.attention_weights")

looks for the reader's `attention_weights`, tries it, and says in words what was expected, what
came and what to look at next.
"""

import difflib
import sys

from .. import progress
from ..texts import t
from ..threads import one_thread
from .base import exercises, find
from .comparing import described
from .diagnosis import diagnose
from .report import Report
from .result import Result, result_of

__all__ = ["Report", "Result", "attempted", "check", "exercises", "results"]

_MISSING = object()
_latest: dict[str, Result] = {}
_kept: dict[str, dict] = {}  # exercise id -> the verdict last put into the progress file


def check(exercise: str, answer=_MISSING) -> Result:
    """Try the reader's answer to an exercise.

    exercise: its id, "01.attention_weights". answer: the function or class itself; without it,
    the name after the dot is looked up where `check` was called. Returns a `Result`, which a
    notebook cell shows in words; never raises because of what the reader wrote, except that
    KeyboardInterrupt (the stop button) comes through. A verdict that is new goes into the
    reader's progress file; "not yet" does not.
    """
    wanted = find(exercise) if isinstance(exercise, str) else None
    if wanted is None:
        return _unknown(exercise, list(exercises()))
    if answer is _MISSING:
        answer = _look_up(wanted.name, sys._getframe(1))
    if answer is _MISSING:
        result = _in_words(exercise, "undefined", name=wanted.name)
    else:
        with one_thread():
            finding = diagnose(wanted, answer)
        result = result_of(wanted, finding)
    if result.passed is not None and result.as_dict() != _kept.get(exercise):
        _kept[exercise] = result.as_dict()
        progress.keep(
            {"what": "exercise", "id": exercise, "passed": result.passed, "kind": result.kind}
        )
    _latest[exercise] = result
    return result


def results(lesson: str = "") -> Report:
    """The latest result of every exercise, or of one lesson's ("01"): a report for a class.

    An exercise whose check did not run is in it too, as missing.
    """
    ids = [id for id in exercises() if not lesson or id.split(".")[0] == lesson]
    return Report({id: _latest.get(id) for id in ids})


def attempted() -> list[str]:
    """The ids of the exercises with a verdict, right or wrong; "not yet" is none."""
    report = results()
    return [id for id in report if id in report.passed or id in report.failed]


def _look_up(name: str, frame):
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    places = [frame.f_locals, frame.f_globals, shell.user_ns if shell else {}]
    return next((place[name] for place in places if name in place), _MISSING)


def _unknown(exercise, known: list[str]) -> Result:
    asked = exercise if isinstance(exercise, str) else described(exercise)
    near = difflib.get_close_matches(asked, known, n=1, cutoff=0.5)
    words = t("checks.kinds.unknown_exercise.near", near=near[0]) if near else ""
    result = _in_words(asked, "unknown_exercise", known=", ".join(f"`{id}`" for id in known))
    look = " ".join(filter(None, [words, result.look]))
    return Result(asked, None, "unknown_exercise", result.title, look=look)


def _in_words(exercise: str, kind: str, **values) -> Result:
    title, look = (t(f"checks.kinds.{kind}.{part}", **values) for part in ("title", "look"))
    return Result(exercise, None, kind, title, look=look)
