"""The quizzes: every answer of every question, both languages, and what the page is sent."""

import itertools
import json
import random
import re
from pathlib import Path

import ipywidgets
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers import quiz_card, quiz_marking, texts
from helpers.quiz import Quiz
from helpers.quiz_marking import load_questions, mark, quiz_ids, read_numbers
from helpers.quiz_text import as_html, as_plain

HELPERS = Path(quiz_marking.__file__).parent
LANGUAGES = ("en", "es")


@pytest.fixture(params=LANGUAGES, autouse=True)
def language(request):
    texts.set_language(request.param)
    yield request.param
    texts.set_language("en")


def questions():
    return [(quiz_id, question) for quiz_id in quiz_ids() for question in load_questions(quiz_id)]


QUESTIONS = [(quiz_id, question.id) for quiz_id, question in questions()]
each_question = pytest.mark.parametrize("quiz_id, name", QUESTIONS)


def question_of(quiz_id, name):
    return next(q for q in load_questions(quiz_id) if q.id == name)


def right_answer(question):
    return [str(value) for value in question.right]


def wrong_answer(question):
    if question.kind == "numeric":
        return ["-17.25"]
    return [next(option for option in question.options if option not in question.right)]


def page(quiz) -> str:
    """All that has been sent to the page, as one text, without the ids of the models."""

    def collect(widget):
        state = widget.get_state()
        for name in ("children", "layout", "style", "comm", "_esm", "_css"):
            state.pop(name, None)
        below = [collect(child) for child in getattr(widget, "children", ())]
        return [state, below]

    bundle = {k: v for k, v in quiz._repr_mimebundle_().items() if "widget" not in k}
    shown = re.sub(r" at 0x\w+", "", repr(quiz))
    return json.dumps([collect(quiz), bundle, shown], ensure_ascii=False, default=str)


def sent_as(text: str) -> list[str]:
    """The forms in which a text can reach the page."""
    return [json.dumps(form, ensure_ascii=False)[1:-1] for form in (text, as_html(text))] + [
        as_plain(text)
    ]


def answered(quiz_id, name, choice, **options):
    quiz = Quiz(quiz_id, **options)
    quiz.answer(name, choice)
    quiz.check(name)
    assert quiz.error is None
    return quiz


# The questions ----------------------------------------------------------------------------


def test_there_are_quizzes_for_the_lessons():
    assert {"00", "01"} <= set(quiz_ids())
    assert len(load_questions("00")) == 3
    assert 5 <= len(load_questions("01")) <= 6


def test_c42_both_languages_have_the_same_questions_and_options():
    shapes = []
    for code in LANGUAGES:
        texts.set_language(code)
        shapes.append(
            [(quiz, q.id, q.kind, sorted(q.options), sorted(q.whys)) for quiz, q in questions()]
        )
    assert shapes[0] == shapes[1]


@each_question
def test_a_key_points_at_what_is_there(quiz_id, name):
    question = question_of(quiz_id, name)
    if question.kind == "numeric":
        assert len(question.right) == 1
        assert set(question.whys) == {"right", "other", *question.known_wrong}
        far = [abs(v - question.right[0]) for v in question.known_wrong.values()]
        assert all(distance > 2 * question.tolerance for distance in far)
    else:
        assert set(question.right) <= set(question.options)
        assert set(question.whys) == set(question.options)
        assert 3 <= len(question.options) <= 6
        assert len(question.right) < len(question.options)
        assert (len(question.right) == 1) == (question.kind == "single")
    explanations = [as_plain(why) for why in question.whys.values()]
    assert len(set(explanations)) == len(explanations)
    assert all(len(why) > 30 for why in explanations)
    assert len({as_plain(option) for option in question.options.values()}) == len(question.options)


