"""Lines of the speed table: a number, its budget, and whether it is met."""

import json
import os
import platform
import re
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import psutil

TEXTS = json.loads(Path(__file__).with_name("texts.json").read_text(encoding="utf-8"))
MARKERS = re.compile(r"(<!-- bench -->\n).*?(<!-- /bench -->)", re.DOTALL)


@dataclass(frozen=True)
class Line:
    """One measurement. `key` names its text in texts.json.

    `value` in `unit`, at most `at_most`; `against`: what another way, `than`, takes, which must be
    at least `ratio` times as large. `missing`: why nothing was measured, in words. `names`: what
    fills the places in the line's text. `parts`: name -> value, of which `value` is the largest.
    """

    key: str
    value: float | None
    unit: str
    against: float | None = None
    at_most: float | None = None
    ratio: float | None = None
    missing: str | None = None
    than: str | None = None
    names: dict[str, str] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def has_budget(self) -> bool:
        return self.at_most is not None or self.ratio is not None

    @property
    def times(self) -> float | None:
        """How many times larger the other way's value is."""
        return self.against / self.value if self.value and self.against else None

    @property
    def met(self) -> bool | None:
        """Whether every budget of this line is met; None when it has none or was not measured."""
        if self.value is None or not self.has_budget:
            return None
        within = self.at_most is None or self.value <= self.at_most
        return within and (self.ratio is None or (self.times or 0) >= self.ratio)


def machine() -> dict:
    """The machine's size, and nothing that would name it."""
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30),
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": version("torch"),
        "jupyterlab": version("jupyterlab"),
    }


def others_percent() -> float:
    """How busy this machine's cores are with other things right now, in percent."""
    return psutil.cpu_percent(interval=1)


def _number(value: float | None, unit: str) -> str:
    """Three digits or so: "2.93 s", "67.4 ms", "858 ms"."""
    if value is None:
        return ""
    digits = 0 if value >= 100 else 1 if value >= 10 or unit == "ms" else 2
    return f"{value:.{digits}f} {unit}"


def _times(times: float | None) -> str:
    if times is None:
        return ""
    return f"{times:.0f}×" if times >= 10 else f"{times:.2f}×"


def _verdict(line: Line, texts: dict) -> str:
    if line.value is None:
        return texts["not_measured"]
    return {True: texts["met"], False: texts["missed"], None: ""}[line.met]


def table(lines: list[Line], language: str, where: dict) -> str:
    """The lines as a Markdown table in `language`, the machine's size under it."""
    texts = TEXTS[language]
    rows = [texts["head"], "|---|---:|---:|---:|---|---|"]
    for line in lines:
        budgets = []
        if line.ratio is not None:
            budgets.append(f"≥ {line.ratio:g}×")
        if line.at_most is not None:
            budgets.append(f"≤ {line.at_most:g} {line.unit}")
        other = _number(line.against, line.unit)
        cells = (
            texts["lines"][line.key].format(**line.names),
            _number(line.value, line.unit),
            f"{other} (`{line.than}`)" if other and line.than else other,
            _times(line.times),
            ", ".join(budgets),
            _verdict(line, texts),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([*rows, "", texts["machine"].format(**where)])


def as_data(lines: list[Line], where: dict) -> dict:
    """The same as plain data, for results.json: numbers with four digits."""
    return {
        "machine": where,
        "lines": [
            {
                "what": line.key,
                "value": _rounded(line.value),
                "unit": line.unit,
                "other_way": _rounded(line.against),
                "than": line.than,
                "times": _rounded(line.times),
                "budget": {"at_most": line.at_most, "times_at_least": line.ratio},
                "met": line.met,
                "missing": line.missing,
                "names": line.names,
                "parts": {name: _rounded(value) for name, value in line.parts.items()},
            }
            for line in lines
        ],
    }


def from_data(data: dict) -> list[Line]:
    """The lines that `as_data` wrote down."""
    return [
        Line(
            key=line["what"],
            value=line["value"],
            unit=line["unit"],
            against=line["other_way"],
            at_most=line["budget"]["at_most"],
            ratio=line["budget"]["times_at_least"],
            missing=line["missing"],
            than=line["than"],
            names=line["names"],
            parts=line["parts"],
        )
        for line in data["lines"]
    ]


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def update_readme(path: Path, text: str) -> None:
    """Put the table between the README's markers. Raises ValueError when they are missing."""
    old = path.read_text(encoding="utf-8")
    new, count = MARKERS.subn(lambda m: f"{m[1]}{text}\n{m[2]}", old)
    if count != 1:
        raise ValueError(
            f"{path.name}: needs one pair of lines <!-- bench --> and <!-- /bench -->, "
            f"found {count}."
        )
    path.write_text(new, encoding="utf-8", newline="\n")
