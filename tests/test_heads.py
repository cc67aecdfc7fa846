"""Each measure on planted heads, where the right value is known by construction."""

import math

import pytest
import torch

from helpers import heads
from helpers.encoder import Encoding, Token, load_encoder
from helpers.treebank import Sentence, own_sentences

# [CLS] the sun ##dial stands [SEP]; numbers in the vocabulary: "##dial" is the rarest
PIECES = ("[CLS]", "the", "sun", "##dial", "stands", "[SEP]")
IDS = (101, 1996, 3103, 25000, 4832, 102)
SPANS = ((0, 0), (0, 3), (4, 7), (7, 11), (12, 18), (0, 0))
WORDS = [(0, 3), (4, 11), (12, 18)]
T = len(PIECES)
SHARP = 0.8


def planted(*maps: torch.Tensor) -> Encoding:
    """An encoding of one layer whose heads have these maps (T, T)."""
    tokens = [
        Token(piece, piece, start, end, piece[0] == "[", False, False, None, id)
        for piece, id, (start, end) in zip(PIECES, IDS, SPANS, strict=True)
    ]
    return Encoding("the sundial stands", tokens, T, torch.stack(maps)[None], None, None)


def looking(offset: int, weight: float = 1.0) -> torch.Tensor:
    """Each query gives `weight` to the token `offset` places on, the rest to all others alike."""
    there = (torch.arange(T) + offset).clamp(0, T - 1)
    rest = (1 - weight) / (T - 1)
    return torch.full((T, T), rest).scatter(1, there[:, None], weight)


def resting(key: int, weight: float = 1.0) -> torch.Tensor:
    """Every query gives `weight` to one key."""
    return torch.full((T, T), (1 - weight) / (T - 1)).index_fill(1, torch.tensor([key]), weight)


UNIFORM = torch.full((T, T), 1 / T)


@pytest.mark.parametrize(
    "share, offset",
    [(heads.previous_share, -1), (heads.next_share, 1), (heads.self_share, 0)],
)
def test_shares_are_the_planted_weight(share, offset):
    encoding = planted(*(looking(o, SHARP) for o in (-1, 0, 1)), UNIFORM)
    want = [SHARP if o == offset else (1 - SHARP) / (T - 1) for o in (-1, 0, 1)] + [1 / T]
    assert share([encoding]).tolist() == [pytest.approx(want)]


def test_share_is_the_mean_over_all_queries_of_all_sentences():
    both = [planted(looking(-1)), planted(looking(+1)), planted(looking(+1))]
    assert heads.previous_share(both).item() == pytest.approx(1 / 3)
    assert heads.next_share(both).item() == pytest.approx(2 / 3)


def test_queries_whose_neighbour_does_not_exist_are_not_counted():
    # Two places to the right of "stands" there is nothing: three of four words are counted.
    assert heads.offset_share([planted(looking(2))], 2).item() == pytest.approx(1)


def test_special_tokens_are_no_queries():
    only_special = torch.zeros(T, T)
    only_special[1:-1, 2] = 1  # words look at "sun", [CLS] and [SEP] at one another
    only_special[0, -1] = only_special[-1, 0] = 1
    assert heads.special_share([planted(only_special)]).item() == 0
    assert heads.special_share([planted(resting(0, SHARP))]).item() == pytest.approx(
        SHARP + (1 - SHARP) / (T - 1)
    )
    assert heads.special_share([planted(UNIFORM)]).item() == pytest.approx(2 / T)


def test_positional_counts_the_largest_weight_not_its_size():
    weak = looking(-1, 0.25)  # the largest, yet three quarters are elsewhere
    measured = heads.positional([planted(weak, looking(+1), looking(0))], -1)
    assert measured.tolist() == [[1, 0, 0]]
    assert heads.positional([planted(weak, looking(+1), looking(0))], +1).tolist() == [[0, 1, 0]]


def test_positional_leaves_special_tokens_out_as_keys():
    resting_mostly = 0.6 * resting(0) + 0.4 * looking(+1)
    assert heads.positional([planted(resting_mostly)], +1).item() == 1


