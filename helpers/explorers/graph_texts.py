"""What is said of the graphs on show: their numbers, each token's edges, the table of degrees."""

from collections.abc import Sequence

import networkx as nx

from .. import graphs
from ..graphs import TreeMatch
from ..texts import t, texts_under
from ..wording import titles_of

TX = "explorer_graphs"
SAID = 6  # edges that a token's read-out names


def spoken(labels: Sequence[str]) -> list[str]:
    """Labels as they are spoken of: a word that occurs twice carries its place, from 1."""
    return titles_of(labels, alike=str.casefold)


def listed(heads: Sequence[int]) -> str:
    return ", ".join(f"H{head}" for head in heads)


def facts_of(
    picked: dict[int, nx.DiGraph], union: nx.DiGraph, overlap: float | None, match: TreeMatch | None
) -> list[str]:
    """The numbers of the picture, `picked` {head from 1: graph}; bold between asterisks."""
    lines = [t(f"{TX}.facts.union", count=union.number_of_edges())]
    if overlap is not None:
        share = f"{overlap:.2f}"
        if len(picked) == 2:
            weighted = f"{graphs.overlap(*picked.values(), weighted=True):.2f}"
            numbers = {"heads": listed(picked), "share": share, "weighted": weighted}
            lines.append(t(f"{TX}.facts.overlap", **numbers))
        else:
            lines.append(t(f"{TX}.facts.overlaps", share=share))
    top = max(union, key=lambda node: (union.in_degree(node), -node))
    if union.in_degree(top):
        hub = spoken([union.nodes[node]["label"] for node in union])[top]
        numbers = {"count": union.in_degree(top), "all": len(union)}
        lines.append(t(f"{TX}.facts.hub", token=hub.replace("*", "∗"), **numbers))
    if match is not None:
        lines.append(t(f"{TX}.facts.tree", count=match.count, total=match.total))
        lines.append(t(f"{TX}.facts.chance", number=f"{match.chance:.1f}"))
        lines.append(t(f"{TX}.facts.same", number=f"{match.same_distances:.1f}"))
    return lines


def readings_of(picked: dict[int, nx.DiGraph], titles: Sequence[str]) -> list[str]:
    """For each token: which it looks at and which look at it, the strongest first."""
    found = [
        (weight, i, j, f"H{head}")
        for head, graph in picked.items()
        for i, j, weight in graph.edges(data="weight")
    ]
    found.sort(key=lambda edge: (-edge[0], *edge[1:3]))
    leave, come = ([[] for _ in titles] for _ in range(2))
    for weight, i, j, name in found:
        leave[i].append((titles[j], weight, name))
        come[j].append((titles[i], weight, name))
    said = texts_under(f"{TX}.reading")  # read once: there may be hundreds of edges
    return [
        said["token"].format(token=title, out=_some(out, said), into=_some(into, said))
        for title, out, into in zip(titles, leave, come, strict=True)
    ]


def _some(edges: list[tuple], said: dict) -> str:
    if not edges:
        return said["nothing"]
    parts = [f"{title} {weight:.2f} ({name})" for title, weight, name in edges[:SAID]]
    if len(edges) > SAID:
        parts.append(said["more"].format(count=len(edges) - SAID))
    return ", ".join(parts)


def degrees_of(picked: dict[int, nx.DiGraph], union: nx.DiGraph) -> list[list[str]]:
    """Degrees of every token: in the union, then in each picked head; the heading first."""
    named = [(t(f"{TX}.table.union"), union)]
    named += [(f"H{head}", graph) for head, graph in picked.items()]
    columns = [[union.nodes[node]["label"] for node in union]]
    heading = [t(f"{TX}.table.token")]
    for name, graph in named:
        heading += [t(f"{TX}.table.out", name=name), t(f"{TX}.table.in", name=name)]
        columns += [graphs.out_degrees(graph), graphs.in_degrees(graph)]
    return [heading, *([str(cell) for cell in line] for line in zip(*columns, strict=True))]
