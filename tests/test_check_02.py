"""Lesson 02's exercises: right answers written many ways pass, wrong ones are named.

The answers here are written as readers write them, not taken from the catalogue of the checks.
"""

import math

import numpy as np
import pytest
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

from helpers.attention import MultiHeadAttention, head_width, split_heads
from helpers.checks import check, exercises
from helpers.shapes import count_flops, count_parameters

INF = float("inf")


# --- right ways -------------------------------------------------------------------------------


def size_of_the_lesson(d_model, num_heads):
    if num_heads < 1 or d_model < num_heads or d_model % num_heads:
        raise ValueError(f"d_model = {d_model} cannot be split into {num_heads} equal heads")
    return d_model // num_heads


def size_divmod(d_model, num_heads):
    if num_heads <= 0:
        raise ValueError(f"num_heads must be at least 1, got {num_heads}")
    d_k, rest = divmod(d_model, num_heads)
    if rest != 0:
        raise ValueError(f"{num_heads} does not divide {d_model}: {rest} left over")
    return d_k


def size_from_a_list(d_model, num_heads):
    legal = [h for h in range(1, d_model + 1) if d_model % h == 0]
    if num_heads not in legal:
        raise ValueError("d_model=" + str(d_model), "num_heads=" + str(num_heads), legal)
    return int(d_model / num_heads)


def size_caught(d_model, num_heads):
    try:
        d_k = d_model // num_heads
        assert d_k * num_heads == d_model and d_k > 0
    except (ZeroDivisionError, AssertionError):
        raise ValueError(f"impossible: {d_model} and {num_heads}") from None
    return d_k


def size_counted(d_model, num_heads):
    for d_k in range(1, d_model + 1):
        if d_k * num_heads == d_model:
            return d_k
    raise ValueError(f"(d_model, num_heads) = ({d_model}, {num_heads})")


def size_of_numpy(d_model, num_heads):
    if num_heads > 0 and np.mod(d_model, num_heads) == 0:
        return np.floor_divide(d_model, num_heads)
    raise ValueError(f"{d_model}/{num_heads}")


def size_of_torch(d_model, num_heads):
    if num_heads < 1 or d_model % num_heads:
        raise ValueError(str(d_model) + " " + str(num_heads))
    return torch.tensor(d_model) // num_heads


class OwnError(ValueError):
    pass


def size_own_error(d_model, num_heads):
    if num_heads < 1 or math.gcd(d_model, num_heads) != num_heads:
        raise OwnError(d_model, num_heads)
    return d_model // num_heads


RIGHT_SIZES = [
    size_of_the_lesson, size_divmod, size_from_a_list, size_caught, size_counted, size_of_numpy,
    size_of_torch, size_own_error,
]  # fmt: skip


def project_in_a_loop(X, W, head):
    rows = []
    for x in X:
        rows.append(torch.stack([x @ W[head, :, j] for j in range(W.shape[2])]))
    return torch.stack(rows)


def project_big(X, W, head):
    H, d_model, d_k = W.shape
    big = W.permute(1, 0, 2).reshape(d_model, H * d_k)
    return (X @ big)[:, head * d_k : (head + 1) * d_k]


RIGHT_PROJECTIONS = [
    lambda X, W, head: X @ W[head],
    lambda X, W, head: torch.matmul(X, W[head, :, :]),
    lambda X, W, head: F.linear(X, W[head].T),
    lambda X, W, head: (X @ W)[head],
    lambda X, W, head: torch.einsum("td,dk->tk", X, W[head]),
    lambda X, W, head: torch.einsum("td,hdk->thk", X, W)[:, head],
    lambda X, W, head: (W[head].T @ X.T).T,
    lambda X, W, head: torch.bmm(X[None], W[head : head + 1])[0],
    lambda X, W, head: X @ W.select(0, head),
    lambda X, W, head: (X[:, :, None] * W[head]).sum(1),
    project_in_a_loop,
    project_big,
]


