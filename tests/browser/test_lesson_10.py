"""Lesson 10 as a reader lives it: answer, go back to a lesson, come back tomorrow, build."""

import json

import pytest
from playwright.sync_api import expect

from helpers import contents, texts
from helpers.quiz.marking import load_questions

THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")
EXERCISE = "project-exercise-1"
LOOKED_AT = ("setup", "round-1-run", "progress-run")
RIGHT = """def cross_shapes(B, T_query, T_key, d_model, num_heads):
    d_k = d_model // num_heads
    Q, K = (B, num_heads, T_query, d_k), (B, num_heads, T_key, d_k)
    return Q, K, K, (B, num_heads, T_query, T_key), (B, T_query, d_model)"""
WRONG = """def cross_shapes(B, T_query, T_key, d_model, num_heads):
    d_k = d_model // num_heads
    Q = (B, num_heads, T_query, d_k)
    return Q, Q, Q, (B, num_heads, T_query, T_query), (B, T_query, d_model)"""


def keep_at(page, file):
    """Have the notebook's kernel keep its answers in `file`."""
    page.ask(f"__import__('os').environ.update(ATTENTION_COURSE_PROGRESS={str(file)!r})")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("progress") / "my-progress.jsonl"


@pytest.fixture(scope="module", params=["en", "es"])
def lesson(lab, new_lab_page, file, request):
    file.unlink(missing_ok=True)
    texts.set_language(request.param)
    with new_lab_page(1280, 1000) as page:
        lab.copy(f"{request.param}/01_one-head.ipynb")
        page.open(lab.copy(f"{request.param}/10_quiz-and-project.ipynb"))
        keep_at(page, file)
        if request.param == "en":
            page.run_all()
        else:
            page.run_cells(*LOOKED_AT)
        page.close_side_panel()
        yield page
    texts.set_language("en")


def asked():
    """(place in round 1, question): the first question of lesson 01 with one right option."""
    questions = [q for q in load_questions("10") if q.lesson in ("01", "02", "03")]
    return next((i, q) for i, q in enumerate(questions) if q.kind == "single")


def card(page):
    return page.output("round-1-run").locator(".mha-quiz-card").nth(asked()[0])


def choose(page, right: bool):
    """Answer it as a reader does: wrong with the mouse, right with the keys alone."""
    question = asked()[1]
    option = next(o for o in question.options if (o in question.right) == right)
    wanted = card(page).locator(f"input[value={option}]")
    if not right:
        wanted.check()
        card(page).get_by_role("button").click()
        return
    card(page).locator("input:checked").focus()
    for _ in question.options:
        if wanted.is_checked():
            break
        page.page.keyboard.press("ArrowDown")
    expect(wanted).to_be_focused()
    page.page.keyboard.press("Tab")
    expect(card(page).get_by_role("button")).to_be_focused()
    page.page.keyboard.press("Enter")


def test_c41_wrong_with_its_reason_and_the_way_back_then_right_and_counted(lesson, file):
    board = lesson.output("progress-run")
    expect(board.locator("tbody tr")).to_have_count(10)
    assert not file.exists()
    question = card(lesson)
    choose(lesson, right=False)
    expect(question.locator(".mha-quiz-form")).to_have_attribute("data-verdict", "wrong")
    expect(question.locator(".mha-quiz-why")).not_to_be_empty()
    row = board.locator("tbody tr").first
    expect(row.locator("td").first.locator("[data-state=not_yet]")).to_have_count(1)
    choose(lesson, right=True)
    expect(row.locator("td").first.locator("[data-state=later]")).to_have_count(1)
    expect(question.locator(".mha-lesson-link")).to_have_count(0)
    events = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [event["right"] for event in events] == [False, True]
    expect(board.locator(".note").first).to_contain_text(str(file))


def test_an_exercise_wrong_then_right_reaches_the_board(lesson):
    said = lesson.answer(EXERCISE, WRONG)
    expect(said).to_contain_text(texts.t("checks.status.failed"))
    said = lesson.answer(EXERCISE, RIGHT)
    expect(said).to_contain_text(texts.t("checks.status.passed"))
    last = lesson.output("progress-run").locator("tbody tr").last
    expect(last.locator("[data-state=later]")).to_have_count(1)


def test_c31_board_and_questions_read_well_in_every_theme(lesson):
    for theme in THEMES:
        lesson.set_theme(theme)
        lesson.scroll_to("progress-run")
        name = f"10-board-{theme.split()[-1].lower()}"
        lesson.screenshot(name, lesson.output("progress-run"))
        for cell, part in (("progress-run", ".mha-progress"), ("round-1-run", ".mha-quiz")):
            ratio, text, count = lesson.worst_contrast(lesson.output(cell).locator(part))
            assert count > 30 and ratio >= 4.5, (theme, cell, text, ratio)
    lesson.set_theme(THEMES[0])


def test_c26_tomorrow_the_answers_are_there(lesson, file):
    before = lesson.read(lesson.output("progress-run").locator(".summary"))
    lesson.restart()
    keep_at(lesson, file)
    lesson.run_cells(*LOOKED_AT)
    expect(card(lesson).locator("[data-verdict=right]")).to_have_count(1)
    expect(lesson.output("progress-run").locator(".summary")).to_have_text(before)


def test_the_way_back_opens_the_lesson(lesson):
    link = lesson.output("progress-run").locator(".mha-lesson-link").first
    expect(link).to_have_text(contents.link("01")["text"])
    link.focus()
    lesson.page.keyboard.press("Enter")
    shown = "end => jupyterapp.shell.currentWidget?.context?.path.endsWith(end)"
    other = f"{texts.current_language()}/{contents.LESSONS['01']}"
    lesson.page.wait_for_function(shown, arg=other)
