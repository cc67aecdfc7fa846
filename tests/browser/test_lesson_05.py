"""Lesson 05 as a reader lives it: Run All, masks by mouse and keyboard, wrong answers first."""

import pytest
from playwright.sync_api import expect

from .explorers import Explorer, colours_of

THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")
FIRST = {"mask": "both", "sequence": 2, "length_1": 6, "length_2": 3, "side": "right", "empty": 0}
PAD = "[PAD]"

CLASS = """class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.d_k = num_heads, d_model // num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, X, mask=None):
        B, T, d_model = X.shape
        Q, K, V = (
            W(X).SPLIT for W in (self.W_Q, self.W_K, self.W_V)
        )
        scores = Q @ K.transpose(-2, -1) / SCALE**0.5
        if mask is not None:
            scores = scores.masked_fill(MASK, float("-inf"))
        heads = scores.softmax(dim=-1) @ V
        return OUTPUT
"""
LINES = {
    "SPLIT": "view(B, T, self.num_heads, self.d_k).transpose(1, 2)",
    "SCALE": "self.d_k",
    "MASK": "mask == 0",
    "OUTPUT": "self.W_O(heads.transpose(1, 2).contiguous().view(B, T, d_model))",
}


def layer(**lines) -> str:
    """The reader's class with some lines written another way."""
    source = CLASS
    for name, code in (LINES | lines).items():
        source = source.replace(name, code)
    return source


@pytest.fixture(scope="module")
def lesson(lab, new_lab_page):
    with new_lab_page(1400, 1000) as page:
        page.open(lab.copy("en/05_multi-head-attention.ipynb"))
        page.run_all()
        page.close_side_panel()
        yield page


class Masks(Explorer):
    """The mask explorer: its grid of 1 and 0, its tables, and the maps below."""

    def __init__(self, page):
        super().__init__(page, "mask-explorer-run")
        self.grid = self.out.locator(".mha-mask .grid")
        self.said = self.out.locator(".mha-mask .readout")
        self.remark = self.out.locator(".mha-mask .remark")

    def square(self, query: int, key: int):
        return self.grid.locator(f'[data-cell="{query},{key}"]')

    def cells(self) -> list[list[int]]:
        texts = self.grid.locator("[data-cell]").all_inner_texts()
        return [[int(text) for text in texts[6 * q : 6 * q + 6]] for q in range(6)]

    def table(self, which: str) -> list[list[str]]:
        rows = self.out.locator(f".mha-mask .{which} tr")
        return [row.locator("th, td").all_inner_texts() for row in rows.all()]

    def choose(self, label: str, option: str):
        self.page.control(label, "combobox", self.out).select_option(label=option)
        self.settle()

    def assert_mask_agrees(self):
        """Grid, sums and maps show what the kernel holds."""
        self.settle()
        assert self.ask("error is None")
        b = self.ask("sequence") - 1
        assert self.cells() == self.ask(f"allowed[{b}].int().tolist()")
        head = self.ask("maps.selected")
        sums = self.ask(f"weights[{b}, {head}].sum(-1).tolist()")
        shown = self.grid.locator("td.sum").all_inner_texts()
        assert [float(text) for text in shown] == [round(s, 2) for s in sums]
        tokens = self.grid.locator("tbody th").all_inner_texts()
        assert tokens == self.ask("tokens")
        for i, weights in enumerate(self.weights()[b]):
            picture = self.picture(self.heads.nth(i).locator("canvas"))
            some = weights.any(axis=-1)
            assert abs(picture[some][..., :3] - colours_of(weights[some])).max(initial=0) <= 3
            assert (picture[~some][..., 3] == 0).all()  # clear: the hatching behind shows


@pytest.fixture
def masks(lesson):
    found = Masks(lesson)
    found.put(**FIRST)
    found.page.ask(f"setattr({found.name}.grid, 'pointed', [])")
    lesson.scroll_to("mask-explorer-run")
    lesson.page.mouse.move(5, 500)
    found.settle()
    return found


def test_untouched_exercises_wait_and_the_proof_stands(lesson):
    assert lesson.page.get_by_text("Traceback").count() == 0
    for n in (1, 2, 3):
        expect(lesson.output(f"exercise-{n}-check")).to_contain_text("Not yet")
    expect(lesson.output("proof-run")).to_contain_text("max difference 0.00000")
    expect(lesson.output("timing-run").locator("img")).to_be_visible()


