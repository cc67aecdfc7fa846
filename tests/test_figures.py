"""Still pictures, read back: every map, label and bar from the figure itself or its pixels."""

import io
import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb
from PIL import Image

from helpers import figures
from helpers.attention import MultiHeadAttention, attention_weights
from helpers.figures import (
    attention_figure,
    bar_figure,
    explorer_figure,
    png,
    shape_trace_figure,
)
from helpers.palette import AXIS_COLOURS, HEAD_COLOURS
from helpers.shapes import shape_trace
from helpers.stills import page, text
from helpers.texts import set_language

TOKENS = "The bank by the river issued a statement .".split()
SCRIPTS = "Gracias 漢字 ありがとう 😀 👩‍💻 هذا".split()
MARKUP = ["<b>bold</b>", "<script>alert(1)</script>", "&", '"q"', "[MASK]", "$x$", "a_b", "\\frac{"]
PROJECT = Path(__file__).parents[1]


def some_weights(H=8, Tq=9, Tk=None, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.softmax(2 * torch.randn(H, Tq, Tk or Tq, generator=generator), dim=-1)


def trace(H=8, d_model=512, T=9, B=1):
    generator = torch.Generator().manual_seed(0)
    layer = MultiHeadAttention(d_model, H, generator=generator)
    return layer.trace(torch.randn(B, T, d_model, generator=generator))


def images(figure):
    return {image.get_gid(): image for image in figure.axes[0].images}


def texts(figure):
    """Every text by its gid, or by what it says."""
    figure.draw_without_rendering()
    found = figure.findobj(matplotlib.text.Text)
    return {label.get_gid() or label.get_text(): label for label in found if label.get_text()}


def said(figure):
    return " ".join(label.get_text() for label in figure.findobj(matplotlib.text.Text))


def boxes(figure):
    return {p.get_gid(): p for p in figure.findobj(matplotlib.patches.Patch) if p.get_gid()}


def pixels(figure):
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(int)


def cell_centre(image, q, k):
    """Pixel (row, column) in the middle of a cell, from where the image stands on the page."""
    left, right, *heights = image.get_extent()
    top, bottom = sorted(heights)  # y grows downwards
    Tq, Tk = image.get_array().shape
    return int(top + (bottom - top) * (q + 0.5) / Tq), int(left + (right - left) * (k + 0.5) / Tk)


def bounds(figure, artist):
    """Left, top, right, bottom in px, from the upper left corner."""
    box = artist.get_window_extent(figure.canvas.get_renderer())
    height = figure.bbox.height
    return box.x0, height - box.y1, box.x1, height - box.y0


def luminance(rgb):
    rgb = np.asarray(rgb, dtype=float) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722)


def contrast(one, other):
    dark, light = sorted(luminance(np.array(to_rgb(c)) * 255) for c in (one, other))
    return (light + 0.05) / (dark + 0.05)


# The maps -----------------------------------------------------------------------------------


def test_every_head_shows_its_own_weights():
    weights = some_weights()
    shown = images(attention_figure(weights, TOKENS, selected=4))
    for head in range(8):
        np.testing.assert_array_equal(shown[f"head-{head}"].get_array(), weights[head].numpy())
    np.testing.assert_array_equal(shown["large"].get_array(), weights[4].numpy())


@pytest.mark.parametrize("where", ["head-2", "large"])
def test_c21_rows_are_queries_from_the_top_and_columns_keys_from_the_left(where):
    weights = torch.zeros(3, 3, 3)
    weights[2] = torch.eye(3)
    weights[2, 0] = torch.tensor([0.0, 0.0, 1.0])  # query 0 on key 2 only
    figure = attention_figure(weights, ["a", "b", "c"], selected=2)
    picture, image = pixels(figure), images(figure)[where]
    bright = np.array(
        [[picture[cell_centre(image, q, k)].sum() > 450 for k in range(3)] for q in range(3)]
    )
    assert bright.tolist() == [[False, False, True], [False, True, False], [False, False, True]]
    shown = texts(figure)
    assert "query (rows) → key (columns)" in shown
    tops = [bounds(figure, shown[f"query-{i}"])[1] for i in range(3)]
    lefts = [bounds(figure, shown[f"key-{i}"])[0] for i in range(3)]
    assert tops == sorted(tops) and lefts == sorted(lefts)
    assert [shown[f"query-{i}"].get_text() for i in range(3)] == ["a", "b", "c"]


