"""Lesson 07's exercises: right answers written many ways pass, wrong ones are named."""

import fractions
from decimal import Decimal

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from check_probe import (
    assert_passes,
    each_right_way,
    one_language,  # noqa: F401
)

from helpers.checks import check, exercises
from helpers.training import Run, pointer_batch, pointer_shares

# --- right ways -------------------------------------------------------------------------------


def shares_in_a_loop(weights, pointers):
    B, H, T, _ = weights.shape
    shares = torch.zeros(H, pointers.shape[1])
    for b in range(B):
        for h in range(H):
            for i in range(pointers.shape[1]):
                shares[h, i] += weights[b, h, T - 1, pointers[b, i]] / B
    return shares


def shares_of_the_lesson(weights, pointers):
    from_answer = weights[:, :, -1]
    rows = torch.arange(len(pointers))
    return torch.stack(
        [from_answer[rows, :, pointers[:, i]].mean(dim=0) for i in range(pointers.shape[1])], dim=-1
    )


def shares_take(weights, pointers):
    picked = [w[:, -1, p] for w, p in zip(weights, pointers, strict=True)]
    return torch.stack(picked).mean(0)


def shares_by_hot(weights, pointers):
    hot = F.one_hot(pointers, weights.shape[-1]).to(weights.dtype)
    return torch.einsum("bht,bnt->hn", weights[:, :, -1, :], hot) / len(weights)


RIGHT_SHARES = [
    pointer_shares, shares_in_a_loop, shares_of_the_lesson, shares_take, shares_by_hot,
    lambda weights, pointers: pointer_shares(weights.double(), pointers),
    lambda weights, pointers: torch.take_along_dim(
        weights[:, :, -1], pointers[:, None], dim=-1).mean(0),
    lambda weights, pointers: torch.stack(
        [weights[:, h, -1].gather(1, pointers).mean(0) for h in range(weights.shape[1])]),
    lambda weights, pointers: weights[
        torch.arange(len(weights))[:, None], :, -1, pointers].mean(0).T,
    lambda weights, pointers: (
        F.one_hot(pointers, weights.shape[-1]).float() @ weights[:, :, -1].mT).mean(0).T,
]  # fmt: skip

RIGHT_NEEDED = [
    3, 3.0, 2 + 1, torch.tensor(3), np.int64(3), Decimal("3"), fractions.Fraction(6, 2), 60 // 20,
    len([0, 1, 2]), torch.tensor([3.0]),
]  # fmt: skip


def design(points, values_of=None):
    """A task whose places are drawn by `points(batch_size, generator)`."""

    def three_pointer_batch(batch_size, generator):
        values = torch.randint(10, (batch_size, 12), generator=generator)
        pointers = points(batch_size, generator)
        return values, pointers, values.gather(1, pointers.long())

    return three_pointer_batch


def tied(batch_size, generator):
    """Neighbours on a ring: still three different places."""
    first = torch.randint(12, (batch_size, 1), generator=generator)
    return (first + torch.arange(3)) % 12


def batch_in_a_loop(batch_size, generator):
    values, pointers, answers = [], [], []
    for _ in range(batch_size):
        row = torch.randint(0, 10, (12,), generator=generator)
        places = torch.randperm(12, generator=generator)[:3]
        values.append(row)
        pointers.append(places)
        answers.append(torch.stack([row[place] for place in places]))
    return torch.stack(values), torch.stack(pointers), torch.stack(answers)


RIGHT_BATCHES = [
    design(lambda B, g: torch.rand(B, 12, generator=g).argsort(-1)[:, :3]),
    design(lambda B, g: torch.rand(B, 12, generator=g).topk(3).indices),
    design(lambda B, g: torch.ones(B, 12).multinomial(3, generator=g)),
    design(lambda B, g: torch.stack([torch.randperm(12, generator=g)[:3] for _ in range(B)])),
    design(lambda B, g: torch.rand(B, 12, generator=g).argsort(-1)[:, -3:].int()),
    design(lambda B, g: torch.rand(B, 12, generator=g).argsort(-1)[:, :3].sort(-1).values),
    design(tied),
    batch_in_a_loop,
    lambda batch_size, generator: pointer_batch(batch_size, generator, pointers=3),
    lambda size, g: list(pointer_batch(size, g, 3)),
]

RIGHT = {
    "07.pointer_shares": RIGHT_SHARES,
    "07.heads_needed": RIGHT_NEEDED,
    "07.three_pointer_batch": RIGHT_BATCHES,
}


@each_right_way(RIGHT)
def test_c15_other_right_ways_pass(exercise, answer):
    assert_passes(exercise, answer)


