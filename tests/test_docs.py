"""The pages beside the lessons: their links, minutes, commands and quotations are true."""

import importlib.util
import json
import re
from pathlib import Path

import nbformat
import pytest

from helpers import contents, texts
from helpers.checks import exercises
from helpers.progress.place import NAME, NAME_AT_HOME
from helpers.quiz.marking import quiz_ids
from launcher import set_up
from launcher.cli import COMMANDS
from tools.rules.prose import headings

PROJECT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "README.es.md", "CONTRIBUTING.md", "docs/teaching.md", "docs/teaching.es.md")
TEACHING = {"en": "docs/teaching.md", "es": "docs/teaching.es.md"}
README = {"en": "README.md", "es": "README.es.md"}


LANGUAGES = ("en", "es")


def page(name):
    return (PROJECT / name).read_text(encoding="utf-8")


def lesson(number, language):
    return nbformat.read(PROJECT / "notebooks" / language / contents.LESSONS[number], as_version=4)


@pytest.fixture
def in_language():
    yield texts.set_language
    texts.set_language("en")


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    links = re.findall(r"\]\(([^)#]+)\)", page(name))
    links += re.findall(r'<img src="([^"]+)"', page(name))
    inner = [link for link in links if not link.startswith("http")]
    assert inner or name == "CONTRIBUTING.md"
    for link in inner:
        assert ((PROJECT / name).parent / link).exists(), link


@pytest.mark.parametrize("name", PAGES)
def test_commands_exist(name):
    asked = re.findall(r"course\.py (\w+)", page(name))
    assert asked and set(asked) <= set(COMMANDS)


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("pages", [README, TEACHING])
def test_the_table_of_lessons_is_that_of_the_lessons(pages, language):
    texts.set_language(language)
    rows = re.findall(r"(?m)^\| (\d\d) \| \[(.+?)\]\((.+?)\) \| (\d+) \|", page(pages[language]))
    assert [row[0] for row in rows] == list(contents.LESSONS)
    for number, title, link, minutes in rows:
        file = (PROJECT / pages[language]).parent / link
        assert file.resolve().parent.name == language
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        heading, *opening = "".join(cells[0]["source"]).splitlines()
        assert heading == f"# {number} · {title}"
        assert re.search(r"(\d+) minut", "\n".join(opening))[1] == minutes
    texts.set_language("en")


@pytest.mark.parametrize("language", ["en", "es"])
def test_what_a_check_says_is_quoted_as_it_says_it(language):
    texts.set_language(language)
    quoted = re.findall(r"(?m)^\| `([\w.]+)` \| \*\*(.+?)\*\*", page(TEACHING[language]))
    assert len(quoted) >= 10
    for exercise, said in quoted:
        found = exercises()[exercise]
        kinds = texts.texts_under(f"{found.topic}.kinds").values()
        assert said in {kind["title"] for kind in kinds}
    texts.set_language("en")


def test_both_languages_quote_the_same_exercises():
    quoted = [re.findall(r"(?m)^\| `([\w.]+)`", page(name)) for name in TEACHING.values()]
    assert quoted[0] == quoted[1]
    for name in TEACHING.values():
        assert set(re.findall(r'Quiz\("(\d\d)"', page(name))) <= set(quiz_ids())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_readme_says_of_a_lesson_what_its_own_map_says(language):
    row = re.compile(r"(?m)^\| (\d\d) \| \[.+?\]\(.+?\) (\| \d+ \| .+ \|)$")
    (its_map,) = [c.source for c in lesson("00", language).cells if c.get("id") == "map"]
    assert len(row.findall(its_map)) == len(contents.LESSONS)
    assert row.findall(page(README[language])) == row.findall(its_map)


