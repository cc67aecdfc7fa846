"""All the training of lesson 07: fifteen runs in the explorer, and those of the cells after it."""

from .lesson import LESSONS, run_all
from .report import Line

LESSON = LESSONS / "07_train-heads.ipynb"
TRAINS = ".finish()"  # how a cell of the lesson trains a model to its end


def seconds(cells: list[dict]) -> float:
    """What the cells that train took together. Raises RuntimeError when none does."""
    training = [cell["seconds"] for cell in cells if TRAINS in cell["source"]]
    if not training:
        raise RuntimeError(f"{LESSON.name}: no cell calls {TRAINS}, so nothing was measured.")
    return sum(training)


def run() -> list[Line]:
    return [Line("training", seconds(run_all(LESSON)), "s", at_most=30)]
