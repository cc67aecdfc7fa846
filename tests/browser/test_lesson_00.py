"""Lesson 00 as a reader lives it: Run All, move, type, point, enlarge, answer."""

import re

import pytest
from playwright.sync_api import expect

from .explorers import Explorer

SENTENCE = "The bank by the river issued a statement."
WIDTH, HEADS, TOKENS = "Model width (d_model)", "Number of heads (H)", "Tokens (T)"
THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")


@pytest.fixture(scope="module")
def lesson(lab, new_lab_page):
    with new_lab_page(1400, 1000) as page:
        page.open(lab.copy("en/00_start-here.ipynb"))
        page.run_all()
        page.close_side_panel()
        yield page


@pytest.fixture
def explorer(lesson):
    """The explorer as the cell first showed it, and the mouse away from it."""
    found = Explorer(lesson, "first-explorer")
    found.put(sentence=SENTENCE, T=9, d_model=64, H=8, seed=0, mask="none", temperature=1.0)
    found.pointer()
    lesson.scroll_to("first-explorer")
    lesson.page.mouse.move(5, 500)
    return found


@pytest.fixture
def quiz(lesson):
    lesson.output("quiz-run").locator(".mha-quiz-reset").click()
    lesson.wait_until_idle()
    return lesson.output("quiz-run")


def test_run_all_leaves_a_live_explorer_that_agrees_with_its_kernel(lesson, explorer):
    expect(lesson.output("setup")).to_contain_text("Everything this lesson needs is here.")
    expect(lesson.output("check-weights-run")).to_contain_text("6 layers, 12 heads")
    assert lesson.page.get_by_text("Traceback").count() == 0
    explorer.assert_agrees(WIDTH, HEADS, TOKENS)


def test_h_follows_the_mouse(explorer):
    height = explorer.height()
    slider = explorer.slider(HEADS)
    explorer.page.drag(slider, 2 / 6)  # 1, 2, 4, 8, 16, 32, 64: the third of seven
    expect(explorer.maps).to_have_attribute("data-shape", "4,9,9")
    assert explorer.value(HEADS) == "4"
    explorer.assert_agrees(WIDTH, HEADS, TOKENS)
    explorer.page.drag(slider, 0)
    expect(explorer.maps).to_have_attribute("data-shape", "1,9,9")
    explorer.assert_agrees(WIDTH, HEADS, TOKENS)
    assert explorer.height() == height


def test_c08_keys_take_h_through_its_divisors_and_the_parameters_stay(explorer):
    slider = explorer.slider(HEADS)
    explorer.put(H=1)
    for H in (1, 2, 4, 8, 16, 32, 64):
        expect(explorer.maps).to_have_attribute("data-shape", f"{H},9,9")
        expect(explorer.facts).to_contain_text("parameters 16,384 = 4 · 64²")
        expect(explorer.facts).to_contain_text(f"d_k = 64 / {H} = {64 // H}")
        expect(slider).to_have_attribute("aria-valuetext", str(H))
        slider.press("ArrowRight")
    explorer.assert_agrees(WIDTH, HEADS, TOKENS)  # H = d_model, d_k = 1


def test_c28_d_model_to_97_and_back_keeps_everything_in_agreement(explorer):
    height = explorer.height()
    slider, draws = explorer.slider(WIDTH), explorer.ask("draws")
    slider.press("ArrowRight")
    expect(explorer.maps).to_have_attribute("data-shape", "8,9,9")
    explorer.assert_agrees(WIDTH, HEADS, TOKENS)
    expect(explorer.note).to_have_text("")
    slider.press("ArrowRight")
    expect(explorer.note).to_contain_text("H went from 8 to 1")
    expect(explorer.note).to_contain_text("d_model = 97")
    explorer.assert_agrees(WIDTH, HEADS, TOKENS)
    for width in (96, 64, 48):
        slider.press("ArrowLeft")
        expect(explorer.shape("X")).to_have_text(f"(9, {width})")
        expect(explorer.note).to_have_text("")
        explorer.assert_agrees(WIDTH, HEADS, TOKENS)
    assert explorer.ask("draws") == draws + 5  # one for each move
    assert explorer.height() == height


