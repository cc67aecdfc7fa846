"""Shape steps, bars, maps and tokens in words, for the live views and the still figures alike."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import fsum, sqrt

import numpy as np

from .shapes import OPERATIONS, SYMBOLIC_SHAPES, ShapeStep
from .texts import t, texts_under

# The steps of a single head, without H: operation and axes (B may stand before them).
ONE_HEAD = {
    "X": ("input", ("T", "d_model")),
    "Q": ("X · W_Q", ("T", "d_k")),
    "K": ("X · W_K", ("T", "d_k")),
    "V": ("X · W_V", ("T", "d_k")),
    "scores": ("Q Kᵀ / √d_k", ("T", "T")),
    "weights": ("softmax", ("T", "T")),
    "head": ("weights · V", ("T", "d_k")),
}


def axis_sizes(steps: Sequence[ShapeStep]) -> dict[str, int]:
    """The size of every axis that occurs: {"B": 1, "T": 9, "d_model": 512, …}."""
    return {
        axis: size for step in steps for axis, size in zip(step.symbols, step.shape, strict=True)
    }


def without_batch(step: ShapeStep) -> ShapeStep:
    """The same step with a leading axis B left out of symbols, shape and strides."""
    if step.symbols[:1] != ("B",):
        return step
    return ShapeStep(
        step.name,
        step.operation,
        step.symbols[1:],
        step.shape[1:],
        step.strides[1:],
        step.contiguous,
    )


def operation_text(step: ShapeStep, sizes: Mapping[str, int]) -> str:
    """The operation in the reader's language, or the step's own words where we have none."""
    return _known_text("operation", step, sizes) or step.operation


def meaning_text(step: ShapeStep, sizes: Mapping[str, int]) -> str:
    """One sentence: what this step does, with this step's numbers."""
    return _known_text("meaning", step, sizes) or t(
        "shapes.made_by", name=step.name, operation=step.operation
    )


def _known_text(group: str, step: ShapeStep, sizes: Mapping[str, int]) -> str | None:
    """Our text for a step that we know. One that merely shares a name with ours gets none."""
    symbols = without_batch(step).symbols
    if OPERATIONS.get(step.name) == step.operation and symbols == SYMBOLIC_SHAPES[step.name][1:]:
        key = step.name
    elif ONE_HEAD.get(step.name) == (step.operation, symbols):
        key = f"one_{step.name}"
    else:
        return None
    scale = {"scale": f"{sqrt(sizes['d_k']):.4g}"} if "d_k" in sizes else {}
    try:
        return t(f"shapes.{group}.{key}", **sizes, **scale)
    except KeyError:  # the text speaks of an axis that this trace does not have
        return None


def as_tuple(numbers: Sequence[object]) -> str:
    """(9, 512), and (9,) for one number, as Python writes them."""
    inside = ", ".join(str(n) for n in numbers)
    return f"({inside},)" if len(numbers) == 1 else f"({inside})"


def batch_text(steps: Sequence[ShapeStep]) -> str:
    """What leaving B out means here; empty where no step has a leading axis B."""
    sizes = {step.shape[0] for step in steps if step.symbols[:1] == ("B",)}
    if not sizes:
        return ""
    B = max(sizes)
    return t("shapes.batch_one") if B == 1 else t("shapes.batch_many", B=B)


MOST_SERIES = 4  # each has a pattern of its own


def bar_number(value: float) -> str:
    """Two decimals; a small weight that is not zero does not read as zero."""
    return "<0.01" if 0 < value < 0.005 else f"{value:.2f}"


def check_bars(labels: Sequence[str], series: Mapping[str, Sequence[float]]) -> None:
    """Raises ValueError unless every series has one number from 0 to 1 for each label."""
    if len(series) > MOST_SERIES:
        raise ValueError(t("figures.bars.error.series", count=len(series), most=MOST_SERIES))
    for name, values in series.items():
        name = name or t("figures.bars.label")
        if len(values) != len(labels):
            counts = {"count": len(values), "labels": len(labels)}
            raise ValueError(t("figures.bars.error.values", series=name, **counts))
        for label, value in zip(labels, values, strict=True):
            # A float32 weight may pass 1 by a rounding error. `not` catches NaN too.
            if not -1e-6 <= value <= 1 + 1e-3:
                raise ValueError(
                    t("figures.bars.error.range", series=name, label=label, value=value)
                )


def describe_bars(
    labels: Sequence[str], series: Mapping[str, Sequence[float]], title: str = ""
) -> str:
    """The bars in words: all of them, or the eight largest of more than twenty."""
    lines = []
    for name, values in series.items():
        order, others = list(range(len(labels))), ""
        if len(labels) > 20:
            order = sorted(order, key=lambda i: -values[i])[:8]
            others = t("figures.bars.others", count=len(labels) - 8)
        head = "".join(f"{part}: " for part in (title, name) if part)
        pairs = ", ".join(f"{labels[i]} {bar_number(values[i])}" for i in order)
        lines.append(f"{head}{pairs}{others}; {sum_text(values)}.")
    return " ".join(lines)


def sum_text(values: Sequence[float]) -> str:
    """ "sum 1.000" in the reader's language."""
    return t("figures.bars.sum", total=f"{fsum(values):.3f}")


def map_weights(weights) -> np.ndarray:
    """Tensor or array of any float type -> (H, T_query, T_key) float32, in memory order.

    Raises ValueError for weights that are not one sequence's or hold NaN or infinity.
    """
    if hasattr(weights, "detach"):  # a torch tensor; numpy knows no bfloat16, hence float()
        weights = weights.detach().cpu().float().numpy()
    array = np.ascontiguousarray(weights, dtype="<f4")
    if array.ndim != 3 or 0 in array.shape:
        raise ValueError(t("view.error.shape", shape=array.shape))
    finite = np.isfinite(array).all(axis=(1, 2))
    if not finite.all():
        raise ValueError(t("view.error.finite", head=int(finite.argmin()) + 1))
    return array


def check_map_labels(
    shape: Sequence[int],
    queries: Sequence[str],
    keys: Sequence[str],
    names: Sequence[str] | None = None,
) -> None:
    """Raises ValueError unless there is one token per row and column, and a name per head."""
    H, *sizes = shape
    axes = (("queries", queries), ("keys", keys))
    for size, (axis, tokens) in zip(sizes, axes, strict=True):
        if size != len(tokens):
            numbers = {"shape": tuple(shape), "size": size, "count": len(tokens)}
            raise ValueError(t("view.error.tokens", axis=t(f"view.axis.{axis}"), **numbers))
    if names is not None and len(names) != H:
        raise ValueError(t("view.error.names", heads=H, count=len(names)))


def titles_of(tokens: Sequence[str], alike: Callable[[str], str] = str) -> list[str]:
    """Tokens as they are spoken of: one that occurs again carries its place, from 1.

    `alike` gives what two of them are compared by: with `str.casefold`, "The" is "the" again.
    """
    repeated, seen = texts_under("view.page")["repeated"], Counter(map(alike, tokens))
    return [
        repeated.format(token=token, position=place) if seen[alike(token)] > 1 else token
        for place, token in enumerate(tokens, start=1)
    ]
