"""Lesson 09's exercises: right answers written many ways pass, wrong ones are named."""

import networkx as nx
import torch
from check_probe import (
    assert_enough_right_ways,
    assert_named,
    assert_passes,
    each_right_way,
    each_wrong_way,
    one_language,  # noqa: F401
)

from helpers import graphs
from helpers.checks import check, exercises

# --- right ways: in-degree -----------------------------------------------------------------


def by_loops(weights, threshold):
    counts = [0] * len(weights)
    for row in weights.tolist():
        for j, weight in enumerate(row):
            if weight >= threshold:
                counts[j] += 1
    return counts


def by_networkx(weights, threshold):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(weights)))
    graph.add_edges_from((weights >= threshold).nonzero().tolist())
    return [graph.in_degree(i) for i in range(len(weights))]


def by_bincount(weights, threshold):
    return torch.bincount((weights >= threshold).nonzero()[:, 1], minlength=len(weights))


RIGHT_DEGREES = [
    lambda w, t: (w >= t).sum(dim=0),
    lambda w, t: (w.T >= t).sum(1),
    lambda w, t: (w >= t).float().sum(0),
    lambda w, t: torch.ones(len(w)) @ (w >= t).float(),
    lambda w, t: torch.einsum("ij->j", (w >= t).int()),
    lambda w, t: torch.stack([(w[:, j] >= t).sum() for j in range(w.shape[1])]),
    lambda w, t: [(w[:, j] >= t).sum() for j in range(len(w))],
    lambda w, t: len(w) - (w < t).sum(0),
    lambda w, t: torch.count_nonzero(w >= t, dim=0),
    lambda w, t: graphs.in_degrees(graphs.head_graph(w, t)),
    lambda w, t: torch.where(w >= t, 1, 0).sum(-2),
    by_loops,
    by_networkx,
    by_bincount,
]

# --- right ways: overlap -------------------------------------------------------------------


def by_sets(first, second):
    a, b = ({tuple(e) for e in x.nonzero().tolist()} for x in (first, second))
    return len(a & b) / len(a | b)


def cell_by_cell(first, second):
    both = either = 0
    for a, b in zip(first.flatten().tolist(), second.flatten().tolist(), strict=True):
        both += a and b
        either += a or b
    return both / either


def by_graphs(first, second):
    return graphs.overlap(*(graphs.head_graph(x.float()) for x in (first, second)))


def inclusion_exclusion(first, second):
    both = (first * second).sum()
    return both / (first.sum() + second.sum() - both)


RIGHT_OVERLAPS = [
    lambda a, b: (a & b).sum() / (a | b).sum(),
    lambda a, b: ((a & b).sum() / (a | b).sum()).item(),
    lambda a, b: torch.minimum(a.int(), b.int()).sum() / torch.maximum(a.int(), b.int()).sum(),
    lambda a, b: b[a].sum().item() / (a | b).sum().item(),
    lambda a, b: (a[a | b] == b[a | b]).double().mean(),
    lambda a, b: 1 - (a ^ b).sum().item() / (a | b).sum().item(),
    lambda a, b: torch.logical_and(a, b).sum() / torch.logical_or(a, b).sum(),
    by_sets,
    cell_by_cell,
    by_graphs,
    inclusion_exclusion,
    lambda a, b: ((a & b).sum() / (a | b).sum()).numpy(),
    lambda a, b: ((a & b).sum() / (a | b).sum()).reshape(1),
]

# --- right ways: reachable -----------------------------------------------------------------


def kept(edges):
    return edges | torch.eye(len(edges), dtype=torch.bool)


def of_the_lesson(first_layer, second_layer):
    own = torch.eye(len(first_layer), dtype=torch.bool)
    return (second_layer | own).float() @ (first_layer | own).float() > 0


def all_four_ways(first, second):
    own = torch.eye(len(first), dtype=torch.bool)
    return own | first | second | ((second.int() @ first.int()) > 0)


def step_by_step(first, second):
    T = len(first)
    out = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        middle = {i} | {k for k in range(T) if second[i, k]}
        for k in middle:
            out[i, k] = True
            for j in range(T):
                if first[k, j]:
                    out[i, j] = True
    return out


