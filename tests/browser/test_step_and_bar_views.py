"""The shape trace and the bars in a real JupyterLab: mouse, keys, themes, widths, heights."""

import pytest
from playwright.sync_api import expect

SHAPES = """
import torch
from helpers.attention import MultiHeadAttention
from helpers.shapes import shape_trace
from helpers.views.shape_trace_view import ShapeTraceView

def steps(H=8, d_model=512, T=9):
    layer = MultiHeadAttention(d_model, H, generator=torch.Generator().manual_seed(0))
    return shape_trace(layer.trace(torch.zeros(1, T, d_model)))

view = ShapeTraceView(steps())
view
"""
ANSWERING = """
answering = ShapeTraceView(steps())
answering.observe(lambda change: answering.show(steps(H=4)), "selected")
answering
"""
BARS = """
from helpers.views.bar_view import BarView
tokens = "the cat sat on the mat because the mat was warm <b>x</b> هذا".split()
bars = BarView()
bars.show(tokens, [(i + 1) / 91 for i in range(13)], title="<i>$T$</i>", markers={"half": 0.5})
bars
"""
SERIES = """
two = BarView()
two.show_series(["a", "b"], {"scaled": [0.25, 0.75], "unscaled": [0.0, 1.0]})
two
"""
RESET = f"""
view.selected = answering.selected = None
view.show(steps())
answering.show(steps())
{BARS.strip().splitlines()[-2]}
"""
CELLS = [
    SHAPES,
    "view.show(steps(H=4, T=5))",
    "view.clear('H = 5 does not divide d_model = 512 <b>!</b>')",
    "print('selected', view.selected)",
    ANSWERING,
    BARS,
    "bars.show(tokens, [1 / 13] * 13, title='even', markers={'half': 0.5})",
    "bars.clear('nothing <b>here</b>')",
    SERIES,
    "cleared = ShapeTraceView(steps()); cleared.clear('No shapes.')\ncleared",
    "view.show(steps(T=2000), batch=True)",
    RESET,
]

SHOWN = ".panel.shown"


@pytest.fixture(scope="module")
def opened(lab, new_lab_page):
    with new_lab_page(1400, 1000) as page:
        page.open(lab.write("step-and-bar-views.ipynb", CELLS)).run_all()
        yield page


@pytest.fixture
def notebook(opened):
    """The page with every view as its cell first showed it."""
    opened.page.set_viewport_size({"width": 1400, "height": 1000})
    opened.run_cell(len(CELLS) - 1)
    return opened


@pytest.fixture
def shapes(notebook):
    return notebook.output(0).locator(".mha-shapes")


@pytest.fixture
def bars(notebook):
    return notebook.output(5).locator(".mha-bars")


def step(view, name):
    return view.locator(f'[data-step="{name}"]')


def painted(view):
    return int(view.get_attribute("data-painted"))


def test_cards_hold_the_numbers_in_the_colour_of_their_axis(shapes):
    card = step(shapes, "Q_heads")
    expect(card.locator(".shape")).to_have_text("(8, 9, 64)")
    expect(card.locator(".strides")).to_have_text("(64, 512, 1)")
    expect(card.locator(".symbols")).to_have_text("(H, T, dk)")
    expect(card.locator(".name sub")).to_have_text("heads")
    expect(step(shapes, "output").locator(".operation sub")).to_have_text("O")
    inks = card.locator(".shape span").evaluate_all(
        "all => all.map(n => getComputedStyle(n).color)"
    )
    assert inks == ["rgb(179, 89, 0)", "rgb(11, 110, 153)", "rgb(107, 63, 160)"]
    assert "H = 8, T = 9, d_k = 64" in card.get_attribute("aria-label")


def test_a_click_explains_the_step_and_python_knows(notebook, shapes):
    expect(shapes.locator(SHOWN)).to_contain_text("Choose a step")
    step(shapes, "Q_heads").click()
    expect(shapes.locator(SHOWN)).to_have_count(1)
    expect(shapes.locator(SHOWN)).to_contain_text("each head gets a 9 × 64 table")
    expect(shapes.locator(SHOWN)).to_contain_text("not contiguous")
    notebook.run_cell(3)
    expect(notebook.output(3)).to_have_text("selected 3")


