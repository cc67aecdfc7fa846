"""Lesson 04 as a reader lives it: Run All, turn gates up and down, answer wrong and then right."""

import numpy as np
import pytest
from playwright.sync_api import expect

from helpers.signed_colours import signed_colours

from .explorers import Explorer

HEADS = "Number of heads (H)"
THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")


class Gates(Explorer):
    """HeadGates: the bars of the shares, and the two maps."""

    def __init__(self, page):
        super().__init__(page, "gates-run")
        self.heat = self.out.locator(".mha-heat")
        self.areas = self.heat.locator("[data-map]")
        self.bars = self.out.locator(".mha-bars")

    def numbers(self, name: str) -> np.ndarray:
        """A tensor of the kernel's trace, (T, d_model)."""
        return np.array(self.ask(f"trace.{name}[0].tolist()"))

    def assert_painted_from_the_kernel(self):
        """Every cell of both maps has the colour of its number."""
        self.settle()
        most = self.ask("heat.frame['most']")
        colours = np.array(signed_colours())
        for which, name in enumerate(("concat", "output")):
            numbers = self.numbers(name)
            shown = self.picture(self.areas.nth(which).locator("canvas"))[..., :3]
            wanted = colours[np.rint(127 * (1 + np.clip(numbers / most, -1, 1))).astype(int)]
            assert shown.shape == wanted.shape and abs(shown - wanted).max() <= 2, name

    def shares(self) -> list[float]:
        return [float(text) for text in self.bars.locator(".number").all_inner_texts()]

    def over(self, which: int, row: int, column: int):
        """Move the mouse over one cell of a map."""
        area = self.areas.nth(which)
        area.scroll_into_view_if_needed()
        box, (rows, columns) = area.bounding_box(), self.numbers("concat").shape
        x, y = (column + 0.5) * box["width"] / columns, (row + 0.5) * box["height"] / rows
        self.page.page.mouse.move(box["x"] + x, box["y"] + y)


@pytest.fixture(scope="module")
def lesson(lab, new_lab_page):
    with new_lab_page(1400, 1000) as page:
        page.open(lab.copy("en/04_concat-and-output-projection.ipynb"))
        page.run_all()
        page.close_side_panel()
        yield page


@pytest.fixture
def gates(lesson):
    found = Gates(lesson)
    found.put(T=9, d_model=16, H=4, gates=[1.0] * 4, show="values")
    found.page.ask(f"[setattr({found.name}.heat, *p) for p in (('pointed', []), ('mode', 'map'))]")
    found.settle()
    lesson.scroll_to("gates-run")
    lesson.page.mouse.move(5, 500)
    return found


def test_run_all_leaves_a_live_explorer_that_shows_its_kernels_numbers(lesson, gates):
    assert lesson.page.get_by_text("Traceback").count() == 0
    gates.assert_painted_from_the_kernel()
    assert gates.shares() == [0.29, 0.26, 0.11, 0.34]
    expect(gates.note).to_contain_text("All gates are at 1.")
    names = ["Model width (d_model)", HEADS, "Tokens (T)"]
    names += [f"Gate of head {i}" for i in (1, 2, 3, 4)]
    lesson.expect_named(gates.out.get_by_role("slider"), *names)
    for role in ("button", "combobox", "radio", "application"):
        lesson.expect_named(gates.out.get_by_role(role))


def test_c07_presets_show_whose_columns_are_whose(gates):
    height = gates.height()
    gates.out.get_by_role("button", name="Only head 2").click()
    expect(gates.note).to_contain_text("heads 1, 3, 4 are below 1")
    assert gates.shares() == [0, 1, 0, 0]
    gates.assert_painted_from_the_kernel()
    before, after = (np.flatnonzero(gates.numbers(n).any(0)) for n in ("concat", "output"))
    assert before.tolist() == [4, 5, 6, 7] and after.tolist() == list(range(16))
    gates.out.get_by_role("button", name="All off").click()
    expect(gates.note).to_contain_text("All gates are at 0")
    assert gates.shares() == [0] * 4
    middle = signed_colours()[127]
    for which in (0, 1):
        shown = gates.picture(gates.areas.nth(which).locator("canvas"))[..., :3]
        assert (shown == middle).all()
    gates.out.get_by_role("button", name="All on").click()
    expect(gates.note).to_contain_text("All gates are at 1.")
    assert gates.height() == height