def by_broadcast(first, second):
    return (kept(second)[:, :, None] & kept(first)[None]).any(1)


def numbers_of_0_and_1(first, second):
    return ((kept(second).double() @ kept(first).double()) > 0).int()


def by_library(first, second):
    return graphs.reachable([graphs.head_graph(x.float()) for x in (first, second)])


def signals(first, second):
    x = torch.eye(len(first))
    for layer in (first, second):
        x = x + layer.float() @ x
    return x != 0


def einsum(first, second):
    return torch.einsum("ik,kj->ij", kept(second).float(), kept(first).float()).clamp(max=1)


RIGHT = {
    "09.in_degree": RIGHT_DEGREES,
    "09.overlap": RIGHT_OVERLAPS,
    "09.reachable": [
        of_the_lesson, all_four_ways, step_by_step, by_broadcast, numbers_of_0_and_1, by_library,
        signals, einsum,
    ],
}  # fmt: skip


@each_right_way(RIGHT)
def test_c15_other_right_ways_pass(exercise, answer):
    assert_passes(exercise, answer)


def test_c15_at_least_eight_right_ways_each():
    assert_enough_right_ways("09", RIGHT)
    assert all(len(ways) >= 8 for ways in WRONG.values())


# --- wrong ways ----------------------------------------------------------------------------


def jaccard(a, b):
    return ((a & b).sum() / (a | b).sum()).item()


def product(a, b):
    return a.float() @ b.float()


def loops_forgotten(weights, threshold):
    counts = []
    for j in range(len(weights)):
        counts.append(sum(weights[i, j] >= threshold for i in range(len(weights)) if i != j))
    return torch.stack(counts)


