"""The benchmark's bookkeeping: what counts as met, what the tables say, what a run answers.

The measuring itself is `python -m benchmarks`; no test here depends on a time.
"""

import json
import sys
from pathlib import Path

import nbformat
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))  # `benchmarks` is not an installed package

from benchmarks import (
    BENCHMARKS,
    __main__,
    every_explorer,
    imports,
    in_kernel,
    layer,
    lesson,
    memory,
    report,
    series,
    training,
)
from benchmarks.report import Line
from helpers import explorers

pytestmark = pytest.mark.tools

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


def test_a_line_without_a_budget_stands_beside_the_others_and_is_never_missed():
    line = Line("layer_looped", 12.0, "ms", against=11.0, than="nn.MultiheadAttention")
    assert line.met is None
    row = report.table([line], "en", WHERE).splitlines()[2]
    assert row.endswith("| 12.0 ms | 11.0 ms (`nn.MultiheadAttention`) | 0.92× |  |  |")


def test_the_table_shows_number_ratio_budget_and_verdict_in_both_languages():
    lines = [
        Line("heads_in_kernel", 2.64, "ms", 1320.4, than="interact", at_most=10, ratio=100),
        Line("growth", 75.0, "ms", at_most=60),
        Line("heads_in_browser", None, "ms", ratio=12, missing="no browser"),
        Line("explorers", 31.23, "ms", at_most=100, names={"explorer": "LiveGates"}),
        Line("imports_first_cell", 0.0123, "s", at_most=0.3),
        Line("series", 4.256, "min", at_most=8),
    ]
    english = report.table(lines, "en", WHERE).splitlines()
    shown = "| 2.6 ms | 1320 ms (`interact`) | 500× | ≥ 100×, ≤ 10 ms |"
    assert english[2].endswith(f"{shown} yes |")
    assert english[3].endswith("| 75.0 ms |  |  | ≤ 60 ms | **no** |")
    assert english[4].endswith("|  |  |  | ≥ 12× | not measured |")
    assert "`LiveGates` | 31.2 ms |" in english[5]
    assert english[6].endswith("| 0.01 s |  |  | ≤ 0.3 s | yes |")
    assert english[7].endswith("| 4.26 min |  |  | ≤ 8 min | yes |")
    assert "2 cores and 23 GB" in english[-1]
    spanish = report.table(lines, "es", WHERE).splitlines()
    assert spanish[2].endswith(f"{shown} sí |")
    assert spanish[3].endswith("| **no** |")
    assert "2 núcleos y 23 GB" in spanish[-1]
    columns = {row.count("|") for row in english[:8] + spanish[:8]}
    assert columns == {7}


def test_what_is_kept_gives_the_same_table_again():
    lines = [
        Line("explorers", 31.4, "ms", at_most=100, names={"explorer": "A"}, parts={"A": 31.4}),
        Line("layer_ours", 11.0, "ms", against=12.0, than="nn.MultiheadAttention", ratio=1),
        Line("heads_in_browser", None, "ms", ratio=12, missing="no browser"),
    ]
    assert report.from_data(json.loads(json.dumps(report.as_data(lines, WHERE)))) == lines


def test_the_kept_results_and_the_tables_in_both_readmes_agree():
    folder = Path(report.__file__).parent
    data = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    lines = report.from_data(data)
    assert lines
    assert [line["met"] for line in data["lines"]] == [line.met for line in lines]
    english = report.table(lines, "en", data["machine"])
    assert (folder / "results.md").read_text(encoding="utf-8") == f"{english}\n"
    for language, name in __main__.READMES.items():
        text = (folder.parent / name).read_text(encoding="utf-8")
        table = report.table(lines, language, data["machine"])
        shown = report.MARKERS.search(text)[0]
        assert shown == f"<!-- bench -->\n{table}\n<!-- /bench -->", (
            f"{name} shows another table than benchmarks/results.json holds: "
            "python3 course.py bench --readme writes both"
        )


