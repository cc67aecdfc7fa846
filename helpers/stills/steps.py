"""The shape trace as a still picture: one card per step, each axis in its colour."""

import re
from collections.abc import Sequence
from math import ceil

from ..palette import AXIS_COLOURS
from ..shapes import ShapeStep
from ..texts import t, texts_under
from ..wording import as_tuple, axis_sizes, batch_text, operation_text, without_batch
from .page import CARD, LINE, MUTE, TEXT, Page

EDGE, ARROW, NARROWEST, HEIGHT, GAP = 12, 20, 102, 92, 9  # px
ITALIC = {"family": "serif", "style": "italic"}


def _colour(axis: str, otherwise: str) -> str:
    return AXIS_COLOURS[axis][0] if axis in AXIS_COLOURS else otherwise


def math_pieces(text: str, size: float, colour: str, **style) -> list[tuple[str, dict]]:
    """Pieces for `Page.pieces`: W_Q with its Q below the line, axes in their colour."""
    pieces, end = [], 0
    for match in re.finditer(r"\b([A-Za-z])_([A-Za-z0-9]+)\b|\b[BTH]\b", text, re.ASCII):
        own = {"size": size, "colour": _colour(match[0], colour), **style}
        pieces.append((text[end : match.start()], {"size": size, "colour": colour, **style}))
        pieces.append((match[1] or match[0], own))
        if match[1]:
            pieces.append((match[2], own | {"size": size * 0.76, "dy": size * 0.22}))
        end = match.end()
    return [*pieces, (text[end:], {"size": size, "colour": colour, **style})]


def tuple_pieces(entries: Sequence[object], axes: Sequence[str], size: float, **style) -> list:
    """(9, 512), each entry in the colour of its axis."""
    pieces = [("(", {"size": size, **style})]
    for i, (entry, axis) in enumerate(zip(entries, axes, strict=True)):
        if i:
            pieces.append((", ", {"size": size, **style}))
        pieces += math_pieces(str(entry), size, _colour(axis, TEXT), **style)
    return [*pieces, (",)" if len(entries) == 1 else ")", {"size": size, **style})]


def draw_steps(page: Page, y: float, steps: Sequence[ShapeStep], batch: bool = False) -> float:
    sizes = axis_sizes(steps)
    note = "" if batch else batch_text(steps)
    shown = list(steps) if batch else [without_batch(step) for step in steps]
    room = page.width - 2 * EDGE
    longest = max((12 + 6.2 * len(as_tuple(step.strides)) for step in shown), default=0)
    fit = max(1, int((room + ARROW) // (max(NARROWEST, longest) + ARROW)))
    columns = ceil(len(shown) / ceil(len(shown) / fit)) if shown else 1
    width = (room + ARROW) / columns - ARROW
    for i, step in enumerate(shown):
        x = EDGE + (i % columns) * (width + ARROW)
        top = y + (i // columns) * (HEIGHT + GAP)
        if i % columns:
            page.text(x - ARROW / 2, top + HEIGHT / 2 + 4, "→", colour=MUTE, ha="center")
        _draw_card(page, x, top, width, step, operation_text(step, sizes))
    y += ceil(len(shown) / columns) * (HEIGHT + GAP)
    return _draw_legend(page, y + 8, shown, note)


def _draw_card(page: Page, x, y, width, step: ShapeStep, operation: str) -> None:
    page.box(x, y, width, HEIGHT, face=CARD, edge=LINE, round=7)
    lines = (
        (18, math_pieces(step.name, 13.5, TEXT, weight="bold", **ITALIC)),
        (35, math_pieces(operation, 11, MUTE)),
        (51, tuple_pieces(step.symbols, step.symbols, 10.5)),
        (68, tuple_pieces(step.shape, step.symbols, 12, family="mono", weight="bold")),
        (83, [(as_tuple(step.strides), {"size": 9.5, "family": "mono", "colour": MUTE})]),
    )
    for down, pieces in lines:
        page.pieces(x + width / 2, y + down, pieces, ha="center")


def _draw_legend(page: Page, y, steps: Sequence[ShapeStep], note: str) -> float:
    """The colour of every axis that occurs, in words; wraps where the page ends."""
    meanings = texts_under("shapes.axes")
    axes = dict.fromkeys(axis for step in steps for axis in step.symbols if axis in AXIS_COLOURS)
    quiet = {"colour": MUTE}
    entries = [[(t("shapes.legend"), quiet)]]
    for axis in axes:
        colour = AXIS_COLOURS[axis][0]
        words = (f" {meanings[axis]}", {"colour": colour})
        entries.append([*math_pieces(axis, 11, colour, weight="bold"), words])
    entries += [[(text, quiet)] for text in (t("shapes.strides_note"), note) if text]
    return page.flow(EDGE, y, [(pieces, None) for pieces in entries]) + 10
