"""Lesson 02 as a reader lives it: Run All, answer wrong and then right, move the shapes."""

import pytest
from playwright.sync_api import expect

from .explorers import Explorer

WIDTH, HEADS, TOKENS = "Model width (d_model)", "Number of heads (H)", "Tokens (T)"


@pytest.fixture(scope="module")
def lesson(lab, new_lab_page):
    with new_lab_page(1400, 1000) as page:
        page.open(lab.copy("en/02_heads-and-projections.ipynb"))
        page.run_all()
        page.close_side_panel()
        yield page


@pytest.fixture
def shapes(lesson):
    found = Explorer(lesson, "explorer-run")
    found.put(T=10, d_model=512, H=8)
    lesson.scroll_to("explorer-run")
    return found


def test_run_all_leaves_no_error_and_exercises_that_wait(lesson):
    expect(lesson.output("setup")).to_contain_text("Everything this lesson needs is here.")
    assert lesson.page.get_by_text("Traceback").count() == 0
    for exercise in ("exercise-1", "exercise-2", "exercise-3"):
        expect(lesson.output(f"{exercise}-check")).to_contain_text("Not yet")
    expect(lesson.output("loop-run")).to_contain_text("heads[i]  (10, 64)")


def test_c05_head_size_wrong_answers_first(lesson):
    start = "def head_size(d_model, num_heads):\n    "
    said = lesson.answer("exercise-1", start + "return d_model / num_heads")
    expect(said).to_contain_text("A decimal number where a whole one is needed.")
    said = lesson.answer("exercise-1", start + "return d_model // num_heads")
    expect(said).to_contain_text("An impossible pair went through.")
    test = "if d_model % num_heads:\n        raise ValueError({})\n    return d_model // num_heads"
    said = lesson.answer("exercise-1", start + test.format("'not divisible'"))
    expect(said).to_contain_text("Zero heads stop at the division.")
    test = "if num_heads < 1 or d_model % num_heads:\n        raise ValueError({})\n" + (
        "    return d_model // num_heads"
    )
    said = lesson.answer("exercise-1", start + test.format("'not divisible'"))
    expect(said).to_contain_text("Your error does not name the numbers.")
    expect(said).to_contain_text("whose words hold 512 and 6")
    lesson.screenshot("lesson-02-check", said)
    said = lesson.answer("exercise-1", start + test.format("f'{d_model}, {num_heads}'"))
    expect(said).to_contain_text("Correct")


def test_c07_a_slice_of_the_token_is_told_which_feature_it_misses(lesson):
    start = "def project_one_head(X, W, head):\n    d_k = W.shape[-1]\n    return "
    cut = "X[:, head * d_k : (head + 1) * d_k] @ W[head][:d_k]"
    said = lesson.answer("exercise-2", start + cut)
    expect(said).to_contain_text("The head sees only a slice of the token.")
    expect(said).to_contain_text("We changed feature 5 of token 0")
    said = lesson.answer("exercise-2", start + "X @ W[head]")
    expect(said).to_contain_text("Correct")


def test_c06_c07_the_loop_wrong_answers_first(lesson):
    loop = (
        "def looped_multi_head(X, W_Q, W_K, W_V, W_O, mask=None):\n"
        "    heads = []\n"
        "    for i in range(len(W_Q)):\n"
        "        Q, K, V = X @ W_Q[i], X @ W_K[i], X @ W_V[i]\n"
        "        scores = Q @ K.T / SCALE\n"
        "        if mask is not None:\n"
        "            scores = scores.masked_fill(mask == 0, float('-inf'))\n"
        "        heads.append(scores.softmax(dim=-1) @ V)\n"
        "    return JOINED"
    )
    right = {"SCALE": "Q.shape[-1] ** 0.5", "JOINED": "torch.cat(heads, dim=-1) @ W_O"}
    for changed, words in (
        ({"SCALE": "X.shape[-1] ** 0.5"}, "The scale uses d_model, the wrong width."),
        ({"JOINED": "torch.cat(heads) @ W_O"}, "The heads were put one below another."),
        ({"JOINED": "torch.cat(heads, dim=-1)"}, "W_O is missing."),
        ({}, "Correct"),
    ):
        source = loop
        for name, part in {**right, **changed}.items():
            source = source.replace(name, part)
        expect(lesson.answer("exercise-3", source)).to_contain_text(words)


def test_the_shapes_answer_the_questions_of_the_lesson(lesson, shapes):
    shapes.put(T=20)
    expect(shapes.shape("X")).to_have_text("(20, 512)")
    expect(shapes.shape("scores")).to_have_text("(8, 20, 20)")
    shapes.put(T=10)
    shapes.slider(HEADS).press("ArrowLeft")  # 8 -> 4
    for step, shape in (
        ("X", "(10, 512)"), ("Q_view", "(10, 4, 128)"), ("scores", "(4, 10, 10)"),
        ("concat", "(10, 512)"), ("output", "(10, 512)"),
    ):  # fmt: skip
        expect(shapes.shape(step)).to_have_text(shape)
    for same in ("parameters 1,048,576", "projections 20,971,520", "values 204,800"):
        expect(shapes.facts).to_contain_text(same)
    typed = shapes.out.get_by_label("H by hand")
    typed.fill("6")
    typed.press("Enter")
    for words in ("H = 6 does not divide d_model = 512", "remainder 2", "4 or 8"):
        expect(shapes.note).to_contain_text(words)
    shapes.out.get_by_role("button", name="Use H = 8").click()
    expect(shapes.shape("Q_view")).to_have_text("(10, 8, 64)")
    shapes.put(d_model=97)
    expect(shapes.note).to_contain_text("H went from 8 to 1")


def test_a_number_in_the_quiz_is_marked_and_explained(lesson):
    form = lesson.output("quiz-run").locator(".mha-quiz-form").nth(2)
    field = form.get_by_role("textbox")
    field.fill("32768")
    form.get_by_role("button").click()
    expect(form).to_have_attribute("data-verdict", "wrong")
    expect(lesson.output("quiz-run")).to_contain_text("8 heads are only 8 numbers wide")
    field.fill("16,384")
    form.get_by_role("button").click()
    expect(form).to_have_attribute("data-verdict", "right")


def test_c42_the_spanish_edition_runs_and_speaks_spanish(lab, new_lab_page):
    with new_lab_page(1024, 900) as page:
        page.open(lab.copy("es/02_heads-and-projections.ipynb"))
        page.run_cells("setup", "exercise-2-stub", "exercise-2-check", "explorer-run")
        page.close_side_panel()
        said = page.answer("exercise-1", "def head_size(d, h):\n    return d / h")
        expect(said).to_contain_text("Un número decimal donde hace falta un entero.")
        found = Explorer(page, "explorer-run")
        found.out.get_by_label("H a mano").fill("6")
        found.out.get_by_label("H a mano").press("Enter")
        expect(found.note).to_contain_text("resto 2")
        assert page.sideways(found.out) == []
        expect(page.output("exercise-2-check")).to_contain_text("Pendiente")
