"""The loop over heads, exercise `looped_multi_head` of lesson 02, which registers it.

The words of the kinds below are in texts/<language>/check_02.json, those of wrong attention
weights in check_01.json. W_O is random, never the identity, and there are at least two heads,
so that leaving W_O out, or taking one head for another, shows in the numbers (C06, C07).
"""

from collections.abc import Callable

import torch
from torch import Tensor

from .base import Exercise, Probe, random_tensors
from .case import Case
from .weights import (
    WRONG_WEIGHTS,
    attention_weights,
    causal_mask,
    hide,
    irregular_mask,
    other_scale,
    scaled_by,
    scores,
)


def looped(
    X: Tensor,
    W_Q: Tensor,
    W_K: Tensor,
    W_V: Tensor,
    W_O: Tensor,
    mask: Tensor | None = None,
    *,
    weights_of: Callable = attention_weights,
    join: Callable | None = None,
) -> Tensor:
    """The loop, with other weights or another way to join the heads."""
    heads = torch.stack(
        [weights_of(X @ W_Q[i], X @ W_K[i], mask) @ (X @ W_V[i]) for i in range(len(W_Q))]
    )
    return (join or joined)(heads, W_O)


def joined(heads: Tensor, W_O: Tensor) -> Tensor:
    """(H, T, d_k) side by side, times W_O. In the trial with a W_O of d_k rows: no answer."""
    concat = heads.transpose(0, 1).flatten(1)
    return concat @ W_O if concat.shape[1] == len(W_O) else NotImplemented


def _loop_probe(seed, T, H, d_k, mask=None, condition: str = "", rows: int = 0) -> Probe:
    d_model = H * d_k
    (X,) = random_tensors(seed, (T, d_model))
    # Wide enough that scores spread and every wrong scale shows.
    W_Q, W_K, W_V = random_tensors(seed + 100, *[(H, d_model, d_k)] * 3, scale=1.3 / d_model**0.5)
    (W_O,) = random_tensors(seed + 200, (rows or d_model, d_model), scale=1 / d_model**0.5)
    inputs = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O}
    if mask is not None:
        inputs["mask"] = mask
    return Probe(inputs, {"T": T, "d_model": d_model, "H": H, "d_k": d_k}, condition)


loop_exercise = Exercise(
    id="02.looped_multi_head",
    call="looped_multi_head(X, W_Q, W_K, W_V, W_O, mask=None)",
    axes=("T", "d_model"),
    reference=looped,
    make_probes=lambda: [
        _loop_probe(1, 5, 2, 3),
        _loop_probe(2, 7, 4, 2),
        _loop_probe(3, 5, 2, 3, irregular_mask()),
        _loop_probe(4, 4, 3, 2, causal_mask(4)),
    ],
    make_easier=lambda: [
        # Heads that are not side by side do not fit W_O and raise. A W_O of d_k rows
        # takes what is d_k wide, and so shows what was done with them.
        _loop_probe(5, 5, 2, 3, rows=3),
        _loop_probe(6, 4, 2, 4, condition="T = d_k"),
        _loop_probe(7, 5, 1, 6, condition="H = 1"),
    ],
    first_of_tuple=True,
)


def _weighted(weights_of: Callable) -> Callable:
    return lambda *inputs: looped(*inputs, weights_of=weights_of)


def _joined_by(join: Callable) -> Callable:
    return lambda *inputs: looped(*inputs, join=join)


def _of_slices(rows: Callable) -> Callable:
    """Each head sees only its own slice of X, through `rows(i, d_k)` of its matrices."""

    def wrong(X, W_Q, W_K, W_V, W_O, mask=None):
        d_k, heads = W_Q.shape[-1], []
        for i in range(len(W_Q)):
            own = X[:, i * d_k : (i + 1) * d_k]
            Q, K, V = (own @ W[i][rows(i, d_k)] for W in (W_Q, W_K, W_V))
            heads.append(attention_weights(Q, K, mask) @ V)
        return joined(torch.stack(heads), W_O)

    return wrong


def _with_d_model(power: float) -> Callable:
    def wrong(X, *others):
        return looped(X, *others, weights_of=scaled_by(lambda Q: X.shape[-1] ** power))

    return wrong


def _softmax_over_heads(X, W_Q, W_K, W_V, W_O, mask=None):
    return joined(hide(scores(X @ W_Q, X @ W_K), mask).softmax(0) @ (X @ W_V), W_O)


