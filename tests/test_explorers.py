"""Every explorer driven by its traits, as a reader drives it by its controls."""

import io
import re

import matplotlib.image
import pytest
import torch

from helpers import explorers, figures, toy
from helpers.attention import ImpossibleHeadsError
from helpers.explorers import (
    AttentionBudget,
    EncoderExplorer,
    HeadGates,
    HeadGraphExplorer,
    HeadRoles,
    LiveGates,
    MaskExplorer,
    MultiHeadExplorer,
    Playground,
    RelationBoard,
    ReshapeLab,
    ShapeExplorer,
    SoftmaxSaturation,
    TrainingRuns,
)
from helpers.lesson import set_language

# Every explorer with moves that visit each of its traits. A new explorer without an entry fails.
MOVES = {
    MultiHeadExplorer: [
        ("H", 4), ("d_model", 97), ("d_model", 96), ("T", 3), ("T", 20), ("seed", 5),
        ("mask", "causal"), ("temperature", 0.5), ("sentence", "two words"), ("H", 5), ("H", 2),
        ("sentence", ""), ("sentence", "back again"), ("d_model", 1), ("d_model", 512),
    ],
    EncoderExplorer: [
        ("layer", 2), ("head", 9), ("hide_special", True), ("rescale", True), ("query", "bank"),
        ("key", "river"), ("sentence", "Gracias 漢字 😀"), ("sentence", ""), ("layer", 7),
        ("layer", 1), ("sentence", "the cat sat"), ("hide_special", False),
    ],
    Playground: [("same_sentence", False), ("same_sentence", True)],
    ShapeExplorer: [("H", 4), ("d_model", 97), ("T", 1), ("H", 3), ("d_model", 6), ("T", 200)],
    MaskExplorer: [
        ("mask", "padding"), ("sequence", 1), ("length_1", 2), ("length_2", 6), ("side", "left"),
        ("empty", 3), ("mask", "none"), ("mask", "both"), ("empty", 7), ("empty", 0),
    ],
    AttentionBudget: [("river", 8.0), ("issued", -4.0)],
    HeadGates: [
        ("gates", [1.0, 0.0, 1.0, 0.5]), ("show", "change"), ("gates", [0.0] * 4), ("H", 8),
        ("T", 1), ("d_model", 97), ("H", 97), ("d_model", 6), ("H", 4), ("gates", [1.0]),
        ("H", 3), ("gates", [0.0, 2.0, 1.0]), ("gates", [0.0, 0.2, 1.0]), ("show", "no such"),
        ("show", "values"), ("T", 200), ("T", 128), ("d_model", 768),
    ],
    ReshapeLab: [
        ("H", 3), ("d_model", 7), ("T", 1), ("step", "scores"), ("d_model", 12), ("T", 8),
        ("H", 5), ("H", 4), ("route", "split"), ("step", "merge"), ("map_sizes", "present"),
        ("route", "merge"), ("step", "no such step"), ("step", "linear"), ("T", 9), ("T", 2),
    ],
    TrainingRuns: [("seeds", 2), ("steps", 100), ("steps", 5), ("seeds", 9), ("seeds", 1)],
    HeadGraphExplorer: [
        ("threshold", 0.5), ("layer", 2), ("heads", [9]), ("threshold", 1.0), ("heads", []),
        ("heads", [13]), ("heads", [1, 9, 12]), ("threshold", 0.0), ("hide_special", True),
        ("threshold", 2.0), ("threshold", 0.1), ("sentence", "Gracias 漢字 😀 <b>x</b> $y$"),
        ("layer", 7), ("layer", 1), ("sentence", ""), ("sentence", "word " * 300),
        ("sentence", "Birds eat seeds ."), ("heads", [3, 3]), ("heads", list(range(1, 13))),
        ("hide_special", False), ("sentence", "[SEP] a [MASK]"), ("sentence", "unbelievably so"),
    ],
    HeadRoles: [
        ("measure", "entropy"), ("layer", 2), ("head", 9), ("head", 13), ("head", 12),
        ("measure", "no such"), ("measure", "rare"),
    ],
    RelationBoard: [
        ("relation", "det"), ("direction", "head_to_dependent"), ("relation", "dep"),
        ("relation", "iobj"), ("direction", "up"), ("direction", "dependent_to_head"),
        ("path", "no such file.conllu"), ("path", ""),
    ],
    LiveGates: [
        ("off", [[1, 3]]), ("first", "漢字 😀"), ("second", ""), ("second", "a b"),
        ("off", [[7, 1]]), ("off", []),
    ],
    SoftmaxSaturation: [("d_k", 1), ("seed", 3), ("d_k", 300), ("d_k", 256)],
}  # fmt: skip


