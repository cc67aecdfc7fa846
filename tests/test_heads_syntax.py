"""Which word each word attends to, and dependencies, on planted heads and small trees."""

import pytest
import torch

from helpers import heads
from helpers.encoder import Encoding, Token
from helpers.treebank import Sentence


class PlantedEncoder:
    """Stands in for an encoder: every word is one token, its heads' maps are given."""

    num_layers = 1
    most_words = 5  # what is longer does not fit

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
        return Encoding(text, tokens[: self.most_words + 2], W + 2, maps, None, None)


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


def test_a_sentence_that_does_not_fit_is_skipped_and_the_others_are_not():
    many = sentence("a b c d e f", (-1, "root"), *[(0, "dep")] * 5)
    long_word = sentence("incomprehensibilities end", (1, "nsubj"), (-1, "root"))
    attended = heads.most_attended(PlantedEncoder(before), [many, long_word, CATS])
    # Fewer letters come first: `many` is met before the long word.
    assert attended.starts.tolist() == [-1, 3, 0] and attended.skipped == 1
    assert attended.choices.tolist() == [[[2, 0, 1, 4, 3]]]


@pytest.mark.parametrize("sentences", [[], [sentence("a b c d e f", *[(-1, "root")] * 6)]])
def test_no_sentence_that_fits_gives_choices_of_no_words(sentences):
    attended = heads.most_attended(PlantedEncoder(before, after), sentences)
    assert attended.choices.shape == (1, 2, 0) and attended.choices.dtype == torch.long
    assert attended.skipped == len(sentences)


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
    with pytest.raises(ValueError, match="'up': choose one of dependent_to_head, head_to_dep"):
        heads.arcs([CATS], "obj", "up")


def test_arcs_know_their_sentence_in_both_directions_and_may_start_at_the_first_word():
    verb_first = sentence("eat fish", (-1, "root"), (0, "obj"))
    found = heads.arcs([CATS, verb_first], "obj")
    assert (found.query.tolist(), found.target.tolist()) == ([2, 4], [1, 3])
    other = heads.arcs([CATS, verb_first], "obj", "head_to_dependent")
    assert (other.query.tolist(), other.target.tolist()) == ([1, 3], [2, 4])
    assert found.sentence.tolist() == other.sentence.tolist() == [0, 1]


def test_no_arc_is_an_empty_list_of_word_numbers():
    found = heads.arcs([ONE], "obj")
    assert len(found) == 0
    assert found.query.dtype == found.target.dtype == found.sentence.dtype == torch.long


def test_arcs_refuse_lists_of_different_lengths():
    with pytest.raises(ValueError):
        heads.arcs([CATS, DOGS], "obj", starts=torch.tensor([0]))
    with pytest.raises(ValueError):
        heads.arcs([Sentence(("go", "on"), (-1, 0), ("root",), ("X", "X"))], "obj")


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


@pytest.mark.parametrize("level, ends", [(0.95, (0.025, 0.975)), (0.5, (0.25, 0.75))])
def test_each_head_has_the_percentiles_of_its_own_accuracy_over_redrawn_sentences(level, ends):
    """Six heads that hit at random; a thousand samples from a generator seeded with 0."""
    choices = torch.randint(2, (2, 3, 20), generator=torch.Generator().manual_seed(4))
    attended = heads.MostAttended(choices, torch.zeros(6))
    sentence = torch.tensor([0] * 2 + [1] * 2 + [3] * 4 + [4] * 5 + [7] * 7)  # some have no arc
    found = heads.Arcs(torch.arange(20), torch.zeros(20, dtype=torch.long), sentence)
    drawn = torch.randint(5, (1000, 5), generator=torch.Generator().manual_seed(0))
    in_each = [(sentence == number).nonzero().flatten() for number in (0, 1, 3, 4, 7)]
    low, high = heads.bootstrap_interval(attended, found, level=level)
    for layer in range(2):
        for head in range(3):
            hit = [(choices[layer, head, arcs] == 0).sum() for arcs in in_each]
            hits, counts = torch.stack(hit), torch.tensor([len(arcs) for arcs in in_each])
            shares = hits[drawn].sum(1) / counts[drawn].sum(1)
            want = torch.quantile(shares, torch.tensor(ends)).tolist()
            assert [low[layer, head].item(), high[layer, head].item()] == pytest.approx(want)
    if level == 0.95:
        assert torch.equal(heads.bootstrap_interval(attended, found)[0], low)


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


