"""The usual way to show maps that follow a slider: `interact` and a new pyplot figure.

What the explorers are measured against, in the kernel and in the browser: the same layer,
sentence and maps as `MultiHeadExplorer`, redrawn by a callback as many notebooks do it.
"""

import ipywidgets
import matplotlib.pyplot as plt
import torch

from helpers import toy
from helpers.attention import legal_heads

D_MODEL = 512
SENTENCE = "The bank by the river issued a statement today ."
T = 10
SEED = 0
LABEL = "H, the usual way"


def weights_of(H: int) -> torch.Tensor:
    """The maps (H, T, T) that `MultiHeadExplorer` shows for the same state."""
    tokens = toy.tokens_for(SENTENCE, T)
    X = toy.embed(tokens, D_MODEL, SEED)
    with torch.inference_mode():
        return toy.layer(D_MODEL, H, SEED).trace(X).weights[0]


def draw(H: int):
    """A new pyplot figure with H maps, the tokens written on both axes of each."""
    weights, tokens = weights_of(H), toy.tokens_for(SENTENCE, T)
    columns = min(H, 4)
    rows = -(-H // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3 * columns, 3 * rows), squeeze=False)
    for head, ax in zip(range(H), axes.flat, strict=False):
        ax.imshow(weights[head], vmin=0, vmax=1)
        ax.set_xticks(range(T), tokens, rotation=90)
        ax.set_yticks(range(T), tokens)
        ax.set_title(f"head {head + 1}")
    figure.tight_layout()
    plt.show()


def slider(H: int) -> ipywidgets.SelectionSlider:
    return ipywidgets.SelectionSlider(options=legal_heads(D_MODEL), value=H, description=LABEL)