def test_labels_stand_at_their_own_row_and_column():
    figure = attention_figure(some_weights(2, 4, 7), TOKENS[:4], TOKENS[:7], selected=1)
    shown, image = texts(figure), images(figure)["large"]
    for q in range(4):
        _, top, right, bottom = bounds(figure, shown[f"query-{q}"])
        assert abs((top + bottom) / 2 - cell_centre(image, q, 0)[0]) < 6
        assert right < image.get_extent()[0]
    for k in range(7):
        left, _, right, bottom = bounds(figure, shown[f"key-{k}"])
        assert abs((left + right) / 2 - cell_centre(image, 0, k)[1]) < 6
        assert bottom <= image.get_extent()[3]


def test_heads_stand_in_reading_order_under_their_names():
    figure = attention_figure(some_weights(), TOKENS)
    shown, maps = texts(figure), images(figure)
    places = []
    for head in range(8):
        assert shown[f"name-{head}"].get_text() == f"head {head + 1}"
        left, right, bottom, top = maps[f"head-{head}"].get_extent()
        name = bounds(figure, shown[f"name-{head}"])
        assert left <= name[0] < right and 0 <= top - name[3] < 10
        places.append((top, left))
    assert places == sorted(places)


def test_the_chosen_head_is_framed_and_the_pointed_cell_too():
    figure = attention_figure(some_weights(), TOKENS, selected=5, pointed=(1, 4))
    left, top, right, bottom = bounds(figure, boxes(figure)["selected"])
    for head in range(8):
        x0, x1, y1, y0 = images(figure)[f"head-{head}"].get_extent()
        inside = left < x0 < right and top < y0 < bottom
        assert inside == (head == 5)
    cell = bounds(figure, boxes(figure)["pointed"])
    row, column = cell_centre(images(figure)["large"], 1, 4)
    assert cell[0] < column < cell[2] and cell[1] < row < cell[3]
    assert cell[2] - cell[0] < 40


def test_the_reading_names_query_key_weight_and_head():
    weights = some_weights()
    weights[4, 1] = torch.tensor([0.05, 0.06, 0.05, 0.05, 0.67, 0.04, 0.03, 0.03, 0.02])
    figure = attention_figure(weights, TOKENS, selected=4, pointed=(1, 4))
    assert "bank  →  river :  0.67  of  bank 's attention in  head 5" in said(figure)


def test_c21_a_repeated_word_is_read_out_with_its_position():
    tokens = "the cat sat on the mat because the mat was warm today .".split()
    figure = attention_figure(some_weights(2, 13), tokens, pointed=(1, 8))
    shown = texts(figure)
    assert [shown[f"key-{k}"].get_text() for k in range(13)] == tokens
    assert "mat (9)" in said(figure) and "mat (6)" not in said(figure)


def test_unequal_numbers_of_queries_and_keys():
    weights = some_weights(2, 3, 9)
    figure = attention_figure(weights, ["a", "b", "c"], TOKENS, selected=1)
    np.testing.assert_array_equal(images(figure)["large"].get_array(), weights[1].numpy())
    left, right, bottom, top = images(figure)["large"].get_extent()
    assert (right - left) / (bottom - top) == pytest.approx(3)


def test_a_very_long_map_still_shows_its_cells():
    figure = attention_figure(some_weights(1, 1, 60), ["q"], [f"k{i}" for i in range(60)])
    left, right, bottom, top = images(figure)["large"].get_extent()
    assert bottom - top >= 50 and right - left >= 240


