"""Lesson 07 as a reader lives it: train, stop, go on, read the curves, answer."""

import re

import pytest
from playwright.sync_api import expect

from .explorers import Explorer

THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")
PATIENCE = 60_000  # ms; training on a busy machine


class Curves(Explorer):
    """An explorer whose picture is a set of training curves."""

    def __init__(self, page, cell):
        super().__init__(page, cell)
        self.curves = self.out.locator(".mha-curves")
        self.lines = self.curves.locator(".chart .line")
        self.bar = self.curves.get_by_role("progressbar")
        self.status = self.curves.locator(".status")

    def button(self, name: str):
        return self.out.get_by_role("button", name=name, exact=True)

    def assert_curves(self):
        """Each line on the page has the points, and ends at the number, of the kernel's run."""
        self.settle()
        kernel = f"for rs in {self.name}.results().values() for r in rs"
        runs = self.page.ask(f"[[len(r.curve), round(r.right, 4)] {kernel}]")
        shown = self.lines.evaluate_all("all => all.map(l => [+l.dataset.points, +l.dataset.last])")
        assert shown == runs


@pytest.fixture(scope="module")
def lesson(lab, new_lab_page):
    with new_lab_page(1400, 1000) as page:
        page.open(lab.copy("en/07_train-heads.ipynb"))
        page.close_side_panel()
        page.run_cells("setup", "explorer-run")
        yield page


@pytest.fixture
def training(lesson):
    found = Curves(lesson, "explorer-run")
    found.put(seeds=1, steps=100)
    found.button("Start over").click()
    found.settle()
    lesson.scroll_to("explorer-run")
    return found


def test_train_stop_and_go_on(training):
    height = training.height()
    expect(training.status).to_have_text("0 of 3 runs trained")
    training.button("Train").click()
    expect(training.bar).not_to_have_attribute("aria-valuenow", "0", timeout=PATIENCE)
    training.button("Stop").click()  # heard while it trains
    expect(training.button("Train")).to_be_visible(timeout=PATIENCE)
    training.settle()
    done = training.bar.get_attribute("aria-valuenow")
    assert 0 < int(done) < 100
    training.assert_curves()
    assert training.bar.get_attribute("aria-valuenow") == done
    assert training.height() == height
    training.button("Train").click()
    expect(training.status).to_have_text("all 3 runs trained", timeout=PATIENCE)
    training.assert_curves()
    expect(training.note).to_contain_text("Two heads, d_model = 64:")
    expect(training.button("Train")).to_be_disabled()
    rights = training.ask("runs[1].right"), training.ask("runs[0].right")
    assert rights[0] > rights[1]


def test_another_cell_runs_while_it_trains(training):
    training.put(seeds=3, steps=200)
    training.button("Train").click()
    expect(training.button("Stop")).to_be_visible(timeout=PATIENCE)
    assert training.page.ask("1 + 1") == 2
    training.button("Start over").click()
    expect(training.status).to_have_text("0 of 9 runs trained", timeout=PATIENCE)
    training.assert_curves()


def test_c30_c31_table_keyboard_and_themes(lesson, training):
    training.ask("finish() and None")
    training.settle()
    training.curves.locator("summary").press("Enter")
    rows = training.curves.locator("tbody tr")
    expect(rows).to_have_count(3)
    two = f"{training.ask('runs[1].right'):.2f}"
    expect(rows.nth(1)).to_contain_text(two)
    label = training.curves.locator(".chart").get_attribute("aria-label")
    assert f"Two heads, d_model = 64: {two} to {two} right" in label
    assert lesson.sideways(training.out) == []
    try:
        for theme in THEMES:
            lesson.set_theme(theme)
            ratio, text, count = lesson.worst_contrast(training.curves)
            assert ratio >= 4.5, (theme, text)
            assert count >= 15
    finally:
        lesson.set_theme("JupyterLab Light")
        training.curves.locator("summary").press("Enter")


@pytest.fixture(scope="module")
def leccion(lab, new_lab_page):
    with new_lab_page(1024, 900) as page:
        page.open(lab.copy("es/07_train-heads.ipynb"))
        page.close_side_panel()
        page.run_cells("setup", "explorer-run")
        yield page


def test_c42_the_spanish_lesson_speaks_spanish(leccion):
    training = Curves(leccion, "explorer-run")
    training.put(seeds=1, steps=50)
    leccion.scroll_to("explorer-run")
    training.button("Entrenar").click()
    expect(training.status).to_have_text("los 3 entrenamientos están hechos", timeout=PATIENCE)
    training.assert_curves()
    assert leccion.sideways(training.out) == []
    spoken = set(re.findall(r"\w+", leccion.read(training.out)))
    assert not spoken & {"Train", "Stop", "Seeds", "Steps", "runs", "right", "one", "head", "step"}