def test_both_languages_have_the_same_texts():
    english, spanish = report.TEXTS["en"], report.TEXTS["es"]
    assert english.keys() == spanish.keys()
    assert english["lines"].keys() == spanish["lines"].keys()
    for key, text in english["lines"].items():
        assert text.count("{") == spanish["lines"][key].count("{"), key


def test_the_results_hold_the_size_of_the_machine_and_no_name():
    data = report.as_data([Line("growth", 13.7312, "ms", at_most=60)], report.machine())
    assert data["lines"][0]["value"] == 13.73
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

    def run(lines: list[Line], *arguments: str, also: str | None = None) -> int:
        module = type(sys)("benchmarks.pretended")
        module.run = lambda: lines
        monkeypatch.setitem(sys.modules, module.__name__, module)
        known = {"also": also} if also else {}
        monkeypatch.setattr(__main__, "BENCHMARKS", known | {"pretended": module.__name__})
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


def test_a_benchmark_that_breaks_fails_the_run_and_the_others_still_speak(
    a_run, monkeypatch, tmp_path, capsys
):
    def breaks():
        raise RuntimeError("lesson 07, cell x")

    broken = type(sys)("benchmarks.broken")
    broken.run = breaks
    monkeypatch.setitem(sys.modules, broken.__name__, broken)
    good = Line("growth", 14, "ms", at_most=60)
    assert a_run([good], also=broken.__name__) == 1
    shown = capsys.readouterr()
    assert "14.0 ms" in shown.out
    assert "also could not be measured: lesson 07, cell x" in shown.err
    assert list((tmp_path / "benchmarks").iterdir()) == []


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


def test_the_layer_ways_compute_the_same_and_one_that_does_not_stops_the_measuring(monkeypatch):
    took = layer.measure(T=5, d_model=8, num_heads=2, rounds=1)
    assert set(took) == {"ours", "torch", "looped", "fused"}
    X = torch.randn(1, 5, 8, generator=torch.Generator().manual_seed(0))
    functions = layer.layers(8, 2)
    with torch.inference_mode():
        answers = {name: function(X) for name, function in functions.items()}
    assert tuple(answers["ours"][1].shape) == tuple(answers["torch"][1].shape) == (1, 2, 5, 5)
    assert answers["looped"][1] is None and answers["fused"][1] is None

    wrong = {**functions, "fused": lambda X: (X, None)}
    monkeypatch.setattr(layer, "layers", lambda d_model, num_heads: wrong)
    with pytest.raises(AssertionError):
        layer.measure(T=5, d_model=8, num_heads=2, rounds=1)
    averaged = {**functions, "ours": lambda X: (answers["ours"][0], answers["ours"][1] * 0.5)}
    monkeypatch.setattr(layer, "layers", lambda d_model, num_heads: averaged)
    with pytest.raises(AssertionError):
        layer.measure(T=5, d_model=8, num_heads=2, rounds=1)


def test_the_layer_benchmark_leaves_the_global_random_state_alone():
    before = torch.get_rng_state()
    layer.measure(T=3, d_model=4, num_heads=2, rounds=1)
    assert torch.equal(torch.get_rng_state(), before)


def test_imports_are_timed_after_torch_and_a_broken_one_is_told():
    assert imports.first_cell().rstrip().endswith('start_lesson("en")')
    after_torch = "assert 'torch' in __import__('sys').modules; start -= 1000"
    assert 1000 <= imports.seconds(after_torch, rounds=1) < 2000
    with pytest.raises(RuntimeError, match="no_such_package"):
        imports.seconds("import no_such_package", rounds=1)


def test_every_explorer_has_a_main_control_and_its_moves_redraw(monkeypatch):
    assert set(every_explorer.MAIN) == set(explorers.__all__), (
        "a new explorer needs its main control in benchmarks/every_explorer.py"
    )
    monkeypatch.setattr(in_kernel, "wait_until_sent", lambda: None)
    for name in every_explorer.MAIN:
        if name not in ("HeadRoles", "RelationBoard"):  # these read every sentence first
            assert every_explorer.move_ms(name, rounds=1) > 0, name


