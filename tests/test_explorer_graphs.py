"""HeadGraphExplorer: the picture is the graph of the weights, and nothing stale is left."""

import math

import pytest
import torch

from helpers import graphs, heads
from helpers.encoder import load_encoder
from helpers.explorers import HeadGraphExplorer
from helpers.explorers.graphs import MOST_NODES, mean_overlap
from helpers.explorers.word_nodes import words_of
from helpers.lesson import set_language
from helpers.palette import HEAD_COLOURS, head_colour
from helpers.treebank import own_sentences
from helpers.views.graph_layout import DASHES, WIDTH, Layout, dashes, thickness
from helpers.views.graph_view import MOST_ARCS

SENTENCE = own_sentences()[0]  # The bank by the river issued a statement .


@pytest.fixture(scope="module")
def encoder():
    return load_encoder()


@pytest.fixture
def explorer(encoder):
    return HeadGraphExplorer(encoder=encoder)


def arcs(explorer) -> set:
    """(query, key, head) of every arc on the page, head from 0."""
    return {(arc["q"], arc["k"], arc["head"]) for arc in explorer.view.frame["arcs"]}


def tokens(explorer) -> list[str]:
    return [token["text"] for token in explorer.view.frame["tokens"]]


def words_weights(encoder, sentence=SENTENCE) -> torch.Tensor:
    """(L, H, W, W), merged by lesson 08's own functions."""
    encoding = encoder.encode(sentence.text)
    owner = heads.piece_owners(encoding, sentence.spans)
    return heads.merge_pieces(encoding.weights, owner, len(sentence.words))


# The picture ------------------------------------------------------------------------------


def test_arcs_are_the_weights_from_the_threshold_on(explorer, encoder):
    weights = encoder.encode(SENTENCE.text).weights  # no word of it is cut into pieces
    for threshold in (0.05, 0.2, 0.67, 0.9):
        explorer.threshold = threshold
        wanted = {
            (q, k, h) for h in (3, 4) for q, k in (weights[0, h] >= threshold).nonzero().tolist()
        }
        assert arcs(explorer) == wanted, threshold
        for arc in explorer.view.frame["arcs"]:
            assert arc["weight"] == pytest.approx(
                weights[0, arc["head"], arc["q"], arc["k"]].item()
            )
            assert arc["width"] == thickness(arc["weight"])


def test_c21_a_word_that_occurs_twice_is_two_tokens_told_apart_by_place(encoder):
    explorer = HeadGraphExplorer(encoder=encoder, sentence="the dog saw the cat", threshold=0.05)
    assert tokens(explorer) == ["[CLS]", "the", "dog", "saw", "the", "cat", "[SEP]"]
    readings = [token["reading"] for token in explorer.view.frame["tokens"]]
    assert readings[1].startswith("the (2) looks at") and readings[4].startswith("the (5) looks")
    assert len(explorer.graphs[0]) == 7
    weights = encoder.encode("the dog saw the cat").weights[0, 4]
    assert explorer.graphs[1].edges[2, 1]["weight"] == pytest.approx(weights[2, 1].item())
    assert explorer.graphs[1].edges[2, 4]["weight"] == pytest.approx(weights[2, 4].item())


def test_an_arc_starts_at_its_query_and_ends_at_its_key(explorer):
    for arc in explorer.view.frame["arcs"]:
        place = {token: explorer.view.frame["tokens"][token]["x"] for token in (arc["q"], arc["k"])}
        assert abs(arc["points"][0] - place[arc["q"]]) <= 8
        assert abs(arc["points"][6] - place[arc["k"]]) <= 12


def test_pieces_of_a_word_are_one_node_and_rows_still_sum_to_one(encoder):
    sentence = next(s for s in own_sentences() if "kumquats" in s.words or "pigeons" in s.words)
    words = words_of(encoder, sentence.text)
    assert [w for w, s in zip(words.labels, words.special, strict=True) if not s] == list(
        sentence.words
    )
    torch.testing.assert_close(words.weights.sum(-1), torch.ones(words.weights.shape[:-1]))
    cut = words_of(encoder, "unbelievably kumquats")
    assert cut.labels == ["[CLS]", "unbelievably", "kumquats", "[SEP]"]
    assert len(encoder.tokenize("unbelievably kumquats")) > 4
    assert cut.sentence is None


