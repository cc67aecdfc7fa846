"""Where a head's weight goes, read off its maps: positions, special tokens, rare words.

Each function takes encodings (`Encoder.encode_batch`) and gives (L, H): the mean over the
queries of all sentences. [CLS] and [SEP] are no words, so they are left out as queries; as
keys they stay, unless a measure says otherwise.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from ..encoder import Encoding

POSITIONAL = 0.9  # Voita et al. 2019, section 5.1: "at least 90% of the time"


def _special(encoding: Encoding) -> Tensor:
    return torch.tensor([token.is_special for token in encoding.tokens])


def _mean(
    encodings: Sequence[Encoding], read: Callable[[Encoding], tuple[Tensor, Tensor]]
) -> Tensor:
    """Mean of read(encoding) -> values (L, H, n), counted (n,) over all counted queries."""
    total, count = 0, 0
    for encoding in encodings:
        values, counted = read(encoding)
        total = total + values[..., counted].double().sum(-1)
        count += int(counted.sum())
    if not count:
        raise ValueError("There is no query to measure: the sentences hold no words.")
    return (total / count).float()


def offset_share(encodings: Sequence[Encoding], offset: int) -> Tensor:
    """Mean weight on the token `offset` places to the right of the query (-1: before it).

    Queries whose token at that place does not exist are not counted.
    """

    def read(encoding):
        words, there = ~_special(encoding), torch.arange(encoding.used) + offset
        exists = (there >= 0) & (there < encoding.used)
        rows = torch.arange(encoding.used)
        values = encoding.weights[..., rows, there.clamp(0, encoding.used - 1)]
        return values, words & exists

    return _mean(encodings, read)


def previous_share(encodings: Sequence[Encoding]) -> Tensor:
    """Mean weight on the token before; Clark et al. 2019, section 3.1."""
    return offset_share(encodings, -1)


def next_share(encodings: Sequence[Encoding]) -> Tensor:
    """Mean weight on the token after; Clark et al. 2019, section 3.1."""
    return offset_share(encodings, +1)


def self_share(encodings: Sequence[Encoding]) -> Tensor:
    """Mean weight of a token on itself; Clark et al. 2019, section 3.1."""
    return offset_share(encodings, 0)


def positional(encodings: Sequence[Encoding], offset: int) -> Tensor:
    """How often the largest weight falls on the token `offset` places on.

    Voita et al. 2019, section 5.1, call a head positional when this is at least 0.9
    (`POSITIONAL`) for -1 or for +1. Special tokens are left out, as keys too: many heads rest
    on [CLS] when they find nothing, and that is measured by `special_share`. Queries with
    no word at that place are not counted.
    """

    def read(encoding):
        special = _special(encoding)
        there = torch.arange(encoding.used) + offset
        exists = (there >= 0) & (there < encoding.used)
        words = ~special & exists & ~special[there.clamp(0, encoding.used - 1)]
        return encoding.weights.masked_fill(special, -1).argmax(-1) == there, words

    return _mean(encodings, read)


def confidence(encodings: Sequence[Encoding]) -> Tensor:
    """Mean of each query's largest weight, the end of the sentence ([SEP]) left out.

    Voita et al. 2019, section 4. [SEP] is left out as query and as key. [CLS] stays a key,
    as it has no counterpart in their models: a head that always rests on it is "confident".
    """

    def read(encoding):
        end = torch.tensor([token.piece == "[SEP]" for token in encoding.tokens])
        largest = encoding.weights.masked_fill(end, 0).amax(-1)
        return largest, ~_special(encoding)

    return _mean(encodings, read)


def entropy(encodings: Sequence[Encoding]) -> Tensor:
    """Mean entropy of a row in nats, 0 for one key, ln T for all alike; Clark et al., 3.3."""

    def read(encoding):
        return torch.special.entr(encoding.weights).sum(-1), ~_special(encoding)

    return _mean(encodings, read)


def special_share(encodings: Sequence[Encoding]) -> Tensor:
    """Mean weight of words on special tokens, [CLS] and [SEP]; Clark et al. 2019, section 3.2."""

    def read(encoding):
        special = _special(encoding)
        return encoding.weights[..., special].sum(-1), ~special

    return _mean(encodings, read)


def rare_word_share(encodings: Sequence[Encoding], rarest: int = 1) -> Tensor:
    """How often the largest weight falls on one of the sentence's `rarest` rarest tokens.

    Voita et al. 2019, section 5.3 (1 and 2 rarest; special tokens left out here as keys).
    They count tokens in their training text. Here the rank is the token's number in the
    vocabulary: BERT's list of words stands in falling order of frequency, marks and single
    characters first. A stand-in for counts: it orders, it does not count. Sentences with
    too few different tokens to have `rarest` rare ones and a common one are not counted.
    """

    def read(encoding):
        special = _special(encoding)
        ids = torch.tensor([token.id for token in encoding.tokens])
        ranked = ids[~special].unique()
        if len(ranked) <= rarest:
            return encoding.weights[..., 0], torch.zeros(encoding.used, dtype=torch.bool)
        rare = torch.isin(ids, ranked[-rarest:]) & ~special
        return rare[encoding.weights.masked_fill(special, -1).argmax(-1)], ~special

    return _mean(encodings, read)
