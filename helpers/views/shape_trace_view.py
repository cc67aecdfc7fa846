"""The shape trace as a row of cards: what happened to the shape, step by step, in colour."""

from collections.abc import Mapping, Sequence

import anywidget
import traitlets

from ..palette import AXIS_COLOURS, axis_css
from ..shapes import ShapeStep
from ..texts import t, texts_under
from ..wording import (
    as_tuple,
    axis_sizes,
    batch_text,
    meaning_text,
    operation_text,
    without_batch,
)
from .source import script, style


class ShapeTraceView(anywidget.AnyWidget):
    """One card per step; choosing a card explains it.

    `selected` is the index of the chosen step, None for none. `frame` holds everything that
    is drawn, so that a change arrives at once or not at all.
    """

    _esm = script("nodes", "axes", "shape_trace_view")
    _css = axis_css() + style("shape_trace_view")

    frame = traitlets.Dict().tag(sync=True)
    selected = traitlets.Int(None, allow_none=True).tag(sync=True)

    def __init__(self, steps: Sequence[ShapeStep] = (), *, batch: bool = False, **kwargs):
        super().__init__(**kwargs)
        self._lines: list[str] = []
        self.show(steps, batch=batch)

    def show(
        self,
        steps: Sequence[ShapeStep],
        *,
        batch: bool = False,
        meanings: Mapping[str, str] | None = None,
    ) -> None:
        """Draw these steps. Without `batch` the axis B is left out, and a line says so.

        `meanings` gives sentences of your own to steps, by name.
        """
        sizes = axis_sizes(steps)
        note = "" if batch else batch_text(steps)
        shown = list(steps) if batch else [without_batch(step) for step in steps]
        cards = [
            self._card(step, sizes, (meanings or {}).get(step.name)) | {"spoken": spoken}
            for step, spoken in zip(shown, self._spoken(shown, sizes), strict=True)
        ]
        self._lines = [f"{c['name']}  {c['operation']}  {as_tuple(c['shape'])}" for c in cards]
        with self.hold_sync():
            if self.selected is not None and not 0 <= self.selected < len(cards):
                self.selected = None
            self.frame = self._words(shown) | {"cards": cards, "note": note, "reason": ""}

    def clear(self, reason: str = "") -> None:
        """Grey the cards, take their numbers away and say why. The height stays."""
        self._lines = []
        self.frame = self.frame | {"reason": reason or t("shapes.cleared")}

    def steps_text(self) -> list[str]:
        """The trace as plain lines, "Q  X · W_Q  (9, 512)"; empty after `clear`."""
        return list(self._lines)

    @staticmethod
    def _card(step: ShapeStep, sizes: Mapping[str, int], meaning: str | None) -> dict:
        return {
            "name": step.name,
            "operation": operation_text(step, sizes),
            "symbols": list(step.symbols),
            "shape": list(step.shape),
            "strides": list(step.strides),
            "meaning": meaning or meaning_text(step, sizes),
            "memory": t("shapes.contiguous" if step.contiguous else "shapes.not_contiguous"),
        }

    @staticmethod
    def _spoken(steps: Sequence[ShapeStep], sizes: Mapping[str, int]) -> list[str]:
        """What a screen reader says for each card."""
        return [
            t(
                "shapes.spoken",
                number=number,
                count=len(steps),
                name=step.name,
                operation=operation_text(step, sizes),
                shape=", ".join(
                    f"{a} = {n}" for a, n in zip(step.symbols, step.shape, strict=True)
                ),
                strides=", ".join(map(str, step.strides)),
            )
            for number, step in enumerate(steps, 1)
        ]

    @staticmethod
    def _words(steps: Sequence[ShapeStep]) -> dict:
        """The words around the cards, and the legend of the axes that occur."""
        axes = dict.fromkeys(axis for step in steps for axis in step.symbols)
        legend = texts_under("shapes.axes")
        return {
            "label": t("shapes.label", count=len(steps)),
            "hint": t("shapes.hint"),
            "shape_word": t("shapes.shape"),
            "strides_word": t("shapes.strides"),
            "legend_title": t("shapes.legend"),
            "legend": [[axis, legend[axis]] for axis in axes if axis in AXIS_COLOURS],
            "strides_note": t("shapes.strides_note"),
        }