def test_pieces_are_merged_as_in_lesson_08(encoder):
    sentence = next(s for s in own_sentences() if len(encoder.tokenize(s.text)) > len(s.words) + 2)
    words = words_of(encoder, sentence.text)
    own = [i for i, special in enumerate(words.special) if not special]
    torch.testing.assert_close(words.weights[:, :, own][..., own], words_weights(encoder, sentence))


def test_the_tree_is_the_files_tree_whatever_stands_before_a_full_stop(explorer, encoder):
    assert explorer.match.total == 8
    typed = HeadGraphExplorer(encoder=encoder, sentence="The bank by the river issued a statement.")
    assert typed.view.frame["tree"] == explorer.view.frame["tree"]
    tree = {(b["q"] - 1, b["k"] - 1, b["relation"]) for b in explorer.view.frame["tree"]}
    wanted = graphs.dependency_graph(SENTENCE).edges(data="relation")
    assert tree == set(wanted)


def test_found_tree_edges_are_those_of_the_union_between_words(explorer, encoder):
    weights = words_weights(encoder)[0, [3, 4]]
    union = graphs.union(graphs.head_graphs(weights, 0.2))
    match = graphs.tree_match(union, graphs.dependency_graph(SENTENCE))
    assert (explorer.match.found, explorer.match.same_distances) == (
        match.found, match.same_distances,
    )  # fmt: skip
    drawn = {(b["q"] - 1, b["k"] - 1) for b in explorer.view.frame["tree"] if b["found"]}
    assert drawn == match.found and len(drawn) == 4
    explorer.hide_special = True  # the words are the same, so the match is
    assert explorer.match.found == match.found
    assert {(b["q"], b["k"]) for b in explorer.view.frame["tree"] if b["found"]} == match.found


def test_hiding_special_tokens_takes_their_nodes_away_and_says_what_they_took(explorer, encoder):
    explorer.hide_special = True
    assert tokens(explorer) == list(SENTENCE.words)
    weights = words_weights(encoder)[0, [3, 4]]
    taken = 100 * (1 - weights.sum(-1).mean().item())
    assert f"{taken:.0f} %" in explorer.message and "not rescaled" in explorer.message
    assert explorer.graphs[1].number_of_edges() == int((weights[1] >= 0.2).sum())


