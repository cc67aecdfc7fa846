"""The whole layer with one part exchanged: the wrong ways to write `MultiHeadAttention`.

The words of the kinds are in texts/<language>/check_05.json; kinds that a single head has too
are in check_01.json.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..attention import BlankLinear, merge_heads, split_heads
from .weights import WRONG_WEIGHTS, attention_weights, causal_mask, hide, scores

NAMES = ("W_Q", "W_K", "W_V", "W_O")


class Layer(nn.Module):
    """A right layer made of parts: project, split, weigh, mix, merge, finish.

    project: X -> Q, K, V, each (B, T, d_model); split: (B, T, d_model) -> (B, H, T, d_k);
    weigh: Q, K, mask -> weights (B, H, T, T); mix: weights, Q, K, V -> heads (B, H, T, d_k);
    merge: heads -> (B, T, d_model); finish: concat -> output (B, T, d_model).
    """

    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        self.d_model, self.num_heads, self.d_k = d_model, num_heads, d_model // num_heads
        for name in NAMES:
            setattr(self, name, BlankLinear(d_model, d_model, bias=False))

    def project(self, X):
        return self.W_Q(X), self.W_K(X), self.W_V(X)

    def split(self, x):
        return split_heads(x, self.num_heads)

    def weigh(self, Q, K, mask):
        return attention_weights(Q, K, mask)

    def mix(self, weights, Q, K, V):
        return weights @ V

    def merge(self, heads):
        return merge_heads(heads)

    def finish(self, concat):
        return self.W_O(concat)

    def forward(self, X: Tensor, mask: Tensor | None = None) -> Tensor:
        Q, K, V = (self.split(x) for x in self.project(X))
        heads = self.mix(self.weigh(Q, K, mask), Q, K, V)
        return self.finish(self.merge(heads))


def layer_with(**parts: Callable) -> type[Layer]:
    """The layer with these parts in the place of the right ones; each takes `self` first."""
    return type("WrongLayer", (Layer,), parts)


def weighed_by(weights_of: Callable) -> type[Layer]:
    return layer_with(weigh=lambda self, Q, K, mask: weights_of(Q, K, mask))


def projected_by(project: Callable) -> type[Layer]:
    return layer_with(project=project)


# Splitting and merging ------------------------------------------------------------------


def view_straight(self, x):
    return x.reshape(len(x), self.num_heads, -1, self.d_k)


def merge_straight(self, heads):
    return heads.reshape(len(heads), -1, self.d_model)


def split_interleaved(self, x):
    """Feature j goes to head j mod H, instead of d_k neighbours to each head."""
    return x.unflatten(-1, (self.d_k, self.num_heads)).permute(0, 3, 1, 2)


def merge_interleaved(self, heads):
    return heads.permute(0, 2, 3, 1).flatten(2)


def split_without_swap(self, x):
    return x.unflatten(-1, (self.num_heads, self.d_k))


def one_head(width: str) -> type[Layer]:
    """Never split: a single head as wide as the model, its scores over √width."""

    def weigh(self, Q, K, mask):
        return hide(Q @ K.mT / getattr(self, width) ** 0.5, mask).softmax(-1)

    return layer_with(
        split=lambda self, x: x[:, None], weigh=weigh, merge=lambda self, heads: heads[:, 0]
    )


class BatchAsTokens(Layer):
    """Reads (B, T, d_model) as (T, B, d_model): attention runs from sequence to sequence."""

    def forward(self, X, mask=None):
        return super().forward(X.transpose(0, 1), mask).transpose(0, 1)


class MaskWithMoreAxes(Layer):
    """Right with a mask (T, T); with (B, 1, 1, T) two more axes come in and stay in the scores."""

    def forward(self, X, mask=None):
        Q, K, V = (self.split(x) for x in self.project(X))
        hidden = hide(scores(Q, K), None if mask is None else mask[None, None])
        heads = hidden.softmax(-1) @ V
        return self.finish(heads.transpose(1, 2).reshape(X.shape))


# Projecting -----------------------------------------------------------------------------


def own_slices(self, X):
    """Each head projects its own slice of X: only the diagonal blocks of W_Q, W_K, W_V count."""
    ones = torch.ones(self.d_k, self.d_k, device=X.device)
    keep = torch.block_diag(*[ones] * self.num_heads)
    return [F.linear(X, W.weight * keep) for W in (self.W_Q, self.W_K, self.W_V)]


def untransposed(*names: str) -> type[Layer]:
    """X @ weight for these matrices, where nn.Linear computes X @ weight.T."""

    def apply(self, name, x):
        W = getattr(self, name)
        return x @ W.weight if name in names else W(x)

    return layer_with(
        project=lambda self, X: [apply(self, name, X) for name in NAMES[:3]],
        finish=lambda self, concat: apply(self, "W_O", concat),
    )


def in_order(*names: str) -> type[Layer]:
    """These matrices where Q, K and V are made."""
    return projected_by(lambda self, X: [getattr(self, name)(X) for name in names])


# Weights --------------------------------------------------------------------------------


def scaled_by_width(power: float) -> type[Layer]:
    return layer_with(
        weigh=lambda self, Q, K, mask: hide(Q @ K.mT / self.d_model**power, mask).softmax(-1)
    )


def causal(Q: Tensor, K: Tensor, mask: Tensor | None = None) -> Tensor:
    return attention_weights(Q, K, causal_mask(Q.shape[-2]))


def causal_too(Q: Tensor, K: Tensor, mask: Tensor | None = None) -> Tensor:
    both = causal_mask(Q.shape[-2])
    return attention_weights(Q, K, both if mask is None else both & (mask != 0))


def weak_mask(value: float) -> Callable:
    return lambda Q, K, mask: hide(scores(Q, K), mask, value).softmax(-1)


def softmax_over(axis: int) -> Callable:
    return lambda Q, K, mask: hide(scores(Q, K), mask).softmax(axis)


# The catalogue of a single head, where it is the same with a batch and heads in front.
WEIGHTS = WRONG_WEIGHTS | {
    "softmax_over_everything": [
        lambda Q, K, mask: hide(scores(Q, K), mask).flatten(-2).softmax(-1).view(*Q.shape[:-1], -1),
        lambda Q, K, mask: hide(scores(Q, K), mask).flatten().softmax(0).view(*Q.shape[:-1], -1),
    ],
    "always_causal": [causal, causal_too],
    "causal_instead_of_mask": [
        lambda Q, K, mask: attention_weights(Q, K) if mask is None else causal(Q, K)
    ],
    "hidden_but_seen": [weak_mask(-1.0), weak_mask(-10.0)],
    "softmax_over_heads": [softmax_over(1)],
    "softmax_over_batch": [softmax_over(0)],
}

# kind -> wrong layers
WRONG_LAYERS = {
    **{kind: [weighed_by(way) for way in ways] for kind, ways in WEIGHTS.items()},
    "scaled_by_d_model": [scaled_by_width(0.5), scaled_by_width(1)],
    "viewed_straight": [layer_with(split=view_straight)],
    "merged_without_swap": [layer_with(merge=merge_straight)],
    "viewed_and_merged_straight": [layer_with(split=view_straight, merge=merge_straight)],
    "heads_interleaved": [
        layer_with(split=split_interleaved),
        layer_with(merge=merge_interleaved),
        layer_with(split=split_interleaved, merge=merge_interleaved),
    ],
    "heads_attend_heads": [layer_with(split=split_without_swap, merge=merge_straight)],
    "never_split": [one_head("d_k"), one_head("d_model")],
    "batch_as_tokens": [BatchAsTokens],
    "mask_with_more_axes": [MaskWithMoreAxes],
    "input_sliced": [
        projected_by(lambda self, X: (X, X, X)),
        projected_by(lambda self, X: (X, X, self.W_V(X))),
    ],
    "slices_projected": [projected_by(own_slices)],
    "values_not_projected": [projected_by(lambda self, X: (self.W_Q(X), self.W_K(X), X))],
    "projections_exchanged": [
        in_order("W_Q", "W_V", "W_K"),
        in_order("W_V", "W_K", "W_Q"),
        in_order("W_K", "W_V", "W_Q"),
        in_order("W_V", "W_Q", "W_K"),
    ],
    "keys_as_values": [layer_with(mix=lambda self, weights, Q, K, V: weights @ K)],
    "queries_as_values": [layer_with(mix=lambda self, weights, Q, K, V: weights @ Q)],
    "values_alone": [layer_with(mix=lambda self, weights, Q, K, V: V)],
    "linear_transposed": [
        untransposed(*NAMES),
        untransposed(*NAMES[:3]),
        untransposed("W_O"),
        *map(untransposed, NAMES[:3]),
    ],
    "output_not_projected": [layer_with(finish=lambda self, concat: concat)],
    "residual_added": [
        type("WrongLayer", (Layer,), {"forward": lambda self, X, mask=None:
                                      X + Layer.forward(self, X, mask)}),
    ],
}  # fmt: skip
