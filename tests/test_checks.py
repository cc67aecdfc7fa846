"""The machinery of the exercise checks: verdicts, the reader's errors, display, reports, texts."""

import ast
import inspect
import json
import re
import string
from pathlib import Path

import nbformat
import pytest
import torch
from nbclient import NotebookClient

import helpers.checks
from helpers import texts
from helpers.checks import attempted, base, check, comparing, exercises, results, weights
from helpers.checks.trying import attempt, kept_attempt
from helpers.markup import as_html

ID = "01.attention_weights"
FOLDER = Path(inspect.getfile(helpers.checks)).parent
right = weights.attention_weights


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """English, and no result from another test."""
    texts.set_language("en")
    monkeypatch.setattr(helpers.checks, "_latest", {})
    yield
    texts.set_language("en")


# --- not yet ----------------------------------------------------------------------------------


def stub_none(Q, K, mask=None):
    """A docstring."""
    return None


def stub_dots(Q, K, mask=None):
    """A docstring."""
    ...


def stub_with_a_start(Q, K, mask=None):
    d_k = Q.shape[-1]  # noqa: F841
    return None


def stub_raises(Q, K, mask=None):
    raise NotImplementedError


def forgot_return(Q, K, mask=None):
    weights = (Q @ K.T).softmax(-1)  # noqa: F841


@pytest.mark.parametrize("stub", [stub_none, stub_dots, stub_with_a_start, stub_raises])
def test_an_untouched_stub_is_not_yet(stub):
    result = check(ID, stub)
    assert (result.passed, result.kind) == (None, "not_yet")
    assert result.message.startswith("○ Not yet")
    assert "row i says" in result.expected and "None" in result.got and "return" in result.look
    assert not result


def test_work_without_a_return_is_not_yet_and_says_why():
    result = check(ID, forgot_return)
    assert (result.passed, result.kind) == (None, "no_return")


def test_none_for_some_inputs_only_is_a_fault():
    def answer(Q, K, mask=None):
        if mask is None:
            return right(Q, K)

    result = check(ID, answer)
    assert (result.passed, result.kind) == (False, "none_sometimes")
    assert "mask (5, 5)" in result.got


def test_c26_undefined_name_is_a_pointer_not_a_name_error():
    result = check("01.attention_weights")
    assert (result.passed, result.kind) == (None, "undefined")
    assert "`attention_weights` is not defined yet" in result.title
    assert "Run the cell above" in result.look


def test_the_answer_is_looked_up_where_check_is_called():
    attention_weights = right  # noqa: F841  (found by name)
    assert check(ID).passed
    space = {"check": check, "attention_weights": lambda Q, K, mask=None: None}
    exec("result = check('01.attention_weights')", space)
    assert space["result"].kind == "not_yet"


@pytest.mark.parametrize(
    ("asked", "near"), [("01.attention_weight", True), ("nonsense", False), (right, False)]
)
def test_unknown_ids_are_answered_with_the_list(asked, near):
    result = check(asked)
    assert (result.passed, result.kind) == (None, "unknown_exercise")
    assert ("Did you mean `01.attention_weights`?" in result.look) is near
    assert all(id in result.look for id in exercises())
    assert asked not in results() if isinstance(asked, str) else True


def test_a_check_reads_its_own_lessons_file_only(monkeypatch):
    """So that a fault in one lesson's file does not silence the others."""

    def iter_modules(path):
        raise AssertionError("all lessons were read")

    monkeypatch.setattr(base.pkgutil, "iter_modules", iter_modules)
    assert check(ID, right).passed


# --- the reader's errors ----------------------------------------------------------------------


def raises_at_a_line(Q, K, mask=None):
    scores = Q @ K  # the line
    return scores


LINE = inspect.getsourcelines(raises_at_a_line)[1] + 1


def test_c15_an_exception_is_told_with_its_line_and_words():
    result = check(ID, raises_at_a_line)
    assert (result.passed, result.kind) == (False, "raised")
    assert ("Line of your code", f"{LINE}: scores = Q @ K  # the line") in result.quotes
    assert result.quotes[1][1].startswith("RuntimeError: mat1 and mat2 shapes")
    assert "Traceback" not in result.message and ".py" not in result.message
    assert "(5x3) and (5x3)" in result.look and "T = 5, d_k = 3" in result.look


