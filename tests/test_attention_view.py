"""The attention view without a browser: what travels to the page, and the words it makes.

The functions of attention_view.js that compute something run here in the Node that Playwright
brings along, so that page and kernel are held to the same numbers and sentences.
"""

import base64
import json
import re
import struct
import subprocess
from pathlib import Path
from string import Formatter

import matplotlib
import numpy as np
import pytest
import torch
from playwright._impl._driver import compute_driver_executable

from helpers import texts, wording
from helpers.attention import MultiHeadAttention
from helpers.palette import HEAD_COLOURS, WEIGHT_MAP, head_colour
from helpers.texts import set_language
from helpers.views import attention_view
from helpers.views.attention_view import AttentionView

SCRIPT = AttentionView._esm
MAT = "[CLS] the cat sat on the mat because the mat was warm [SEP]".split()


def page_texts(language: str) -> dict:
    path = Path(texts.__file__).parent / language / "view.json"
    return json.loads(path.read_text(encoding="utf-8"))["page"]


def run_js(code: str, **values):
    """The value of the JavaScript expression `code`; `m` is the view's script."""
    module = "data:text/javascript;base64," + base64.b64encode(SCRIPT.encode()).decode()
    program = (
        f"const v = {json.dumps(values)};"
        f"import({json.dumps(module)}).then((m) => console.log(JSON.stringify({code})));"
    )
    node = compute_driver_executable()[0]
    ran = subprocess.run([node, "-"], input=program.encode(), capture_output=True, timeout=60)
    assert ran.returncode == 0, ran.stderr.decode()
    return json.loads(ran.stdout.decode("utf-8"))


def uniform(H: int, T: int) -> torch.Tensor:
    return torch.full((H, T, T), 1 / T)


def shown(weights, *tokens, **options) -> AttentionView:
    view = AttentionView()
    view.show(weights, *tokens, **options)
    return view


# What travels ---------------------------------------------------------------------------


def test_buffer_is_little_endian_float32_head_by_head_row_by_row():
    H, Tq, Tk = 2, 3, 4
    weights = torch.arange(H * Tq * Tk, dtype=torch.float32).reshape(H, Tq, Tk) / 32
    view = shown(weights, list("abc"), list("wxyz"))
    assert view.frame["shape"] == [2, 3, 4]
    assert isinstance(view.frame["weights"], bytes)
    numbers = struct.unpack("<24f", view.frame["weights"])
    for h in range(H):
        for q in range(Tq):
            for k in range(Tk):
                assert numbers[(h * Tq + q) * Tk + k] == weights[h, q, k]


def test_buffer_follows_the_axes_not_the_memory_of_a_view():
    stored = torch.arange(24.0).reshape(4, 3, 2) / 32
    turned = stored.permute(2, 1, 0)  # (2, 3, 4), strides out of order
    view = shown(turned, list("abc"), list("wxyz"))
    assert struct.unpack("<24f", view.frame["weights"])[1] == turned[0, 0, 1]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_c14_every_float_type_is_shown(dtype):
    generator = torch.Generator().manual_seed(0)
    layer = MultiHeadAttention(64, 8, generator=generator).to(dtype)
    X = torch.randn(1, 16, 64, generator=generator).to(dtype)
    weights = layer.trace(X).weights[0]  # carries gradients
    view = shown(weights, [f"t{i}" for i in range(16)])
    sent = np.frombuffer(view.frame["weights"], "<f4").reshape(8, 16, 16)
    assert np.array_equal(sent, weights.detach().float().numpy())


def test_arrays_and_lists_are_shown_too():
    rows = [[[0.25, 0.75], [1.0, 0.0]]]
    for weights in (rows, np.array(rows), np.array(rows, dtype=np.float16)):
        assert struct.unpack("<4f", shown(weights, "ab").frame["weights"]) == (0.25, 0.75, 1, 0)


def test_a_picture_changes_in_one_message():
    view = shown(uniform(8, 9), list("abcdefghi"))
    view.selected, view.pointed = 7, [8, 8]
    messages = []
    view.send_state = lambda key=None: messages.append(set(key))
    view.show(uniform(2, 3), list("abc"))
    assert len(messages) == 1
    assert {"frame", "selected", "pointed"} <= messages[0]


def test_c27_two_views_share_nothing():
    first, second = AttentionView(), AttentionView()
    first.show(uniform(2, 3), list("abc"))
    first.mode, first.selected = "arcs", 1
    assert first.model_id != second.model_id
    assert (second.frame["shape"], second.mode, second.selected) == ([0, 0, 0], "map", 0)
    second.show(uniform(4, 2), list("xy"))
    assert first.frame["queries"] == list("abc")


