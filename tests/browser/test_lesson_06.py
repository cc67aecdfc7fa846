"""Lesson 06 as a reader lives it: predict wrong, predict right, move one side, look at both."""

import pytest
from playwright.sync_api import expect

from .explorers import Explorer

WIDTH, HEADS, TOKENS = "Model width (d_model)", "Number of heads (H)", "Tokens (T)"
SLIDERS = [WIDTH, HEADS, TOKENS, "Temperature"]
THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")
SENTENCE = "The bank by the river issued a statement."
FIRST = {"d_model": 64, "H": 2, "seed": 0, "mask": "none", "temperature": 1.0}


class Side(Explorer):
    """One of the two explorers; its parts are looked for inside its own half."""

    def __init__(self, page, title: str, name: str):
        super().__init__(page, "playground-run")
        self.out = self.out.get_by_role("group", name=title, exact=True)
        self.whole = self.out.locator(".mha-explorer")
        self.maps = self.out.locator(".mha-attention")
        self.note = self.out.locator(".mha-note [role=status]")
        self.facts = self.out.locator(".mha-facts")
        self.heads = self.out.locator("[data-head]")
        self.large = self.out.locator("[data-large]")
        self._name = f"playground.{name}"

    @property
    def name(self) -> str:
        return self._name


class Both:
    """The playground: two sides, what is said about them, and the table."""

    def __init__(self, page, titles=("Left layer", "Right layer")):
        self.page = page
        self.out = page.output("playground-run")
        self.left = Side(page, titles[0], "left")
        self.right = Side(page, titles[1], "right")
        self.said = self.out.locator(".mha-note [role=status]").first
        self.whole = self.out.locator(".mha-playground")

    def row(self, name: str):
        return self.out.locator(f'.mha-pair [data-row="{name}"] td')

    def begin(self):
        """As the cell first showed it."""
        self.page.ask("setattr(playground, 'same_sentence', True)")
        for side in (self.left, self.right):
            side.put(sentence=SENTENCE, T=9, **FIRST)


@pytest.fixture(scope="module")
def lesson(lab, new_lab_page):
    with new_lab_page(1400, 1000) as page:
        page.open(lab.copy("en/06_explore.ipynb"))
        page.run_all()
        yield page
        page.close()  # JupyterLab stumbles over a notebook whose output had a second view


@pytest.fixture
def both(lesson):
    found = Both(lesson)
    found.begin()
    lesson.scroll_to("playground-run")
    lesson.page.mouse.move(5, 500)
    return found


def test_two_live_explorers_stand_side_by_side_and_level(lesson, both):
    assert lesson.page.get_by_text("Traceback").count() == 0
    expect(both.said).to_contain_text("Nothing differs")
    expect(both.row("change")).to_have_text(["equal"] * 5 + ["same numbers"])
    for side in (both.left, both.right):
        side.assert_agrees(WIDTH, HEADS, TOKENS)
    left, right = both.left.out.bounding_box(), both.right.out.bounding_box()
    assert left["x"] + left["width"] < right["x"] and left["width"] == right["width"]
    both.right.put(d_model=97)  # its note grows to several lines
    expect(both.right.note).to_contain_text("H went from 2 to 1")
    for part in (".mha-shapes", ".mha-attention", ".mha-facts"):
        places = [side.out.locator(part).bounding_box() for side in (both.left, both.right)]
        assert places[0]["y"] == places[1]["y"], part
    assert lesson.sideways(both.out) == []


def test_c27_keys_move_one_side_and_the_table_follows(both):
    painted = both.left.painted()
    slider = both.right.slider(HEADS)
    for H, d_k in ((4, 16), (8, 8), (16, 4)):
        slider.press("ArrowRight")
        expect(both.row("right").nth(3)).to_have_text(str(d_k))
        expect(both.said).to_have_text(f"One thing differs: H (2 and {H}).")
        expect(slider).to_be_focused()
    expect(both.row("change")).to_have_text(
        ["equal", "equal", "equal", "÷ 8", "÷ 2.83", "other shape"]
    )
    expect(both.row("left")).to_have_text(["16,384", "315,648", "81", "32", "5.66", "(2, 9, 9)"])
    for side in (both.left, both.right):
        side.assert_agrees(WIDTH, HEADS, TOKENS)
    assert both.left.painted() == painted


def test_the_same_words_on_both_sides_while_it_is_ticked(both):
    switch = both.out.get_by_label("Same sentence")
    fields = [side.page.textbox("Sentence", side.out) for side in (both.left, both.right)]
    fields[1].fill("the cat sat")
    expect(fields[0]).to_have_value("the cat sat")
    expect(both.row("left").nth(5)).to_have_text("(2, 3, 3)")
    switch.focus()
    both.page.page.keyboard.press("Space")
    expect(switch).not_to_be_checked()
    fields[1].fill("<b>the</b> dog")
    expect(both.said).to_contain_text("2 things differ: the sentence, T (3 and 8).")
    expect(fields[0]).to_have_value("the cat sat")
    switch.check()
    expect(fields[1]).to_have_value("the cat sat")
    expect(both.said).to_contain_text("Nothing differs")
    both.right.assert_agrees(WIDTH, HEADS, TOKENS)


