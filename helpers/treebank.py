"""Sentences with their dependency trees, read from CoNLL-U files.

The format: https://universaldependencies.org/format.html; the relations: Universal
Dependencies 2 (de Marneffe et al. 2021, Computational Linguistics 47(2)).
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .texts import t

COLUMNS = 10
OWN_SENTENCES = Path(__file__).parent / "data" / "sentences.conllu"


class TreebankError(ValueError):
    """A file that is not CoNLL-U, or a tree that is none; its text names file and line."""


@dataclass(frozen=True)
class Sentence:
    """W words and the tree over them, each list W long.

    `heads[i]` is the index of the word that word i depends on, from 0, and -1 for the root;
    `relations[i]` names that dependency as the file does ("nsubj:pass"); `upos[i]` is the
    word's class. `text` is the words with one space between them, so that every word has
    its own characters: `spans[i]` are their start and end.
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    upos: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def spans(self) -> list[tuple[int, int]]:
        spans, start = [], 0
        for word in self.words:
            spans.append((start, start + len(word)))
            start += len(word) + 1
        return spans


def read_treebank(path: str | Path) -> list[Sentence]:
    """All sentences of a CoNLL-U file, in order.

    Lines of multiword tokens ("1-2") and of empty nodes ("1.1") are passed over: the tree
    stands on the words. Raises `TreebankError` with the file's name and the line's number.
    """
    path = Path(path).expanduser()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise TreebankError(t("treebank.not_utf8", file=path.name)) from error
    except OSError as error:
        raise TreebankError(t("treebank.no_file", file=str(path))) from error
    sentences, rows = [], []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if line.startswith("#"):
            continue
        if line.strip():
            row = _read_line(line, number, path.name)
            if row is not None:
                rows.append((number, *row))
        elif rows:
            sentences.append(_sentence(rows, path.name))
            rows = []
    if not sentences:
        raise TreebankError(t("treebank.empty", file=path.name))
    return sentences


@cache
def own_sentences() -> tuple[Sentence, ...]:
    """The sentences written for this course, read once."""
    return tuple(read_treebank(OWN_SENTENCES))


def _read_line(line: str, number: int, file: str) -> tuple | None:
    """(id, word, head, relation, upos) of a word's line; None for lines that are no word."""
    cells = line.split("\t")
    where = {"file": file, "line": number}
    if len(cells) != COLUMNS:
        raise TreebankError(t("treebank.columns", have=len(cells), want=COLUMNS, **where))
    id, word, _, upos, _, _, head, relation, _, _ = cells
    if id.replace("-", "").replace(".", "").isdecimal() and not id.isdecimal():
        return None
    if not id.isdecimal():
        raise TreebankError(t("treebank.number", have=id, **where))
    if not head.isdecimal():
        raise TreebankError(t("treebank.head", have=head, word=word, **where))
    return int(id), word, int(head), relation, upos


def _sentence(rows: list[tuple], file: str) -> Sentence:
    """The sentence of these lines, when they are a tree: one root, no cycle."""
    numbers, ids, words, heads, relations, upos = zip(*rows, strict=True)
    first = {"file": file, "line": numbers[0]}
    for place, (number, id, word, head) in enumerate(
        zip(numbers, ids, words, heads, strict=True), start=1
    ):
        where = {"file": file, "line": number}
        if id != place:
            raise TreebankError(t("treebank.order", have=id, want=place, **where))
        if head > len(rows):
            raise TreebankError(
                t("treebank.no_head", have=head, word=word, count=len(rows), **where)
            )
    if (roots := heads.count(0)) != 1:
        raise TreebankError(t("treebank.roots", have=roots, **first))
    for number, word, head in zip(numbers, words, heads, strict=True):
        steps = 0
        while head and steps <= len(rows):
            head, steps = heads[head - 1], steps + 1
        if head:
            raise TreebankError(t("treebank.cycle", word=word, file=file, line=number))
    return Sentence(words, tuple(head - 1 for head in heads), relations, upos)
