"""Lesson 09, heads as graphs: `in_degree`, `overlap` and `reachable`.

The words of every kind below are in texts/<language>/check_09.json.
"""

from math import prod

import torch
from torch import Tensor

from ..graphs import edge_mask
from .base import Exercise, Probe, random_tensors, register

# 09.in_degree


def in_degree(weights: Tensor, threshold: float) -> Tensor:
    return edge_mask(weights, threshold).sum(0)


def _as_tensor(answer, weights, threshold):
    """A list of counts is as good as a tensor of them."""
    counts = answer(weights, threshold)
    if isinstance(counts, (list, tuple)) and all(
        isinstance(n, (int, float)) or (isinstance(n, Tensor) and not n.dim()) for n in counts
    ):
        return torch.tensor(counts)
    return counts


def _degree_probe(seed: int, T: int, threshold: float, *exact: tuple[int, int]) -> Probe:
    """Random rows; at the places `exact` the weight is the threshold itself."""
    weights = random_tensors(seed, (T, T), scale=1.5)[0].softmax(-1)
    for i, j in exact:
        weights[i, j] = 0
        weights[i] *= (1 - threshold) / weights[i].sum()
        weights[i, j] = threshold
    return Probe({"weights": weights, "threshold": threshold}, {"T": T})


degree_exercise = register(
    Exercise(
        id="09.in_degree",
        call="in_degree(weights, threshold)",
        axes=("T",),
        reference=in_degree,
        run=_as_tensor,
        make_probes=lambda: [
            _degree_probe(1, 6, 0.25),
            _degree_probe(2, 7, 0.125, (0, 3), (4, 3), (5, 1)),
            _degree_probe(3, 5, 0.5, (1, 1), (2, 4)),
        ],
    )
)


def _edges(weights, threshold):
    return weights >= threshold


degree_exercise.misconception("out_degree", lambda w, t: _edges(w, t).sum(1))
degree_exercise.misconception("strict_threshold", lambda w, t: (w > t).sum(0))
degree_exercise.misconception(
    "loops_left_out", lambda w, t: _edges(w, t).fill_diagonal_(False).sum(0)
)
degree_exercise.misconception(
    "weights_added", lambda w, t: w.sum(0), lambda w, t: (w * _edges(w, t)).sum(0)
)
degree_exercise.misconception(
    "both_directions", lambda w, t: _edges(w, t).sum(0) + _edges(w, t).sum(1)
)
degree_exercise.misconception(
    "weak_edges_counted", lambda w, t: (w < t).sum(0), lambda w, t: (w <= t).sum(0)
)
degree_exercise.misconception("share_not_count", lambda w, t: _edges(w, t).float().mean(0))
degree_exercise.misconception("all_edges_counted", lambda w, t: _edges(w, t).sum())
degree_exercise.misconception("threshold_ignored", lambda w, t: (w > 0).sum(0))
degree_exercise.misconception(
    "threshold_by_hand",
    *(lambda w, t, own=own: (w >= own).sum(0) for own in (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)),
)
degree_exercise.misconception("sum_before_threshold", lambda w, t: (w.sum(0) >= t).int())
degree_exercise.misconception(
    "strongest_only", lambda w, t: torch.bincount(w.argmax(1), minlength=len(w))
)
degree_exercise.misconception("matrix_returned", _edges)

# 09.overlap


def overlap(first: Tensor, second: Tensor) -> float:
    return (first & second).sum().item() / (first | second).sum().item()


def _as_number(answer, first, second):
    """A tensor or an array of one number is as good as the number."""
    share = answer(first, second)
    if isinstance(shape := getattr(share, "shape", None), tuple) and prod(shape) == 1:
        return share.item()
    return share


def _edges_probe(seed: int, T: int, share: float) -> Probe:
    a, b = (x < share for x in random_tensors(seed, (T, T), (T, T)))
    return Probe({"first": a, "second": b}, {"T": T})


overlap_exercise = register(
    Exercise(
        id="09.overlap",
        call="overlap(first, second)",
        axes=(),
        reference=overlap,
        run=_as_number,
        make_probes=lambda: [_edges_probe(4, 5, -0.4), _edges_probe(5, 7, 0.1)],
    )
)


def _shared(a, b):
    return (a & b).sum().item()


