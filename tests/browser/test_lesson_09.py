"""Lesson 09 as a reader lives it: Run All, pick heads, move the threshold, read a word's edges."""

import pytest
from playwright.sync_api import expect

from .explorers import Explorer

THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")
FIRST = "The bank by the river issued a statement ."


class Graph(Explorer):
    def __init__(self, page):
        super().__init__(page, "explorer-run")
        self.view = self.out.locator(".mha-graph")
        self.arcs = self.out.locator("[data-edge]")
        self.tokens = self.out.locator("[data-token]")
        self.found = self.out.locator('.tree [data-found="true"]')

    def token(self, text: str):
        return self.tokens.filter(has_text=text).first

    def drawn(self) -> set:
        """(query, key, head from 0) of each arc on the page."""
        read = "all => all.map(a => [a.dataset.q, a.dataset.k, a.dataset.edge].map(Number))"
        return {tuple(one) for one in self.arcs.evaluate_all(read)}

    def wanted(self) -> set:
        """The same, as the kernel's graphs have it."""
        heads = self.ask("heads")
        kept = f"(list(map(list, one.edges)) for one in {self.name}.graphs)"
        edges = self.page.ask(f"[*{kept}]")
        return {(*edge, head - 1) for head, of in zip(heads, edges, strict=True) for edge in of}

    def assert_drawn(self):
        self.settle()
        assert self.drawn() == self.wanted() != set()


@pytest.fixture(scope="module")
def lesson(lab, new_lab_page):
    with new_lab_page(1400, 1000) as page:
        page.open(lab.copy("en/09_heads-as-graphs.ipynb"))
        page.run_all()
        page.close_side_panel()
        yield page


@pytest.fixture
def graph(lesson):
    found = Graph(lesson)
    found.put(sentence=FIRST, layer=1, heads=[4, 5], threshold=0.2, hide_special=False)
    return found


def test_run_all_prints_what_the_text_says(lesson):
    for cell, line in (
        ("graph-run", "nodes 11 edges 121"),
        ("messages-run", "largest difference < 1e-5: True"),
        ("tree-run", "L1-H3  edges  920   found 396"),
    ):
        expect(lesson.output(cell)).to_contain_text(line)
    assert lesson.page.get_by_text("Traceback").count() == 0


def test_the_arcs_on_the_page_are_the_kernels_edges_after_every_move(graph):
    height = graph.height()
    graph.assert_drawn()
    expect(graph.found).to_have_count(4)
    threshold = graph.slider("Threshold")
    for _ in range(5):
        threshold.press("ArrowRight")
    expect(graph.view.locator(".title")).to_contain_text("at least 0.25")
    graph.assert_drawn()
    graph.heads.nth(8).click()  # H9
    expect(graph.heads.nth(8)).to_have_attribute("aria-pressed", "true")
    graph.assert_drawn()
    graph.out.get_by_role("checkbox").check()
    expect(graph.tokens).to_have_count(9)
    expect(graph.note).to_contain_text("Rows are not rescaled")
    graph.assert_drawn()
    graph.slider("Layer").press("ArrowRight")
    graph.assert_drawn()
    assert graph.height() == height


def test_c24_an_empty_graph_and_no_head_are_said_in_words(graph):
    height = graph.height()
    graph.put(threshold=0.99)
    expect(graph.note).to_contain_text("No edge: no weight shown reaches 0.99. The largest is 0.76")
    expect(graph.view).to_have_attribute("data-empty", "true")
    expect(graph.arcs).to_have_count(0)
    graph.put(threshold=0.2)
    for head in (3, 4):
        graph.heads.nth(head).click()
    expect(graph.note).to_contain_text("No head is picked")
    expect(graph.tokens).to_have_count(0)
    assert "edges in the union" not in graph.page.read(graph.out)
    expect(graph.out.locator("summary")).to_be_hidden()
    assert graph.height() == height
    graph.heads.nth(0).click()
    expect(graph.tokens).to_have_count(11)
    graph.assert_drawn()
    assert graph.height() == height


