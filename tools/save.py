"""Save the lessons: carry code into the Spanish edition, run both editions, tidy the files.

    python3 course.py save                      every lesson
    python3 course.py save 01                   the lesson whose name begins with 01
    python3 course.py save 01 --translated ID   the Spanish text of that cell is up to date
    python3 course.py save --check              change nothing, say what would change

Ends with 0 when all is well, 1 when something is left to do, 2 when a lesson could not be saved.
"""

import argparse
import copy
import hashlib
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import rules
from .editions import LANGUAGE_LINE, Report, carry
from .execute import execute
from .lessons import NOTEBOOKS, SaveError, find_lesson, lessons, read, text_of, write
from .normalise import normalise, without_outputs


@dataclass
class Lesson:
    """One lesson: its two files, what they will hold, and what the author has to know."""

    paths: dict[str, Path]  # "en", "es"
    books: dict  # language -> notebook to be
    before: dict  # language -> notebook as it was, or None
    report: Report

    @property
    def name(self) -> str:
        return self.paths["en"].stem


def prepare(path: Path, translated=()) -> Lesson:
    """Carry the English lesson into Spanish, in memory."""
    paths = {"en": path, "es": path.parent.parent / "es" / path.name}
    before = {"en": read(path), "es": read(paths["es"]) if paths["es"].exists() else None}
    english = copy.deepcopy(before["en"])
    if not any(LANGUAGE_LINE.search(c.source) for c in english.cells if c.cell_type == "code"):
        raise SaveError(f'{path.name}: no code cell has the line start_lesson("en").')
    spanish, report = carry(english, before["es"], translated)
    return Lesson(paths, {"en": english, "es": spanish}, before, report)


def changed_files(lesson: Lesson) -> list[str]:
    """Editions whose file would differ in anything but outputs."""
    found = []
    for language, book in lesson.books.items():
        tidy = copy.deepcopy(book)
        normalise(tidy)
        old = lesson.before[language]
        if old is None or text_of(without_outputs(old)) != text_of(without_outputs(tidy)):
            found.append(language)
    return found


def run(lesson: Lesson) -> None:
    """Run and tidy both editions, then write both: a lesson is never left half saved."""
    texts = {}
    for language, book in lesson.books.items():
        folder = lesson.paths[language].parent
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{language}/{lesson.name}"
        say(f"  running {name} ...")
        execute(book, folder, name)
        normalise(book)
        wrong = rules.errors_shown(book) + rules.machine_paths(book)
        if wrong:
            raise SaveError("\n".join(f"{name}, cell {line}" for line in wrong))
        texts[language] = text_of(book)
        if len(texts[language].encode("utf-8")) >= rules.MOST_BYTES:
            raise SaveError(f"{name} would be larger than 1 MB: show fewer or smaller pictures.")
    keep_lost_text(lesson)
    for language, text in texts.items():
        if write(lesson.paths[language], text):
            say(f"  wrote {language}/{lesson.name}")


def keep_lost_text(lesson: Lesson) -> None:
    """Spanish work that leaves the edition stays in a copy outside the project, and is shown."""
    if not lesson.report.lost:
        return
    text = text_of(lesson.before["es"])
    mark = hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]
    backup = Path(tempfile.gettempdir()) / f"{lesson.name}.es.{mark}.ipynb"
    backup.write_text(text, encoding="utf-8", newline="\n")
    say(f"  the Spanish edition as it was is kept in {backup}")
    for item in lesson.report.lost:
        say("  lost " + item.replace("\n", "\n      "))


def chosen(names: list[str], folder: Path) -> list[Path]:
    paths = [find_lesson(name, folder) for name in names] or lessons(folder)
    if not paths:
        raise SaveError(f"there is no lesson in {folder / 'en'}.")
    return list(dict.fromkeys(paths))


def check_translated(names: list[str], found: list[Lesson]) -> None:
    """Each id of --translated names one text cell of one lesson."""
    for name in names:
        if name == "all":
            continue
        homes = [
            lesson.name
            for lesson in found
            if any(c.id == name and c.cell_type == "markdown" for c in lesson.books["en"].cells)
        ]
        if not homes:
            raise SaveError(f"--translated {name}: no text cell is called that.")
        if len(homes) > 1:
            raise SaveError(
                f"--translated {name}: {', '.join(homes)} have such a cell. Name the lesson too."
            )


def save(paths: list[Path], translated: list[str], only_check: bool) -> int:
    """Save these lessons; 0 when nothing is left to do, 1 or 2 otherwise."""
    found = [prepare(path, translated) for path in paths]
    check_translated(translated, found)
    status = 0
    for lesson in found:
        say(lesson.name)
        for change in lesson.report.changes:
            say(f"  {change}")
        if only_check:
            for language in changed_files(lesson):
                say(f"  {language}/{lesson.name}.ipynb would change")
                status = max(status, 1)
        else:
            try:
                run(lesson)
            except SaveError as error:
                say(f"  NOT SAVED. {error}")
                status = 2
                continue
            for path in lesson.paths.values():
                for line in rules.faults(path):
                    say(f"  the tests will say: {path.parent.name}/{line}")
                    status = max(status, 1)
        for cell, why in lesson.report.open_cells.items():
            say(f"  Spanish text to do: {cell}: {why}")
            status = max(status, 1)
        if lesson.report.open_cells and not only_check:
            say("  when a text is done: python3 course.py save LESSON --translated CELL ...")
    return status


def say(text: str) -> None:
    print(text, flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="course.py save",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("lesson", nargs="*", help="a file, a name, or how a name begins")
    parser.add_argument("--translated", nargs="+", default=[], metavar="CELL", help="or: all")
    parser.add_argument("--check", action="store_true", help="change nothing")
    parser.add_argument("--notebooks", type=Path, default=NOTEBOOKS, help="folder of en/ and es/")
    wanted = parser.parse_args(arguments)
    # A console that cannot print a letter shows its number instead of stopping the run.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        return save(chosen(wanted.lesson, wanted.notebooks), wanted.translated, wanted.check)
    except SaveError as error:
        print(f"course.py save: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