overlap_exercise.misconception("shared_counted", _shared)
overlap_exercise.misconception("nothing_shared", lambda a, b: 0.0)
overlap_exercise.misconception("union_counted", lambda a, b: (a | b).sum().item())
overlap_exercise.misconception("of_the_first", lambda a, b: _shared(a, b) / a.sum().item())
overlap_exercise.misconception("of_the_second", lambda a, b: _shared(a, b) / b.sum().item())
overlap_exercise.misconception(
    "of_the_smaller",
    lambda a, b: _shared(a, b) / min(a.sum(), b.sum()).item(),
    lambda a, b: _shared(a, b) / max(a.sum(), b.sum()).item(),
)
overlap_exercise.misconception("of_all_places", lambda a, b: _shared(a, b) / a.numel())
overlap_exercise.misconception("absence_counted", lambda a, b: (a == b).float().mean().item())
overlap_exercise.misconception(
    "shared_counted_twice",
    lambda a, b: _shared(a, b) / (a.sum() + b.sum()).item(),
    lambda a, b: 2 * _shared(a, b) / (a.sum() + b.sum()).item(),
)
overlap_exercise.misconception("turned_over", lambda a, b: 1 / overlap(a, b))
overlap_exercise.misconception("difference_returned", lambda a, b: 1 - overlap(a, b))
overlap_exercise.misconception("one_graph_reversed", lambda a, b: overlap(a, b.T))
overlap_exercise.misconception("direction_lost", lambda a, b: overlap(a | a.T, b | b.T))
overlap_exercise.misconception("overlap_in_percent", lambda a, b: 100 * overlap(a, b))
overlap_exercise.misconception(
    "degrees_compared",
    lambda a, b: (
        torch.minimum(a.sum(0), b.sum(0)).sum() / torch.maximum(a.sum(0), b.sum(0)).sum()
    ).item(),
    lambda a, b: min(a.sum(), b.sum()).item() / max(a.sum(), b.sum()).item(),
)

# 09.reachable


def _kept(edges: Tensor) -> Tensor:
    return edges | torch.eye(len(edges), dtype=torch.bool, device=edges.device)


def _then(earlier: Tensor, later: Tensor) -> Tensor:
    """How many paths take an edge of the later layer, then one of the earlier."""
    return later.float() @ earlier.float()


def reachable(first_layer: Tensor, second_layer: Tensor) -> Tensor:
    return _then(_kept(first_layer), _kept(second_layer)) > 0


def _layers_probe(seed: int, T: int) -> Probe:
    a, b = (x > 1.1 for x in random_tensors(seed, (T, T), (T, T)))
    return Probe({"first_layer": a, "second_layer": b}, {"T": T})


reach_exercise = register(
    Exercise(
        id="09.reachable",
        call="reachable(first_layer, second_layer)",
        axes=("T", "T"),
        reference=reachable,
        make_probes=lambda: [_layers_probe(6, 7), _layers_probe(8, 6)],
    )
)

reach_exercise.misconception("layers_exchanged", lambda a, b: reachable(b, a))
reach_exercise.misconception("own_not_kept", lambda a, b: _then(a, b) > 0, _then)
reach_exercise.misconception(
    "one_layer_not_skipped",
    lambda a, b: _then(a, _kept(b)) > 0,
    lambda a, b: _then(_kept(a), b) > 0,
    lambda a, b: _kept(_then(a, b) > 0),
)
reach_exercise.misconception("diagonal_missing", lambda a, b: a | b | (_then(a, b) > 0))
reach_exercise.misconception("union_only", lambda a, b: a | b, lambda a, b: _kept(a | b))
reach_exercise.misconception("cell_by_cell", lambda a, b: a & b, lambda a, b: _kept(a) & _kept(b))
reach_exercise.misconception("paths_counted", lambda a, b: _then(_kept(a), _kept(b)))
reach_exercise.misconception(
    "compared_otherwise",
    lambda a, b: _then(_kept(a), _kept(b)) >= 0,
    lambda a, b: _then(_kept(a), _kept(b)) > 1,
    lambda a, b: _then(_kept(a), _kept(b)) == 0,
)
reach_exercise.misconception("reversed", lambda a, b: reachable(a, b).T)
reach_exercise.misconception(
    "one_layer_twice", lambda a, b: reachable(a, a), lambda a, b: reachable(b, b)
)
reach_exercise.misconception("layers_mixed", lambda a, b: reachable(a | b, a | b))


def _closure(a, b):
    reached = _kept(a | b)
    for _ in range(len(a)):
        reached = _then(reached, reached) > 0
    return reached


reach_exercise.misconception("any_number_of_steps", _closure)
reach_exercise.misconception(
    "second_layer_reversed",
    lambda a, b: reachable(a, b.T),
    lambda a, b: reachable(a.T, b),
    lambda a, b: reachable(a.T, b.T),
)
