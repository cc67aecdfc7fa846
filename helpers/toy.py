"""Toy input and toy weights for the explorers: random, seeded, and the same for any H.

A word always gets the same vector; a position always adds the same vector. The features have
mean 0 and variance 1, and so have queries and keys. Nothing here was trained: the patterns of
toy heads mean nothing, only their shapes do.
"""

import copy
import re
import zlib
from functools import lru_cache

import torch
from torch import Tensor

from .attention import MultiHeadAttention, head_width

MAX_TOKENS = 128


def words(sentence: str) -> list[str]:
    """Words and punctuation marks, in order: "a bank." -> ["a", "bank", "."]."""
    return re.findall(r"\w+(?:['’]\w+)*|[^\w\s]+", sentence)


def tokens_for(sentence: str, T: int) -> list[str]:
    """The first T words of the sentence; where it has fewer, numbered fillers "·10", "·11"."""
    known = words(sentence)[:T]
    return known + [f"·{position}" for position in range(len(known) + 1, T + 1)]


@lru_cache(maxsize=8)
def _positions(d_model: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(MAX_TOKENS, d_model, generator=generator)


@lru_cache(maxsize=1024)
def _word_vector(word: str, d_model: int, seed: int) -> Tensor:
    # crc32, not hash(): Python's own hash of a text differs from one process to the next.
    generator = torch.Generator().manual_seed(seed * 2**32 + zlib.crc32(word.encode("utf-8")))
    return torch.randn(d_model, generator=generator)


def embed(tokens: list[str], d_model: int, seed: int) -> Tensor:
    """Word vector plus position vector, scaled back to variance 1: (1, T, d_model), T <= 128."""
    vectors = torch.stack([_word_vector(token, d_model, seed) for token in tokens])
    return ((vectors + _positions(d_model, seed)[: len(tokens)]) / 2**0.5).unsqueeze(0)


@lru_cache(maxsize=2)  # two explorers side by side; the widest takes 12 MB
def _layer(d_model: int, seed: int) -> MultiHeadAttention:
    generator = torch.Generator().manual_seed(seed)
    return MultiHeadAttention(d_model, 1, generator=generator).requires_grad_(False)


def layer(d_model: int, num_heads: int, seed: int) -> MultiHeadAttention:
    """A random layer whose four matrices depend on d_model and seed only.

    H only says how they are cut: two layers that differ in H share their memory.
    Raises `ImpossibleHeadsError` when H does not divide d_model.
    """
    d_k = head_width(d_model, num_heads)
    recut = copy.copy(_layer(d_model, seed))  # shallow: the same W_Q, W_K, W_V, W_O
    recut.num_heads, recut.d_k = num_heads, d_k
    return recut