def test_c15_at_least_eight_right_and_eight_wrong_ways_each():
    assert {id for id in exercises() if id.startswith("07.")} == RIGHT.keys() == WRONG.keys()
    for ways in (*RIGHT.values(), *WRONG.values()):
        assert len(ways) >= 8


# --- wrong ways -------------------------------------------------------------------------------


def read(rows, pointers):
    return torch.take_along_dim(rows, pointers[:, None], dim=-1)


def overwritten(weights, pointers):
    out = torch.zeros(weights.shape[1], 2)
    for b in range(len(pointers)):
        for i in range(2):
            out[:, i] = weights[b, :, -1, pointers[b, i]]
    return out / len(pointers)


WRONG_SHARES = [
    (lambda w, p: read(w[:, :, :, -1], p).mean(0), "answer_as_key"),
    (lambda w, p: pointer_shares(w.transpose(-1, -2), p), "answer_as_key"),
    (lambda w, p: read(w[:, :, 0], p).mean(0), "first_token_asked"),
    (lambda w, p: read(w.mean(dim=2), p).mean(0), "all_queries_asked"),
    (lambda w, p: read(w.sum(dim=-2), p).mean(0), "all_queries_asked"),
    (lambda w, p: read(w[:, :, -2], p).mean(0), "token_before_asked"),
    (lambda w, p: read(w[:, :, -1], p).mean(dim=(0, 1)), "heads_put_together"),
    (lambda w, p: w[:, :, -1].mean(1).gather(1, p).mean(0), "heads_put_together"),
    (lambda w, p: read(w[:, :, -1], p), "rows_not_averaged"),
    (lambda w, p: read(w[:, :, -1], p).sum(dim=0), "rows_added"),
    (lambda w, p: shares_of_the_lesson(w, p).T, "turned_over"),
    (lambda w, p: read(w[:, :, -1], p).sum(-1).mean(0), "pointers_put_together"),
    (lambda w, p: pointer_shares(w, p[:, [1, 0]]), "pointers_exchanged"),
    (lambda w, p: (w[:, :, -1:].argmax(-1) == p[:, None]).double().mean(0), "largest_counted"),
    (lambda w, p: pointer_shares(w, p + 1), "places_counted_from_1"),
    (lambda w, p: w[:, :, -1, p[0]].mean(0), "pointers_of_one_row"),
    (lambda w, p: w[0, :, -1, p[0]], "one_row_alone"),
    (lambda w, p: w[:, :, -1, p], "wrong_shape"),
    (lambda w, p: read(w[:, :, -1], p).mean(0).tolist(), "not_a_tensor"),
    (lambda w, p: w.gather(-1, p), "raised"),
    (lambda w, p: 0.5 * pointer_shares(w, p), "wrong_values"),
    (lambda w, p: pointer_shares(w, (p - 1) % w.shape[-1]), "places_counted_from_1"),
    (
        lambda w, p: torch.stack([w[:, :, -1, p[:, i]].mean((0, 2)) for i in range(2)], -1),
        "pointers_of_all_rows",
    ),
    (lambda w, p: w[:, :, -1, p].mean((0, 2)), "pointers_of_all_rows"),
    (
        lambda w, p: torch.stack(
            [w[torch.arange(len(p)), :, -1, p[:, i]].max(0).values for i in range(2)], -1
        ),
        "largest_row",
    ),
    (overwritten, "last_row_kept"),
]

WRONG_NEEDED = [
    (1, "one_wide_head"), (2, "two_as_before"), (4, "power_of_two"), (8, "power_of_two"),
    (5, "pointers_and_the_answer"), (6, "pairs_of_pointers"), (12, "a_head_for_each_place"),
    (10, "a_head_for_each_value"), (60, "a_head_for_each_feature"), (20, "width_of_a_head"),
    (0, "no_head"), (-3, "not_a_count"), (2.5, "not_a_count"), (7, "not_a_divisor"),
    (15, "another_number"), ("3", "number_as_text"), ((1, 3), "not_one_number"),
    ("three", "not_a_value"),
]  # fmt: skip


def changed(change):
    return lambda batch_size, generator: change(*pointer_batch(batch_size, generator, 3))


def unseeded_places(batch_size, generator):
    values = torch.randint(10, (batch_size, 12), generator=generator)
    pointers = torch.stack([torch.randperm(12)[:3] for _ in range(batch_size)])
    return values, pointers, values.gather(1, pointers)


def same_for_all(batch_size, generator):
    values = torch.randint(10, (batch_size, 12), generator=generator)
    pointers = torch.randperm(12, generator=generator)[:3]
    return values, pointers.repeat(batch_size, 1), values[:, pointers]


