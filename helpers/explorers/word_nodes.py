"""A sentence's words as the nodes of graphs: pieces merged, special tokens told apart."""

from dataclasses import dataclass

import torch

from ..heads import merge_pieces, piece_owners
from ..treebank import Sentence, own_sentences
from .encoder import MOST_TOKENS


@dataclass(frozen=True, repr=False, eq=False)
class Words:
    """A sentence's N nodes: words, and [CLS] and [SEP]; pieces of a word are one node.

    `weights` (L, H, N, N), merged as in `heads.merge_pieces`; rows still sum to 1.
    `sentence` holds its tree where the course has one.
    """

    labels: list[str]
    special: list[bool]
    weights: torch.Tensor
    sentence: Sentence | None
    notice: str


def words_of(encoder, text: str) -> Words:
    """Run the sentence and merge its pieces into words; its tree where the course has one."""
    sentence = _trees().get("".join(text.split()))
    encoding = encoder.encode(text if sentence is None else sentence.text, max_tokens=MOST_TOKENS)
    owners = [token.word_index for token in encoding.tokens]
    if sentence is not None:
        owners = piece_owners(encoding, sentence.spans).tolist()
    labels, special, nodes = [], [], []
    before = None
    for token, owner in zip(encoding.tokens, owners, strict=True):
        if token.is_special or owner != before:
            labels.append(token.piece if token.is_special else "")
            special.append(token.is_special)
        if not token.is_special:
            labels[-1] += token.text
        nodes.append(len(labels) - 1)
        before = None if token.is_special else owner
    weights = merge_pieces(encoding.weights, torch.tensor(nodes), len(labels))
    return Words(labels, special, weights, sentence, encoding.notice)


def _trees() -> dict[str, Sentence]:
    """The course's sentences by their letters, so that spaces before a full stop do not matter."""
    return {"".join(sentence.words): sentence for sentence in own_sentences()}
