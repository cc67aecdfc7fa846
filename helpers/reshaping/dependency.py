"""Which output tokens of a layer depend on which input tokens."""

import copy

import torch
from torch import Tensor, nn

# Far above rounding in float64 (1e-15), far below what a token does that really takes part.
SMALLEST_CHANGE = 1e-10


@torch.no_grad()
def dependency_map(
    layer, T: int, d_model: int, mask: Tensor | None = None, *, seed: int = 0
) -> Tensor:
    """Change input token j, watch output token i: bool (T_output, T_input), True = it moved.

    `layer` is called as `layer(X)`, or `layer(X, mask)` where there is a mask, with X
    (1, T, d_model) in float64. A module is tried as a float64 copy in eval mode, so that
    neither rounding nor dropout passes for a dependency. Random numbers come from a generator
    of their own, started with `seed`.
    Raises ValueError when the output is not (1, T, …): one row per token.
    """
    if isinstance(layer, nn.Module):
        layer = copy.deepcopy(layer).double().eval()
    generator = torch.Generator().manual_seed(seed)
    X, other = torch.randn(2, 1, T, d_model, generator=generator, dtype=torch.float64)

    def outputs(X: Tensor) -> Tensor:
        Y = layer(X) if mask is None else layer(X, mask)
        if Y.dim() < 2 or tuple(Y.shape[:2]) != (1, T):
            raise ValueError(
                f"the layer made {tuple(Y.shape)} of (1, {T}, {d_model}): "
                f"a dependency map needs one output row per token, (1, {T}, ...)."
            )
        return Y.reshape(T, -1)

    before = outputs(X)
    depends = torch.zeros(T, T, dtype=torch.bool)
    for j in range(T):
        changed = X.clone()
        changed[0, j] = other[0, j]
        depends[:, j] = ((outputs(changed) - before).abs() > SMALLEST_CHANGE).any(dim=-1)
    return depends
