"""`helpers.attention` held, by value, against torch's own layers, and by what must always be so."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from helpers import lesson
from helpers.attention import (
    ImpossibleHeadsError,
    LoopedMultiHeadAttention,
    MultiHeadAttention,
    attention_scores,
    attention_weights,
    head_width,
    legal_heads,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)

SHAPES = [  # B, T, d_model, H; the last ones: one head, heads of width 1, one token
    (2, 5, 6, 2),
    (3, 4, 12, 3),
    (2, 16, 64, 4),
    (1, 10, 512, 8),
    (2, 9, 64, 1),
    (2, 7, 8, 8),
    (2, 1, 8, 2),
]
MASKS = ["none", "causal", "padding", "both"]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def normal(*shape, seed=0, dtype=torch.float32):
    return torch.randn(*shape, generator=generator(seed), dtype=dtype)


def keep(name, B, T):
    """causal (T, T) and padding (B, T), True = may attend; every row keeps at least one key."""
    causal = torch.ones(T, T, dtype=torch.bool).tril() if name in ("causal", "both") else None
    lengths = torch.tensor([max(1, T - 2 * b) for b in range(B)])
    real = torch.arange(T) < lengths[:, None] if name in ("padding", "both") else None
    return causal, real


def our_mask(causal, real):
    mask = None if real is None else real[:, None, None, :]
    return mask if causal is None else causal if mask is None else causal & mask


def torch_layer(d_model, H, bias=True, seed=1):
    """torch's layer with every number random: it starts with all biases at zero."""
    layer = nn.MultiheadAttention(d_model, H, bias=bias, batch_first=True).eval()
    with torch.no_grad():
        for i, parameter in enumerate(layer.parameters()):
            scale = d_model**-0.5 if parameter.dim() == 2 else 1.0
            parameter.copy_(normal(*parameter.shape, seed=100 * seed + i) * scale)
    return layer


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


# --- what must always be so --------------------------------------------------------------------


@st.composite
def layers(draw, tokens_from=1):
    """A random layer in fp64, an input for it, and its number of heads."""
    H, d_k = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    B, T = draw(st.integers(1, 3)), draw(st.integers(tokens_from, 6))
    seed = draw(st.integers(0, 2**31))
    layer = MultiHeadAttention(H * d_k, H, draw(st.booleans()), generator=generator(seed)).double()
    return layer, normal(B, T, H * d_k, seed=seed + 1, dtype=torch.float64)


always = settings(max_examples=30, deadline=None, derandomize=True)


def jacobian(function, X):
    return torch.autograd.functional.jacobian(function, X)


@always
@given(layers(), st.randoms(use_true_random=False))
def test_permuting_tokens_permutes_outputs(layer_and_input, random):
    layer, X = layer_and_input
    order = list(range(X.shape[1]))
    random.shuffle(order)
    trace, moved = layer.trace(X), layer.trace(X[:, order])
    torch.testing.assert_close(moved.output, trace.output[:, order])
    torch.testing.assert_close(moved.weights, trace.weights[:, :, order][:, :, :, order])


@always
@given(layers(tokens_from=2))
def test_every_token_reaches_every_output(layer_and_input):
    layer, X = layer_and_input
    reach = jacobian(layer, X[:1])[0, :, :, 0].abs().amax(dim=(1, 3))  # (T out, T in)
    assert (reach > 0).all()


@always
@given(layers(tokens_from=2))
def test_nothing_leaks_through_a_causal_mask(layer_and_input):
    layer, X = layer_and_input
    T = X.shape[1]
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    reach = jacobian(lambda x: layer(x, causal), X[:1])[0, :, :, 0].abs().amax(dim=(1, 3))
    assert (reach[~causal] == 0).all()
    assert (reach[causal] > 0).all()


@always
@given(layers(tokens_from=2))
def test_every_feature_reaches_every_head(layer_and_input):
    """Each head projects all of X, not a slice of it."""
    layer, X = layer_and_input
    by_weights = jacobian(lambda x: layer.trace(x).weights, X[:1])[0, :, :, :, 0]
    by_heads = jacobian(lambda x: layer.trace(x).heads, X[:1])[0, :, :, :, 0]
    for reach in (by_weights, by_heads):  # (H, T, T or d_k, T, d_model)
        assert (reach.abs().amax(dim=(1, 2, 3)) > 0).all()


