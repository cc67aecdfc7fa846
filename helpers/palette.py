"""The course's colours, in one place: axes, heads, weights.

An axis (T, H, d_k, d_model) keeps its colour in every view and figure, a head keeps its
colour everywhere. Head colours: Okabe & Ito 2008, safe for colour-blind readers; after eight
they come round again, so a head is always named too. Weights: viridis, perceptually even.
"""

AXIS_COLOURS = {  # (on a light page, on a dark page), each at least 4.5:1 against its page
    "T": ("#0b6e99", "#56b4e9"),
    "H": ("#b35900", "#f0a35e"),
    "d_k": ("#6b3fa0", "#c4a1f0"),
    "d_model": ("#1a7f37", "#6fd08c"),
    "B": ("#57606a", "#9aa4af"),
}

HEAD_COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#56B4E9",
    "#CC79A7",
    "#D55E00",
    "#7f7f7f",
    "#b5a900",
)

DARK_PAGES = (  # how JupyterLab, VS Code and Colab say that the page is dark
    '[data-jp-theme-light="false"]',
    "body.vscode-dark",
    "body.vscode-high-contrast:not(.vscode-high-contrast-light)",
    "html[theme=dark]",
)

WEIGHT_MAP = "viridis"


def head_colour(index: int) -> str:
    """The colour of head `index`, counted from 0 as code counts."""
    return HEAD_COLOURS[index % len(HEAD_COLOURS)]


def axis_css() -> str:
    """CSS variables --axis-T … --axis-B for the light and the dark page."""
    names = {axis: axis.replace("_", "-") for axis in AXIS_COLOURS}

    def block(selector: str, page: int) -> str:
        lines = (f"--axis-{names[a]}:{c[page]}" for a, c in AXIS_COLOURS.items())
        return f"{selector}{{{';'.join(lines)}}}"

    dark = ",".join(f"{page} .mha" for page in DARK_PAGES)
    return f"{block('.mha', 0)}\n{block(dark, 1)}\n"
