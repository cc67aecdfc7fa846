"""A line of words below an explorer's controls: what changed by itself, or what is wrong."""

import anywidget
import traitlets

from ..palette import axis_css
from ..texts import t
from .source import script, style


class NoteView(anywidget.AnyWidget):
    """Shows `text` as text. `kind` is "note" (calm), "problem" (nothing can be drawn) or "".

    Its stylesheet dresses the explorer around it, and its script gives the explorer's
    sliders the spoken names that ipywidgets leaves out. When the kernel has been restarted,
    `lost` stands in the note's place.
    """

    _esm = script("nodes", "note_view")
    _css = axis_css() + style("note_view")

    text = traitlets.Unicode("").tag(sync=True)
    kind = traitlets.Enum(["", "note", "problem"], default_value="").tag(sync=True)
    lost = traitlets.Unicode().tag(sync=True)

    @traitlets.default("lost")
    def _lost_in_words(self):
        return t("view.page.lost")

    def say(self, text: str, kind: str = "note") -> None:
        with self.hold_sync():
            self.text = text
            self.kind = kind if text else ""
