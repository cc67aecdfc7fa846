"""A page to draw still figures on: lengths in pixels, y downwards, so a picture is arithmetic.

Never touches pyplot, the backend or the reader's settings: every page is drawn with
matplotlib's own defaults. No tick labels and no layout engine, which keeps figures quick.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from io import BytesIO

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.image import AxesImage
from matplotlib.patches import FancyBboxPatch, Rectangle
from matplotlib.text import Text
from PIL import Image

from ..palette import WEIGHT_MAP
from .text import BASE, printable

DPI = 110
WIDTH = 980  # px, the width of an output in JupyterLab at a usual window
NEAR = 12  # of 255: colours closer than this look the same in the edge of a letter
TEXT, MUTE, LINE, CARD, ACCENT = "#1f2328", "#59636e", "#d1d9e0", "#f6f8fa", "#0969da"
_FAMILIES = {"sans": BASE, "mono": "DejaVu Sans Mono", "serif": "DejaVu Serif"}
_PREFIXES = ("agg.", "axes.", "figure.", "font.", "hatch.", "image.", "lines.", "mathtext.")
_PREFIXES += ("patch.", "path.", "savefig.", "text.")


@cache
def _defaults() -> dict:
    default = matplotlib.rcParamsDefault
    return {key: default[key] for key in default if key.startswith(_PREFIXES)}


def own_style():
    """A context in which a reader's settings (usetex, xkcd, a dark style) change nothing."""
    return matplotlib.rc_context(_defaults())


@cache
def _ruler() -> RendererAgg:
    return RendererAgg(1, 1, DPI)


@lru_cache(1024)
def _font(families: tuple[str, ...], size: float, weight: str, style: str) -> FontProperties:
    return FontProperties(family=list(families), style=style, weight=weight, size=size * 72 / DPI)


def _fitted(text, most, *, size=12.5, weight="normal", style="normal", family="sans"):
    """The text as it can be drawn in `most` px, and the font for it."""
    shown, families = printable(text, weight)
    families = (_FAMILIES[family], *families)
    font = _font(families, size, weight, style)
    if most is None or (width := text_width(shown, font)) <= most:
        return shown, font
    font = _font(families, max(0.97 * size * most / width, min(size, 8.5)), weight, style)
    while len(shown) > 1 and text_width(shown, font) > most:
        shown = f"{shown.rstrip('…')[:-1]}…"
    return shown, font


@lru_cache(8192)
def text_width(text: str, font: FontProperties) -> float:
    """Width in px, spaces at the ends included (hence the bars)."""
    with_bars, bars = (
        _ruler().get_text_width_height_descent(line, font, ismath=False)[0]
        for line in (f"|{text}|", "||")
    )
    return with_bars - bars


def line_width(text: str, dy=0, colour=TEXT, **font) -> float:
    """Width in px that `Page.text` would need."""
    if not text.strip(" "):  # the room between two pieces, not a token
        font = _font((BASE,), font.get("size", 12.5), "normal", "normal")
        return text_width(text, font)
    return text_width(*_fitted(text, None, **font))


