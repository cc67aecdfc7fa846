"""Two starts at once must not both write into one environment."""

import hashlib
import os
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from helpers.texts import t

from .say import say

if os.name == "nt":
    import msvcrt

    def _take(file) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(file) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def one_at_a_time(folder: Path):
    """Wait until no other start sets up `folder`. The system frees the lock of one that died.

    The lock lies in the folder for temporary files: `folder` itself may be made anew.
    """
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    try:
        file = open(Path(tempfile.gettempdir()) / f"course-{name}.lock", "ab")
    except OSError:  # another user's, or nowhere to write: go on without
        yield
        return
    with file:
        waiting = False
        while True:
            try:
                _take(file)
                break
            except OSError:
                if not waiting:
                    say(t("launcher.set_up.waiting"))
                    waiting = True
                time.sleep(0.5)
        yield
