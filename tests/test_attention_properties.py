"""What must be so for every layer and input: who can reach whom, and what sums to one."""

import torch
from attention_inputs import generator, normal
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.attention import MultiHeadAttention


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
