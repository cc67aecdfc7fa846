"""Lesson 04's exercises: right answers written many ways pass, wrong ones are named.

The answers here are written as readers write them, not taken from the catalogue of the checks.
"""

import torch
import torch.nn.functional as F
from check_probe import (
    assert_enough_misconceptions,
    assert_enough_right_ways,
    assert_named,
    assert_passes,
    each_right_way,
    each_wrong_way,
    one_language,  # noqa: F401
)

from helpers.checks import check, exercises
from helpers.explorers import HeadGates

# --- right ways -------------------------------------------------------------------------------


def merge_of_the_lesson(heads):
    B, H, T, d_k = heads.shape
    return heads.transpose(1, 2).contiguous().view(B, T, H * d_k)


def merge_by_cells(heads):
    B, H, T, d_k = heads.shape
    merged = torch.zeros(B, T, H * d_k)
    for i in range(H):
        for j in range(d_k):
            merged[:, :, i * d_k + j] = heads[:, i, :, j]
    return merged


def merge_turned_over(heads):
    B, H, T, d_k = heads.shape
    return heads.transpose(2, 3).reshape(B, H * d_k, T).transpose(1, 2)


RIGHT_MERGES = [
    merge_of_the_lesson,
    merge_by_cells,
    merge_turned_over,
    lambda heads: heads.permute(0, 2, 1, 3).flatten(2),
    lambda heads: heads.transpose(1, 2).reshape(heads.size(0), heads.size(2), -1),
    lambda heads: torch.cat(heads.unbind(1), dim=-1),
    lambda heads: torch.cat([heads[:, i] for i in range(heads.shape[1])], dim=2),
    lambda heads: torch.stack([torch.hstack(list(sequence)) for sequence in heads]),
    lambda heads: torch.einsum("bhtk->bthk", heads).flatten(-2),
    lambda heads: heads.movedim(1, 2).contiguous().view(*heads.movedim(1, 2).shape[:2], -1),
    lambda heads: heads.swapaxes(-3, -2).flatten(start_dim=-2),
]


def sum_in_a_loop(heads, W_O):
    B, H, T, d_k = heads.shape
    output = torch.zeros(B, T, H * d_k)
    for i in range(H):
        output = output + heads[:, i] @ W_O[i * d_k : (i + 1) * d_k, :]
    return output


def sum_of_tokens(heads, W_O):
    B, H, T, d_k = heads.shape
    blocks = W_O.chunk(H, dim=0)
    rows = [sum(heads[:, i, t] @ blocks[i] for i in range(H)) for t in range(T)]
    return torch.stack(rows, dim=1)


def sum_with_zeros(heads, W_O):
    """Each head alone side by side with zeros, through the whole of W_O."""
    total = 0
    for i in range(heads.shape[1]):
        alone = torch.zeros_like(heads)
        alone[:, i] = heads[:, i]
        total = total + merge_of_the_lesson(alone) @ W_O
    return total


RIGHT_SUMS = [
    sum_in_a_loop,
    sum_of_tokens,
    sum_with_zeros,
    lambda heads, W_O: sum(
        head @ block for head, block in zip(heads.unbind(1), W_O.chunk(heads.shape[1]), strict=True)
    ),
    lambda heads, W_O: (heads @ W_O.view(heads.shape[1], heads.shape[3], -1)).sum(1),
    lambda heads, W_O: torch.einsum(
        "bhtk,hkm->btm", heads, W_O.view(heads.shape[1], heads.shape[3], -1)
    ),
    lambda heads, W_O: torch.stack(
        [heads[:, i] @ block for i, block in enumerate(W_O.split(heads.shape[-1]))]
    ).sum(dim=0),
    lambda heads, W_O: torch.tensordot(
        heads, W_O.view(heads.shape[1], heads.shape[3], -1), dims=([1, 3], [0, 1])
    ),
    lambda heads, W_O: sum_in_a_loop(heads.double(), W_O.double()),
]

