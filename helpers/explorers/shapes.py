"""ShapeExplorer: d_model, H and T against every shape, symbolic and concrete, and what it costs."""

import ipywidgets
import torch
import traitlets

from .. import toy
from ..attention import AttentionTrace
from ..shapes import count_flops, count_parameters, shape_trace
from ..texts import t
from ..views.shape_trace_view import ShapeTraceView
from .controls import facts_html
from .widths import HeadWidthExplorer


class ShapeExplorer(HeadWidthExplorer):
    """The shapes of one layer, taken from the tensors that ran, beside parameters and FLOPs.

    State: `d_model`, `H`, `T`. What it shows: `trace`, `steps`, `parameters`, `flops`.
    """

    STATE = ("T", "d_model", "H")

    d_model = traitlets.Int(512)

    trace: AttentionTrace | None = None
    steps: list = []
    parameters: int | None = None
    flops: dict[str, int] | None = None

    def _build(self):
        self.shapes = ShapeTraceView()
        self._facts = ipywidgets.HTML()
        self._facts.add_class("mha-facts-box")
        return [*self._build_widths(), self.shapes, self._facts]

    def _draw(self) -> None:
        self._forget()
        self._show_widths()
        self._check_widths()
        layer = toy.layer(self.d_model, self.H, seed=0)
        X = toy.embed(toy.tokens_for("", self.T), self.d_model, seed=0)
        with torch.inference_mode():
            self.trace = layer.trace(X)
        self.steps = shape_trace(self.trace)
        self.parameters, self.flops = count_parameters(layer), count_flops(self.trace)
        self.shapes.show(self.steps)
        tx = "explorer.widths.facts"
        facts = [
            t(f"{tx}.d_k", d_model=self.d_model, H=self.H, d_k=layer.d_k),
            t(f"{tx}.maps", H=self.H, T=self.T, n=f"{self.H * self.T**2:,}"),
            t(f"{tx}.parameters", n=f"{self.parameters:,}", d_model=self.d_model),
            t(f"{tx}.projections", n=f"{self.flops['projections']:,}"),
            t(f"{tx}.attention", n=f"{self.flops['attention']:,}"),
        ]
        self._facts.value = facts_html(facts)

    def _forget(self) -> None:
        self.trace = self.parameters = self.flops = None
        self.steps = []

    def _blank(self, reason: str) -> None:
        self._forget()
        self.shapes.clear(reason)
        self._facts.value = ""

    def _still(self):
        from ..figures import shape_trace_figure

        return shape_trace_figure(self.steps)

    def _summary(self) -> str:
        if self.trace is None:
            return f"ShapeExplorer: {self.message}"
        return t(
            "explorer.shapes.summary",
            d_model=self.d_model,
            H=self.H,
            T=self.T,
            d_k=self.d_model // self.H,
            parameters=f"{self.parameters:,}",
            flops=f"{self.flops['total']:,}",
        )