TYPED = ("sentence", "first", "second", "path")


def has_picture(view) -> bool:
    return bool(view.frame["weights"]) if "weights" in view.frame else not view.frame["reason"]


def test_every_explorer_has_moves_that_visit_every_trait():
    assert {cls.__name__ for cls in MOVES} == set(explorers.__all__)
    for cls, moves in MOVES.items():
        assert {name for name, _ in moves} == set(cls.STATE), cls.__name__


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("cls", MOVES, ids=lambda cls: cls.__name__)
def test_c24_no_move_breaks_an_explorer(cls, language, monkeypatch):
    set_language(language)
    explorer = cls()
    assert explorer.error is None, explorer.error
    for name, value in MOVES[cls]:
        before = explorer.draws
        setattr(explorer, name, value)
        assert explorer.error is None, f"{name} = {value!r}: {explorer.error!r}"
        assert explorer.draws == before + 1, f"{name} = {value!r} drew {explorer.draws - before}x"
        if name in TYPED:  # what a reader types has to reach the pixels
            assert explorer._repr_mimebundle_()[0]["text/plain"]
        elif language == "es":  # the figure is the English one with other words
            assert explorer._summary()
        else:
            with monkeypatch.context() as patch:
                patch.setattr(figures, "png", pixels_spared)
                assert explorer._repr_mimebundle_()[0]["text/plain"]


def pixels_spared(figure) -> bytes:
    """In place of `figures.png`, which takes half a second: there is a figure to draw."""
    assert figure.axes
    return b"spared"


@pytest.mark.parametrize("cls", MOVES, ids=lambda cls: cls.__name__)
def test_c24_a_fault_in_a_callback_is_said_in_words_and_leaves_no_picture(cls, monkeypatch):
    explorer = cls()
    monkeypatch.setattr(cls, "_draw", lambda self: 1 / 0)
    name, value = MOVES[cls][0]
    setattr(explorer, name, value)
    assert isinstance(explorer.error, ZeroDivisionError)
    assert "ZeroDivisionError" in explorer.message
    assert explorer._note.kind == "problem" and explorer._note.text == explorer.message
    for view in ("maps", "bars", "shapes"):
        if hasattr(explorer, view):
            assert not has_picture(getattr(explorer, view)), f"{view} still shows a picture"
    assert "image/png" not in explorer._repr_mimebundle_()[0]
    monkeypatch.undo()
    name, value = MOVES[cls][1]
    setattr(explorer, name, value)
    assert explorer.error is None and explorer._note.kind != "problem"
    for view in ("maps", "bars", "shapes"):
        assert not hasattr(explorer, view) or has_picture(getattr(explorer, view))


@pytest.mark.parametrize("cls", MOVES, ids=lambda cls: cls.__name__)
def test_c25_a_still_picture_and_a_short_text_stand_beside_the_live_view(cls):
    data, metadata = cls()._repr_mimebundle_()
    assert data["text/plain"].startswith(cls.__name__)
    picture = matplotlib.image.imread(io.BytesIO(data["image/png"]))
    assert picture.shape[0] > 150 and picture[..., :3].std() > 0.05
    assert "application/vnd.jupyter.widget-view+json" in data
    assert metadata["image/png"]["alt"] == data["text/plain"]


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("cls", MOVES, ids=lambda cls: cls.__name__)
def test_what_is_said_begins_each_sentence_with_a_capital(cls, language):
    set_language(language)
    explorer = cls()
    for said in (explorer._summary(), explorer.message):  # the first is the alternative text
        assert not re.search(r"[.!?] [a-zñáéíóú]", said), said


