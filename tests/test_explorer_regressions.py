"""Faults that the machines of test_explorer_machines.py, or reading for them, brought to light."""

import math

import pytest
import traitlets

from helpers.explorers import (
    AttentionBudget,
    LiveGates,
    MaskExplorer,
    MultiHeadExplorer,
    SoftmaxSaturation,
    TrainingRuns,
)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_said_in_words(score):
    explorer = AttentionBudget()
    explorer.river = score
    assert explorer.error is None and f"{score}" in explorer.message
    assert explorer.weights is None and explorer.bars.frame["reason"] == explorer.message
    explorer.river = 1.0
    assert explorer.weights is not None and explorer._note.kind == "note"


@pytest.mark.parametrize("temperature", [math.nan, math.inf, 0.0])
def test_a_temperature_that_cannot_divide_is_said_in_words(temperature):
    explorer = MultiHeadExplorer(d_model=16, H=4)
    explorer.temperature = temperature
    assert explorer.error is None and explorer.weights is None
    assert f"{temperature}" in explorer.message


def test_sliders_show_values_of_code_beyond_their_ends_and_come_back():
    explorer = MultiHeadExplorer(d_model=16, H=4)
    for temperature, low, high in [(25.0, 0.1, 25.0), (0.01, 0.01, 4.0), (1.0, 0.1, 4.0)]:
        explorer.temperature = temperature
        slider = explorer._temperature
        assert (slider.value, slider.min, slider.max) == (temperature, low, high)
    budget = AttentionBudget(river=30.0)
    slider = budget._sliders["river"]
    assert (slider.value, slider.min, slider.max) == (30.0, -4.0, 30.0) and budget.river == 30.0


def test_seeds_of_five_digits_stand_in_their_field():
    explorer, saturation = MultiHeadExplorer(seed=12345), SoftmaxSaturation(seed=54321)
    assert explorer._seed.value == 12345 and saturation._seed.value == 54321


def test_a_negative_seed_is_said_in_words():
    explorer = SoftmaxSaturation()
    explorer.seed = -1
    assert explorer.variance is None and "-1" in explorer.message and explorer.error is None


def test_training_controls_follow_what_code_sets():
    explorer = TrainingRuns(seeds=1, steps=10)
    assert explorer._steps.value == 10
    with explorer.hold():
        explorer.seeds, explorer.steps = 3, 5  # the second is too few
    assert explorer._seeds.value == 3 and not explorer.runs


def test_mask_controls_follow_also_while_another_choice_is_impossible():
    explorer = MaskExplorer()
    explorer.empty = 7
    explorer.mask, explorer.length_1 = "causal", 2
    assert explorer._mask.value == "causal" and explorer._lengths[0].value == 2
    assert explorer.weights is None


def test_heads_that_are_no_pairs_of_numbers_are_refused_at_once():
    with pytest.raises(traitlets.TraitError):
        LiveGates.off.validate(LiveGates.__new__(LiveGates), [["a", 1]])


def test_several_traits_at_once_move_nothing_else_and_draw_once():
    explorer = MultiHeadExplorer(d_model=64, H=8)
    with explorer.hold_trait_notifications():
        explorer.d_model, explorer.H = 96, 5
    assert (explorer.d_model, explorer.H, explorer.draws) == (96, 5, 2)
    assert "96" in explorer.message and "5" in explorer.message and explorer.weights is None


def test_c23_a_place_that_the_list_no_longer_has_is_taken_back_on_the_page(monkeypatch):
    """A late message: the page asked for the 8th number of heads of 768, the width is 1 by now."""
    explorer = MultiHeadExplorer(d_model=1, H=1)
    page = {}
    monkeypatch.setattr(explorer._H, "_send", lambda msg, buffers=None: page.update(msg["state"]))
    with pytest.raises(traitlets.TraitError):
        explorer._H.set_state({"index": 7})
    assert page["index"] == 0
    explorer.d_model = 768
    assert explorer.H == 1 and page["index"] == 0 and len(page["_options_labels"]) == 18


def test_c28_no_message_changes_the_list_of_heads_together_with_the_place(monkeypatch):
    """Where the reader has moved on meanwhile, the page would keep the old list's length."""
    explorer = MultiHeadExplorer(d_model=64, H=8)
    sent = []
    monkeypatch.setattr(explorer._H, "_send", lambda msg, buffers=None: sent.append(msg["state"]))
    for width in (768, 97, 64, 1, 48):
        explorer.d_model = width
        (labels,) = (state for state in sent if "_options_labels" in state)
        assert list(labels) == ["_options_labels"]
        assert sent[-1] == {"index": explorer._H.index}
        sent.clear()
    explorer._H.send_state()
    assert [len(state) for state in sent] == [1, len(explorer._H.keys) - 1]
