"""One student's notebook: which lesson it is, what became of its checks, and its exercises scored.

The cells run in a kernel of their own, in the notebook's folder; then every exercise is checked
by the course's own `check`, whatever the student did to the check cells.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from ..texts import current_language, t
from .cells import (
    Cell,
    NotebookError,
    binds,
    cells_of,
    plain_checks,
    read_json,
    same_code,
    tree,
)
from .course import ExerciseCells, Lesson, lesson_of
from .kernel import KernelError, Outcome, StudentKernel
from .states import check_state

LIMIT = 60  # seconds for one cell, and for one check
MOST_LATE = 3  # cells that run into the limit before the rest is left out
MOST_KERNELS = 4  # kernels for one notebook
RIGHT, TRIED, OPEN, NOT_SCORED = "right", "tried", "open", "not_scored"


@dataclass(frozen=True)
class Scored:
    """One exercise: its state, why (a sentence, or ""), and what its check cell has become."""

    exercise: ExerciseCells
    state: str
    why: str
    check: str


@dataclass
class NotebookReport:
    """What is said about one notebook. `problem`: why nothing could be; `troubles`: its cells."""

    path: Path
    lesson: Lesson | None = None
    scored: list[Scored] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    problem: str = ""
    whole: bool = True


def report_notebook(path: Path, known: list[Lesson], limit: float = LIMIT) -> NotebookReport:
    """Run and score one notebook. Never raises because of what the student did."""
    report = NotebookReport(path)
    try:
        cells = cells_of(read_json(path))
    except NotebookError as error:
        return _without_score(report, str(error))
    except OSError as error:
        why = t("classroom.not_readable", file=path.name, error=error.strerror or error)
        return _without_score(report, why)
    report.lesson = lesson_of(path.name, cells, known)
    if report.lesson is None:
        report.problem = t("classroom.report.no_lesson")
        return report
    run = _Run(path.parent, cells, report.lesson, limit)
    try:
        report.scored = run.scores()
    except KernelError as error:
        return _without_score(report, t("classroom.report.no_kernel", error=error))
    report.troubles = run.troubles()
    return report


def _without_score(report: NotebookReport, problem: str) -> NotebookReport:
    report.problem, report.whole = problem, False
    return report


class _Run:
    """The cells of one notebook in a kernel; in a second one when the first was lost."""

    def __init__(self, folder: Path, cells: list[Cell], lesson: Lesson, limit: float):
        self.folder, self.cells, self.lesson, self.limit = folder, cells, lesson, limit
        self.ended: dict[int, Outcome] = {}  # place of a cell -> how it ended, where not well
        self.lost: dict[str, Outcome] = {}  # exercise -> how its check ended the kernel
        self.found: dict[str, dict] = {}  # exercise -> what its check said
        self.kernels = 0
        own = [p for p, cell in enumerate(cells) if cell.is_code and not self._is_courses(cell)]
        self.last_own = max(own, default=-1)

    def _is_courses(self, cell: Cell) -> bool:
        return not cell.source.strip() or self.lesson.is_written_by_course(cell)

    def scores(self) -> list[Scored]:
        while self._open() and self.kernels < MOST_KERNELS:
            self.kernels += 1
            with StudentKernel(self.folder) as kernel:
                if self._run_cells(kernel):
                    self._score(kernel)
        return [self._scored(exercise) for exercise in self.lesson.exercises]

    def _open(self) -> list[ExerciseCells]:
        """The exercises that have no verdict yet, and may get one."""
        done = self.found.keys() | self.lost.keys()
        return [exercise for exercise in self.lesson.exercises if exercise.id not in done]

    def _run_cells(self, kernel: StudentKernel) -> bool:
        """Run the cells that did not end a kernel before; False when one ends this one."""
        for place, cell in enumerate(self.cells):
            if self._is_left_out(place, cell):
                continue
            if not self._run_cell(kernel, place):
                return False
        # an answer may need what a later cell imports, as it did when the student wrote it
        return all(self._run_cell(kernel, place) for place in self._too_early())

    def _too_early(self) -> list[int]:
        """Cells with an answer that lacked a name, and were not followed by another answer."""
        last = {e.id: p for p, cell in enumerate(self.cells) for e in self._answered_in(cell)}
        lacking = (p for p, outcome in self.ended.items() if outcome.name == "NameError")
        return sorted(set(lacking) & set(last.values()))

    def _run_cell(self, kernel: StudentKernel, place: int) -> bool:
        """Run one cell and keep the answers in it; False when it ends the kernel."""
        outcome = kernel.run(self.cells[place].source, self.limit)
        self.ended.pop(place, None)
        if outcome.end != "ok":
            self.ended[place] = outcome
        if outcome.end == "dead":
            return False
        for exercise in self._answered_in(self.cells[place]):
            kernel.run(_KEEP.format(id=exercise.id, name=exercise.name), self.limit)
        return True

    def _is_left_out(self, place: int, cell: Cell) -> bool:
        """Text, the course's own checks and quizzes, what the course has after the last cell of
        the student's, and what ran into the limit before."""
        if not cell.is_code or not cell.source.strip() or place > self.last_own:
            return True
        before = self.ended.get(place)
        late = [outcome for outcome in self.ended.values() if outcome.name == "late"]
        if (before and before.end in ("dead", "late")) or len(late) >= MOST_LATE:
            return True
        asks = plain_checks(cell.source) or "Quiz(" in cell.source
        return bool(asks) and any(
            same_code(cell.source, own.source) for own in self.lesson.cells if own.is_code
        )

    def _answered_in(self, cell: Cell) -> list[ExerciseCells]:
        """The exercises whose name a cell of the student's binds; not a later one of the course."""
        if not cell.is_code:
            return []
        found = [e for e in self.lesson.exercises if binds(cell.source, e.name)]
        stubs = {e.stub.source.strip() for e in found if e.stub}
        is_stub = cell.source.strip() in stubs
        return found if is_stub or not self.lesson.is_written_by_course(cell) else []

    def _score(self, kernel: StudentKernel) -> None:
        for exercise in self._open():
            ask = _SCORE.format(id=exercise.id, language=current_language())
            outcome = kernel.run("", self.limit, ask)
            if outcome.end == "ok" and outcome.answer:
                self.found[exercise.id] = outcome.answer
            else:
                self.lost[exercise.id] = outcome
            if outcome.end == "dead":
                return

    def _scored(self, exercise: ExerciseCells) -> Scored:
        check = check_state(exercise, self.cells)
        found = self.found.get(exercise.id)
        if exercise.id in self.lost:
            late = self.lost[exercise.id].name == "late"
            why = self._limit_words() if late else t("classroom.report.check_died")
            return Scored(exercise, TRIED, why, check)
        if found is None:
            return Scored(exercise, NOT_SCORED, t("classroom.report.not_scored"), check)
        if found["passed"] is None:
            trouble = self._trouble_in_answer(exercise)
            return Scored(exercise, TRIED if trouble else OPEN, trouble, check)
        state = RIGHT if found["passed"] else TRIED
        return Scored(exercise, state, "" if found["passed"] else found["title"], check)

    def _trouble_in_answer(self, exercise: ExerciseCells) -> str:
        """Why there is no answer although the student wrote one; "" when that is not so."""
        for place in self.ended:
            if binds(self.cells[place].source, exercise.name):
                return self._words(place)
        return ""

    def troubles(self) -> list[str]:
        """A sentence for each cell of the student's that did not end well."""
        own = [p for p in sorted(self.ended) if self._is_students(p)]
        lines = [self._words(place) for place in own]
        late = [place for place in own if self.ended[place].name == "late"]
        if len(late) >= MOST_LATE:
            lines.append(t("classroom.report.rest_left_out", count=len(late)))
        return lines

    def _is_students(self, place: int) -> bool:
        """The course's own cells fail for a student's reasons only when they never end."""
        outcome = self.ended[place]
        return outcome.end != "error" or not self.lesson.is_written_by_course(self.cells[place])

    def _words(self, place: int) -> str:
        outcome, number = self.ended[place], place + 1
        if outcome.name == "late":
            return t("classroom.report.cell.late", cell=number, words=self._limit_words())
        if outcome.end == "dead":
            return t("classroom.report.cell.dead", cell=number)
        if tree(self.cells[place].source) is None and "Error" in outcome.name:
            error = re.sub(r" \([^()]*line \d+\)$", "", outcome.value)
            return t("classroom.report.cell.syntax", cell=number, error=error)
        if outcome.name == "StdinNotImplementedError":
            return t("classroom.report.cell.input", cell=number)
        if outcome.name == "SystemExit":
            return t("classroom.report.cell.exit", cell=number)
        error = f"{outcome.name}: {outcome.value}".rstrip(": ")
        return t("classroom.report.cell.error", cell=number, error=error)

    def _limit_words(self) -> str:
        return t("classroom.report.limit", seconds=f"{self.limit:g}")


_IN_KERNEL = '__import__("helpers.classroom.in_kernel", fromlist=["score"])'
_KEEP = _IN_KERNEL + '.keep("{id}", "{name}")'
_SCORE = _IN_KERNEL + '.score("{id}", "{language}")'
