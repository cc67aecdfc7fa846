"""Change of H in `MultiHeadExplorer`, kernel side, against `interact` with pyplot."""

from . import usual_way
from .in_kernel import Way, medians_ms, run_in_kernel
from .report import Line

# Every change measured arrives at 8 heads, from above.
HEADS = [4, 16, 8]
ROUNDS = 7


def measure() -> dict:
    """Runs inside a kernel: median milliseconds of either way."""
    import ipywidgets
    import torch
    from IPython import get_ipython

    from helpers.explorers import MultiHeadExplorer

    get_ipython().run_line_magic("matplotlib", "inline")
    explorer = MultiHeadExplorer(
        sentence=usual_way.SENTENCE,
        T=usual_way.T,
        d_model=usual_way.D_MODEL,
        H=8,
        seed=usual_way.SEED,
    )

    def set_H(H):
        explorer.H = H

    def same_maps(H):
        return explorer.error is None and torch.allclose(explorer.weights, usual_way.weights_of(H))

    drawn = []

    def draw(H):
        usual_way.draw(H)
        drawn.append(H)

    slider = usual_way.slider(8)
    ipywidgets.interact(draw, H=slider)

    def move(H):
        slider.value = H

    return medians_ms(
        {
            "ours": Way(set_H, same_maps, per_round=6),
            "usual": Way(move, lambda H: drawn[-1] == H),
        },
        HEADS,
        ROUNDS,
    )


def run() -> list[Line]:
    took = run_in_kernel(__name__, "measure")
    budget = {"unit": "ms", "at_most": 10, "ratio": 100}
    return [Line("heads_in_kernel", took["ours"], against=took["usual"], than="interact", **budget)]
