"""How far the reader has come, from the lines of the progress file."""

from dataclasses import dataclass
from functools import cache

from ..checks import exercises
from ..quiz.marking import load_questions
from .log import Log

FIRST_TRY, LATER, NOT_YET, RECORDED, OPEN = "first_try", "later", "not_yet", "recorded", "open"


@dataclass(frozen=True)
class Score:
    """One topic: the number of the lesson it belongs to, and its parts: id -> state.

    States of questions: right at the first try or later, not yet right, recorded (test mode),
    open. Exercises have no first try: they are "later" once they were right.
    """

    lesson: str
    parts: dict[str, str]

    def count(self, *states: str) -> int:
        return sum(state in states for state in self.parts.values())


def quiz_scores(log: Log, quiz: str) -> list[Score]:
    """The questions of a quiz by topic, in the order of the lessons they belong to."""
    latest = log.latest_answers(quiz)
    topics: dict[str, dict[str, str]] = {}
    for question, lesson in _lesson_of_each(quiz).items():
        topics.setdefault(lesson, {})[question] = _state(latest.get(question))
    return [Score(lesson, parts) for lesson, parts in sorted(topics.items())]


@cache  # the same in both languages
def _lesson_of_each(quiz: str) -> dict[str, str]:
    return {question.id: question.lesson for question in load_questions(quiz)}


def _state(event: dict | None) -> str:
    if event is None:
        return OPEN
    if event["right"] is None:
        return RECORDED
    if not event["right"]:
        return NOT_YET
    return FIRST_TRY if event["tries"] == 1 else LATER


def exercise_scores(log: Log) -> list[Score]:
    """The exercises of all lessons. Once right stays right: experiments afterwards cost nothing."""
    lessons: dict[str, dict[str, str]] = {}
    for id, state in exercise_states(log).items():
        lessons.setdefault(id.split(".")[0], {})[id] = state
    return [Score(lesson, parts) for lesson, parts in lessons.items()]


def exercise_states(log: Log) -> dict[str, str]:
    """Exercise id -> "later" (right), "not_yet" or "open", for every exercise of the course."""
    states = dict.fromkeys(exercises(), OPEN)
    for event in log.events:
        if event["what"] == "exercise" and states.get(event["id"], LATER) != LATER:
            states[event["id"]] = LATER if event["passed"] else NOT_YET
    return states
