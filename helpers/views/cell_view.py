"""Tensors cell by cell: which number stands where, in the tensor and in memory."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import anywidget
import traitlets
from torch import Tensor

from ..palette import axis_css
from ..reshaping.cells import head_inks, row_names, strip_of, table_of
from ..reshaping.routes import Stop
from ..texts import t
from .source import script, style

TX = "explorer_reshape.cells"


@dataclass(frozen=True)
class CellPanel:
    """One tensor to show. `route`: its name in words, "Right route"; `sizes`: {"T": 4, …}.

    `marks`: which cells carry the sign ≠, as booleans of the tensor's shape. `notes` and `rules`
    hold one sentence per step, all of them, so that the tallest sets the height for good.
    """

    route: str
    title: str
    stop: Stop
    sizes: dict[str, int]
    marks: Tensor | None = None
    notes: Sequence[str] = field(default_factory=list)
    rules: Sequence[str] = field(default_factory=list)


class CellView(anywidget.AnyWidget):
    """Tensors side by side; the cell pointed at lights up in all of them and in memory.

    `pointed` is the key of that cell, a number (for scores its place), None for none. `frame`
    holds everything that is drawn, so that a change arrives at once or not at all.
    """

    _esm = script("nodes", "axes", "cell_view")
    _css = axis_css() + style("cell_view")

    frame = traitlets.Dict().tag(sync=True)
    pointed = traitlets.Int(None, allow_none=True).tag(sync=True)

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.frame = {"panels": [], "reason": ""}

    def show(self, panels: Sequence[CellPanel], sentences: Sequence[str], at: int) -> None:
        """Draw the panels; `sentences` has one per step about them all, `at` is this step."""
        shown = [self._panel(panel) for panel in panels]
        keys = {cell["key"] for panel in shown for cell in panel["cells"]}
        scores = shown[0]["strip"] is None
        with self.hold_sync():
            if self.pointed not in keys or scores != self.frame.get("scores"):
                self.pointed = None  # a number and a score share no key
            self.frame = {
                "panels": shown,
                "at": at,
                "scores": scores,
                "sentences": list(sentences),
                "heads": head_inks(panels[0].sizes["H"]),
                "words": self._words(),
                "reason": "",
            }

    def clear(self, reason: str = "") -> None:
        """Take the numbers away and say why. The height stays."""
        self.frame = self.frame | {"reason": reason or t(f"{TX}.cleared")}

    def readout(self) -> list[str]:
        """What is read out of the cell pointed at, one sentence per tensor."""
        if self.pointed is None or self.frame["reason"]:
            return []
        return [
            cell["readout"]
            for panel in self.frame["panels"]
            for cell in panel["cells"]
            if cell["key"] == self.pointed
        ]

    @staticmethod
    def _panel(panel: CellPanel) -> dict:
        stop, tensor = panel.stop, panel.stop.numbers
        table = table_of(stop, panel.sizes, panel.marks)
        strip = strip_of(stop)
        return {
            "route": panel.route,
            "title": panel.title,
            "label": t(f"{TX}.label", title=panel.title, name=stop.name),
            "name": stop.name,
            "operation": stop.operation,
            "nothing": t("explorer_reshape.nothing"),
            "symbols": list(stop.symbols),
            "shape": list(tensor.shape),
            "strides": list(tensor.stride()),
            "contiguous": t(
                f"{TX}.contiguous" if tensor.is_contiguous() else f"{TX}.not_contiguous"
            ),
            "notes": list(panel.notes),
            "rules": list(panel.rules),
            "rows": table.rows,
            "groups": table.groups,
            "columns": table.columns,
            "frames": table.frames,
            "row_axis": table.row_axis,
            "column_axis": table.column_axis,
            "names": table.names,
            "row_names": list(row_names(table)),
            "left_out": table.left_out,
            "cells": [
                {
                    "key": cell.key,
                    "text": cell.text,
                    "at": [cell.row, cell.group, cell.column],
                    "heads": list(cell.heads),
                    "marked": cell.marked,
                    "spoken": cell.spoken,
                    "readout": t(f"{TX}.on_route", route=panel.route, spoken=cell.spoken),
                }
                for cell in table.cells
            ],
            "strip": asdict(strip) if strip else None,
            "count": panel.sizes["T"] * panel.sizes["d_model"],
            "d_model": panel.sizes["d_model"],
            "d_k": panel.sizes["d_k"],
        }

    @staticmethod
    def _words() -> dict[str, str]:
        names = ("hint", "strides", "legend", "memory", "in_memory", "reading", "strip_note")
        return {name: t(f"{TX}.{name}") for name in (*names, "no_strip")}
