"""The pretrained encoder: its maps, its heads' roles, relations, gates and graphs."""

import math
from dataclasses import replace
from functools import cache
from itertools import chain

import torch
from hypothesis import strategies as st

from helpers import explorers, graphs, heads
from helpers.encoder import load_encoder
from helpers.encoder.encoder import Encoder
from helpers.explorers.graphs import words_of
from helpers.treebank import own_sentences

from .base import SENTENCES, Moves, beyond, choice, click, same, shown


@cache
def small_encoder() -> Encoder:
    """The real encoder's layers and tokenizer, narrow and random: 6 layers of 3 heads."""
    real = load_encoder()
    narrow = replace(real.config, d_model=12, num_heads=3, d_ff=24, init_std=0.6)
    return Encoder(narrow, real.tokenizer).untrained(1)


def with_encoder(cls):
    return lambda **state: cls(encoder=small_encoder(), **state)


def press_head(name: str, count: int):
    """The page presses cell `i` of the grid; the second number makes every press another."""

    def presses(one):
        grid = getattr(one, name)
        return [
            lambda i=i: grid.set_state({"pressed": [i, grid.pressed[1] + 1]}) for i in range(count)
        ]

    return presses


def agree_encoder(one):
    encoding = small_encoder().encode(one.sentence, max_tokens=256)
    keep = [i for i, token in enumerate(encoding.tokens)
            if not (one.hide_special and token.is_special)]  # fmt: skip
    assert one.tokens == [encoding.labels[i] for i in keep]
    weights = encoding.weights.flatten(0, 1)[:, keep][:, :, keep]
    same(encoding.weights.sum(-1), torch.ones(encoding.weights.shape[:-1]))
    if one.hide_special and one.rescale:
        weights = weights / weights.sum(-1, keepdim=True)
    same(one.weights, weights)
    assert torch.equal(shown(one.maps), one.weights)
    assert one.maps.selected == (one.layer - 1) * 3 + one.head - 1
    if one.query in one.tokens and one.key in one.tokens:
        assert one.maps.pointed == [one.tokens.index(one.query), one.tokens.index(one.key)]
        assert f"L{one.layer}-H{one.head}" in one._summary()
    assert f"T {len(keep)}" in one._summary() and one._rescale.disabled == (not one.hide_special)


def wrong_encoder(one) -> list:
    return [*beyond(one.layer, 1, 6), *beyond(one.head, 1, 3),
            *([] if one.sentence.strip() else [""])]  # fmt: skip


@cache
def measured():
    texts = [sentence.text for sentence in few_sentences()]
    return heads.measure(small_encoder().encode_batch(texts))


@cache
def few_sentences():
    return own_sentences()[:6]


def agree_roles(one):
    numbers = measured()[one.measure]
    same(one.measured[one.measure], numbers)
    cells = one.grid.frame["cells"]
    assert [cell["number"] for cell in cells] == [f"{n:.2f}" for n in numbers.flatten().tolist()]
    assert one.grid.frame["selected"] == (one.layer - 1) * 3 + one.head - 1
    number = f"{numbers[one.layer - 1, one.head - 1]:.2f}"
    assert f"L{one.layer}-H{one.head}" in one.reading() and number in one._summary()


def agree_board(one):
    score = one.score
    attended = heads.most_attended(small_encoder(), few_sentences())
    for_relation = heads.relation_score(
        few_sentences(), attended, one.relation, one.direction, attended
    )
    same(score.accuracy, for_relation.accuracy)
    assert score.relation == one.relation and score.count == for_relation.count
    cells = [f"{100 * a:.0f}" for a in score.accuracy.flatten().tolist()]
    assert [cell["number"] for cell in one.grid.frame["cells"]] == cells
    assert all(row[0] in one._table.value for row in one.rows if "−" not in row[0])
    assert f"L{score.best[0] + 1}-H{score.best[1] + 1}" in one._summary()


def wrong_board(one) -> list:
    if one.path:
        return [one.path, one.direction]
    counted = {r.partition(":")[0] for s in few_sentences() for r in s.relations} - {"root"}
    return [
        *([] if one.direction in heads.DIRECTIONS else [one.direction]),
        *([] if one.relation in counted else [one.relation]),
    ]  # fmt: skip


def agree_live_gates(one):
    gates = torch.ones(6, 3)
    for layer, head in one.off:
        gates[layer - 1, head - 1] = 0
    vectors = [
        torch.stack([e.sentence_vector for e in
                     small_encoder().encode_batch([one.first, one.second], g, max_tokens=256)])
        for g in (None, gates)
    ]  # fmt: skip
    same([one.whole, one.similarity], [float(v[0] @ v[1]) for v in vectors])
    same(one.moved, (1 - (vectors[0] * vectors[1]).sum(-1)).clamp(min=0))
    assert [cell["on"] for cell in one.grid.frame["cells"]] == gates.bool().flatten().tolist()
    assert f"<b>{one.similarity:.3f}</b>" in one._facts.value
    assert f"{one.similarity:.3f}" in one._summary()