for kind, ways in WRONG_WEIGHTS.items():
    loop_exercise.misconception(kind, *map(_weighted, ways))
loop_exercise.misconception("scaled_by_d_model", _with_d_model(0.5), _with_d_model(1))
loop_exercise.misconception("softmax_over_heads", _softmax_over_heads)
loop_exercise.misconception(
    "slices_of_tokens",
    _of_slices(lambda i, d_k: slice(i * d_k, (i + 1) * d_k)),
    _of_slices(lambda i, d_k: slice(d_k)),
)
loop_exercise.misconception(
    "projections_exchanged",
    lambda X, W_Q, W_K, W_V, *others: looped(X, W_Q, W_V, W_K, *others),
    lambda X, W_Q, W_K, W_V, *others: looped(X, W_V, W_K, W_Q, *others),
)
loop_exercise.misconception(
    "matrices_transposed",
    lambda X, W_Q, W_K, W_V, *others: looped(X, W_Q.mT, W_K.mT, W_V.mT, *others),
)
loop_exercise.misconception(
    "one_head_every_time",
    _joined_by(lambda heads, W_O: joined(heads[:1].expand_as(heads), W_O)),
    _joined_by(lambda heads, W_O: joined(heads[-1:].expand_as(heads), W_O)),
)
loop_exercise.misconception(
    "one_head_alone",
    _joined_by(lambda heads, W_O: heads[0] @ W_O),
    _joined_by(lambda heads, W_O: heads[-1] @ W_O),
    _joined_by(lambda heads, W_O: heads[0]),
    _joined_by(lambda heads, W_O: heads[-1]),
)
loop_exercise.misconception(
    "joined_along_tokens",
    _joined_by(lambda heads, W_O: heads.flatten(0, 1) @ W_O),
    _joined_by(lambda heads, W_O: heads.flatten(0, 1)),
)
loop_exercise.misconception(
    "stacked_not_joined",
    _joined_by(lambda heads, W_O: heads @ W_O),
    _joined_by(lambda heads, W_O: heads),
    _joined_by(lambda heads, W_O: heads.transpose(0, 1)),
)
loop_exercise.misconception(
    "heads_added",
    _joined_by(lambda heads, W_O: heads.sum(0) @ W_O),
    _joined_by(lambda h, _: h.sum(0)),
)
loop_exercise.misconception(
    "mean_of_heads",
    _joined_by(lambda heads, W_O: heads.mean(0) @ W_O),
    _joined_by(lambda heads, W_O: heads.mean(0)),
)
loop_exercise.misconception(
    "tokens_mixed", _joined_by(lambda heads, W_O: heads.reshape(heads.shape[1], -1) @ W_O)
)
loop_exercise.misconception(
    "features_interleaved", _joined_by(lambda heads, W_O: heads.permute(1, 2, 0).flatten(1) @ W_O)
)
loop_exercise.misconception(
    "heads_in_reverse", _joined_by(lambda heads, W_O: joined(heads.flip(0), W_O))
)
loop_exercise.misconception(
    "heads_in_a_list",
    _joined_by(lambda heads, W_O: list(heads)),
    _joined_by(lambda heads, W_O: [head @ W_O for head in heads]),
    _joined_by(lambda heads, W_O: [
        h @ W for h, W in zip(heads, W_O.chunk(len(heads)), strict=True)]),
)  # fmt: skip
loop_exercise.misconception(
    "W_O_left_out", _joined_by(lambda heads, W_O: heads.transpose(0, 1).flatten(1))
)
loop_exercise.misconception("W_O_transposed", _joined_by(lambda heads, W_O: joined(heads, W_O.mT)))
loop_exercise.misconception(
    "values_forgotten",
    lambda X, W_Q, W_K, W_V, W_O, mask=None: (
        torch.stack([attention_weights(X @ q, X @ k, mask) for q, k in zip(W_Q, W_K, strict=True)])
        .transpose(0, 1)
        .flatten(1)
        @ W_O
    ),
)


def wrong_scale_of_heads(case: Case):
    X, W_Q, W_K, W_V, W_O = list(case.probe.inputs.values())[:5]
    V, W_O = (X @ W_V).double(), W_O.double()
    return other_scale(case, X @ W_Q, X @ W_K, lambda weights: joined(weights @ V, W_O))


loop_exercise.rules += [wrong_scale_of_heads]
