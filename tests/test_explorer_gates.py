"""HeadGates: every head's term, its share, and what stands in the maps before and after W_O."""

import io

import matplotlib.image
import numpy as np
import pytest
import torch
from matplotlib.text import Text

from helpers import toy
from helpers.attention import ImpossibleHeadsError
from helpers.explorers import HeadGates
from helpers.lesson import set_language
from helpers.palette import head_colour
from helpers.signed_colours import from_oklab, signed_colours
from helpers.stills.heat import gates_figure
from helpers.views.heat_view import Block, Heat, HeatView, describe, signed

OFF_BUT_2 = [0.0, 1.0, 0.0, 0.0]


def maps(explorer) -> np.ndarray:
    """Both maps as the page gets them, (2, T, d_model), from the bytes that travel."""
    frame = explorer.heat.frame
    return np.frombuffer(frame["numbers"], dtype="<f4").reshape(frame["shape"])


# Terms, lengths, shares -----------------------------------------------------------------


@pytest.mark.parametrize("gates", [[1.0] * 4, OFF_BUT_2, [0.3, 0.0, 1.0, 0.75], [0.0] * 4])
def test_the_terms_add_up_to_the_output_of_the_layer(gates):
    explorer = HeadGates(d_model=16, H=4, gates=gates)
    layer = toy.layer(16, 4, seed=0)
    X = toy.embed(explorer.tokens, 16, seed=0)
    torch.testing.assert_close(explorer.terms.sum(0), explorer.trace.output[0])
    torch.testing.assert_close(
        explorer.trace.output, layer.trace(X, gates=torch.tensor(gates)).output
    )
    torch.testing.assert_close(explorer.full.output, layer(X))
    for i, gate in enumerate(gates):  # head i by hand: its columns of concat, its rows of W_O
        own = slice(4 * i, 4 * i + 4)
        by_hand = gate * explorer.full.concat[0, :, own] @ layer.W_O.weight.T[own]
        torch.testing.assert_close(explorer.terms[i], by_hand)
        assert explorer.lengths[i].item() == pytest.approx(by_hand.pow(2).sum().sqrt().item())


def test_shares_are_parts_of_the_sum_of_lengths_and_never_divide_by_zero():
    explorer = HeadGates(d_model=16, H=4)
    torch.testing.assert_close(explorer.shares, explorer.lengths / explorer.lengths.sum())
    assert explorer.shares.sum().item() == pytest.approx(1)
    explorer.gates = OFF_BUT_2
    assert explorer.shares.tolist() == [0, 1, 0, 0]
    explorer.gates = [0.0] * 4
    assert explorer.shares.tolist() == [0, 0, 0, 0] and explorer.error is None
    assert explorer.heat.frame["alts"][1].endswith("all of them 0")
    assert "output is 0 everywhere" in explorer.message


def test_the_bars_show_the_shares_in_the_heads_colours():
    explorer = HeadGates(d_model=16, H=4, gates=[1.0, 0.5, 0.0, 1.0])
    (series,) = explorer.bars.frame["series"]
    assert series["values"] == pytest.approx(explorer.shares.tolist())
    assert explorer.bars.frame["labels"] == ["head 1", "head 2", "head 3", "head 4"]
    assert explorer.bars.frame["colours"] == [head_colour(i) for i in range(4)]


# The maps -------------------------------------------------------------------------------


def test_the_maps_on_the_page_are_concat_and_output():
    explorer = HeadGates(d_model=24, H=3, T=5, gates=[1.0, 0.25, 0.0])
    torch.testing.assert_close(torch.tensor(maps(explorer)[0]), explorer.trace.concat[0])
    torch.testing.assert_close(torch.tensor(maps(explorer)[1]), explorer.trace.output[0])
    explorer.show = "change"
    assert np.allclose(
        maps(explorer)[1], explorer.trace.output[0] - explorer.full.output[0], atol=1e-6
    )
    before, after = explorer.heat.frame["blocks"]
    assert [(b["name"], b["size"]) for b in before] == [(f"head {i}", 8) for i in (1, 2, 3)]
    assert [b["colours"] for b in before] == [(head_colour(i),) for i in range(3)]
    assert [(b["size"], b["colours"]) for b in after] == [
        (24, tuple(head_colour(i) for i in range(3)))
    ]
    assert explorer.heat.frame["rows"] == ["The", "bank", "by", "the", "river"]