RIGHT_OUTPUTS = [
    *(lambda heads, W_O, merge=merge: merge(heads) @ W_O for merge in RIGHT_MERGES),
    *RIGHT_SUMS,
    lambda heads, W_O: F.linear(merge_of_the_lesson(heads), W_O.T),
    lambda heads, W_O: torch.einsum("btd,dm->btm", merge_of_the_lesson(heads), W_O),
    lambda heads, W_O: (W_O.T @ merge_of_the_lesson(heads).mT).mT,
]

RIGHT = {
    "04.merge_heads": RIGHT_MERGES,
    "04.sum_of_heads": RIGHT_SUMS,
    "04.output_projection": RIGHT_OUTPUTS,
}


@each_right_way(RIGHT)
def test_c15_other_right_ways_pass(exercise, answer):
    assert_passes(exercise, answer)


def test_c15_at_least_eight_right_ways_each():
    assert_enough_right_ways("04", RIGHT)


# --- wrong ways -------------------------------------------------------------------------------


def no_swap(heads):
    B, H, T, d_k = heads.shape
    return heads.contiguous().view(B, T, H * d_k)


def in_place(heads):
    heads *= 2
    return merge_of_the_lesson(heads) / 2


WRONG_MERGES = [
    (no_swap, "tokens_mixed"),
    (lambda heads: heads.reshape(heads.shape[0], heads.shape[2], -1), "tokens_mixed"),
    (lambda heads: heads.permute(0, 2, 3, 1).flatten(2), "features_interleaved"),
    (lambda heads: torch.stack(heads.unbind(1), dim=-1).flatten(2), "features_interleaved"),
    (lambda heads: heads.transpose(2, 3).reshape(len(heads), heads.shape[2], -1),
     "wrong_axes_swapped"),
    (lambda heads: heads.transpose(1, 3).reshape(len(heads), heads.shape[2], -1),
     "wrong_axes_swapped"),
    (lambda heads: heads.transpose(1, 2).reshape(len(heads), heads.shape[1], -1),
     "swapped_then_read_wrongly"),
    (lambda heads: heads.permute(0, 2, 1, 3).reshape(len(heads), -1, heads.shape[2]),
     "swapped_then_read_wrongly"),
    (lambda heads: merge_of_the_lesson(heads).transpose(1, 2), "features_before_tokens"),
    (lambda heads: heads.transpose(2, 3).flatten(1, 2), "features_before_tokens"),
    (lambda heads: heads.transpose(1, 2), "heads_not_joined"),
    (lambda heads: heads.transpose(1, 2).contiguous(), "heads_not_joined"),
    (lambda heads: heads.mean(dim=1), "heads_averaged"),
    (lambda heads: sum(heads.unbind(1)), "heads_averaged"),
    (lambda heads: torch.cat(heads.unbind(1), dim=1), "joined_along_tokens"),
    (lambda heads: torch.cat(heads.unbind(1)[::-1], dim=-1), "heads_in_reverse"),
    (lambda heads: merge_of_the_lesson(heads).view(-1, heads.shape[1] * heads.shape[3]),
     "batch_lost"),
    (lambda heads: torch.cat(list(heads[0]), dim=-1), "first_sequence_only"),
    (lambda heads: torch.cat(list(heads[0]), dim=-1)[None], "first_sequence_only"),
    (lambda heads: heads.transpose(1, 2).reshape(1, 2, 4), "hard_coded_size"),
    (lambda heads: heads.transpose(1, 2).reshape(1, heads.shape[2], -1), "hard_coded_size"),
    (lambda heads: heads.transpose(1, 2).view(len(heads), heads.shape[2], -1), "raised"),
    (lambda heads: merge_of_the_lesson(heads).transpose(0, 1), "wrong_axis_order"),
    (lambda heads: merge_of_the_lesson(heads).int(), "wrong_dtype"),
    (lambda heads: merge_of_the_lesson(heads).tolist(), "not_a_tensor"),
    (lambda heads: merge_of_the_lesson(heads).detach(), "detached"),
    (in_place, "changed_input"),
    (lambda heads, num_heads: merge_of_the_lesson(heads), "wrong_arguments"),
]  # fmt: skip


def terms_of(heads, W_O):
    d_k = heads.shape[-1]
    return [heads[:, i] @ W_O[i * d_k : (i + 1) * d_k] for i in range(heads.shape[1])]