def test_c30_keys_alone_reach_heads_words_and_their_edges(graph, lesson):
    keys = lesson.page.keyboard
    graph.heads.nth(11).focus()
    keys.press("Tab")
    expect(graph.tokens.nth(0)).to_be_focused()
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    expect(graph.tokens.nth(2)).to_be_focused()
    expect(graph.readout).to_contain_text("bank looks at: river 0.67 (H5)")
    lit = graph.out.locator(".arcs .lit").count()
    touching = [edge for edge in graph.wanted() if 2 in edge[:2]]
    assert lit == len(touching) > 0
    keys.press("Escape")
    expect(graph.readout).to_contain_text("Point at a word")
    keys.press("End")
    expect(graph.tokens.nth(10)).to_be_focused()
    graph.heads.nth(0).focus()
    keys.press("Enter")
    expect(graph.heads.nth(0)).to_have_attribute("aria-pressed", "true")
    expect(graph.heads.nth(0)).to_be_focused()
    graph.assert_drawn()


def test_c21_pointing_at_one_the_marks_its_own_edges_only(graph):
    graph.tokens.nth(4).hover()
    expect(graph.readout).to_contain_text("the (5) looks at")
    expect(graph.out.locator(".token.here")).to_have_count(1)
    graph.tokens.nth(1).hover()
    expect(graph.readout).to_contain_text("The (2) looks at")


def test_another_sentence_with_a_tree_and_one_of_the_readers(graph):
    height = graph.height()
    graph.out.get_by_label("Sentence with a tree").select_option(label="Birds eat seeds .")
    expect(graph.tokens).to_have_count(6)
    graph.assert_drawn()
    field = graph.out.get_by_label("or your own")
    field.fill("<b>two</b> words")
    field.press("Enter")
    expect(graph.token("two")).to_be_visible()
    assert "".join(graph.tokens.all_text_contents()[1:-1]) == "<b>two</b>words"
    expect(graph.view).to_contain_text("no tree: this sentence is not one of the course's")
    assert graph.height() == height


def test_the_table_opens_with_the_degrees(graph):
    graph.out.get_by_text("Table of degrees").click()
    table = graph.out.locator(".mha-graph table")
    expect(table.locator("tr")).to_have_count(12)
    degrees = graph.ask("union.in_degree(0)")
    expect(table.locator("tr").nth(1).locator("td").nth(1)).to_have_text(str(degrees))
    graph.out.get_by_text("Table of degrees").click()


def test_c31_the_look_in_every_theme(lesson, graph):
    try:
        for theme in THEMES:
            lesson.set_theme(theme)
            assert lesson.sideways(graph.out) == []
            ratio, text, count = lesson.worst_contrast(graph.whole)
            assert count > 30 and ratio >= 4.5, (theme, text, ratio)
            lesson.screenshot(f"lesson-09-{theme.split()[-1]}", graph.out)
    finally:
        lesson.set_theme(THEMES[0])


def test_c42_the_spanish_edition_runs_and_speaks_spanish(lab, new_lab_page):
    with new_lab_page(1024, 900) as page:
        page.open(lab.copy("es/09_heads-as-graphs.ipynb"))
        page.run_cells("setup", "explorer-run")
        page.close_side_panel()
        graph = Graph(page)
        graph.assert_drawn()
        graph.put(layer=4, heads=[2, 4], hide_special=True, threshold=0.1)
        graph.assert_drawn()
        graph.tokens.nth(1).hover()
        expect(graph.readout).to_contain_text("mira a:")
        parts = (graph.view, graph.facts, graph.note)
        said = " ".join(page.read(part) for part in parts)
        for english in ("edge", "weight", "head", "Layer", "Threshold", "looks", "tree"):
            assert english not in said, english
        assert page.sideways(graph.out) == []
        page.screenshot("lesson-09-es", graph.out)
