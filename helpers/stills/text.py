"""Text for still figures that any machine can draw: fonts that have the letters, or their code.

A token may hold any script. Matplotlib 3.11 shapes and orders it (Arabic is joined and runs
from right to left: reshaping it by hand would reverse it), but it draws a box, and warns, where
no font has the letter. So each letter that DejaVu Sans lacks gets a font of this machine that
has it, and where there is none the text shows the letter's code point, like U+1F600.
"""

import unicodedata
from functools import cache, lru_cache

from matplotlib import font_manager

BASE = "DejaVu Sans"  # comes with matplotlib, so it is everywhere

# Asked in this order, on Linux, Windows and macOS. No colour fonts: matplotlib cannot draw them.
OTHERS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans CJK KR",
    "Noto Sans SC",
    "Noto Sans JP",
    "WenQuanYi Micro Hei",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "SimSun",
    "MS Gothic",
    "PingFang SC",
    "Hiragino Sans",
    "Hiragino Sans GB",
    "Apple SD Gothic Neo",
    "Noto Sans Arabic",
    "Noto Naskh Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans Bengali",
    "Noto Sans Tamil",
    "Noto Sans Telugu",
    "Noto Sans Thai",
    "Noto Sans Georgian",
    "Noto Sans Armenian",
    "Noto Sans Ethiopic",
    "Nirmala UI",
    "Leelawadee UI",
    "Ebrima",
    "Geeza Pro",
    "Devanagari MT",
    "Thonburi",
    "Noto Sans Symbols",
    "Noto Sans Symbols2",
    "Noto Sans Symbols 2",
    "Noto Emoji",
    "Symbola",
    "Segoe UI Symbol",
    "Segoe UI Emoji",
    "Segoe UI",
    "Apple Symbols",
    "Arial Unicode MS",
)


@cache
def _font(family: str, weight: str):
    """The font of that name, or None where this machine has none."""
    if family not in _installed():
        return None
    wanted = font_manager.FontProperties(family=[family], weight=weight)
    return font_manager.get_font(font_manager.findfont(wanted))


@cache
def _installed() -> frozenset[str]:
    return frozenset(font.name for font in font_manager.fontManager.ttflist)


@cache
def family_with(char: str, weight: str = "normal") -> str | None:
    """The first family that has this character, or None where no font here has it."""
    for family in (BASE, *OTHERS):
        font = _font(family, weight)
        if font is not None and font.get_char_index(ord(char)):
            return family
    return None


def _only_changes_neighbours(char: str) -> bool:
    """True for joiners, direction marks and variation selectors: no shape of their own."""
    return unicodedata.category(char) == "Cf" or "\ufe00" <= char <= "\ufe0f"


def visible(text: str) -> str:
    """The text; one of nothing but spaces as ␣, which a label could not show otherwise."""
    return text if text.strip() else "␣" * max(1, len(text))


@lru_cache(4096)
def printable(text: str, weight: str = "normal") -> tuple[str, tuple[str, ...]]:
    """The text as it can be drawn here, and the font families to draw it with."""
    text = visible(text)
    words, families = [""], [BASE]  # a code point is a word of its own, so that it ends clearly
    coded = False
    for char in text:
        family = None if unicodedata.category(char) == "Cc" else family_with(char, weight)
        if _only_changes_neighbours(char) and len(text) > 1 and (coded or family is None):
            continue  # nothing here that it could change
        if family is None:
            words.append(f"U+{ord(char):04X}")
        elif coded:
            words.append(char)
        else:
            words[-1] += char
        if family is not None and family not in families:
            families.append(family)
        coded = family is None
    return " ".join(word for word in words if word), tuple(families)