def test_the_innermost_line_of_the_reader_is_shown():
    def scale(x):
        return x.reshape(7, 7)

    def answer(Q, K, mask=None):
        return scale(Q @ K.T)

    result = check(ID, answer)
    assert result.quotes[0][1].endswith("return x.reshape(7, 7)")
    assert "multiply to the 25 numbers" in result.look


def endless(Q, K, mask=None):
    return endless(Q, K, mask)


class UnsayableError(Exception):
    def __str__(self):
        raise ValueError


def raiser(error):
    def answer(Q, K, mask=None):
        raise error

    return answer


@pytest.mark.parametrize(
    ("answer", "words", "hint"),
    [
        (endless, "RecursionError", "calls itself"),
        (lambda Q, K, mask=None: nowhere, "NameError", "from the top"),  # noqa: F821
        (raiser(SystemExit(1)), "SystemExit: 1", "exit()"),
        (raiser(AssertionError("rows")), "AssertionError: rows", "`assert`"),
        (raiser(UnsayableError()), "UnsayableError", "print the shapes"),
        (lambda Q, K, mask=None: mask == 0 and mask.any(), "AttributeError", "the call without"),
        (lambda Q, K, mask=None: (Q @ K.T).softmax(3), "IndexError", "Negative axes"),
        (lambda Q, K, mask=None: Q.T.view(15), "RuntimeError", "copies the numbers"),
        (lambda Q, K, mask=None: Q @ K.T + Q, "RuntimeError", "5 and 3"),
        (lambda Q, K, mask=None: Q[None] @ K[None], "RuntimeError", "shapes that do not fit"),
        (raiser(ValueError("x" * 999)), "ValueError", "print the shapes"),
    ],
)
def test_kind_words_for_every_error(answer, words, hint):
    if words == "AttributeError":
        answer = lambda Q, K, mask=None: mask.bool()  # noqa: E731
    result = check(ID, answer)
    assert (result.passed, result.kind) == (False, "raised")
    assert result.quotes[-1][1].startswith(words)
    assert hint in result.look
    assert all(len(text) < 400 for _, text in result.quotes)


def test_the_stop_button_works():
    with pytest.raises(KeyboardInterrupt):
        check(ID, raiser(KeyboardInterrupt()))


def test_c20_markup_and_tex_in_the_readers_words_stay_text():
    def answer(Q, K, mask=None):
        raise ValueError("<b>bold</b> <script>alert(1)</script> & $x^2$ `tick` {brace}")

    for language in texts.LANGUAGES:
        texts.set_language(language)
        result = check(ID, answer)
        bundle = result._repr_mimebundle_()
        page = bundle["text/html"]
        assert "<script" not in page and "<b>" not in page
        assert "&lt;b&gt;bold&lt;/b&gt; &lt;script&gt;" in page and "`tick` {brace}" in page
        # The typesetters skip this class, so the dollars stay dollars.
        assert page.startswith('<div class="tex2jax_ignore mathjax_ignore"')
        assert "<b>bold</b>" in bundle["text/plain"] and "$x^2$" in bundle["text/plain"]
    assert "&lt;i&gt;$" in check("<i>$x$").  _repr_html_()  # fmt: skip


def test_arguments_that_do_not_fit():
    result = check(ID, lambda Q, K: right(Q, K))
    assert result.kind == "wrong_arguments"
    assert "attention_weights(Q, K, mask=None)" in result.expected
    # An argument error inside the reader's code is another thing: it has a line.
    assert check(ID, lambda Q, K, mask=None: right(Q)).kind == "raised"


def test_something_that_is_no_function():
    result = check(ID, torch.zeros(2, 3))
    assert result.kind == "not_callable" and "Tensor (2, 3)" in result.got


# --- leaving the reader's notebook alone ------------------------------------------------------


def test_c38_global_random_state_is_neither_used_nor_moved():
    def answer(Q, K, mask=None):
        torch.manual_seed(3)
        torch.randn(5)
        return right(Q, K, mask)

    torch.manual_seed(0)
    before = torch.get_rng_state()
    assert check(ID, answer).passed
    assert check(ID, lambda Q, K, mask=None: torch.rand(len(Q), len(Q))).kind == "random"
    assert torch.equal(torch.get_rng_state(), before)
    first = check(ID, lambda Q, K, mask=None: (Q @ K.T).softmax(-1)).message
    torch.manual_seed(99)
    assert check(ID, lambda Q, K, mask=None: (Q @ K.T).softmax(-1)).message == first


