"""Masks in the shapes they have by themselves. True = may look, False = hidden."""

import torch
from torch import Tensor


def causal_mask(T: int) -> Tensor:
    """(T_query, T_key): a token may look at itself and at what comes before it."""
    return torch.ones(T, T, dtype=torch.bool).tril()


def padding_mask(lengths, T: int, side: str = "right") -> Tensor:
    """(B, 1, 1, T_key): nobody may look at padding, which stands on the `side` of each sequence.

    `lengths` (B,), how many tokens of each sequence are real; `side` "right" or "left".
    """
    places = torch.arange(T)
    if side == "left":
        places = places.flip(0)
    return (places < torch.as_tensor(lengths)[:, None])[:, None, None, :]


def row_mask(query: int, T: int) -> Tensor:
    """(T_query, T_key): the token `query` (from 0) may look at nothing, all others everywhere."""
    return (torch.arange(T) != query)[:, None].expand(T, T)
