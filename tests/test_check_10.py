"""Lesson 10's project: right answers written many ways pass, wrong ones are named.

The answers here are written as readers write them, not taken from the catalogue of the checks.
"""

import math
import re

import numpy as np
import torch
import torch.nn.functional as F
from check_probe import (
    NotAModule,
    assert_enough_misconceptions,
    assert_enough_right_ways,
    assert_named,
    assert_passes,
    each_right_way,
    each_wrong_way,
    one_language,  # noqa: F401
    without_output_matrix,
)
from torch import nn

from helpers import attention
from helpers.attention import merge_heads, scaled_dot_product_attention, split_heads
from helpers.checks import check, exercises
from helpers.checks.lesson10 import Reference, cross_attention

INF = float("inf")


# --- the shapes ---------------------------------------------------------------------------


def shapes_lesson(B, T_query, T_key, d_model, num_heads):
    d_k = d_model // num_heads
    Q = (B, num_heads, T_query, d_k)
    K = (B, num_heads, T_key, d_k)
    return Q, K, K, (B, num_heads, T_query, T_key), (B, T_query, d_model)


def shapes_computed(B, T_query, T_key, d_model, num_heads):
    X, memory = torch.zeros(B, T_query, d_model), torch.zeros(B, T_key, d_model)
    Q, K, V = (split_heads(x, num_heads) for x in (X, memory, memory))
    heads, weights = scaled_dot_product_attention(Q, K, V)
    return Q.shape, K.shape, V.shape, weights.shape, merge_heads(heads).shape


def shapes_tensors(B, T_query, T_key, d_model, num_heads):
    return [torch.empty(shape) for shape in shapes_lesson(B, T_query, T_key, d_model, num_heads)]


def shapes_names(B, T_query, T_key, d_model, num_heads):
    shapes = shapes_lesson(B, T_query, T_key, d_model, num_heads)
    named = dict(zip(("Q", "K", "V", "scores", "output"), shapes, strict=True))
    return {name: named[name] for name in ("output", "scores", "V", "K", "Q")}


def lists_of(B, T_query, T_key, d_model, num_heads):
    return list(map(list, shapes_lesson(B, T_query, T_key, d_model, num_heads)))


def shapes_with(**changed):
    """`shapes_lesson` with some shapes written another way: name -> function of the sizes."""

    def answer(B, T_query, T_key, d_model, num_heads):
        sizes = B, num_heads, T_query, T_key, d_model // num_heads, d_model
        shapes = shapes_lesson(B, T_query, T_key, d_model, num_heads)
        named = dict(zip(("Q", "K", "V", "scores", "output"), shapes, strict=True))
        return tuple((named | {name: make(*sizes) for name, make in changed.items()}).values())

    return answer


