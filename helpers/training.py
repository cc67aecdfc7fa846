"""The pointer task: it trains in seconds, and is too much for one head with a linear readout.

The model reads a row of values and two pointers, and must say the two values pointed at, in
order. One head makes one mixture of the row; two heads can each fetch one value.

Every random number comes from a generator of its own. Numbers here are shares from 0 to 1.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .attention import AttentionTrace, BlankLinear, MultiHeadAttention
from .threads import one_thread

POSITIONS, VALUES = 12, 10  # places in the row; different values that may stand there
# steps of a run, rows in each, Adam's learning rate, steps between two tests
STEPS, BATCH, RATE, EVERY = 200, 32, 5e-3, 20
TEST_SEED, TEST_SIZE = 2024, 500


class Batch(NamedTuple):
    """`values` (B, P) from 0 to 9, `pointers` (B, n) places in the row, `answers` (B, n)."""

    values: Tensor
    pointers: Tensor
    answers: Tensor


def pointer_batch(batch_size: int, generator: torch.Generator, pointers: int = 2) -> Batch:
    """Random rows, pointers to different places of each row, and the values that stand there."""
    values = torch.randint(VALUES, (batch_size, POSITIONS), generator=generator)
    order = torch.rand(batch_size, POSITIONS, generator=generator).argsort(dim=-1)
    chosen = order[:, :pointers]
    return Batch(values, chosen, values.gather(1, chosen))


def _linear(d_in: int, d_out: int, generator: torch.Generator) -> nn.Linear:
    layer = BlankLinear(d_in, d_out)
    nn.init.normal_(layer.weight, std=d_in**-0.5, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer


class PointerModel(nn.Module):
    """Embeddings, one `MultiHeadAttention`, and a linear map that reads the answers out.

    T = P + 1 tokens: the row, and last the answer token, which holds the pointers. Only the
    answer token's output is read. At d_model = 64 with two pointers: 20,628 parameters for any H.
    `hidden` > 0 puts that many ReLU units into the readout, which then is no longer linear.
    Raises `ImpossibleHeadsError` when num_heads does not divide d_model.
    """

    def __init__(
        self,
        num_heads: int,
        d_model: int = 64,
        pointers: int = 2,
        *,
        hidden: int = 0,
        seed: int = 0,
    ):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)

        def vectors(*shape):
            return nn.Parameter(0.5 * torch.randn(*shape, d_model, generator=generator))

        self.pointers = pointers
        self.value = vectors(VALUES)  # (10, d_model)
        self.position = vectors(POSITIONS)  # (P, d_model)
        self.pointer = vectors(pointers, POSITIONS)  # (n, P, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, generator=generator)
        if hidden:
            self.readout = nn.Sequential(
                _linear(d_model, hidden, generator),
                nn.ReLU(),
                _linear(hidden, pointers * VALUES, generator),
            )
        else:
            self.readout = _linear(d_model, pointers * VALUES, generator)

    @property
    def num_heads(self) -> int:
        return self.attention.num_heads

    @property
    def d_model(self) -> int:
        return self.attention.d_model

    def embed(self, values: Tensor, pointers: Tensor) -> Tensor:
        """The tokens: (B, P), (B, n) -> (B, P + 1, d_model)."""
        row = self.value[values] + self.position
        answer = sum(self.pointer[i, pointers[:, i]] for i in range(self.pointers))
        return torch.cat([row, answer[:, None]], dim=1)

    def forward(self, values: Tensor, pointers: Tensor) -> Tensor:
        """(B, P), (B, n) -> a score for each answer and value: (B, n, 10)."""
        return self._read(self.attention(self.embed(values, pointers)))

    def trace(self, values: Tensor, pointers: Tensor, gates=None) -> AttentionTrace:
        """What the attention layer does with these rows; `gates` (H,) as in lesson 04."""
        with torch.no_grad():
            return self.attention.trace(self.embed(values, pointers), gates=gates)

    def answer(self, values: Tensor, pointers: Tensor, gates=None) -> Tensor:
        """The values it says: (B, P), (B, n) -> (B, n)."""
        with torch.no_grad():
            return self._read(self.trace(values, pointers, gates).output).argmax(dim=-1)

    def _read(self, output: Tensor) -> Tensor:
        return self.readout(output[:, -1]).unflatten(-1, (self.pointers, VALUES))


@dataclass(frozen=True)
class Progress:
    """Where a run stands: `right`, the share of the test rows with every answer right."""

    step: int
    steps: int
    right: float


def train(
    model: PointerModel,
    *,
    seed: int = 0,
    steps: int = STEPS,
    make_batch: Callable[[int, torch.Generator], tuple] | None = None,
) -> Iterator[Progress]:
    """Train the model with Adam, new random rows at every step; tell how it goes every 20 steps.

    `make_batch(batch_size, generator)` -> values, pointers, answers; by default
    `pointer_batch`. Nothing happens between two `next` calls, so a run can be left at any time.
    """

    def draw(size: int, generator: torch.Generator) -> Batch:
        if make_batch is None:
            return pointer_batch(size, generator, model.pointers)
        return Batch(*make_batch(size, generator))

    generator = torch.Generator().manual_seed(1000 + seed)  # not the numbers of the weights
    test = draw(TEST_SIZE, torch.Generator().manual_seed(TEST_SEED))
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE, fused=True)
    yield Progress(0, steps, share_right(model, test))
    for start in range(0, steps, EVERY):
        stop = min(start + EVERY, steps)
        with one_thread(), torch.enable_grad():
            for _ in range(start, stop):
                values, pointers, answers = draw(BATCH, generator)
                loss = F.cross_entropy(model(values, pointers).flatten(0, 1), answers.flatten())
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
        yield Progress(stop, steps, share_right(model, test))


@dataclass
class Run:
    """One model with one seed: how to train it, and how far it has come.

    `curve`: [(step, share right), …]. `advance()` tests the untrained model at first, then takes
    twenty steps at a time, and says whether more are left.
    """

    num_heads: int
    d_model: int = 64
    seed: int = 0
    steps: int = STEPS
    pointers: int = 2
    hidden: int = 0
    make_batch: Callable | None = None
    curve: list[tuple[int, float]] = field(default_factory=list, init=False)

    def __post_init__(self):
        self.restart()

    def restart(self) -> None:
        """Back to untrained weights and an empty curve."""
        self.curve = []
        self.model = PointerModel(
            self.num_heads, self.d_model, self.pointers, hidden=self.hidden, seed=self.seed
        )
        self._going = train(
            self.model, seed=self.seed, steps=self.steps, make_batch=self.make_batch
        )

    @property
    def parameters(self) -> int:
        return sum(p.numel() for p in self.model.parameters())

    @property
    def done(self) -> bool:
        return bool(self.curve) and self.curve[-1][0] >= self.steps

    @property
    def right(self) -> float:
        """The share of test rows with every answer right, as of now."""
        return self.curve[-1][1] if self.curve else 0.0

    def advance(self) -> bool:
        if self.done:
            return False
        try:
            progress = next(self._going)
        except BaseException:  # the stop button too: a step broken off leaves half an update
            self.restart()
            raise
        self.curve.append((progress.step, progress.right))
        return not self.done

    def finish(self) -> "Run":
        while self.advance():
            pass
        return self


def share_right(model: PointerModel, batch: Batch, gates: Tensor | None = None) -> float:
    """The share of rows with every answer right."""
    return _hits(model, batch, gates).all(dim=-1).float().mean().item()


def shares_right(model: PointerModel, batch: Batch, gates: Tensor | None = None) -> Tensor:
    """The share of right answers for each pointer by itself: (n,)."""
    return _hits(model, batch, gates).float().mean(dim=0)


def pointer_shares(weights: Tensor, pointers: Tensor) -> Tensor:
    """How much of its weight each head gives, from the answer token, to each pointed-at place.

    weights (B, H, T, T) with the answer token last, pointers (B, n) -> (H, n), means over B.
    """
    H = weights.shape[1]
    from_answer = weights[:, :, -1]  # (B, H, T)
    at = pointers[:, None].expand(-1, H, -1)  # (B, H, n)
    return from_answer.gather(-1, at).mean(dim=0)


def test_batch(pointers: int = 2) -> Batch:
    """The rows that every run is tested on; they are never trained on as a set."""
    return pointer_batch(TEST_SIZE, torch.Generator().manual_seed(TEST_SEED), pointers)


test_batch.__test__ = False  # a helper, whatever pytest makes of its name


def band(share: float) -> str:
    """A share as "< 0.4", "> 0.99" or "0.4 – 0.99": the same on any machine."""
    if share < 0.4:
        return "< 0.4"
    return "> 0.99" if share > 0.99 else "0.4 – 0.99"


def _hits(model: PointerModel, batch: Batch, gates: Tensor | None) -> Tensor:
    # In pieces of a training batch, which fit the processor's cache: half the time of 500 at once.
    pieces = zip(batch.values.split(BATCH), batch.pointers.split(BATCH), strict=True)
    with one_thread():
        said = torch.cat([model.answer(values, pointers, gates) for values, pointers in pieces])
    return said == batch.answers
