"""`cross_shapes` of lesson 10: five shapes, said before they are computed.

The words of every kind below are in texts/<language>/check_10.json.
"""

from collections.abc import Callable, Sequence
from numbers import Integral

from torch import Tensor

from .base import Exercise, Probe, ProblemError
from .case import Case
from .comparing import described

TENSORS = ("Q", "K", "V", "scores", "output")


def sizes_of(B: int, T_query: int, T_key: int, H: int, d_k: int) -> dict[str, int]:
    d_model = H * d_k
    return {"B": B, "T_query": T_query, "T_key": T_key, "d_model": d_model, "H": H, "d_k": d_k}


def cross_shapes(B: int, T_query: int, T_key: int, d_model: int, num_heads: int) -> tuple:
    H, d_k = num_heads, d_model // num_heads
    queries, keys = (B, H, T_query, d_k), (B, H, T_key, d_k)
    return queries, keys, keys, (B, H, T_query, T_key), (B, T_query, d_model)


def first_wrong(answer: Callable, *sizes: int, **named: int):
    """The first shape that is wrong, "Q (2, 5, 12)", so that slips are told one by one.

    "right" when none is. Raises `ProblemError` for what is no list of five shapes.
    """
    sizes = (*sizes, *named.values())
    shapes = answer(*sizes)
    if isinstance(shapes, dict):
        names = {str(name).lower(): shape for name, shape in shapes.items()}
        if names.keys() == {name.lower() for name in TENSORS}:
            shapes = [names[name.lower()] for name in TENSORS]
    if shapes is None or shapes is NotImplemented:
        return None
    if not isinstance(shapes, (tuple, list)) or not shapes:
        raise ProblemError("no_list_of_shapes", own=True, got=described(shapes))
    count = len(shapes)
    if all(isinstance(part, Integral) for part in shapes):
        raise ProblemError("sizes_alone", own=True, count=count)
    if count != len(TENSORS):
        kind = "shapes_missing" if count < len(TENSORS) else "shapes_too_many"
        raise ProblemError(kind, own=True, count=count)
    right = cross_shapes(*sizes)
    for name, shape, wanted in zip(TENSORS, map(_as_shape, shapes), right, strict=True):
        if str(shape) != str(wanted):  # as text, where 4.0 is not 4
            return _WRONG[name](f"{name} {shape}")
    return "right"


# Texts that a verdict quotes without quotation marks and names by their tensor.
_WRONG = {name: type(name, (str,), {"__repr__": str.__str__}) for name in TENSORS}


def _as_shape(shape):
    """Lists, torch.Size, tensors that hold a shape, and tensors that have it, as tuples."""
    if isinstance(shape, Tensor):
        shape = shape.tolist() if shape.dim() == 1 else shape.shape
    if not isinstance(shape, Sequence) or isinstance(shape, str):
        return (shape,)
    return tuple(int(size) if isinstance(size, Integral) else size for size in shape)


def _probe(*sizes: int, condition: str = "") -> Probe:
    named = sizes_of(*sizes)
    inputs = {name: named[name] for name in ("B", "T_query", "T_key", "d_model")}
    return Probe({**inputs, "num_heads": named["H"]}, named, condition)


shapes_exercise = Exercise(
    id="10.cross_shapes",
    call="cross_shapes(B, T_query, T_key, d_model, num_heads)",
    axes=(),
    reference=cross_shapes,
    run=first_wrong,
    make_probes=lambda: [_probe(2, 5, 7, 3, 4), _probe(3, 9, 4, 2, 5)],
    make_easier=lambda: [
        _probe(2, 10, 10, 8, 64, condition="T = 10, d_model = 512, H = 8"),
        _probe(1, 5, 7, 3, 4, condition="B = 1"),
    ],
)


def shapes_with(tensor: str, symbols: str) -> Callable:
    """The right shapes, but `tensor` has the shape that `symbols` say: "B H T_query d_k"."""

    def wrong(B, T_query, T_key, d_model, num_heads):
        sizes = sizes_of(B, T_query, T_key, num_heads, d_model // num_heads)
        sizes["decimal"] = d_model / num_heads
        shapes = list(cross_shapes(B, T_query, T_key, d_model, num_heads))
        shapes[TENSORS.index(tensor)] = tuple(sizes[name] for name in symbols.split())
        return shapes

    return wrong


# kind -> (tensor, the shape written for it)
WRONG_SHAPES = {
    "query_has_key_length": [("Q", "B H T_key d_k")],
    "key_has_query_length": [("K", "B H T_query d_k")],
    "value_has_query_length": [("V", "B H T_query d_k")],
    "not_split": [("Q", "B T_query d_model"), ("K", "B T_key d_model"), ("V", "B T_key d_model")],
    "axes_not_swapped": [
        ("Q", "B T_query H d_k"), ("K", "B T_key H d_k"), ("V", "B T_key H d_k")
    ],
    "heads_as_wide_as_the_model": [
        ("Q", "B H T_query d_model"), ("K", "B H T_key d_model"), ("V", "B H T_key d_model")
    ],
    "batch_forgotten": [
        ("Q", "H T_query d_k"), ("K", "H T_key d_k"), ("V", "H T_key d_k"),
        ("scores", "H T_query T_key"), ("output", "T_query d_model"),
    ],
    "decimal_width": [
        ("Q", "B H T_query decimal"), ("K", "B H T_key decimal"), ("V", "B H T_key decimal")
    ],
    "key_turned": [("K", "B H d_k T_key")],
    "scores_square": [("scores", "B H T_query T_query"), ("scores", "B H T_key T_key")],
    "scores_turned": [("scores", "B H T_key T_query")],
    "scores_without_heads": [("scores", "B T_query T_key")],
    "scores_keep_d_k": [("scores", "B H T_query d_k"), ("scores", "B H T_query T_key d_k")],
    "output_has_key_length": [("output", "B T_key d_model")],
    "output_not_merged": [("output", "B H T_query d_k"), ("output", "B T_query H d_k")],
    "output_of_one_head": [("output", "B T_query d_k")],
    "output_as_scores": [("output", "B T_query T_key"), ("output", "B H T_query T_key")],
}  # fmt: skip
SYMBOLS = ("B, H, T_query, d_k", "B, H, T_key, d_k", "B, H, T_key, d_k", "B, H, T_query, T_key",
           "B, T_query, d_model")  # fmt: skip


def other_shape(case: Case):
    """Any other wrong shape, beside the right one."""
    tensor, shape = str(case.got).split(" ", 1)
    place, inputs = TENSORS.index(tensor), case.probe.inputs
    right = cross_shapes(*inputs.values())[place]
    values = {"tensor": tensor, "symbols": f"({SYMBOLS[place]})", "right": str(right)}
    return "other_shape", {**values, "got_shape": shape}


shapes_exercise.rules += [other_shape]
for kind, ways in WRONG_SHAPES.items():
    shapes_exercise.misconception(kind, *(shapes_with(*way) for way in ways))