def test_c20_tokens_travel_as_they_are():
    script = "<script>alert(1)</script>"
    tokens = [
        "<b>bold</b>",
        script,
        '&"q"',
        "$x$",
        "{weight}",
        "هذا",
        "👩‍💻",
        " ",
    ]
    view = shown(uniform(1, 8), tokens)
    assert view.frame["queries"] == [*tokens[:-1], "␣"]
    view.pointed = [4, 1]
    assert view.readout() == f"{{weight}} → {script}: 0.12 of {{weight}}'s attention in head 1"


def test_script_never_makes_html_and_loads_nothing():
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", SCRIPT)
    assert not re.search(r"\bimport\b|\bfetch\(|XMLHttpRequest|WebSocket|\bsrc\b|url\(", SCRIPT)
    assert re.findall(r"https?://[^\"]*", SCRIPT) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"url\(|@import|https?:", AttentionView()._css)


# Heads, cells, names --------------------------------------------------------------------


def test_c21_a_cell_says_who_looks_at_whom():
    toy = torch.tensor([[[0.0, 0, 1], [1, 0, 0], [0.5, 0.5, 0]]])
    view = shown(toy, ["one", "two", "three"])
    view.pointed = [0, 2]
    assert view.readout() == "one → three: 1.00 of one's attention in head 1"
    view.pointed = [2, 0]
    assert view.readout() == "three → one: 0.50 of three's attention in head 1"


def test_c21_rows_are_named_by_queries_and_columns_by_keys():
    view = shown(torch.tensor([[[0.1, 0.2, 0.7]]]), ["one"], ["a", "b", "c"])
    view.pointed = [0, 2]
    assert view.readout() == "one → c: 0.70 of one's attention in head 1"


def test_c21_repeated_words_are_told_apart():
    view = shown(uniform(1, 13), MAT)
    assert view.frame["queries"] == MAT  # on the axis the word itself
    titles = view.frame["query_titles"]
    assert len(set(titles)) == 13
    assert [t for t in titles if t.startswith("the")] == ["the (2)", "the (6)", "the (9)"]
    assert titles[2] == "cat"
    view.pointed = [9, 6]
    assert view.readout() == "mat (10) → mat (7): 0.08 of mat (10)'s attention in head 1"


def test_heads_keep_their_order_and_colour():
    weights = torch.zeros(10, 2, 2)
    weights[:, 0, 0] = torch.arange(1, 11) / 10
    view = shown(weights, "ab")
    assert view.frame["names"] == [f"head {i}" for i in range(1, 11)]
    assert view.frame["colours"] == [head_colour(i) for i in range(10)]
    assert [alt[-4:] for alt in view.frame["alts"]] == [f"{i / 10:.2f}" for i in range(1, 11)]


def test_c13_names_of_layers_and_heads_and_means():
    names = [f"L{layer}-H{head}" for layer in range(1, 7) for head in range(1, 13)]
    view = shown(uniform(72, 3), list("abc"), names=names, columns=12, notice="3 of 9 tokens")
    assert (view.frame["columns"], view.frame["notice"]) == (12, "3 of 9 tokens")
    assert view.frame["colours"][4] == view.frame["colours"][12 + 4] == HEAD_COLOURS[4]
    view.selected, view.pointed = 16, [0, 1]
    assert view.readout().endswith("in L2-H5")
    mean = shown(uniform(1, 3), list("abc"), names=["mean of heads"])
    assert mean.describe(0).startswith("mean of heads, strongest: a → a 0.33")


def test_selected_and_pointed_stay_while_they_exist():
    view = shown(uniform(8, 9), list("abcdefghi"))
    view.selected, view.pointed = 4, [1, 4]
    view.show(uniform(8, 9), list("abcdefghi"))
    assert (view.selected, view.pointed) == (4, [1, 4])
    view.clear("no picture")
    view.show(uniform(16, 9), list("abcdefghi"))
    assert (view.selected, view.pointed) == (4, [1, 4])
    view.show(uniform(2, 3), list("abc"))
    assert (view.selected, view.pointed) == (1, [])


def test_selected_is_clamped_and_pointed_must_exist():
    view = shown(uniform(3, 4), list("abcd"))
    view.selected = 99
    assert view.selected == 2
    view.selected = -1
    assert view.selected == 0
    for cell in ([4, 0], [0, 4], [-1, 0], [1], [1, 2, 3]):
        view.pointed = cell
        assert view.pointed == []
    view.pointed = (3, 0)
    assert view.pointed == [3, 0]


