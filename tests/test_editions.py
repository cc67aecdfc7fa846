"""C42: two editions that teach the same thing, and a tool that loses nobody's Spanish text."""

import re
from collections import Counter

import pytest
import sample_lesson as sample
from nbformat.v4 import new_code_cell, new_markdown_cell

from tools.editions import UNTRANSLATED, carry, differences, remembered, source_hash
from tools.ids import give_ids
from tools.lessons import lessons, read
from tools.rules import prose
from tools.rules.outputs import outputs_of

PATHS = lessons()
each_lesson = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def in_spanish(path):
    return path.parent.parent / "es" / path.name


# The lessons ------------------------------------------------------------------------------


def test_c42_both_editions_have_the_same_lessons():
    assert PATHS, "no lesson was found: nothing was compared"
    assert [p.name for p in PATHS] == [p.name for p in lessons(language="es")]


@each_lesson
def test_c42_spanish_lesson_is_the_english_one(path):
    assert differences(read(path), read(in_spanish(path))) == [], path.stem


@each_lesson
def test_c42_save_has_nothing_left_to_do(path):
    _, report = carry(read(path), read(in_spanish(path)))
    assert (report.changes, report.open_cells, report.lost) == ([], {}, [])


@each_lesson
def test_c42_code_shown_in_text_cells_is_the_same(path):
    books = [read(path), read(in_spanish(path))]
    blocks = [{cell.id: prose.code_blocks(cell.source) for cell in b.cells} for b in books]
    assert without_comments(blocks[0]) == without_comments(blocks[1])


def without_comments(blocks: dict) -> dict:
    return {name: [re.sub(r"\s*#.*", "", code) for code in codes] for name, codes in blocks.items()}


NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\w)")


@each_lesson
def test_c42_both_editions_print_the_same_numbers(path):
    found = []
    for book in (read(path), read(in_spanish(path))):
        numbers = {cell.id: Counter() for cell in book.cells if cell.cell_type == "code"}
        for cell, output in outputs_of(book):
            if "NBVAL_IGNORE_OUTPUT" in cell.source:
                continue  # times: no two runs print the same
            text = output.get("text", "") + output.get("data", {}).get("text/plain", "")
            numbers[cell.id].update(NUMBER.findall(text))
        found.append(numbers)
    assert found[0] == found[1]


# The comparison can fail ------------------------------------------------------------------


def pair():
    return sample.english(), sample.spanish()


def test_a_faithful_pair_has_no_differences():
    assert differences(*pair()) == []
    _, report = carry(*pair())
    assert (report.changes, report.open_cells, report.lost) == ([], {}, [])


def test_c42_code_line_changed_in_english_only_names_the_cell():
    en, es = pair()
    sample.cell(en, "widths").source += "\nprint(H)"
    assert differences(en, es) == ["widths: the code differs"]


def test_c42_comment_changed_in_english_only_names_the_cell():
    en, es = pair()
    sample.cell(en, "widths").source += "  # d_k"
    assert differences(en, es) == ["widths: the code differs"]


def test_c42_prose_changed_in_english_only_makes_the_spanish_cell_stale():
    en, es = pair()
    sample.cell(en, "split").source += " And more."
    assert differences(en, es) == ["split: stale, the English text has changed since"]
    _, report = carry(en, es)
    assert report.open_cells == {"split": "the English text has changed since"}


def test_c42_hash_that_matches_no_cell_fails():
    en, es = pair()
    sample.cell(es, "split").metadata["course"]["source_hash"] = "0123456789abcdef"
    assert differences(en, es) == ["split: stale, the English text has changed since"]
    del sample.cell(es, "split").metadata["course"]
    assert differences(en, es) == ["split: the Spanish text was never confirmed"]
    other = source_hash(sample.cell(en, "title").source)
    sample.cell(es, "split").metadata["course"] = {"source_hash": other}
    assert differences(en, es) == ["split: the Spanish text renders another cell"]


