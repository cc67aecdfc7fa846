"""Resident memory of the kernel of lesson 08, the one that does most with the real encoder.

Run All in a fresh kernel: the encoder, 110 sentences through it, four explorers, the quiz. The
number is the largest after any cell, in MB of a million bytes.
"""

from .lesson import LESSONS, run_all
from .report import Line

LESSON = LESSONS / "08_real-heads.ipynb"


def run() -> list[Line]:
    largest = max(cell["mb"] for cell in run_all(LESSON))
    return [Line("memory", largest, "MB", at_most=450)]
