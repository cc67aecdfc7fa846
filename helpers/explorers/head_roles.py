"""HeadRoles: every head of the real encoder measured over many sentences."""

import ipywidgets
import torch
import traitlets

from .. import heads
from ..encoder import Encoder, load_encoder
from ..encoder.files import EncoderError
from ..texts import t
from ..treebank import own_sentences
from ..views.head_grid import HeadCell, HeadGrid
from .base import CannotDrawError, Explorer
from .controls import row
from .widths import STYLE

TX = "explorer_heads"
MARKS = {"previous": "←", "next": "→", "sink": "■", "": ""}


def needed_encoder(encoder: Encoder | None) -> Encoder:
    """This encoder, else the packaged one; says in words when there is none."""
    if encoder is not None:
        return encoder
    try:
        return load_encoder()
    except EncoderError as missing:
        raise CannotDrawError(str(missing)) from missing


class HeadRoles(Explorer):
    """A measure of all heads on the course's sentences, with the roles that measures give.

    State: `measure`, a key of `heads.MEASURES`; `layer` and `head` read out, from 1.
    What it shows: `measured` {measure: (L, H)}, `roles` [layer][head], `message`.
    """

    STATE = ("measure", "layer", "head")

    measure = traitlets.Unicode("previous")
    layer = traitlets.Int(1)
    head = traitlets.Int(3)

    measured: dict[str, torch.Tensor] | None = None
    roles: list[list[str]] = []

    def __init__(self, *, encoder=None, **state):
        self._encoder, self._found = encoder, None
        super().__init__(**state)

    def _build(self):
        self._measure = ipywidgets.Dropdown(
            description=t(f"{TX}.measure"),
            options=[(t(f"{TX}.measures.{key}"), key) for key in heads.MEASURES],
            style=STYLE,
        )
        self._bind(self._measure, "measure")
        self.grid = HeadGrid()
        self.grid.observe(self._pressed, names="pressed")
        return [row(self._measure), self._note, self.grid]

    def _pressed(self, change) -> None:
        H = self.grid.frame["columns"]
        with self.hold():
            self.layer, self.head = change.new[0] // H + 1, change.new[0] % H + 1

    def _draw(self) -> None:
        self.measured = None
        if self.measure not in heads.MEASURES:
            choices = ", ".join(heads.MEASURES)
            raise CannotDrawError(t(f"{TX}.no_measure", measure=self.measure, choices=choices))
        self._measure.value = self.measure
        self._encoder = needed_encoder(self._encoder)
        L, H = self._encoder.num_layers, self._encoder.num_heads
        if not (1 <= self.layer <= L and 1 <= self.head <= H):
            raise CannotDrawError(
                t("explorer.encoder.bad_head", layer=self.layer, head=self.head, layers=L, heads=H)
            )
        if self._found is None:
            texts = [sentence.text for sentence in own_sentences()]
            self._found = heads.measure(self._encoder.encode_batch(texts))
        self.measured, self.roles = self._found, heads.roles(self._found)
        numbers = self.measured[self.measure]
        top = numbers.max().item() if self.measure == "entropy" else 1.0
        roles = [role for of_layer in self.roles for role in of_layer]
        words = t(f"{TX}.measures.{self.measure}")
        cells = []
        for i, (number, role) in enumerate(zip(numbers.flatten().tolist(), roles, strict=True)):
            said = {"name": heads.name(*divmod(i, H)), "measure": words, "number": f"{number:.2f}"}
            label = t(f"{TX}.cell", role=t(f"{TX}.roles.{role or 'none'}"), **said)
            cells.append(HeadCell(f"{number:.2f}", number / top, label, role, MARKS[role]))
        self.grid.show(
            cells, H, title=t(f"{TX}.roles_title", measure=words, count=len(own_sentences())),
            reading=self.reading(), selected=(self.layer - 1) * H + self.head - 1,
            legend=[(MARKS[r], r, t(f"{TX}.legend.{r}")) for r in ("previous", "next", "sink")],
        )  # fmt: skip

    def reading(self) -> str:
        """The chosen head's numbers in words."""
        at = self.layer - 1, self.head - 1
        name, role = heads.name(*at), self.roles[at[0]][at[1]]
        numbers = "; ".join(
            f"{t(f'{TX}.measures.{key}')} {values[at]:.2f}" for key, values in self.measured.items()
        )
        return t(
            f"{TX}.reading", name=name, role=t(f"{TX}.roles.{role or 'none'}"), numbers=numbers
        )

    def _blank(self, reason: str) -> None:
        self.measured = None
        self.grid.clear(reason)

    def _still(self):
        from ..stills.head_grid import head_grid_figure

        return head_grid_figure(self.grid.frame)

    def _summary(self) -> str:
        if self.measured is None:
            return f"HeadRoles: {self.message}"
        return f"HeadRoles: {self.grid.frame['title']}. {self.reading()}"
