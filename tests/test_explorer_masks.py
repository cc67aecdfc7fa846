"""The masks, their view and their explorer: what may attend, in which shape, with what weights."""

import io
import itertools

import matplotlib.image
import pytest
import torch
from matplotlib.text import Text

from helpers import toy
from helpers.attention import attention_weights
from helpers.explorers import MaskExplorer
from helpers.explorers.masks import PAD, B, H, T
from helpers.lesson import set_language
from helpers.masks import causal_mask, padding_mask, row_mask
from helpers.views.mask_view import MaskView, repeats


def by_hand(explorer) -> torch.Tensor:
    """(B, T, T): who may look at whom, worked out cell by cell from the explorer's state."""
    allowed = torch.zeros(B, T, T, dtype=torch.bool)
    lengths = [explorer.length_1, explorer.length_2]
    for b, q, k in itertools.product(range(B), range(T), range(T)):
        real = k < lengths[b] if explorer.side == "right" else k >= T - lengths[b]
        allowed[b, q, k] = (
            (k <= q or explorer.mask not in ("causal", "both"))
            and (real or explorer.mask not in ("padding", "both"))
            and q != explorer.empty - 1
        )
    return allowed


# helpers.masks --------------------------------------------------------------------------


def test_the_masks_cell_by_cell():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True] * 3]
    right = padding_mask([1, 3], 3)
    assert right.shape == (2, 1, 1, 3)
    assert right[:, 0, 0].tolist() == [[True, False, False], [True] * 3]
    left = padding_mask(torch.tensor([1, 3]), 3, "left")
    assert left[:, 0, 0].tolist() == [[False, False, True], [True] * 3]
    assert row_mask(1, 3).tolist() == [[True] * 3, [False] * 3, [True] * 3]
    assert (causal_mask(3) & right).shape == (2, 1, 3, 3)


def test_how_often_a_mask_is_repeated_is_what_broadcasting_does():
    scores = (2, 3, 6, 6)
    for shape in [(6, 6), (2, 1, 1, 6), (2, 1, 6, 6), (1, 3, 1, 1), (6,), (2, 3, 6, 6)]:
        times = repeats(scores, shape)
        padded = (1,) * (4 - len(shape)) + shape
        assert [size * (n or 1) for size, n in zip(padded, times, strict=True)] == list(scores)
        assert torch.broadcast_shapes(shape, scores) == scores
    assert repeats(scores, (2, 1, 1, 6)) == [None, 3, 6, None]
    assert repeats(scores, (6, 6)) == [2, 3, None, None]


# The explorer ---------------------------------------------------------------------------


@pytest.mark.parametrize("mask", ["none", "causal", "padding", "both"])
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("empty", [0, 2])
def test_what_is_shown_is_what_the_layer_did(mask, side, empty):
    explorer = MaskExplorer(mask=mask, side=side, empty=empty, length_1=5, length_2=2)
    allowed = by_hand(explorer)
    assert explorer.error is None and torch.equal(explorer.allowed, allowed)
    shape = {"none": (T, T) if empty else None, "causal": (T, T), "padding": (B, 1, 1, T),
             "both": (B, 1, T, T)}[mask]  # fmt: skip
    if empty and mask == "padding":
        shape = (B, 1, T, T)
    mask_tensor = explorer.mask_tensor
    assert (None if mask_tensor is None else tuple(mask_tensor.shape)) == shape
    assert explorer.weights.shape == (B, H, T, T)
    assert (explorer.weights[~allowed[:, None].expand(B, H, T, T)] == 0).all()
    sums = explorer.weights.sum(-1)
    torch.testing.assert_close(sums, allowed.any(-1)[:, None].expand(B, H, T).float())
    for sequence in (1, 2):
        explorer.sequence = sequence
        frame = explorer.grid.frame
        assert frame["allowed"] == allowed[sequence - 1].int().tolist()
        assert (
            frame["tokens"] == explorer.tokens
            and frame["tokens"].count(PAD) == T - (5, 2)[sequence - 1]
        )
        assert frame["sums"] == [f"{s:.2f}" for s in sums[sequence - 1, 0].tolist()]
        maps = torch.frombuffer(bytearray(explorer.maps.frame["weights"]), dtype=torch.float32)
        assert torch.equal(maps.view(H, T, T), explorer.weights[sequence - 1])
        assert explorer.maps.frame["queries"] == explorer.tokens