def test_c28_a_legal_h_stays_where_it_is_when_its_slider_grows(explorer):
    explorer.put(H=32)  # the sixth divisor of 64, the tenth of 96
    explorer.slider(WIDTH).press("ArrowRight")
    expect(explorer.shape("Q_view")).to_have_text("(9, 32, 3)")
    explorer.assert_agrees(WIDTH, HEADS, TOKENS)
    assert explorer.ask("H") == 32
    for key, shape in (("ArrowRight", "(9, 48, 2)"), ("End", "(9, 96, 1)"), ("Home", "(9, 1, 96)")):
        explorer.slider(HEADS).press(key)
        expect(explorer.shape("Q_view")).to_have_text(shape)
        explorer.assert_agrees(WIDTH, HEADS, TOKENS)
    explorer.put(H=96)
    explorer.slider(WIDTH).press("ArrowRight")
    expect(explorer.note).to_contain_text("H went from 96 to 97")
    explorer.assert_agrees(WIDTH, HEADS, TOKENS)


def test_c05_an_impossible_h_is_explained_and_repaired(explorer):
    height, before = explorer.height(), explorer.weights()
    typed = explorer.out.get_by_label("H by hand")
    typed.fill("5")
    typed.press("Enter")
    for words in ("H = 5 does not divide d_model = 64", "remainder 4", "4 or 8"):
        expect(explorer.note).to_contain_text(words)
    expect(explorer.note).to_have_attribute("data-kind", "problem")
    expect(explorer.maps).to_have_attribute("data-empty", "true")
    expect(explorer.out.locator("[data-notice]")).to_contain_text("H = 5 does not divide")
    expect(explorer.heads).to_have_count(0)
    expect(explorer.shape("Q_heads")).to_have_text("–")
    expect(typed).to_have_value("5")  # what was typed stays, to be seen and mended
    assert "16,384" not in explorer.page.read(explorer.out)
    assert explorer.height() == height
    assert explorer.out.get_by_role("button", name="Use H = 4").is_visible()
    explorer.out.get_by_role("button", name="Use H = 8").click()
    expect(explorer.maps).to_have_attribute("data-shape", "8,9,9")
    explorer.assert_agrees(WIDTH, HEADS, TOKENS)
    expect(typed).to_have_value("8")
    assert (explorer.weights() == before).all()
    assert explorer.out.get_by_role("button", name="Use H = 4").is_hidden()
    assert explorer.height() == height


def test_c18_c20_any_script_and_any_mark_in_a_sentence_stays_text(explorer):
    field = explorer.page.textbox("Sentence", explorer.out)
    sentence = '<b>bold</b> $x$ & "q" Gracias 漢字 ありがとう 😀 👩‍💻 هذا'
    field.fill(sentence)
    field.press("Enter")
    explorer.settle()
    tokens = explorer.ask("tokens")
    assert "漢字" in tokens and "هذا" in tokens and "".join(tokens) == sentence.replace(" ", "")
    expect(explorer.maps).to_have_attribute("data-shape", f"8,{len(tokens)},{len(tokens)}")
    for axis in (".mha-map .mha-queries > div", ".mha-map .mha-keys > div"):
        names = explorer.out.locator(axis).locator("span").all_inner_texts()
        assert names == tokens
    assert explorer.out.locator("script, mjx-container, .mha-axis b").count() == 0
    word = explorer.out.locator(".mha-queries span").get_by_text("هذا", exact=True).first
    assert word.evaluate("n => getComputedStyle(n).direction") == "rtl"
    explorer.assert_agrees(WIDTH, HEADS, TOKENS)
    field.fill("")
    field.press("Enter")
    expect(explorer.note).to_contain_text("There is no word to look at.")
    expect(explorer.maps).to_have_attribute("data-empty", "true")


