"""Wrong ways to make attention weights, and what their numbers give away.

Used by every lesson whose exercise makes weights. The words of the kinds and facts are in
texts/<language>/check_01.json, where the first of these exercises is.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from .. import attention
from .case import Case
from .comparing import written

# An irregular mask, so that a causal mask of the reader's own does not pass for it.
MASK = [
    [1, 0, 0, 1, 0],
    [1, 1, 0, 0, 1],
    [0, 1, 1, 0, 1],
    [0, 0, 1, 1, 0],
    [0, 1, 0, 1, 1],
]


def irregular_mask() -> Tensor:
    return torch.tensor(MASK, dtype=torch.bool, device="cpu")


def causal_mask(T: int) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool, device="cpu").tril()


def attention_weights(Q: Tensor, K: Tensor, mask: Tensor | None = None) -> Tensor:
    return attention.attention_weights(attention.attention_scores(Q, K), mask)


def scores(Q: Tensor, K: Tensor) -> Tensor:
    return attention.attention_scores(Q, K)


def hide(scores: Tensor, mask: Tensor | None, value: float = -math.inf) -> Tensor:
    return scores if mask is None else scores.masked_fill(mask == 0, value)


def scaled_by(divisor: Callable) -> Callable:
    """Weights whose scores are divided by `divisor(Q)` instead of √d_k."""
    return lambda Q, K, mask=None: hide(Q @ K.mT / divisor(Q), mask).softmax(-1)


def normalised_by(normalise: Callable) -> Callable:
    """Weights with `normalise` in the place of the softmax over the keys."""
    return lambda Q, K, mask=None: normalise(hide(scores(Q, K), mask))


def masked_by(masked: Callable) -> Callable:
    """Right weights without a mask, `masked(scores, mask)` with one."""
    return lambda Q, K, mask=None: (
        scores(Q, K).softmax(-1) if mask is None else masked(scores(Q, K), mask)
    )


# kind -> wrong ways to make weights from Q, K and a mask. The single head meets them all too.
WRONG_WEIGHTS = {
    "no_scale": [scaled_by(lambda Q: 1)],
    "scaled_by_d_k": [scaled_by(lambda Q: Q.shape[-1])],
    "scaled_by_T": [scaled_by(lambda Q: math.sqrt(Q.shape[-2])), scaled_by(lambda Q: Q.shape[-2])],
    "scale_upside_down": [scaled_by(lambda Q: Q.shape[-1] ** -0.5)],
    "scale_after_softmax": [
        lambda Q, K, mask=None: hide(Q @ K.mT, mask).softmax(-1) / Q.shape[-1] ** 0.5
    ],
    "softmax_over_queries": [normalised_by(lambda s: s.softmax(-2))],
    "softmax_over_everything": [normalised_by(lambda s: s.flatten().softmax(0).view_as(s))],
    "no_softmax": [normalised_by(lambda s: s)],
    "softmax_twice": [normalised_by(lambda s: s.softmax(-1).softmax(-1))],
    "sum_instead_of_softmax": [normalised_by(lambda s: s / s.sum(-1, keepdim=True))],
    "exp_without_sum": [normalised_by(torch.exp)],
    "log_softmax": [normalised_by(lambda s: s.log_softmax(-1))],
    "sigmoid_instead_of_softmax": [normalised_by(torch.sigmoid)],
    "queries_and_keys_exchanged": [lambda Q, K, mask=None: hide(scores(K, Q), mask).softmax(-1)],
    "weights_transposed": [lambda Q, K, mask=None: attention_weights(Q, K, mask).mT],
    "keys_unused": [lambda Q, K, mask=None: attention_weights(Q, Q, mask)],
    "queries_unused": [lambda Q, K, mask=None: attention_weights(K, K, mask)],
    "keys_not_transposed": [
        lambda Q, K, mask=None: hide(Q @ K / Q.shape[-1] ** 0.5, mask).softmax(-1)
    ],
    "always_causal": [
        lambda Q, K, mask=None: attention_weights(Q, K, causal_mask(len(Q))),
        lambda Q, K, mask=None: attention_weights(
            Q, K, causal_mask(len(Q)) if mask is None else causal_mask(len(Q)) & (mask != 0)
        ),
    ],
    "causal_instead_of_mask": [masked_by(lambda s, m: hide(s, causal_mask(len(s))).softmax(-1))],
    "mask_after_softmax": [
        masked_by(lambda s, m: s.softmax(-1) * m),
        masked_by(lambda s, m: hide(s.softmax(-1), m)),
    ],
    "mask_inverted": [
        masked_by(lambda s, m: hide(s, m == 0).softmax(-1)),
        masked_by(lambda s, m: hide(s, m == 0, -1e9).softmax(-1)),
    ],
    "mask_inverted_after_softmax": [masked_by(lambda s, m: hide(s.softmax(-1), m == 0, 0.0))],
    "mask_added": [masked_by(lambda s, m: (s + m).softmax(-1))],
    "hidden_score_zero": [masked_by(lambda s, m: hide(s, m, 0.0).softmax(-1))],
    "mask_transposed": [
        masked_by(lambda s, m: hide(s, m.mT).softmax(-1)),
        masked_by(lambda s, m: hide(s, m.mT, -1e9).softmax(-1)),
    ],
}


def fitted_divisor(scores: Tensor, gives: Callable, got: Tensor) -> float | None:
    """The number d for which gives(softmax(scores / d)) is what came, or None.

    Looks over d from 1/1000 to 1000, first coarsely, then ever closer around the best.
    """

    def misfit(log_d: float) -> float:
        return float((gives((scores / math.exp(log_d)).softmax(-1)) - got).abs().max())

    best, step = 0.0, 0.05
    grid = [step * i for i in range(-140, 141)]
    while step > 1e-7:
        best = min(grid, key=misfit)
        step /= 4
        grid = [best + step * i for i in range(-6, 7)]
    return math.exp(best) if misfit(best) < 1e-4 else None


def other_scale(case: Case, Q: Tensor, K: Tensor, gives: Callable):
    """A rule: the scores were divided by some other number; `gives` makes the output of weights."""
    if case.probe.inputs.get("mask") is not None or not case.tensors():
        return None
    divisor = fitted_divisor((Q @ K.mT).double(), gives, case.tensors()[1])
    return ("wrong_scale", {"divisor": f"{divisor:.3g}"}) if divisor else None


def hidden_but_seen(case: Case):
    """Hidden cells that keep a weight: a negative number too small to hide them."""
    mask, (_, got) = case.probe.inputs.get("mask"), case.tensors()
    if mask is None or not (got[~mask].abs() > 1e-5).any():
        return None
    return "hidden_but_seen", {}


def rows_do_not_sum(case: Case):
    _, got = case.tensors()
    if ((got.sum(-1) - 1).abs() < 1e-4).all():
        return None
    return "rows_do_not_sum", {}


def row_sums(case: Case):
    """A fact beside any wrong weights: rows that do not sum to 1."""
    _, got = case.tensors()
    sums = got.sum(-1)
    if ((sums - 1).abs() < 1e-4).all():
        return None
    row = int((sums - 1).abs().argmax())
    return "check_01.facts.row_sum", {"row": row, "sum": written(float(sums[row]))[0]}


def hidden_weight(case: Case):
    """A fact beside any wrong weights: what hidden cells still hold."""
    mask, (_, got) = case.probe.inputs.get("mask"), case.tensors()
    if mask is None or not got.isfinite().all() or not (got[~mask].abs() > 1e-5).any():
        return None
    most = float(got[~mask].abs().max())
    return "check_01.facts.hidden", {"most": written(most)[0]}
