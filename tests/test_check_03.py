"""Lesson 03's exercises: right answers written many ways pass, wrong ones are named.

The answers here are written as readers write them, not taken from the catalogue of the checks.
"""

import numpy as np
import pytest
import torch
from check_probe import (
    assert_enough_misconceptions,
    assert_enough_right_ways,
    assert_named,
    assert_passes,
    each_right_way,
    each_wrong_way,
    one_language,  # noqa: F401
)
from torch import nn

from helpers.checks import check, exercises
from helpers.reshaping.dependency import dependency_map
from helpers.reshaping.wrong_turns import layer_with

# --- right ways -------------------------------------------------------------------------------


def rows_sliced(weight, head, num_heads):
    d_k = weight.shape[0] // num_heads
    return weight[head * d_k : (head + 1) * d_k]


def rows_one_by_one(weight, head, num_heads):
    d_k = int(weight.size(0) / num_heads)
    return torch.stack([weight[head * d_k + i] for i in range(d_k)])


def rows_of_a_layer(weight, head, num_heads):
    linear = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    linear.weight.data = weight
    d_k = weight.shape[0] // num_heads
    return linear.weight[d_k * head : d_k * head + d_k, :]


RIGHT_ROWS = [
    rows_sliced,
    rows_one_by_one,
    rows_of_a_layer,
    lambda weight, head, num_heads: weight.chunk(num_heads)[head],
    lambda weight, head, num_heads: weight.chunk(num_heads, dim=0)[head].clone(),
    lambda weight, head, num_heads: weight.view(num_heads, -1, weight.shape[1])[head],
    lambda weight, head, num_heads: weight.reshape(num_heads, len(weight) // num_heads, -1)[head],
    lambda weight, head, num_heads: weight.unflatten(0, (num_heads, -1)).select(0, head),
    lambda weight, head, num_heads: weight.split(len(weight) // num_heads)[head],
    lambda weight, head, num_heads: torch.tensor_split(weight, num_heads)[head],
    lambda weight, head, num_heads: weight.narrow(
        0, head * (len(weight) // num_heads), len(weight) // num_heads),
    lambda weight, head, num_heads: weight.T.chunk(num_heads, dim=1)[head].T,
    lambda weight, head, num_heads: weight[torch.arange(len(weight)).chunk(num_heads)[head]],
    lambda weight, head, num_heads: weight.double().chunk(num_heads)[head],
]  # fmt: skip


def split_plain(x, num_heads):
    B, T, d_model = x.shape
    x = x.view(B, T, num_heads, d_model // num_heads)
    return x.transpose(1, 2)


def split_copied(x, num_heads):
    B, T, d_model = x.size()
    d_k = d_model // num_heads
    return x.reshape(B, T, num_heads, d_k).permute(0, 2, 1, 3).contiguous()


def split_looped(x, num_heads):
    d_k = x.shape[-1] // num_heads
    heads = [x[:, :, i * d_k : (i + 1) * d_k] for i in range(num_heads)]
    return torch.stack(heads, dim=1)


def split_filled(x, num_heads):
    B, T, d_model = x.shape
    out = torch.zeros(B, num_heads, T, d_model // num_heads)
    for h in range(num_heads):
        for t in range(T):
            out[:, h, t] = x[:, t, h * out.shape[-1] : (h + 1) * out.shape[-1]]
    return out


def split_by_strides(x, num_heads):
    B, T, d_model = x.shape
    d_k = d_model // num_heads
    return x.as_strided((B, num_heads, T, d_k), (T * d_model, d_k, d_model, 1))


RIGHT_SPLITS = [
    split_plain,
    split_copied,
    split_looped,
    split_filled,
    split_by_strides,
    lambda x, num_heads: torch.stack(x.chunk(num_heads, dim=-1), dim=1),
    lambda x, num_heads: x.unflatten(-1, (num_heads, -1)).transpose(1, 2),
    lambda x, num_heads: x.unflatten(2, (num_heads, -1)).movedim(2, 1),
    lambda x, num_heads: x.view(*x.shape[:2], num_heads, -1).swapaxes(1, 2),
    lambda x, num_heads: x.view(len(x), -1, num_heads, x.shape[2] // num_heads).transpose(-3, -2),
    lambda x, num_heads: torch.cat([part.unsqueeze(1) for part in x.chunk(num_heads, -1)], 1),
    lambda x, num_heads: torch.einsum("bthd->bhtd", x.unflatten(-1, (num_heads, -1))),
    lambda x, num_heads: x.transpose(1, 2).reshape(
        x.shape[0], num_heads, -1, x.shape[1]).transpose(2, 3),
    lambda x, num_heads: torch.stack(
        [s.view(len(s), num_heads, -1).transpose(0, 1) for s in x]),
    lambda x, num_heads: split_plain(x.double(), num_heads),
]  # fmt: skip


def place_by_hand(head, token, feature, d_model, num_heads):
    d_k = d_model // num_heads
    return token * d_model + head * d_k + feature


def place_looked_up(head, token, feature, d_model, num_heads):
    x = torch.arange((token + 1) * d_model).view(1, token + 1, d_model)
    return int(split_plain(x, num_heads)[0, head, token, feature])


def place_from_strides(head, token, feature, d_model, num_heads):
    heads = split_plain(torch.zeros(1, token + 1, d_model), num_heads)
    return sum(i * s for i, s in zip((0, head, token, feature), heads.stride(), strict=True))


def place_counted(head, token, feature, d_model, num_heads):
    place = 0
    for t in range(token + 1):
        for h in range(num_heads):
            for j in range(d_model // num_heads):
                if (h, t, j) == (head, token, feature):
                    return place
                place += 1


RIGHT_PLACES = [
    place_by_hand,
    place_looked_up,
    place_from_strides,
    place_counted,
    lambda h, t, j, d_model, H: (t * H + h) * (d_model // H) + j,
    lambda h, t, j, d_model, H: t * d_model + int(h * (d_model / H)) + j,
    lambda h, t, j, d_model, H: torch.tensor(t * d_model + h * (d_model // H) + j),
    lambda head, token, feature, d_model, num_heads: np.ravel_multi_index(
        (token, head, feature), (token + 1, num_heads, d_model // num_heads)),
    lambda h, t, j, d_model, H: range(t * d_model, (t + 1) * d_model)[h * d_model // H + j],
    lambda h, t, j, d_model, H: sum([d_model] * t + [d_model // H] * h + [j]),
]  # fmt: skip

RIGHT = {
    "03.head_of_weight": RIGHT_ROWS,
    "03.split_heads": RIGHT_SPLITS,
    "03.memory_place": RIGHT_PLACES,
}


@each_right_way(RIGHT)
def test_c15_other_right_ways_pass(exercise, answer):
    assert_passes(exercise, answer)


def test_c15_at_least_eight_right_ways_each():
    assert_enough_right_ways("03", RIGHT)


# --- wrong ways -------------------------------------------------------------------------------


def rows_in_place(weight, head, num_heads):
    weight /= 2
    return 2 * rows_sliced(weight, head, num_heads)


WRONG_ROWS = [
    (lambda w, head, H: w[:, head * (len(w) // H) : (head + 1) * (len(w) // H)],
     "columns_of_weight"),
    (lambda w, head, H: w.chunk(H, dim=1)[head].T, "columns_of_weight"),
    (lambda w, head, H: w.chunk(H)[head].T, "rows_transposed"),
    (lambda w, head, H: w[head::H], "interleaved_rows"),
    (lambda w, head, H: w.view(len(w) // H, H, -1)[:, head], "interleaved_rows"),
    (lambda w, head, H: w.chunk(H)[head - 1], "head_from_one"),
    (lambda w, head, H: w[(head - 1) * (len(w) // H) : head * (len(w) // H)], "head_from_one"),
    (lambda w, head, H: w[(head + 1) * (len(w) // H) : (head + 2) * (len(w) // H)], "head_after"),
    (lambda w, head, H: w[head : head + len(w) // H], "start_not_times_d_k"),
    (lambda w, head, H: w[head * H : (head + 1) * H], "num_heads_as_width"),
    (lambda w, head, H: w[head], "one_row"),
    (lambda w, head, H: w[head * (len(w) // H) :], "open_end"),
    (lambda w, head, H: w[: (head + 1) * (len(w) // H)], "up_to_the_head"),
    (lambda w, head, H: w[head * (len(w) // H) : (head + 1) * (len(w) // H) - 1], "one_row_off"),
    (lambda w, head, H: w[head * (len(w) // H) : (head + 1) * (len(w) // H) + 1], "one_row_off"),
    (lambda w, head, H: w[head * 3 : head * 3 + 3, head * 3 : head * 3 + 3], "square_block"),
    (lambda w, head, H: w, "whole_weight"),
    (lambda w, head, H: w.view(H, -1, w.shape[1]), "all_heads"),
    (lambda w, head, H: w[head * 3 : (head + 1) * 3], "hard_coded_size"),
    (lambda w, head, H: w[head * 64 : (head + 1) * 64], "sizes_of_the_lesson"),
    (lambda w, head, H: w[: len(w) // H], "works_only_when"),
    (lambda w, head, H: w.chunk(H)[head].tolist(), "not_a_tensor"),
    (lambda w, head, H: w.chunk(H)[head].flip(0), "wrong_values"),
    (lambda w, head: w[head], "wrong_arguments"),
    (lambda w, head, H: w[head * (len(w) / H) : (head + 1) * (len(w) / H)], "raised"),
    (rows_in_place, "changed_input"),
]  # fmt: skip


def split_renamed(x, num_heads):
    T, B, d_model = x.shape  # the other way round
    return x.view(T, B, num_heads, d_model // num_heads).permute(1, 2, 0, 3)


def split_without_return(x, num_heads):
    B, T, d_model = x.shape
    x.view(B, T, num_heads, d_model // num_heads).transpose(1, 2)


def split_not_kept(x, num_heads):
    B, T, d_model = x.shape
    x = x.view(B, T, num_heads, d_model // num_heads)
    x.transpose(1, 2)
    return x


def split_in_place(x, num_heads):
    out = split_plain(x, num_heads).clone()
    x.zero_()
    return out


def split_shape_in_place(x, num_heads):
    B, T, d_model = x.shape
    return x.resize_(B, T, num_heads, d_model // num_heads).transpose(1, 2)


def split_one_sequence(x, num_heads):
    T, d_model = x.shape[-2:]
    return x.view(T, num_heads, d_model // num_heads).transpose(0, 1).unsqueeze(0)


WRONG_SPLITS = [
    (lambda x, H: x.view(x.shape[0], H, x.shape[1], -1), "straight_view"),
    (lambda x, H: x.reshape(len(x), H, -1, x.shape[2] // H), "straight_view"),
    (lambda x, H: x.view(x.shape[0], x.shape[1], H, -1), "transpose_forgotten"),
    (split_not_kept, "transpose_forgotten"),
    (lambda x, H: split_plain(x, H).transpose(-1, -2), "wrong_axes_swapped"),
    (lambda x, H: x.view(*x.shape[:2], H, -1).transpose(1, 3), "wrong_axes_swapped"),
    (lambda x, H: x.view(*x.shape[:2], H, -1).transpose(2, 3), "wrong_axes_swapped"),
    (lambda x, H: x.view(*x.shape[:2], H, -1).transpose(0, 1), "wrong_axes_swapped"),
    (lambda x, H: torch.stack([x[..., i::H] for i in range(H)], 1), "interleaved_heads"),
    (lambda x, H: x.view(*x.shape[:2], -1, H).permute(0, 3, 1, 2), "interleaved_heads"),
    (lambda x, H: x.view(*x.shape[:2], -1, H).transpose(1, 2), "heads_and_width_exchanged"),
    (lambda x, H: x.view(*x.shape[:2], H, -1).permute(1, 2, 0, 3), "batch_second"),
    (split_renamed, "batch_second"),
    (lambda x, H: torch.stack(x.chunk(H, dim=-1)), "batch_second"),
    (lambda x, H: x.reshape(-1, H, x.shape[2] // H).transpose(0, 1).reshape(
        x.shape[0], H, x.shape[1], -1), "batch_mixed"),
    (lambda x, H: split_plain(x, H)[0], "batch_lost"),
    (lambda x, H: x.transpose(1, 2).reshape(len(x), H, x.shape[1], -1), "swapped_before_split"),
    (lambda x, H: split_plain(x, H).reshape(x.shape), "put_together_again"),
    (lambda x, H: x.unsqueeze(1).repeat(1, H, 1, 1), "whole_width_for_each_head"),
    (lambda x, H: x, "nothing_split"),
    (lambda x, H: x.view(1, 4, 2, 3).transpose(1, 2), "raised"),
    (lambda x, H: x.view(1, 10, 8, 64).transpose(1, 2), "raised"),
    (split_one_sequence, "works_only_when"),
    (lambda x, H: x.view(x.shape[0], x.shape[1], H, 4).transpose(1, 2), "hard_coded_size"),
    (lambda x, H: x.view(x.shape[0], x.shape[1], 3, -1).transpose(1, 2), "hard_coded_size"),
    (lambda x, H: split_plain(x, H).tolist(), "not_a_tensor"),
    (lambda x, H: split_plain(x, H).detach(), "detached"),
    (lambda x, H: split_plain(x, H).flip(1), "wrong_values"),
    (lambda x: split_plain(x, 2), "wrong_arguments"),
    (lambda x, H: x.view(x.shape[0], x.shape[1], H, x.shape[2]), "raised"),
    (split_in_place, "changed_input"),
    (split_shape_in_place, "changed_input"),
]  # fmt: skip


def place_in_new_memory(head, token, feature, d_model, num_heads):
    T = 10  # left over from an earlier cell
    d_k = d_model // num_heads
    return head * T * d_k + token * d_k + feature


WRONG_PLACES = [
    (place_in_new_memory, "head_major"),
    (lambda h, t, j, d, H: h * 4 * (d // H) + t * (d // H) + j, "head_major"),
    (lambda h, t, j, d, H: h * d + t * (d // H) + j, "steps_exchanged"),
    (lambda h, t, j, d, H: t * d + h + j, "step_of_head_is_one"),
    (lambda h, t, j, d, H: t * d + h * H + j, "step_of_head_is_num_heads"),
    (lambda h, t, j, d, H: t * d + j * H + h, "interleaved_places"),
    (lambda h, t, j, d, H: (t + h) * (d // H) + j, "step_of_token_is_d_k"),
    (lambda h, t, j, d, H: t * H + h * (d // H) + j, "step_of_token_is_num_heads"),
    (lambda h, t, j, d, H: h * (d // H) + j, "token_forgotten"),
    (lambda h, t, j, d, H: t * d + j, "head_forgotten"),
    (lambda h, t, j, d, H: t * d + h * (d // H), "feature_forgotten"),
    (lambda h, t, j, d, H: t * d + h * (d // H) + j + 1, "place_from_one"),
    (lambda h, t, j, d, H: t * d + h * (d / H) + j, "decimal_place"),
    (lambda h, t, j, d, H: np.float32(t * d + h * d / H + j), "decimal_place"),
    (lambda h, t, j, d, H: torch.tensor(t * d + h * d / H + j), "decimal_place"),
    (lambda h, t, j, d, H: t * 6 + h * 3 + j, "sizes_of_the_lesson"),
    (lambda h, t, j, d, H: t * 512 + h * 64 + j, "sizes_of_the_lesson"),
    (lambda h, t, j, d, H: h * 4 * 1 + t * 1 + j, "sizes_of_the_lesson"),  # T, d_k of a loop
    (lambda h, t, j, d, H: t * d + h * 64 + j, "sizes_of_the_lesson"),
    (lambda h, t, j, d, H: (t * d, h * (d // H), j), "not_a_number"),
    (lambda h, t, j, d, H: t * d + h * (d // H) + j - 1, "wrong_number"),
    (lambda h, t, j, d, H: torch.tensor([t * d, h * (d // H), j]), "not_a_number"),
    (lambda h, t, j: t * 6 + h * 3 + j, "wrong_arguments"),
]

WRONG = {
    "03.head_of_weight": WRONG_ROWS,
    "03.split_heads": WRONG_SPLITS,
    "03.memory_place": WRONG_PLACES,
}


@each_wrong_way(WRONG)
def test_wrong_ways_are_named(exercise, answer, kind, language):
    # there is no number to show
    assert_named(exercise, answer, kind, without_number=("not_a_tensor", "detached"))


def test_at_least_eight_misconceptions_each():
    assert_enough_misconceptions(WRONG)


def test_every_misconception_has_an_answer_here():
    for id, ways in WRONG.items():
        known = {idea.kind for idea in exercises()[id].misconceptions} - {"all_multiplied"}
        assert known <= {kind for _, kind in ways}, id


@pytest.mark.parametrize("exercise", WRONG)
def test_no_wrong_way_of_the_catalogue_is_right_at_every_trial(exercise):
    known = exercises()[exercise]
    for idea in known.misconceptions:
        assert check(exercise, idea.wrong).passed is False, idea.kind


def test_untouched_stubs_are_not_yet(language):
    for id, stub in (
        ("03.head_of_weight", lambda weight, head, num_heads: None),
        ("03.split_heads", lambda x, num_heads: None),
        ("03.memory_place", lambda head, token, feature, d_model, num_heads: None),
    ):
        assert check(id, stub).passed is None
    assert check("03.split_heads", split_without_return).kind == "no_return"


def test_c01_the_straight_view_is_told_whose_numbers_it_took(language):
    result = check("03.split_heads", lambda x, H: x.view(len(x), H, x.shape[1], -1))
    assert "[12, 13, 14, 15]" in result.got and "[4, 5, 6, 7]" in result.got
    # head 0, token 1 holds features 4 to 7 of token 0
    assert "(0, 4) (0, 5) (0, 6) (0, 7)" in result.got
    assert {"en": "In memory", "es": "En memoria"}[language] in result.look


def test_sizes_of_the_example_are_asked_after(language):
    result = check("03.split_heads", lambda x, H: x.view(1, 4, 2, 3).transpose(1, 2))
    assert {"en": "Is a size written by hand?", "es": "tamaño escrito a mano"}[
        language
    ] in result.look


def test_no_deciding_trial_is_at_a_size_that_hides_a_wrong_turn():
    for id in WRONG:
        for probe in exercises()[id].probes:
            assert all(size > 1 for size in probe.sizes.values()), probe.trial


# --- the quiz ---------------------------------------------------------------------------------


def merges_by_view(T, H, d_k):
    try:
        torch.zeros(1, H, T, d_k).transpose(1, 2).view(1, T, H * d_k)
        return True
    except RuntimeError:
        return False


def test_c01_c38_what_the_quiz_claims_is_so():
    x = torch.arange(24).view(1, 4, 6)
    assert x.view(1, 2, 4, 3)[0, 0, 1].tolist() == [3, 4, 5]  # q1
    assert x.view(1, 2, 4, 3)[0, 1, 0].tolist() == [12, 13, 14]
    viewed = x.view(1, 4, 2, 3)
    assert viewed.stride() == (24, 6, 3, 1) and viewed.transpose(1, 2).stride() == (24, 3, 6, 1)
    assert split_plain(torch.zeros(1, 10, 512), 8).stride() == (5120, 64, 512, 1)  # q3
    assert torch.equal(x.view(1, 2, 4, 3).view(1, 4, 6), x)  # q4
    assert merges_by_view(5, 1, 3) and merges_by_view(5, 6, 1)  # q5
    assert not merges_by_view(2, 2, 3) and not merges_by_view(3, 2, 3)
    layer = layer_with(12, 3, "wrong", "wrong")
    assert dependency_map(layer, 12, 12).sum() == 48  # q6
