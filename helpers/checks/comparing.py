"""Are two answers the same, where do they differ, and how to write their numbers."""

import math
import numbers

import torch
from torch import Tensor

# Half precision as seen on attention layers: 8e-3 in bf16, 1.3e-3 in fp16 away from fp32.
TOLERANCE = {torch.bfloat16: 2e-2, torch.float16: 5e-3, torch.float32: 1e-5, torch.float64: 1e-9}


def is_number(value) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_decimal(value) -> bool:
    """A number that is not kept as a whole one, whatever its amount: 12.0, but not 12."""
    if isinstance(value, Tensor):
        return value.is_floating_point()
    return is_number(value) and not isinstance(value, numbers.Rational)


def whole(got, right: int):
    """What came where a whole number is asked for. 12.0 equals 12, and would pass for it: the
    right number as a decimal comes back in a tuple, which equals no number."""
    return (float(got),) if same(got, right) and is_decimal(got) else got


def as_numbers(value) -> Tensor | None:
    """The numbers of a tensor or of a plain number, in double precision; else None."""
    if isinstance(value, Tensor):
        value = value.detach()
        if value.layout != torch.strided:
            value = value.to_dense()
        if value.is_complex() or value.is_meta:
            return None
        return value.cpu().double()
    if is_number(value):
        return torch.tensor(float(value), dtype=torch.float64, device="cpu")
    return None


def tolerance(*values) -> float:
    """The tolerance of the coarsest dtype among them; anything that is no float counts as fp32."""
    dtypes = (value.dtype if isinstance(value, Tensor) else _kept_as(value) for value in values)
    return max(TOLERANCE.get(dtype, TOLERANCE[torch.float32]) for dtype in dtypes)


def _kept_as(value) -> torch.dtype:
    """A plain decimal may have been an fp32 tensor a line before; a whole number is exact."""
    decimal = isinstance(value, float) and not value.is_integer()
    return torch.float32 if decimal else torch.float64


def same(a, b) -> bool:
    """Equal values of equal shape, NaN equal to NaN; things that hold no numbers by ==."""
    x, y = as_numbers(a), as_numbers(b)
    if x is None and y is None:
        if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
            return len(a) == len(b) and all(map(same, a, b))
        # Only plain things: a tensor-like thing may answer == with anything but a bool.
        return isinstance(b, (str, bool, type(None), dict)) and type(a) is type(b) and a == b
    if x is None or y is None or x.shape != y.shape:
        return False
    within = tolerance(a, b)
    return torch.allclose(x, y, rtol=within, atol=within, equal_nan=True)


def largest_difference(expected: Tensor, got: Tensor) -> tuple[int, ...]:
    """Where two tensors of the same shape are furthest apart; NaN counts as furthest."""
    gap = (expected - got).abs()
    alike = (expected == got) | (expected.isnan() & got.isnan())
    gap = torch.where(alike, 0.0, gap).nan_to_num(nan=math.inf)
    # torch.unravel_index would first load another library, for half a second.
    return tuple(int(i) for i in (gap == gap.max()).nonzero()[0])


def first_different_row(expected: Tensor, got: Tensor, within: float) -> tuple[int, ...]:
    """The index, without the last axis, of the first row in which two tensors differ."""
    near = torch.isclose(expected, got, rtol=within, atol=within, equal_nan=True)
    return tuple(int(i) for i in (~near.all(-1)).nonzero()[0])


def written(*values: float) -> list[str]:
    """Numbers as people read them: three decimals, more only where they would look alike."""
    for digits in (3, 4, 5, 6):
        texts = [_one(value, digits) for value in values]
        if len(values) < 2 or len(set(texts)) == len(set(values)) or digits == 6:
            return texts
    return texts


def _one(value: float, digits: int) -> str:
    if not math.isfinite(value):
        return {"nan": "NaN"}.get(str(value), str(value))
    if value == round(value) and abs(value) < 1e6:
        return str(int(value))
    if abs(value) >= 1e6 or (0 < abs(value) < 0.5 * 10**-digits and digits == 6):
        return f"{value:.3g}"
    text = f"{value:.{digits}f}"
    return "0." + "0" * digits if float(text) == 0 else text


def is_truth(value) -> bool:
    """Does it hold True and False, and no numbers?"""
    return isinstance(value, Tensor) and value.dtype == torch.bool


def written_row(row: Tensor) -> str:
    """[0, 1, 4, 5], cut after eight numbers."""
    shown = [_one(value, 3) for value in row.flatten()[:8].tolist()]
    return f"[{', '.join(shown)}{', …' if row.numel() > 8 else ''}]"


def described(value) -> str:
    """What a thing is, in Python's own words: "tuple (Tensor, Tensor)", "ndarray (5, 5)"."""
    name = type(value).__name__
    if isinstance(value, Tensor):
        return f"Tensor {tuple(value.shape)} {str(value.dtype).removeprefix('torch.')}"
    if isinstance(value, (tuple, list)):
        kinds = ", ".join(type(part).__name__ for part in value[:4])
        return f"{name} ({kinds}{', …' if len(value) > 4 else ''})"
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"{name} {shape}"
    return f"{name} {value}" if is_number(value) or isinstance(value, bool) else name
