"""Lines of the speed table: a number, its budget, and whether it is met."""

import json
import os
import platform
import re
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import psutil

TEXTS = json.loads(Path(__file__).with_name("texts.json").read_text(encoding="utf-8"))
MARKERS = re.compile(r"(<!-- bench -->\n).*?(<!-- /bench -->)", re.DOTALL)


@dataclass(frozen=True)
class Line:
    """One measurement. `key` names its text in texts.json.

    `value` in `unit`, at most `at_most`; `against`: the usual way's value, which must be at
    least `ratio` times as large. `missing`: why nothing was measured, in words.
    """

    key: str
    value: float | None
    unit: str
    against: float | None = None
    at_most: float | None = None
    ratio: float | None = None
    missing: str | None = None

    @property
    def times(self) -> float | None:
        """How many times larger the usual way's value is."""
        return self.against / self.value if self.value and self.against else None

    @property
    def met(self) -> bool | None:
        """Whether every budget of this line is met; None when nothing was measured."""
        if self.value is None:
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
    if value is None:
        return ""
    digits = 1 if value < 100 else 0
    return f"{value:.{digits}f} {unit}"


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
        cells = (
            texts["lines"][line.key],
            _number(line.value, line.unit),
            _number(line.against, line.unit),
            f"{line.times:.0f}×" if line.times else "",
            ", ".join(budgets),
            texts[{True: "met", False: "missed", None: "not_measured"}[line.met]],
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([*rows, "", texts["machine"].format(**where)])


def as_data(lines: list[Line], where: dict) -> dict:
    """The same as plain data, for results.json."""
    return {
        "machine": where,
        "lines": [
            {
                "what": line.key,
                "value": _rounded(line.value),
                "unit": line.unit,
                "usual_way": _rounded(line.against),
                "times": _rounded(line.times),
                "budget": {"at_most": line.at_most, "times_at_least": line.ratio},
                "met": line.met,
                **({"missing": line.missing} if line.missing else {}),
            }
            for line in lines
        ],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")


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
