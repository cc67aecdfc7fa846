"""Heads as graphs: planted weights whose graphs are known by construction."""

import math

import networkx as nx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from helpers import graphs
from helpers.graphs import GraphError
from helpers.treebank import Sentence, own_sentences

# Query 0 looks at 2 alone, query 1 at itself and 0, query 2 at all three.
PLANTED = torch.tensor([[0.0, 0.0, 1.0], [0.4, 0.6, 0.0], [0.25, 0.25, 0.5]])


def edges(graph) -> set:
    return set(graph.edges)


def graph_of(T: int, *pairs) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(T))
    graph.add_edges_from(pairs)
    return graph


# One head ---------------------------------------------------------------------------------


def test_c21_an_edge_runs_from_query_to_key_and_carries_their_weight():
    graph = graphs.head_graph(PLANTED, 0.3)
    assert edges(graph) == {(0, 2), (1, 0), (1, 1), (2, 2)}
    assert graph.edges[1, 0]["weight"] == pytest.approx(0.4)
    assert not graph.has_edge(0, 1)


def test_at_least_the_threshold_and_never_a_weight_of_zero():
    assert edges(graphs.head_graph(PLANTED, 0.25)) >= {(2, 0), (2, 1)}
    assert not edges(graphs.head_graph(PLANTED, 0.2501)) & {(2, 0), (2, 1)}
    assert (2, 2) in edges(graphs.head_graph(PLANTED, 0.5))
    assert edges(graphs.head_graph(PLANTED, 0)) == {
        (0, 2), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2),
    }  # fmt: skip
    assert edges(graphs.head_graph(PLANTED, 1.0)) == {(0, 2)}


def test_without_a_threshold_every_weight_above_zero_is_an_edge():
    assert torch.equal(graphs.edge_mask(PLANTED), PLANTED > 0)
    pair = torch.stack([PLANTED, torch.eye(3)])  # shared 11 22, in either 02 10 11 20 21 22 00
    assert graphs.overlaps(pair)[0, 1].item() == pytest.approx(2 / 7)


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.7])
def test_a_threshold_written_in_decimals_meets_the_weight_of_the_same_decimals(threshold):
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
        weights = torch.full((2, 2), threshold, dtype=dtype)  # in fp32 less than Python's 0.7
        assert graphs.edge_mask(weights, threshold).all(), dtype
        assert graphs.head_graph(weights, threshold).number_of_edges() == 4


def test_softmax_alone_gives_a_complete_graph_and_a_mask_takes_edges_away():
    scores = torch.randn(5, 5, generator=torch.Generator().manual_seed(0))
    assert graphs.head_graph(scores.softmax(-1)).number_of_edges() == 25
    causal = scores.masked_fill(torch.ones(5, 5).triu(1) > 0, -math.inf).softmax(-1)
    graph = graphs.head_graph(causal)
    assert graph.number_of_edges() == 15
    assert all(key <= query for query, key in graph.edges)


def test_c21_a_word_that_occurs_twice_is_two_nodes():
    labels = ["the", "cat", "the"]
    graph = graphs.head_graph(PLANTED, 0.3, labels)
    assert list(graph) == [0, 1, 2]
    assert [graph.nodes[i]["label"] for i in graph] == labels
    assert graphs.in_degrees(graph) == [1, 1, 2]


def test_c20_labels_stay_text():
    labels = ["<b>", "$x$", "[SEP]"]
    graph = graphs.head_graph(PLANTED, 0.3, labels)
    assert [label for _, label in graph.nodes(data="label")] == labels


def test_degrees_and_arriving_weight():
    graph = graphs.head_graph(PLANTED, 0.3)
    assert graphs.out_degrees(graph) == [1, 2, 1]
    assert graphs.in_degrees(graph) == [1, 1, 2]
    assert graphs.weights_in(graph) == pytest.approx([0.4, 0.6, 1.5])
    assert graphs.weights_in(graphs.head_graph(PLANTED)) == pytest.approx(PLANTED.sum(0).tolist())


