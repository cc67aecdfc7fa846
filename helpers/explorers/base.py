"""What every explorer shares: state, one redraw per change, errors in words, a still picture."""

import threading
from contextlib import contextmanager
from functools import wraps

import ipywidgets
import traitlets

from ..attention import ImpossibleHeadsError
from ..texts import t
from ..threads import one_thread
from ..views.note_view import NoteView
from .controls import as_shown

# JupyterLab hears the page in a second thread of the kernel, so a slider can move while a cell
# sets a trait. One lock for all explorers, not one each: some are coupled (the playground's
# sides), and two threads could wait for one another.
_one_at_a_time = threading.RLock()


def alone(method):
    """The method, run by one thread at a time; others wait until the picture is finished."""

    @wraps(method)
    def waits(*args, **kwargs):
        with _one_at_a_time:
            return method(*args, **kwargs)

    return waits


def _or_back(control: ipywidgets.Widget):
    """The control's `set_state`; what it refuses, the page takes back.

    ipywidgets confirms every message before it looks at it: without this the page would keep
    showing a place that the kernel never took.
    """
    heard = control.set_state

    def set_state(sync_data):
        try:
            heard(sync_data)
        except traitlets.TraitError:
            control.send_state([name for name in sync_data if name in control.keys])
            raise

    return set_state


class CannotDrawError(Exception):
    """Something the reader asked for that cannot be drawn; its text says why, in words."""


class Explorer(ipywidgets.VBox):
    """State (traitlets) + controls + views, shown as the last expression of a cell.

    A subclass names its state traits in `STATE` and writes
    `_build()`    -> the children, made once;
    `_adjust(change)`  what else must move with this trait (H with d_model);
    `_draw()`     compute from the state, bring controls and views up to date;
    `_blank(reason)`   empty every view and show the reason;
    `_still()`    -> a matplotlib Figure of the present state;
    `_summary()`  -> a short stable text of the present state.

    Setting a trait from Python does what moving the control does, from any thread: state and
    picture change together, one change after the other. `message` is what the explorer says;
    `error` is the exception a callback raised, for tests (None when all is well); `draws`
    counts redraws.
    """

    STATE: tuple[str, ...] = ()

    message = traitlets.Unicode("")
    error = traitlets.Any(None, allow_none=True)

    @alone
    def __init__(self, **state):
        unknown = sorted(set(state) - set(self.STATE))
        if unknown:
            raise TypeError(
                f"{type(self).__name__} has no {', '.join(unknown)}; "
                f"it has {', '.join(self.STATE)}."
            )
        self._holding = True
        self.draws = 0
        self._note = NoteView()
        super().__init__()
        self.add_class("mha")
        self.add_class("mha-explorer")
        for name in self.STATE:  # in the class's order, so that dependent traits come last
            if name in state:
                setattr(self, name, state[name])
        self.children = self._build()
        self._hear_the_page(self)
        self.observe(self._state_changed, names=list(self.STATE))
        self._holding = False
        self._redraw()

    # What a subclass writes -------------------------------------------------------------

    def _build(self) -> list[ipywidgets.Widget]:
        raise NotImplementedError

    def _adjust(self, change) -> None:
        """Move other traits that depend on this one. Nothing by default."""

    def _draw(self) -> None:
        raise NotImplementedError

    def _blank(self, reason: str) -> None:
        raise NotImplementedError

    def _still(self):
        raise NotImplementedError

    def _summary(self) -> str:
        raise NotImplementedError

    # What they share --------------------------------------------------------------------

    @contextmanager
    def hold(self):
        """Set several traits inside; nothing moves by itself, and one redraw follows."""
        with _one_at_a_time:
            if self._holding:
                yield
                return
            self._holding = True
            try:
                yield
            finally:  # also when the block broke off: what it set by then is what is shown
                self._holding = False
                self._redraw()

    @contextmanager
    def hold_trait_notifications(self):
        """The same as `hold`, by the name that traitlets gives it."""
        with self.hold(), super().hold_trait_notifications():
            yield

    def __setattr__(self, name, value):
        if name not in self.STATE:
            super().__setattr__(name, value)
            return
        with _one_at_a_time:
            super().__setattr__(name, value)

    def _hear_the_page(self, widget: ipywidgets.Widget) -> None:
        """Let every message from the page to this widget and those in it wait its turn."""
        for child in getattr(widget, "children", ()):
            if not isinstance(child, Explorer):  # which hears for itself
                self._hear_the_page(child)
        widget.set_state = self._in_turn(_or_back(widget))
        widget._handle_custom_msg = self._in_turn(widget._handle_custom_msg)

    def _in_turn(self, heard):
        """The callback under the lock, its faults said in words: ipywidgets would only log them.

        TraitError is no fault: the page sent a place of a list that was just replaced.
        """

        @alone
        def in_turn(*args):
            try:
                heard(*args)
            except traitlets.TraitError:
                raise
            except Exception as error:
                self._fail(error)

        return in_turn

    @alone
    def _state_changed(self, change) -> None:
        if self._holding:
            return
        self._spoken = []
        self._holding = True
        try:
            self._adjust(change)
        except Exception as error:
            self._fail(error)
            return
        finally:
            self._holding = False
        self._redraw()

    @alone
    def _redraw(self) -> None:
        self.draws += 1
        self.error = None
        self._holding = True  # controls brought up to date must not come back as changes
        try:
            with one_thread():
                self._draw()
            self._say(" ".join(self._spoken), "note")
        except (CannotDrawError, ImpossibleHeadsError) as problem:
            self._blank(str(problem))
            self._say(str(problem), "problem")
        except Exception as error:
            self._fail(error)
        except BaseException:  # the stop button: half a picture must not pass for a whole one
            self._blank(t("explorer.stopped"))
            self._say(t("explorer.stopped"), "problem")
            raise
        finally:
            self._spoken = []
            self._holding = False

    def _fail(self, error: Exception) -> None:
        """A fault of ours: said in words, kept in `error`, and no old picture left standing."""
        self.error = error
        text = t("explorer.broken", error=f"{type(error).__name__}: {error}")
        self._blank(text)
        self._say(text, "problem")

    _spoken: list[str] = []

    def _tell(self, sentence: str) -> None:
        """Add a sentence to what is said with the next picture."""
        self._spoken = [*self._spoken, sentence]

    def _say(self, text: str, kind: str) -> None:
        self.message = text
        self._note.say(text, kind)

    def _on_click(self, button: ipywidgets.Button, pressed) -> None:
        """Pressing the button calls `pressed(button)`; a fault in it is said in words."""
        button.on_click(self._in_turn(pressed))

    def _bind(self, control: ipywidgets.Widget, trait: str) -> ipywidgets.Widget:
        """Moving the control sets the trait. `_draw` brings the control back in line."""

        @alone
        def moved(change):
            if not self._holding and change.new is not None:
                setattr(self, trait, as_shown(change.new))

        control.observe(moved, names="value")
        return control

    @alone
    def _repr_mimebundle_(self, **kwargs):
        """The live view, and beside it a still picture and a short text that never change."""
        from ..figures import png  # matplotlib only when something is shown

        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        data = dict(data)
        data["text/plain"] = self._summary()
        if self.error is None and not self._note.kind == "problem":
            data["image/png"] = png(self._still())
        return data, {**metadata, "image/png": {"alt": self._summary()}}