def heads_of(X, W_Q, W_K, W_V, mask=None):
    heads = []
    for i in range(len(W_Q)):
        Q, K, V = X @ W_Q[i], X @ W_K[i], X @ W_V[i]
        scores = Q @ K.T / Q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -INF)
        heads.append(scores.softmax(dim=-1) @ V)
    return heads


def of_heads(join):
    """The lesson's loop, its heads joined by `join(heads, W_O)`."""

    def looped_multi_head(X, W_Q, W_K, W_V, W_O, mask=None):
        return join(heads_of(X, W_Q, W_K, W_V, mask), W_O)

    return looped_multi_head


def loop_into_place(X, W_Q, W_K, W_V, W_O, mask=None):
    H, d_model, d_k = W_Q.shape
    concat = torch.zeros(X.shape[0], H * d_k)
    for i, head in enumerate(heads_of(X, W_Q, W_K, W_V, mask)):
        concat[:, i * d_k : (i + 1) * d_k] = head
    return concat.matmul(W_O)


def loop_of_blocks(X, W_Q, W_K, W_V, W_O, mask=None):
    d_k, output = W_Q.shape[-1], 0
    for i, head in enumerate(heads_of(X, W_Q, W_K, W_V, mask)):
        output = output + head @ W_O[i * d_k : (i + 1) * d_k]
    return output


def all_at_once(X, W_Q, W_K, W_V, W_O, mask=None):
    Q, K, V = (torch.einsum("td,hdk->htk", X, W) for W in (W_Q, W_K, W_V))
    scores = Q @ K.transpose(1, 2) / math.sqrt(Q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    heads = torch.softmax(scores, dim=-1) @ V
    return torch.einsum("htk,hkm->tm", heads, W_O.view(len(W_Q), -1, W_O.shape[1]))


def fused(X, W_Q, W_K, W_V, W_O, mask=None):
    heads = F.scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V, attn_mask=mask)
    return heads.transpose(0, 1).reshape(len(X), -1) @ W_O


def one_big_projection(X, W_Q, W_K, W_V, W_O, mask=None):
    H = len(W_Q)
    big = [W.transpose(0, 1).flatten(1) for W in (W_Q, W_K, W_V)]
    Q, K, V = (split_heads((X @ W)[None], H) for W in big)
    heads = F.scaled_dot_product_attention(Q, K, V, mask)
    return heads.transpose(1, 2).reshape(1, len(X), -1)[0] @ W_O


def with_weights(X, W_Q, W_K, W_V, W_O, mask=None):
    scores = (X @ W_Q) @ (X @ W_K).mT / W_Q.shape[-1] ** 0.5
    weights = (scores if mask is None else scores.where(mask, -INF)).softmax(-1)
    return torch.cat(list(weights @ (X @ W_V)), dim=-1) @ W_O, weights


RIGHT_LOOPS = [
    of_heads(lambda heads, W_O: torch.cat(heads, dim=-1) @ W_O),
    of_heads(lambda heads, W_O: torch.hstack(heads) @ W_O),
    of_heads(lambda heads, W_O: torch.concat(heads, 1) @ W_O),
    of_heads(lambda heads, W_O: torch.stack(heads, dim=1).flatten(1) @ W_O),
    of_heads(lambda heads, W_O: F.linear(torch.cat(heads, dim=-1), W_O.T)),
    of_heads(lambda heads, W_O: torch.cat([h.double() for h in heads], -1) @ W_O.double()),
    loop_into_place, loop_of_blocks, all_at_once, fused, one_big_projection, with_weights,
]  # fmt: skip

RIGHT = {
    "02.head_size": RIGHT_SIZES,
    "02.project_one_head": RIGHT_PROJECTIONS,
    "02.looped_multi_head": RIGHT_LOOPS,
}


@each_right_way(RIGHT)
def test_c15_other_right_ways_pass(exercise, answer):
    assert_passes(exercise, answer)


def test_c15_at_least_eight_right_ways_each():
    assert_enough_right_ways("02", RIGHT)


# --- wrong ways -------------------------------------------------------------------------------


