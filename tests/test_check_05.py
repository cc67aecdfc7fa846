"""Lesson 05's exercises: right answers written many ways pass, wrong ones are named.

The answers here are written as readers write them, not taken from the catalogue of the checks.
"""

import inspect
import math
import re

import pytest
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

from helpers.checks import check, exercises

INF = float("inf")


# --- the whole layer, right ways ----------------------------------------------------------


class Start(nn.Module):
    """The stub's `__init__`: every answer below writes its own `forward`."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.d_k = d_model // num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)


class LessonsOwn(Start):
    def forward(self, X, mask=None):
        B, T, d_model = X.shape

        def split(x):
            return x.view(B, T, self.num_heads, self.d_k).transpose(1, 2)

        Q, K, V = split(self.W_Q(X)), split(self.W_K(X)), split(self.W_V(X))
        scores = Q @ K.transpose(-2, -1) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        heads = scores.softmax(dim=-1) @ V
        return self.W_O(heads.transpose(1, 2).contiguous().view(B, T, d_model))


class WithBiases(LessonsOwn):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__(d_model, num_heads)
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, mask=None):
        return self.dropout(super().forward(X, mask))


class Einsum(Start):
    def forward(self, X, mask=None):
        B, T, _ = X.shape
        q, k, v = (W(X).view(B, T, self.num_heads, -1) for W in (self.W_Q, self.W_K, self.W_V))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * self.d_k**-0.5
        if mask is not None:
            scores = torch.where(mask, scores, torch.tensor(-1e9))
        out = torch.einsum("bhqk,bkhd->bqhd", torch.softmax(scores, -1), v)
        return self.W_O(out.reshape(B, T, -1))


class PermuteReshape(Start):
    def forward(self, X, mask=None):
        B, T, d_model = X.size()
        q = self.W_Q(X).reshape(B, T, self.num_heads, self.d_k).permute(0, 2, 1, 3)
        k = self.W_K(X).reshape(B, T, self.num_heads, self.d_k).permute(0, 2, 3, 1)
        v = self.W_V(X).reshape(B, T, self.num_heads, self.d_k).permute(0, 2, 1, 3)
        scores = torch.matmul(q, k) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores + torch.zeros_like(scores).masked_fill(~mask, -INF)
        weights = F.softmax(scores, dim=3)
        return self.W_O(torch.matmul(weights, v).permute(0, 2, 1, 3).reshape(B, T, d_model))


class Fused(Start):
    def forward(self, X, mask=None):
        q, k, v = (
            W(X).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for W in (self.W_Q, self.W_K, self.W_V)
        )
        return self.W_O(
            F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)
        )


class QueryScaledFirst(Start):
    def forward(self, X, mask=None):
        B, T, d_model = X.shape
        Q = self.W_Q(X) / math.sqrt(d_model // self.num_heads)
        Q, K, V = (
            x.view(B, -1, self.num_heads, self.d_k).swapaxes(1, 2)
            for x in (Q, self.W_K(X), self.W_V(X))
        )
        scores = Q @ K.mT
        if mask is not None:
            scores[(~mask).expand_as(scores)] = -INF
        weights = scores.softmax(-1)
        return self.W_O((weights @ V).swapaxes(1, 2).reshape(B, T, d_model)), weights


class LoopOverHeads(Start):
    def forward(self, X, mask=None):
        Q, K, V = self.W_Q(X), self.W_K(X), self.W_V(X)
        heads = []
        for i in range(self.num_heads):
            cut = slice(i * self.d_k, (i + 1) * self.d_k)
            scores = Q[..., cut] @ K[..., cut].mT / self.d_k**0.5
            if mask is not None:
                own = mask[:, 0] if mask.dim() == 4 else mask
                scores = scores.masked_fill(own == 0, -INF)
            heads.append(scores.softmax(-1) @ V[..., cut])
        return self.W_O(torch.cat(heads, dim=-1))


class SumOfHeads(Start):
    def forward(self, X, mask=None):
        Q, K, V = (W(X).chunk(self.num_heads, -1) for W in (self.W_Q, self.W_K, self.W_V))
        blocks = self.W_O.weight.chunk(self.num_heads, dim=1)
        output = 0
        for q, k, v, block in zip(Q, K, V, blocks, strict=True):
            scores = q @ k.transpose(1, 2) / k.shape[-1] ** 0.5
            if mask is not None:
                scores = scores.masked_fill(~mask.squeeze(1) if mask.dim() > 2 else ~mask, -1e30)
            output = output + scores.softmax(2) @ v @ block.T
        return output


class OwnSoftmax(Start):
    """A softmax of one's own in a function of one's own, weights as parameters used as X @ W."""

    def __init__(self, d_model, num_heads):
        nn.Module.__init__(self)
        self.H, self.d_k = num_heads, d_model // num_heads
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            setattr(self, name, nn.Parameter(torch.zeros(d_model, d_model)))

    def softmax(self, scores, mask):
        e = torch.exp(scores - scores.amax(-1, keepdim=True))
        if mask is not None:
            e = e * mask
        return e / e.sum(dim=-1, keepdim=True)

    def forward(self, X, mask=None):
        B, T, d = X.shape
        q, k, v = (
            (X @ W).view(B, T, self.H, self.d_k).transpose(1, 2)
            for W in (self.W_Q, self.W_K, self.W_V)
        )
        heads = self.softmax(q @ k.mT / self.d_k**0.5, mask) @ v
        return heads.transpose(1, 2).reshape(B, T, d) @ self.W_O


class BatchAndHeadsInOne(Start):
    def forward(self, X, mask=None):
        B, T, d = X.shape
        H, d_k = self.num_heads, self.d_k
        q, k, v = (
            W(X).view(B, T, H, d_k).transpose(1, 2).reshape(B * H, T, d_k)
            for W in (self.W_Q, self.W_K, self.W_V)
        )
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(d_k)
        if mask is not None:
            scores = scores.view(B, H, T, T).masked_fill(mask == 0, -INF).view(B * H, T, T)
        heads = torch.bmm(torch.softmax(scores, 2), v).view(B, H, T, d_k)
        return self.W_O(heads.transpose(1, 2).contiguous().view(B, T, d))


class FromTheCourse(Start):
    def forward(self, X, mask=None):
        from helpers.attention import merge_heads, scaled_dot_product_attention, split_heads

        parts = [split_heads(W(X), self.num_heads) for W in (self.W_Q, self.W_K, self.W_V)]
        return self.W_O(merge_heads(scaled_dot_product_attention(*parts, mask)[0]))


RIGHT_LAYERS = [
    LessonsOwn, WithBiases, Einsum, PermuteReshape, Fused, QueryScaledFirst, LoopOverHeads,
    SumOfHeads, OwnSoftmax, BatchAndHeadsInOne, FromTheCourse,
]  # fmt: skip


# --- the packed weights and the padding mask, right ways ------------------------------------


def unpack_slices(in_proj_weight):
    d_model = in_proj_weight.shape[1]
    W_Q = in_proj_weight[:d_model]
    W_K = in_proj_weight[d_model : 2 * d_model]
    W_V = in_proj_weight[2 * d_model :]
    return W_Q, W_K, W_V


RIGHT_UNPACKS = [
    lambda w: w.chunk(3),
    unpack_slices,
    lambda w: w.split(w.shape[1]),
    lambda w: w.split(w.shape[0] // 3, dim=0),
    lambda w: w.view(3, -1, w.shape[-1]),
    lambda w: w.view(3, w.shape[1], w.shape[1]).unbind(),
    lambda w: torch.tensor_split(w, 3),
    lambda w: [w.narrow(0, i * w.shape[1], w.shape[1]).clone() for i in range(3)],
    lambda w: tuple(nn.Parameter(part) for part in w.chunk(3, dim=0)),
    lambda w: [part.T for part in w.T.chunk(3, dim=1)],
    lambda w: torch.einsum("ioj->ioj", w.unflatten(0, (3, -1))),
    lambda w: [part.detach().double() for part in w.chunk(3)],
]


def padding_loop(lengths, T):
    mask = torch.zeros(len(lengths), 1, 1, T)
    for b, length in enumerate(lengths):
        mask[b, :, :, :length] = 1
    return mask


def padding_lists(lengths, T):
    rows = [[1] * int(n) + [0] * (T - int(n)) for n in lengths]
    return torch.tensor(rows).view(len(lengths), 1, 1, T)


RIGHT_PADDINGS = [
    lambda lengths, T: (torch.arange(T) < lengths[:, None])[:, None, None, :],
    padding_loop,
    padding_lists,
    lambda lengths, T: torch.arange(T).view(1, 1, 1, T) < lengths.view(-1, 1, 1, 1),
    lambda lengths, T: ~(torch.arange(T)[None] >= lengths.unsqueeze(1)).unsqueeze(1).unsqueeze(1),
    lambda lengths, T: (lengths[:, None, None, None] > torch.arange(T)).int(),
    lambda lengths, T: (torch.arange(1, T + 1) <= lengths[:, None]).float()[:, None, None],
    lambda lengths, T: torch.stack([torch.arange(T) < n for n in lengths]).reshape(-1, 1, 1, T),
    lambda lengths, T: (torch.arange(T) < lengths[:, None])[:, None, None].expand(-1, 1, T, T),
    lambda lengths, T: torch.ones(T, T).tril()[lengths - 1][:, None, None],
    lambda lengths, T: torch.ones(len(lengths), T).cumsum(1).le(lengths[:, None])[:, None, None],
]

RIGHT = {
    "05.MultiHeadAttention": RIGHT_LAYERS,
    "05.unpack": RIGHT_UNPACKS,
    "05.padding_mask": RIGHT_PADDINGS,
}


@each_right_way(RIGHT)
def test_c15_other_right_ways_pass(exercise, answer):
    assert_passes(exercise, answer)


def test_c15_at_least_eight_right_ways_each():
    assert_enough_right_ways("05", RIGHT)


# --- the whole layer, wrong ways ----------------------------------------------------------


def with_lines(**changed):
    """`LessonsOwn` with some of its lines written another way.

    The lines: split, merge, project, scores, hide, weights, mix, output.
    """
    lines = {
        "project": lambda self, X: (self.W_Q(X), self.W_K(X), self.W_V(X)),
        "split": lambda self, x: x.view(*x.shape[:2], self.num_heads, self.d_k).transpose(1, 2),
        "scores": lambda self, Q, K, X: Q @ K.transpose(-2, -1) / self.d_k**0.5,
        "hide": lambda scores, mask: scores.masked_fill(mask == 0, -INF),
        "weights": lambda scores: scores.softmax(dim=-1),
        "late": lambda weights, mask: weights,
        "mix": lambda weights, Q, K, V: weights @ V,
        "merge": lambda self, heads, X: heads.transpose(1, 2).contiguous().view(X.shape),
        "output": lambda self, concat, X: self.W_O(concat),
    } | changed

    class MultiHeadAttention(Start):
        def forward(self, X, mask=None):
            Q, K, V = (lines["split"](self, x) for x in lines["project"](self, X))
            scores = lines["scores"](self, Q, K, X)
            if mask is not None:
                scores = lines["hide"](scores, mask)
            weights = lines["weights"](scores)
            if mask is not None:
                weights = lines["late"](weights, mask)
            heads = lines["mix"](weights, Q, K, V)
            return lines["output"](self, lines["merge"](self, heads, X), X)

    return MultiHeadAttention


def view_straight(self, x):
    return x.view(x.shape[0], self.num_heads, x.shape[1], self.d_k)


def merge_straight(self, heads, X):
    return heads.contiguous().view(X.shape)


class SlicesOfTheWeights(Start):
    """Cuts X first and lets each head project its own slice."""

    def forward(self, X, mask=None):
        heads = []
        for i in range(self.num_heads):
            own = slice(i * self.d_k, (i + 1) * self.d_k)
            q, k, v = (X[..., own] @ W.weight[own, own].T for W in (self.W_Q, self.W_K, self.W_V))
            heads.append(F.scaled_dot_product_attention(q, k, v, attn_mask=mask))
        return self.W_O(torch.cat(heads, -1))


class OneWideHead(Start):
    def forward(self, X, mask=None):
        Q, K, V = self.W_Q(X), self.W_K(X), self.W_V(X)
        scores = Q @ K.transpose(-2, -1) / self.d_k**0.5
        return self.W_O(scores.softmax(-1) @ V)


class NoSwapAtAll(Start):
    def forward(self, X, mask=None):
        B, T, d = X.shape
        Q, K, V = (
            W(X).view(B, T, self.num_heads, self.d_k) for W in (self.W_Q, self.W_K, self.W_V)
        )
        weights = (Q @ K.transpose(-2, -1) / self.d_k**0.5).softmax(-1)
        return self.W_O((weights @ V).view(B, T, d))


class TokensFirst(Start):
    """Reads X as (T, B, d_model), as older torch layers do."""

    def forward(self, X, mask=None):
        T, B, d = X.shape
        Q, K, V = (
            W(X).view(T, B, self.num_heads, self.d_k).permute(1, 2, 0, 3)
            for W in (self.W_Q, self.W_K, self.W_V)
        )
        weights = (Q @ K.mT / self.d_k**0.5).softmax(-1)
        return self.W_O((weights @ V).permute(2, 0, 1, 3).reshape(T, B, d))


class OneSequenceOnly(Start):
    def forward(self, X, mask=None):
        T, d = X.shape[1:]
        Q, K, V = (
            W(X).view(T, self.num_heads, self.d_k).transpose(0, 1)
            for W in (self.W_Q, self.W_K, self.W_V)
        )
        weights = (Q @ K.mT / self.d_k**0.5).softmax(-1)
        return self.W_O((weights @ V).transpose(0, 1).reshape(1, T, d))


class WrittenFor512(Start):
    def forward(self, X, mask=None):
        B, T, _ = X.shape
        Q, K, V = (W(X).view(B, T, 8, 64).transpose(1, 2) for W in (self.W_Q, self.W_K, self.W_V))
        weights = (Q @ K.mT / 8).softmax(-1)
        return self.W_O((weights @ V).transpose(1, 2).reshape(B, T, 512))


class MaskOfTokensOnly(LessonsOwn):
    def forward(self, X, mask=None):
        return super().forward(X, None if mask is None else mask[None, None])


class MaskOfTokensOnlyMerging(Start):
    """The same slip where the merge names its axes: an error instead of wrong numbers."""

    def forward(self, X, mask=None):
        Q, K, V = (
            W(X).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for W in (self.W_Q, self.W_K, self.W_V)
        )
        scores = Q @ K.mT / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask[None, None] == 0, -INF)
        B, H, T, d_k = (scores.softmax(-1) @ V).shape
        return self.W_O((scores.softmax(-1) @ V).transpose(1, 2).reshape(B, T, H * d_k))


class NoContiguous(LessonsOwn):
    def forward(self, X, mask=None):
        B, T, d = X.shape
        heads = X.view(B, T, self.num_heads, self.d_k).transpose(1, 2)
        return self.W_O(heads.transpose(-1, -2).view(B, T, d))


class NoSuper(nn.Module):
    def __init__(self, d_model, num_heads):
        self.W_Q = nn.Linear(d_model, d_model)


class NarrowProjections(LessonsOwn):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.W_Q = nn.Linear(d_model, d_model // num_heads)


class ChangesItsInput(LessonsOwn):
    def forward(self, X, mask=None):
        output = super().forward(X, mask)
        X *= 2
        return output


class DropsGradients(LessonsOwn):
    def forward(self, X, mask=None):
        return super().forward(X.detach(), mask)


class DropoutAlwaysOn(LessonsOwn):
    def forward(self, X, mask=None):
        return F.dropout(super().forward(X, mask), 0.2)


class FreshMatrix(LessonsOwn):
    def forward(self, X, mask=None):
        return nn.Linear(X.shape[-1], X.shape[-1])(super().forward(X, mask))


def weights_of(self, *names):
    return [getattr(self, name).weight for name in names]


WRONG_LAYERS = [
    # splitting and merging
    (with_lines(split=view_straight), "viewed_straight"),
    (with_lines(merge=merge_straight), "merged_without_swap"),
    (with_lines(merge=lambda self, heads, X: heads.reshape(X.shape)), "merged_without_swap"),
    (with_lines(split=view_straight, merge=merge_straight), "viewed_and_merged_straight"),
    (with_lines(split=lambda self, x: x.view(*x.shape[:2], self.d_k, -1).permute(0, 3, 1, 2)),
     "heads_interleaved"),
    (with_lines(merge=lambda self, heads, X: heads.permute(0, 2, 3, 1).reshape(X.shape)),
     "heads_interleaved"),
    (NoSwapAtAll, "heads_attend_heads"),
    (OneWideHead, "never_split"),
    (TokensFirst, "batch_as_tokens"),
    # projecting
    (with_lines(project=lambda self, X: (X, X, X)), "input_sliced"),
    (SlicesOfTheWeights, "slices_projected"),
    (with_lines(project=lambda self, X: (self.W_Q(X), self.W_K(X), X)), "values_not_projected"),
    (with_lines(project=lambda self, X: (self.W_K(X), self.W_Q(X), self.W_V(X))),
     "queries_and_keys_exchanged"),
    (with_lines(project=lambda self, X: (self.W_Q(X), self.W_V(X), self.W_K(X))),
     "projections_exchanged"),
    (with_lines(project=lambda self, X: (self.W_Q(X), self.W_Q(X), self.W_V(X))), "keys_unused"),
    (with_lines(project=lambda self, X: (self.W_Q(X), self.W_K(X), self.W_K(X))),
     "keys_as_values"),
    (with_lines(project=lambda self, X: [X @ W for W in weights_of(self, "W_Q", "W_K", "W_V")]),
     "linear_transposed"),
    (with_lines(project=lambda self, X: (X @ self.W_Q.weight, self.W_K(X), self.W_V(X))),
     "linear_transposed"),
    (with_lines(output=lambda self, concat, X: concat @ self.W_O.weight), "linear_transposed"),
    (with_lines(output=lambda self, concat, X: concat), "output_not_projected"),
    (with_lines(output=lambda self, concat, X: X + self.W_O(concat)), "residual_added"),
    # scores and softmax
    (with_lines(scores=lambda self, Q, K, X: Q @ K.mT / X.shape[-1] ** 0.5), "scaled_by_d_model"),
    (with_lines(scores=lambda self, Q, K, X: Q @ K.mT), "no_scale"),
    (with_lines(scores=lambda self, Q, K, X: Q @ K.mT / self.d_k), "scaled_by_d_k"),
    (with_lines(scores=lambda self, Q, K, X: Q @ K.mT / self.num_heads**0.5), "wrong_scale"),
    (with_lines(scores=lambda self, Q, K, X: Q @ K.mT / X.shape[1] ** 0.5), "scaled_by_T"),
    (with_lines(scores=lambda self, Q, K, X: Q @ K.mT / 8), "works_only_when"),
    (with_lines(scores=lambda self, Q, K, X: Q @ K / self.d_k**0.5), "keys_not_transposed"),
    (with_lines(scores=lambda self, Q, K, X: K @ Q.mT / self.d_k**0.5),
     "queries_and_keys_exchanged"),
    (with_lines(weights=lambda s: s.softmax(-2)), "softmax_over_queries"),
    (with_lines(weights=lambda s: s.softmax(1)), "softmax_over_heads"),
    (with_lines(weights=lambda s: s.softmax(0)), "softmax_over_batch"),
    (with_lines(weights=lambda s: s), "no_softmax"),
    (with_lines(weights=lambda s: s.softmax(-1).mT), "weights_transposed"),
    # masks
    (with_lines(late=lambda w, mask: w * mask, hide=lambda s, mask: s), "mask_after_softmax"),
    (with_lines(hide=lambda s, mask: s.masked_fill(mask, -INF)), "mask_inverted"),
    (with_lines(hide=lambda s, mask: s.masked_fill(mask == 1, -1e9)), "mask_inverted"),
    (with_lines(hide=lambda s, mask: s + mask.float()), "mask_added"),
    (with_lines(hide=lambda s, mask: s * mask), "hidden_score_zero"),
    (with_lines(hide=lambda s, mask: s.masked_fill(mask == 0, 1e-9)), "hidden_score_zero"),
    (with_lines(hide=lambda s, mask: s.masked_fill(mask == 0, -1)), "hidden_but_seen"),
    (with_lines(hide=lambda s, mask: s.masked_fill(mask.mT == 0, -INF)), "mask_transposed"),
    (with_lines(hide=lambda s, mask: s), "mask_ignored"),
    (with_lines(hide=lambda s, mask: s.masked_fill(
        torch.ones_like(s).tril() == 0, -INF)), "causal_instead_of_mask"),
    (with_lines(weights=lambda s: s.masked_fill(
        torch.ones_like(s).tril() == 0, -INF).softmax(-1)), "always_causal"),
    (MaskOfTokensOnly, "mask_with_more_axes"),
    (MaskOfTokensOnlyMerging, "works_only_when"),
    # sizes and form
    (OneSequenceOnly, "works_only_when"),
    (WrittenFor512, "works_only_when"),
    (with_lines(output=lambda self, concat, X: self.W_O(concat).transpose(0, 1)),
     "wrong_axis_order"),
    (with_lines(output=lambda self, concat, X: self.W_O(concat)[0]), "wrong_shape"),
    (with_lines(output=lambda self, concat, X: self.W_O(concat).tolist()),
     "not_a_tensor"),
    (NoContiguous, "raised"),
    (NoSuper, "raised"),
    (NotAModule, "not_a_module"),
    (without_output_matrix(LessonsOwn), "missing_attribute"),
    (NarrowProjections, "wrong_weight_shape"),
    (lambda d_model, num_heads: LessonsOwn(d_model, num_heads), "not_a_class"),
    (LessonsOwn(6, 2), "not_a_class"),
    (ChangesItsInput, "changed_input"),
    (DropsGradients, "detached"),
    (DropoutAlwaysOn, "random"),
    (FreshMatrix, "random"),
]  # fmt: skip

WRONG_UNPACKS = [
    (lambda w: [part.T for part in w.chunk(3)], "blocks_transposed"),
    (lambda w: w.T.chunk(3, dim=-1), "blocks_transposed"),
    (lambda w: (w.chunk(3)[1], w.chunk(3)[0], w.chunk(3)[2]), "blocks_exchanged"),
    (lambda w: w.chunk(3)[::-1], "blocks_exchanged"),
    (lambda w: w.chunk(3, dim=1), "blocks_of_columns"),
    (lambda w: w.view(-1, 3, w.shape[1]).unbind(1), "rows_interleaved"),
    (lambda w: w.view(w.shape[1], -1).chunk(3, dim=1), "rows_interleaved"),
    (lambda w: (w[0::3], w[1::3], w[2::3]), "rows_interleaved"),
    (lambda w: [w[: w.shape[1]] for _ in range(3)], "same_block"),
    (lambda w: w.split(3), "split_by_three"),
    (lambda w: w[: w.shape[1]].split(w.shape[1] // 3), "blocks_too_short"),
    (lambda w: w, "not_cut"),
    (lambda w: (w, w, w), "not_cut"),
    (lambda w: (w[:512], w[512:1024], w[1024:]), "works_only_when"),
    (lambda w: (w[:64], w[64:128], w[128:]), "works_only_when"),
    (lambda w: (w[: w.shape[1]], w[w.shape[1] + 1 : 2 * w.shape[1] + 1], w[2 * w.shape[1] + 1 :]),
     "wrong_shape"),
    (lambda w: w.chunk(3)[:2], "wrong_shape"),
    (lambda w: [part.tolist() for part in w.chunk(3)], "not_a_tensor"),
    (lambda w: [part + 0.01 for part in w.chunk(3)], "wrong_values"),
    (lambda w: [part.mul_(2) / 2 for part in w.chunk(3)], "changed_input"),
    (lambda w: torch.randn(3, w.shape[1], w.shape[1]), "random"),
]  # fmt: skip


def real(lengths, T):
    return torch.arange(T) < lengths[:, None]


WRONG_PADDINGS = [
    (lambda n, T: (torch.arange(T) >= n[:, None])[:, None, None], "sense_inverted"),
    (lambda n, T: ~real(n, T)[:, None, None], "sense_inverted"),
    (lambda n, T: (torch.arange(T) <= n[:, None])[:, None, None], "one_too_many"),
    (lambda n, T: (torch.arange(1, T + 1) < n[:, None])[:, None, None], "one_too_few"),
    (lambda n, T: real(n - 1, T)[:, None, None], "one_too_few"),
    (lambda n, T: (torch.arange(T) >= T - n[:, None])[:, None, None], "padding_on_the_left"),
    (lambda n, T: real(n, T), "axes_missing"),
    (lambda n, T: real(n, T)[:, None], "axes_missing"),
    (lambda n, T: real(n, T)[:, None, :, None], "queries_hidden"),
    (lambda n, T: real(n, T)[:, :, None, None], "heads_hidden"),
    (lambda n, T: real(n, T)[None, None], "batch_as_rows"),
    (lambda n, T: real(n, T)[:, None, None, :] & real(n, T)[:, None, :, None],
     "queries_hidden_too"),
    (lambda n, T: torch.zeros(len(n), 1, 1, T).masked_fill(~real(n, T)[:, None, None], -INF),
     "added_style"),
    (lambda n, T: (1 - real(n, T).float()[:, None, None]) * -1e9, "added_style"),
    (lambda n, T: (torch.arange(int(n.max())) < n[:, None])[:, None, None],
     "longest_instead_of_T"),
    (lambda n, T: (torch.arange(T) < n.max()).expand(len(n), 1, 1, T), "one_length_for_all"),
    (lambda n, T: (torch.arange(T) < n[0])[None, None, None], "one_length_for_all"),
    (lambda n, T: real(n, T)[:, None, None] & torch.ones(T, T).tril().bool(), "causal_too"),
    (lambda n, T: torch.ones(len(n), 1, T, T).tril(), "causal_alone"),
    (lambda n, T: F.one_hot(n - 1, T)[:, None, None], "last_place_alone"),
    (lambda n, T: torch.arange(T) < n, "lengths_not_turned"),
    (lambda n, T: (torch.arange(10) < n[:, None])[:, None, None], "works_only_when"),
    (lambda n, T: real(n, T).tolist(), "not_a_tensor"),
    (lambda n, T: torch.ones(len(n), 1, 1, T), "wrong_values"),
    (lambda n: real(n, 5)[:, None, None], "wrong_arguments"),
    (lambda n, T: real(n.sub_(1) + 1, T)[:, None, None], "changed_input"),
]  # fmt: skip

WRONG = {
    "05.MultiHeadAttention": WRONG_LAYERS,
    "05.unpack": WRONG_UNPACKS,
    "05.padding_mask": WRONG_PADDINGS,
}


NO_NUMBERS = {  # nothing came that could be compared
    "detached", "missing_attribute", "not_a_class", "not_a_module", "not_a_tensor",
}  # fmt: skip


@each_wrong_way(WRONG)
def test_wrong_ways_are_named(exercise, answer, kind, language):
    message = assert_named(exercise, answer, kind, without_number=NO_NUMBERS)
    assert "{" not in message.replace("{name}", ""), "an unfilled placeholder"


def test_at_least_eight_misconceptions_each():
    assert_enough_misconceptions(WRONG)


def test_every_wrong_way_of_the_issue_is_among_them():
    kinds = {kind for _, kind in WRONG_LAYERS}
    assert kinds >= {
        "viewed_straight", "merged_without_swap", "viewed_and_merged_straight", "input_sliced",
        "slices_projected", "scaled_by_d_model", "softmax_over_queries", "mask_after_softmax",
        "mask_inverted", "mask_added", "output_not_projected", "linear_transposed",
        "queries_and_keys_exchanged", "wrong_axis_order", "works_only_when", "changed_input",
    }  # fmt: skip
    conditions = [
        re.search(r"(B = 1|H = 8)", check("05.MultiHeadAttention", way).got)[0]
        for way in (OneSequenceOnly, WrittenFor512)
    ]
    assert conditions == ["B = 1", "H = 8"]  # only one sequence; sizes written by hand


def test_the_untouched_stub_is_not_a_failure(language):
    class MultiHeadAttention(Start):
        def forward(self, X, mask=None):
            return None

    class Unfinished(Start):
        def forward(self, X, mask=None):
            raise NotImplementedError

    for answer in (MultiHeadAttention, Unfinished):
        result = check("05.MultiHeadAttention", answer)
        assert result.passed is None and result.kind == "not_yet"
        assert "`forward`" in result.look and "`__init__`" in result.look
    for id in ("05.unpack", "05.padding_mask"):
        assert check(id, lambda *args: None).passed is None


def test_a_forward_without_return_is_named_by_its_name(language):
    class MultiHeadAttention(LessonsOwn):
        def forward(self, X, mask=None):
            def joined(heads):  # its `return` is not the one of `forward`
                return heads

            output = joined(super().forward(X, mask))  # noqa: F841

    result = check("05.MultiHeadAttention", MultiHeadAttention)
    assert (result.passed, result.kind) == (None, "no_return")
    assert (
        result.got
        == {
            "en": "`None`: no line of `forward` begins with `return`.",
            "es": "`None`: ninguna línea de `forward` empieza por `return`.",
        }[language]
    )


# --- field cases ------------------------------------------------------------------------------


def test_c02_c07_a_right_shape_is_never_enough(language):
    """Straight views, no W_O, own slices: all give (B, T, d_model), none passes."""
    probe = exercises()["05.MultiHeadAttention"].probes[0]
    X = probe.inputs["X"]
    for kind, answer in {
        "viewed_straight": with_lines(split=view_straight),
        "merged_without_swap": with_lines(merge=merge_straight),
        "viewed_and_merged_straight": with_lines(split=view_straight, merge=merge_straight),
        "slices_projected": SlicesOfTheWeights,
        "output_not_projected": with_lines(output=lambda self, concat, X: concat),
    }.items():
        assert answer(12, 3)(X).shape == X.shape
        assert check("05.MultiHeadAttention", answer).kind == kind
    for name, weight in probe.inputs["weights"].items():
        assert not torch.allclose(weight, torch.eye(12), atol=0.5), name
        assert not torch.allclose(weight, weight.T, atol=0.5), name


def test_c06_the_scale_is_told_apart_at_more_than_one_head(language):
    right = check("05.MultiHeadAttention", QueryScaledFirst)
    wide = check("05.MultiHeadAttention", with_lines(
        scores=lambda self, Q, K, X: Q @ K.mT / X.shape[-1] ** 0.5))  # fmt: skip
    none = check("05.MultiHeadAttention", with_lines(scores=lambda self, Q, K, X: Q @ K.mT))
    assert (right.kind, wide.kind, none.kind) == ("passed", "scaled_by_d_model", "no_scale")
    assert "d_model = 12" in wide.got and "√4 = 2" in wide.expected
    assert all(probe.sizes["H"] > 1 for probe in exercises()["05.MultiHeadAttention"].probes)


def test_c08_packed_weights_turned_over_or_exchanged_are_caught_by_value(language):
    for kind, answer in {
        "blocks_transposed": lambda w: [part.T for part in w.chunk(3)],
        "blocks_exchanged": lambda w: (w.chunk(3)[1], w.chunk(3)[0], w.chunk(3)[2]),
    }.items():
        result = check("05.unpack", answer)
        assert result.kind == kind
        assert re.search(r"\[\d, \d, \d\]", result.got), "no place and numbers in it"


def test_c10_c12_sense_and_time_of_the_mask_in_the_whole_layer(language):
    for kind, lines in {
        "mask_inverted": {"hide": lambda s, mask: s.masked_fill(mask == 1, -INF)},
        "mask_added": {"hide": lambda s, mask: s + mask.float()},
        "mask_after_softmax": {"hide": lambda s, mask: s, "late": lambda w, mask: w * mask},
    }.items():
        assert check("05.MultiHeadAttention", with_lines(**lines)).kind == kind


def test_c09_no_trial_has_a_row_with_nothing_to_attend_to():
    """Plain softmax gives NaN there and the course's layer zeros: both are right answers."""
    masks = [p.inputs.get("mask") for p in exercises()["05.MultiHeadAttention"].probes]
    masks = [mask for mask in masks if mask is not None]
    assert {mask.dim() for mask in masks} == {2, 4}
    for mask in masks:
        assert mask.any(-1).all() and not mask.all()


