"""Whether a lesson of this version holds work already, and the same lesson without it.

Both editions have the same cells and the same code, so each tells what the other was.
"""

import copy

from .cells import MADE_UP, Cell, has_bare_part, is_bare
from .course import Lesson
from .matching import code_of


def holds_work(lesson: Lesson, twin: Lesson | None) -> bool:
    """Whether the reader worked in it; in doubt, yes. `twin` is its other edition."""
    stubs = [exercise.stub for exercise in lesson.exercises if exercise.stub]
    if twin is None:
        made_up = any(MADE_UP.fullmatch(cell.id) for cell in lesson.cells)
        return made_up or not all(has_bare_part(stub.source) for stub in stubs)
    here, there = _by_id(lesson), _by_id(twin)
    added = here.keys() - there.keys()
    lost = {id for id in there.keys() - here.keys() if not MADE_UP.fullmatch(id)}
    pairs = ((cell, there[id]) for id, cell in here.items() if id in there)
    return bool(added or lost) or any(_is_worked_in(*pair) for pair in pairs)


def without_work(lesson: Lesson, twin: Lesson | None) -> Lesson:
    """The lesson as the course has it, as far as its other edition tells."""
    if twin is None or not holds_work(lesson, twin):
        return lesson
    here, there = _by_id(lesson), _by_id(twin)
    cells = []
    for id, other in there.items():
        own = here.get(id)
        if MADE_UP.fullmatch(id):
            continue
        if own is None or own.kind != other.kind or _is_worked_in(own, other):
            cells.append(_in_edition(other, lesson.path.parent.name))
        else:
            cells.append(own.raw)
    return Lesson(lesson.path, {**lesson.book, "cells": copy.deepcopy(cells)})


def _is_worked_in(cell: Cell, twin: Cell) -> bool:
    """Whether the two editions differ, unless only the other one was answered."""
    if cell.kind != twin.kind:
        return True
    if not cell.is_code or code_of(cell) == code_of(twin):
        return False
    return not is_bare(cell.source) or is_bare(twin.source)


def _in_edition(cell: Cell, language: str) -> dict:
    raw = copy.deepcopy(cell.raw)
    if cell.is_code:
        source = cell.source
        for other in ("en", "es"):
            source = source.replace(f'start_lesson("{other}")', f'start_lesson("{language}")')
        raw.update(source=source.splitlines(keepends=True), outputs=[], execution_count=None)
    return raw


def _by_id(lesson: Lesson) -> dict[str, Cell]:
    return {cell.id: cell for cell in lesson.cells}