def test_c07_a_head_stays_in_its_columns_before_w_o_and_not_after_it():
    """One gate down: 4 of 16 columns change before W_O, all 16 after it; the page says so."""
    explorer = HeadGates(d_model=16, H=4, show="change")
    assert not maps(explorer).any()
    for head in range(4):
        explorer.gates = [0.6 if i == head else 1.0 for i in range(4)]
        before, after = (set(np.flatnonzero(m.any(axis=0))) for m in maps(explorer))
        assert before == set(range(4 * head, 4 * head + 4)) and after == set(range(16))
        assert explorer.changed_columns() == (4, 16)
        assert f"head {head + 1} is below 1" in explorer.message
        assert "4 of 16 columns before W_O, 16 after it" in explorer.message


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_length_against_all_gates_at_1_is_said_in_words(language):
    set_language(language)
    explorer = HeadGates(d_model=16, H=4)
    full = explorer.trace.output.norm().item()
    assert f"{full:.2f}" in explorer.message
    explorer.gates = [1.0, 0.0, 1.0, 0.5]
    now = explorer.trace.output.norm().item()
    assert f"{now:.2f}" in explorer.message and f"{100 * now / full:.0f} %" in explorer.message
    assert "2, 4" in explorer.message
    facts = explorer._facts.value
    assert f"<b>{now:.2f}</b>" in facts and f"<b>{full:.2f}</b>" in facts
    assert f"<b>{explorer.lengths.sum():.2f}</b>" in facts


def test_the_scale_stays_while_gates_move_and_goes_as_far_as_any_gates_can():
    """Some heads alone can make a larger number than all of them: they may cancel."""
    explorer = HeadGates(d_model=24, H=8, T=2)
    terms, most = explorer.terms.clone(), explorer.heat.frame["most"]
    assert max(explorer.trace.concat.abs().max(), explorer.trace.output.abs().max()) < 0.9 * most
    largest = 0.0
    for sign in (1, -1):  # for each sign, the gates that make the largest number
        reach = (sign * terms).clamp(min=0).sum(0)
        row, column = divmod(int(reach.argmax()), 24)
        explorer.gates = (sign * terms[:, row, column] > 0).float().tolist()
        assert explorer.heat.frame["most"] == most
        explorer.show = "change"
        assert np.abs(maps(explorer)).max() <= most + 1e-5
        explorer.show = "values"
        largest = max(largest, np.abs(maps(explorer)).max())
    assert largest == pytest.approx(most, rel=1e-5)
    assert explorer.heat.frame["ends"] == [f"−{most:.2f}", "0", f"{most:.2f}"]


# State and controls ---------------------------------------------------------------------


def test_a_slider_that_gives_back_a_hair_more_sets_what_it_shows():
    gates = HeadGates()
    slider = gates._sliders[1]
    slider.value = 0.15000000000000002  # as the page's slider sends it
    assert gates.gates[1] == slider.value == 0.15


def test_moving_a_slider_does_what_setting_the_trait_does():
    explorer = HeadGates(d_model=16, H=4)
    explorer._sliders[2].value = 0.25
    assert explorer.gates == [1, 1, 0.25, 1] and explorer.draws == 2
    explorer.gates = [0.5, 1, 1, 0]
    assert [slider.value for slider in explorer._sliders[:4]] == [0.5, 1, 1, 0]
    assert explorer.draws == 3
    explorer._show.value = "change"
    assert explorer.show == "change" and explorer.draws == 4


@pytest.mark.parametrize("head", range(8))
def test_each_slider_and_each_button_moves_its_own_gate_and_no_other(head):
    before = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    explorer = HeadGates(d_model=16, H=8, gates=before)
    terms = explorer.terms.clone()
    explorer._sliders[head].set_state({"value": 0.95})  # as the page sends it
    after = [0.95 if i == head else gate for i, gate in enumerate(before)]
    assert explorer.gates == after == [slider.value for slider in explorer._sliders]
    moved = [i for i in range(8) if not torch.equal(explorer.terms[i], terms[i])]
    assert moved == [head]
    assert explorer._sliders[head].description == f"Gate of head {head + 1}"
    explorer._only[head].click()
    assert explorer._only[head].description == f"Only head {head + 1}"
    assert explorer.gates == [float(i == head) for i in range(8)]
    assert explorer.shares.tolist() == explorer.gates


def test_presets_set_all_gates_in_one_redraw():
    explorer = HeadGates(d_model=16, H=4)
    buttons = {b.description: b for b in explorer.children[1].children[0].children[-1].children}
    assert list(buttons)[:4] == ["All on", "All off", "Only head 1", "Only head 2"]
    for words, gates in [("All off", [0] * 4), ("Only head 2", OFF_BUT_2), ("All on", [1] * 4)]:
        before = explorer.draws
        buttons[words].click()
        assert explorer.gates == gates and explorer.draws == before + 1
    shown = [b.description for b in buttons.values() if b.layout.display != "none"]
    assert shown[-1] == "Only head 4" and len(shown) == 6
    assert [s.layout.display for s in explorer._sliders] == [None] * 4 + ["none"] * 4


