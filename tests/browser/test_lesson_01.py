"""Lesson 01 as a reader lives it: spend a budget, widen a head, ask a real encoder, answer."""

import numpy as np
import pytest
from playwright.sync_api import expect

from .explorers import Explorer

SENTENCE = "The bank by the river issued a statement."
RIVER, ISSUED, D_K = "Score of “river”", "Score of “issued”", "Width of a query (d_k)"
WORDS = "Your sentence"
THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")
RIGHT = """def attention_weights(Q, K, mask=None):
    scores = Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    return scores.softmax(dim=-1)"""


class Bars(Explorer):
    """An explorer whose picture is a row of bars."""

    def __init__(self, page, cell):
        super().__init__(page, cell)
        self.bars = self.out.locator(".mha-bars")

    def numbers(self, series: int = 0) -> list[str]:
        """What stands beside the bars of one series."""
        return self.bars.locator(f".bar[data-series='{series}'] .number").all_inner_texts()


def written(weights) -> list[str]:
    """Weights as the bars write them."""
    return [f"{w:.2f}" if w >= 0.005 or w == 0 else "<0.01" for w in weights]


@pytest.fixture(scope="module")
def lesson(lab, new_lab_page):
    with new_lab_page(1400, 1000) as page:
        page.open(lab.copy("en/01_one-head.ipynb"))
        page.run_all()
        page.close_side_panel()
        yield page


@pytest.fixture
def budget(lesson):
    found = Bars(lesson, "budget-run")
    found.put(river=2.0, issued=2.0)
    return found


@pytest.fixture
def saturation(lesson):
    found = Bars(lesson, "saturation-run")
    found.put(d_k=64, seed=0)
    return found


@pytest.fixture
def real(lesson):
    """The real encoder, reading out bank → river in L1-H5."""
    found = Explorer(lesson, "real-run")
    found.put(sentence=SENTENCE, hide_special=False, rescale=False, layer=1, head=5)
    lesson.page.mouse.move(5, 500)
    lesson.scroll_to("real-run")
    return found


def test_run_all_leaves_no_error_and_exercises_that_wait(lesson):
    assert lesson.page.get_by_text("Traceback").count() == 0
    for exercise in ("exercise-1", "exercise-2", "exercise-3"):
        expect(lesson.output(f"{exercise}-check")).to_contain_text("Not yet")
    expect(lesson.output("real-numbers-run")).to_contain_text("bank -> river 0.67")


def test_two_scores_compete_for_one_budget(budget):
    height = budget.height()
    for name in (RIVER, ISSUED):
        budget.slider(name).press("End")
    budget.settle()
    assert (budget.ask("river"), budget.ask("issued")) == (8, 8)
    assert budget.numbers() == written(budget.ask("weights.tolist()"))
    assert budget.numbers().count("0.50") == 2  # as high as both can come
    expect(budget.note).to_contain_text("river 0.50, issued 0.50")
    budget.page.drag(budget.slider(ISSUED), 0)
    budget.settle()
    assert budget.ask("issued") == -4
    weights = budget.ask("weights.tolist()")
    assert budget.numbers() == written(weights)
    assert weights[4] > 0.99 and sum(weights) == pytest.approx(1)
    expect(budget.bars.locator(".totals")).to_have_text("sum 1.000")
    assert budget.height() == height
    budget.page.expect_named(budget.slider(RIVER), RIVER)  # not beside it alone