@always
@given(layers())
def test_sequences_of_a_batch_do_not_touch_each_other(layer_and_input):
    layer, X = layer_and_input
    alone = torch.cat([layer(X[b : b + 1]) for b in range(X.shape[0])])
    torch.testing.assert_close(layer(X), alone)
    reach = jacobian(layer, X).abs().amax(dim=(1, 2, 4, 5))  # (B out, B in)
    assert ((reach > 0) == torch.eye(X.shape[0], dtype=torch.bool)).all()


@always
@given(layers())
def test_weights_are_shares_of_one(layer_and_input):
    layer, X = layer_and_input
    weights = layer.trace(X).weights
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))


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


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"kdim": 4, "vdim": 6}, "kdim = 4 and vdim = 6"),
        ({"add_bias_kv": True}, "add_bias_kv"),
        ({"add_zero_attn": True}, "add_zero_attn"),
        ({"dropout": 0.5}, "dropout = 0.5"),
    ],
)
def test_from_torch_refuses_what_it_cannot_hold(options, says):
    with pytest.raises(ValueError, match=says):
        MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, **options))


# --- field cases -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("d_model", "H", "numbers", "below", "above"),
    [
        (64, 5, ["64", "5", "remainder 4", "4 or 8"], 4, 8),
        (97, 2, ["97", "2", "remainder 1", "1 or 97"], 1, 97),
        (2, 8, ["2", "8", "works: 2."], 2, None),
        (64, 0, ["0", "works: 1."], None, 1),
        (64, -3, ["-3", "works: 1."], None, 1),
        (0, 4, ["d_model = 0"], None, None),
    ],
)
def test_c05_impossible_heads_name_the_numbers(d_model, H, numbers, below, above):
    makers = (MultiHeadAttention, LoopedMultiHeadAttention, head_width)
    for make in makers:
        with pytest.raises(ImpossibleHeadsError) as caught:
            make(d_model, H)
        for number in numbers:
            assert number in str(caught.value)
        assert (caught.value.below, caught.value.above) == (below, above)
        assert isinstance(caught.value, ValueError)
    assert caught.value.remainder == (d_model % H if d_model > 0 and H > 0 else None)


def test_c05_splitting_says_it_too():
    with pytest.raises(ImpossibleHeadsError, match="64.*5.*remainder 4"):
        split_heads(normal(1, 4, 64), 5)
    assert legal_heads(64) == [1, 2, 4, 8, 16, 32, 64]
    assert legal_heads(97) == [1, 97]


@pytest.mark.parametrize(
    ("d_model", "H", "spanish"),
    [
        (64, 5, ["H = 5 no divide a d_model = 64", "resto 4", "que sí funcionan: 4, 8."]),
        (97, 2, ["H = 2 no divide a d_model = 97", "resto 1", "1, 97"]),
        (2, 8, ["H = 8 cabezas son más que los 2", "que sí funcionan: 2."]),
        (64, 0, ["H = 0: hace falta al menos 1 cabeza", "que sí funcionan: 1."]),
    ],
)
def test_c05_spanish_lessons_say_it_in_spanish(d_model, H, spanish, monkeypatch):
    # set_language puts its own `explain` in place; monkeypatch brings the old one back.
    monkeypatch.setattr(ImpossibleHeadsError, "explain", ImpossibleHeadsError.explain)
    try:
        lesson.set_language("es")
        with pytest.raises(ImpossibleHeadsError) as caught:
            MultiHeadAttention(d_model, H)
        message = str(caught.value)
        lesson.set_language("en")
        english = str(caught.value)
    finally:
        lesson.set_language("en")
    for words in spanish:
        assert words in message
    for word in ("remainder", "head", "nearest", "features", "divide d_model"):
        assert word not in message
    assert "earest" in english


@pytest.mark.parametrize("H", [1, 2, 4, 8, 64])
def test_c08_more_heads_mean_no_more_weights(H):
    layer = MultiHeadAttention(64, H, bias=True)
    assert sum(p.numel() for p in layer.parameters()) == 16_640
    assert sum(p.numel() for p in MultiHeadAttention(64, H).parameters()) == 16_384
    assert layer.d_k == 64 // H


