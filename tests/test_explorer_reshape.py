"""ReshapeLab: every number, stride and sentence against torch itself."""

import re
from itertools import permutations

import matplotlib
import pytest
import torch

from helpers import toy
from helpers.attention import split_heads
from helpers.explorers import ReshapeLab
from helpers.lesson import set_language
from helpers.palette import HEAD_COLOURS
from helpers.reshaping.cells import ink_on, places_of
from helpers.reshaping.routes import STEPS, merge_rule, walk
from helpers.reshaping.wrong_turns import split_without_transpose

TURNS = [("right", "right"), ("wrong", "wrong"), ("wrong", "right"), ("right", "wrong")]
SIZES = [(T, H, d_k) for T in (1, 2, 3, 4, 7) for H in (1, 2, 3, 4, 6) for d_k in (1, 2, 3, 6)]


def panels(lab):
    return dict(zip(("right", "wrong"), lab.cells.frame["panels"], strict=True))


def cells(panel):
    """(row, group, column) -> the cell on the page."""
    return {tuple(cell["at"]): cell for cell in panel["cells"]}


def numbers(panel, row, group=0):
    found = cells(panel)
    return [int(found[row, group, c]["text"]) for c in range(panel["columns"])]


def sentence(lab):
    return lab.cells.frame["sentences"][lab.cells.frame["at"]]


# C01: the two routes ----------------------------------------------------------------------------


def test_c01_equal_shapes_hold_different_numbers_side_by_side():
    lab = ReshapeLab(T=4, d_model=6, H=2)
    right, wrong = panels(lab)["right"], panels(lab)["wrong"]
    assert right["shape"] == wrong["shape"] == [1, 2, 4, 3]
    assert right["symbols"] == wrong["symbols"] == ["B", "H", "T", "d_k"]
    assert numbers(right, row=1) == [6, 7, 8] and numbers(wrong, row=1) == [3, 4, 5]
    x = torch.arange(24).view(1, 4, 6)
    truth = split_heads(x, 2) != x.view(1, 2, 4, 3)
    for (t, h, j), cell in cells(wrong).items():
        assert cell["marked"] == bool(truth[0, h, t, j]), (h, t, j)
    assert not any(cell["marked"] for cell in right["cells"])
    assert lab.differ == int(truth.sum()) == 18
    assert "18 of 24 cells differ" in sentence(lab)
    assert "[6, 7, 8] on the right route and [3, 4, 5] on the wrong one" in sentence(lab)


@pytest.mark.parametrize("route", ["both", "split", "merge"])
@pytest.mark.parametrize("language", ["en", "es"])
def test_c01_at_one_token_or_one_head_the_panel_says_that_the_routes_coincide(language, route):
    set_language(language)
    lab = ReshapeLab(T=4, d_model=6, H=2, route=route)
    words = {"en": "The two routes coincide", "es": "Las dos rutas coinciden"}[language]
    assert not any(words in line for line in lab.cells.frame["sentences"])
    for name, value, back in (("T", 1, 4), ("H", 1, 2)):
        setattr(lab, name, value)
        assert all(line.startswith(words) for line in lab.cells.frame["sentences"])
        assert f"{name} = 1" in sentence(lab)
        for step in STEPS:
            lab.step = step
            assert not lab.differ  # 0, or None where the shapes are not compared
            assert not any(c["marked"] for p in panels(lab).values() for c in p["cells"])
        setattr(lab, name, back)
        assert not any(words in line for line in lab.cells.frame["sentences"])
    lab.H = lab.T = 1
    assert "T = 1" in sentence(lab) and "H = 1" in sentence(lab)


def test_c02_a_merge_without_the_swap_mixes_tokens():
    lab = ReshapeLab(T=2, d_model=4, H=2, route="merge", step="merge")
    assert numbers(panels(lab)["right"], 0) == [0, 1, 2, 3]
    assert numbers(panels(lab)["wrong"], 0) == [0, 1, 4, 5]  # head 0 of both tokens
    assert "Token 0 is [0, 1, 2, 3] on the right route and [0, 1, 4, 5]" in sentence(lab)
    lab.step = "transpose"
    assert "Up to here both routes hold the same" in sentence(lab)


def test_two_wrong_turns_undo_each_other_and_it_says_that_this_proves_nothing():
    lab = ReshapeLab(step="merge")
    assert lab.differ == 0 and "round trip proves nothing" in sentence(lab)
    lab.route = "split"
    assert lab.differ > 0 and "round trip" not in sentence(lab)