def test_c30_the_keyboard_alone_is_enough_and_moves_no_cell(notebook, shapes):
    keys = notebook.page.keyboard
    step(shapes, "X").focus()
    for key, name in (
        ("Enter", "X"), ("ArrowRight", "Q"), ("End", "output"), ("ArrowRight", "output"),
        ("ArrowLeft", "concat"), ("Home", "X"), ("ArrowUp", "X"),
    ):  # fmt: skip
        keys.press(key)
        expect(step(shapes, name)).to_be_focused()
        expect(shapes.locator('[aria-selected="true"]')).to_have_attribute("data-step", name)
    assert shapes.locator('.step[tabindex="0"]').count() == 1
    cells, active = len(notebook.cell_ids()), notebook.page.locator(".jp-mod-active.jp-Cell")
    before = active.get_attribute("data-windowed-list-index")
    for key in ("ArrowDown", "k", "b"):  # down, up and "new cell below" to JupyterLab
        keys.press(key)
        assert len(notebook.cell_ids()) == cells, key
        assert active.get_attribute("data-windowed-list-index") == before, key


def test_arrow_down_goes_to_the_card_below(notebook, shapes):
    notebook.page.set_viewport_size({"width": 1100, "height": 1000})
    first = step(shapes, "X")
    first.focus()
    notebook.page.keyboard.press("ArrowDown")
    below = shapes.locator('[aria-selected="true"]')
    assert below.bounding_box()["y"] > first.bounding_box()["y"]
    assert below.bounding_box()["x"] == pytest.approx(first.bounding_box()["x"], abs=1)


def test_c30_focus_survives_a_new_picture(notebook):
    view = notebook.output(4).locator(".mha-shapes")
    step(view, "Q").focus()
    notebook.page.keyboard.press("ArrowRight")  # Python answers with H = 4
    expect(step(view, "Q_view").locator(".shape")).to_have_text("(9, 4, 128)")
    expect(step(view, "Q_view")).to_be_focused()
    expect(view.locator(SHOWN)).to_contain_text("H = 4")


def test_c05_c23_changing_and_clearing_keeps_the_height(notebook, shapes):
    step(shapes, "Q").click()
    height, count = shapes.bounding_box()["height"], painted(shapes)
    notebook.run_cell(1)
    expect(step(shapes, "Q").locator(".shape")).to_have_text("(5, 512)")
    assert painted(shapes) == count + 1  # one change, one picture
    assert shapes.bounding_box()["height"] == height
    notebook.run_cell(2)
    expect(shapes.locator(SHOWN)).to_have_text("H = 5 does not divide d_model = 512 <b>!</b>")
    expect(step(shapes, "Q").locator(".shape")).to_have_text("–")
    assert "512" not in notebook.read(shapes.locator(".steps"))
    assert "5" not in step(shapes, "Q").get_attribute("aria-label")
    assert shapes.bounding_box()["height"] == height
    notebook.run_cell(1)
    expect(step(shapes, "Q").locator(".shape")).to_have_text("(5, 512)")
    assert shapes.bounding_box()["height"] == height


def test_c23_choosing_another_step_moves_nothing_below(notebook, shapes):
    notebook.page.set_viewport_size({"width": 900, "height": 1000})
    heights = set()
    for name in ("X", "Q", "Q_heads", "weights", "concat", "output"):
        step(shapes, name).click()
        expect(shapes.locator(SHOWN)).to_have_attribute("data-sentence", name)
        heights.add(shapes.bounding_box()["height"])
    assert len(heights) == 1


@pytest.mark.parametrize("width", [1400, 1024, 640])
def test_c31_steps_stand_in_even_rows_and_nothing_sticks_out(notebook, shapes, width):
    notebook.page.set_viewport_size({"width": width, "height": 1000})
    notebook.scroll_to(0)
    tops = shapes.locator(".step").evaluate_all(
        "all => all.map(n => Math.round(n.getBoundingClientRect().top))"
    )
    rows = [tops.count(top) for top in sorted(set(tops))]
    assert len(tops) == 10 and max(rows) - min(rows) <= max(rows) // 2
    if shapes.bounding_box()["width"] >= 620:
        assert len(rows) <= 2
    assert not sticks_out(shapes)
    notebook.run_cell(10)  # strides of seven digits
    expect(step(shapes, "X").locator(".strides")).to_have_text("(1024000, 512, 1)")
    assert not sticks_out(shapes)