def test_a_wider_head_saturates_without_the_scale(saturation):
    height = saturation.height()
    slider = saturation.slider(D_K)
    slider.press("ArrowRight")
    expect(saturation.note).to_contain_text("with d_k = 128")
    saturation.settle()
    variance, entropy = saturation.ask("variance"), saturation.ask("entropy")
    expect(saturation.note).to_contain_text(f"Variance of q·k: {variance:.1f}")
    expect(saturation.note).to_contain_text(f"{entropy['scaled']:.2f} with the scale")
    assert 100 < variance < 156 and entropy["scaled"] > 2 > entropy["unscaled"]
    for i, weights in enumerate(saturation.ask("_series").values()):
        assert saturation.numbers(i) == written(weights)
    expect(slider).to_have_attribute("aria-valuetext", "128")  # and not "7", the option's place
    saturation.page.drag(slider, 0)
    expect(saturation.note).to_contain_text("with d_k = 1.")
    saturation.settle()
    assert saturation.numbers(0) == saturation.numbers(1)  # √1 = 1: the scale changes nothing
    assert saturation.height() == height
    labels = saturation.bars.locator(".label")
    last = labels.nth(15)
    box, frame = last.bounding_box(), saturation.bars.locator(".box").bounding_box()
    assert box["y"] + box["height"] <= frame["y"] + frame["height"] + 1  # all 16 keys in sight


def test_the_real_encoder_takes_bank_to_river_and_to_issued(real):
    expect(real.heads).to_have_count(72)
    expect(real.readout).to_have_text("bank → river: 0.67 of bank's attention in L1-H5")
    real.assert_painted()  # all 72, in order, from the kernel's weights
    weights, words = real.weights(), real.ask("tokens")
    bank, river, issued = (words.index(word) for word in ("bank", "river", "issued"))
    assert weights[4, bank, river] == pytest.approx(0.67, abs=0.005)
    real.heads.nth(4).focus()
    real.page.page.keyboard.press("ArrowLeft")
    real.page.page.keyboard.press("Enter")
    expect(real.out.locator(".mha-title b")).to_have_text("L1-H4")
    real.over_cell(bank, issued)
    expect(real.readout).to_have_text("bank → issued: 0.25 of bank's attention in L1-H4")
    real.settle()
    assert (real.ask("layer"), real.ask("head")) == (1, 4)
    real.heads.nth(4).focus()
    for key in ("ArrowDown", "End", "ArrowUp", "ArrowUp"):  # rows are layers
        real.page.page.keyboard.press(key)
    expect(real.heads.nth(47)).to_be_focused()  # L4-H12: two rows above L6-H12
    assert real.heads.nth(47).get_attribute("aria-label").startswith("L4-H12, strongest: ")


def test_hiding_the_special_tokens_says_what_happened_to_the_rows(real):
    height = real.height()
    full = real.weights()
    real.out.get_by_label("Hide [CLS] and [SEP]").check()
    expect(real.maps).to_have_attribute("data-shape", "72,9,9")
    expect(real.note).to_contain_text("Rows are not rescaled")
    real.assert_painted()
    hidden = real.weights()
    assert (hidden == full[:, 1:-1, 1:-1]).all() and hidden.sum(-1).mean() < 0.9
    assert "[CLS]" not in real.out.locator(".mha-axis").all_inner_texts()
    real.out.get_by_label("Rescale rows to sum to 1").check()
    expect(real.note).to_contain_text("Each row was rescaled to sum to 1")
    real.assert_painted()
    assert abs(real.weights().sum(-1) - 1).max() < 1e-5
    real.out.get_by_label("row sums").check()
    sums = real.out.locator(".mha-sums > div span")
    expect(sums.first).to_have_text("1.000")  # they come with the next frame
    assert set(sums.all_inner_texts()) == {"1.000"}
    real.out.get_by_label("row sums").uncheck()
    real.out.get_by_label("Hide [CLS] and [SEP]").uncheck()
    expect(real.maps).to_have_attribute("data-shape", "72,11,11")
    assert real.height() == height


def say(real, sentence: str):
    field = real.page.textbox(WORDS, real.out)
    field.fill(sentence)
    field.press("Enter")
    real.settle()


