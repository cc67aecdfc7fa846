"""Colours for numbers of either sign: blue below zero, orange above, pale grey at zero.

Made in Oklab (Ottosson 2020), where equal steps look equal: a straight line from the blue to the
grey and another of the same length on to the orange. Blue and orange stay apart in all common
kinds of colour blindness, and the lightness alone tells how far from zero a number is.
"""

from functools import cache
from math import cos, radians, sin

STEPS = 255  # odd, so that zero has a colour of its own
_MIDDLE = (0.965, 0.0, 0.0)
_LIGHTNESS, _CHROMA, _BLUE, _ORANGE = 0.5, 0.115, 256.0, 55.0  # hues in degrees


def _end(hue: float) -> tuple[float, float, float]:
    return _LIGHTNESS, _CHROMA * cos(radians(hue)), _CHROMA * sin(radians(hue))


def from_oklab(L: float, a: float, b: float) -> tuple[float, float, float]:
    """Oklab -> sRGB, each from 0 to 1 where the colour exists on a screen."""
    l, m, s = (  # noqa: E741  (the cones' names)
        (L + 0.3963377774 * a + 0.2158037573 * b) ** 3,
        (L - 0.1055613458 * a - 0.0638541728 * b) ** 3,
        (L - 0.0894841775 * a - 1.2914855480 * b) ** 3,
    )
    linear = (
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
    )
    red, green, blue = (
        12.92 * v if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055 for v in linear
    )
    return red, green, blue


@cache
def signed_colours() -> tuple[tuple[int, int, int], ...]:
    """255 colours from -1 to 1 as (red, green, blue), 0 to 255; the middle one is zero's."""
    half = STEPS // 2
    colours = []
    for step in range(-half, half + 1):
        end, part = _end(_BLUE if step < 0 else _ORANGE), abs(step) / half
        point = [m + part * (e - m) for m, e in zip(_MIDDLE, end, strict=True)]
        colours.append(tuple(round(255 * value) for value in from_oklab(*point)))
    return tuple(colours)
