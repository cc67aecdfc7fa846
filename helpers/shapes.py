"""What happened to the shape, step by step, read off the tensors themselves.

A step's shape, strides and memory order are those of the tensor that ran, so this trace
cannot disagree with the layer. Counts of parameters and floating-point operations follow.
"""

from dataclasses import dataclass

from torch import Tensor, nn

from .attention import AttentionTrace

# name of the tensor in the trace -> symbolic shape. The operation's wording is in texts/.
SYMBOLIC_SHAPES = {
    "X": ("B", "T", "d_model"),
    "Q": ("B", "T", "d_model"),
    "Q_view": ("B", "T", "H", "d_k"),
    "Q_heads": ("B", "H", "T", "d_k"),
    "scores": ("B", "H", "T", "T"),
    "weights": ("B", "H", "T", "T"),
    "heads": ("B", "H", "T", "d_k"),
    "swapped": ("B", "T", "H", "d_k"),
    "concat": ("B", "T", "d_model"),
    "output": ("B", "T", "d_model"),
}

OPERATIONS = {
    "X": "input",
    "Q": "X · W_Q",
    "Q_view": "view",
    "Q_heads": "transpose(1, 2)",
    "scores": "Q Kᵀ / √d_k",
    "weights": "softmax",
    "heads": "weights · V",
    "swapped": "transpose(1, 2)",
    "concat": "contiguous, view",
    "output": "concat · W_O",
}


@dataclass(frozen=True)
class ShapeStep:
    """One step: the tensor's name, the operation that made it, and how it lies in memory.

    `strides` says how many numbers to skip in memory to move by one along each axis.
    `contiguous`: reading the tensor in order is reading memory in order.
    """

    name: str
    operation: str
    symbols: tuple[str, ...]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    contiguous: bool

    @property
    def symbolic(self) -> str:
        return f"({', '.join(self.symbols)})"


def shape_step(name: str, operation: str, symbols: tuple[str, ...], tensor: Tensor) -> ShapeStep:
    """The step that produced `tensor`. Raises ValueError when the symbols do not name its axes."""
    if len(symbols) != tensor.dim():
        raise ValueError(
            f"{name}: {len(symbols)} symbols {symbols} for a tensor with "
            f"{tensor.dim()} axes {tuple(tensor.shape)}."
        )
    return ShapeStep(
        name, operation, symbols, tuple(tensor.shape), tensor.stride(), tensor.is_contiguous()
    )


def shape_trace(trace: AttentionTrace) -> list[ShapeStep]:
    """The steps of one multi-head attention in order, from X to the output."""
    return [
        shape_step(name, OPERATIONS[name], SYMBOLIC_SHAPES[name], getattr(trace, name))
        for name in SYMBOLIC_SHAPES
    ]


def count_parameters(module: nn.Module) -> int:
    """How many numbers the module learns."""
    return sum(parameter.numel() for parameter in module.parameters())


def count_flops(trace: AttentionTrace) -> dict[str, int]:
    """Floating-point operations of the matrix products, a multiply and an add counted as two.

    Four projections of (B·T, d_model) by (d_model, d_model), then Q Kᵀ and weights · V.
    softmax and the scale are left out, as `torch.utils.flop_counter` leaves them out.
    """
    B, H, T, d_k = trace.Q_heads.shape
    d_model = trace.X.shape[-1]
    projections = 4 * 2 * B * T * d_model * d_model
    attention = 2 * 2 * B * H * T * T * d_k
    return {"projections": projections, "attention": attention, "total": projections + attention}
