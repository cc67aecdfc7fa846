"""Questions, their keys and the marking of answers: no widgets, no page.

The questions are in `texts/<language>/quiz_<id>.json`, the keys in `data/quiz/<id>.json`, so
that nothing a page is given before an answer holds the key.
"""

import json
import math
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from .. import texts

_keys = Path(__file__).parents[1] / "data" / "quiz"
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"


@dataclass(frozen=True)
class Question:
    """One question in one language, with its key.

    kind: "single" (one option is right), "several" (each right option is wanted, no other) or
    "numeric". options: option id -> text, in the order shown; empty for "numeric".
    whys: option id -> why it is right or wrong; for "numeric": "right", "other" and the names
    of `known_wrong`. right: the ids of the right options, or [number].
    lesson: the number of the lesson it is about, "03".
    """

    id: str
    lesson: str
    kind: str
    prompt: str
    options: dict[str, str]
    whys: dict[str, str]
    right: list
    tolerance: float = 0.0
    known_wrong: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Marked:
    """What is said about an answer.

    verdict: "right", "partly", "wrong", "unread" (not a number) or "empty" (nothing chosen).
    whys: (option id, is it right, why), one for each chosen option; one for a number.
    missing: the ids of the right options that were not chosen.
    """

    verdict: str
    whys: list[tuple[str, bool, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def quiz_ids() -> list[str]:
    return sorted(file.stem for file in _keys.glob("*.json"))


def load_questions(quiz_id: str, seed: int | None = None) -> list[Question]:
    """The questions of a quiz in the current language, their options shuffled by `seed`.

    The same seed gives the same order on every machine, whichever questions are shown.
    Raises ValueError naming the quizzes there are.
    """
    if quiz_id not in quiz_ids():
        raise ValueError(texts.t("quiz.no_quiz", name=quiz_id, known=", ".join(quiz_ids())))
    keys = json.loads((_keys / f"{quiz_id}.json").read_text(encoding="utf-8"))
    words = texts.texts_under(f"quiz_{quiz_id}.questions")
    return [_question(quiz_id, name, key, words[name], seed) for name, key in keys.items()]


def _question(quiz_id: str, name: str, key: dict, words: dict, seed: int | None) -> Question:
    about = name, key.get("lesson", quiz_id)
    right = key["right"] if isinstance(key["right"], list) else [key["right"]]
    if key["kind"] == "numeric":
        tolerance, known = key["tolerance"], key.get("known_wrong", {})
        return Question(
            *about, "numeric", words["prompt"], {}, words["why"], right, tolerance, known
        )
    order = sorted(words["options"])
    random.Random(f"{quiz_id}/{name}/{seed}").shuffle(order)
    options = {option: words["options"][option]["text"] for option in order}
    whys = {option: words["options"][option]["why"] for option in order}
    return Question(*about, key["kind"], words["prompt"], options, whys, right)


def mark(question: Question, answer: list[str]) -> Marked:
    """Mark the chosen option ids, or [what was typed] for a number."""
    if not any(part.strip() for part in answer):
        return Marked("empty")
    if question.kind == "numeric":
        return _mark_number(question, read_numbers(answer[0]))
    whys = [(o, o in question.right, question.whys[o]) for o in question.options if o in answer]
    missing = [o for o in question.options if o in question.right and o not in answer]
    found = any(right for _, right, _ in whys)
    if not missing and all(right for _, right, _ in whys):
        return Marked("right", whys)
    return Marked("partly" if found else "wrong", whys, missing)


def _mark_number(question: Question, readings: list[float]) -> Marked:
    if not readings:
        return Marked("unread")

    def distance(value: float) -> float:
        return min(abs(number - value) for number in readings)

    # a hair more than the tolerance, so that its edge counts although 0.1 is not exact
    reach = question.tolerance + 1e-9
    if distance(question.right[0]) <= reach:
        return Marked("right", [("right", True, question.whys["right"])])
    known = question.known_wrong
    nearest = min(known, key=lambda name: distance(known[name]), default="other")
    name = nearest if known and distance(known[nearest]) <= reach else "other"
    return Marked("wrong", [(name, False, question.whys[name])])


def read_numbers(typed: str) -> list[float]:
    """The numbers that `typed` can stand for; none when it cannot be read.

    Reads 0.5, 0,5, 1/2, 50 %, −3, 1e-3, spaces around them. "1,024" has two readings, because
    the comma is a decimal sign to some and a thousands sign to others; so has "1.024".
    """
    text = re.sub(r"\s+", " ", typed.strip().lower().replace("−", "-"))
    text = re.sub(r" ?([/%]) ?", r"\1", text)
    top, slash, bottom = text.partition("/")
    share = 1.0
    if not slash and top.endswith("%"):
        top, share = top[:-1], 0.01
    numbers = [share * number for number in _decimals(top)]
    if slash:
        numbers = [a / b for a in numbers for b in _decimals(bottom) if b]
    return [number for number in numbers if math.isfinite(number)]


def _decimals(text: str) -> list[float]:
    readings = {text.replace(",", ".")}
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", text):
        readings.add(text.replace(",", ""))
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?", text):
        readings.add(text.replace(".", "").replace(",", "."))
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}(?: \d{3})+(?:[.,]\d+)?", text):
        readings.add(text.replace(" ", "").replace(",", "."))
    return sorted({float(r) for r in readings if re.fullmatch(NUMBER, r)})
