"""The whole series, both editions, strict nbval: the part of `course.py test` that runs it."""

import sys
import tempfile
import time
from pathlib import Path

from launcher import testing
from launcher.environment import Environment

from .report import Line


def run() -> list[Line]:
    environment = Environment(Path(sys.prefix))
    environment.python = Path(sys.executable)  # the one that runs this, wherever it is
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        variables = testing.variables(environment, Path(folder))
        start = time.perf_counter()
        passed, counts = testing.lessons(environment, variables, Path(folder))
        took = time.perf_counter() - start
    if not passed:
        raise RuntimeError(f"the lessons do not pass ({counts}), so their time says nothing.")
    return [Line("series", took / 60, "min", at_most=8)]
