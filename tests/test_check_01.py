"""Lesson 01's exercises: right answers written many ways pass, wrong ones are named.

The answers here are written as readers write them, not taken from the catalogue of the checks.
"""

import math
import re

import torch
import torch.nn.functional as F
from check_probe import (
    assert_enough_misconceptions,
    assert_enough_right_ways,
    assert_named,
    assert_passes,
    each_right_way,
    each_wrong_way,
    one_language,  # noqa: F401
)

from helpers.checks import check, exercises

INF = float("inf")


# --- right ways -------------------------------------------------------------------------------


def matmul(Q, K, mask=None):
    scores = torch.matmul(Q, K.transpose(-2, -1)) / math.sqrt(K.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -INF)
    return torch.softmax(scores, dim=-1)


def seed_style(Q, K, mask=None):
    scores = (Q @ K.transpose(-2, -1)) / (Q.shape[-1] ** 0.5)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    return F.softmax(scores, dim=-1)


def query_scaled_first(Q, K, mask=None):
    Q = Q / Q.shape[-1] ** 0.5
    scores = Q @ K.T
    if mask is not None:
        scores[~mask] = -INF
    return scores.softmax(1)


def both_scaled(Q, K, mask=None):
    root = Q.shape[-1] ** 0.25
    scores = (Q / root) @ (K / root).mT
    return scores.where(mask, -INF).softmax(-1) if mask is not None else scores.softmax(-1)


def einsum(Q, K, mask=None):
    scores = torch.einsum("qd,kd->qk", Q, K) * K.shape[1] ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.tensor(-1e9))
    return torch.softmax(scores, 1)


def by_hand(Q, K, mask=None):
    e = torch.exp(Q @ K.T / math.sqrt(Q.shape[1]))
    if mask is not None:
        e = e * mask
    return e / e.sum(dim=1, keepdim=True)


def renormalised(Q, K, mask=None):
    weights = (Q @ K.T / Q.shape[-1] ** 0.5).softmax(-1)
    if mask is None:
        return weights
    weights = weights * mask
    return weights / weights.sum(-1, keepdim=True)


def in_doubles(Q, K, mask=None):
    return matmul(Q.double(), K.double(), mask)


def in_half(Q, K, mask=None):
    return matmul(Q.half(), K.half(), mask)


def looped(Q, K, mask=None):
    T = len(Q)
    weights = torch.zeros(T, T)
    for i in range(T):
        shares = []
        for j in range(T):
            seen = mask is None or bool(mask[i, j])
            shares.append(math.exp(float(Q[i] @ K[j]) / Q.shape[1] ** 0.5) if seen else 0.0)
        for j in range(T):
            weights[i, j] = shares[j] / sum(shares)
    return weights


def added_infinity(Q, K, mask=None):
    scores = Q @ K.T / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(mask.logical_not(), -INF)
    return scores.log_softmax(-1).exp()


def fused(Q, K, mask=None):
    return F.scaled_dot_product_attention(Q, K, torch.eye(len(K)), attn_mask=mask)


def turned_and_back(Q, K, mask=None):
    scores = (K @ Q.T).T / Q.shape[-1] ** 0.5
    if mask is not None:
        scores.masked_fill_(mask == False, -1e30)  # noqa: E712  (readers do write this)
    return scores.T.softmax(0).T


RIGHT_WEIGHTS = [
    matmul, seed_style, query_scaled_first, both_scaled, einsum, by_hand, renormalised, in_doubles,
    in_half, looped, added_infinity, fused, turned_and_back,
]  # fmt: skip


def head_of(weights_of):
    def single_head(X, W_Q, W_K, W_V, mask=None):
        Q, K, V = X @ W_Q, X @ W_K, X @ W_V
        return weights_of(Q, K, mask) @ V.to(weights_of(Q, K, mask).dtype)

    return single_head


def head_fused(X, W_Q, W_K, W_V, mask=None):
    return F.scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V, attn_mask=mask)


def head_linear(X, W_Q, W_K, W_V, mask=None):
    Q, K, V = (F.linear(X, W.T) for W in (W_Q, W_K, W_V))
    weights = matmul(Q, K, mask)
    return weights @ V, weights


