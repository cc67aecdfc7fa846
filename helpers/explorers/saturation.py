"""SoftmaxSaturation: what a growing d_k does to softmax, with the scale and without it."""

import math

import ipywidgets
import torch
import traitlets

from ..attention import attention_weights
from ..texts import t
from ..views.bar_view import BarView
from .base import CannotDrawError, Explorer
from .controls import ListSlider, axis, row, slide_to

WIDTHS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
ROWS, KEYS = 400, 16
MOST_SEED = 2**31 - 1


def row_entropy(weights: torch.Tensor) -> torch.Tensor:
    """-Σ w ln w of each row, in nats: (..., T) -> (...). ln T when flat, 0 when one key has all."""
    return torch.special.entr(weights).sum(-1)


class SoftmaxSaturation(Explorer):
    """Random unit-variance queries and keys of width d_k: the spread of q·k, and one row.

    State: `d_k`, `seed`. What it shows: `variance` of q·k over 400 × 16 pairs; `entropy`,
    the mean row entropy {"scaled", "unscaled"} in nats over 400 rows of 16 keys.
    """

    STATE = ("d_k", "seed")

    d_k = traitlets.Int(64)
    seed = traitlets.Int(0)

    variance: float | None = None
    entropy: dict[str, float] | None = None

    def _build(self):
        style = {"description_width": "initial"}
        self._d_k = ListSlider(
            description=t("explorer.saturation.d_k"), options=WIDTHS, style=style
        )
        self._seed = ipywidgets.BoundedIntText(
            description=t("explorer.saturation.seed"), min=0, max=MOST_SEED,
            style=style, layout={"width": "120px"},
        )  # fmt: skip
        self._bind(self._d_k, "d_k")
        self._bind(self._seed, "seed")
        self.bars = BarView()
        return [row(axis(self._d_k, "d_k"), self._seed), self._note, self.bars]

    def _draw(self) -> None:
        self.variance = self.entropy = None
        self._seed.value = self.seed
        if 1 <= self.d_k <= WIDTHS[-1]:
            slide_to(self._d_k, sorted({*WIDTHS, self.d_k}), self.d_k)
        else:
            raise CannotDrawError(t("explorer.saturation.bad_d_k", d_k=self.d_k, most=WIDTHS[-1]))
        if not 0 <= self.seed <= MOST_SEED:
            raise CannotDrawError(t("explorer.saturation.bad_seed", seed=self.seed))
        generator = torch.Generator().manual_seed(self.seed)
        # Drawn at full width and cut, so that a step of the slider adds features to the
        # same queries and keys instead of drawing new ones.
        q = torch.randn(ROWS, 1, WIDTHS[-1], generator=generator)
        k = torch.randn(ROWS, KEYS, WIDTHS[-1], generator=generator)
        products = self._products(q, k, self.d_k)
        scaled = attention_weights(products / math.sqrt(self.d_k))
        unscaled = attention_weights(products)
        typical = self._typical_row(q, k)
        self.variance = products.var().item()
        self.entropy = {
            "scaled": row_entropy(scaled).mean().item(),
            "unscaled": row_entropy(unscaled).mean().item(),
        }
        self._series = {
            t("explorer.saturation.scaled", d_k=self.d_k): scaled[typical].tolist(),
            t("explorer.saturation.unscaled"): unscaled[typical].tolist(),
        }
        self._labels = [t("explorer.saturation.key", n=n + 1) for n in range(KEYS)]
        self.bars.show_series(self._labels, self._series, title=t("explorer.saturation.title"))
        self._tell(
            t("explorer.saturation.reading", d_k=self.d_k, variance=f"{self.variance:.1f}",
              scaled=f"{self.entropy['scaled']:.2f}", unscaled=f"{self.entropy['unscaled']:.2f}",
              flat=f"{math.log(KEYS):.2f}", rows=ROWS, keys=KEYS)
        )  # fmt: skip

    @staticmethod
    def _products(q: torch.Tensor, k: torch.Tensor, d_k: int) -> torch.Tensor:
        """q·k of each query with its own keys, over the first d_k features: (ROWS, KEYS)."""
        return (q[..., :d_k] * k[..., :d_k]).sum(-1)

    def _typical_row(self, q: torch.Tensor, k: torch.Tensor) -> int:
        """The row to draw: at d_k = 64, the one as saturated as rows are on average."""
        entropy = row_entropy(attention_weights(self._products(q, k, 64)))
        return int((entropy - entropy.mean()).abs().argmin())

    def _blank(self, reason: str) -> None:
        self.variance = self.entropy = None
        self.bars.clear(reason)

    def _still(self):
        from ..figures import bar_figure

        return bar_figure(self._labels, self._series, t("explorer.saturation.title"))

    def _summary(self) -> str:
        return f"SoftmaxSaturation: {self.message}"
