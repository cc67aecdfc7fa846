"""Notebooks as files, whatever was done to them, and what a code cell does. Standard library.

A student's notebook may come from any tool: without cell ids, without outputs, with sources as
text or as lists of lines. So it is read as plain JSON, and nothing in it is repaired.
"""

import ast
import json
import os
import re
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..texts import t

# What tools make up for a new cell: 8 hex digits, or a whole UUID. The course names its cells.
MADE_UP = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8}")
_MAGIC = re.compile(r"^([ \t]*)[%!?].*$", re.MULTILINE)
_CHECK = r"""\bcheck\(\s*["']{id}["']"""


class NotebookError(Exception):
    """A file that is not a notebook of format 4; the text says so in words."""


@dataclass(frozen=True)
class Cell:
    """One cell: `kind` is "code", "markdown" or "raw"; `raw` is its JSON, `id` "" without one."""

    id: str
    kind: str
    source: str
    raw: dict

    @property
    def is_code(self) -> bool:
        return self.kind == "code"


def read_json(path: Path) -> dict:
    """The notebook's JSON. Raises NotebookError in words, OSError when it cannot be read."""
    try:
        book = json.loads(path.read_bytes().decode("utf-8-sig"))
        if not isinstance(book["cells"], list) or book.get("nbformat", 4) != 4:
            raise ValueError
        for cell in book["cells"]:
            source_of(cell)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise NotebookError(t("classroom.not_a_notebook", file=path.name)) from None
    return book


def cells_of(book: dict) -> list[Cell]:
    return [cell_of(raw) for raw in book["cells"]]


def cell_of(raw: dict) -> Cell:
    # Colab keeps a cell's id in its metadata
    id = raw.get("id") or raw.get("metadata", {}).get("id") or ""
    return Cell(str(id), str(raw.get("cell_type")), source_of(raw), raw)


def source_of(raw: dict) -> str:
    source = raw.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def write_book(path: Path, book: dict) -> None:
    """The whole file or nothing, in the form in which Jupyter writes it."""
    text = json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_bytes(text.encode("utf-8", errors="surrogatepass"))
        os.replace(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


# What a code cell does -----------------------------------------------------------------------


@cache
def tree(source: str) -> ast.Module | None:
    """The cell as Python, magics left out; None when it is not Python."""
    plain = _MAGIC.sub(r"\1pass", source)
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(plain, "<cell>", "exec", flags)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def same_code(one: str, other: str) -> bool:
    """Equal but for blanks and comments."""
    if one.strip() == other.strip():
        return True
    first, second = tree(one), tree(other)
    if first is None or second is None or not first.body or not second.body:
        return False
    return ast.dump(first) == ast.dump(second)


def binds(source: str, name: str) -> bool:
    """Whether running the cell gives `name` a value; a cell that is no Python may mean to."""
    parsed = tree(source)
    if parsed is None:
        meant = rf"^(?:(?:async\s+)?def|class)\s+{name}\b|^{name}\s*(?::[^=\n]+)?=(?!=)"
        return bool(re.search(meant, source, re.MULTILINE))
    return name in _bound(parsed.body)


def _bound(body: list[ast.stmt]) -> set[str]:
    """The names that statements bind at the top of a cell, loops and conditions included."""
    names = set()
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(statement.name)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            names |= {(name.asname or name.name).split(".")[0] for name in statement.names}
        else:
            for node in _outside_functions(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    names.add(node.id)
            for part in ("body", "orelse", "finalbody"):
                names |= _bound(getattr(statement, part, None) or [])
            for handler in getattr(statement, "handlers", []):
                names |= _bound(handler.body)
    return names


def _outside_functions(statement: ast.stmt):
    """The nodes of a statement, without the insides of functions and classes."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        for child in ast.iter_child_nodes(node):
            inner = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
            if not isinstance(child, inner):
                waiting.append(child)


def checks_called(source: str) -> set[str]:
    """The exercises whose check the cell calls."""
    parsed = tree(source)
    return {id for node in ast.walk(parsed) if (id := _checked(node))} if parsed else set()


def plain_checks(source: str) -> set[str]:
    """Of these, the ones called as the course does: alone on a line, nothing else handed over."""
    parsed = tree(source)
    found = set()
    for statement in parsed.body if parsed else []:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if (id := _checked(call)) and len(call.args) == 1 and not call.keywords:
            found.add(id)
    return found


def mentions_check(source: str, exercise: str) -> bool:
    """Whether the words check("02.split_heads") stand anywhere in the text."""
    return bool(re.search(_CHECK.format(id=re.escape(exercise)), source))


def _checked(node) -> str | None:
    if not (isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)):
        return None
    name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
    return node.args[0].value if name == "check" and isinstance(node.args[0].value, str) else None


def own_statements(source: str, known: list[str]) -> str:
    """The lines of a check cell that are not in the `known` sources and have nothing to do with
    a check: what an answer may need, such as an import."""
    parsed = tree(source)
    if parsed is None:
        return ""
    expected = {ast.dump(part) for text in known if (whole := tree(text)) for part in whole.body}
    kept, of_checks = [], set()
    for statement in parsed.body:
        nodes = list(ast.walk(statement))
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        if any(_checked(node) for node in nodes) or names & of_checks:
            of_checks |= _bound([statement])  # result = check(...), and print(result)
        elif ast.dump(statement) not in expected and not isinstance(statement, ast.Pass):
            kept.append(_as_written(source, statement))
    return "\n".join(kept)


def _as_written(source: str, statement: ast.stmt) -> str:
    decorators = getattr(statement, "decorator_list", [])
    if not decorators:
        return ast.get_source_segment(_MAGIC.sub(r"\1pass", source), statement)
    first = min(decorator.lineno for decorator in decorators)
    return "\n".join(source.splitlines()[first - 1 : statement.end_lineno])


def is_bare(source: str) -> bool:
    """Whether a stub still gives None: nothing was written into it."""
    parsed = tree(source)
    return bool(parsed and parsed.body) and all(_gives_none(part) for part in parsed.body)


def has_bare_part(source: str) -> bool:
    """Whether a function in it still only gives None, as in a class with one method to write."""
    parsed = tree(source)
    functions = [n for n in ast.walk(parsed) if isinstance(n, ast.FunctionDef)] if parsed else []
    return is_bare(source) or any(_gives_none(function) for function in functions)


def _gives_none(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef):
        return all(_gives_none(part) for part in statement.body)
    if isinstance(statement, ast.Return | ast.Assign | ast.AnnAssign):
        return statement.value is None or _is_constant(statement.value, None)
    if isinstance(statement, ast.Expr):  # a docstring, or ...
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass)


def _is_constant(node: ast.expr, value) -> bool:
    return isinstance(node, ast.Constant) and node.value is value
