"""Lesson 03 as a reader lives it: Run All, walk the two routes, answer wrong and then right."""

import pytest
from playwright.sync_api import expect

from helpers.reshaping.routes import STEPS

from .explorers import Explorer

WIDTH, HEADS, TOKENS = "Model width (d_model)", "Number of heads (H)", "Tokens (T)"
THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")
FIRST = {"route": "both", "T": 4, "d_model": 6, "H": 2, "step": "transpose", "map_sizes": "lesson"}


@pytest.fixture(scope="module")
def lesson(lab, new_lab_page):
    with new_lab_page(1400, 1000) as page:
        page.open(lab.copy("en/03_view-and-transpose.ipynb"))
        page.run_all()
        page.close_side_panel()
        yield page


class Lab(Explorer):
    """The reshape lab: its two tensors, the memory below them, and the maps."""

    def __init__(self, page):
        super().__init__(page, "lab-run")
        self.said = self.out.locator(".mha-cells .said .shown")
        self.grids = self.out.locator(".mha-cells .grid")
        self.read = self.out.locator(".mha-cells .readout")
        self.maps_below = self.out.locator(".mha-dependency figure")

    def rows(self, side: int) -> list[list[int]]:
        """The numbers of a tensor as they stand on the page, row by row, from left to right."""
        cells = self.grids.nth(side).locator(".cell")
        places = cells.evaluate_all(
            "all => all.map(c => { const box = c.getBoundingClientRect();"
            " return [Math.round(box.y), box.x, +c.querySelector('.text').textContent]; })"
        )
        rows: dict[int, list] = {}
        for y, x, number in places:
            rows.setdefault(y, []).append((x, number))
        return [[number for _, number in sorted(rows[y])] for y in sorted(rows)]

    def reading(self, side: int) -> list[int]:
        numbers = self.out.locator(".mha-cells .strip").nth(side).locator(".reading b")
        return [int(text) for text in numbers.all_inner_texts()]

    def still(self):
        """Wait until no cell travels any more."""
        self.settle()
        self.page.page.wait_for_function("() => !document.getAnimations().some(a => a.effect"
                                         "?.target?.classList?.contains('cell'))")  # fmt: skip


@pytest.fixture
def reshape(lesson):
    found = Lab(lesson)
    found.put(**FIRST)
    found.page.ask(f"setattr({found.name}.cells, 'pointed', None)")
    lesson.scroll_to("lab-run")
    lesson.page.mouse.move(5, 500)
    found.still()
    return found


def test_c01_the_two_routes_stand_side_by_side_with_their_differences_marked(lesson, reshape):
    assert lesson.page.get_by_text("Traceback").count() == 0
    assert reshape.rows(0)[1] == [6, 7, 8, 9, 10, 11]
    assert reshape.rows(1)[1] == [3, 4, 5, 15, 16, 17]
    right, wrong = (reshape.grids.nth(side).bounding_box() for side in (0, 1))
    assert right["x"] + right["width"] <= wrong["x"] and abs(right["y"] - wrong["y"]) < 2
    expect(reshape.grids.nth(0).locator(".sign")).to_have_count(0)
    expect(reshape.grids.nth(1).locator(".sign")).to_have_text(["≠"] * 18)
    expect(reshape.said).to_contain_text("18 of 24 cells differ")
    expect(reshape.said).to_contain_text("[6, 7, 8] on the right route and [3, 4, 5]")
    expect(reshape.out.locator(".panel .strides").nth(0)).to_have_text(
        "strides (24, 3, 6, 1) · not contiguous"
    )
    assert reshape.reading(0)[:6] == [0, 1, 2, 6, 7, 8]
    expect(reshape.out.locator('.strip [data-jump="true"]')).to_have_count(7)


