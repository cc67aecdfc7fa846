"""The processes behind a `LabServer`: its family, and the one that its kernels are copies of."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from . import kernels


def own_group() -> dict:
    """Popen options that keep a Ctrl-C in the terminal away from the server."""
    if os.name == "nt":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def family_of(pid: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


class Copier:
    """The process that a server's kernels are copies of (see `kernels.py`)."""

    def __init__(self, folder: Path):
        self.folder = folder  # for JUPYTER_PATH
        self._process = None

    def start(self, environment: dict[str, str]):
        # The name of a socket may have no more than 100 characters: not below `folder`.
        place = Path(tempfile.mkdtemp(prefix="kernels-")) / "s"
        kernels.write_kernelspec(self.folder, place)
        command = [sys.executable, kernels.__file__, "ready", str(place)]
        self._process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,  # closes when the tests end, whichever way
            **own_group(),
        )
        while not place.exists():
            if self._process.poll() is not None:
                raise RuntimeError(f"{' '.join(command)} ended at once")
            time.sleep(0.01)
        self._place = place

    def kernels(self) -> list[psutil.Process]:
        return family_of(self._process.pid)[1:]

    def stop(self):
        self._process.stdin.close()
        self._process.wait()
        shutil.rmtree(self._place.parent)