def test_c41_neither_place_nor_length_gives_the_answer_away(language):
    choices = [q for _, q in questions() if q.kind == "single"]
    file_places, shown_places, longest = [], [], 0
    for question in choices:
        right = question.right[0]
        file_places.append(sorted(question.options).index(right))
        shown_places.append(list(question.options).index(right))
        lengths = {option: len(as_plain(text)) for option, text in question.options.items()}
        longest += lengths[right] == max(lengths.values())
    assert len(set(file_places)) > 1 and len(set(shown_places)) > 1
    assert longest <= len(choices) / 2


def test_options_are_plain_text_with_code():
    for _, question in questions():
        for text in question.options.values():
            assert not re.search(r"[$<>\\]", text)
            assert text.count("`") % 2 == 0


def test_plain_text_has_no_latex_left():
    for _, question in questions():
        for text in (question.prompt, *question.options.values(), *question.whys.values()):
            assert not re.search(r"[$\\`{}^]", as_plain(text)), as_plain(text)
    assert as_plain(r"$\sqrt{d_k}$, $QK^\top$ and `x`") == "√d_k, QKᵀ and x"
    assert as_plain(r"$\sqrt{d_\text{model} + 1}$ is $2 \times 3$") == "√(d_model + 1) is 2 × 3"


# Answers ----------------------------------------------------------------------------------


@each_question
def test_c41_each_option_gets_its_own_explanation(quiz_id, name):
    question = question_of(quiz_id, name)
    for option in question.options:
        quiz = answered(quiz_id, name, [option])
        said, sent = quiz.feedback(name), page(quiz)
        assert question.whys[option] in said
        assert sent_as(question.whys[option])[1] in sent
        for other in set(question.options) - {option}:
            assert question.whys[other] not in said
            assert not any(form in sent for form in sent_as(question.whys[other]))
        right = question.right == [option]
        assert quiz.results[name]["right"] is right
        words = texts.texts_under("quiz.verdict")
        assert said.startswith(words["right"]) is right


@each_question
def test_numbers_known_to_be_wrong_get_their_own_explanation(quiz_id, name):
    question = question_of(quiz_id, name)
    if question.kind != "numeric":
        return
    numbers = {"right": question.right[0], "other": -17.25, **question.known_wrong}
    for reason, number in numbers.items():
        quiz = answered(quiz_id, name, number)
        why = question.whys[reason]
        assert quiz.feedback(name).endswith(why)
        assert quiz.results[name]["right"] is (reason == "right")
        assert sum(other in quiz.feedback(name) for other in question.whys.values()) == 1


@each_question
def test_several_right_wants_exactly_the_right_ones(quiz_id, name):
    question = question_of(quiz_id, name)
    if question.kind != "several":
        return
    words = texts.texts_under("quiz")
    for size in range(1, len(question.options) + 1):
        for chosen in itertools.combinations(question.options, size):
            quiz = answered(quiz_id, name, chosen)
            missing = set(question.right) - set(chosen)
            wrong = set(chosen) - set(question.right)
            said = quiz.feedback(name)
            assert quiz.results[name]["right"] is (not missing and not wrong)
            verdict = "right" if not missing and not wrong else "partly"
            verdict = verdict if set(chosen) & set(question.right) else "wrong"
            assert said.startswith(words["verdict"][verdict])
            assert said.count(f"\n{words['mark']['wrong'].capitalize()}: ") == len(wrong)
            told = {
                0: "",
                1: words["missing_one"],
                2: words["missing_many"].format(count=2),
            }[len(missing)]
            assert told in said.splitlines()[0]
            for option in question.options:
                assert (question.whys[option] in said) is (option in chosen)


def test_the_second_miss_names_what_is_missing():
    question = question_of("01", "q6")
    quiz = answered("01", "q6", ["b"])
    assert question.whys["c"] not in quiz.feedback("q6")
    quiz.answer("q6", ["b", "a"])
    quiz.check("q6")
    missing = texts.t("quiz.mark.missing").capitalize()
    assert f"\n{missing}: " in quiz.feedback("q6")
    assert quiz.feedback("q6").endswith(question.whys["c"])


