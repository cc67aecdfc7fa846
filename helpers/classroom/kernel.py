"""A kernel for a student's cells, that is never waited for longer than was said."""

import os
import queue
import re
import subprocess
import tempfile
import time
from ast import literal_eval
from dataclasses import dataclass, field
from pathlib import Path

import ipykernel.kernelspec
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

from .course import COURSE

START = 120  # seconds for a kernel to start on a slow machine
GRACE = 5  # seconds to come back after an interruption
# No downloads, no answers kept, no bytecode beside the student's files.
SETTINGS = {
    "ATTENTION_COURSE_PROGRESS": "off",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUTF8": "1",
}
FOREIGN = ("MPLBACKEND", "PYTHONSTARTUP", "PYTHONIOENCODING")
# The course's own package comes first, whatever lies beside the student's notebook.
PREPARE = """\
def _prepare():
    import sys
    sys.path.insert(0, {course})
    try:
        import helpers.checks
        from helpers.classroom import in_kernel
    finally:
        sys.path.remove({course})
    in_kernel.prepare()

_prepare()
del _prepare"""


class KernelError(Exception):
    """A kernel did not start; the text is the system's own."""


@dataclass(frozen=True)
class Outcome:
    """How a piece of code ended: "ok", "error", "late" (interrupted) or "dead" (no kernel left).

    For "error": `name` and `value` as Python says them. `answer`: what the expression gave.
    """

    end: str
    name: str = ""
    value: str = ""
    answer: dict | None = field(default=None)


class ThisPython(KernelSpecManager):
    """The kernel is this Python, whatever kernels the machine has under that name."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return KernelSpec(
            resource_dir=str(ipykernel.kernelspec.RESOURCES),
            **ipykernel.kernelspec.get_kernel_dict(),
        )


class StudentKernel:
    """One kernel in `folder`; `with StudentKernel(folder) as kernel:` ends it whatever happens."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __enter__(self):
        self._scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._manager = self._client = None
        try:
            self._start(Path(self._scratch.name))
        except BaseException as problem:
            self.__exit__()
            if isinstance(problem, OSError | RuntimeError):
                raise KernelError(str(problem)) from problem
            raise
        return self

    def _start(self, scratch: Path) -> None:
        kept = {name: value for name, value in os.environ.items() if name not in FOREIGN}
        self._manager = KernelManager(
            kernel_name="python3",
            kernel_spec_manager=ThisPython(),
            connection_file=str(scratch / "kernel.json"),
        )
        self._manager.start_kernel(
            cwd=str(self.folder),
            env={**kept, **SETTINGS, "IPYTHONDIR": str(scratch), "PYTHONPATH": str(COURSE)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._client = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=START)
        ready = self.run(PREPARE.format(course=ascii(str(COURSE))), START)
        if ready.end != "ok":
            raise RuntimeError(f"{ready.name}: {ready.value}")

    def __exit__(self, *_):
        if self._client:
            self._client.stop_channels()
        if self._manager and self._manager.has_kernel:
            self._manager.shutdown_kernel(now=True)
        if self._manager:
            self._manager.cleanup_resources()
        self._scratch.cleanup()

    def run(self, code: str, seconds: float, expression: str = "") -> Outcome:
        """Run `code`, then give what `expression`, a dictionary, comes to.

        After `seconds` the kernel is interrupted; one that does not come back is ended ("dead"
        with the name "late"), and so is one whose process is gone.
        """
        sent = self._client.execute(
            code,
            silent=bool(expression),
            user_expressions={"answer": expression} if expression else {},
            allow_stdin=False,
            stop_on_error=False,
        )
        reply = self._reply(sent, seconds)
        if reply is None and self._manager.is_alive():
            self._manager.interrupt_kernel()
            late = self._reply(sent, GRACE)
            if late is None:
                self._end()
            return Outcome("dead" if late is None else "late", "late")
        if reply is None:
            self._end()
            return Outcome("dead")
        if reply["status"] != "ok":
            name, value = reply.get("ename", ""), reply.get("evalue", "")
            return Outcome("error", name, _one_line(value))
        answer = reply.get("user_expressions", {}).get("answer", {})
        shown = answer.get("data", {}).get("text/plain")
        return Outcome("ok", answer=literal_eval(shown) if shown else None)

    def _reply(self, sent: str, seconds: float) -> dict | None:
        """The answer to a request; None when none came, or the kernel's process ended."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._forget_output()
            try:
                message = self._client.get_shell_msg(timeout=min(left, 0.25))
            except queue.Empty:
                if not self._manager.is_alive():
                    return None
                continue
            if message["parent_header"].get("msg_id") == sent:
                return message["content"]
        return None

    def _forget_output(self) -> None:
        """What the cells print is not kept; a flood of it must not pile up here."""
        for _ in range(2_000):
            try:
                self._client.get_iopub_msg(timeout=0)
            except queue.Empty:
                return

    def _end(self) -> None:
        self._manager.shutdown_kernel(now=True)


def _one_line(text: str) -> str:
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).strip().splitlines()
    return lines[0][:160] if lines else ""