def test_c10_the_legend_says_in_words_which_sign_may_look(masks):
    legend = masks.out.locator(".mha-mask .legend")
    expect(legend).to_contain_text("may look")
    expect(legend).to_contain_text("hidden")
    masks.assert_mask_agrees()
    assert masks.cells()[1] == [1, 1, 0, 0, 0, 0] and masks.cells()[5] == [1, 1, 1, 0, 0, 0]
    assert masks.table("shapes")[1:] == [
        ["scores", "2", "3", "6", "6"], ["mask", "2", "1", "6", "6"],
        ["repeated", "=", "×3", "=", "="],
    ]  # fmt: skip


def test_choosing_a_mask_changes_grid_shape_and_maps_at_one_height(masks):
    height = masks.height()
    for option, row, shape in (
        ("padding", [1, 1, 1, 0, 0, 0], ["2", "1", "1", "6"]),
        ("causal", [1, 0, 0, 0, 0, 0], ["·", "·", "6", "6"]),
        ("none", [1] * 6, ["–"] * 4),
        ("causal and padding", [1, 0, 0, 0, 0, 0], ["2", "1", "6", "6"]),
    ):
        masks.choose("Mask", option)
        masks.assert_mask_agrees()
        assert masks.cells()[0] == row and masks.table("shapes")[2][1:] == shape
        assert masks.height() == height, option
    masks.slider("Tokens of sequence 2").press("ArrowRight")
    masks.assert_mask_agrees()
    assert masks.ask("length_2") == 4 and masks.cells()[5] == [1, 1, 1, 1, 0, 0]
    masks.choose("Padding stands", "before the tokens")
    masks.assert_mask_agrees()
    expect(masks.note).to_contain_text("Nothing to look at: [PAD] (1), [PAD] (2).")
    assert masks.height() == height


def test_c09_an_emptied_row_is_shown_three_ways(masks):
    height = masks.height()
    masks.choose("Empty this token's row", "2 · flow")
    masks.assert_mask_agrees()
    assert masks.table("ways")[1:] == [
        ["this course", *["0.00"] * 6], ["softmax with −∞", *["NaN"] * 6],
        ["softmax with −1e9", *["0.17"] * 6],
    ]  # fmt: skip
    expect(masks.remark).to_contain_text("0/0 = NaN")
    expect(masks.out.locator(".mha-attention .mha-legend")).to_be_visible()  # hatched
    assert masks.height() == height
    masks.square(2, 1).hover()
    expect(masks.said).to_contain_text("down → flow: 1, may look. Weight in head 1: ")
    expect(masks.remark).to_contain_text("the three ways agree")


def test_c30_the_keyboard_alone_reads_every_cell_and_focus_stays(lesson, masks):
    keys, cells = lesson.page.keyboard, len(lesson.cell_ids())
    masks.square(0, 0).focus()
    for key, cell in (
        ("ArrowDown", (1, 0)), ("End", (1, 5)), ("ArrowRight", (1, 5)), ("ArrowLeft", (1, 4)),
        ("ArrowUp", (0, 4)), ("Home", (0, 0)), ("ArrowUp", (0, 0)),
    ):  # fmt: skip
        keys.press(key)
        expect(masks.square(*cell)).to_be_focused()
    keys.press("a")  # a JupyterLab shortcut that would add a cell
    assert len(lesson.cell_ids()) == cells
    keys.press("End")
    expect(masks.said).to_have_text(
        "Rivers → [PAD] (6): 0, hidden twice: [PAD] (6) comes later and is padding."
    )
    expect(masks.square(0, 5)).to_have_attribute("aria-label", lesson.read(masks.said))
    assert masks.ask("grid.pointed") == [0, 5]
    masks.put(mask="padding")
    expect(masks.square(0, 5)).to_be_focused()
    expect(masks.said).to_contain_text("because [PAD] (6) is padding")
    assert masks.grid.locator('[data-cell][tabindex="0"]').count() == 1
    lesson.expect_named(masks.out.get_by_role("combobox"))


def test_c24_an_impossible_state_is_said_and_leaves_no_picture(masks):
    height = masks.height()
    masks.put(length_2=9)
    expect(masks.note).to_have_text("length_2 = 9: choose a whole number from 1 to 6.")
    expect(masks.grid).to_be_hidden()
    expect(masks.out.locator(".mha-mask .reason")).to_be_visible()
    assert masks.height() == height
    masks.put(length_2=2)
    masks.assert_mask_agrees()