class Page:
    """A figure measured in pixels. Draw, then call `finish` with the height.

    Images live in one axes that covers the figure; text and boxes stand on the figure itself.
    """

    def __init__(self, width: int = WIDTH):
        self.width = width
        self.figure = Figure(dpi=DPI, facecolor="white")
        FigureCanvasAgg(self.figure)
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set_axis_off()
        self.axes.set_autoscale_on(False)

    def finish(self, height: float) -> Figure:
        height = round(height)
        self.figure.set_size_inches(self.width / DPI, height / DPI)
        self.axes.set(xlim=(0, self.width), ylim=(height, 0))
        return self.figure

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        most: float | None = None,
        ha: str = "left",
        upwards: bool = False,
        colour: str = TEXT,
        gid: str | None = None,
        **font,
    ) -> float:
        """Write text with its baseline at y, or `upwards` from (x, y); returns its width.

        What is longer than `most` px gets smaller, and where that is not enough it is cut.
        `font`: size (px), weight, style, family ("sans", "mono", "serif").
        """
        shown, prop = _fitted(text, most, **font)
        label = Text(
            x,
            y,
            shown,
            color=colour,
            fontproperties=prop,
            transform=self.axes.transData,
            ha="center" if upwards else ha,
            va="bottom" if upwards else "baseline",
            rotation=90 if upwards else 0,
            parse_math=False,
        )
        label.set_gid(gid)
        self.figure.add_artist(label)
        return text_width(shown, prop)

    def pieces(self, x: float, y: float, pieces: Iterable[tuple[str, dict]], ha="left", **common):
        """Write pieces of text, each in its own style, as one line; returns its width.

        A piece may carry `dy`, how far below the line it stands (a subscript).
        """
        pieces = [(text, common | style) for text, style in pieces if text]
        widths = [line_width(text, **style) for text, style in pieces]
        x -= {"left": 0, "center": 0.5, "right": 1}[ha] * sum(widths)
        for (text, style), width in zip(pieces, widths, strict=True):
            if text.strip(" "):
                self.text(x, y + style.pop("dy", 0), text, **style)
            x += width
        return sum(widths)

    def flow(self, x: float, y: float, entries, line: float = 16, size: float = 11) -> float:
        """Entries (pieces, swatch) in a line that wraps; the baseline of the last line.

        A swatch is the style of a small box before the words, or None.
        """
        at = x
        for pieces, swatch in entries:
            room = 22 if swatch else 0
            width = room + sum(line_width(text, **{"size": size, **s}) for text, s in pieces)
            if at > x and at + width > self.width - x:
                at, y = x, y + line
            if swatch:
                self.box(at, y - 9, 16, 9, **swatch)
            self.pieces(at + room, y, pieces, size=size)
            at += width + 18
        return y

    def box(self, x, y, width, height, *, face="none", edge="none", line=1.0, round=0, **more):
        """A rectangle, with rounded corners if asked for; `line` in px."""
        style = {
            "facecolor": face,
            "edgecolor": edge,
            "linewidth": line * 72 / DPI,
            "transform": self.axes.transData,
            **more,
        }
        if round:
            corners = f"round,pad=0,rounding_size={round}"
            shape = FancyBboxPatch((x, y), width, height, boxstyle=corners, **style)
        else:
            shape = Rectangle((x, y), width, height, **style)
        self.figure.add_artist(shape)

    def image(self, x, y, width, height, array, *, gid: str, cmap: str) -> AxesImage:
        """`array` (rows, columns) of weights from 0 to 1, its first row at the top."""
        # Every cell keeps its sharp edge while it has a pixel of its own; where cells are
        # smaller than pixels, pixels show averages rather than cells picked by chance.
        crisp = width >= array.shape[1] and height >= array.shape[0]
        image = AxesImage(
            self.axes,
            cmap=cmap,
            interpolation="nearest" if crisp else "antialiased",
            origin="upper",
            extent=(x, x + width, y + height, y),
        )
        image.set_data(array)
        image.set_clim(0, 1)
        image.set_gid(gid)
        self.axes.add_image(image)
        return image


def png(figure: Figure) -> bytes:
    """The figure as a PNG file: the same bytes for the same picture, no date, no software."""
    with own_style():
        figure.canvas.draw()
    picture = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
    file = BytesIO()
    _with_palette(picture).save(file, "PNG", compress_level=9, dpi=(DPI, DPI))
    return file.getvalue()


def _with_palette(picture: Image.Image) -> Image.Image:
    """The picture in 256 colours, a third of the size, with nothing changed that can be seen.

    The palette holds the map of weights in steps too small to see, then the most frequent
    colours that are not already near one in it: each pixel takes the nearest.
    """
    weights = matplotlib.colormaps[WEIGHT_MAP](np.arange(1, 256, 2), bytes=True)[:, :3]
    counts = picture.getcolors(picture.width * picture.height)
    counts.sort(key=lambda entry: (-entry[0], entry[1]))  # the colour decides between equals
    colours = np.array([colour for _, colour in counts], dtype=np.int32)
    palette, size = np.zeros((256, 3), dtype=np.int32), len(weights)
    palette[:size] = weights
    for colour in colours:
        if size < 256 and ((palette[:size] - colour) ** 2).sum(1).min() > NEAR**2:
            palette[size] = colour
            size += 1
    parts = np.array_split(colours, 64)  # bounds the memory
    nearest = np.concatenate([((p[:, None] - palette) ** 2).sum(2).argmin(1) for p in parts])
    codes = colours @ (65536, 256, 1)
    order = codes.argsort()
    pixels = np.asarray(picture).astype(np.int32) @ (65536, 256, 1)
    places = np.searchsorted(codes, pixels, sorter=order)
    small = Image.fromarray(nearest[order][places].astype(np.uint8))
    small.putpalette(palette.astype(np.uint8).tobytes())
    return small
