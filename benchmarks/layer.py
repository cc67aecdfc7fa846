"""`MultiHeadAttention` with every head's weights, against torch's own layer, and two relatives.

All four hold the same weights and give the same output. torch's layer is asked for the weights
of each head, which is what the course needs, so none of its short cuts apply.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers.attention import (
    LoopedMultiHeadAttention,
    MultiHeadAttention,
    merge_heads,
    split_heads,
)

from .in_kernel import Way, medians_ms
from .report import Line

T, D_MODEL, H = 512, 512, 8
ROUNDS = 60


def layers(d_model: int, num_heads: int) -> dict:
    """name -> function of X (B, T, d_model) that returns the output and, or None, the weights."""
    with torch.random.fork_rng():
        torch.manual_seed(0)  # nn.MultiheadAttention takes no generator
        theirs = nn.MultiheadAttention(d_model, num_heads, bias=False, batch_first=True).eval()
    ours = MultiHeadAttention.from_torch(theirs)
    looped = LoopedMultiHeadAttention.from_batched(ours)

    def trace(X: Tensor):
        traced = ours.trace(X)
        return traced.output, traced.weights

    def fused(X: Tensor):
        Q, K, V = (split_heads(W(X), num_heads) for W in (ours.W_Q, ours.W_K, ours.W_V))
        return ours.W_O(merge_heads(F.scaled_dot_product_attention(Q, K, V))), None

    return {
        "ours": trace,
        "torch": lambda X: theirs(X, X, X, need_weights=True, average_attn_weights=False),
        "looped": lambda X: (looped(X), None),
        "fused": fused,
    }


def measure(T: int = T, d_model: int = D_MODEL, num_heads: int = H, rounds: int = ROUNDS) -> dict:
    """Median milliseconds of one call of each, without gradients, taking turns."""
    X = torch.randn(1, T, d_model, generator=torch.Generator().manual_seed(0))
    functions = layers(d_model, num_heads)
    with torch.inference_mode():
        right, right_weights = functions["torch"](X)

        def way(function) -> Way:
            latest = []

            def call(value):
                latest[:] = function(value)

            def same(value) -> bool:
                output, weights = latest
                fits = weights is None or torch.allclose(weights, right_weights, atol=1e-5)
                latest.clear()  # the next call starts with as little in memory as this one
                return fits and torch.allclose(output, right, atol=1e-4)

            return Way(call, same)

        ways = {name: way(function) for name, function in functions.items()}
        return medians_ms(ways, [X], rounds, sends=False)


def run() -> list[Line]:
    took = measure()
    beside = {"unit": "ms", "against": took["torch"], "than": "nn.MultiheadAttention"}
    return [
        Line("layer_ours", took["ours"], ratio=1, **beside),
        Line("layer_looped", took["looped"], **beside),
        Line("layer_fused", took["fused"], **beside),
    ]