def test_c42_comparison_that_compared_no_text_fails():
    en, es = pair()
    for book in (en, es):
        book.cells = [cell for cell in book.cells if cell.cell_type == "code"]
    assert differences(en, es) == ["no Spanish text cell was held against an English one"]


def test_english_text_in_the_spanish_edition_is_not_translated():
    en, es = pair()
    sample.cell(es, "split").source = sample.cell(en, "split").source
    assert differences(en, es) == ["split: not translated"]
    for book in (en, es):
        sample.cell(book, "split").source = "$$d_k = d_{model} / H$$\n\n`split_heads`"
    sample.cell(es, "split").metadata["course"]["source_hash"] = source_hash(en.cells[2].source)
    assert differences(en, es) == []


@pytest.mark.parametrize(
    "change, says",
    [
        (lambda en, es: es.cells.pop(3), "widths: only in the English edition"),
        (lambda en, es: en.cells.pop(3), "widths: only in the Spanish edition"),
        (lambda en, es: es.cells.insert(0, es.cells.pop(3)), "the cells stand in another order"),
        (
            lambda en, es: sample.cell(es, "widths").update(cell_type="markdown"),
            "widths: code in English, markdown in Spanish",
        ),
        (
            lambda en, es: sample.cell(en, "start").update(source=es.cells[1].source),
            "start: the English edition starts in Spanish",
        ),
        (
            lambda en, es: sample.cell(es, "start").update(source=en.cells[1].source),
            "start: the code differs",
        ),
    ],
)
def test_c42_other_cells_than_in_english_are_named(change, says):
    en, es = pair()
    change(en, es)
    assert differences(en, es) == [says]


# What is carried over ---------------------------------------------------------------------


def test_code_goes_to_spanish_with_its_own_language_line():
    en, es = pair()
    sample.cell(en, "start").source += "\nprint(1)"
    sample.cell(en, "widths").source = "print(2)"
    made, report = carry(en, es)
    assert sample.cell(made, "start").source.endswith('start_lesson("es")\nprint(1)')
    assert sample.cell(en, "start").source.endswith('start_lesson("en")\nprint(1)')
    assert sample.cell(made, "widths").source == "print(2)"
    assert differences(en, made) == []
    assert [line.split(":")[0] for line in report.changes] == ["start", "widths"]


def test_spanish_prose_stays_and_its_hash_is_never_refreshed_unasked():
    en, es = pair()
    before = remembered(sample.cell(es, "split"))
    sample.cell(en, "split").source += " And more."
    made, _ = carry(en, es)
    assert sample.cell(made, "split").source == sample.SPANISH["split"]
    assert remembered(sample.cell(made, "split")) == before
    made, report = carry(en, es, translated=["title"])
    assert list(report.open_cells) == ["split"]
    made, report = carry(en, es, translated=["split"])
    assert report.open_cells == {} and differences(en, made) == []


def test_a_new_text_waits_as_a_placeholder_until_it_is_written():
    en, es = pair()
    en.cells.insert(3, new_markdown_cell("A new paragraph about heads.", id="news"))
    made, report = carry(en, es, translated=["all"])  # nobody can confirm what is not there
    assert report.open_cells == {"news": "not translated yet"}
    assert UNTRANSLATED in sample.cell(made, "news").source
    assert differences(en, made) == ["news: not translated"]
    sample.cell(made, "news").source = "Un párrafo nuevo sobre cabezas."
    assert differences(en, made) == ["news: the Spanish text was never confirmed"]
    made, report = carry(en, made, translated=["news"])
    assert differences(en, made) == [] and report.open_cells == {}


def test_a_placeholder_shows_the_english_text_of_today():
    en, es = pair()
    en.cells.insert(3, new_markdown_cell("The first wording here.", id="news"))
    made, _ = carry(en, es)
    sample.cell(en, "news").source = "The second wording here."
    made, _ = carry(en, made)
    assert "second" in sample.cell(made, "news").source
    assert "first" not in sample.cell(made, "news").source


def test_a_new_formula_needs_no_translation():
    en, es = pair()
    en.cells.insert(3, new_markdown_cell("$$QK^T$$", id="formula"))
    made, report = carry(en, es)
    assert report.open_cells == {} and differences(en, made) == []