def test_c30_a_gate_follows_the_keys_and_keeps_the_focus(gates):
    gates.out.get_by_label("The maps show").select_option("the change against all gates at 1")
    slider = gates.slider("Gate of head 3")
    slider.focus()
    for _ in range(4):
        gates.page.page.keyboard.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", "0.80")
    expect(slider).to_be_focused()
    gates.settle()
    assert gates.ask("gates") == [1, 1, 0.8, 1]
    expect(gates.note).to_contain_text("4 of 16 columns before W_O, 16 after it")
    concat = gates.picture(gates.areas.nth(0).locator("canvas"))[..., :3]
    output = gates.picture(gates.areas.nth(1).locator("canvas"))[..., :3]
    moved = (concat != signed_colours()[127]).any(-1)
    assert moved[:, 8:12].any() and not moved[:, :8].any() and not moved[:, 12:].any()
    assert (output != signed_colours()[127]).any(-1).any(0).sum() > 4
    slider.press("End")
    expect(gates.note).to_contain_text("All gates are at 1.")


def test_pointing_and_the_table_read_out_the_kernels_numbers(gates):
    numbers, height = gates.numbers("concat"), gates.height()
    gates.over(0, 4, 5)
    value = f"{numbers[4, 5]:.2f}".replace("-", "−")
    expect(gates.readout).to_have_text(f"Before W_O: concat · river, column 5 (head 2): {value}")
    gates.page.page.mouse.move(5, 500)
    gates.areas.nth(1).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "End"):
        gates.page.page.keyboard.press(key)
    value = f"{gates.numbers('output')[1, 15]:.2f}".replace("-", "−")
    expect(gates.readout).to_have_text(
        f"After W_O: output · bank, column 15 (all heads, mixed): {value}"
    )
    gates.page.page.keyboard.press("Escape")
    expect(gates.readout).to_contain_text("Point at a cell")
    gates.out.get_by_role("radio", name="table").click()
    table = gates.heat.locator("[data-table]").first
    expect(table).to_be_visible()
    rows = [line.split("\t") for line in table.locator("tbody").inner_text().split("\n")]
    assert [row[0] for row in rows][:2] == ["The", "bank"] and len(rows) == 9
    shown = [[float(text.replace("−", "-")) for text in row[1:]] for row in rows]
    assert abs(numbers - shown).max() <= 0.0050001
    assert gates.height() == height


def test_c05_other_heads_and_impossible_ones(gates):
    gates.put(gates=[0.5, 1.0, 1.0, 1.0])
    gates.slider(HEADS).press("ArrowRight")
    expect(gates.note).to_contain_text("There are 8 heads now, and all gates are at 1 again.")
    expect(gates.slider("Gate of head 8")).to_be_visible()
    gates.assert_painted_from_the_kernel()
    assert gates.value(HEADS) == "8"  # the end of the slider: 16 heads would be one step on
    typed = gates.out.get_by_label("H by hand")
    for H, words, use in (("5", "H = 5 does not divide d_model = 16", 4), ("16", "1 to 8", 8)):
        typed.fill(H)
        typed.press("Enter")
        expect(gates.note).to_contain_text(words)
        expect(gates.heat.locator(".mha-reason")).to_contain_text(words)
        expect(gates.areas.first).to_be_hidden()
        gates.out.get_by_role("button", name=f"Use H = {use}").click()
        expect(gates.areas.first).to_be_visible()
        gates.assert_painted_from_the_kernel()


