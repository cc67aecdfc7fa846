"""Attention maps as a still picture: every head small, one head large with its tokens."""

from collections.abc import Sequence
from math import ceil
from string import Formatter

import numpy as np

from ..palette import WEIGHT_MAP, head_colour
from ..texts import t, texts_under
from ..wording import check_map_labels, map_weights, titles_of
from .page import ACCENT, MUTE, TEXT, Page, line_width
from .text import visible

EDGE = 12  # px of white at the sides
GAP = 26  # px between the small maps and the large one
LABELS = 96  # px for the token labels beside and above the large map
LARGE = 300  # px, the longer side of the large map at most
LABEL_ROOM = 12  # px that a label needs; where cells are smaller, labels are thinned


def draw_maps(
    page: Page,
    y: float,
    weights,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    selected: int = 0,
    columns: int | None = None,
    pointed: Sequence[int] | None = None,
) -> float:
    array = map_weights(weights)
    H = len(array)
    queries = [visible(str(token)) for token in queries]
    keys = queries if keys is None else [visible(str(token)) for token in keys]
    check_map_labels(array.shape, queries, keys, names)
    if names is None:
        names = [t("view.page.head", number=i + 1) for i in range(H)]
    if not 0 <= selected < H:
        raise ValueError(t("view.error.head", head=selected, heads=H, last=H - 1))
    # With rows of layers, a column is a head: it keeps its colour in every layer.
    colours = [head_colour(i % columns if columns else i) for i in range(H)]
    columns = min(columns or _usual_columns(H), H)
    left = 500 if columns <= 8 else 588
    bottom = _draw_small(page, y, array, names, colours, selected, columns, left)
    x = EDGE + left + GAP
    name, colour = names[selected], colours[selected]
    large = _draw_large(page, x, y, array[selected], queries, keys, name, colour, pointed)
    return max(bottom, large)


def _usual_columns(H: int) -> int:
    return 4 if H <= 8 else 8 if H <= 64 else 12


def _sides(shape: tuple[int, ...], longest: float) -> tuple[float, float]:
    """Width and height of a map in whole pixels per cell where cells are larger than pixels.

    A very long map keeps at least a fifth of its width or height, or its cells would vanish.
    """
    Tq, Tk = shape
    side = longest / max(Tq, Tk)
    cell = max(1.0, float(int(side))) if side >= 1 else side
    return max(cell * Tk, longest / 5), max(cell * Tq, longest / 5)


def _draw_map(page, x, y, width, height, weights, gid) -> None:
    """One map; rows with nothing to attend to are hatched."""
    page.image(x, y, width, height, weights, gid=gid, cmap=WEIGHT_MAP)
    row = height / len(weights)
    for q in np.flatnonzero(~weights.any(axis=1)):
        _hatch(page, x, y + q * row, width, row, gid=f"{gid}-nothing-{q}")


def _hatch(page, x, y, width, height, gid) -> None:
    page.box(x, y, width, height, face="white", edge=MUTE, line=0, hatch="//////", gid=gid)


