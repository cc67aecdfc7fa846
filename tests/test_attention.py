"""`helpers.attention` held, by value, against torch's own layers."""

import math

import pytest
import torch
import torch.nn.functional as F
from attention_inputs import MASKS, SHAPES, generator, keep, normal, our_mask, torch_layer
from torch import nn

from helpers.attention import (
    LoopedMultiHeadAttention,
    MultiHeadAttention,
    attention_scores,
    attention_weights,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)

# --- split and merge ---------------------------------------------------------------------------


def test_split_gives_each_head_its_own_features_of_every_token():
    x = torch.arange(24.0).view(1, 4, 6)
    heads = split_heads(x, 2)
    assert heads.shape == (1, 2, 4, 3)
    assert heads[0, 0].tolist() == [[0, 1, 2], [6, 7, 8], [12, 13, 14], [18, 19, 20]]
    assert heads[0, 1].tolist() == [[3, 4, 5], [9, 10, 11], [15, 16, 17], [21, 22, 23]]


def test_merge_puts_the_heads_of_one_token_side_by_side():
    heads = torch.arange(8.0).view(1, 2, 2, 2)
    assert merge_heads(heads)[0].tolist() == [[0, 1, 4, 5], [2, 3, 6, 7]]
    assert merge_heads(heads).is_contiguous()


@pytest.mark.parametrize(("B", "T", "d_model", "H"), SHAPES)
def test_merge_undoes_split(B, T, d_model, H):
    x = normal(B, T, d_model)
    assert torch.equal(merge_heads(split_heads(x, H)), x)


def test_split_copies_nothing():
    x = normal(2, 5, 6)
    assert split_heads(x, 2).data_ptr() == x.data_ptr()


# --- against torch -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("B", "T", "d_model", "H"), SHAPES)
def test_equals_torch_multihead_attention(B, T, d_model, H, bias, name):
    reference = torch_layer(d_model, H, bias)
    X = normal(B, T, d_model)
    causal, real = keep(name, B, T)
    wanted, wanted_weights = reference(
        X,
        X,
        X,
        # torch's layer hides where True, ours may attend where True.
        attn_mask=None if causal is None else ~causal,
        key_padding_mask=None if real is None else ~real,
        average_attn_weights=False,
    )
    ours, mask = MultiHeadAttention.from_torch(reference), our_mask(causal, real)
    trace = ours.trace(X, mask)
    torch.testing.assert_close(ours(X, mask), wanted, atol=3e-6, rtol=0)
    torch.testing.assert_close(trace.output, wanted, atol=3e-6, rtol=0)
    torch.testing.assert_close(trace.weights, wanted_weights, atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("shape", [(2, 3, 5, 7, 4, 4), (1, 8, 10, 10, 64, 64), (2, 2, 1, 6, 3, 5)])
def test_equals_torch_scaled_dot_product_attention(shape, name):
    B, H, T_query, T_key, d_k, d_v = shape
    Q, K = normal(B, H, T_query, d_k, seed=1), normal(B, H, T_key, d_k, seed=2)
    V = normal(B, H, T_key, d_v, seed=3)
    causal, real = keep(name, B, T_key)
    mask = our_mask(None if causal is None else causal[-T_query:], real)
    output, weights = scaled_dot_product_attention(Q, K, V, mask)
    wanted = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
    torch.testing.assert_close(output, wanted, atol=1e-6, rtol=0)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, T_query), atol=1e-5, rtol=0)
    if mask is not None:
        assert (weights[~mask.expand_as(weights)] == 0).all()


def test_worked_example_by_hand():
    """Two tokens, d_k = 4, so the scale is 2: scores ln 3 and 0 give weights 3/4 and 1/4."""
    Q = torch.tensor([[2.0, 0.0, 0.0, 0.0]])
    K = torch.tensor([[math.log(3.0), 5.0, 0.0, 0.0], [0.0, 5.0, 0.0, 0.0]])
    V = torch.tensor([[8.0], [4.0]])
    output, weights = scaled_dot_product_attention(Q, K, V)
    torch.testing.assert_close(weights, torch.tensor([[0.75, 0.25]]))
    torch.testing.assert_close(output, torch.tensor([[7.0]]))