def refusing(test, answer=lambda d, h: d // h):
    """`answer` where `test` lets the pair pass, else an error with both numbers."""

    def head_size(d_model, num_heads):
        if test(d_model, num_heads):
            raise ValueError(f"{d_model} features, {num_heads} heads")
        return answer(d_model, num_heads)

    return head_size


def size_with(refuse):
    """Right for possible pairs; `refuse(d_model, num_heads)` for the others."""

    def head_size(d_model, num_heads):
        if num_heads < 1 or d_model % num_heads != 0:
            return refuse(d_model, num_heads)
        return d_model // num_heads

    return head_size


def thrown(error):
    def refuse(d_model, num_heads):
        raise error(f"d_model = {d_model}, num_heads = {num_heads}")

    return refuse


def bare_words(d_model, num_heads):
    raise ValueError("d_model must be divisible by num_heads")


def one_number(d_model, num_heads):
    raise ValueError(f"cannot make {num_heads} heads")


def size_asserting(d_model, num_heads):
    assert num_heads > 0 and d_model % num_heads == 0, f"{d_model}, {num_heads}"
    return d_model // num_heads


def size_asserting_late(d_model, num_heads):
    assert d_model % num_heads == 0
    return d_model // num_heads


possible = lambda d, h: h < 1 or d % h  # noqa: E731

WRONG_SIZES = [
    (refusing(possible, lambda d, h: d / h), "decimal_number"),
    (lambda d, h: d / h, "decimal_number"),
    (refusing(possible, lambda d, h: torch.tensor(d) / h), "decimal_number"),
    (lambda num_heads, d_model: size_of_the_lesson(d_model, num_heads), "arguments_exchanged"),
    (lambda num_heads, d_model: d_model / num_heads, "arguments_exchanged"),
    (lambda d, h: d % h, "remainder_returned"),
    (lambda d, h: 64, "example_written_in"),
    (refusing(possible, lambda d, h: 512 // h), "example_written_in"),
    (refusing(possible, lambda d, h: d // 8), "example_written_in"),
    (refusing(possible, lambda d, h: d * h), "multiplied"),
    (refusing(possible, lambda d, h: d), "model_width_returned"),
    (refusing(possible, lambda d, h: h), "heads_returned"),
    (refusing(possible, lambda d, h: (d // h) ** 0.5), "root_taken"),
    (refusing(lambda d, h: h < 1 or h % d), "remainder_upside_down"),
    (refusing(lambda d, h: h <= 1 or d % h), "too_strict"),
    (refusing(lambda d, h: h < 1 or d % h or h >= d), "too_strict"),
    (refusing(lambda d, h: h < 1 or d % h or d not in (64, 128, 256, 512)), "too_strict"),
    (lambda d, h: d // h, "impossible_rounded"),
    (lambda d, h: round(d / h), "impossible_rounded"),
    (lambda d, h: int(d / h), "impossible_rounded"),
    (lambda d, h: math.ceil(d / h), "impossible_rounded"),
    (refusing(lambda d, h: h < 1 or h > d), "impossible_rounded"),
    (refusing(lambda d, h: h < 1 or (d > h and d % h)), "too_many_heads_allowed"),
    (refusing(lambda d, h: d % h != 0), "zero_heads_divided"),
    (refusing(lambda d, h: h == 0 or d % h), "negative_heads_allowed"),
    (refusing(lambda d, h: h != 0 and d % h, lambda d, h: d // h if h else 0),
     "zero_heads_allowed"),
    (size_with(lambda d, h: None), "none_instead_of_error"),
    (size_with(lambda d, h: print(d, h)), "none_instead_of_error"),
    (size_with(lambda d, h: ValueError(f"{d}, {h}")), "error_returned"),
    (size_with(lambda d, h: f"{h} does not divide {d}"), "error_returned"),
    (size_asserting, "assert_instead_of_error"),
    (size_asserting_late, "assert_instead_of_error"),
    (size_with(thrown(Exception)), "other_error"),
    (size_with(thrown(RuntimeError)), "other_error"),
    (size_with(bare_words), "error_without_numbers"),
    (size_with(one_number), "error_without_numbers"),
    (size_with(lambda d, h: dk), "raised"),  # noqa: F821  (a name never made)
    (lambda d, h: "64", "not_a_number"),
    (lambda d_model: d_model // 8, "wrong_arguments"),
]  # fmt: skip


def own(X, W, head):
    d_k = W.shape[-1]
    return X[:, head * d_k : (head + 1) * d_k]


def sliced(X, W, head):
    d_k = W.shape[-1]
    return own(X, W, head) @ W[head, :d_k]


def sliced_diagonal(X, W, head):
    d_k = W.shape[-1]
    return own(X, W, head) @ W[head, head * d_k : (head + 1) * d_k, :]


def big_by_view(X, W, head):
    H, d_model, d_k = W.shape
    return (X @ W.view(d_model, H * d_k)).view(-1, H, d_k)[:, head, :]


WRONG_PROJECTIONS = [
    (sliced, "slice_of_token"),
    (sliced_diagonal, "slice_of_token"),
    (lambda X, W, head: torch.chunk(X, len(W), dim=-1)[head] @ W[head][: W.shape[2]],
     "slice_of_token"),
    (own, "slice_alone"),
    (lambda X, W, head: X.chunk(len(W), dim=1)[head], "slice_alone"),
    (lambda X, W, head: X @ W[head].T, "matrix_transposed"),
    (lambda X, W, head: F.linear(X, W[head]), "matrix_transposed"),
    (lambda X, W, head: X @ W[head - 1], "head_counted_from_1"),
    (lambda X, W, head: X @ W[(head + 1) % len(W)], "head_counted_from_1"),
    (lambda X, W, head: X @ W[0], "always_the_same_head"),
    (lambda X, W, head: torch.stack([X @ w for w in W]).mean(0), "heads_averaged"),
    (lambda X, W, head: sum(X @ w for w in W), "heads_averaged"),
    (lambda X, W, head: torch.stack([X @ w for w in W]), "all_heads_at_once"),
    (lambda X, W, head: torch.cat([X @ w for w in W], dim=-1), "all_heads_at_once"),
    (lambda X, W, head: X[head] @ W[head], "token_instead_of_head"),
    (lambda X, W, head: X @ W[:, :, head].T, "wrong_axis_of_W"),
    (lambda X, W, head: X @ W.permute(2, 1, 0)[head], "wrong_axis_of_W"),
    (big_by_view, "heads_mixed_by_reshape"),
    (lambda X, W, head: W[head], "projection_forgotten"),
    (lambda X, W, head: (X @ W[head]).T, "output_transposed"),
    (lambda X, W, head: W[head].T @ X.T, "output_transposed"),
    (lambda X, W, head: X @ W[head] / math.sqrt(W.shape[-1]), "scaled_too_early"),
    (lambda X, W, head: F.softmax(X @ W[head], dim=-1), "softmax_too_early"),
    (lambda X, W, head: (X @ W[head]).detach(), "detached"),
    (lambda X, W, head: (X @ W[head]).tolist(), "not_a_tensor"),
    (lambda X, W, head: (X.mul_(2) @ W[head]) / 2, "changed_input"),
    (lambda X, W, head: X @ torch.randn(W.shape[1:]), "random"),
    (lambda X, W, head: X * W[head], "raised"),
    (lambda X, W, head: X[:, :12] @ W[head][:12], "hard_coded_size"),
    (lambda X, W, head: (X @ W[head])[None], "wrong_shape"),
    (lambda X, W: X @ W[0], "wrong_arguments"),
]  # fmt: skip


def loop_with(weights_of, values_of=lambda X, W: X @ W):
    """The lesson's loop with `weights_of(Q, K, X, mask)` in place of the right weights."""

    def looped_multi_head(X, W_Q, W_K, W_V, W_O, mask=None):
        heads = []
        for i in range(W_Q.shape[0]):
            weights = weights_of(X @ W_Q[i], X @ W_K[i], X, mask)
            heads.append(weights @ values_of(X, W_V[i]))
        return torch.cat(heads, dim=-1) @ W_O

    return looped_multi_head


def scaled_by(divisor):
    def weights_of(Q, K, X, mask):
        scores = Q @ K.T / divisor(Q, X)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -INF)
        return scores.softmax(-1)

    return weights_of


right_weights = scaled_by(lambda Q, X: Q.shape[-1] ** 0.5)


def masked_by(hide):
    """Right weights without a mask; `hide(scores, mask)` with one."""

    def weights_of(Q, K, X, mask):
        scores = Q @ K.T / Q.shape[-1] ** 0.5
        return scores.softmax(-1) if mask is None else hide(scores, mask)

    return weights_of


def over_queries(Q, K, X, mask):
    scores = Q @ K.T / Q.shape[-1] ** 0.5
    return (scores if mask is None else scores.masked_fill(mask == 0, -INF)).softmax(dim=0)


def slices_of_x(rows):
    def looped_multi_head(X, W_Q, W_K, W_V, W_O, mask=None):
        d_k, heads = W_Q.shape[-1], []
        for i, x in enumerate(X.split(d_k, dim=-1)):
            Q, K, V = (x @ W[i][rows(i, d_k)] for W in (W_Q, W_K, W_V))
            heads.append(right_weights(Q, K, X, mask) @ V)
        return torch.cat(heads, dim=-1) @ W_O

    return looped_multi_head


def only_last(X, W_Q, W_K, W_V, W_O, mask=None):
    for i in range(len(W_Q)):
        head = right_weights(X @ W_Q[i], X @ W_K[i], X, mask) @ (X @ W_V[i])
    return head @ W_O


def returns_in_the_loop(X, W_Q, W_K, W_V, W_O, mask=None):
    heads = []
    for i in range(len(W_Q)):
        heads.append(right_weights(X @ W_Q[i], X @ W_K[i], X, mask) @ (X @ W_V[i]))
        return torch.cat(heads, dim=-1) @ W_O


def always_head_0(X, W_Q, W_K, W_V, W_O, mask=None):
    return of_heads(lambda h, W_O: torch.cat([h[0] for _ in h], dim=-1) @ W_O)(
        X, W_Q, W_K, W_V, W_O, mask
    )


def exchanged(X, W_Q, W_K, W_V, W_O, mask=None):
    return RIGHT_LOOPS[0](X, W_Q, W_V, W_K, W_O, mask)


def softmax_before_the_keys(X, W_Q, W_K, W_V, W_O, mask=None):
    scores = (X @ W_Q) @ (X @ W_K).transpose(1, 2) / W_Q.shape[2] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -INF)
    return torch.cat(list(scores.softmax(dim=0) @ (X @ W_V)), dim=-1) @ W_O


def two_heads(X, W_Q, W_K, W_V, W_O, mask=None):
    return of_heads(lambda h, W_O: torch.cat(h, dim=-1) @ W_O)(
        X, W_Q[:2], W_K[:2], W_V[:2], W_O, mask
    )


WRONG_LOOPS = [
    (of_heads(lambda h, W_O: torch.cat(h, dim=0) @ W_O), "joined_along_tokens"),
    (of_heads(lambda h, W_O: torch.cat(h) @ W_O), "joined_along_tokens"),
    (of_heads(lambda h, W_O: torch.stack(h) @ W_O), "stacked_not_joined"),
    (of_heads(lambda h, W_O: torch.stack(h)), "stacked_not_joined"),
    (of_heads(lambda h, W_O: sum(h) @ W_O), "heads_added"),
    (of_heads(lambda h, W_O: torch.stack(h).mean(0) @ W_O), "mean_of_heads"),
    (of_heads(lambda h, W_O: sum(h) / len(h)), "mean_of_heads"),
    (of_heads(lambda h, W_O: torch.stack(h).view(len(h[0]), -1) @ W_O), "tokens_mixed"),
    (of_heads(lambda h, W_O: torch.stack(h, -1).flatten(1) @ W_O), "features_interleaved"),
    (of_heads(lambda h, W_O: torch.cat(h[::-1], dim=-1) @ W_O), "heads_in_reverse"),
    (of_heads(lambda h, W_O: torch.cat(h, dim=-1)), "W_O_left_out"),
    (of_heads(lambda h, W_O: torch.cat(h, dim=-1) @ W_O.T), "W_O_transposed"),
    (of_heads(lambda h, W_O: F.linear(torch.cat(h, dim=-1), W_O)), "W_O_transposed"),
    (of_heads(lambda h, W_O: (W_O @ torch.cat(h, dim=-1).T).T), "W_O_transposed"),
    (of_heads(lambda h, W_O: h), "heads_in_a_list"),
    (of_heads(lambda h, W_O: [head @ W for head, W in zip(h, W_O.chunk(len(h)), strict=True)]),
     "heads_in_a_list"),
    (of_heads(lambda h, W_O: [head.tolist() for head in h]), "not_a_tensor"),
    (of_heads(lambda h, W_O: h[0]), "one_head_alone"),
    (only_last, "one_head_alone"),
    (returns_in_the_loop, "one_head_alone"),
    (always_head_0, "one_head_every_time"),
    (lambda X, W_Q, W_K, W_V, W_O, mask=None: torch.cat(
        [heads_of(X, W_Q, W_K, W_V, mask)[-1]] * len(W_Q), -1) @ W_O, "one_head_every_time"),
    (slices_of_x(lambda i, d_k: slice(d_k)), "slices_of_tokens"),
    (slices_of_x(lambda i, d_k: slice(i * d_k, (i + 1) * d_k)), "slices_of_tokens"),
    (loop_with(scaled_by(lambda Q, X: X.shape[-1] ** 0.5)), "scaled_by_d_model"),
    (loop_with(scaled_by(lambda Q, X: 1)), "no_scale"),
    (loop_with(scaled_by(lambda Q, X: Q.shape[-1])), "scaled_by_d_k"),
    (loop_with(scaled_by(lambda Q, X: 8)), "wrong_scale"),
    (loop_with(scaled_by(lambda Q, X: 2**0.5)), "wrong_scale"),
    (loop_with(over_queries), "softmax_over_queries"),
    (softmax_before_the_keys, "softmax_over_heads"),
    (loop_with(lambda Q, K, X, mask: right_weights(K, Q, X, mask)), "queries_and_keys_exchanged"),
    (lambda X, W_K, W_Q, W_V, W_O, mask=None: RIGHT_LOOPS[0](X, W_Q, W_K, W_V, W_O, mask),
     "queries_and_keys_exchanged"),
    (exchanged, "projections_exchanged"),
    (loop_with(masked_by(lambda s, mask: s.softmax(-1))), "mask_ignored"),
    (loop_with(masked_by(lambda s, mask: s.softmax(-1) * mask)), "mask_after_softmax"),
    (loop_with(masked_by(lambda s, mask: s.masked_fill(mask == 1, -1e9).softmax(-1))),
     "mask_inverted"),
    (loop_with(masked_by(lambda s, mask: s.masked_fill(mask, -INF).softmax(-1))),
     "mask_inverted"),
    (loop_with(masked_by(lambda s, mask: (s + mask.float()).softmax(-1))), "mask_added"),
    (loop_with(masked_by(lambda s, mask: (s * mask).softmax(-1))), "hidden_score_zero"),
    (loop_with(lambda Q, K, X, mask: right_weights(Q, K, X, torch.ones(len(Q), len(Q)).tril())),
     "always_causal"),
    (of_heads(lambda h, W_O: F.dropout(torch.cat(h, dim=-1), 0.1) @ W_O), "random"),
    (two_heads, "hard_coded_size"),
    (lambda X, W_Q, W_K, W_V, W_O, mask=None: torch.cat(
        [right_weights(X @ W_Q[i], X @ W_K[i], X, mask) for i in range(len(W_Q))], -1) @ W_O,
     "values_forgotten"),
    (loop_with(right_weights, lambda X, W: X), "raised"),
    (lambda X, W_Q, W_K, W_V, W_O: RIGHT_LOOPS[0](X, W_Q, W_K, W_V, W_O), "wrong_arguments"),
    (of_heads(lambda h, W_O: torch.cat(h, dim=-1).mul(2) @ W_O), "wrong_values"),
]  # fmt: skip

WRONG = {
    "02.head_size": WRONG_SIZES,
    "02.project_one_head": WRONG_PROJECTIONS,
    "02.looped_multi_head": WRONG_LOOPS,
}


@each_wrong_way(WRONG)
def test_wrong_ways_are_named(exercise, answer, kind, language):
    # there is no number to show
    assert_named(exercise, answer, kind, without_number=("detached", "not_a_tensor"))


def test_at_least_eight_misconceptions_each():
    assert_enough_misconceptions(WRONG)


# --- field cases ------------------------------------------------------------------------------


def probe_of(exercise):
    return exercises()[exercise].probes[0]


def test_c05_the_error_has_to_name_both_numbers(language):
    """A remainder, more heads than width, H = 0 and below: each asked, each named."""
    refused = {tuple(probe.inputs.values())[:2] for probe in exercises()["02.head_size"].probes
               if {"impossible", "words"} & probe.inputs.keys()}  # fmt: skip
    assert refused == {(512, 6), (4, 12), (64, 0), (64, -8)}
    for d_model, num_heads in refused:
        for way in RIGHT_SIZES:
            with pytest.raises(ValueError, match=rf"(?<!\w){num_heads}(?!\w)"):
                way(d_model, num_heads)
    silent = check("02.head_size", size_with(bare_words))
    assert silent.kind == "error_without_numbers"
    both = {"en": "512 and 6", "es": "512 y 6"}[language]
    assert both in silent.expected and "d_model must be divisible" in silent.message
    half = check("02.head_size", size_with(one_number))
    assert "512" in half.got and "6" not in half.got.replace("num_heads = 6", "")


def test_c05_the_courses_own_error_passes():
    assert [head_width(*pair) for pair in ((60, 5), (7, 7), (97, 1))] == [12, 1, 97]
    assert check("02.head_size", head_width).passed


def test_c06_scale_of_the_head_not_of_the_model(language):
    """At H ≥ 2, where √d_k and √d_model differ; q scaled first passes."""

    def query_first(X, W_Q, W_K, W_V, W_O, mask=None):
        return RIGHT_LOOPS[0](X, W_Q / W_Q.shape[-1] ** 0.5, W_K * W_K.shape[-1] ** 0.5, W_V, W_O)

    def scaled_query(Q, K, X, mask):
        return right_weights(Q / Q.shape[-1] ** 0.5, K * K.shape[-1] ** 0.5, X, mask)

    assert check("02.looped_multi_head", loop_with(scaled_query)).passed
    assert check("02.looped_multi_head", query_first).kind == "mask_ignored"
    wide = check("02.looped_multi_head", loop_with(scaled_by(lambda Q, X: X.shape[-1] ** 0.5)))
    none = check("02.looped_multi_head", loop_with(scaled_by(lambda Q, X: 1)))
    assert (wide.kind, none.kind) == ("scaled_by_d_model", "no_scale")
    assert "1.732" in wide.expected and "d_model = 6" in wide.got  # √d_k = √3
    for probe in exercises()["02.looped_multi_head"].probes:
        assert probe.sizes["H"] >= 2 and len(set(probe.sizes.values())) == 4, probe.sizes


def test_c07_a_concat_without_w_o_is_rejected_although_the_shape_is_right(language):
    concat = of_heads(lambda h, W_O: torch.cat(h, dim=-1))
    probe = probe_of("02.looped_multi_head")
    inputs = probe.inputs
    assert concat(*inputs.values()).shape == RIGHT_LOOPS[0](*inputs.values()).shape
    assert not torch.allclose(inputs["W_O"], torch.eye(len(inputs["W_O"])), atol=0.1)
    result = check("02.looped_multi_head", concat)
    assert result.kind == "W_O_left_out" and "W_O" in result.title


def test_c07_b_heads_that_see_a_slice_are_rejected_with_the_feature_they_miss(language):
    """Feature 5 of token 0 changes: every head must notice, and the slice of head 2 does not."""
    probe = probe_of("02.project_one_head")
    X, W, head = probe.inputs.values()
    moved = X.clone()
    moved[0, 5] += 1
    for i in range(len(W)):
        assert not torch.allclose((X @ W[i])[0], (moved @ W[i])[0])
    assert torch.equal(sliced(X, W, head), sliced(moved, W, head))
    result = check("02.project_one_head", sliced)
    assert result.kind == "slice_of_token"
    words = {
        "en": "We changed feature 5 of token 0: head 2 of yours",
        "es": "Hemos cambiado el componente 5 del token 0: tu cabeza 2",
    }
    assert words[language] in result.got
    whole = check("02.project_one_head", lambda X, W, head: 2 * X @ W[head])
    assert words[language] not in whole.got  # it did notice
    layer = check("02.looped_multi_head", slices_of_x(lambda i, d_k: slice(d_k)))
    assert layer.kind == "slices_of_tokens"


def test_c12_rows_over_keys_and_mask_before_softmax(language):
    columns = check("02.looped_multi_head", loop_with(over_queries))
    late = check("02.looped_multi_head", loop_with(masked_by(lambda s, m: s.softmax(-1) * m)))
    assert (columns.kind, late.kind) == ("softmax_over_queries", "mask_after_softmax")


def test_c10_sense_of_the_mask(language):
    added = loop_with(masked_by(lambda s, mask: (s + mask.float()).softmax(-1)))
    inverted = loop_with(masked_by(lambda s, mask: s.masked_fill(mask == 1, -INF).softmax(-1)))
    assert check("02.looped_multi_head", added).kind == "mask_added"
    assert check("02.looped_multi_head", inverted).kind == "mask_inverted"


def test_c02_heads_side_by_side_but_tokens_mixed(language):
    mixed = of_heads(lambda h, W_O: torch.stack(h).reshape(len(h[0]), -1) @ W_O)
    probe = probe_of("02.looped_multi_head")
    assert mixed(*probe.inputs.values()).shape == RIGHT_LOOPS[0](*probe.inputs.values()).shape
    assert check("02.looped_multi_head", mixed).kind == "tokens_mixed"


def test_c15_untouched_stubs_wait_and_errors_quote_the_readers_line():
    for id in RIGHT:
        result = check(id, lambda *args, **more: None)
        assert result.passed is None and result.kind == "not_yet"
    typo = check("02.looped_multi_head", of_heads(lambda h, W_O: torch.cat(h, dim=-1) @ W_o))  # noqa: F821
    assert typo.kind == "raised" and "W_o" in typo.message


def test_an_answer_that_raises_in_every_trial_is_not_called_by_a_misconception():
    """The trial with a short W_O tells how heads were joined; it must not guess without one."""
    wrong = of_heads(lambda h, W_O: torch.cat(h, dim=-1) @ W_O @ W_O[:2])
    result = check("02.looped_multi_head", wrong)
    assert result.kind == "raised" and "mat1 and mat2" in result.message


# --- what the lesson's quiz claims ------------------------------------------------------------


def test_c08_c38_claims_of_the_quiz():
    layers = {H: MultiHeadAttention(64, H, generator=torch.Generator()) for H in (4, 8)}
    assert {count_parameters(layer) for layer in layers.values()} == {16_384}  # q3
    assert {64 % H for H in (1, 4, 8, 64)} == {0} and 64 % 5 == 4  # q1
    traces = {H: layer.trace(torch.zeros(1, 10, 64)) for H, layer in layers.items()}
    assert traces[8].scores.numel() == 2 * traces[4].scores.numel()  # q4
    assert count_flops(traces[8]) == count_flops(traces[4])
    assert traces[8].output.shape == traces[4].output.shape
    heads = [torch.zeros(10, 64)] * 8
    assert torch.cat(heads, dim=-1).shape == (10, 512)  # q5
    assert torch.cat(heads, dim=0).shape[0] == 80
