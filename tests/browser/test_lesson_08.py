"""Lesson 08 as a reader lives it: Run All, press heads, choose relations, take heads away."""

import pytest
from playwright.sync_api import expect

from .explorers import Explorer

THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")


class Grid(Explorer):
    """An explorer whose heads are a grid of buttons."""

    def __init__(self, page, cell):
        super().__init__(page, cell)
        self.title = self.out.locator(".mha-head-grid .title")

    def number(self, head: int):
        return self.heads.nth(head).locator(".number")

    def press(self, head: int):
        self.heads.nth(head).click()
        self.settle()


@pytest.fixture(scope="module")
def lesson(lab, new_lab_page):
    with new_lab_page(1400, 1000) as page:
        page.open(lab.copy("en/08_real-heads.ipynb"))
        page.run_all()
        page.close_side_panel()
        yield page


@pytest.fixture
def roles(lesson):
    found = Grid(lesson, "roles-run")
    found.put(measure="previous", layer=1, head=3)
    return found


@pytest.fixture
def board(lesson):
    found = Grid(lesson, "board-run")
    found.put(path="", relation="obj", direction="dependent_to_head")
    return found


@pytest.fixture
def gates(lesson):
    found = Grid(lesson, "gates-run")
    found.put(off=[])
    return found


def test_run_all_prints_the_heads_that_the_text_names(lesson):
    expect(lesson.output("positional-run")).to_contain_text("-1  L1-H3  largest 100.0%")
    expect(lesson.output("positional-run")).to_contain_text("+1  L2-H9  largest  99.2%")
    expect(lesson.output("leaderboard-run")).to_contain_text("obj        100  L3-H1    79.0")
    assert lesson.page.get_by_text("Traceback").count() == 0


def test_c22_maps_of_all_heads_share_one_scale_and_special_tokens_can_be_hidden(lesson):
    maps = Explorer(lesson, "maps-run")
    assert maps.heads.count() == 72
    maps.assert_painted()
    maps.out.get_by_role("checkbox").first.check()
    expect(maps.note).to_contain_text("%")
    maps.settle()
    expect(maps.maps).to_have_attribute("data-shape", "72,9,9")
    maps.assert_painted()
    maps.put(hide_special=False)


def test_c16_a_long_sentence_says_how_much_of_it_was_used(lesson):
    maps = Explorer(lesson, "maps-run")
    before = maps.ask("sentence")
    maps.put(sentence="word " * 600)
    expect(maps.note).to_contain_text("256")
    expect(maps.maps).to_have_attribute("data-shape", "72,256,256")
    maps.put(sentence=before)
    expect(maps.maps).to_have_attribute("data-shape", "72,11,11")


def test_roles_are_read_by_mouse_and_by_keyboard(roles):
    height = roles.height()
    assert roles.heads.count() == 72
    expect(roles.number(2)).to_have_text("1.00")
    expect(roles.readout).to_contain_text("L1-H3: previous token, at least 90 % of the time.")
    roles.press(20)
    expect(roles.readout).to_contain_text("L2-H9: next token, at least 90 % of the time.")
    expect(roles.heads.nth(20)).to_have_attribute("aria-pressed", "true")
    keys = roles.page.page.keyboard
    for key in ("ArrowDown", "ArrowLeft", "Enter"):
        keys.press(key)
    expect(roles.readout).to_contain_text("L3-H8: more than half of the weight on special")
    roles.put(measure="special")
    numbers = roles.ask("measured['special'].flatten().tolist()")
    assert [roles.number(i).inner_text() for i in range(72)] == [f"{n:.2f}" for n in numbers]
    assert roles.height() == height