def test_c09_a_row_with_nothing_to_attend_to_is_hatched_and_named():
    keep = torch.ones(4, 4).tril()
    keep[2] = 0
    weights = attention_weights(torch.randn(2, 4, 4, generator=torch.Generator()), keep)
    figure = attention_figure(weights, TOKENS[:4], pointed=(2, 1))
    hatched = {gid for gid, box in boxes(figure).items() if box.get_hatch()}
    assert hatched == {"head-0-nothing-2", "head-1-nothing-2", "large-nothing-2", "legend-nothing"}
    row = bounds(figure, boxes(figure)["large-nothing-2"])
    assert row[1] < cell_centre(images(figure)["large"], 2, 0)[0] < row[3]
    assert "no keys to attend to" in texts(figure)
    assert "by : no keys to attend to in  head 1" in said(figure)
    assert "legend-nothing" not in boxes(attention_figure(some_weights(), TOKENS))


def test_heads_keep_their_colours_and_columns_of_layers_too():
    figure = attention_figure(some_weights(24, 3), TOKENS[:3], columns=12, selected=12)
    picture = pixels(figure)
    shown = texts(figure)
    for index, colour in ((0, 0), (7, 7), (8, 0), (12, 0), (13, 1)):
        left, top, _, bottom = (int(v) for v in bounds(figure, shown[f"name-{index}"]))
        strip = picture[top:bottom, max(0, left - 9) : left].reshape(-1, 3)
        wanted = np.array(to_rgb(HEAD_COLOURS[colour])) * 255
        assert np.abs(strip - wanted).max(axis=1).min() < 3, index


def test_c16_many_tokens_are_thinned_and_nothing_is_cut():
    tokens = [f"token{i}" for i in range(200)]
    figure = attention_figure(some_weights(2, 200), tokens)
    shown = texts(figure)
    queries = [label for gid, label in shown.items() if gid.startswith("query-")]
    assert 10 <= len(queries) < 40
    assert any("one label for every" in words for words in shown)
    tops = sorted(bounds(figure, label)[1] for label in queries)
    assert min(np.diff(tops)) >= 10
    left, right, _, _ = images(figure)["large"].get_extent()
    assert right <= figure.bbox.width and right - left >= 150
    assert "query-0" in shown
    assert not any(
        "one label" in words for words in texts(attention_figure(some_weights(), TOKENS))
    )


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_c14_half_precision_is_drawn(dtype):
    weights = some_weights(2).to(dtype).requires_grad_()
    figure = attention_figure(weights, TOKENS)
    expected = weights.detach().float().numpy()[1]
    np.testing.assert_allclose(images(figure)["head-1"].get_array(), expected)


def test_arrays_that_do_not_fit_are_refused_in_words():
    weights = some_weights()
    with pytest.raises(ValueError, match=r"\(1, 8, 9, 9\).*weights\[0\]"):
        attention_figure(weights[None], TOKENS)
    with pytest.raises(ValueError, match="9 queries .*10 tokens"):
        attention_figure(weights, [*TOKENS, "more"])
    with pytest.raises(ValueError, match="9 keys .*2 tokens"):
        attention_figure(weights, TOKENS, ["a", "b"])
    with pytest.raises(ValueError, match="8 heads, but 1 names"):
        attention_figure(weights, TOKENS, names=["mean of heads"])
    with pytest.raises(ValueError, match="no head 8"):
        attention_figure(weights, TOKENS, selected=8)
    weights[3, 2, 2] = float("nan")
    with pytest.raises(ValueError, match="head 4 .*NaN"):
        attention_figure(weights, TOKENS)


def test_c13_a_name_of_ones_own_is_shown():
    figure = attention_figure(some_weights(1), TOKENS, names=["mean of heads"])
    assert texts(figure)["name-0"].get_text() == "mean of heads"


# Colours ------------------------------------------------------------------------------------