def test_pointing_at_a_cell_reads_out_the_kernels_number(explorer):
    weights, words = explorer.weights(), explorer.ask("tokens")
    for query, key in ((1, 4), (4, 1), (8, 0)):
        explorer.over_cell(query, key)
        expect(explorer.readout).to_have_text(
            f"{words[query]} → {words[key]}: {weights[0, query, key]:.2f} "
            f"of {words[query]}'s attention in head 1"
        )
    for head in (1, 7):  # the small maps read out as well
        explorer.over_cell(6, 2, explorer.heads.nth(head).locator("canvas"))
        expect(explorer.readout).to_have_text(
            f"a → by: {weights[head, 6, 2]:.2f} of a's attention in head {head + 1}"
        )
    explorer.page.page.mouse.move(5, 500)
    expect(explorer.readout).to_contain_text("Point at a cell")


def test_a_click_enlarges_a_head_and_pins_a_cell(explorer):
    explorer.heads.nth(5).click()
    explorer.settle()
    assert explorer.ask("maps.selected") == 5
    explorer.assert_painted()
    explorer.over_cell(3, 7)
    explorer.page.page.mouse.down()
    explorer.page.page.mouse.up()
    explorer.page.page.mouse.move(5, 500)
    weight = explorer.weights()[5, 3, 7]
    expect(explorer.readout).to_contain_text(f"the → statement: {weight:.2f}")
    assert explorer.ask("maps.pointed") == [3, 7]


def test_c30_the_keyboard_enlarges_a_head_and_walks_its_cells(explorer):
    keys, weights = explorer.page.page.keyboard, explorer.weights()
    explorer.heads.nth(0).focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowRight", "ArrowRight"):
        keys.press(key)
    expect(explorer.heads.nth(6)).to_be_focused()  # two rows of four
    keys.press("Enter")
    expect(explorer.heads.nth(6)).to_have_attribute("aria-pressed", "true")
    expect(explorer.heads.nth(6)).to_be_focused()
    explorer.settle()
    explorer.assert_painted()
    expect(explorer.out.locator(".mha-title b")).to_have_text("head 7")
    query, key = divmod(int(weights[6].argmax()), 9)
    words = explorer.page.ask(f"{explorer.name}.maps.frame['query_titles']")
    strongest = f"strongest: {words[query]} → {words[key]} {weights[6].max():.2f}"
    expect(explorer.large).to_have_attribute("aria-label", f"head 7, {strongest}")
    explorer.large.focus()
    for press in (
        "ArrowDown",
        "ArrowDown",
        "ArrowRight",
        "ArrowRight",
        "ArrowRight",
        "Home",
        "End",
    ):
        keys.press(press)
    expect(explorer.readout).to_contain_text(f"bank → .: {weights[6, 1, 8]:.2f}")
    expect(explorer.large).to_be_focused()
    expect(explorer.out.locator(".mha-one [aria-live]")).to_contain_text("bank → .")
    keys.press("Escape")
    expect(explorer.readout).to_contain_text("Point at a cell")


def test_arcs_and_table_show_the_same_numbers(explorer):
    height, weights = explorer.height(), explorer.weights()
    explorer.out.get_by_role("radio", name="arcs").click()
    arcs = explorer.out.locator("[data-arcs]")
    expect(arcs).to_be_visible()
    expect(arcs.locator("path")).to_have_count(int((weights[0] > 0).sum()))
    widths = arcs.locator("path").evaluate_all(
        "all => all.map(p => +p.getAttribute('stroke-width'))"
    )
    assert widths == sorted(widths) and widths[-1] > 2 * widths[0]
    explorer.page.page.keyboard.press("ArrowRight")  # the radios are one group
    table = explorer.out.locator("[data-table]")
    expect(table).to_be_visible()
    rows = [line.split("\t") for line in table.locator("tbody").inner_text().split("\n")]
    assert [row[0] for row in rows][:2] == ["The", "bank"] and len(rows) == 9
    shown = [[float(number) for number in row[1:]] for row in rows]
    assert abs(weights[0] - [row[:-1] for row in shown]).max() <= 0.0005001
    assert all(row[-1] == 1 for row in shown)
    assert explorer.height() == height
    explorer.out.get_by_role("radio", name="map").click()
    expect(explorer.large).to_be_visible()
    explorer.out.get_by_label("row sums").check()
    expect(explorer.out.locator(".mha-sums > div span").nth(3)).to_have_text("1.000")
    assert explorer.height() == height
    explorer.out.get_by_label("row sums").uncheck()