def head_packed(X, W_Q, W_K, W_V, mask=None):
    Q, K, V = (X @ torch.cat([W_Q, W_K, W_V], dim=1)).chunk(3, dim=-1)
    return torch.einsum("qk,kd->qd", matmul(Q, K, mask), V)


def head_reordered(X, W_Q, W_K, W_V, mask=None):
    return (matmul(X @ W_Q, X @ W_K, mask) @ X) @ W_V


def head_batched(X, W_Q, W_K, W_V, mask=None):
    X = X.unsqueeze(0)
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    scores = torch.bmm(Q, K.permute(0, 2, 1)) / Q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask.unsqueeze(0) == 0, -INF)
    return torch.bmm(scores.softmax(-1), V).squeeze(0)


RIGHT_HEADS = [*map(head_of, RIGHT_WEIGHTS), head_fused, head_linear, head_packed, head_reordered,
               head_batched]  # fmt: skip


def entropy_loop(weights):
    rows = []
    for row in weights:
        rows.append(sum(-float(w) * math.log(float(w)) for w in row if w > 0))
    return torch.tensor(rows)


def entropy_nan_to_num(weights):
    return -(weights * weights.log()).nan_to_num(0.0).sum(dim=-1)


def entropy_where(weights):
    logs = torch.where(weights > 0, weights, torch.ones_like(weights)).log()
    return -(weights * logs).sum(-1)


RIGHT_ENTROPIES = [
    entropy_loop,
    entropy_nan_to_num,
    entropy_where,
    lambda w: torch.special.entr(w).sum(-1),
    lambda w: -torch.special.xlogy(w, w).sum(1),
    lambda w: -(w * (w + 1e-9).log()).sum(-1),
    lambda w: (w * -w.clamp_min(1e-12).log()).sum(-1),
    lambda w: torch.distributions.Categorical(probs=w).entropy(),
    lambda w: -(w * (w + (w == 0)).log()).sum(axis=1),
    lambda w: -(w.double() * w.double().clamp(min=1e-300).log()).sum(-1),
    lambda w: -torch.einsum("qk,qk->q", w, w.masked_fill(w == 0, 1).log()),
    lambda w: torch.stack([-(r[r > 0] * r[r > 0].log()).sum() for r in w]),
]

RIGHT = {
    "01.attention_weights": RIGHT_WEIGHTS,
    "01.single_head": RIGHT_HEADS,
    "01.row_entropy": RIGHT_ENTROPIES,
}


@each_right_way(RIGHT)
def test_c15_other_right_ways_pass(exercise, answer):
    assert_passes(exercise, answer)


def test_c15_at_least_eight_right_ways_each():
    assert_enough_right_ways("01", RIGHT)


# --- wrong ways -------------------------------------------------------------------------------


def weights_with(scale=lambda Q: Q.shape[-1] ** 0.5, finish=lambda s: s.softmax(-1), hide=None):
    """An answer with one part exchanged."""
    hide = hide or (lambda s, mask: s.masked_fill(mask == 0, -INF).softmax(-1))

    def attention_weights(Q, K, mask=None):
        scores = Q @ K.T / scale(Q)
        return finish(scores) if mask is None else hide(scores, mask)

    return attention_weights


def scores_with(make, finish=lambda s: s.softmax(-1)):
    def attention_weights(Q, K, mask=None):
        scores = make(Q, K) / Q.shape[-1] ** 0.5
        return finish(scores if mask is None else scores.masked_fill(mask == 0, -INF))

    return attention_weights


def late_scale(Q, K, mask=None):
    return torch.softmax(Q @ K.T, dim=-1) / math.sqrt(Q.shape[-1])


def own_causal_mask(Q, K, mask=None):
    hidden = torch.triu(torch.ones(len(Q), len(Q)), diagonal=1).bool()
    return (Q @ K.T / Q.shape[1] ** 0.5).masked_fill(hidden, -INF).softmax(-1)


def tril_for_any_mask(scores, mask):
    return scores.masked_fill(torch.tril(torch.ones_like(scores)) == 0, -INF).softmax(-1)


