"""Lesson 08, real heads: `word_weights` and `best_offset_share`.

The words of every kind below are in texts/<language>/check_08.json.
"""

from collections import Counter
from collections.abc import Callable
from statistics import mean, median

import torch
from torch import Tensor

from ..heads.words import merge_pieces
from .base import Exercise, Probe, random_tensors, register

# 08.word_weights


def word_weights(weights: Tensor, owner: Tensor) -> Tensor:
    return merge_pieces(weights, owner, int(owner.max()) + 1)


def _weights_probe(seed: int, *owner: int) -> Probe:
    T = len(owner)
    weights = random_tensors(seed, (T, T), scale=1.5)[0].softmax(-1)
    inputs = {"weights": weights, "owner": torch.tensor(owner, device="cpu")}
    return Probe(inputs, {"T": T, "W": max(owner) + 1})


words_exercise = register(
    Exercise(
        id="08.word_weights",
        call="word_weights(weights, owner)",
        axes=("W", "W"),
        reference=word_weights,
        make_probes=lambda: [
            _weights_probe(1, -1, 0, 1, 1, 2, 3, 3, 3, -1),
            _weights_probe(2, -1, 0, 0, 1, 2, 2, -1),
            _weights_probe(3, -1, 0, 1, 2, 2, 2, 2, 3, 4, -1),
        ],
    )
)


def _pieces(owner: Tensor, extra: int = 0) -> list[Tensor]:
    """The tokens of each word, words in order; `extra` words that have no tokens."""
    return [(owner == word).nonzero()[:, 0] for word in range(int(owner.max()) + 1 + extra)]


def _merged(to: Callable, source: Callable) -> Callable:
    """Word maps with `to` over the pieces of the key word, `source` over those of the query."""

    def wrong(weights, owner, extra=0):
        words = _pieces(owner, extra)
        columns = torch.stack([to(weights[:, pieces]) for pieces in words], dim=1)
        return torch.stack([source(columns[pieces].mT) for pieces in words])

    return wrong


def _sum(x):
    return x.sum(-1)


def _mean(x):
    return x.mean(-1)


def _max(x):
    return x.amax(-1)


words_exercise.misconception("averaged_both", _merged(_mean, _mean))
words_exercise.misconception("summed_both", _merged(_sum, _sum))
words_exercise.misconception("sum_and_mean_exchanged", _merged(_mean, _sum))
words_exercise.misconception(
    "first_piece_only",
    _merged(lambda x: x[..., 0], lambda x: x[..., 0]),
    _merged(_sum, lambda x: x[..., 0]),
    _merged(lambda x: x[..., 0], _mean),
)
words_exercise.misconception(
    "last_piece_only",
    _merged(lambda x: x[..., -1], lambda x: x[..., -1]),
    _merged(_sum, lambda x: x[..., -1]),
    _merged(lambda x: x[..., -1], _mean),
)
words_exercise.misconception(
    "largest_piece", _merged(_max, _max), _merged(_max, _mean), _merged(_sum, _max)
)
words_exercise.misconception("transposed", lambda w, owner: word_weights(w, owner).mT)
words_exercise.misconception(
    "queries_and_keys_exchanged", lambda w, owner: word_weights(w.mT, owner)
)
words_exercise.misconception(
    "special_in_last_word",
    lambda w, owner: word_weights(w, owner % (int(owner.max()) + 1)),
    lambda w, owner: _merged(_sum, _sum)(w, owner % (int(owner.max()) + 1)),
)
words_exercise.misconception(
    "special_in_first_word", lambda w, owner: word_weights(w, owner.clamp(min=0))
)
words_exercise.misconception(
    "special_kept",
    lambda w, owner: word_weights(w, owner + 1),
    lambda w, owner: _merged(_sum, _mean)(w, owner, extra=1),
)
words_exercise.misconception("last_word_missing", lambda w, owner: word_weights(w, owner)[:-1, :-1])
words_exercise.misconception(
    "rows_rescaled",
    lambda w, owner: word_weights(w, owner) / word_weights(w, owner).sum(-1, keepdim=True),
)
words_exercise.misconception("softmax_again", lambda w, owner: word_weights(w, owner).softmax(-1))
words_exercise.misconception(
    "self_left_out",
    lambda w, owner: word_weights(w, owner).fill_diagonal_(0),
)
words_exercise.misconception("pieces_not_merged", lambda w, owner: w[owner >= 0][:, owner >= 0])

