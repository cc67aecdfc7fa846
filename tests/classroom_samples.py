"""Notebooks and progress files as students hand them in, made from the real lessons."""

import json
import re
from pathlib import Path

COURSE = Path(__file__).resolve().parent.parent
FAULTS = {
    "deleted": "06.parameter_factor",
    "edited": "06.map_factor",
    "text": "06.first_weight",
    "import": "06.divisor",
}


class Book:
    """A copy of a lesson to change: `book["exercise-1-stub"]` is that cell's JSON."""

    def __init__(self, name: str, edition: str = "en", course: Path = COURSE):
        found = (course / "notebooks" / edition).glob(f"{name}_*.ipynb")
        path = min(found, key=lambda path: len(path.name))  # copies have longer names
        self.file = path.name
        self.json = json.loads(path.read_text(encoding="utf-8"))

    @property
    def cells(self) -> list[dict]:
        return self.json["cells"]

    def __getitem__(self, id: str) -> dict:
        return next(cell for cell in self.cells if cell["id"] == id)

    def ids(self) -> list[str]:
        return [cell["id"] for cell in self.cells]

    def source(self, id: str) -> str:
        return "".join(self[id]["source"])

    def write(self, id: str, source: str) -> None:
        self[id]["source"] = source

    def add(self, after: str, source: str, id: str = "0a1b2c3d", kind: str = "code") -> None:
        cell = {"cell_type": kind, "id": id, "metadata": {}, "source": source}
        if kind == "code":
            cell |= {"outputs": [], "execution_count": 1}
        self.cells.insert(self.ids().index(after) + 1, cell)

    def delete(self, id: str) -> None:
        self.cells.remove(self[id])

    def keep_only(self, *ids: str) -> None:
        self.json["cells"] = [cell for cell in self.cells if cell["id"] in ids]

    def solve(self, *numbers: int) -> None:
        """Put the lesson's own solution into these exercises of a lesson like 02."""
        for number in numbers:
            text = self.source(f"exercise-{number}-help")
            solution = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[-1]
            self.write(f"exercise-{number}-stub", solution)

    def save(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.json, ensure_ascii=False), encoding="utf-8")
        return path

    def save_in(self, course: Path, edition: str = "en") -> Path:
        return self.save(course / "notebooks" / edition / self.file)


def c39(edition: str = "en", course: Path = COURSE) -> Book:
    """Lesson 06 after a student: one check deleted, one edited, one turned into text, one with
    an import that the answer above it needs."""
    book = Book("06", edition, course)
    book.write("one-stub", "parameter_factor = 1")
    book.write("two-stub", "map_factor = 2  # T = 9 -> T = 18")
    book.write("three-stub", "first_weight = 1.0")
    book.write("four-stub", "divisor = math.sqrt(4)")
    book.delete("one-check")
    book.write("two-check", 'answer = check("06.map_factor", 4)\nprint(answer)')
    text = book["three-check"]
    text |= {"cell_type": "markdown", "id": "4e5f6a7b"}
    del text["outputs"], text["execution_count"]
    book.write("four-check", "import math\n" + book.source("four-check"))
    return book


def answer(quiz: str, id: str, chosen, right, tries: int = 1, time: int = 0) -> str:
    event = {"what": "question", "quiz": quiz, "id": id, "answer": chosen, "right": right}
    return _line(event | {"tries": tries}, time)


def exercise(id: str, passed: bool, time: int = 0) -> str:
    return _line({"what": "exercise", "id": id, "passed": passed, "kind": "right"}, time)


def _line(event: dict, time: int) -> str:
    return json.dumps({"time": f"2026-11-30T04:{time:02d}:00+00:00"} | event)


def progress(folder: Path, *lines: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "my-progress.jsonl"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def small_course(folder: Path, *names: str) -> Path:
    """A copy of this version with some of its lessons, and two other files."""
    for edition in ("en", "es"):
        for name in names:
            Book(name, edition).save_in(folder, edition)
    (folder / "helpers").mkdir()
    (folder / "helpers" / "toy.py").write_text("seed = 0\n", encoding="utf-8")
    (folder / "course.py").write_text("# the launcher\n", encoding="utf-8")
    return folder


def snapshot(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