def test_c05_clear_leaves_nothing_of_the_old_picture():
    view = shown(uniform(8, 3), ["old", "older", "oldest"], notice="old notice")
    view.pointed = [0, 1]
    view.clear("H = 5 does not divide d_model = 64")
    assert view.frame["notice"] == "H = 5 does not divide d_model = 64"
    assert view.frame["shape"] == [0, 0, 0] and view.frame["weights"] == b""
    assert "old" not in json.dumps({k: v for k, v in view.frame.items() if k != "weights"})
    assert view.readout() == ""
    with pytest.raises(IndexError):
        view.describe(0)


# Words ----------------------------------------------------------------------------------


def bank_view() -> AttentionView:
    weights = uniform(8, 3).clone()
    weights[4, 1] = torch.tensor([0.25, 0.0819, 0.6681])
    view = AttentionView()
    view.show(weights, ["The", "bank", "river"])
    view.selected = 4
    return view


def test_words_in_english():
    view = bank_view()
    assert view.readout() == "Point at a cell, or move with the arrow keys, to read its weight."
    view.pointed = [1, 2]
    assert view.readout() == "bank → river: 0.67 of bank's attention in head 5"
    assert view.frame["alts"][4] == "head 5, strongest: bank → river 0.67"
    assert view.describe(4) == (
        "head 5, strongest: bank → river 0.67; "
        "mean entropy of its rows 1.01 nats, 1.10 when spread evenly"
    )
    assert repr(view) == "Attention maps: 8 heads, 3 queries × 3 keys"


def test_words_in_spanish():
    set_language("es")
    view = bank_view()
    assert view.readout() == "Señala una celda, o muévete con las flechas, para leer su peso."
    view.pointed = [1, 2]
    assert view.readout() == "bank → river: 0.67 de la attention de «bank» (cabeza 5)"
    assert view.describe(4) == (
        "cabeza 5, lo más fuerte: bank → river 0.67; "
        "entropía media de sus filas 1.01 nats, 1.10 con el reparto uniforme"
    )
    assert view.labels == page_texts("es")
    assert repr(view) == "Mapas de attention: 8 cabezas, 3 queries × 3 keys"


def test_a_view_follows_the_language_of_its_next_picture():
    view = bank_view()
    set_language("es")
    view.show(uniform(1, 2), "ab")
    assert view.labels["table"] == "tabla" and view.frame["names"] == ["cabeza 1"]


def test_c09_a_row_with_nothing_to_attend_to_says_so():
    weights = torch.tril(torch.ones(2, 4, 4))
    weights /= weights.sum(-1, keepdim=True)
    weights[:, 2] = 0
    view = shown(weights, list("abcd"))
    view.pointed = [2, 1]
    assert view.readout() == "c: no keys to attend to in head 1"
    view.pointed = [3, 0]
    assert view.readout() == "d → a: 0.25 of d's attention in head 1"
    entropy = (np.log(1) + np.log(2) + np.log(4)) / 3  # of the rows that have keys
    assert f"{entropy:.2f} nats" in view.describe(0)
    empty = shown(torch.zeros(1, 2, 2), "ab")
    assert empty.describe(0) == "head 1: no keys to attend to"


def test_entropy_of_a_sure_head_is_zero_without_a_sign():
    assert "rows 0.00 nats, 1.10" in shown(torch.eye(3)[None], "abc").describe(0)


@pytest.mark.parametrize("language", ["en", "es"])
def test_errors_name_the_numbers(language):
    set_language(language)
    view = AttentionView()
    with pytest.raises(ValueError, match=r"\(2, 8, 9, 9\).*weights\[0\]"):
        view.show(torch.zeros(2, 8, 9, 9), MAT[:9])
    with pytest.raises(ValueError, match=r"\(0, 9, 9\)"):
        view.show(torch.zeros(0, 9, 9), MAT[:9])
    with pytest.raises(ValueError, match=r"\(2, 3, 4\).* 3 quer.* 4 tokens"):
        view.show(uniform(2, 4)[:, :3], "abcd")
    with pytest.raises(ValueError, match=r"\(2, 3, 4\).* 4 keys .* 3 tokens"):
        view.show(uniform(2, 4)[:, :3], "abc")
    with pytest.raises(ValueError, match="2 .* 3 "):
        view.show(uniform(2, 3), "abc", names=["1", "2", "3"])
    broken = uniform(3, 2).clone()
    broken[1, 0, 0] = float("nan")
    with pytest.raises(ValueError, match="2 .*NaN"):
        view.show(broken, "ab")
    assert view.frame["shape"] == [0, 0, 0]
    view.show(uniform(3, 2), "ab")
    for head in (3, -1):
        with pytest.raises(IndexError, match=f" {head}.* 3.* 0 .* 2"):
            view.describe(head)