def test_c16_a_sentence_of_any_length_gives_72_maps_or_a_reason(real):
    height = real.height()
    say(real, "")
    expect(real.note).to_contain_text("There is no word to look at.")
    expect(real.maps).to_have_attribute("data-empty", "true")
    assert real.height() == height
    say(real, "hello")
    expect(real.maps).to_have_attribute("data-shape", "72,3,3")
    real.assert_painted()
    say(real, "the cat sat on the mat")
    expect(real.maps).to_have_attribute("data-shape", "72,8,8")  # no padding among them
    real.assert_painted()
    assert real.height() == height
    for words, tokens in ((198, 200), (600, 256)):
        say(real, "word " * words)
        expect(real.maps).to_have_attribute("data-shape", f"72,{tokens},{tokens}", timeout=60_000)
        shown = real.out.locator(".mha-map .mha-queries > div span").all()
        assert 10 < len(shown) < 60
        tops = [label.bounding_box()["y"] for label in shown]
        assert (
            min(b - a for a, b in zip(tops, tops[1:], strict=False)) >= 11
        )  # thinned, not stacked
        assert real.page.sideways(real.out) == []
        real.over_cell(tokens - 2, 1)
        expect(real.readout).to_contain_text(f"word ({tokens - 1}) → word (2):")
    expect(real.note).to_contain_text("256 of 602 tokens")
    say(real, SENTENCE)
    expect(real.maps).to_have_attribute("data-shape", "72,11,11")


def test_c18_c20_the_encoders_tokens_are_text_whatever_they_hold(real):
    say(real, '<b>bold</b> & "q" 漢字 😀 هذا [SEP] end')
    tokens = real.ask("tokens")
    expect(real.maps).to_have_attribute("data-shape", f"72,{len(tokens)},{len(tokens)}")
    labels = real.out.locator(".mha-map .mha-queries > div span").all_inner_texts()
    assert [label.strip() for label in labels] == tokens
    assert any(token.startswith("[UNK] ") for token in tokens) and tokens.count("[SEP]") == 2
    expect(real.note).to_contain_text("[SEP]")  # a typed one became a special token
    assert real.maps.locator(".mha-axis b, script").count() == 0
    real.assert_painted()


def test_c21_a_repeated_word_is_told_apart_by_its_place(real):
    say(real, "the cat sat on the mat because the mat was warm")
    words = real.ask("tokens")
    second = [i for i, word in enumerate(words) if word == "mat"][1]
    real.over_cell(second, 1)
    expect(real.readout).to_contain_text(f"mat ({second + 1}) → the (2)")
    marked = real.out.locator(".mha-map .mha-cursor-name:visible").all_inner_texts()
    assert sorted(marked) == ["mat", "the"]
    labels = real.out.locator(".mha-map .mha-queries > div span").all_inner_texts()
    assert labels == words and labels.count("the") == 3 and labels.count("mat") == 2


def test_an_exercise_answered_wrong_and_then_right(lesson):
    wrong = RIGHT.replace("Q.shape[-1] ** 0.5", "Q.shape[-1]")
    said = lesson.answer("exercise-1", wrong)
    expect(said).to_contain_text("Not right yet")
    expect(said).to_contain_text("Divided by d_k, not by its root.")
    for part in ("Expected", "What came", "Next"):
        expect(said).to_contain_text(part)
    assert lesson.worst_contrast(said.locator(".jp-OutputArea-output"))[0] >= 4.5
    said = lesson.answer("exercise-1", RIGHT.replace("    return scores", "    return oops"))
    expect(said).to_contain_text("oops")  # an error of the reader's own, kindly
    assert lesson.page.get_by_text("Traceback").count() == 0
    said = lesson.answer("exercise-1", RIGHT)
    expect(said).to_contain_text("Correct")
    expect(said).to_contain_text("mask before the softmax")


def test_c31_every_text_is_readable_in_every_theme(lesson, budget, saturation, real):
    parts = [budget.whole, saturation.whole, real.whole]
    parts += [lesson.output("exercise-2-check").locator(".jp-OutputArea-output")]
    parts += [lesson.output("quiz-run").locator(".mha-quiz")]
    try:
        for theme in THEMES:
            lesson.set_theme(theme)
            for part in parts:
                ratio, text, count = lesson.worst_contrast(part)
                assert ratio >= 4.5, (theme, text)
                assert count >= 8
    finally:
        lesson.set_theme("JupyterLab Light")


