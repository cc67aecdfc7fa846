"""A name for a head, and a role where a measure, over many sentences, gives it one."""

from collections.abc import Callable, Sequence
from functools import partial

from torch import Tensor

from ..encoder import Encoding
from ..threads import one_thread
from .patterns import (
    POSITIONAL,
    confidence,
    entropy,
    next_share,
    positional,
    previous_share,
    rare_word_share,
    self_share,
    special_share,
)

MEASURES: dict[str, Callable[[Sequence[Encoding]], Tensor]] = {
    "previous": previous_share,
    "next": next_share,
    "self": self_share,
    "special": special_share,
    "confidence": confidence,
    "entropy": entropy,
    "rare": rare_word_share,
    "previous_largest": partial(positional, offset=-1),
    "next_largest": partial(positional, offset=+1),
}
SINK = 0.5  # more than half of the weight, as Clark et al. 2019, section 3.2, count


def name(layer: int, head: int) -> str:
    """ "L1-H3" for layer 0, head 2."""
    return f"L{layer + 1}-H{head + 1}"


@one_thread()
def measure(encodings: Sequence[Encoding]) -> dict[str, Tensor]:
    """All `MEASURES` of these sentences, each (L, H)."""
    return {key: read(encodings) for key, read in MEASURES.items()}


def roles(measured: dict[str, Tensor]) -> list[list[str]]:
    """A word for each head, [layer][head]: "previous", "next", "sink" or "".

    previous, next: positional by Voita's definition. sink: more than half of the words'
    weight on special tokens. A role says what the head did on these sentences.
    """
    L, H = measured["special"].shape
    found = [[""] * H for _ in range(L)]
    for layer in range(L):
        for head in range(H):
            if measured["previous_largest"][layer, head] >= POSITIONAL:
                found[layer][head] = "previous"
            elif measured["next_largest"][layer, head] >= POSITIONAL:
                found[layer][head] = "next"
            elif measured["special"][layer, head] > SINK:
                found[layer][head] = "sink"
    return found
