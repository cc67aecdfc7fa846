"""All heads of an encoder as a grid of buttons, each with a number and a mark."""

from collections.abc import Sequence
from dataclasses import dataclass

import anywidget
import traitlets

from .source import script, style


@dataclass(frozen=True)
class HeadCell:
    """One head: its `number` as text, a `shade` from 0 to 1 for it, a `role` ("" for none)
    with its `mark`, what a screen reader says, and whether the head is switched on."""

    number: str
    shade: float
    label: str
    role: str = ""
    mark: str = ""
    on: bool = True


class HeadGrid(anywidget.AnyWidget):
    """Rows are layers, columns are heads. `pressed` is [head, presses so far], heads from 0.

    `frame` holds everything that is drawn, so that a change arrives at once or not at all.
    """

    _esm = script("nodes", "head_grid")
    _css = style("head_grid")

    frame = traitlets.Dict().tag(sync=True)
    pressed = traitlets.List([-1, 0]).tag(sync=True)

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.frame = self._frame([], 12, "", "", -1, [], False)

    def show(
        self,
        cells: Sequence[HeadCell],
        columns: int,
        *,
        title: str,
        reading: str = "",
        selected: int = -1,
        legend: Sequence[tuple[str, str, str]] = (),
        toggles: bool = False,
    ) -> None:
        """Draw the cells row by row. `legend`: (mark, role, words); `toggles`: a press
        switches the head instead of choosing it."""
        self.frame = self._frame(
            [vars(cell) for cell in cells], columns, title, reading, selected, legend, toggles
        )

    def clear(self, reason: str) -> None:
        """Take the numbers away and say why. The grid and its height stay."""
        self.frame = self.frame | {"cells": [], "reason": reason, "legend": []}

    @staticmethod
    def _frame(cells, columns, title, reading, selected, legend, toggles) -> dict:
        keys = ("mark", "role", "words")
        return {
            "cells": cells,
            "columns": columns,
            "rows": len(cells) // columns if cells else 6,
            "title": title,
            "reading": reading,
            "selected": selected,
            "legend": [dict(zip(keys, entry, strict=True)) for entry in legend],
            "toggles": toggles,
            "reason": "",
        }