def sticks_out(view):
    return view.locator(".step").evaluate_all(
        "(all, n) => [...all, n].some(n => n.scrollWidth > n.clientWidth)",
        view.element_handle(),
    )


def test_c20_c21_bars_are_as_many_as_tokens_and_text_stays_text(bars):
    rows = bars.locator("[data-bar]")
    expect(rows).to_have_count(13)
    labels = rows.locator(".label").all_inner_texts()
    assert labels.count("the") == 3 and labels.count("mat") == 2
    assert labels[11:] == ["<b>x</b>", "هذا"]
    expect(bars.locator(".title")).to_have_text("<i>$T$</i>")
    assert bars.locator(".label b, .title i, mjx-container").count() == 0
    expect(rows.nth(12).locator(".number")).to_have_text("0.14")
    expect(bars.locator(".totals")).to_have_text("sum 1.000")


def test_bars_are_as_long_as_their_values(bars):
    def shares():
        return bars.locator(".fill").evaluate_all(
            "all => all.map(n => parseFloat(getComputedStyle(n).width)"
            " / n.parentElement.getBoundingClientRect().width)"
        )

    bars.evaluate("n => Promise.all(n.getAnimations({ subtree: true }).map(a => a.finished))")
    assert shares() == pytest.approx([(i + 1) / 91 for i in range(13)], abs=0.004)
    line = bars.locator("[data-marker]").bounding_box()
    track = bars.locator(".track").first.bounding_box()
    middle = track["x"] + track["width"] / 2
    assert line["x"] + line["width"] / 2 == pytest.approx(middle, abs=2)


def test_bars_change_in_one_go_at_one_height(notebook, bars):
    height, count = bars.bounding_box()["height"], painted(bars)
    notebook.run_cell(6)
    expect(bars.locator(".title")).to_have_text("even")
    assert bars.locator(".number").all_inner_texts() == ["0.08"] * 13
    assert painted(bars) == count + 1
    assert bars.bounding_box()["height"] == height
    notebook.run_cell(7)
    expect(bars.locator(".reason")).to_have_text("nothing <b>here</b>")
    assert bars.locator(".number").all_inner_texts() == ["–"] * 13
    assert bars.bounding_box()["height"] == height
    assert not bars.locator(".totals").is_visible()


def test_series_have_a_legend_and_differ_by_more_than_colour(notebook):
    view = notebook.output(8).locator(".mha-bars")
    expect(view.locator(".legend")).to_have_text("scaledunscaled")
    first = view.locator("[data-bar='0'] .fill")
    expect(first).to_have_count(2)
    patterns = first.evaluate_all("all => all.map(n => getComputedStyle(n).backgroundImage)")
    assert patterns[0] == "none" and "gradient" in patterns[1]
    expect(view.locator("[data-bar='1'] .number").nth(1)).to_have_text("1.00")


def test_c31_every_theme_keeps_text_readable_after_the_switch(notebook, shapes, bars):
    step(shapes, "scores").click()
    cleared = notebook.output(9).locator(".mha-shapes")
    try:
        for theme in ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast"):
            notebook.set_theme(theme)
            for view, least in ((shapes, 60), (bars, 25), (cleared, 60)):
                ratio, text, count = notebook.worst_contrast(view)
                assert ratio >= 4.5, (theme, text)
                assert count >= least
            ink = step(shapes, "Q").locator(".shape span").first
            wanted = "rgb(11, 110, 153)" if theme == "JupyterLab Light" else "rgb(86, 180, 233)"
            expect(ink).to_have_css("color", wanted)
    finally:
        notebook.set_theme("JupyterLab Light")


def test_c26_a_closed_output_leaves_nothing_behind(notebook):
    notebook.run_cell(0)
    assert notebook.output(0).locator(".mha-shapes").count() == 1
    notebook.cell(0).locator(".jp-InputPrompt").click()
    notebook.menu("Edit", "Clear Cell Output")
    expect(notebook.output(0).locator(".mha-shapes")).to_have_count(0)
    notebook.run_cell(1)  # the guard fails the test if the dead view complains