def test_an_explorer_that_does_not_redraw_stops_the_measuring(monkeypatch):
    monkeypatch.setattr(in_kernel, "wait_until_sent", lambda: None)
    monkeypatch.setitem(every_explorer.MAIN, "AttentionBudget", ("river", [2.0, 2.0]))
    with pytest.raises(AssertionError, match=r"after the change to 2\.0"):
        every_explorer.move_ms("AttentionBudget", rounds=1)
    monkeypatch.setitem(every_explorer.MAIN, "ShapeExplorer", ("H", [3, 5]))  # 5 does not fit
    with pytest.raises(AssertionError):
        every_explorer.move_ms("ShapeExplorer", rounds=1)


def test_the_slowest_explorer_is_the_line(monkeypatch):
    took = {"ShapeExplorer": 3.0, "LiveGates": 31.0, "HeadGates": 9.0}
    monkeypatch.setattr(every_explorer, "run_in_kernel", lambda *_: took)
    (line,) = every_explorer.run()
    assert (line.value, line.names, line.parts) == (31.0, {"explorer": "LiveGates"}, took)


def small_lesson(folder: Path, *sources: str) -> Path:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title")])
    for number, source in enumerate(sources):
        notebook.cells.append(nbformat.v4.new_code_cell(source, id=f"cell-{number}"))
    path = folder / "small.ipynb"
    nbformat.write(notebook, path)
    return path


def test_a_lesson_runs_in_its_folder_with_each_cells_time_and_the_kernels_memory(tmp_path):
    path = small_lesson(
        tmp_path,
        "import os, time; kept = bytearray(os.urandom(1)) * 80_000_000",
        "time.sleep(0.2); open('here.txt', 'w').close(); len(kept)",
        "del kept",
    )
    cells = lesson.run_all(path)
    assert [cell["id"] for cell in cells] == ["cell-0", "cell-1", "cell-2"]
    assert cells[1]["seconds"] >= 0.2
    assert cells[1]["mb"] - cells[2]["mb"] > 70
    assert (tmp_path / "here.txt").exists()
    path = small_lesson(tmp_path, "1 + 1", "1 / 0")
    with pytest.raises(RuntimeError, match=r"small\.ipynb, cell cell-1: ZeroDivisionError"):
        lesson.run_all(path)


def test_memory_is_the_largest_after_any_cell(monkeypatch):
    cells = [{"mb": 300.0}, {"mb": 431.0}, {"mb": 420.0}]
    monkeypatch.setattr(memory, "run_all", lambda path: cells)
    (line,) = memory.run()
    assert (line.value, line.met) == (431.0, True)
    assert memory.LESSON.exists()


def test_training_is_the_sum_of_the_cells_that_train():
    cells = [
        {"source": "run = Run(1).finish()", "seconds": 2.0},
        {"source": "print(run.right)", "seconds": 90.0},
        {"source": "runs = training.finish()", "seconds": 5.0},
    ]
    assert training.seconds(cells) == 7.0
    with pytest.raises(RuntimeError, match="no cell calls"):
        training.seconds(cells[1:2])
    assert training.LESSON.read_text(encoding="utf-8").count(training.TRAINS) >= 4


def test_the_series_is_what_course_test_runs_and_counts_only_when_it_passes(monkeypatch):
    ran = []

    def lessons(environment, env, scratch, passed=True):
        ran.append((environment.python, env["HF_HUB_OFFLINE"], scratch.is_dir()))
        return passed, "3 passed"

    monkeypatch.setattr(series.testing, "lessons", lessons)
    (line,) = series.run()
    assert ran == [(Path(sys.executable), "1", True)]
    assert line.unit == "min" and line.at_most == 8 and line.value < 8
    monkeypatch.setattr(series.testing, "lessons", lambda *each: lessons(*each, passed=False))
    with pytest.raises(RuntimeError, match="3 passed"):
        series.run()
