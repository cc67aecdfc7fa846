"""The little markup of our own texts: `code` in backticks, **weight** between stars."""

import html
import re

_CODE = re.compile(r"`([^`]+)`")
# Not inside a word: `x**2 + y**2` and `x ** 2` are code, and no weight.
_BOLD = re.compile(r"(?<!\w)\*\*(\w[^*]*)\*\*(?!\w)")


def as_html(text: str) -> str:
    """`code` as code, **weight** as strong, dollar signs as they stand, all else escaped."""
    return "".join(
        f"<code>{html.escape(part)}</code>"
        if i % 2
        else _BOLD.sub(r"<strong>\1</strong>", html.escape(part))
        for i, part in enumerate(_CODE.split(text))
    )


def without_stars(text: str, code: str = "`{}`") -> str:
    """For plain text: no stars around **weight**; `code` keeps its own, and its backticks too
    unless `code` says otherwise ("{}")."""
    return "".join(
        code.format(part) if i % 2 else _BOLD.sub(r"\1", part)
        for i, part in enumerate(_CODE.split(text))
    )
