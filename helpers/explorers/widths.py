"""The controls that d_model, H and T share in every explorer that has them, kept in agreement."""

import ipywidgets
import traitlets

from .. import toy
from ..attention import legal_heads
from ..texts import t
from .base import CannotDrawError, Explorer
from .controls import ListSlider, axis, row, slide_to

STYLE = {"description_width": "initial"}


class HeadWidthExplorer(Explorer):
    """An explorer with d_model, H and T: H offers the divisors of d_model.

    When d_model changes to a width that H does not divide, H moves to the nearest legal
    value and the note says so. An impossible H typed by hand stays as typed, is explained,
    and up to two buttons offer the nearest legal ones. Subclasses may offer other widths, draw
    up to another width, or show fewer tokens.
    """

    # 97 is a prime on purpose: only 1 and 97 heads fit.
    WIDTHS = (1, 2, 4, 6, 8, 16, 32, 48, 64, 96, 97, 128, 192, 256, 384, 512, 768)
    LARGEST_WIDTH = 1024
    MOST_TOKENS = toy.MAX_TOKENS

    d_model = traitlets.Int(64)
    H = traitlets.Int(8)
    T = traitlets.Int(10)

    def _build_widths(self, *more: ipywidgets.Widget) -> list[ipywidgets.Widget]:
        """The controls, `more` of them beside T, and the note with its buttons."""
        tx = "explorer.widths"
        # Their values come with the first _show_widths(), before anything is on the page.
        self._d_model = ListSlider(description=t(f"{tx}.d_model"), options=self.WIDTHS, style=STYLE)
        self._H = ListSlider(description=t(f"{tx}.H"), options=[1], style=STYLE)
        self._typed_H = ipywidgets.IntText(
            description=t(f"{tx}.typed_H"), style=STYLE, layout={"width": "150px"}
        )
        self._T = ipywidgets.IntSlider(
            description=t(f"{tx}.T"), min=1, max=self.MOST_TOKENS, style=STYLE
        )
        self._bind(self._d_model, "d_model")
        self._bind(self._H, "H")
        self._bind(self._typed_H, "H")
        self._bind(self._T, "T")
        self._fixes = [ipywidgets.Button(layout={"width": "auto"}) for _ in range(2)]
        for button in self._fixes:
            self._on_click(button, self._use_legal_heads)
        controls = row(
            axis(self._d_model, "d_model"),
            axis(self._H, "H"),
            axis(self._typed_H, "H"),
            axis(self._T, "T"),
            *more,
        )
        controls.add_class("mha-widths")
        noted = row(self._note, *self._fixes)
        noted.add_class("mha-noted")
        return [controls, noted]

    def _use_legal_heads(self, button) -> None:
        self.H = button.heads

    def _adjust(self, change) -> None:
        if change.name == "d_model" and self.d_model >= 1 and self.d_model % max(self.H, 1):
            old = self.H
            self.H = min(legal_heads(self.d_model), key=lambda h: (abs(h - old), h))
            self._tell(t("explorer.widths.H_moved", old=old, new=self.H, d_model=self.d_model))

    def _check_widths(self) -> None:
        """Raise `CannotDrawError` for a T or d_model that this view does not draw."""
        if not 1 <= self.T <= self.MOST_TOKENS:
            raise CannotDrawError(t("explorer.widths.bad_T", T=self.T, most=self.MOST_TOKENS))
        if self.d_model > self.LARGEST_WIDTH:
            numbers = {"d_model": self.d_model, "most": self.LARGEST_WIDTH}
            raise CannotDrawError(t("explorer.widths.bad_width", **numbers))

    def _show_widths(self) -> None:
        """Bring the controls in line with the state, legal or not."""
        self._T.value = self.T
        legal = self._heads_offered()
        if legal:
            slide_to(self._d_model, sorted({*self.WIDTHS, self.d_model}), self.d_model)
            nearest = self._H.value if self._H.value in legal else legal[0]
            slide_to(self._H, legal, self.H if self.H in legal else nearest)
        self._typed_H.value = self.H
        self._offer_legal_heads(legal)

    def _heads_offered(self) -> list[int]:
        """The numbers of heads that the slider and the buttons offer."""
        return legal_heads(self.d_model) if self.d_model <= self.LARGEST_WIDTH else []

    def _offer_legal_heads(self, legal: list[int]) -> None:
        """Up to two buttons: the nearest legal H below and above, while H is impossible."""
        possible = self.H in legal or not legal
        below = [] if possible else [h for h in legal if h < self.H][-1:]
        above = [] if possible else [h for h in legal if h > self.H][:1]
        nearest = below + above
        for place, button in enumerate(self._fixes):
            shown = place < len(nearest)
            if shown:
                button.heads = nearest[place]
                button.description = t("explorer.widths.use_H", H=nearest[place])
            button.layout.display = None if shown else "none"