def test_trained_models_are_told_in_sentences():
    small = TrainingRuns(seeds=1, steps=10)
    small.finish()
    assert re.findall(r"(?:^|\. )(\w+)", small.message) == ["One", "Two", "One"]


def shown(explorer) -> torch.Tensor:
    """The maps as the page gets them, from the bytes that travel."""
    frame = explorer.maps.frame
    return torch.frombuffer(bytearray(frame["weights"]), dtype=torch.float32).view(*frame["shape"])


# MultiHeadExplorer ----------------------------------------------------------------------


def test_the_maps_on_the_page_are_the_layers_weights_head_by_head_query_by_key():
    explorer = MultiHeadExplorer(d_model=64, H=8, seed=3)
    layer = toy.layer(64, 8, 3)
    X = toy.embed(toy.words(explorer.sentence), 64, 3)
    for i in range(8):  # head i by hand: its own rows of W_Q and W_K, its own softmax
        rows = slice(8 * i, 8 * i + 8)
        q, k = X[0] @ layer.W_Q.weight[rows].T, X[0] @ layer.W_K.weight[rows].T
        by_hand = (q @ k.T / 8**0.5).softmax(-1)
        torch.testing.assert_close(shown(explorer)[i], by_hand, atol=1e-5, rtol=1e-5)


def test_shapes_maps_facts_and_controls_agree_after_every_move():
    explorer = MultiHeadExplorer(d_model=64, H=8)
    for name, value in [("H", 16), ("d_model", 96), ("T", 5), ("d_model", 97), ("H", 97)]:
        setattr(explorer, name, value)
        H, T, d_k = explorer.H, explorer.T, explorer.d_model // explorer.H
        assert tuple(explorer.weights.shape) == (H, T, T) == tuple(explorer.maps.frame["shape"])
        assert explorer.trace.Q_heads.shape == (1, H, T, d_k)
        assert (explorer._H.value, explorer._typed_H.value) == (H, H)
        assert explorer._d_model.value == explorer.d_model
        assert explorer._T.value == T == len(explorer.tokens)
        assert f"({H}, {T}, {d_k})" in "\n".join(explorer.shapes.steps_text())
        assert f"<b>{4 * explorer.d_model**2:,}</b>" in explorer._facts.value
        assert f"/ {H} = <b>{d_k}</b>" in explorer._facts.value


def test_moving_a_control_does_what_setting_the_trait_does():
    explorer = MultiHeadExplorer(d_model=64, H=8)
    explorer._H.value = 4
    assert explorer.H == 4 and tuple(explorer.weights.shape) == (4, 9, 9)
    explorer._d_model.value = 128
    assert explorer.d_model == 128 and explorer.trace.X.shape == (1, 9, 128)
    explorer._mask.value = "causal"
    assert (explorer.weights.triu(1) == 0).all()
    explorer._sentence.value = "three small words"
    assert explorer.tokens == ["three", "small", "words"] and explorer.T == 3
    explorer._typed_H.value = 2
    assert explorer.H == 2 == explorer._H.value


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize(
    "d_model, H, numbers, offered",
    [
        (64, 5, ["64", "5", "4", "8"], [4, 8]),
        (97, 2, ["97", "2", "1"], [1, 97]),
        (2, 8, ["2", "8"], [2]),
        (64, 0, ["0", "1"], [1]),
    ],
)
def test_c05_an_impossible_pair_is_explained_and_nothing_old_stands(
    language, d_model, H, numbers, offered
):
    set_language(language)
    explorer = MultiHeadExplorer(d_model=d_model, H=1)
    explorer._typed_H.value = H  # typed by hand
    assert explorer.error is None
    assert all(number in explorer.message for number in numbers), explorer.message
    assert explorer.trace is None and explorer.weights is None
    assert not has_picture(explorer.maps) and not has_picture(explorer.shapes)
    assert not explorer._facts.value
    buttons = [b for b in explorer._fixes if b.layout.display != "none"]
    assert [b.heads for b in buttons] == offered
    assert explorer._typed_H.value == H  # what the reader wrote is still there
    buttons[0].click()
    assert explorer.H == offered[0] and explorer.weights is not None
    assert all(b.layout.display == "none" for b in explorer._fixes)


