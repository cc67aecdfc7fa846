"""AttentionBudget: one row of attention is a budget of 1, and two wishes compete for it."""

import math

import ipywidgets
import torch
import traitlets

from .. import toy
from ..attention import attention_weights
from ..texts import t
from ..views.bar_view import BarView
from .base import CannotDrawError, Explorer
from .controls import reach, row
from .multi_head import RUNNING_EXAMPLE

LOW, HIGH = -4.0, 8.0  # of the sliders; code may go further


class AttentionBudget(Explorer):
    """The row of `bank`: the reader sets the scores of `river` and `issued`, all others are 0.

    State: `river`, `issued` (scores before softmax). What it shows: `weights` (T,), `tokens`.
    """

    STATE = ("river", "issued")

    river = traitlets.Float(2.0)
    issued = traitlets.Float(2.0)

    weights: torch.Tensor | None = None

    def _build(self):
        self.tokens = toy.words(RUNNING_EXAMPLE)
        sliders = []
        for word in self.STATE:
            slider = ipywidgets.FloatSlider(
                description=t("explorer.budget.score", word=word), min=LOW, max=HIGH, step=0.1,
                readout_format=".1f", style={"description_width": "initial"},
            )  # fmt: skip
            sliders.append(self._bind(slider, word))
        self._sliders = dict(zip(self.STATE, sliders, strict=True))
        self.bars = BarView()
        return [row(*sliders), self._note, self.bars]

    def _draw(self) -> None:
        self.weights = None
        for word, slider in self._sliders.items():
            if math.isfinite(getattr(self, word)):
                reach(slider, LOW, HIGH, getattr(self, word))
        for word in self.STATE:
            if not math.isfinite(getattr(self, word)):
                raise CannotDrawError(
                    t("explorer.budget.bad_score", word=word, score=getattr(self, word))
                )
        scores = torch.zeros(len(self.tokens))
        for word in self.STATE:
            scores[self.tokens.index(word)] = getattr(self, word)
        self.weights = attention_weights(scores)
        self.bars.show(
            self.tokens, self.weights.tolist(), title=t("explorer.budget.title", query="bank")
        )
        river, issued = (self.weights[self.tokens.index(word)].item() for word in self.STATE)
        self._tell(
            t("explorer.budget.reading", river=f"{river:.2f}", issued=f"{issued:.2f}",
              others=f"{abs(1 - river - issued):.2f}", left=f"{1 - river:.2f}")
        )  # fmt: skip

    def _blank(self, reason: str) -> None:
        self.weights = None
        self.bars.clear(reason)

    def _still(self):
        from ..figures import bar_figure

        title = t("explorer.budget.title", query="bank")
        return bar_figure(self.tokens, {title: self.weights.tolist()}, title)

    def _summary(self) -> str:
        return f"AttentionBudget: {self.message}"
