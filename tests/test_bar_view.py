"""Bars of one distribution: as data for the page and in words."""

import math

import pytest
import torch

from helpers.texts import set_language
from helpers.views.bar_view import BarView

TOKENS = "The bank by the river issued a statement .".split()
WEIGHTS = [0.05, 0.06, 0.05, 0.05, 0.67, 0.04, 0.03, 0.03, 0.02]


@pytest.fixture
def view():
    return BarView()


def only(view):
    (series,) = view.frame["series"]
    return series


def test_bars_hold_labels_values_and_the_numbers_beside_them(view):
    view.show(TOKENS, WEIGHTS, title="What bank looks at")
    assert view.frame["labels"] == TOKENS
    assert only(view)["values"] == WEIGHTS
    assert only(view)["numbers"][4] == "0.67"
    assert only(view)["total"] == "sum 1.000"
    assert view.frame["title"] == "What bank looks at"


def test_c21_thirteen_tokens_are_thirteen_bars(view):
    tokens = "the cat sat on the mat because the mat was warm today .".split()
    values = [(i + 1) / 91 for i in range(13)]
    view.show(tokens, values)
    assert view.frame["labels"] == tokens
    assert tokens.count("the") == 3 and tokens.count("mat") == 2
    assert only(view)["values"] == values
    assert view.describe().count("the 0.") == 3


def test_the_sum_is_that_of_the_values_unless_another_is_given(view):
    view.show(["a", "b"], [0.25, 0.5])
    assert only(view)["total"] == "sum 0.750"
    view.show(["a", "b"], [0.25, 0.5], total=1.0)
    assert only(view)["total"] == "sum 1.000"
    view.show(["a", "b"], [0.0, 0.0], total=0.0)
    assert only(view)["total"] == "sum 0.000"


def test_a_small_weight_does_not_read_as_none(view):
    view.show(["a", "b", "c", "d"], [0.004, 0.0, 0.005, 0.991])
    assert only(view)["numbers"] == ["<0.01", "0.00", "0.01", "0.99"]


def test_several_series_stay_apart(view):
    flat = [1 / 9] * 9
    view.show_series(TOKENS, {"with scale": WEIGHTS, "without scale": flat}, title="One row")
    assert [s["name"] for s in view.frame["series"]] == ["with scale", "without scale"]
    assert [s["values"] for s in view.frame["series"]] == [WEIGHTS, flat]
    assert "One row: with scale: The 0.05" in view.describe()
    assert "One row: without scale: The 0.11" in view.describe()


def test_markers_and_colours_travel_along(view):
    view.show(["a", "b"], [0.4, 0.6], markers={"one half": 0.5}, colours=["#0072B2", "#E69F00"])
    assert view.frame["markers"] == [["one half", 0.5]]
    assert view.frame["colours"] == ["#0072B2", "#E69F00"]


def test_tensors_are_taken_as_they_are(view):
    weights = torch.tensor([0.0, 5.0, 1.0]).softmax(0)
    view.show(["a", "b", "c"], weights)
    assert only(view)["values"] == pytest.approx(weights.tolist())
    view.show(["a"], torch.tensor([1.0000001]))  # float32 rounding is no fault


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.2, 1.4])
def test_a_value_that_is_no_weight_is_named(view, value):
    view.show(TOKENS, WEIGHTS)
    with pytest.raises(ValueError, match=r"“river” is .*from 0 to 1"):
        view.show(["The", "river"], [0.5, value])
    assert view.frame["labels"] == TOKENS  # the picture before stays whole


def test_lengths_that_do_not_fit_are_named_with_their_numbers(view):
    with pytest.raises(ValueError, match="3 values for 2 labels"):
        view.show(["a", "b"], [0.1, 0.2, 0.7])
    with pytest.raises(ValueError, match="second: 1 values for 2 labels"):
        view.show_series(["a", "b"], {"first": [0.1, 0.9], "second": [1.0]})
    with pytest.raises(ValueError, match="1 colours for 2 labels"):
        view.show(["a", "b"], [0.5, 0.5], colours=["#000"])
    with pytest.raises(ValueError, match="5 series: at most 4"):
        view.show_series(["a"], {str(n): [1.0] for n in range(5)})


def test_c30_the_description_holds_every_number(view):
    view.show(TOKENS, WEIGHTS, title="What bank looks at")
    assert view.describe() == (
        "What bank looks at: The 0.05, bank 0.06, by 0.05, the 0.05, river 0.67, issued 0.04, "
        "a 0.03, statement 0.03, . 0.02; sum 1.000."
    )


def test_a_long_description_keeps_the_largest(view):
    values = [0.01] * 30 + [0.7]
    view.show([f"t{i}" for i in range(31)], values)
    assert view.describe().startswith("t30 0.70, t0 0.01")
    assert "and 23 smaller ones; sum 1.000." in view.describe()


def test_c05_clear_says_why_and_keeps_the_rows(view):
    view.show(TOKENS, WEIGHTS)
    view.clear("d_k = 0: nothing to draw.")
    assert view.frame["reason"] == view.describe() == "d_k = 0: nothing to draw."
    assert view.frame["labels"] == TOKENS
    view.show(TOKENS, WEIGHTS)
    assert view.frame["reason"] == ""


def test_c42_spanish_words(view):
    set_language("es")
    view.show(TOKENS, WEIGHTS)
    assert only(view)["total"] == "suma 1.000"
    assert view.frame["label"] == "Pesos, una barra por token"
    view.clear()
    assert "Todavía" in view.describe()


def test_a_change_is_one_change(view):
    changes = []
    view.observe(lambda change: changes.append(change.name))
    view.show(TOKENS, WEIGHTS)
    assert changes == ["frame"]


def test_c27_two_views_share_nothing(view):
    other = BarView()
    other.show(TOKENS, WEIGHTS)
    view.show(["a"], [1.0])
    view.clear("gone")
    assert other.frame["labels"] == TOKENS
    assert other.frame["reason"] == ""
