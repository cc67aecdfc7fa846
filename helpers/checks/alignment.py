"""`alignment` of lesson 10: which place of the memory each query found.

The words of every kind below are in texts/<language>/check_10.json.
"""

from torch import Tensor

from .base import Exercise, Probe, random_tensors


def alignment(weights: Tensor) -> Tensor:
    return weights.mean(1).argmax(-1)


def _weights_probe(seed: int, B: int, H: int, T_query: int, T_key: int, condition="") -> Probe:
    (scores,) = random_tensors(seed, (B, H, T_query, T_key), scale=1.5)
    sizes = {"B": B, "H": H, "T_query": T_query, "T_key": T_key}
    return Probe({"weights": scores.softmax(-1)}, sizes, condition)


alignment_exercise = Exercise(
    id="10.alignment",
    call="alignment(weights)",
    axes=("B", "T_query"),
    reference=alignment,
    make_probes=lambda: [_weights_probe(1, 2, 3, 5, 7), _weights_probe(2, 3, 4, 8, 6)],
    make_easier=lambda: [
        _weights_probe(3, 1, 3, 5, 7, condition="B = 1"),
        _weights_probe(4, 2, 1, 5, 7, condition="H = 1"),
    ],
    rows=True,
)
alignment_exercise.misconception(
    "keys_asked", lambda w: w.mean(1).argmax(-2), lambda w: w.mean(1).mT.argmax(-1)
)
alignment_exercise.misconception("heads_kept", lambda w: w.argmax(-1))
alignment_exercise.misconception(
    "one_head_asked", *(lambda w, head=head: w[:, head].argmax(-1) for head in (0, 1, -1))
)
alignment_exercise.misconception("loudest_head", lambda w: w.amax(1).argmax(-1))
alignment_exercise.misconception(
    "places_averaged",
    lambda w: w.argmax(-1).float().mean(1),
    lambda w: w.argmax(-1).float().mean(1).round(),
    lambda w: w.argmax(-1).float().mean(1).long(),
    lambda w: w.argmax(-1).sum(1),
)
alignment_exercise.misconception(
    "heads_vote", lambda w: w.argmax(-1).mode(1).values, lambda w: w.argmax(-1).median(1).values
)
alignment_exercise.misconception(
    "weight_not_place", lambda w: w.mean(1).amax(-1), lambda w: w.amax((1, -1))
)
alignment_exercise.misconception("smallest_weight", lambda w: w.mean(1).argmin(-1))
alignment_exercise.misconception("places_from_one", lambda w: alignment(w) + 1)
alignment_exercise.misconception(
    "batch_averaged", lambda w: w.mean((0, 1)).argmax(-1), lambda w: w.mean(0).argmax(-1)
)
alignment_exercise.misconception(
    "one_place_for_all", lambda w: w.mean(1).flatten(1).argmax(-1), lambda w: w.mean(1).argmax()
)
alignment_exercise.misconception("places_sorted", lambda w: alignment(w).argsort(-1))
alignment_exercise.misconception(
    "all_places", lambda w: w.mean(1).argsort(-1, descending=True), lambda w: w.mean(1).argsort(-1)
)
alignment_exercise.misconception("queries_averaged", lambda w: w.mean(2).argmax(-1))
