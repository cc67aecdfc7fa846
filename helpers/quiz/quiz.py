"""The course's quizzes: `Quiz("01")` as the last expression of a cell.

Its questions and keys are read by `marking`; one question on the page is a `QuestionCard`.
"""

import html
from collections.abc import Callable, Iterable
from functools import partial
from textwrap import TextWrapper

import ipywidgets

from .. import progress
from ..texts import current_language, t, texts_under
from .card import QuestionCard
from .marking import Question, load_questions
from .text import as_plain


class Quiz(ipywidgets.VBox):
    """Questions with one right option, several, or a number; wrong answers are explained.

    quiz_id: "00", "01", …  only: the ids of the questions to show, in this order.
    lessons: show the questions about these lessons only, ["01", "02"]; not together with `only`.
    test_mode: answers are recorded and nothing is said about them.
    seed: another order of the options; without it all readers see the same one.
    The language is the one chosen when the quiz is made. Raises ValueError for an id that
    does not exist, naming those that do. Answers are kept in the reader's progress file, and
    shown again when the quiz is made another day.

    `results`: question id -> what was done. `error`: the last exception of a callback, which
    the page also tells, or None.
    """

    def __init__(
        self,
        quiz_id: str,
        only: Iterable[str] | None = None,
        test_mode: bool = False,
        seed: int | None = None,
        lessons: Iterable[str] | None = None,
    ):
        if only is not None and lessons is not None:
            raise ValueError(t("quiz.only_or_lessons"))
        questions = {question.id: question for question in load_questions(quiz_id, seed)}
        about = {question.lesson for question in questions.values()}
        for lesson in lessons or ():
            if lesson not in about:
                raise ValueError(_unknown("no_lesson", lesson, sorted(about), quiz=quiz_id))
        wanted = about if lessons is None else set(lessons)
        shown = [q.id for q in questions.values() if q.lesson in wanted]
        shown = shown if only is None else list(only)
        for name in shown:
            if name not in questions:
                raise ValueError(_unknown("no_question", name, questions, quiz=quiz_id))
        self.quiz_id, self.test_mode, self.error = quiz_id, test_mode, None
        self._listeners: list[Callable[[str, dict], None]] = []
        self._words = {**texts_under("quiz"), "lang": current_language()}
        self._title = texts_under(f"quiz_{quiz_id}.title")
        self._cards = {
            name: QuestionCard(questions[name], number, len(shown), self._words, test_mode, quiz_id)
            for number, name in enumerate(shown, start=1)
        }
        super().__init__([self._head(), *self._cards.values(), self._foot()])
        self.add_class("mha")
        self.add_class("mha-quiz")
        if test_mode:
            self.add_class("mha-quiz-test")
        for name, event in progress.read_log().latest_answers(quiz_id).items():
            if name in self._cards:
                self._cards[name].resume(event["answer"], event["tries"])
        for name, card in self._cards.items():
            card.box.on_msg(partial(self._on_message, name))
            card.box.observe(partial(self._on_choice, card), "answer")
        self._show_score()

    def _head(self) -> ipywidgets.VBox:
        title = ipywidgets.HTML(f"<b>{html.escape(self._title)}</b>")
        title.add_class("mha-quiz-title")
        stale = ipywidgets.HTML(html.escape(self._words["stale"]))
        stale.add_class("mha-quiz-stale")  # quiz.css shows it when the kernel is gone
        self._trouble = ipywidgets.HTML()
        self._trouble.add_class("mha-quiz-trouble")
        return ipywidgets.VBox([title, stale, self._trouble])

    def _foot(self) -> ipywidgets.VBox:
        self._score = ipywidgets.HTML()
        self._score.add_class("mha-quiz-score")
        button = ipywidgets.Button(description=self._words["reset"])
        button.add_class("mha-quiz-reset")
        button.on_click(lambda _: self.reset())
        foot = ipywidgets.HBox([self._score, button])
        foot.add_class("mha-quiz-foot")
        self._kept = ipywidgets.HTML()
        self._kept.add_class("mha-quiz-kept")
        return ipywidgets.VBox([foot, self._kept])

    def answer(self, question: str, choice) -> None:
        """Choose as a reader would: an option id, several of them, or a number (text or not).

        It is not checked yet: see `check`. Raises ValueError for an id that does not exist.
        """
        card = self._card(question)
        chosen = [str(choice)] if isinstance(choice, (str, int, float)) else list(choice)
        options = card.question.options
        for option in chosen if options else []:
            if option not in options:
                raise ValueError(_unknown("no_option", option, options, question=question))
        if card.question.kind != "several" and len(chosen) > 1:
            raise ValueError(t("quiz.one_answer", question=question))
        card.box.answer = chosen

    def check(self, question: str) -> None:
        """Do what the question's button does: mark the answer, or record it in test mode."""
        self._guarded(self._check, self._card(question))

    def feedback(self, question: str) -> str:
        """What the page says about the last answer checked; "" when it says nothing."""
        return self._card(question).feedback()

    @property
    def results(self) -> dict[str, dict]:
        """Question id -> answered, right (None in test mode), tries, first_try, answer."""
        return {name: card.result() for name, card in self._cards.items()}

    def on_answer(self, listener: Callable[[str, dict], None]) -> None:
        """Call `listener(question_id, result)` after each answer."""
        self._listeners.append(listener)

    def reset(self) -> None:
        """Empty all answers, and all that was said and counted."""
        self._guarded(self._reset)

    def _card(self, question: str) -> QuestionCard:
        if question not in self._cards:
            message = _unknown("no_question", question, self._cards, quiz=self.quiz_id)
            raise ValueError(message)
        return self._cards[question]

    def _check(self, card: QuestionCard) -> None:
        self._tell(None)
        answered = card.check()
        self._show_score()
        if not answered:
            return
        name, result = card.question.id, card.result()
        done = {part: result[part] for part in ("answer", "right", "tries")}
        self._keep({"what": "question", "quiz": self.quiz_id, "id": name} | done)
        for listener in self._listeners:
            listener(name, result)

    def _reset(self) -> None:
        self._tell(None)
        for card in self._cards.values():
            card.reset()
        self._show_score()
        self._keep({"what": "reset", "quiz": self.quiz_id, "ids": list(self._cards)})

    def _keep(self, event: dict) -> None:
        """Into the progress file; where that is not the usual one, the page says so."""
        said = progress.warning(progress.keep(event))
        self._kept.value = f'<div role="status">{html.escape(said)}</div>' if said else ""

    def _on_message(self, question: str, _box, content: dict, _buffers) -> None:
        """The button was pressed on the page; the message carries what was chosen there."""
        if "check" in content:
            self._guarded(self._pressed, question, content["check"])

    def _pressed(self, question: str, answer: list[str]) -> None:
        self.answer(question, answer)
        self._check(self._card(question))

    def _on_choice(self, card: QuestionCard, _change) -> None:
        self._guarded(card.unsay)

    def _guarded(self, action: Callable, *values) -> None:
        try:
            action(*values)
        except Exception as problem:
            self._tell(problem)

    def _tell(self, problem: Exception | None) -> None:
        self.error = problem
        if problem is None:
            self._trouble.value = ""
            return
        name = f"{type(problem).__name__}: {problem}"
        said = html.escape(self._words["trouble"].format(problem=name))
        self._trouble.value = f'<div role="alert">{said}</div>'

    def _show_score(self) -> None:
        records = [card.record for card in self._cards.values()]
        if self.test_mode:
            done, text = sum(r.answered for r in records), self._words["answered"]
        else:
            done, text = sum(r.first_try for r in records), self._words["score"]
        self._score.value = html.escape(text.format(count=done, total=len(records)))

    def _repr_mimebundle_(self, **kwargs) -> dict:
        """The live view, and the questions as text for pages that cannot run it."""
        bundle = super()._repr_mimebundle_(**kwargs)
        questions = [card.question for card in self._cards.values()]
        heading = f"{self._title} · {self._words['static']}"
        plain = [_static(number, q) for number, q in enumerate(questions, start=1)]
        bundle["text/plain"] = "\n\n".join([heading, *plain])
        return bundle


def _static(number: int, question: Question) -> str:
    """One question as text, folded because a saved page may not wrap it."""
    sign = {"single": "( )", "several": "[ ]"}.get(question.kind)
    lines = [_folded(f"{number}. ", question.prompt)]
    lines += [_folded(f"   {sign} ", option) for option in question.options.values()]
    return "\n".join(lines if sign else [*lines, "   = …"])


def _folded(start: str, text: str) -> str:
    wrap = TextWrapper(88, initial_indent=start, break_on_hyphens=False)
    wrap.subsequent_indent = " " * len(start)
    return wrap.fill(as_plain(text))


def _unknown(key: str, name: str, known: Iterable[str], **values) -> str:
    return t(f"quiz.{key}", name=name, known=", ".join(known), **values)
