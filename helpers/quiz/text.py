"""A question's text as HTML and as plain text. Only our own texts come here.

They are words with `code` in backticks, **weight** between stars and LaTeX between dollar signs.
"""

import html
import re

# Not inside a word: `x**2 + y**2` and `x ** 2` are code, and no weight.
BOLD = re.compile(r"(?<!\w)\*\*(\w[^*]*)\*\*(?!\w)")

# LaTeX that the questions use -> how it is written, and spoken, without it
_PLAIN = [
    (r"\\sqrt\{(\w+)\}", r"√\1"),
    (r"\\sqrt\{([^{}]*(?:\{[^{}]*\})?[^{}]*)\}", r"√(\1)"),
    (r"\\text\{([^{}]*)\}", r"\1"),
    (r"\^\\top|\^T\b", "ᵀ"),
    (r"\^2", "²"),
    (r"\\cdot", "·"),
    (r"\\times", "×"),
    (r"\\approx", "≈"),
    (r"\{,\}", ","),
    (r"[{}]", ""),
]


def as_html(text: str) -> str:
    """For HTMLMath: `code` as code, dollar signs left for MathJax, all else escaped."""
    parts = text.split("`")
    return "".join(
        f"<code>{html.escape(part)}</code>" if i % 2 else _bold(html.escape(part))
        for i, part in enumerate(parts)
    )


def _bold(text: str) -> str:
    return BOLD.sub(r"<b>\1</b>", text)


def as_plain(text: str) -> str:
    """For text outputs and spoken names: no backticks, no stars, no LaTeX."""

    def formula(match: re.Match) -> str:
        inner = match[1]
        for pattern, written in _PLAIN:
            inner = re.sub(pattern, written, inner)
        return inner

    parts = text.split("`")
    words = "".join(part if i % 2 else BOLD.sub(r"\1", part) for i, part in enumerate(parts))
    return re.sub(r"\$([^$]+)\$", formula, words)