@pytest.mark.parametrize(
    "typed, number",
    [
        *[
            ("0.5", 0.5),
            ("0,5", 0.5),
            ("1/2", 0.5),
            (" 1 / 2 ", 0.5),
            ("\t.5\n", 0.5),
            ("50 %", 0.5),
        ],
        *[("0,500", 0.5), ("5e-1", 0.5), ("5E-1", 0.5), ("+0.5", 0.5), ("2,5/5", 0.5)],
        *[("-3", -3), ("−3", -3), ("64.", 64), ("６４", 64), ("064", 64)],
        *[("1,048,576", 1048576), ("1.048.576", 1048576), ("1 048 576", 1048576)],
        *[("1\u202f024", 1024), ("1,024.5", 1024.5), ("1.024,5", 1024.5)],
    ],
)
def test_numbers_are_read_as_people_write_them(typed, number):
    assert read_numbers(typed) == [pytest.approx(number)]


def test_a_number_with_two_readings_counts_for_both():
    assert read_numbers("1,024") == read_numbers("1.024") == [1.024, 1024]


@pytest.mark.parametrize(
    "typed",
    [
        "half",
        "1 1/2",
        "1/0",
        "1/2/3",
        "--1",
        "0..5",
        "12 34",
        "1e999",
        "nan",
        "inf",
        "0x10",
        "²",
        "%",
    ],
)
def test_what_is_no_number_is_met_with_words(typed):
    assert read_numbers(typed) == []
    quiz = answered("01", "q4", typed)
    assert typed in quiz.feedback("q4") and "1/2" in quiz.feedback("q4")
    assert quiz._cards["q4"].box.answer == [typed]
    assert quiz.results["q4"]["tries"] == 0


@given(st.text(max_size=30))
def test_no_typed_text_raises(typed):
    assert all(isinstance(number, float) for number in read_numbers(typed))


def test_the_tolerance_counts_its_edge():
    quiz_right = [v for v in ("0.395", "0.405", "2/5", "0,4", "40%") if _is_right("q4", v)]
    assert quiz_right == ["0.395", "0.405", "2/5", "0,4", "40%"]
    assert not _is_right("q4", "0.3949") and not _is_right("q4", "0.4051")
    assert _is_right("q5", "64.0") and _is_right("q5", "63") and not _is_right("q5", "62.9")


def _is_right(name, typed):
    return mark(question_of("01", name), [typed]).verdict == "right"


@pytest.mark.parametrize("name, nothing", [("q1", []), ("q6", []), ("q4", [""]), ("q4", ["  "])])
def test_checking_nothing_asks_for_an_answer(name, nothing):
    quiz = answered("01", name, nothing)
    kind = question_of("01", name).kind
    assert quiz.feedback(name) == texts.t(f"quiz.empty.{kind}")
    assert quiz.results[name] == Quiz("01").results[name]


# What counts ------------------------------------------------------------------------------


def score(quiz):
    return quiz._score.value


def test_results_count_tries_and_the_first():
    quiz = Quiz("01")
    for option in ("a", "a", "b", "c"):
        quiz.answer("q1", option)
        quiz.check("q1")
    quiz.answer("q2", "b")
    quiz.check("q2")
    done = {"answered": True, "right": True}
    assert quiz.results["q1"] == {**done, "tries": 3, "first_try": False, "answer": ["c"]}
    assert quiz.results["q2"] == {**done, "tries": 1, "first_try": True, "answer": ["b"]}
    assert quiz.results["q3"]["answered"] is False
    assert score(quiz) == texts.t("quiz.score", count=1, total=6)


def test_looking_at_other_options_after_the_right_one_costs_nothing():
    quiz = answered("01", "q1", "c")
    before = quiz.results
    quiz.answer("q1", "a")
    quiz.check("q1")
    assert quiz.results == before
    assert question_of("01", "q1").whys["a"] in quiz.feedback("q1")


