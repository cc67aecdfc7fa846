"""MaskExplorer: causal, padding, both, on a batch of two sequences of different lengths."""

import ipywidgets
import torch
import traitlets
from torch import Tensor

from .. import toy
from ..texts import t
from ..views.attention_view import AttentionView
from ..views.mask_view import MaskView
from .base import CannotDrawError, Explorer, axis, row, slide_to
from .widths import STYLE

MASKS = ("none", "causal", "padding", "both")
SIDES = ("right", "left")
WORDS = (
    ("The", "bank", "issued", "a", "statement", "."),
    ("Rivers", "flow", "down", "to", "the", "sea"),
)
PAD = "[PAD]"
B, H, T, D_MODEL = len(WORDS), 2, len(WORDS[0]), 16


def causal_mask(T: int) -> Tensor:
    """(T_query, T_key), True = may look: at itself and at what comes before."""
    return torch.ones(T, T, dtype=torch.bool).tril()


def real_tokens(lengths: list[int], T: int, side: str = "right") -> Tensor:
    """(B, T), True where a token is real; padding stands on the `side` of each sequence."""
    places = torch.arange(T)
    if side == "left":
        places = places.flip(0)
    return places < torch.tensor(lengths)[:, None]


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
            row(self._mask, self._sequence, self._side, self._empty),
            row(*(axis(slider, "T") for slider in self._lengths)),
            self._note,
            self.grid,
            self.maps,
        ]

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

    def _batch(self) -> list[list[str]]:
        """The tokens of both sequences, padded to T."""
        real = real_tokens([self.length_1, self.length_2], T, self.side)
        return [
            [words.pop(0) if there else PAD for there in places.tolist()]
            for words, places in zip(map(list, WORDS), real, strict=True)
        ]

    def _masks(self) -> tuple[Tensor, Tensor, Tensor]:
        """Causal (T, T), padding (B, 1, 1, T) and row (T, 1), all True where they are not used."""
        real = real_tokens([self.length_1, self.length_2], T, self.side)
        causal = causal_mask(T) if self.mask in ("causal", "both") else torch.ones(T, T).bool()
        padding = real if self.mask in ("padding", "both") else torch.ones_like(real)
        row = (torch.arange(T) != self.empty - 1)[:, None]
        return causal, padding[:, None, None, :], row

    def _mask_tensor(self) -> Tensor | None:
        """The mask in the shape that it has by itself, None where nothing is masked."""
        causal, padding, row = self._masks()
        parts = []
        if self.mask in ("causal", "both"):
            parts.append(causal)
        if self.mask in ("padding", "both"):
            parts.append(padding)
        if self.empty:
            parts.append(row.expand(T, T))
        mask = None
        for part in parts:
            mask = part if mask is None else mask & part
        return mask

    def _draw(self) -> None:
        self._forget()
        self._check()
        batch = self._batch()
        self.tokens = batch[self.sequence - 1]
        self._show_controls(batch)
        X = torch.cat([toy.embed(tokens, D_MODEL, seed=0) for tokens in batch])
        self.mask_tensor = self._mask_tensor()
        everything = torch.ones(B, 1, T, T, dtype=torch.bool)
        mask = everything if self.mask_tensor is None else everything & self.mask_tensor
        self.allowed = mask[:, 0]
        with torch.inference_mode():
            trace = toy.layer(D_MODEL, H, seed=0).trace(X, self.mask_tensor)
        self.weights, self._scores = trace.weights, trace.scores
        self.maps.show(self.weights[self.sequence - 1], self.tokens)
        self._show_grid()
        self._tell(self._reading())

    def _show_controls(self, batch: list[list[str]]) -> None:
        self._mask.value, self._side.value = self.mask, self.side
        for slider, length in zip(self._lengths, (self.length_1, self.length_2), strict=True):
            slider.value = length
        sequences = [(f"{n} · {' '.join(tokens)}", n) for n, tokens in enumerate(batch, start=1)]
        slide_to(self._sequence, sequences, self.sequence)
        rows = [(f"{n} · {token}", n) for n, token in enumerate(self.tokens, start=1)]
        slide_to(self._empty, [(t("explorer_masks.no_row"), 0), *rows], self.empty)

    def _show_grid(self) -> None:
        tx, b, head = "explorer_masks", self.sequence - 1, self.maps.selected
        allowed, titles = self.allowed[b], self._titles()
        scores, weights = self._scores[b, head], self.weights[b, head]
        self.ways = {
            t(f"{tx}.ways.course"): weights,
            t(f"{tx}.ways.infinity"): scores.masked_fill(~allowed, float("-inf")).softmax(-1),
            t(f"{tx}.ways.big"): scores.masked_fill(~allowed, -1e9).softmax(-1),
        }
        captions = [t(f"{tx}.caption", query=title, head=head + 1) for title in titles]
        remarks = [
            t(f"{tx}.remarks.{'some' if any_key else 'none'}", flat=f"{1 / T:.2f}", T=T)
            for any_key in allowed.any(-1).tolist()
        ]
        self.grid.show(
            allowed.tolist(),
            self.tokens,
            title=t(f"{tx}.title", sequence=self.sequence),
            sentences=self._sentences(titles, weights, head),
            sums=weights.sum(-1).tolist(),
            scores_shape=self.weights.shape,
            mask_shape=None if self.mask_tensor is None else self.mask_tensor.shape,
            ways=[{name: way[q].tolist() for name, way in self.ways.items()} for q in range(T)],
            captions=captions,
            remarks=remarks,
        )

    # Words ------------------------------------------------------------------------------

    def _titles(self) -> list[str]:
        """Tokens as they are spoken of: those that occur again carry their place, from 1."""
        return [
            f"{token} ({place})" if self.tokens.count(token) > 1 else token
            for place, token in enumerate(self.tokens, start=1)
        ]

    def _sentences(self, titles: list[str], weights: Tensor, head: int) -> list[list[str]]:
        causal, padding, row = self._masks()
        b = self.sequence - 1

        def sentence(q: int, k: int) -> str:
            if not row[q]:
                why = "emptied"
            else:
                later, padded = not causal[q, k], not padding[b, 0, 0, k]
                why = {(0, 0): "seen", (1, 0): "later", (0, 1): "padding", (1, 1): "both"}[
                    (int(later), int(padded))
                ]
            return t(
                f"explorer_masks.cells.{why}", query=titles[q], key=titles[k],
                weight=f"{weights[q, k]:.2f}", head=head + 1,
            )  # fmt: skip

        return [[sentence(q, k) for k in range(T)] for q in range(T)]

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
            titles = self._titles()
            said.append(t(f"{tx}.nothing", rows=", ".join(titles[q] for q in nothing)))
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
