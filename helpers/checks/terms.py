"""The output of a layer as a sum of its heads: exercise `sum_of_heads` of lesson 04.

And the wrong ways to merge heads that two exercises of that lesson share; it registers all three.
The words are in texts/<language>/check_04.json.
"""

from collections.abc import Callable

from torch import Tensor

from .. import attention
from .base import Exercise, Probe, random_tensors


def merge_heads(heads: Tensor) -> Tensor:
    return attention.merge_heads(heads)


def sizes_of(B: int, H: int, T: int, d_k: int) -> dict[str, int]:
    return {"B": B, "H": H, "T": T, "d_k": d_k, "d_model": H * d_k}


def without_swap(heads: Tensor) -> Tensor:
    """Straight to (B, T, d_model): the tempting wrong way."""
    B, H, T, d_k = heads.shape
    return heads.reshape(B, T, H * d_k)


def interleaved(heads: Tensor) -> Tensor:
    """Feature 0 of every head, then feature 1 of every head, and so on."""
    return heads.permute(0, 2, 3, 1).flatten(2)


def sum_of_heads(heads: Tensor, W_O: Tensor) -> Tensor:
    """The product; its blocks give the same sum. In the trial with a W_O of d_k rows: no answer."""
    concat = merge_heads(heads)
    return concat @ W_O if concat.shape[-1] == len(W_O) else NotImplemented


def _output_probe(seed: int, *shape: int, rows: int = 0, condition: str = "") -> Probe:
    d_model = shape[1] * shape[3]
    heads, W_O = random_tensors(seed, shape, (rows or d_model, d_model))
    return Probe({"heads": heads, "W_O": W_O / d_model**0.5}, sizes_of(*shape), condition)


def output_probes() -> list[Probe]:
    return [
        _output_probe(1, 2, 3, 5, 4),
        _output_probe(2, 1, 4, 3, 2),
        _output_probe(3, 3, 2, 7, 5),
    ]


def easier_probes() -> list[Probe]:
    # A head that meets the whole of W_O does not fit and raises. A W_O of d_k rows takes it,
    # and so shows what was done.
    return [
        _output_probe(4, 2, 3, 5, 4, rows=4),
        _output_probe(5, 2, 3, 6, 2, condition="T = d_model"),
    ]


sum_exercise = Exercise(
    id="04.sum_of_heads",
    call="sum_of_heads(heads, W_O)",
    axes=("B", "T", "d_model"),
    reference=sum_of_heads,
    make_probes=output_probes,
    make_easier=easier_probes,
    differentiable=True,
)


def row_blocks(heads: Tensor, W_O: Tensor) -> Tensor:
    """Block i of rows, what head i is multiplied by: (H, d_k, d_model)."""
    return W_O.reshape(heads.shape[1], heads.shape[3], -1)


def terms(heads: Tensor, W_O: Tensor) -> Tensor:
    """What each head writes into the output: (B, H, T, d_model)."""
    return heads @ row_blocks(heads, W_O)


def _added(blocks: Callable) -> Callable:
    return lambda heads, W_O: (heads @ blocks(heads, W_O)).sum(1)


def diagonal_blocks_of(heads: Tensor, W_O: Tensor) -> Tensor:
    """Rows and columns i·d_k to (i + 1)·d_k - 1 of W_O, for each head: (H, d_k, d_k)."""
    cuts = W_O.view(heads.shape[1], heads.shape[3], heads.shape[1], heads.shape[3])
    return cuts.diagonal(dim1=0, dim2=2).movedim(-1, 0)


def _column_blocks(heads: Tensor, W_O: Tensor) -> Tensor:
    return W_O.view(len(W_O), heads.shape[1], -1).transpose(0, 1)


sum_exercise.misconception("columns_instead_of_rows", lambda heads, W_O: sum_of_heads(heads, W_O.T))
sum_exercise.misconception(
    "column_blocks", _added(_column_blocks), lambda heads, W_O: heads @ _column_blocks(heads, W_O)
)
sum_exercise.misconception(
    "diagonal_blocks",
    _added(diagonal_blocks_of),
    lambda heads, W_O: merge_heads(heads @ diagonal_blocks_of(heads, W_O)),
)
sum_exercise.misconception("not_summed", terms, lambda heads, W_O: terms(heads, W_O).mT)
sum_exercise.misconception(
    "summed_over_another_axis",
    lambda heads, W_O: terms(heads, W_O).sum(2),
    lambda heads, W_O: terms(heads, W_O).sum(0),
    lambda heads, W_O: terms(heads, W_O).sum(-1),
    lambda heads, W_O: terms(heads, W_O).sum(),
)
sum_exercise.misconception("joined_not_added", lambda heads, W_O: merge_heads(terms(heads, W_O)))
sum_exercise.misconception("mean_of_terms", lambda heads, W_O: terms(heads, W_O).mean(1))
sum_exercise.misconception(
    "one_term_only",
    lambda heads, W_O: terms(heads, W_O)[:, -1],
    lambda heads, W_O: terms(heads, W_O)[:, 0],
)
sum_exercise.misconception(
    "rows_interleaved",
    _added(lambda heads, W_O: W_O.view(heads.shape[3], heads.shape[1], -1).transpose(0, 1)),
)
sum_exercise.misconception("blocks_in_reverse", _added(lambda *both: row_blocks(*both).flip(0)))
sum_exercise.misconception(
    "one_block_for_all",
    _added(lambda *both: row_blocks(*both)[0]),
    _added(lambda *both: row_blocks(*both)[-1]),
)
sum_exercise.misconception(
    "blocks_read_wrongly",
    _added(lambda heads, W_O: W_O.reshape(heads.shape[1], -1, heads.shape[3]).mT),
)
sum_exercise.misconception(
    "whole_W_O_for_each_head",
    lambda heads, W_O: heads.sum(1) @ W_O,
    lambda heads, W_O: heads.mean(1) @ W_O,
    lambda heads, W_O: heads @ W_O,
)
sum_exercise.misconception("tokens_mixed", lambda heads, W_O: without_swap(heads) @ W_O)
sum_exercise.misconception(
    "W_O_left_out", lambda heads, W_O: heads.sum(1), lambda heads, W_O: merge_heads(heads)
)
