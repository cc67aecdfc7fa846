"""Five ways to one output, by value, over many shapes, masks and biases (lesson 05).

The lesson's own code is taken from its notebook, so that what a reader sees is what is tested:
`five_ways`, and the class and functions of its folded solutions.
"""

import math
from functools import cache

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from helpers.attention import (
    LoopedMultiHeadAttention,
    MultiHeadAttention,
    attention_weights,
    merge_heads,
    split_heads,
)
from helpers.masks import causal_mask, padding_mask
from tools.lessons import ROOT, read
from tools.rules.prose import code_blocks

LESSON = ROOT / "notebooks" / "en" / "05_multi-head-attention.ipynb"
SHAPES = [  # B, T, H, d_k: one of a kind, H = T, H = 1, d_k = 1, more heads than tokens
    (2, 5, 3, 4), (1, 1, 1, 1), (1, 7, 4, 1), (3, 4, 4, 4), (2, 6, 1, 8), (2, 3, 8, 2),
    (1, 9, 2, 5),
]  # fmt: skip
MASKS = ["none", "causal", "padding", "both"]


@cache
def lesson_names(cell: str) -> dict:
    """What this code cell of the lesson defines, without what it shows."""
    source = next(c.source for c in read(LESSON).cells if c.id == cell)
    names = {"torch": torch, "nn": nn, "F": F}
    exec(compile(source.partition("\ngenerator = ")[0], cell, "exec"), names)
    return names


def solution(cell: str, name: str):
    """The folded solution of an exercise of the lesson."""
    (source,) = code_blocks(next(c.source for c in read(LESSON).cells if c.id == cell))
    names = {"torch": torch, "nn": nn}
    exec(compile(source, cell, "exec"), names)
    return names[name]


@pytest.fixture(scope="module")
def lesson():
    return lesson_names("proof-run")


def layer_of(H: int, d_k: int, bias: bool, seed: int = 0) -> MultiHeadAttention:
    generator = torch.Generator().manual_seed(seed)
    layer = MultiHeadAttention(H * d_k, H, bias=bias, generator=generator)
    for part in (layer.W_Q, layer.W_K, layer.W_V, layer.W_O) if bias else ():
        nn.init.normal_(part.bias, std=0.5, generator=generator)
    return layer


def case_of(B: int, T: int, H: int, d_k: int, seed: int = 0):
    generator = torch.Generator().manual_seed(100 + seed)
    X = torch.randn(B, T, H * d_k, generator=generator)
    lengths = torch.randint(1, T + 1, (B,), generator=generator)  # no row without any key (C09)
    return X, lengths


def masks_of(kind: str, lengths, T: int) -> dict:
    """The arguments of the lesson's `five_ways`."""
    causal = {"causal": causal_mask(T)} if kind in ("causal", "both") else {}
    real = {"real": padding_mask(lengths, T)[:, 0, 0]} if kind in ("padding", "both") else {}
    return {**causal, **real}


def by_definition(layer: MultiHeadAttention, X, allowed=None) -> torch.Tensor:
    """Σ head_i W_O^(i), number by number in double precision: no split, merge or batch at all."""
    B, T, d_model = X.shape
    H, d_k = layer.num_heads, layer.d_k
    W = {name: getattr(layer, name).weight.double() for name in ("W_Q", "W_K", "W_V", "W_O")}
    zero = torch.zeros(d_model, dtype=torch.float64)
    b = {n: zero if layer.W_O.bias is None else getattr(layer, n).bias.double() for n in W}
    output = b["W_O"].expand(B, T, d_model).clone()
    for s in range(B):
        for h in range(H):
            rows = slice(h * d_k, (h + 1) * d_k)
            q, k, v = (X[s].double() @ W[n][rows].T + b[n][rows] for n in ("W_Q", "W_K", "W_V"))
            for i in range(T):
                keys = [j for j in range(T) if allowed is None or allowed[s, i, j]]
                e = [math.exp(float(q[i] @ k[j]) / math.sqrt(d_k)) for j in keys]
                for j, share in zip(keys, e, strict=True):
                    output[s, i] += share / sum(e) * (v[j] @ W["W_O"][:, rows].T)
    return output


