"""Every fault that real people met in tools like this one has a test that carries its number.

A case is named here by what must not happen; its tests are named `test_c05_…`. A number may
stand among others: `test_c01_c02_…`.
"""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

CASES = {
    "C01": "view and transpose mistaken for one view to the same shape",
    "C02": "heads merged without swapping the axes back",
    "C05": "an error about divisibility without the numbers",
    "C06": "scores scaled by d_model instead of d_k",
    "C07": "W_O left out, or slices of the raw embedding taken for heads",
    "C08": "more heads taken for more weights; packed weights turned the wrong way",
    "C09": "a query with nothing to attend to gives NaN",
    "C10": "True means hide in one place and keep in another",
    "C12": "softmax over the wrong axis, mask after the softmax",
    "C13": "weights averaged over heads, rows that sum to something else than 1",
    "C14": "a mask constant that overflows in half precision",
    "C15": "a grader that rejects right answers or gives no reason",
    "C16": "a map that crawls, stays blank or hides where a text was cut",
    "C18": "labels in other scripts shown as boxes or reversed",
    "C20": "a token's text run as HTML",
    "C21": "no telling which axis is the query; repeated words in one label",
    "C22": "maps that cannot be compared, sinks unexplained",
    "C23": "dragging that blinks, lags or leaves figures open",
    "C24": "errors in callbacks that show nowhere",
    "C25": "'model not found' in place of the lesson",
    "C26": "pictures that pile up, cells that break when run again",
    "C27": "two copies of a widget that overwrite each other",
    "C28": "a dependent slider that jumps or raises",
    "C30": "a widget that cannot be used without a mouse or heard",
    "C31": "text that vanishes in a dark theme, labels cut",
    "C32": "notebook tests that fail for reasons outside the lesson",
    "C34": "a saved file that GitHub or other tools refuse",
    "C35": "paths and encodings that break on other systems",
    "C36": "read-only folders and blocked servers",
    "C38": "printed numbers that differ between machines",
    "C39": "a class report that hangs on a deleted check cell; updates that lose answers",
    "C41": "quizzes that give their key away, or cannot be silent",
    "C42": "an edition that lags behind the other",
}


@cache
def numbered_tests() -> dict[str, list[str]]:
    """Case -> the names of the tests that carry its number, from all files of tests."""
    found = defaultdict(list)
    for file in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for number in re.findall(r"(?<=_)c(\d\d)(?=_|$)", node.name):
                    found[f"C{number}"].append(f"{file.name}::{node.name}")
    return found


@pytest.mark.parametrize("case", CASES)
def test_case_has_a_test_of_its_number(case):
    assert numbered_tests()[case], f"{case} ({CASES[case]}): no test is named test_{case.lower()}_…"


def test_every_number_in_a_name_is_a_case():
    assert set(numbered_tests()) <= set(CASES)


def test_the_list_is_the_one_the_project_was_given():
    """Where the list itself lies beside the project, as it does for those who work on it."""
    listed = TESTS.parents[1] / "shared" / "field-cases.md"
    assert len(CASES) == 33
    if listed.exists():
        rows = re.findall(r"(?m)^\| (C\d\d) \|", listed.read_text(encoding="utf-8"))
        assert rows == list(CASES)