WRONG_WEIGHTS = [
    (weights_with(scale=lambda Q: 1), "no_scale"),
    (weights_with(scale=lambda Q: Q.shape[1]), "scaled_by_d_k"),
    (weights_with(scale=lambda Q: len(Q) ** 0.5), "scaled_by_T"),
    (weights_with(scale=lambda Q: Q.shape[1] ** -0.5), "scale_upside_down"),
    (weights_with(scale=lambda Q: 8), "wrong_scale"),
    (weights_with(scale=lambda Q: 512**0.5), "wrong_scale"),
    (weights_with(scale=lambda Q: Q.shape[1] ** (1 / 3)), "wrong_scale"),
    (late_scale, "scale_after_softmax"),
    (scores_with(lambda Q, K: Q @ K.T, lambda s: s.softmax(0)), "softmax_over_queries"),
    (weights_with(finish=lambda s: F.softmax(s, dim=-2)), "softmax_over_queries"),
    (weights_with(finish=lambda s: (s.exp() / s.exp().sum())), "softmax_over_everything"),
    (weights_with(finish=lambda s: s), "no_softmax"),
    (weights_with(finish=lambda s: s.softmax(-1).softmax(-1)), "softmax_twice"),
    (weights_with(finish=lambda s: s / s.sum(1, keepdim=True)), "sum_instead_of_softmax"),
    (weights_with(finish=torch.exp), "exp_without_sum"),
    (weights_with(finish=lambda s: F.log_softmax(s, -1)), "log_softmax"),
    (weights_with(finish=torch.sigmoid), "sigmoid_instead_of_softmax"),
    (weights_with(finish=lambda s: s.exp() / s.exp().sum(1)), "rows_do_not_sum"),
    (scores_with(lambda Q, K: K @ Q.T), "queries_and_keys_exchanged"),
    (scores_with(lambda Q, K: Q @ K.T, lambda s: s.softmax(-1).T), "weights_transposed"),
    (scores_with(lambda Q, K: Q @ Q.T), "keys_unused"),
    (scores_with(lambda Q, K: K @ K.T), "queries_unused"),
    (scores_with(lambda Q, K: Q @ K), "keys_not_transposed"),
    (own_causal_mask, "always_causal"),
    (lambda Q, K, mask=None: F.scaled_dot_product_attention(
        Q, K, torch.eye(len(Q)), is_causal=True), "always_causal"),
    (weights_with(hide=tril_for_any_mask), "causal_instead_of_mask"),
    (weights_with(hide=lambda s, mask: s.softmax(-1)), "mask_ignored"),
    (weights_with(hide=lambda s, mask: (s.masked_fill(mask == 0, -INF), s)[1].softmax(-1)),
     "mask_ignored"),
    (weights_with(hide=lambda s, mask: s.softmax(-1) * mask), "mask_after_softmax"),
    (weights_with(hide=lambda s, mask: s.softmax(-1).masked_fill(mask == 0, 0)),
     "mask_after_softmax"),
    (weights_with(hide=lambda s, mask: s.softmax(-1).masked_fill(mask == 0, -INF)),
     "mask_after_softmax"),
    (weights_with(hide=lambda s, mask: s.masked_fill(mask, -INF).softmax(-1)), "mask_inverted"),
    (weights_with(hide=lambda s, mask: s.masked_fill(mask == 1, -1e9).softmax(-1)),
     "mask_inverted"),
    (weights_with(hide=lambda s, mask: s.softmax(-1) * ~mask), "mask_inverted_after_softmax"),
    (weights_with(hide=lambda s, mask: (s + mask.float()).softmax(-1)), "mask_added"),
    (weights_with(hide=lambda s, mask: (s * mask).softmax(-1)), "hidden_score_zero"),
    (weights_with(hide=lambda s, mask: s.masked_fill(mask == 0, 0).softmax(-1)),
     "hidden_score_zero"),
    (weights_with(hide=lambda s, mask: s.masked_fill(mask.T == 0, -1e9).softmax(-1)),
     "mask_transposed"),
    (weights_with(hide=lambda s, mask: s.masked_fill(mask == 0, -1).softmax(-1)),
     "hidden_but_seen"),
    (weights_with(hide=lambda s, mask: (s - 2.0 * ~mask).softmax(-1)), "hidden_but_seen"),
    (weights_with(hide=lambda s, mask: s.masked_fill(mask == 0, -INF).softmax(0)),
     "softmax_over_queries"),
    (weights_with(hide=lambda s, mask: (s / mask).softmax(-1)), "not_finite"),
    (lambda Q, K, mask=None: F.dropout(matmul(Q, K, mask), 0.1), "random"),
    (lambda Q, K, mask=None: matmul(Q, K, mask).tolist(), "not_a_tensor"),
    (lambda Q, K, mask=None: (matmul(Q, K, mask), K), "not_a_tensor"),
    (lambda Q, K, mask=None: matmul(Q, K, mask)[None], "wrong_shape"),
    (lambda Q, K, mask=None: matmul(Q, K, mask).round().int(), "wrong_dtype"),
    (lambda Q, K, mask=None: matmul(Q, K, mask).round(), "rows_do_not_sum"),
    (lambda Q, K: matmul(Q, K), "wrong_arguments"),
    (lambda Q, K, mask: matmul(Q, K, mask), "wrong_arguments"),
    (lambda Q, K, mask=None: torch.full((len(Q), len(K)), 1 / len(K)), "wrong_values"),
    (lambda Q, K, mask=None: torch.eye(len(Q)), "wrong_values"),
    (lambda Q, K, mask=None: matmul(Q.div_(2), K, mask), "wrong_scale"),
    (lambda Q, K, mask=None: matmul(Q.mul_(2), K / 2, mask), "changed_input"),
]  # fmt: skip


