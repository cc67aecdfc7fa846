"""Signed heat maps beside one another, and the shares of the heads, as a still picture."""

from collections.abc import Sequence
from math import ceil

import numpy as np
from matplotlib.colors import ListedColormap

from ..palette import head_colour
from ..signed_colours import signed_colours
from ..texts import t
from ..views.heat_view import Heat, signed
from ..wording import bar_number
from .page import LINE, MUTE, TEXT, Figure, Page, own_style

EDGE, GAP, LABELS = 12, 28, 78  # px
ROW, LABEL_ROOM, NUMBER_ROOM = 19, 13, 22  # px of a row, and what a name or number needs
TALLEST = 380
TX = "explorer_gates"


def gates_figure(
    heats: Sequence[Heat],
    tokens: Sequence[str],
    most: float,
    shares: Sequence[float],
    names: Sequence[str],
) -> Figure:
    """Each head's share in words, then the maps on one scale from −most to most.

    `heats` are those of `HeatView`, `tokens` their rows; `shares` and `names` one per head.
    """
    with own_style():
        page = Page()
        page.text(EDGE, EDGE + 14, t(f"{TX}.shares"), weight="bold", most=page.width - 2 * EDGE)
        entries = [
            ([(f"{name} ", {}), (bar_number(share), {"weight": "bold"})], {"face": head_colour(i)})
            for i, (name, share) in enumerate(zip(names, shares, strict=True))
        ]
        y = page.flow(EDGE, EDGE + 36, entries, line=18, size=12.5) + 24
        width = (page.width - 2 * EDGE - GAP * (len(heats) - 1)) / len(heats)
        for i, heat in enumerate(heats):
            bottom = _draw_map(page, EDGE + i * (width + GAP), y, width, heat, tokens, most)
        y = _draw_scale(page, bottom + 14, most)
        page.text(EDGE, y + 14, t("explorer.still"), colour=MUTE, size=12)
        return page.finish(y + 26)


def _colour_map() -> ListedColormap:
    return ListedColormap(np.array(signed_colours()) / 255)


def _draw_map(page: Page, x, y, width, heat: Heat, tokens: Sequence[str], most: float) -> float:
    array = heat.array()
    T, C = array.shape
    title = [
        (heat.title, {"weight": "bold", "size": 13}),
        ("  ", {}),
        (heat.note, {"colour": MUTE}),
    ]
    page.pieces(x, y + 10, title, size=12)
    x, width = x + LABELS, width - LABELS
    top = _draw_blocks(page, x, y + 18, width, heat)
    height = min(TALLEST, ROW * T)
    parts = 0.5 + 0.5 * np.clip(array / most, -1, 1)
    page.image(x, top, width, height, parts, gid=f"heat-{heat.title}", cmap=_colour_map())
    page.box(x, top, width, height, edge=LINE)
    column = 0
    for block in heat.blocks[:-1]:
        column += block.size
        page.box(x + width * column / C, top, 0, height, edge=MUTE, line=2)
    step = ceil(LABEL_ROOM * T / height)
    for row in range(0, T, step):
        middle = top + height * (row + 0.5) / T
        page.text(x - 7, middle + 4, tokens[row], size=12, ha="right", most=LABELS - 8)
    step = ceil(NUMBER_ROOM * C / width)
    for number in range(0, C, step):
        middle = x + width * (number + 0.5) / C
        page.text(middle, top + height + 15, str(number), size=11, colour=MUTE, ha="center")
    return top + height + 20


def _draw_blocks(page: Page, x, y, width, heat: Heat) -> float:
    """The name of each block of columns over a strip in its colours; where the map begins."""
    columns = sum(block.size for block in heat.blocks)
    for block in heat.blocks:
        part = width * block.size / columns
        name = block.name if part >= 62 else block.short
        page.text(x + part / 2, y + 14, name, size=12, ha="center", most=part, colour=TEXT)
        stripes = max(len(block.colours), int(part / 12)) if len(block.colours) > 1 else 1
        for i in range(stripes):
            colour = block.colours[i % len(block.colours)]
            left = x + 1 + (part - 2) * i / stripes
            page.box(left, y + 19, (part - 2) / stripes, 6, face=colour, line=0)
        x += part
    return y + 28


def _draw_scale(page: Page, y, most: float) -> float:
    x, width = EDGE + LABELS, 210
    strip = np.linspace(0, 1, width)[None]
    page.image(x, y, width, 11, strip, gid="scale", cmap=_colour_map())
    end = signed(most)
    for text, at, side in ((f"−{end}", 0, "left"), ("0", 0.5, "center"), (end, 1, "right")):
        page.text(x + at * width, y + 25, text, size=11, colour=MUTE, ha=side)
    page.text(x + width + 22, y + 11, t(f"{TX}.heat.page.columns"), size=11.5, colour=MUTE)
    return y + 30
