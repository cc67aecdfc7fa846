"""ReshapeLab: two routes through view and transpose, cell by cell, and what each one breaks."""

from functools import lru_cache

import ipywidgets
import torch
import traitlets
from torch import Tensor

from ..attention import head_width
from ..reshaping.dependency import dependency_map
from ..reshaping.routes import STEPS, Stop, differing, walk
from ..reshaping.wrong_turns import layer_with
from ..texts import t
from ..views.cell_view import CellPanel, CellView
from ..views.dependency_view import DependencyMap, DependencyView
from .base import CannotDrawError
from .controls import row
from .reshape_words import differ_words, map_words, note_words, rule_words
from .widths import STYLE, HeadWidthExplorer

TX = "explorer_reshape"
# The wrong turns that each wrong route takes: (split, merge).
ROUTES = {"both": ("wrong", "wrong"), "split": ("wrong", "right"), "merge": ("right", "wrong")}
DRAWN = ("right", "split", "both", "leak")  # the maps, from left to right
LESSON = {"T": 16, "d_model": 32, "H": 4}  # the sizes of the lesson's own count


class ReshapeLab(HeadWidthExplorer):
    """Numbered cells on the right route and on a wrong one, step by step; dependency maps below.

    State: `T` (1 to 8), `d_model` (1 to 12), `H`; `route`, the wrong route: "both" turns wrong,
    wrong "split" only, wrong "merge" only; `step`, one of `helpers.reshaping.routes.STEPS`;
    `map_sizes`: "lesson" (T 16, H 4) or "present" (the sizes of the cells).
    What it shows: `right` and `wrong` (step -> Stop), None where nothing can be drawn; `differ`,
    how many cells differ at this step, None where shapes do; `dependency`, name -> (T, T) bool.
    """

    WIDTHS = (1, 2, 4, 6, 7, 8, 12)  # 7 is a prime on purpose: only 1 and 7 heads fit
    LARGEST_WIDTH = 12
    MOST_TOKENS = 8
    STATE = ("T", "d_model", "H", "route", "step", "map_sizes")

    T = traitlets.Int(4)
    d_model = traitlets.Int(6)
    H = traitlets.Int(2)
    route = traitlets.Unicode("both")
    step = traitlets.Unicode("transpose")
    map_sizes = traitlets.Unicode("lesson")

    right: dict[str, Stop] | None = None
    wrong: dict[str, Stop] | None = None
    differ: int | None = None
    dependency: dict[str, Tensor] = {}

    # Controls and views -----------------------------------------------------------------

    def _build(self):
        widths = self._build_widths()
        self._route = self._dropdown("route", [(t(f"{TX}.routes.{r}"), r) for r in ROUTES])
        self._maps = self._dropdown(
            "map_sizes", [(t(f"{TX}.maps.{sizes}"), sizes) for sizes in ("lesson", "present")]
        )
        self._step = ipywidgets.SelectionSlider(
            description=t(f"{TX}.step"),
            options=[(t(f"{TX}.steps.{step}"), step) for step in STEPS],
            style=STYLE,
        )
        self._step.add_class("mha-grow")
        self._bind(self._step, "step")
        self._back = ipywidgets.Button(description=t(f"{TX}.back"), layout={"width": "auto"})
        self._next = ipywidgets.Button(description=t(f"{TX}.next"), layout={"width": "auto"})
        self._on_click(self._back, lambda _: self._walk(-1))
        self._on_click(self._next, lambda _: self._walk(+1))
        self.cells = CellView()
        self.map_view = DependencyView()
        return [
            *widths,
            row(self._route, self._back, self._step, self._next),
            self.cells,
            row(self._maps),
            self.map_view,
        ]

    def _dropdown(self, trait: str, options: list) -> ipywidgets.Dropdown:
        label = t(f"{TX}.route") if trait == "route" else t(f"{TX}.maps.control")
        return self._bind(
            ipywidgets.Dropdown(description=label, options=options, style=STYLE), trait
        )

    def _walk(self, by: int) -> None:
        """One step on or back; at an end nothing happens, and the button keeps the focus."""
        if self.step in STEPS:
            at = STEPS.index(self.step) + by
            self.step = STEPS[min(max(at, 0), len(STEPS) - 1)]

    # State ------------------------------------------------------------------------------

    def _check(self) -> None:
        """Raise `CannotDrawError` for a state that no picture can show."""
        self._check_widths()
        if self.step not in STEPS:
            raise CannotDrawError(
                t(f"{TX}.unknown_step", step=self.step, known=", ".join(STEPS))
            )  # fmt: skip
        if self.route not in ROUTES:
            known = ", ".join(ROUTES)
            raise CannotDrawError(t(f"{TX}.unknown_route", route=self.route, known=known))
        if self.map_sizes not in ("lesson", "present"):
            raise CannotDrawError(
                t(f"{TX}.unknown_maps", maps=self.map_sizes, known="lesson, present")
            )  # fmt: skip

    def _show_controls(self) -> None:
        """Bring the controls in line with the state, legal or not."""
        self._show_widths()
        for control, trait in (
            (self._step, "step"),
            (self._route, "route"),
            (self._maps, "map_sizes"),
        ):
            value = getattr(self, trait)
            if value in [known for _, known in control.options]:
                control.value = value

    # Pictures ---------------------------------------------------------------------------

    def _draw(self) -> None:
        self._forget()
        self._show_controls()
        self._check()
        d_k = head_width(self.d_model, self.H)
        split, merge = ROUTES[self.route]
        self._sizes = {"T": self.T, "H": self.H, "d_k": d_k, "d_model": self.d_model}
        self.right = walk(self.T, self.d_model, self.H)
        self.wrong = walk(self.T, self.d_model, self.H, split, merge)
        marks = differing(self.right[self.step], self.wrong[self.step])
        self.differ = None if marks is None else int(marks.sum())
        self._sentences = differ_words(self.right, self.wrong, self._sizes)
        self._panels = [
            self._panel("right", self.right, ("right", "right"), None),
            self._panel("wrong", self.wrong, (split, merge), marks),
        ]
        self.cells.show(self._panels, self._sentences, STEPS.index(self.step))
        self._draw_maps()

    def _panel(self, side: str, stops: dict[str, Stop], turns: tuple, marks) -> CellPanel:
        return CellPanel(
            route=t(f"{TX}.cells.{side}"),
            title=t(f"{TX}.titles.{'right' if side == 'right' else self.route}"),
            stop=stops[self.step],
            sizes=self._sizes,
            marks=marks,
            notes=note_words(stops, self._sizes, *turns),
            rules=[rule_words(stop) for stop in stops.values()],
        )

    def _draw_maps(self) -> None:
        if self.map_sizes == "lesson":
            sizes = LESSON
        else:
            sizes = {"T": self.T, "d_model": self.d_model, "H": self.H}
        self.dependency, ahead = _dependencies(**sizes)
        self._drawn_maps = []
        for name in DRAWN:
            depends = self.dependency[name]
            words = map_words(name, depends, ahead.get(name, 0))
            causal = name == "leak"
            self._drawn_maps.append(DependencyMap(t(f"{TX}.maps.{name}"), depends, *words, causal))
        self._heading = t(f"{TX}.maps.heading", **sizes)
        self.map_view.show(self._drawn_maps, self._heading)

    def _forget(self) -> None:
        self.right = self.wrong = self.differ = None
        self.dependency = {}

    def _blank(self, reason: str) -> None:
        self._forget()
        self.cells.clear(reason)
        self.map_view.clear(reason)

    def _still(self):
        from ..stills.cells import reshape_figure

        at = STEPS.index(self.step)
        return reshape_figure(
            self._panels, self._sentences[at], at, self._drawn_maps, self._heading
        )

    def _summary(self) -> str:
        if self.right is None:
            return f"ReshapeLab: {self.message}"
        return t(
            f"{TX}.summary",
            **self._sizes,
            step=t(f"{TX}.steps.{self.step}"),
            differ=self._sentences[STEPS.index(self.step)],
            maps="; ".join(f"{one.title}: {one.count}" for one in self._drawn_maps),
        )


@lru_cache(maxsize=64)
def _dependencies(T: int, d_model: int, H: int) -> tuple[dict[str, Tensor], dict[str, int]]:
    """Maps without a mask by route, and "leak", the causal one of a right split and wrong merge.

    Beside them, how many pairs look ahead in each of the routes under a causal mask.
    """
    causal = torch.ones(T, T).tril()
    maps, ahead = {}, {}
    for name, turns in {"right": ("right", "right"), **ROUTES}.items():
        layer = layer_with(d_model, H, *turns)
        maps[name] = dependency_map(layer, T, d_model)
        masked = dependency_map(layer, T, d_model, mask=causal)
        ahead[name] = int(masked.triu(1).sum())
        if name == "merge":
            maps["leak"] = masked
    return maps, ahead
