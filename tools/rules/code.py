"""The code of a lesson: it can run twice, and nothing hides from the tests (C24, C26, C32)."""

import ast
import io
import re
import tokenize

from nbformat import NotebookNode

from ..editions import in_language

UNWANTED = {
    "interact": "errors in its callback are lost; use an explorer",
    "interactive": "errors in its callback are lost; use an explorer",
    "interact_manual": "errors in its callback are lost; use an explorer",
    "interactive_output": "errors in its callback are lost; use an explorer",
    "Output": "it hides errors and never matches a second run; use an explorer",
    "clear_output": "a widget that updates in place needs none",
}


def unwanted_code(notebook: NotebookNode) -> list[str]:
    """Plain Python without interact, Output, clear_output or a semicolon that hides a result."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        try:
            tree = ast.parse(cell.source)
        except SyntaxError as error:
            found.append(f"{cell.id}: not plain Python ({error.msg}, line {error.lineno})")
            continue
        for node in ast.walk(tree):
            name = getattr(node, "id", None) or getattr(node, "attr", None)
            if isinstance(node, ast.Name | ast.Attribute) and name in UNWANTED:
                found.append(f"{cell.id}: {name}: {UNWANTED[name]}")
        if _last_token(cell.source) == ";":
            found.append(f"{cell.id}: the semicolon at the end hides the result")
    return found


def _last_token(source: str) -> str:
    """The last piece of code that is no comment."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    code = [token.string for token in tokens if token.type != tokenize.COMMENT]
    return next((piece for piece in reversed(code) if piece.strip()), "")


def hidden_live_view(notebook: NotebookNode) -> list[str]:
    """A live view is the last expression of its cell, so that it is one view, once (C26)."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        live = [o for o in cell.outputs if o.get("metadata", {}).get("course", {}).get("live")]
        if len(live) > 1:
            found.append(f"{cell.id}: shows {len(live)} live views; one cell, one view")
        if any(output.output_type != "execute_result" for output in live):
            found.append(f"{cell.id}: the live view is not the last expression of the cell")
    return found


MARKER = re.compile(r"^\s*#\s*((?:NBVAL|PYTEST)_\w+)\s*$")


def unchecked_cells(notebook: NotebookNode) -> list[str]:
    """A cell goes unchecked only by # NBVAL_IGNORE_OUTPUT, with the reason on the next line."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        for tag in cell.metadata.get("tags", []):
            if tag.startswith("nbval") or tag in ("raises-exception", "skip-execution"):
                found.append(f"{cell.id}: the tag {tag} hides a result from the tests")
        lines = cell.source.splitlines()
        for number, line in enumerate(lines):
            marker = MARKER.match(line)
            if marker and marker[1] != "NBVAL_IGNORE_OUTPUT":
                found.append(f"{cell.id}: {marker[1]} hides a result from the tests")
            elif marker:
                reason = lines[number + 1] if number + 1 < len(lines) else ""
                if not re.match(r"^\s*#(\s+\S+){3,}", reason):
                    found.append(f"{cell.id}: NBVAL_IGNORE_OUTPUT without its reason below it")
    return found


def first_cell(notebook: NotebookNode) -> str:
    """The first code cell, the same in every lesson and language."""
    first = next((cell.source for cell in notebook.cells if cell.cell_type == "code"), "")
    return in_language(first, "en")


def no_start(notebook: NotebookNode) -> list[str]:
    started = 'start_lesson("en")' in first_cell(notebook).splitlines()
    return [] if started else ["the first code cell has no line start_lesson(...)"]


CODE_RULES = (unwanted_code, hidden_live_view, unchecked_cells, no_start)
