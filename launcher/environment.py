"""The course's own Python environment: where it is, and whether it is there and whole."""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from helpers.texts import t

from . import PROJECT, children
from .say import StepError, say

NAME = "multi-head-attention-course"
READER_FILES = ("requirements.txt", "requirements-model.txt")
DEVELOPER_FILES = (*READER_FILES, "requirements-dev.txt")


def asked_for(name: str) -> list[str]:
    """The lines of a requirement file, without comments and empty lines."""
    lines = (PROJECT / name).read_text(encoding="utf-8").splitlines()
    return [asked for line in lines if (asked := line.split("#")[0].strip())]


def fingerprint(files: tuple[str, ...]) -> str:
    """A hash of what the requirement files ask for; comments and line ends do not count."""
    asked = [line for name in files for line in (name, *asked_for(name))]
    return hashlib.sha256("\n".join(asked).encode()).hexdigest()


class Environment:
    """A virtual environment in `folder`. A marker file in it, written last, says it is whole."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.python = children.python_in(folder)
        self.log = folder / "course-setup.log"

    def state(self, files: tuple[str, ...] = READER_FILES) -> str:
        """ "ready", or why it is not.

        "missing", "broken" (its Python does not run, is another one now or is too old),
        "moved" (the course's folder was), "unfinished" (no marker) or "changed" (the
        requirement files ask for something else since).
        """
        if not self.folder.is_dir() or not any(self.folder.iterdir()):
            return "missing"
        version = self.python_version()
        if version is None or version < (3, 11):
            return "broken"
        try:
            marker = json.loads(self._marker(files).read_text(encoding="utf-8"))
            project, python = marker["project"], tuple(marker["python"])
            requirements = marker["requirements"]
        except (OSError, ValueError, KeyError, TypeError):
            return "unfinished"
        if not _same_folder(os.fsdecode(unquote_to_bytes(project)), PROJECT):
            return "moved"
        if python != version:
            return "broken"
        return "ready" if requirements == fingerprint(files) else "changed"

    def is_ready(self, sets: tuple[tuple[str, ...], ...] = (READER_FILES,)) -> bool:
        """Whether all that these sets of requirement files ask for is there."""
        return all(self.state(files) == "ready" for files in sets)

    def mark(self, files: tuple[str, ...]) -> None:
        """Say that all that `files` ask for is installed."""
        marker = {
            "requirements": fingerprint(files),
            "python": self.python_version(),
            "project": quote(os.fsencode(PROJECT)),  # any name, whatever the locale
        }
        self._marker(files).write_text(json.dumps(marker, indent=1), encoding="utf-8")

    def unmark(self, files: tuple[str, ...]) -> None:
        self._marker(files).unlink(missing_ok=True)

    def _marker(self, files: tuple[str, ...]) -> Path:
        return self.folder / f"course-{Path(files[-1]).stem}.json"

    def python_version(self) -> tuple[int, int] | None:
        """(major, minor) of the environment's Python, None when it does not run."""
        answer = self.ask("import sys; print(*sys.version_info[:2])")
        return tuple(int(part) for part in answer.split()) if answer else None

    def packages(self) -> Path:
        """Its site-packages folder."""
        return Path(self.ask("import sysconfig; print(sysconfig.get_path('purelib'))"))

    def ask(self, code: str) -> str | None:
        """What `code` prints in the environment's Python, None when it fails."""
        try:
            done = subprocess.run(
                [self.python, "-I", "-X", "utf8", "-c", code],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
            )
        except OSError:
            return None
        return done.stdout.strip() if done.returncode == 0 else None


def _same_folder(one: str, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def folder_of_the_user() -> Path:
    """Where the environment goes when the course's own folder cannot be written to."""
    if os.name == "nt":
        home = os.environ.get("LOCALAPPDATA") or tempfile.gettempdir()
    elif sys.platform == "darwin":
        home = os.path.expanduser("~/Library/Application Support")
    else:
        home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    place = hashlib.sha256(os.fsencode(PROJECT)).hexdigest()[:8]
    for base in (Path(home), Path(tempfile.gettempdir())):
        with contextlib.suppress(OSError):
            folder = base / NAME / place
            folder.mkdir(parents=True, exist_ok=True)
            if children.can_write(folder):
                return folder / "venv"
    raise StepError(t("launcher.folder.nowhere"), t("launcher.folder.nowhere_advice"))


def find(sets: tuple[tuple[str, ...], ...] = (READER_FILES,)) -> Environment:
    """The environment to use: .venv in the course's folder, or one of the user's own when
    that folder cannot be written to and has none that is ready for these requirement files."""
    environment = Environment(PROJECT / ".venv")
    if children.can_write(PROJECT) or environment.is_ready(sets):
        return environment
    environment = Environment(folder_of_the_user())
    say(t("launcher.folder.environment", folder=environment.folder))
    return environment
