"""Small maps of which output token depends on which input token."""

from collections.abc import Sequence
from dataclasses import dataclass

import anywidget
import traitlets
from torch import Tensor

from ..palette import axis_css
from ..texts import t
from .source import script, style

TX = "explorer_reshape.maps"


@dataclass(frozen=True)
class DependencyMap:
    """`depends` (T_output, T_input) booleans; `causal`: what lies right of the diagonal is a leak.

    `title`, `count` and `note` are words.
    """

    title: str
    depends: Tensor
    count: str
    note: str
    causal: bool = False

    def spoken(self) -> str:
        return t(f"{TX}.label", title=self.title, count=self.count, note=self.note)


class DependencyView(anywidget.AnyWidget):
    """Maps side by side, a legend below. `frame` holds everything that is drawn."""

    _esm = script("nodes", "svg", "dependency_view")
    _css = axis_css() + style("dependency_view")

    frame = traitlets.Dict().tag(sync=True)

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.frame = {"maps": [], "reason": ""}

    def show(self, maps: Sequence[DependencyMap], heading: str) -> None:
        words = ("axes", "depends", "free", "looks_ahead")
        self.frame = {
            "heading": heading,
            "maps": [
                {
                    "title": one.title,
                    "count": one.count,
                    "note": one.note,
                    "spoken": one.spoken(),
                    "causal": one.causal,
                    "rows": one.depends.int().tolist(),
                }
                for one in maps
            ],
            "words": {word: t(f"{TX}.{word}") for word in words},
            "reason": "",
        }

    def clear(self, reason: str) -> None:
        """Take the maps away. The height stays."""
        self.frame = self.frame | {"reason": reason}
