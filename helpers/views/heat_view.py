"""Tables of signed numbers as heat maps beside one another: tokens in rows, features in columns.

The numbers travel as one binary buffer in one trait, so the picture changes all at once;
heat_view.js paints it. One scale, the same on both sides of zero, serves all the maps.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import anywidget
import numpy as np
import traitlets
from torch import Tensor

from ..palette import axis_css
from ..signed_colours import signed_colours
from ..texts import t, texts_under
from .source import script, style

TX = "explorer_gates.heat"


@dataclass(frozen=True)
class Block:
    """Neighbouring columns that belong together: their name, its short form, their colours."""

    name: str
    short: str
    colours: tuple[str, ...]
    size: int


@dataclass(frozen=True)
class Heat:
    """One map: its name, a few words about it, the numbers (T, columns), and their blocks."""

    title: str
    note: str
    numbers: Tensor
    blocks: tuple[Block, ...]

    def array(self) -> np.ndarray:
        return self.numbers.detach().cpu().float().numpy().astype("<f4")

    def block_at(self, column: int) -> Block:
        for block in self.blocks:
            if column < block.size:
                return block
            column -= block.size
        raise IndexError(column)


def signed(number: float) -> str:
    """Two decimals and a real minus sign; never "−0.00"."""
    text = f"{number:.2f}".replace("-", "−")
    return "0.00" if text == "−0.00" else text


def describe(heat: Heat, rows: Sequence[str]) -> str:
    """The map in words: its size and the number furthest from zero, with its place."""
    array = heat.array()
    row, column = divmod(int(np.abs(array).argmax()), array.shape[1])
    words = {"title": heat.title, "tokens": array.shape[0], "columns": array.shape[1]}
    if not array.any():
        return t(f"{TX}.alt_zero", **words)
    number = signed(float(array[row, column]))
    block = heat.block_at(column).name
    return t(f"{TX}.alt", row=rows[row], column=column, block=block, number=number, **words)


class HeatView(anywidget.AnyWidget):
    """Heat maps of signed numbers on one scale from −most to most, or their tables.

    `frame` holds the whole picture; `pointed` is the cell [map, row, column] that is read out,
    [] for none; `mode` is "map" or "table".
    """

    _esm = script("nodes", "maps", "heat_view")
    _css = axis_css() + style("unseen", "maps", "heat_view")

    frame = traitlets.Dict().tag(sync=True)
    labels = traitlets.Dict().tag(sync=True)
    colours = traitlets.Bytes().tag(sync=True)
    mode = traitlets.Enum(["map", "table"], default_value="map").tag(sync=True)
    pointed = traitlets.List().tag(sync=True)

    def __init__(self, **kwargs):
        colours = b"".join(bytes([*colour, 255]) for colour in signed_colours())
        super().__init__(colours=colours, **kwargs)
        self.clear("")

    @traitlets.validate("pointed")
    def _existing_cell(self, proposal) -> list[int]:
        # Not an error: the page may point at a cell of the picture that was just replaced.
        cell = [int(i) for i in proposal.value]
        shape = self.frame.get("shape", [0, 0, 0])
        inside = len(cell) == 3 and all(0 <= i < n for i, n in zip(cell, shape, strict=True))
        return cell if inside else []

    def show(self, heats: Sequence[Heat], rows: Sequence[str], most: float) -> None:
        """Draw the maps, which have the same shape, one row per name in `rows`.

        `most` is the number at the ends of the scale; what lies beyond gets the colour of the end.
        """
        arrays = np.stack([heat.array() for heat in heats])
        end = signed(most)
        with self.hold_sync():
            self._speak()
            self.frame = {
                "numbers": arrays.tobytes(),
                "shape": list(arrays.shape),
                "rows": list(rows),
                "titles": [heat.title for heat in heats],
                "notes": [heat.note for heat in heats],
                "alts": [describe(heat, rows) for heat in heats],
                "blocks": [[vars(block) for block in heat.blocks] for heat in heats],
                "most": float(most),
                "ends": [f"−{end}", "0", end],
                "reason": "",
            }
            self.pointed = self.pointed  # validated again, now by the new picture

    def clear(self, reason: str) -> None:
        """Take the maps away and show the reason in their place, at the same height."""
        with self.hold_sync():
            self._speak()
            self.frame = {"reason": reason or t(f"{TX}.page.nothing")}
            self.pointed = []

    def readout(self) -> str:
        """What the page says for `pointed`; "" while there is no picture."""
        if self.frame["reason"]:
            return ""
        if not self.pointed:
            return self.labels["hint"]
        which, row, column = self.pointed
        words = {"row": self.frame["rows"][row], "column": column}
        for block in self.frame["blocks"][which]:
            if column < block["size"]:
                break
            column -= block["size"]
        shape = self.frame["shape"]
        numbers = np.frombuffer(self.frame["numbers"], dtype="<f4").reshape(shape)
        number = signed(float(numbers[which, row, words["column"]]))
        title = self.frame["titles"][which]
        return self.labels["readout"].format(
            title=title, block=block["name"], number=number, **words
        )

    def _speak(self) -> None:
        self.labels = texts_under(f"{TX}.page")  # in the language of this moment
