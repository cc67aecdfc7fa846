"""The reader's work of a whole old folder, brought into this version of the course."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ..progress.place import NAME as PROGRESS
from ..texts import t
from .carrying import Carried, carry
from .cells import Cell, NotebookError, cells_of, read_json, write_book
from .course import EDITIONS, Lesson, lesson_of, lessons
from .matching import OldNotebook
from .pristine import holds_work, without_work

_IN_COURSE = ("notebooks", *EDITIONS)
# What becomes of a notebook.
WRITTEN, BESIDE, THERE = "written", "beside", "there"


class MoveError(Exception):
    """Nothing can be carried; the text says why."""


@dataclass
class Moved:
    """One notebook of the old folder. `end`: where its work is now, at `target`."""

    source: Path
    old: OldNotebook
    done: Carried
    target: Path
    end: str


@dataclass
class Folder:
    """What was found in the old folder. strays: notebooks that belong to no lesson."""

    old: Path
    new: Path
    moved: list[Moved] = field(default_factory=list)
    strays: list[Path] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


def course_in(folder: Path) -> Path:
    """The course's folder at, above or directly below the folder that was named."""
    inside = [path for path in sorted(folder.iterdir()) if path.is_dir()] if folder.is_dir() else []
    above = [folder.parent, folder.parent.parent] if folder.name in _IN_COURSE else []
    for path in (folder, *inside, *above):
        if any((path / "notebooks" / edition).is_dir() for edition in EDITIONS):
            return path
    raise MoveError(t("classroom.carry.no_course", folder=folder))


def plan(old: Path, new: Path) -> Folder:
    """Read both folders and decide; nothing is written."""
    old = course_in(old)
    if old.resolve() == new.resolve():
        raise MoveError(t("classroom.carry.same_folder", folder=old))
    found = Folder(old, new)
    here = {edition: lessons(new, edition) for edition in EDITIONS}
    there = {edition: _read_edition(found, edition, here[edition]) for edition in EDITIONS}
    for edition, twin in zip(EDITIONS, reversed(EDITIONS), strict=True):
        for lesson in here[edition]:
            own = there[edition].get(lesson.number, [])
            other = there[twin].get(lesson.number, [])
            in_twin = next((one for one in here[twin] if one.number == lesson.number), None)
            for place, (path, cells) in enumerate(own):
                name = lesson.path.name if place == 0 else path.name
                old_notebook = OldNotebook(
                    cells, without_work(lesson, in_twin), other[0][1] if other else []
                )
                done = carry(old_notebook)
                target = lesson.path.with_name(name)
                is_free = name == lesson.path.name and not holds_work(lesson, in_twin)
                end, target = _destination(done, target, is_free)
                found.moved.append(Moved(path, old_notebook, done, target, end))
    return found


def _read_edition(
    found: Folder, edition: str, known: list[Lesson]
) -> dict[str, list[tuple[Path, list[Cell]]]]:
    """Lesson number -> the notebooks that are copies of it, shortest name first."""
    copies: dict[str, list[tuple[Path, list[Cell]]]] = {}
    paths = sorted(
        (found.old / "notebooks" / edition).glob("*.ipynb"), key=lambda p: (len(p.stem), p)
    )
    for path in paths:
        try:
            cells = cells_of(read_json(path))
        except NotebookError as error:
            found.unreadable.append(str(error))
            continue
        except OSError as error:
            why = error.strerror or error
            found.unreadable.append(t("classroom.not_readable", file=path.name, error=why))
            continue
        named = [lesson for lesson in known if path.stem == lesson.stem]
        lesson = named[0] if named else lesson_of(path.name, cells, known)
        if lesson is None:
            found.strays.append(path)
        else:
            copies.setdefault(lesson.number, []).append((path, cells))
    return copies


def _destination(done: Carried, target: Path, is_free: bool) -> tuple[str, Path]:
    """Where the carried notebook goes: nothing that holds work is ever overwritten."""
    if not done.has_work:
        return THERE, target
    number = 1
    start = target
    while target.exists():
        if _holds(target, done):
            return THERE, target
        if is_free and target == start:
            return WRITTEN, target
        suffix = "-carried" if number == 1 else f"-carried-{number}"
        target = start.with_name(start.stem + suffix + start.suffix)
        number += 1
    return (WRITTEN if target == start else BESIDE), target


def _holds(path: Path, done: Carried) -> bool:
    try:
        return done.is_in(cells_of(read_json(path)))
    except (NotebookError, OSError):
        return False


def write(found: Folder) -> None:
    """Write the notebooks that were planned. Raises OSError when one cannot be written."""
    for moved in found.moved:
        if moved.end in (WRITTEN, BESIDE):
            write_book(moved.target, moved.done.book)


# The progress file ---------------------------------------------------------------------------


def new_answers(old: Path, new: Path) -> list[str]:
    """The lines of the old folder's progress file that this one's lacks."""
    have = Counter(_lines(new / PROGRESS))
    lacking = []
    for line in _lines(old / PROGRESS):
        if have[line]:
            have[line] -= 1
        else:
            lacking.append(line)
    return lacking


def _lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    text = path.read_bytes().decode("utf-8-sig", errors="surrogateescape")
    return [line.strip() for line in text.split("\n") if line.strip()]


def add_answers(new: Path, lines: list[str]) -> None:
    """Add lines to the progress file: at its end, in one write, as lessons do that run now."""
    path = new / PROGRESS
    ends_well = not path.exists() or path.read_bytes()[-1:] in (b"", b"\n")
    text = ("" if ends_well else "\n") + "".join(line + "\n" for line in lines)
    with path.open("ab") as file:
        file.write(text.encode("utf-8", errors="surrogateescape"))