def test_c08_blocks_of_the_packed_matrix_are_q_k_v():
    reference = torch_layer(64, 8)
    X = normal(2, 4, 64)
    wanted, _ = reference(X, X, X)
    ours = MultiHeadAttention(64, 8, bias=True)
    q, k, v = reference.in_proj_weight.detach().chunk(3)
    q_bias, k_bias, v_bias = reference.in_proj_bias.detach().chunk(3)
    right = {"W_Q": (q, q_bias), "W_K": (k, k_bias), "W_V": (v, v_bias)}
    right["W_O"] = (reference.out_proj.weight.detach(), reference.out_proj.bias.detach())

    def output(**changed):
        parts = right | changed
        ours.load_state_dict(
            {f"{part}.weight": weight for part, (weight, _) in parts.items()}
            | {f"{part}.bias": bias for part, (_, bias) in parts.items()}
        )
        return ours(X)

    torch.testing.assert_close(output(), wanted, atol=1e-6, rtol=0)
    # All blocks are 64 × 64, so nothing raises: only the values tell.
    for part, (weight, bias) in right.items():
        assert (output(**{part: (weight.T, bias)}) - wanted).abs().max() > 0.1, part
    assert (output(W_Q=right["W_K"], W_K=right["W_Q"]) - wanted).abs().max() > 0.1


def test_c09_a_query_with_no_keys_gives_zeros_and_spoils_nothing():
    B, T, d_model, H, row = 2, 4, 8, 2, 2
    X = normal(B, T, d_model, seed=1)
    causal = torch.ones(T, T).tril()
    mask = causal.clone()
    mask[row] = 0
    others = [t for t in range(T) if t != row]
    results = []
    for chosen, rows in ((mask, range(T)), (causal, others)):
        layer, x = MultiHeadAttention(d_model, H, generator=generator()), X.clone().requires_grad_()
        with torch.autograd.set_detect_anomaly(True):
            trace = layer.trace(x, chosen)
            (trace.output[:, list(rows)] ** 2).sum().backward()
        results.append((trace, [x.grad, *(p.grad for p in layer.parameters())]))
    (empty, gradients), (full, wanted_gradients) = results
    assert (empty.weights[:, :, row] == 0).all()
    assert (empty.heads[:, :, row] == 0).all()
    assert (empty.output[:, row] == 0).all()
    assert torch.equal(empty.weights[:, :, others], full.weights[:, :, others])
    torch.testing.assert_close(empty.output[:, others], full.output[:, others], atol=1e-6, rtol=0)
    # The row adds nothing, so the gradients are those of the loss without it.
    for gradient, wanted in zip(gradients, wanted_gradients, strict=True):
        torch.testing.assert_close(gradient, wanted, atol=1e-6, rtol=0)


def test_c09_holds_when_every_key_of_a_sequence_is_padding():
    layer = MultiHeadAttention(8, 2, generator=generator())
    X = normal(2, 4, 8).requires_grad_()
    real = torch.tensor([[True] * 4, [False] * 4])
    output = layer(X, real[:, None, None, :])
    output.sum().backward()
    assert (output[1] == 0).all()
    torch.testing.assert_close(output[0], layer(X[:1])[0])
    assert (X.grad[1] == 0).all()
    assert (X.grad[0] != 0).any()


def test_c10_true_means_may_attend():
    Q, K, V = (normal(1, 2, 4, 3, seed=seed) for seed in range(3))
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    output, weights = scaled_dot_product_attention(Q, K, V, causal)
    assert (weights[..., 0, 0] == 1).all()
    assert (weights[..., 0, 3] == 0).all()
    assert (weights.triu(1) == 0).all()
    assert (weights[..., 3, :] > 0).all()
    torch.testing.assert_close(output[..., 0, :], V[..., 0, :])
    inverted, _ = scaled_dot_product_attention(Q, K, V, ~causal)
    assert (inverted[..., 3, :] == 0).all()  # the last token has nothing after it
    assert (inverted - output).abs().max() > 0.1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.long, torch.uint8])
def test_c10_ones_and_zeros_mean_the_same_as_true_and_false(dtype):
    Q, K, V = (normal(1, 2, 4, 3, seed=seed) for seed in range(3))
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    _, wanted = scaled_dot_product_attention(Q, K, V, causal)
    _, weights = scaled_dot_product_attention(Q, K, V, causal.to(dtype))
    assert torch.equal(weights, wanted)
    # What goes wrong elsewhere: torch adds a float mask to the scores, and the future stays.
    eye = torch.eye(4).expand(1, 2, 4, 4)
    added = F.scaled_dot_product_attention(Q, K, eye, attn_mask=causal.float())
    assert added.triu(1).max() > 0.1


