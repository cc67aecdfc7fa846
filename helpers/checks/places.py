"""`memory_place` of lesson 03: where in memory a number of a split tensor stands.

The words of every kind below are in texts/<language>/check_03.json.
"""

from collections.abc import Callable

from . import comparing
from .base import Exercise, Probe


def memory_place(head: int, token: int, feature: int, d_model: int, num_heads: int) -> int:
    d_k = d_model // num_heads
    return token * d_model + head * d_k + feature


def _ask(answer: Callable, **numbers: int):
    return comparing.whole(answer(*numbers.values()), memory_place(**numbers))


def _place_probe(head: int, token: int, feature: int, d_model: int, H: int, condition: str = ""):
    inputs = {"head": head, "token": token, "feature": feature, "d_model": d_model, "num_heads": H}
    return Probe(inputs, {"d_model": d_model, "H": H, "d_k": d_model // H}, condition)


place_exercise = Exercise(
    id="03.memory_place",
    call="memory_place(head, token, feature, d_model, num_heads)",
    axes=(),
    reference=memory_place,
    run=_ask,
    make_probes=lambda: [
        _place_probe(3, 5, 2, 20, 4),
        _place_probe(2, 3, 1, 12, 4),
        _place_probe(3, 1, 2, 24, 4),
        _place_probe(0, 4, 1, 6, 2),
        _place_probe(5, 9, 40, 512, 8),
    ],
    make_easier=lambda: [
        _place_probe(0, 3, 2, 15, 3, condition="head = 0"),
        _place_probe(1, 0, 4, 15, 3, condition="token = 0"),
    ],
)


def place_from(make: Callable) -> Callable:
    """A place `make(head, token, feature, d_model, H, d_k)`."""
    return lambda h, t, j, d_model, H: make(h, t, j, d_model, H, d_model // H)


def _head_major(T: int) -> Callable:
    return place_from(lambda h, t, j, d_model, H, d_k: h * T * d_k + t * d_k + j)


place_exercise.misconception("decimal_place", lambda *numbers: float(memory_place(*numbers)))
place_exercise.misconception("head_major", *map(_head_major, range(2, 33)))
place_exercise.misconception(
    "sizes_of_the_lesson",
    *(
        lambda h, t, j, d_model, H, T=T, d_k=d_k: h * T * d_k + t * d_k + j
        for T, d_k in ((4, 1), (10, 64), (4, 3))
    ),
    *(
        lambda h, t, j, d_model, H, width=width, d_k=d_k: t * width + h * d_k + j
        for width, d_k in ((512, 64), (6, 3), (32, 8), (32, 1))
    ),
    *(lambda h, t, j, d_model, H, d_k=d_k: t * d_model + h * d_k + j for d_k in (64, 3)),
)
place_exercise.misconception(
    "steps_exchanged", place_from(lambda h, t, j, d_model, H, d_k: h * d_model + t * d_k + j)
)
place_exercise.misconception(
    "step_of_head_is_one", place_from(lambda h, t, j, d_model, H, d_k: t * d_model + h + j)
)
place_exercise.misconception(
    "step_of_head_is_num_heads",
    place_from(lambda h, t, j, d_model, H, d_k: t * d_model + h * H + j),
)
place_exercise.misconception(
    "interleaved_places", place_from(lambda h, t, j, d_model, H, d_k: t * d_model + j * H + h)
)
place_exercise.misconception(
    "step_of_token_is_d_k",
    place_from(lambda h, t, j, d_model, H, d_k: t * d_k + h * d_k + j),
    place_from(lambda h, t, j, d_model, H, d_k: (t + h) * d_k + j),
)
place_exercise.misconception(
    "step_of_token_is_num_heads",
    place_from(lambda h, t, j, d_model, H, d_k: t * H * H + h * d_k + j),
    place_from(lambda h, t, j, d_model, H, d_k: t * H + h * d_k + j),
)
place_exercise.misconception(
    "token_forgotten", place_from(lambda h, t, j, d_model, H, d_k: h * d_k + j)
)
place_exercise.misconception(
    "head_forgotten", place_from(lambda h, t, j, d_model, H, d_k: t * d_model + j)
)
place_exercise.misconception(
    "feature_forgotten", place_from(lambda h, t, j, d_model, H, d_k: t * d_model + h * d_k)
)
place_exercise.misconception(
    "place_from_one", place_from(lambda h, t, j, d_model, H, d_k: t * d_model + h * d_k + j + 1)
)
place_exercise.misconception(
    "all_multiplied", place_from(lambda h, t, j, d_model, H, d_k: t * d_model * h * d_k * max(j, 1))
)
