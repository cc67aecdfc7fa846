"""The shape trace as data for the page: every number from the tensors, every word from texts/."""

import re
from pathlib import Path

import pytest
import torch

from helpers.attention import MultiHeadAttention
from helpers.palette import AXIS_COLOURS
from helpers.shapes import SYMBOLIC_SHAPES, ShapeStep, shape_step, shape_trace
from helpers.texts import set_language
from helpers.views.shape_trace_view import ShapeTraceView

VIEWS = Path(__file__).parents[1] / "helpers" / "views"


def trace(H=8, d_model=512, T=9, B=1):
    generator = torch.Generator().manual_seed(0)
    layer = MultiHeadAttention(d_model, H, generator=generator)
    return layer.trace(torch.randn(B, T, d_model, generator=generator))


def cards(view):
    return {card["name"]: card for card in view.frame["cards"]}


def one_head_steps(T=9, d_model=512, d_k=64):
    Q = torch.zeros(T, d_k)
    scores = torch.zeros(T, T)
    return [
        shape_step("X", "input", ("T", "d_model"), torch.zeros(T, d_model)),
        shape_step("Q", "X · W_Q", ("T", "d_k"), Q),
        shape_step("scores", "Q Kᵀ / √d_k", ("T", "T"), scores),
        shape_step("weights", "softmax", ("T", "T"), scores),
        shape_step("head", "weights · V", ("T", "d_k"), Q),
    ]


# Numbers ------------------------------------------------------------------------------------


def test_all_ten_steps_stand_in_order():
    view = ShapeTraceView(shape_trace(trace()))
    assert [card["name"] for card in view.frame["cards"]] == list(SYMBOLIC_SHAPES)


@pytest.mark.parametrize(("H", "d_model", "T"), [(8, 512, 9), (1, 6, 4), (6, 6, 1), (4, 64, 5)])
def test_shapes_and_strides_are_those_of_the_tensors(H, d_model, T):
    ran = trace(H, d_model, T)
    view = ShapeTraceView(shape_trace(ran), batch=True)
    for name, card in cards(view).items():
        tensor = getattr(ran, name)
        assert card["shape"] == list(tensor.shape)
        assert card["strides"] == list(tensor.stride())
        in_order = card["memory"].startswith("contiguous")
        assert in_order == tensor.is_contiguous(), name


def test_view_and_transpose_show_what_moves():
    Q_view, Q_heads = (
        cards(ShapeTraceView(shape_trace(trace())))[n] for n in ("Q_view", "Q_heads")
    )
    assert (Q_view["symbols"], Q_view["shape"]) == (["T", "H", "d_k"], [9, 8, 64])
    assert (Q_heads["symbols"], Q_heads["shape"]) == (["H", "T", "d_k"], [8, 9, 64])
    assert (Q_view["strides"], Q_heads["strides"]) == ([512, 64, 1], [64, 512, 1])


def test_one_sentence_leaves_b_out_and_says_so():
    view = ShapeTraceView(shape_trace(trace()))
    assert all("B" not in card["symbols"] for card in view.frame["cards"])
    assert cards(view)["Q"]["shape"] == [9, 512]
    assert view.frame["note"] == "One sentence: B = 1 is left out."
    view.show(shape_trace(trace(B=3)))
    assert cards(view)["Q"]["shape"] == [9, 512]
    assert "B = 3" in view.frame["note"]


def test_with_batch_b_stays_and_nothing_is_said_to_be_left_out():
    view = ShapeTraceView(shape_trace(trace(B=3)), batch=True)
    assert cards(view)["Q"]["shape"] == [3, 9, 512]
    assert view.frame["note"] == ""
    assert [axis for axis, _ in view.frame["legend"]] == ["B", "T", "d_model", "H", "d_k"]


def test_plain_lines_for_pages_without_the_view():
    view = ShapeTraceView(shape_trace(trace()))
    lines = view.steps_text()
    assert len(lines) == 10
    assert lines[1] == "Q  X · W_Q  (9, 512)"
    assert lines[3] == "Q_heads  swap T and H  (8, 9, 64)"


def test_a_tensor_with_one_axis_is_written_as_a_tuple():
    view = ShapeTraceView([shape_step("x", "row 0", ("d_model",), torch.zeros(6))])
    assert view.steps_text() == ["x  row 0  (6,)"]


# Words --------------------------------------------------------------------------------------


def test_c06_the_scale_is_that_of_the_head_and_follows_h():
    view = ShapeTraceView(shape_trace(trace(H=8, d_model=64, T=4)))
    assert "√d_k = √8 = 2.828" in cards(view)["scores"]["meaning"]
    assert cards(view)["scores"]["operation"] == "Q Kᵀ / √8"
    view.show(shape_trace(trace(H=4, d_model=64, T=4)))
    assert "√d_k = √16 = 4." in cards(view)["scores"]["meaning"]


