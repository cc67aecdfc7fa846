"""What to say when the reader's code raises, should have raised, or returns nothing."""

import ast
import inspect
import re
import textwrap

from . import comparing
from .base import ProblemError
from .case import Case, Finding, size_values
from .trying import reader_line, words_of

# Words of torch and Python -> the hint that fits, `checks.hints.<name>`; groups are its numbers.
_WORDS = (
    (r"mat1 and mat2 shapes cannot be multiplied \((\d+x\d+) and (\d+x\d+)\)", "product"),
    (r"Expected size for first two dimensions of batch2", "batched_product"),
    (r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)", "broadcast"),
    (r"view size is not compatible", "view"),
    (r"shape '.*' is invalid for input of size (\d+)", "reshape"),
    (r"Dimension out of range", "dimension"),
    (r"NoneType", "none"),
    (r"before Module\.__init__", "super_init"),
)

_KINDS = (
    (RecursionError, "recursion"),
    (NameError, "name"),
    (SystemExit, "exit"),
    (AssertionError, "assertion"),
)


def raised(case: Case) -> Finding:
    """The reader's code stopped: its line, the exception's words, and where to look."""
    error = case.outcome.error
    if isinstance(error, ProblemError):
        return case.finding(error.kind, values=error.values)
    said = quotes(error)
    if isinstance(error, TypeError) and reader_line(error) is None:
        # No line of theirs ran: the call itself did not fit.
        return case.finding("wrong_arguments", quotes=said)
    return case.finding("raised", hints=(hint(case),), quotes=said)


def hint(case: Case) -> tuple[str, dict]:
    error, values = case.outcome.error, size_values(case.probe)
    for kind, name in _KINDS:
        if isinstance(error, kind):
            return f"checks.hints.{name}", values
    words = words_of(error)
    for pattern, name in _WORDS:
        if found := re.search(pattern, words):
            numbers = dict(zip(("first", "second"), found.groups(), strict=False))
            return f"checks.hints.{name}", {**values, **numbers}
    return "checks.hints.other", values


def quotes(error: BaseException) -> tuple[tuple[str, str], ...]:
    """The reader's line and Python's words, with the keys of their labels."""
    words = ("words", words_of(error))
    line = reader_line(error)
    if line is None:
        return (words,)
    number, source = line
    return (("line", f"{number}: {source}" if source else str(number)), words)


def judge_expected_error(case: Case) -> Finding | None:
    """A trial where a right answer refuses: of the right type, its words naming the numbers."""
    probe, error = case.probe, case.outcome.error
    values = {"error": probe.raises[0].__name__}
    if error is None:
        values["got"] = comparing.described(case.got)
        return case.finding("should_raise", numbers=False, values=values)
    if not isinstance(error, probe.raises):
        return raised(case)
    missing = [part for part in probe.mention if not re.search(rf"(?<!\w){part}(?!\w)", str(error))]
    if not missing:
        return None
    values["missing"] = ", ".join(missing)
    return case.finding("error_without_numbers", numbers=False, values=values, quotes=quotes(error))


def forgot_return(answer) -> bool:
    """Does the function do something and hand nothing back? An untouched stub does neither.

    False when its source cannot be read.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(answer)))
    except (OSError, TypeError, SyntaxError):
        return False
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef):
        return False
    if any(isinstance(node, ast.Return) for node in ast.walk(function)):
        return False
    constants = (
        isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for s in function.body
    )
    idle = (isinstance(s, ast.Pass) for s in function.body)
    return not all(map(max, constants, idle))