def test_c22_every_map_is_on_the_same_scale_from_0_to_1():
    weights = torch.full((2, 4, 4), 0.25)
    weights[1] = torch.eye(4)
    figure = attention_figure(weights, TOKENS[:4])
    for image in figure.axes[0].images:
        assert image.get_clim() == (0, 1)
        assert image.get_cmap().name == "viridis"
    # A quarter looks the same beside a one as it does alone.
    alone = attention_figure(weights[:1], TOKENS[:4])
    colours = []
    for one in (figure, alone):
        picture = pixels(one)
        colours.append(picture[cell_centre(images(one)["head-0"], 1, 1)].tolist())
    assert colours[0] == colours[1] == [58, 82, 139]
    assert "1 · same scale for every head" in texts(figure)


# Machado, Oliveira & Fernandes 2009, "A Physiologically-based Model for Simulation of Color
# Vision Deficiency", severity 1.0, on linear RGB.
BLIND = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
}  # fmt: skip


@pytest.mark.parametrize("eyes", ["greyscale", *BLIND])
def test_c22_the_order_of_cells_survives(eyes):
    ramp = torch.linspace(0, 1, 25).reshape(1, 5, 5)
    picture = Image.open(io.BytesIO(png(attention_figure(ramp, TOKENS[:5])))).convert("RGB")
    image = images(attention_figure(ramp, TOKENS[:5]))["large"]
    cells = [cell_centre(image, q, k) for q in range(5) for k in range(5)]
    rgb = np.array([picture.getpixel((column, row)) for row, column in cells]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    if eyes in BLIND:
        linear = np.clip(linear @ np.array(BLIND[eyes]).T, 0, 1)
    steps = np.diff(linear @ (0.2126, 0.7152, 0.0722))
    assert steps.min() > 0.002


def test_c31_text_stands_out_from_the_page_and_from_the_cards():
    for paper in ("white", page.CARD):
        for ink in (page.TEXT, page.MUTE, *(light for light, _ in AXIS_COLOURS.values())):
            assert contrast(ink, paper) >= 4.5, (ink, paper)


# Text ---------------------------------------------------------------------------------------


def run_in_a_fresh_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=PROJECT,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )


def test_c18_any_script_is_drawn_without_a_warning():
    code = f"""
import numpy as np
from helpers.figures import attention_figure, bar_figure, png
tokens = {SCRIPTS!r} + ["❤️", "\\n", "", "हिन्दी", "\\u200d", "𐎀", "\\ue000"]
weights = np.full((2, len(tokens), len(tokens)), 1 / len(tokens))
png(attention_figure(weights, tokens, pointed=(4, 5)))
png(bar_figure(tokens, {{"a": weights[0, 0]}}))
"""
    ran = run_in_a_fresh_python(code)
    assert (ran.returncode, ran.stderr, ran.stdout) == (0, "", "")


def test_c18_as_many_labels_as_tokens_and_every_letter_has_a_glyph():
    figure = attention_figure(some_weights(1, 6), SCRIPTS)
    shown = texts(figure)
    for axis in ("query", "key"):
        labels = [shown[f"{axis}-{i}"] for i in range(6)]
        assert [label.get_text() for label in labels][:4] == SCRIPTS[:4]
        for label in labels:
            fonts = [text._font(family, "normal") for family in label.get_fontfamily()]
            for letter in label.get_text():
                assert any(font and font.get_char_index(ord(letter)) for font in fonts), letter


def test_c18_without_a_font_the_code_point_is_written(monkeypatch):
    monkeypatch.setattr(text, "OTHERS", ())
    text.family_with.cache_clear()
    text.printable.cache_clear()
    try:
        assert text.printable("漢字") == ("U+6F22 U+5B57", (text.BASE,))
        assert text.printable("a👩‍💻b") == ("a U+1F469 U+1F4BB b", (text.BASE,))
        assert text.printable("\u200d")[0] in ("\u200d", "U+200D")
        figure = attention_figure(some_weights(1, 6), SCRIPTS)
        assert texts(figure)["query-1"].get_text() == "U+6F22 U+5B57"
    finally:
        text.family_with.cache_clear()
        text.printable.cache_clear()


