"""What in an old notebook is the reader's work, and which cell of the new lesson a cell goes with.

What the course itself wrote in the old version is known from the other edition of the old folder:
both editions have the same cell ids and the same code.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property

from .cells import MADE_UP, Cell, binds, checks_called, has_bare_part, is_bare, mentions_check
from .course import ExerciseCells, Lesson
from .states import is_text_of

_LANGUAGE = re.compile(r'^start_lesson\("(?:en|es)"\)$', re.MULTILINE)


def code_of(cell: Cell) -> str:
    """Its source without the language and the blanks at its edges."""
    return _LANGUAGE.sub("start_lesson()", cell.source).strip()


@dataclass
class OldNotebook:
    """A notebook of the reader's; `other` holds the cells of the same lesson in the other edition,
    or nothing where there is none."""

    cells: list[Cell]
    new: Lesson
    other: list[Cell] = field(default_factory=list)

    @cached_property
    def theirs(self) -> dict[str, Cell]:
        """Cell id -> that cell in the other edition."""
        return {cell.id: cell for cell in self.other if cell.id}

    @cached_property
    def places(self) -> dict[str, int]:
        """Cell id -> its place in the reader's notebook, the first where an id stands twice."""
        return {cell.id: place for place, cell in reversed(list(enumerate(self.cells))) if cell.id}

    @cached_property
    def new_cells(self) -> dict[str, Cell]:
        return {cell.id: cell for cell in self.new.cells}

    def as_course_wrote(self, cell: Cell) -> str | None:
        """The code that the old version had in this cell, None when that is not known."""
        known = self.theirs.get(cell.id)
        return code_of(known) if known and known.is_code else None

    # Answers -------------------------------------------------------------------------------

    @cached_property
    def answer_places(self) -> dict[str, int]:
        """Exercise -> the place of the cell that defines its name."""
        found = {}
        for exercise in self.new.exercises:
            place = self._answer_place(exercise, set(found.values()))
            if place is not None:
                found[exercise.id] = place
        return found

    def _answer_place(self, exercise: ExerciseCells, taken: set[int]) -> int | None:
        def gives(place: int | None) -> bool:
            cell = self.cells[place] if place is not None and place not in taken else None
            return bool(cell and cell.is_code and binds(cell.source, exercise.name))

        stub = exercise.stub.id if exercise.stub else ""
        their_stubs = [
            cell.id for cell in self.other if cell.is_code and binds(cell.source, exercise.name)
        ]
        for id in [stub, *their_stubs]:
            if gives(self.places.get(id)):
                return self.places[id]
        elsewhere = [p for p in range(len(self.cells)) if gives(p) and self._is_unnamed(p)]
        if elsewhere:
            return elsewhere[-1]
        # the stub's own cell, in which the name was lost: work all the same
        place = self.places.get(stub)
        if place is None or place in taken or not self.cells[place].is_code:
            return None
        others = [e.name for e in self.new.exercises if e.id != exercise.id]
        belongs = stub not in self.theirs or stub in their_stubs
        is_another = any(binds(self.cells[place].source, name) for name in others)
        return place if belongs and not is_another and self.cells[place].source.strip() else None

    def _is_unnamed(self, place: int) -> bool:
        """Whether the cell is no cell of the course, by its id."""
        id = self.cells[place].id
        return id not in self.new_cells and id not in self.theirs

    def is_answered(self, exercise: ExerciseCells) -> bool:
        """Whether the reader wrote something into the stub."""
        cell = self.cells[self.answer_places[exercise.id]]
        stub = exercise.stub.source.strip() if exercise.stub else ""
        if cell.source.strip() == stub or is_bare(cell.source):
            return False
        is_as_theirs = code_of(cell) == self.as_course_wrote(cell)
        return not (is_as_theirs and has_bare_part(cell.source))

    # All other cells -----------------------------------------------------------------------

    @cached_property
    def partners(self) -> dict[int, str]:
        """Place -> id of the cell in the new lesson that it goes with."""
        found = {
            place: exercise.stub.id
            for exercise in self.new.exercises
            if exercise.stub and (place := self.answer_places.get(exercise.id)) is not None
        }
        for place, cell in enumerate(self.cells):
            if place not in found and (id := self._partner(cell)):
                found[place] = id
        return found

    def _partner(self, cell: Cell) -> str:
        for exercise in self.new.exercises:
            if self.is_check_of(exercise, cell):
                return exercise.check.id
        if cell.id in self.new_cells:
            return cell.id
        source = cell.source.strip()
        same = (new.id for new in self.new.cells if source and new.source.strip() == source)
        return next(same, "")

    def is_check_of(self, exercise: ExerciseCells, cell: Cell) -> bool:
        """Whether it is the exercise's check cell, edited or turned into text though it be."""
        if cell.id and cell.id == exercise.check.id:
            # an exercise put in between moves the numbers in the names of the cells
            return not (checks_called(cell.source) - {exercise.id})
        if not mentions_check(cell.source, exercise.id) or cell.id in self.new_cells:
            return False
        return cell.is_code or is_text_of(exercise, cell)

    def is_added(self, place: int) -> bool:
        """Whether the cell is the reader's own, and not one that an older version had."""
        cell = self.cells[place]
        if place in self.partners or not cell.source.strip():
            return False
        if MADE_UP.fullmatch(cell.id):
            return not any(cell.source.strip() == old.source.strip() for old in self.other)
        if cell.id not in self.theirs:
            return True
        return cell.is_code and code_of(cell) != self.as_course_wrote(cell)

    def is_changed_by_reader(self, place: int) -> bool:
        """Whether it is known that the reader changed a cell that the course wrote."""
        cell = self.cells[place]
        wrote = self.as_course_wrote(cell)
        if wrote is None or not cell.is_code or not cell.source.strip():
            return False
        new = self.new_cells.get(self.partners.get(place, ""))
        return code_of(cell) != wrote and not (new and code_of(cell) == code_of(new))