def test_c10_a_mask_made_for_adding_is_refused_in_words():
    adding = torch.zeros(4, 4).masked_fill(~torch.ones(4, 4, dtype=torch.bool).tril(), -math.inf)
    layer, X = MultiHeadAttention(8, 2, generator=generator()), normal(1, 4, 8)
    with pytest.raises(ValueError, match="1 means 'may attend'.*opposite sense.*mask == 0"):
        layer(X, adding)
    torch.testing.assert_close(layer(X, adding == 0), layer(X, torch.ones(4, 4).tril()))


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ((2, 4, 4), r"\(2, 4, 4\).*B or H.*mask\[:, None\].*mask\[None\]"),
        ((2, 4), r"\(2, 4\).*\(2, 2, 4, 4\).*mask\[:, None, None, :\]"),
        ((5, 5), r"\(5, 5\) does not fit scores of shape \(2, 2, 4, 4\)"),
        ((2, 3, 4, 4), r"\(2, 3, 4, 4\) does not fit"),
        ((3, 2, 2, 4, 4), r"does not fit"),
    ],
)
def test_masks_that_do_not_fit_are_refused_in_words(shape, says):
    batched = MultiHeadAttention(8, 2, generator=generator())
    for layer in (batched, LoopedMultiHeadAttention.from_batched(batched)):
        with pytest.raises(ValueError, match=says):
            layer(normal(2, 4, 8), torch.ones(shape))


def test_c13_heads_are_shown_one_by_one_and_their_mean_is_what_torch_shows():
    reference = torch_layer(8, 2)
    reference.dropout = 0.5
    X = normal(1, 4, 8)
    _, mean = reference(X, X, X)
    weights = MultiHeadAttention.from_torch(reference).trace(X).weights
    assert mean.shape == (1, 4, 4)
    assert weights.shape == (1, 2, 4, 4)
    torch.testing.assert_close(weights.mean(dim=1), mean, atol=1e-6, rtol=0)
    assert (weights[:, 0] - weights[:, 1]).abs().max() > 0.05  # two heads, not one mean twice
    with pytest.raises(ValueError, match=r"dropout = 0\.5 while training: call layer\.eval\(\)"):
        MultiHeadAttention.from_torch(reference.train())


@pytest.mark.parametrize(("dtype", "sums"), [(torch.bfloat16, 2e-2), (torch.float16, 2e-3)])
def test_c14_half_precision_agrees_with_full(dtype, sums):
    B, H, T, d_k = 2, 8, 16, 8
    layer = MultiHeadAttention(H * d_k, H, bias=True, generator=generator())
    X, mask = normal(B, T, H * d_k), torch.ones(T, T).tril()
    mask[5] = 0  # and a row with nothing to attend to
    full = layer.trace(X, mask)
    for chosen in (mask, mask.bool(), mask.to(dtype)):
        half = layer.to(dtype).trace(X.to(dtype), chosen)
        assert half.output.dtype == half.weights.dtype == dtype
        for name in ("weights", "heads", "output"):
            have, wanted = getattr(half, name).float(), getattr(full, name)
            torch.testing.assert_close(have, wanted, atol=2e-2, rtol=2e-2)
        rows = half.weights.float().sum(-1)
        assert (rows[:, :, 5] == 0).all()
        torch.testing.assert_close(
            rows[:, :, mask.any(-1)], torch.ones(B, H, T - 1), atol=sums, rtol=0
        )
        assert (half.weights.float().triu(1) == 0).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_c14_half_precision_keeps_gradients_finite(dtype):
    layer = MultiHeadAttention(16, 4, generator=generator()).to(dtype)
    X = normal(2, 6, 16).to(dtype).requires_grad_()
    mask = torch.ones(6, 6).tril()
    mask[3] = 0
    layer(X, mask).float().pow(2).sum().backward()
    for gradient in (X.grad, *(p.grad for p in layer.parameters())):
        assert gradient.isfinite().all()
        assert (gradient != 0).any()