@pytest.mark.parametrize("language", LANGUAGES)
def test_where_to_stop_is_a_section_and_the_answer_is_what_the_lesson_shows(language):
    rows = re.findall(
        r"(?m)^\| (\d\d) \| (\w[^|\[]+) \| [«\"].+[»\"] \| (.+) \|$", page(TEACHING[language])
    )
    assert [row[0] for row in rows] == list(contents.LESSONS)[1:]
    for number, section, answer in rows:
        book = lesson(number, language)
        assert section in [words for _, _, words in headings(book)]
        shown = [c.source for c in book.cells]
        shown += [o.text for c in book.cells for o in c.get("outputs", ()) if "text" in o]
        said = re.findall(r"\d+(?:[.,]\d+)*", "\n".join(shown).replace("16384", "16,384"))
        assert set(re.findall(r"\d+(?:[.,]\d+)*", answer)) <= set(said), number


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_lesson_asks_for_a_prediction_and_ends_with_a_question(language):
    for number in contents.LESSONS:
        words = "\n".join(c.source for c in lesson(number, language).cells)
        for asked in ("predic", {"en": "own words", "es": "con tus palabras"}[language]):
            assert asked in words.lower(), number


@pytest.mark.parametrize("language", LANGUAGES)
def test_minutes_rooms_and_names_are_those_of_the_code(language, in_language):
    in_language(language)
    teaching = page(TEACHING[language])
    minutes = re.findall(r"(?m)^\| \d\d \| \[.+?\]\(.+?\) \| (\d+) \|", teaching)
    assert f"({sum(map(int, minutes[:6]))} minut" in teaching
    for number in (set_up.ROOM_FOR_ALL, set_up.ROOM_WITH_CUDA):
        assert f"{number // set_up.GB} GB" in teaching
    first_start = re.search(r"3 (?:to|y|a) 20 minut", texts.t("launcher.set_up.missing"))[0]
    assert first_start in page(README[language])
    quoted = re.findall(r"[«\"]([^«»\"]+)[»\"], (?:and|y) ", page(README[language]))
    assert quoted == [texts.t("checks.status.not_yet")]
    assert NAME in teaching and NAME_AT_HOME in teaching


@pytest.mark.parametrize("language", LANGUAGES)
def test_menus_are_named_as_jupyterlab_names_them(language):
    """Its Spanish leaves some of them in English; the pack lists English label -> Spanish."""
    pack = importlib.util.find_spec("jupyterlab_language_pack_es_ES").submodule_search_locations[0]
    file = Path(pack) / "locale" / "es_ES" / "LC_MESSAGES" / "jupyterlab.json"
    known = json.loads(file.read_text(encoding="utf-8"))
    labels = set(known) if language == "en" else {value[0] for key, value in known.items() if key}
    teaching = page(TEACHING[language])
    menus = r"(?:Run|Kernel|File|Archivo) → (.+?)(?=[.,:]| and | y | brings| devuelve)"
    named = set(re.findall(menus, teaching)) - {"Revert Notebook to Checkpoint…"}
    assert len(named) >= 5 and named <= labels
    (died,) = [key for key in known if "appears to have died" in key]
    assert died.replace("%1", "…").rstrip(".") in teaching


def test_the_layout_names_all_that_lies_in_helpers():
    table = re.findall(r"(?m)^\| (`.+) \| .+ \|$", page("CONTRIBUTING.md"))
    named = {name.rstrip("/") for row in table for name in re.findall(r"`([^`]+)`", row)}
    named |= {part for name in named for part in Path(name).parts}
    places = [path for path in (PROJECT / "helpers").iterdir() if path.name[0] not in "._"]
    assert len(places) > 20
    assert sorted(path.name for path in places if path.name not in named) == []


def test_a_jupyter_document_has_one_name():
    pages = [page(README["es"]), page(TEACHING["es"])]
    spanish = sorted((PROJECT / "helpers" / "texts" / "es").glob("*.json"))
    pages += [file.read_text(encoding="utf-8") for file in spanish]
    pages += [cell.source for number in contents.LESSONS for cell in lesson(number, "es").cells]
    assert len(pages) > 300
    assert [text[:60] for text in pages if re.search(r"\bcuadernos?\b", text, re.I)] == []
