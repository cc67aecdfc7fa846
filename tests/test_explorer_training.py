"""TrainingRuns: what is trained is what is shown, it can be stopped, and plain code gets it."""

import asyncio

import pytest
import torch
from matplotlib.lines import Line2D

from helpers.explorers import TrainingRuns
from helpers.explorers import training as explorer_training
from helpers.lesson import set_language
from helpers.training import Run
from helpers.views.curve_view import CurveView, Series


@pytest.fixture
def small():
    return TrainingRuns(seeds=1, steps=20)


def shown(explorer) -> list[list]:
    """The curves on the page, model by model."""
    return [one["curves"] for one in explorer.curves.frame["series"]]


def test_nothing_is_trained_until_it_is_asked_for(small):
    assert [(run.num_heads, run.d_model, run.curve) for run in small.runs] == [
        (1, 64, []), (2, 64, []), (1, 128, []),
    ]  # fmt: skip
    assert not small.running and not small.done
    frame = small.curves.frame
    assert frame["done"] == 0 and shown(small) == [[[]], [[]], [[]]]
    assert frame["status"] == "0 of 3 runs trained"
    assert "not trained yet" in frame["spoken"]
    assert "3 runs of 20 steps" in small.message


def test_plain_code_trains_and_gets_the_runs_that_the_page_shows(small):
    runs = small.finish()
    assert all(run.done for run in runs) and small.done and not small.running
    for run, curve in zip(runs, shown(small), strict=True):
        alone = Run(run.num_heads, run.d_model, run.seed, 20).finish()
        assert run.curve == alone.curve
        assert [tuple(p) for p in curve[0]] == [(step, round(y, 4)) for step, y in alone.curve]
    assert small.curves.frame["done"] == 1
    assert small.curves.frame["status"] == "all 3 runs trained"
    low = f"{runs[1].right:.2f}"
    assert f"Two heads, d_model = 64: {low} to {low} right (runs: 1)" in small.message
    assert small._button.disabled
    curves = [run.curve for run in runs]
    assert small.finish() == runs and [run.curve for run in runs] == curves  # nothing more


def test_results_are_by_model_in_the_order_of_seeds():
    explorer = TrainingRuns(seeds=2, steps=10)
    explorer.finish()
    results = explorer.results()
    assert list(results) == [(1, 64), (2, 64), (1, 128)]
    for (H, d_model), runs in results.items():
        assert [(run.num_heads, run.d_model, run.seed) for run in runs] == [
            (H, d_model, 0),
            (H, d_model, 1),
        ]


def test_the_background_leaves_room_stops_and_goes_on(monkeypatch):
    monkeypatch.setattr(explorer_training, "SLICE", 0.0001)  # one advance in each slice
    explorer = TrainingRuns(seeds=1, steps=30)
    seen = []

    async def reader():
        explorer._button.click()
        assert explorer.running and explorer._button.description == "Stop"
        while not explorer.runs[0].curve or len(explorer.runs[0].curve) < 3:
            await asyncio.sleep(0.005)  # the page is heard in between
            seen.append(len(explorer.runs[0].curve))
        explorer._button.click()
        assert not explorer.running and explorer._button.description == "Train"
        before = [list(run.curve) for run in explorer.runs]
        await asyncio.sleep(0.1)
        assert [run.curve for run in explorer.runs] == before and before[0]
        assert 0 < explorer.curves.frame["done"] < 1
        explorer.start()
        explorer.start()  # twice is once
        while not explorer.done:
            await asyncio.sleep(0.005)

    asyncio.run(reader())
    assert {1, 2} <= set(seen)
    assert not explorer.running and explorer.error is None
    assert [run.curve for run in explorer.runs] == [
        Run(run.num_heads, run.d_model, 0, 30).finish().curve for run in explorer.runs
    ]


def test_finish_takes_over_from_the_background(monkeypatch):
    monkeypatch.setattr(explorer_training, "SLICE", 0.0001)
    explorer = TrainingRuns(seeds=1, steps=40)

    async def reader():
        explorer.start()
        await asyncio.sleep(0.05)
        runs = explorer.finish()
        curves = [list(run.curve) for run in runs]
        await asyncio.sleep(0.05)
        assert [run.curve for run in explorer.runs] == curves

    asyncio.run(reader())
    assert explorer.done and not explorer.running
    assert [len(run.curve) for run in explorer.runs] == [3, 3, 3]


