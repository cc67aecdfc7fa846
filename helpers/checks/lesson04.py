"""Lesson 04, the way back: `merge_heads`, `sum_of_heads`, `output_projection`.

The words of every kind below are in texts/<language>/check_04.json. The first trial of
`merge_heads` holds 0 to 7, so that its message can be followed on paper (C02); the others are
larger, and no two of their sizes are equal. W_O is random, never the identity (C07).
"""

import torch

from .base import Exercise, Probe, random_tensors, register
from .terms import (
    diagonal_blocks_of,
    easier_probes,
    interleaved,
    merge_heads,
    output_probes,
    sizes_of,
    sum_exercise,
    sum_of_heads,
    terms,
    without_swap,
)

# 04.merge_heads


def _merge_probe(seed: int, *shape: int) -> Probe:
    (heads,) = random_tensors(seed, shape)
    return Probe({"heads": heads}, sizes_of(*shape))


def _counting_probe() -> Probe:
    heads = torch.arange(8, dtype=torch.float32, device="cpu").view(1, 2, 2, 2)
    return Probe({"heads": heads}, sizes_of(1, 2, 2, 2))


merge_exercise = register(
    Exercise(
        id="04.merge_heads",
        call="merge_heads(heads)",
        axes=("B", "T", "d_model"),
        reference=merge_heads,
        make_probes=lambda: [
            _counting_probe(),
            _merge_probe(1, 2, 3, 5, 4),
            _merge_probe(2, 3, 4, 2, 5),
        ],
        differentiable=True,
        rows=True,
    )
)


merge_exercise.misconception("tokens_mixed", without_swap)
merge_exercise.misconception("features_interleaved", interleaved)
merge_exercise.misconception(
    "wrong_axes_swapped",
    lambda heads: heads.transpose(2, 3).reshape(len(heads), heads.shape[2], -1),
    lambda heads: heads.transpose(1, 3).reshape(len(heads), heads.shape[2], -1),
    lambda heads: heads.permute(0, 3, 1, 2).reshape(len(heads), heads.shape[2], -1),
    lambda heads: heads.transpose(0, 1).reshape(len(heads), heads.shape[2], -1),
)
merge_exercise.misconception(
    "swapped_then_read_wrongly",
    lambda heads: heads.transpose(1, 2).reshape(len(heads), -1, heads.shape[2]),
    lambda heads: heads.transpose(1, 2).reshape(len(heads), heads.shape[1], -1),
    lambda heads: heads.transpose(1, 2).reshape(len(heads), -1, heads.shape[2]).mT,
)
merge_exercise.misconception("features_before_tokens", lambda heads: merge_heads(heads).mT)
merge_exercise.misconception(
    "heads_not_joined", lambda heads: heads.transpose(1, 2), lambda heads: heads
)
merge_exercise.misconception(
    "heads_averaged", lambda heads: heads.mean(1), lambda heads: heads.sum(1)
)
merge_exercise.misconception("joined_along_tokens", lambda heads: heads.flatten(1, 2))
merge_exercise.misconception("heads_in_reverse", lambda heads: merge_heads(heads.flip(1)))
merge_exercise.misconception("batch_lost", lambda heads: merge_heads(heads).flatten(0, 1))
merge_exercise.misconception(
    "first_sequence_only", lambda heads: merge_heads(heads[:1]), lambda heads: merge_heads(heads)[0]
)


# 04.sum_of_heads

register(sum_exercise)


# 04.output_projection

output_exercise = register(
    Exercise(
        id="04.output_projection",
        call="output_projection(heads, W_O)",
        axes=("B", "T", "d_model"),
        reference=sum_of_heads,
        make_probes=output_probes,
        make_easier=easier_probes,
        differentiable=True,
    )
)

output_exercise.misconception("W_O_left_out", lambda heads, W_O: merge_heads(heads))
output_exercise.misconception(
    "tokens_mixed_and_W_O_left_out", lambda heads, W_O: without_swap(heads)
)
output_exercise.misconception("tokens_mixed", lambda heads, W_O: without_swap(heads) @ W_O)
output_exercise.misconception("features_interleaved", lambda heads, W_O: interleaved(heads) @ W_O)
output_exercise.misconception(
    "heads_in_reverse", lambda heads, W_O: sum_of_heads(heads.flip(1), W_O)
)
output_exercise.misconception("W_O_transposed", lambda heads, W_O: sum_of_heads(heads, W_O.T))
output_exercise.misconception(
    "tokens_mixed_and_W_O_transposed", lambda heads, W_O: without_swap(heads) @ W_O.T
)
output_exercise.misconception("W_O_twice", lambda heads, W_O: sum_of_heads(heads, W_O) @ W_O)
output_exercise.misconception(
    "W_O_from_the_left",
    lambda heads, W_O: W_O @ merge_heads(heads),
    lambda heads, W_O: W_O @ merge_heads(heads).mT,
)
output_exercise.misconception(
    "W_O_before_merging",
    lambda heads, W_O: heads @ W_O,
    lambda heads, W_O: merge_heads(heads @ W_O),
    lambda heads, W_O: merge_heads(heads @ W_O[: heads.shape[3], : heads.shape[3]]),
    lambda heads, W_O: merge_heads(heads @ diagonal_blocks_of(heads, W_O)),
    lambda heads, W_O: merge_heads(terms(heads, W_O)),
)
output_exercise.misconception(
    "heads_averaged",
    lambda heads, W_O: heads.mean(1) @ W_O,
    lambda heads, W_O: heads.sum(1) @ W_O,
    lambda heads, W_O: heads.mean(1),
    lambda heads, W_O: heads.sum(1),
)
output_exercise.misconception("joined_along_tokens", lambda heads, W_O: heads.flatten(1, 2) @ W_O)
output_exercise.misconception(
    "function_added",
    *(
        lambda heads, W_O, f=f: f(sum_of_heads(heads, W_O))
        for f in (torch.tanh, torch.relu, torch.sigmoid, torch.nn.functional.gelu)
    ),
    *(
        lambda heads, W_O, f=f: sum_of_heads(f(heads), W_O)
        for f in (torch.tanh, torch.relu, torch.nn.functional.gelu)
    ),
    lambda heads, W_O: sum_of_heads(heads, W_O).softmax(-1),
)
output_exercise.misconception(
    "scaled_again",
    lambda heads, W_O: sum_of_heads(heads, W_O) / len(W_O) ** 0.5,
    lambda heads, W_O: sum_of_heads(heads, W_O) / heads.shape[3] ** 0.5,
    lambda heads, W_O: sum_of_heads(heads, W_O) / heads.shape[1],
)
output_exercise.misconception(
    "concat_added", lambda heads, W_O: sum_of_heads(heads, W_O) + merge_heads(heads)
)