def test_the_mask_empties_the_upper_right(explorer):
    explorer.out.get_by_label("Mask").select_option("causal: no looking ahead")
    explorer.settle()
    explorer.assert_agrees(WIDTH, HEADS, TOKENS)
    weights = explorer.weights()
    assert weights[:, 0, 0].min() == 1 and weights[:, 0, 1:].max() == 0
    explorer.over_cell(0, 3)
    expect(explorer.readout).to_contain_text("The → the: 0.00")


def test_the_temperature_and_seed_move_the_picture_and_come_back(explorer):
    before = explorer.weights()
    explorer.slider("Temperature").press("ArrowLeft")
    explorer.settle()
    explorer.assert_painted()
    assert explorer.weights().max() > before.max()
    explorer.slider("Temperature").press("ArrowRight")
    seed = explorer.out.get_by_label("Seed of the weights")
    seed.fill("1")
    seed.press("Enter")
    explorer.settle()
    explorer.assert_painted()
    assert abs(explorer.weights() - before).max() > 0.1
    seed.fill("0")
    seed.press("Enter")
    explorer.settle()
    assert (explorer.weights() == before).all()
    explorer.assert_agrees(WIDTH, HEADS, TOKENS)


def test_c30_tab_goes_through_every_part_in_order(explorer):
    page = explorer.page.page
    explorer.heads.first.focus()  # the small map that Tab comes to
    explorer.page.textbox("Sentence", explorer.out).focus()
    named = """() => {
      const node = document.activeElement;
      if (!node.closest(".mha-explorer")) return null;
      return node.getAttribute("aria-label") || node.labels?.[0]?.textContent || node.title
        || node.closest("label")?.textContent || node.textContent;
    }"""
    names = []  # a slider's readout comes after its handle and has the same name
    while (name := page.evaluate(named)) is not None and len(names) < 30:
        names.append(re.sub(r"[,:].*", "", name))
        page.keyboard.press("Tab")
    assert list(dict.fromkeys(names)) == [
        "Sentence", "Mask", "Seed of the weights", WIDTH, HEADS, "H by hand", TOKENS,
        "Temperature", "Step 1 of 10", "head 1", "map", "row sums",
    ]  # fmt: skip
    assert names.count("head 1") == 2  # small, and large


def test_c30_every_control_has_a_name_and_sliders_speak_their_value(explorer):
    sliders = WIDTH, HEADS, TOKENS, "Temperature"
    explorer.page.expect_named(explorer.whole.get_by_role("slider"), *sliders)
    explorer.slider(HEADS).press("ArrowRight")
    explorer.slider(WIDTH).press("ArrowRight")
    explorer.settle()
    # What is spoken for "aria-valuenow", the place of the option: "4" and "9" without it.
    for name, value in zip(sliders, ("96", "16", "9", "1.0"), strict=True):
        expect(explorer.slider(name)).to_have_attribute("aria-valuetext", value)
        assert explorer.value(name) == value
    for role, least in (("button", 8), ("textbox", 1), ("radio", 3), ("checkbox", 1),
                        ("combobox", 1), ("spinbutton", 2), ("tab", 10)):  # fmt: skip
        assert explorer.page.expect_named(explorer.whole.get_by_role(role)) >= least, role