def test_c31_in_a_window_of_1024_nothing_is_lost_sideways(lesson, budget, saturation, real):
    try:
        lesson.page.set_viewport_size({"width": 1024, "height": 768})
        for part in (budget, saturation, real):
            part.settle()
            assert lesson.sideways(part.out) == []
        names = real.heads.locator("span > span")
        boxes = [name.bounding_box() for name in names.all()[:12]]
        for left, right in zip(boxes, boxes[1:], strict=False):
            assert left["x"] + left["width"] <= right["x"] + 1  # "L1-H11" covers nothing
    finally:
        lesson.page.set_viewport_size({"width": 1400, "height": 1000})


def test_c36_no_output_asks_another_machine_for_anything(lesson):
    places = lesson.page.locator(".jp-OutputArea-output :is([src], link[href], use[href])")
    asked = places.evaluate_all("all => all.map(n => n.src || n.href?.baseVal || n.href)")
    assert [place for place in asked if str(place).startswith(("http:", "https:"))] == []
    styles = lesson.page.locator(".jp-OutputArea-output style").all_inner_texts()
    assert not any("http" in style for style in styles)


def test_c26_after_a_restart_the_page_says_what_is_no_longer_connected(lesson):
    budget, real = Bars(lesson, "budget-run"), Explorer(lesson, "real-run")
    lost = "The kernel stopped or was restarted"
    assert budget.out.get_by_text(lost).locator("visible=true").count() == 0
    lesson.restart()
    for part in (budget, real):
        expect(part.out.locator(".mha-note-lost")).to_contain_text(lost)
        assert part.out.get_by_text(lost).locator("visible=true").count() == 1
        assert part.note.is_hidden()
    expect(lesson.output("quiz-run")).to_contain_text("no longer hears you")
    lesson.run_cell("setup")
    lesson.run_cell("exercise-1-check")  # before the cell with the answer
    expect(lesson.output("exercise-1-check")).to_contain_text("is not defined yet")
    expect(lesson.output("exercise-1-check")).to_contain_text("Run the cell above")
    lesson.run_cell("budget-run")
    expect(budget.out.locator(".mha-bars")).to_have_count(1)
    expect(budget.out.locator(".mha-note-lost")).to_be_hidden()
    budget.slider(RIVER).press("Home")
    budget.settle()
    assert budget.numbers() == written(budget.ask("weights.tolist()"))


# --- the Spanish edition -----------------------------------------------------------------------


def test_c42_the_spanish_lesson_from_the_budget_to_the_check(lab, new_lab_page):
    with new_lab_page(1024, 900) as page:
        page.open(lab.copy("es/01_one-head.ipynb"))
        page.close_side_panel()
        page.run_cells("setup", "input-run", "saturation-run", "budget-run", "real-run")
        real, budget = Explorer(page, "real-run"), Bars(page, "budget-run")
        expect(real.readout).to_contain_text("bank → river: 0.67")
        expect(real.readout).to_contain_text("L1-H5")
        assert np.isclose(real.weights()[4, 2, 5], 0.67, atol=0.005)
        real.out.get_by_label("Ocultar [CLS] y [SEP]").check()
        expect(real.note).to_contain_text("Las filas no están reescaladas")
        budget.slider("Score de «river»").press("End")
        expect(budget.note).to_contain_text("la suma es 1.00")
        budget.settle()
        assert budget.numbers() == written(budget.ask("weights.tolist()"))
        for part in (real, budget, Bars(page, "saturation-run")):
            assert page.sideways(part.out) == []
        said = page.answer("exercise-1", RIGHT.replace(" ** 0.5", ""))
        expect(said).to_contain_text("Dividido entre d_k, no entre su raíz.")
        expect(page.answer("exercise-1", RIGHT)).to_contain_text("Correcto")
        page.set_theme("JupyterLab Dark")
        for part in (real.whole, budget.whole, said.locator(".jp-OutputArea-output")):
            assert page.worst_contrast(part)[0] >= 4.5
