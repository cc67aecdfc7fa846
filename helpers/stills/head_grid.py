"""A grid of heads as a still picture, with its marks, its read-out and its legend."""

from textwrap import wrap

from ..palette import HEAD_COLOURS
from .page import ACCENT, LINE, MUTE, Figure, Page, own_style

EDGE, LABEL, CELL, HIGH, GAP = 12, 30, 58, 36, 4
CHARACTERS = 110  # in a line of words
STYLES = {  # role: (edge colour, line style), as the page's own style sheet has them
    "previous": (HEAD_COLOURS[0], "-"),
    "next": (HEAD_COLOURS[5], "--"),
    "sink": (HEAD_COLOURS[6], ":"),
    "best": (HEAD_COLOURS[2], "-"),
    "above": (HEAD_COLOURS[2], "-"),
}


def head_grid_figure(frame: dict, lines: list[str] = ()) -> Figure:
    """`frame` as `HeadGrid` has it; `lines` of words stand below."""
    columns = frame["columns"]
    with own_style():
        page = Page(2 * EDGE + LABEL + columns * (CELL + GAP))
        most = page.width - 2 * EDGE
        page.text(EDGE, 24, frame["title"], weight="bold", size=14, most=most)
        for c in range(columns):
            x = EDGE + LABEL + c * (CELL + GAP) + CELL / 2
            page.text(x, 46, f"H{c + 1}", size=11, colour=MUTE, ha="center")
        y = 52
        for at, cell in enumerate(frame["cells"]):
            r, c = divmod(at, columns)
            x, y = EDGE + LABEL + c * (CELL + GAP), 52 + r * (HIGH + GAP)
            if c == 0:
                page.text(EDGE, y + 22, f"L{r + 1}", size=11, colour=MUTE)
            edge, line = STYLES.get(cell["role"], (LINE, "-"))
            page.box(x, y, CELL, HIGH, face=_mixed(cell["shade"]), edge=edge,
                     line=2 if cell["role"] else 1, linestyle=line)  # fmt: skip
            if cell["mark"]:
                middle = x + CELL / 2
                page.text(middle, y + 15, cell["mark"], size=12, weight="bold", ha="center")
            number = cell["number"] if cell["on"] else f"– {cell['number']} –"
            page.text(x + CELL / 2, y + 30, number, size=11, ha="center", most=CELL - 4)
        y += HIGH + 22
        entries = [f"{e['mark']} {e['words']}" for e in frame["legend"]]
        for line in (part for text in (*entries, *lines) for part in wrap(text, CHARACTERS)):
            page.text(EDGE, y, line, size=12, most=most)
            y += 18
        return page.finish(y)


def _mixed(shade: float) -> tuple[float, ...]:
    accent = [int(ACCENT[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    part = 0.55 * shade
    return tuple(1 - part + part * a for a in accent)
