"""Playground: two layers side by side, each with its own controls, and what differs in words."""

import ipywidgets
import torch
import traitlets

from .. import toy
from ..shapes import count_flops, count_parameters
from ..texts import t
from ..views.pair_view import PairView
from .base import Explorer
from .controls import row
from .multi_head import MultiHeadExplorer

TX = "explorer_playground"
SIDES = ("left", "right")
# What is compared; the words are explorer_playground.quantities.<name>.
QUANTITIES = ("parameters", "operations", "cells", "d_k", "divisor", "maps")


class _Side(MultiHeadExplorer):
    """A MultiHeadExplorer that reports each new picture, blank ones and faults included."""

    def __init__(self, changed, **state):
        self._changed = changed
        super().__init__(**state)

    def _say(self, text: str, kind: str) -> None:
        super()._say(text, kind)  # the last thing that every redraw does
        self._changed(self)


class Playground(Explorer):
    """Two `MultiHeadExplorer`s, `left` and `right`, that share nothing but, if wanted, their words.

        Playground(left={"H": 2}, right={"H": 16})

    `left` and `right` name the state that a side begins with; the right side takes the left
    side's sentence when it names none. Afterwards `playground.left` and `playground.right` are
    the two explorers.

    State: `same_sentence`: what is typed on one side appears on the other; switched on, the left
    sentence goes to the right. It is on at first unless the two sentences differ.
    What it shows: `comparison`, quantity -> (left, right), None while a side has no picture:
    "parameters", "operations", "cells" (of one map), "d_k", "divisor" (√d_k), "maps" (their
    shape). `error` is that of either side too.
    """

    STATE = ("same_sentence",)

    same_sentence = traitlets.Bool(True)

    left: MultiHeadExplorer
    right: MultiHeadExplorer
    comparison: dict[str, tuple] | None = None

    def __init__(
        self,
        left: dict | None = None,
        right: dict | None = None,
        *,
        same_sentence: bool | None = None,
    ):
        self._sides: tuple[MultiHeadExplorer, ...] = ()
        self._begin = left or {}, right or {}, same_sentence
        super().__init__()
        self.add_class("mha-playground")

    def _build(self):
        left, right, same_sentence = self._begin
        self.left = _Side(self._side_changed, **left)
        self.right = _Side(self._side_changed, **{"sentence": self.left.sentence, **right})
        alike = self.left.sentence == self.right.sentence
        self.same_sentence = alike if same_sentence is None else same_sentence
        self._sides = self.left, self.right
        self._adjust(None)
        self._same = ipywidgets.Checkbox(description=t(f"{TX}.same_sentence"), indent=False)
        self._bind(self._same, "same_sentence")
        self.pair = PairView()
        return [row(self._same, self._note), self.pair, self._side_by_side()]

    def _side_by_side(self) -> ipywidgets.Box:
        panels = []
        for title, side in zip(self._titles(), self._sides, strict=True):
            name = ipywidgets.Label(title)
            name.add_class("mha-side-title")
            panels.append(ipywidgets.VBox([name, side]))
            panels[-1].add_class("mha-side")
        box = ipywidgets.Box(panels)
        box.add_class("mha-sides")
        return box

    # State ------------------------------------------------------------------------------

    def _side_changed(self, side: MultiHeadExplorer) -> None:
        if self._sides:  # both are built
            with self.hold():  # one redraw, also when both sides changed
                if self.same_sentence:
                    self._copy_sentence(side)

    def _adjust(self, change) -> None:
        if self.same_sentence:
            self._copy_sentence(self.left)

    def _copy_sentence(self, source: MultiHeadExplorer) -> None:
        for side in self._sides:
            side.sentence = source.sentence

    # Pictures ---------------------------------------------------------------------------

    def _draw(self) -> None:
        self.comparison = None
        self._same.value = self.same_sentence
        for side in self._sides:
            if side.error is not None:
                raise side.error
        if any(side.trace is None for side in self._sides):
            self.pair.clear(self._titles(), _names())
            self._tell(t(f"{TX}.waiting"))
            return
        measured = [_measured(side) for side in self._sides]
        self.comparison = {name: tuple(one[name] for one in measured) for name in QUANTITIES}
        self._table = self._table_in_words()
        self.pair.show(self._titles(), *self._table)
        self._tell(self._difference_in_words())

    def _blank(self, reason: str) -> None:
        self.comparison = None
        self.pair.clear(self._titles(), _names())

    def _titles(self) -> list[str]:
        return [t(f"{TX}.{name}") for name in SIDES]

    # Words ------------------------------------------------------------------------------

    def _difference_in_words(self) -> str:
        """Which settings differ: with one alone, a reader knows what made the difference."""
        pairs = {
            name: [getattr(side, name) for side in self._sides] for name in MultiHeadExplorer.STATE
        }
        words = [
            t(f"{TX}.settings.{name}", left=left, right=right)
            for name, (left, right) in pairs.items()
            if left != right
        ]
        if not words:
            return t(f"{TX}.differ.nothing")
        if len(words) == 1:
            return t(f"{TX}.differ.one", setting=words[0])
        return t(f"{TX}.differ.several", count=len(words), settings=", ".join(words))

    def _table_in_words(self) -> tuple[list[str], list[list[str]]]:
        """The quantities' names, and for each: left, right, from left to right."""
        rows = [
            [*(_written(name, value) for value in pair), self._relation(name, *pair)]
            for name, pair in self.comparison.items()
        ]
        return _names(), rows

    def _relation(self, name: str, left, right) -> str:
        if name != "maps":
            return _factor(left, right)
        if left != right:
            return t(f"{TX}.relations.other_shape")
        same = torch.allclose(self.left.weights, self.right.weights, atol=1e-6)
        return t(f"{TX}.relations.{'same_numbers' if same else 'other_numbers'}")

    def _still(self):
        from ..stills.playground import StillSide, playground_figure

        sides = []
        for title, side in zip(self._titles(), self._sides, strict=True):
            heading = f"{title} · {self._settings(side)}"
            if side.trace is None:
                sides.append(StillSide(heading, reason=side.message))
            else:
                sides.append(StillSide(heading, side.weights, side.tokens, side.maps.selected))
        names, rows = ([], []) if self.comparison is None else self._table
        return playground_figure(sides, names, rows, self.message)

    def _settings(self, side: MultiHeadExplorer) -> str:
        return f"d_model {side.d_model}, H {side.H}, T {side.T}"

    def _summary(self) -> str:
        words = {}
        for name, side in zip(SIDES, self._sides, strict=True):
            drawn = side.trace is not None
            words[name] = self._settings(side) if drawn else side.message.rstrip(".")
        sentences = [t(f"{TX}.summary", **words)]
        if self.comparison is None:
            return " ".join([*sentences, self.message])
        names, rows = self._table
        facts = list(zip(names[:-1], rows[:-1], strict=True))  # the maps' shape says no more
        equal = [f"{name} {left}" for name, (left, right, _) in facts if left == right]
        other = [f"{name} {left} | {right}" for name, (left, right, _) in facts if left != right]
        if equal:
            sentences.append(t(f"{TX}.summary_equal", facts=", ".join(equal)))
        if other:
            sentences.append(t(f"{TX}.summary_different", facts=", ".join(other)))
        return " ".join(sentences)


def _names() -> list[str]:
    return [t(f"{TX}.quantities.{name}") for name in QUANTITIES]


def _measured(side: MultiHeadExplorer) -> dict:
    """What the side's layer costs and how it is cut, from the tensors that ran."""
    _, H, T, d_k = side.trace.Q_heads.shape
    return {
        "parameters": count_parameters(toy.layer(side.d_model, side.H, side.seed)),
        "operations": count_flops(side.trace)["total"],
        "cells": side.weights[0].numel(),
        "d_k": d_k,
        "divisor": d_k**0.5,
        "maps": tuple(side.weights.shape),
    }


def _written(name: str, value) -> str:
    if name == "divisor":
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _factor(left: float, right: float) -> str:
    """ "equal", "× 4" or "÷ 8": what happens to the number from left to right."""
    if left == right:
        return t(f"{TX}.relations.equal")
    ratio = max(left, right) / min(left, right)
    text = f"{ratio:,.0f}" if ratio >= 1000 else f"{ratio:.3g}"
    return f"{'×' if right > left else '÷'} {text}"