def test_the_weights_are_those_of_the_layer_on_that_batch():
    explorer = MaskExplorer(mask="both")
    layer, rows = toy.layer(12, H, 0), slice(4, 8)  # head 1 (from 0) by hand
    for b, tokens in enumerate(
        (["The", "bank", "issued", "a", "statement", "."], ["Rivers", "flow", "down", *[PAD] * 3])
    ):
        X = toy.embed(tokens, 12, 0)[0]
        q, k = X @ layer.W_Q.weight[rows].T, X @ layer.W_K.weight[rows].T
        weights = attention_weights(q @ k.T / 2, by_hand(explorer)[b])
        torch.testing.assert_close(explorer.weights[b, 1], weights, atol=1e-5, rtol=1e-5)


def test_the_axes_table_holds_both_shapes_and_what_is_repeated():
    axes = MaskExplorer(mask="padding").grid.frame["axes"]
    assert axes == [["B", "2", "2", ""], ["H", "3", "1", "×3"], ["T", "6", "1", "×6"],
                    ["T", "6", "6", ""]]  # fmt: skip
    axes = MaskExplorer(mask="causal").grid.frame["axes"]
    assert axes[:2] == [["B", "2", "", "×2"], ["H", "3", "", "×3"]]
    axes = MaskExplorer(mask="none").grid.frame["axes"]
    assert [axis[2:] for axis in axes] == [["", ""]] * 4


@pytest.mark.parametrize("language", ["en", "es"])
def test_c09_a_row_with_no_keys_is_shown_three_ways_and_explained(language):
    set_language(language)
    explorer = MaskExplorer(mask="both", empty=2)
    frame = explorer.grid.frame
    assert frame["empty"] == [1] and explorer.grid.row() == 1
    numbers = [row for _, row in frame["ways"][1]]
    assert numbers == [["0.00"] * T, ["NaN"] * T, ["0.17"] * T]
    assert "NaN" in frame["remarks"][1] and "0.17" in frame["remarks"][1]
    assert "flow (2)" in explorer.message
    course, infinity, big = explorer.ways.values()
    assert infinity[1].isnan().all() and (course[1] == 0).all()
    torch.testing.assert_close(big[1], torch.full((T,), 1 / T))
    for q in (0, 2, 3):  # a row with a key: all three agree
        assert frame["ways"][q][0][1] == frame["ways"][q][1][1] == frame["ways"][q][2][1]
        assert frame["remarks"][q] != frame["remarks"][1]
    assert not explorer.weights.isnan().any()


def test_c09_padding_on_the_left_under_a_causal_mask_leaves_rows_without_keys():
    explorer = MaskExplorer(mask="both", side="left", length_2=4)
    assert explorer.grid.frame["empty"] == [0, 1]
    assert "[PAD] (1), [PAD] (2)" in explorer.message
    explorer.side = "right"
    assert explorer.grid.frame["empty"] == [] and "[PAD] (" not in explorer.message


@pytest.mark.parametrize("language", ["en", "es"])
def test_c10_every_picture_says_which_sign_may_look_and_the_sense_is_right(language):
    set_language(language)
    explorer = MaskExplorer(mask="causal")
    words = explorer.grid.frame["words"]
    assert words["one"] == {"en": "may look", "es": "puede mirar"}[language]
    assert words["zero"] and words["one"] != words["zero"]
    allowed = explorer.grid.frame["allowed"]
    assert allowed[0] == [1, 0, 0, 0, 0, 0] and allowed[T - 1] == [1] * T
    assert explorer.weights[0, 0, 0, 0] == 1 and explorer.weights[0, 0, 0, 3] == 0


def test_each_cell_says_why_it_is_1_or_0():
    explorer = MaskExplorer(mask="both", empty=1)
    explorer.grid.pointed = [1, 0]
    weight = explorer.weights[1, 0, 1, 0].item()
    assert explorer.grid.readout() == f"flow → Rivers: 1, may look. Weight in head 1: {weight:.2f}."
    for cell, words in {
        (1, 2): "down comes later", (4, 3): "[PAD] (4) is padding",
        (1, 4): "[PAD] (5) comes later and is padding", (0, 0): "the row of Rivers was emptied",
    }.items():  # fmt: skip
        explorer.grid.pointed = list(cell)
        assert words in explorer.grid.readout()
    explorer.maps.selected = 2
    weight = explorer.weights[1, 2, 1, 0].item()
    explorer.grid.pointed = [1, 0]
    assert f"head 3: {weight:.2f}" in explorer.grid.readout()


def test_emptying_a_row_points_at_it():
    explorer = MaskExplorer(mask="both")
    explorer.grid.pointed = [4, 1]
    explorer.empty = 3
    assert explorer.grid.pointed == [2, 2] and explorer.grid.row() == 2
    explorer.grid.pointed = [9, 0]  # the page cannot point beside the picture
    assert explorer.grid.pointed == []