def test_scores_name_the_tokens_that_meet():
    lab = ReshapeLab(step="scores")
    right, wrong = panels(lab)["right"], panels(lab)["wrong"]
    assert cells(right)[1, 0, 2]["text"] == "1·2"
    # wrong head 1 holds the numbers from 12 on: its rows are halves of tokens 2, 2, 3, 3
    assert [cells(wrong)[0, 1, k]["text"] for k in range(4)] == ["2·2", "2·2", "2·3", "2·3"]
    assert cells(wrong)[0, 1, 1]["spoken"].startswith(
        "head 1, query 0, key 1: [12, 13, 14] and [15, 16, 17] meet"
    )
    assert "of 32 scores compare other numbers" in sentence(lab)


# Shapes and strides -----------------------------------------------------------------------------


@pytest.mark.parametrize(("T", "d_model", "H"), [(4, 6, 2), (8, 12, 4), (3, 12, 12), (5, 7, 7)])
def test_the_right_route_has_the_shapes_strides_and_order_of_a_real_layer(T, d_model, H):
    trace = toy.layer(d_model, H, 0).trace(torch.randn(1, T, d_model))
    real = {
        "linear": trace.Q, "view": trace.Q_view, "transpose": trace.Q_heads,
        "scores": trace.scores, "heads": trace.heads, "swap": trace.swapped,
        "contiguous": trace.swapped.contiguous(), "merge": trace.concat,
    }  # fmt: skip
    stops = walk(T, d_model, H)
    assert tuple(stops) == STEPS == tuple(real)
    for step, tensor in real.items():
        ours = stops[step].numbers
        assert tuple(ours.shape) == tuple(tensor.shape), step
        wide = [axis for axis, size in enumerate(tensor.shape) if size > 1]
        assert [ours.stride(a) for a in wide] == [tensor.stride(a) for a in wide], step
        assert ours.is_contiguous() == tensor.is_contiguous(), step


@pytest.mark.parametrize("turns", TURNS, ids="-".join)
def test_the_sentence_about_view_is_what_torch_does(turns):
    """At H = 1, T = 1 and d_k = 1 as well: try the view, and see whether it copies nothing."""
    seen = set()
    for T, H, d_k in SIZES:
        for step, stop in walk(T, H * d_k, H, *turns).items():
            if step == "scores":
                continue
            tensor = stop.numbers
            shape = (*tensor.shape[:-2], tensor.shape[-2] * tensor.shape[-1])
            try:
                tensor.view(shape)
                fits = True
            except RuntimeError:
                fits = False
            rule = merge_rule(stop.symbols, tensor)
            assert rule.works == fits, (step, tuple(tensor.shape), tensor.stride())
            seen.add((fits, bool(rule.idle)))
    assert {(True, True), (True, False)} <= seen
    assert ((False, False) in seen) == (turns != ("wrong", "wrong"))


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_the_rule_holds_for_any_strides(order):
    """Axes in any order, of any size, and read with gaps."""
    for sizes in ((2, 3, 4, 5), (1, 3, 1, 4), (2, 1, 3, 1), (6, 4, 2, 6)):
        whole = torch.zeros(sizes).permute(order)
        for tensor in (whole, whole[..., ::2], whole[:, :, ::2], whole[..., :1]):
            shape = (*tensor.shape[:2], tensor.shape[2] * tensor.shape[3])
            try:
                tensor.view(shape)
                fits = True
            except RuntimeError:
                fits = False
            assert merge_rule(("B", "T", "H", "d_k"), tensor).works == fits, tensor.stride()


@pytest.mark.parametrize(
    ("T", "d_model", "H", "answer"),
    [
        (4, 6, 2, "No: the stride of H is 12, but size times stride of d_k is 3 · 1 = 3."),
        (4, 6, 1, "Yes: H has size 1. No step is made along it"),
        (4, 6, 6, "Yes: d_k has size 1. No step is made along it"),
        (1, 6, 2, "Yes: the stride of H is 3, and size times stride of d_k is 3 · 1 = 3."),
        (1, 1, 1, "Yes: both have size 1."),
    ],
)
def test_the_sentence_at_the_swap_back_has_the_strides_on_screen(T, d_model, H, answer):
    lab = ReshapeLab(T=T, d_model=d_model, H=H, step="swap")
    panel = panels(lab)["right"]
    said = panel["rules"][lab.cells.frame["at"]]
    assert said.startswith("Can view merge H and d_k? " + answer)
    if "stride of H is" in said:
        assert f"stride of H is {panel['strides'][2]}," in said
    copies = "copies the numbers" if not lab.right["swap"].numbers.is_contiguous() else "nothing"
    assert copies in panel["notes"][STEPS.index("contiguous")]
    assert lab.right["contiguous"].copied == (copies != "nothing")