def test_another_choice_takes_back_what_was_said_of_the_last_one():
    quiz = answered("01", "q1", "a")
    card = quiz._cards["q1"]
    assert card.box.verdict == "wrong" and card.why.value and card.box.spoken
    quiz.answer("q1", "b")
    assert quiz.feedback("q1") == ""
    assert [card.box.verdict, card.box.said, card.box.spoken, card.why.value] == [""] * 4
    assert list(card.box.marks) == ["a"]


def test_c26_reset_brings_back_the_first_state():
    quiz = Quiz("01")
    fresh, results = page(quiz), quiz.results
    for name in quiz.results:
        question = question_of("01", name)
        for answer in (wrong_answer(question), right_answer(question)):
            quiz.answer(name, answer)
            quiz.check(name)
    assert page(quiz) != fresh
    button = quiz.children[-1].children[1]
    assert isinstance(button, ipywidgets.Button)
    button.click()
    assert quiz.error is None
    assert page(quiz) == fresh
    assert quiz.results == results


def test_c26_c27_quizzes_share_nothing_and_come_out_the_same():
    first, second = Quiz("01"), Quiz("01")
    untouched = page(second)
    assert page(first) == untouched
    first.answer("q1", "a")
    first.check("q1")
    assert page(second) == untouched and not second.results["q1"]["answered"]
    assert page(Quiz("01")) == untouched


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_c41_shuffling_is_repeatable_and_leaves_scoring_alone(seed):
    random.seed(1)
    expected = random.random()
    random.seed(1)
    quiz = Quiz("01", seed=seed)
    assert random.random() == expected
    assert page(quiz) == page(Quiz("01", seed=seed))
    for name in quiz.results:
        quiz.answer(name, right_answer(question_of("01", name)))
        quiz.check(name)
    assert all(result["first_try"] for result in quiz.results.values())


def test_c41_the_order_hangs_on_the_seed_and_not_on_what_else_is_shown():
    orders = {json.dumps(Quiz("01", seed=s)._cards["q1"].box.options) for s in range(8)}
    assert len(orders) > 3
    alone = Quiz("01", only=["q2"])
    assert list(alone.results) == ["q2"]
    assert alone._cards["q2"].box.options == Quiz("01")._cards["q2"].box.options


# What the page is sent --------------------------------------------------------------------


def other_key(key: dict, texts_of: dict) -> dict:
    """A key under which every right answer is a different one."""
    if key["kind"] == "numeric":
        return {**key, "right": key["right"] + 3}
    options = sorted(texts_of["options"])
    shift = {o: options[(i + 1) % len(options)] for i, o in enumerate(options)}
    right = key["right"]
    changed = [shift[o] for o in right] if isinstance(right, list) else shift[right]
    return {**key, "right": changed}


@pytest.mark.parametrize("quiz_id", ["00", "01"])
@pytest.mark.parametrize("test_mode", [False, True])
def test_c41_the_page_before_an_answer_does_not_hang_on_the_key(
    quiz_id, test_mode, tmp_path, monkeypatch
):
    before = page(Quiz(quiz_id, test_mode=test_mode))
    keys = json.loads((HELPERS / "data/quiz" / f"{quiz_id}.json").read_text(encoding="utf-8"))
    words = texts.texts_under(f"quiz_{quiz_id}.questions")
    changed = {name: other_key(key, words[name]) for name, key in keys.items()}
    (tmp_path / f"{quiz_id}.json").write_text(json.dumps(changed), encoding="utf-8")
    monkeypatch.setattr(quiz_marking, "_keys", tmp_path)
    assert load_questions(quiz_id)[0].right != [keys["q1"]["right"]]
    assert page(Quiz(quiz_id, test_mode=test_mode)) == before


@each_question
def test_c41_no_explanation_is_sent_before_an_answer(quiz_id, name):
    quiz = Quiz(quiz_id)
    question = question_of(quiz_id, name)
    quiz.answer(name, right_answer(question))  # chosen, not checked
    sent = page(quiz)
    assert as_plain(question.prompt) in sent
    for why in question.whys.values():
        assert not any(form in sent for form in sent_as(why))
    assert quiz.feedback(name) == ""


