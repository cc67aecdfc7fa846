"""A mask as a still picture: its cells, its axes beside those of the scores, one row three ways."""

from collections.abc import Sequence

from ..palette import AXIS_COLOURS
from ..texts import t
from .maps import EDGE, LABELS, draw_maps
from .page import LINE, MUTE, TEXT, Figure, Page, line_width, own_style

CELL = 30  # px
RIGHT = 470  # px from the left edge to the tables
ONE, ZERO = {"face": "#fde725", "ink": TEXT}, {"face": "#440154", "ink": "white"}


def mask_figure(
    frame: dict, row: int, weights, tokens: Sequence[str], *, selected: int = 0
) -> Figure:
    """What `MaskView` and, below it, `AttentionView` show: `frame` is the view's own.

    `row` is the query whose row is made three ways; `weights` (H, T, T) and `tokens` are those
    of the maps, `selected` the head enlarged.
    """
    with own_style():
        page = Page()
        left = _draw_grid(page, EDGE, frame)
        right = _draw_shapes(page, EDGE, frame)
        right = _draw_ways(page, right + 16, frame, row)
        y = max(left, right) + 14
        y = draw_maps(page, y, weights, tokens, selected=selected)
        page.text(EDGE, y + 14, t("explorer.still"), colour=MUTE, size=12)
        return page.finish(y + 30)


def _draw_grid(page: Page, y: float, frame: dict) -> float:
    words, tokens = frame["words"], frame["tokens"]
    page.text(EDGE, y + 14, frame["title"], weight="bold", size=14)
    page.text(EDGE, y + 32, words["axes"], colour=MUTE)
    x, top = EDGE + LABELS, y + 44 + min(LABELS, max(line_width(token) for token in tokens))
    for k, token in enumerate(tokens):
        page.text(x + (k + 0.5) * CELL, top - 5, token, upwards=True, most=LABELS - 8)
    sums = x + len(tokens) * CELL + 14
    page.text(sums, top - 5, words["sum"], colour=MUTE, size=12)
    for q, token in enumerate(tokens):
        cy, empty = top + q * CELL, q in frame["empty"]
        weight = "bold" if empty else "normal"
        page.text(x - 8, cy + 19, token, ha="right", most=LABELS - 8, weight=weight)
        for k, cell in enumerate(frame["allowed"][q]):
            _draw_cell(page, x + k * CELL, cy, str(cell), gid=f"mask-{q}-{k}")
        page.text(sums, cy + 19, frame["sums"][q], colour=TEXT if empty else MUTE, weight=weight)
        if empty:
            _draw_hatch(page, sums + 34, cy + 6, gid=f"mask-nothing-{q}")
    return _draw_legend(page, top + len(tokens) * CELL + 10, words)


def _draw_cell(page: Page, x: float, y: float, digit: str, gid: str) -> None:
    style = ONE if digit == "1" else ZERO
    page.box(x + 1, y + 1, CELL - 2, CELL - 2, face=style["face"], line=0, gid=gid)
    page.text(x + CELL / 2, y + 19, digit, ha="center", colour=style["ink"], weight="bold")


def _draw_hatch(page: Page, x: float, y: float, gid: str) -> None:
    page.box(x, y, 24, 18, face="white", edge=MUTE, line=1, hatch="//////", gid=gid)


def _draw_legend(page: Page, y: float, words: dict) -> float:
    x = EDGE
    for digit, name in (("1", "one"), ("0", "zero")):
        _draw_cell(page, x, y, digit, gid=f"mask-legend-{name}")
        x += CELL + 6
        x += page.text(x, y + 19, words[name], colour=MUTE) + 16
    _draw_hatch(page, x, y + 6, gid="mask-legend-none")
    page.text(x + 32, y + 19, words["none"], colour=MUTE)
    return y + CELL


def _draw_shapes(page: Page, y: float, frame: dict) -> float:
    words, axes = frame["words"], frame["axes"]
    page.text(RIGHT, y + 14, words["shapes"], weight="bold", size=14)
    masked = any(there for _, _, there, _ in axes)
    absent = "–" if not masked else None
    lines = [
        ("", [f"{a[0]} {words[name]}" if name else a[0] for a, name in _named(axes)]),
        (words["scores"], [size for _, size, _, _ in axes]),
        (words["mask"], [absent or there or "·" for _, _, there, _ in axes]),
        (words["repeated"], [absent or often or "=" for _, _, _, often in axes]),
    ]
    start = RIGHT + max(line_width(name) for name, _ in lines) + 40
    for n, (name, cells) in enumerate(lines):
        line = y + 38 + 21 * n + 6 * (n == 3)
        if name:
            page.text(RIGHT, line, name)
        for i, cell in enumerate(cells):
            colour = AXIS_COLOURS[axes[i][0]][0] if n < 3 else TEXT
            page.text(start + 76 * i, line, cell, ha="center", weight="bold", colour=colour)
    page.box(RIGHT, y + 86, start + 76 * 3 + 38 - RIGHT, 0, edge=LINE)
    note = words["lined_up" if masked else "no_mask"]
    return _draw_wrapped(page, y + 126, note)


def _named(axes):
    return zip(axes, ("", "", "query", "key"), strict=True)


def _draw_ways(page: Page, y: float, frame: dict, row: int) -> float:
    page.text(
        RIGHT, y + 14, frame["captions"][row], weight="bold", size=14,
        most=page.width - EDGE - RIGHT,
    )  # fmt: skip
    ways = frame["ways"][row]
    start = RIGHT + max(line_width(name) for name, _ in ways) + 62
    step = (page.width - EDGE - start) / max(1, len(frame["tokens"]) - 1)
    lines = [("", frame["tokens"]), *ways]
    for n, (name, cells) in enumerate(lines):
        line = y + 38 + 21 * n + 4 * (n > 0)
        if name:
            page.text(RIGHT, line, name)
        for i, cell in enumerate(cells):
            page.text(
                start + step * i, line, cell, ha="right", most=step - 6,
                colour=TEXT if n else MUTE, weight="bold" if cell == "NaN" else "normal",
                gid=f"way-{n}-{i}" if n else None,
            )  # fmt: skip
    page.box(RIGHT, y + 46, page.width - EDGE - RIGHT, 0, edge=LINE)
    return _draw_wrapped(page, y + 38 + 21 * len(lines) + 6, frame["remarks"][row])


def _draw_wrapped(page: Page, y: float, text: str) -> float:
    """The text in lines that fit the right half; the height where it ended."""
    line, room = "", page.width - EDGE - RIGHT
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and line_width(longer, size=12) > room:
            page.text(RIGHT, y, line, colour=MUTE, size=12)
            line, y = word, y + 17
        else:
            line = longer
    page.text(RIGHT, y, line, colour=MUTE, size=12)
    return y + 6
