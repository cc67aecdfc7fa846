"""Graphs over one row of tokens as a still picture, from the frame that the live view draws."""

from textwrap import wrap

from matplotlib.patches import PathPatch, Polygon
from matplotlib.path import Path

from .page import DPI, LINE, MUTE, TEXT, Figure, Page, line_width, own_style

EDGE, TOP = 12, 62  # px; the picture begins below the title and the line of heads
CHARACTERS = 140
CURVE = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
FOUND, MISSED = {"colour": TEXT, "width": 2.0}, {"colour": MUTE, "width": 1.2, "dashes": (1.5, 3.5)}


def graph_figure(frame: dict, lines: list[str] = ()) -> Figure:
    """`frame` as `GraphView` has it; `lines` of words stand below."""
    width, height = frame["size"]
    words = frame["words"]
    with own_style():
        page = Page(width + 2 * EDGE)
        page.text(EDGE, 24, frame["title"], weight="bold", size=14, most=width)
        _heads(page, frame)
        for y in frame["lines"]:
            page.box(EDGE, TOP + y, width, 0, edge=LINE)
        for edge in frame["tree"]:
            style = FOUND if edge["found"] else MISSED
            _curve(page, edge["points"], -1, 3.5, **style)
        for edge in frame["arcs"]:
            head = frame["buttons"][edge["head"]]
            _curve(page, edge["points"], 1, 3 + edge["width"] / 3, colour=head["colour"],
                   width=edge["width"], dashes=head["dashes"])  # fmt: skip
        _labels(page, frame)
        page.text(EDGE + 4, TOP + 12, words["above"], size=12, colour=MUTE)
        page.text(EDGE + 4, TOP + height - 4, words["below"], size=12, colour=MUTE)
        middle, (above, below) = EDGE + width / 2, frame["lines"]
        if frame["empty"]:
            page.text(middle, TOP + above / 2, frame["empty"], ha="center", most=width)
        if frame["treeless"]:
            page.text(middle, TOP + below + 50, words["treeless"], ha="center", most=width)
        y = TOP + height + 22
        for line in wrap(" · ".join(lines), CHARACTERS):
            page.text(EDGE, y, line, size=12, most=width)
            y += 18
        return page.finish(y)


def _heads(page: Page, frame: dict) -> None:
    """The picked heads, each with its line and its number of edges; then the scale."""
    x, y = EDGE, 48
    for one in frame["buttons"]:
        if one["on"]:
            text = f"{one['name']}: {one['count']}"
            _line(page, [(x, y - 4), (x + 26, y - 4)], [Path.MOVETO, Path.LINETO],
                  colour=one["colour"], width=3, dashes=one["dashes"])  # fmt: skip
            page.text(x + 32, y, text, size=12)
            x += 48 + line_width(text, size=12)
    x += 20
    page.text(x, y, frame["words"]["scale"], size=12, colour=MUTE)
    x += 10 + line_width(frame["words"]["scale"], size=12)
    for weight, width in frame["scale"]:
        _line(page, [(x, y - 4), (x + 26, y - 4)], [Path.MOVETO, Path.LINETO], width=width)
        page.text(x + 32, y, weight, size=12, colour=MUTE)
        x += 44 + line_width(weight, size=12)


def _labels(page: Page, frame: dict) -> None:
    for edge in frame["tree"]:
        p = edge["points"]
        x, y = EDGE + (p[0] + p[6]) / 2, TOP + p[1] + 0.75 * (p[3] - p[1]) + 4
        room = line_width(edge["relation"], size=11)
        page.box(x - room / 2 - 2, y - 10, room + 4, 13, face="white")
        weight = "bold" if edge["found"] else "normal"
        page.text(x, y, edge["relation"], size=11, ha="center", weight=weight)
    for token in frame["tokens"]:
        style = "italic" if token["special"] else "normal"
        page.text(EDGE + token["x"], TOP + token["y"], token["text"], size=12.5, ha="center",
                  style=style, most=130)  # fmt: skip


def _curve(page: Page, points, side: int, size: float, *, colour, width, dashes=()) -> None:
    places = [(EDGE + x, TOP + y) for x, y in zip(points[::2], points[1::2], strict=True)]
    _line(page, places, CURVE, colour=colour, width=width, dashes=dashes)
    x, y = places[-1]
    corners = [(x - size, y - side * 2 * size), (x + size, y - side * 2 * size), (x, y)]
    page.figure.add_artist(
        Polygon(corners, facecolor=colour, edgecolor="none", transform=page.axes.transData)
    )


def _line(page: Page, places, codes, *, colour=TEXT, width, dashes=()) -> None:
    points = width * 72 / DPI
    # matplotlib counts dashes in widths of the line
    style = (0, tuple(d / max(width, 0.1) for d in dashes)) if dashes else "-"
    page.figure.add_artist(
        PathPatch(Path(places, codes), facecolor="none", edgecolor=colour, linewidth=points,
                  linestyle=style, capstyle="butt", transform=page.axes.transData)
    )  # fmt: skip