def test_a_change_or_a_reset_while_training_begins_anew(monkeypatch):
    monkeypatch.setattr(explorer_training, "SLICE", 0.0001)
    explorer = TrainingRuns(seeds=1, steps=40)

    async def reader():
        for begin_anew in (lambda: setattr(explorer, "steps", 30), explorer._again.click):
            explorer.start()
            while not explorer.runs[0].curve:
                await asyncio.sleep(0.005)
            begin_anew()
            assert not explorer.running
            await asyncio.sleep(0.05)
            assert all(run.steps == 30 and run.curve == [] for run in explorer.runs)
            assert explorer.curves.frame["done"] == 0

    asyncio.run(reader())


def test_c24_a_fault_while_training_is_said_in_words(small, monkeypatch):
    monkeypatch.setattr(Run, "advance", lambda self: 1 / 0)

    async def reader():
        small.start()
        await asyncio.sleep(0.1)

    asyncio.run(reader())
    assert isinstance(small.error, ZeroDivisionError) and not small.running
    assert "ZeroDivisionError" in small.message
    assert small.curves.frame["reason"] == small.message
    monkeypatch.undo()
    small.reset()
    assert small.error is None and not small.curves.frame["reason"]
    assert not small._button.disabled


def test_the_stop_button_of_the_page_can_break_off_finish_and_it_goes_on(small, monkeypatch):
    whole = Run(2, 64, 0, 20).finish()
    broken = {"left": 4}
    advance = Run.advance

    def interrupted(self):
        broken["left"] -= 1
        if broken["left"] == 0:
            raise KeyboardInterrupt
        return advance(self)

    monkeypatch.setattr(Run, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        small.finish()
    assert small.finish()[1].curve == whole.curve


def test_the_readers_random_numbers_are_left_alone(small):
    before = torch.get_rng_state()
    small.finish()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("trait", "value", "words"),
    [("seeds", 0, "1 to 8"), ("seeds", 9, "1 to 8"), ("steps", 5, "10 to 1000")],
)
def test_an_impossible_number_is_said_and_no_old_curve_stands(small, trait, value, words):
    small.finish()
    setattr(small, trait, value)
    assert words in small.message and small._note.kind == "problem"
    assert small.curves.frame["reason"] == small.message
    assert small.runs == () and small.finish() == () and small._button.disabled
    assert "image/png" not in small._repr_mimebundle_()[0]


def test_the_text_beside_the_picture_is_the_same_before_and_after(small):
    before = small._repr_mimebundle_()[0]["text/plain"]
    small.finish()
    assert small._repr_mimebundle_()[0]["text/plain"] == before
    assert before == "TrainingRuns: 3 models; seeds of each: 1; steps of a run: 20."


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_still_picture_has_each_curve_at_its_height(language):
    set_language(language)
    explorer = TrainingRuns(seeds=2, steps=40)
    explorer.finish()
    lines = {a.get_gid(): a for a in explorer._still().artists if isinstance(a, Line2D)}
    for i, runs in enumerate(explorer.results().values()):
        for n, run in enumerate(runs):
            heights = lines[f"curve-{i}-{n}"].get_ydata()
            x = lines[f"curve-{i}-{n}"].get_xdata()
            assert len(x) == 3 and x[1] - x[0] == pytest.approx(x[2] - x[1])
            falls = [heights[0] - y for y in heights]
            rises = [220 * (share - run.curve[0][1]) for _, share in run.curve]
            assert falls == pytest.approx(rises, abs=0.01)
    styles = {(lines[f"legend-{i}"].get_color(), lines[f"legend-{i}"].get_linestyle())
              for i in range(3)}  # fmt: skip
    assert len(styles) == 3


def test_the_curves_are_told_in_words_and_numbers():
    view = CurveView()
    view.show([Series("<b>one</b>", [[(0, 0.1), (10, 0.25)], [(0, 0.123)], []])], 20, 0.4, "so far")
    frame = view.frame
    assert frame["series"][0]["numbers"] == ["0.25", "0.12", "–"]
    assert "<b>one</b>: 0.12 to 0.25 right (runs: 2)." in frame["spoken"]
    assert (frame["done"], frame["status"], frame["steps"]) == (0.4, "so far", 20)
    view.clear("why")
    assert view.frame["reason"] == "why"


def test_two_runs_are_trained_side_by_side_and_a_third_waits():
    runs = tuple(Run(2, seed=seed, steps=40) for seed in range(3))
    explorer_training.train_for(0.0, runs)
    assert [len(run.curve) for run in runs] == [1, 1, 0]
    while not all(run.done for run in runs):
        explorer_training.train_for(0.05, runs)
    alone = [Run(2, seed=seed, steps=40).finish() for seed in range(3)]
    assert [run.curve for run in runs] == [run.curve for run in alone]


def test_an_error_beside_another_run_comes_out(monkeypatch):
    good, bad = Run(2, steps=20), Run(2, steps=20)
    monkeypatch.setattr(bad, "advance", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        explorer_training.train_for(60.0, (good, bad))
    assert good.done