def test_next_and_back_walk_the_routes_at_a_constant_height(reshape):
    height = reshape.height()
    follow = reshape.out.get_by_role("button", name="Next ▶")
    back = reshape.out.get_by_role("button", name="◀ Back")
    expect(follow).to_be_visible()
    for step in ("scores", "heads", "swap", "contiguous", "merge", "merge"):
        follow.click()
        reshape.still()
        assert reshape.ask("step") == step and reshape.height() == height
    expect(reshape.said).to_contain_text("A round trip proves nothing.")
    assert reshape.rows(0) == reshape.rows(1)
    for step in ("contiguous", "swap", "heads", "scores", "transpose", "view", "linear", "linear"):
        back.press("Enter")
        expect(back).to_be_focused()
        reshape.still()
        assert reshape.ask("step") == step and reshape.height() == height
        if step != "scores":
            for side, name in enumerate(("right", "wrong")):
                numbers = reshape.ask(f"{name}[{step!r}].numbers.flatten().tolist()")
                assert reshape.reading(side) == numbers
    slider = reshape.slider("Step")
    slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "2 · view")
    expect(reshape.said).to_have_text("At this step the shapes differ, so cells are not compared.")


def test_c01_at_one_token_or_one_head_the_page_says_that_the_routes_coincide(reshape):
    reshape.slider(HEADS).press("ArrowLeft")
    expect(reshape.said).to_contain_text("The two routes coincide. With H = 1")
    expect(reshape.out.locator(".mha-cells .sign")).to_have_count(0)
    reshape.slider(HEADS).press("ArrowRight")
    expect(reshape.said).to_contain_text("18 of 24 cells differ")
    reshape.slider(TOKENS).press("Home")
    expect(reshape.said).to_contain_text("The two routes coincide. With T = 1")


def test_c30_a_cell_pointed_at_or_focused_lights_up_everywhere_and_is_read_out(reshape):
    keys = reshape.page.page.keyboard
    six = reshape.grids.nth(0).locator('.cell[data-key="6"]')
    six.hover()
    expect(reshape.out.locator(".mha-cells .pointed")).to_have_count(2 + 4)
    expect(reshape.read).to_contain_text(
        "Right route: head 0, token 1, feature 0: number 6, place 6 in memory"
    )
    expect(reshape.read).to_contain_text("Wrong route: head 0, token 2, feature 0: number 6")
    six.focus()
    keys.press("ArrowRight")
    keys.press("ArrowDown")
    focused = reshape.page.page.locator(":focus")
    expect(focused).to_have_attribute("data-key", "13")
    expect(focused).to_have_attribute(
        "aria-label", "head 0, token 2, feature 1: number 13, place 13 in memory"
    )
    expect(reshape.read).to_contain_text("number 13, place 13")
    keys.press("End")
    expect(focused).to_have_attribute("data-key", "17")
    keys.press("Tab")  # one stop for each tensor
    expect(focused).to_have_attribute("data-key", "17")
    expect(reshape.grids.nth(1).locator(":focus")).to_have_count(1)
    keys.press("Escape")
    expect(reshape.out.locator(".mha-cells .pointed")).to_have_count(0)
    expect(reshape.read).to_contain_text("Point at a cell")
    for role in ("button", "combobox", "slider", "spinbutton", "grid", "gridcell"):
        reshape.page.expect_named(reshape.whole.get_by_role(role))


def test_the_maps_show_what_is_left_and_follow_the_cells(reshape):
    counts = reshape.maps_below.locator(".count")
    expect(counts).to_have_text(
        ["256 of 256 pairs", "256 of 256 pairs", "64 of 256 pairs", "50 pairs look ahead"]
    )
    expect(reshape.out.get_by_role("img", name="64 of 256 pairs")).to_be_visible()
    reshape.out.get_by_label("Maps for").select_option("T and H of the cells")
    expect(counts.nth(2)).to_have_text("8 of 16 pairs")
    assert reshape.maps_below.nth(2).get_attribute("data-depends") == "8"
    reshape.out.get_by_label("Wrong route", exact=True).select_option("right split, wrong merge")
    expect(reshape.said).to_contain_text("Up to here both routes hold the same")


