"""What the page of a quiz is sent, before an answer and after it."""

import itertools
import json
import re

import ipywidgets
import pytest
from quiz_probe import (
    HELPERS,
    answered,
    both_languages,  # noqa: F401
    each_question,
    page,
    question_of,
    read,
    right_answer,
    score,
    sent_as,
    wrong_answer,
)

from helpers import texts
from helpers.markup import as_html
from helpers.progress.board import ProgressBoard
from helpers.quiz import Quiz, marking
from helpers.quiz.card import AnswerBox
from helpers.quiz.marking import load_questions, mark, quiz_ids
from helpers.quiz.text import as_plain


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
    keys = json.loads(
        (HELPERS.parent / "data/quiz" / f"{quiz_id}.json").read_text(encoding="utf-8")
    )
    words = texts.texts_under(f"quiz_{quiz_id}.questions")
    changed = {name: other_key(key, words[name]) for name, key in keys.items()}
    (tmp_path / f"{quiz_id}.json").write_text(json.dumps(changed), encoding="utf-8")
    monkeypatch.setattr(marking, "_keys", tmp_path)
    assert load_questions(quiz_id)[0].right != [keys["q1"]["right"]]
    assert page(Quiz(quiz_id, test_mode=test_mode)) == before


@pytest.mark.parametrize("quiz_id", quiz_ids())
def test_c41_no_explanation_is_sent_before_an_answer(quiz_id):
    quiz = Quiz(quiz_id)
    questions = load_questions(quiz_id)
    for question in questions:
        quiz.answer(question.id, right_answer(question))  # chosen, not checked
    sent = page(quiz)
    for question in questions:
        assert as_plain(question.prompt) in sent
        for why in question.whys.values():
            assert not any(form in sent for form in sent_as(why))
        assert quiz.feedback(question.id) == ""


@each_question
def test_c41_test_mode_records_and_says_nothing_of_right_or_wrong(quiz_id, name):
    question = question_of(quiz_id, name)
    seen = []
    for answer in (right_answer(question), wrong_answer(question)):
        quiz = answered(quiz_id, name, answer, test_mode=True, only=[name])
        result = quiz.results[name]
        assert result == {
            **{"answered": True, "right": None, "tries": 1, "first_try": False, "answer": answer}
        }
        assert quiz.feedback(name) == texts.t("quiz.verdict.recorded")
        assert score(quiz) == texts.t("quiz.answered", count=1, total=1)
        sent = page(quiz)
        assert not any(form in sent for why in question.whys.values() for form in sent_as(why))
        box = quiz._cards[name].box
        box.set_trait("answer", [])
        seen.append((box.marks, quiz._cards[name].why.value))
    assert seen[0] == seen[1] == ({}, "")


def test_c41_a_recorded_answer_can_be_changed_and_marked_later():
    quiz = answered("01", "q1", "a", test_mode=True)
    assert score(quiz) == texts.t("quiz.answered", count=1, total=len(load_questions("01")))
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
    script = (HELPERS / "answer.js").read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|eval\(|DOMParser", script)
    assert "said.textContent" in script


@pytest.mark.parametrize("view", [AnswerBox, ProgressBoard])
def test_a_link_to_a_lesson_looks_like_one_whatever_else_is_on_the_page(view):
    assert "lessonLink(" in view._esm and "a.mha-lesson-link {" in view._css


def test_our_own_text_is_escaped_and_keeps_its_formulas():
    assert as_html("`a < b` & $x < y$") == "<code>a &lt; b</code> &amp; $x &lt; y$"


def test_words_of_weight_are_bold_on_the_page_and_plain_elsewhere():
    text = "It is **not** `d ** 0.5 ** 2`, **nor this**."
    bold = "It is <strong>not</strong> <code>d ** 0.5 ** 2</code>, <strong>nor this</strong>."
    assert as_html(text) == bold
    assert as_plain(text) == "It is not d ** 0.5 ** 2, nor this."


def test_c36_the_page_asks_for_nothing_from_elsewhere():
    for name in ("answer.js", "quiz.css"):
        assert "//" not in re.sub(r"(?m)^\s*//.*$|; // .*$", "", read(name)), name


def test_c42_no_word_of_the_other_language(language):
    other = "es" if language == "en" else "en"

    def words(code):
        texts.set_language(code)
        topics = ["quiz", *(f"quiz_{quiz_id}" for quiz_id in quiz_ids())]
        return set(itertools.chain.from_iterable(leaves(texts.texts_under(t)) for t in topics))

    foreign = {text for text in words(other) - words(language) if len(text) > 5}
    assert len(foreign) > 60
    forms = {form for text in foreign for form in sent_as(text)}
    texts.set_language(language)
    for quiz_id in quiz_ids():
        quizzes = Quiz(quiz_id), Quiz(quiz_id, test_mode=True)
        texts.set_language(other)  # a quiz keeps the language it was made in
        questions = [question_of(quiz_id, name) for name in quizzes[0].results]
        for answer in (lambda question: [], wrong_answer, right_answer, unreadable_number):
            for quiz in quizzes:
                for question in questions:
                    quiz.answer(question.id, answer(question))
                    quiz.check(question.id)
                sent = page(quiz)
                assert [form for form in forms if form in sent] == []
        texts.set_language(language)


def unreadable_number(question):
    return ["?"] if question.kind == "numeric" else []


def leaves(node):
    if isinstance(node, str):
        return [node]
    return [text for below in node.values() for text in leaves(below)]


def test_every_word_of_the_quiz_is_used():
    code = "".join(read(p) for p in ("quiz.py", "card.py", "marking.py"))

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
        assert quiz.children[-1].children[0].children[1].description == texts.t("quiz.reset")


def test_c30_the_explanation_is_spoken_without_formulas():
    quiz = answered("01", "q1", "c")
    box = quiz._cards["q1"].box
    assert box.said == texts.t("quiz.verdict.right")
    assert box.spoken == as_plain(question_of("01", "q1").whys["c"]) and "$" not in box.spoken
