"""Cross-attention with one part exchanged: the wrong ways to write it, for lesson 10's project.

The wrong ways of a layer that looks at itself come from `layers`, put on two sequences; those
that only two sequences make possible are here. The words are in texts/<language>/check_10.json,
or where both lessons say the same, in check_05.json and check_01.json.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from ..attention import BlankLinear
from .layers import NAMES, WRONG_LAYERS, Layer
from .weights import attention_weights, hide, scores

PARTS = ("project", "split", "weigh", "mix", "merge", "finish")


class CrossLayer(Layer):
    """A right layer made of parts: `make` them from two sequences, the rest as in `Layer`.

    make: X, memory -> Q, K, V, each (B, its own T, d_model). The memory's vectors may have a
    width of their own, d_memory.
    """

    def __init__(self, d_model: int, num_heads: int, d_memory: int | None = None):
        super().__init__(d_model, num_heads)
        for name in ("W_K", "W_V"):
            setattr(self, name, BlankLinear(d_memory or d_model, d_model, bias=False))

    def make(self, X: Tensor, memory: Tensor):
        return self.W_Q(X), self.W_K(memory), self.W_V(memory)

    def forward(self, X: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        Q, K, V = (self.split(x) for x in self.make(X, memory))
        heads = self.mix(self.weigh(Q, K, mask), Q, K, V)
        return self.finish(self.merge(heads))


def cross_with(**parts: Callable) -> type[CrossLayer]:
    """The layer with these parts in the place of the right ones; each takes `self` first."""
    return type("WrongLayer", (CrossLayer,), parts)


def crossed(layer: type[Layer]) -> type[CrossLayer]:
    """A wrong layer of `layers` on two sequences: its own way to project, for each of them."""
    parts = {name: part for name, part in vars(layer).items() if name in PARTS}
    if "project" in parts:

        def make(self, X, memory):
            return (self.project(X)[0], *self.project(memory)[1:])

        parts["make"] = make
    return cross_with(**parts)


def made_of(*sources: Callable) -> type[CrossLayer]:
    """Q, K and V from `sources`, each (X, memory) -> the sequence that is projected."""

    def make(self, X, memory):
        projections = (self.W_Q, self.W_K, self.W_V)
        return [W(source(X, memory)) for W, source in zip(projections, sources, strict=True)]

    return cross_with(make=make)


def from_X(X, memory):
    return X


def from_memory(X, memory):
    return memory


def from_both(X, memory):
    return torch.cat([X, memory], dim=1)


def weighed_by(weights_of: Callable) -> type[CrossLayer]:
    return cross_with(weigh=lambda self, Q, K, mask: weights_of(Q, K, mask))


def masked_by(change: Callable) -> type[CrossLayer]:
    """Right but for the mask, which is `change`d first where there is one."""
    return weighed_by(
        lambda Q, K, mask: attention_weights(Q, K, None if mask is None else change(mask))
    )


# Masks ------------------------------------------------------------------------------------


def earlier(Q: Tensor, K: Tensor) -> Tensor:
    """A causal mask, (T_query, T_key), square or not."""
    return torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool, device=Q.device).tril()


def causal(Q: Tensor, K: Tensor, mask: Tensor | None) -> Tensor:
    return attention_weights(Q, K, earlier(Q, K))


def causal_too(Q: Tensor, K: Tensor, mask: Tensor | None) -> Tensor:
    return attention_weights(Q, K, earlier(Q, K) if mask is None else earlier(Q, K) & (mask != 0))


def given_one_only(Q: Tensor, K: Tensor, mask: Tensor | None) -> Tensor:
    return attention_weights(Q, K) if mask is None else causal(Q, K, mask)


def plain(value: float) -> Callable:
    """Softmax without a thought for rows in which everything is hidden."""
    return lambda Q, K, mask: hide(scores(Q, K), mask, value).softmax(-1)


class MaskWithMoreAxes(CrossLayer):
    """Right with a mask (T_query, T_key); with (B, 1, 1, T_key) two more axes come in."""

    def forward(self, X, memory, mask=None):
        Q, K, V = (self.split(x) for x in self.make(X, memory))
        hidden = hide(scores(Q, K), None if mask is None else mask[None, None])
        heads = hidden.softmax(-1) @ V
        return self.finish(heads.transpose(1, 2).reshape(X.shape))


class BatchAsTokens(CrossLayer):
    """Reads (B, T, d_model) as (T, B, d_model). Raises where the two lengths differ."""

    def forward(self, X, memory, mask=None):
        return super().forward(X.transpose(0, 1), memory.transpose(0, 1), mask).transpose(0, 1)


class ResidualAdded(CrossLayer):
    def forward(self, X, memory, mask=None):
        return X + super().forward(X, memory, mask)


# kind -> wrong layers -----------------------------------------------------------------------

WRONG_CROSS = {
    **{kind: list(map(crossed, ways)) for kind, ways in WRONG_LAYERS.items()},
    "batch_as_tokens": [BatchAsTokens],
    "mask_with_more_axes": [MaskWithMoreAxes],
    "residual_added": [ResidualAdded],
    "always_causal": [weighed_by(causal), weighed_by(causal_too)],
    "causal_instead_of_mask": [weighed_by(given_one_only)],
    "scaled_by_length": [
        weighed_by(lambda Q, K, mask, n=n, power=power: hide(
            Q @ K.mT / (Q, K)[n].shape[-2] ** power, mask).softmax(-1))
        for n in (0, 1)
        for power in (0.5, 1)
    ],
    "memory_unused": [made_of(from_X, from_X, from_X)],
    "memory_alone": [made_of(from_memory, from_memory, from_memory)],
    "roles_exchanged": [made_of(from_memory, from_X, from_X)],
    "values_from_X": [made_of(from_X, from_memory, from_X)],
    "keys_from_X": [made_of(from_X, from_X, from_memory)],
    "sequences_joined": [
        made_of(from_X, from_both, from_both),
        made_of(from_both, from_both, from_both),
    ],
    "sequences_added": [made_of(*[lambda X, memory: X + memory] * 3)],
    "keys_by_W_Q": [
        cross_with(make=lambda self, X, memory: (self.W_Q(X), self.W_Q(memory), self.W_V(memory)))
    ],
    "weights_as_heads": [cross_with(mix=lambda self, weights, Q, K, V: weights)],
    "one_mask_for_all": [masked_by(lambda mask: mask[:1] if mask.dim() == 4 else mask)],
    "empty_row_nan": [weighed_by(plain(-math.inf))],
    "empty_row_flat": [weighed_by(plain(-1e9))],
}  # fmt: skip
# The same slip has other words where two sequences meet.
del WRONG_CROSS["scaled_by_T"]


def as_function(layer: type[CrossLayer]) -> Callable:
    """`cross_attention(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None)` by way of a layer."""

    def function(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None):
        made = layer(len(W_Q), num_heads, d_memory=len(W_K))
        for name, W in zip(NAMES, (W_Q, W_K, W_V, W_O), strict=True):
            del getattr(made, name).weight  # a plain tensor, so that gradients reach W
            getattr(made, name).weight = W.T
        return made(X, memory, mask)

    return function