def test_c30_focus_stays_on_the_slider_while_the_picture_changes(explorer):
    cells = len(explorer.page.cell_ids())
    slider = explorer.slider(HEADS)
    slider.focus()
    for key, H in (("ArrowRight", 16), ("ArrowLeft", 8), ("Home", 1), ("ArrowUp", 2), ("End", 64)):
        explorer.page.page.keyboard.press(key)
        expect(explorer.maps).to_have_attribute("data-shape", f"{H},9,9")
        expect(slider).to_be_focused()
    assert len(explorer.page.cell_ids()) == cells


def test_c31_every_text_is_readable_in_every_theme(lesson, explorer, quiz):
    explorer.put(d_model=97)  # the note says something
    explorer.large.click()
    form = quiz.locator(".mha-quiz-form").first
    form.get_by_label("the tokens of the sentence").check()
    form.get_by_role("button").click()
    expect(form).to_have_attribute("data-verdict", "wrong")
    try:
        for theme in THEMES:
            lesson.set_theme(theme)  # after drawing
            for part, least in (
                (explorer.whole, 100), (explorer.maps, 20), (explorer.note, 1),
                (explorer.out.locator(".mha-shapes"), 60), (quiz.locator(".mha-quiz"), 20),
            ):  # fmt: skip
                ratio, text, count = lesson.worst_contrast(part)
                assert ratio >= 4.5, (theme, text)
                assert count >= least
            explorer.assert_painted()
        explorer.put(H=5)
        ratio, text, _ = lesson.worst_contrast(explorer.whole)
        assert ratio >= 4.5, text
    finally:
        lesson.set_theme("JupyterLab Light")


@pytest.mark.parametrize("zoom", [1, 2, 4])
def test_c31_zoomed_in_a_window_of_1024_nothing_is_lost_sideways(lesson, explorer, zoom):
    try:
        lesson.zoom(zoom, width=1024, height=768)
        lesson.scroll_to("first-explorer")
        assert lesson.sideways(explorer.out) == []
        slider = explorer.slider(HEADS)
        track = slider.locator("xpath=ancestor::*[contains(@class, 'noUi-base')]").bounding_box()
        assert track["width"] >= 100
        slider.press("ArrowLeft")
        expect(explorer.maps).to_have_attribute("data-shape", "4,9,9")
        explorer.assert_agrees(WIDTH, HEADS, TOKENS)
    finally:
        lesson.zoom(1, width=1400, height=1000)


def test_a_quiz_answer_wrong_then_right(lesson, quiz):
    form, why = quiz.locator(".mha-quiz-form").nth(0), quiz.locator(".mha-quiz-why").nth(0)
    expect(quiz.locator(".mha-quiz-score")).to_have_text("0 of 3 right on the first try")
    form.get_by_role("button").click()
    expect(form.locator(".mha-quiz-said")).to_have_text("Choose an option first.")
    form.get_by_label("the tokens of the sentence").check()
    form.get_by_role("button").click()
    expect(form).to_have_attribute("data-verdict", "wrong")
    expect(form.locator(".mha-quiz-said")).to_have_text("Not yet.")
    expect(why).to_contain_text("Tokens are counted by")
    form.get_by_label("the heads of one attention layer").press("Space")
    lesson.page.keyboard.press("Enter")
    expect(form).to_have_attribute("data-verdict", "right")
    expect(form.locator(".mha-quiz-said")).to_have_text("Right.")
    expect(why).to_contain_text("Each makes an attention map of its own.")
    expect(why.locator("mjx-container")).to_have_count(1)  # $H$, set without the internet
    expect(quiz.locator(".mha-quiz-score")).to_have_text("0 of 3 right on the first try")