RIGHT_SHAPES = [
    shapes_lesson,
    shapes_computed,
    shapes_tensors,
    shapes_names,
    lists_of,
    lambda *sizes: {name.upper(): s for name, s in shapes_names(*sizes).items()},
    lambda *sizes: tuple(map(torch.Size, shapes_lesson(*sizes))),
    lambda *sizes: [torch.tensor(shape) for shape in shapes_lesson(*sizes)],
    lambda *sizes: [tuple(np.array(shape)) for shape in shapes_lesson(*sizes)],
    lambda B, T_query, T_key, d_model, num_heads: (
        (B, num_heads, T_query, int(d_model / num_heads)),
        *[(B, num_heads, T_key, d_model // num_heads)] * 2,
        (B, num_heads, T_query, T_key),
        (B, T_query, d_model),
    ),
]

WRONG_SHAPES = [
    (shapes_with(Q=lambda B, H, q, k, d, D: (B, H, k, d)), "query_has_key_length"),
    (shapes_with(K=lambda B, H, q, k, d, D: (B, H, q, d)), "key_has_query_length"),
    (shapes_with(K=lambda B, H, q, k, d, D: (B, H, q, d), V=lambda B, H, q, k, d, D: (B, H, q, d)),
     "key_has_query_length"),
    (shapes_with(V=lambda B, H, q, k, d, D: (B, H, q, d)), "value_has_query_length"),
    (shapes_with(Q=lambda B, H, q, k, d, D: (B, q, D), K=lambda B, H, q, k, d, D: (B, k, D)),
     "not_split"),
    (shapes_with(Q=lambda B, H, q, k, d, D: (B, q, H, d)), "axes_not_swapped"),
    (shapes_with(V=lambda B, H, q, k, d, D: (B, k, H, d)), "axes_not_swapped"),
    (shapes_with(Q=lambda B, H, q, k, d, D: (B, H, q, D)), "heads_as_wide_as_the_model"),
    (shapes_with(Q=lambda B, H, q, k, d, D: (H, q, d)), "batch_forgotten"),
    (shapes_with(output=lambda B, H, q, k, d, D: (q, D)), "batch_forgotten"),
    (shapes_with(Q=lambda B, H, q, k, d, D: (B, H, q, D / H)), "decimal_width"),
    (shapes_with(K=lambda B, H, q, k, d, D: (B, H, d, k)), "key_turned"),
    (shapes_with(scores=lambda B, H, q, k, d, D: (B, H, q, q)), "scores_square"),
    (shapes_with(scores=lambda B, H, q, k, d, D: (B, H, k, k)), "scores_square"),
    (shapes_with(scores=lambda B, H, q, k, d, D: (B, H, k, q)), "scores_turned"),
    (shapes_with(scores=lambda B, H, q, k, d, D: (B, q, k)), "scores_without_heads"),
    (shapes_with(scores=lambda B, H, q, k, d, D: (B, H, q, d)), "scores_keep_d_k"),
    (shapes_with(output=lambda B, H, q, k, d, D: (B, k, D)), "output_has_key_length"),
    (shapes_with(output=lambda B, H, q, k, d, D: (B, H, q, d)), "output_not_merged"),
    (shapes_with(output=lambda B, H, q, k, d, D: (B, q, d)), "output_of_one_head"),
    (shapes_with(output=lambda B, H, q, k, d, D: (B, q, k)), "output_as_scores"),
    (lambda *sizes: ((2, 8, 10, 64),) * 3 + ((2, 8, 10, 10), (2, 10, 512)), "works_only_when"),
    (shapes_with(Q=lambda B, H, q, k, d, D: (1, H, q, d)), "works_only_when"),
    (lambda *sizes: ((2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 4), (2, 3, 5, 7), (2, 5, 12)),
     "hard_coded_size"),
    (shapes_with(Q=lambda B, H, q, k, d, D: (B, q, d)), "other_shape"),
    (shapes_with(V=lambda B, H, q, k, d, D: (B, H, d, k)), "other_shape"),
    (shapes_with(scores=lambda B, H, q, k, d, D: None), "other_shape"),
    (lambda *sizes: shapes_lesson(*sizes)[:4], "shapes_missing"),
    (lambda *sizes: shapes_lesson(*sizes)[:1], "shapes_missing"),
    (lambda *sizes: (*shapes_lesson(*sizes), shapes_lesson(*sizes)[3]), "shapes_too_many"),
    (lambda *sizes: shapes_lesson(*sizes)[4], "sizes_alone"),
    (lambda *sizes: sum(shapes_lesson(*sizes), ()), "sizes_alone"),
    (lambda B, T_query, T_key, d_model, num_heads: d_model // num_heads, "no_list_of_shapes"),
    (lambda *sizes: (), "no_list_of_shapes"),
    (lambda *sizes: shapes_tensors(*sizes)[4], "no_list_of_shapes"),
    (lambda *sizes: "(B, H, T_query, d_k)", "no_list_of_shapes"),
    (lambda *sizes: dict.fromkeys("abcde", (1, 2)), "no_list_of_shapes"),
    (lambda B, T, d_model: (B, T, d_model), "wrong_arguments"),
]  # fmt: skip


# --- the function -------------------------------------------------------------------------


def lesson(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q = split_heads(X @ W_Q, num_heads)
    K = split_heads(memory @ W_K, num_heads)
    V = split_heads(memory @ W_V, num_heads)
    heads, weights = scaled_dot_product_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_O


def einsum(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    q, k, v = (
        torch.einsum("btd,dhe->bthe", x, W.unflatten(1, (num_heads, -1)))
        for x, W in ((X, W_Q), (memory, W_K), (memory, W_V))
    )
    scores = torch.einsum("bqhe,bkhe->bhqk", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.tensor(-1e9))
    out = torch.einsum("bhqk,bkhe->bqhe", scores.softmax(-1), v).flatten(2)
    return torch.einsum("bqd,de->bqe", out, W_O)


def view_and_transpose(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    B, T_query, d_model = X.shape
    T_key = memory.shape[1]
    d_k = d_model // num_heads
    Q = (X @ W_Q).view(B, T_query, num_heads, d_k).transpose(1, 2)
    K = (memory @ W_K).view(B, T_key, num_heads, d_k).transpose(1, 2)
    V = (memory @ W_V).view(B, T_key, num_heads, d_k).transpose(1, 2)
    scores = Q @ K.transpose(-2, -1) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = F.softmax(scores, dim=-1)
    return (weights @ V).transpose(1, 2).reshape(B, T_query, d_model) @ W_O, weights


def fused(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    parts = (X @ W_Q, memory @ W_K, memory @ W_V)
    Q, K, V = (part.unflatten(-1, (num_heads, -1)).transpose(1, 2) for part in parts)
    heads = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
    return heads.transpose(1, 2).flatten(2) @ W_O


def loop(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    heads = []
    for W_q, W_k, W_v in zip(*(W.chunk(num_heads, 1) for W in (W_Q, W_K, W_V)), strict=True):
        scores = (X @ W_q) @ (memory @ W_k).mT / W_q.shape[1] ** 0.5
        if mask is not None:
            own = mask[:, 0] if mask.dim() == 4 else mask
            scores = scores.masked_fill(~own, -INF)
        heads.append(scores.softmax(-1) @ (memory @ W_v))
    return torch.cat(heads, dim=-1) @ W_O


def one_sequence_at_a_time(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    B, T_query, d_model = X.shape
    if mask is not None:
        mask = mask.expand(B, num_heads, T_query, memory.shape[1])
    outputs = []
    for b in range(B):
        q, k, v = (
            part.view(len(part), num_heads, -1).permute(1, 0, 2)
            for part in (X[b] @ W_Q, memory[b] @ W_K, memory[b] @ W_V)
        )
        scores = torch.bmm(q, k.transpose(1, 2)) / (d_model // num_heads) ** 0.5
        if mask is not None:
            scores = scores + torch.zeros_like(scores).masked_fill(~mask[b], -INF)
        outputs.append(torch.bmm(scores.softmax(2), v).permute(1, 0, 2).reshape(T_query, -1))
    return torch.stack(outputs) @ W_O


def sum_of_heads(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = X @ W_Q, memory @ W_K, memory @ W_V
    parts = zip(*(part.chunk(num_heads, -1) for part in (Q, K, V)), W_O.chunk(num_heads),
                strict=True)  # fmt: skip
    output = 0
    for q, k, v, block in parts:
        scores = q @ k.mT / k.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~(mask.squeeze(1) if mask.dim() > 2 else mask), -1e30)
        output = output + scores.softmax(-1) @ v @ block
    return output


def own_softmax(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (split_heads(x, num_heads) for x in (X @ W_Q, memory @ W_K, memory @ W_V))
    e = (Q / Q.shape[-1] ** 0.5 @ K.mT).exp()
    if mask is not None:
        e = e * mask
    return merge_heads(e @ V / e.sum(-1, keepdim=True)) @ W_O


def by_torch(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    B, H, d_model = len(X), num_heads, X.shape[-1]
    hidden = None
    if mask is not None:
        hidden = ~mask.expand(B, H, X.shape[1], memory.shape[1]).flatten(0, 1)
    output, _ = F.multi_head_attention_forward(
        X.transpose(0, 1), memory.transpose(0, 1), memory.transpose(0, 1), d_model, H,
        None, torch.zeros(3 * d_model), None, None, False, 0.0, W_O.T, None,
        attn_mask=hidden, use_separate_proj_weight=True,
        q_proj_weight=W_Q.T, k_proj_weight=W_K.T, v_proj_weight=W_V.T,
    )  # fmt: skip
    return output.transpose(0, 1)


RIGHT_FUNCTIONS = [
    lesson, einsum, view_and_transpose, fused, loop, one_sequence_at_a_time, sum_of_heads,
    own_softmax, by_torch,
]  # fmt: skip


def with_lines(**changed):
    """`lesson` with some of its lines written another way."""
    lines = {
        "project": lambda X, M, W_Q, W_K, W_V: (X @ W_Q, M @ W_K, M @ W_V),
        "split": split_heads,
        "scores": lambda Q, K, X, M: Q @ K.mT / Q.shape[-1] ** 0.5,
        "mask": lambda mask, X, M: mask,
        "hide": lambda scores, mask: scores.masked_fill(mask == 0, -INF),
        "weights": lambda scores: scores.softmax(-1),
        "late": lambda weights, mask: weights,
        "mix": lambda weights, Q, K, V: weights @ V,
        "merge": lambda heads: merge_heads(heads),
        "output": lambda concat, W_O, X: concat @ W_O,
    } | changed

    def cross_attention(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None):
        parts = lines["project"](X, memory, W_Q, W_K, W_V)
        Q, K, V = (lines["split"](part, num_heads) for part in parts)
        scores = lines["scores"](Q, K, X, memory)
        mask = lines["mask"](mask, X, memory)
        if mask is not None:
            scores = lines["hide"](scores, mask)
        weights = lines["weights"](scores)
        if mask is not None:
            weights = lines["late"](weights, mask)
        return lines["output"](lines["merge"](lines["mix"](weights, Q, K, V)), W_O, X)

    return cross_attention


def straight(x, H):
    return x.reshape(len(x), H, x.shape[1], -1)


def merged_straight(heads):
    B, H, T, d_k = heads.shape
    return heads.reshape(B, T, H * d_k)


def square(mask, X, M):
    """A causal mask of one's own, T × T."""
    return torch.ones(X.shape[1], X.shape[1], dtype=torch.bool).tril()


def lengths_of_X(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    """Written for one length: the memory is cut with the sizes of X."""
    B, T, d_model = X.shape
    parts = (X @ W_Q, memory @ W_K, memory @ W_V)
    Q, K, V = (part.view(B, T, num_heads, -1).transpose(1, 2) for part in parts)
    return merge_heads(scaled_dot_product_attention(Q, K, V, mask)[0]) @ W_O


def mask_in_each_head(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = (split_heads(x, num_heads) for x in (X @ W_Q, memory @ W_K, memory @ W_V))
    heads = [
        scaled_dot_product_attention(Q[:, h], K[:, h], V[:, h], mask)[0] for h in range(num_heads)
    ]
    return torch.cat(heads, dim=-1) @ W_O


def width_of_memory(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    """Cuts the keys with the memory's own width, which W_K has changed."""
    B, T_key, d = memory.shape
    Q = split_heads(X @ W_Q, num_heads)
    K, V = (
        (memory @ W).view(B, T_key, num_heads, d // num_heads).transpose(1, 2) for W in (W_K, W_V)
    )
    return merge_heads(scaled_dot_product_attention(Q, K, V, mask)[0]) @ W_O


def changes_memory(X, memory, *others):
    output = lesson(X, memory, *others)
    memory *= 2
    return output


def no_return(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    output = lesson(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask)  # noqa: F841


def project(make):
    return with_lines(project=make)


# Wrong ways that the function and the module share.
SHARED = [
    ({"project": lambda X, M, q, k, v: (X @ q, X @ k, X @ v)}, "memory_unused"),
    ({"project": lambda X, M, q, k, v: (M @ q, M @ k, M @ v)}, "memory_alone"),
    ({"project": lambda X, M, q, k, v: (M @ q, X @ k, X @ v)}, "roles_exchanged"),
    ({"project": lambda X, M, q, k, v: (X @ q, M @ k, X @ v)}, "values_from_X"),
    ({"project": lambda X, M, q, k, v: (X @ q, X @ k, M @ v)}, "keys_from_X"),
    ({"project": lambda X, M, q, k, v: (X @ q, torch.cat([X, M], 1) @ k,
                                        torch.cat([X, M], 1) @ v)}, "sequences_joined"),
    ({"project": lambda X, M, q, k, v: [(X + M) @ W for W in (q, k, v)]}, "sequences_added"),
    ({"project": lambda X, M, q, k, v: (X @ q, M @ q, M @ v)}, "keys_by_W_Q"),
    ({"project": lambda X, M, q, k, v: (X @ q, M @ v, M @ k)}, "projections_exchanged"),
    ({"project": lambda X, M, q, k, v: (X, M, M @ v)}, "input_sliced"),
    ({"project": lambda X, M, q, k, v: (X @ q, M @ k, M)}, "values_not_projected"),
    ({"project": lambda X, M, q, k, v: (X @ q, M @ k, M @ k)}, "keys_as_values"),
    ({"split": straight}, "viewed_straight"),
    ({"split": lambda x, H: x.unflatten(-1, (H, -1)), "merge": lambda heads: heads.flatten(2)},
     "heads_attend_heads"),
    ({"split": lambda x, H: x[:, None], "merge": lambda heads: heads[:, 0]}, "never_split"),
    ({"merge": merged_straight}, "merged_without_swap"),
    ({"split": straight, "merge": merged_straight}, "viewed_and_merged_straight"),
    ({"merge": lambda heads: heads.permute(0, 2, 3, 1).flatten(2)}, "heads_interleaved"),
    ({"output": lambda concat, W_O, X: concat}, "output_not_projected"),
    ({"output": lambda concat, W_O, X: X + concat @ W_O}, "residual_added"),
    ({"scores": lambda Q, K, X, M: Q @ K.mT / X.shape[-1] ** 0.5}, "scaled_by_d_model"),
    ({"scores": lambda Q, K, X, M: Q @ K.mT}, "no_scale"),
    ({"scores": lambda Q, K, X, M: Q @ K.mT / Q.shape[-1]}, "scaled_by_d_k"),
    ({"scores": lambda Q, K, X, M: Q @ K.mT / M.shape[1] ** 0.5}, "scaled_by_length"),
    ({"scores": lambda Q, K, X, M: Q @ K.mT / X.shape[1] ** 0.5}, "scaled_by_length"),
    ({"scores": lambda Q, K, X, M: Q @ K.mT / 1.7}, "wrong_scale"),
    ({"scores": lambda Q, K, X, M: Q @ K / Q.shape[-1] ** 0.5}, "keys_not_transposed"),
    ({"scores": lambda Q, K, X, M: K @ Q.mT / Q.shape[-1] ** 0.5}, "queries_and_keys_exchanged"),
    ({"weights": lambda scores: scores.softmax(-2)}, "softmax_over_queries"),
    ({"weights": lambda scores: scores.softmax(1)}, "softmax_over_heads"),
    ({"weights": lambda scores: scores.softmax(0)}, "softmax_over_batch"),
    ({"weights": lambda scores: scores}, "no_softmax"),
    ({"mix": lambda weights, Q, K, V: V}, "values_alone"),
    ({"mix": lambda weights, Q, K, V: weights}, "weights_as_heads"),
    ({"mix": lambda weights, Q, K, V: weights @ Q}, "queries_as_values"),
    ({"mix": lambda weights, Q, K, V: weights.mT @ V}, "weights_transposed"),
    # masks
    ({"mask": square}, "always_causal"),
    ({"mask": lambda mask, X, M: torch.ones(X.shape[1], M.shape[1]).tril()}, "always_causal"),
    ({"mask": lambda mask, X, M: None if mask is None else torch.ones(
        X.shape[1], M.shape[1]).tril()}, "causal_instead_of_mask"),
    ({"mask": lambda mask, X, M: None if mask is None else square(mask, X, M)},
     "causal_instead_of_mask"),
    ({"hide": lambda s, mask: s.masked_fill(mask, -INF)}, "mask_inverted"),
    ({"hide": lambda s, mask: s.masked_fill(mask == 1, -1e9)}, "mask_inverted"),
    ({"hide": lambda s, mask: s + mask.float()}, "mask_added"),
    ({"hide": lambda s, mask: s * mask}, "hidden_score_zero"),
    ({"hide": lambda s, mask: s, "late": lambda w, mask: w * mask}, "mask_after_softmax"),
    ({"hide": lambda s, mask: s}, "mask_ignored"),
    ({"hide": lambda s, mask: s.masked_fill(mask.mT == 0, -INF)}, "mask_transposed"),
    ({"hide": lambda s, mask: s.masked_fill((mask[:1] if mask.dim() == 4 else mask) == 0, -INF)},
     "one_mask_for_all"),
    # sizes
    ({"output": lambda concat, W_O, X: (concat @ W_O)[:, : X.shape[1] - 1]}, "wrong_shape"),
    ({"output": lambda concat, W_O, X: (concat @ W_O).transpose(0, 1)}, "wrong_axis_order"),
    ({"output": lambda concat, W_O, X: (concat @ W_O).tolist()}, "not_a_tensor"),
]  # fmt: skip

WRONG_FUNCTIONS = [(with_lines(**lines), kind) for lines, kind in SHARED] + [
    (project(lambda X, M, q, k, v: (X @ q.T, M @ k.T, M @ v.T)), "matrices_turned"),
    (project(lambda X, M, q, k, v: (X @ q, F.linear(M, k), M @ v)), "matrices_turned"),
    (with_lines(output=lambda concat, W_O, X: F.linear(concat, W_O)), "matrices_turned"),
    (lengths_of_X, "works_only_when"),
    (width_of_memory, "works_only_when"),
    (with_lines(hide=lambda s, mask: s.masked_fill(mask[None, None] == 0, -INF)),
     "works_only_when"),
    (changes_memory, "changed_input"),
    (lambda X, memory, *others: lesson(X, memory.detach(), *others), "detached"),
    (lambda X, *others: lesson(X, X + torch.randn(1), *others[1:]), "random"),
    (lambda X, W_Q, W_K, W_V, W_O, num_heads: X, "wrong_arguments"),
    (3, "not_callable"),
]  # fmt: skip


# --- the module ---------------------------------------------------------------------------


class Start(nn.Module):
    """The stub's `__init__`, and the test that the exercise asks for."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not fit into d_model = {d_model}")
        self.num_heads = num_heads
        self.d_k = d_model // num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)


def module(function):
    """A module around a function of the stage before."""

    class MultiHeadCrossAttention(Start):
        def forward(self, X, memory, mask=None):
            matrices = [getattr(self, name).weight.T for name in ("W_Q", "W_K", "W_V", "W_O")]
            return function(X, memory, *matrices, self.num_heads, mask)

    return MultiHeadCrossAttention


class LessonsOwn(Start):
    def forward(self, X, memory, mask=None):
        Q = split_heads(self.W_Q(X), self.num_heads)
        K = split_heads(self.W_K(memory), self.num_heads)
        V = split_heads(self.W_V(memory), self.num_heads)
        heads, _ = scaled_dot_product_attention(Q, K, V, mask)
        return self.W_O(merge_heads(heads))


class WithBiases(LessonsOwn):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__(d_model, num_heads)
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, memory, mask=None):
        return self.dropout(super().forward(X, memory, mask)), None


class ZeroedAfterwards(Start):
    def forward(self, X, memory, mask=None):
        B, T_query, d_model = X.shape
        Q, K, V = (
            W(x).reshape(B, -1, self.num_heads, self.d_k).permute(0, 2, 1, 3)
            for W, x in ((self.W_Q, X), (self.W_K, memory), (self.W_V, memory))
        )
        scores = Q @ K.mT / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights * mask
        return self.W_O((weights @ V).transpose(1, 2).reshape(B, T_query, d_model))


class NanToNum(Start):
    def forward(self, X, memory, mask=None):
        B, T_query, _ = X.shape
        q, k, v = (
            W(x).view(B, x.size(1), self.num_heads, -1).transpose(1, 2)
            for W, x in ((self.W_Q, X), (self.W_K, memory), (self.W_V, memory))
        )
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -INF)
        weights = torch.nan_to_num(scores.softmax(dim=3))
        return self.W_O(torch.matmul(weights, v).transpose(1, 2).contiguous().view(B, T_query, -1))


class Heir(attention.MultiHeadAttention):
    """Inherits everything from the course's own layer but `forward`."""

    def forward(self, X, memory, mask=None):
        H = self.num_heads
        parts = (split_heads(self.W_Q(X), H), split_heads(self.W_K(memory), H),
                 split_heads(self.W_V(memory), H))  # fmt: skip
        return self.W_O(merge_heads(scaled_dot_product_attention(*parts, mask)[0]))


class Parameters(nn.Module):
    """Weights as parameters, used as X @ W; refuses by `assert`."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0, f"d_model={d_model}, num_heads={num_heads}"
        self.H = num_heads
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            setattr(self, name, nn.Parameter(torch.zeros(d_model, d_model)))

    def forward(self, X, memory, mask=None):
        return lesson(X, memory, self.W_Q, self.W_K, self.W_V, self.W_O, self.H, mask)


class RefusedInForward(LessonsOwn):
    """The course's split_heads refuses an impossible number, in words, when it is called."""

    def __init__(self, d_model, num_heads):
        nn.Module.__init__(self)
        self.num_heads = num_heads
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))


def rows_kept(function):
    """A function that makes NaN of empty rows, and zeros of those rows' weights."""

    def cross_attention(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None):
        output = function(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask)
        if mask is None:
            return output
        some = mask.any(-1, keepdim=True)  # (T_query, 1) or (B, 1, 1, 1)
        return torch.where(some.squeeze(1) if some.dim() == 4 else some, output, 0.0)

    return cross_attention


RIGHT_MODULES = [
    LessonsOwn, WithBiases, ZeroedAfterwards, NanToNum, Heir, Parameters, RefusedInForward,
    module(lesson), *map(module, map(rows_kept, (einsum, loop, sum_of_heads, fused))),
]  # fmt: skip


class NeverRefuses(LessonsOwn):
    def __init__(self, d_model, num_heads):
        nn.Module.__init__(self)
        self.num_heads = num_heads
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, X, memory, mask=None):
        B, T_query, d_model = X.shape
        d_k = d_model // self.num_heads
        Q, K, V = (
            W(x).view(B, -1, self.num_heads, d_k).transpose(1, 2)
            for W, x in ((self.W_Q, X), (self.W_K, memory), (self.W_V, memory))
        )
        heads = scaled_dot_product_attention(Q, K, V, mask)[0]
        return self.W_O(heads.transpose(1, 2).reshape(B, T_query, d_model))


class RefusesWithoutNumbers(LessonsOwn):
    def __init__(self, d_model, num_heads):
        if d_model % num_heads:
            raise ValueError("impossible number of heads")
        super().__init__(d_model, num_heads)


class NoReturn(LessonsOwn):
    def forward(self, X, memory, mask=None):
        output = super().forward(X, memory, mask)  # noqa: F841


class NoMemory(Start):
    def forward(self, X):
        return X


class LinearTurned(Start):
    def forward(self, X, memory, mask=None):
        matrices = [getattr(self, name).weight for name in ("W_Q", "W_K", "W_V", "W_O")]
        return lesson(X, memory, *matrices, self.num_heads, mask)


class ChangesItsInput(LessonsOwn):
    def forward(self, X, memory, mask=None):
        output = super().forward(X, memory, mask)
        memory += 1
        return output


WRONG_MODULES = [(module(with_lines(**lines)), kind) for lines, kind in SHARED] + [
    (module(with_lines()), "empty_row_nan"),
    (module(loop), "empty_row_nan"),
    (module(einsum), "empty_row_flat"),
    (module(sum_of_heads), "empty_row_flat"),
    (module(lengths_of_X), "works_only_when"),
    (LinearTurned, "linear_transposed"),
    (NeverRefuses, "should_raise"),
    (RefusesWithoutNumbers, "error_without_numbers"),
    (NoMemory, "wrong_arguments"),
    (NotAModule, "not_a_module"),
    (without_output_matrix(LessonsOwn), "missing_attribute"),
    (LessonsOwn(6, 2), "not_a_class"),
    (ChangesItsInput, "changed_input"),
    (module(lambda X, memory, *others: lesson(X, memory.detach(), *others)), "detached"),
]


# --- alignment ----------------------------------------------------------------------------


def alignment_loop(weights):
    B, H, T_query, T_key = weights.shape
    found = torch.zeros(B, T_query, dtype=torch.long)
    for b in range(B):
        for i in range(T_query):
            mean = [sum(weights[b, h, i, j].item() for h in range(H)) / H for j in range(T_key)]
            found[b, i] = mean.index(max(mean))
    return found


RIGHT_ALIGNMENTS = [
    lambda w: w.mean(dim=1).argmax(dim=-1),
    alignment_loop,
    lambda w: w.sum(1).argmax(2),
    lambda w: torch.argmax(torch.mean(w, 1), -1),
    lambda w: w.mean(-3).max(-1).indices,
    lambda w: w.mean(1).topk(1).indices.squeeze(-1),
    lambda w: w.mean(1).argsort(-1, descending=True)[..., 0],
    lambda w: w.mean(1).argmax(-1).float(),
    lambda w: torch.stack([one.mean(0).argmax(-1) for one in w]),
    lambda w: torch.einsum("bhqk->bqk", w).argmax(-1).int(),
    lambda w: torch.tensor(w.numpy().mean(1).argmax(-1)),
]

WRONG_ALIGNMENTS = [
    (lambda w: w.mean(1).argmax(-2), "keys_asked"),
    (lambda w: w.argmax(-1), "heads_kept"),
    (lambda w: w[:, 0].argmax(-1), "one_head_asked"),
    (lambda w: w[:, -1].argmax(-1), "one_head_asked"),
    (lambda w: w.max(1).values.argmax(-1), "loudest_head"),
    (lambda w: w.argmax(-1).float().mean(1), "places_averaged"),
    (lambda w: w.argmax(-1).float().mean(1).round().long(), "places_averaged"),
    (lambda w: w.argmax(-1).mode(1).values, "heads_vote"),
    (lambda w: w.mean(1).max(-1).values, "weight_not_place"),
    (lambda w: w.mean(1).argmin(-1), "smallest_weight"),
    (lambda w: w.mean(1).argmax(-1) + 1, "places_from_one"),
    (lambda w: w.mean(0).mean(0).argmax(-1), "batch_averaged"),
    (lambda w: w.mean(0).argmax(-1), "batch_averaged"),
    (lambda w: w[:, 1].argmax(-1), "one_head_asked"),
    (lambda w: w.mean(1).argmax(), "one_place_for_all"),
    (lambda w: w.mean(1).argmax(-1).argsort(-1), "places_sorted"),
    (lambda w: w.mean(1).argsort(-1, descending=True), "all_places"),
    (lambda w: w.mean(2).argmax(-1), "queries_averaged"),
    (lambda w: w.mean(1)[:1].argmax(-1), "works_only_when"),
    (lambda w: w.mean(1), "wrong_shape"),
    (lambda w: w.mean(1).argmax(-1).tolist(), "not_a_tensor"),
    (lambda w: torch.arange(w.shape[2]).expand(len(w), -1), "wrong_values"),
    (lambda w: w.mul_(2).mean(1).argmax(-1), "changed_input"),
    (lambda w: torch.randint(w.shape[-1], (w.shape[0], w.shape[2])), "random"),
]

RIGHT = {
    "10.cross_shapes": RIGHT_SHAPES,
    "10.cross_attention": RIGHT_FUNCTIONS,
    "10.MultiHeadCrossAttention": RIGHT_MODULES,
    "10.alignment": RIGHT_ALIGNMENTS,
}
WRONG = {
    "10.cross_shapes": WRONG_SHAPES,
    "10.cross_attention": WRONG_FUNCTIONS,
    "10.MultiHeadCrossAttention": WRONG_MODULES,
    "10.alignment": WRONG_ALIGNMENTS,
}
NAMED = {id: [(way, kind) for way, kind in ways if kind] for id, ways in WRONG.items()}


@each_right_way(RIGHT)
def test_c15_other_right_ways_pass(exercise, answer):
    assert_passes(exercise, answer)


def test_c15_at_least_eight_right_ways_each():
    assert_enough_right_ways("10", RIGHT)


# kinds whose message has no number to show
WITHOUT_NUMBER = {
    "axes_not_swapped", "not_a_tensor", "detached", "not_a_module", "missing_attribute",
    "not_a_class", "no_list_of_shapes",
}  # fmt: skip


@each_wrong_way(NAMED)
def test_wrong_ways_are_named(exercise, answer, kind, language):
    message = assert_named(exercise, answer, kind, WITHOUT_NUMBER)
    assert not re.search(r"\{\w+\}", message.replace("{name}", "")), "not filled in"


def test_at_least_eight_misconceptions_each():
    assert_enough_misconceptions(WRONG)


def test_untouched_stubs_and_a_forgotten_return_are_no_failures(language):
    class MultiHeadCrossAttention(Start):
        def forward(self, X, memory, mask=None):
            return None

    for id in RIGHT:
        stub = MultiHeadCrossAttention if id.endswith("Attention") else lambda *inputs: None
        result = check(id, stub)
        assert result.passed is None and result.kind == "not_yet", id
        assert ("`forward`" in result.look) is (stub is MultiHeadCrossAttention), result.look
    for id, answer, function in (
        ("10.cross_attention", no_return, "no_return"),
        ("10.MultiHeadCrossAttention", NoReturn, "forward"),
    ):
        result = check(id, answer)
        assert (result.passed, result.kind) == (None, "no_return")
        assert f"`{function}`" in result.got


# --- the reference is what the lesson says it is --------------------------------------------


def made_layer(seed=0, d_model=12, H=3):
    layer = Reference(d_model, H)
    generator = torch.Generator().manual_seed(seed)
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=d_model**-0.5, generator=generator)
    X, memory = (torch.randn(2, T, d_model, generator=generator) for T in (5, 7))
    return layer.requires_grad_(False), X, memory


def test_with_itself_as_memory_it_is_the_courses_own_layer():
    layer, X, _ = made_layer()
    course = attention.MultiHeadAttention(12, 3)
    course.load_state_dict(layer.state_dict())
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    for given in (None, mask):
        assert torch.allclose(layer(X, X, given), course(X, given), atol=1e-6)


def test_it_is_torchs_layer_with_two_sequences():
    layer, X, memory = made_layer()
    twin = nn.MultiheadAttention(12, 3, bias=False, batch_first=True)
    with torch.no_grad():
        parts = (layer.W_Q, layer.W_K, layer.W_V)
        twin.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        twin.out_proj.weight.copy_(layer.W_O.weight)
    real = torch.tensor([[1] * 5 + [0] * 2, [1] * 7]).bool()
    expected, _ = twin(X, memory, memory, key_padding_mask=~real)
    assert torch.allclose(layer(X, memory, real[:, None, None]), expected, atol=1e-6)
    matrices = [getattr(layer, name).weight.T for name in ("W_Q", "W_K", "W_V", "W_O")]
    function = cross_attention(X, memory, *matrices, 3, real[:, None, None])
    assert torch.allclose(function, expected, atol=1e-6)


# --- field cases ----------------------------------------------------------------------------


def test_c02_c07_a_right_shape_is_never_enough(language):
    """Self-attention has the right shape; so have the joined sequences and a missing W_O."""
    right_shapes = ("memory_unused", "sequences_joined", "keys_by_W_Q", "output_not_projected",
                    "merged_without_swap")  # fmt: skip
    probe = exercises()["10.cross_attention"].probes[0]
    for lines, kind in SHARED:
        if kind in right_shapes:
            answer = with_lines(**lines)
            assert answer(*probe.inputs.values()).shape == probe.inputs["X"].shape
            assert check("10.cross_attention", answer).kind == kind


def test_c12_c16_all_sizes_of_a_deciding_trial_differ():
    for id in RIGHT:
        for probe in exercises()[id].probes:
            sizes = list(probe.sizes.values())
            assert len(set(sizes)) == len(sizes), (id, probe.sizes)


def test_c09_only_the_module_is_asked_for_empty_rows():
    """Its text says what they give; before that, NaN and zeros are both right answers."""
    for id, empty in {"10.cross_attention": 0, "10.MultiHeadCrossAttention": 1}.items():
        masks = [probe.inputs.get("mask") for probe in exercises()[id].probes]
        masks = [mask for mask in masks if mask is not None]
        assert {mask.dim() for mask in masks} == {2, 4}
        assert sum(int((~mask.any(-1)).sum()) for mask in masks) == empty
        assert not any(mask.all() for mask in masks)


def test_a_length_written_for_both_sequences_is_told_by_when_it_works(language):
    for id, answer in {
        "10.cross_attention": lengths_of_X,
        "10.MultiHeadCrossAttention": module(lengths_of_X),
    }.items():
        assert "T_query = T_key" in check(id, answer).got
    # A mask that only one of the two shapes fits has nothing to do with lengths.
    by_heads = check("10.cross_attention", mask_in_each_head).got
    assert "mask.shape = (T_query, T_key)" in by_heads, by_heads
    assert "d_memory = d_model" in check("10.cross_attention", width_of_memory).got


def test_wrong_shapes_are_told_one_after_another_and_in_numbers(language):
    both = shapes_with(
        K=lambda B, H, q, k, d, D: (B, H, q, d), output=lambda B, H, q, k, d, D: (B, k, D)
    )
    assert check("10.cross_shapes", both).kind == "key_has_query_length"
    second = shapes_with(output=lambda B, H, q, k, d, D: (B, k, D))
    result = check("10.cross_shapes", second)
    assert result.kind == "output_has_key_length" and "(2, 5, 12)" in result.expected
    other = check("10.cross_shapes", shapes_with(output=lambda B, H, q, k, d, D: (B, q + k, D)))
    assert other.kind == "other_shape" and "(2, 12, 12)" in other.got
    assert "(B, T_query, d_model)" in other.expected and "(2, 5, 12)" in other.expected


def test_the_pair_of_heads_and_weights_is_told_as_a_pair(language):
    def merged(Q, K, V):
        return merge_heads(scaled_dot_product_attention(Q, K, V))

    def turned(Q, K, V):
        return scaled_dot_product_attention(Q, K, V).transpose(1, 2).flatten(2)

    def multiplied(Q, K, V):
        return scaled_dot_product_attention(Q, K, V) @ Q

    def concatenated(Q, K, V):
        return torch.cat([scaled_dot_product_attention(Q, K, V)], dim=-1)

    for joined in (merged, turned, multiplied, concatenated):

        def answer(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None, joined=joined):
            parts = (X @ W_Q, memory @ W_K, memory @ W_V)
            return joined(*(split_heads(part, num_heads) for part in parts)) @ W_O

        result = check("10.cross_attention", answer)
        assert result.kind == "raised" and "tuple" in result.message
        assert "`heads, weights = …`" in result.look, result.message


def test_a_refusal_returned_and_a_forward_misspelt_are_told(language):
    class ReturnsTheError(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            if d_model % num_heads:
                return ValueError(f"{num_heads} does not divide {d_model}")
            for name in ("W_Q", "W_K", "W_V", "W_O"):
                setattr(self, name, nn.Linear(d_model, d_model, bias=False))
            self.num_heads = num_heads

        forward = LessonsOwn.forward

    class Misspelt(Start):
        def foward(self, X, memory, mask=None):
            return X

    for answer, words in ((ReturnsTheError, "`raise ValueError(…)`"), (Misspelt, "`forward`")):
        result = check("10.MultiHeadCrossAttention", answer)
        assert (result.passed, result.kind) == (False, "raised"), result.message
        assert words in result.look, result.message


def test_the_length_of_an_answer_with_too_few_shapes_is_told(language):
    assert " 4." in check("10.cross_shapes", lambda *sizes: shapes_lesson(*sizes)[:4]).got
    assert "int 4" in check("10.cross_shapes", lambda B, q, k, D, H: D // H).got


def test_an_impossible_number_of_heads_has_to_be_refused_in_words(language):
    result = check("10.MultiHeadCrossAttention", NeverRefuses)
    assert result.kind == "should_raise" and "ValueError" in result.expected
    assert re.search(r"d_model = 12, num_heads = 5", result.expected)
    twelve_and_five = {"en": "12 and 5", "es": "12 y 5"}[language]
    assert twelve_and_five in check("10.MultiHeadCrossAttention", RefusesWithoutNumbers).expected