@each_question
def test_c41_test_mode_records_and_says_nothing_of_right_or_wrong(quiz_id, name):
    question = question_of(quiz_id, name)
    seen = []
    for answer in (right_answer(question), wrong_answer(question)):
        quiz = answered(quiz_id, name, answer, test_mode=True)
        result = quiz.results[name]
        assert result == {
            **{"answered": True, "right": None, "tries": 1, "first_try": False, "answer": answer}
        }
        assert quiz.feedback(name) == texts.t("quiz.verdict.recorded")
        total = len(load_questions(quiz_id))
        assert score(quiz) == texts.t("quiz.answered", count=1, total=total)
        sent = page(quiz)
        assert not any(form in sent for why in question.whys.values() for form in sent_as(why))
        box = quiz._cards[name].box
        box.set_trait("answer", [])
        seen.append((box.marks, quiz._cards[name].why.value))
    assert seen[0] == seen[1] == ({}, "")


def test_c41_a_recorded_answer_can_be_changed_and_marked_later():
    quiz = answered("01", "q1", "a", test_mode=True)
    quiz.answer("q1", "c")
    quiz.check("q1")
    recorded = quiz.results["q1"]
    assert recorded["answer"] == ["c"] and recorded["tries"] == 2
    assert mark(question_of("01", "q1"), recorded["answer"]).verdict == "right"


def test_c20_what_is_typed_stays_text():
    typed = '<b>bold</b> <script>alert(1)</script> & "q" $\\frac{1}{2}$ {name} `x`'
    quiz = answered("01", "q4", typed)
    card = quiz._cards["q4"]
    assert typed in quiz.feedback("q4") and typed in card.box.said
    assert card.box.answer == [typed]

    def htmls(widget):
        own = [widget.value] if isinstance(widget, ipywidgets.HTML | ipywidgets.HTMLMath) else []
        return own + [v for child in getattr(widget, "children", ()) for v in htmls(child)]

    assert len(htmls(quiz)) > 12
    assert not any("bold" in value or "frac" in value for value in htmls(quiz))
    script = (HELPERS / "quiz_answer.js").read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|eval\(|DOMParser", script)
    assert "said.textContent" in script


def test_our_own_text_is_escaped_and_keeps_its_formulas():
    assert as_html("`a < b` & $x < y$") == "<code>a &lt; b</code> &amp; $x &lt; y$"


def test_c36_the_page_asks_for_nothing_from_elsewhere():
    for name in ("quiz_answer.js", "quiz.css"):
        assert "//" not in re.sub(r"(?m)^\s*//.*$|; // .*$", "", read(name)), name


def read(name):
    return (HELPERS / name).read_text(encoding="utf-8")


def test_c42_no_word_of_the_other_language(language):
    other = "es" if language == "en" else "en"

    def words(code):
        texts.set_language(code)
        topics = ["quiz", *(f"quiz_{quiz_id}" for quiz_id in quiz_ids())]
        return set(itertools.chain.from_iterable(leaves(texts.texts_under(t)) for t in topics))

    foreign = {text for text in words(other) - words(language) if len(text) > 5}
    assert len(foreign) > 60
    texts.set_language(language)
    for quiz_id in quiz_ids():
        quiz, testing = Quiz(quiz_id), Quiz(quiz_id, test_mode=True)
        texts.set_language(other)  # a quiz keeps the language it was made in
        for name in quiz.results:
            question = question_of(quiz_id, name)
            for answer in ([""], wrong_answer(question), right_answer(question), ["?"]):
                if answer == ["?"] and question.kind != "numeric":
                    continue
                for one in (quiz, testing):
                    one.answer(name, [] if answer == [""] else answer)
                    one.check(name)
                    sent = page(one)
                    found = [t for t in foreign if any(form in sent for form in sent_as(t))]
                    assert found == []
        texts.set_language(language)


def leaves(node):
    if isinstance(node, str):
        return [node]
    return [text for below in node.values() for text in leaves(below)]


def test_every_word_of_the_quiz_is_used():
    code = "".join(read(p) for p in ("quiz.py", "quiz_card.py", "quiz_marking.py"))

    def names(node):
        return (
            [] if isinstance(node, str) else [*node, *(n for v in node.values() for n in names(v))]
        )

    unused = [
        name for name in names(texts.texts_under("quiz")) if not re.search(rf"{name}[\"']", code)
    ]
    assert unused == []


def test_c25_the_saved_page_reads_without_a_kernel():
    quiz = Quiz("01")
    bundle = quiz._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "application/vnd.jupyter.widget-view+json"}
    text = bundle["text/plain"]
    flat = " ".join(text.split())
    assert texts.t("quiz.static") in text.splitlines()[0]
    for number, question in enumerate(load_questions("01"), start=1):
        assert f"{number}. {as_plain(question.prompt)}" in flat
        sign = "( )" if question.kind == "single" else "[ ]"
        assert all(f"{sign} {as_plain(option)}" in flat for option in question.options.values())
    assert max(len(line) for line in text.splitlines()) <= 88
    quiz.answer("q1", "c")
    quiz.check("q1")
    assert quiz._repr_mimebundle_()["text/plain"] == text


