"""`course.py carry`: the reader's answers of an older folder, in this version of the course."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from ..texts import t
from .changes import CHANGED, GONE, NEW, by_folder, changed_cells, changed_files
from .course import COURSE
from .moving import (
    BESIDE,
    PROGRESS,
    WRITTEN,
    Moved,
    MoveError,
    add_answers,
    new_answers,
    plan,
    write,
)
from .states import EDITED, MISSING, TEXT


def main(words: list[str]) -> int:
    """Carry, and say what was carried; 0 when all of it was, 1 when something could not be."""
    parser = argparse.ArgumentParser(prog="course.py carry", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dry-run", action="store_true")
    wanted = parser.parse_args(words)
    return carry(wanted.folder.resolve(), COURSE, wanted.dry_run)


def carry(old: Path, new: Path, dry_run: bool = False) -> int:
    try:
        found = plan(old, new)
        answers = new_answers(found.old, new)
        changes = changed_files(found.old, new)
    except (MoveError, OSError) as error:
        print(error)
        return 1
    print(t("classroom.carry.start", old=found.old, new=new))
    status = 0
    if dry_run:
        print(t("classroom.carry.dry_run"))
    else:
        try:
            write(found)
            if answers:
                add_answers(new, answers)
        except OSError as error:
            print(t("classroom.carry.not_written", error=error))
            return 1
    for moved in found.moved:
        if _has_something_to_say(moved):
            print()
            print("\n".join(_lines(moved, found.old)))
    print()
    if not any(moved.done.has_work for moved in found.moved):
        print(t("classroom.carry.no_work"))
    if (found.old / PROGRESS).exists():
        print(t("classroom.carry.progress", file=PROGRESS, count=len(answers)))
    for path in found.strays:
        print(t("classroom.carry.stray", file=_name(path, found.old)))
    for words in found.unreadable:
        print(words)
        status = 1
    print("\n".join(_changes(found, changes)))
    if any(moved.end in (WRITTEN, BESIDE) for moved in found.moved) and not dry_run:
        print(t("classroom.carry.reload"))
    return status


def _has_something_to_say(moved: Moved) -> bool:
    done = moved.done
    return bool(done.has_work or done.back or done.left or done.returned)


def _lines(moved: Moved, old: Path) -> Iterator[str]:
    done = moved.done
    yield _name(moved.source, old)
    for exercise in done.answers:
        yield "  " + t("classroom.carry.answer", number=exercise.number, id=exercise.id)
    for cell, anchor in done.added:
        first = cell.source.strip().splitlines()[0][:60]
        if anchor:
            yield "  " + t("classroom.carry.added", after=anchor, text=first)
        else:
            yield "  " + t("classroom.carry.added_at_top", text=first)
    for exercise, state in done.back:
        was = {
            MISSING: t("classroom.carry.was.missing"),
            EDITED: t("classroom.carry.was.edited"),
            TEXT: t("classroom.carry.was.text"),
        }[state]
        yield "  " + t("classroom.carry.back", number=exercise.number, id=exercise.id, was=was)
    if done.returned:
        yield "  " + t("classroom.carry.returned", names=", ".join(done.returned))
    if done.left:
        yield "  " + t("classroom.carry.left", names=", ".join(done.left))
    if done.has_work:
        yield "  " + _where(moved)


def _where(moved: Moved) -> str:
    file = f"notebooks/{moved.target.parent.name}/{moved.target.name}"
    if moved.end == WRITTEN:
        return t("classroom.carry.written", file=file)
    if moved.end == BESIDE:
        lesson = moved.old.new.path.name
        return t("classroom.carry.beside", lesson=lesson, file=file)
    return t("classroom.carry.there", file=file)


def _changes(found, changes: list[tuple[str, str, str]]) -> Iterator[str]:
    """The files that changed between the two versions, lessons first."""
    lines = []
    for moved in found.moved:
        numbers = changed_cells(moved.old, moved.done)
        if any(numbers.values()) and moved.source.stem == moved.old.new.stem:
            counts = {name: numbers[name] for name in (CHANGED, NEW, GONE)}
            file = _name(moved.source, found.old)
            lines.append("  " + t("classroom.carry.lesson_changed", file=file, **counts))
    for folder, state, files in by_folder(changes):
        what = {
            CHANGED: t("classroom.carry.file.changed"),
            NEW: t("classroom.carry.file.new"),
            GONE: t("classroom.carry.file.gone"),
        }[state]
        lines.append(f"  {folder + ': ' if folder else ''}{', '.join(files)} ({what})")
    yield t("classroom.carry.changes") if lines else t("classroom.carry.no_changes")
    yield from lines


def _name(path: Path, course: Path) -> str:
    return path.relative_to(course).as_posix()