def test_c28_other_heads_set_the_gates_back_and_say_so():
    explorer = HeadGates(d_model=16, H=4, gates=OFF_BUT_2)
    explorer.H = 8
    assert explorer.gates == [1] * 8 and "8 heads now" in explorer.message
    assert [s.value for s in explorer._sliders] == [1] * 8
    explorer.gates = [0.0] + [1.0] * 7
    explorer.d_model = 97
    assert explorer.H == 1 and explorer.gates == [1]
    assert "97" in explorer.message and "all gates are at 1 again" in explorer.message
    explorer.d_model = 96
    explorer.H = 6
    assert explorer.gates == [1] * 6 and "again" not in explorer.message  # nothing was lost
    assert explorer._H.options == (1, 2, 3, 4, 6, 8)


@pytest.mark.parametrize("language", ["en", "es"])
def test_c05_what_cannot_be_drawn_is_explained_and_nothing_old_stands(language):
    set_language(language)
    explorer = HeadGates(d_model=16, H=4)

    def refused(*numbers):
        assert explorer.error is None
        assert all(number in explorer.message for number in numbers), explorer.message
        assert explorer.trace is explorer.terms is explorer.shares is None
        assert explorer.bars.frame["reason"] == explorer.message == explorer.heat.frame["reason"]
        assert "numbers" not in explorer.heat.frame and not explorer._facts.value
        assert "image/png" not in explorer._repr_mimebundle_()[0]
        return [b.heads for b in explorer._fixes if b.layout.display != "none"]

    explorer._typed_H.value = 5
    assert refused("16", "5", "remainder 1" if language == "en" else "resto 1") == [4, 8]
    with pytest.raises(ImpossibleHeadsError) as raised:
        toy.layer(16, 5, 0)
    assert explorer.message == str(raised.value)
    explorer.H = 16  # possible, but more than there are sliders for
    assert refused("16", "8") == [8]
    explorer._fixes[0].click()
    assert explorer.H == 8 and explorer.trace is not None
    explorer.gates = [1.0] * 3
    assert refused("3", "8") == []
    explorer.gates = [1.0] * 7 + [1.5]
    assert refused("1.5", "8") == []
    explorer.gates = [1.0] * 7 + [float("nan")]
    refused("nan", "8")
    explorer.gates = [1.0] * 8
    assert explorer.trace is not None and explorer.heat.frame["reason"] == ""


def test_c27_two_on_a_page_share_nothing():
    first, second = HeadGates(d_model=16, H=4), HeadGates(d_model=16, H=4)
    untouched = second.terms.clone()
    first.gates = [0.0] * 4
    first.H = 2
    assert second.gates == [1] * 4 and torch.equal(second.terms, untouched)


def test_c38_the_global_random_state_is_left_alone():
    state = torch.get_rng_state()
    explorer = HeadGates(d_model=32, H=8)
    explorer.gates = [0.5] * 8
    assert torch.equal(torch.get_rng_state(), state)


# The view, its words, its still picture ----------------------------------------------------


def heat(numbers, title="m") -> Heat:
    blocks = (Block("head 1", "1", ("#000",), 2), Block("head 2", "2", ("#111",), 1))
    return Heat(title, "", torch.tensor(numbers), blocks)


def test_c30_the_maps_say_what_they_hold_and_read_out_a_cell():
    view = HeatView()
    assert view.readout() == "" and view.frame["reason"]
    view.show([heat([[0.5, -0.004, 1.0], [0.0, 0.2, -2.345]])], ["a", "b"], most=3.0)
    assert view.frame["alts"] == [
        "m, 2 tokens × 3 columns. Furthest from 0: b, column 2 (head 2), −2.35"
    ]
    assert view.readout() == view.labels["hint"]
    view.pointed = [0, 1, 2]
    assert view.readout() == "m · b, column 2 (head 2): −2.35"
    view.pointed = [0, 0, 1]
    assert view.readout() == "m · a, column 1 (head 1): 0.00"  # no "−0.00"
    view.show([heat([[1.0, 2.0, 3.0]])], ["a"], most=3.0)
    assert view.pointed == [0, 0, 1]  # still there
    view.pointed = [0, 1, 2]
    assert view.pointed == []  # no such row
    view.clear("why")
    assert view.readout() == "" and view.frame == {"reason": "why"}
    assert signed(-1.005) in ("−1.00", "−1.01") and signed(-0.0) == "0.00"
    assert describe(heat([[0.0, 0.0, 0.0]]), ["a"]).endswith("all of them 0")


