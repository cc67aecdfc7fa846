"""One question on the page: its prompt, the controls for its answer, what is said about it.

The controls are a widget of our own and not `ipywidgets.RadioButtons`, whose radios have no
common name: arrow keys do not move between them, and each change from Python draws them anew,
which loses the focus. Theirs also sends the choice and the press of the button as two
messages, which a busy kernel can receive out of step; here the press carries the answer.
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path

import anywidget
import ipywidgets
import traitlets

from ..contents import link
from ..markup import as_html
from ..views.source import script, style
from .marking import Marked, Question, mark
from .text import as_plain

_folder = Path(__file__).parent


class AnswerBox(anywidget.AnyWidget):
    """Radios, checkboxes or a field, a button, and a line that says the verdict.

    It knows nothing of the key. `answer`: the chosen option ids, or [what was typed].
    """

    _esm = script("nodes", "lesson_link") + (_folder / "answer.js").read_text(encoding="utf-8")
    _css = style("unseen", "lesson_link") + (_folder / "quiz.css").read_text(encoding="utf-8")
    kind = traitlets.Unicode().tag(sync=True)
    name = traitlets.Unicode().tag(sync=True)  # what a screen reader calls the group
    options = traitlets.List().tag(sync=True)  # [id, text] in the order shown
    words = traitlets.Dict().tag(sync=True)
    answer = traitlets.List(traitlets.Unicode()).tag(sync=True)
    verdict = traitlets.Unicode().tag(sync=True)
    said = traitlets.Unicode().tag(sync=True)  # shown as text, never as HTML or TeX
    spoken = traitlets.Unicode().tag(sync=True)
    link = traitlets.Dict().tag(sync=True)  # to the lesson that explains it; empty for none
    marks = traitlets.Dict().tag(sync=True)  # option id -> word, for options already tried


@dataclass
class Record:
    """What a reader did with a question; `right` stays None in test mode.

    Counting stops at the right answer: looking at other options afterwards costs nothing.
    """

    answered: bool = False
    right: bool | None = None
    tries: int = 0
    first_try: bool = False
    answer: list[str] = field(default_factory=list)


class QuestionCard(ipywidgets.VBox):
    """Question `number` of `total`. words: the texts of the quiz's interface.

    lesson: the lesson the quiz stands in; a wrong answer links to the question's own, when that
    is another one.
    """

    def __init__(
        self,
        question: Question,
        number: int,
        total: int,
        words: dict,
        test_mode: bool = False,
        lesson: str = "",
    ):
        self.question, self.words, self.test_mode = question, words, test_mode
        # Now, not when it is shown: a quiz keeps the language it was made in.
        elsewhere = question.lesson != (lesson or question.lesson)
        self._link = {"before": words["go_back"]} | link(question.lesson) if elsewhere else {}
        self.record = Record()
        self.lines: list[str] = []  # what is said about the last answer, as we wrote it
        place = words["number_of"].format(number=number, total=total)
        self.box = AnswerBox(
            kind=question.kind,
            name=f"{place}. {as_plain(question.prompt)}",
            options=[[option, text] for option, text in question.options.items()],
            words={
                "lang": words["lang"],
                "place": place,
                "button": words["record" if test_mode else "check"],
                "hint": words["hint"][question.kind],
                "field": words["field"],
            },
        )
        self.prompt = ipywidgets.HTMLMath(
            f'<p lang="{words["lang"]}"><b>{number}.</b> {as_html(question.prompt)}</p>'
        )
        self.why = ipywidgets.HTMLMath()
        super().__init__([self.prompt, self.box, self.why])
        self.add_class("mha-quiz-card")
        self.prompt.add_class("mha-quiz-prompt")
        self.why.add_class("mha-quiz-why")

    def check(self) -> bool:
        """Mark what is chosen, say so, and return whether it was an answer at all."""
        answer = list(self.box.answer)
        marked = mark(self.question, answer)
        if marked.verdict == "empty":
            self._show("empty", self.words["empty"][self.question.kind])
        elif marked.verdict == "unread":
            self._show("unread", self.words["unread"].format(typed=answer[0].strip()))
        else:
            self._count(answer, None if self.test_mode else marked.verdict == "right")
            self._tell(marked)
            return True
        return False

    def resume(self, answer: list[str], tries: int) -> None:
        """Show again what was answered on another day, unless the question has changed since."""
        marked = mark(self.question, answer)
        known = self.question.kind == "numeric" or set(answer) <= set(self.question.options)
        if not known or marked.verdict in ("empty", "unread"):
            return
        right = None if self.test_mode else marked.verdict == "right"
        self.record = Record(True, right, tries, bool(right and tries == 1), list(answer))
        self.box.answer = list(answer)
        self._tell(marked)

    def _tell(self, marked: Marked) -> None:
        if self.test_mode:
            self._show("recorded", self.words["verdict"]["recorded"])
        else:
            self._show(marked.verdict, *self._explain(marked))

    def _count(self, answer: list[str], right: bool | None) -> None:
        record = self.record
        if record.right or (record.answered and set(answer) == set(record.answer)):
            return
        self.record = Record(
            True, right, record.tries + 1, bool(right and not record.tries), answer
        )

    def _explain(self, marked: Marked) -> tuple[str, list[str]]:
        """The verdict in words, and the explanations below it."""
        said = self.words["verdict"][marked.verdict]
        if self.question.kind != "several":
            return said, [why for _, _, why in marked.whys]
        if len(marked.missing) == 1:
            said += " " + self.words["missing_one"]
        elif marked.missing:
            said += " " + self.words["missing_many"].format(count=len(marked.missing))
        lines = [
            self._line(option, "right" if right else "wrong") for option, right, _ in marked.whys
        ]
        # The first miss says how many are missing, so that there is something left to think
        # about; the second one names them.
        named = marked.missing if self.record.tries > 1 else []
        return said, lines + [self._line(option, "missing") for option in named]

    def _line(self, option: str, mark: str) -> str:
        # Some options are whole sentences: the full stop comes from the quote.
        text = self.question.options[option].rstrip(".")
        quoted = self.words["quote"].format(text=text)
        return f"{self.words['mark'][mark].capitalize()}: {quoted} {self.question.whys[option]}"

    def _show(self, verdict: str, said: str, whys: list[str] | None = None) -> None:
        whys = whys or []
        self.lines = [said, *whys]
        tried = self.box.answer if whys and self.question.kind != "numeric" else []
        words = {
            o: self.words["mark"]["right" if o in self.question.right else "wrong"] for o in tried
        }
        with self.box.hold_sync():
            self.box.verdict, self.box.said = verdict, said
            self.box.spoken = " ".join(as_plain(why) for why in whys)
            self.box.link = self._link if verdict in ("wrong", "partly") else {}
            self.box.marks = {**self.box.marks, **words}
        paragraphs = "".join(f"<p>{as_html(why)}</p>" for why in whys)
        self.why.value = f'<div lang="{self.words["lang"]}">{paragraphs}</div>' if whys else ""

    def unsay(self) -> None:
        """Take back what was said: it was about another answer than the one now chosen."""
        self._show("", "")

    def reset(self) -> None:
        self.record = Record()
        self.box.answer = []
        self.box.marks = {}
        self.unsay()

    def feedback(self) -> str:
        return "\n".join(line for line in self.lines if line)

    def result(self) -> dict:
        return asdict(self.record)
