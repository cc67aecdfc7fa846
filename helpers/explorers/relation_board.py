"""RelationBoard: which heads attend along a dependency, beside what needs no head at all."""

from html import escape

import ipywidgets
import traitlets

from .. import heads
from ..texts import t
from ..treebank import TreebankError, own_sentences, read_treebank
from ..views.head_grid import HeadCell, HeadGrid
from .base import CannotDrawError, Explorer
from .controls import row
from .head_roles import needed_encoder
from .widths import STYLE

TX = "explorer_heads"
MOST_SENTENCES = 600  # so that a large treebank of the reader's is done in seconds
SHOWN = 5


class RelationBoard(Explorer):
    """All heads scored on one relation: accuracy, interval, fixed offset, untrained control.

    State: `relation`; `direction`, one of `heads.DIRECTIONS`; `path` of a CoNLL-U file, "" for
    the course's own sentences.
    What it shows: `score`, a `heads.RelationScore` or None; `sentences`; `message`.
    """

    STATE = ("path", "relation", "direction")

    path = traitlets.Unicode("")
    relation = traitlets.Unicode("obj")
    direction = traitlets.Unicode("dependent_to_head")

    score: heads.RelationScore | None = None

    def __init__(self, *, encoder=None, **state):
        self._encoder, self._run = encoder, None  # (path, sentences, attended, control)
        super().__init__(**state)

    def _build(self):
        self._relation = ipywidgets.Dropdown(description=t(f"{TX}.relation"), style=STYLE)
        self._direction = ipywidgets.Dropdown(
            description=t(f"{TX}.direction"),
            options=[(t(f"{TX}.directions.{name}"), name) for name in heads.DIRECTIONS],
            style=STYLE,
        )
        self._path = ipywidgets.Text(
            description=t(f"{TX}.path"), placeholder=t(f"{TX}.own"), style=STYLE,
            continuous_update=False,
        )  # fmt: skip
        self._path.add_class("mha-grow")
        self._bind(self._relation, "relation")
        self._bind(self._direction, "direction")
        self._bind(self._path, "path")
        self.grid, self._table = HeadGrid(), ipywidgets.HTML()
        self.grid.observe(self._pressed, names="pressed")
        return [
            row(self._relation, self._direction, self._path), self._note, self._table, self.grid,
        ]  # fmt: skip

    def _pressed(self, change) -> None:
        """Read out the head that was pressed, until the next picture."""
        if self.score is not None:
            at = divmod(change.new[0], self.score.accuracy.shape[1])
            words = t(
                f"{TX}.one_head", name=heads.name(*at), number=_percent(self.score.accuracy[at]),
                low=_percent(self.score.low[at]), high=_percent(self.score.high[at]),
                baseline=_percent(self.score.baseline),
            )  # fmt: skip
            self.grid.frame = self.grid.frame | {"reading": words, "selected": change.new[0]}

    def _draw(self) -> None:
        self.score = None
        self._path.value = self.path
        if self.direction not in heads.DIRECTIONS:
            choices = ", ".join(heads.DIRECTIONS)
            raise CannotDrawError(t(f"{TX}.no_direction", have=self.direction, choices=choices))
        self._direction.value = self.direction
        self._encoder = needed_encoder(self._encoder)
        sentences, attended, control = self._attended()
        counts = relation_counts(sentences)
        self._relation.options = [(f"{name} ({n})", name) for name, n in counts.items()]
        if self.relation not in counts:
            self._relation.value = None
            raise CannotDrawError(
                t(f"{TX}.no_relation", relation=self.relation, choices=", ".join(counts))
            )
        self._relation.value = self.relation
        score = heads.relation_score(sentences, attended, self.relation, self.direction, control)
        if score is None:
            raise CannotDrawError(t(f"{TX}.all_skipped"))
        self.score = score
        if attended.skipped:
            self._tell(t(f"{TX}.skipped", count=attended.skipped))
        if score.count < heads.FEWEST:
            self._tell(t(f"{TX}.few", count=score.count, fewest=heads.FEWEST))
        self._show(score, len(sentences))

    def _attended(self):
        """Sentences, what the encoder attends to in them, and what an untrained one does."""
        if self._run is None or self._run[0] != self.path:
            try:
                sentences = read_treebank(self.path) if self.path.strip() else own_sentences()
            except TreebankError as problem:
                raise CannotDrawError(str(problem)) from problem
            sentences = sentences[:MOST_SENTENCES]
            runs = (self._encoder, self._encoder.untrained(0))
            self._run = (
                self.path, sentences, *(heads.most_attended(one, sentences) for one in runs),
            )  # fmt: skip
        return self._run[1:]

    def _show(self, score, count: int) -> None:
        H = score.accuracy.shape[1]
        best = score.accuracy.flatten().argsort(descending=True, stable=True)[:SHOWN].tolist()
        cells = []
        for i, accuracy in enumerate(score.accuracy.flatten().tolist()):
            above = score.low.flatten()[i].item() > score.baseline
            role = "best" if i == best[0] else "above" if above else ""
            mark = "★" * (i == best[0]) + "+" * above
            said = {"name": heads.name(*divmod(i, H)), "number": f"{100 * accuracy:.0f}"}
            label = t(f"{TX}.score_cell_above" if above else f"{TX}.score_cell", **said)
            cells.append(HeadCell(f"{100 * accuracy:.0f}", accuracy, label, role, mark))
        offset = f"{score.offset:+d}".replace("-", "−")
        self.rows = [
            (heads.name(*divmod(i, H)), _percent(score.accuracy.flatten()[i]),
             t(f"{TX}.interval", low=_percent(score.low.flatten()[i]),
               high=_percent(score.high.flatten()[i])))
            for i in best
        ] + [
            (t(f"{TX}.offset", offset=offset), _percent(score.baseline), ""),
            (t(f"{TX}.untrained"), _percent(score.control), ""),
        ]  # fmt: skip
        self._table.value = _table_html(self.rows)
        words = {"relation": score.relation, "count": score.count, "sentences": count}
        self.grid.show(
            cells, H, title=t(f"{TX}.board_title", **words), reading=self.reading(),
            legend=[("★", "best", t(f"{TX}.legend.best")), ("+", "above", t(f"{TX}.legend.above"))],
        )  # fmt: skip

    def reading(self) -> str:
        """The best head beside the baseline, in words."""
        score, margin = self.score, self.score.margin
        name = heads.name(*score.best)
        values = {"name": name, "margin": f"{100 * abs(margin):.0f}", "n": score.count}
        low = score.low[score.best].item()
        key = "found" if low > score.baseline else "unsure" if margin > 0 else "nothing"
        return t(f"{TX}.verdict.{key}", **values)

    def _blank(self, reason: str) -> None:
        self.score = None
        self._table.value = _table_html([("–", "–", "–")] * (SHOWN + 2))
        self.grid.clear(reason)

    def _still(self):
        from ..stills.head_grid import head_grid_figure

        lines = ["   ".join(filter(None, line)) for line in self.rows]
        return head_grid_figure(self.grid.frame, [self.reading(), *lines])

    def _summary(self) -> str:
        if self.score is None:
            return f"RelationBoard: {self.message}"
        return f"RelationBoard: {self.grid.frame['title']}. {self.reading()}"


def relation_counts(sentences) -> dict[str, int]:
    """{relation: how many}, subtypes counted with their relation, the most frequent first."""
    counts: dict[str, int] = {}
    for sentence in sentences:
        for relation in sentence.relations:
            name = relation.partition(":")[0]
            if name != "root":
                counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _percent(share) -> str:
    return f"{100 * float(share):.0f} %"


def _table_html(rows) -> str:
    titles = [t(f"{TX}.table.{name}") for name in ("who", "accuracy", "interval")]
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in rows
    )
    return f'<table class="mha mha-board"><tr>{head}</tr>{body}</table>'