# 08.best_offset_share


def best_offset_share(words: list[int], heads: list[int]) -> float:
    offsets = Counter(head - word for word, head in zip(words, heads, strict=True))
    return offsets.most_common(1)[0][1] / len(words)


# offset: how many cases
MANY = {4: 6, 1: 5, 3: 5, -1: 4, -4: 4, 5: 4, 2: 3, -9: 2, -24: 1, 7: 1}


def _arcs(counts: dict[int, int]) -> tuple[list[int], list[int]]:
    offsets = list(Counter(counts).elements())
    heads = [30 + i % 3 for i in range(len(offsets))]
    return [head - offset for head, offset in zip(heads, offsets, strict=True)], heads


def _share_probe(words: list[int], heads: list[int]) -> Probe:
    return Probe({"words": words, "heads": heads}, {"n": len(words)})


share_exercise = register(
    Exercise(
        id="08.best_offset_share",
        call="best_offset_share(words, heads)",
        axes=(),
        reference=best_offset_share,
        make_probes=lambda: [
            # The best, the neighbours, the mean, the median and the extremes: all differ.
            _share_probe(*_arcs(MANY)),
            # offsets -3 -3 -3 3 3 -1 -1
            _share_probe([4, 7, 5, 0, 1, 9, 6], [1, 4, 2, 3, 4, 8, 5]),
        ],
    )
)


def _offsets(words, heads) -> list[int]:
    return [head - word for word, head in zip(words, heads, strict=True)]


def _always(choose: Callable) -> Callable:
    """The share of one offset, `choose(offsets)`."""

    def wrong(words, heads):
        offsets = _offsets(words, heads)
        return offsets.count(choose(offsets)) / len(offsets)

    return wrong


def _most(values) -> int:
    return Counter(values).most_common(1)[0][1]


share_exercise.misconception(
    "sign_lost", lambda w, h: _most(abs(o) for o in _offsets(w, h)) / len(w)
)
share_exercise.misconception(
    "offset_returned",
    lambda w, h: Counter(_offsets(w, h)).most_common(1)[0][0],
    lambda w, h: Counter(map(abs, _offsets(w, h))).most_common(1)[0][0],
)
share_exercise.misconception("count_returned", lambda w, h: _most(_offsets(w, h)))
share_exercise.misconception("percent", lambda w, h: 100 * best_offset_share(w, h))
share_exercise.misconception("whole_division", lambda w, h: _most(_offsets(w, h)) // len(w))
share_exercise.misconception("previous_word_only", _always(lambda o: -1))
share_exercise.misconception("next_word_only", _always(lambda o: 1))
share_exercise.misconception(
    "neighbours_added", lambda w, h: sum(abs(o) == 1 for o in _offsets(w, h)) / len(w)
)
share_exercise.misconception("mean_offset", _always(lambda o: round(mean(o))))
share_exercise.misconception("median_offset", _always(lambda o: int(median(o))))
share_exercise.misconception("distance_not_share", lambda w, h: mean(_offsets(w, h)))
share_exercise.misconception(
    "place_not_distance", lambda w, h: _most(h) / len(h), lambda w, h: _most(w) / len(w)
)
share_exercise.misconception("chance", lambda w, h: 1 / len(set(_offsets(w, h))))
share_exercise.misconception(
    "largest_offset", _always(max), _always(min), lambda w, h: max(_offsets(w, h))
)