def test_a_number_and_several_answers(lesson, quiz):
    number, several = quiz.locator(".mha-quiz-form").nth(1), quiz.locator(".mha-quiz-form").nth(2)
    field = number.get_by_label("Your number")
    field.fill("4096")
    field.press("Enter")
    expect(number).to_have_attribute("data-verdict", "wrong")
    expect(quiz.locator(".mha-quiz-why").nth(1)).to_contain_text("divide instead of multiplying")
    field.fill("64")
    field.press("Enter")
    expect(number).to_have_attribute("data-verdict", "right")
    several.get_by_label("There are 2 sentences in the batch.").check()
    several.get_by_role("button").click()
    expect(several).to_have_attribute("data-verdict", "partly")
    several.get_by_label("Each token is described by 512 numbers.").check()
    several.get_by_role("button").click()
    expect(several).to_have_attribute("data-verdict", "right")
    assert lesson.sideways(quiz) == []


# --- the Spanish edition -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def leccion(lab, new_lab_page):
    with new_lab_page(1024, 900) as page:
        page.open(lab.copy("es/00_start-here.ipynb"))
        page.close_side_panel()
        still = page.output("first-explorer").locator("img")
        page.still = still.evaluate("image => [image.complete, image.naturalWidth]")
        page.run_cells("setup", "first-explorer", "quiz-run")
        yield page


def test_c25_before_anything_runs_there_is_a_picture(leccion):
    complete, width = leccion.still
    assert complete and width > 600
    assert leccion.output("first-explorer").locator("img").count() == 0  # now the live one


def test_c31_the_spanish_labels_are_uncut_in_a_window_of_1024(leccion):
    explorer = Explorer(leccion, "first-explorer")
    leccion.scroll_to("first-explorer")
    for name in ("Número de cabezas (H)", "Anchura del modelo (d_model)"):
        label = explorer.out.locator(".widget-label").get_by_text(name, exact=True)
        cut = label.evaluate("n => n.scrollWidth - Math.ceil(n.getBoundingClientRect().width)")
        assert cut <= 0
        slider = explorer.slider(name)
        track = slider.locator("xpath=ancestor::*[contains(@class, 'noUi-base')]").bounding_box()
        box = label.bounding_box()
        assert track["width"] >= 120
        assert box["x"] + box["width"] <= track["x"]
    assert leccion.sideways(explorer.out) == []
    heads = explorer.whole.get_by_role("slider", name="Número de cabezas (H)", exact=True)
    expect(heads).to_have_count(1)


def test_c42_the_spanish_lesson_speaks_spanish(leccion):
    explorer = Explorer(leccion, "first-explorer")
    height = explorer.height()
    names = "Anchura del modelo (d_model)", "Número de cabezas (H)", "Tokens (T)"
    explorer.page.drag(explorer.slider(names[1]), 2 / 6)
    expect(explorer.maps).to_have_attribute("data-shape", "4,9,9")
    explorer.assert_agrees(*names)
    typed = explorer.out.get_by_label("H a mano")
    typed.fill("5")
    typed.press("Enter")
    expect(explorer.note).to_contain_text("H = 5 no divide a d_model = 64")
    expect(explorer.note).to_contain_text("resto 4")
    assert explorer.height() == height
    explorer.out.get_by_role("button", name="Usar H = 8").click()
    explorer.assert_agrees(*names)
    explorer.over_cell(1, 1)
    weight = explorer.weights()[0, 1, 1]
    expect(explorer.readout).to_contain_text(f"bank → bank: {weight:.2f}")
    quiz = leccion.output("quiz-run")
    quiz.locator(".mha-quiz-form button[type=submit]").first.click()
    expect(quiz.locator(".mha-quiz-said").first).to_have_text("Elige antes una opción.")
    spoken = f"{leccion.read(explorer.out)} {leccion.read(quiz)}"
    english = {
        "Point",
        "head",
        "rows",
        "sum",
        "Check",
        "Choose",
        "Sentence",
        "each",
        "not",
    }
    assert english & set(re.findall(r"\w+", spoken)) == set()
