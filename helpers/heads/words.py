"""From pieces to words, and the word each word attends to most."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..encoder import Encoder, Encoding
from ..threads import one_thread
from ..treebank import Sentence

BATCH = 32  # sentences of like length run together


def piece_owners(encoding: Encoding, spans: Sequence[tuple[int, int]]) -> Tensor:
    """(T,): the number of the word each token belongs to, -1 for special tokens.

    `spans` are the words' first and last character (exclusive) in the encoding's text.
    """
    owners = []
    for token in encoding.tokens:
        inside = (
            i for i, (start, end) in enumerate(spans) if start <= token.start and token.end <= end
        )
        owners.append(-1 if token.is_special else next(inside, -1))
    return torch.tensor(owners)


def merge_pieces(weights: Tensor, owners: Tensor, num_words: int) -> Tensor:
    """(..., T, T) between tokens -> (..., W, W) between words.

    Clark et al. 2019, section 4.1: weights **to** the pieces of a word are summed, weights
    **from** them averaged. What tokens of no word (owner -1) give and take is left out, so
    rows then sum to at most 1.
    """
    is_of = (owners == torch.arange(num_words)[:, None]).to(weights.dtype)  # (W, T)
    pieces = is_of.sum(-1, keepdim=True).clamp(min=1)
    return (is_of / pieces) @ weights @ is_of.mT


@dataclass(frozen=True, repr=False, eq=False)
class MostAttended:
    """For each of the N words of all sentences, the other word each head attends to most.

    choices  (L, H, N)  numbers of words, 0 to N - 1 over all sentences
    starts   (S,)       number of each sentence's first word; -1: it did not fit the encoder
    """

    choices: Tensor
    starts: Tensor

    @property
    def skipped(self) -> int:
        """Sentences that have more tokens than the encoder has positions."""
        return int((self.starts < 0).sum())


@one_thread()
@torch.no_grad()
def most_attended(encoder: Encoder, sentences: Sequence[Sentence]) -> MostAttended:
    """Run all sentences; special tokens and the word itself are left out of the choice."""
    shape = encoder.num_layers, encoder.num_heads
    starts = torch.full((len(sentences),), -1)
    found: list[Tensor] = []
    N = 0
    for i, encoding in _encoded(encoder, sentences):
        sentence = sentences[i]
        if encoding.used < encoding.total:
            continue
        W = len(sentence.words)
        words = merge_pieces(encoding.weights, piece_owners(encoding, sentence.spans), W)
        words.diagonal(dim1=-2, dim2=-1).fill_(-1)
        found.append(words.argmax(-1) + N)
        starts[i] = N
        N += W
    choices = torch.cat(found, dim=-1) if found else torch.empty(*shape, 0, dtype=torch.long)
    return MostAttended(choices, starts)


def _encoded(encoder: Encoder, sentences: Sequence[Sentence]):
    """(number, encoding) of each sentence, short ones first: little padding, little memory."""
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i].text))
    for at in range(0, len(order), BATCH):
        numbers = order[at : at + BATCH]
        yield from zip(
            numbers, encoder.encode_batch([sentences[i].text for i in numbers]), strict=True
        )
