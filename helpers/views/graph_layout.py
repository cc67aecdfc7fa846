"""Where the parts of a picture of graphs stand, in px: one geometry for the page and the still.

y runs downwards. Arcs are cubic Bézier curves whose ends stand upright on the row of tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..palette import HEAD_COLOURS

WIDTH, EDGE = 960, 10
ABOVE, BELOW = 236, 136  # room for the graphs and for the tree
ROW, STEP = 26, 19  # height of one line of tokens; a second one stands a step lower
PER_CHARACTER = 7.4
OUT, IN = 4, 11  # an arc leaves nearer to the middle of its token than it arrives
DASHES = ((), (8, 4), (2, 3), (10, 3, 2, 3))
THINNEST, THICKEST = 0.8, 6.0


def thickness(weight: float) -> float:
    """px for a weight from 0 to 1, the same in every picture."""
    return round(THINNEST + (THICKEST - THINNEST) * weight, 2)


def dashes(head: int) -> tuple[int, ...]:
    """The line style of a head: heads of the same colour never share it."""
    return DASHES[(head + head // len(HEAD_COLOURS)) % len(DASHES)]


@dataclass(frozen=True)
class Arc:
    """Start, two control points, end, as x and y in turn: a cubic Bézier curve."""

    points: tuple[float, ...]


@dataclass(frozen=True)
class Layout:
    """The places of N tokens; `rows` is 2 where they need two lines to stand side by side."""

    count: int
    rows: int
    deepest: int = 1  # the longest distance in the tree

    @classmethod
    def of(cls, labels: Sequence[str], deepest: int = 1) -> "Layout":
        slot = (WIDTH - 2 * EDGE) / max(1, len(labels))
        crowded = any(PER_CHARACTER * len(label) > slot - 8 for label in labels)
        return cls(len(labels), 2 if crowded else 1, max(1, deepest))

    width = WIDTH

    @property
    def slot(self) -> float:
        return (WIDTH - 2 * EDGE) / max(1, self.count)

    @property
    def base(self) -> float:
        """Where the graphs' arcs stand."""
        return ABOVE

    @property
    def tree_base(self) -> float:
        """Where the tree hangs: the same place for one line of tokens or two."""
        return ABOVE + ROW + STEP

    @property
    def height(self) -> float:
        return self.tree_base + BELOW

    def x(self, token: int) -> float:
        return round(EDGE + (token + 0.5) * self.slot, 1)

    def y(self, token: int) -> float:
        """The baseline of a token's text."""
        middle = 0 if self.rows == 2 else STEP / 2
        return ABOVE + 17 + middle + (STEP if self.rows == 2 and token % 2 else 0)

    def arc(self, query: int, key: int, lift: int = 0) -> Arc:
        """From query to key above the row; `lift` keeps the same edge of other heads apart."""
        if query == key:
            x, top = self.x(query), self.base - 34 - 5 * lift
            return Arc((x - OUT, self.base, x - 22, top, x + 22, top, x + IN - 4, self.base))
        side = 1 if key > query else -1
        share = (abs(key - query) / max(1, self.count - 1)) ** 0.7
        most = ABOVE - 18 - 24 - 5 * 11  # below the heading, and twelve heads above one another
        high = 24 + 5 * lift + share * most
        return self._between(query, key, side, self.base, -high)

    def branch(self, dependent: int, head: int) -> Arc:
        """From a word down and up to the word it depends on."""
        side = 1 if head > dependent else -1
        share = abs(head - dependent) / self.deepest  # each distance has a height of its own
        return self._between(dependent, head, side, self.tree_base, 16 + share * (BELOW - 46))

    def _between(self, start: int, end: int, side: int, base: float, high: float) -> Arc:
        reach = min(IN, self.slot / 4)
        x1, x2 = self.x(start) + side * min(OUT, self.slot / 8), self.x(end) - side * reach
        control = round(base + high / 0.75, 1)  # the curve rises three quarters of the way
        return Arc((round(x1, 1), base, round(x1, 1), control, round(x2, 1), control,
                    round(x2, 1), base))  # fmt: skip
