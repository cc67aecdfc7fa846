"""Still pictures of what the live views show: arrays in, `matplotlib.figure.Figure` out.

The same fixed scale from 0 to 1, the same colours for heads and axes, the same words.
Nothing here touches pyplot, chooses a backend or minds the reader's rcParams.
"""

from collections.abc import Mapping, Sequence

from .shapes import ShapeStep
from .stills.bars import draw_bars
from .stills.maps import EDGE, draw_maps
from .stills.page import MUTE, Figure, Page, own_style, png
from .stills.steps import draw_steps
from .texts import t

__all__ = ["attention_figure", "bar_figure", "explorer_figure", "png", "shape_trace_figure"]


def attention_figure(
    weights,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    selected: int = 0,
    columns: int | None = None,
    pointed: Sequence[int] | None = None,
    title: str = "",
    footer: str = "",
) -> Figure:
    """All heads small, head `selected` (from 0) large, on one fixed scale from 0 to 1.

    `weights` (H, T_query, T_key), a tensor or array of any float type; `queries` and `keys`
    the tokens on rows and columns (keys: the same when None); `columns` small maps in a row;
    `pointed` the cell (query, key) to frame and read out. A row of zeros is hatched.
    Raises ValueError when the weights are not one sequence's or do not fit the tokens.
    """
    with own_style():
        page = Page()
        y = _line(page, EDGE, title, weight="bold", size=14)
        y = draw_maps(page, y, weights, queries, keys, names, selected, columns, pointed)
        return page.finish(_line(page, y, footer, colour=MUTE, size=12) + 4)


def shape_trace_figure(steps: Sequence[ShapeStep], batch: bool = False) -> Figure:
    """One card per step. Without `batch` the axis B is left out, and a line says so."""
    with own_style():
        page = Page()
        return page.finish(draw_steps(page, EDGE, steps, batch) + 4)


def bar_figure(
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    title: str = "",
    markers: Mapping[str, float] | None = None,
) -> Figure:
    """One bar per label and series, {"with scale": values, …}; values from 0 to 1.

    `markers` are named lines across all bars. Raises ValueError for values out of range or
    not one per label.
    """
    with own_style():
        page = Page(640)
        return page.finish(draw_bars(page, EDGE, labels, series, title, markers) + 4)


def explorer_figure(
    steps: Sequence[ShapeStep],
    weights,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    selected: int = 0,
    columns: int | None = None,
    pointed: Sequence[int] | None = None,
    caption: str | None = None,
    batch: bool = False,
) -> Figure:
    """The shape trace, the maps below it, and a caption: by default that this is a still.

    Arguments as for `shape_trace_figure` and `attention_figure`.
    """
    with own_style():
        page = Page()
        y = draw_steps(page, EDGE, steps, batch) + 14
        y = draw_maps(page, y, weights, queries, keys, names, selected, columns, pointed)
        caption = t("explorer.still") if caption is None else caption
        return page.finish(_line(page, y, caption, colour=MUTE, size=12) + 4)


def _line(page: Page, y: float, text: str, **style) -> float:
    """One line of text from edge to edge, if there is any; the height where it ended."""
    if not text:
        return y
    page.text(EDGE, y + 14, text, most=page.width - 2 * EDGE, **style)
    return y + 26