@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_five_ways_of_the_lesson_agree_and_are_right(lesson, shape, mask, bias):
    B, T, H, d_k = shape
    layer = layer_of(H, d_k, bias)
    X, lengths = case_of(*shape)
    masks = masks_of(mask, lengths, T)
    allowed = torch.ones(B, T, T, dtype=torch.bool)
    if "causal" in masks:
        allowed &= masks["causal"]
    if "real" in masks:
        allowed &= masks["real"][:, None]
    with torch.no_grad():
        results = lesson["five_ways"](layer, X, **masks)
        expected = by_definition(layer, X, allowed)
    assert list(results) == ["loop", "batched", "sum of heads", "F.scaled_dot_product_attention",
                             "nn.MultiheadAttention"]  # fmt: skip
    for name, output in results.items():
        torch.testing.assert_close(
            output.double(), expected, atol=1e-5, rtol=1e-5, msg=lambda m, n=name: f"{n}: {m}"
        )
    assert lesson["largest_difference"](results) < 1e-5


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 3), st.integers(1, 8), st.integers(1, 5), st.integers(1, 6),
    st.sampled_from(MASKS), st.booleans(), st.integers(0, 99),
)  # fmt: skip
def test_the_five_ways_agree_at_any_size(B, T, H, d_k, mask, bias, seed):
    names = lesson_names("proof-run")
    layer = layer_of(H, d_k, bias, seed)
    X, lengths = case_of(B, T, H, d_k, seed)
    with torch.no_grad():
        results = names["five_ways"](layer, X, **masks_of(mask, lengths, T))
    assert names["largest_difference"](results) < 2e-5


def test_the_proof_notices_a_way_that_is_wrong(lesson):
    """A proof that could not fail would prove nothing."""
    X, _ = case_of(2, 5, 3, 4)
    with torch.no_grad():
        results = lesson["five_ways"](layer_of(3, 4, False), X, causal=causal_mask(5))
        for name in results:
            if name != "batched":
                broken = results | {name: results[name] + 0.01 * X}
                assert lesson["largest_difference"](broken) > 1e-3, name


def test_c08_packed_weights_go_into_the_readers_class(lesson):
    """192 × 64 rows as q, k, v blocks; turned over or exchanged, the values give it away."""
    generator = torch.Generator().manual_seed(0)
    theirs = nn.MultiheadAttention(64, 8, bias=False, batch_first=True).eval()
    nn.init.normal_(theirs.in_proj_weight, std=0.125, generator=generator)
    nn.init.normal_(theirs.out_proj.weight, std=0.125, generator=generator)
    X = torch.randn(2, 4, 64, generator=generator)
    unpack = solution("exercise-2-help", "unpack")
    Reader = solution("exercise-1-help", "MultiHeadAttention")
    W_Q, W_K, W_V = unpack(theirs.in_proj_weight.detach())
    assert W_Q.shape == W_K.shape == W_V.shape == (64, 64)

    def output(*blocks):
        layer = Reader(64, 8)
        with torch.no_grad():
            for part, block in zip((layer.W_Q, layer.W_K, layer.W_V), blocks, strict=True):
                part.weight.copy_(block)
            layer.W_O.weight.copy_(theirs.out_proj.weight)
            return layer(X)

    with torch.no_grad():
        expected = theirs(X, X, X)[0]
    torch.testing.assert_close(output(W_Q, W_K, W_V), expected, atol=1e-6, rtol=1e-5)
    for blocks in [(W_K, W_Q, W_V), (W_Q, W_V, W_K), (W_Q.T, W_K, W_V), (W_Q, W_K, W_V.T)]:
        wrong = output(*blocks)
        assert wrong.shape == expected.shape and (wrong - expected).abs().max() > 1e-2
    with torch.no_grad():
        torch.testing.assert_close(
            MultiHeadAttention.from_torch(theirs)(X), expected, atol=1e-6, rtol=1e-5
        )


