"""Two explorers side by side: independent, linked by their sentence, compared in words."""

import io

import matplotlib.image
import pytest
import torch

from helpers import texts
from helpers.explorers import MultiHeadExplorer, Playground
from helpers.lesson import set_language
from helpers.texts import t

CAT = "the cat sat on the mat"


def cells_of(playground) -> dict[str, list[str]]:
    """What the table shows: quantity -> [left, right, from left to right]."""
    frame = playground.pair.frame
    return dict(zip(frame["names"], frame["rows"], strict=True))


# --- two explorers ------------------------------------------------------------------------------


def test_each_side_is_the_explorer_that_it_would_be_alone():
    playground = Playground(left={"H": 2}, right={"H": 16, "mask": "causal", "seed": 3})
    for side, state in ((playground.left, {"H": 2}),
                        (playground.right, {"H": 16, "mask": "causal", "seed": 3})):  # fmt: skip
        alone = MultiHeadExplorer(**state)
        assert torch.equal(side.weights, alone.weights)
        assert side.maps.frame["weights"] == alone.maps.frame["weights"]
        assert side._facts.value == alone._facts.value


def test_c27_moving_one_side_leaves_the_other_untouched():
    playground = Playground(left={"H": 2}, right={"H": 2})
    right = playground.right.weights.clone()
    draws = playground.right.draws
    for name, value in [("H", 16), ("d_model", 96), ("T", 4), ("seed", 5), ("mask", "causal"),
                        ("temperature", 0.5)]:  # fmt: skip
        setattr(playground.left, name, value)
        assert getattr(playground.right, name) != value
    assert torch.equal(playground.right.weights, right) and playground.right.draws == draws
    again = Playground(left={"H": 2}, right={"H": 2})
    assert torch.equal(again.left.weights, right)


def test_moving_a_control_does_what_setting_the_trait_does():
    playground = Playground()
    playground.right._H.value = 16
    assert playground.comparison["d_k"] == (8, 4)
    playground._same.value = False
    assert playground.same_sentence is False
    playground.left._sentence.value = CAT
    assert playground.right.sentence != CAT


def test_what_is_no_setting_is_named():
    with pytest.raises(TypeError, match="heads"):
        Playground(left={"heads": 3})


# --- the same sentence --------------------------------------------------------------------------


@pytest.mark.parametrize(("typed", "other"), [("left", "right"), ("right", "left")])
def test_linked_sentences_follow_each_other_both_ways(typed, other):
    playground = Playground()
    assert playground.same_sentence
    before = playground.draws
    getattr(playground, typed)._sentence.value = CAT
    assert getattr(playground, other).sentence == CAT
    assert getattr(playground, other)._sentence.value == CAT
    assert playground.left.T == playground.right.T == 6
    assert torch.equal(playground.left.weights, playground.right.weights)
    assert playground.draws == before + 1


def test_unlinked_sentences_are_each_sides_own():
    playground = Playground(same_sentence=False)
    playground.left.sentence = CAT
    assert playground.right.tokens[1] == "bank" and playground.left.tokens[1] == "cat"
    assert "the sentence" in playground.message


def test_switching_it_on_copies_left_to_right():
    playground = Playground(left={"sentence": "left words"}, right={"sentence": "right words now"})
    assert playground.same_sentence is False, "two sentences were asked for"
    before = playground.draws
    playground.same_sentence = True
    assert playground.right.sentence == "left words" == playground.left.sentence
    assert playground.right.T == 2 and playground.draws == before + 1
    playground.right.sentence = "and back"
    assert playground.left.sentence == "and back"


def test_switching_it_on_with_equal_sentences_moves_nothing():
    playground = Playground(left={"T": 5}, right={"T": 18}, same_sentence=False)
    playground.same_sentence = True
    assert (playground.left.T, playground.right.T) == (5, 18)


def test_the_right_side_takes_the_sentence_that_it_was_not_given():
    playground = Playground(left={"sentence": CAT}, right={"H": 2, "T": 9})
    assert playground.right.sentence == CAT and playground.same_sentence
    assert playground.right.T == 9
    assert Playground(left={"H": 2, "T": 5}).right.H == 8, "only the sentence goes over"
    asked = Playground(left={"sentence": CAT}, right={"sentence": "x"}, same_sentence=True)
    assert asked.right.sentence == CAT and asked.right.T == 6


def test_with_hold_both_sides_change_in_one_redraw():
    playground = Playground()
    before = playground.draws
    with playground.hold():
        playground.left.H, playground.right.H, playground.right.sentence = 2, 4, CAT
    assert playground.draws == before + 1
    assert playground.left.sentence == CAT
    assert playground.comparison["maps"] == ((2, 6, 6), (4, 6, 6))
    with playground.left.hold():
        playground.left.H, playground.left.d_model = 4, 128
    assert playground.comparison["d_k"] == (32, 16)


