"""The report in words, for a terminal, and as rows for a spreadsheet."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..texts import t
from .progress import ProgressReport, Topic
from .scoring import NOT_SCORED, OPEN, RIGHT, TRIED, NotebookReport
from .states import ADDED, EDITED, MISSING, TEXT

_HARMFUL = ("=", "+", "-", "@", "\t", "\r", "\n")
_BEST_FIRST = (RIGHT, TRIED, NOT_SCORED, OPEN)


@dataclass
class Student:
    """One student and all that was handed in."""

    name: str
    notebooks: list[NotebookReport] = field(default_factory=list)
    progress: list[ProgressReport] = field(default_factory=list)

    def exercises(self) -> dict[str, str]:
        """Exercise -> its best state in any file; the ones that no file is about are left out."""
        found: dict[str, list[str]] = {}
        for report in self.progress:
            for id, state in report.exercises.items():
                found.setdefault(id, []).append(state)
        for notebook in self.notebooks:
            for scored in notebook.scored:
                found.setdefault(scored.exercise.id, []).append(scored.state)
        return {id: min(states, key=_BEST_FIRST.index) for id, states in found.items()}

    def topics(self) -> dict[str, Topic]:
        """Lesson -> the quiz answers of the progress file in which most were given."""
        best: dict[str, Topic] = {}
        for report in self.progress:
            for lesson, topic in report.topics.items():
                if lesson not in best or topic.answered > best[lesson].answered:
                    best[lesson] = topic
        return best

    def is_whole(self) -> bool:
        scored = [part.state for notebook in self.notebooks for part in notebook.scored]
        return (
            all(book.whole for book in self.notebooks)
            and not any(report.problem for report in self.progress)
            and NOT_SCORED not in scored
        )


def readable(text: str) -> str:
    """File names as UTF-8, also where the system speaks another encoding, or an archive did."""
    return text.encode("utf-8", errors="surrogateescape").decode("utf-8", errors="replace")


# In words ------------------------------------------------------------------------------------


def lines(students: list[Student], exercises: list[str]) -> Iterator[str]:
    """The whole report: one line for each student, then what each one handed in."""
    yield from _overview(students, len(exercises))
    for student in students:
        yield ""
        yield student.name
        for notebook in student.notebooks:
            yield from _notebook_lines(notebook)
        for report in student.progress:
            yield from _progress_lines(report)


def _overview(students: list[Student], total: int) -> Iterator[str]:
    rows = [
        [
            t("classroom.report.columns.student"),
            t("classroom.report.columns.right"),
            t("classroom.report.columns.tried"),
            t("classroom.report.columns.open"),
            t("classroom.report.columns.quizzes"),
        ]
    ]
    for student in students:
        states = list(student.exercises().values())
        right, tried = states.count(RIGHT), states.count(TRIED)
        topics = student.topics().values()
        first, answered = (sum(getattr(x, part) for x in topics) for part in _QUIZ_PARTS)
        quizzes = t("classroom.report.of", count=first, total=answered) if answered else ""
        rows.append([student.name, str(right), str(tried), str(total - right - tried), quizzes])
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join(cells).rstrip()


_QUIZ_PARTS = ("first_try", "answered")


def state_words(state: str) -> str:
    return {
        RIGHT: t("classroom.report.state.right"),
        TRIED: t("classroom.report.state.tried"),
        OPEN: t("classroom.report.state.open"),
        NOT_SCORED: t("classroom.report.state.not_scored"),
    }[state]


def check_words(scored) -> str:
    """What became of the check cell; "" when it stands as it should."""
    where = {"number": scored.exercise.number, "id": scored.exercise.id}
    return {
        MISSING: t("classroom.report.check.missing", **where),
        EDITED: t("classroom.report.check.edited", **where),
        TEXT: t("classroom.report.check.text", **where),
        ADDED: t("classroom.report.check.added", **where),
    }.get(scored.check, "")


def _notebook_lines(notebook: NotebookReport) -> Iterator[str]:
    lesson = notebook.lesson
    title = t("classroom.report.lesson", number=lesson.number) if lesson else ""
    yield "  " + " · ".join(filter(None, [notebook.path.name, title]))
    if notebook.problem:
        yield f"    {notebook.problem}"
    elif not notebook.scored:
        yield f"    {t('classroom.report.no_exercises')}"
    width = max((len(state_words(part.state)) for part in notebook.scored), default=0)
    for part in notebook.scored:
        state = state_words(part.state).ljust(width)
        where = {"number": part.exercise.number, "id": part.exercise.id}
        why = f": {part.why}" if part.why else ""
        yield f"    {state}  {t('classroom.report.exercise', **where)}{why}"
    for words in filter(None, map(check_words, notebook.scored)):
        yield f"    {words}"
    for trouble in notebook.troubles:
        yield f"    {trouble}"


def _progress_lines(report: ProgressReport) -> Iterator[str]:
    yield f"  {report.path.name}"
    if report.problem:
        yield f"    {report.problem}"
        return
    numbers = {state: report.count(state) for state in (RIGHT, TRIED, OPEN)}
    yield "    " + t("classroom.report.exercises", total=len(report.exercises), **numbers)
    for lesson, topic in report.topics.items():
        if topic.answered:
            words = t("classroom.report.topic", lesson=lesson, **vars(topic))
            marked = t("classroom.report.in_test", count=topic.in_test) if topic.in_test else ""
            yield f"    {words}{marked}"
    if report.damaged:
        yield "    " + t("classroom.report.damaged", count=report.damaged)
    if report.unknown:
        yield "    " + t("classroom.report.unknown", count=report.unknown)


# For a spreadsheet ---------------------------------------------------------------------------


def write_csv(path: Path, students: list[Student], exercises: list[str]) -> None:
    """One row for each student; a spreadsheet reads it as text, never as a formula."""
    topics = sorted({lesson for student in students for lesson in student.topics()})
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([harmless(text) for text in _header(exercises, topics)])
        for student in students:
            writer.writerow([harmless(text) for text in _row(student, exercises, topics)])


def harmless(text: str) -> str:
    """The text of a cell; one that a spreadsheet would calculate gets an apostrophe in front."""
    text = readable(str(text))
    return "'" + text if text.lstrip(" ").startswith(_HARMFUL) else text


def _header(exercises: list[str], topics: list[str]) -> list[str]:
    first = [
        t("classroom.report.columns.student"),
        t("classroom.report.columns.right"),
        t("classroom.report.columns.tried"),
        t("classroom.report.columns.open"),
    ]
    quizzes = [
        words
        for lesson in topics
        for words in (
            t("classroom.report.columns.answered", lesson=lesson),
            t("classroom.report.columns.quiz_right", lesson=lesson),
            t("classroom.report.columns.first_try", lesson=lesson),
        )
    ]
    last = [t("classroom.report.columns.damaged"), t("classroom.report.columns.notes")]
    return [*first, *exercises, *quizzes, *last]


def _row(student: Student, exercises: list[str], topics: list[str]) -> list:
    states, quizzes = student.exercises(), student.topics()
    right, tried = (list(states.values()).count(state) for state in (RIGHT, TRIED))
    row = [student.name, right, tried, len(exercises) - right - tried]
    row += [state_words(states[id]) if id in states else "" for id in exercises]
    for lesson in topics:
        topic = quizzes.get(lesson)
        row += [topic.answered, topic.right, topic.first_try] if topic else ["", "", ""]
    row.append(sum(report.damaged for report in student.progress))
    return [*row, " | ".join(_notes(student))]


def _notes(student: Student) -> Iterator[str]:
    """What a teacher may want to look at, with the file it is about."""
    for notebook in student.notebooks:
        words = [notebook.problem, *map(check_words, notebook.scored), *notebook.troubles]
        yield from (f"{notebook.path.name}: {text}" for text in words if text)
        for part in notebook.scored:
            if part.why:
                yield f"{part.exercise.id}: {part.why}"
    for report in student.progress:
        if report.problem:
            yield f"{report.path.name}: {report.problem}"
