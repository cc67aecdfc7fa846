"""Two editions, one course: same cells and code, prose of its own.

A Spanish text cell keeps, in `metadata.course.source_hash`, a hash of the English cell it
renders. The tool never refreshes that hash by itself: an author says that the Spanish text is
up to date again (`--translated`).
"""

import copy
import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field

import nbformat
from nbformat import NotebookNode

from .ids import give_ids

LANGUAGE_LINE = re.compile(r'^start_lesson\("(?:en|es)"\)$', re.MULTILINE)
UNTRANSLATED = "<!-- sin traducir / not translated yet -->"


@dataclass
class Report:
    """What an author has to know about one lesson."""

    changes: list[str] = field(default_factory=list)  # what will differ in the files
    open_cells: dict[str, str] = field(default_factory=dict)  # Spanish text cell -> why it is open
    lost: list[str] = field(default_factory=list)  # what leaves the Spanish edition, word for word


def source_hash(source: str) -> str:
    """What a Spanish cell remembers of its English one. Blanks at the edges do not count."""
    lines = [line.rstrip() for line in source.strip().splitlines()]
    return hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()[:16]


def remembered(cell: NotebookNode) -> str | None:
    """The hash of the English text this Spanish cell was written for."""
    return cell.metadata.get("course", {}).get("source_hash")


def in_language(source: str, language: str) -> str:
    """The same code with the language line in that language."""
    return LANGUAGE_LINE.sub(f'start_lesson("{language}")', source)


def words_of(source: str) -> list[str]:
    """The words of a text cell that ask for translation: no code, formulas, links or tags."""
    text = re.sub(r"```.*?```|~~~.*?~~~|<!--.*?-->", " ", source, flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]*\$", " ", text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)|<[^>]*>|https?://\S+", " ", text)
    return re.findall(r"[^\W\d_]{4,}", text)


def is_untranslated(spanish: str, english: str) -> bool:
    """The placeholder, or the English text word for word (a formula alone may be the same)."""
    same = spanish.strip() == english.strip() and bool(words_of(english))
    return UNTRANSLATED in spanish or same


def carry(english: NotebookNode, spanish: NotebookNode | None, translated=()) -> tuple:
    """The Spanish edition of these English cells, and a Report.

    translated: ids of text cells whose Spanish text an author confirms ("all": every one).
    `english` is given ids and its own language line in place; `spanish` is left alone.
    """
    report = Report()
    renamed = give_ids(english)
    report.changes += [f"{old}: now called {new}" for old, new in renamed.items()]
    spanish = copy.deepcopy(spanish) if spanish is not None else nbformat.v4.new_notebook()
    for cell in spanish.cells:
        if cell.get("id") in renamed:
            cell["id"] = renamed[cell.id]
    partners = _partners(english, spanish)
    cells = []
    for cell in english.cells:
        partner = partners.get(cell.id)
        if cell.cell_type == "markdown":
            confirmed = "all" in translated or cell.id in translated
            cells.append(_text_cell(cell, partner, confirmed, report))
        else:
            cell.source = in_language(cell.source, "en")
            cells.append(_code_cell(cell, partner, report))
    _account_for(spanish, partners, report)
    spanish.cells = cells
    spanish.nbformat, spanish.nbformat_minor = 4, english.nbformat_minor
    return spanish, report


def _partners(english: NotebookNode, spanish: NotebookNode) -> dict[str, NotebookNode]:
    """English id -> the Spanish cell that renders it.

    The one with the same id and type; else one that nobody claims and that was written for
    this very text, or holds this very code (a cell pasted elsewhere gets another id). An
    edition that this tool never saved, with as many cells of the same types, is paired by
    place, once.
    """
    kinds = [cell.cell_type for cell in english.cells]
    ids = {cell.id for cell in english.cells}
    saved = any(remembered(cell) for cell in spanish.cells)
    strangers = [cell for cell in spanish.cells if cell.get("id") not in ids]
    if strangers and not saved and kinds == [cell.cell_type for cell in spanish.cells]:
        return dict(zip([cell.id for cell in english.cells], spanish.cells, strict=True))
    there = {(cell.get("id"), cell.cell_type): cell for cell in reversed(spanish.cells)}
    pairs = {}
    for cell in english.cells:
        partner = there.get((cell.id, cell.cell_type))
        if partner is None:
            partner = next((other for other in strangers if _renders(other, cell)), None)
            strangers = [other for other in strangers if other is not partner]
        if partner is not None:
            pairs[cell.id] = partner
    return pairs


