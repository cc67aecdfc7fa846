"""Two wrong turns that raise no error: a split and a merge that leave the transpose out.

Both give the right shape and put numbers where they do not belong. Kept here to be looked at
in class; the right ones are `split_heads` and `merge_heads` in `helpers.attention`.
"""

import torch
from torch import Tensor

from ..attention import head_width, merge_heads, scaled_dot_product_attention, split_heads
from ..texts import t


def split_without_transpose(x: Tensor, num_heads: int) -> Tensor:
    """(B, T, d_model) -> (B, H, T, d_k), wrongly: numbers are dealt out in memory order."""
    B, T, d_model = x.shape
    return x.view(B, num_heads, T, head_width(d_model, num_heads))


def merge_without_transpose(heads: Tensor) -> Tensor:
    """(B, H, T, d_k) -> (B, T, H * d_k), wrongly: a row holds several tokens of one head."""
    B, H, T, d_k = heads.shape
    return heads.contiguous().view(B, T, H * d_k)


SPLIT = {"right": split_heads, "wrong": split_without_transpose}
MERGE = {"right": merge_heads, "wrong": merge_without_transpose}


def layer_with(d_model: int, num_heads: int, split="right", merge="right", *, seed: int = 0):
    """A multi-head attention layer with a right or wrong split and merge.

    Returns `layer(X, mask=None)`: (B, T, d_model) -> (B, T, d_model), mask True = may attend.
    The weights are random; the same `seed` and d_model give the same weights, whatever the turns.
    Raises ValueError for another word than "right" or "wrong", and for an impossible H.
    """
    for word in (split, merge):
        if word not in SPLIT:
            raise ValueError(t("explorer_reshape.unknown_turn", turn=repr(word)))
    head_width(d_model, num_heads)
    generator = torch.Generator().manual_seed(seed)
    weights = torch.randn(4, d_model, d_model, generator=generator, dtype=torch.float64)
    weights = weights / d_model**0.5  # W_Q, W_K, W_V, W_O

    def layer(X: Tensor, mask: Tensor | None = None) -> Tensor:
        W_Q, W_K, W_V, W_O = weights.to(X.dtype)
        Q, K, V = (SPLIT[split](X @ W, num_heads) for W in (W_Q, W_K, W_V))
        heads, _ = scaled_dot_product_attention(Q, K, V, mask)
        return MERGE[merge](heads) @ W_O

    return layer
