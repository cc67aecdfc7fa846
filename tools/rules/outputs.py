"""What a run left in the lesson, readable before anything runs (C25, C32, C36)."""

import json
import re
import sys
import tempfile
from pathlib import Path

from nbformat import NotebookNode

from ..lessons import ROOT


def outputs_of(notebook: NotebookNode):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for output in cell.outputs:
                yield cell, output


def _texts(output: NotebookNode) -> dict[str, str]:
    """Every text of an output, by type: stream, text/plain, text/html, ... No pictures."""
    if output.output_type == "stream":
        return {"stream": output.text}
    data = output.get("data", {})
    return {
        kind: value if isinstance(value, str) else json.dumps(value)
        for kind, value in data.items()
        if not kind.startswith("image/") or kind == "image/svg+xml"
    }


def not_run(notebook: NotebookNode) -> list[str]:
    cells = [c for c in notebook.cells if c.cell_type == "code" and c.source.strip()]
    if not cells:
        return ["there is no code to run"]
    return [
        f"{cell.id}: run as number {cell.execution_count}, should be {count}"
        for count, cell in enumerate(cells, start=1)
        if cell.execution_count != count
    ]


def errors_shown(notebook: NotebookNode) -> list[str]:
    """No exception, no stderr (warnings carry paths of one machine), no traceback as text."""
    found = []
    for cell, output in outputs_of(notebook):
        if output.output_type == "error":
            found.append(f"{cell.id}: ended in {output.ename}: {output.evalue}")
        elif output.get("name") == "stderr":
            found.append(f"{cell.id}: wrote to stderr: {output.text.strip()[:200]}")
        elif any("Traceback (most recent call last)" in text for text in _texts(output).values()):
            found.append(f"{cell.id}: shows a traceback")
    return found


PLACES = re.compile(
    r"(?:/home|/Users|/root|/tmp|/var/folders|/usr/lib|/opt|/content)/\S+"
    r"|\b[A-Za-z]:\\+(?:Users|Windows|Program|Temp)\S*|\S*site-packages\S*"
    r"|ipykernel_\d+|\bat 0x[0-9a-fA-F]{6,}"
)


def machine_paths(notebook: NotebookNode) -> list[str]:
    """Nothing that is true on one machine or in one run only: paths, addresses."""
    here = {str(ROOT), str(Path.home()), sys.prefix, tempfile.gettempdir()} - {"/", ""}
    found = []
    for cell, output in outputs_of(notebook):
        for text in _texts(output).values():
            hit = PLACES.search(text)
            place = hit[0] if hit else next((path for path in sorted(here) if path in text), None)
            if place:
                found.append(f"{cell.id}: the output names a place on this machine: {place[:80]}")
    return found


RESOURCE = re.compile(
    r"""(?:src|srcset|data|poster|xlink:href)\s*=\s*["']?\s*(?:https?:)?//"""
    r"""|<link\b[^>]*href\s*=\s*["']?\s*(?:https?:)?//|url\(\s*["']?\s*(?:https?:)?//"""
    r"""|@import\s+["']?(?:https?:)?//|!\[[^\]]*\]\(\s*(?:https?:)?//""",
    re.IGNORECASE,
)


def fetched(notebook: NotebookNode) -> list[str]:
    """No output loads a script, a font or a picture from elsewhere, or brings a script (C36)."""
    found = []
    for cell, output in outputs_of(notebook):
        for kind, text in _texts(output).items():
            if kind == "application/javascript" or (kind == "text/html" and "<script" in text):
                found.append(f"{cell.id}: an output brings a script")
            if kind in ("text/html", "text/markdown", "image/svg+xml") and RESOURCE.search(text):
                found.append(f"{cell.id}: an output loads {RESOURCE.search(text)[0]}...")
    return found


A_REPR = re.compile(r"^<.+>$|^[A-Z]\w*\(.*(?:children|value|description|layout|options)=", re.S)


def nothing_to_read(notebook: NotebookNode) -> list[str]:
    """Beside a live view a picture or readable text, beside a picture words (C25, C30)."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        words = []
        for output in cell.outputs:
            plain = _texts(output).get("text/plain", "").strip()
            readable = bool(plain) and not A_REPR.search(plain)
            if readable or _texts(output).keys() & {"stream", "text/html", "text/markdown"}:
                words.append(output)
            elif "image/png" not in output.get("data", {}) and output.output_type != "error":
                found.append(
                    f"{cell.id}: without a kernel there is nothing to read: {plain[:60]!r}"
                )
        for output in cell.outputs:
            if "image/png" in output.get("data", {}) and not words:
                if not output.metadata.get("image/png", {}).get("alt"):
                    found.append(f"{cell.id}: a picture without any words beside it")
    return found


OUTPUT_RULES = (not_run, errors_shown, machine_paths, fetched, nothing_to_read)
