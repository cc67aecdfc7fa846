"""Run one function of ours inside a real kernel and bring its answer back.

In a plain Python process widgets talk to nobody. In a kernel every change is serialised and
handed to the socket, and that is part of what a reader waits for.
"""

import ast
import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from jupyter_client.manager import start_new_kernel

PROJECT = Path(__file__).resolve().parents[1]
SECONDS = 600


def run_in_kernel(module: str, function: str, *arguments):
    """`module.function(*arguments)` in a fresh kernel; it takes and returns what JSON can hold.

    Raises RuntimeError with the kernel's own words when it raised there.
    """
    paths = [str(PROJECT), os.environ.get("PYTHONPATH")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    manager, client = start_new_kernel(
        kernel_name="python3",
        env=environment,
        cwd=str(PROJECT),
        stderr=subprocess.DEVNULL,  # notes about the connection; errors come with the reply
    )
    try:
        values = ", ".join(repr(argument) for argument in arguments)
        code = f"import json, {module}\nanswer = json.dumps({module}.{function}({values}))"
        reply = client.execute_interactive(
            code,
            timeout=SECONDS,
            user_expressions={"answer": "answer"},
            output_hook=lambda message: None,  # the widgets' own output: nobody looks at it
        )["content"]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    if reply["status"] != "ok":
        raise RuntimeError(f"{module}.{function}: {reply['ename']}: {reply['evalue']}")
    return json.loads(ast.literal_eval(reply["user_expressions"]["answer"]["data"]["text/plain"]))


def wait_until_sent():
    """Inside a kernel: return once everything published so far has gone out."""
    from IPython import get_ipython

    sent = Event()
    get_ipython().kernel.iopub_thread.schedule(sent.set)  # after all that is queued before it
    if not sent.wait(timeout=60):
        raise TimeoutError("the kernel did not send its messages within 60 s")


@dataclass(frozen=True)
class Way:
    """One way to show a value: `change(value)` is timed, then `check(value)` must be true."""

    change: Callable
    check: Callable
    per_round: int = 1


def medians_ms(
    ways: dict[str, Way], values: list, rounds: int, *, sends: bool = True
) -> dict[str, float]:
    """Median milliseconds of each way's change to `values[-1]` from the value before it.

    A change that `sends` (a widget in a kernel) has ended when all it sent has gone out.

    The ways take turns, so that whatever else the machine does meets all of them; each goes
    round `values` `per_round` times in a round. A round before the first is not counted.
    """
    times = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            for _ in range(way.per_round):
                for value in values:
                    took = _seconds(way, value, sends)
                if turn:
                    times[name].append(took)  # the last value's
    return {name: 1000 * statistics.median(each) for name, each in times.items()}


def _seconds(way: Way, value, sends: bool) -> float:
    start = time.perf_counter()
    way.change(value)
    if sends:
        wait_until_sent()
    took = time.perf_counter() - start
    if not way.check(value):
        raise AssertionError(f"after the change to {value} something else is shown")
    return took