def test_c05_an_impossible_side_leaves_the_other_standing(both):
    typed = both.left.out.get_by_label("H by hand")
    typed.fill("5")
    typed.press("Enter")
    expect(both.left.note).to_contain_text("H = 5 does not divide d_model = 64")
    expect(both.left.maps).to_have_attribute("data-empty", "true")
    expect(both.said).to_contain_text("The comparison waits for it.")
    expect(both.row("change")).to_have_text(["–"] * 6)
    both.right.assert_agrees(WIDTH, HEADS, TOKENS)
    both.left.out.get_by_role("button", name="Use H = 4").click()
    expect(both.row("left").nth(3)).to_have_text("16")
    both.left.assert_agrees(WIDTH, HEADS, TOKENS)


def test_every_control_stands_in_its_named_half(both):
    for side in (both.left, both.right):
        for name in SLIDERS:
            expect(side.slider(name)).to_have_count(1)
    expect(both.out.get_by_role("columnheader")).to_have_count(6)
    expect(both.out.get_by_role("rowheader")).to_have_text(["left", "right", "left → right"])


def test_c31_every_text_is_readable_in_every_theme(lesson, both):
    both.right.put(d_model=97)
    try:
        for theme in THEMES:
            lesson.set_theme(theme)
            ratio, text, count = lesson.worst_contrast(both.whole)
            assert ratio >= 4.5, (theme, text)
            assert count >= 150
    finally:
        lesson.set_theme("JupyterLab Light")


@pytest.mark.parametrize("zoom", [1, 2, 4])
def test_c31_in_a_window_of_1024_one_stands_below_the_other(lesson, both, zoom):
    lesson.close_side_panel()
    try:
        lesson.zoom(zoom, width=1024, height=768)
        left, right = both.left.out.bounding_box(), both.right.out.bounding_box()
        assert left["x"] == right["x"] and left["y"] + left["height"] <= right["y"]
        assert lesson.sideways(both.out) == []
        expect(both.row("change").first).to_be_visible()
    finally:
        lesson.zoom(1, width=1400, height=1000)


def test_a_second_view_of_the_output_lives_with_the_first(lesson, both):
    """The lesson tells readers to keep the playground in view that way."""
    page = lesson.page
    both.out.locator(".mha-pair").click(button="right")
    page.locator(".lm-Menu-itemLabel").get_by_text("Create New View for Cell Output").click()
    view = page.locator(".jp-LinkedOutputView")
    slider = lesson.slider(HEADS, view.get_by_role("group", name="Right layer"))
    slider.press("ArrowRight")
    for place in (view, both.out):
        expect(place.locator('.mha-pair [data-row="right"] td').nth(3)).to_have_text("16")
    page.locator(".lm-TabBar-tab").filter(has_text="Output View").locator(
        ".lm-TabBar-tabCloseIcon"
    ).click()
    expect(view).to_have_count(0)
    both.right.assert_agrees(WIDTH, HEADS, TOKENS)


def test_c15_predictions_wrong_ones_first(lesson):
    for exercise in ("one", "two", "three", "four", "five"):
        expect(lesson.output(f"{exercise}-check")).to_contain_text("waits for your prediction.")
    for exercise, line, words in (
        ("one", "parameter_factor = 8", "This is how H grows, not the parameters."),
        ("one", "parameter_factor = 1", "Correct"),
        ("two", "map_factor = 18 / 9", "A map grows on two sides."),
        ("two", 'map_factor = "4"', "A number in quotes is text."),
        ("four", "divisor = 64 ** 0.5", "Made from d_model, the width of the whole model."),
        ("five", "hot_weight = 0,111", "One number is wanted here."),
        ("five", "hot_weight = 0.11", "Correct"),
    ):
        expect(lesson.answer(exercise, line)).to_contain_text(words)


def test_c42_the_spanish_edition_runs_and_speaks_spanish(lab, new_lab_page):
    with new_lab_page(1400, 1000) as page:
        page.open(lab.copy("es/06_explore.ipynb"))
        page.run_cells("setup", "playground-run")
        both = Both(page, ("Capa izquierda", "Capa derecha"))
        both.right.slider("Número de cabezas (H)").press("ArrowRight")
        expect(both.said).to_have_text("Se diferencian en una sola cosa: H (2 y 4).")
        expect(both.row("change")).to_have_text(
            ["igual", "igual", "igual", "÷ 2", "÷ 1.41", "otra forma"]
        )
        assert page.sideways(both.out) == []
        said = page.read(both.out)
        for english in ("Same", "layer", "left", "right", "differ", "head 1", "equal"):
            assert english not in said, english
        expect(page.answer("three", "first_weight = 1 / 9")).to_contain_text(
            "Eso sería un reparto igual sin máscara."
        )


def test_c30_the_browser_hands_over_a_name_for_every_control(lesson, both):
    """The last one here: see `spoken_names`; the tab is closed next."""
    assert lesson.spoken_names("slider", ".mha-playground") == SLIDERS * 2
    for role in ("button", "textbox", "checkbox", "combobox", "spinbutton", "radio", "tab"):
        assert all(lesson.spoken_names(role, ".mha-playground")), role