def wrong_head(weights_of):
    return lambda X, W_Q, W_K, W_V, mask=None: weights_of(X @ W_Q, X @ W_K, mask) @ (X @ W_V)


def head_scaled_by(divisor):
    """`divisor(X)` in the place of √d_k."""

    def single_head(X, W_Q, W_K, W_V, mask=None):
        Q, K, V = X @ W_Q, X @ W_K, X @ W_V
        scores = Q @ K.T / divisor(X)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -INF)
        return scores.softmax(-1) @ V

    return single_head


head_scaled_by_d_model = head_scaled_by(lambda X: math.sqrt(X.shape[-1]))


def head_ending(last):
    """A head that is right up to its last line."""

    def single_head(X, W_Q, W_K, W_V, mask=None):
        Q, K, V = X @ W_Q, X @ W_K, X @ W_V
        return last(matmul(Q, K, mask), X, Q, K, V)

    return single_head


WRONG_HEADS = [
    *((wrong_head(way), kind) for way, kind in WRONG_WEIGHTS[:5]),
    (wrong_head(weights_with(scale=lambda Q: 512**0.5)), "wrong_scale"),
    (head_scaled_by_d_model, "scaled_by_d_model"),
    (head_scaled_by(lambda X: X.shape[1]), "scaled_by_d_model"),
    (head_scaled_by(lambda X: 8), "wrong_scale"),
    (wrong_head(late_scale), "scale_after_softmax"),
    (wrong_head(weights_with(finish=lambda s: s.softmax(0))), "softmax_over_queries"),
    (wrong_head(weights_with(finish=lambda s: s)), "no_softmax"),
    (wrong_head(scores_with(lambda Q, K: K @ Q.T)), "queries_and_keys_exchanged"),
    (wrong_head(scores_with(lambda Q, K: Q @ K)), "keys_not_transposed"),
    (wrong_head(own_causal_mask), "always_causal"),
    (wrong_head(weights_with(hide=lambda s, mask: s.softmax(-1))), "mask_ignored"),
    (wrong_head(weights_with(hide=lambda s, mask: s.softmax(-1) * mask)), "mask_after_softmax"),
    (wrong_head(weights_with(hide=lambda s, mask: s.masked_fill(mask, -1e9).softmax(-1))),
     "mask_inverted"),
    (wrong_head(weights_with(hide=lambda s, mask: (s + mask).softmax(-1))), "mask_added"),
    (head_ending(lambda w, X, Q, K, V: w), "values_forgotten"),
    (head_ending(lambda w, X, Q, K, V: w @ X), "values_not_projected"),
    (head_ending(lambda w, X, Q, K, V: w @ K), "keys_as_values"),
    (head_ending(lambda w, X, Q, K, V: w @ Q), "queries_as_values"),
    (head_ending(lambda w, X, Q, K, V: V), "values_alone"),
    (head_ending(lambda w, X, Q, K, V: w.T @ V), "weights_transposed"),
    (head_ending(lambda w, X, Q, K, V: (w @ V).T), "output_transposed"),
    (head_ending(lambda w, X, Q, K, V: V.T @ w.T), "output_transposed"),
    (head_ending(lambda w, X, Q, K, V: (w @ V).sum(dim=0)), "output_of_one_token"),
    (head_ending(lambda w, X, Q, K, V: (w, w @ V)), "values_forgotten"),
    (head_ending(lambda w, X, Q, K, V: F.dropout(w, 0.2) @ V), "random"),
    (head_ending(lambda w, X, Q, K, V: w * V), "raised"),
    (lambda X, W_Q, W_K, W_V, mask=None: matmul(X, X, mask) @ (X @ W_V), "input_not_projected"),
    (lambda X, W_Q, W_K, W_V, mask=None: matmul(X @ W_Q, X @ W_Q, mask) @ (X @ W_V),
     "keys_unused"),
    (lambda X, W_Q, W_V, W_K, mask=None: matmul(X @ W_Q, X @ W_K, mask) @ (X @ W_V),
     "projections_exchanged"),
    (lambda X, W_Q, W_K, W_V, mask=None: matmul(X @ W_Q.T, X @ W_K.T, mask) @ (X @ W_V.T),
     "matrices_transposed"),
    (lambda X, W_Q, W_K, W_V, mask=None: matmul(
        F.linear(X, W_Q), F.linear(X, W_K), mask) @ F.linear(X, W_V), "matrices_transposed"),
    (lambda X, W_Q, W_K, W_V: head_fused(X, W_Q, W_K, W_V), "wrong_arguments"),
    (lambda X, W_Q, W_K, W_V, mask=None: torch.randn(len(X), W_V.shape[1]), "random"),
    (lambda X, W_Q, W_K, W_V, mask=None: torch.zeros(len(X), W_V.shape[1]), "wrong_values"),
]  # fmt: skip

