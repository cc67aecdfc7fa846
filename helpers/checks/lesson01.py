"""Lesson 01, one head: `attention_weights`, `single_head`, `row_entropy`.

The words of every kind below are in texts/<language>/check_01.json. Sizes are all different
(T, d_k, d_model), so that a wrong width cannot hide, and the first trial has none that readers
write by hand (8, 64): that would be taken for a width. Masks hide and show at least one key in
every row and every column, so that −∞ and −1e9 give the same numbers, also when inverted.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from .. import attention
from .base import Exercise, Probe, random_tensors, register
from .case import Case
from .weights import (
    WRONG_WEIGHTS,
    attention_weights,
    causal_mask,
    hidden_but_seen,
    hidden_weight,
    irregular_mask,
    other_scale,
    row_sums,
    rows_do_not_sum,
    scaled_by,
)

# 01.attention_weights


def _weights_probe(seed: int, T: int, d_k: int, mask: Tensor | None = None, condition: str = ""):
    Q, K = random_tensors(seed, (T, d_k), (T, d_k), scale=1.2)
    inputs = {"Q": Q, "K": K}
    if mask is not None:
        inputs["mask"] = mask
    return Probe(inputs, {"T": T, "d_k": d_k}, condition)


attention_exercise = register(
    Exercise(
        id="01.attention_weights",
        call="attention_weights(Q, K, mask=None)",
        axes=("T", "T"),
        reference=attention_weights,
        make_probes=lambda: [
            _weights_probe(1, 5, 3),
            _weights_probe(2, 4, 8),
            _weights_probe(3, 5, 3, irregular_mask()),
            _weights_probe(4, 6, 3, causal_mask(6)),
        ],
        make_easier=lambda: [_weights_probe(5, 4, 4, condition="T = d_k")],
    )
)


for kind, ways in WRONG_WEIGHTS.items():
    attention_exercise.misconception(kind, *ways)


def wrong_scale(case: Case):
    inputs = case.probe.inputs
    return other_scale(case, inputs["Q"], inputs["K"], lambda weights: weights)


attention_exercise.rules += [wrong_scale, hidden_but_seen, rows_do_not_sum]
attention_exercise.facts += [row_sums, hidden_weight]


# 01.single_head


def single_head(
    X: Tensor, W_Q: Tensor, W_K: Tensor, W_V: Tensor, mask: Tensor | None = None
) -> Tensor:
    return attention_weights(X @ W_Q, X @ W_K, mask) @ (X @ W_V)


def _head_probe(
    seed: int, T: int, d_model: int, d_k: int, mask: Tensor | None = None, condition: str = ""
):
    (X,) = random_tensors(seed, (T, d_model))
    # Wide enough that scores spread and every wrong scale shows.
    W_Q, W_K, W_V = random_tensors(seed + 100, *[(d_model, d_k)] * 3, scale=1.3 / d_model**0.5)
    inputs = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V}
    if mask is not None:
        inputs["mask"] = mask
    return Probe(inputs, {"T": T, "d_model": d_model, "d_k": d_k}, condition)


head_exercise = register(
    Exercise(
        id="01.single_head",
        call="single_head(X, W_Q, W_K, W_V, mask=None)",
        axes=("T", "d_k"),
        reference=single_head,
        make_probes=lambda: [
            _head_probe(1, 5, 7, 3),
            _head_probe(2, 4, 6, 9),
            _head_probe(3, 5, 7, 3, irregular_mask()),
            _head_probe(4, 6, 7, 3, causal_mask(6)),
        ],
        make_easier=lambda: [
            _head_probe(5, 4, 6, 4, condition="T = d_k"),
            _head_probe(6, 5, 3, 3, condition="d_model = d_k"),
        ],
        first_of_tuple=True,
    )
)


def head_with(weights_of: Callable) -> Callable:
    """A head whose weights are made another way."""
    return lambda X, W_Q, W_K, W_V, mask=None: weights_of(X @ W_Q, X @ W_K, mask) @ (X @ W_V)


def head_from(outputs: Callable) -> Callable:
    """A head with right weights, `outputs(weights, X, Q, K, V)` made of them."""

    def wrong(X, W_Q, W_K, W_V, mask=None):
        Q, K, V = X @ W_Q, X @ W_K, X @ W_V
        return outputs(attention_weights(Q, K, mask), X, Q, K, V)

    return wrong


def _scaled_by_width(power: float) -> Callable:
    def wrong(X, W_Q, W_K, W_V, mask=None):
        return scaled_by(lambda Q: X.shape[-1] ** power)(X @ W_Q, X @ W_K, mask) @ (X @ W_V)

    return wrong


for kind, ways in WRONG_WEIGHTS.items():
    head_exercise.misconception(kind, *map(head_with, ways))
head_exercise.misconception("scaled_by_d_model", _scaled_by_width(0.5), _scaled_by_width(1))
head_exercise.misconception("values_forgotten", head_from(lambda w, X, Q, K, V: w))
head_exercise.misconception("values_not_projected", head_from(lambda w, X, Q, K, V: w @ X))
head_exercise.misconception("keys_as_values", head_from(lambda w, X, Q, K, V: w @ K))
head_exercise.misconception("queries_as_values", head_from(lambda w, X, Q, K, V: w @ Q))
head_exercise.misconception("values_alone", head_from(lambda w, X, Q, K, V: V))
head_exercise.misconception("output_transposed", head_from(lambda w, X, Q, K, V: (w @ V).mT))
head_exercise.misconception(
    "output_of_one_token",
    head_from(lambda w, X, Q, K, V: (w @ V).sum(0)),
    head_from(lambda w, X, Q, K, V: (w @ V).mean(0)),
)
head_exercise.misconception(
    "input_not_projected",
    lambda X, W_Q, W_K, W_V, mask=None: attention_weights(X, X, mask) @ (X @ W_V),
    lambda X, W_Q, W_K, W_V, mask=None: attention_weights(X, X, mask) @ X,
)
head_exercise.misconception(
    "projections_exchanged",
    lambda X, W_Q, W_K, W_V, mask=None: single_head(X, W_Q, W_V, W_K, mask),
    lambda X, W_Q, W_K, W_V, mask=None: single_head(X, W_V, W_K, W_Q, mask),
)
head_exercise.misconception(
    "matrices_transposed",
    lambda X, W_Q, W_K, W_V, mask=None: single_head(X, W_Q.mT, W_K.mT, W_V.mT, mask),
)


def wrong_scale_of_head(case: Case):
    X, W_Q, W_K, W_V = (case.probe.inputs[name] for name in ("X", "W_Q", "W_K", "W_V"))
    V = (X @ W_V).double()
    return other_scale(case, X @ W_Q, X @ W_K, lambda weights: weights @ V)


head_exercise.rules += [wrong_scale_of_head]


# 01.row_entropy


def row_entropy(weights: Tensor) -> Tensor:
    return torch.special.entr(weights).sum(-1)


def _entropy_probe(seed: int, T: int, mask: Tensor | None = None) -> Probe:
    (scores,) = random_tensors(seed, (T, T), scale=1.5)
    return Probe({"weights": attention.attention_weights(scores, mask)}, {"T": T})


entropy_exercise = register(
    Exercise(
        id="01.row_entropy",
        call="row_entropy(weights)",
        axes=("T",),
        reference=row_entropy,
        make_probes=lambda: [
            _entropy_probe(1, 5),
            _entropy_probe(2, 7),
            _entropy_probe(3, 5, causal_mask(5)),  # zeros, and a first row that is all one key
        ],
    )
)


def entropy_from(terms: Callable) -> Callable:
    """The sum over the keys of `terms(w)`, where a weight of 0 adds nothing."""
    return lambda weights: torch.where(weights > 0, terms(weights.clamp_min(1e-30)), 0.0).sum(-1)


entropy_exercise.misconception(
    "other_logarithm",
    entropy_from(lambda w: -w * w.log2()),
    entropy_from(lambda w: -w * w.log10()),
)
entropy_exercise.misconception(
    "sign_forgotten", lambda w: -row_entropy(w), lambda w: (w * w.log()).sum(-1)
)
entropy_exercise.misconception(
    "entropy_of_columns", lambda w: row_entropy(w.mT), lambda w: -(w * w.log()).sum(0)
)
entropy_exercise.misconception(
    "entropy_of_everything",
    lambda w: row_entropy(w).sum(),
    lambda w: row_entropy(w).mean(),
    lambda w: -(w * w.log()).sum(),
    lambda w: -(w * w.log()).sum(-1).mean(),
)
entropy_exercise.misconception("zero_log_zero", lambda w: -(w * w.log()).sum(-1))
entropy_exercise.misconception(
    "mean_instead_of_sum",
    lambda w: row_entropy(w) / w.shape[-1],
    lambda w: -(w * w.log()).mean(-1),
)
entropy_exercise.misconception(
    "weight_forgotten", lambda w: -w.log().sum(-1), entropy_from(lambda w: -w.log())
)
entropy_exercise.misconception("not_summed", torch.special.entr, lambda w: -w * w.log())
entropy_exercise.misconception("divided_by_log_T", lambda w: row_entropy(w) / math.log(w.shape[-1]))
entropy_exercise.misconception("perplexity", lambda w: row_entropy(w).exp())
entropy_exercise.misconception("softmax_of_weights", lambda w: row_entropy(w.softmax(-1)))
entropy_exercise.misconception(
    "logarithm_forgotten", lambda w: (w * w).sum(-1), lambda w: -(w * w).sum(-1)
)
