"""LiveGates: take heads out of the real encoder and watch two sentences drift."""

import ipywidgets
import torch
import traitlets

from ..heads import name
from ..texts import t
from ..views.head_grid import HeadCell, HeadGrid
from .base import CannotDrawError, Explorer
from .controls import facts_html, row
from .encoder import MOST_TOKENS
from .head_roles import needed_encoder
from .widths import STYLE

TX = "explorer_heads"


class LiveGates(Explorer):
    """Two sentences, their vectors' cosine similarity, and a switch for every head.

    State: `first`, `second`; `off`, the heads that are removed, as [layer, head] from 1.
    What it shows: `similarity` and `whole`, the cosine with these heads and with all;
    `moved` (2,), how far each sentence's own vector turned: 1 - cosine with all heads.
    """

    STATE = ("first", "second", "off")

    first = traitlets.Unicode("The bank by the river issued a statement.")
    second = traitlets.Unicode("The company published a report.")
    off = traitlets.List(traitlets.List(traitlets.Int()))

    similarity: float | None = None
    whole: float | None = None
    moved: torch.Tensor | None = None

    def __init__(self, *, encoder=None, **state):
        self._encoder, self._full = encoder, None
        super().__init__(**state)

    def _build(self):
        self._first, self._second = (
            ipywidgets.Text(description=t(f"{TX}.{which}"), style=STYLE)
            for which in ("first", "second")
        )
        for field, trait in ((self._first, "first"), (self._second, "second")):
            field.add_class("mha-grow")
            self._bind(field, trait)
        self._all = self._button("all_on", lambda: [])
        self._layers = [
            self._button("layer", lambda i=i: self._switch_layer(i), layer=i) for i in range(1, 7)
        ]
        self.grid, self._facts = HeadGrid(), ipywidgets.HTML()
        self.grid.observe(self._pressed, names="pressed")
        return [
            row(self._first, self._second), row(self._all, *self._layers), self._note,
            self._facts, self.grid,
        ]  # fmt: skip

    def _button(self, words: str, off, **values) -> ipywidgets.Button:
        button = ipywidgets.Button(
            description=t(f"{TX}.{words}", **values), layout={"width": "auto"}
        )
        self._on_click(button, lambda _: setattr(self, "off", off()))
        return button

    def _switch_layer(self, layer: int) -> list[list[int]]:
        """All heads of this layer off; on again when they all are off."""
        own = [[layer, head] for head in range(1, self._encoder.num_heads + 1)]
        others = [pair for pair in self.off if pair[0] != layer]
        return others if len(self.off) - len(others) == len(own) else sorted(others + own)

    def _pressed(self, change) -> None:
        H = self.grid.frame["columns"]
        pair = [change.new[0] // H + 1, change.new[0] % H + 1]
        off = [list(other) for other in self.off]
        self.off = [o for o in off if o != pair] if pair in off else sorted([*off, pair])

    def _draw(self) -> None:
        self.similarity = self.whole = self.moved = None
        self._first.value, self._second.value = self.first, self.second
        self._encoder = needed_encoder(self._encoder)
        L, H = self._encoder.num_layers, self._encoder.num_heads
        gates = torch.ones(L, H)
        for pair in self.off:
            layer, head = pair if len(pair) == 2 else (0, 0)
            if not (1 <= layer <= L and 1 <= head <= H):
                raise CannotDrawError(
                    t("explorer.encoder.bad_head", layer=layer, head=head, layers=L, heads=H)
                )
            gates[layer - 1, head - 1] = 0
        texts = [self.first, self.second]
        if not all(text.strip() for text in texts):
            raise CannotDrawError(t(f"{TX}.two_sentences"))
        if self._full is None or self._full[0] != texts:
            self._full = texts, self._vectors(texts, None)
        full, now = self._full[1], self._vectors(texts, gates)
        self.whole, self.similarity = (float(v[0] @ v[1]) for v in (full, now))
        self.moved = (1 - (full * now).sum(-1)).clamp(min=0)
        self._show(gates)

    def _vectors(self, texts, gates) -> torch.Tensor:
        encodings = self._encoder.encode_batch(texts, gates, max_tokens=MOST_TOKENS)
        for encoding in encodings:
            if encoding.notice and encoding.notice not in self._spoken:
                self._tell(encoding.notice)
        return torch.stack([encoding.sentence_vector for encoding in encodings])

    def _show(self, gates: torch.Tensor) -> None:
        H = gates.shape[1]
        cells = []
        for i, gate in enumerate(gates.flatten().tolist()):
            on = bool(gate)
            label = t(f"{TX}.gate_on" if on else f"{TX}.gate_off", name=name(*divmod(i, H)))
            cells.append(HeadCell(t(f"{TX}.on" if on else f"{TX}.off"), 0.5 * gate, label, on=on))
        self._facts.value = facts_html(self._fact_lines())
        self.grid.show(
            cells, H, title=t(f"{TX}.gates_title"), reading=t(f"{TX}.gates_reading"), toggles=True
        )

    def _fact_lines(self) -> list[str]:
        values = {
            "now": f"{self.similarity:.3f}", "whole": f"{self.whole:.3f}", "off": len(self.off),
            "first": f"{self.moved[0]:.3f}", "second": f"{self.moved[1]:.3f}",
        }  # fmt: skip
        return [
            t(f"{TX}.facts.{key}", **values) for key in ("now", "whole", "first", "second", "off")
        ]

    def _blank(self, reason: str) -> None:
        self.similarity = self.whole = self.moved = None
        self._facts.value = facts_html([])
        self.grid.clear(reason)

    def _still(self):
        from ..stills.head_grid import head_grid_figure

        return head_grid_figure(
            self.grid.frame, [line.replace("*", "") for line in self._fact_lines()]
        )

    def _summary(self) -> str:
        if self.similarity is None:
            return f"LiveGates: {self.message}"
        return "LiveGates: " + "; ".join(line.replace("*", "") for line in self._fact_lines())