def test_c18_arabic_reads_from_right_to_left_once():
    """alef is a bare upright stroke, beh a flat bowl: in اب the stroke stands at the right."""
    drawn = page.Page(200)
    drawn.text(40, 60, "اب", size=48)
    ink = pixels(drawn.finish(100)).sum(axis=2) < 600
    columns = np.flatnonzero(ink.any(axis=0))
    heights = [np.ptp(np.flatnonzero(ink[:, c])) for c in columns]
    tallest = columns[int(np.argmax(heights))]
    assert tallest > columns[0] + 0.6 * (columns[-1] - columns[0])


def test_c18_arabic_letters_are_joined():
    """A beh inside a word is a short tooth, alone it is a wide bowl."""
    font = page._fitted("ب", None)[1]
    assert page.text_width("ببب", font) < 2.5 * page.text_width("ب", font)


def test_c20_markup_and_tex_are_shown_as_they_are():
    figure = attention_figure(some_weights(2, 8), MARKUP, pointed=(0, 5), title="$T$ <i>x</i>",
                              footer="a_b $y$")  # fmt: skip
    shown = texts(figure)
    labels = [shown[f"query-{i}"] for i in range(8)]
    for label, token in zip(labels, MARKUP, strict=True):
        assert label.get_text() in (token, f"{token[: len(label.get_text()) - 1]}…")
        assert not label.get_parse_math() and not label.get_usetex()
    assert {"$T$ <i>x</i>", "a_b $y$", "$x$"} <= set(shown)
    assert png(figure) and png(bar_figure(MARKUP, {"$a_b$": [0.1] * 8}, title="$\\frac{"))


def test_a_space_is_seen_and_a_long_token_is_cut_to_fit():
    tokens = [" ", "", "internationalisation-of-everything-under-the-sun"]
    figure = attention_figure(some_weights(1, 3), tokens, pointed=(2, 2))
    shown = texts(figure)
    assert [shown[f"query-{i}"].get_text() for i in (0, 1)] == ["␣", "␣"]
    cut = shown["query-2"].get_text()
    assert cut.startswith("internationa") and cut.endswith("…")


LONG = ["Donaudampfschifffahrt", "a", "incomprehensibilities", "statement"]


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize(
    "draw",
    [
        lambda: attention_figure(some_weights(), TOKENS, pointed=(7, 7), title="A" * 300),
        lambda: attention_figure(some_weights(72, 4), LONG, pointed=(0, 2), columns=12,
                                 names=[f"L{i // 12 + 1}-H{i % 12 + 1}" for i in range(72)]),
        lambda: attention_figure(some_weights(1, 4), LONG, footer="word " * 100),
        lambda: shape_trace_figure(shape_trace(trace(B=2, d_model=1024)), batch=True),
        lambda: bar_figure(LONG, {"divided by the root of d_k " * 2: [0.25] * 4,
                                  "not divided by anything " * 2: [0.25] * 4}),
    ],
)  # fmt: skip
def test_nothing_is_cut_off_at_the_edges(draw, language):
    set_language(language)
    figure = draw()
    figure.draw_without_rendering()
    for label in figure.findobj(matplotlib.text.Text):
        if label.get_text():
            left, top, right, bottom = bounds(figure, label)
            assert left >= 0 and top >= 0, label
            assert right <= figure.bbox.width and bottom <= figure.bbox.height, label


# Shape trace, bars, explorer ----------------------------------------------------------------


def test_the_shape_trace_shows_every_step_with_its_numbers():
    steps = shape_trace(trace())
    words = said(shape_trace_figure(steps)).replace(" ", "")
    for step in steps:
        assert step.name.replace("_", "") in words
    assert "(8,9,64)(64,512,1)" in words  # Q_heads: shape, then strides
    assert "(9,8,64)(512,64,1)" in words  # Q_view
    assert "OnesentenceB=1isleftout." in words.replace(":", "")
    with_batch = said(shape_trace_figure(steps, batch=True)).replace(" ", "")
    assert "(1,8,9,64)(4608,64,512,1)" in with_batch
    assert "leftout" not in with_batch


