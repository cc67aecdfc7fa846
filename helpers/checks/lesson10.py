"""Lesson 10's project: `cross_attention` and `MultiHeadCrossAttention`.

Its other two exercises, `cross_shapes` and `alignment`, have files of their own; the wrong layers
are in `cross`. The words of every kind are in texts/<language>/check_10.json, those that a layer
looking at itself has too in check_05.json and check_01.json. T_query and T_key differ in every
trial that decides.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from .. import attention
from .alignment import alignment_exercise
from .base import Exercise, Probe, random_tensors, register
from .case import Case
from .cross import WRONG_CROSS, CrossLayer, as_function
from .cross_shapes import shapes_exercise, sizes_of
from .layers import NAMES
from .modules import run_module
from .weights import irregular_mask, other_scale

# 10.cross_shapes

register(shapes_exercise)

# 10.cross_attention


def cross_attention(
    X: Tensor,
    memory: Tensor,
    W_Q: Tensor,
    W_K: Tensor,
    W_V: Tensor,
    W_O: Tensor,
    num_heads: int,
    mask: Tensor | None = None,
) -> Tensor:
    parts = (X @ W_Q, memory @ W_K, memory @ W_V)
    Q, K, V = (attention.split_heads(part, num_heads) for part in parts)
    heads, _ = attention.scaled_dot_product_attention(Q, K, V, mask)
    return attention.merge_heads(heads) @ W_O


def given_mask(T_key: int) -> Tensor:
    """(5, T_key), T_key at most 7: every row and every column hides and shows something."""
    more = torch.tensor([[0, 1], [0, 0], [1, 0], [1, 1], [0, 1]], device="cpu").bool()
    return torch.cat([irregular_mask(), more], dim=1)[:, :T_key]


def memory_padding(T_key: int) -> Tensor:
    """(2, 1, 1, T_key): padding after the first memory, before the second."""
    places = torch.arange(T_key, device="cpu")
    return torch.stack([places < T_key - 2, places > 0])[:, None, None]


def empty_row(T_key: int) -> Tensor:
    """The given mask, but query 1 may look at nothing."""
    mask = given_mask(T_key)
    mask[1] = False
    return mask


def _sequences_and_matrices(seed, B, T_query, T_key, H, d_k, d_memory) -> list[Tensor]:
    """X, memory, and four matrices (d_in, d_out), wide enough that every wrong scale shows."""
    d_model = H * d_k
    sequences = random_tensors(seed, (B, T_query, d_model), (B, T_key, d_memory))
    shapes = [(d_in, d_model) for d_in in (d_model, d_memory, d_memory, d_model)]
    return sequences + random_tensors(seed + 100, *shapes, scale=1.3 / d_model**0.5)


def _function_probe(seed, *numbers, d_memory=None, mask=None, condition="") -> Probe:
    sizes = sizes_of(*numbers)
    tensors = _sequences_and_matrices(seed, *numbers, d_memory or sizes["d_model"])
    inputs = dict(zip(("X", "memory", *NAMES), tensors, strict=True))
    inputs["num_heads"] = sizes["H"]
    if mask is not None:
        inputs["mask"] = mask
    return Probe(inputs, sizes, condition)


def _equal_lengths(probe: Callable) -> list[Probe]:
    """Easier trials, most of them with lengths that can be mixed up without an error."""
    equal = "T_query = T_key"
    return [
        probe(6, 2, 5, 5, 3, 4, condition=equal),
        probe(11, 2, 5, 7, 3, 4, mask=given_mask(7), condition="mask.shape = (T_query, T_key)"),
        probe(7, 2, 5, 5, 3, 4, mask=given_mask(5), condition=equal),
        probe(8, 2, 5, 5, 3, 4, mask=memory_padding(5), condition=equal),
        probe(9, 1, 5, 7, 3, 4, condition="B = 1"),
        probe(10, 2, 10, 10, 8, 64, condition="T = 10, d_model = 512, H = 8"),
        probe(14, 2, 5, 4, 3, 4, condition="T_key = d_k"),
    ]


function_exercise = register(
    Exercise(
        id="10.cross_attention",
        call="cross_attention(X, memory, W_Q, W_K, W_V, W_O, num_heads, mask=None)",
        axes=("B", "T_query", "d_model"),
        reference=cross_attention,
        make_probes=lambda: [
            _function_probe(1, 2, 5, 7, 3, 4),
            _function_probe(3, 2, 5, 7, 3, 4, mask=given_mask(7)),
            _function_probe(4, 2, 5, 7, 3, 4, mask=memory_padding(7)),
            _function_probe(5, 2, 5, 7, 3, 4, d_memory=9),
            _function_probe(2, 3, 6, 4, 2, 5),
        ],
        make_easier=lambda: [
            _function_probe(12, 2, 5, 7, 3, 4, condition="d_memory = d_model"),
            *_equal_lengths(_function_probe),
        ],
        first_of_tuple=True,
        differentiable=True,
        shared_words=("check_05", "check_01"),
    )
)
for kind, ways in WRONG_CROSS.items():
    # Matrices given as (d_in, d_out) are turned over in another way than those of nn.Linear.
    name = "matrices_turned" if kind == "linear_transposed" else kind
    if not kind.startswith("empty_row"):  # what such a row gives is asked of the module only
        function_exercise.misconception(name, *map(as_function, ways))


def wrong_scale(case: Case):
    """Scores divided by some other number; both exercises, whose matrices are kept differently."""
    inputs, H = case.probe.inputs, case.probe.sizes["H"]
    if "weights" in inputs:
        W_Q, W_K, W_V, W_O = (inputs["weights"][name].double().T for name in NAMES)
    else:
        W_Q, W_K, W_V, W_O = (inputs[name].double() for name in NAMES)
    X, memory = inputs["X"].double(), inputs["memory"].double()
    Q, K, V = (attention.split_heads(x, H) for x in (X @ W_Q, memory @ W_K, memory @ W_V))
    return other_scale(case, Q, K, lambda weights: attention.merge_heads(weights @ V) @ W_O)


function_exercise.rules += [wrong_scale]

# 10.MultiHeadCrossAttention

_run = run_module("d_model", "num_heads")


def run_layer(cls, **inputs):
    if "impossible" in inputs:
        return _refused(cls, **inputs)
    return _run(cls, **inputs)


def _refused(cls, impossible, d_model: int, num_heads: int, X: Tensor, memory: Tensor):
    """The layer that an impossible pair gave, if it did. Refusing may be left to `forward`.

    An error that torch raises there on its own account refuses nothing: it names other numbers.
    """
    layer = cls(d_model, num_heads)
    try:
        layer(X, memory)
    except (ValueError, AssertionError):
        raise
    except Exception:
        return layer
    return layer


def _layer_probe(seed, *numbers, mask=None, condition="") -> Probe:
    sizes = sizes_of(*numbers)
    X, memory, *matrices = _sequences_and_matrices(seed, *numbers, sizes["d_model"])
    weights = {name: W.T.contiguous() for name, W in zip(NAMES, matrices, strict=True)}
    inputs = {"d_model": sizes["d_model"], "num_heads": sizes["H"], "weights": weights}
    inputs |= {"X": X, "memory": memory} | ({} if mask is None else {"mask": mask})
    return Probe(inputs, sizes, condition)


def _impossible_probe(d_model: int, H: int) -> Probe:
    X, memory = random_tensors(13, (2, 5, d_model), (2, 7, d_model))
    inputs = {"impossible": {}, "d_model": d_model, "num_heads": H, "X": X, "memory": memory}
    refusals = (ValueError, AssertionError)
    return Probe(inputs, {}, raises=refusals, mention=(str(d_model), str(H)))


class Reference(CrossLayer):
    def __init__(self, d_model: int, num_heads: int):
        attention.head_width(d_model, num_heads)
        super().__init__(d_model, num_heads)


layer_exercise = register(
    Exercise(
        id="10.MultiHeadCrossAttention",
        call="MultiHeadCrossAttention(d_model, num_heads)(X, memory, mask=None)",
        axes=("B", "T_query", "d_model"),
        reference=Reference,
        run=run_layer,
        make_probes=lambda: [
            _layer_probe(1, 2, 5, 7, 3, 4),
            _layer_probe(2, 3, 6, 4, 2, 5),
            _layer_probe(3, 2, 5, 7, 3, 4, mask=given_mask(7)),
            _layer_probe(4, 2, 5, 7, 3, 4, mask=memory_padding(7)),
            _layer_probe(5, 2, 5, 7, 3, 4, mask=empty_row(7)),
            _impossible_probe(12, 5),
        ],
        make_easier=lambda: _equal_lengths(_layer_probe),
        first_of_tuple=True,
        differentiable=True,
        shared_words=("check_05", "check_01"),
    )
)
for kind, ways in WRONG_CROSS.items():
    layer_exercise.misconception(kind, *ways)
layer_exercise.rules += [wrong_scale]

# 10.alignment

register(alignment_exercise)