def test_inputs_are_fresh_and_changes_in_place_are_told():
    def answer(Q, K, mask=None):
        weights = right(Q, K, mask)
        Q.zero_()
        return weights

    for _ in range(2):
        result = check(ID, answer)
        assert (result.passed, result.kind) == (False, "changed_input")
        assert "in Q." in result.got
    assert check(ID, right).passed


def test_hidden_state_from_call_to_call_is_told():
    calls = []

    def answer(Q, K, mask=None):
        calls.append(1)
        return right(Q, K, mask) + 0.01 * len(calls)

    assert check(ID, answer).kind == "random"


def test_prints_of_the_reader_come_through_and_the_check_prints_nothing(capsys):
    def answer(Q, K, mask=None):
        print("shape", tuple(Q.shape))
        return right(Q, K, mask)

    check(ID, answer)
    out, err = capsys.readouterr()
    assert set(out.split("\n")) == {"shape (5, 3)", "shape (4, 8)", "shape (6, 3)", ""}
    assert err == ""


def test_the_number_of_threads_is_as_before():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        check(ID, right)
        check(ID, raises_at_a_line)
        with pytest.raises(KeyboardInterrupt):
            check(ID, raiser(KeyboardInterrupt()))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_gradients_are_on_and_a_default_dtype_does_not_matter():
    seen = []

    def answer(Q, K, mask=None):
        seen.append(torch.is_grad_enabled())
        return right(Q, K, mask) * torch.ones(1)

    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            assert check(ID, answer).passed
            assert not torch.is_grad_enabled()
    finally:
        torch.set_default_dtype(torch.float32)
    assert all(seen)


# --- comparing --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "near", "far"),
    [
        (torch.float64, 1e-10, 1e-7),
        (torch.float32, 5e-6, 1e-4),
        (torch.float16, 2e-3, 5e-2),
        (torch.bfloat16, 8e-3, 1e-1),
    ],
)
def test_tolerance_follows_the_dtype(dtype, near, far):
    a = torch.full((2, 2), 0.5, dtype=torch.float64)
    close, apart = (a + near).to(dtype), (a + far).to(dtype)
    assert comparing.same(a, close) and not comparing.same(a, apart)


def test_what_counts_as_the_same():
    nan, one = torch.tensor([float("nan"), 1.0]), torch.tensor([1.0, 1.0])
    assert comparing.same(nan, nan) and not comparing.same(nan, one)
    assert not comparing.same(one, torch.ones(1, 2)), "shape counts"
    assert comparing.same(2, torch.tensor(2)) and comparing.same((2, 3), torch.Size([2, 3]))
    assert not comparing.same((2, 3), (2, 4)) and not comparing.same((2, 3), (2, 3, 4))
    assert not comparing.same(one, None) and not comparing.same(1, True)
    assert not comparing.same(one, one * 1j)


def test_where_two_tensors_differ_most():
    a = torch.zeros(2, 3, dtype=torch.float64)
    b = a.clone()
    b[0, 1], b[1, 2] = 1.0, -2.0
    assert comparing.largest_difference(a, b) == (1, 2)
    b[0, 0] = float("nan")
    assert comparing.largest_difference(a, b) == (0, 0)
    assert comparing.first_different_row(a, b, 1e-5) == (0,)


def test_numbers_are_written_for_people():
    assert comparing.written(0.7421234) == ["0.742"]
    assert comparing.written(0.74211, 0.74219) == ["0.7421", "0.7422"]
    assert comparing.written(1.0, -0.0) == ["1", "0"]
    assert comparing.written(float("nan"), float("-inf")) == ["NaN", "-inf"]
    assert comparing.written(-0.0001) == ["0.000"]
    assert comparing.written_row(torch.tensor([0.0, 1, 4, 5])) == "[0, 1, 4, 5]"
    assert comparing.written_row(torch.arange(9.0)).endswith("7, …]")