@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
def test_the_readers_class_is_the_course_layer(mask):
    Reader = solution("exercise-1-help", "MultiHeadAttention")
    ours, theirs = layer_of(3, 4, False), Reader(12, 3)
    theirs.load_state_dict(ours.state_dict())
    X, lengths = case_of(2, 5, 3, 4)
    tensor = {"none": None, "causal": causal_mask(5), "padding": padding_mask(lengths, 5)}[mask]
    torch.testing.assert_close(theirs(X, tensor), ours(X, tensor), atol=1e-6, rtol=1e-5)


def test_the_padding_mask_of_the_lesson_is_the_courses():
    make = solution("exercise-3-help", "padding_mask")
    lengths = torch.tensor([1, 4, 2])
    assert torch.equal(make(lengths, 4), padding_mask(lengths, 4))


# The senses of a mask, line by line (C10) -------------------------------------------------


@pytest.fixture(scope="module")
def senses():
    """Weights by each function, and the scores they come from: B 1, T 4, H 2, d_model 8."""
    layer = layer_of(2, 4, False, seed=3)
    (X, _) = case_of(1, 4, 2, 4)
    twin = lesson_names("proof-run")["torch_twin"](layer)
    Q, K = (split_heads(W(X), 2).detach() for W in (layer.W_Q, layer.W_K))

    def sdpa(mask):
        eye = torch.eye(4).expand(1, 2, 4, 4)
        return F.scaled_dot_product_attention(Q, K, eye, attn_mask=mask)

    def mha(**masks):
        return twin(X, X, X, average_attn_weights=False, **masks)[1].detach()

    scores = layer.trace(X).scores.detach()
    return layer, X, sdpa, mha, scores


def test_c10_what_true_means_in_each_function(senses):
    layer, X, sdpa, mha, scores = senses
    causal = causal_mask(4)
    expected = attention_weights(scores, causal)
    for name, weights in {
        "course": layer.trace(X, causal).weights,
        "course, floats": layer.trace(X, causal.float()).weights,
        "sdpa": sdpa(causal),
        "mha": mha(attn_mask=~causal),
    }.items():
        torch.testing.assert_close(weights, expected, msg=lambda m, n=name: f"{n}: {m}")
        assert (weights[..., 0, 0] == 1).all() and (weights[..., 0, 3] == 0).all(), name
    real = torch.tensor([[True, True, True, False]])
    padded = mha(key_padding_mask=~real)
    torch.testing.assert_close(padded, attention_weights(scores, real[:, None, None]))


def test_c10_floats_are_added_and_row_sums_do_not_show_it(senses):
    _, _, sdpa, mha, scores = senses
    added = causal_mask(4).float()
    for weights in (sdpa(added), mha(attn_mask=added)):
        torch.testing.assert_close(weights, (scores + added).softmax(-1))
        torch.testing.assert_close(weights.sum(-1), torch.ones(1, 2, 4))
        assert weights.triu(1).max() > 0.05
    padding = torch.tensor([[0.0, 0.0, 0.0, 1.0]])
    torch.testing.assert_close(
        mha(key_padding_mask=padding), (scores + padding[:, None, None]).softmax(-1)
    )


def test_c10_an_inverted_mask_shows_what_should_be_hidden(senses):
    _, _, _, mha, _ = senses
    row = mha(attn_mask=causal_mask(4))[..., 0, :]
    assert (row[..., 0] == 0).all() and (row[..., 1:] > 0).all()


