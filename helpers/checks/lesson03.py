"""Lesson 03, view and transpose: `head_of_weight` and `split_heads`.

The words of every kind below are in texts/<language>/check_03.json. `memory_place` is in
`places`. Cells are numbered as they
lie in memory, so that an answer shows where each number came from. No size is 1 in a trial that
decides: there, wrong turns cannot be seen.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from ..attention import split_heads
from ..reshaping.wrong_turns import split_without_transpose
from .base import Exercise, Probe, register
from .case import Case
from .places import place_exercise


def _numbered(*shape: int) -> Tensor:
    """0, 1, 2, … in memory order, as float32 on the CPU."""
    count = torch.Size(shape).numel()
    return torch.arange(count, dtype=torch.float32, device="cpu").view(shape)


# 03.head_of_weight


def head_of_weight(weight: Tensor, head: int, num_heads: int) -> Tensor:
    d_k = weight.shape[0] // num_heads
    return weight[head * d_k : (head + 1) * d_k]


def _weight_probe(d_model: int, H: int, head: int, condition: str = "") -> Probe:
    inputs = {"weight": _numbered(d_model, d_model), "head": head, "num_heads": H}
    return Probe(inputs, {"d_model": d_model, "H": H, "d_k": d_model // H}, condition)


weight_exercise = register(
    Exercise(
        id="03.head_of_weight",
        call="head_of_weight(weight, head, num_heads)",
        axes=("d_k", "d_model"),
        reference=head_of_weight,
        make_probes=lambda: [
            _weight_probe(12, 4, 2),
            _weight_probe(12, 4, 0),
            _weight_probe(10, 2, 1),
            _weight_probe(15, 3, 2),
        ],
        make_easier=lambda: [
            _weight_probe(12, 4, 0, condition="head = 0"),
        ],
        rows=True,
    )
)


def rows_from(first: Callable, count: Callable) -> Callable:
    """`count` rows of the weight from row `first` on, both made of head, d_k and H."""

    def wrong(weight, head, num_heads):
        numbers = head, weight.shape[0] // num_heads, num_heads
        start = first(*numbers)
        return weight[start : start + count(*numbers)]

    return wrong


weight_exercise.misconception(
    "columns_of_weight",
    lambda w, head, H: head_of_weight(w.mT, head, H).mT,
    lambda w, head, H: head_of_weight(w.mT, head, H),
)
weight_exercise.misconception("rows_transposed", lambda w, head, H: head_of_weight(w, head, H).mT)
weight_exercise.misconception("interleaved_rows", lambda w, head, H: w[head::H])
weight_exercise.misconception(
    "head_from_one",
    rows_from(lambda head, d_k, H: (head - 1) * d_k, lambda head, d_k, H: d_k),
)
weight_exercise.misconception(
    "head_after", rows_from(lambda head, d_k, H: (head + 1) * d_k, lambda head, d_k, H: d_k)
)
weight_exercise.misconception(
    "start_not_times_d_k", rows_from(lambda head, d_k, H: head, lambda head, d_k, H: d_k)
)
weight_exercise.misconception(
    "num_heads_as_width",
    rows_from(lambda head, d_k, H: head * H, lambda head, d_k, H: H),
    rows_from(lambda head, d_k, H: head * H, lambda head, d_k, H: d_k),
)
# d_k as the lesson's cells leave it behind, or written by hand: 64 at d_model 512, 3 in the tiny
# example, 1 after the last loop.
weight_exercise.misconception(
    "sizes_of_the_lesson",
    *(lambda w, head, H, d_k=d_k: w[head * d_k : (head + 1) * d_k] for d_k in (64, 1)),
)
weight_exercise.misconception("one_row", lambda w, head, H: w[head])
weight_exercise.misconception(
    "open_end", lambda w, head, H: w[head * (len(w) // H) :], lambda w, head, H: w[: -len(w) // H]
)
weight_exercise.misconception("up_to_the_head", lambda w, head, H: w[: (head + 1) * (len(w) // H)])
weight_exercise.misconception(
    "one_row_off",
    rows_from(lambda head, d_k, H: head * d_k, lambda head, d_k, H: d_k - 1),
    rows_from(lambda head, d_k, H: head * d_k, lambda head, d_k, H: d_k + 1),
    rows_from(lambda head, d_k, H: head * d_k + 1, lambda head, d_k, H: d_k),
    rows_from(lambda head, d_k, H: head * d_k + 1, lambda head, d_k, H: d_k - 1),
)
weight_exercise.misconception(
    "square_block", lambda w, head, H: head_of_weight(head_of_weight(w, head, H).mT, head, H).mT
)
weight_exercise.misconception("whole_weight", lambda w, head, H: w, lambda w, head, H: w.mT)
weight_exercise.misconception(
    "all_heads",
    lambda w, head, H: w.view(H, -1, w.shape[1]),
    lambda w, head, H: w.view(-1, H, len(w)),
)


# 03.split_heads


def _split_probe(B: int, T: int, H: int, d_k: int, condition: str = "") -> Probe:
    sizes = {"B": B, "T": T, "d_model": H * d_k, "H": H, "d_k": d_k}
    return Probe({"x": _numbered(B, T, H * d_k), "num_heads": H}, sizes, condition)


split_exercise = register(
    Exercise(
        id="03.split_heads",
        call="split_heads(x, num_heads)",
        axes=("B", "H", "T", "d_k"),
        reference=split_heads,
        make_probes=lambda: [
            _split_probe(2, 5, 3, 4),
            _split_probe(3, 4, 2, 5),
            _split_probe(4, 2, 5, 3),
        ],
        make_easier=lambda: [
            _split_probe(1, 5, 3, 4, condition="B = 1"),
            _split_probe(2, 4, 4, 3, condition="T = H"),
            _split_probe(2, 5, 3, 3, condition="H = d_k"),
        ],
        rows=True,
        differentiable=True,
    )
)


def split_from(make: Callable) -> Callable:
    """A split `make(x, B, T, H, d_k)`."""

    def wrong(x, num_heads):
        B, T, d_model = x.shape
        return make(x, B, T, num_heads, d_model // num_heads)

    return wrong


def _viewed(x, B, T, H, d_k):
    return x.reshape(B, T, H, d_k)


split_exercise.misconception("straight_view", split_without_transpose)
split_exercise.misconception("transpose_forgotten", split_from(_viewed))
split_exercise.misconception(
    "wrong_axes_swapped",
    *(
        split_from(lambda *numbers, axes=axes: _viewed(*numbers).transpose(*axes))
        for axes in ((2, 3), (1, 3), (0, 1), (0, 2), (0, 3))
    ),
    split_from(lambda *numbers: _viewed(*numbers).permute(0, 2, 3, 1)),
    split_from(lambda *numbers: _viewed(*numbers).permute(0, 3, 1, 2)),
)
split_exercise.misconception(
    "interleaved_heads",
    split_from(lambda x, B, T, H, d_k: x.reshape(B, T, d_k, H).permute(0, 3, 1, 2)),
    split_from(lambda x, B, T, H, d_k: x.reshape(B, T, d_k, H).transpose(1, 3)),
)
split_exercise.misconception(
    "heads_and_width_exchanged",
    split_from(lambda x, B, T, H, d_k: x.reshape(B, T, d_k, H).transpose(1, 2)),
    split_from(lambda x, B, T, H, d_k: x.reshape(B, T, d_k, H)),
    split_from(lambda x, B, T, H, d_k: x.reshape(B, d_k, T, H)),
)
split_exercise.misconception(
    "batch_second",
    split_from(lambda x, B, T, H, d_k: _viewed(x, B, T, H, d_k).permute(1, 2, 0, 3)),
    split_from(lambda x, B, T, H, d_k: x.reshape(T, B, H, d_k).permute(1, 2, 0, 3)),
    split_from(lambda x, B, T, H, d_k: x.reshape(B, T, H, d_k).permute(2, 0, 1, 3)),
)
split_exercise.misconception(
    "batch_mixed",
    split_from(
        lambda x, B, T, H, d_k: x.reshape(B * T, H, d_k).transpose(0, 1).reshape(B, H, T, d_k)
    ),
    split_from(lambda x, B, T, H, d_k: x.reshape(B * T, H, d_k).transpose(0, 1)),
    split_from(lambda x, B, T, H, d_k: x.reshape(1, B * T, H, d_k).transpose(1, 2)),
    split_from(lambda x, B, T, H, d_k: torch.stack(x.chunk(H, dim=-1)).reshape(B, H, T, d_k)),
)
split_exercise.misconception(
    "batch_lost",
    split_from(lambda x, B, T, H, d_k: x[0].reshape(T, H, d_k).transpose(0, 1)),
    split_from(lambda x, B, T, H, d_k: x[:1].reshape(1, T, H, d_k).transpose(1, 2)),
)
split_exercise.misconception(
    "swapped_before_split",
    split_from(lambda x, B, T, H, d_k: x.transpose(1, 2).reshape(B, H, T, d_k)),
    split_from(lambda x, B, T, H, d_k: x.transpose(1, 2).reshape(B, T, H, d_k).transpose(1, 2)),
)
split_exercise.misconception(
    "put_together_again",
    split_from(lambda *numbers: _viewed(*numbers).transpose(1, 2).reshape(numbers[0].shape)),
)
split_exercise.misconception(
    "whole_width_for_each_head",
    split_from(lambda x, B, T, H, d_k: x[:, None].expand(B, H, T, H * d_k)),
)
split_exercise.misconception("nothing_split", lambda x, H: x, lambda x, H: x.transpose(1, 2))


def where_from(case: Case):
    """A fact beside any wrong split of the right shape: whose numbers stand in the first row."""
    expected, got = case.tensors()
    if got.dim() != 4:
        return None
    different = (expected != got).any(-1).nonzero()
    if not len(different):
        return None
    sequence, head, token = (int(i) for i in different[0])
    sizes = case.probe.sizes
    numbers = got[sequence, head, token]
    if not torch.isin(numbers, case.probe.inputs["x"].double()).all():
        return None
    tokens = (numbers.long() // sizes["d_model"]) % sizes["T"]
    features = numbers.long() % sizes["d_model"]
    owners = " ".join(
        f"({t}, {f})" for t, f in zip(tokens.tolist(), features.tolist(), strict=True)
    )
    return "check_03.facts.where_from", {"head": head, "token": token, "owners": owners}


split_exercise.facts += [where_from]


# 03.memory_place

register(place_exercise)