# --- every exercise of the course -------------------------------------------------------------


def probe_of(id):
    return next(probe for probe in exercises()[id].probes if not probe.raises)


@pytest.mark.parametrize("id", exercises())
def test_the_reference_passes_in_both_languages(id):
    for language in texts.LANGUAGES:
        texts.set_language(language)
        result = check(id, exercises()[id].reference)
        assert result.passed is True
        assert result.message.splitlines()[1].strip()


@pytest.mark.parametrize("id", exercises())
def test_every_misconception_of_the_catalogue_is_told_apart(id):
    exercise = exercises()[id]
    for idea in exercise.misconceptions:
        messages = {}
        for language in texts.LANGUAGES:
            texts.set_language(language)
            result = check(id, idea.wrong)
            assert (result.passed, result.kind) == (False, idea.kind), result.message
            assert result.title and result.expected and result.got and result.look
            messages[language] = result.message
        assert messages["en"] != messages["es"]


@pytest.mark.parametrize("id", exercises())
def test_c02_right_shape_alone_never_passes(id):
    """Zeros, ones, flat shares and noise of the right shape and dtype: none is right."""
    exercise = exercises()[id]
    generator = torch.Generator().manual_seed(5)
    fakes = [torch.zeros_like, torch.ones_like, lambda x: torch.full_like(x, 1 / x.shape[-1]),
             lambda x: torch.randn(x.shape, generator=generator)]  # fmt: skip
    for fake in fakes:
        for probe in exercise.probes:
            expected = attempt(exercise, exercise.reference, probe).output
            if isinstance(expected, torch.Tensor):
                assert not comparing.same(expected, fake(expected))


@pytest.mark.parametrize("id", exercises())
def test_misconceptions_are_far_outside_the_tolerance(id):
    """A hundred times that of float32, so that rounding neither hides nor invents one."""
    exercise = exercises()[id]
    for idea in exercise.misconceptions:
        gaps = []
        for probe in [*exercise.probes, *exercise.easier]:
            a = kept_attempt(exercise, exercise.reference, probe)
            b = kept_attempt(exercise, idea.wrong, probe)
            if a.error or b.error:
                continue
            x, y = comparing.as_numbers(a.output), comparing.as_numbers(b.output)
            if x is None or y is None or x.shape != y.shape:
                gaps.append(float("inf"))
            else:
                gaps.append(float((x - y).abs().nan_to_num(float("inf")).max()))
        assert not gaps or max(gaps) > 1e-3, idea.kind


# --- display, report, texts -------------------------------------------------------------------


def test_c30_words_beside_the_icons_and_colour():
    words = {check(ID, f).heading for f in (right, stub_none, raises_at_a_line)}
    assert words == {"✓ Correct", "○ Not yet", "✗ Not right yet"}
    page = check(ID, raises_at_a_line)._repr_html_()
    for label in ("Expected:", "What came:", "Next:", "✗ Not right yet"):
        assert label in page
    assert re.findall(r"(?<!-)color:", page) == [], "text keeps the theme's own colour"
    assert "http" not in page and "<style" not in page


def test_sentences_are_escaped_and_only_backticks_are_code():
    assert as_html("a < b & `c <i>`") == "a &lt; b &amp; <code>c &lt;i&gt;</code>"


def test_plain_text_and_repr_are_the_message():
    result = check(ID, right)
    assert repr(result) == str(result) == result._repr_mimebundle_()["text/plain"] == result.message
    assert result and "0x" not in result.message


def test_c39_class_report_names_missing_checks_and_scores_the_rest():
    check(ID, right)
    check("01.single_head", lambda X, W_Q, W_K, W_V, mask=None: X)
    report = results("01")
    assert (report.passed, report.failed) == ([ID], ["01.single_head"])
    assert report.missing == ["01.row_entropy"] and report.not_yet == []
    assert "Check missing: 01.row_entropy" in report.message
    assert report.message.startswith("1 of 3 exercises correct.")
    assert attempted() == [ID, "01.single_head"]
    kinds = [row["kind"] for row in json.loads(json.dumps(report.as_dicts()))]
    assert kinds == ["passed", "wrong_shape", "missing"]
    texts.set_language("es")
    page = results("01")._repr_html_()
    assert "Falta la comprobación: 01.row_entropy" in page
    assert '<ul style="list-style:none;' in page  # the icons are the marks