WRONG_ENTROPIES = [
    (lambda w: -(w * w.clamp_min(1e-12).log2()).sum(-1), "other_logarithm"),
    (lambda w: -(w * w.clamp_min(1e-12).log10()).sum(-1), "other_logarithm"),
    (lambda w: -(w * w.log2()).nansum(-1), "other_logarithm"),
    (lambda w: (w * w.log()).sum(-1), "sign_forgotten"),
    (lambda w: (w * w.clamp_min(1e-9).log()).sum(-1), "sign_forgotten"),
    (lambda w: -(w * w.clamp_min(1e-12).log()).sum(0), "entropy_of_columns"),
    (lambda w: -(w * w.clamp_min(1e-12).log()).sum(), "entropy_of_everything"),
    (lambda w: entropy_where(w).mean(), "entropy_of_everything"),
    (lambda w: -(w * w.log()).sum(-1), "zero_log_zero"),
    (lambda w: -(w * w.log()).mean(-1), "mean_instead_of_sum"),
    (lambda w: -w.clamp_min(1e-12).log().sum(-1), "weight_forgotten"),
    (lambda w: torch.special.entr(w), "not_summed"),
    (lambda w: entropy_where(w) / math.log(w.shape[1]), "divided_by_log_T"),
    (lambda w: torch.exp(entropy_where(w)), "perplexity"),
    (lambda w: entropy_where(w.softmax(-1)), "softmax_of_weights"),
    (lambda w: torch.distributions.Categorical(logits=w).entropy(), "softmax_of_weights"),
    (lambda w: -(w * w).sum(-1), "logarithm_forgotten"),
    (lambda w: entropy_where(w).tolist(), "not_a_tensor"),
    (lambda w: entropy_where(w)[:, None], "wrong_shape"),
    (lambda w: entropy_where(w)[0].item(), "not_a_tensor"),
]

