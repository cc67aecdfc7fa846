"""Several heads' graphs over one row of tokens, as arcs; the dependency tree on the other side."""

from collections.abc import Sequence
from dataclasses import dataclass

import anywidget
import traitlets

from ..palette import head_colour
from ..texts import texts_under
from .graph_layout import Arc, Layout, dashes, thickness
from .source import script, style

TX = "explorer_graphs.view"
MOST_ARCS = 400  # drawn at once, the strongest; more would be a blur
SCALE = (0.25, 0.5, 1.0)  # weights whose thickness the legend shows


@dataclass(frozen=True)
class GraphEdge:
    """Query and key as places in the row, from 0; the head, from 0; the weight, 0 to 1."""

    query: int
    key: int
    head: int
    weight: float


@dataclass(frozen=True)
class TreeEdge:
    """A word and the word it depends on, as places in the row; whether a graph has the edge."""

    dependent: int
    head: int
    relation: str
    found: bool


@dataclass(frozen=True)
class HeadButton:
    """A head that can be picked: its name, whether it is, how many edges it has, spoken words."""

    name: str
    on: bool
    count: str
    label: str


class GraphView(anywidget.AnyWidget):
    """Arcs above a row of tokens, a tree below it. `pressed` is [head, presses so far], from 0.

    Places come from `graph_layout`, for this view and for the still picture alike. `frame`
    holds everything that is drawn, so that a change arrives at once or not at all.
    """

    _esm = script("nodes", "svg", "graph_view")
    _css = style("graph_view")

    frame = traitlets.Dict().tag(sync=True)
    pressed = traitlets.List([-1, 0]).tag(sync=True)

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.frame = {
            "buttons": [],
            "tokens": [],
            "arcs": [],
            "tree": [],
            "reason": "",
            "empty": "",
        }

    def show(
        self,
        labels: Sequence[str],
        special: Sequence[bool],
        edges: Sequence[GraphEdge],
        buttons: Sequence[HeadButton],
        tree: Sequence[TreeEdge] | None,
        *,
        title: str,
        readings: Sequence[str],
        table: Sequence[Sequence[str]],
        empty: str = "",
    ) -> None:
        """Draw everything. `readings`: one for each token; `table`: rows of texts, heading first;
        `tree` is None where none is known; `empty`: what stands in a picture without edges."""
        deepest = max((abs(one.head - one.dependent) for one in tree or ()), default=1)
        place = Layout.of(labels, deepest)
        strongest = sorted(edges, key=lambda edge: -edge.weight)[:MOST_ARCS]
        heads = sorted({edge.head for edge in edges})
        arcs = [
            vars(place.arc(edge.query, edge.key, lift=heads.index(edge.head)))
            | {"q": edge.query, "k": edge.key, "head": edge.head,
               "width": thickness(edge.weight), "weight": edge.weight}
            for edge in reversed(strongest)
        ]  # fmt: skip
        tokens = [
            {"text": label, "x": place.x(i), "y": place.y(i), "special": bool(special[i]),
             "reading": readings[i]}
            for i, label in enumerate(labels)
        ]  # fmt: skip
        branches = [
            vars(place.branch(edge.dependent, edge.head))
            | {"q": edge.dependent, "k": edge.head, "relation": edge.relation,
               "found": edge.found}
            for edge in tree or ()
        ]  # fmt: skip
        styles = [{"colour": head_colour(i), "dashes": dashes(i)} for i in range(len(buttons))]
        self.frame = {
            "buttons": [vars(one) | style for one, style in zip(buttons, styles, strict=True)],
            "tokens": tokens,
            "arcs": arcs,
            "tree": branches,
            "treeless": tree is None,
            "size": [place.width, place.height],
            "lines": [place.base, place.tree_base],
            "scale": [[f"{weight:g}", thickness(weight)] for weight in SCALE],
            "title": title,
            "table": [list(line) for line in table],
            "words": texts_under(TX),
            "empty": empty,
            "reason": "",
        }

    def clear(self, reason: str) -> None:
        """Take the graphs away and say why. The buttons and the height stay."""
        self.frame = self.frame | {
            "tokens": [], "arcs": [], "tree": [], "table": [], "empty": "", "reason": reason,
        }  # fmt: skip


__all__ = ["MOST_ARCS", "Arc", "GraphEdge", "GraphView", "HeadButton", "TreeEdge"]
