"""Lesson 05, multi-head attention: `MultiHeadAttention`, `unpack`, `padding_mask`.

The words of every kind below are in texts/<language>/check_05.json, those that lesson 01 has
too in check_01.json. All sizes of a trial differ, so that a wrong axis or width cannot hide;
no trial has a row with nothing to attend to, where right layers give NaN or zeros.
"""

import torch
from torch import Tensor

from .. import attention
from .base import Exercise, Probe, random_tensors, register
from .case import Case
from .layers import NAMES, WRONG_LAYERS
from .modules import run_module
from .weights import causal_mask, irregular_mask, other_scale

# 05.MultiHeadAttention


def _layer_probe(seed, B, T, H, d_k, mask: Tensor | None = None, condition: str = "") -> Probe:
    d_model = H * d_k
    (X,) = random_tensors(seed, (B, T, d_model))
    # Wide enough that scores spread and every wrong scale shows.
    matrices = random_tensors(seed + 100, *[(d_model, d_model)] * 4, scale=1.3 / d_model**0.5)
    weights = dict(zip(NAMES, matrices, strict=True))
    inputs = {"d_model": d_model, "num_heads": H, "weights": weights, "X": X}
    if mask is not None:
        inputs["mask"] = mask
    sizes = {"B": B, "T": T, "d_model": d_model, "H": H, "d_k": d_k}
    return Probe(inputs, sizes, condition)


def hidden_padding() -> Tensor:
    """(B, 1, 1, T): padding after the first sequence, before the second."""
    return torch.tensor([[1, 1, 1, 0, 0], [0, 1, 1, 1, 1]], device="cpu").bool()[:, None, None]


layer_exercise = register(
    Exercise(
        id="05.MultiHeadAttention",
        call="MultiHeadAttention(d_model, num_heads)(X, mask=None)",
        axes=("B", "T", "d_model"),
        reference=attention.MultiHeadAttention,
        run=run_module("d_model", "num_heads"),
        make_probes=lambda: [
            _layer_probe(1, 2, 5, 3, 4),
            _layer_probe(2, 3, 4, 2, 5),
            _layer_probe(3, 2, 5, 3, 4, irregular_mask()),
            _layer_probe(4, 2, 5, 3, 4, hidden_padding()),
            _layer_probe(5, 2, 6, 3, 4, causal_mask(6)),
        ],
        make_easier=lambda: [
            _layer_probe(6, 1, 5, 3, 4, condition="B = 1"),
            _layer_probe(7, 2, 4, 3, 4, condition="T = d_k"),
            _layer_probe(8, 2, 10, 8, 64, condition="T = 10, d_model = 512, H = 8"),
            _layer_probe(9, 2, 5, 3, 4, irregular_mask(), "mask.shape = (T, T)"),
        ],
        first_of_tuple=True,
        differentiable=True,
    )
)
for kind, ways in WRONG_LAYERS.items():
    layer_exercise.misconception(kind, *ways)


def wrong_scale_of_layer(case: Case):
    inputs, H = case.probe.inputs, case.probe.sizes["H"]
    W_Q, W_K, W_V, W_O = (inputs["weights"][name].double() for name in NAMES)
    X = inputs["X"].double()
    Q, K, V = (attention.split_heads(X @ W.T, H) for W in (W_Q, W_K, W_V))
    return other_scale(case, Q, K, lambda weights: attention.merge_heads(weights @ V) @ W_O.T)


layer_exercise.rules += [wrong_scale_of_layer]


# 05.unpack


def run_unpack(answer, in_proj_weight: Tensor):
    """The three matrices as one tensor (3, d_model, d_model), so that they can be compared."""
    parts = answer(in_proj_weight)
    if not isinstance(parts, (tuple, list)) or not parts:
        return parts
    if not all(isinstance(part, Tensor) for part in parts):
        return parts
    if len({part.shape for part in parts}) == 1:
        return torch.stack(list(parts))
    return torch.cat([part.flatten() for part in parts])  # unequal parts: no shape fits


def _packed_probe(seed: int, d_model: int, condition: str = "") -> Probe:
    (packed,) = random_tensors(seed, (3 * d_model, d_model))
    return Probe({"in_proj_weight": packed}, {"d_model": d_model}, condition)


