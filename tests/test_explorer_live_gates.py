"""LiveGates: a press removes that head and no other, from the grid, the state and the numbers."""

import pytest
import torch
from explorer_moves.encoder import small_encoder

from helpers.explorers import LiveGates

H = 3  # heads of each of the small encoder's 6 layers
# The grid's cell, counted row by row from 0, and the [layer, head] it stands for, from 1.
CELLS = [(0, [1, 1]), (2, [1, 3]), (3, [2, 1]), (7, [3, 2]), (17, [6, 3])]


@pytest.fixture
def explorer():
    return LiveGates(encoder=small_encoder())


def press(explorer, cell: int) -> None:
    """As the page does it; the second number makes every press another."""
    explorer.grid.set_state({"pressed": [cell, explorer.grid.pressed[1] + 1]})


def removed(explorer) -> list[int]:
    """The cells that the page shows as removed."""
    cells = explorer.grid.frame["cells"]
    shown = [i for i, cell in enumerate(cells) if not cell["on"]]
    assert shown == [i for i, cell in enumerate(cells) if cell["number"] == "off"]
    return shown


@pytest.mark.parametrize(("cell", "head"), CELLS)
def test_a_press_removes_that_head_and_a_second_one_brings_it_back(explorer, cell, head):
    press(explorer, cell)
    assert explorer.off == [head] and removed(explorer) == [cell]
    label = explorer.grid.frame["cells"][cell]["label"]
    assert label.startswith(f"L{head[0]}-H{head[1]}"), label
    press(explorer, cell)
    assert explorer.off == [] and removed(explorer) == []


def test_a_press_leaves_the_heads_that_were_removed_before(explorer):
    explorer.off = [[1, 1], [6, 3]]
    press(explorer, 4)
    assert explorer.off == [[1, 1], [2, 2], [6, 3]] and removed(explorer) == [0, 4, 17]
    press(explorer, 0)
    assert explorer.off == [[2, 2], [6, 3]] and removed(explorer) == [4, 17]


@pytest.mark.parametrize(("cell", "head"), CELLS)
def test_the_numbers_are_those_without_that_head(explorer, cell, head):
    press(explorer, cell)
    texts = [explorer.first, explorer.second]

    def similarity(layer, head) -> float:
        gates = torch.ones(6, H)
        gates[layer - 1, head - 1] = 0
        one, other = small_encoder().encode_batch(texts, gates, max_tokens=256)
        return float(one.sentence_vector @ other.sentence_vector)

    assert explorer.similarity == pytest.approx(similarity(*head), abs=1e-6)
    neighbour = [head[0], head[1] % H + 1]
    assert abs(explorer.similarity - similarity(*neighbour)) > 1e-5


@pytest.mark.parametrize("layer", range(1, 7))
def test_a_layers_button_removes_its_heads_alone_and_brings_them_back(explorer, layer):
    other = [layer % 6 + 1, 2]
    explorer.off = [other]
    explorer._layers[layer - 1].click()
    own = [[layer, head] for head in range(1, H + 1)]
    assert explorer.off == sorted([*own, other])
    first = (layer - 1) * H
    assert set(removed(explorer)) == {first, first + 1, first + 2, (other[0] - 1) * H + 1}
    explorer._layers[layer - 1].click()
    assert explorer.off == [other]
    explorer._all.click()
    assert explorer.off == [] and removed(explorer) == []
