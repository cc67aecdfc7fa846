"""One notebook carried into the lesson of this version: a pure function of what was read."""

import copy
import hashlib
from dataclasses import dataclass, field

from .cells import Cell, cell_of, own_statements, tree
from .course import ExerciseCells
from .matching import OldNotebook, code_of
from .states import EDITED, MISSING, TEXT, check_state


@dataclass
class Carried:
    """The notebook to be, and what is said about it.

    answers: exercises whose answer came along. added: (the reader's cell, id of the cell it
    stands behind, "" at the top). back: (exercise, what its check cell had become). returned: ids
    of other cells that the reader had deleted. left: names of cells of the course whose changes
    by the reader stay in the old notebook.
    """

    book: dict
    answers: list[ExerciseCells] = field(default_factory=list)
    added: list[tuple[Cell, str]] = field(default_factory=list)
    back: list[tuple[ExerciseCells, str]] = field(default_factory=list)
    returned: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    sources: set[str] = field(default_factory=set)

    @property
    def has_work(self) -> bool:
        return bool(self.answers or self.added)

    def is_in(self, cells: list[Cell]) -> bool:
        """Whether all that was carried stands in these cells already."""
        return self.sources <= {cell.source.strip() for cell in cells}


def carry(old: OldNotebook) -> Carried:
    """The new lesson with the reader's answers and cells in it."""
    done = Carried(copy.deepcopy(old.new.book))
    behind: dict[str, list[dict]] = {}
    _carry_answers(old, done)
    _carry_cells(old, done, behind)
    _say_what_came_back(old, done)
    cells = list(behind.get("", []))
    for raw in done.book["cells"]:
        cells += [raw, *behind.get(cell_of(raw).id, [])]
    done.book["cells"] = cells
    return done


def _carry_answers(old: OldNotebook, done: Carried) -> None:
    raws = {cell_of(raw).id: raw for raw in done.book["cells"]}
    for exercise in old.new.exercises:
        place = old.answer_places.get(exercise.id)
        if place is None or exercise.stub is None:
            continue
        cell = old.cells[place]
        if old.is_answered(exercise):
            raws[exercise.stub.id].update(_emptied(cell.source))
            done.answers.append(exercise)
            done.sources.add(cell.source.strip())
        elif cell.source.strip() != exercise.stub.source.strip():
            if code_of(cell) != old.as_course_wrote(cell):
                done.left.append(exercise.stub.id)  # no answer, but perhaps a comment


def _carry_cells(old: OldNotebook, done: Carried, behind: dict[str, list[dict]]) -> None:
    """The reader's own cells, each behind the cell it stood behind."""
    answers = set(old.answer_places.values())
    checks = {e.check.id: e for e in old.new.exercises}
    taken = {cell.id for cell in old.new.cells}
    anchor = ""
    for place, cell in enumerate(old.cells):
        partner = old.partners.get(place)
        if partner in checks and place not in answers:
            _carry_lines_of_check(old, done, behind, checks[partner], cell)
        elif old.is_added(place):
            _add(done, behind, cell, cell.raw, anchor, taken)
        elif place not in answers and old.is_changed_by_reader(place):
            done.left.append(cell.id)
        anchor = partner or anchor


def _carry_lines_of_check(old, done, behind, exercise: ExerciseCells, cell: Cell) -> None:
    """Lines that the reader put into a check cell go into a cell in front of the answer."""
    if not cell.is_code:
        return
    if tree(cell.source) is None:
        done.left.append(exercise.check.id)
        return
    theirs = old.theirs.get(cell.id)
    known = [exercise.check.source, *([theirs.source] if theirs else [])]
    lines = own_statements(cell.source, known)
    if lines:
        order = [other.id for other in old.new.cells]
        place = order.index((exercise.stub or exercise.check).id)
        before = order[place - 1] if place else ""
        raw = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        own = Cell("", "code", lines, raw)
        _add(done, behind, own, raw, before, set(order))


def _add(done: Carried, behind: dict, cell: Cell, raw: dict, anchor: str, taken: set) -> None:
    raw = copy.deepcopy(raw)
    raw["source"] = _as_lines(cell.source)
    raw.setdefault("metadata", {}).pop("id", None)  # Colab's
    if cell.is_code:
        raw.update(outputs=[], execution_count=None)
    raw["id"] = _free_id(cell, anchor, taken)
    taken.add(raw["id"])
    behind.setdefault(anchor, []).append(raw)
    done.added.append((cell, anchor))
    done.sources.add(cell.source.strip())


def _free_id(cell: Cell, anchor: str, taken: set[str]) -> str:
    """The cell's own id, or one that comes out the same on every run."""
    number, id = 0, cell.id
    while not id or id in taken or len(id) > 64:
        said = f"{anchor}/{number}/{cell.source}"
        id, number = (
            hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:8],
            number + 1,
        )
    return id


def _emptied(source: str) -> dict:
    return {"source": _as_lines(source), "outputs": [], "execution_count": None}


def _as_lines(source: str) -> list[str]:
    return source.splitlines(keepends=True)


def _say_what_came_back(old: OldNotebook, done: Carried) -> None:
    stood = set(old.partners.values())
    for exercise in old.new.exercises:
        state = check_state(exercise, old.cells)
        was_there = exercise.id in old.answer_places or any(
            old.is_check_of(exercise, cell) for cell in old.other
        )
        if was_there and state in (MISSING, EDITED, TEXT):
            done.back.append((exercise, state))
    checks = {exercise.check.id for exercise in old.new.exercises}
    done.returned = [
        cell.id for cell in old.new.cells if cell.id in old.theirs and cell.id not in stood | checks
    ]
