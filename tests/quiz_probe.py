"""What the tests of the quizzes share."""

import json
import re
from pathlib import Path

import pytest

from helpers import texts
from helpers.markup import as_html
from helpers.quiz import Quiz, marking
from helpers.quiz.marking import load_questions, quiz_ids
from helpers.quiz.text import as_plain

HELPERS = Path(marking.__file__).parent
LANGUAGES = ("en", "es")


@pytest.fixture(params=LANGUAGES, autouse=True, name="language")
def both_languages(request):
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


def press(quiz, name, answer):
    """The message that the page sends when the question's button is pressed."""
    quiz._cards[name].box._handle_custom_msg({"check": answer}, [])


def read(name):
    return (HELPERS / name).read_text(encoding="utf-8")


def score(quiz):
    return quiz._score.value
