"""A small lesson in both editions, to try the author's tools and the rules on."""

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools.editions import source_hash
from tools.lessons import text_of
from tools.normalise import normalise

START = """\
def start_lesson(language):
    print({"en": "Ready.", "es": "Listo."}[language])


start_lesson("en")"""

# One black pixel: a still picture without matplotlib.
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)
LIVE = f'''\
import ipywidgets


class Explorer(ipywidgets.VBox):
    def _repr_mimebundle_(self, **kwargs):
        data = super()._repr_mimebundle_(**kwargs)
        data["text/plain"] = "4 heads of width 2"
        data["image/png"] = "{PIXEL}"
        return data, {{"image/png": {{"alt": "4 heads of width 2"}}}}


Explorer([ipywidgets.IntSlider(4, description="H")])'''

ENGLISH = {
    "title": "# Heads\n\nWhat a head is, in a few words.",
    "start": START,
    "split": "## Splitting\n\nEach head gets $d_k$ features. See the [other part](#Splitting).",
    "widths": "d_model, H = 8, 4\nprint(d_model // H)",
    "live": LIVE,
    "exercise": "### Exercise 1\n\nWrite `head_size`.",
    "stub": "def head_size(d_model, H):\n    return None",
    "check": 'def check(exercise):\n    print("not yet")\n\n\ncheck("01.head_size")',
    "solution": (
        "<details>\n<summary>Solution</summary>\n\n"
        "```python\ndef head_size(d_model, H):\n    return d_model // H\n```\n\n</details>"
    ),
}
SPANISH = {
    "title": "# Cabezas\n\nQué es una cabeza, en pocas palabras.",
    "split": ("## Partir\n\nCada cabeza recibe $d_k$ componentes. Mira la [otra parte](#Partir)."),
    "exercise": "### Ejercicio 1\n\nEscribe `head_size`.",
    "solution": ENGLISH["solution"].replace("Solution", "Solución"),
}


def english() -> nbformat.NotebookNode:
    """The English edition, not run yet."""
    return new_notebook(
        cells=[
            new_code_cell(source, id=name)
            if name in ("start", "widths", "live", "stub", "check")
            else new_markdown_cell(source, id=name)
            for name, source in ENGLISH.items()
        ]
    )


def spanish() -> nbformat.NotebookNode:
    """The Spanish edition, every text confirmed, not run yet."""
    book = english()
    for cell in book.cells:
        if cell.cell_type == "markdown":
            cell.metadata["course"] = {"source_hash": source_hash(cell.source)}
            cell.source = SPANISH[cell.id]
        cell.source = cell.source.replace('start_lesson("en")', 'start_lesson("es")')
    return book


def cell(book: nbformat.NotebookNode, name: str) -> nbformat.NotebookNode:
    return next(cell for cell in book.cells if cell.id == name)


def write_pair(folder: Path, en=None, es=None, name: str = "01_heads.ipynb") -> Path:
    """Both editions below `folder`, as in notebooks/; returns `folder`."""
    for language, book in (("en", en or english()), ("es", es or spanish())):
        path = folder / language / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(book), encoding="utf-8", newline="\n")
    return folder


def ran(book: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The same lesson as if it had been run and saved; no kernel needed."""
    said = "Listo.\n" if 'start_lesson("es")' in cell(book, "start").source else "Ready.\n"
    cell(book, "start").outputs = [output_text(said)]
    cell(book, "widths").outputs = [output_text("2\n")]
    cell(book, "live").outputs = [output_live()]
    cell(book, "check").outputs = [output_text("not yet\n")]
    normalise(book)
    return book


def output_text(text: str, name: str = "stdout") -> nbformat.NotebookNode:
    return new_output("stream", name=name, text=text)


def output_live(**data) -> nbformat.NotebookNode:
    """What showing a live view leaves behind before the file is tidied."""
    shown = {
        "application/vnd.jupyter.widget-view+json": {"model_id": "0" * 32},
        "image/png": PIXEL,
        "text/plain": "4 heads of width 2",
    }
    metadata = {"image/png": {"alt": "4 heads of width 2"}}
    return new_output("execute_result", {**shown, **data}, metadata=metadata)
