"""The benchmark's bookkeeping: what counts as met, what the tables say, what a run answers.

The measuring itself is `python -m benchmarks`; no test here depends on a time.
"""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # `benchmarks` is not an installed package

from benchmarks import BENCHMARKS, __main__, in_kernel, report
from benchmarks.report import Line

WHERE = {
    "cores": 2,
    "memory_gb": 23,
    "system": "Linux",
    "python": "3.11.7",
    "torch": "2.13.0",
    "jupyterlab": "4.6.6",
}


@pytest.mark.parametrize(
    ("value", "against", "met"),
    [(5, 500, True), (5, 499, False), (10, 1000, True), (10.1, 2000, False), (None, None, None)],
)
def test_a_line_is_met_only_within_its_time_and_its_ratio(value, against, met):
    line = Line("heads_in_kernel", value, "ms", against=against, at_most=10, ratio=100)
    assert line.met is met


def test_a_ratio_without_anything_to_compare_with_is_not_met():
    assert Line("heads_in_kernel", 5, "ms", ratio=100).met is False


def test_a_line_without_a_ratio_is_judged_by_its_value_alone():
    assert Line("growth", 60, "ms", at_most=60).met is True
    assert Line("growth", 60.1, "ms", at_most=60).met is False


def test_the_table_shows_number_ratio_budget_and_verdict_in_both_languages():
    lines = [
        Line("heads_in_kernel", 2.64, "ms", against=1320.4, at_most=10, ratio=100),
        Line("growth", 75.0, "ms", at_most=60),
        Line("heads_in_browser", None, "ms", ratio=12, missing="no browser"),
    ]
    english = report.table(lines, "en", WHERE).splitlines()
    assert english[2].endswith("| 2.6 ms | 1320 ms | 500× | ≥ 100×, ≤ 10 ms | yes |")
    assert english[3].endswith("| 75.0 ms |  |  | ≤ 60 ms | **no** |")
    assert english[4].endswith("|  |  |  | ≥ 12× | not measured |")
    assert "2 cores and 23 GB" in english[-1]
    spanish = report.table(lines, "es", WHERE).splitlines()
    assert spanish[2].endswith("| 2.6 ms | 1320 ms | 500× | ≥ 100×, ≤ 10 ms | sí |")
    assert spanish[3].endswith("| **no** |")
    assert "2 núcleos y 23 GB" in spanish[-1]
    columns = {row.count("|") for row in english[:5] + spanish[:5]}
    assert columns == {7}


def test_both_languages_have_the_same_texts():
    english, spanish = report.TEXTS["en"], report.TEXTS["es"]
    assert english.keys() == spanish.keys()
    assert english["lines"].keys() == spanish["lines"].keys()


def test_the_results_hold_the_size_of_the_machine_and_no_name():
    data = report.as_data([Line("growth", 13.7312, "ms", at_most=60)], report.machine())
    assert data["lines"][0]["value"] == 13.7
    assert data["lines"][0]["met"] is True
    assert set(data["machine"]) == set(WHERE)
    json.dumps(data)


def test_the_readme_gets_the_table_between_its_markers_and_keeps_the_rest(tmp_path):
    readme = tmp_path / "README.md"
    text = "# Título\n\n<!-- bench -->\nold\n<!-- /bench -->\n\nend\n"
    readme.write_text(text, encoding="utf-8", newline="\n")
    for table in ("| a \\1 |", "| b |"):  # twice: the markers survive
        report.update_readme(readme, table)
        expected = f"# Título\n\n<!-- bench -->\n{table}\n<!-- /bench -->\n\nend\n"
        assert readme.read_bytes().decode("utf-8") == expected