def test_both_languages_have_the_same_texts_and_the_view_uses_each():
    english, spanish = page_texts("en"), page_texts("es")
    assert english.keys() == spanish.keys()
    for key in english:
        used = [
            {f[1] for f in Formatter().parse(page[key])} - {None} for page in (english, spanish)
        ]
        assert used[0] == used[1], key
    modules = (attention_view, wording)
    python = "".join(Path(one.__file__).read_text(encoding="utf-8") for one in modules)
    in_script = set(re.findall(r'labels\.(\w+)|words\("(\w+)"', SCRIPT))
    in_script = {a or b for a, b in in_script} | {"map", "arcs", "table"}
    assert in_script <= english.keys()
    unused = {k for k in english if k not in in_script and f'"{k}"' not in python}
    assert not unused


# The script's own sums ------------------------------------------------------------------


def test_c22_the_scale_is_matplotlibs():
    packed = np.array(run_js("[...m.viridis()]"), dtype="<u4")
    ours = packed.view(np.uint8).reshape(256, 4).astype(int)
    theirs = np.round(matplotlib.colormaps[WEIGHT_MAP](np.arange(256)) * 255).astype(int)
    assert np.abs(ours - theirs).max() <= 2
    assert np.array_equal(ours[[0, 255]], theirs[[0, 255]])


def test_numbers_are_rounded_as_python_rounds_them():
    generator = np.random.default_rng(0)
    values = np.concatenate(
        [np.arange(0, 65) / 64, np.arange(0, 17) / 16, generator.random(2000), [0.285, 0.005, 1.0]]
    ).astype(np.float32)
    numbers = [float(v) for v in values]
    for digits in (2, 3):
        theirs = run_js(
            "v.numbers.map((n) => m.fixed(n, v.digits))", numbers=numbers, digits=digits
        )
        assert theirs == [f"{n:.{digits}f}" for n in numbers]


@pytest.mark.parametrize("language", ["en", "es"])
def test_page_and_kernel_say_the_same_sentence(language):
    set_language(language)
    tokens = ["the", "{name}", "$&", "the", "<i>", "\\1", "هذا", "mat"]
    view = shown(uniform(3, 8), tokens)
    view.selected = 2
    for cell in ([0, 3], [1, 2], [6, 7]):
        view.pointed = cell
        said = run_js(
            "m.fill(v.labels.readout, {query: v.frame.query_titles[v.cell[0]],"
            " key: v.frame.key_titles[v.cell[1]], weight: m.fixed(0.125, 2),"
            " name: v.frame.names[2]})",
            labels=view.labels,
            frame={k: x for k, x in view.frame.items() if k != "weights"},
            cell=cell,
        )
        assert said == view.readout()


def test_a_buffer_that_begins_anywhere_is_read_right():
    weights = torch.arange(6.0).reshape(1, 2, 3) / 8
    raw = list(shown(weights, "ab", "xyz").frame["weights"])
    for start in range(5):
        read = run_js(
            "[...m.floats(new DataView("
            "Uint8Array.from([...Array(v.start).fill(9), ...v.raw, 9]).buffer, v.start, 24))]",
            raw=raw,
            start=start,
        )
        assert read == weights.flatten().tolist()


def test_c23_small_maps_fit_the_same_box_whatever_their_number():
    counts = [*range(1, 65)]
    for width in (460, 520, 592, 700):
        grids = run_js("v.counts.map((n) => m.gridOf(n, v.width, 0))", counts=counts, width=width)
        for count, grid in zip(counts, grids, strict=True):
            rows = -(-count // grid["columns"])
            title = 18 if grid["side"] < 60 else 28
            assert 36 <= grid["side"] <= 140
            assert grid["columns"] * (grid["side"] + 4) <= width
            assert rows * (grid["side"] + title) + (rows - 1) * grid["gap"] <= 372 + 1e-6


def test_layers_times_heads_keep_twelve_in_a_row_until_too_narrow():
    grids = run_js("[520, 592, 700, 300, 230].map((width) => m.gridOf(72, width, 12))")
    assert [grid["columns"] for grid in grids] == [12, 12, 12, 6, 6]
    assert all(grid["side"] >= 39 for grid in grids[:3])
    assert all(grid["side"] >= 24 for grid in grids)
