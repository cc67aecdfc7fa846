"""What the encoder's tokenizer makes of a text: pieces, where each stood, what it stands for.

WordPiece (Wu et al. 2016, arXiv:1609.08144, section 4.1) cuts a word it does not know into
pieces it knows; `##` marks a piece that continues a word.
"""

from dataclasses import dataclass

from ..texts import t

LONGEST_UNKNOWN = 12  # characters of an unknown piece's own text that a label shows


@dataclass(frozen=True)
class Token:
    """One piece. `start` and `end` count characters of the text, so text[start:end] is `text`.

    `is_special`: [CLS], [SEP] and their like, not part of a word; `typed_special`: one that
    stood in the text itself. `is_unknown`: the vocabulary has no piece for `text`.
    `word_index`: pieces of one word share it; None for what the tokenizer added.
    `id`: the piece's row in the table of word embeddings.
    """

    piece: str
    text: str
    start: int
    end: int
    is_special: bool
    typed_special: bool
    is_unknown: bool
    word_index: int | None
    id: int

    @property
    def label(self) -> str:
        """What an attention map shows: the piece, an unknown one with the text it stands for."""
        if not self.is_unknown:
            return self.piece
        shown = self.text[:LONGEST_UNKNOWN]
        return f"{self.piece} {shown}{'…' if shown != self.text else ''}"


def clean(text: str) -> str:
    """The text with lone surrogates, which UTF-8 cannot hold, as "?"; as long as before."""
    if not isinstance(text, str):
        raise TypeError(t("encoder.not_text", have=type(text).__name__))
    return text.encode("utf-8", "replace").decode("utf-8")


def read_tokens(tokenizer, text: str) -> list[Token]:
    """All tokens of the text, [CLS] first and [SEP] last; nothing padded, nothing cut."""
    text = clean(text)
    encoding = tokenizer.encode(text)
    added = {id for id, token in tokenizer.get_added_tokens_decoder().items() if token.special}
    unknown = getattr(tokenizer.model, "unk_token", None)
    columns = (
        encoding.tokens,
        encoding.ids,
        encoding.offsets,
        encoding.word_ids,
        encoding.special_tokens_mask,
    )
    tokens = []
    for piece, id, (start, end), word, by_tokenizer in zip(*columns, strict=True):
        own = text[start:end]
        # An unknown word has the id of [UNK] as well, but it is no special token: its text differs.
        typed = not by_tokenizer and id in added and own == piece
        tokens.append(
            Token(
                piece=piece,
                text=own,
                start=start,
                end=end,
                is_special=bool(by_tokenizer) or typed,
                typed_special=typed,
                is_unknown=piece == unknown and not typed,
                word_index=word,
                id=id,
            )
        )
    return tokens


def cut(tokens: list[Token], limit: int) -> list[Token]:
    """The first tokens and the closing [SEP], `limit` in all; all of them when they fit."""
    return tokens if len(tokens) <= limit else [*tokens[: limit - 1], tokens[-1]]


def notice(text: str, tokens: list[Token], total: int) -> str:
    """What a reader should know about these tokens, in the current language; '' when nothing."""
    sentences = []
    if len(tokens) < total:
        last = clean(text)[: tokens[-2].end].split()[-1][-20:]
        sentences.append(t("encoder.cut", used=len(tokens), total=total, last=last))
    typed = dict.fromkeys(token.piece for token in tokens if token.typed_special)
    if typed:
        key = "encoder.typed_one" if len(typed) == 1 else "encoder.typed_many"
        sentences.append(t(key, pieces=", ".join(typed)))
    return " ".join(sentences)