def test_c05_setting_the_trait_says_what_calling_the_class_says():
    explorer = MultiHeadExplorer(d_model=64, H=8)
    explorer.H = 5
    with pytest.raises(ImpossibleHeadsError) as raised:
        toy.layer(64, 5, 0)
    assert explorer.message == str(raised.value)


def test_c23_five_hundred_moves_end_on_the_last_and_leave_nothing_behind():
    import gc

    import psutil

    explorer = MultiHeadExplorer(d_model=64, H=8)
    widths, heads = [16, 32, 64, 128], [1, 2, 4, 8]

    def moves(n):
        for i in range(n):
            explorer.d_model = widths[i % 4]
            explorer.H = heads[(i * 3) % 4]

    moves(100)  # caches fill
    gc.collect()
    before = psutil.Process().memory_info().rss
    moves(250)
    gc.collect()
    grown = psutil.Process().memory_info().rss - before
    assert explorer.H == heads[(249 * 3) % 4] and explorer.d_model == widths[249 % 4]
    assert shown(explorer).shape[0] == explorer.H
    assert grown < 30 * 2**20, f"{grown / 2**20:.0f} MB"


def test_c26_the_same_cell_again_gives_the_same_and_one_redraw_per_change():
    first, again = MultiHeadExplorer(d_model=64, H=8), MultiHeadExplorer(d_model=64, H=8)
    assert torch.equal(first.weights, again.weights)
    again.H = 4
    assert again.draws == 2 and first.draws == 1


def test_c27_two_explorers_share_nothing():
    first, second = MultiHeadExplorer(seed=0), MultiHeadExplorer(seed=1)
    untouched = second.weights.clone()
    assert not torch.equal(first.weights, second.weights)
    first.H, first.seed, first.sentence = 2, 1, "other words"
    assert second.H == 8 and torch.equal(second.weights, untouched)
    first_ids = {w.model_id for w in first.children}
    assert not first_ids & {w.model_id for w in second.children}


def test_c28_forced_moves_of_H_are_announced_and_everything_agrees():
    explorer = MultiHeadExplorer(d_model=64, H=8)
    for d_model, H in [(97, 1), (96, 1), (64, 1), (1, 1)]:
        explorer.d_model = d_model
        assert explorer.H == H == explorer._H.value == explorer._typed_H.value
        assert list(explorer._H.options) == [h for h in range(1, d_model + 1) if d_model % h == 0]
        assert explorer.weights.shape[0] == H
    explorer = MultiHeadExplorer(d_model=64, H=8)
    explorer.d_model = 97
    assert "8" in explorer.message and "97" in explorer.message and "1" in explorer.message
    explorer.H = 97  # d_k = 1 draws
    assert explorer.message == "" and explorer.weights.shape[0] == 97
    explorer.d_model = 96
    assert explorer.H == 96 and "97" in explorer.message and "96" in explorer.message


def test_c38_the_same_numbers_whatever_was_drawn_between():
    explorer = MultiHeadExplorer(d_model=64, H=8, seed=0)
    first = explorer.weights.clone()
    state = torch.get_rng_state()
    torch.rand(100)
    explorer.H = 4
    explorer.H = 8
    assert torch.equal(explorer.weights, first)
    torch.set_rng_state(state)
    MultiHeadExplorer(seed=7)
    SoftmaxSaturation(d_k=8)
    assert torch.equal(torch.get_rng_state(), state), "an explorer used the global random state"


def test_c14_a_long_run_of_tokens_and_the_widest_layer_draw():
    explorer = MultiHeadExplorer(d_model=512, H=64, T=128)
    assert tuple(explorer.weights.shape) == (64, 128, 128)
    assert explorer.tokens[8:11] == [".", "·10", "·11"] and "·10" in explorer.message


