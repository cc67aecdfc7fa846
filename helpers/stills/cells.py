"""Tensors cell by cell, the memory below them, and dependency maps, as a still picture."""

from collections.abc import Sequence
from itertools import groupby

from ..palette import AXIS_COLOURS
from ..reshaping.cells import CellTable, head_inks, head_of, row_names, strip_of, table_of
from ..texts import t
from ..views.cell_view import CellPanel
from ..views.dependency_view import DependencyMap
from .page import LINE, MUTE, TEXT, Figure, Page, line_width, own_style
from .steps import math_pieces, tuple_pieces

EDGE, GAP, CELL, LABELS = 12, 24, 27, 76  # px
NUMBER, LEAK = 24, "#e69f00"
TX = "explorer_reshape"


def reshape_figure(
    panels: Sequence[CellPanel],
    sentence: str,
    at: int,
    maps: Sequence[DependencyMap],
    heading: str,
) -> Figure:
    """Panels side by side at step `at`, the sentence about both, memory, and the maps."""
    with own_style():
        page = Page()
        width = (page.width - 2 * EDGE - GAP) / 2
        bottoms = [
            _draw_panel(page, EDGE + i * (width + GAP), 14, width, panel, at)
            for i, panel in enumerate(panels)
        ]
        y = _write(page, EDGE, max(bottoms) + 22, page.width - 2 * EDGE, sentence, weight="bold")
        y += 8
        for panel in panels:
            y = _draw_strip(page, y, panel)
        y = _draw_maps(page, y + 14, maps, heading)
        page.text(EDGE, y + 14, t("explorer.still"), colour=MUTE, size=12)
        return page.finish(y + 26)


def _write(page: Page, x: float, y: float, width: float, text: str, **style) -> float:
    """Words that wrap at `width`; the baseline of the last line."""
    style = {"size": 12.5, "colour": TEXT} | style
    at = x
    for word in text.split(" "):
        pieces = math_pieces(word, **style)
        needed = sum(_width(piece) for piece in pieces)
        if at > x and at + needed > x + width:
            at, y = x, y + 17
        at += page.pieces(at, y, pieces) + 4
    return y


def _width(piece) -> float:
    text, style = piece
    return line_width(text, **style) if text else 0


def _draw_panel(page: Page, x, y, width, panel: CellPanel, at: int) -> float:
    stop, tensor = panel.stop, panel.stop.numbers
    top = y
    x, inner = x + 10, width - 20
    page.text(x, y + 14, panel.title, weight="bold", size=13, most=inner)
    operation = f" = {stop.operation}" if stop.operation else f" · {t(f'{TX}.nothing')}"
    made = math_pieces(stop.name, 13.5, TEXT, weight="bold", family="serif", style="italic")
    made += math_pieces(operation, 12, TEXT)
    page.pieces(x, y + 35, made)
    shape = tuple_pieces(stop.symbols, stop.symbols, 12)
    shape += [(" = ", {"size": 12})]
    shape += tuple_pieces(list(tensor.shape), stop.symbols, 12, weight="bold")
    page.pieces(x, y + 54, shape)
    order = f"{TX}.cells.{'contiguous' if tensor.is_contiguous() else 'not_contiguous'}"
    strides = [(f"{t(f'{TX}.cells.strides')} ", {"size": 12})]
    strides += tuple_pieces(tensor.stride(), stop.symbols, 12, weight="bold")
    page.pieces(x, y + 73, [*strides, (f" · {t(order)}", {"size": 12})])
    y = _write(page, x, y + 93, inner, panel.notes[at], colour=MUTE, size=12)
    table = table_of(stop, panel.sizes, panel.marks)
    y = _draw_table(page, x, y + 14, inner, table, panel.sizes["H"])
    y = _write(page, x, y + 20, inner, panel.rules[at], size=12) + 12
    page.box(x - 10, top - 4, width, y - top + 4, edge=LINE, round=7)
    return y


def _draw_table(page: Page, x, y, width, table: CellTable, H: int) -> float:
    gap = 12 if table.groups > 1 else 0
    cells = table.groups * table.columns
    room = width - LABELS - gap * (table.groups - 1) - 3 * cells
    cell = min(CELL, room / cells)
    inks = head_inks(H)
    has_heads = "H" if table.groups > 1 or table.frames == "groups" else ""
    ends = {"size": 10.5, "ha": "right", "most": LABELS - 6}
    colours = {axis: pair[0] for axis, pair in AXIS_COLOURS.items()}

    def left(group: int, column: int) -> float:
        return x + LABELS + group * (table.columns * (cell + 3) + gap) + column * (cell + 3)

    if has_heads:
        page.text(x + LABELS - 8, y + 10, table.names["group"], colour=colours["H"], **ends)
    column_colour = colours[table.column_axis]
    page.text(x + LABELS - 8, y + 26, table.names["column"], colour=column_colour, **ends)
    small = {"size": 10.5, "ha": "center"}
    for group in range(table.groups):
        middle = (left(group, 0) + left(group, table.columns - 1) + cell) / 2
        if has_heads:
            page.text(middle, y + 10, str(group), colour=colours["H"], weight="bold", **small)
        for column in range(table.columns):
            middle = left(group, column) + cell / 2
            page.text(middle, y + 26, str(column), colour=column_colour, **small)
    top = y + 34
    for row, name in enumerate(row_names(table)):
        baseline = top + row * (CELL + 4) + CELL / 2 + 4
        page.text(x + LABELS - 8, baseline, name, colour=colours["T"], **ends)
    right = left(table.groups - 1, table.columns - 1) + cell
    if table.frames == "rows":
        for row in range(table.rows):
            down = top + row * (CELL + 4) - 2
            page.box(left(0, 0) - 3, down, right - left(0, 0) + 6, CELL + 4, edge=MUTE, round=4)
    else:
        for group in range(table.groups):
            across = left(group, table.columns - 1) + cell - left(group, 0) + 6
            height = table.rows * (CELL + 4)
            page.box(left(group, 0) - 3, top - 2, across, height, edge=MUTE, round=4)
    for one in table.cells:
        at = left(one.group, one.column), top + one.row * (CELL + 4)
        _draw_cell(page, *at, cell, one, inks)
    bottom = top + table.rows * (CELL + 4)
    if table.left_out:
        page.text(x, bottom + 12, table.left_out, size=11, colour=MUTE, most=width)
        bottom += 14
    return bottom


