"""Each measure on planted heads, where the right value is known by construction."""

import math

import pytest
import torch

from helpers import heads
from helpers.encoder import Encoding, Token

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


def test_places_outside_the_sentence_are_not_read_from_its_ends():
    """[CLS] and [SEP] stand at the ends: what the outer words give them is not counted."""
    shares = torch.zeros(T, T)
    shares[1, 0] = shares[4, 5] = 1  # two places before "the", two after "stands": nothing
    for query, key, weight in ((2, 0, 0.5), (3, 1, 0.25), (4, 2, 0.6)):
        shares[query, key] = weight
    for query, key, weight in ((1, 3, 0.1), (2, 4, 0.2), (3, 5, 0.6)):
        shares[query, key] = weight
    assert heads.offset_share([planted(shares)], -2).item() == pytest.approx(1.35 / 3)
    assert heads.offset_share([planted(shares)], +2).item() == pytest.approx(0.9 / 3)


@pytest.mark.parametrize("measure", [heads.offset_share, heads.positional])
@pytest.mark.parametrize("offset", [-100, 100])
def test_a_place_that_no_word_has_is_no_query_to_measure(measure, offset):
    with pytest.raises(ValueError, match="no query"):
        measure([planted(UNIFORM)], offset)


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


def test_confidence_is_that_of_words():
    sure = 0.5 * (looking(0) + resting(1))  # "the" 1, the three other words 0.5
    sure[0], sure[-1] = 0, 0  # [CLS] and [SEP] would draw the mean down
    assert heads.confidence([planted(sure)]).item() == pytest.approx(2.5 / 4)


def test_entropy_in_nats():
    half = 0.5 * (looking(0) + resting(0))
    measured = heads.entropy([planted(UNIFORM, looking(0), half)])[0]
    assert measured.tolist() == pytest.approx([math.log(T), 0, math.log(2)], abs=1e-6)


def test_rare_word_share_by_number_in_the_vocabulary():
    encoding = planted(resting(3), resting(4), resting(1), resting(0, 0.9) + 1e-3 * resting(3))
    assert heads.rare_word_share([encoding])[0].tolist() == [1, 0, 0, 1]
    assert heads.rare_word_share([encoding], rarest=2)[0].tolist() == [1, 1, 0, 1]


def test_rare_words_are_asked_of_words_and_need_a_common_word_beside_them():
    words_only = resting(3)
    words_only[0] = words_only[-1] = 0
    words_only[:, 1] += 1e-3  # where [CLS] and [SEP] look then
    encoding = planted(words_only)
    assert heads.rare_word_share([encoding]).item() == 1
    assert heads.rare_word_share([encoding], rarest=3).item() == 1
    # Four different words: with four rare ones none is common, and nothing is left to measure.
    for rarest in (4, 5):
        with pytest.raises(ValueError, match="no query"):
            heads.rare_word_share([encoding], rarest=rarest)


def test_measures_of_no_words_say_so():
    with pytest.raises(ValueError) as told:
        heads.previous_share([])
    assert str(told.value) == "There is no query to measure: the sentences hold no words."


def test_pieces_are_merged_as_clark_did():
    encoding = planted(UNIFORM)
    owners = heads.piece_owners(encoding, WORDS)
    assert owners.tolist() == [-1, 0, 1, 1, 2, -1]
    assert heads.piece_owners(encoding, WORDS[:1]).tolist() == [-1, 0, -1, -1, -1, -1]
    weights = torch.arange(T * T, dtype=torch.float32).reshape(T, T)
    merged = heads.merge_pieces(weights, owners, 3)
    to_sundial = weights[1, 2] + weights[1, 3]  # to: the sum over its pieces
    from_sundial = (weights[2, 4] + weights[3, 4]) / 2  # from: their mean
    assert merged[0, 1] == to_sundial
    assert merged[1, 2] == from_sundial
    assert merged[1, 1] == weights[2:4, 2:4].sum() / 2
    assert merged.shape == (3, 3)


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


def test_roles_begin_at_nine_tenths_and_above_one_half():
    def role(previous, next, special):
        values = {"previous_largest": previous, "next_largest": next, "special": special}
        return heads.roles({key: torch.tensor([[value]]) for key, value in values.items()})[0][0]

    assert (role(0.9, 0.9, 1.0), role(0.89, 0.9, 1.0)) == ("previous", "next")
    assert (role(0.89, 0.89, 0.51), role(0.89, 0.89, 0.5)) == ("sink", "")


class AddingLayer:
    """A layer in two dimensions: stretches each token, then head h adds its own vector."""

    def __init__(self, stretch, *vectors):
        self.stretch, self.vectors = torch.tensor(stretch), torch.tensor(vectors)

    def __call__(self, x, mask, gates):
        assert mask is None
        gates = torch.ones(len(self.vectors)) if gates is None else gates
        return x * self.stretch + gates @ self.vectors, None


class AddingEncoder:
    """Two such layers of three heads; a text's two tokens start around a given point."""

    num_layers, num_heads = 2, 3
    layers = (
        AddingLayer([1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]),
        AddingLayer([1.0, 2.0], [0.0, 1.0], [0.0, 0.0], [2.0, -1.0]),
    )
    starts = {"a": [[1.5, 0.5], [0.5, -0.5]], "b": [[0.0, 2.0], [0.0, 0.0]]}

    def encode_batch(self, texts):
        for text in texts:
            hidden = [torch.tensor(self.starts[text])]
            for layer in self.layers:
                hidden.append(layer(hidden[-1], None, None)[0])
            vector = torch.nn.functional.normalize(hidden[-1].mean(0), dim=-1)
            yield Encoding(text, [], 2, None, torch.stack(hidden), vector)


def turn(x, y, whole):
    """1 - cosine of the angle between (x, y) and `whole`."""
    return 1 - math.cos(math.atan2(y, x) - math.atan2(whole[1], whole[0]))


def test_removal_is_the_planted_turn_of_the_sentence_vector_and_its_mean_over_texts():
    # "a": (1, 0) -> (2, 1) -> (4, 2). Each vector without one head, worked out by hand:
    a = [[(4, 0), (3, 2), (4, 2)], [(4, 1), (4, 2), (2, 3)]]
    # "b": (0, 1) -> (1, 2) -> (3, 4)
    b = [[(3, 2), (2, 4), (3, 4)], [(3, 3), (3, 4), (1, 5)]]
    of_a = [[turn(x, y, (4, 2)) for x, y in layer] for layer in a]
    of_b = [[turn(x, y, (3, 4)) for x, y in layer] for layer in b]
    change = heads.removal(AddingEncoder(), ["a"])
    assert change.tolist() == [pytest.approx(layer, abs=1e-6) for layer in of_a]
    both = (torch.tensor(of_a) + torch.tensor(of_b)) / 2
    assert torch.allclose(heads.removal(AddingEncoder(), ["a", "b"]), both, atol=1e-6)