def test_c20_tokens_stay_text():
    view = HeatView()
    rows = ["<b>bold</b>", "$x$"]
    view.show([heat([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])], rows, most=3.0)
    assert view.frame["rows"] == rows and "<b>bold</b>, column 2" in view.frame["alts"][0]
    source = view._esm if isinstance(view._esm, str) else view._esm.read_text(encoding="utf-8")
    assert "innerHTML" not in source and "http" not in source


def linear(colour) -> np.ndarray:
    part = np.asarray(colour, dtype=float) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def oklab(rgb) -> np.ndarray:
    to_cones = [[0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005]]  # fmt: skip
    to_lab = [[0.2104542553, 0.7936177850, -0.0040720468],
              [1.9779984951, -2.4285922050, 0.4505937099],
              [0.0259040371, 0.7827717662, -0.8086757660]]  # fmt: skip
    return np.array(to_lab) @ np.cbrt(np.array(to_cones) @ rgb)


def test_c31_the_colours_are_even_and_symmetrical_with_zero_in_the_middle():
    colours = signed_colours()
    assert len(colours) == 255 and len(set(colours[127])) == 1  # zero is grey
    lab = np.array([oklab(linear(colour)) for colour in colours])
    for half in (lab[127::10], lab[127::-10]):  # ten steps at once: rounding matters less
        steps = np.linalg.norm(np.diff(half, axis=0), axis=1)
        assert steps.max() / steps.min() < 1.15
    lightness = lab[:, 0]
    assert lightness.argmax() == 127 and np.abs(lightness - lightness[::-1]).max() < 0.01
    assert (np.diff(lightness[:128:8]) > 0).all() and (np.diff(lightness[127::8]) < 0).all()
    assert all(0 <= value <= 1 for value in from_oklab(0.965, 0, 0))


@pytest.mark.parametrize("missing", ["protan", "deutan"])
def test_c31_blue_and_orange_stay_apart_for_the_colour_blind(missing):
    """Viénot, Brettel & Mollon 1999: what is left of a colour without one kind of cone."""
    lms = np.array([[17.8824, 43.5161, 4.11935], [3.45565, 27.1554, 3.86714],
                    [0.0299566, 0.184309, 1.46709]])  # fmt: skip
    seen = {
        "protan": [[0, 2.02344, -2.52581], [0, 1, 0], [0, 0, 1]],
        "deutan": [[1, 0, 0], [0.494207, 0, 1.24827], [0, 0, 1]],
    }[missing]
    seen = np.linalg.inv(lms) @ np.array(seen) @ lms
    colours = [oklab((seen @ linear(c)).clip(0)) for c in signed_colours()]
    for step in (64, 127):  # half way and at the ends
        apart = np.linalg.norm(colours[127 - step] - colours[127 + step])
        assert apart > 0.08, (step, apart)


def test_the_still_picture_holds_the_maps_their_blocks_and_the_shares():
    explorer = HeadGates(d_model=16, H=4, gates=[1.0, 0.0, 1.0, 1.0])
    figure = explorer._still()
    words = [text.get_text() for text in figure.findobj(Text)]
    for wanted in ("Before W_O: concat", "After W_O: output", "head 4", "river", "15", "−1.45"):
        assert wanted in words, wanted
    images = {image.get_gid(): image for image in figure.axes[0].images}
    shown = images["heat-Before W_O: concat"].get_array()
    most = explorer.heat.frame["most"]
    assert np.allclose((shown - 0.5) * 2 * most, explorer.trace.concat[0], atol=1e-5)
    assert (shown[:, 4:8] == 0.5).all()  # zero is the middle of the scale
    data, metadata = explorer._repr_mimebundle_()
    picture = matplotlib.image.imread(io.BytesIO(data["image/png"]))
    assert picture.shape[1] > 900 and "shares" in metadata["image/png"]["alt"]


def test_a_wide_layer_and_many_tokens_have_a_still_picture_too():
    explorer = HeadGates(d_model=768, H=8, T=128)
    assert explorer.error is None and maps(explorer).shape == (2, 128, 768)
    figure = explorer._still()
    assert figure.get_size_inches()[1] < 6
    one = HeadGates(d_model=1, H=1, T=1)
    assert one.error is None and one.shares.tolist() == [1]
    assert gates_figure(one._heats, one.tokens, one._most, [1.0], ["head 1"]) is not None