def test_positional_is_a_share_of_queries():
    broken = looking(+1)
    broken[2] = looking(-1)[2]  # of three words with a word after them, one looks back
    assert heads.positional([planted(broken)], +1).item() == pytest.approx(2 / 3)


def test_confidence_leaves_the_end_of_the_sentence_out():
    measured = heads.confidence([planted(resting(T - 1, 0.9), resting(0, 0.9), UNIFORM)])
    assert measured[0].tolist() == pytest.approx([0.1 / (T - 1), 0.9, 1 / T])


def test_entropy_in_nats():
    half = 0.5 * (looking(0) + resting(0))
    measured = heads.entropy([planted(UNIFORM, looking(0), half)])[0]
    assert measured.tolist() == pytest.approx([math.log(T), 0, math.log(2)], abs=1e-6)


def test_rare_word_share_by_number_in_the_vocabulary():
    encoding = planted(resting(3), resting(4), resting(1), resting(0, 0.9) + 1e-3 * resting(3))
    assert heads.rare_word_share([encoding])[0].tolist() == [1, 0, 0, 1]
    assert heads.rare_word_share([encoding], rarest=2)[0].tolist() == [1, 1, 0, 1]


def test_measures_of_no_words_say_so():
    with pytest.raises(ValueError, match="no query"):
        heads.previous_share([])


def test_pieces_are_merged_as_clark_did():
    encoding = planted(UNIFORM)
    owners = heads.piece_owners(encoding, WORDS)
    assert owners.tolist() == [-1, 0, 1, 1, 2, -1]
    weights = torch.arange(T * T, dtype=torch.float32).reshape(T, T)
    merged = heads.merge_pieces(weights, owners, 3)
    to_sundial = weights[1, 2] + weights[1, 3]  # to: the sum over its pieces
    from_sundial = (weights[2, 4] + weights[3, 4]) / 2  # from: their mean
    assert merged[0, 1] == to_sundial
    assert merged[1, 2] == from_sundial
    assert merged[1, 1] == weights[2:4, 2:4].sum() / 2
    assert merged.shape == (3, 3)


class PlantedEncoder:
    """Stands in for an encoder: every word is one token, its heads' maps are given."""

    num_layers = 1

    def __init__(self, *rules):
        self.rules, self.num_heads = rules, len(rules)

    def encode_batch(self, texts):
        return [self.encode(text) for text in texts]

    def encode(self, text):
        words, tokens, start = text.split(), [], 0
        special = dict(is_special=True, typed_special=False, is_unknown=False, word_index=None)
        tokens.append(Token("[CLS]", "", 0, 0, id=101, **special))
        for i, word in enumerate(words):
            end = start + len(word)
            tokens.append(Token(word, word, start, end, False, False, False, i, 2000 + i))
            start = end + 1
        tokens.append(Token("[SEP]", "", 0, 0, id=102, **special))
        W = len(words)
        maps = torch.zeros(1, self.num_heads, W + 2, W + 2)
        for head, rule in enumerate(self.rules):
            for i in range(W):
                # Half on [CLS], most of the rest on the word itself, a little where it points.
                maps[0, head, i + 1, 0], maps[0, head, i + 1, i + 1] = 0.5, 0.4
                maps[0, head, i + 1, rule(i, W) + 1] += 0.1
        return Encoding(text, tokens, W + 2, maps, None, None)


def sentence(words: str, *tree: tuple[int, str]) -> Sentence:
    own_heads, relations = zip(*tree, strict=True)
    return Sentence(tuple(words.split()), own_heads, relations, ("X",) * len(tree))


CATS = sentence("cats eat fish", (1, "nsubj"), (-1, "root"), (1, "obj"))
DOGS = sentence(
    "old dogs eat much fish", (1, "amod"), (2, "nsubj:pass"), (-1, "root"), (4, "det"), (2, "obj")
)
ONE = sentence("go", (-1, "root"))


def before(i, W):
    return (i - 1) % W


def two_before(i, W):
    return (i - 2) % W


def after(i, W):
    return (i + 1) % W


