"""How a verdict reads: plain text, and the same as HTML in which nothing of the reader's runs."""

import html
from dataclasses import dataclass

from ..markup import as_html, without_stars
from ..texts import t, texts_under
from .base import Exercise
from .case import Finding

ICONS = {True: "✓", False: "✗", None: "○"}
STATUS = {True: "passed", False: "failed", None: "not_yet"}
COLOURS = {
    True: "var(--jp-success-color1, #2e7d32)",
    False: "var(--jp-error-color1, #c62828)",
    None: "var(--jp-info-color1, #1565c0)",
}
# The math typesetters of the notebook front ends leave alone what carries these classes.
NO_MATH = "tex2jax_ignore mathjax_ignore"


@dataclass(frozen=True, repr=False)
class Result:
    """The verdict on one exercise, in the reader's language.

    passed: True, False, or None for "not yet". kind: the misconception or the fault by its id,
    the same in every language. title, expected, got, look: the sentences; `quotes` holds
    (label, text) pairs of the reader's own code or Python's words.
    """

    exercise: str
    passed: bool | None
    kind: str
    title: str
    expected: str = ""
    got: str = ""
    look: str = ""
    quotes: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return self.passed is True

    @property
    def heading(self) -> str:
        return f"{ICONS[self.passed]} {t('checks.status.' + STATUS[self.passed])}"

    def parts(self) -> list[tuple[str, str, bool]]:
        """(label, text, quoted) in reading order: expected, got, the quotes, look; none empty."""
        expected, got, look = (
            (t(f"checks.labels.{part}"), getattr(self, part), False) for part in _PARTS
        )
        quotes = [(label, text, True) for label, text in self.quotes]
        return [part for part in (expected, got, *quotes, look) if part[1]]

    @property
    def message(self) -> str:
        """All of it as plain text."""
        lines = [f"{self.heading} · {self.exercise}", without_stars(self.title)]
        lines += [
            f"{label}: {text if quoted else without_stars(text)}"
            for label, text, quoted in self.parts()
        ]
        return "\n".join(lines)

    __str__ = __repr__ = message.fget

    def as_dict(self) -> dict:
        """What a file of progress needs: exercise, passed, kind."""
        return {"exercise": self.exercise, "passed": self.passed, "kind": self.kind}

    def _repr_html_(self) -> str:
        parts = "".join(
            f'<div style="margin-top:4px"><strong>{as_html(label)}:</strong> '
            + (_quoted(text) if quoted else as_html(text))
            + "</div>"
            for label, text, quoted in self.parts()
        )
        name = html.escape(self.exercise)
        return (
            f'<div class="{NO_MATH}" style="border-left:4px solid {COLOURS[self.passed]};'
            'padding:4px 12px;margin:4px 0;max-width:48em;line-height:1.5">'
            f"<div><strong>{self.heading}</strong> · <code>{name}</code></div>"
            f'<div style="font-weight:600">{as_html(self.title)}</div>{parts}</div>'
        )

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return {"text/plain": self.message, "text/html": self._repr_html_()}


_PARTS = ("expected", "got", "look")


def listed(parts: list[str]) -> str:
    """ "a, b and c" in the reader's language: "64, 5" would be one number to some."""
    *first, last = parts
    return t("checks.and").join([", ".join(first), last]) if first else last


def _quoted(text: str) -> str:
    return f'<code style="white-space:pre-wrap">{html.escape(text)}</code>'


def result_of(exercise: Exercise, finding: Finding) -> Result:
    """The finding in words: title, and expected, got, look where it did not pass."""
    own = f"{exercise.topic}.{exercise.name}"
    values = {"name": exercise.name, "call": exercise.call, **finding.values}
    values = {key: listed(x) if isinstance(x, list) else x for key, x in values.items()}
    if finding.passed:
        title = t(f"{own}.passed", **values)
        remarks = " ".join(t(key, **more) for key, more in finding.hints)
        return Result(exercise.id, True, finding.kind, title, look=remarks)
    values["wanted"] = t(f"{own}.wanted", **values)
    base = f"{_topic_of(exercise, finding)}.kinds"
    words = {part: t(f"{base}.{finding.kind}.{part}", **values) for part in ("title", *_PARTS)}
    for part, sentences in (("got", finding.evidence), ("look", finding.hints)):
        words[part] = " ".join([words[part], *(t(key, **more) for key, more in sentences)]).strip()
    quotes = tuple((t(f"checks.labels.{label}"), text) for label, text in finding.quotes)
    return Result(exercise.id, finding.passed, finding.kind, quotes=quotes, **words)


def _topic_of(exercise: Exercise, finding: Finding) -> str:
    """The file with the words of this kind: the lesson's, one it shares, or the common one."""
    if not finding.own:
        return "checks"
    topics = (exercise.topic, *exercise.shared_words)
    return next((x for x in topics if finding.kind in texts_under(f"{x}.kinds")), exercise.topic)