def test_facts_are_the_numbers_of_the_graphs(explorer):
    union, first, second = explorer.union, *explorer.graphs
    lines = explorer.fact_lines()
    assert f"*{union.number_of_edges()}*" in lines[0]
    share, weighted = graphs.overlap(first, second), graphs.overlap(first, second, weighted=True)
    assert explorer.overlap == pytest.approx(share)
    assert f"*{share:.2f}*" in lines[1] and lines[1].endswith(f"{weighted:.2f}")
    assert f"*{max(graphs.in_degrees(union))}* of 11" in lines[2]
    explorer.heads = [1, 2, 3]
    pairs = [
        graphs.overlap(explorer.graphs[i], explorer.graphs[j]) for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    assert explorer.overlap == pytest.approx(sum(pairs) / 3)
    explorer.heads = [2]
    assert explorer.overlap is None


def test_the_mean_overlap_leaves_out_pairs_without_edges():
    weights = torch.stack([torch.eye(3), torch.eye(3), torch.zeros(3, 3), torch.zeros(3, 3)])
    # 1 for the first two, 0 for each of four pairs with one edge set empty; the last is 0 / 0
    assert mean_overlap(weights, 0.5) == pytest.approx(1 / 5)
    assert mean_overlap(weights[2:], 0.5) is None
    assert mean_overlap(weights[:1], 0.5) is None


def test_the_table_holds_every_degree(explorer):
    heading, *rows = explorer.view.frame["table"]
    assert heading == ["Token", "Union out", "Union in", "H4 out", "H4 in", "H5 out", "H5 in"]
    assert [line[0] for line in rows] == tokens(explorer)
    for graph, column in ((explorer.union, 1), (explorer.graphs[0], 3), (explorer.graphs[1], 5)):
        assert [int(line[column]) for line in rows] == graphs.out_degrees(graph)
        assert [int(line[column + 1]) for line in rows] == graphs.in_degrees(graph)


def test_c30_every_token_says_its_edges_in_words(explorer):
    bank = explorer.view.frame["tokens"][2]["reading"]
    assert bank.startswith("bank looks at: river 0.67 (H5), ")
    assert "Looked at by: " in bank
    explorer.threshold = 0.95
    assert explorer.view.frame["tokens"][2]["reading"].startswith("bank looks at: none.")


# Controls ---------------------------------------------------------------------------------


def test_moving_a_control_does_what_setting_the_trait_does(explorer):
    explorer._threshold.value = 0.5
    assert explorer.threshold == 0.5
    explorer._layer.value = 3
    assert explorer.layer == 3
    explorer._hide.value = True
    assert explorer.hide_special
    explorer._own.value = "Birds eat seeds ."
    assert explorer.sentence == explorer._typed.value == "Birds eat seeds ."
    explorer._typed.value = "fish swim"
    assert explorer.sentence == "fish swim" and explorer._own.value is None
    assert explorer.match is None and explorer.view.frame["treeless"]
    explorer.view.pressed = [8, 1]
    assert explorer.heads == [4, 5, 9]
    explorer.view.pressed = [3, 2]
    assert explorer.heads == [5, 9]
    on = [button["on"] for button in explorer.view.frame["buttons"]]
    assert [i for i, pressed in enumerate(on) if pressed] == [4, 8]


def test_a_sentence_is_encoded_once(explorer, encoder, monkeypatch):
    runs = []
    real = type(encoder).encode
    monkeypatch.setattr(
        type(encoder), "encode", lambda self, *a, **k: runs.append(a) or real(self, *a, **k)
    )
    explorer.threshold, explorer.layer, explorer.hide_special = 0.3, 2, True
    explorer.heads = [1, 2]
    assert runs == []
    explorer.sentence = "Birds eat seeds ."
    assert len(runs) == 1


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("heads", [], "No head is picked"),
        ("heads", [0], "12"),
        ("heads", [5, 5], "twice"),
        ("layer", 0, "6"),
        ("threshold", 1.5, "1.5"),
        ("threshold", math.nan, "nan"),
        ("sentence", "  ", "no word"),
        ("sentence", "[SEP]", "no word"),
        ("sentence", "one two three " * 10, "30 words"),
    ],
)
def test_c24_what_cannot_be_drawn_is_said_and_no_old_picture_stays(explorer, name, value, words):
    good = getattr(explorer, name)
    setattr(explorer, name, value)
    frame = explorer.view.frame
    assert explorer.error is None and words in explorer.message
    assert explorer._note.kind == "problem" and frame["reason"] == explorer.message
    assert not frame["arcs"] and not frame["tokens"] and not frame["tree"] and not frame["table"]
    assert explorer.union is None and explorer.graphs == [] and "<b>" not in explorer._facts.value
    assert (
        all(button["count"] == "–" for button in frame["buttons"]) and len(frame["buttons"]) == 12
    )
    setattr(explorer, name, good)
    assert arcs(explorer) and explorer._note.kind != "problem"


def test_an_empty_graph_says_so_with_the_largest_weight(explorer, encoder):
    explorer.threshold = 0.99
    largest = encoder.encode(SENTENCE.text).weights[0, [3, 4]].max()
    assert "No edge" in explorer.message and f"{largest:.2f}" in explorer.message
    frame = explorer.view.frame
    assert frame["arcs"] == [] and len(frame["tokens"]) == 11 and "0.99" in frame["empty"]
    assert explorer.match.count == 0 and explorer.overlap is None
    assert not any(branch["found"] for branch in frame["tree"])


