"""A question's text without markup: our own (see `markup`) and LaTeX between dollar signs."""

import re

from ..markup import without_stars

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


def as_plain(text: str) -> str:
    """For text outputs and spoken names: no backticks, no stars, no LaTeX."""

    def formula(match: re.Match) -> str:
        inner = match[1]
        for pattern, written in _PLAIN:
            inner = re.sub(pattern, written, inner)
        return inner

    return re.sub(r"\$([^$]+)\$", formula, without_stars(text, code="{}"))
