"""The file itself: it opens everywhere (C34)."""

import warnings
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ..normalise import KERNEL, WIDGET_VIEW
from .outputs import outputs_of

MOST_BYTES = 1_000_000


def invalid(notebook: NotebookNode) -> list[str]:
    """Valid for nbformat with its warnings as errors, 4.5 or newer, an id on every cell, once."""
    version = (notebook.get("nbformat"), notebook.get("nbformat_minor"))
    if version < (4, 5):
        return [f"format {version[0]}.{version[1]}: at least 4.5 is needed"]
    ids = [cell.get("id") for cell in notebook.cells]
    found = [f"cell {n} has no id" for n, name in enumerate(ids, start=1) if not name]
    found += sorted({f"{name}: this id stands on two cells" for name in ids if ids.count(name) > 1})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            nbformat.validate(nbformat.from_dict(notebook))
    except (nbformat.ValidationError, Warning) as error:
        found.append(f"not valid: {str(error).splitlines()[0]}")
    return found


def saved_widgets(notebook: NotebookNode) -> list[str]:
    """Widget state makes GitHub refuse the page; a view without state shows an error (C25)."""
    found = ["the file keeps widget state"] if "widgets" in notebook.metadata else []
    return found + [
        f"{cell.id}: keeps a widget view without its widget"
        for cell, output in outputs_of(notebook)
        if WIDGET_VIEW in output.get("data", {})
    ]


def other_kernel(notebook: NotebookNode) -> list[str]:
    name = notebook.metadata.get("kernelspec", {}).get("name")
    return [] if name == KERNEL["name"] else [f"the kernel is {name!r}, not 'python3'"]


def too_big(path: Path) -> list[str]:
    size = path.stat().st_size
    return [f"{size:,} bytes: 1 MB is the most"] if size >= MOST_BYTES else []


FILE_RULES = (invalid, saved_widgets, other_kernel)
