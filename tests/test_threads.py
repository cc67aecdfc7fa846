"""JupyterLab moves widgets in a second thread of the kernel: nothing tears, nothing is lost."""

import asyncio
import threading
import time

import pytest
import torch

from helpers import explorers, toy
from helpers.explorers import MultiHeadExplorer, Playground, TrainingRuns
from helpers.explorers import training as explorer_training
from helpers.threads import one_thread
from helpers.training import Run


def together(*jobs, seconds=60):
    """Run all at once; raise what any of them raised, and fail when one never ends."""
    raised = []
    at_once = threading.Barrier(len(jobs))

    def start(job):
        try:
            at_once.wait()
            job()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=start, args=[job], daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    assert not any(thread.is_alive() for thread in threads), "they wait for one another"
    if raised:
        raise raised[0]


@pytest.fixture
def three_threads():
    """A number that nobody else sets, and the old one afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


# The number of torch's threads ------------------------------------------------------------


def in_new_thread(job):
    found = []
    together(lambda: found.append(job()))
    return found[0]


def test_one_thread_nests_and_the_outermost_restores(three_threads):
    with one_thread():
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 3


def test_one_thread_restores_after_a_fault(three_threads):
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0
    assert torch.get_num_threads() == 3


def test_two_threads_that_overlap_both_get_their_number_back(three_threads):
    """A in, B in, A out, B out. B is new to torch, which gives it A's 1."""
    b_is_in, a_is_out = threading.Event(), threading.Event()
    seen = {}

    def b():
        with one_thread():
            seen["inside"] = torch.get_num_threads()
            b_is_in.set()
            assert a_is_out.wait(30)
            seen["still inside"] = torch.get_num_threads()
        seen["b"] = torch.get_num_threads()

    def a_then_b():
        worker = threading.Thread(target=b)
        with one_thread():
            worker.start()
            assert b_is_in.wait(30)
        seen["a"] = torch.get_num_threads()
        a_is_out.set()
        worker.join(30)

    a_then_b()
    assert seen == {"inside": 1, "still inside": 1, "a": 3, "b": 3}
    assert torch.get_num_threads() == 3
    assert in_new_thread(torch.get_num_threads) == 3


def test_many_threads_in_and_out_leave_the_number_as_it_was(three_threads):
    def often():
        for _ in range(50):
            with one_thread():
                assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 3

    together(*[often] * 4)
    assert torch.get_num_threads() == 3 == in_new_thread(torch.get_num_threads)


# Explorers ---------------------------------------------------------------------------------


def never_broken(explorer):
    """Every fault of this explorer from now on, also one that the next picture takes away."""
    faults = []
    explorer.observe(lambda change: change.new and faults.append(change.new), names="error")
    return faults


def fits(explorer) -> None:
    """The picture is that of the state, and so are the controls."""
    H, T, d_model = explorer.H, explorer.T, explorer.d_model
    assert explorer._note.kind != "problem", explorer.message
    assert explorer.weights.shape == (H, T, T)
    again = toy.layer(d_model, H, explorer.seed).trace(
        toy.embed(explorer.tokens, d_model, explorer.seed)
    )
    torch.testing.assert_close(explorer.weights, again.weights[0], atol=1e-5, rtol=1e-4)
    assert explorer.maps.frame["shape"] == [H, T, T]
    assert explorer.maps.frame["weights"] == explorer.weights.contiguous().numpy().tobytes()
    assert (explorer._H.value, explorer._d_model.value, explorer._T.value) == (H, d_model, T)
    assert f"H {H}, d_k {d_model // H}, T {T};" in explorer._summary()


def test_a_cell_and_the_page_move_one_explorer_at_the_same_time(three_threads):
    explorer = MultiHeadExplorer(d_model=16, H=4, T=5)
    faults = never_broken(explorer)

    def cell():
        for n in range(25):
            explorer.d_model = (16, 48, 97, 8)[n % 4]
            explorer.T = 2 + n % 7

    def page():
        for n in range(25):
            explorer._H.set_state({"index": n % 2})
            explorer._sentence.set_state({"value": ("two words", "one two three")[n % 2]})

    together(cell, page)
    assert not faults and explorer.error is None
    fits(explorer)
    assert torch.get_num_threads() == 3


