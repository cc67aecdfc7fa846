"""HeadGates: turn each head up and down before W_O, and see what it puts into the output."""

import ipywidgets
import torch
import traitlets

from .. import toy
from ..attention import AttentionTrace, head_width
from ..palette import head_colour
from ..texts import t, texts_under
from ..views.bar_view import BarView
from ..views.heat_view import Block, Heat, HeatView
from .base import CannotDrawError, alone
from .controls import as_shown, facts_html, row
from .multi_head import RUNNING_EXAMPLE
from .widths import STYLE, HeadWidthExplorer

MOST_HEADS = 8
SHOWN = ("values", "change")
TX = "explorer_gates"


class HeadGates(HeadWidthExplorer):
    """One layer with random weights, each head's output multiplied by a gate from 0 to 1.

    State: `T`, `d_model`, `H` (at most 8), `gates` (one number per head; all 1 when H changes),
    `show` "values", or "change" against all gates at 1.
    What it shows, None where nothing can be drawn: `trace`, and `full`, the same with all
    gates at 1; `terms` (H, T, d_model), head_i · W_O block i, whose sum is the output;
    `lengths` (H,) of the terms over all tokens, and `shares` (H,) of their sum.
    """

    STATE = ("T", "d_model", "H", "gates", "show")

    d_model = traitlets.Int(16)
    H = traitlets.Int(4)
    T = traitlets.Int(9)
    gates = traitlets.List(traitlets.Float())
    show = traitlets.Unicode("values")

    trace: AttentionTrace | None = None
    full: AttentionTrace | None = None
    terms: torch.Tensor | None = None
    lengths: torch.Tensor | None = None
    shares: torch.Tensor | None = None

    # Controls and views -----------------------------------------------------------------

    def _build(self):
        if not self.gates:
            self.gates = self._all_at(1.0)
        self._show = ipywidgets.Dropdown(
            description=t(f"{TX}.show"),
            options=[(t(f"{TX}.shown.{name}"), name) for name in SHOWN],
            style=STYLE,
        )
        self._bind(self._show, "show")
        self._sliders = [self._gate_slider(i) for i in range(MOST_HEADS)]
        self._only = [self._preset(t(f"{TX}.only", head=i + 1), i) for i in range(MOST_HEADS)]
        self.bars, self.heat = BarView(), HeatView()
        self._facts = ipywidgets.HTML()
        self._facts.add_class("mha-facts-box")
        presets = ipywidgets.Box(
            [self._preset(t(f"{TX}.all_on"), "on"), self._preset(t(f"{TX}.all_off"), "off")]
            + self._only
        )
        gates = ipywidgets.Box([*self._sliders, presets])
        shares = ipywidgets.Box([self.bars])
        heads = ipywidgets.Box([gates, shares])
        parts = {"gates": gates, "shares": shares, "heads": heads, "presets": presets}
        for name, box in parts.items():
            box.add_class(f"mha-gates-{name}")
        controls, note = self._build_widths()
        return [controls, heads, note, row(self._show), self.heat, self._facts]

    def _gate_slider(self, head: int) -> ipywidgets.FloatSlider:
        slider = ipywidgets.FloatSlider(
            description=t(f"{TX}.gate", head=head + 1), min=0.0, max=1.0, step=0.05,
            readout_format=".2f", style=STYLE | {"handle_color": head_colour(head)},
        )  # fmt: skip

        @alone
        def moved(change):
            if not self._holding:
                new = as_shown(change.new)
                self.gates = [new if i == head else gate for i, gate in enumerate(self.gates)]

        slider.observe(moved, names="value")
        return slider

    def _preset(self, words: str, which) -> ipywidgets.Button:
        """A button: "on", "off", or the index of the only head that stays on."""
        button = ipywidgets.Button(description=words, layout={"width": "auto"})

        def clicked(_):
            only = [1.0 if i == which else 0.0 for i in range(len(self.gates))]
            self.gates = {"on": self._all_at(1.0), "off": self._all_at(0.0)}.get(which, only)

        self._on_click(button, clicked)
        return button

    # State -----------------------------------------------------------------------------

    def _all_at(self, gate: float) -> list[float]:
        return [gate] * (self.H if 1 <= self.H <= MOST_HEADS else 1)

    def _adjust(self, change) -> None:
        super()._adjust(change)
        if change.name in ("d_model", "H") and len(self.gates) != self.H:
            if any(gate != 1 for gate in self.gates):
                self._tell(t(f"{TX}.reset", H=self.H))
            self.gates = self._all_at(1.0)

    def _check(self) -> None:
        """Raise `CannotDrawError` for a state that no picture can show."""
        self._check_widths()
        head_width(self.d_model, self.H)
        if self.H > MOST_HEADS:
            raise CannotDrawError(t(f"{TX}.too_many", H=self.H, most=MOST_HEADS))
        if len(self.gates) != self.H:
            raise CannotDrawError(t(f"{TX}.bad_count", count=len(self.gates), H=self.H))
        for head, gate in enumerate(self.gates, start=1):
            if not 0 <= gate <= 1:
                raise CannotDrawError(t(f"{TX}.bad_gate", gate=gate, head=head))
        if self.show not in SHOWN:
            raise CannotDrawError(t(f"{TX}.bad_show", show=self.show, choices=", ".join(SHOWN)))

    # Pictures --------------------------------------------------------------------------

    def _draw(self) -> None:
        self._forget()
        self._show_controls()
        self._check()
        layer = toy.layer(self.d_model, self.H, seed=0)
        self.tokens = toy.tokens_for(RUNNING_EXAMPLE, self.T)
        X = toy.embed(self.tokens, self.d_model, seed=0)
        # concat · W_O cut into H blocks of rows: what head i is multiplied by.
        blocks = layer.W_O.weight.T.reshape(self.H, layer.d_k, self.d_model)
        with torch.inference_mode():
            self.full = layer.trace(X)
            self.trace = layer.trace(X, gates=torch.tensor(self.gates))
            self.terms = self.trace.heads[0] @ blocks
            whole = self.full.heads[0] @ blocks
        self.lengths = self.terms.flatten(1).norm(dim=1)
        total = self.lengths.sum().item()
        self.shares = self.lengths / total if total else torch.zeros(self.H)
        self._names = [t(f"{TX}.head", head=i + 1) for i in range(self.H)]
        colours = [head_colour(i) for i in range(self.H)]
        self.bars.show(self._names, self.shares.tolist(), title=t(f"{TX}.shares"), colours=colours)
        self._most = self._largest_possible(self.full.concat, whole)
        self._heats = self._make_heats(colours)
        self.heat.show(self._heats, self.tokens, self._most)
        self._tell(self._reading())
        lengths = {"output": self.length_of(self.trace), "full": self.length_of(self.full)}
        facts = {name: f"{length:.2f}" for name, length in {**lengths, "terms": total}.items()}
        self._facts.value = facts_html([t(f"{TX}.facts.{name}", n=n) for name, n in facts.items()])

    @staticmethod
    def length_of(trace: AttentionTrace) -> float:
        """Length of the output over all tokens: the root of the sum of its squares."""
        return trace.output.norm().item()

    @staticmethod
    def _largest_possible(concat: torch.Tensor, terms: torch.Tensor) -> float:
        """The largest number that any setting of the gates can put into a cell of either map.

        The scale goes that far, and so stays where it is while the gates move.
        """
        above, below = terms.clamp(min=0).sum(0).max(), terms.clamp(max=0).sum(0).min()
        return max(concat.abs().max().item(), above.item(), -below.item(), 1e-6)

    def _make_heats(self, colours: list[str]) -> list[Heat]:
        change = self.show == "change"
        d_k = self.d_model // self.H
        own = tuple(
            Block(name, str(i + 1), (colours[i],), d_k) for i, name in enumerate(self._names)
        )
        mixed = (Block(t(f"{TX}.all_heads"), t(f"{TX}.all"), tuple(colours), self.d_model),)
        heats = []
        for name, blocks in (("concat", own), ("output", mixed)):
            numbers, before = getattr(self.trace, name)[0], getattr(self.full, name)[0]
            words = texts_under(f"{TX}.maps.{name}")
            note = words["change" if change else "note"]
            heats.append(
                Heat(words["title"], note, numbers - before if change else numbers, blocks)
            )
        return heats

    def changed_columns(self) -> tuple[int, int]:
        """How many columns differ from those with all gates at 1: before W_O, after W_O."""
        pairs = ((self.trace.concat, self.full.concat), (self.trace.output, self.full.output))
        before, after = (int((now != then)[0].any(0).sum()) for now, then in pairs)
        return before, after

    def _reading(self) -> str:
        """What the gates did to the output, in words."""
        output, full = self.length_of(self.trace), self.length_of(self.full)
        if not any(self.gates):
            return t(f"{TX}.reading.none", full=f"{full:.2f}")
        moved = [str(i + 1) for i, gate in enumerate(self.gates) if gate != 1]
        if not moved:
            return t(f"{TX}.reading.all", full=f"{full:.2f}")
        before, after = self.changed_columns()
        return t(
            f"{TX}.reading.{'one' if len(moved) == 1 else 'some'}", heads=", ".join(moved),
            before=before, after=after, d_model=self.d_model,
            output=f"{output:.2f}", percent=f"{100 * output / full:.0f}",
        )  # fmt: skip

    def _show_controls(self) -> None:
        self._show_widths()
        if self.show in SHOWN:
            self._show.value = self.show
        for i, (slider, button) in enumerate(zip(self._sliders, self._only, strict=True)):
            exists = i < len(self.gates)
            if exists:
                slider.value = self.gates[i]
            slider.layout.display = button.layout.display = None if exists else "none"

    def _heads_offered(self) -> list[int]:
        return [h for h in super()._heads_offered() if h <= MOST_HEADS]

    def _forget(self) -> None:
        self.trace = self.full = self.terms = self.lengths = self.shares = None

    def _blank(self, reason: str) -> None:
        self._forget()
        self.bars.clear(reason)
        self.heat.clear(reason)
        self._facts.value = ""

    def _still(self):
        from ..stills.heat import gates_figure

        return gates_figure(self._heats, self.tokens, self._most, self.shares.tolist(), self._names)

    def _summary(self) -> str:
        if self.trace is None:
            return f"HeadGates: {self.message}"
        return t(
            f"{TX}.summary",
            d_model=self.d_model,
            H=self.H,
            T=self.T,
            gates=", ".join(f"{gate:g}" for gate in self.gates),
            shares=", ".join(f"{share:.2f}" for share in self.shares.tolist()),
        )
