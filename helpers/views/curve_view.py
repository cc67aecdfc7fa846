"""Training curves that grow while you watch, with a progress bar above them."""

from collections.abc import Sequence
from dataclasses import dataclass

import anywidget
import traitlets

from ..texts import t
from .source import script, style

TX = "explorer_training.curves"


@dataclass(frozen=True)
class Series:
    """The runs of one model: each a curve [(step, share), …], one for each seed."""

    name: str
    curves: Sequence[Sequence[tuple[int, float]]]


class CurveView(anywidget.AnyWidget):
    """One line for each run, on a fixed scale from 0 to 1. `frame` holds all that is drawn."""

    _esm = script("nodes", "svg", "curve_view")
    _css = style("curve_view")

    frame = traitlets.Dict().tag(sync=True)

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.frame = {"series": [], "reason": ""}

    def show(self, series: Sequence[Series], steps: int, done: float, status: str) -> None:
        """Curves over `steps` steps; `done` from 0 to 1 fills the bar beside `status`."""
        words = ("title", "progress", "step", "right", "table", "model", "seed")
        self.frame = {
            "series": [
                {
                    "name": one.name,
                    "curves": [[[step, round(y, 4)] for step, y in curve] for curve in one.curves],
                    "numbers": [f"{curve[-1][1]:.2f}" if curve else "–" for curve in one.curves],
                }
                for one in series
            ],
            "steps": steps,
            "done": round(done, 4),
            "status": status,
            "spoken": spoken(series),
            "words": {word: t(f"{TX}.{word}") for word in words},
            "reason": "",
        }

    def clear(self, reason: str) -> None:
        """Take the curves away. The height stays."""
        self.frame = self.frame | {"reason": reason}


def spoken(series: Sequence[Series]) -> str:
    """The picture in words: for each model, the lowest and highest share its runs have reached."""
    parts = []
    for one in series:
        last = [curve[-1][1] for curve in one.curves if curve]
        if last:
            low, high = f"{min(last):.2f}", f"{max(last):.2f}"
            parts.append(t(f"{TX}.range", name=one.name, n=len(last), low=low, high=high))
        else:
            parts.append(t(f"{TX}.waiting", name=one.name))
    return " ".join([t(f"{TX}.label"), *parts])