def test_a_readme_without_markers_is_an_error_and_stays_as_it_was(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("# nothing here\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"README\.md.*found 0"):
        report.update_readme(readme, "| a |")
    assert readme.read_text(encoding="utf-8") == "# nothing here\n"


@pytest.fixture
def a_run(monkeypatch, tmp_path):
    """`python -m benchmarks` with lines that stand in for the measured ones."""

    def run(lines: list[Line], *arguments: str) -> int:
        module = type(sys)("benchmarks.pretended")
        module.run = lambda: lines
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(__main__, "BENCHMARKS", {"pretended": module.__name__})
        monkeypatch.setattr(__main__, "HERE", tmp_path / "benchmarks")
        monkeypatch.setattr(__main__, "others_percent", lambda: 0.0)
        (tmp_path / "benchmarks").mkdir(exist_ok=True)
        return __main__.main(list(arguments))

    return run


def test_a_missed_budget_makes_the_run_fail_and_is_written_down(a_run, tmp_path, capsys):
    good, bad = (Line("growth", ms, "ms", at_most=60) for ms in (14, 61))
    assert a_run([good]) == 0
    assert a_run([good, bad]) == 1
    assert "**no**" in capsys.readouterr().out
    folder = tmp_path / "benchmarks"
    assert "**no**" in (folder / "results.md").read_text(encoding="utf-8")
    data = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert [line["met"] for line in data["lines"]] == [True, False]


def test_what_could_not_be_measured_is_said_and_is_no_failure(a_run, capsys):
    line = Line("heads_in_browser", None, "ms", ratio=12, missing="no browser to drive")
    assert a_run([line]) == 0
    shown = capsys.readouterr()
    assert "not measured" in shown.out
    assert "no browser to drive" in shown.err


def test_a_partial_run_keeps_the_results_of_the_last_whole_one(a_run, tmp_path):
    assert a_run([Line("growth", 14, "ms", at_most=60)], "pretended") == 0
    assert list((tmp_path / "benchmarks").iterdir()) == []


def test_an_unknown_name_is_refused_with_the_known_ones(a_run, capsys):
    with pytest.raises(SystemExit):
        a_run([], "speed")
    assert "no benchmark speed; there are pretended" in capsys.readouterr().err


def test_both_readmes_of_the_course_have_their_markers():
    project = Path(__file__).parents[1]
    for name in __main__.READMES.values():
        text = (project / name).read_text(encoding="utf-8")
        assert len(report.MARKERS.findall(text)) == 1, name


def test_every_benchmark_is_there_and_its_lines_have_texts():
    folder = Path(report.__file__).parent
    for module in BENCHMARKS.values():
        source = (folder / f"{module.rpartition('.')[2]}.py").read_text(encoding="utf-8")
        assert any(f'"{key}"' in source for key in report.TEXTS["en"]["lines"]), module


def test_medians_are_of_the_last_change_and_a_wrong_picture_stops_them(monkeypatch):
    clock = iter(range(1000))
    pace = {1: 1, 2: 5}  # reading the clock after a change to 2 comes 5 later
    shown = []

    def change(value):
        shown.append(value)
        for _ in range(pace[value] - 1):
            next(clock)

    monkeypatch.setattr(in_kernel.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(in_kernel, "wait_until_sent", lambda: None)
    way = in_kernel.Way(change, lambda value: shown[-1] == value, per_round=2)
    assert in_kernel.medians_ms({"ours": way}, [1, 2], rounds=3) == {"ours": 5000.0}
    assert shown == [1, 2] * 2 * 4  # one round more than counted

    stuck = in_kernel.Way(lambda value: None, lambda value: value == 1)
    with pytest.raises(AssertionError, match="after the change to 2"):
        in_kernel.medians_ms({"ours": stuck}, [1, 2], rounds=1)


def test_a_kernel_answers_with_data_and_its_errors_are_told(monkeypatch, tmp_path):
    module = tmp_path / "in_a_kernel.py"
    module.write_text(
        "def good():\n"
        "    from IPython import get_ipython\n"
        "    from benchmarks.in_kernel import wait_until_sent\n"
        "    wait_until_sent()\n"
        "    return {'kernel': type(get_ipython().kernel).__name__, 'it\\'s': 1.5}\n"
        "def bad():\n"
        "    raise KeyError('no such head')\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    answer = in_kernel.run_in_kernel("in_a_kernel", "good")
    assert answer == {"kernel": "IPythonKernel", "it's": 1.5}
    with pytest.raises(RuntimeError, match="in_a_kernel.bad: KeyError: 'no such head'"):
        in_kernel.run_in_kernel("in_a_kernel", "bad")
