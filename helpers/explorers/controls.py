"""What explorers' controls share: rows of them, sliders that follow code, a line of facts."""

from html import escape

import ipywidgets


def as_shown(value):
    """What a control was moved to: the page adds a slider's steps up to 1.0000000000000002."""
    return round(value, 10) if isinstance(value, float) else value


def row(*controls: ipywidgets.Widget) -> ipywidgets.Box:
    """A row of controls that wraps where the page is narrow."""
    box = ipywidgets.Box(controls)
    box.add_class("mha-controls")
    return box


def axis(control: ipywidgets.Widget, name: str) -> ipywidgets.Widget:
    """The control's label in the colour of that axis ("T", "H", "d_k", "d_model")."""
    control.add_class(f"mha-axis-{name.replace('_', '-')}")
    return control


class ListSlider(ipywidgets.SelectionSlider):
    """A slider over a list that may change while the reader moves it.

    Where one message brings new labels and another place, the page's slider keeps the length of
    the old list (ipywidgets 8.1): from then on it cannot reach, or show, what lies beyond. So
    the labels go alone, and the place after them.
    """

    def send_state(self, key=None):
        names = list(self.keys if key is None else [key] if isinstance(key, str) else key)
        if "_options_labels" in names and len(names) > 1:
            names.remove("_options_labels")
            super().send_state("_options_labels")
        super().send_state(names)


def slide_to(slider: ListSlider, options: list, value) -> None:
    """New options and a value among them, so that the page's slider follows.

    A place beyond the end of the page's list would be cut to its end and come back as if the
    reader had moved there: so the place that goes first exists in both lists.
    """
    place, old_end = options.index(value), len(slider.options) - 1
    if place <= old_end:
        slider.index = place
    if list(slider.options) != options:
        with slider.hold_sync():
            stays = slider.index
            slider.options = options  # this alone would go to the first of them
            slider.index = stays
    slider.index = place


def reach(slider: ipywidgets.FloatSlider, low: float, high: float, value: float) -> None:
    """The slider at this value; where its scale from low to high is too short, it is lengthened."""
    slider.max, slider.min = max(high, value, slider.value), min(low, value, slider.value)
    slider.value = value
    slider.max, slider.min = max(high, value), min(low, value)


def facts_html(facts: list[str]) -> str:
    """A line of facts; in each, the part between asterisks is bold and the rest plain text."""
    spans = []
    for fact in facts:
        before, _, rest = escape(fact).partition("*")
        number, _, after = rest.partition("*")
        spans.append(f"<span>{before}<b>{number}</b>{after}</span>")
    return f'<div class="mha mha-facts">{"".join(spans)}</div>'