def test_memory_and_reading_order_are_those_of_the_tensor():
    lab = ReshapeLab()
    for turns in ("both", "split", "merge"):
        lab.route = turns
        for step in STEPS:
            lab.step = step
            for panel, stops in zip(panels(lab).values(), (lab.right, lab.wrong), strict=True):
                tensor = stops[step].numbers
                if step == "scores":
                    assert panel["strip"] is None
                    continue
                storage = torch.tensor(tensor.untyped_storage().tolist(), dtype=torch.uint8)
                assert panel["strip"]["memory"] == storage.view(torch.int64).tolist()
                assert panel["strip"]["reading"] == tensor.flatten().tolist()
                jumps = sum(panel["strip"]["jumps"])
                assert (jumps == 0) == tensor.is_contiguous()
                assert panel["strip"]["words"].startswith(str(jumps) if jumps else "no")
                places = places_of(tensor)
                assert torch.equal(storage.view(torch.int64)[places], tensor)


def test_a_cell_is_read_out_on_both_routes():
    lab = ReshapeLab()
    lab.cells.pointed = 6
    assert lab.cells.readout() == [
        "Right route: head 0, token 1, feature 0: number 6, place 6 in memory",
        "Wrong route: head 0, token 2, feature 0: number 6, place 6 in memory; "
        "differs from the right route",
    ]
    lab.step = "heads"  # a new tensor: the right route has moved it
    assert "number 6, place 3 in memory" in lab.cells.readout()[0]
    lab.step = "scores"  # a score is no number: nothing stays pointed at
    assert lab.cells.pointed is None and lab.cells.readout() == []


