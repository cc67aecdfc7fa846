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
    (r"'tuple' (object has no|and)|and 'tuple'|(got|not) \(?tuple|tuple indices", "tuple"),
    (r"'list' (object has no|and)|and 'list'|(got|not) \(?list|list indices", "list"),
    (r"not implemented for '(\w+)'", "dtype"),
    (r"could not infer output dtype.*Got: (\w+)", "dtype"),
    (r"to have the same dtype, but got: (\w+) != (\w+)", "two_dtypes"),
    (r"__init__\(\) should return None", "init_returns"),
    (r'missing the required "forward"', "no_forward"),
    (r"before Module\.__init__", "super_init"),
)

_BY_TORCH = r"not implemented for '|Could not run '|missing the required \"forward\""

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
        return case.finding(error.kind, own=error.own, values=error.values)
    said = quotes(error)
    no_line = isinstance(error, TypeError) and reader_line(error) is None
    if no_line and "should return None" not in words_of(error):
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
            if name == "none" and not _mask_may_be_none(case):
                name = "nothing"
            numbers = dict(zip(("first", "second"), found.groups(), strict=False))
            return f"checks.hints.{name}", {**values, **numbers}
    return "checks.hints.other" if values["sizes"] else "checks.hints.other_without_sizes", values


def _mask_may_be_none(case: Case) -> bool:
    return "mask" in case.exercise.call and "mask" not in case.probe.inputs


def is_a_stub(error: BaseException | None) -> bool:
    """`raise NotImplementedError` of a stub; torch raises it too, for a dtype that it cannot do."""
    return isinstance(error, NotImplementedError) and not re.search(_BY_TORCH, str(error))


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
    values["missing"] = missing
    return case.finding("error_without_numbers", numbers=False, values=values, quotes=quotes(error))


def forgot_return(answer) -> str:
    """The name of the function that does something and hands nothing back; "" when there is none.

    An untouched stub does neither. Of a class, `forward` is looked at. "" as well when the source
    cannot be read.
    """
    if inspect.isclass(answer):
        answer = getattr(answer, "forward", None)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(answer)))
    except (OSError, TypeError, SyntaxError):
        return ""
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef) or _idle(function) or _returns(function):
        return ""
    return function.name


def _idle(function: ast.FunctionDef) -> bool:
    """Nothing but `pass`, `...` and a docstring."""
    return all(
        isinstance(line, ast.Pass)
        or (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))
        for line in function.body
    )


def _returns(node: ast.AST) -> bool:
    """Is there a `return` of its own? One of a function written inside it hands nothing back."""
    return any(
        isinstance(part, ast.Return) or (not isinstance(part, _INSIDE) and _returns(part))
        for part in ast.iter_child_nodes(node)
    )


_INSIDE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
