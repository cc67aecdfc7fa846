"""The pages beside the lessons: their links, minutes, commands and quotations are true."""

import json
import re
from pathlib import Path

import pytest

from helpers import contents, texts
from helpers.checks import exercises
from helpers.quiz.marking import quiz_ids
from launcher.cli import COMMANDS

PROJECT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "README.es.md", "CONTRIBUTING.md", "docs/teaching.md", "docs/teaching.es.md")
TEACHING = {"en": "docs/teaching.md", "es": "docs/teaching.es.md"}
README = {"en": "README.md", "es": "README.es.md"}


def page(name):
    return (PROJECT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    links = re.findall(r"\]\(([^)#]+)\)", page(name))
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
