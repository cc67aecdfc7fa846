"""The still picture of the playground: the comparison, then the maps of both sides."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..texts import t
from .maps import draw_maps
from .page import LINE, MUTE, Figure, Page, line_width, own_style

EDGE, HEAD, ROW = 12, 110, 20  # px
TX = "explorer_playground.table"


@dataclass(frozen=True)
class StillSide:
    """One side: its heading, and its maps (H, T, T) with `selected` enlarged, or the reason why
    there are none."""

    heading: str
    weights: object = None
    tokens: Sequence[str] = ()
    selected: int = 0
    reason: str = ""


def playground_figure(
    sides: Sequence[StillSide],
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    sentence: str,
) -> Figure:
    """`names` of the quantities, and for each (left, right, from left to right) in `rows`;
    both empty where nothing can be compared. `sentence` stands above."""
    with own_style():
        page = Page()
        y = _line(page, EDGE, sentence, size=13)
        y = _draw_table(page, y + 4, names, rows) if names else y
        for side in sides:
            page.box(EDGE, y + 8, page.width - 2 * EDGE, 0, edge=LINE, line=2)
            y = _line(page, y + 14, side.heading, size=14, weight="bold") + 4
            if side.weights is None:
                y = _wrapped(page, y, side.reason, size=12.5)
            else:
                y = draw_maps(page, y, side.weights, side.tokens, selected=side.selected)
        return page.finish(_line(page, y, t("explorer.still"), size=12, colour=MUTE) + 4)


def _draw_table(page: Page, y: float, names, rows) -> float:
    """Quantities in columns; left, right and the change between them in rows."""
    width = (page.width - 2 * EDGE - HEAD) / len(names)
    lines = [("", names), *zip(_heads(), zip(*rows, strict=True), strict=True)]
    for i, (head, cells) in enumerate(lines):
        bold = {"weight": "bold"} if i in (0, 3) else {}
        if head:
            page.text(EDGE, y + 14, head, size=12, weight="bold", most=HEAD - 8)
        for j, cell in enumerate(cells):
            page.text(EDGE + HEAD + j * width, y + 14, cell, size=12, most=width - 10, **bold)
        y += ROW
        if i in (0, 2):
            page.box(EDGE, y, page.width - 2 * EDGE, 0, edge=LINE)
    return y + 4


def _heads() -> list[str]:
    return [t(f"{TX}.{name}") for name in ("left", "right", "change")]


def _wrapped(page: Page, y: float, text: str, **style) -> float:
    """Text over as many lines as it needs; the height where it ended."""
    line, room = "", page.width - 2 * EDGE
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and line_width(longer, **style) > room:
            page.text(EDGE, y + 14, line, **style)
            line, longer, y = word, word, y + ROW
        line = longer
    return _line(page, y, line, **style)


def _line(page: Page, y: float, text: str, **style) -> float:
    page.text(EDGE, y + 14, text, most=page.width - 2 * EDGE, **style)
    return y + 24
