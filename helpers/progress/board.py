"""The reader's scores on the page, by topic, with the way back to the lesson of each."""

from pathlib import Path

import anywidget
import traitlets

from ..contents import link
from ..texts import current_language, t, texts_under
from ..views.source import script, style
from .log import listen, read_log
from .place import places
from .scores import FIRST_TRY, LATER, NOT_YET, OPEN, RECORDED, Score, exercise_scores, quiz_scores

_here = Path(__file__).parent


class ProgressBoard(anywidget.AnyWidget):
    """Quiz questions and exercises by topic: right at the first try, later, not yet, open.

    quiz: the quiz counted, "10". It follows each answer given in this kernel, and at its start
    shows what was done on other days. `scores`: the quiz's topics; `exercises`: the lessons'.
    `error`: the last exception of a refresh, which the page also tells, or None.
    """

    _esm = script("nodes", "lesson_link") + (_here / "board.js").read_text(encoding="utf-8")
    _css = style("unseen", "lesson_link") + (_here / "board.css").read_text(encoding="utf-8")

    frame = traitlets.Dict().tag(sync=True)

    def __init__(self, quiz: str = "10"):
        super().__init__()
        self.quiz, self.error = quiz, None
        self.scores: list[Score] = []
        self.exercises: list[Score] = []
        # The language it is made in stays, whatever is chosen later.
        self._words = texts_under("progress.board")
        self._links = {number: link(number) for number in texts_under("contents")}
        self._lang = current_language()
        self.refresh()
        listen(self.refresh)

    def refresh(self) -> None:
        """Read the progress file again."""
        try:
            log = read_log()
            self.scores, self.exercises = quiz_scores(log, self.quiz), exercise_scores(log)
            self.error = None
            notes = [*self._place(log), *self._damage(log)]
        except Exception as problem:
            self.error, self.scores, self.exercises = problem, [], []
            notes = [self._words["trouble"].format(problem=f"{type(problem).__name__}: {problem}")]
        self.frame = {
            "lang": self._lang,
            "words": {name: self._words[name] for name in ("title", "topic", "quiz", "exercises")},
            "states": self._words["states"],
            "rows": self._rows(),
            "summary": self.summary,
            "notes": notes,
        }

    @property
    def summary(self) -> str:
        """The scores in one sentence."""
        return self._words["summary"].format(
            first=sum(score.count(FIRST_TRY) for score in self.scores),
            later=sum(score.count(LATER) for score in self.scores),
            questions=sum(len(score.parts) for score in self.scores),
            done=sum(score.count(LATER) for score in self.exercises),
            exercises=sum(len(score.parts) for score in self.exercises),
        )

    def _rows(self) -> list[dict]:
        """One row per lesson with questions or exercises: its link, and its parts by state."""
        quiz = {score.lesson: score for score in self.scores}
        exercises = {score.lesson: score for score in self.exercises}
        return [
            {
                "lesson": self._links[number],
                "quiz": self._cell(quiz.get(number), (FIRST_TRY, LATER, RECORDED, NOT_YET, OPEN)),
                "exercises": self._cell(exercises.get(number), (LATER, NOT_YET, OPEN)),
            }
            for number in sorted(self._links.keys() & (quiz.keys() | exercises.keys()))
        ]

    def _cell(self, score: Score | None, order: tuple[str, ...]) -> dict:
        if score is None:
            return {"states": [], "said": ""}
        counts = [(state, score.count(state)) for state in order]
        return {
            "states": [state for state, count in counts for _ in range(count)],
            "said": self._words["right_of"].format(
                right=score.count(FIRST_TRY, LATER), total=len(score.parts)
            ),
        }

    def _place(self, log) -> list[str]:
        """Where the answers are, or will be."""
        now = log.places or places()[:1]
        return [t(f"progress.kept.{place.kind}", path=place.path) for place in now] or [
            self._words["off"]
        ]

    def _damage(self, log) -> list[str]:
        return [self._words["damaged"].format(count=log.damaged)] if log.damaged else []

    def _repr_mimebundle_(self, **kwargs) -> dict:
        """The live view, and words that are the same whatever the reader has done."""
        bundle = super()._repr_mimebundle_(**kwargs)
        # anywidget answers with (data, metadata)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        topics = [
            f"  {self._links[score.lesson]['text']}: {len(score.parts)}" for score in self.scores
        ]
        data["text/plain"] = "\n".join(
            [f"{self._words['title']} · {self._words['static']}", *topics]
        )
        return data, metadata