def test_a_word_keeps_its_vector_and_a_position_its_own():
    X = toy.embed(["the", "cat", "the"], 16, 0)[0]
    Y = toy.embed(["the", "dog", "the"], 16, 0)[0]
    assert torch.equal(X[0], Y[0]) and torch.equal(X[2], Y[2])
    assert not torch.equal(X[1], Y[1]) and not torch.equal(X[0], X[2])
    wide = toy.embed([f"w{i}" for i in range(128)], 512, 1)
    assert abs(wide.var().item() - 1) < 0.02 and abs(wide.mean().item()) < 0.02


# EncoderExplorer -----------------------------------------------------------------------


def test_the_real_encoder_reads_river_and_issued_from_bank():
    explorer = EncoderExplorer(layer=1, head=5, query="bank", key="river")
    assert "0.67" in explorer.maps.readout() and "L1-H5" in explorer.maps.readout()
    explorer.head, explorer.key = 4, "issued"
    assert "0.25" in explorer.maps.readout() and "L1-H4" in explorer.maps.readout()
    assert tuple(explorer.maps.frame["shape"]) == (72, 11, 11)
    assert list(explorer.maps.frame["names"][:13])[-1] == "L2-H1"
    torch.testing.assert_close(shown(explorer)[12 * 2 + 4], explorer.encoding.weights[2, 4])


def test_c22_special_tokens_hide_with_and_without_rescaling_and_it_says_so():
    explorer = EncoderExplorer(sentence="the cat sat on the mat because the mat was warm")
    assert len(explorer.tokens) == 13
    whole = explorer.weights.clone()
    explorer.hide_special = True
    assert explorer.tokens[0] == "the" and len(explorer.tokens) == 11
    torch.testing.assert_close(explorer.weights, whole[:, 1:-1, 1:-1])
    assert "not rescaled" in explorer.message and "%" in explorer.message
    explorer.rescale = True
    torch.testing.assert_close(explorer.weights.sum(-1), torch.ones(72, 11))
    assert "was rescaled" in explorer.message


def test_enlarging_a_head_in_the_view_moves_layer_and_head():
    explorer = EncoderExplorer()
    explorer.maps.selected = 12 * 3 + 6  # as the page sets it
    assert (explorer.layer, explorer.head) == (4, 7)
    explorer.sentence = "another sentence"
    assert explorer.maps.selected == 42


def test_c16_any_sentence_gives_maps_or_a_reason():
    explorer = EncoderExplorer(sentence="")
    assert explorer.weights is None and explorer.message
    explorer.sentence = "the cat sat on the mat"
    assert tuple(explorer.weights.shape) == (72, 8, 8)
    explorer.sentence = "word " * 600
    assert explorer.weights.shape[-1] == 256
    assert "256" in explorer.message and "602" in explorer.message


# The two small explorers of lesson 01 -----------------------------------------------------


def test_budget_is_softmax_of_the_two_scores():
    explorer = AttentionBudget(river=3.0, issued=1.0)
    scores = torch.tensor([0, 0, 0, 0, 3.0, 1.0, 0, 0, 0])
    torch.testing.assert_close(explorer.weights, scores.softmax(-1))
    explorer.river = explorer.issued = 8.0
    assert explorer.weights[4] <= 0.5 and explorer.weights[5] <= 0.5
    assert "0.50" in explorer.message and "1.00" in explorer.message
    explorer._sliders["issued"].value = 0.0
    assert explorer.issued == 0.0 and explorer.weights[4] > 0.99


def test_saturation_measures_variance_and_entropy():
    explorer = SoftmaxSaturation()
    for d_k in (16, 64, 256):
        explorer.d_k = d_k
        assert abs(explorer.variance / d_k - 1) < 0.1
    assert explorer.entropy["unscaled"] < 0.5 < 2.2 < explorer.entropy["scaled"] < 2.5
    explorer.d_k = 1
    assert explorer.entropy["unscaled"] == pytest.approx(explorer.entropy["scaled"])