def test_c31_readable_in_every_theme_and_in_a_narrow_window(lesson, masks):
    masks.put(empty=2)
    try:
        for theme in THEMES:
            lesson.set_theme(theme)
            ratio, text, count = lesson.worst_contrast(masks.out.locator(".mha-mask"))
            assert ratio >= 4.5 and count > 80, (theme, text)
        lesson.set_theme("JupyterLab Light")
        for zoom in (1, 2):
            lesson.zoom(zoom, width=1024, height=768)
            lesson.scroll_to("mask-explorer-run")
            assert lesson.sideways(masks.out) == []
            masks.assert_mask_agrees()
    finally:
        lesson.zoom(1, width=1400, height=1000)
        lesson.set_theme("JupyterLab Light")


def test_a_new_reader_slips_is_told_each_slip_and_gets_there(lesson):
    for slip, title in (
        ({"SPLIT": "view(B, self.num_heads, T, self.d_k)"}, "view went straight to"),
        ({"SCALE": "d_model"}, "The scale uses d_model, the wrong width."),
        ({"OUTPUT": "heads.transpose(1, 2).contiguous().view(B, T, d_model)"},
         "W_O was left out."),
        ({"OUTPUT": "self.W_O(heads.transpose(1, 2).view(B, T, d_model))"},
         "Your code stopped with an error."),
        ({"OUTPUT": "self.W_O(heads.reshape(B, T, d_model))"},
         "The heads were merged without swapping back."),
        ({"MASK": "mask"}, "The mask is the wrong way round."),
    ):  # fmt: skip
        said = lesson.answer("exercise-1", layer(**slip))
        expect(said).to_contain_text("Not right yet")
        expect(said).to_contain_text(title)
    expect(lesson.answer("exercise-1", layer())).to_contain_text("Correct")
    wrong = "def unpack(in_proj_weight):\n    return [w.T for w in in_proj_weight.chunk(3)]\n"
    expect(lesson.answer("exercise-2", wrong)).to_contain_text("The blocks are turned over.")
    right = "def unpack(in_proj_weight):\n    return in_proj_weight.chunk(3)\n"
    expect(lesson.answer("exercise-2", right)).to_contain_text("Correct")
    wrong = "def padding_mask(lengths, T):\n    return torch.arange(T) <= lengths[:, None]\n"
    said = lesson.answer("exercise-3", wrong)
    expect(said).to_contain_text("Not right yet")
    right = (
        "def padding_mask(lengths, T):\n"
        "    return (torch.arange(T) < lengths[:, None])[:, None, None, :]\n"
    )
    expect(lesson.answer("exercise-3", right)).to_contain_text("Correct")
    lesson.cell("packed-run").locator(".cm-content").first.click()  # with the reader's own class
    lesson.run_cell("packed-run")
    expect(lesson.output("packed-run")).to_contain_text("W_Q, W_K, W_V")


def test_the_quiz_explains_a_wrong_choice(lesson):
    quiz = lesson.output("quiz-run")
    form = quiz.locator(".mha-quiz-form").nth(3)
    field = form.get_by_label("Your number")
    field.fill("21")
    field.press("Enter")
    expect(form).to_have_attribute("data-verdict", "wrong")
    expect(quiz.locator(".mha-quiz-why").nth(3)).to_contain_text("the causal mask alone")
    field.fill("15")
    field.press("Enter")
    expect(form).to_have_attribute("data-verdict", "right")


def test_the_spanish_edition_speaks_spanish(lab, new_lab_page):
    with new_lab_page(1400, 1000) as page:
        page.open(lab.copy("es/05_multi-head-attention.ipynb"))
        page.run_cells("setup", "assemble-run", "mask-explorer-run")
        masks = Masks(page)
        masks.choose("Vaciar la fila de este token", "2 · flow")
        masks.assert_mask_agrees()
        expect(masks.out.locator(".mha-mask .legend")).to_contain_text("puede mirar")
        expect(masks.remark).to_contain_text("Esta fila no tiene a quién mirar.")
        expect(masks.note).to_contain_text("Sin nadie a quien mirar: flow (2).")
        said = page.answer("exercise-1", layer(SPLIT="view(B, self.num_heads, T, self.d_k)"))
        expect(said).to_contain_text("Aún no es correcto")
        expect(said).to_contain_text("fue directo a (B, H, T, d_k)")