def other_rows(values, pointers, answers):
    return values, pointers, values.flip(0).gather(1, pointers)


WRONG_BATCHES = [
    (changed(lambda v, p, a: (v, p)), "not_three_parts"),
    (changed(lambda v, p, a: {"values": v}), "not_three_parts"),
    (changed(lambda v, p, a: (v.tolist(), p.tolist(), a.tolist())), "not_tensors"),
    (lambda batch_size, g: pointer_batch(64, g, 3), "values_shape"),
    (lambda batch_size, g: pointer_batch(batch_size, g), "two_pointers"),
    (lambda batch_size, g: pointer_batch(batch_size, g, 12), "pointers_shape"),
    (changed(lambda v, p, a: (v, p.T, a.T)), "pointers_shape"),
    (changed(lambda v, p, a: (v, p, a.sum(-1))), "answers_shape"),
    (changed(lambda v, p, a: (v, p, a[:, :2])), "answers_shape"),
    (changed(lambda v, p, a: (v.float(), p, a)), "not_whole_numbers"),
    (changed(lambda v, p, a: (v, p + 1, a)), "pointers_out_of_row"),
    (changed(lambda v, p, a: (v + 1, p, a + 1)), "values_out_of_range"),
    (same_for_all, "pointers_never_move"),
    (design(lambda B, g: torch.rand(B, 11, generator=g).argsort(-1)[:, :3]), "places_left_out"),
    (changed(lambda v, p, a: (v % 5, p, a % 5)), "values_left_out"),
    (design(lambda B, g: torch.randint(12, (B, 3), generator=g)), "same_place_twice"),
    (design(lambda B, g: torch.rand(B, 12).argsort(-1)[:, :3]), "generator_ignored"),
    (unseeded_places, "generator_ignored"),
    (lambda B, g: pointer_batch(B, torch.Generator().manual_seed(3), 3), "always_the_same"),
    (lambda B, g: pointer_batch(B, g.manual_seed(0), 3), "always_the_same"),
    (changed(lambda v, p, a: (v, p, p)), "pointers_as_answers"),
    (changed(lambda v, p, a: (v, p, v[:, :3])), "pointers_unused"),
    (changed(lambda v, p, a: (v, p, a.sort(-1)[0])), "order_changed"),
    (changed(lambda v, p, a: (v, p, a.flip(-1))), "order_changed"),
    (changed(lambda v, p, a: (v, p, a[:, :1].repeat(1, 3))), "one_answer_three_times"),
    (changed(other_rows), "answers_elsewhere"),
    (changed(lambda v, p, a: (v, p, v.gather(1, (p + 1) % 12))), "answers_elsewhere"),
    (lambda batch_size: pointer_batch(batch_size, torch.Generator(), 3), "wrong_arguments"),
    (changed(lambda v, p, a: (v, p, v.gather(0, p + 500))), "raised"),
]

WRONG = {
    "07.pointer_shares": WRONG_SHARES,
    "07.heads_needed": WRONG_NEEDED,
    "07.three_pointer_batch": WRONG_BATCHES,
}


@pytest.mark.parametrize(
    ("exercise", "answer", "kind"), [(id, *way) for id in WRONG for way in WRONG[id]]
)
def test_c15_wrong_ways_are_named(exercise, answer, kind, language):
    result = check(exercise, answer)
    assert (result.passed, result.kind) == (False, kind), result.message
    for part in ("title", "expected", "got", "look"):
        assert getattr(result, part).strip(), f"{part} is empty"
    assert "{" not in result.message.replace("{'values'", "")


def test_every_misconception_of_the_checks_is_met_above():
    for id, ways in WRONG.items():
        named = {idea.kind for idea in exercises()[id].misconceptions}
        assert named <= {kind for _, kind in ways}, id


def test_a_size_of_the_first_trial_written_by_hand_is_told_so(language):
    result = check("07.three_pointer_batch", lambda size, g: pointer_batch(400, g, 3))
    assert (result.kind, result.quotes) == ("hard_coded_size", ())


def test_untouched_stubs_wait():
    assert check("07.heads_needed", None).passed is None
    for id in ("07.pointer_shares", "07.three_pointer_batch"):
        result = check(id, lambda *args: None)
        assert result.passed is None and result.kind == "not_yet"


def test_a_design_that_passes_can_be_trained():
    run = Run(3, d_model=60, pointers=3, steps=20, make_batch=batch_in_a_loop)
    before = run.advance() and run.right
    assert run.finish().right >= before and run.done