def test_c30_every_control_has_a_name(language):
    for quiz_id in quiz_ids():
        quiz = Quiz(quiz_id)
        names = [card.box.name for card in quiz._cards.values()]
        assert len(set(names)) == len(names)
        for number, card in enumerate(quiz._cards.values(), start=1):
            place = texts.t("quiz.number_of", number=number, total=len(names))
            assert card.box.name == f"{place}. {as_plain(card.question.prompt)}"
            assert card.box.words["place"] == place and card.box.words["lang"] == language
            assert card.box.words["button"] and card.box.words["field"]
        assert quiz.children[-1].children[1].description == texts.t("quiz.reset")


def test_c30_the_explanation_is_spoken_without_formulas():
    quiz = answered("01", "q1", "c")
    box = quiz._cards["q1"].box
    assert box.said == texts.t("quiz.verdict.right")
    assert box.spoken == as_plain(question_of("01", "q1").whys["c"]) and "$" not in box.spoken


# From the page, and when something breaks --------------------------------------------------


def press(quiz, name, answer):
    """The message that the page sends when the question's button is pressed."""
    quiz._cards[name].box._handle_custom_msg({"check": answer}, [])


def test_the_press_of_the_button_carries_the_answer():
    quiz = Quiz("01")
    quiz.answer("q1", "a")  # what the kernel knew last
    press(quiz, "q1", ["c"])
    assert quiz.results["q1"]["answer"] == ["c"] and quiz.results["q1"]["first_try"]
    press(quiz, "q4", ["2/5"])
    press(quiz, "q6", ["b", "c"])
    assert quiz.results["q4"]["right"] and quiz.results["q6"]["right"]
    quiz._cards["q1"].box._handle_custom_msg({"something": "else"}, [])
    assert quiz.error is None


def test_listeners_hear_each_answer():
    heard = []
    quiz = Quiz("01")
    quiz.on_answer(lambda name, result: heard.append((name, result["right"], result["tries"])))
    press(quiz, "q1", ["a"])
    press(quiz, "q1", ["c"])
    press(quiz, "q4", [""])
    press(quiz, "q4", ["what"])
    assert heard == [("q1", False, 1), ("q1", True, 2)]


def test_c24_a_failing_listener_is_told_and_the_answer_is_kept(language):
    quiz = Quiz("01")

    def fail(name, result):
        raise OSError("<b>disk</b> full {x}")

    quiz.on_answer(fail)
    press(quiz, "q1", ["c"])
    assert isinstance(quiz.error, OSError)
    trouble = quiz._trouble.value
    assert "OSError: &lt;b&gt;disk&lt;/b&gt; full {x}" in trouble and 'role="alert"' in trouble
    assert quiz.results["q1"]["right"] is True and quiz._cards["q1"].box.verdict == "right"
    quiz._listeners.clear()
    press(quiz, "q2", ["b"])
    assert quiz.error is None and quiz._trouble.value == ""


