"""What an exercise is: a reference, inputs to try, and the ways people get it wrong.

A lesson's file declares its exercises with these parts; `diagnosis` does the checking. Wrong
answers are themselves functions (or classes): the reader's answer is told apart from the right
one, and one misconception from another, by the values they give.
"""

import importlib.util
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

MOST_SHOWN = 12  # of a list, in the words of a trial


@dataclass(frozen=True, eq=False)  # a probe is itself alone, and a key of `Exercise.kept`
class Probe:
    """One call of the reader's answer.

    `inputs`: name -> value, in the order of the arguments. `sizes`: the symbols, for the texts
    ({"T": 5, "d_k": 3}); keep them all different, so that a size names its axis.
    `condition`: what makes an easier probe easier, in symbols ("B = 1"), the same in all languages.
    `raises`: the exceptions a right answer raises here, `mention`: what their words must contain.
    """

    inputs: dict
    sizes: dict[str, int]
    condition: str = ""
    raises: tuple[type[Exception], ...] = ()
    mention: tuple[str, ...] = ()

    def copies(self, without: str = "") -> dict:
        """Fresh copies of the inputs, so that no answer can change what the next one gets."""
        return {name: copied(value) for name, value in self.inputs.items() if name != without}

    @property
    def trial(self) -> str:
        """The call in numbers, "Q (5, 3), K (5, 3)": the same in all languages."""
        parts = []
        for name, value in self.inputs.items():
            if isinstance(value, Tensor):
                parts.append(f"{name} {tuple(value.shape)}")
            elif isinstance(value, list) and len(value) > MOST_SHOWN:
                first = ", ".join(map(repr, value[: MOST_SHOWN // 2]))
                parts.append(f"{name} = [{first}, …] (len {len(value)})")
            elif not isinstance(value, dict):
                parts.append(f"{name} = {value!r}")
        return ", ".join(parts)


def copied(value):
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {name: copied(part) for name, part in value.items()}
    return list(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class Misconception:
    """A wrong answer somebody really had. Its words are `check_NN.kinds.<kind>`."""

    kind: str
    wrong: Callable


@dataclass
class Exercise:
    """An exercise and how to check it.

    id: "01.single_head"; the part after the dot is the name the reader defines.
    call: how the exercise asks for it, "single_head(X, W_Q, W_K, W_V, mask=None)".
    axes: the symbols of the answer's axes, ("T", "d_k").
    reference: a right answer, of the same kind as the reader's: a function or a class.
    make_probes: the trials that decide, plain ones first: the first that fails is the one
        diagnosed. At sizes where right and wrong differ.
    make_easier: trials where some wrong answers come out right or stop raising; they never
        decide, they only tell why ("B = 1").
    run: (answer, **inputs) -> output; the default calls the answer with the inputs in order.
    first_of_tuple: (output, weights) is accepted, the first is compared.
    differentiable: gradients must reach the inputs as they do in the reference.
    rows: show a whole row of the last axis where numbers differ, not one number.
    shared_words: files whose `kinds` are used where the lesson's own has no words for a kind.

    Rules see wrong answers that match no misconception, as (case) -> (kind, values) or None.
    Facts add a sentence of numbers to any wrong answer, remarks one to a right answer, as
    (case) -> (text key, values) or None.
    """

    id: str
    call: str
    axes: tuple[str, ...]
    reference: Callable
    make_probes: Callable[[], list[Probe]]
    make_easier: Callable[[], list[Probe]] = list
    run: Callable | None = None
    first_of_tuple: bool = False
    differentiable: bool = False
    rows: bool = False
    shared_words: tuple[str, ...] = ("check_01",)
    misconceptions: list[Misconception] = field(default_factory=list)
    rules: list[Callable] = field(default_factory=list)
    facts: list[Callable] = field(default_factory=list)
    remarks: list[Callable] = field(default_factory=list)
    kept: dict = field(default_factory=dict, repr=False)  # (answer, probe) -> Outcome; see trying

    @property
    def name(self) -> str:
        return self.id.split(".", 1)[1]

    @property
    def topic(self) -> str:
        """The file of this lesson's words, "check_01"."""
        return "check_" + self.id.split(".", 1)[0]

    @cached_property
    def probes(self) -> list[Probe]:
        return self.make_probes()

    @cached_property
    def easier(self) -> list[Probe]:
        return self.make_easier()

    def misconception(self, kind: str, *wrong: Callable) -> None:
        """Add the wrong answers that show one misconception."""
        self.misconceptions += [Misconception(kind, one) for one in wrong]

    def call_with(self, answer: Callable, inputs: dict):
        if self.run is not None:
            return self.run(answer, **inputs)
        return answer(*inputs.values())

    def compared(self, output):
        """The part of what came back that is compared. A list of heads is no (output, weights)."""
        if not (self.first_of_tuple and isinstance(output, (tuple, list)) and output):
            return output
        shapes = {part.shape if isinstance(part, Tensor) else None for part in output}
        heads = isinstance(output, list) and len(output) > 1 and len(shapes) == 1 and all(shapes)
        return output if heads else output[0]


class ProblemError(Exception):
    """Raised by a `run` when the answer is not of the form asked for: a kind and its numbers.

    own: the words of the kind stand in the lesson's file.
    """

    def __init__(self, kind: str, own: bool = False, **values):
        self.kind, self.own, self.values = kind, own, values
        super().__init__(kind)


_exercises: dict[str, Exercise] = {}


def register(exercise: Exercise) -> Exercise:
    """Make the exercise known to `check`."""
    _exercises[exercise.id] = exercise
    return exercise


def find(id: str) -> Exercise | None:
    """The exercise of this id, or None. Reads its lesson's file only."""
    lesson = id.split(".", 1)[0]
    module = f"{__package__}.lesson{lesson}"
    if id not in _exercises and lesson.isdecimal() and importlib.util.find_spec(module):
        importlib.import_module(module)
    return _exercises.get(id)


def exercises() -> dict[str, Exercise]:
    """Every exercise of the course by id, in the order of the lessons."""
    package = importlib.import_module(__package__)
    for module in sorted(found.name for found in pkgutil.iter_modules(package.__path__)):
        if module.startswith("lesson"):
            importlib.import_module(f"{__package__}.{module}")
    lesson_order = sorted(_exercises, key=lambda id: id.split(".", 1)[0])  # stable: keeps order
    return {id: _exercises[id] for id in lesson_order}


def random_tensors(seed: int, *shapes: tuple[int, ...], scale: float = 1.0) -> list[Tensor]:
    """Normal numbers from a generator of their own, on the CPU whatever the reader's default."""
    generator = torch.Generator(device="cpu").manual_seed(seed)
    return [
        scale * torch.randn(shape, generator=generator, dtype=torch.float32, device="cpu")
        for shape in shapes
    ]