def test_c05_an_impossible_h_is_explained_and_repaired(reshape):
    height = reshape.height()
    typed = reshape.out.get_by_label("H by hand")
    typed.fill("4")
    typed.press("Enter")
    expect(reshape.note).to_contain_text("H = 4 does not divide d_model = 6")
    expect(reshape.out.locator(".mha-cells .reason")).to_contain_text("H = 4 does not divide")
    expect(reshape.grids.nth(0)).to_be_hidden()
    expect(reshape.maps_below.nth(0)).to_be_hidden()
    assert reshape.height() == height
    reshape.out.get_by_role("button", name="Use H = 3").click()
    expect(reshape.grids.nth(0)).to_be_visible()
    assert reshape.rows(0)[0] == [0, 1, 2, 3, 4, 5]


def test_c31_every_text_is_readable_in_every_theme(lesson, reshape):
    reshape.put(d_model=12, H=12)  # every head colour
    reshape.page.ask(f"setattr({reshape.name}.cells, 'pointed', 7)")
    try:
        for theme in THEMES:
            lesson.set_theme(theme)
            ratio, text, count = lesson.worst_contrast(reshape.whole)
            assert ratio >= 4.5, (theme, text)
            assert count >= 200
        lesson.screenshot("lesson-03-high-contrast", reshape.out)
    finally:
        lesson.set_theme("JupyterLab Light")


@pytest.mark.parametrize("zoom", [1, 2])
def test_c31_in_a_window_of_1024_nothing_is_lost_sideways(lesson, reshape, zoom):
    try:
        lesson.zoom(zoom, width=1024, height=768)
        assert lesson.sideways(reshape.out) == []
    finally:
        lesson.zoom(1, width=1400, height=1000)


def test_c15_exercises_wrong_answers_first(lesson):
    said = lesson.answer("exercise-2", (
        "def split_heads(x, num_heads):\n"
        "    B, T, d_model = x.shape\n"
        "    return x.view(B, num_heads, T, d_model // num_heads)"
    ))  # fmt: skip
    expect(said).to_contain_text("right shape, wrong numbers")
    expect(said).to_contain_text("(0, 4) (0, 5) (0, 6) (0, 7)")
    said = lesson.answer("exercise-2", (
        "def split_heads(x, num_heads):\n"
        "    B, T, d_model = x.shape\n"
        "    return x.view(B, T, num_heads, d_model // num_heads).transpose(1, 2)"
    ))  # fmt: skip
    expect(said).to_contain_text("Correct")
    said = lesson.answer("exercise-1", (
        "def head_of_weight(weight, head, num_heads):\n    return weight.chunk(num_heads, 1)[head]"
    ))  # fmt: skip
    expect(said).to_contain_text("These are columns, not rows.")
    said = lesson.answer("exercise-3", (
        "def memory_place(head, token, feature, d_model, num_heads):\n"
        "    return head * d_model + token * (d_model // num_heads) + feature"
    ))  # fmt: skip
    expect(said).to_contain_text("The steps of head and token have changed places.")


# --- the Spanish edition -----------------------------------------------------------------------


def test_c42_the_spanish_edition_runs_and_speaks_spanish(lab, new_lab_page):
    with new_lab_page(1400, 1000) as page:
        page.open(lab.copy("es/03_view-and-transpose.ipynb"))
        page.run_cells("setup", "lab-run", "exercise-2-stub", "exercise-2-check")
        found = Lab(page)
        expect(found.said).to_contain_text("Difieren 18 de 24 celdas")
        found.out.get_by_role("button", name="Siguiente ▶").click()
        expect(found.said).to_contain_text("scores comparan otros números")
        found.out.get_by_label("H a mano").fill("4")
        found.out.get_by_label("H a mano").press("Enter")
        expect(found.note).to_contain_text("H = 4 no divide a d_model = 6")
        said = page.read(found.out)
        for english in ("Next", "cells", "route", "head ", "feature"):
            assert english not in said, english
        expect(page.output("exercise-2-check")).to_contain_text("Pendiente")
        # Whatever stands above the steps keeps its size: the buttons stay under the mouse.
        page.page.set_viewport_size({"width": 1024, "height": 900})
        page.close_side_panel()
        back = found.out.get_by_role("button", name="◀ Atrás")
        forward = found.out.get_by_role("button", name="Siguiente ▶")
        places = set()
        for step in STEPS:
            found.put(step=step)
            places |= {button.bounding_box()["y"] for button in (back, forward)}
        assert len(places) == 1, places