@pytest.mark.parametrize("broken", ["mark", "as_html"])
def test_c24_an_exception_in_a_callback_shows_and_passes(broken, monkeypatch):
    quiz = Quiz("01")
    with monkeypatch.context() as patch:
        patch.setattr(quiz_card, broken, lambda *_: 1 / 0)
        press(quiz, "q1", ["a"])
        assert isinstance(quiz.error, ZeroDivisionError)
        assert "ZeroDivisionError" in quiz._trouble.value
        assert quiz._cards["q1"].box.answer == ["a"]
    press(quiz, "q1", ["a"])
    assert quiz.error is None and quiz.feedback("q1")


def test_what_does_not_exist_is_named():
    with pytest.raises(ValueError, match="77.*00, 01"):
        Quiz("77")
    with pytest.raises(ValueError, match="q9.*q1, q2"):
        Quiz("01", only=["q1", "q9"])
    quiz = Quiz("01")
    for attempt in (lambda: quiz.answer("q9", "a"), lambda: quiz.check("q9")):
        with pytest.raises(ValueError, match="q9"):
            attempt()
    with pytest.raises(ValueError, match="q1.*z|z.*q1"):
        quiz.answer("q1", "z")
    with pytest.raises(ValueError, match="q1"):
        quiz.answer("q1", ["a", "b"])
    press(quiz, "q1", ["z"])
    assert isinstance(quiz.error, ValueError) and not quiz.results["q1"]["answered"]


# What the questions of lesson 01 claim ------------------------------------------------------


def test_c06_c38_claims_about_the_scale():
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(200, 16, 64, generator=generator) for _ in range(2))
    scores = q @ k.transpose(1, 2)
    assert scores.var().item() == pytest.approx(64, rel=0.05)  # q5
    assert (scores / 8).var().item() == pytest.approx(1, rel=0.05)

    def entropy(divisor):
        weights = torch.softmax(scores / divisor, dim=-1)
        return -(weights * weights.clamp_min(1e-30).log()).sum(-1).mean().item()

    unscaled, by_root, by_model, by_width = (entropy(d) for d in (1, 8, 512**0.5, 64))
    assert unscaled < by_root < by_model < by_width  # q1: sharper; flatter; flatter still


def test_c12_c38_claims_about_softmax_and_masks():
    scores = torch.randn(6, 6, generator=torch.Generator().manual_seed(1))
    columns = torch.softmax(scores, dim=-2)
    assert columns.sum(-1).max() > 1.05 and columns.sum(-1).min() < 0.95  # q2
    equal = torch.zeros(4, 4)
    assert torch.equal(torch.softmax(equal, 0), torch.softmax(equal, 1))
    late = torch.softmax(scores, dim=-1)
    late[2, 4] = 0
    early = scores.clone()
    early[2, 4] = float("-inf")
    early = torch.softmax(early, dim=-1)
    assert late[2].sum() < 0.999 and early[2].sum() == pytest.approx(1)  # q3
    visible = [0, 1, 2, 3, 5]
    assert (late[2, visible] < early[2, visible]).all()
    assert not late.isnan().any()
    assert torch.full((3,), float("-inf")).softmax(0).isnan().all()


def test_c38_claims_about_the_encoder():
    from helpers.encoder import load_encoder

    encoding = load_encoder().encode("The bank by the river issued a statement.")
    labels, layer = encoding.labels, encoding.weights[0]
    bank, river, issued = (labels.index(word) for word in ("bank", "river", "issued"))
    assert layer.shape[0] == 12
    assert round(layer[4, bank, river].item(), 2) == 0.67
    assert round(layer[3, bank, issued].item(), 2) == 0.25
    mean = layer.mean(0)
    assert round(mean[bank, river].item(), 2) == 0.15
    assert round(mean[bank, issued].item(), 2) == 0.08
