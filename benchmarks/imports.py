"""What the course's helpers add to the start of a lesson, once torch is imported.

Counted is the first cell, the same in every lesson: `from helpers.lesson import start_lesson`
and its call, which looks for every package and sets the language. Beside it, the first cell and
all explorers, with ipywidgets and anywidget. Each time in a fresh Python.
"""

import json
import statistics
import subprocess
import sys

from .in_kernel import PROJECT
from .report import Line

LESSON = PROJECT / "notebooks" / "en" / "01_one-head.ipynb"
ROUNDS = 9
_PROGRAM = """
import time
import torch
start = time.perf_counter()
{code}
print()
print(time.perf_counter() - start)
"""


def first_cell(lesson=LESSON) -> str:
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    return "".join(next(cell["source"] for cell in cells if cell["cell_type"] == "code"))


def seconds(code: str, rounds: int = ROUNDS) -> float:
    """Median seconds that `code` takes after `import torch`; a run before the first is not
    counted."""
    command = [sys.executable, "-c", _PROGRAM.format(code=code)]
    times = []
    for turn in range(rounds + 1):
        done = subprocess.run(
            command, cwd=LESSON.parent, capture_output=True, encoding="utf-8", check=False
        )
        if done.returncode:
            raise RuntimeError(f"the imports of a lesson failed:\n{done.stderr}")
        if turn:
            times.append(float(done.stdout.split()[-1]))
    return statistics.median(times)


def run() -> list[Line]:
    cell = first_cell()
    return [
        Line("imports_first_cell", seconds(cell), "s", at_most=0.3),
        Line("imports_explorers", seconds(f"{cell}\nimport helpers.explorers"), "s"),
    ]