def test_a_score_draws_with_the_generator_given():
    sentences = [CATS] * 30 + [DOGS] * 10
    attended = heads.most_attended(PlantedEncoder(before), sentences)
    found = heads.arcs(sentences, "obj", starts=attended.starts)

    own, other = (torch.Generator().manual_seed(3) for _ in range(2))
    score = heads.relation_score(sentences, attended, "obj", generator=own)
    ends = heads.bootstrap_interval(attended, found, generator=other)
    assert (score.low, score.high) == tuple(end.item() for end in ends)
    assert torch.equal(own.get_state(), other.get_state())
    assert score.direction == "dependent_to_head" and score.control is None
    assert heads.relation_score(sentences, attended, "xcomp") is None


def test_a_control_that_skips_a_sentence_is_scored_on_the_others():
    small = PlantedEncoder(before)
    small.most_words = 3  # DOGS does not fit, and its object would have been missed
    sentences = [DOGS, CATS]
    attended, control = (
        heads.most_attended(encoder, sentences) for encoder in (PlantedEncoder(before), small)
    )
    assert control.starts.tolist() == [-1, 0]
    score = heads.relation_score(sentences, attended, "obj", control=control)
    assert (score.accuracy.item(), score.control) == (0.5, 1)


def to_the_verb(i, W):
    return {3: 1, 4: 1, 5: 2}[W]  # where CATS, EATERS and DOGS have theirs


class WithControl(PlantedEncoder):
    """A planted encoder whose untrained twin looks back for seed 1, else ahead."""

    def untrained(self, seed):
        return PlantedEncoder(before if seed == 1 else after)


EATERS = sentence("cats eat the fish", (1, "nsubj"), (-1, "root"), (3, "det"), (1, "obj"))
MANY = [EATERS] * 18 + [DOGS, CATS]  # 20 subjects, 20 objects, 19 "det", one "amod"


@pytest.mark.parametrize("seed, of_subjects, of_objects", [(0, 1, 0), (1, 0, 0.05)])
def test_leaderboard_wants_20_arcs_and_puts_the_largest_margin_first(seed, of_subjects, of_objects):
    encoder = WithControl(before, to_the_verb)
    board = heads.leaderboard(encoder, MANY, ["nsubj", "obj", "det", "amod", "xcomp"], seed=seed)
    assert [score.relation for score in board] == ["obj", "nsubj"]
    objects, subjects = board
    # Objects stand two places behind their verb in all sentences but one.
    assert (objects.count, objects.offset, objects.best) == (20, -2, (0, 1))
    assert objects.accuracy.tolist() == [pytest.approx([0.05, 1])]
    assert objects.baseline == pytest.approx(0.95) and objects.margin == pytest.approx(0.05)
    assert (subjects.count, subjects.offset, subjects.best) == (20, 1, (0, 1))
    assert (subjects.baseline, subjects.margin) == (1, 0)
    assert (subjects.control, objects.control) == pytest.approx((of_subjects, of_objects))
    assert (objects.low[0, 1], objects.high[0, 1]) == (1, 1)
    assert repr(objects) == (
        "RelationScore(obj dependent_to_head: L1-H2 1.000, offset -2 0.950, n=20)"
    )


def test_leaderboard_asks_for_the_main_relations_in_either_direction():
    encoder = WithControl(before, to_the_verb)
    assert [score.relation for score in heads.leaderboard(encoder, MANY)] == ["obj", "nsubj"]
    board = heads.leaderboard(encoder, MANY, ["obj", "nsubj"], "head_to_dependent")
    # A verb looks one word back at its subject: the rule "one to the left" does as well.
    found = [(s.relation, s.direction, s.offset, round(s.margin, 6)) for s in board]
    assert found == [
        ("nsubj", "head_to_dependent", -1, 0),
        ("obj", "head_to_dependent", 2, -0.95),
    ]
    assert [score.control for score in board] == pytest.approx([0, 0.05])
