"""Heads as graphs: every attention matrix as a weighted directed graph over the same tokens.

One direction is kept throughout: an edge runs from the **query** i to the **key** j and carries
the weight A[i, j]: who looks at whom. What is mixed in travels the other way, from j to i.
Nodes are positions 0 to T - 1, never words, so that a word that occurs twice is two nodes; the
words are the nodes' attribute `label`.

The attention matrix as an adjacency matrix, and layers as steps of a path: Abnar and Zuidema
2020 (arXiv:2005.00928), section 3. The graphs are networkx's (Hagberg et al. 2008, SciPy).
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import networkx as nx
import torch
from torch import Tensor

from .texts import t
from .treebank import Sentence


class GraphError(ValueError):
    """Weights, labels or graphs that do not fit one another; its text gives the numbers."""


def edge_mask(weights: Tensor, threshold: float = 0.0) -> Tensor:
    """(..., T, T) weights -> (..., T, T) booleans: where there is an edge.

    An edge is a weight that is **at least** the threshold and not 0: at threshold 0 only what a
    mask hides is no edge. Softmax alone never gives 0, so that every such graph is complete.
    """
    return (weights >= threshold) & (weights > 0)


def head_graph(
    weights: Tensor, threshold: float = 0.0, labels: Sequence[str] | None = None
) -> nx.DiGraph:
    """(T, T), one head's weights from 0 to 1 -> its graph of T nodes.

    An edge (i, j) for each weight that is at least `threshold`, with its `weight`; an edge
    (i, i), a loop, where a token attends to itself. `labels`: T texts, for the nodes'
    attribute `label`; the positions themselves when None. Raises `GraphError` when shapes and
    labels do not fit, or for NaN, which no threshold can sort.
    """
    _check(weights, 2)
    T = weights.shape[0]
    labels = [str(i) for i in range(T)] if labels is None else [str(label) for label in labels]
    if len(labels) != T:
        raise GraphError(t("graphs.labels", shape=tuple(weights.shape), T=T, count=len(labels)))
    graph = nx.DiGraph()
    graph.add_nodes_from((i, {"label": label}) for i, label in enumerate(labels))
    rows = weights.detach().tolist()
    edges = edge_mask(weights.detach(), threshold).nonzero().tolist()
    graph.add_weighted_edges_from((i, j, rows[i][j]) for i, j in edges)
    return graph


def head_graphs(
    weights: Tensor, threshold: float = 0.0, labels: Sequence[str] | None = None
) -> list[nx.DiGraph]:
    """(H, T, T) -> H graphs over the same T nodes; see `head_graph`."""
    _check(weights, 3)
    return [head_graph(one, threshold, labels) for one in weights]


def out_degrees(graph: nx.DiGraph) -> list[int]:
    """How many keys each token looks at: edges that leave it, its loop among them."""
    return [degree for _, degree in sorted(graph.out_degree())]


def in_degrees(graph: nx.DiGraph) -> list[int]:
    """How many queries look at each token: edges that arrive, its loop among them."""
    return [degree for _, degree in sorted(graph.in_degree())]


def weights_in(graph: nx.DiGraph) -> list[float]:
    """The weight that arrives at each token, summed. Without a threshold: the columns' sums.

    (The weight that leaves a token is its row's sum, 1 without a threshold, so it says little.)
    """
    return [weight for _, weight in sorted(graph.in_degree(weight="weight"))]


def overlap(first: nx.DiGraph, second: nx.DiGraph, weighted: bool = False) -> float:
    """How alike two graphs over the same nodes are, from 0 (no shared edge) to 1 (the same).

    Edges in both over edges in either (Jaccard 1912). `weighted`: the sum of the smaller
    weights over the sum of the larger ones, with 0 where there is no edge (Ruzicka 1958).
    NaN when neither graph has an edge: 0 / 0 is no number.
    """
    _check_same_nodes([first, second])
    a, b = (set(graph.edges) for graph in (first, second))
    if not a | b:
        return math.nan
    if not weighted:
        return len(a & b) / len(a | b)
    pairs = [(_weight(first, edge), _weight(second, edge)) for edge in a | b]
    return sum(map(min, pairs)) / sum(map(max, pairs))


def overlaps(weights: Tensor, threshold: float = 0.0) -> Tensor:
    """(H, T, T) -> (H, H): `overlap` of every two heads' graphs, all at once, unweighted."""
    _check(weights, 3)
    edges = edge_mask(weights, threshold).flatten(1).float()  # (H, T²)
    shared, sizes = edges @ edges.mT, edges.sum(-1)
    return shared / (sizes[:, None] + sizes - shared)


def _weight(graph: nx.DiGraph, edge: tuple[int, int]) -> float:
    return graph.edges[edge]["weight"] if graph.has_edge(*edge) else 0.0


def union(graphs: Sequence[nx.DiGraph]) -> nx.DiGraph:
    """Every edge that some graph has: who can reach whom in one layer.

    Each edge keeps `heads`, the indices of the graphs that have it, and `weight`, the largest
    of theirs: weights of different heads carry different values, so their sum means nothing.
    An edge without a weight has weight 1.
    The nodes and their labels are those of the first graph.
    """
    _check_same_nodes(graphs)
    found: dict[tuple[int, int], list] = {}
    for number, graph in enumerate(graphs):
        for i, j, weight in graph.edges(data="weight", default=1.0):
            found.setdefault((i, j), []).append((number, weight))
    whole = nx.DiGraph()
    whole.add_nodes_from(graphs[0].nodes(data=True))
    for edge, owners in found.items():
        heads, weights = zip(*owners, strict=True)
        whole.add_edge(*edge, heads=heads, weight=max(weights))
    return whole


def reachable(layers: Sequence[nx.DiGraph]) -> Tensor:
    """Whose information each token can hold after these layers: booleans (T, T).

    `layers`: one graph for each layer, the union of its heads, the first layer first. True at
    [i, j] when a path leads from i to j: it starts in the **last** layer at the query i and
    takes at most one edge in each. A token also keeps what it has (the residual connection),
    so that the diagonal is True and a layer may be skipped. (Abnar and Zuidema 2020, section 3,
    multiply weights along the same paths.)
    """
    _check_same_nodes(layers)
    T = len(layers[0])
    reached = torch.eye(T, dtype=torch.bool)
    for graph in layers:  # row i: its keys of this layer, and what those held before it
        step = torch.eye(T)
        if graph.number_of_edges():
            queries, keys = torch.tensor(list(graph.edges)).unbind(1)
            step[queries, keys] = 1
        reached = (step @ reached.float()) > 0
    return reached


def dependency_graph(sentence: Sentence) -> nx.DiGraph:
    """The dependency tree over W words: W - 1 edges from each dependent to its head.

    Universal Dependencies draw the arrow the other way, from head to dependent; here the word
    that has to find its head is the one that looks, as a query does. Edges carry `relation`.
    """
    graph = nx.DiGraph()
    graph.add_nodes_from((i, {"label": word}) for i, word in enumerate(sentence.words))
    for word, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
        if head >= 0:
            graph.add_edge(word, head, relation=relation)
    return graph


@dataclass(frozen=True)
class TreeMatch:
    """Which edges of a tree a graph has, in either direction, beside what luck would give.

    found     edges (dependent, head) of the tree that the graph has
    total     edges of the tree
    chance    expected count for as many edges placed at random (loops left out)
    same_distances  expected count for as many edges placed at random *at the same distances*:
              many tree edges join neighbours, so a graph of neighbours finds them without
              knowing anything of grammar. This is the comparison that counts.
    """

    found: frozenset[tuple[int, int]]
    total: int
    chance: float
    same_distances: float

    @property
    def count(self) -> int:
        return len(self.found)


def tree_match(graph: nx.DiGraph, tree: nx.DiGraph) -> TreeMatch:
    """How much of the tree the graph holds; both over the same W words."""
    _check_same_nodes([graph, tree])
    W = len(tree)
    edges = {(i, j) for i, j in graph.edges if i != j}
    found = frozenset((i, j) for i, j in tree.edges if (i, j) in edges or (j, i) in edges)
    places, n = W * (W - 1), len(edges)
    # Neither of two given places of `places` is among n drawn without repeats.
    missed = (places - n) * (places - n - 1) / (places * (places - 1)) if places > 1 else 1.0
    of_distance = Counter(j - i for i, j in edges)
    same = 0.0
    for i, j in tree.edges:
        free = W - abs(j - i)  # places at this distance, in each direction
        same += 1 - (1 - of_distance[j - i] / free) * (1 - of_distance[i - j] / free)
    total = tree.number_of_edges()
    return TreeMatch(found, total, total * (1 - missed), same)


def _check(weights: Tensor, dims: int) -> None:
    shape = tuple(weights.shape)
    if weights.dim() != dims or shape[-1] != shape[-2]:
        raise GraphError(t("graphs.one_head" if dims == 2 else "graphs.heads", shape=shape))
    if not torch.isfinite(weights).all():
        raise GraphError(t("graphs.not_finite"))


def _check_same_nodes(graphs: Iterable[nx.DiGraph]) -> None:
    sizes = [graph.number_of_nodes() for graph in graphs]
    if not sizes:
        raise GraphError(t("graphs.none"))
    if any(set(graph) != set(range(sizes[0])) for graph in graphs):
        raise GraphError(t("graphs.other_nodes", sizes=", ".join(map(str, sizes))))
