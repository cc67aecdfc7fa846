"""Call the reader's code so that nothing it does can hurt: the check, its inputs, the notebook."""

import linecache
import sysconfig
import traceback
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from .base import Exercise, Probe

_NOT_THE_READERS = (str(Path(__file__).parents[1]), sysconfig.get_paths()["stdlib"])


@dataclass(frozen=True)
class Outcome:
    """What one call gave: an output or an error, and which inputs it changed in place."""

    output: object = None
    error: BaseException | None = None
    changed: tuple[str, ...] = ()


@contextmanager
def own_random_state(seed: int):
    """torch's global random state set to `seed` inside, and as it was afterwards."""
    before = torch.get_rng_state()
    torch.default_generator.manual_seed(seed)
    try:
        yield
    finally:
        torch.set_rng_state(before)


def attempt(exercise: Exercise, answer, probe: Probe, *, seed: int = 0, without: str = ""):
    """One call of `answer`, gradients on. Only KeyboardInterrupt comes through."""
    inputs = probe.copies(without)
    try:
        with own_random_state(seed), torch.enable_grad():
            output = exercise.compared(exercise.call_with(answer, dict(inputs)))
    except (Exception, SystemExit) as error:
        return Outcome(error=error)
    changed = tuple(name for name, value in inputs.items() if _differs(value, probe.inputs[name]))
    return Outcome(output, changed=changed)


def kept_attempt(exercise: Exercise, answer, probe: Probe) -> Outcome:
    """The same for an answer of the catalogue, right or wrong: it gives the same every time."""
    if (answer, probe) not in exercise.kept:
        exercise.kept[answer, probe] = attempt(exercise, answer, probe)
    return exercise.kept[answer, probe]


def _differs(after, before) -> bool:
    if isinstance(after, Tensor):
        return not torch.equal(after.detach(), before)
    return isinstance(after, list) and after != before


def reader_line(error: BaseException) -> tuple[int, str] | None:
    """Line number and text of the innermost line that the reader wrote; None if there is none."""
    found = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        foreign = (
            file.startswith(_NOT_THE_READERS)
            or "site-packages" in file
            or "dist-packages" in file
            or (file.startswith("<") and not file.startswith("<ipython-input"))
        )
        if not foreign:
            found = number, linecache.getline(file, number, frame.f_globals).strip()
    return found


def words_of(error: BaseException) -> str:
    """The exception's own words on one line, cut when they run on."""
    try:
        words = " ".join(str(error).split())
    except Exception:  # an exception of the reader's own whose __str__ fails
        words = ""
    words = words if len(words) <= 300 else words[:299] + "…"
    name = type(error).__name__
    return f"{name}: {words}" if words else name


def gradients(exercise: Exercise, answer, probe: Probe) -> dict[str, Tensor | None]:
    """What reaches each input going backwards from the output; None where nothing does."""
    inputs = probe.copies()
    leaves = {
        name: value.requires_grad_()
        for name, value in inputs.items()
        if isinstance(value, Tensor) and value.is_floating_point()
    }
    with own_random_state(0), torch.enable_grad():
        output = exercise.compared(exercise.call_with(answer, inputs))
        if not (isinstance(output, Tensor) and output.requires_grad):
            return dict.fromkeys(leaves)
        # Weights that differ from place to place: rows that sum to 1 have no gradient in a sum.
        ramp = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view(output.shape)
        (output * ramp).sum().backward()
    return {name: leaf.grad for name, leaf in leaves.items()}
