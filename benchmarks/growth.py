"""Change of H to 64 with 128 tokens, kernel side: a million cells in one picture."""

from .in_kernel import Way, medians_ms, run_in_kernel
from .report import Line

T = 128
HEADS = [32, 64]
ROUNDS = 30


def measure() -> dict:
    """Runs inside a kernel: median milliseconds of a change from 32 to 64 heads."""
    from helpers.explorers import MultiHeadExplorer

    sentence = " ".join(f"word{i}" for i in range(T))
    explorer = MultiHeadExplorer(sentence=sentence, T=T, d_model=512, H=32)

    def set_H(H):
        explorer.H = H

    def drawn(H):
        return explorer.error is None and tuple(explorer.weights.shape) == (H, T, T)

    return medians_ms({"ours": Way(set_H, drawn)}, HEADS, ROUNDS)


def run() -> list[Line]:
    return [Line("growth", run_in_kernel(__name__, "measure")["ours"], "ms", at_most=60)]
