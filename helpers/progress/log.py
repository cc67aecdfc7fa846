"""The progress file: one line of JSON per answer, in the order in which they were given.

    {"time": "2026-03-02T09:30:00+00:00", "what": "exercise", "id": "02.split_heads",
     "passed": false, "kind": "no_transpose"}
    {"time": …, "what": "question", "quiz": "10", "id": "q4", "answer": ["b"], "right": true,
     "tries": 2}
    {"time": …, "what": "reset", "quiz": "10", "ids": ["q1", "q4"]}

`right` is null in test mode: the answer is kept, the verdict is the instructor's. Lines are only
ever added, so that two lessons open at once, or a kernel killed in the middle, lose nothing.
"""

import json
import logging
import os
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from .place import Place, candidates, places

_NEEDED = {
    "exercise": {"id": str, "passed": bool, "kind": str},
    "question": {"quiz": str, "id": str, "answer": list, "right": (bool, type(None)), "tries": int},
    "reset": {"quiz": str, "ids": list},
}
_listeners: list[weakref.WeakMethod] = []
_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Log:
    """`events` in order of time; `damaged`: how many lines could not be read; the `places` read."""

    events: list[dict] = field(default_factory=list)
    damaged: int = 0
    places: list[Place] = field(default_factory=list)

    def latest_answers(self, quiz: str) -> dict[str, dict]:
        """Question id -> its last event since it was last started again."""
        latest: dict[str, dict] = {}
        for event in self.events:
            if event.get("quiz") != quiz:
                continue
            if event["what"] == "reset":
                for name in event["ids"]:
                    latest.pop(name, None)
            else:
                latest[event["id"]] = event
        return latest


def keep(event: dict) -> Place | None:
    """Add what the reader did; where it went, or None when it could not be kept.

    Never raises: an answer must get its verdict whatever the disk says.
    """
    event = {"time": datetime.now(UTC).isoformat(timespec="seconds")} | event
    line = json.dumps(event, ensure_ascii=False) + "\n"
    kept = next((place for place in candidates(make=True) if _added(place.path, line)), None)
    for listener in list(_listeners):
        heard = listener()
        if heard is None:
            _listeners.remove(listener)
        else:
            _tell(heard)
    return kept


def _tell(listener: Callable[[], None]) -> None:
    """A listener's fault is its own: what the reader did is kept, and its verdict must come."""
    try:
        listener()
    except Exception:
        _logger.exception("a listener of the progress file failed")


def listen(method: Callable[[], None]) -> None:
    """Call this bound method after each answer, for as long as its object lives."""
    _listeners.append(weakref.WeakMethod(method))


def _added(path: Path, line: str) -> bool:
    try:
        # One write at the end of the file: lines of two kernels never mix.
        with path.open("ab") as file:
            ends_well = file.tell() == 0 or _last_byte(path) == b"\n"
            file.write(("" if ends_well else "\n").encode() + line.encode())
        return True
    except OSError:
        return False


def _last_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)


def read_log(path: Path | str | None = None) -> Log:
    """All that is kept at `path`, or at the reader's own places. A missing file is an empty log.

    Lines that cannot be read are counted and left where they are.
    """
    asked = places() if path is None else [Place("chosen", Path(path))]
    events, damaged, found = [], 0, []
    for place in asked:
        try:
            text = place.path.read_bytes().decode("utf-8-sig", errors="replace")
        except OSError:
            continue
        found.append(place)
        for line in filter(str.strip, text.split("\n")):
            event = _event(line)
            events += [event] if event else []
            damaged += event is None
    events.sort(key=lambda event: event["time"])  # stable: a file keeps its own order
    return Log(events, damaged, found)


@lru_cache(maxsize=20_000)
def _event(line: str) -> dict | None:
    """The event, or None where the line cannot be read. A line is taken apart only once: the
    file is read after every answer, and all but its end is as it was. Events are not changed.
    """
    try:
        event = json.loads(line)
        needed = _NEEDED[event["what"]] | {"time": str}
        good = all(isinstance(event[name], kind) for name, kind in needed.items())
        good = good and all(isinstance(part, str) for part in event.get("answer", []))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return event if good else None