def _renders(spanish: NotebookNode, english: NotebookNode) -> bool:
    if spanish.cell_type != english.cell_type:
        return False
    if english.cell_type == "markdown":
        return remembered(spanish) == source_hash(english.source)
    return spanish.source == in_language(english.source, "es")


def _code_cell(cell: NotebookNode, partner: NotebookNode | None, report: Report) -> NotebookNode:
    fresh = copy.deepcopy(cell)
    fresh.source = in_language(cell.source, "es")
    if cell.cell_type == "code":
        fresh.outputs = partner.outputs if partner is not None else []
    if partner is None or partner.source != fresh.source:
        report.changes.append(f"{cell.id}: code carried into the Spanish edition")
    if partner is not None and partner.source.strip():
        if in_language(partner.source, "es") != fresh.source:
            report.lost.append(f"{cell.id}, its code before:\n{partner.source}")
    return fresh


def _text_cell(
    cell: NotebookNode, partner: NotebookNode | None, confirmed: bool, report: Report
) -> NotebookNode:
    fresh = copy.deepcopy(cell)
    fresh.pop("attachments", None)
    same_for_all = not words_of(cell.source)
    known = remembered(partner) if partner is not None else None
    if partner is None:
        fresh.source = cell.source if same_for_all else _placeholder(cell.source)
        report.changes.append(f"{cell.id}: new text cell")
        known = source_hash(cell.source) if same_for_all else None
    else:
        fresh.source = partner.source
        if UNTRANSLATED in partner.source:  # keep showing what is to be translated now
            fresh.source = _placeholder(cell.source)
        if "attachments" in partner:
            fresh["attachments"] = partner.attachments
    if is_untranslated(fresh.source, cell.source):
        report.open_cells[cell.id] = "not translated yet"
        known = None
    elif confirmed:
        known = source_hash(cell.source)
    elif known is None:
        report.open_cells[cell.id] = "this Spanish text was never confirmed"
    elif known != source_hash(cell.source):
        report.open_cells[cell.id] = "the English text has changed since"
    if known is not None:
        fresh.metadata.setdefault("course", NotebookNode())["source_hash"] = known
    return fresh


def _placeholder(source: str) -> str:
    return f"{UNTRANSLATED}\n\n> **Sin traducir.**\n\n{source}"


def _account_for(spanish: NotebookNode, partners: dict, report: Report) -> None:
    """Nothing leaves the Spanish edition unseen."""
    used = [id(cell) for cell in partners.values()]
    for cell in spanish.cells:
        if id(cell) not in used:
            name = cell.get("id", "a cell without id")
            report.changes.append(f"{name}: taken out of the Spanish edition")
            if cell.source.strip() and UNTRANSLATED not in cell.source:
                report.lost.append(f"{name}, taken out:\n{cell.source}")
    if used != [id(cell) for cell in spanish.cells if id(cell) in used]:
        report.changes.append("cells of the Spanish edition change places")


# What the tests ask -----------------------------------------------------------------------


def differences(english: NotebookNode, spanish: NotebookNode) -> list[str]:
    """Why these two are not the same lesson, each line naming the cell; empty when they are."""
    ids = [Counter(cell.get("id") for cell in book.cells) for book in (english, spanish)]
    found = [f"{name}: only in the English edition" for name in ids[0] - ids[1]]
    found += [f"{name}: only in the Spanish edition" for name in ids[1] - ids[0]]
    if found:
        return found
    if [cell.get("id") for cell in english.cells] != [cell.get("id") for cell in spanish.cells]:
        return ["the cells stand in another order"]
    hashes = {source_hash(c.source) for c in english.cells if c.cell_type == "markdown"}
    texts = 0
    for here, there in zip(english.cells, spanish.cells, strict=True):
        if here.cell_type != there.cell_type:
            found.append(f"{here.id}: {here.cell_type} in English, {there.cell_type} in Spanish")
        elif here.cell_type == "markdown":
            texts += 1
            found += [f"{here.id}: {why}" for why in _text_problems(here, there, hashes)]
        else:
            if in_language(here.source, "es") != there.source:
                found.append(f"{here.id}: the code differs")
            if in_language(here.source, "en") != here.source:
                found.append(f"{here.id}: the English edition starts in Spanish")
    if texts == 0:
        found.append("no Spanish text cell was held against an English one")
    return found


def _text_problems(here: NotebookNode, there: NotebookNode, hashes: set[str]) -> list[str]:
    if is_untranslated(there.source, here.source):
        return ["not translated"]
    known = remembered(there)
    if known == source_hash(here.source):
        return []
    if known is None:
        return ["the Spanish text was never confirmed"]
    if known in hashes:
        return ["the Spanish text renders another cell"]
    return ["stale, the English text has changed since"]