def test_the_share_that_leaks_to_padding_is_said_only_where_it_leaks():
    explorer = MaskExplorer(mask="none")
    share = explorer.weights[1][:, :3, 3:].sum(-1).mean().item()
    assert f"{100 * share:.0f} %" in explorer.message and share > 0.2
    explorer.mask = "padding"
    assert "%" not in explorer.message
    explorer.mask, explorer.side = "causal", "right"
    assert "%" not in explorer.message  # words stand before the padding: nothing to leak
    explorer.side = "left"
    assert "%" in explorer.message


def test_moving_a_control_does_what_setting_the_trait_does():
    explorer = MaskExplorer()
    explorer._mask.value = "padding"
    explorer._lengths[1].value = 5
    explorer._side.value = "left"
    explorer._sequence.value = 1
    explorer._empty.value = 6
    state = [getattr(explorer, name) for name in explorer.STATE]
    assert state == ["padding", 1, 6, 5, "left", 6]
    assert explorer.tokens[0] == "The" and explorer.grid.frame["empty"] == [5]
    assert [label for label, _ in explorer._empty.options][1:] == [
        f"{n} · {token}" for n, token in enumerate(explorer.tokens, start=1)
    ]
    assert PAD in dict((n, label) for label, n in explorer._sequence.options)[2]


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize(
    "name, value",
    [("mask", "diagonal"), ("sequence", 3), ("length_1", 0), ("length_2", 7), ("side", "up"),
     ("empty", 7), ("empty", -1)],
)  # fmt: skip
def test_c24_an_impossible_state_is_explained_and_nothing_old_stands(language, name, value):
    set_language(language)
    explorer = MaskExplorer()
    setattr(explorer, name, value)
    assert explorer.error is None and name in explorer.message and str(value) in explorer.message
    assert explorer.weights is None and explorer.mask_tensor is None
    assert explorer.grid.frame["allowed"] == [] and explorer.grid.frame["reason"]
    assert not explorer.maps.frame["weights"]
    assert "image/png" not in explorer._repr_mimebundle_()[0]
    setattr(explorer, name, getattr(MaskExplorer(), name))
    assert explorer.message and explorer.weights is not None and explorer.grid.frame["allowed"]


def test_c25_the_still_picture_has_every_cell_in_its_colour():
    explorer = MaskExplorer(mask="both", empty=2)
    figure = explorer._still()
    cells = {a.get_gid(): a for a in figure.findobj() if (a.get_gid() or "").startswith("mask-")}
    for q, k in itertools.product(range(T), range(T)):
        red, green, blue, _ = cells[f"mask-{q}-{k}"].get_facecolor()
        bright = red + green > 1.5 and blue < 0.3
        assert bright == bool(explorer.allowed[1, q, k]), (q, k)
        box, first = cells[f"mask-{q}-{k}"], cells["mask-0-0"]  # y grows downwards
        assert (box.get_x() > first.get_x()) == (k > 0)
        assert (box.get_y() > first.get_y()) == (q > 0)
        assert box.get_x() == cells[f"mask-0-{k}"].get_x()
        assert box.get_y() == cells[f"mask-{q}-0"].get_y()
    assert "mask-nothing-1" in cells and "mask-nothing-0" not in cells
    texts = [text.get_text() for text in figure.findobj(Text)]
    assert texts.count("NaN") == T and "may look" in texts and "hidden" in texts
    picture = matplotlib.image.imread(io.BytesIO(explorer._repr_mimebundle_()[0]["image/png"]))
    assert picture.shape[0] > 400


def test_c27_two_on_a_page_share_nothing_and_c38_nothing_global():
    state = torch.get_rng_state()
    first, second = MaskExplorer(), MaskExplorer()
    untouched = second.weights.clone()
    first.mask, first.length_2 = "none", 6
    assert torch.equal(second.weights, untouched) and not torch.equal(first.weights, untouched)
    assert torch.equal(torch.get_rng_state(), state)


def test_the_view_refuses_what_does_not_fit():
    view = MaskView()
    ways = {"course": torch.zeros(2, 2)}
    with pytest.raises(ValueError, match=r"\(3, 3\).*2 tokens"):
        view.show(["a", "b"], title="", hidden={"later": torch.zeros(3, 3).bool()}, ways=ways,
                  head=0, scores_shape=(1, 1, 2, 2), mask_shape=(2, 2))  # fmt: skip


def test_c20_tokens_stay_text():
    view = MaskView()
    tokens = ["<b>x</b>", "{key}", "$T$"]
    view.show(tokens, title="", hidden={}, ways={"course": torch.eye(3)}, head=0,
              scores_shape=(1, 1, 3, 3), mask_shape=None)  # fmt: skip
    assert view.frame["tokens"] == tokens
    assert "<b>x</b> → {key}: 1" in view.frame["sentences"][0][1]
