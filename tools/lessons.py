"""Where the lessons are, and how a notebook is read and written."""

import os
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"


class SaveError(Exception):
    """Something an author has to know; the text says what and what to do."""


def lessons(folder: Path = NOTEBOOKS, language: str = "en") -> list[Path]:
    """The lessons of one edition, in order. Jupyter's checkpoint copies are no lessons."""
    return sorted((folder / language).glob("*.ipynb"))


def find_lesson(name: str, folder: Path = NOTEBOOKS) -> Path:
    """The English lesson meant by a path of either edition, a name, or how a name begins."""
    stem = Path(name).name.removesuffix(".ipynb")
    known = lessons(folder)
    exact = [path for path in known if path.stem == stem]
    near = exact or [path for path in known if path.stem.startswith(stem)]
    if len(near) == 1:
        return near[0]
    there = ", ".join(path.stem for path in near or known) or "none yet"
    what = "names several lessons" if near else "names no lesson"
    raise SaveError(f"{name!r} {what} in {folder / 'en'}: {there}.")


def read(path: Path) -> nbformat.NotebookNode:
    """The notebook as it stands in the file: nothing repaired, nothing filled in."""
    try:
        notebook = nbformat.v4.reads(path.read_text(encoding="utf-8"))
        cells = [cell.source for cell in notebook.cells]
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise SaveError(f"{path.name} is not a notebook of format 4: {error}") from None
    if any(not isinstance(source, str) for source in cells):
        raise SaveError(f"{path.name}: a cell's source is not text.")
    return notebook


def text_of(notebook: nbformat.NotebookNode) -> str:
    """The file's text: sorted keys, one space of indent, real letters, a newline at the end."""
    return nbformat.v4.writes(notebook, ensure_ascii=False) + "\n"


def write(path: Path, text: str) -> bool:
    """Write the whole file or nothing; False when it already reads like this."""
    if path.exists() and path.read_bytes() == text.encode("utf-8"):
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise SaveError(f"{path.name} cannot be written: {error.strerror}.") from None
    return True
