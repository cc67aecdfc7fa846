"""What all moves are made of: values, presses, and attention computed head by head."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from hypothesis import strategies as st

choice = st.sampled_from
ROUGHLY = {"atol": 1e-5, "rtol": 1e-4}
SENTENCES = st.sampled_from(
    ["The bank by the river issued a statement.", "two words", "a a a", "", "  ",
     "<b>bold</b> $x$ {name}", "Gracias 漢字 😀", "w " * 20]
)  # fmt: skip
WIDTHS = st.sampled_from([16, 64, 97, 6, 1, 12, 0, -3, 2000, 10**6])
HEADS = st.sampled_from([1, 2, 3, 4, 5, 8, 16, 97, 0, -1, 300])
TOKENS = st.sampled_from([1, 2, 5, 9, 12, 0, -2, 129, 4000])


@dataclass(frozen=True)
class Moves:
    values: dict[str, st.SearchStrategy]
    controls: dict[str, str]  # attribute, or attribute.place, of the control -> trait
    wrong: Callable[[object], list]  # what cannot be drawn in this state; [] when all can
    agree: Callable[[object], None]  # asserts about the numbers of a legal state
    drawn: tuple[str, ...]  # attributes that are empty where nothing is drawn
    buttons: Callable[[object], list] = lambda explorer: []  # callables: presses
    make: Callable[..., object] | None = None
    after: tuple[str, ...] = field(default=())  # frames that depend on more than the state


def part(explorer, path: str):
    name, _, place = path.partition(".")
    found = getattr(explorer, name)
    return found[int(place) if place.isdigit() else place] if place else found


def shown(view) -> torch.Tensor:
    """The maps as the page gets them, from the bytes that travel."""
    frame = view.frame
    return torch.frombuffer(bytearray(frame["weights"]), dtype=torch.float32).view(*frame["shape"])


def same(one, other) -> None:
    torch.testing.assert_close(torch.as_tensor(one), torch.as_tensor(other), **ROUGHLY)


def click(button):
    """A press as it comes from the page; hidden buttons cannot be pressed."""
    if button.layout.display != "none" and not button.disabled:
        button._handle_custom_msg({"event": "click"}, [])


def buttons_of(*paths):
    return lambda explorer: [
        lambda b=b: click(b)
        for path in paths
        for b in (part(explorer, path) if path.endswith("s") else [part(explorer, path)])
    ]


def indivisible(one) -> list:
    if one.d_model < 1:
        return [one.d_model]
    return [one.H] if one.H < 1 or one.d_model % one.H else []


def beyond(value, low, high) -> list:
    return [] if low <= value <= high else [value]


# Attention by hand, head by head: its own rows of W_Q and W_K, its own softmax ------------


def head_by_hand(layer, X, i, temperature=1.0, allowed=None):
    own = slice(i * layer.d_k, (i + 1) * layer.d_k)
    scores = (X @ layer.W_Q.weight[own].T) @ (X @ layer.W_K.weight[own].T).T
    scores = scores / layer.d_k**0.5 / temperature
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -math.inf)
    return scores.softmax(-1).nan_to_num(0.0)
