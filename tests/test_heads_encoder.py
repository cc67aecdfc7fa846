"""The measures of heads on the real encoder and our own sentences."""

import pytest
import torch

from helpers import heads
from helpers.encoder import load_encoder
from helpers.treebank import Sentence, own_sentences


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
    cats = Sentence(("cats", "eat", "fish"), (1, -1, 1), ("nsubj", "root", "obj"), ("X",) * 3)
    attended = heads.most_attended(load_encoder(), [long, cats])
    assert attended.skipped == 1
    assert attended.starts.tolist() == [-1, 0]
    assert attended.choices.shape == (6, 12, 3)
