"""MultiHeadExplorer: move H and d_model, watch every shape and every attention map follow."""

import math

import ipywidgets
import torch
import traitlets

from .. import toy
from ..attention import AttentionTrace
from ..shapes import count_flops, count_parameters, shape_trace
from ..texts import t
from ..views.attention_view import AttentionView
from ..views.shape_trace_view import ShapeTraceView
from .base import CannotDrawError
from .controls import facts_html, reach, row
from .widths import STYLE, HeadWidthExplorer

MASKS = ("none", "causal")
COLDEST, HOTTEST = 0.1, 4.0  # of the slider; code may go further
MOST_SEED = 2**31 - 1
RUNNING_EXAMPLE = "The bank by the river issued a statement."


class MultiHeadExplorer(HeadWidthExplorer):
    """One multi-head attention with random weights on a sentence of the reader's.

    State: `sentence`; `T` tokens used (follows the sentence); `d_model`; `H`; `seed`;
    `mask` "none" or "causal"; `temperature` (the scores are divided by it).
    What it shows: `trace` (AttentionTrace) and `weights` (H, T, T), None where nothing can
    be drawn; `tokens`; `message`.
    """

    STATE = ("sentence", "T", "d_model", "H", "seed", "mask", "temperature")

    sentence = traitlets.Unicode(RUNNING_EXAMPLE)
    seed = traitlets.Int(0)
    mask = traitlets.Unicode("none")
    temperature = traitlets.Float(1.0)

    trace: AttentionTrace | None = None
    weights: torch.Tensor | None = None
    tokens: list[str] = []

    def __init__(self, **state):
        self._own_T = "T" in state
        super().__init__(**state)

    # Controls and views -----------------------------------------------------------------

    def _build(self):
        if not self._own_T:
            self.T = self._words_in_sentence()
        tx = "explorer.multi_head"
        self._sentence = ipywidgets.Text(description=t(f"{tx}.sentence"), style=STYLE)
        self._sentence.add_class("mha-grow")
        self._mask = ipywidgets.Dropdown(
            description=t(f"{tx}.mask"),
            options=[(t(f"{tx}.masks.{name}"), name) for name in MASKS],
            style=STYLE,
        )
        self._seed = ipywidgets.BoundedIntText(
            description=t(f"{tx}.seed"),
            min=0,
            max=MOST_SEED,
            style=STYLE,
            layout={"width": "200px"},
        )
        self._temperature = ipywidgets.FloatSlider(
            description=t(f"{tx}.temperature"), min=COLDEST, max=HOTTEST, step=0.1,
            readout_format=".1f", style=STYLE,
        )  # fmt: skip
        self._bind(self._sentence, "sentence")
        self._bind(self._mask, "mask")
        self._bind(self._seed, "seed")
        self._bind(self._temperature, "temperature")
        self.shapes = ShapeTraceView()
        self.maps = AttentionView()
        self._facts = ipywidgets.HTML()
        self._facts.add_class("mha-facts-box")
        return [
            row(self._sentence, self._mask, self._seed),
            *self._build_widths(self._temperature),
            self.shapes,
            self.maps,
            self._facts,
        ]

    def _words_in_sentence(self) -> int:
        return min(max(len(toy.words(self.sentence)), 1), toy.MAX_TOKENS)

    # State -----------------------------------------------------------------------------

    def _adjust(self, change) -> None:
        super()._adjust(change)
        if change.name == "sentence":
            self.T = self._words_in_sentence()
            total = len(toy.words(self.sentence))
            if total > toy.MAX_TOKENS:
                self._tell(t("explorer.multi_head.cut", used=self.T, total=total))

    def _check(self) -> None:
        """Raise `CannotDrawError` for a state that no picture can show."""
        self._check_widths()
        tx = "explorer.multi_head"
        if not toy.words(self.sentence):
            raise CannotDrawError(t(f"{tx}.empty"))
        if not 0 < self.temperature < math.inf:
            raise CannotDrawError(t(f"{tx}.bad_temperature", temperature=self.temperature))
        if self.mask not in MASKS:
            raise CannotDrawError(t(f"{tx}.bad_mask", mask=self.mask, choices=", ".join(MASKS)))
        if not 0 <= self.seed <= MOST_SEED:
            raise CannotDrawError(t(f"{tx}.bad_seed", seed=self.seed))

    # Pictures --------------------------------------------------------------------------

    def _draw(self) -> None:
        self.trace = self.weights = None
        self._show_controls()
        self._check()
        layer = toy.layer(self.d_model, self.H, self.seed)
        self.tokens = toy.tokens_for(self.sentence, self.T)
        if self.T > len(toy.words(self.sentence)):
            self._tell(t("explorer.multi_head.fillers"))
        X = toy.embed(self.tokens, self.d_model, self.seed)
        with torch.inference_mode():
            self.trace = layer.trace(X, self._mask_tensor(), temperature=self.temperature)
        self.weights = self.trace.weights[0]
        self._steps = shape_trace(self.trace)
        self.shapes.show(self._steps)
        self.maps.show(self.weights, self.tokens)
        self._facts.value = facts_html(self._facts_in_words(layer))

    def _mask_tensor(self):
        if self.mask == "causal":
            return torch.ones(self.T, self.T, dtype=torch.bool).tril()
        return None

    def _show_controls(self) -> None:
        self._show_widths()
        self._sentence.value = self.sentence
        self._seed.value = self.seed
        if 0 < self.temperature < math.inf:
            reach(self._temperature, COLDEST, HOTTEST, self.temperature)
        if self.mask in MASKS:
            self._mask.value = self.mask

    def _facts_in_words(self, layer) -> list[str]:
        tx = "explorer.widths.facts"
        parameters, flops = count_parameters(layer), count_flops(self.trace)["total"]
        sums = self.weights.sum(-1)
        low, high = f"{sums.min():.3f}", f"{sums.max():.3f}"
        return [
            t(f"{tx}.parameters", n=f"{parameters:,}", d_model=self.d_model),
            t(f"{tx}.d_k", d_model=self.d_model, H=self.H, d_k=layer.d_k),
            t(f"{tx}.scale", d_k=layer.d_k, scale=f"{layer.d_k**0.5:.2f}"),
            t(f"{tx}.flops", n=f"{flops:,}"),
            t(f"{tx}.sums", sums=low if low == high else f"{low} – {high}"),
        ]

    def _blank(self, reason: str) -> None:
        self.trace = self.weights = None
        self.shapes.clear(reason)
        self.maps.clear(reason)
        self._facts.value = ""

    def _still(self):
        from ..figures import explorer_figure

        return explorer_figure(self._steps, self.weights, self.tokens, selected=self.maps.selected)

    def _summary(self) -> str:
        if self.trace is None:
            return f"MultiHeadExplorer: {self.message}"
        return t(
            "explorer.multi_head.summary",
            H=self.H,
            d_model=self.d_model,
            d_k=self.d_model // self.H,
            T=self.T,
            strongest=self.maps.describe(self.maps.selected),
        )
