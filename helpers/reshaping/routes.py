"""The way of every number through split, attention and merge, on the right route and off it.

Cells are numbered as they lie in memory after the projection. `view`, `transpose` and
`contiguous` then really run on the tensor of these numbers, so that shapes, strides and copies
are torch's own.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from ..attention import head_width
from .wrong_turns import MERGE, SPLIT

STEPS = ("linear", "view", "transpose", "scores", "heads", "swap", "contiguous", "merge")


@dataclass(frozen=True)
class Stop:
    """A tensor on the way.

    `operation`: the code that made it, "" where this route does nothing at this step.
    `numbers` (1, …): which number stands where, with the strides of the tensor itself. For
    scores: first number of the query's row · n + first number of the key's row.
    `copied`: the step wrote new memory.
    """

    name: str
    operation: str
    symbols: tuple[str, ...]
    numbers: Tensor
    copied: bool


def walk(
    T: int, d_model: int, num_heads: int, split: str = "right", merge: str = "right"
) -> dict[str, Stop]:
    """The stops of one route, by step. B = 1. `split` and `merge` are "right" or "wrong".

    After `weights · V` a number stands for the place it was at: the averages of a head keep the
    numbers of the cells they come out in.
    Raises `ImpossibleHeadsError` when H does not divide d_model.
    """
    H, d_k = num_heads, head_width(d_model, num_heads)
    flat, viewed, headed = ("B", "T", "d_model"), ("B", "T", "H", "d_k"), ("B", "H", "T", "d_k")
    stops: dict[str, Stop] = {}

    def stop(step: str, name: str, operation: str, symbols: tuple, numbers: Tensor) -> Tensor:
        before = next(reversed(stops.values())).numbers if stops else None
        copied = before is None or before.data_ptr() != numbers.data_ptr()
        stops[step] = Stop(name, operation, symbols, numbers, copied)
        return numbers

    n = T * d_model
    Q = stop("linear", "Q", "X · W_Q", flat, torch.arange(n).view(1, T, d_model))
    Q_heads = SPLIT[split](Q, H)
    if split == "right":
        stop("view", "Q_view", f"Q.view(1, {T}, {H}, {d_k})", viewed, Q.view(1, T, H, d_k))
        stop("transpose", "Q_heads", "Q_view.transpose(1, 2)", headed, Q_heads)
    else:
        stop("view", "Q_heads", f"Q.view(1, {H}, {T}, {d_k})", headed, Q_heads)
        stop("transpose", "Q_heads", "", headed, Q_heads)

    first = Q_heads[..., 0]  # (1, H, T): it tells the whole row of d_k numbers
    pairs = (first[..., :, None] * n + first[..., None, :]).contiguous()
    stop("scores", "scores", "Q_heads · K_headsᵀ / √d_k", ("B", "H", "T", "T"), pairs)
    # What weights @ V_heads gives: new memory, laid out as (B, H, T, d_k).
    heads = Q_heads.clone(memory_format=torch.contiguous_format)
    stop("heads", "heads", "weights · V_heads", headed, heads)

    if merge == "right":
        swapped = stop("swap", "swapped", "heads.transpose(1, 2)", viewed, heads.transpose(1, 2))
        last, symbols = "swapped", viewed
    else:
        swapped = stop("swap", "heads", "", headed, heads)
        last, symbols = "heads", headed
    ready = stop("contiguous", last, f"{last}.contiguous()", symbols, swapped.contiguous())
    concat = ready.view(1, T, d_model)
    assert torch.equal(concat, MERGE[merge](heads))
    stop("merge", "concat", f"{last}.view(1, {T}, {d_model})", flat, concat)
    return stops


@dataclass(frozen=True)
class MergeRule:
    """Can `view` make one axis of the last two of a tensor, without moving a number?

    One step must do for both: stride of the left axis = size · stride of the right axis.
    `idle`: those of the two that have size 1; no step is ever made along them.
    """

    left: str
    right: str
    stride: int
    size: int
    step: int
    idle: tuple[str, ...]

    @property
    def needed(self) -> int:
        return self.size * self.step

    @property
    def works(self) -> bool:
        return bool(self.idle) or self.stride == self.needed


def merge_rule(symbols: tuple[str, ...], tensor: Tensor) -> MergeRule:
    """The rule for the last two axes, from the strides of the tensor.

    Rules of `view`: PyTorch, torch.Tensor.view.
    """
    left, right = symbols[-2:]
    idle = tuple(a for a, n in zip((left, right), tensor.shape[-2:], strict=True) if n == 1)
    return MergeRule(left, right, tensor.stride(-2), tensor.shape[-1], tensor.stride(-1), idle)


def memory_of(tensor: Tensor) -> list[int]:
    """The numbers in the order in which they lie in memory."""
    return tensor.as_strided((tensor.numel(),), (1,)).tolist()


def places_of(tensor: Tensor) -> Tensor:
    """Where in memory each number of the tensor stands, counted from 0; same shape."""
    place = torch.zeros(tensor.shape, dtype=torch.long)
    for axis, (size, stride) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
        along = [1] * tensor.dim()
        along[axis] = size
        place = place + (torch.arange(size) * stride).view(along)
    return place


def differing(right: Stop, wrong: Stop) -> Tensor | None:
    """Which cells hold another number, (1, …) bool; None where the shapes cannot be compared."""
    if right.symbols != wrong.symbols:
        return None
    return right.numbers != wrong.numbers


def coincide(right: dict[str, Stop], wrong: dict[str, Stop]) -> bool:
    """Do two routes hold the same numbers wherever they can be compared?"""
    marks = (differing(right[step], wrong[step]) for step in STEPS)
    return not any(mark is not None and bool(mark.any()) for mark in marks)
