"""The lessons in Notebook 7: the same widgets on its page, which is not JupyterLab's."""

import pytest
from playwright.sync_api import expect

from .explorers import Explorer
from .lab import open_tab
from .server import LabServer

LABELS = {
    "en": ("Model width (d_model)", "Number of heads (H)", "Tokens (T)"),
    "es": ("Anchura del modelo (d_model)", "Número de cabezas (H)", "Tokens (T)"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server of its own: what JupyterLab's pages left with the other one is not Notebook's.

    Its kernels start as a reader's do.
    """
    running = LabServer(tmp_path_factory.mktemp("notebook-7"), at_once=False).start()
    yield running
    running.stop()


@pytest.fixture(scope="module", params=["en", "es"])
def lesson(browser, server, _tabs, tmp_path_factory, request):
    with open_tab(browser, server, tmp_path_factory.mktemp("pictures"), 1280, 900) as page:
        _tabs.append(page)
        server.copy(f"{request.param}/01_one-head.ipynb")
        page.open(server.copy(f"{request.param}/00_start-here.ipynb"), "notebooks")
        if request.param == "en":
            page.run_all()
        else:
            page.run_cells("setup", "first-explorer", "quiz-run")
        yield page


@pytest.fixture
def labels(lesson):
    return LABELS["es" if "/es/" in lesson.page.url else "en"]


def test_run_all_and_a_layer_that_follows_the_keys(lesson, labels):
    assert "/notebooks/" in lesson.page.url  # not sent on to JupyterLab
    assert lesson.page.get_by_text("Traceback").count() == 0
    explorer = Explorer(lesson, "first-explorer")
    explorer.assert_agrees(*labels)
    before = explorer.value(labels[1])
    explorer.slider(labels[1]).press("ArrowRight")
    explorer.assert_agrees(*labels)
    assert explorer.value(labels[1]) != before
    lesson.screenshot("notebook-7", explorer.out)


def test_a_quiz_answers(lesson):
    card = lesson.output("quiz-run").locator(".mha-quiz-card").first
    card.get_by_role("radio").first.check()
    card.get_by_role("button").click()
    expect(card.locator(".mha-quiz-said")).not_to_be_empty()


def test_the_link_to_the_next_lesson_opens_it(lesson):
    link = lesson.page.locator(".jp-Notebook a").filter(has_text="01 ·").last
    with lesson.page.context.expect_page() as opened:
        link.click()
    opened.value.wait_for_url("**/01_one-head.ipynb*")
    opened.value.close()