def test_most_attended_leaves_special_tokens_and_self_out():
    attended = heads.most_attended(PlantedEncoder(before, after), [CATS, ONE, DOGS])
    at = attended.starts.tolist()
    assert sorted(at) == [0, 1, 4] and attended.skipped == 0
    for start, W in ((at[0], 3), (at[2], 5)):
        back = attended.choices[0, 0, start + 1 : start + W] - start
        assert back.tolist() == list(range(W - 1))
        on = attended.choices[0, 1, start : start + W - 1] - start
        assert on.tolist() == list(range(1, W))


def test_accuracy_in_both_directions_and_subtypes_count():
    attended = heads.most_attended(PlantedEncoder(before, after, two_before), [DOGS, CATS])
    for relation, direction, want in (
        ("obj", "dependent_to_head", [0.5, 0, 0.5]),
        ("obj", "head_to_dependent", [0, 0.5, 0.5]),
        ("nsubj", "dependent_to_head", [0, 1, 0.5]),  # nsubj:pass as well
        ("nsubj", "head_to_dependent", [1, 0, 0]),
    ):
        found = heads.arcs([DOGS, CATS], relation, direction, attended.starts)
        assert heads.syntactic_accuracy(attended, found)[0].tolist() == want, (relation, direction)


def test_arcs_without_an_encoder_and_with_a_skipped_sentence():
    found = heads.arcs([CATS, DOGS], "obj")
    assert (found.query.tolist(), found.target.tolist()) == ([2, 7], [1, 5])
    found = heads.arcs([CATS, DOGS], "obj", starts=torch.tensor([-1, 0]))
    assert (found.query.tolist(), found.sentence.tolist()) == ([4], [1])
    with pytest.raises(ValueError, match="dependent_to_head"):
        heads.arcs([CATS], "obj", "up")


def test_best_offset_is_the_most_frequent_distance():
    assert heads.best_offset(heads.arcs([CATS, CATS, DOGS], "obj")) == (-1, pytest.approx(2 / 3))
    assert heads.best_offset(heads.arcs([CATS], "obj", "head_to_dependent")) == (1, 1.0)


def test_bootstrap_redraws_sentences_with_its_own_generator():
    sentences = [CATS] * 30 + [DOGS] * 10  # a head that looks back: 30 of 40 objects
    attended = heads.most_attended(PlantedEncoder(before), sentences)
    found = heads.arcs(sentences, "obj", starts=attended.starts)
    state = torch.get_rng_state()
    low, high = heads.bootstrap_interval(attended, found)
    assert torch.equal(state, torch.get_rng_state())
    again = heads.bootstrap_interval(attended, found)
    assert torch.equal(low, again[0]) and torch.equal(high, again[1])
    # The binomial standard error is 0.068: two of them on either side of 0.75.
    assert low.item() == pytest.approx(0.75 - 1.96 * 0.068, abs=0.03)
    assert high.item() == pytest.approx(0.75 + 1.96 * 0.068, abs=0.03)
    narrow = heads.bootstrap_interval(attended, found, level=0.5)
    assert low < narrow[0] < narrow[1] < high


def test_bootstrap_of_a_sure_thing_has_no_width():
    attended = heads.most_attended(PlantedEncoder(before), [CATS] * 10)
    ends = heads.bootstrap_interval(attended, heads.arcs([CATS] * 10, "obj"))
    assert [end.item() for end in ends] == [1, 1]


