"""An explorer on a JupyterLab page, beside what its kernel holds."""

import matplotlib
import numpy as np
from playwright.sync_api import Locator, expect

from . import lab_scripts
from .lab import LabPage

# Each canvas as [rows, columns, then R, G, B, A of each pixel].
PIXELS = """all => all.map(canvas => {
  const { width, height } = canvas;
  return [height, width, ...canvas.getContext("2d").getImageData(0, 0, width, height).data];
})"""
STATE = """(lambda e: {
    "error": repr(e.error), "controls": [str(e.d_model), str(e.H), str(e.T)],
    "size": [e.d_model, e.H, e.T], "shapes": {n: list(x.shape[1:]) for n, x in e.trace},
    "weights": e.weights.tolist(), "selected": e.maps.selected})"""
TOLERANCE = 3  # of 255: the page has every fifth colour of the scale and mixes the others


def colours_of(weights) -> np.ndarray:
    """Weights of any shape -> the RGB of matplotlib's viridis for them, 0 to 255."""
    levels = (np.asarray(weights, dtype=np.float32) * 256).astype(int).clip(0, 255)
    return matplotlib.colormaps["viridis"](levels, bytes=True)[..., :3].astype(int)


class Explorer:
    """The explorer below one cell that has run: `out` is its output on the page."""

    def __init__(self, page: LabPage, cell: int | str):
        self.page = page
        self.cell = cell
        self.out = page.output(cell)
        self.whole = self.out.locator(".mha-explorer")
        self.maps = self.out.locator(".mha-attention")
        self.note = self.out.locator(".mha-note [role=status]")
        self.facts = self.out.locator(".mha-facts")
        self.readout = self.out.locator("[data-readout]")
        self.heads = self.out.locator("[data-head]")
        self.large = self.out.locator("[data-large]")

    # --- the kernel's side -------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Python's name for it: the notebook's `Out` of the number beside the cell's output."""
        prompt = self.out.locator(".jp-OutputPrompt").filter(has_text="[")  # printed text has none
        return f"Out[{int(prompt.text_content().strip('[]: '))}]"

    def ask(self, what: str):
        """An attribute, or any expression that follows the explorer's name and a dot."""
        return self.page.ask(f"{self.name}.{what}")

    def put(self, **state):
        """Set traits from Python, in this order, and wait for the page."""
        self.page.ask(f"[setattr({self.name}, *pair) for pair in {list(state.items())!r}]")
        self.settle()

    def pointer(self, head: int = 0, cell: tuple = (), mode: str = "map"):
        """Which head is enlarged (from 0), which [query, key] is read out, how it is shown."""
        traits = [("selected", head), ("pointed", list(cell)), ("mode", mode)]
        self.page.ask(f"[setattr({self.name}.maps, *pair) for pair in {traits!r}]")
        self.settle()

    def weights(self) -> np.ndarray:
        """(H, T, T), as the kernel has them."""
        return np.array(self.ask("weights.tolist()"), dtype=np.float32)

    def settle(self):
        """Wait until the kernel has heard everything and the page has painted its answers."""
        self.page.wait_until_idle()
        self.page.page.evaluate(lab_scripts.PAINTED)

    # --- the page's side ---------------------------------------------------------------------

    def slider(self, name: str) -> Locator:
        return self.page.slider(name, self.out)

    def value(self, name: str) -> str:
        """What stands beside the slider with this label."""
        label = self.page.page.locator(".widget-label").get_by_text(name, exact=True)
        slider = self.out.locator(".widget-slider").filter(has=label)
        return slider.locator(".widget-readout").text_content()

    def shape(self, step: str) -> Locator:
        """The concrete shape on one card of the shape trace."""
        return self.out.locator(f'.mha-shapes [data-step="{step}"] .shape')

    def height(self) -> float:
        return self.page.output_height(self.cell)

    def painted(self) -> int:
        """How often the maps have been painted."""
        return int(self.maps.get_attribute("data-painted"))

    def pictures(self, canvases: Locator) -> list[np.ndarray]:
        """RGBA of each pixel of each canvas: (rows, columns, 4)."""
        read = canvases.evaluate_all(PIXELS)
        return [np.array(rest).reshape(rows, columns, 4) for rows, columns, *rest in read]

    def picture(self, canvas: Locator) -> np.ndarray:
        return self.pictures(canvas)[0]

    def over_cell(self, query: int, key: int, of: Locator | None = None):
        """Move the mouse over one cell of the large map, or of the map `of`."""
        area = of or self.large
        area.scroll_into_view_if_needed()
        queries, keys = (int(n) for n in self.maps.get_attribute("data-shape").split(",")[1:])
        box = area.bounding_box()
        x, y = (key + 0.5) * box["width"] / keys, (query + 0.5) * box["height"] / queries
        self.page.page.mouse.move(box["x"] + x, box["y"] + y)

    # --- both --------------------------------------------------------------------------------

    def assert_painted(self):
        """Every small map, in order, and the large one are painted from the kernel's weights."""
        self._assert_painted(self.weights(), self.ask("maps.selected"))

    def _assert_painted(self, weights: np.ndarray, selected: int):
        shape = ",".join(map(str, weights.shape))
        expect(self.maps).to_have_attribute("data-shape", shape)
        small = self.pictures(self.heads.locator("canvas"))
        large = self.pictures(self.large.locator("canvas"))
        assert len(small) == len(weights)
        for i, picture in [*enumerate(small), (selected, *large)]:
            assert picture.shape[:2] == weights[i].shape
            far = abs(picture[..., :3] - colours_of(weights[i])).max()
            assert far <= TOLERANCE, f"head {i + 1} is not painted from its weights"
        expect(self.heads.nth(selected)).to_have_attribute("aria-pressed", "true")

    def assert_agrees(self, d_model: str, H: str, T: str):
        """Controls (by their labels), shape cards, facts and maps all show the kernel's state."""
        for _ in range(3):  # a move may have been on its way when the kernel was asked
            self.settle()
            state = self.page.ask(f"{STATE}({self.name})")
            shown = [self.value(d_model), self.value(H), self.value(T)]
            apart = self.page.disagreements()
            if shown == state["controls"] and not apart:
                break
        assert shown == state["controls"] and apart == []
        assert state["error"] == "None"
        width, heads, tokens = state["size"]
        d_k = width // heads
        for step, shape in (
            ("X", (tokens, width)), ("Q_view", (tokens, heads, d_k)),
            ("Q_heads", (heads, tokens, d_k)), ("weights", (heads, tokens, tokens)),
            ("output", (tokens, width)),
        ):  # fmt: skip
            expect(self.shape(step)).to_have_text(str(shape))
            assert state["shapes"][step] == list(shape)
        expect(self.facts).to_contain_text(f"{4 * width**2:,}")
        expect(self.facts).to_contain_text(f"d_k = {width} / {heads} = {d_k}")
        self._assert_painted(np.array(state["weights"], dtype=np.float32), state["selected"])