def _draw_cell(page: Page, x, y, cell, one, inks) -> None:
    gid = f"cell-{one.key}{'-differs' if one.marked else ''}"
    paper, ink = ("#eceff1", TEXT) if len(one.heads) > 1 else inks[one.heads[0]]
    page.box(x, y, cell, CELL, face=paper, round=3, line=0, gid=gid)
    if len(one.heads) > 1:
        for i, head in enumerate(one.heads):
            page.box(
                x + 2 + i * (cell - 4) / 2, y + CELL - 5, (cell - 4) / 2, 3, face=inks[head][0]
            )
    style = {"size": 11.5, "weight": "bold", "ha": "center", "most": cell - 2}
    page.text(x + cell / 2, y + CELL / 2 + 4, one.text, colour=ink, **style)
    if one.marked:
        page.box(x + 3, y + 3, cell - 6, CELL - 6, edge=ink, line=1.2, linestyle="--")
        page.box(x + cell - 7, y - 5, 12, 12, face=TEXT, round=3, line=0)
        page.text(x + cell - 1, y + 5, "≠", size=10.5, weight="bold", colour="white", ha="center")


def _draw_strip(page: Page, y, panel: CellPanel) -> float:
    """The numbers in memory, and in reading order with a line that breaks where it jumps."""
    page.text(EDGE, y + 14, panel.route, size=12, weight="bold")
    strip = strip_of(panel.stop)
    if strip is None:
        page.text(EDGE, y + 32, t(f"{TX}.cells.no_strip"), size=12, colour=MUTE)
        return y + 42
    y += 22
    labels = 150
    fit = int((page.width - 2 * EDGE - labels) // NUMBER)
    reading = f"{t(f'{TX}.cells.reading')}: {strip.words}"
    lines = (
        (t(f"{TX}.cells.in_memory"), strip.memory, None),
        (reading, strip.reading, strip.jumps),
    )
    for label, numbers, jumps in lines:
        page.text(EDGE, y + 14, label, size=11.5, colour=MUTE, most=labels - 8)
        for i, number in enumerate(numbers):
            at = EDGE + labels + (i % fit) * NUMBER, y + (i // fit) * 26
            _draw_number(page, *at, number, panel.sizes)
        if jumps:
            _draw_runs(page, EDGE + labels, y + 20, jumps, fit)
        y += 26 * -(-len(numbers) // fit)
    return y + 4


def _draw_number(page: Page, x, y, number: int, sizes: dict[str, int]) -> None:
    head = head_of(number, sizes["d_model"], sizes["d_k"])
    paper, ink = head_inks(sizes["H"])[head]
    page.box(x, y, NUMBER - 4, 18, face=paper)
    style = {"size": 10.5, "weight": "bold", "ha": "center"}
    page.text(x + (NUMBER - 4) / 2, y + 13, str(number), colour=ink, **style)


def _draw_runs(page: Page, x, y, jumps: Sequence[bool], fit: int) -> None:
    """One line under each run of neighbours in memory."""
    run = 0
    runs = []
    for jump in jumps:
        run += jump
        runs.append(run)
    for _, places in groupby(range(len(jumps)), key=lambda i: (runs[i], i // fit)):
        places = list(places)
        left = x + (places[0] % fit) * NUMBER
        page.box(left, y, len(places) * NUMBER - 4, 2, face=MUTE)


def _draw_maps(page: Page, y, maps: Sequence[DependencyMap], heading: str) -> float:
    page.text(EDGE, y + 14, heading, weight="bold", size=13, most=page.width - 2 * EDGE)
    y += 40
    slot = (page.width - 2 * EDGE) / len(maps)
    side = 176
    bottoms = []
    for i, one in enumerate(maps):
        x = EDGE + i * slot
        page.text(x, y, one.title, size=12, most=slot - 14)
        _draw_map(page, x, y + 8, side, one)
        page.text(x, y + side + 26, one.count, size=12.5, weight="bold", most=slot - 14)
        low = _write(page, x, y + side + 44, slot - 20, one.note, size=11.5, colour=MUTE)
        bottoms.append(low)
    return max(bottoms) + 8


def _draw_map(page: Page, x, y, side, one: DependencyMap) -> None:
    page.box(x, y, side, side, edge=LINE)
    T = len(one.depends)
    cell = side / T
    for i, row in enumerate(one.depends.tolist()):
        for j, yes in enumerate(row):
            at = x + j * cell, y + i * cell
            if not yes:
                dot = cell * 0.2
                page.box(at[0] + cell * 0.4, at[1] + cell * 0.4, dot, dot, face=MUTE)
                continue
            leak = one.causal and j > i
            page.box(
                at[0] + 0.5, at[1] + 0.5, cell - 1, cell - 1,
                face=LEAK if leak else "#5a5f66",
            )  # fmt: skip
            if leak:
                mark = {"size": min(cell, 14), "weight": "bold", "ha": "center", "colour": "black"}
                page.text(at[0] + cell / 2, at[1] + cell / 2 + 0.32 * min(cell, 14), "×", **mark)
