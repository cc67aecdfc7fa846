"""How far a reader has come, exercise by exercise."""

import html

from ..markup import as_html, without_stars
from ..texts import t
from .result import ICONS, NO_MATH, STATUS


class Report(dict):
    """Exercise id -> latest `Result`, or None where its check is missing (has not run).

    Shown as a list in words. `passed`, `failed`, `not_yet`, `missing` hold ids.
    """

    def _ids(self, passed) -> list[str]:
        # `is not None`: a Result that did not pass is false.
        return [id for id, result in self.items() if result is not None and result.passed is passed]

    @property
    def passed(self) -> list[str]:
        return self._ids(True)

    @property
    def failed(self) -> list[str]:
        return self._ids(False)

    @property
    def not_yet(self) -> list[str]:
        return self._ids(None)

    @property
    def missing(self) -> list[str]:
        return [id for id, result in self.items() if result is None]

    def as_dicts(self) -> list[dict]:
        """One record per exercise for a file: exercise, passed, kind ("missing" without check)."""
        return [
            {"exercise": id, "passed": None, "kind": "missing"}
            if result is None
            else result.as_dict()
            for id, result in self.items()
        ]

    def _done(self) -> str:
        return t("checks.report.done", passed=len(self.passed), total=len(self))

    def lines(self) -> list[str]:
        """One line per exercise: icon, word, id, and the fault's title where it failed."""
        lines = []
        for id, result in self.items():
            if result is None:
                lines.append(f"– {t('checks.report.missing', exercise=id)}")
                continue
            status = t(f"checks.status.{STATUS[result.passed]}")
            why = f" · {result.title}" if result.passed is False else ""
            lines.append(f"{ICONS[result.passed]} {status}: {id}{why}")
        return lines

    @property
    def message(self) -> str:
        return "\n".join([self._done(), *map(without_stars, self.lines())])

    __str__ = __repr__ = message.fget

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{as_html(line)}</li>" for line in self.lines())
        style = "list-style:none;padding-left:12px"
        return (
            f'<div class="{NO_MATH}"><strong>{html.escape(self._done())}</strong>'
            f'<ul style="{style}">{items}</ul></div>'
        )

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return {"text/plain": self.message, "text/html": self._repr_html_()}
