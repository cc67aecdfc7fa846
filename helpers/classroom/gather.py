"""Which files were handed in, and whose they are."""

from pathlib import Path

from ..progress.place import NAME

KINDS = {".ipynb": "notebooks", ".jsonl": "progress"}
ARCHIVES = (".zip", ".tar", ".gz", ".7z", ".rar")
SKIPPED = {"__MACOSX", "__pycache__", "node_modules"}


class Handed(dict):
    """Student -> files, in the order of names. `packed`: archives, which are not opened."""

    def __init__(self):
        super().__init__()
        self.packed: list[Path] = []

    def add(self, student: str, path: Path) -> None:
        files = self.setdefault(student, [])
        if path not in files:
            files.append(path)


def gather(paths: list[Path], lesson_stems: list[str]) -> Handed:
    """The notebooks and progress files at `paths`, and below those that are folders.

    A folder that stands directly in one of the `paths` is a student; so is a file there. Files
    that carry the course's own names say nothing about whose they are: their folder does.
    """
    handed = Handed()
    for top in map(Path.absolute, paths):
        for path in _files(top):
            if path.suffix.lower() in ARCHIVES:
                handed.packed.append(path)
            elif path.suffix.lower() in KINDS:
                handed.add(_student(path, top, lesson_stems), path)
    return handed


def _files(top: Path) -> list[Path]:
    if not top.is_dir():
        return [top]
    found = [path for path in top.rglob("*") if not _is_skipped(path.relative_to(top))]
    return sorted(path for path in found if path.is_file())


def _is_skipped(path: Path) -> bool:
    return any(part.startswith(".") or part in SKIPPED for part in path.parts)


def _student(path: Path, top: Path, lesson_stems: list[str]) -> str:
    below = path.relative_to(top).parts[:-1] if top.is_dir() else ()
    folder = top if top.is_dir() else top.parent
    if below and below[0] != "notebooks":  # else `top` is a student's own copy of the course
        return below[0]
    is_courses_own = path.name == NAME or path.stem in lesson_stems
    if below or is_courses_own:
        return _name_above(folder)
    return path.stem


def _name_above(folder: Path) -> str:
    """The first name on the way up that is not a folder of the course."""
    while folder.name in ("en", "es", "notebooks") and folder.parent != folder:
        folder = folder.parent
    return folder.name or str(folder)