def test_arcs_of_one_sentence_are_drawn_together():
    """Ten arcs in each of four sentences are no forty independent ones."""
    hit = torch.tensor([True] * 20 + [False] * 20)
    query = torch.arange(40)
    attended = heads.MostAttended(torch.where(hit, 0, 1)[None, None], torch.zeros(4))
    together = heads.Arcs(query, torch.zeros(40, dtype=torch.long), query // 10)
    apart = heads.Arcs(query, torch.zeros(40, dtype=torch.long), query)
    low_together, low_apart = (
        heads.bootstrap_interval(attended, found)[0].item() for found in (together, apart)
    )
    assert low_together < low_apart - 0.1


def test_distance_between_heads():
    encoding = planted(UNIFORM, UNIFORM, resting(0), resting(3))
    distances = heads.head_distances([encoding, encoding])
    assert torch.allclose(distances, distances.T)
    assert distances.diagonal().tolist() == pytest.approx([0] * 4, abs=1e-6)
    assert distances[0, 1].item() == pytest.approx(0, abs=1e-6)
    assert distances[2, 3].item() == pytest.approx(math.log(2))
    middle = [0.5 / T] * (T - 1) + [0.5 + 0.5 / T]
    mixed = -sum(p * math.log(p) for p in middle)
    assert distances[0, 2].item() == pytest.approx(mixed - math.log(T) / 2, abs=1e-6)


def test_roles_come_from_the_measures():
    encoding = planted(looking(-1), looking(+1), resting(0), UNIFORM)
    measured = heads.measure([encoding])
    assert heads.roles(measured) == [["previous", "next", "sink", ""]]
    assert set(measured) == set(heads.MEASURES)
    assert heads.name(0, 2) == "L1-H3"


def test_removal_of_a_head_that_does_nothing():
    encoder = load_encoder().untrained(1)
    with torch.no_grad():
        encoder.layers[2].attention.W_O.weight[:, 32 * 4 : 32 * 5] = 0  # L3-H5 reaches nothing
    change = heads.removal(encoder, ["The bank by the river.", "A letter."])
    assert change.shape == (6, 12)
    assert change[2, 4] == pytest.approx(0, abs=1e-6)
    assert (change > 1e-6).sum() >= 60


def test_removal_is_that_of_the_encoders_gates():
    encoder, text = load_encoder(), "The bank by the river issued a statement."
    change = heads.removal(encoder, [text])
    whole = encoder.encode(text).sentence_vector
    for layer, head in ((0, 2), (3, 7), (5, 10)):
        gates = torch.ones(6, 12)
        gates[layer, head] = 0
        vector = encoder.encode(text, gates).sentence_vector
        assert change[layer, head].item() == pytest.approx(1 - (whole @ vector).item(), abs=1e-5)


@pytest.fixture(scope="module")
def own():
    encoder, sentences = load_encoder(), own_sentences()
    return encoder, sentences, encoder.encode_batch([s.text for s in sentences])


def test_the_real_encoder_has_positional_heads_on_our_sentences(own):
    measured = heads.measure(own[2])
    roles = heads.roles(measured)
    assert roles[0][2] == "previous" and roles[1][8] == "next"  # L1-H3, L2-H9
    assert measured["previous"][0, 2] > 0.99
    assert 0.55 < measured["next"][1, 8] < 0.75
    assert measured["special"][1:5].mean() > 0.5  # layers 2 to 5


def test_c22_every_word_looks_at_the_special_tokens_and_the_measure_says_how_much(own):
    encoder = own[0]
    encoding = encoder.encode("The cat sat on the mat because the mat was warm")
    by_layer = heads.special_share([encoding]).mean(-1)
    assert encoding.used == 13
    assert ((by_layer[1:5] > 0.55) & (by_layer[1:5] < 0.70)).all()
    assert by_layer[0] < 0.4 and by_layer[5] < 0.45


def test_leaderboard_names_a_head_for_objects_and_the_control_stays_below(own):
    encoder, sentences, _ = own
    board = heads.leaderboard(encoder, sentences)
    by_relation = {score.relation: score for score in board}
    assert {"nsubj", "obj", "det", "case", "amod", "aux", "nmod", "obl"} == set(by_relation)
    objects = by_relation["obj"]
    assert heads.name(*objects.best) == "L3-H1" and objects.margin >= 0.2
    assert objects.low[objects.best] > objects.baseline
    assert all(score.control < score.baseline for score in board)
    assert [s.margin for s in board] == sorted((s.margin for s in board), reverse=True)
    again = heads.leaderboard(encoder, sentences, ["obj"])[0]
    assert torch.equal(again.accuracy, objects.accuracy) and torch.equal(again.low, objects.low)


def test_c16_a_text_longer_than_the_encoder_is_skipped_and_counted():
    long = Sentence(("word",) * 600, (-1, *[0] * 599), ("root", *["dep"] * 599), ("X",) * 600)
    attended = heads.most_attended(load_encoder(), [long, CATS])
    assert attended.skipped == 1
    assert attended.starts.tolist() == [-1, 0]
    assert attended.choices.shape == (6, 12, 3)
