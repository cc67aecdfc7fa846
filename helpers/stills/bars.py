"""Distributions over tokens as horizontal bars on a fixed scale from 0 to 1."""

from collections.abc import Mapping, Sequence

from ..wording import bar_number, check_bars, sum_text
from .page import ACCENT, MUTE, TEXT, Page

EDGE, LABELS, NUMBERS = 12, 130, 50  # px
# Series differ by pattern as well as by colour.
PATTERNS = (
    {"face": ACCENT},
    {"face": "white", "edge": "#d55e00", "hatch": "/////"},
    {"face": "white", "edge": "#009e73", "hatch": "....."},
    {"face": "#5a5f66"},
)


def draw_bars(
    page: Page,
    y: float,
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    title: str = "",
    markers: Mapping[str, float] | None = None,
) -> float:
    labels = [str(label) for label in labels]
    series = {str(name): [float(v) for v in values] for name, values in series.items()}
    check_bars(labels, series)
    if title:
        page.text(EDGE, y + 12, title, weight="bold", size=13, most=page.width - 2 * EDGE)
        y += 24
    swatches = PATTERNS[: len(series)] if len(series) > 1 else (None,)
    if len(series) > 1:
        legend = [([(name, {})], swatch) for name, swatch in zip(series, swatches, strict=True)]
        y = page.flow(EDGE, y + 12, legend, line=18, size=12) + 12
    x, track = EDGE + LABELS, page.width - 2 * EDGE - LABELS - NUMBERS
    bar = 14 if len(series) == 1 else 10
    row = bar * len(series) + 2 * (len(series) - 1) + 6
    top = y
    for i, label in enumerate(labels):
        page.text(x - 8, y + row / 2 + 3, label, size=12, ha="right", most=LABELS - 8)
        for s, values in enumerate(series.values()):
            _draw_bar(page, x, y + 3 + s * (bar + 2), track, bar, values[i], s, i)
        y += row
    y = _draw_axis(page, x, top, y, track, markers or {})
    totals = [
        ([(f"{name}: " if swatch else "", {}), (sum_text(values), {"weight": "bold"})], swatch)
        for (name, values), swatch in zip(series.items(), swatches, strict=True)
    ]
    return page.flow(EDGE, y + 12, totals, line=18, size=12) + 8


def _draw_bar(page, x, y, track, height, value, series, index) -> None:
    page.box(x, y, track, height, face="#eaedf0")
    style = PATTERNS[series]
    line = 1 if value > 0 else 0
    page.box(x, y, track * value, height, gid=f"bar-{index}-{series}", line=line, **style)
    number = {"size": 12 if height > 10 else 10.5, "ha": "right"}
    page.text(x + track + NUMBERS, y + height / 2 + 4, bar_number(value), **number)


def _draw_axis(page, x, top, y, track, markers) -> float:
    for text, at in (("0", 0), ("1", 1)):
        page.text(x + at * track, y + 12, text, size=11, colour=MUTE, ha="center")
    low = 0
    for name, value in markers.items():
        page.box(x + value * track - 1, top, 0, y - top, edge=TEXT, line=1.5, linestyle=":")
        near = min(value, 1 - value) < 0.2
        low = max(low, 14 * near)
        page.text(x + value * track, y + 12 + 14 * near, name, size=11, colour=MUTE, ha="center")
    return y + 22 + low
