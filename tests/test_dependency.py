"""Which output depends on which input: exact maps of right and wrong layers; the wrong turns."""

import pytest
import torch
from torch import nn

from helpers.attention import ImpossibleHeadsError, MultiHeadAttention, merge_heads, split_heads
from helpers.reshaping.dependency import dependency_map
from helpers.reshaping.wrong_turns import (
    layer_with,
    merge_without_transpose,
    split_without_transpose,
)


def causal(T):
    return torch.ones(T, T).tril()


def matrix_layer(connections):
    """Output i is the sum of the inputs j with connections[i, j]."""
    return lambda X, mask=None: connections.to(X.dtype) @ X


# dependency_map -----------------------------------------------------------------------------


def test_rows_are_outputs_and_columns_are_inputs():
    connections = torch.tensor([[1, 0, 0], [1, 1, 0], [0, 0, 0]])
    depends = dependency_map(matrix_layer(connections), 3, 5)
    assert depends.dtype == torch.bool
    assert depends.tolist() == connections.bool().tolist()


@pytest.mark.parametrize("seed", range(5))
def test_any_pattern_of_dependencies_comes_back(seed):
    generator = torch.Generator().manual_seed(seed)
    connections = torch.randint(0, 2, (7, 7), generator=generator)
    assert torch.equal(dependency_map(matrix_layer(connections), 7, 3), connections.bool())


def test_a_weak_dependency_counts_and_rounding_does_not():
    weak = dependency_map(matrix_layer(torch.tensor([[1.0, 1e-6], [0.0, 1.0]])), 2, 4)
    assert weak.tolist() == [[True, True], [False, True]]

    def rounds(X, mask=None):  # adds and takes away input 1: what is left is rounding
        return torch.stack([X[:, 0] + X[:, 1] - X[:, 1], X[:, 1]], dim=1)

    assert dependency_map(rounds, 2, 4).tolist() == [[True, False], [False, True]]


@pytest.mark.parametrize(("T", "d_model", "H"), [(16, 32, 4), (5, 12, 3), (1, 4, 2), (6, 8, 8)])
def test_a_right_layer_without_mask_connects_all_and_a_causal_one_looks_back_only(T, d_model, H):
    for layer in (layer_with(d_model, H), MultiHeadAttention(d_model, H)):
        assert dependency_map(layer, T, d_model).all()
        masked = dependency_map(layer, T, d_model, mask=causal(T))
        assert torch.equal(masked, causal(T).bool())


def test_any_mask_is_the_map_of_a_right_layer():
    generator = torch.Generator().manual_seed(3)
    mask = torch.rand(9, 9, generator=generator) < 0.4
    mask.fill_diagonal_(True)
    assert torch.equal(dependency_map(layer_with(12, 3), 9, 12, mask=mask), mask)


def test_a_module_is_left_as_it_was():
    layer = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)).train()
    depends = dependency_map(layer, 3, 4)
    assert torch.equal(depends, torch.eye(3, dtype=torch.bool)), "dropout passed for a dependency"
    assert layer.training and layer[0].weight.dtype == torch.float32


def test_a_layer_that_does_not_keep_the_tokens_is_told_so():
    with pytest.raises(ValueError, match=r"\(1, 4\).*\(1, 3, 4\)"):
        dependency_map(lambda X: X.sum(1), 3, 4)


def test_c38_the_global_random_state_is_not_touched_and_the_map_repeats():
    state = torch.get_rng_state()
    layer = layer_with(12, 4, "wrong", "wrong")
    first = dependency_map(layer, 6, 12)
    assert torch.equal(first, dependency_map(layer, 6, 12, seed=5))
    assert torch.equal(torch.get_rng_state(), state)


# The wrong turns ----------------------------------------------------------------------------


def test_both_wrong_leaves_64_of_256_in_blocks():
    depends = dependency_map(layer_with(32, 4, "wrong", "wrong"), 16, 32)
    blocks = torch.block_diag(*[torch.ones(4, 4)] * 4).bool()
    assert int(depends.sum()) == 64 and torch.equal(depends, blocks)


@pytest.mark.parametrize(("T", "H"), [(4, 2), (8, 4), (12, 3), (16, 2), (16, 8), (6, 6)])
def test_both_wrong_leaves_a_part_in_h_where_h_divides_t(T, H):
    depends = dependency_map(layer_with(4 * H, H, "wrong", "wrong"), T, 4 * H)
    assert int(depends.sum()) == T * T // H


def test_a_wrong_split_alone_keeps_every_pair_and_shows_under_a_causal_mask():
    layer = layer_with(32, 4, "wrong", "right")
    assert dependency_map(layer, 16, 32).all()
    assert dependency_map(layer, 16, 32, mask=causal(16)).triu(1).sum() == 50


def test_an_untransposed_merge_looks_ahead_through_a_causal_mask():
    ahead = dependency_map(layer_with(32, 4, "right", "wrong"), 16, 32, mask=causal(16)).triu(1)
    # Row i of the wrong merge holds tokens 4 i, … 4 i + 3 (mod 16) of one head: it sees as far
    # as the last of them.
    last = torch.tensor([(4 * i) % 16 + 3 for i in range(16)])
    seen = torch.arange(16)[None, :] <= last[:, None]
    assert torch.equal(ahead, seen.triu(1)) and ahead.sum() == 50


def test_one_head_or_one_token_hides_both_wrong_turns():
    for T, d_model, H in ((5, 6, 1), (1, 6, 3)):
        X = torch.randn(2, T, d_model, generator=torch.Generator().manual_seed(0))
        right = layer_with(d_model, H)(X)
        for turns in (("wrong", "right"), ("right", "wrong"), ("wrong", "wrong")):
            torch.testing.assert_close(layer_with(d_model, H, *turns)(X), right)


def test_the_right_turns_are_the_layer_of_the_course():
    layer = MultiHeadAttention(12, 3, generator=torch.Generator().manual_seed(1)).double()
    ours = layer_with(12, 3)
    X = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    weights = torch.randn(
        4, 12, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    ) / 12**0.5  # fmt: skip
    with torch.no_grad():
        for part, W in zip((layer.W_Q, layer.W_K, layer.W_V, layer.W_O), weights, strict=True):
            part.weight.copy_(W.T)
    mask = causal(5)
    torch.testing.assert_close(ours(X), layer(X))
    torch.testing.assert_close(ours(X, mask), layer(X, mask))
    assert ours(X.float()).dtype == torch.float32


def test_c01_c02_the_wrong_turns_have_the_right_shape_and_their_round_trip_is_exact():
    x = torch.arange(24).view(1, 4, 6)
    wrong = split_without_transpose(x, 2)
    assert wrong.shape == split_heads(x, 2).shape
    assert wrong[0, 0, 1].tolist() == [3, 4, 5]
    assert torch.equal(merge_without_transpose(wrong), x)
    heads = torch.arange(8).view(1, 2, 2, 2)
    assert merge_without_transpose(heads)[0, 0].tolist() == [0, 1, 2, 3]
    assert merge_heads(heads)[0, 0].tolist() == [0, 1, 4, 5]


def test_impossible_heads_and_unknown_turns_are_refused_in_words():
    with pytest.raises(ImpossibleHeadsError):
        layer_with(64, 5)
    with pytest.raises(ImpossibleHeadsError):
        split_without_transpose(torch.zeros(1, 2, 64), 5)
    with pytest.raises(ValueError, match="'left'"):
        layer_with(8, 2, split="left")
