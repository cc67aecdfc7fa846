"""A small table that compares two explorers, and what makes them stand side by side."""

from collections.abc import Sequence

import anywidget
import traitlets

from ..palette import axis_css
from ..texts import t
from .source import script, style

TX = "explorer_playground.table"


class PairView(anywidget.AnyWidget):
    """Quantities of two sides in columns; in rows left, right and what happens between them.

    Its stylesheet places the two sides of the playground around it, and its script tells
    screen readers where each begins. `frame` holds everything that is drawn.
    """

    _esm = script("nodes", "pair_view")
    _css = axis_css() + style("unseen", "pair_view")

    frame = traitlets.Dict().tag(sync=True)

    def show(
        self, titles: Sequence[str], names: Sequence[str], rows: Sequence[Sequence[str]]
    ) -> None:
        """`titles` of the two sides; for each name (left, right, from left to right) in `rows`."""
        self.frame = {
            "titles": list(titles),
            "names": list(names),
            "rows": [list(row) for row in rows],
            "heads": [t(f"{TX}.{name}") for name in ("left", "right", "change")],
            "caption": t(f"{TX}.caption"),
        }

    def clear(self, titles: Sequence[str], names: Sequence[str]) -> None:
        """The table without its numbers, at the same height."""
        self.show(titles, names, [["–", "–", "–"] for _ in names])
