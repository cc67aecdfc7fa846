"""Which files of the course differ between two versions of it."""

from collections.abc import Iterator
from pathlib import Path

from .carrying import Carried
from .cells import MADE_UP
from .matching import OldNotebook, code_of

NEW, CHANGED, GONE = "new", "changed", "gone"
_NO_COURSE_FILES = ("__pycache__", "__MACOSX", "node_modules")


def changed_files(old: Path, new: Path) -> list[tuple[str, str, str]]:
    """(folder, file name, what happened) for all but the notebooks, sorted.

    Looked at: the folders that this version has, and files beside them that it has too. What
    else lies in the old folder is the reader's.
    """
    tops = [path for path in new.iterdir() if path.is_dir() and not _is_skipped(path.name)]
    here = _files(new, [top.name for top in tops])
    there = _files(old, [top.name for top in tops])
    for path in new.iterdir():
        if path.is_file() and not _is_skipped(path.name) and path.suffix != ".jsonl":
            here[path.name] = path
            if (old / path.name).is_file():
                there[path.name] = old / path.name
    found = []
    for name in sorted(here.keys() | there.keys()):
        state = _state(there.get(name), here.get(name))
        if state:
            folder, _, file = name.rpartition("/")
            found.append((folder, file, state))
    return found


def _files(course: Path, tops: list[str]) -> dict[str, Path]:
    """Name from the course's folder, with slashes -> file."""
    found = {}
    for top in tops:
        for path in (course / top).rglob("*"):
            name = path.relative_to(course)
            skipped = any(_is_skipped(part) for part in name.parts)
            if not skipped and path.suffix != ".ipynb" and path.is_file():
                found[name.as_posix()] = path
    return found


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name in _NO_COURSE_FILES or name.endswith(".egg-info")


def _state(old: Path | None, new: Path | None) -> str:
    if old is None or new is None:
        return NEW if old is None else GONE
    try:
        same = _content(old) == _content(new)
    except OSError:
        return CHANGED
    return "" if same else CHANGED


def _content(path: Path) -> bytes:
    return path.read_bytes().replace(b"\r\n", b"\n")  # as git writes it on Windows


def changed_cells(old: OldNotebook, done: Carried) -> dict[str, int]:
    """How many cells of a lesson the course changed, added and took away, as far as it is known."""
    before = {cell.id: [cell] for cell in old.cells if cell.id}
    for id, cell in old.theirs.items():  # the same code, and perhaps not answered there
        before.setdefault(id, []).extend([cell] if cell.is_code or id not in before else [])
    not_known = {e.stub.id for e in done.answers if e.stub and e.stub.id not in old.theirs}
    not_known |= {e.check.id for e, _ in done.back if e.check.id not in old.theirs}
    changed = [
        cell.id
        for cell in old.new.cells
        if before.get(cell.id)
        and cell.id not in not_known
        and (cell.is_code or cell.id in old.places)
        and code_of(cell) not in [code_of(was) for was in before[cell.id]]
    ]
    ids = set(old.new_cells)
    gone = [id for id in old.theirs.keys() - ids if not MADE_UP.fullmatch(id)]
    return {CHANGED: len(changed), NEW: len(ids - before.keys()), GONE: len(gone)}


def by_folder(found: list[tuple[str, str, str]]) -> Iterator[tuple[str, str, list[str]]]:
    """(folder, what happened, file names) in groups."""
    groups: dict[tuple[str, str], list[str]] = {}
    for folder, file, state in found:
        groups.setdefault((folder, state), []).append(file)
    for (folder, state), files in groups.items():
        yield folder, state, files
