"""One distribution over tokens as horizontal bars: how a query spends its attention."""

from collections.abc import Mapping, Sequence

import anywidget
import traitlets

from ..palette import axis_css
from ..texts import t
from ..wording import bar_number, check_bars, describe_bars, sum_text
from .source import script, style


class BarView(anywidget.AnyWidget):
    """Horizontal bars on a fixed scale from 0 to 1, one for each label, repeats kept apart.

    `frame` holds everything that is drawn, so that a change arrives at once or not at all.
    """

    _esm = script("nodes", "bar_view")
    _css = axis_css() + style("bar_view")

    frame = traitlets.Dict().tag(sync=True)

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._description = ""
        self.frame = {"labels": [], "series": [], "markers": [], "title": "", "reason": ""}

    def show(
        self,
        labels: Sequence[str],
        values: Sequence[float],
        *,
        title: str = "",
        total: float | None = None,
        colours: Sequence[str] | None = None,
        markers: Mapping[str, float] | None = None,
    ) -> None:
        """Draw one bar per label.

        `total` is what the line below says the sum is; by default the sum of the values.
        `colours` gives each bar its own, `markers` draws named lines across: {"one half": 0.5}.
        Raises ValueError when the numbers do not fit the labels or leave 0 to 1.
        """
        totals = None if total is None else [[total]]
        self._draw(labels, {"": values}, title, totals, colours, markers)

    def show_series(
        self,
        labels: Sequence[str],
        series: Mapping[str, Sequence[float]],
        *,
        title: str = "",
        markers: Mapping[str, float] | None = None,
    ) -> None:
        """Draw several values per label beside one another, {"with scale": values, …}."""
        self._draw(labels, series, title, None, None, markers)

    def clear(self, reason: str = "") -> None:
        """Empty the bars and say why. Labels and height stay."""
        self._description = reason or t("figures.bars.cleared")
        self.frame = self.frame | {"reason": self._description}

    def describe(self) -> str:
        """What is drawn, in words."""
        return self._description

    def _draw(self, labels, series, title, totals, colours, markers) -> None:
        labels = [str(label) for label in labels]
        series = {str(name): [float(v) for v in values] for name, values in series.items()}
        check_bars(labels, series)
        if colours is not None and len(colours) != len(labels):
            counts = {"count": len(colours), "labels": len(labels)}
            raise ValueError(t("figures.bars.error.colours", **counts))
        totals = totals or series.values()
        self._description = describe_bars(labels, series, title)
        self.frame = {
            "labels": labels,
            "series": [
                {
                    "name": name,
                    "values": values,
                    "numbers": [bar_number(v) for v in values],
                    "total": sum_text(total),
                }
                for (name, values), total in zip(series.items(), totals, strict=True)
            ],
            "markers": [[str(name), float(value)] for name, value in (markers or {}).items()],
            "colours": list(colours or []),
            "title": title,
            "label": title or t("figures.bars.label"),
            "reason": "",
        }