def test_a_token_without_edges_is_still_a_node():
    graph = graphs.head_graph(torch.eye(3) * 0.1, 0.5)
    assert list(graph) == [0, 1, 2] and graph.number_of_edges() == 0
    assert graphs.in_degrees(graph) == [0, 0, 0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: graphs.head_graph(torch.ones(2, 3)), r"\(2, 3\)"),
        (lambda: graphs.head_graph(torch.ones(2, 3, 3)), "one head"),
        (lambda: graphs.head_graphs(torch.ones(3, 3)), r"\(H, T, T\)"),
        (lambda: graphs.head_graphs(torch.ones(2, 3, 4)), r"\(2, 3, 4\)"),
        (lambda: graphs.head_graph(PLANTED, 0, ["a", "b"]), r"\(3, 3\).*3 tokens.*2 labels"),
        (lambda: graphs.head_graph(torch.full((2, 2), math.nan)), "NaN"),
        (lambda: graphs.overlap(graph_of(2), graph_of(3)), r"2, 3"),
        (lambda: graphs.overlap(graph_of(2), nx.DiGraph([("a", "b")])), "positions"),
        (lambda: graphs.union([]), "no graph"),
        (lambda: graphs.reachable([]), "no graph"),
        (lambda: graphs.tree_match(graph_of(2), graph_of(3)), "different nodes"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_numbers(call, words):
    with pytest.raises(GraphError, match=words):
        call()


@settings(max_examples=50, deadline=None)
@given(
    arrays.arrays("float32", (2, 5, 5), elements=st.floats(0, 1, width=32)),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_what_holds_for_all_weights(weights, t1, t2):
    weights = torch.from_numpy(weights)
    low, high = sorted((t1, t2))
    first, second = graphs.head_graphs(weights, low)
    T = len(first)
    # A higher threshold only takes edges away.
    assert edges(graphs.head_graph(weights[0], high)) <= edges(first)
    # Every edge leaves one token and arrives at one.
    assert sum(graphs.in_degrees(first)) == sum(graphs.out_degrees(first)) == len(first.edges)
    assert graphs.in_degrees(first) == graphs.edge_mask(weights[0], low).sum(0).tolist()
    assert graphs.out_degrees(first) == graphs.edge_mask(weights[0], low).sum(1).tolist()
    # Overlap: symmetric, from 0 to 1, 1 with itself; union: at least each, at most the sum.
    for weighted in (False, True):
        share = graphs.overlap(first, second, weighted)
        assert math.isnan(share) == (not edges(first) | edges(second))
        assert math.isnan(share) or 0 <= share <= 1
        if not math.isnan(share):
            assert share == pytest.approx(graphs.overlap(second, first, weighted))
        if edges(first):
            assert graphs.overlap(first, first, weighted) == 1
    whole = graphs.union([first, second])
    assert edges(whole) == edges(first) | edges(second)
    # Paths: everything that one layer reaches, two reach; nobody loses what it holds.
    one, two = graphs.reachable([first]), graphs.reachable([first, second])
    assert (one & ~two).sum() == 0 and two.diagonal().all()
    assert T == two.shape[0]


# Several heads ----------------------------------------------------------------------------


def test_overlap_counts_shared_edges_and_compares_weights():
    a = torch.tensor([[0.6, 0.4, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]])
    b = torch.tensor([[0.2, 0.8, 0.0], [1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])
    first, second = graphs.head_graphs(torch.stack([a, b]))
    # shared 00 01 21 22, in either 00 01 10 11 21 22
    assert graphs.overlap(first, second) == pytest.approx(4 / 6)
    smaller, larger = 0.2 + 0.4 + 0.5 + 0.5, 0.6 + 0.8 + 1 + 1 + 0.5 + 0.5
    assert graphs.overlap(first, second, weighted=True) == pytest.approx(smaller / larger)
    transposed = graphs.head_graph(b.T)
    assert graphs.overlap(first, transposed) != pytest.approx(4 / 6)


def test_the_overlaps_of_all_pairs_are_those_of_each_pair():
    scores = torch.randn(4, 6, 6, generator=torch.Generator().manual_seed(2))
    weights = torch.cat([(2 * scores).softmax(-1), torch.zeros(1, 6, 6)])
    pairs = graphs.overlaps(weights, 0.2)
    made = graphs.head_graphs(weights, 0.2)
    for i, first in enumerate(made):
        for j, second in enumerate(made):
            share = graphs.overlap(first, second)
            assert pairs[i, j].item() == pytest.approx(share, nan_ok=True)
    assert pairs[:4, :4].diagonal().tolist() == [1] * 4 and pairs[4, 4].isnan()


def test_overlap_of_disjoint_equal_and_empty_graphs():
    one, other, empty = graph_of(3, (0, 1)), graph_of(3, (1, 0)), graph_of(3)
    assert graphs.overlap(one, other) == 0
    assert graphs.overlap(one, empty) == 0
    assert graphs.overlap(one, one.copy()) == 1
    assert math.isnan(graphs.overlap(empty, empty))
    assert math.isnan(graphs.overlap(empty, empty, weighted=True))


def test_the_union_keeps_which_heads_have_an_edge_and_its_largest_weight():
    a = torch.tensor([[0.9, 0.1], [0.7, 0.3]])
    b = torch.tensor([[0.1, 0.9], [0.8, 0.2]])
    whole = graphs.union(graphs.head_graphs(torch.stack([a, b]), 0.5, ["x", "y"]))
    assert edges(whole) == {(0, 0), (0, 1), (1, 0)}
    assert {edge: whole.edges[edge]["heads"] for edge in whole.edges} == {
        (0, 0): (0,), (0, 1): (1,), (1, 0): (0, 1),
    }  # fmt: skip
    assert whole.edges[1, 0]["weight"] == pytest.approx(0.8)
    assert [whole.nodes[i]["label"] for i in whole] == ["x", "y"]


def test_in_a_union_an_edge_without_a_weight_has_weight_1():
    plain, weighted = graph_of(3, (0, 1), (1, 2)), graphs.head_graph(PLANTED, 0.3)
    whole = graphs.union([weighted, plain])
    assert {edge: whole.edges[edge]["weight"] for edge in whole.edges} == {
        (0, 1): 1, (1, 2): 1, (0, 2): 1, (1, 0): pytest.approx(0.4),
        (1, 1): pytest.approx(0.6), (2, 2): 0.5,
    }  # fmt: skip


def test_the_union_takes_the_labels_of_the_first_graph():
    named, plain = (graphs.head_graph(PLANTED, 0.3, labels) for labels in (["a", "b", "c"], None))
    for layers, labels in (([named, plain], ["a", "b", "c"]), ([plain, named], ["0", "1", "2"])):
        whole = graphs.union(layers)
        assert [whole.nodes[i]["label"] for i in whole] == labels


# Paths ------------------------------------------------------------------------------------


def test_a_path_takes_the_last_layer_first():
    first, second = graph_of(3, (1, 2)), graph_of(3, (0, 1))
    # Token 1 takes from 2 in the first layer, token 0 from 1 in the second: 2 comes to 0.
    assert graphs.reachable([first, second])[0].tolist() == [True, True, True]
    # The other way round, token 0 took from 1 before 1 had anything of 2.
    assert graphs.reachable([second, first])[0].tolist() == [True, True, False]


def test_a_token_keeps_what_it_has():
    nothing = graph_of(3)
    assert torch.equal(graphs.reachable([nothing, nothing]), torch.eye(3) > 0)
    jump = graph_of(3, (0, 2))
    assert graphs.reachable([jump, nothing])[0].tolist() == [True, False, True]


def test_previous_token_graphs_reach_one_further_back_per_layer():
    chain = graph_of(6, *((i, i - 1) for i in range(1, 6)))
    for layers in range(1, 5):
        reached = graphs.reachable([chain] * layers)
        assert torch.equal(reached, torch.ones(6, 6).tril().triu(-layers) > 0)


def test_reachable_is_what_networkx_finds_step_by_step():
    generator = torch.Generator().manual_seed(3)
    layers = graphs.head_graphs(torch.rand(3, 7, 7, generator=generator), 0.8)
    reached = graphs.reachable(layers)
    for i in range(7):
        here = {i}
        for graph in reversed(layers):
            here |= {key for query in here for key in graph.successors(query)}
        assert reached[i].nonzero().flatten().tolist() == sorted(here)


def test_reachable_is_what_a_change_of_the_input_can_change():
    """The claim itself, by value: two layers of attention with a residual connection."""
    generator = torch.Generator().manual_seed(5)
    T = 6
    masks = torch.rand(2, T, T, generator=generator) < 0.25
    masks |= torch.eye(T, dtype=torch.bool)
    weights = masks / masks.sum(-1, keepdim=True)

    def run(x):
        for one in weights:
            x = x + one @ x
        return x

    x = torch.rand(T, 3, generator=generator)
    changes = torch.stack([(run(x + torch.eye(T)[j][:, None]) != run(x)).any(1) for j in range(T)])
    assert torch.equal(changes.T, graphs.reachable(graphs.head_graphs(weights, 0.01)))


# The tree ---------------------------------------------------------------------------------

# "the cat saw a dog": the -> cat, cat -> saw, a -> dog, dog -> saw
SENTENCE = Sentence(
    ("the", "cat", "saw", "a", "dog"),
    (1, 2, -1, 4, 2),
    ("det", "nsubj", "root", "det", "obj"),
    ("DET", "NOUN", "VERB", "DET", "NOUN"),
)


def test_the_trees_edges_run_from_dependent_to_head():
    tree = graphs.dependency_graph(SENTENCE)
    assert {(i, j, r) for i, j, r in tree.edges(data="relation")} == {
        (0, 1, "det"), (1, 2, "nsubj"), (3, 4, "det"), (4, 2, "obj"),
    }  # fmt: skip
    assert [tree.nodes[i]["label"] for i in tree] == list(SENTENCE.words)


def test_the_first_word_may_be_a_head_and_lists_of_different_lengths_are_refused():
    go_on = Sentence(("Go", "on"), (-1, 0), ("root", "advmod"), ("VERB", "ADV"))
    assert list(graphs.dependency_graph(go_on).edges(data="relation")) == [(1, 0, "advmod")]
    with pytest.raises(ValueError):
        graphs.dependency_graph(Sentence(("Go", "on"), (-1, 0), ("root",), ("VERB", "ADV")))


def test_every_tree_of_the_course_is_a_tree():
    for sentence in own_sentences():
        tree = graphs.dependency_graph(sentence)
        assert nx.is_arborescence(tree.reverse()), sentence.text


def test_tree_edges_are_found_in_either_direction_and_loops_count_for_nothing():
    tree = graphs.dependency_graph(SENTENCE)
    graph = graph_of(5, (0, 1), (2, 4), (0, 3), (2, 2))
    match = graphs.tree_match(graph, tree)
    assert match.found == {(0, 1), (4, 2)} and (match.count, match.total) == (2, 4)
    # Three edges on 20 places: a pair of places is missed with 17/20 · 16/19.
    assert match.chance == pytest.approx(4 * (1 - 17 * 16 / (20 * 19)))
    # Distances: +1, +2 and +3. Of 4 places at +1 one is taken, of 3 at +2 one, none at -1, -2.
    # Tree edges at 1: the, cat, a -> 1/4 each; at -2: dog, whose other direction has 1/3.
    assert match.same_distances == pytest.approx(3 / 4 + 1 / 3)


def test_the_whole_tree_and_nothing_of_it():
    tree = graphs.dependency_graph(SENTENCE)
    assert graphs.tree_match(tree, tree).count == 4
    empty = graphs.tree_match(graph_of(5), tree)
    assert (empty.count, empty.chance, empty.same_distances) == (0, 0, 0)
    full = graphs.tree_match(graph_of(5, *((i, j) for i in range(5) for j in range(5))), tree)
    assert full.count == full.total == full.chance == full.same_distances == 4


def test_one_word_has_a_tree_without_edges():
    tree = graphs.dependency_graph(Sentence(("Go",), (-1,), ("root",), ("VERB",)))
    match = graphs.tree_match(graph_of(1, (0, 0)), tree)
    assert (match.count, match.total, match.chance, match.same_distances) == (0, 0, 0, 0)


def test_of_two_words_one_edge_finds_the_tree_for_certain():
    tree = graph_of(2, (0, 1))
    for edge in ((0, 1), (1, 0)):  # the only two places, and the tree counts in either direction
        match = graphs.tree_match(graph_of(2, edge), tree)
        assert (match.count, match.total, match.chance, match.same_distances) == (1, 1, 1, 1)


def test_chance_is_what_random_graphs_find_on_average():
    tree = graphs.dependency_graph(SENTENCE)
    generator = torch.Generator().manual_seed(0)
    places = [(i, j) for i in range(5) for j in range(5) if i != j]
    real = graph_of(5, (0, 1), (1, 2), (4, 2), (3, 0))
    match = graphs.tree_match(real, tree)
    free, same = 0, 0
    runs = 3000
    for _ in range(runs):
        order = torch.randperm(len(places), generator=generator)[:4].tolist()
        free += graphs.tree_match(graph_of(5, *(places[i] for i in order)), tree).count
        moved = []
        for distance, count in ((1, 2), (-2, 1), (-3, 1)):
            starts = torch.randperm(5 - abs(distance), generator=generator)[:count].tolist()
            starts = [start - min(distance, 0) for start in starts]
            moved += [(start, start + distance) for start in starts]
        same += graphs.tree_match(graph_of(5, *moved), tree).count
    assert free / runs == pytest.approx(match.chance, abs=0.06)
    assert same / runs == pytest.approx(match.same_distances, abs=0.06)