# --- the comparison -----------------------------------------------------------------------------


def test_c08_more_heads_change_the_cut_and_not_the_cost():
    playground = Playground(left={"H": 1}, right={"H": 1})
    for H in (1, 2, 4, 8, 64):
        playground.right.H = H
        assert playground.comparison["parameters"] == (16384, 16384)
        assert playground.comparison["d_k"] == (64, 64 // H)
        assert cells_of(playground)["parameters"] == ["16,384", "16,384", "equal"]


def test_the_table_says_what_stands_in_the_sides_own_facts():
    playground = Playground(left={"H": 2, "T": 9}, right={"H": 16, "T": 18})
    assert cells_of(playground) == {
        "parameters": ["16,384", "16,384", "equal"],
        "operations": ["315,648", "672,768", "× 2.13"],
        "weights in one map": ["81", "324", "× 4"],
        "d_k": ["32", "4", "÷ 8"],
        "scores divided by": ["5.66", "2.00", "÷ 2.83"],
        "maps (H, T, T)": ["(2, 9, 9)", "(16, 18, 18)", "other shape"],
    }
    for side, column in ((playground.left, 0), (playground.right, 1)):
        for name in ("parameters", "operations", "d_k", "scores divided by"):
            assert f"<b>{cells_of(playground)[name][column]}</b>" in side._facts.value


def test_the_table_follows_every_change():
    playground = Playground(left={"H": 2}, right={"H": 2})
    maps = "maps (H, T, T)"
    assert cells_of(playground)[maps][2] == "same numbers"
    for name, value, other in [
        ("seed", 4, "other numbers"), ("seed", 0, "same numbers"),
        ("temperature", 2.0, "other numbers"), ("temperature", 1.0, "same numbers"),
        ("mask", "causal", "other numbers"), ("mask", "none", "same numbers"),
        ("T", 3, "other shape"), ("T", 9, "same numbers"),
        ("H", 4, "other shape"), ("H", 2, "same numbers"), ("d_model", 128, "other numbers"),
    ]:  # fmt: skip
        before = playground.draws
        setattr(playground.right, name, value)
        assert cells_of(playground)[maps][2] == other, (name, value)
        assert playground.draws == before + 1
    assert playground.comparison["parameters"] == (16384, 65536)
    assert cells_of(playground)["parameters"][2] == "× 4"


@pytest.mark.parametrize(("left", "right", "said"), [(1, 512, "× 262,144"), (512, 1, "÷ 262,144")])
def test_large_factors_are_written_out(left, right, said):
    playground = Playground(left={"d_model": left, "H": 1}, right={"d_model": right, "H": 1})
    assert cells_of(playground)["parameters"][2] == said


@pytest.mark.parametrize("language", ["en", "es"])
def test_it_says_how_many_things_differ(language):
    set_language(language)
    playground = Playground(left={"H": 2}, right={"H": 2})
    assert playground.message == t("explorer_playground.differ.nothing")
    playground.right.H = 16
    assert playground.message == t(
        "explorer_playground.differ.one",
        setting=t("explorer_playground.settings.H", left=2, right=16),
    )
    assert "2" in playground.message and "16" in playground.message
    playground.right.seed, playground.left.temperature = 7, 0.5
    playground.right.mask = "causal"
    for name, numbers in [("seed", (0, 7)), ("temperature", (0.5, 1.0)), ("mask", ("", ""))]:
        left, right = numbers
        words = t(f"explorer_playground.settings.{name}", left=left, right=right)
        assert words in playground.message
    assert "4" in playground.message
    assert playground._note.text == playground.message and playground._note.kind == "note"


def test_a_slider_that_gives_back_a_hair_more_makes_no_difference():
    playground = Playground()
    playground.right._temperature.value = 1.1
    playground.right._temperature.value = 1.0000000000000002  # as the page's slider sends it
    assert playground.right.temperature == playground.right._temperature.value == 1.0
    assert playground.message == t("explorer_playground.differ.nothing")
    assert cells_of(playground)["maps (H, T, T)"][2] == "same numbers"


def test_every_setting_has_words():
    words = texts.texts_under("explorer_playground.settings")
    assert set(words) == set(MultiHeadExplorer.STATE)


# --- what cannot be drawn -----------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize(("failing", "standing"), [("left", "right"), ("right", "left")])
def test_c05_an_impossible_side_explains_itself_and_leaves_the_other(failing, standing, language):
    set_language(language)
    playground = Playground(left={"H": 2}, right={"H": 2})
    side, other = getattr(playground, failing), getattr(playground, standing)
    side._typed_H.value = 5
    assert playground.error is None and side.trace is None and "5" in side.message
    assert other.trace is not None and other.maps.frame["weights"] and other._facts.value
    assert playground.comparison is None
    assert all(set(row) == {"–"} for row in playground.pair.frame["rows"])
    assert playground.message == t("explorer_playground.waiting")
    data, _ = playground._repr_mimebundle_()
    assert side.message.rstrip(".") in data["text/plain"] and "H 2" in data["text/plain"]
    assert "image/png" in data  # the other side's maps, and the reason of this one
    next(button for button in side._fixes if button.layout.display != "none").click()
    assert playground.comparison["d_k"] == ((16, 32) if failing == "left" else (32, 16))


def test_an_empty_sentence_on_one_side_waits_for_words():
    playground = Playground(same_sentence=False)
    playground.right.sentence = ""
    assert playground.left.weights is not None and playground.comparison is None
    playground.right.sentence = CAT
    assert playground.comparison["cells"] == (81, 36)


@pytest.mark.parametrize(("failing", "standing"), [("left", "right"), ("right", "left")])
def test_c24_a_fault_of_one_side_shows_and_the_other_side_stands(failing, standing):
    playground = Playground()
    side, other = getattr(playground, failing), getattr(playground, standing)
    side._draw = lambda: 1 / 0
    side.H = 4
    assert isinstance(playground.error, ZeroDivisionError) and playground.error is side.error
    assert "ZeroDivisionError" in playground.message and playground.comparison is None
    assert other.error is None and other.weights is not None
    other.H = 2  # the other side goes on working
    assert other.weights.shape[0] == 2 and playground.error is side.error
    del side._draw
    side.H = 16
    assert playground.error is None and playground.comparison is not None


def test_c24_a_fault_while_a_control_moves_another_is_seen_too(monkeypatch):
    playground = Playground()
    monkeypatch.setattr(playground.left, "_adjust", lambda change: 1 / 0)
    playground.left.H = 4
    assert isinstance(playground.error, ZeroDivisionError)
    monkeypatch.undo()
    playground.left.H = 2
    assert playground.error is None and playground.comparison["d_k"] == (32, 8)


def test_made_with_an_impossible_side_it_recovers():
    playground = Playground(left={"H": 5}, right={"H": 2})
    assert cells_of(playground)["d_k"] == ["–", "–", "–"]
    assert playground.comparison is None and playground.right.weights is not None
    assert playground._repr_mimebundle_()[0]["text/plain"].startswith("Playground")
    playground.left.H = 4
    assert cells_of(playground)["d_k"] == ["16", "32", "× 2"]


# --- what stands beside the live view -----------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "es"])
def test_c25_still_and_text_hold_both_sides_and_what_differs(language):
    set_language(language)
    playground = Playground(left={"H": 2}, right={"H": 16})
    data, metadata = playground._repr_mimebundle_()
    text = data["text/plain"]
    for part in ("d_model 64, H 2, T 9", "d_model 64, H 16, T 9", "16,384", "32 | 4",
                 "5.66 | 2.00", t("explorer_playground.quantities.parameters")):  # fmt: skip
        assert part in text
    equal, different = (
        t(f"explorer_playground.summary_{part}", facts="").rstrip(" .")
        for part in ("equal", "different")
    )
    assert text.index(equal) < text.index("16,384") < text.index(different) < text.index("32 | 4")
    assert len(text) < 400 and metadata["image/png"]["alt"] == text
    same = Playground()._repr_mimebundle_()[0]
    assert different not in same["text/plain"]
    picture = matplotlib.image.imread(io.BytesIO(data["image/png"]))
    other = matplotlib.image.imread(io.BytesIO(same["image/png"]))
    assert picture.shape[0] > 600 and picture.shape[1] == 980
    assert picture.shape != other.shape or not (picture == other).all()


def test_the_still_draws_the_maps_of_both_sides(monkeypatch):
    from helpers.stills import playground as still

    drawn = []
    monkeypatch.setattr(
        still, "draw_maps", lambda page, y, weights, *a, **k: drawn.append(weights) or y
    )
    playground = Playground(left={"H": 2}, right={"H": 16})
    playground._still()
    assert torch.equal(drawn[0], playground.left.weights)
    assert torch.equal(drawn[1], playground.right.weights)


def test_c20_the_page_gets_words_as_text_and_names_both_sides():
    playground = Playground(left={"sentence": "<b>x</b> $y$"})
    frame = playground.pair.frame
    assert frame["titles"] == ["Left layer", "Right layer"]
    assert frame["heads"] == ["left", "right", "left → right"]
    source = playground.pair._esm
    assert "innerHTML" not in str(source) and "textContent" in str(source)
    assert playground._repr_mimebundle_()[0]["text/plain"]