def of_terms(finish):
    return lambda heads, W_O: finish(terms_of(heads, W_O))


def of_blocks(block):
    """A loop whose blocks are cut by `block(W_O, i, H, d_k)`."""

    def sum_of_heads(heads, W_O):
        H, d_k = heads.shape[1], heads.shape[3]
        return sum(heads[:, i] @ block(W_O, i, H, d_k) for i in range(H))

    return sum_of_heads


def overwritten(heads, W_O):
    for term in terms_of(heads, W_O):
        output = term
    return output


WRONG_SUMS = [
    (of_blocks(lambda W_O, i, H, d_k: W_O[:, i * d_k : (i + 1) * d_k].T),
     "columns_instead_of_rows"),
    (of_blocks(lambda W_O, i, H, d_k: W_O.T[i * d_k : (i + 1) * d_k]), "columns_instead_of_rows"),
    (of_blocks(lambda W_O, i, H, d_k: W_O[:, i * d_k : (i + 1) * d_k]), "column_blocks"),
    (of_blocks(lambda W_O, i, H, d_k: W_O[i * d_k : (i + 1) * d_k, i * d_k : (i + 1) * d_k]),
     "diagonal_blocks"),
    (lambda heads, W_O: torch.cat([
        heads[:, i] @ W_O[i * heads.shape[3] : (i + 1) * heads.shape[3],
                          i * heads.shape[3] : (i + 1) * heads.shape[3]]
        for i in range(heads.shape[1])], dim=-1), "diagonal_blocks"),
    (of_terms(lambda terms: torch.stack(terms, dim=1)), "not_summed"),
    (of_terms(lambda terms: torch.stack(terms, dim=1).sum(dim=2)), "summed_over_another_axis"),
    (of_terms(lambda terms: torch.stack(terms, dim=1).sum()), "summed_over_another_axis"),
    (of_terms(lambda terms: torch.cat(terms, dim=-1)), "joined_not_added"),
    (of_terms(lambda terms: torch.stack(terms).mean(0)), "mean_of_terms"),
    (of_terms(lambda terms: sum(terms) / len(terms)), "mean_of_terms"),
    (overwritten, "one_term_only"),
    (of_terms(lambda terms: terms[0]), "one_term_only"),
    (of_blocks(lambda W_O, i, H, d_k: W_O[i::H]), "rows_interleaved"),
    (of_blocks(lambda W_O, i, H, d_k: W_O.view(d_k, H, -1)[:, i]), "rows_interleaved"),
    (of_blocks(lambda W_O, i, H, d_k: W_O.view(H, d_k, -1)[H - 1 - i]), "blocks_in_reverse"),
    (of_blocks(lambda W_O, i, H, d_k: W_O[:d_k]), "one_block_for_all"),
    (of_blocks(lambda W_O, i, H, d_k: W_O.view(H, -1, d_k)[i].T), "blocks_read_wrongly"),
    (of_blocks(lambda W_O, i, H, d_k: W_O), "whole_W_O_for_each_head"),
    (lambda heads, W_O: heads.sum(dim=1) @ W_O, "whole_W_O_for_each_head"),
    (lambda heads, W_O: heads @ W_O, "whole_W_O_for_each_head"),
    (lambda heads, W_O: no_swap(heads) @ W_O, "tokens_mixed"),
    (lambda heads, W_O: heads.sum(1), "W_O_left_out"),
    (of_terms(lambda terms: terms), "not_a_tensor"),
    (of_blocks(lambda W_O, i, H, d_k: W_O[4 * i : 4 * i + 4]), "hard_coded_size"),
    (lambda heads, W_O: sum_in_a_loop(heads[:, :3], W_O), "hard_coded_size"),
    (lambda heads, W_O: F.dropout(sum_in_a_loop(heads, W_O), 0.1), "random"),
    (lambda heads, W_O: sum_in_a_loop(heads, W_O).transpose(0, 1), "wrong_axis_order"),
    (of_blocks(lambda W_O, i, H, d_k: W_O.view(H, H, -1)[i]), "raised"),
    (lambda heads, W_O: sum_in_a_loop(heads, W_O) * 2, "wrong_values"),
]  # fmt: skip

