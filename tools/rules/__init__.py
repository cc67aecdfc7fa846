"""What holds for every lesson file. A rule takes a notebook and returns the faults it found.

A fault is a line that names the cell. `faults(path)` asks all rules.
"""

from pathlib import Path

from ..lessons import read
from .code import CODE_RULES, first_cell
from .files import FILE_RULES, MOST_BYTES, too_big
from .outputs import OUTPUT_RULES, errors_shown, machine_paths
from .prose import PROSE_RULES, broken_links

__all__ = ["MOST_BYTES", "RULES", "errors_shown", "faults", "first_cell", "machine_paths"]

RULES = (*FILE_RULES, *OUTPUT_RULES, *CODE_RULES, *PROSE_RULES)


def faults(path: Path) -> list[str]:
    """Everything that is wrong with this lesson file."""
    notebook = read(path)
    if unnamed := [line for line in FILE_RULES[0](notebook) if "has no id" in line]:
        return unnamed  # the other rules name cells
    found = [line for rule in RULES for line in rule(notebook)]
    return found + too_big(path) + broken_links(notebook, path.parent)
