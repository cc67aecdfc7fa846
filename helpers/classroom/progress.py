"""One student's progress file: exercises, and the answers to quizzes by topic."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ..progress import read_log, scores
from ..progress.scores import exercise_states
from ..quiz.marking import Question, load_questions, mark, quiz_ids
from ..texts import current_language
from .scoring import OPEN, RIGHT, TRIED

_STATES = {scores.LATER: RIGHT, scores.NOT_YET: TRIED, scores.OPEN: OPEN}


@dataclass
class Topic:
    """The questions about one lesson: how many there are and what became of them.

    right: by the last answer. first_try: by the first one. in_test: recorded in test mode, where
    the student was told nothing; they are marked here.
    """

    questions: int = 0
    answered: int = 0
    right: int = 0
    first_try: int = 0
    in_test: int = 0


@dataclass
class ProgressReport:
    """What is said about one progress file.

    exercises: id -> "right" (once is enough), "tried" or "open". topics: lesson -> `Topic`.
    unknown: answers to what this version of the course does not have.
    """

    path: Path
    exercises: dict[str, str] = field(default_factory=dict)
    topics: dict[str, Topic] = field(default_factory=dict)
    damaged: int = 0
    unknown: int = 0
    problem: str = ""

    def count(self, state: str) -> int:
        return list(self.exercises.values()).count(state)


def report_progress(path: Path) -> ProgressReport:
    """Read and count one progress file. A quiz that was started again takes nothing back."""
    log = read_log(path)
    states = {id: _STATES[state] for id, state in exercise_states(log).items()}
    report = ProgressReport(path, states, damaged=log.damaged)
    answers: dict[tuple[str, str], list[dict]] = {}
    questions = _questions(current_language())
    for event in log.events:
        if event["what"] == "exercise":
            report.unknown += event["id"] not in states
        elif event["what"] == "question":
            name = event["quiz"], event["id"]
            if name in questions:
                answers.setdefault(name, []).append(event)
            else:
                report.unknown += 1
    for name, question in questions.items():
        topic = report.topics.setdefault(question.lesson, Topic())
        topic.questions += 1
        if name in answers:
            _count(topic, question, answers[name])
    return report


def _count(topic: Topic, question: Question, events: list[dict]) -> None:
    first, last = events[0], events[-1]
    topic.answered += 1
    topic.in_test += last["right"] is None
    topic.right += _is_right(question, last)
    topic.first_try += first["tries"] == 1 and _is_right(question, first)


def _is_right(question: Question, event: dict) -> bool:
    """As the student was told, or in test mode as the key says."""
    if event["right"] is not None:
        return event["right"]
    return mark(question, event["answer"]).verdict == "right"


@cache
def _questions(language: str) -> dict[tuple[str, str], Question]:
    found = {(quiz, q.id): q for quiz in quiz_ids() for q in load_questions(quiz)}
    return dict(sorted(found.items(), key=lambda item: item[1].lesson))