WRONG_OUTPUTS = [
    (lambda heads, W_O: merge_of_the_lesson(heads), "W_O_left_out"),
    (lambda heads, W_O: no_swap(heads), "tokens_mixed_and_W_O_left_out"),
    (lambda heads, W_O: no_swap(heads) @ W_O, "tokens_mixed"),
    (lambda heads, W_O: F.linear(no_swap(heads), W_O), "tokens_mixed_and_W_O_transposed"),
    (lambda heads, W_O: heads.permute(0, 2, 3, 1).flatten(2) @ W_O, "features_interleaved"),
    (lambda heads, W_O: torch.cat(heads.unbind(1)[::-1], -1) @ W_O, "heads_in_reverse"),
    (lambda heads, W_O: merge_of_the_lesson(heads) @ W_O.T, "W_O_transposed"),
    (lambda heads, W_O: F.linear(merge_of_the_lesson(heads), W_O), "W_O_transposed"),
    (lambda heads, W_O: merge_of_the_lesson(heads) @ W_O @ W_O, "W_O_twice"),
    (lambda heads, W_O: W_O @ merge_of_the_lesson(heads), "W_O_from_the_left"),
    (lambda heads, W_O: heads @ W_O, "W_O_before_merging"),
    (lambda heads, W_O: merge_of_the_lesson(heads @ W_O), "W_O_before_merging"),
    (lambda heads, W_O: torch.cat(terms_of(heads, W_O), dim=-1), "W_O_before_merging"),
    (lambda heads, W_O: merge_of_the_lesson(heads @ W_O[: heads.shape[3], : heads.shape[3]]),
     "W_O_before_merging"),
    (lambda heads, W_O: heads.mean(1) @ W_O, "heads_averaged"),
    (lambda heads, W_O: heads.mean(1), "heads_averaged"),
    (lambda heads, W_O: torch.cat(heads.unbind(1), dim=1) @ W_O, "joined_along_tokens"),
    (lambda heads, W_O: torch.tanh(merge_of_the_lesson(heads) @ W_O), "function_added"),
    (lambda heads, W_O: F.relu(merge_of_the_lesson(heads) @ W_O), "function_added"),
    (lambda heads, W_O: torch.relu(merge_of_the_lesson(heads)) @ W_O, "function_added"),
    (lambda heads, W_O: (merge_of_the_lesson(heads) @ W_O).softmax(-1), "function_added"),
    (lambda heads, W_O: merge_of_the_lesson(heads) @ W_O / len(W_O) ** 0.5, "scaled_again"),
    (lambda heads, W_O: merge_of_the_lesson(heads) @ W_O + merge_of_the_lesson(heads),
     "concat_added"),
    (lambda heads, W_O: (merge_of_the_lesson(heads) @ W_O)[0], "wrong_shape"),
    (lambda heads, W_O: (merge_of_the_lesson(heads) @ W_O).transpose(0, 1), "wrong_axis_order"),
    (lambda heads, W_O: heads.transpose(1, 2).reshape(2, 5, 12) @ W_O, "hard_coded_size"),
    (lambda heads, W_O: merge_of_the_lesson(heads) * W_O, "raised"),
    (lambda heads, W_O: F.dropout(merge_of_the_lesson(heads) @ W_O, 0.1), "random"),
    (lambda heads: merge_of_the_lesson(heads), "wrong_arguments"),
]  # fmt: skip

WRONG = {
    "04.merge_heads": WRONG_MERGES,
    "04.sum_of_heads": WRONG_SUMS,
    "04.output_projection": WRONG_OUTPUTS,
}


@each_wrong_way(WRONG)
def test_wrong_ways_are_named(exercise, answer, kind, language):
    # right numbers: there is none to show
    assert_named(exercise, answer, kind, without_number=("detached", "changed_input"))


def test_at_least_eight_misconceptions_each():
    assert_enough_misconceptions(WRONG)


# --- field cases ------------------------------------------------------------------------------


