"""HeadGraphExplorer: heads of the real encoder as graphs, beside the dependency tree."""

import ipywidgets
import networkx as nx
import torch
import traitlets

from .. import graphs
from ..graphs import TreeMatch
from ..texts import t
from ..treebank import own_sentences
from ..views.graph_view import MOST_ARCS, GraphEdge, GraphView, HeadButton, TreeEdge
from .base import CannotDrawError, Explorer
from .controls import facts_html, row
from .graph_texts import degrees_of, facts_of, listed, readings_of, spoken
from .head_roles import needed_encoder
from .widths import STYLE
from .word_nodes import Words, words_of

TX = "explorer_graphs"
MOST_NODES = 24  # words in one row that can still be read


class HeadGraphExplorer(Explorer):
    """Graphs of several heads of one layer over the same words; a tree below them.

    State: `sentence`, one of the course's or any other; `layer` and `heads` counted from 1;
    `threshold`, the weight from which on there is an edge; `hide_special` leaves [CLS] and
    [SEP] out.
    What it shows: `graphs`, one for each picked head, `union`, `overlap` (of two heads, or the
    mean over their pairs; None for one), `match` with the tree or None, `message`.
    """

    STATE = ("sentence", "layer", "heads", "threshold", "hide_special")

    sentence = traitlets.Unicode("The bank by the river issued a statement .")
    layer = traitlets.Int(1)
    heads = traitlets.List([4, 5])
    threshold = traitlets.Float(0.2)
    hide_special = traitlets.Bool(False)

    graphs: list[nx.DiGraph] = []
    union: nx.DiGraph | None = None
    overlap: float | None = None
    match: TreeMatch | None = None

    def __init__(self, *, encoder=None, **state):
        self._encoder, self._encoded = encoder, None  # (sentence, its Words): encoded once
        super().__init__(**state)

    def _build(self):
        self._own = ipywidgets.Dropdown(
            description=t(f"{TX}.own"),
            options=[sentence.text for sentence in own_sentences()],
            style=STYLE,
        )
        self._typed = ipywidgets.Text(
            description=t(f"{TX}.typed"), style=STYLE, continuous_update=False
        )
        self._typed.add_class("mha-grow")
        self._layer = ipywidgets.IntSlider(description=t(f"{TX}.layer"), min=1, max=6, style=STYLE)
        self._threshold = ipywidgets.FloatSlider(
            description=t(f"{TX}.threshold"), min=0, max=1, step=0.01, style=STYLE
        )
        self._hide = ipywidgets.Checkbox(description=t(f"{TX}.hide_special"), indent=False)
        self._bind(self._own, "sentence")
        self._bind(self._typed, "sentence")
        self._bind(self._layer, "layer")
        self._bind(self._threshold, "threshold")
        self._bind(self._hide, "hide_special")
        self._facts = ipywidgets.HTML(layout={"min_height": "66px"})
        self.view = GraphView()
        self.view.observe(self._pressed, names="pressed")
        return [
            row(self._own, self._typed), row(self._layer, self._threshold, self._hide),
            self._note, self.view, self._facts,
        ]  # fmt: skip

    def _pressed(self, change) -> None:
        """A head of the view was picked, or let go."""
        head = change.new[0] + 1
        self.heads = sorted(set(self.heads) ^ {head})

    # Drawing ------------------------------------------------------------------------------

    def _draw(self) -> None:
        self.graphs, self.union, self.overlap, self.match = [], None, None, None
        self._show_controls()
        self._encoder = needed_encoder(self._encoder)
        self._show_buttons({})
        self._check_state()
        words = self._words()
        if words.notice:
            self._tell(words.notice)
        picked = [head - 1 for head in self.heads]
        own = [i for i, special in enumerate(words.special) if not special]
        keep = own if self.hide_special else list(range(len(words.labels)))
        weights = words.weights[self.layer - 1, picked]
        shown = weights[:, keep][:, :, keep]
        labels = [words.labels[i] for i in keep]
        self.graphs = graphs.head_graphs(shown, self.threshold, labels)
        self.union = graphs.union(self.graphs)
        self.overlap = mean_overlap(shown, self.threshold)
        if words.sentence is not None:
            between = graphs.head_graphs(weights[:, own][:, :, own], self.threshold)
            tree = graphs.dependency_graph(words.sentence)
            self.match = graphs.tree_match(graphs.union(between), tree)
        if self.hide_special:
            left = 1 - weights[:, own][:, :, own].sum(-1).mean().item()
            self._tell(t(f"{TX}.hidden", taken=f"{100 * left:.0f}"))
        self._tell_of_edges(shown)
        self._show(words, keep, labels, own)

    def _check_state(self) -> None:
        L, H = self._encoder.num_layers, self._encoder.num_heads
        if not self.heads:
            raise CannotDrawError(t(f"{TX}.no_head"))
        wrong = [head for head in self.heads if not 1 <= head <= H]
        if not 1 <= self.layer <= L or wrong:
            head = wrong[0] if wrong else self.heads[0]
            raise CannotDrawError(
                t("explorer.encoder.bad_head", layer=self.layer, head=head, layers=L, heads=H)
            )
        if len(set(self.heads)) < len(self.heads):
            raise CannotDrawError(t(f"{TX}.head_twice", heads=listed(self.heads)))
        if not 0 <= self.threshold <= 1:
            raise CannotDrawError(t(f"{TX}.bad_threshold", threshold=f"{self.threshold:g}"))
        if not self.sentence.strip():
            raise CannotDrawError(t(f"{TX}.no_words"))

    def _words(self) -> Words:
        if self._encoded is None or self._encoded[0] != self.sentence:
            self._encoded = (self.sentence, words_of(self._encoder, self.sentence))
        words = self._encoded[1]
        if all(words.special):
            raise CannotDrawError(t(f"{TX}.no_words"))
        if len(words.labels) > MOST_NODES:
            raise CannotDrawError(
                t(f"{TX}.too_long", count=len(words.labels) - 2, most=MOST_NODES - 2)
            )
        return words

    def _tell_of_edges(self, shown: torch.Tensor) -> None:
        count = sum(graph.number_of_edges() for graph in self.graphs)
        if not count:
            self._tell(t(f"{TX}.empty", threshold=self._at, largest=f"{shown.max():.2f}"))
        elif count == shown.numel():
            self._tell(t(f"{TX}.complete"))
        if count > MOST_ARCS:
            self._tell(t(f"{TX}.cut", shown=MOST_ARCS, all=count))

    def _show_controls(self) -> None:
        self._own.value = self.sentence if self.sentence in self._own.options else None
        self._typed.value = self.sentence
        self._hide.value = self.hide_special
        self._layer.value = self.layer
        if 0 <= self.threshold <= 1:
            self._threshold.value = self.threshold

    def _show_buttons(self, counts: dict[int, int]) -> list[HeadButton]:
        """All heads of the layer; `counts` {head from 0: edges} of the picked ones."""
        buttons = []
        for head in range(self._encoder.num_heads):
            on, name = head + 1 in self.heads, f"H{head + 1}"
            count = str(counts.get(head, "–"))
            label = t(f"{TX}.head_on" if on else f"{TX}.head_off", name=name, count=count)
            buttons.append(HeadButton(name, on, count, label))
        return buttons

    def _show(self, words: Words, keep: list[int], labels: list[str], own: list[int]) -> None:
        edges = [
            GraphEdge(i, j, head - 1, weight)
            for head, graph in zip(self.heads, self.graphs, strict=True)
            for i, j, weight in graph.edges(data="weight")
        ]
        tree = None
        if self.match is not None:
            place = {word: keep.index(i) for word, i in enumerate(own)}
            relations = words.sentence.relations
            tree = [
                TreeEdge(place[i], place[head], relations[i], (i, head) in self.match.found)
                for i, head in enumerate(words.sentence.heads)
                if head >= 0
            ]
        counts = {
            head - 1: graph.number_of_edges()
            for head, graph in zip(self.heads, self.graphs, strict=True)
        }
        self._facts.value = facts_html(self.fact_lines())
        self.view.show(
            labels, [words.special[i] for i in keep], edges, self._show_buttons(counts), tree,
            title=self.title(), readings=readings_of(self._picked, spoken(labels)),
            table=degrees_of(self._picked, self.union),
            empty="" if edges else t(f"{TX}.view_empty", threshold=self._at),
        )  # fmt: skip

    # Words --------------------------------------------------------------------------------

    @property
    def _at(self) -> str:
        return f"{self.threshold:.2f}"

    def title(self) -> str:
        return t(f"{TX}.title", layer=self.layer, heads=listed(self.heads), threshold=self._at)

    def fact_lines(self) -> list[str]:
        """The numbers of the picture; what stands between asterisks is bold."""
        return facts_of(self._picked, self.union, self.overlap, self.match)

    @property
    def _picked(self) -> dict[int, nx.DiGraph]:
        return dict(zip(self.heads, self.graphs, strict=True))

    def _blank(self, reason: str) -> None:
        self.graphs, self.union, self.overlap, self.match = [], None, None, None
        self._facts.value = facts_html([])
        self.view.clear(reason)
        if self._encoder is not None:  # heads can still be picked
            buttons = zip(self._show_buttons({}), self.view.frame["buttons"], strict=False)
            self.view.frame |= {"buttons": [old | vars(new) for new, old in buttons]}

    def _still(self):
        from ..stills.graphs import graph_figure

        return graph_figure(self.view.frame, [line.replace("*", "") for line in self.fact_lines()])

    def _summary(self) -> str:
        if self.union is None:
            return f"HeadGraphExplorer: {self.message}"
        facts = "; ".join(line.replace("*", "") for line in self.fact_lines())
        return f"HeadGraphExplorer: {self.title()}; {facts}."


def mean_overlap(weights: torch.Tensor, threshold: float) -> float | None:
    """(H, T, T): the mean over every two heads that have an edge; None where there are no two."""
    first, second = torch.triu_indices(len(weights), len(weights), offset=1)
    pairs = graphs.overlaps(weights, threshold)[first, second]
    pairs = pairs[~pairs.isnan()]  # two graphs without edges
    return pairs.mean().item() if len(pairs) else None