def wrong_live_gates(one) -> list:
    bad = [pair for pair in one.off
           if len(pair) != 2 or not (1 <= pair[0] <= 6 and 1 <= pair[1] <= 3)]  # fmt: skip
    named = bad[0] if bad and len(bad[0]) == 2 else [0, 0]
    return (named if bad else []) + ([] if one.first.strip() and one.second.strip() else [""])


def agree_graphs(one):
    words = words_of(small_encoder(), one.sentence)
    keep = [i for i, special in enumerate(words.special) if not (special and one.hide_special)]
    for head, graph in zip(one.heads, one.graphs, strict=True):
        weights = words.weights[one.layer - 1, head - 1][keep][:, keep]
        by_hand = {tuple(edge) for edge in ((weights >= one.threshold) & (weights > 0))
                   .nonzero().tolist()}  # fmt: skip
        assert set(graph.edges) == by_hand
    edges = set(chain.from_iterable(graph.edges for graph in one.graphs))
    assert set(one.union.edges) == edges
    assert [line[0] for line in one.view.frame["table"][1:]] == [words.labels[i] for i in keep]
    assert graphs.out_degrees(one.union) == [int(line[1]) for line in one.view.frame["table"][1:]]
    assert f"{one.threshold:.2f}" in one._summary() and f"<b>{len(edges)}</b>" in one._facts.value


def wrong_graphs(one) -> list:
    heads_wrong = [head for head in one.heads if not 1 <= head <= 3]
    twice = [head for head in one.heads if one.heads.count(head) > 1]
    long = len(one.sentence.split()) > 22 or one.sentence.startswith("w w")
    nothing = not one.heads or not one.sentence.strip()
    return [*heads_wrong, *twice, *beyond(one.layer, 1, 6),
            *([] if 0 <= one.threshold <= 1 else [f"{one.threshold:g}"]),
            *([""] if nothing or long and len(one.sentence.split()) > 22 else [])]  # fmt: skip


ENCODER = {
    explorers.EncoderExplorer: Moves(
        {"sentence": SENTENCES, "layer": choice([1, 6, 0, 7]), "head": choice([1, 3, 0, 4]),
         "hide_special": st.booleans(), "rescale": st.booleans(),
         "query": choice(["", "bank", "words", "no such"]), "key": choice(["", "river", "two"])},
        {"_sentence": "sentence", "_hide": "hide_special", "_rescale": "rescale"},
        wrong_encoder, agree_encoder, ("weights", "encoding"),
        lambda one: [lambda i=i: one.maps.set_state({"selected": i}) for i in (0, 5, 17)],
        with_encoder(explorers.EncoderExplorer),
    ),
    explorers.HeadRoles: Moves(
        {"measure": choice([*heads.MEASURES, "no such"]), "layer": choice([1, 6, 0, 7]),
         "head": choice([1, 3, 0, 4])},
        {"_measure": "measure"},
        lambda one: [*beyond(one.layer, 1, 6), *beyond(one.head, 1, 3),
                     *([] if one.measure in heads.MEASURES else [one.measure])],
        agree_roles, ("measured",), press_head("grid", 18), with_encoder(explorers.HeadRoles),
    ),
    explorers.RelationBoard: Moves(
        {"relation": choice(["obj", "det", "nsubj", "nothing"]),
         "direction": choice([*heads.DIRECTIONS, "up"]),
         "path": choice(["", "", "no such file.conllu"])},
        {"_relation": "relation", "_direction": "direction", "_path": "path"},
        wrong_board, agree_board, ("score",), press_head("grid", 18),
        with_encoder(explorers.RelationBoard), after=("grid",),
    ),
    explorers.LiveGates: Moves(
        {"first": SENTENCES, "second": SENTENCES,
         "off": choice([[], [[1, 3]], [[1, 1], [1, 2], [1, 3]], [[7, 1]], [[1, 9]], [[2]]])},
        {"_first": "first", "_second": "second"},
        wrong_live_gates, agree_live_gates, ("similarity", "whole", "moved"),
        lambda one: press_head("grid", 18)(one) + [
            lambda b=b: click(b) for b in (one._all, *one._layers)],
        with_encoder(explorers.LiveGates),
    ),
    explorers.HeadGraphExplorer: Moves(
        {"sentence": st.one_of(SENTENCES, choice(["word " * 30])), "layer": choice([1, 6, 0, 7]),
         "heads": choice([[1], [1, 2], [1, 2, 3], [], [2, 2], [9]]),
         "threshold": choice([0.0, 0.1, 0.5, 1.0, 1.5, -0.1, math.nan]),
         "hide_special": st.booleans()},
        {"_typed": "sentence", "_layer": "layer", "_threshold": "threshold",
         "_hide": "hide_special"},
        wrong_graphs, agree_graphs, ("graphs", "union", "overlap", "match"),
        press_head("view", 3),
        lambda **state: explorers.HeadGraphExplorer(
            encoder=small_encoder(), **({"heads": [1, 2]} | state)),
    ),
}  # fmt: skip