def test_axes_have_their_colours_in_the_shape_trace():
    figure = shape_trace_figure(shape_trace(trace(H=3, d_model=96, T=7)))
    inks = {}
    for label in figure.findobj(matplotlib.text.Text):
        if "DejaVu Sans Mono" in label.get_fontfamily() and label.get_weight() == "bold":
            inks.setdefault(label.get_text().strip(), set()).add(label.get_color())
    wanted = {"7": "T", "3": "H", "32": "d_k", "96": "d_model"}
    assert {n: inks[n] for n in wanted} == {n: {AXIS_COLOURS[a][0]} for n, a in wanted.items()}


def test_ten_steps_stand_in_two_rows():
    figure = shape_trace_figure(shape_trace(trace()))
    cards = [p for p in figure.findobj(matplotlib.patches.FancyBboxPatch)]
    tops = [round(bounds(figure, card)[1]) for card in cards]
    assert len(cards) == 10 and [tops.count(top) for top in sorted(set(tops))] == [5, 5]


def test_c21_thirteen_tokens_are_thirteen_bars_of_the_right_length():
    tokens = "the cat sat on the mat because the mat was warm today .".split()
    values = [(i + 1) / 91 for i in range(13)]
    figure = bar_figure(tokens, {"weight": values})
    bars = boxes(figure)
    assert len(bars) == 13
    full = bars["bar-12-0"].get_width() / values[12]
    for i, value in enumerate(values):
        assert bars[f"bar-{i}-0"].get_width() == pytest.approx(full * value)
    tops = [bars[f"bar-{i}-0"].get_y() for i in range(13)]
    assert tops == sorted(tops) and len(set(tops)) == 13
    assert "sum 1.000" in said(figure)
    # The scale is fixed: halved values give halved bars.
    half = boxes(bar_figure(tokens, {"weight": [v / 2 for v in values]}))
    assert half["bar-12-0"].get_width() == pytest.approx(bars["bar-12-0"].get_width() / 2)


def test_two_series_differ_by_pattern_and_carry_names_and_sums():
    figure = bar_figure(["a", "b"], {"scaled": [0.5, 0.5], "unscaled": [0.9, 0.05]})
    bars = boxes(figure)
    assert bars["bar-0-0"].get_hatch() != bars["bar-0-1"].get_hatch()
    words = said(figure)
    assert words.count("scaled") == 4
    assert "sum 1.000" in words and "sum 0.950" in words
    with pytest.raises(ValueError, match="1 values for 2 labels"):
        bar_figure(["a", "b"], {"scaled": [1.0]})


def test_the_explorer_stacks_trace_maps_and_caption():
    ran = trace()
    weights = ran.weights[0].detach()
    figure = explorer_figure(shape_trace(ran), weights, TOKENS, selected=2)
    np.testing.assert_array_equal(images(figure)["large"].get_array(), weights[2].numpy())
    shown = texts(figure)
    caption = bounds(figure, shown["Still picture. Run this cell for the live view."])
    legend = bounds(figure, shown["Each axis keeps its colour:"])
    assert legend[3] < images(figure)["head-0"].get_extent()[3]
    assert images(figure)["large"].get_extent()[2] < caption[1]
    other = explorer_figure(shape_trace(ran), weights, TOKENS, caption="Mine")
    assert "Mine" in texts(other)
    assert not any(words.startswith("Still picture") for words in texts(other))


def test_c25_c42_the_still_speaks_spanish():
    set_language("es")
    ran = trace()
    words = said(explorer_figure(shape_trace(ran), ran.weights[0].detach(), TOKENS, pointed=(0, 1)))
    for phrase in ("Imagen fija.", "cabeza 1", "query (filas)", "cabezas", "intercambia"):
        assert phrase in words
    for phrase in ("head 1", "Still", "rows", "colour", "swap "):
        assert phrase not in words