def test_c31_every_text_is_readable_in_every_theme(lesson, gates):
    gates.put(H=8, gates=[0.0, 1.0] * 4)
    try:
        for theme in THEMES:
            lesson.set_theme(theme)
            ratio, text, count = lesson.worst_contrast(gates.whole)
            assert ratio >= 4.5, (theme, text, ratio)
            assert count >= 80
            gates.assert_painted_from_the_kernel()  # the scale is the same in every theme
            lesson.screenshot(f"lesson-04-{theme.split()[-1]}", gates.out)
    finally:
        lesson.set_theme("JupyterLab Light")


@pytest.mark.parametrize("zoom", [1, 2])
def test_c31_in_a_window_of_1024_nothing_is_lost_sideways(lesson, gates, zoom):
    gates.put(H=8)
    try:
        lesson.zoom(zoom, width=1024, height=768)
        gates.settle()
        assert lesson.sideways(gates.out) == []
        lesson.screenshot(f"lesson-04-zoom-{zoom}", gates.out)
    finally:
        lesson.zoom(1, width=1400, height=1000)


def test_c02_c07_exercises_wrong_answers_first(lesson):
    merge = "def merge_heads(heads):\n    B, H, T, d_k = heads.shape\n    return {}"
    said = lesson.answer("exercise-1", merge.format("heads.view(B, T, H * d_k)"))
    expect(said).to_contain_text("Tokens were mixed.")
    expect(said).to_contain_text("[0, 1, 4, 5] was expected, [0, 1, 2, 3] came.")
    lesson.screenshot("lesson-04-check", said)
    said = lesson.answer("exercise-1", merge.format("heads.transpose(1, 2).view(B, T, H * d_k)"))
    expect(said).to_contain_text("Which method first copies the numbers into place?")
    said = lesson.answer("exercise-1", merge.format("heads.transpose(1, 2).reshape(B, T, -1)"))
    expect(said).to_contain_text("Correct")

    terms = (
        "def sum_of_heads(heads, W_O):\n    B, H, T, d_k = heads.shape\n"
        "    return sum(heads[:, i] @ {} for i in range(H))"
    )
    said = lesson.answer("exercise-2", terms.format("W_O[:, i * d_k : (i + 1) * d_k]"))
    expect(said).to_contain_text("The blocks were cut from the columns.")
    said = lesson.answer("exercise-2", terms.format("W_O[i * d_k : (i + 1) * d_k]"))
    expect(said).to_contain_text("Correct")

    output = "def output_projection(heads, W_O):\n    return merge_heads(heads){}"
    said = lesson.answer("exercise-3", output.format(""))
    expect(said).to_contain_text("W_O is missing.")
    said = lesson.answer("exercise-3", output.format(" @ W_O"))
    expect(said).to_contain_text("Correct")


# --- the Spanish edition -----------------------------------------------------------------------


def test_c42_the_spanish_edition_runs_and_speaks_spanish(lab, new_lab_page):
    with new_lab_page(1024, 900) as page:
        page.open(lab.copy("es/04_concat-and-output-projection.ipynb"))
        page.run_cells("setup", "back-run", "gates-run")
        page.close_side_panel()
        found = Gates(page)
        found.out.get_by_role("button", name="Solo la cabeza 2").click()
        expect(found.note).to_contain_text("Han cambiado 12 de 16 columnas antes de W_O")
        found.assert_painted_from_the_kernel()
        said = page.read(found.out)
        for english in ("Only", "gate", "Share", "column ", "head ", "token (", "Before"):
            assert english not in said, english
        assert page.sideways(found.out) == []
        page.screenshot("lesson-04-es", found.out)
        stub = "def merge_heads(heads):\n    return heads.reshape(len(heads), heads.shape[2], -1)"
        said = page.answer("exercise-1", stub)
        expect(said).to_contain_text("Se han mezclado tokens.")