def test_c02_a_merge_without_the_swap_says_that_tokens_were_mixed(language):
    """Input 0 to 7 as (1, 2, 2, 2): token 0 should be [0, 1, 4, 5], [0, 1, 2, 3] came."""
    result = check("04.merge_heads", no_swap)
    assert result.kind == "tokens_mixed"
    title = {"en": "Tokens were mixed.", "es": "Se han mezclado tokens."}
    assert result.title == title[language]
    assert "heads (1, 2, 2, 2)" in result.got and "[0, 0]" in result.got
    assert result.got.index("[0, 1, 4, 5]") < result.got.index("[0, 1, 2, 3]")
    counting = exercises()["04.merge_heads"].probes[0].inputs["heads"]
    assert counting.flatten().tolist() == list(range(8))
    assert merge_of_the_lesson(counting)[0, 0].tolist() == [0, 1, 4, 5]
    assert no_swap(counting)[0, 0].tolist() == [0, 1, 2, 3]


def test_c02_no_trial_passes_on_shape_alone():
    """At every trial the merge without the swap has the right shape and other numbers."""
    for id in RIGHT:
        for probe in exercises()[id].probes:
            heads = probe.inputs["heads"]
            assert no_swap(heads).shape == merge_of_the_lesson(heads).shape
            assert not torch.equal(no_swap(heads), merge_of_the_lesson(heads))


def test_c07_a_concat_without_w_o_is_rejected_although_the_shape_is_right(language):
    concat_only = check("04.output_projection", lambda heads, W_O: merge_of_the_lesson(heads))
    assert concat_only.kind == "W_O_left_out" and "W_O" in concat_only.title
    for id in ("04.sum_of_heads", "04.output_projection"):
        for probe in exercises()[id].probes:
            heads, W_O = probe.inputs.values()
            assert merge_of_the_lesson(heads).shape == (merge_of_the_lesson(heads) @ W_O).shape
            assert not torch.allclose(W_O, torch.eye(len(W_O)), atol=0.1)
            assert not torch.allclose(W_O, W_O.T, atol=0.1)


def test_c02_c07_both_slips_together_are_named_together(language):
    assert check("04.output_projection", lambda heads, W_O: no_swap(heads)).kind == (
        "tokens_mixed_and_W_O_left_out"
    )


def test_a_missing_contiguous_raises_and_is_told_with_the_readers_line():
    """Never at H = 1, T = 1 or H = d_model, where nothing is missing."""
    result = check(
        "04.merge_heads",
        lambda heads: heads.transpose(1, 2).view(*heads.shape[:1], heads.shape[2], -1),
    )
    assert result.kind == "raised"
    assert "copies the numbers into place" in result.look and "view size" in result.message
    for probe in exercises()["04.merge_heads"].probes:
        assert min(probe.sizes["H"], probe.sizes["T"], probe.sizes["d_k"]) > 1


def test_sizes_of_the_larger_trials_are_all_different():
    for id in RIGHT:
        for probe in exercises()[id].probes[1:]:
            assert len(set(probe.sizes.values())) == 5, (id, probe.sizes)


def test_c15_untouched_stubs_wait():
    for id in RIGHT:
        result = check(id, lambda *inputs: None)
        assert result.passed is None and result.kind == "not_yet"


# --- what the lesson's quiz claims ------------------------------------------------------------


def test_c02_c38_claims_of_the_quiz():
    heads = torch.arange(8).view(1, 2, 2, 2)
    assert no_swap(heads)[0, 0].tolist() == [0, 1, 2, 3]  # q1, q2: contiguous, so no error
    assert heads.permute(0, 2, 3, 1).flatten(2)[0, 0].tolist() == [0, 4, 1, 5]
    explorer = HeadGates(d_model=16, H=4)
    assert round(explorer.shares.max().item(), 2) == 0.34  # q6
    assert explorer.lengths.sum() > explorer.trace.output.norm()
    explorer.gates = [0.0, 0.0, 0.0, 1.0]
    assert (explorer.trace.output != 0).any(1).sum() == 16  # q5
    assert (explorer.trace.concat != 0).any(1).sum() == 4
