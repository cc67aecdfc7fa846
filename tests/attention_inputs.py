"""Inputs, masks and torch layers that the tests of attention share."""

import torch
from torch import nn

SHAPES = [  # B, T, d_model, H; the last ones: one head, heads of width 1, one token
    (2, 5, 6, 2),
    (3, 4, 12, 3),
    (2, 16, 64, 4),
    (1, 10, 512, 8),
    (2, 9, 64, 1),
    (2, 7, 8, 8),
    (2, 1, 8, 2),
]
MASKS = ["none", "causal", "padding", "both"]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def normal(*shape, seed=0, dtype=torch.float32):
    return torch.randn(*shape, generator=generator(seed), dtype=dtype)


def keep(name, B, T):
    """causal (T, T) and padding (B, T), True = may attend; every row keeps at least one key."""
    causal = torch.ones(T, T, dtype=torch.bool).tril() if name in ("causal", "both") else None
    lengths = torch.tensor([max(1, T - 2 * b) for b in range(B)])
    real = torch.arange(T) < lengths[:, None] if name in ("padding", "both") else None
    return causal, real


def our_mask(causal, real):
    mask = None if real is None else real[:, None, None, :]
    return mask if causal is None else causal if mask is None else causal & mask


def torch_layer(d_model, H, bias=True, seed=1):
    """torch's layer with every number random: it starts with all biases at zero."""
    layer = nn.MultiheadAttention(d_model, H, bias=bias, batch_first=True).eval()
    with torch.no_grad():
        for i, parameter in enumerate(layer.parameters()):
            scale = d_model**-0.5 if parameter.dim() == 2 else 1.0
            parameter.copy_(normal(*parameter.shape, seed=100 * seed + i) * scale)
    return layer