def _draw_small(page, y, array, names, colours, selected, columns, left) -> float:
    slot = left / columns
    roomy = slot >= 90
    title, size = (20, 12.5) if roomy else (13, 8.5 if slot < 55 else 9.5)
    width, height = _sides(array.shape[1:], slot - (20 if roomy else 8))
    row = title + height + (18 if roomy else 9)
    for i, weights in enumerate(array):
        sx = EDGE + (i % columns) * slot
        sy = y + (i // columns) * row
        swatch = size * 0.75
        page.box(sx + 4, sy + title - swatch - 4, swatch, swatch, face=colours[i])
        page.text(
            sx + 4 + swatch + 4, sy + title - 4, names[i], size=size, gid=f"name-{i}",
            most=slot - swatch - 8, weight="bold" if i == selected else "normal",
        )  # fmt: skip
        _draw_map(page, sx + 4, sy + title, width, height, weights, f"head-{i}")
        if i == selected:
            page.box(
                sx, sy - 1, slot - (8 if roomy else 2), title + height + 5,
                edge=ACCENT, line=2, round=4, gid="selected",
            )  # fmt: skip
    bottom = y + ceil(len(array) / columns) * row
    return _draw_scale(page, bottom + 4, bool((~array.any(axis=2)).any()))


def _draw_scale(page, y, hatched: bool) -> float:
    """The colour bar from 0 to 1, and what hatching means where there is any."""
    x = EDGE + 4
    x += page.text(x, y + 11, "0", size=11.5, colour=MUTE) + 9
    page.image(x, y + 1, 190, 11, np.linspace(0, 1, 190)[None], gid="scale", cmap=WEIGHT_MAP)
    words = texts_under("view.page")
    x += 199
    x += page.text(x, y + 11, words["scale"], size=11.5, colour=MUTE)
    if hatched:
        y += 20
        _hatch(page, EDGE + 4, y + 1, 18, 11, "legend-nothing")
        page.text(EDGE + 28, y + 11, words["nothing"], size=11.5, colour=MUTE)
    return y + 20


def _draw_large(page, x, y, weights, queries, keys, name, colour, pointed) -> float:
    page.box(x, y + 4, 10, 10, face=colour)
    page.pieces(
        x + 17, y + 14, [(name, {"weight": "bold"}), ("  ", {}),
        (t("view.page.axes"), {"colour": MUTE})], size=13.5,
    )  # fmt: skip
    width, height = _sides(weights.shape, min(LARGE, page.width - EDGE - x - LABELS))
    longest = max(line_width(key, size=12) for key in keys)
    top, side = y + 30 + min(LABELS, max(longest, 30)), x + LABELS
    _draw_map(page, side, top, width, height, weights, "large")
    row, column = height / len(queries), width / len(keys)
    step = ceil(LABEL_ROOM / row)
    for q in range(0, len(queries), step):
        page.text(
            side - 7, top + (q + 0.5) * row + 4.2, queries[q], size=min(12, 5 + step * row / 2),
            ha="right", most=LABELS - 8, gid=f"query-{q}",
        )  # fmt: skip
    thinned = step
    step = ceil(LABEL_ROOM / column)
    for k in range(0, len(keys), step):
        page.text(
            side + (k + 0.5) * column, top - 5, keys[k], size=min(12, 5 + step * column / 2),
            upwards=True, most=LABELS - 8, gid=f"key-{k}",
        )  # fmt: skip
    y = top + height + 22
    thinned = max(thinned, step)
    if thinned > 1:
        page.text(side, y - 6, t("figures.thinned", step=thinned), size=11, colour=MUTE)
        y += 14
    if pointed is not None and len(pointed) == 2:
        q, k = pointed
        page.box(side + k * column, top + q * row, column, row, edge="white", line=3.5)
        page.box(side + k * column, top + q * row, column, row, edge=ACCENT, line=2, gid="pointed")
        _draw_reading(page, x, y, weights[q], k, titles_of(queries)[q], titles_of(keys)[k], name)
        y += 14
    return y


def _draw_reading(page, x, y, row, k, query, key, name) -> None:
    """What the live view reads out. Each token is a text of its own, in its reading order."""
    template = texts_under("view.page")["readout" if row.any() else "no_keys"]
    values = {"query": query, "key": key, "weight": f"{row[k]:.2f}", "name": name}
    pieces, seen = [], {"name"}
    for words, field, _, _ in Formatter().parse(template):
        pieces.append((words, {}))
        if field:
            value = values[field]
            value = value if len(value) <= 24 else f"{value[:23]}…"
            first = field not in seen  # "bank → river: 0.67" in bold, the repeats after it not
            pieces.append((value, {"weight": "bold", "colour": TEXT} if first else {}))
            seen.add(field)
    room = page.width - EDGE - x
    width = sum(line_width(text, size=13.5, **style) for text, style in pieces if text)
    page.pieces(x, y + 4, pieces, size=13.5 * min(1, 0.95 * room / width), colour=MUTE)