def test_a_move_of_the_page_is_not_lost_while_a_cell_draws(monkeypatch):
    explorer = MultiHeadExplorer(d_model=16, H=4, T=5)
    drawing, draw = threading.Event(), MultiHeadExplorer._draw
    page = threading.Thread(target=lambda: explorer._H.set_state({"index": 1}), daemon=True)

    def slow(self):
        if not drawing.is_set():
            drawing.set()
            page.start()
            page.join(0.2)  # it must wait for this picture: if it does not, it is heard too soon
        draw(self)

    monkeypatch.setattr(MultiHeadExplorer, "_draw", slow)
    explorer.seed = 1
    page.join(30)
    assert explorer.H == 2 == explorer._H.value and explorer.seed == 1
    fits(explorer)


def test_hold_keeps_the_page_out_until_all_is_set():
    explorer = MultiHeadExplorer(d_model=16, H=4, T=5)
    page = threading.Thread(target=lambda: explorer._typed_H.set_state({"value": 3}), daemon=True)
    with explorer.hold():
        explorer.d_model = 96
        page.start()
        page.join(0.2)
        assert explorer.H == 4
        explorer.H = 8
    page.join(30)
    assert explorer.H == 3 and explorer.d_model == 96
    fits(explorer)


def test_the_two_sides_of_a_playground_never_wait_for_one_another():
    playground = Playground(left={"d_model": 16, "H": 4}, right={"d_model": 16, "H": 2})
    faults = [never_broken(one) for one in (playground, playground.left, playground.right)]

    def left():
        for n in range(12):
            playground.left.sentence = f"left {n}"
            playground.left.H = (1, 2, 4)[n % 3]

    def right():
        for n in range(12):
            playground.right._sentence.set_state({"value": f"right {n} more"})
            playground.same_sentence = n % 2 == 1

    together(left, right)
    assert faults == [[], [], []]
    assert playground.same_sentence and playground.left.sentence == playground.right.sentence
    fits(playground.left)
    fits(playground.right)
    assert playground.comparison["maps"] == (
        tuple(playground.left.weights.shape), tuple(playground.right.weights.shape),
    )  # fmt: skip


def test_a_fault_in_a_button_is_said_in_words(monkeypatch):
    explorer = MultiHeadExplorer(d_model=16, H=4)
    explorer.H = 3
    monkeypatch.setattr(MultiHeadExplorer, "_adjust", lambda self, change: 1 / 0)
    explorer._fixes[0]._handle_custom_msg({"event": "click"}, [])
    assert isinstance(explorer.error, ZeroDivisionError) and "ZeroDivision" in explorer.message
    monkeypatch.undo()
    gates = explorers.HeadGates()
    gates._on_click(gates._only[0], lambda _: 1 / 0)
    gates._only[0]._handle_custom_msg({"event": "click"}, [])
    assert isinstance(gates.error, ZeroDivisionError) and gates.trace is None
    gates.T = 3
    assert gates.error is None and gates.trace is not None


def test_the_stop_button_in_the_middle_leaves_no_half_picture(monkeypatch):
    explorer = MultiHeadExplorer(d_model=16, H=4)

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(MultiHeadExplorer, "_facts_in_words", stopped)
    with pytest.raises(KeyboardInterrupt):
        explorer.H = 2
    monkeypatch.undo()
    assert explorer.weights is None and not explorer.maps.frame["weights"]
    assert explorer.message and explorer._note.kind == "problem"
    explorer.H = 4
    fits(explorer)


def test_hold_shows_what_was_set_before_its_block_broke_off():
    explorer = MultiHeadExplorer(d_model=16, H=4)
    with pytest.raises(ZeroDivisionError), explorer.hold():
        explorer.H = 2
        _ = 1 / 0
    fits(explorer)


def test_a_cell_finishes_what_the_page_began_to_train(monkeypatch):
    """The page's button trains in the page's thread; `finish()` in a cell takes over."""
    monkeypatch.setattr(explorer_training, "SLICE", 0.0001)
    explorer = TrainingRuns(seeds=1, steps=40)
    faults = never_broken(explorer)
    begun, stop = threading.Event(), threading.Event()

    async def loop():
        explorer._button._handle_custom_msg({"event": "click"}, [])
        begun.set()
        while not stop.is_set():
            await asyncio.sleep(0.005)

    page = threading.Thread(target=lambda: asyncio.run(loop()), daemon=True)
    page.start()
    assert begun.wait(30)
    end = time.monotonic() + 30
    while not explorer.runs[0].curve and time.monotonic() < end:
        time.sleep(0.001)
    runs = explorer.finish()
    stop.set()
    page.join(30)
    assert not page.is_alive() and not faults and not explorer.running
    for run in runs:
        assert run.curve == Run(run.num_heads, run.d_model, 0, 40).finish().curve