def test_every_step_has_a_sentence_with_its_numbers_filled_in():
    for language in ("en", "es"):
        set_language(language)
        view = ShapeTraceView(shape_trace(trace(H=4, d_model=64, T=5)))
        for card in view.frame["cards"]:
            assert not re.search(r"[{}]", card["meaning"] + card["operation"])
            assert len(card["meaning"]) > 40
        assert "H = 4" in cards(view)["Q_view"]["meaning"]
        assert "4 · 16 = 64" in cards(view)["concat"]["meaning"]


def test_a_spoken_name_holds_the_step_its_shape_and_its_strides():
    spoken = cards(ShapeTraceView(shape_trace(trace())))["Q_heads"]["spoken"]
    assert spoken == (
        "Step 4 of 10: Q_heads = swap T and H. Shape H = 8, T = 9, d_k = 64. Strides 64, 512, 1."
    )


def test_c42_spanish_is_spanish_everywhere():
    english = ShapeTraceView(shape_trace(trace())).frame
    set_language("es")
    spanish = ShapeTraceView(shape_trace(trace())).frame
    for key in ("label", "hint", "note", "legend_title", "shape_word", "strides_note"):
        assert spanish[key] != english[key]
    for english_card, card in zip(english["cards"], spanish["cards"], strict=True):
        for key in ("meaning", "memory", "spoken"):
            assert card[key] != english_card[key]
    assert dict(spanish["legend"])["H"] == "cabezas"


def test_a_single_head_gets_sentences_of_its_own():
    view = ShapeTraceView(one_head_steps())
    assert cards(view)["scores"]["operation"] == "Q Kᵀ / √64"
    assert "512 × 64" in cards(view)["Q"]["meaning"]
    for card in view.frame["cards"]:
        assert "heads" not in card["meaning"] and "every head" not in card["meaning"]
        assert "is made by" not in card["meaning"]


def test_a_step_we_do_not_know_speaks_for_itself():
    # The tempting wrong route shares name and shape with Q_heads; our sentence would be a lie.
    wrong = ShapeStep("Q_heads", "view(B, H, T, d_k)", ("B", "H", "T", "d_k"), (1, 2, 4, 3),
                      (24, 12, 3, 1), True)  # fmt: skip
    view = ShapeTraceView([wrong])
    card = cards(view)["Q_heads"]
    assert card["operation"] == "view(B, H, T, d_k)"
    assert card["meaning"] == "Q_heads is made by: view(B, H, T, d_k)."
    view.show([wrong], meanings={"Q_heads": "Tokens are mixed."})
    assert cards(view)["Q_heads"]["meaning"] == "Tokens are mixed."


def test_an_axis_without_a_colour_is_left_out_of_the_legend():
    view = ShapeTraceView([shape_step("A", "made", ("T", "d_v"), torch.zeros(3, 2))])
    assert [axis for axis, _ in view.frame["legend"]] == ["T"]


# Changing -----------------------------------------------------------------------------------


def test_a_change_is_one_change():
    view = ShapeTraceView(shape_trace(trace()))
    changes = []
    view.observe(lambda change: changes.append(change.name))
    view.show(shape_trace(trace(H=4)))
    assert changes == ["frame"]


def test_c05_after_clear_no_number_is_left_as_if_valid():
    view = ShapeTraceView(shape_trace(trace()))
    view.selected = 3
    view.clear("H = 5 does not divide d_model = 64.")
    assert view.frame["reason"] == "H = 5 does not divide d_model = 64."
    assert view.steps_text() == []
    assert len(view.frame["cards"]) == 10  # greyed, so that the height stays
    view.show(shape_trace(trace(H=4, d_model=64)))
    assert view.frame["reason"] == ""
    assert view.selected == 3
    assert cards(view)["Q_heads"]["shape"] == [4, 9, 16]


def test_clear_without_a_reason_still_says_something():
    view = ShapeTraceView()
    view.clear()
    assert view.frame["reason"]


def test_a_chosen_step_that_is_gone_is_no_longer_chosen():
    view = ShapeTraceView(shape_trace(trace()))
    view.selected = 8
    view.show(one_head_steps())
    assert view.selected is None


def test_c27_two_views_share_nothing():
    first, second = (ShapeTraceView(shape_trace(trace())) for _ in range(2))
    first.selected = 2
    first.clear("gone")
    assert second.selected is None
    assert second.frame["reason"] == ""
    assert len(second.steps_text()) == 10


# The page's files ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["shape_trace_view", "bar_view"])
def test_c20_c36_scripts_write_text_only_and_fetch_nothing(name):
    script = (VIEWS / f"{name}.js").read_text(encoding="utf-8")
    style = (VIEWS / f"{name}.css").read_text(encoding="utf-8")
    assert "textContent" in script
    for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "console."):
        assert forbidden not in script
    for text in (script, style):
        assert not re.search(r"https?:|@import|\bimport\b|\bfetch\b|url\(", text)


def test_axes_get_their_colours_from_the_palette():
    for axis, (light, dark) in AXIS_COLOURS.items():
        variable = f"--axis-{axis.replace('_', '-')}"
        assert f"{variable}:{light}" in ShapeTraceView._css
        assert f"{variable}:{dark}" in ShapeTraceView._css
