"""Training curves as a still picture: one line for each run, on a fixed scale from 0 to 1."""

from collections.abc import Sequence

from matplotlib.lines import Line2D

from ..texts import t
from ..views.curve_view import TX, Series
from .page import LINE, MUTE, Figure, Page, line_width, own_style

EDGE, LEFT, WIDTH, HEIGHT = 12, 46, 680, 220  # px
STYLES = (  # models differ by dashes as well as by colour, the same as in the live view
    {"color": "#d55e00", "linestyle": (0, (4, 2.4))},
    {"color": "#0969da", "linestyle": "-"},
    {"color": "#009e73", "linestyle": (0, (1, 2))},
)


def curve_figure(series: Sequence[Series], steps: int, caption: str = "") -> Figure:
    """The curves of each model over `steps` steps, and a line of words below."""
    with own_style():
        page = Page(WIDTH)
        y = EDGE + 14
        page.text(EDGE, y, t(f"{TX}.title"), weight="bold", size=13)
        y = _draw_legend(page, y + 20, series) + 12
        _draw_axes(page, y, steps)
        for i, one in enumerate(series):
            for n, curve in enumerate(one.curves):
                _draw_line(page, y, curve, steps, STYLES[i % len(STYLES)], f"curve-{i}-{n}")
        y += HEIGHT + 20
        if caption:
            y += 18
            page.text(EDGE, y, caption, colour=MUTE, size=12, most=WIDTH - 2 * EDGE)
        return page.finish(y + 12)


def _draw_legend(page: Page, y: float, series: Sequence[Series]) -> float:
    at = EDGE
    for i, one in enumerate(series):
        needed = 38 + line_width(one.name, size=12)
        if at > EDGE and at + needed > WIDTH - EDGE:
            at, y = EDGE, y + 18
        _line(page, [at, at + 30], [y - 4, y - 4], STYLES[i % len(STYLES)], f"legend-{i}")
        page.text(at + 37, y, one.name, size=12)
        at += needed + 20
    return y


def _draw_axes(page: Page, top: float, steps: int) -> None:
    for share in (0, 0.2, 0.4, 0.6, 0.8, 1):
        y = top + (1 - share) * HEIGHT
        page.box(LEFT, y, WIDTH - LEFT - EDGE, 0, edge=LINE, line=1)
        page.text(LEFT - 7, y + 4, f"{share:.1f}", ha="right", size=11, colour=MUTE)
    page.text(LEFT, top + HEIGHT + 17, "0", ha="center", size=11, colour=MUTE)
    last = f"{t(f'{TX}.step')} {steps}"
    page.text(WIDTH - EDGE, top + HEIGHT + 17, last, ha="right", size=11, colour=MUTE)


def _draw_line(page: Page, top: float, curve, steps: int, style: dict, gid: str) -> None:
    if len(curve) < 2:
        return
    x = [LEFT + step / steps * (WIDTH - LEFT - EDGE) for step, _ in curve]
    y = [top + (1 - share) * HEIGHT for _, share in curve]
    _line(page, x, y, style, gid)


def _line(page: Page, x: list, y: list, style: dict, gid: str) -> None:
    line = Line2D(x, y, linewidth=1.5, transform=page.axes.transData, **style)
    line.set_gid(gid)
    page.figure.add_artist(line)
