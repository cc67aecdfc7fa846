"""The lessons of this version of the course, read from its notebooks. Standard library."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .cells import Cell, binds, cells_of, plain_checks, read_json

COURSE = Path(__file__).resolve().parents[2]
EDITIONS = ("en", "es")


@dataclass(frozen=True)
class ExerciseCells:
    """An exercise as it stands in its lesson: the n-th, its stub cell and its check cell."""

    number: int
    id: str
    stub: Cell | None
    check: Cell

    @property
    def name(self) -> str:
        return self.id.split(".", 1)[1]


@dataclass(frozen=True)
class Lesson:
    """One lesson in one edition."""

    path: Path
    book: dict

    @property
    def stem(self) -> str:
        return self.path.stem

    @property
    def number(self) -> str:
        return self.stem[:2]

    @cached_property
    def cells(self) -> list[Cell]:
        return cells_of(self.book)

    @cached_property
    def exercises(self) -> list[ExerciseCells]:
        found = []
        for place, cell in enumerate(self.cells):
            for id in plain_checks(cell.source) if cell.is_code else ():
                before = self.cells[:place][::-1]
                name = id.split(".", 1)[-1]
                stub = next((c for c in before if c.is_code and binds(c.source, name)), None)
                found.append(ExerciseCells(len(found) + 1, id, stub, cell))
        return found

    def is_written_by_course(self, cell: Cell) -> bool:
        """Whether the cell stands in the lesson like this, code and all."""
        return (cell.kind, cell.source.strip()) in self._sources

    @cached_property
    def _sources(self) -> set[tuple[str, str]]:
        return {(cell.kind, cell.source.strip()) for cell in self.cells}


def lessons(course: Path = COURSE, edition: str = "en") -> list[Lesson]:
    """The lessons of one edition, in order: files whose name begins with two digits.

    Copies that the reader or `carry` put beside a lesson have longer names.
    """
    paths = (course / "notebooks" / edition).glob("[0-9][0-9]_*.ipynb")
    by_number: dict[str, Path] = {}
    for path in sorted(paths, key=lambda path: (len(path.name), path.name), reverse=True):
        by_number[path.name[:2]] = path
    return [Lesson(path, read_json(path)) for _, path in sorted(by_number.items())]


def lesson_of(file: str, cells: list[Cell], known: list[Lesson]) -> Lesson | None:
    """The lesson a notebook is a copy of, by its cells or else by its name; None for another.

    `known` may hold both editions. Cells say more than a name that somebody chose.
    """
    votes = Counter()
    for place, lesson in enumerate(known):
        ids = {exercise.id for exercise in lesson.exercises}
        for cell in cells:
            # a line of code that many lessons share says little; a check says it all
            votes[place] += lesson.is_written_by_course(cell) and not _shared(cell, lesson, known)
            votes[place] += 3 * len(ids & plain_checks(cell.source)) if cell.is_code else 0
    if votes and max(votes.values()) >= 2:
        return known[max(votes, key=votes.get)]
    named = [lesson for lesson in known if lesson.stem in file or file[:3] == f"{lesson.number}_"]
    return next(iter(named), None)


def _shared(cell: Cell, lesson: Lesson, known: list[Lesson]) -> bool:
    others = (other for other in known if other.number != lesson.number)
    return any(other.is_written_by_course(cell) for other in others)
