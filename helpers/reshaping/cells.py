"""A small tensor laid out cell by cell, for the live view and the still figure alike."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from ..palette import head_colour
from ..texts import t
from .routes import Stop, memory_of, places_of

WIDEST = 12  # columns of cells that stand beside one another
TX = "explorer_reshape.cells"
DARK, LIGHT = "#000000", "#ffffff"


@dataclass(frozen=True)
class Cell:
    """One cell. `key` is the same wherever the same number stands; `place`: where in memory.

    `heads`: the head its number belongs to; for scores those of the query's and the key's row.
    """

    key: int
    text: str
    row: int
    group: int
    column: int
    heads: tuple[int, ...]
    marked: bool
    spoken: str


@dataclass(frozen=True)
class CellTable:
    """Cells in rows, the rows cut into groups: heads, where the tensor has an axis of heads.

    `frames`: "rows" where the token is the outer axis, "groups" where the head is.
    `row_axis`, `column_axis`: symbols; `names`: what the three axes are called in words.
    """

    rows: int
    groups: int
    columns: int
    frames: str
    row_axis: str
    column_axis: str
    names: dict[str, str]
    cells: list[Cell]
    left_out: str


@dataclass(frozen=True)
class Strip:
    """The row of numbers in memory, and the order in which a tensor reads it.

    `jumps[i]`: between reading number i and the one before it, memory was left out or gone back.
    """

    memory: list[int]
    reading: list[int]
    jumps: list[bool]
    words: str


def ink_on(colour: str) -> str:
    """Black or white, whichever reads better on the colour (WCAG 2.1 relative luminance)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return LIGHT if (1.05 / (luminance + 0.05)) > ((luminance + 0.05) / 0.05) else DARK


def head_inks(num_heads: int) -> list[tuple[str, str]]:
    """(colour, colour of the number on it) of each head."""
    return [(head_colour(i), ink_on(head_colour(i))) for i in range(num_heads)]


def head_of(number: int, d_model: int, d_k: int) -> int:
    """The head that a number belongs to: numbers count on along features, then tokens."""
    return number % d_model // d_k


def row_words(first: int, d_k: int) -> str:
    """ "[6, 7, 8]": the d_k numbers from `first` on, cut after six."""
    shown = ", ".join(str(first + i) for i in range(min(d_k, 6)))
    return f"[{shown}{', …' if d_k > 6 else ''}]"


def table_of(stop: Stop, sizes: dict[str, int], marks: Tensor | None) -> CellTable:
    """The tensor of a stop as cells. `sizes`: {"T", "H", "d_k", "d_model"}; marks as numbers."""
    if stop.symbols[-1] == "d_model":
        return _flat_table(stop, sizes, marks)
    if stop.symbols[-2:] == ("T", "T"):
        return _scores_table(stop, sizes, marks)
    return _heads_table(stop, sizes, marks)


def _number(number: int, at: tuple[int, int, int], sizes, marked: bool, spoken: str) -> Cell:
    head = head_of(number, sizes["d_model"], sizes["d_k"])
    return Cell(number, str(number), *at, (head,), marked, _marked(spoken, marked))


def _marked(spoken: str, marked: bool) -> str:
    return t(f"{TX}.marked", spoken=spoken) if marked else spoken


def _names(row: str, column: str) -> dict[str, str]:
    corner = f"{TX}.corner"
    return {
        "group": t(f"{corner}.H"),
        "row": t(f"{corner}.{row}"),
        "column": t(f"{corner}.{column}"),
    }


def _flat_table(stop: Stop, sizes, marks) -> CellTable:
    T, d_model = sizes["T"], sizes["d_model"]
    numbers, places = stop.numbers[0].tolist(), places_of(stop.numbers)[0].tolist()
    cells = []
    for token in range(T):
        for feature in range(d_model):
            number = numbers[token][feature]
            marked = marks is not None and bool(marks[0, token, feature])
            values = {"number": number, "place": places[token][feature]}
            spoken = t(f"{TX}.spoken_tokens", token=token, feature=feature, **values)
            cells.append(_number(number, (token, 0, feature), sizes, marked, spoken))
    return CellTable(
        T, 1, d_model, "rows", "T", "d_model", _names("T", "d_model"), cells, left_out=""
    )


def _heads_table(stop: Stop, sizes, marks) -> CellTable:
    T, H, d_k = sizes["T"], sizes["H"], sizes["d_k"]
    by_head = stop.symbols[1] == "H"

    def at_head(tensor: Tensor) -> list:  # (H, T, d_k), whichever comes first
        return (tensor if by_head else tensor.transpose(1, 2))[0].tolist()

    numbers, places = at_head(stop.numbers), at_head(places_of(stop.numbers))
    marked = at_head(marks) if marks is not None else None
    cells = []
    for token in range(T):
        for head in range(H):
            for feature in range(d_k):
                number, place = (x[head][token][feature] for x in (numbers, places))
                values = {"head": head, "token": token, "feature": feature}
                spoken = t(f"{TX}.spoken_heads", number=number, place=place, **values)
                mark = marked is not None and marked[head][token][feature]
                cells.append(_number(number, (token, head, feature), sizes, mark, spoken))
    frames = "groups" if by_head else "rows"
    return CellTable(T, H, d_k, frames, "T", "d_k", _names("T", "d_k"), cells, left_out="")


def _scores_table(stop: Stop, sizes, marks) -> CellTable:
    T, H, d_k, d_model = (sizes[name] for name in ("T", "H", "d_k", "d_model"))
    shown = min(H, max(1, WIDEST // T))
    codes = stop.numbers[0].tolist()
    cells = []
    for query in range(T):
        for head in range(shown):
            for key in range(T):
                firsts = divmod(codes[head][query][key], T * d_model)
                rows = pair_words(*firsts, d_k)
                spoken = t(f"{TX}.spoken_scores", head=head, i=query, j=key, rows=rows)
                mark = marks is not None and bool(marks[0, head, query, key])
                cells.append(
                    Cell(
                        (head * T + query) * T + key,
                        "·".join(str(first // d_model) for first in firsts),
                        query, head, key,
                        tuple(head_of(first, d_model, d_k) for first in firsts),
                        mark,
                        _marked(spoken, mark),
                    )
                )  # fmt: skip
    left_out = ""
    if shown < H:
        words = "one_more" if shown == 1 else "more"
        left_out = t(f"{TX}.{words}", last=shown - 1, H=H)
    names = _names("query", "key")
    return CellTable(T, shown, T, "groups", "T", "T", names, cells, left_out)


def pair_words(query_first: int, key_first: int, d_k: int) -> str:
    """ "[6, 7, 8] and [12, 13, 14]" in the reader's language."""
    return t(f"{TX}.rows", a=row_words(query_first, d_k), b=row_words(key_first, d_k))


def strip_of(stop: Stop) -> Strip | None:
    """The row of memory below a tensor of numbers; None for scores."""
    if stop.symbols[-2:] == ("T", "T"):
        return None
    places = places_of(stop.numbers).flatten().tolist()
    jumps = [False, *(b != a + 1 for a, b in zip(places, places[1:], strict=False))]
    n = sum(jumps)
    words = t(f"{TX}.{'no_jump' if n == 0 else 'one_jump' if n == 1 else 'jumps'}", n=n)
    return Strip(memory_of(stop.numbers), stop.numbers.flatten().tolist(), jumps, words)


def row_names(table: CellTable) -> Sequence[str]:
    """ "token 0", "token 1", … or "query 0", …"""
    return [t(f"{TX}.row", name=table.names["row"], index=i) for i in range(table.rows)]
