"""Every explorer's main control moved, kernel side: the slowest is the line.

The budget is 0.1 s, "about the limit for having the user feel that the system is reacting
instantaneously" (Nielsen 1993, "Usability Engineering", chapter 5; the passage is at
https://www.nngroup.com/articles/response-times-3-important-limits/, after Miller 1968).
"""

from helpers import explorers

from .in_kernel import Way, medians_ms, run_in_kernel
from .report import Line

ROUNDS = 9
# Its main control and two legal values, the first another than it begins with. The move measured
# is the one from the first to the second.
MAIN = {
    "AttentionBudget": ("river", [0.0, 3.0]),
    "EncoderExplorer": ("sentence", ["The bank was steep.", "The bank issued a statement."]),
    "HeadGates": ("gates", [[1.0, 0.0, 1.0, 1.0], [1.0] * 4]),
    "HeadGraphExplorer": ("threshold", [0.5, 0.1]),
    "HeadRoles": ("measure", ["entropy", "previous"]),
    "LiveGates": ("off", [[[1, 3]], []]),
    "MaskExplorer": ("mask", ["none", "both"]),
    "MultiHeadExplorer": ("H", [16, 8]),
    "Playground": ("left.H", [16, 8]),
    "RelationBoard": ("relation", ["det", "obj"]),
    "ReshapeLab": ("step", ["scores", "transpose"]),
    "ShapeExplorer": ("H", [4, 8]),
    "SoftmaxSaturation": ("d_k", [256, 64]),
    "TrainingRuns": ("seeds", [4, 5]),
}


def measure(rounds: int = ROUNDS) -> dict[str, float]:
    """Runs inside a kernel: explorer -> median milliseconds of a move of its main control."""
    return {name: move_ms(name, rounds) for name in explorers.__all__}


def move_ms(name: str, rounds: int) -> float:
    """Raises AssertionError when the move does not redraw exactly once, or draws a fault."""
    path, values = MAIN[name]
    explorer = getattr(explorers, name)()
    *parents, trait = path.split(".")
    moved = explorer
    for parent in parents:
        moved = getattr(moved, parent)
    draws = [moved.draws]

    def change(value):
        draws[0] = moved.draws
        setattr(moved, trait, value)

    def drawn(value) -> bool:
        well = explorer.error is None and moved._note.kind != "problem"
        return well and getattr(moved, trait) == value and moved.draws == draws[0] + 1

    return medians_ms({name: Way(change, drawn)}, values, rounds)[name]


def run() -> list[Line]:
    took = run_in_kernel(__name__, "measure")
    slowest = max(took, key=took.get)
    return [
        Line("explorers", took[slowest], "ms", at_most=100, names={"explorer": slowest}, parts=took)
    ]
