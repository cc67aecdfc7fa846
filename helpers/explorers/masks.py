"""MaskExplorer: causal, padding, both, on a batch of two sequences of different lengths."""

from functools import reduce
from operator import and_

import ipywidgets
import torch
import traitlets
from torch import Tensor

from .. import toy
from ..masks import causal_mask, padding_mask, row_mask
from ..texts import t
from ..views.attention_view import AttentionView
from ..views.mask_view import MaskView
from .base import CannotDrawError, Explorer, alone
from .controls import axis, row
from .widths import STYLE

MASKS = ("none", "causal", "padding", "both")
SIDES = ("right", "left")
WORDS = (
    ("The", "bank", "issued", "a", "statement", "."),
    ("Rivers", "flow", "down", "to", "the", "sea"),
)
PAD = "[PAD]"
B, H, T, D_MODEL = 2, 3, 6, 12  # all different, so that a size names its axis


class MaskExplorer(Explorer):
    """A batch of two sequences, one of them padded, under a mask of the reader's choice.

    State: `mask` "none", "causal", "padding" or "both"; `sequence` shown, 1 or 2; `length_1`,
    `length_2`, real tokens of each; `side` of the padding, "right" or "left"; `empty`, the
    token (from 1) whose row is emptied, 0 for none.
    What it shows: `mask_tensor`, None or True = may look, in the shape it has by itself:
    (T, T), (B, 1, 1, T) or (B, 1, T, T); `allowed` (B, T, T); `weights` (B, H, T, T);
    `tokens` of the sequence shown; `ways`, the rows of weights of the head that is enlarged,
    made in three ways.
    """

    STATE = ("mask", "sequence", "length_1", "length_2", "side", "empty")

    mask = traitlets.Unicode("both")
    sequence = traitlets.Int(2)
    length_1 = traitlets.Int(T)
    length_2 = traitlets.Int(3)
    side = traitlets.Unicode("right")
    empty = traitlets.Int(0)

    mask_tensor: Tensor | None = None
    allowed: Tensor | None = None
    weights: Tensor | None = None
    tokens: list[str] = []
    ways: dict[str, Tensor] = {}

    def _build(self):
        tx = "explorer_masks"
        self._mask = ipywidgets.Dropdown(
            description=t(f"{tx}.mask"),
            options=[(t(f"{tx}.masks.{name}"), name) for name in MASKS],
            style=STYLE,
        )
        self._sequence = ipywidgets.Dropdown(
            description=t(f"{tx}.sequence"), options=[1, 2], style=STYLE
        )
        self._side = ipywidgets.Dropdown(
            description=t(f"{tx}.side"),
            options=[(t(f"{tx}.sides.{side}"), side) for side in SIDES],
            style=STYLE,
        )
        self._empty = ipywidgets.Dropdown(description=t(f"{tx}.empty"), options=[0], style=STYLE)
        self._lengths = [
            ipywidgets.IntSlider(
                description=t(f"{tx}.length", sequence=n), min=1, max=T, style=STYLE
            )
            for n in (1, 2)
        ]
        for control, name in zip(
            (self._mask, self._sequence, *self._lengths, self._side, self._empty),
            self.STATE,
            strict=True,
        ):
            self._bind(control, name)
        self.grid, self.maps = MaskView(), AttentionView(row_sums=True)
        self.maps.observe(self._head_chosen, names="selected")
        return [
            row(self._mask, self._sequence, self._side),
            row(*(axis(slider, "T") for slider in self._lengths), self._empty),
            self._note,
            self.grid,
            self.maps,
        ]

    def _adjust(self, change) -> None:
        if change.name == "empty" and 1 <= self.empty <= T:  # this is the row to look at
            self.grid.pointed = [self.empty - 1, self.empty - 1]

    @alone
    def _head_chosen(self, change) -> None:
        """Another head was enlarged in the view below: its rows are the ones made three ways."""
        if not self._holding and self.weights is not None:
            self._show_grid()

    # The masks and what they do ----------------------------------------------------------

    def _check(self) -> None:
        tx = "explorer_masks"
        for name, choices in (("mask", MASKS), ("side", SIDES)):
            if getattr(self, name) not in choices:
                choice = getattr(self, name)
                raise CannotDrawError(
                    t(f"{tx}.bad_choice", name=name, choice=choice, choices=", ".join(choices))
                )
        bounds = {"sequence": (1, B), "length_1": (1, T), "length_2": (1, T), "empty": (0, T)}
        for name, (low, high) in bounds.items():
            if not low <= getattr(self, name) <= high:
                value = getattr(self, name)
                raise CannotDrawError(
                    t(f"{tx}.bad_number", name=name, value=value, low=low, high=high)
                )

    def _lengths_now(self) -> list[int]:
        return [self.length_1, self.length_2]

    def _batch(self) -> list[list[str]]:
        """The tokens of both sequences, padded to T."""
        real = padding_mask(self._lengths_now(), T, self.side)[:, 0, 0].tolist()
        return [
            [next(words) if there else PAD for there in places]
            for words, places in zip(map(iter, WORDS), real, strict=True)
        ]

    def _parts(self) -> dict[str, Tensor]:
        """The masks in use, each in the shape it has by itself."""
        parts = {}
        if self.empty:
            parts["emptied"] = row_mask(self.empty - 1, T)
        if self.mask in ("causal", "both"):
            parts["later"] = causal_mask(T)
        if self.mask in ("padding", "both"):
            parts["padding"] = padding_mask(self._lengths_now(), T, self.side)
        return parts

    def _draw(self) -> None:
        self._forget()
        self._show_choices()
        self._check()
        batch = self._batch()
        self.tokens = batch[self.sequence - 1]
        self._show_controls(batch)
        X = torch.cat([toy.embed(tokens, D_MODEL, seed=0) for tokens in batch])
        parts = self._parts()
        self.mask_tensor = reduce(and_, parts.values()) if parts else None
        everywhere = torch.ones(B, 1, T, T, dtype=torch.bool)
        self.allowed = reduce(and_, parts.values(), everywhere)[:, 0]
        with torch.inference_mode():
            trace = toy.layer(D_MODEL, H, seed=0).trace(X, self.mask_tensor)
        self.weights, self._scores = trace.weights, trace.scores
        self.maps.show(self.weights[self.sequence - 1], self.tokens)
        self._show_grid()
        self._tell(self._reading())

    def _show_choices(self) -> None:
        """The controls whose choices are always the same, as far as they have this one."""
        choices = ((self._mask, self.mask, MASKS), (self._side, self.side, SIDES))
        for dropdown, choice, known in choices:
            if choice in known:
                dropdown.value = choice
        for slider, length in zip(self._lengths, self._lengths_now(), strict=True):
            slider.value = length

    def _show_controls(self, batch: list[list[str]]) -> None:
        sequences = [(f"{n} · {' '.join(tokens)}", n) for n, tokens in enumerate(batch, start=1)]
        offer(self._sequence, sequences, self.sequence)
        rows = [(f"{n} · {token}", n) for n, token in enumerate(self.tokens, start=1)]
        offer(self._empty, [(t("explorer_masks.no_row"), 0), *rows], self.empty)

    def _show_grid(self) -> None:
        tx, b, head = "explorer_masks", self.sequence - 1, self.maps.selected
        scores, hidden = self._scores[b, head], ~self.allowed[b]
        self.ways = {
            t(f"{tx}.ways.course"): self.weights[b, head],
            t(f"{tx}.ways.infinity"): scores.masked_fill(hidden, float("-inf")).softmax(-1),
            t(f"{tx}.ways.big"): scores.masked_fill(hidden, -1e9).softmax(-1),
        }
        self.grid.show(
            self.tokens,
            title=t(f"{tx}.title", sequence=self.sequence),
            hidden={why: (~part).expand(B, 1, T, T)[b, 0] for why, part in self._parts().items()},
            ways=self.ways,
            head=head,
            scores_shape=self._scores.shape,
            mask_shape=None if self.mask_tensor is None else self.mask_tensor.shape,
        )

    def _reading(self) -> str:
        """What the mask does to the sequence shown, and which rows have nothing to look at."""
        tx, b = "explorer_masks.reading", self.sequence - 1
        padded = self.tokens.count(PAD)
        said = [
            t(f"{tx}.{self.mask}"),
            t(f"{tx}.cells", n=int(self.allowed[b].sum()), total=T * T, sequence=self.sequence),
        ]
        if padded:
            real = torch.tensor([token != PAD for token in self.tokens])
            weights = self.weights[b][:, real]
            rows = weights[weights.sum(-1) > 0]
            if len(rows) and (share := rows[:, ~real].sum(-1).mean().item()) > 0:
                said.append(t(f"{tx}.leak", share=f"{100 * share:.0f}"))
        nothing = (~self.allowed[b].any(-1)).nonzero().flatten().tolist()
        if nothing:
            rows = ", ".join(f"{self.tokens[q]} ({q + 1})" for q in nothing)
            said.append(t(f"{tx}.nothing", rows=rows))
        return " ".join(said)

    # When nothing can be drawn, and for the page without a kernel -------------------------

    def _forget(self) -> None:
        self.mask_tensor = self.allowed = self.weights = None
        self.tokens, self.ways = [], {}

    def _blank(self, reason: str) -> None:
        self._forget()
        self.grid.clear(reason)
        self.maps.clear(reason)

    def _still(self):
        from ..stills.masks import mask_figure

        return mask_figure(
            self.grid.frame,
            self.grid.row(),
            self.weights[self.sequence - 1],
            self.tokens,
            selected=self.maps.selected,
        )

    def _summary(self) -> str:
        if self.weights is None:
            return f"MaskExplorer: {self.message}"
        shape = "–" if self.mask_tensor is None else tuple(self.mask_tensor.shape)
        return t(
            "explorer_masks.summary",
            shape=shape,
            scores=tuple(self.weights.shape),
            reading=self.message,
        )


def offer(dropdown: ipywidgets.Dropdown, options: list[tuple], value) -> None:
    """New labels and a value in one message: by itself, a dropdown falls to its first option."""
    with dropdown.hold_sync():
        if list(dropdown.options) != options:
            dropdown.options = options
        dropdown.value = value