WRONG = {
    "09.in_degree": [
        (lambda w, t: (w >= t).sum(1), "out_degree"),
        (lambda w, t: (w > t).sum(0), "strict_threshold"),
        (loops_forgotten, "loops_left_out"),
        (lambda w, t: torch.where(w >= t, w, 0.0).sum(0), "weights_added"),
        (lambda w, t: w.sum(0), "weights_added"),
        (lambda w, t: (w >= t).sum(0) + (w >= t).sum(1), "both_directions"),
        (lambda w, t: (w < t).sum(0), "weak_edges_counted"),
        (lambda w, t: (w >= t).float().mean(0), "share_not_count"),
        (lambda w, t: (w >= t).sum(), "all_edges_counted"),
        (lambda w, t: torch.full((len(w),), len(w)), "threshold_ignored"),
        (lambda w, t: (w.sum(0) >= t).long(), "sum_before_threshold"),
        (lambda w, t: (w >= 0.25).sum(0), "threshold_by_hand"),  # right in the first trial
        (lambda w, t: (w >= 0.2).sum(0), "threshold_by_hand"),
        (lambda w, t: torch.bincount(w.argmax(-1), minlength=len(w)), "strongest_only"),
        (lambda w, t: (w >= t).float(), "matrix_returned"),
    ],
    "09.overlap": [
        (lambda a, b: (a & b).sum(), "shared_counted"),
        (lambda a, b: (a | b).sum(), "union_counted"),
        (lambda a, b: (a & b).sum() / a.sum(), "of_the_first"),
        (lambda a, b: (a & b).sum() / b.sum(), "of_the_second"),
        (lambda a, b: (a & b).sum() / max(a.sum(), b.sum()), "of_the_smaller"),
        (lambda a, b: (a & b).float().mean(), "of_all_places"),
        (lambda a, b: (a == b).float().mean(), "absence_counted"),
        (lambda a, b: 2 * (a & b).sum() / (a.sum() + b.sum()), "shared_counted_twice"),
        (lambda a, b: (a & b).sum() / (a.sum() + b.sum()), "shared_counted_twice"),
        (lambda a, b: (a | b).sum() / (a & b).sum(), "turned_over"),
        (lambda a, b: (a ^ b).sum() / (a | b).sum(), "difference_returned"),
        (lambda a, b: jaccard(a.T, b), "one_graph_reversed"),
        (lambda a, b: jaccard(a | a.T, b | b.T), "direction_lost"),
        (lambda a, b: 100 * jaccard(a, b), "overlap_in_percent"),
        (lambda a, b: a.sum() / b.sum() if a.sum() < b.sum() else b.sum() / a.sum(),
         "degrees_compared"),
        (lambda a, b: "much", "not_a_number"),
        (lambda a, b: (a & b) / (a | b), "not_a_number"),
        (lambda a, b: (a & b).sum() // (a | b).sum(), "nothing_shared"),
        (lambda a, b: len(set(map(tuple, a.nonzero())) & set(map(tuple, b.nonzero())))
         / (a | b).sum(), "nothing_shared"),
        (lambda a, b: (a & b).sum() / (a ^ b).sum(), "wrong_number"),
        (lambda a, b: (a & b).sum() / 25, "wrong_number"),  # all places, in one trial of two
    ],
    "09.reachable": [
        (lambda a, b: product(kept(a), kept(b)) > 0, "layers_exchanged"),
        (lambda a, b: product(b, a) > 0, "own_not_kept"),
        (lambda a, b: product(kept(b), a) > 0, "one_layer_not_skipped"),
        (lambda a, b: product(b, kept(a)) > 0, "one_layer_not_skipped"),
        (lambda a, b: a | b | (product(b, a) > 0), "diagonal_missing"),
        (lambda a, b: kept(a | b), "union_only"),
        (lambda a, b: a & b, "cell_by_cell"),
        (lambda a, b: product(kept(b), kept(a)), "paths_counted"),
        (lambda a, b: (product(kept(b), kept(a)) > 0).T, "reversed"),
        (lambda a, b: product(kept(b), kept(b)) > 0, "one_layer_twice"),
        (lambda a, b: product(kept(a | b), kept(a | b)) > 0, "layers_mixed"),
        (lambda a, b: torch.linalg.matrix_power(kept(a | b).double(), 9) > 0,
         "any_number_of_steps"),
        (lambda a, b: product(kept(b.T), kept(a)) > 0, "second_layer_reversed"),
        (lambda a, b: (product(kept(b), kept(a)) > 0).any(1), "wrong_shape"),
        (lambda a, b: product(kept(b), kept(a)) >= 0, "compared_otherwise"),
        (lambda a, b: product(kept(b), kept(a)) > 1, "compared_otherwise"),
    ],
}  # fmt: skip


@each_wrong_way(WRONG)
def test_wrong_ways_are_named_in_both_languages(exercise, answer, kind, language):
    assert_named(exercise, answer, kind)


def test_a_product_that_torch_cannot_do_is_no_stub(language):
    """torch says so by a NotImplementedError, as an untouched stub may."""
    for answer, words in (
        (lambda a, b: kept(b) @ kept(a) > 0, "Bool"),
        (lambda a, b: kept(b).float() @ kept(a) > 0, "bool"),
        (lambda a, b: kept(a).mean(), "Bool"),
    ):
        result = check("09.reachable", answer)
        assert (result.passed, result.kind) == (False, "raised"), result.message
        assert words in result.look and "`.float()`" in result.look

    def stub(first_layer, second_layer):
        raise NotImplementedError("not implemented for now")

    assert check("09.reachable", stub).passed is None


def test_untouched_stubs_are_not_yet():
    for id in RIGHT:
        assert check(id, lambda *_: None).passed is None


def test_every_misconception_differs_from_the_right_answer_and_from_the_others():
    """No two kinds give the same on every probe: the name given is the name meant."""
    for id in RIGHT:
        exercise = exercises()[id]
        seen = {}
        for idea in [None, *exercise.misconceptions]:
            answer = exercise.reference if idea is None else idea.wrong
            kind = "right" if idea is None else idea.kind
            outputs = tuple(
                torch.as_tensor(exercise.call_with(answer, probe.copies())).double().flatten()
                for probe in exercise.probes
            )
            for other, theirs in seen.items():
                alike = all(
                    len(x) == len(y) and torch.allclose(x, y)
                    for x, y in zip(outputs, theirs, strict=True)
                )
                assert not alike or other == kind, (id, kind, other)
            seen[kind] = outputs
