"""Notebooks written by a test, from the text of their cells."""

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook


def markdown(text: str):
    """A text cell for `LabServer.write`."""
    return new_markdown_cell(text)


def notebook_of(cells) -> nbformat.NotebookNode:
    """A valid notebook from cell sources: plain strings are code, see also `markdown`."""
    notebook = new_notebook(
        cells=[new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    )
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.validate(notebook)
    return notebook