def test_a_padding_mask_of_the_right_cells_passes_in_any_kind_of_number():
    for dtype in (torch.bool, torch.int64, torch.uint8, torch.float32, torch.float16):
        result = check(
            "05.padding_mask", lambda n, T, dtype=dtype: real(n, T)[:, None, None].to(dtype)
        )
        assert result.passed, dtype


def test_matrices_of_numpy_are_not_told_to_be_random():
    result = check("05.unpack", lambda packed: [part.numpy() for part in packed.chunk(3)])
    assert result.kind == "not_a_tensor"


def test_a_padding_mask_of_numbers_passes_with_a_remark(language):
    """The rule of the course hides by 0; functions of torch do other things (section 5)."""
    cells = real(torch.tensor([2, 3]), 4)[:, None, None]
    Q = torch.zeros(2, 1, 4, 3)
    even = F.scaled_dot_product_attention(Q, Q, torch.eye(4).expand(2, 1, 4, 4), cells.float())
    assert (even > 0).all()  # added: nothing hidden
    with pytest.raises(RuntimeError):
        F.scaled_dot_product_attention(Q, Q, Q, cells.long())
    for dtype in (torch.float32, torch.int64):
        result = check("05.padding_mask", lambda n, T: real(n, T)[:, None, None].to(dtype))  # noqa: B023
        assert result.passed and str(dtype).removeprefix("torch.") in result.look
        assert result.look in result.message
    assert check("05.padding_mask", lambda n, T: real(n, T)[:, None, None]).look == ""