def test_what_leaves_the_spanish_edition_is_reported_word_for_word():
    en, es = pair()
    en.cells.pop(2)
    sample.cell(es, "widths").source = "print('mi código')"
    made, report = carry(en, es)
    assert "split: taken out of the Spanish edition" in report.changes
    assert any(sample.SPANISH["split"] in item for item in report.lost)
    assert any("print('mi código')" in item for item in report.lost)
    assert differences(en, made) == []


def test_a_text_cell_that_became_code_keeps_its_old_words_in_the_report():
    en, es = pair()
    en.cells[2] = new_code_cell("print(3)", id="split")
    made, report = carry(en, es)
    assert differences(en, made) == []
    assert any(sample.SPANISH["split"] in item for item in report.lost)


def test_moved_cells_move_with_their_text():
    en, es = pair()
    en.cells.insert(0, en.cells.pop(2))
    made, report = carry(en, es)
    assert made.cells[0].source == sample.SPANISH["split"]
    assert report.lost == [] and report.open_cells == {}
    assert report.changes == ["cells of the Spanish edition change places"]


def test_a_cell_that_got_another_id_keeps_its_spanish_text():
    en, es = pair()
    en.cells.append(en.cells.pop(2))
    en.cells[-1]["id"] = "splitting-again"
    sample.cell(en, "widths")["id"] = "two-widths"
    made, report = carry(en, es)
    assert sample.cell(made, "splitting-again").source == sample.SPANISH["split"]
    assert report.lost == [] and report.open_cells == {} and differences(en, made) == []


def test_an_edition_written_apart_is_paired_by_place_once():
    en, es = pair()
    for number, cell in enumerate(es.cells):
        cell["id"] = f"{number:08x}"
        cell.metadata = {}
    made, report = carry(en, es)
    assert [cell.id for cell in made.cells] == [cell.id for cell in en.cells]
    assert sample.cell(made, "split").source == sample.SPANISH["split"]
    assert set(report.open_cells) == set(sample.SPANISH) and report.lost == []
    made, report = carry(en, made, translated=["all"])
    assert differences(en, made) == []


def test_carrying_twice_changes_nothing_more():
    en, es = pair()
    sample.cell(en, "split").source += " And more."
    en.cells.append(new_markdown_cell("A last word here.", id="last"))
    first, _ = carry(en, es)
    second, report = carry(en, first)
    assert second == first and report.changes == [] and set(report.open_cells) == {"split", "last"}


# Ids --------------------------------------------------------------------------------------


def test_made_up_missing_and_doubled_ids_become_names_that_say_where():
    en, es = pair()
    names = [cell.id for cell in en.cells]
    for book in (en, es):
        book.cells[3]["id"] = "1a2b3c4d"
        book.cells[4]["id"] = "0b1c2d3e-4f50-4a6b-8c7d-9e0f1a2b3c4d"
    del en.cells[5]["id"]
    en.cells[6]["id"] = "title"
    en.cells[8]["id"] = "with a blank"
    made, report = carry(en, es)
    assert [cell.id for cell in en.cells] == [
        *names[:3],
        "splitting-print",
        "splitting-explorer",
        "exercise-1",
        "exercise-1-code",
        "check",
        "exercise-1-text",
    ]
    assert "1a2b3c4d: now called splitting-print" in report.changes
    assert [c.id for c in made.cells] == [c.id for c in en.cells]
    assert sample.cell(made, "splitting-print").source == sample.ENGLISH["widths"]


def test_ids_stay_once_given_and_old_formats_are_raised():
    en = sample.english()
    en.nbformat_minor = 4
    for cell in en.cells:
        del cell["id"]
    give_ids(en)
    names = [cell.id for cell in en.cells]
    assert len(set(names)) == len(names) and (en.nbformat, en.nbformat_minor) == (4, 5)
    en.cells[2].source = "## Another heading\n\nOther words."
    assert give_ids(en) == {} and [cell.id for cell in en.cells] == names
