"""Does a head attend along a dependency? Clark's procedure, its baseline, an interval.

Clark et al. 2019 (arXiv:1906.04341), section 4.2; Voita et al. 2019 (arXiv:1905.09418), 5.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..encoder import Encoder
from ..treebank import Sentence
from .words import MostAttended, most_attended

DIRECTIONS = ("dependent_to_head", "head_to_dependent")
MAIN_RELATIONS = ("nsubj", "obj", "det", "case", "amod", "aux", "nmod", "obl")
FEWEST = 20  # arcs; an accuracy over fewer says little


@dataclass(frozen=True, repr=False, eq=False)
class Arcs:
    """n dependencies of one kind: query (n,), target (n,) as word numbers over all sentences,
    and sentence (n,), the sentence each stands in. The target is what the query should pick."""

    query: Tensor
    target: Tensor
    sentence: Tensor

    def __len__(self) -> int:
        return len(self.query)


@dataclass(frozen=True, repr=False, eq=False)
class RelationScore:
    """One relation in one direction, all heads. Shares from 0 to 1; axes count from 0.

    accuracy (L, H), low and high (L, H): the interval of each; `baseline` is what always
    picking the word `offset` places on gets; control: the best head of an untrained encoder,
    None where none was given.
    """

    relation: str
    direction: str
    count: int
    accuracy: Tensor
    low: Tensor
    high: Tensor
    offset: int
    baseline: float
    control: float | None = None

    @property
    def best(self) -> tuple[int, int]:
        """(layer, head) of the highest accuracy."""
        layer, head = divmod(int(self.accuracy.argmax()), self.accuracy.shape[1])
        return layer, head

    @property
    def margin(self) -> float:
        """The best head's accuracy less the baseline."""
        return self.accuracy.max().item() - self.baseline

    def __repr__(self) -> str:
        layer, head = self.best
        return (
            f"RelationScore({self.relation} {self.direction}: L{layer + 1}-H{head + 1} "
            f"{self.accuracy.max():.3f}, offset {self.offset:+d} {self.baseline:.3f}, "
            f"n={self.count})"
        )


def arcs(
    sentences: Sequence[Sentence],
    relation: str,
    direction: str = "dependent_to_head",
    starts: Tensor | None = None,
) -> Arcs:
    """All dependencies called `relation`; "nsubj" also counts as "nsubj:pass" and the like.

    dependent_to_head: the dependent is the query, its head the target. head_to_dependent:
    the other way; a head with two such dependents is two cases, and can hit one of them.
    (Clark's code reads this direction along columns: which word attends most to the
    dependent. Here as in Voita et al. the query picks.) `starts`: see `MostAttended`.
    """
    if direction not in DIRECTIONS:
        raise ValueError(f"direction {direction!r}: choose one of {', '.join(DIRECTIONS)}.")
    if starts is None:
        lengths = torch.tensor([0, *(len(sentence.words) for sentence in sentences)])
        starts = lengths.cumsum(0)[:-1]
    found = []
    for number, (sentence, start) in enumerate(zip(sentences, starts.tolist(), strict=True)):
        for i, (head, own) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
            if start >= 0 and head >= 0 and own.partition(":")[0] == relation:
                found.append((start + i, start + head, number))
    dependent, head, sentence = torch.tensor(found, dtype=torch.long).reshape(-1, 3).unbind(1)
    if direction == "dependent_to_head":
        return Arcs(dependent, head, sentence)
    return Arcs(head, dependent, sentence)


def syntactic_accuracy(attended: MostAttended, arcs: Arcs) -> Tensor:
    """(L, H): share of arcs whose query attends to its target more than to any other word."""
    return (attended.choices[..., arcs.query] == arcs.target).float().mean(-1)


def best_offset(arcs: Arcs) -> tuple[int, float]:
    """The fixed distance that hits most often, and how often: the baseline.

    "The word one to the left" needs no head at all: a head has found something only where
    it beats the best such rule (Clark et al., section 4.2). The rule is picked on the same
    arcs that it is scored on, as the heads are.
    """
    offsets, counts = (arcs.target - arcs.query).unique(return_counts=True)
    most = counts.argmax()
    return int(offsets[most]), counts[most].item() / len(arcs)


def bootstrap_interval(
    attended: MostAttended,
    arcs: Arcs,
    samples: int = 1000,
    level: float = 0.95,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Low and high end (L, H) of each accuracy: percentiles over redrawn sets of sentences.

    Sentences are redrawn whole, with repeats (Efron 1979): arcs of one sentence are not
    independent. The generator is seeded with 0 unless given. The interval of a head that
    was picked as the best of many is a little too high: picking favours luck.
    """
    generator = generator or torch.Generator().manual_seed(0)
    hits = (attended.choices[..., arcs.query] == arcs.target).flatten(0, -2).T.double()
    places, sentence = arcs.sentence.unique(return_inverse=True)
    S = len(places)
    hits = torch.zeros(S, hits.shape[1], dtype=torch.double).index_add(0, sentence, hits)
    counts = torch.bincount(sentence, minlength=S).double()
    drawn = torch.randint(S, (samples, S), generator=generator)
    times = torch.zeros(samples, S, dtype=torch.double)
    times.scatter_add_(1, drawn, torch.ones_like(times))
    shares = (times @ hits) / (times @ counts)[:, None]
    ends = torch.tensor([(1 - level) / 2, (1 + level) / 2], dtype=torch.double)
    low, high = torch.quantile(shares, ends, dim=0).float()
    shape = attended.choices.shape[:-1]
    return low.reshape(shape), high.reshape(shape)


def relation_score(
    sentences: Sequence[Sentence],
    attended: MostAttended,
    relation: str,
    direction: str = "dependent_to_head",
    control: MostAttended | None = None,
    generator: torch.Generator | None = None,
) -> RelationScore | None:
    """One relation, one direction: accuracies, interval, baseline, control.

    `control`: the same sentences through an untrained encoder. None when there is no arc.
    """
    found = arcs(sentences, relation, direction, attended.starts)
    if not len(found):
        return None
    offset, baseline = best_offset(found)
    low, high = bootstrap_interval(attended, found, generator=generator)
    untrained = None
    if control is not None:
        same = arcs(sentences, relation, direction, control.starts)
        untrained = syntactic_accuracy(control, same).max().item()
    accuracy = syntactic_accuracy(attended, found)
    return RelationScore(
        relation, direction, len(found), accuracy, low, high, offset, baseline, untrained
    )


def leaderboard(
    encoder: Encoder,
    sentences: Sequence[Sentence],
    relations: Sequence[str] = MAIN_RELATIONS,
    direction: str = "dependent_to_head",
    seed: int = 0,
) -> list[RelationScore]:
    """A score for each relation with at least `FEWEST` arcs, the largest margin first.

    Runs the encoder and, as control, `encoder.untrained(seed)` on the same sentences.
    """
    attended = most_attended(encoder, sentences)
    control = most_attended(encoder.untrained(seed), sentences)
    scores = (
        relation_score(sentences, attended, relation, direction, control) for relation in relations
    )
    enough = [score for score in scores if score is not None and score.count >= FEWEST]
    return sorted(enough, key=lambda score: -score.margin)
