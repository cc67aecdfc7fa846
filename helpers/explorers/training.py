"""TrainingRuns: the pointer task learned before your eyes, by one head, two, and a wide one."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import ipywidgets
import traitlets

from ..texts import t
from ..training import STEPS, Run
from ..views.curve_view import CurveView, Series
from .base import CannotDrawError, Explorer, alone
from .controls import row

TX = "explorer_training"
MODELS = (("one", 1, 64), ("two", 2, 64), ("wide", 1, 128))  # (word, H, d_model)
MOST_SEEDS, FEWEST_STEPS, MOST_STEPS = 8, 10, 1000
SLICE = 0.15  # s of training between two looks at the page
AT_ONCE = 2  # runs trained side by side: a run keeps one core busy, and a laptop has two at least


class TrainingRuns(Explorer):
    """Three models, each trained with several seeds. Nothing is trained until it is asked for.

    State: `seeds` (how many), `steps` (of each run). `start()` trains in the background, in
    slices so short that the page stays free; `stop()` pauses, and `start()` then goes on.
    `finish()` trains what is left at once and returns the runs. A change of the state, and
    `reset()`, begin anew. What it shows: `runs`, in the order of training.
    """

    STATE = ("seeds", "steps")

    seeds = traitlets.Int(5)
    steps = traitlets.Int(STEPS)

    runs: tuple[Run, ...] = ()
    _task: asyncio.Task | None = None

    # For plain code -----------------------------------------------------------------------

    @property
    def running(self) -> bool:
        return self._task is not None

    @property
    def done(self) -> bool:
        return bool(self.runs) and all(run.done for run in self.runs)

    def results(self) -> dict[tuple[int, int], list[Run]]:
        """{(H, d_model): its runs in the order of seeds}."""
        kinds = {(H, d_model): [] for _, H, d_model in MODELS}
        for run in self.runs:
            kinds[run.num_heads, run.d_model].append(run)
        return kinds

    @alone
    def start(self) -> None:
        """Train in the background of the notebook; where there is no such thing, at once."""
        if self.running or self.done or not self.runs:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.finish()
            return
        self._task = loop.create_task(self._train())
        self._show()

    @alone
    def stop(self) -> None:
        """Pause. What has been learned stays."""
        if self._task is not None:
            self._task = None
            self._show()

    def reset(self) -> None:
        """Back to untrained models."""
        self._redraw()

    def finish(self) -> tuple[Run, ...]:
        """Train all that is left, then return the runs. The stop button of the page works."""
        self.stop()
        while not self.done and self.runs:
            self._work()
        return self.runs

    # What an explorer writes ---------------------------------------------------------------

    def _build(self):
        style = {"description_width": "initial"}
        self._button = ipywidgets.Button(description=t(f"{TX}.start"), button_style="primary")
        self._again = ipywidgets.Button(description=t(f"{TX}.reset"))
        self._seeds = ipywidgets.IntSlider(
            description=t(f"{TX}.seeds"), min=1, max=MOST_SEEDS, style=style
        )
        self._steps = ipywidgets.IntSlider(
            description=t(f"{TX}.steps"), min=FEWEST_STEPS, max=MOST_STEPS, step=FEWEST_STEPS,
            style=style,
            continuous_update=False,
        )  # fmt: skip
        self._bind(self._seeds, "seeds")
        self._bind(self._steps, "steps")
        self._on_click(self._button, lambda _: self.stop() if self.running else self.start())
        self._on_click(self._again, lambda _: self.reset())
        self.curves = CurveView()
        buttons = row(self._button, self._again, self._seeds, self._steps)
        return [buttons, self._note, self.curves]

    def _draw(self) -> None:
        self._task = None
        self.runs = ()
        self._seeds.value = self.seeds
        self._steps.value = self.steps
        if not 1 <= self.seeds <= MOST_SEEDS:
            raise CannotDrawError(t(f"{TX}.bad_seeds", seeds=self.seeds, most=MOST_SEEDS))
        if not FEWEST_STEPS <= self.steps <= MOST_STEPS:
            raise CannotDrawError(t(f"{TX}.bad_steps", steps=self.steps, most=MOST_STEPS))
        self.runs = tuple(
            Run(H, d_model, seed, self.steps)
            for seed in range(self.seeds)
            for _, H, d_model in MODELS
        )
        self._show()
        self._tell(t(f"{TX}.press", start=t(f"{TX}.start"), n=len(self.runs), steps=self.steps))

    def _blank(self, reason: str) -> None:
        self._task = None
        self.runs = ()
        self._button.disabled = True
        self.curves.clear(reason)

    def _still(self):
        from ..stills.curves import curve_figure

        caption = "" if any(run.curve for run in self.runs) else t("explorer.still")
        return curve_figure(self._series(), self.steps, caption)

    def _summary(self) -> str:
        if not self.runs:
            return f"TrainingRuns: {self.message}"
        words = t(f"{TX}.summary", models=len(MODELS), seeds=self.seeds, steps=self.steps)
        return f"TrainingRuns: {words}"

    # Training ------------------------------------------------------------------------------

    async def _train(self) -> None:
        while self._work_in_background(asyncio.current_task()):
            await asyncio.sleep(0.02)  # the kernel hears the page: Stop, another cell

    @alone
    def _work_in_background(self, task: asyncio.Task) -> bool:
        """One slice; False when there is no more to do, or another has taken over."""
        if self._task is not task:  # a cell may have stopped or finished it, in its own thread
            return False
        try:
            self._work()
        except Exception as error:
            self._fail(error)
        return self._task is task

    @alone
    def _work(self) -> None:
        """One slice of training, then the picture."""
        train_for(SLICE, self.runs)
        if self.done:
            self._task = None
        self._show()
        if self.done:
            self._say(self._outcome(), "note")

    def _show(self) -> None:
        """Curves, progress and buttons as they are now."""
        taken = sum(run.curve[-1][0] for run in self.runs if run.curve)
        finished = sum(run.done for run in self.runs)
        word = "done" if self.done else "running" if self.running else "ready"
        status = t(f"{TX}.status.{word}", finished=finished, n=len(self.runs))
        done = taken / (self.steps * len(self.runs))
        self.curves.show(self._series(), self.steps, done, status)
        self._button.description = t(f"{TX}.stop" if self.running else f"{TX}.start")
        self._button.disabled = self.done

    def _series(self) -> list[Series]:
        return [
            Series(
                t(f"{TX}.models.{word}", H=H, d_model=d_model),
                [run.curve for run in self.results()[H, d_model]],
            )
            for word, H, d_model in MODELS
        ]

    def _outcome(self) -> str:
        parts = []
        for word, H, d_model in MODELS:
            right = [run.right for run in self.results()[H, d_model]]
            name = t(f"{TX}.models.{word}", H=H, d_model=d_model)
            low, high = f"{min(right):.2f}", f"{max(right):.2f}"
            parts.append(
                t("explorer_training.curves.range", name=name, n=len(right), low=low, high=high)
            )
        return " ".join(parts)


def train_for(seconds: float, runs: tuple[Run, ...]) -> None:
    """Advance the first unfinished runs, `AT_ONCE` of them side by side, for about that long.

    Each run has its own model and random numbers, so the outcome is that of one after another.
    An error of a run comes out here, once the other run has ended its last steps.
    """
    until = time.monotonic() + seconds
    waiting = iter([run for run in runs if not run.done])

    def one_after_another() -> None:
        for run in waiting:
            while run.advance():
                if time.monotonic() >= until:
                    return

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for lane in [pool.submit(one_after_another) for _ in range(AT_ONCE)]:
            lane.result()