def test_c13_the_default_is_the_mean_of_the_heads(senses):
    layer, X, _, mha, _ = senses
    twin = nn.MultiheadAttention(8, 2, dropout=0.5, bias=False, batch_first=True).eval()
    twin.load_state_dict(lesson_names("proof-run")["torch_twin"](layer).state_dict())
    with torch.no_grad():
        mean = twin(X, X, X)[1]
        heads = twin(X, X, X, average_attn_weights=False)[1]
    assert mean.shape == (1, 4, 4) and heads.shape == (1, 2, 4, 4)
    torch.testing.assert_close(heads.mean(1), mean)
    torch.testing.assert_close(heads.sum(-1), torch.ones(1, 2, 4))  # eval: no dropout
    assert (heads[:, 0] - mean).abs().max() > 0.05  # the mean is no head


def test_c14_half_precision_keeps_close_and_minus_1e9_does_not_fit():
    layer = layer_of(8, 8, False)
    X, _ = case_of(2, 16, 8, 8)
    exact = layer(X, causal_mask(16))
    for dtype in (torch.bfloat16, torch.float16):
        half = MultiHeadAttention(64, 8).to(dtype)
        half.load_state_dict(layer.state_dict())
        trace = half.trace(X.to(dtype), causal_mask(16))
        assert all(tensor.isfinite().all() for _, tensor in trace)
        torch.testing.assert_close(trace.output.float(), exact, atol=2e-2, rtol=2e-2)
    with pytest.raises(RuntimeError):
        torch.zeros(2, 2, dtype=torch.float16).masked_fill(torch.eye(2) == 0, -1e9)


def test_c09_nan_reaches_every_value_unless_the_row_is_made_zeros():
    mask = torch.ones(4, 4).tril()
    mask[2] = 0
    scores = torch.randn(4, 4, generator=torch.Generator().manual_seed(0))

    def gradient(weights):
        V = torch.ones(4, 3, requires_grad=True)
        (weights @ V)[0].sum().backward()
        return V.grad

    plain = scores.masked_fill(mask == 0, float("-inf")).softmax(-1)
    assert plain[2].isnan().all() and gradient(plain).isnan().all()
    ours = attention_weights(scores, mask)
    assert (ours[2] == 0).all() and gradient(ours).isfinite().all()
    flat = scores.masked_fill(mask == 0, -1e9).softmax(-1)
    torch.testing.assert_close(flat[2], torch.full((4,), 0.25))


# What the lesson's quiz says --------------------------------------------------------------


def test_claims_of_the_quiz():
    real = torch.tensor([[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]]).bool()  # (B, T)
    scores = torch.randn(4, 2, 4, 4, generator=torch.Generator().manual_seed(1))
    with_rows = attention_weights(scores, real)  # q3: (B, T) at B = T
    for b in range(4):
        for q in range(4):
            assert ((with_rows[b, :, q] == 0) == ~real[q]).all()
    both = causal_mask(6) & padding_mask([3], 6)
    counts = [both, causal_mask(6), padding_mask([3], 6).expand(1, 1, 6, 6)]
    assert [int(mask.sum()) for mask in counts] == [15, 21, 18]  # q4
    left = causal_mask(6) & padding_mask([3], 6, "left")
    assert (~left.any(-1)).any() and both.any(-1).all()  # q5
    batched = MultiHeadAttention(64, 32)  # q6
    looped = LoopedMultiHeadAttention.from_batched(batched)
    sizes = [sum(p.numel() for p in layer.parameters()) for layer in (batched, looped)]
    assert sizes == [4 * 64**2] * 2
    assert looped.W_Q[1].weight.data_ptr() != batched.W_Q.weight.data_ptr()
    storage = looped.W_Q[1].weight.untyped_storage().data_ptr()
    assert storage == batched.W_Q.weight.untyped_storage().data_ptr()


def test_split_and_merge_are_the_lessons_two_lines():
    X, _ = case_of(2, 5, 3, 4)
    heads = split_heads(X, 3)
    for h in range(3):
        assert torch.equal(heads[:, h], X[..., 4 * h : 4 * h + 4])
    assert torch.equal(merge_heads(heads), X)