def test_c31_the_tab_key_comes_from_the_controls_to_the_head_that_is_read_out(roles):
    measure = roles.page.control("Measure", "combobox", roles.out)
    for head in (20, 2):
        measure.focus()
        roles.put(layer=head // 12 + 1, head=head % 12 + 1)
        measure.press("Tab")
        expect(roles.heads.nth(head)).to_be_focused()


def test_a_role_is_told_by_mark_and_border_as_well_as_by_colour(roles):
    styles = set()
    for head, mark in ((2, "←"), (20, "→"), (31, "■")):
        expect(roles.heads.nth(head).locator(".mark")).to_have_text(mark)
        style = roles.heads.nth(head).evaluate("n => getComputedStyle(n).borderTopStyle")
        styles.add(style)
    assert len(styles) == 3


def test_the_board_follows_relation_direction_and_file(board, lesson):
    height = board.height()
    table = board.out.locator(".mha-board")
    offset = "always the word at distance −2"
    for words in ("L3-H1", "79 %", "71 % to 86 %", offset, "51 %", "untrained"):
        expect(table).to_contain_text(words)
    board.press(38)
    expect(board.readout).to_have_text(
        "L4-H3: 64 %, 95 % interval 55 % to 73 %; fixed distance 51 %."
    )
    field = board.out.get_by_label("Relation")
    field.select_option(label="nmod (64)")
    expect(board.readout).to_contain_text("No head is above the fixed distance here")
    board.put(relation="obj", direction="head_to_dependent")
    expect(table).to_contain_text("L4-H2")
    path = board.out.get_by_label("CoNLL-U file")
    path.fill("<b>no such</b>.conllu")
    path.press("Enter")
    expect(board.note).to_contain_text("There is no readable file at <b>no such</b>.conllu")
    expect(board.out.locator(".mha-head-grid")).to_have_attribute("data-empty", "true")
    assert "79 %" not in board.page.read(table)
    path.fill("")
    path.press("Enter")
    expect(table).to_contain_text("L4-H2")
    assert board.height() == height


def test_similarity_moves_as_heads_go(gates):
    height = gates.height()
    expect(gates.facts).to_contain_text("similarity now 0.341")
    gates.press(71)
    expect(gates.heads.nth(71)).to_have_attribute("aria-pressed", "false")
    expect(gates.facts).to_contain_text("heads removed 1")
    expect(gates.facts).to_contain_text(f"similarity now {gates.ask('similarity'):.3f}")
    assert gates.ask("similarity") != gates.ask("whole")
    gates.out.get_by_role("button", name="Layer 6").click()
    expect(gates.facts).to_contain_text("heads removed 12")
    gates.out.get_by_role("button", name="All on").click()
    expect(gates.facts).to_contain_text("similarity now 0.341")
    assert gates.height() == height


@pytest.mark.parametrize("theme", THEMES)
def test_the_look_in_every_theme(lesson, roles, theme):
    lesson.set_theme(theme)
    try:
        for cell in ("roles-run", "board-run", "gates-run"):
            assert lesson.sideways(lesson.output(cell)) == []
            lesson.screenshot(f"lesson-08-{cell}-{theme.split()[-1]}", lesson.output(cell))
    finally:
        lesson.set_theme(THEMES[0])


def test_c42_the_spanish_edition_runs_and_speaks_spanish(lab, new_lab_page):
    with new_lab_page(1024, 900) as page:
        page.open(lab.copy("es/08_real-heads.ipynb"))
        page.run_cells("setup", "roles-run", "board-run", "gates-run")
        page.close_side_panel()
        roles = Grid(page, "roles-run")
        roles.press(20)
        expect(roles.readout).to_contain_text("L2-H9: token siguiente")
        board = Grid(page, "board-run")
        expect(board.out.locator(".mha-board")).to_contain_text("sin entrenar, su mejor cabeza")
        gates = Grid(page, "gates-run")
        gates.out.get_by_role("button", name="Capa 6").click()
        expect(gates.facts).to_contain_text("cabezas quitadas 12")
        for found in (roles, board, gates):
            said = page.read(found.out)
            for english in ("weight", "head ", "Layer", "Relation", "removed", "untrained"):
                assert english not in said, english
            assert page.sideways(found.out) == []
        page.screenshot("lesson-08-es", board.out)
