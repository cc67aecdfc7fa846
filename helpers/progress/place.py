"""Where the reader's progress file is.

The course folder first: it is the reader's, it is easily found and handed in, and no update of
the course touches a file that is not the course's. Where that folder cannot be written to, the
home folder; where that cannot either, a temporary folder, which the reader is told.
"""

import getpass
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..texts import t

VARIABLE = "ATTENTION_COURSE_PROGRESS"  # a path of the reader's choice, or "off"
NAME = "my-progress.jsonl"
NAME_AT_HOME = "my-attention-course-progress.jsonl"
COURSE = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Place:
    """kind: "chosen" (by the variable), "course", "home" or "temporary"."""

    kind: str
    path: Path


def places() -> list[Place]:
    """The places to try, best first; none when the variable says "off"."""
    return list(candidates(make=False))


def candidates(make: bool) -> Iterator[Place]:
    """The same one by one; with `make`, the temporary folder is there when its turn comes."""
    chosen = os.environ.get(VARIABLE, "").strip()
    if chosen.lower() == "off":
        return
    if chosen:
        yield Place("chosen", Path(chosen).expanduser())
        return
    if (COURSE / "notebooks").is_dir():  # not where the helpers are installed by themselves
        yield Place("course", COURSE / NAME)
    try:
        yield Place("home", Path.home() / NAME_AT_HOME)
    except RuntimeError:  # no home folder at all
        pass
    folder = _temporary_folder(make)
    if folder:
        yield Place("temporary", folder / NAME)


def warning(kept: Place | None) -> str:
    """What the reader should know about where an answer went; "" when all is as usual."""
    if kept is None:
        return t("progress.not_kept") if places() else ""
    if kept.kind in ("home", "temporary"):
        return t(f"progress.kept.{kept.kind}", path=kept.path)
    return ""


def _temporary_folder(make: bool = True) -> Path | None:
    """A folder that only this user can write to, the same one for all kernels of the day."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError, ImportError):  # a user without a name, as in some containers
        name = str(os.getuid()) if hasattr(os, "getuid") else "reader"
    safe = "".join(letter if letter.isalnum() else "-" for letter in name)
    folder = Path(tempfile.gettempdir()) / f"attention-course-{safe}"
    try:
        if make:
            folder.mkdir(mode=0o700, exist_ok=True)
        elif not os.path.lexists(folder):
            return folder
        is_ours = stat.S_ISDIR(folder.lstat().st_mode) and (
            not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()
        )
        # Somebody else may have put a folder or a link of this name there.
        return folder if is_ours else None
    except OSError:
        return None
