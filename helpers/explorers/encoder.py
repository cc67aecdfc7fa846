"""EncoderExplorer: a sentence of the reader's through a real pretrained encoder, head by head."""

import ipywidgets
import torch
import traitlets

from ..encoder import load_encoder
from ..encoder.files import EncoderError
from ..texts import t
from ..views.attention_view import AttentionView
from .base import CannotDrawError, Explorer, alone
from .controls import row
from .multi_head import RUNNING_EXAMPLE

# The encoder itself was tuned on at most 256 pieces (its sentence configuration);
# 72 maps of 256 x 256 also still paint at once.
MOST_TOKENS = 256


class EncoderExplorer(Explorer):
    """All attention maps of a real encoder on one sentence, one of them enlarged.

    State: `sentence`; `layer` and `head` of the large map, counted from 1 as papers do;
    `hide_special` leaves [CLS] and [SEP] out of the picture, `rescale` then makes each row
    sum to 1 again; `query` and `key`: the words whose cell is read out.
    What it shows: `weights` (layers · heads, T, T), `tokens`, `encoding`, `message`.
    """

    STATE = ("sentence", "layer", "head", "hide_special", "rescale", "query", "key")

    sentence = traitlets.Unicode(RUNNING_EXAMPLE)
    layer = traitlets.Int(1)
    head = traitlets.Int(1)
    hide_special = traitlets.Bool(False)
    rescale = traitlets.Bool(False)
    query = traitlets.Unicode("")
    key = traitlets.Unicode("")

    weights: torch.Tensor | None = None
    tokens: list[str] = []
    encoding = None

    def __init__(self, *, encoder=None, **state):
        self._encoder = encoder
        self._encoded = None  # (sentence, its encoding): other controls need no second run
        super().__init__(**state)

    def _build(self):
        tx = "explorer.encoder"
        style = {"description_width": "initial"}
        self._sentence = ipywidgets.Text(description=t(f"{tx}.sentence"), style=style)
        self._sentence.add_class("mha-grow")
        self._hide = ipywidgets.Checkbox(description=t(f"{tx}.hide_special"), indent=False)
        self._rescale = ipywidgets.Checkbox(description=t(f"{tx}.rescale"), indent=False)
        self._bind(self._sentence, "sentence")
        self._bind(self._hide, "hide_special")
        self._bind(self._rescale, "rescale")
        self.maps = AttentionView()
        self.maps.observe(self._head_chosen, names="selected")
        return [row(self._sentence, self._hide, self._rescale), self._note, self.maps]

    @alone
    def _head_chosen(self, change) -> None:
        """The reader enlarged another head in the view: the picture is already right."""
        if not self._holding and self.weights is not None:
            layer, head = divmod(self.maps.selected, self._encoder.num_heads)
            self._holding = True
            try:
                self.layer, self.head = layer + 1, head + 1
            finally:
                self._holding = False

    def _draw(self) -> None:
        self.weights = self.encoding = None
        self._sentence.value = self.sentence
        self._hide.value = self.hide_special
        self._rescale.value = self.rescale
        self._rescale.disabled = not self.hide_special
        if self._encoder is None:
            try:
                self._encoder = load_encoder()
            except EncoderError as missing:
                raise CannotDrawError(str(missing)) from missing
        layers, heads = self._encoder.num_layers, self._encoder.num_heads
        if not (1 <= self.layer <= layers and 1 <= self.head <= heads):
            raise CannotDrawError(
                t("explorer.encoder.bad_head", layer=self.layer, head=self.head,
                  layers=layers, heads=heads)
            )  # fmt: skip
        if not self.sentence.strip():
            raise CannotDrawError(t("explorer.encoder.empty"))
        encoding = self._encode()
        if encoding.notice:
            self._tell(encoding.notice)
        keep = self._kept(encoding)
        weights = encoding.weights.flatten(0, 1)[:, keep][:, :, keep]
        weights = self._without_special(weights) if self.hide_special else weights
        self.encoding, self.weights = encoding, weights
        self.tokens = [encoding.labels[i] for i in keep]
        names = [f"L{layer + 1}-H{head + 1}" for layer in range(layers) for head in range(heads)]
        self.maps.show(weights, self.tokens, names=names, columns=heads)
        self.maps.selected = (self.layer - 1) * heads + self.head - 1
        if self.query or self.key:
            self.maps.pointed = self._cell_of(self.query, self.key)

    def _encode(self):
        if self._encoded is None or self._encoded[0] != self.sentence:
            encoding = self._encoder.encode(self.sentence, max_tokens=MOST_TOKENS)
            self._encoded = (self.sentence, encoding)
        return self._encoded[1]

    def _kept(self, encoding) -> list[int]:
        keep = range(len(encoding.tokens))
        if not self.hide_special:
            return list(keep)
        kept = [i for i in keep if not encoding.tokens[i].is_special]
        if not kept:
            raise CannotDrawError(t("explorer.encoder.only_special"))
        return kept

    def _without_special(self, weights: torch.Tensor) -> torch.Tensor:
        """Weights between the shown tokens, and a sentence on what the hidden ones took."""
        left = weights.sum(-1, keepdim=True)
        taken = f"{100 * (1 - left.mean().item()):.0f}"
        if not self.rescale:
            self._tell(t("explorer.encoder.hidden", taken=taken))
            return weights
        self._tell(t("explorer.encoder.rescaled", taken=taken))
        return torch.where(left > 0, weights / left, weights)

    def _cell_of(self, query: str, key: str) -> list[int]:
        if query in self.tokens and key in self.tokens:
            return [self.tokens.index(query), self.tokens.index(key)]
        return []

    def _blank(self, reason: str) -> None:
        self.weights = self.encoding = None
        self.maps.clear(reason)

    def _still(self):
        from ..figures import attention_figure

        return attention_figure(
            self.weights, self.tokens, names=list(self.maps.frame["names"]),
            selected=self.maps.selected, columns=self._encoder.num_heads,
            pointed=self.maps.pointed or None, title=t("explorer.still"),
        )  # fmt: skip

    def _summary(self) -> str:
        if self.weights is None:
            return f"EncoderExplorer: {self.message}"
        return t(
            "explorer.encoder.summary",
            layers=self._encoder.num_layers,
            heads=self._encoder.num_heads,
            T=len(self.tokens),
            reading=self.maps.readout() or self.maps.describe(self.maps.selected),
        )
