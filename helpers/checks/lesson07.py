"""Lesson 07, train heads: a measure of roles, a prediction, and a task of the reader's own.

The words of every kind below are in texts/<language>/check_07.json.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from ..training import POSITIONS, VALUES, pointer_batch, pointer_shares
from .base import Exercise, Probe, random_tensors, register
from .values import ValueExercise

# 07.pointer_shares


def _weights_probe(seed: int, B: int, H: int, T: int) -> Probe:
    (scores,) = random_tensors(seed, (B, H, T, T))
    generator = torch.Generator().manual_seed(seed)
    pointers = torch.rand(B, T - 1, generator=generator).argsort(-1)[:, :2]
    sizes = {"B": B, "H": H, "T": T, "pointers": 2}
    return Probe({"weights": (2 * scores).softmax(-1), "pointers": pointers}, sizes)


shares_exercise = register(
    Exercise(
        id="07.pointer_shares",
        call="pointer_shares(weights, pointers)",
        axes=("H", "pointers"),
        reference=pointer_shares,
        make_probes=lambda: [_weights_probe(1, 5, 3, 7), _weights_probe(2, 6, 4, 9)],
    )
)


def _at_pointers(rows: Tensor, pointers: Tensor) -> Tensor:
    """rows (B, H, T), pointers (B, n) -> (B, H, n)."""
    return rows.gather(-1, pointers[:, None].expand(-1, rows.shape[1], -1))


def _of_rows(pick: Callable) -> Callable:
    return lambda weights, pointers: _at_pointers(pick(weights), pointers).mean(0)


shares_exercise.misconception("answer_as_key", _of_rows(lambda w: w[..., -1]))
shares_exercise.misconception("first_token_asked", _of_rows(lambda w: w[:, :, 0]))
shares_exercise.misconception(
    "all_queries_asked", _of_rows(lambda w: w.mean(2)), _of_rows(lambda w: w.sum(2))
)
shares_exercise.misconception("token_before_asked", _of_rows(lambda w: w[:, :, -2]))
shares_exercise.misconception(
    "heads_put_together",
    lambda w, p: _at_pointers(w[:, :, -1], p).mean((0, 1)),
    lambda w, p: _at_pointers(w[:, :, -1], p).mean(1),
    lambda w, p: _at_pointers(w[:, :, -1], p).mean(0).sum(0),
)
shares_exercise.misconception("rows_not_averaged", lambda w, p: _at_pointers(w[:, :, -1], p))
shares_exercise.misconception("rows_added", lambda w, p: _at_pointers(w[:, :, -1], p).sum(0))
shares_exercise.misconception("turned_over", lambda w, p: pointer_shares(w, p).T)
shares_exercise.misconception("pointers_put_together", lambda w, p: pointer_shares(w, p).sum(-1))
shares_exercise.misconception("pointers_exchanged", lambda w, p: pointer_shares(w, p).flip(-1))
shares_exercise.misconception(
    "largest_counted",
    lambda w, p: (w[:, :, -1].argmax(-1)[..., None] == p[:, None]).float().mean(0),
)
shares_exercise.misconception("places_counted_from_1", lambda w, p: pointer_shares(w, p + 1),
                              lambda w, p: pointer_shares(w, (p - 1) % w.shape[-1]))  # fmt: skip
shares_exercise.misconception(
    "pointers_of_one_row",
    lambda w, p: w[:, :, -1].mean(0)[:, p[0]],
    lambda w, p: w[:, :, -1].mean(0)[:, p[-1]],
)
shares_exercise.misconception(
    "pointers_of_all_rows",  # each row read at the places of all rows
    lambda w, p: torch.stack([w[:, :, -1].mean(0)[:, p[:, i]].mean(-1) for i in range(2)], -1),
)
shares_exercise.misconception("largest_row", lambda w, p: _at_pointers(w[:, :, -1], p).amax(0))
shares_exercise.misconception(
    "last_row_kept", lambda w, p: _at_pointers(w[:, :, -1], p)[-1] / len(p)
)
shares_exercise.misconception("one_row_alone", lambda w, p: _at_pointers(w[:, :, -1], p)[0])


# 07.heads_needed: three pointers, d_model = 60.

needed = register(ValueExercise("07.heads_needed", reference=3))
needed.misconception("one_wide_head", 1)
needed.misconception("two_as_before", 2)
needed.misconception("power_of_two", 4, 8)
needed.misconception("pointers_and_the_answer", 5)
needed.misconception("pairs_of_pointers", 6)
needed.misconception("a_head_for_each_place", POSITIONS)
needed.misconception("a_head_for_each_value", VALUES)
needed.misconception("a_head_for_each_feature", 60)
needed.misconception("width_of_a_head", 20)
needed.misconception("no_head", 0)


def not_a_count(number: float) -> str | None:
    return "not_a_count" if number < 0 or number != round(number) else None


def not_a_divisor(number: float) -> str | None:
    return None if 60 % number == 0 else "not_a_divisor"


needed.rules += [not_a_count, not_a_divisor]


# 07.three_pointer_batch: a task, looked at by what it holds and not by how it is made.


def three_pointer_batch(batch_size: int, generator: torch.Generator):
    return pointer_batch(batch_size, generator, 3)


def _verdict(answer: Callable, batch_size: int, seed: int) -> str | None:
    """ "right", or the kind of the first thing that is wrong with the task; None: not yet."""

    def made(seed: int):
        return answer(batch_size, torch.Generator().manual_seed(seed))

    batch = made(seed)
    if batch is None:
        return None
    if wrong := _wrong_form(batch, batch_size) or _wrong_numbers(*batch):
        return wrong
    # torch's global random state has moved on by then, if the answer uses it.
    if not all(map(torch.equal, batch, made(seed))):
        return "generator_ignored"
    if torch.equal(batch[1], made(seed + 1)[1]):
        return "always_the_same"
    return _wrong_answers(*batch)


def _wrong_form(batch, B: int) -> str | None:
    if not isinstance(batch, (tuple, list)) or len(batch) != 3:
        return "not_three_parts"
    if not all(isinstance(part, Tensor) for part in batch):
        return "not_tensors"
    values, pointers, answers = batch
    if tuple(values.shape) != (B, POSITIONS):
        return "values_shape"
    if tuple(pointers.shape) != (B, 3):
        return "two_pointers" if tuple(pointers.shape) == (B, 2) else "pointers_shape"
    if tuple(answers.shape) != (B, 3):
        return "answers_shape"
    if any(part.is_floating_point() for part in batch):
        return "not_whole_numbers"
    return None


def _wrong_numbers(values: Tensor, pointers: Tensor, answers: Tensor) -> str | None:
    if pointers.min() < 0 or pointers.max() >= POSITIONS:
        return "pointers_out_of_row"
    if values.min() < 0 or values.max() >= VALUES:
        return "values_out_of_range"
    if (pointers == pointers[0]).all():
        return "pointers_never_move"
    if len(pointers.unique()) < POSITIONS:
        return "places_left_out"
    if len(values.unique()) < VALUES:
        return "values_left_out"
    if (pointers[:, :, None] == pointers[:, None]).sum() > 3 * len(pointers):
        return "same_place_twice"
    return None


def _wrong_answers(values: Tensor, pointers: Tensor, answers: Tensor) -> str:
    right = values.gather(1, pointers.long())
    if torch.equal(answers, right):
        return "right"
    if torch.equal(answers, pointers):
        return "pointers_as_answers"
    if torch.equal(answers, values[:, :3]):
        return "pointers_unused"
    if torch.equal(answers.sort(-1).values, right.sort(-1).values):
        return "order_changed"
    if (answers == answers[:, :1]).all():
        return "one_answer_three_times"
    return "answers_elsewhere"


batch_exercise = register(
    Exercise(
        id="07.three_pointer_batch",
        call="three_pointer_batch(batch_size, generator)",
        axes=(),
        reference=three_pointer_batch,
        run=_verdict,
        make_probes=lambda: [
            Probe({"batch_size": B, "seed": B}, {"B": B, "places": POSITIONS}) for B in (400, 500)
        ],
    )
)


def _changed(change: Callable) -> Callable:
    """The right task with one thing changed: `change(values, pointers, answers)` -> the three."""
    return lambda size, generator: change(*pointer_batch(size, generator, 3))


def _pointing(points: Callable) -> Callable:
    """The right task at other places: `points(pointers)` -> the places."""

    def wrong(size, generator):
        values, pointers, _ = pointer_batch(size, generator, 3)
        pointers = points(pointers)
        return values, pointers, values.gather(1, pointers.clamp(0, POSITIONS - 1))

    return wrong


def _unseeded(size, generator):
    return pointer_batch(size, torch.default_generator, 3)


def _own_seed(size, generator):
    return pointer_batch(size, torch.Generator().manual_seed(0), 3)


batch_exercise.misconception("not_three_parts", _changed(lambda v, p, a: (v, p)))
batch_exercise.misconception("not_tensors", _changed(lambda v, p, a: (v, p.tolist(), a)))
batch_exercise.misconception("values_shape", _changed(lambda v, p, a: (v[:64], p[:64], a[:64])))
batch_exercise.misconception("two_pointers", lambda size, g: pointer_batch(size, g, 2))
batch_exercise.misconception("pointers_shape", _changed(lambda v, p, a: (v, p.T, a)))
batch_exercise.misconception("answers_shape", _changed(lambda v, p, a: (v, p, a[:, 0])))
batch_exercise.misconception("not_whole_numbers", _changed(lambda v, p, a: (v, p, a.float())))
batch_exercise.misconception("pointers_out_of_row", _pointing(lambda p: p + 1))
batch_exercise.misconception("values_out_of_range", _changed(lambda v, p, a: (v + 1, p, a + 1)))
batch_exercise.misconception("pointers_never_move", _pointing(lambda p: p[:1].expand(len(p), 3)))
batch_exercise.misconception("places_left_out", _pointing(lambda p: p % 10))
batch_exercise.misconception("values_left_out", _changed(lambda v, p, a: (v % 2, p, a % 2)))
batch_exercise.misconception("same_place_twice", _pointing(lambda p: p[:, [0, 1, 0]]))
batch_exercise.misconception("generator_ignored", _unseeded)
batch_exercise.misconception("always_the_same", _own_seed)
batch_exercise.misconception("pointers_as_answers", _changed(lambda v, p, a: (v, p, p)))
batch_exercise.misconception("pointers_unused", _changed(lambda v, p, a: (v, p, v[:, :3])))
batch_exercise.misconception("order_changed", _changed(lambda v, p, a: (v, p, a.sort(-1).values)))
batch_exercise.misconception(
    "one_answer_three_times", _changed(lambda v, p, a: (v, p, a[:, :1].expand(-1, 3)))
)
batch_exercise.misconception("answers_elsewhere", _changed(lambda v, p, a: (v, p, a.roll(1, 0))))