unpack_exercise = register(
    Exercise(
        id="05.unpack",
        call="unpack(in_proj_weight)",
        axes=("3", "d_model", "d_model"),
        reference=lambda packed: packed.chunk(3),
        run=run_unpack,
        make_probes=lambda: [_packed_probe(1, 6), _packed_probe(2, 9)],
        make_easier=lambda: [_packed_probe(3, n, f"d_model = {n}") for n in (8, 64, 512)],
    )
)
unpack_exercise.misconception(
    "blocks_transposed",
    lambda packed: [block.T for block in packed.chunk(3)],
    lambda packed: packed.T.chunk(3, dim=1),
)
unpack_exercise.misconception(
    "blocks_exchanged",
    *(
        lambda packed, order=order: [packed.chunk(3)[i] for i in order]
        for order in ((1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1))
    ),
)
unpack_exercise.misconception("blocks_of_columns", lambda packed: packed.chunk(3, dim=1))
unpack_exercise.misconception("rows_interleaved", lambda packed: [packed[i::3] for i in range(3)])
unpack_exercise.misconception(
    "same_block", lambda packed: [packed.chunk(3)[0]] * 3, lambda packed: [packed.chunk(3)[2]] * 3
)
unpack_exercise.misconception(
    "blocks_too_short",
    lambda packed: [packed[i * n : (i + 1) * n] for n in [packed.shape[1] // 3] for i in range(3)],
)
unpack_exercise.misconception("split_by_three", lambda packed: packed.split(3))
unpack_exercise.misconception(
    "not_cut", lambda packed: packed, lambda packed: [packed], lambda packed: [packed] * 3
)


# 05.padding_mask


def padding_mask(lengths: Tensor, T: int) -> Tensor:
    return (torch.arange(T, device="cpu") < lengths[:, None])[:, None, None]


def run_padding(answer, lengths: Tensor, T: int):
    """(B, 1, T, T) whose rows are all alike hides the same keys: it counts as (B, 1, 1, T)."""
    mask = answer(lengths, T)
    if isinstance(mask, Tensor) and mask.dim() == 4 and mask.shape[2] == T > 1:
        first = mask[:, :, :1]
        if torch.equal(mask, first.expand_as(mask)):
            return first
    return mask


def _lengths_probe(lengths: list[int], T: int, condition: str = "") -> Probe:
    tensor = torch.tensor(lengths, device="cpu")
    return Probe({"lengths": tensor, "T": T}, {"B": len(lengths), "T": T}, condition)


padding_exercise = register(
    Exercise(
        id="05.padding_mask",
        call="padding_mask(lengths, T)",
        axes=("B", "1", "1", "T"),
        reference=padding_mask,
        run=run_padding,
        make_probes=lambda: [_lengths_probe([4, 2, 5], 6), _lengths_probe([1, 3, 4, 2], 4)],
        make_easier=lambda: [
            _lengths_probe([3], 5, "B = 1"),
            _lengths_probe([2, 3, 4], 3, "B = T"),
            _lengths_probe([4, 7, 9], 10, "T = 10"),
        ],
    )
)


def padding_with(cells, *shape: str):
    """A mask from `cells(place, lengths)` (B, T), seen as (B, 1, 1, T) or another shape."""

    def wrong(lengths, T):
        real = cells(torch.arange(T, device="cpu"), lengths[:, None])
        sizes = {"B": len(lengths), "T": T, "1": 1}
        return real.reshape([sizes[name] for name in shape or ("B", "1", "1", "T")])

    return wrong


def real_places(place, length):
    return place < length


def added(value: float):
    return padding_with(lambda place, length: torch.where(place < length, 0.0, value))


padding_exercise.misconception("sense_inverted", padding_with(lambda place, n: place >= n))
padding_exercise.misconception("one_too_many", padding_with(lambda place, n: place <= n))
padding_exercise.misconception(
    "one_too_few", padding_with(lambda place, n: place + 1 < n), padding_with(
        lambda place, n: (place < n) & (place > 0))
)  # fmt: skip
padding_exercise.misconception(
    "padding_on_the_left", lambda lengths, T: padding_mask(lengths, T).flip(-1)
)
padding_exercise.misconception(
    "axes_missing",
    padding_with(real_places, "B", "T"),
    padding_with(real_places, "B", "1", "T"),
    lambda lengths, T: padding_mask(lengths, T)[:, 0].expand(-1, T, -1),
)
padding_exercise.misconception("queries_hidden", padding_with(real_places, "B", "1", "T", "1"))
padding_exercise.misconception("heads_hidden", padding_with(real_places, "B", "T", "1", "1"))
padding_exercise.misconception("batch_as_rows", padding_with(real_places, "1", "1", "B", "T"))
padding_exercise.misconception(
    "queries_hidden_too",
    lambda lengths, T: padding_mask(lengths, T) & padding_mask(lengths, T).mT,
)
padding_exercise.misconception("added_style", *map(added, (-torch.inf, -1e9, -1e4)))
padding_exercise.misconception(
    "longest_instead_of_T",
    lambda lengths, T: padding_mask(lengths, int(lengths.max())),
)
padding_exercise.misconception(
    "one_length_for_all",
    lambda lengths, T: padding_mask(lengths[:1], T),
    lambda lengths, T: padding_mask(lengths.max()[None], T),
    lambda lengths, T: padding_mask(lengths[:1], T).expand(len(lengths), -1, -1, -1),
    lambda lengths, T: padding_mask(lengths.max()[None], T).expand(len(lengths), -1, -1, -1),
)
padding_exercise.misconception(
    "causal_too", lambda lengths, T: padding_mask(lengths, T) & causal_mask(T)
)
padding_exercise.misconception("causal_alone", lambda lengths, T: causal_mask(T).expand(
    len(lengths), 1, T, T))  # fmt: skip
padding_exercise.misconception("last_place_alone", padding_with(lambda place, n: place == n - 1),
                               padding_with(lambda place, n: place == n))  # fmt: skip
padding_exercise.misconception(
    "lengths_not_turned", lambda lengths, T: torch.arange(T, device="cpu") < lengths
)


def which_lengths(case: Case):
    """A fact beside any wrong mask: the lengths that were asked for."""
    return "check_05.facts.lengths", {"lengths": case.probe.inputs["lengths"].tolist()}


padding_exercise.facts += [which_lengths]


def numbers_not_truth(case: Case):
    """A remark: 0 and 1 hide as False and True do here, but not in functions of torch."""
    dtype = case.got.dtype
    if dtype == torch.bool:
        return None
    return "check_05.remarks.numbers", {"dtype": str(dtype).removeprefix("torch.")}


padding_exercise.remarks += [numbers_not_truth]