# PNG and manners ----------------------------------------------------------------------------


def test_c38_the_same_picture_gives_the_same_bytes():
    ran = trace()
    steps, weights = shape_trace(ran), ran.weights[0].detach()
    first, second = (png(explorer_figure(steps, weights, TOKENS)) for _ in range(2))
    assert first == second
    assert first != png(explorer_figure(steps, weights.flip(0), TOKENS))


def test_the_png_is_small_white_and_silent_about_its_maker():
    ran = trace()
    data = png(explorer_figure(shape_trace(ran), ran.weights[0].detach(), TOKENS, pointed=(1, 2)))
    picture = Image.open(io.BytesIO(data))
    assert len(data) < 60_000
    assert picture.width == 980
    assert picture.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
    assert set(picture.info) <= {"dpi"}
    many = png(attention_figure(some_weights(72, 11), [*TOKENS, "x", "y"], columns=12))
    assert len(many) < 60_000


def test_c22_the_small_png_keeps_the_colours_of_weights():
    figure = attention_figure(some_weights(64, 40), [f"t{i}" for i in range(40)])
    true = pixels(figure)
    small = np.asarray(Image.open(io.BytesIO(png(figure))).convert("RGB")).astype(int)
    for gid in ("scale", "large", "head-63"):
        left, right, bottom, top = (round(v) for v in images(figure)[gid].get_extent())
        part = (slice(top + 1, bottom - 1), slice(left + 1, right - 1))
        assert np.abs(small[part] - true[part]).max() <= 4
    assert np.percentile(np.abs(small - true).max(axis=2), 99.9) <= 12


def test_c23_c27_pyplot_and_the_backend_are_left_alone():
    code = """
import sys
from helpers.figures import attention_figure, bar_figure, explorer_figure, png, shape_trace_figure
import matplotlib, numpy as np
before = dict(matplotlib.rcParams)
weights = np.full((2, 3, 3), 1 / 3)
png(attention_figure(weights, ["a", "b", "c"]))
png(bar_figure(["a"], {"x": [1.0]}))
assert "matplotlib.pyplot" not in sys.modules
assert dict(matplotlib.rcParams) == before
print(matplotlib.get_backend(auto_select=False))
"""
    backend = {"MPLBACKEND": "svg"}
    ran = run_in_a_fresh_python(code, **backend)
    assert (ran.stdout.strip(), ran.stderr) == ("svg", "")


def test_c36_a_home_that_cannot_be_written_leaves_no_path_on_the_page(tmp_path):
    blocked = tmp_path / "a file, not a folder"
    blocked.write_text("", encoding="utf-8")
    code = "from helpers.figures import bar_figure, png; png(bar_figure(['a'], {'x': [1.0]}))"
    ran = run_in_a_fresh_python(code, MPLCONFIGDIR=str(blocked))
    assert (ran.returncode, ran.stderr, ran.stdout) == (0, "", "")


def test_a_readers_own_matplotlib_settings_change_nothing():
    plain = png(attention_figure(some_weights(2), TOKENS, pointed=(1, 2)))
    own = {
        "text.usetex": True, "font.size": 30, "figure.facecolor": "black", "image.cmap": "jet",
        "text.color": "red", "path.sketch": (1, 100, 2), "savefig.dpi": 20, "axes.facecolor": "red",
        "image.interpolation": "bilinear", "figure.dpi": 300, "image.origin": "lower",
    }  # fmt: skip
    with matplotlib.rc_context(own):
        assert png(attention_figure(some_weights(2), TOKENS, pointed=(1, 2))) == plain
        assert matplotlib.rcParams["font.size"] == 30


def test_what_is_public_is_there():
    assert all(callable(getattr(figures, name)) for name in figures.__all__)
