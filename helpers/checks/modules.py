"""Exercises whose answer is a class: the reference's weights go into the reader's layer."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from .base import ProblemError


def run_module(*build: str) -> Callable:
    """A `run` for `Exercise`: make the layer, give it weights, call it.

    The inputs named in `build` go to the constructor, "weights" (attribute -> (d_out, d_in), as
    `nn.Linear` keeps them) into the layer, the rest to the call. The layer is in eval mode.
    """

    def run(cls, **inputs):
        made_of = [inputs.pop(name) for name in build]
        weights = inputs.pop("weights")
        layer = cls(*made_of)
        if not isinstance(layer, nn.Module):
            raise ProblemError("not_a_module")
        missing = [name for name in weights if not hasattr(layer, name)]
        if missing:
            if _is_a_stub(layer, inputs):
                return None
            raise ProblemError("missing_attribute", names=missing)
        load_weights(layer, weights)
        return layer.eval()(*inputs.values())

    return run


def _is_a_stub(layer: nn.Module, inputs: dict) -> bool:
    try:
        return layer(*inputs.values()) is None
    except NotImplementedError:
        return True
    except Exception:
        return False


def load_weights(layer: nn.Module, weights: dict[str, Tensor]) -> None:
    """Copy the weights into `nn.Linear` parts, or into parameters used as X @ W.

    Biases become 0. Raises `ProblemError` naming the attribute that has another form or shape.
    """
    for name, weight in weights.items():
        part = getattr(layer, name)
        if isinstance(part, nn.Linear):
            own = part.weight
            if part.bias is not None:
                nn.init.zeros_(part.bias)
        elif isinstance(part, nn.Parameter):
            own, weight = part, weight.T
        else:
            raise ProblemError("wrong_attribute", name=name, got=type(part).__name__)
        if own.shape != weight.shape:
            raise ProblemError(
                "wrong_weight_shape", name=name, expected=tuple(weight.shape), got=tuple(own.shape)
            )
        with torch.no_grad():
            own.copy_(weight)
