"""A mask, live: its cells as 1 and 0, its axes beside those of the scores, one row three ways."""

import math
from collections.abc import Sequence

import anywidget
import torch
import traitlets
from torch import Tensor

from ..palette import axis_css
from ..texts import t, texts_under
from ..wording import titles_of
from .source import script, style

AXES = ("B", "H", "T", "T")  # of the scores (B, H, T_query, T_key)


def repeats(scores: Sequence[int], mask: Sequence[int] | None) -> list[int | None]:
    """How often PyTorch repeats the mask along each axis of the scores; None where it has it.

    Axes are lined up from the end: (2, 3, 5, 5) and (2, 1, 1, 5) -> [None, 3, 5, None].
    """
    shape = [] if mask is None else list(mask)
    padded = [0] * (len(scores) - len(shape)) + shape  # 0: the mask has no such axis
    return [None if own == size else size for own, size in zip(padded, scores, strict=True)]


class MaskView(anywidget.AnyWidget):
    """The mask of one sequence as a grid of 1 and 0, with a legend in words.

    `frame` holds everything that is drawn; `pointed` is the cell [query, key] that is read
    out, [] for none. Its row is also the one shown three ways.
    """

    _esm = script("nodes", "mask_view")
    _css = axis_css() + style("mask_view")

    frame = traitlets.Dict().tag(sync=True)
    pointed = traitlets.List().tag(sync=True)

    @traitlets.default("frame")
    def _no_frame(self):
        return {"allowed": [], "reason": ""}

    @traitlets.validate("pointed")
    def _existing_cell(self, proposal) -> list[int]:
        # Not an error: the page may point at a cell of the picture that was just replaced.
        cell = [int(i) for i in proposal.value]
        T = len(self.frame["allowed"])
        return cell if len(cell) == 2 and all(0 <= i < T for i in cell) else []

    def show(
        self,
        tokens: Sequence[str],
        *,
        title: str,
        hidden: dict[str, Tensor],
        ways: dict[str, Tensor],
        head: int,
        scores_shape: Sequence[int],
        mask_shape: Sequence[int] | None,
    ) -> None:
        """Show the mask of one sequence of T tokens.

        `hidden`: reason -> (T, T), True where a cell is hidden for it ("later", "padding",
        "emptied"); `ways`: name -> weights (T, T) of head `head` (from 0), the course's own
        first. `mask_shape` is None where there is no mask. Raises ValueError when a T differs.
        """
        T = len(tokens)
        for name, cells in {**hidden, **ways}.items():
            if tuple(cells.shape) != (T, T):
                raise ValueError(
                    t("explorer_masks.error", name=name, shape=tuple(cells.shape), T=T)
                )
        allowed = torch.ones(T, T, dtype=torch.bool)
        for cells in hidden.values():
            allowed &= ~cells
        weights = next(iter(ways.values()))
        titles = titles_of(tokens)
        self.frame = {
            "words": texts_under("explorer_masks.view"),
            "title": title,
            "tokens": [str(token) for token in tokens],
            "allowed": allowed.int().tolist(),
            "empty": (~allowed.any(-1)).nonzero().flatten().tolist(),
            "sentences": _sentences(titles, hidden, weights, head),
            "sums": [f"{total:.2f}" for total in weights.sum(-1).tolist()],
            "axes": self._axes(scores_shape, mask_shape),
            "ways": [
                [[name, [_two(w) for w in way[q].tolist()]] for name, way in ways.items()]
                for q in range(T)
            ],
            "captions": [t("explorer_masks.caption", query=q, head=head + 1) for q in titles],
            "remarks": [
                t(f"explorer_masks.remarks.{'some' if some else 'none'}", flat=_two(1 / T), T=T)
                for some in allowed.any(-1).tolist()
            ],
            "reason": "",
        }
        self.pointed = self.pointed  # validated again, now by the new picture

    @staticmethod
    def _axes(scores: Sequence[int], mask: Sequence[int] | None) -> list[list[str]]:
        """Per axis of the scores: its symbol, its size, the mask's size there, the repetition."""
        own = [""] * (len(scores) - len(mask or ())) + [str(size) for size in mask or ()]
        times = ["" if n is None else f"×{n}" for n in repeats(scores, mask)]
        return [
            [axis, str(size), there, often if mask else ""]
            for axis, size, there, often in zip(AXES, scores, own, times, strict=True)
        ]

    def clear(self, reason: str) -> None:
        """Take the picture away and show the reason in its place, at the same height."""
        self.frame = {"allowed": [], "reason": reason}
        self.pointed = []

    def row(self) -> int | None:
        """The query whose row is shown three ways: the one pointed at, or one with no keys."""
        if not self.frame["allowed"]:
            return None
        return self.pointed[0] if self.pointed else next(iter(self.frame["empty"]), 0)

    def readout(self) -> str:
        """The sentence of the cell pointed at, "" for none."""
        if not self.pointed:
            return ""
        query, key = self.pointed
        return self.frame["sentences"][query][key]


def _sentences(titles, hidden: dict[str, Tensor], weights: Tensor, head: int) -> list[list[str]]:
    """What is read out at each cell: why it is 1 or 0, and the weight where it is 1."""

    def sentence(q: int, k: int) -> str:
        reasons = [why for why in hidden if hidden[why][q, k]]
        why = "emptied" if "emptied" in reasons else "_and_".join(reasons) or "seen"
        return t(
            f"explorer_masks.cells.{why}", who=titles[q], whom=titles[k],
            weight=_two(float(weights[q, k])), head=head + 1,
        )  # fmt: skip

    return [[sentence(q, k) for k in range(len(titles))] for q in range(len(titles))]


def _two(weight: float) -> str:
    return "NaN" if math.isnan(weight) else f"{weight:.2f}"