def test_without_a_threshold_the_graph_is_complete_and_the_page_says_why(explorer):
    explorer.threshold = 0.0
    assert explorer.union.number_of_edges() == 121
    assert "complete" in explorer.message
    explorer.heads = list(range(1, 13))
    assert len(explorer.view.frame["arcs"]) == MOST_ARCS
    assert f"{MOST_ARCS} strongest of {12 * 121}" in explorer.message
    drawn = min(arc["weight"] for arc in explorer.view.frame["arcs"])
    every = sorted((w for g in explorer.graphs for *_, w in g.edges(data="weight")), reverse=True)
    assert drawn == pytest.approx(every[MOST_ARCS - 1])


def test_c20_typed_text_stays_text(encoder):
    explorer = HeadGraphExplorer(encoder=encoder, sentence="<b>x</b> *y* $z$", threshold=0.05)
    assert "".join(tokens(explorer)[1:-1]) == "<b>x</b>*y*$z$"
    assert "<b>x" not in explorer._facts.value


def test_c16_the_longest_sentence_fits_and_one_word_more_does_not(encoder):
    explorer = HeadGraphExplorer(encoder=encoder, sentence="word " * (MOST_NODES - 2))
    assert len(tokens(explorer)) == MOST_NODES and explorer._note.kind != "problem"
    explorer.sentence += "word"
    assert str(MOST_NODES - 1) in explorer.message and not tokens(explorer)


def test_c27_two_on_a_page_share_nothing(encoder):
    one, other = HeadGraphExplorer(encoder=encoder), HeadGraphExplorer(encoder=encoder)
    before = arcs(other)
    one.threshold, one.heads = 0.4, [1]
    one.view.pressed = [2, 1]
    assert arcs(other) == before and other.heads == [4, 5] and one.heads == [1, 3]


def test_c42_spanish_throughout(encoder):
    set_language("es")
    explorer = HeadGraphExplorer(encoder=encoder)
    said = " ".join(
        [explorer.title(), *explorer.fact_lines(), *explorer.view.frame["words"].values(),
         explorer.view.frame["tokens"][2]["reading"]]
    )  # fmt: skip
    for english in ("edge", "weight", "looks", "Layer", "random", "tree"):
        assert english not in said
    assert "Capa 1" in explorer._summary()


# Layout -----------------------------------------------------------------------------------


def test_c22_heads_of_one_colour_never_share_a_line_style():
    styles = [(head_colour(i), dashes(i)) for i in range(len(HEAD_COLOURS) * len(DASHES))]
    assert len(set(styles)) == len(styles)


@pytest.mark.parametrize("count", [1, 2, 3, 11, MOST_NODES])
def test_everything_stands_inside_the_picture(count):
    place = Layout.of(["word"] * count, deepest=count - 1)
    for i in range(count):
        assert 0 < place.x(i) < WIDTH
        for j in range(count):
            for lift in (0, 11):
                points = place.arc(i, j, lift).points
                assert all(-8 <= x <= WIDTH + 8 for x in points[::2])
                assert 0.75 * min(points[1::2]) + 0.25 * place.base >= 16
            if i != j:
                low = max(place.branch(i, j).points[1::2])
                assert 0.75 * low + 0.25 * place.tree_base <= place.height - 14


def test_the_height_is_the_same_for_every_sentence():
    sizes = {Layout.of(labels).height for labels in (["a"], ["a"] * 24, ["extraordinarily"] * 20)}
    assert len(sizes) == 1


def test_long_words_stand_on_two_lines():
    assert Layout.of(["a", "b"]).rows == 1
    place = Layout.of(["photographs"] * 14)
    assert place.rows == 2 and place.y(0) != place.y(1) and place.y(0) == place.y(2)


def test_c25_the_still_shows_the_arcs_of_the_frame(explorer):
    from helpers.stills.graphs import graph_figure

    figure = graph_figure(explorer.view.frame, explorer.fact_lines())
    lines = [p for p in figure.findobj() if type(p).__name__ == "PathPatch"]
    shown = len(explorer.view.frame["arcs"]) + len(explorer.view.frame["tree"]) + 2 + 3
    assert len(lines) == shown
    texts = {text.get_text() for text in figure.findobj() if hasattr(text, "get_text")}
    assert {*SENTENCE.words, "[CLS]", "nsubj", explorer.title()} <= texts