def test_not_yet_is_not_attempted_and_the_last_result_counts():
    check(ID, stub_none)
    assert attempted() == [] and results().not_yet == [ID]
    check(ID, raises_at_a_line)
    check(ID, right)
    assert results().passed == [ID]


ENGLISH = set("the of and with your is are was not each which look from by in to an it".split())
SPANISH = set("el los las del que una con por es está cada tu se y mira entre al lo".split())


def words_in(text):
    """The words of a text; code, formulas and names in it left out."""
    return set(re.findall(r"[a-záéíóúñü]+", re.sub(r"`[^`]*`|\w+_\w+", " ", text).lower()))


def leaves(node, path=""):
    if isinstance(node, str):
        yield path, node
        return
    for key, value in node.items():
        yield from leaves(value, f"{path}.{key}" if path else key)


def text_file(language, topic):
    folder = Path(texts.__file__).parent / language
    return dict(leaves(json.loads((folder / f"{topic}.json").read_text(encoding="utf-8"))))


def placeholders(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("topic", ["checks", "check_01"])
def test_both_languages_have_the_same_keys_and_placeholders(topic):
    en, es = text_file("en", topic), text_file("es", topic)
    assert list(en) == list(es) and len(en) > 50
    for key in en:
        assert placeholders(en[key]) == placeholders(es[key]), key
        assert not words_in(es[key]) & ENGLISH, (key, words_in(es[key]) & ENGLISH)
        assert not words_in(en[key]) & SPANISH, (key, words_in(en[key]) & SPANISH)


def strings_in_source():
    """Every string constant in the code of the checks."""
    found = set()
    for file in FOLDER.glob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        nodes = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        found |= {value for value in nodes if isinstance(value, str)}
    return found


def test_every_kind_and_hint_in_the_texts_is_used():
    strings = strings_in_source()
    for topic in ("checks", "check_01"):
        for key in text_file("en", topic):
            group, name, *_ = [*key.split("."), ""]
            if group in ("kinds", "hints", "labels"):
                assert {name, f"{topic}.{group}.{name}"} & strings, f"{topic}.{key}"
            if group == "facts":
                assert f"{topic}.{key}" in strings


def test_every_kind_of_lesson_01_has_words():
    have = {key.split(".")[1] for key in text_file("en", "check_01") if key.startswith("kinds.")}
    ideas = {i.kind for id, e in exercises().items() if id[:3] == "01." for i in e.misconceptions}
    assert have == ideas | {"wrong_scale", "hidden_but_seen", "rows_do_not_sum"}


# --- in a real kernel -------------------------------------------------------------------------

CELLS = [
    "from helpers.checks import check, results",
    'check("01.attention_weights")',
    "def attention_weights(Q, K, mask=None):\n    return None",
    'check("01.attention_weights")',
    "def attention_weights(Q, K, mask=None):\n    scores = Q @ K.T\n    raise ValueError('<b>$x$')",
    'check("01.attention_weights")',
    "def attention_weights(Q, K, mask=None):\n    return (Q @ K.T / len(Q.T) ** 0.5).softmax(-1)",
    'check("01.attention_weights")',
    'results("01")',
    # Half a second to load, in the middle of a verdict: torch's index functions do.
    "'sympy' in __import__('sys').modules",
]


def run_in_kernel():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    course = {"metadata": {"path": str(FOLDER.parents[1])}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=course).execute()
    return [cell.outputs[0].data if cell.outputs else None for cell in notebook.cells]


def test_c26_in_a_notebook_twice_the_same_output_and_the_cells_own_line():
    first, second = run_in_kernel(), run_in_kernel()
    assert first == second
    *shown, heavy = [data for data in first if data]
    assert heavy["text/plain"] == "False"
    plain = [data["text/plain"] for data in shown]
    assert "is not defined yet" in plain[0] and plain[1].startswith("○ Not yet")
    assert "Line of your code: 3: raise ValueError('<b>$x$')" in plain[2]
    assert "The mask changes nothing." in plain[3]
    assert "Check missing: 01.single_head" in plain[4]
    assert all(data.keys() == {"text/plain", "text/html"} for data in shown)
