"""Run All of one lesson in a fresh kernel: how long each cell takes, and the kernel's memory.

`cells_of_lesson` runs inside that kernel, so this file imports nothing that the lesson's own
kernel would not hold anyway.
"""

import json
import os
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
LESSONS = PROJECT / "notebooks" / "en"


def run_all(lesson: Path) -> list[dict]:
    """For each code cell in order: `id`, `source`, `seconds` it took and `mb` resident after it.

    Raises RuntimeError that names the cell when one raised.
    """
    from .in_kernel import run_in_kernel

    return run_in_kernel(__name__, "cells_of_lesson", str(lesson))


def cells_of_lesson(lesson: str) -> list[dict]:
    """Inside the kernel: run the cells as Run All does, displaying what they display."""
    import psutil  # ipykernel imports it too
    from IPython import get_ipython

    shell, process = get_ipython(), psutil.Process()
    os.environ["ATTENTION_COURSE_PROGRESS"] = "off"  # no answers into the user's own file
    os.chdir(Path(lesson).parent)
    cells = json.loads(Path(lesson).read_text(encoding="utf-8"))["cells"]
    answer = []
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        start = time.perf_counter()
        result = shell.run_cell(source, store_history=True)
        took = time.perf_counter() - start
        problem = result.error_before_exec or result.error_in_exec
        if problem is not None:
            where = f"{Path(lesson).name}, cell {cell['id']}"
            raise RuntimeError(f"{where}: {type(problem).__name__}: {problem}")
        mb = process.memory_info().rss / 1e6
        answer.append({"id": cell["id"], "source": source, "seconds": took, "mb": mb})
    return answer