def test_a_number_keeps_the_colour_of_its_head_and_reads_on_it():
    lab = ReshapeLab(T=3, d_model=12, H=4)
    for step in ("linear", "view", "transpose", "swap", "merge"):
        lab.step = step
        for panel in panels(lab).values():
            for cell in panel["cells"]:
                assert cell["heads"] == [int(cell["text"]) % 12 // 3]
    assert [colour for colour, _ in lab.cells.frame["heads"]] == list(HEAD_COLOURS[:4])


def test_c31_every_number_has_contrast_with_its_cell():
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colour in HEAD_COLOURS:
        dark, light = sorted((luminance(colour), luminance(ink_on(colour))))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, colour


def test_many_scores_are_thinned_and_it_says_so():
    lab = ReshapeLab(T=8, d_model=12, H=4, step="scores")
    panel = panels(lab)["right"]
    assert panel["groups"] == 1 and len(panel["cells"]) == 64
    assert panel["left_out"].startswith("Head 0 of 4")
    lab.T = 4
    assert panels(lab)["right"]["left_out"].startswith("Heads 0 to 2 of 4")
    assert "of 64 scores" in sentence(lab)  # all of them are counted
    lab.T = 2
    assert panels(lab)["right"]["left_out"] == ""


# Controls ---------------------------------------------------------------------------------------


def test_back_and_next_walk_the_steps_and_stop_at_the_ends():
    lab = ReshapeLab()
    lab._back.click()
    assert (lab.step, lab._step.value) == ("view", "view")
    for _ in range(20):
        lab._next.click()
    assert lab.step == "merge"
    for _ in range(20):
        lab._back.click()
    assert lab.step == "linear" and "1 · linear" in lab._summary()
    lab._step.value = "heads"
    assert lab.step == "heads"
    lab._route.value = "merge"
    assert lab.route == "merge"


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("H, offered", [(5, [4, 6]), (0, [1]), (13, [12])])
def test_c05_an_impossible_pair_is_explained_and_no_cell_is_left(language, H, offered):
    set_language(language)
    lab = ReshapeLab(d_model=12, H=4)
    lab._typed_H.value = H
    assert lab.error is None and str(H) in lab.message and str(offered[0]) in lab.message
    assert lab.right is None and lab.cells.frame["reason"] == lab.message
    assert lab.map_view.frame["reason"] == lab.message and lab.dependency == {}
    assert "image/png" not in lab._repr_mimebundle_()[0]
    buttons = [b for b in lab._fixes if b.layout.display != "none"]
    assert [b.heads for b in buttons] == offered
    buttons[0].click()
    assert lab.right is not None and lab.cells.frame["reason"] == ""


@pytest.mark.parametrize(
    "name, value, word",
    [("T", 9, "8"), ("T", 0, "8"), ("d_model", 13, "12"), ("step", "x", "transpose"),
     ("route", "x", "both"), ("map_sizes", "x", "lesson")],
)  # fmt: skip
def test_what_cannot_be_drawn_is_said_in_words(name, value, word):
    lab = ReshapeLab()
    setattr(lab, name, value)
    assert lab.error is None and word in lab.message
    assert lab.cells.frame["reason"] == lab.message
    setattr(lab, name, ReshapeLab.class_traits()[name].default_value)
    lab.H = 2  # a prime width had moved it
    assert lab.message == "" and lab.differ == 18


def test_c24_a_fault_leaves_no_cell_and_no_map(monkeypatch):
    lab = ReshapeLab()
    monkeypatch.setattr(ReshapeLab, "_draw_maps", lambda self: 1 / 0)
    lab.step = "merge"
    assert isinstance(lab.error, ZeroDivisionError) and "ZeroDivisionError" in lab.message
    assert lab.cells.frame["reason"] == lab.map_view.frame["reason"] == lab.message
    monkeypatch.undo()
    lab.step = "view"
    assert lab.error is None and not lab.cells.frame["reason"] + lab.map_view.frame["reason"]


def test_c28_a_prime_width_moves_h_and_says_so():
    lab = ReshapeLab(d_model=12, H=4)
    lab.d_model = 7
    assert lab.H == 1 and "4" in lab.message and "7" in lab.message
    assert list(lab._H.options) == [1, 7]
    assert max(lab._d_model.options) == 12 and lab._T.max == 8


# Dependency maps --------------------------------------------------------------------------------


def test_the_maps_show_the_counts_of_the_lesson_first():
    lab = ReshapeLab()
    shown = lab.map_view.frame["maps"]
    assert [one["count"] for one in shown] == [
        "256 of 256 pairs", "256 of 256 pairs", "64 of 256 pairs", "50 pairs look ahead",
    ]  # fmt: skip
    assert shown[2]["note"] == "Output 5 depends on inputs 4, 5, 6, 7 only."
    assert "50 pairs look ahead" in shown[1]["note"]
    assert [one["causal"] for one in shown] == [False, False, False, True]
    for name, one in zip(("right", "split", "both", "leak"), shown, strict=True):
        assert one["rows"] == lab.dependency[name].int().tolist()
    assert "T = 16, H = 4" in lab.map_view.frame["heading"]


def test_the_maps_follow_the_present_sizes():
    lab = ReshapeLab(map_sizes="present")
    counts = [one["count"] for one in lab.map_view.frame["maps"]]
    assert counts == ["16 of 16 pairs", "16 of 16 pairs", "8 of 16 pairs", "3 pairs look ahead"]
    lab.T, lab.d_model, lab.H = 8, 12, 4
    assert lab.map_view.frame["maps"][2]["count"] == "16 of 64 pairs"
    lab.H = 1
    assert [one["count"] for one in lab.map_view.frame["maps"]] == [
        "64 of 64 pairs", "64 of 64 pairs", "64 of 64 pairs", "no pair looks ahead",
    ]  # fmt: skip
    lab.map_sizes = "lesson"
    assert lab.map_view.frame["maps"][2]["count"] == "64 of 256 pairs"


# The still picture ------------------------------------------------------------------------------


def test_c25_the_still_has_every_number_and_marks_those_that_differ():
    lab = ReshapeLab()
    figure = lab._still()
    boxes = {p.get_gid() for p in figure.findobj(matplotlib.patches.Patch) if p.get_gid()}
    wrong = split_without_transpose(torch.arange(24).view(1, 4, 6), 2)
    other = wrong[split_heads(torch.arange(24).view(1, 4, 6), 2) != wrong].tolist()
    assert {int(re.search(r"\d+", gid)[0]) for gid in boxes if gid.endswith("differs")} == set(
        other
    )
    words = " ".join(label.get_text() for label in figure.findobj(matplotlib.text.Text))
    for part in ("18", "64 of 256 pairs", "50 pairs look ahead", "contiguous", "(1, 2)"):
        assert part in words, part
    assert words.count("≠") == 18 + 1  # the signs, and the word for them


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize(
    ("T", "d_model", "H", "steps"),
    [
        (4, 6, 2, ["view", "scores", "swap"]),
        (8, 12, 12, ["scores"]),
        (1, 1, 1, ["view"]),
        (8, 12, 1, ["swap"]),
    ],
)
def test_c25_nothing_of_the_still_runs_off_the_page(language, T, d_model, H, steps):
    set_language(language)
    for step in steps:
        figure = ReshapeLab(T=T, d_model=d_model, H=H, step=step)._still()
        figure.draw_without_rendering()
        for label in figure.findobj(matplotlib.text.Text):
            if label.get_text():
                box = label.get_window_extent(figure.canvas.get_renderer())
                assert box.x0 >= 0 and box.x1 <= figure.bbox.width + 1, label.get_text()
                assert box.y0 >= 0 and box.y1 <= figure.bbox.height + 1, label.get_text()