@pytest.mark.parametrize("name", MASKS)
def test_gradients_equal_torch(name):
    B, T, d_model, H = 2, 5, 12, 3
    reference = torch_layer(d_model, H)
    ours = MultiHeadAttention.from_torch(reference)
    causal, real = keep(name, B, T)
    X, X_torch = (normal(B, T, d_model).requires_grad_() for _ in range(2))
    pull = normal(B, T, d_model, seed=5)
    wanted, _ = reference(
        X_torch,
        X_torch,
        X_torch,
        attn_mask=None if causal is None else ~causal,
        key_padding_mask=None if real is None else ~real,
    )
    (wanted * pull).sum().backward()
    (ours(X, our_mask(causal, real)) * pull).sum().backward()
    torch.testing.assert_close(X.grad, X_torch.grad, atol=1e-5, rtol=1e-5)
    for part, block in zip((ours.W_Q, ours.W_K, ours.W_V), range(3), strict=True):
        packed = reference.in_proj_weight.grad.chunk(3)[block]
        torch.testing.assert_close(part.weight.grad, packed, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(ours.W_O.weight.grad, reference.out_proj.weight.grad)


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize(("B", "T", "d_model", "H"), SHAPES)
def test_looped_equals_batched(B, T, d_model, H, name):
    batched = MultiHeadAttention.from_torch(torch_layer(d_model, H))
    looped = LoopedMultiHeadAttention.from_batched(batched)
    X, mask = normal(B, T, d_model), our_mask(*keep(name, B, T))
    torch.testing.assert_close(looped(X, mask), batched(X, mask), atol=3e-6, rtol=0)


def test_looped_takes_a_mask_of_its_own_for_each_head():
    B, T, d_model, H = 2, 4, 12, 3
    batched = MultiHeadAttention(d_model, H, generator=generator())
    looped = LoopedMultiHeadAttention.from_batched(batched)
    X = normal(B, T, d_model)
    mask = torch.ones(B, H, T, T, dtype=torch.bool)
    mask[:, 1] = mask[:, 1].tril()
    mask[1, 2, :, 0] = False
    torch.testing.assert_close(looped(X, mask), batched(X, mask), atol=1e-6, rtol=0)
    assert not torch.allclose(looped(X, mask), looped(X), atol=1e-3)


def test_looped_shares_memory_with_batched():
    batched = MultiHeadAttention(12, 3, bias=True, generator=generator())
    looped = LoopedMultiHeadAttention.from_batched(batched)
    X = normal(1, 4, 12)
    before = looped(X)
    with torch.no_grad():
        batched.W_Q.weight[4:8] += 1.0  # head 1's rows, counted from 0
        batched.W_V.bias[8:] += 1.0
    torch.testing.assert_close(looped(X), batched(X), atol=1e-6, rtol=0)
    assert not torch.allclose(looped(X), before, atol=1e-3)
    assert looped.W_O is batched.W_O


def test_looped_on_its_own_has_as_many_numbers_and_draws_them_itself():
    looped = LoopedMultiHeadAttention(12, 3, bias=True, generator=generator())
    assert sum(p.numel() for p in looped.parameters()) == 4 * 12 * 12 + 4 * 12
    weights = [looped.W_Q[i].weight for i in range(3)]
    assert all(weight.shape == (4, 12) for weight in weights)
    assert not torch.equal(weights[0], weights[1])
    assert (looped.d_model, looped.num_heads, looped.d_k) == (12, 3, 4)
    plain = LoopedMultiHeadAttention(12, 3)  # no bias unless asked for, as in the paper
    assert sum(p.numel() for p in plain.parameters()) == 4 * 12 * 12


def test_output_is_the_sum_of_the_heads_through_their_rows_of_w_o():
    layer = MultiHeadAttention(12, 3, generator=generator())
    trace = layer.trace(normal(2, 5, 12))
    blocks = layer.W_O.weight.T.chunk(3)  # rows i·d_k … (i+1)·d_k of W_O as the paper writes it
    total = sum(trace.heads[:, i] @ blocks[i] for i in range(3))
    torch.testing.assert_close(trace.output, total, atol=1e-6, rtol=0)


# --- trace, gates, temperature -----------------------------------------------------------------


def test_trace_keeps_what_forward_computes():
    layer = MultiHeadAttention(12, 3, bias=True, generator=generator())
    X, mask = normal(2, 5, 12), torch.ones(5, 5).tril()
    trace = layer.trace(X, mask)
    assert [name for name, _ in trace][:3] == ["X", "Q", "K"]
    assert torch.equal(trace.output, layer(X, mask))
    assert torch.equal(trace.Q, layer.W_Q(X))
    assert torch.equal(trace.K, layer.W_K(X))
    assert torch.equal(trace.V, layer.W_V(X))
    assert torch.equal(trace.Q_heads, split_heads(trace.Q, 3))
    assert torch.equal(trace.K_heads, split_heads(trace.K, 3))
    assert torch.equal(trace.V_heads, split_heads(trace.V, 3))
    assert torch.equal(trace.scores, attention_scores(trace.Q_heads, trace.K_heads))
    assert torch.equal(trace.weights, attention_weights(trace.scores, mask))
    assert torch.equal(trace.heads, trace.weights @ trace.V_heads)
    assert torch.equal(trace.swapped, trace.heads.transpose(1, 2))
    assert torch.equal(trace.concat, merge_heads(trace.heads))
    assert torch.equal(trace.output, layer.W_O(trace.concat))


def test_gates_scale_heads_before_w_o():
    layer = MultiHeadAttention(12, 3, bias=True, generator=generator())
    X = normal(2, 5, 12)
    free = layer.trace(X)
    assert torch.equal(layer.trace(X, gates=torch.ones(3)).output, free.output)
    gated = layer.trace(X, gates=torch.tensor([1.0, 0.0, 0.5]))
    assert torch.equal(gated.weights, free.weights)
    assert torch.equal(gated.heads[:, 0], free.heads[:, 0])
    assert (gated.heads[:, 1] == 0).all()
    assert torch.equal(gated.heads[:, 2], free.heads[:, 2] / 2)
    torch.testing.assert_close(gated.output, layer.W_O(merge_heads(gated.heads)))
    with pytest.raises(ValueError, match=r"\(4,\).*\(3,\)"):
        layer.trace(X, gates=torch.ones(4))


def test_temperature_divides_the_scores():
    layer = MultiHeadAttention(12, 3, generator=generator())
    X = normal(1, 5, 12)
    warm = layer.trace(X, temperature=2.0)
    torch.testing.assert_close(warm.weights, (layer.trace(X).scores / 2).softmax(-1))


# --- making layers -----------------------------------------------------------------------------


def test_a_generator_leaves_the_global_random_state_alone():
    before = torch.get_rng_state()
    layer = MultiHeadAttention(12, 3, bias=True, generator=generator(3))
    LoopedMultiHeadAttention(12, 3, generator=generator(3))
    LoopedMultiHeadAttention.from_batched(layer)
    assert torch.equal(torch.get_rng_state(), before)
    reference = torch_layer(12, 3)
    before = torch.get_rng_state()
    MultiHeadAttention.from_torch(reference)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_seed_decides_the_weights():
    first, again, other = (
        MultiHeadAttention(512, 8, bias=True, generator=generator(seed)) for seed in (3, 3, 4)
    )
    for name, parameter in first.named_parameters():
        assert torch.equal(parameter, again.get_parameter(name))
    assert not torch.equal(first.W_Q.weight, other.W_Q.weight)
    assert not torch.equal(first.W_Q.weight, first.W_K.weight)
    assert first.W_Q.weight.std().item() == pytest.approx(512**-0.5, rel=0.01)
    assert (first.W_O.bias == 0).all()


def test_a_layer_drawn_from_a_generator_prints_as_any_other():
    drawn = MultiHeadAttention(12, 3, generator=generator())
    assert repr(drawn) == repr(MultiHeadAttention(12, 3))
    assert "(W_Q): Linear(in_features=12, out_features=12, bias=False)" in repr(drawn)


def test_without_a_generator_layers_start_as_nn_linear_does():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        wanted = nn.Linear(12, 12, bias=False)
        torch.manual_seed(0)
        layer = MultiHeadAttention(12, 3)
    assert torch.equal(layer.W_Q.weight, wanted.weight)


def test_from_torch_copies_in_the_dtype_and_mode_of_the_layer():
    reference = torch_layer(8, 2).double()
    ours = MultiHeadAttention.from_torch(reference)
    X = normal(1, 4, 8, dtype=torch.float64)
    before = ours(X)
    assert before.dtype == torch.float64
    assert not ours.training
    with torch.no_grad():
        reference.in_proj_weight.zero_()
    assert torch.equal(ours(X), before)
    assert MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2)).training


def test_one_sequence_without_a_batch_axis_is_refused_in_words():
    with pytest.raises(ValueError, match=r"\(10, 64\).*x\[None\]"):
        split_heads(torch.zeros(10, 64), 8)
    with pytest.raises(ValueError, match=r"x\[None\]"):
        MultiHeadAttention(64, 8)(torch.zeros(10, 64))