def test_a_wrong_padding_mask_is_told_with_its_lengths(language):
    result = check("05.padding_mask", lambda n, T: (torch.arange(T) <= n[:, None])[:, None, None])
    assert "[4, 2, 5]" in result.got and "T = 6" in result.got
    assert re.search(r"\[0, 0, 0, 4\].*\bFalse\b.*\bTrue\b", result.got)
    as_numbers = check(
        "05.padding_mask", lambda n, T: 1 * (torch.arange(T) <= n[:, None])[:, None, None]
    )
    assert re.search(r"\[0, 0, 0, 4\].*\b0\b.*\b1\b", as_numbers.got)


def test_two_faults_are_named_one_after_the_other():
    both = with_lines(split=view_straight, hide=lambda s, mask: s + mask)
    assert check("05.MultiHeadAttention", both).kind in ("viewed_straight", "wrong_values")
    second = with_lines(hide=lambda s, mask: s + mask)
    assert check("05.MultiHeadAttention", second).kind == "mask_added"


def test_the_stub_of_the_tests_is_the_stub_of_the_lesson():
    """`Start` stands for what the reader finds: the same attributes in `__init__`."""
    source = inspect.getsource(Start.__init__)
    for name in ("W_Q", "W_K", "W_V", "W_O"):
        assert f"self.{name} = nn.Linear(d_model, d_model, bias=False)" in source