WRONG = {
    "01.attention_weights": WRONG_WEIGHTS,
    "01.single_head": WRONG_HEADS,
    "01.row_entropy": WRONG_ENTROPIES,
}


@each_wrong_way(WRONG)
def test_wrong_ways_are_named(exercise, answer, kind, language):
    assert_named(exercise, answer, kind)


def test_at_least_eight_misconceptions_each():
    assert_enough_misconceptions(WRONG)


# --- field cases ------------------------------------------------------------------------------


def test_c06_scale_of_the_head_not_of_the_model(language):
    """÷√d_k passes, q scaled first passes; ÷√d_model and no scale are told apart by name."""
    assert check("01.single_head", head_of(query_scaled_first)).passed
    wide = check("01.single_head", head_scaled_by_d_model)
    none = check("01.single_head", wrong_head(weights_with(scale=lambda Q: 1)))
    assert (wide.kind, none.kind) == ("scaled_by_d_model", "no_scale")
    # d_model 7, d_k 3 in the trial: a number made from 7 came, √3 = 1.732 was asked for.
    assert "1.732" in wide.expected and "d_model = 7" in wide.got
    for probe in exercises()["01.single_head"].probes:
        assert probe.sizes["d_model"] != probe.sizes["d_k"] != probe.sizes["T"]


def test_c10_sense_of_the_mask(language):
    inverted = check("01.attention_weights", weights_with(
        hide=lambda s, mask: s.masked_fill(mask == 1, -INF).softmax(-1)))  # fmt: skip
    added = check("01.attention_weights", weights_with(
        hide=lambda s, mask: (s + mask.float()).softmax(-1)))  # fmt: skip
    assert (inverted.kind, added.kind) == ("mask_inverted", "mask_added")
    hidden = {"en": "A hidden cell of yours still holds", "es": "Una celda oculta tuya conserva"}
    assert hidden[language] in added.got  # the row sums alone would not show it


def test_c12_rows_over_keys_and_mask_before_softmax(language):
    columns = check("01.attention_weights", weights_with(finish=lambda s: s.softmax(0)))
    late = check("01.attention_weights", weights_with(
        hide=lambda s, mask: s.softmax(-1) * mask))  # fmt: skip
    assert (columns.kind, late.kind) == ("softmax_over_queries", "mask_after_softmax")
    for result in (columns, late):  # the row furthest from 1, with its sum
        words = {"en": r"Row \d of yours sums to (\d\.\d+)", "es": r"Tu fila \d suma (\d\.\d+)"}
        (total,) = re.findall(words[language], result.got)
        assert abs(float(total) - 1) > 0.05


def test_c15_the_number_written_is_the_number_that_came():
    """One shifted weight: the message names its place, what was expected and what came."""

    def shifted(Q, K, mask=None):
        weights = matmul(Q, K, mask)
        weights[3, 1] += 0.25
        return weights

    probe = exercises()["01.attention_weights"].probes[0]
    right = matmul(probe.inputs["Q"], probe.inputs["K"])
    result = check("01.attention_weights", shifted)
    assert result.kind == "rows_do_not_sum"
    assert "at [3, 1] (counted from 0)" in result.got
    assert f"{right[3, 1]:.3f} was expected, {right[3, 1] + 0.25:.3f} came" in result.got
    assert "Row 3 of yours sums to 1.250" in result.got


def test_two_faults_are_named_one_after_the_other():
    def both(Q, K, mask=None):
        scores = Q @ K.T
        return scores.softmax(-1) if mask is None else (scores + mask).softmax(-1)

    assert check("01.attention_weights", both).kind == "no_scale"
    second = weights_with(hide=lambda s, mask: (s + mask).softmax(-1))
    assert check("01.attention_weights", second).kind == "mask_added"


def test_masks_of_the_trials_leave_no_row_or_column_empty_or_full():
    """So that −inf and −1e9 agree for a right, an inverted and a transposed mask alike."""
    mask = exercises()["01.attention_weights"].probes[2].inputs["mask"]
    for axis in (0, 1):
        assert mask.any(axis).all() and (~mask).any(axis).all()
    assert not torch.equal(mask, mask.T) and mask.triu(1).any()
