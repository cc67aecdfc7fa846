"""`course.py report`: how far each student has come, from what they handed in."""

import argparse
import sys
from pathlib import Path

from ..checks import exercises
from ..texts import t
from .course import EDITIONS, lessons
from .gather import KINDS, gather
from .progress import ProgressReport, report_progress
from .scoring import LIMIT, report_notebook
from .table import Student, lines, readable, write_csv


def main(words: list[str]) -> int:
    """Print the report; 0 when it is whole, 1 when a file could not be read or scored."""
    parser = argparse.ArgumentParser(prog="course.py report", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--limit", type=float, default=LIMIT)
    wanted = parser.parse_args(words)
    return report(wanted.paths, wanted.csv, wanted.limit)


def report(paths: list[Path], csv: Path | None = None, limit: float = LIMIT) -> int:
    known = [lesson for edition in EDITIONS for lesson in lessons(edition=edition)]
    handed = gather(paths, [lesson.stem for lesson in known])
    for path in handed.packed:
        print(t("classroom.report.packed", file=path.name))
    if not handed:
        print(t("classroom.report.nothing"))
        return 1
    students = []
    for number, (name, files) in enumerate(handed.items(), start=1):
        said = t("classroom.report.working", number=number, total=len(handed), student=name)
        print(said, file=sys.stderr, flush=True)
        students.append(_student(name, files, known, limit))
    ids = list(exercises())
    print("\n".join(map(readable, lines(students, ids))))
    whole = all(student.is_whole() for student in students)
    if not whole:
        print("\n" + t("classroom.report.not_whole"))
    if csv is not None:
        try:
            write_csv(csv, students, ids)
        except OSError as error:
            print("\n" + t("classroom.report.no_csv", file=csv, error=error.strerror or error))
            return 1
        print("\n" + t("classroom.report.csv", file=csv))
    return 0 if whole and not handed.packed else 1


def _student(name: str, files: list[Path], known: list, limit: float) -> Student:
    student = Student(name)
    for path in files:
        if KINDS[path.suffix.lower()] == "progress":
            student.progress.append(_progress(path))
        else:
            student.notebooks.append(report_notebook(path, known, limit))
    return student


def _progress(path: Path) -> ProgressReport:
    try:
        with path.open("rb"):  # a file that cannot be read would count as an empty one
            return report_progress(path)
    except OSError as error:
        why = t("classroom.not_readable", file=path.name, error=error.strerror or error)
        return ProgressReport(path, problem=why)
