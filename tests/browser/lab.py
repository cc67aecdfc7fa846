"""A JupyterLab page as a reader uses it: menus, keys, mouse; and waits instead of sleeps."""

import ast
import base64
import json
import os
import re
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Error, Locator, Page, expect

from . import lab_scripts
from .guards import Watch
from .server import LabServer

# What the kernel holds of every control that has a label.
HELD = """{id: {name: control.get_state(name)[name] for name in
    {"value", "index", "_options_labels", "min", "max", "disabled"} & set(control.keys)}
    for id, control in __import__("ipywidgets").Widget.widgets.items()
    if "description" in control.keys}"""
# For what takes seconds: a cell that loads torch on a busy machine takes many. Asked at each frame,
# as Playwright does by itself, the page would take a sixth of a core from the kernel meanwhile.
LONG = {"timeout": 120_000, "polling": 100}


def open_tab(browser, server: LabServer, pictures: Path, width=1280, height=900) -> "LabPage":
    """A fresh tab, nothing left over from others, watched from its first request on."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        service_workers="block",  # their requests would go unseen
    )
    watch = Watch().listen_to(context)
    return LabPage(context.new_page(), server, watch, pictures)


class CellFailedError(AssertionError):
    """A cell raised; the message names the cell, the error and its text."""


class LabPage:
    """One browser tab with JupyterLab. `page` is Playwright's own, for whatever is not here."""

    def __init__(self, page: Page, server: LabServer, watch: Watch, pictures: Path):
        self.page = page
        self.server = server
        self.watch = watch
        self.closed = False
        self._pictures = pictures
        self._opened: list[str] = []
        self._devtools = None
        self._loaded = False  # a JupyterLab with no notebook open

    def __enter__(self) -> "LabPage":
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Close the tab, end its notebooks' kernels, forget what it set; safe to call twice."""
        if not self.closed:
            self.closed = True
            self.page.context.close()
            self.server.end_kernels(self._opened)
            self.server.forget_settings()

    def put_away(self):
        """Close its notebooks, end their kernels, undo what was set: JupyterLab as it came up.

        `open` then spares loading it again. Where something is left, a question for one, the
        tab is closed.
        """
        if self.closed:
            return
        whole = False
        with suppress(Error):  # a page that crashed
            whole = "/lab" in self.page.url and self.page.evaluate(lab_scripts.PUT_AWAY)
        if not whole:
            self.close()
            return
        self.set_theme("JupyterLab Light")
        if self._devtools is not None:
            self._devtools.send("Emulation.clearDeviceMetricsOverride")
            self._devtools.detach()
            self._devtools = None
            # Playwright believes that the window still has the size that was set last.
            self.page.set_viewport_size({"width": 1000, "height": 700})
        self.page.mouse.move(0, 0)
        self.server.end_kernels(self._opened)
        self.server.forget_settings()
        self._opened = []
        self._loaded = True

    def take_faults(self) -> list[str]:
        """Requests to other machines and errors since the last call (see `Watch`)."""
        if not self.closed:
            self.page.evaluate("() => 0")  # Playwright hands over what the page reported so far
        return self.watch.take_faults()

    # --- the notebook ----------------------------------------------------------------------

    def open(self, path: str, application: str = "lab/tree") -> "LabPage":
        """Open the notebook at `path` (as `server.write` or `server.copy` returned it).

        application: "lab/tree" for JupyterLab, "notebooks" for Notebook 7.
        """
        self.server.wait_for_ends(path)
        self._opened.append(path)
        if self._loaded and application == "lab/tree":
            self.page.evaluate(lab_scripts.OPEN, path)
        else:
            self.page.goto(self.server.url(path, application), wait_until="commit")
        self._loaded = False
        self.page.wait_for_function(lab_scripts.KERNEL_READY, **LONG)
        expect(self.page.locator("#jupyterlab-splash")).to_have_count(0)
        return self

    def menu(self, *names: str):
        """Click through the menu bar: `menu("Run", "Run All Cells")`."""
        bar = self.page.locator(".lm-MenuBar-itemLabel").get_by_text(names[0], exact=True)
        bar.click()
        for name in names[1:]:
            self.page.locator(".lm-Menu-itemLabel").get_by_text(name, exact=True).click()

    def run_all(self):
        """Run → Run All Cells, as a reader does; returns when every cell has run.

        Raises `CellFailedError` when one raised.
        """
        self.page.evaluate(lab_scripts.FOLLOW_RUNS)
        self.menu("Run", "Run All Cells")
        self._wait_for_runs()

    def restart_and_run_all(self):
        """Kernel → Restart Kernel and Run All Cells…, confirmed; waits like `run_all`."""
        self.page.evaluate(lab_scripts.FOLLOW_RUNS)
        self.menu("Kernel", "Restart Kernel and Run All Cells…")
        self.page.locator(".jp-Dialog-button.jp-mod-accept").click()
        self._wait_for_runs(connections=1)

    def run_cells(self, *which: int | str):
        """Run these cells alone, one after the other; see `run_cell`."""
        for one in which:
            self.run_cell(one)

    def run_cell(self, which: int | str):
        """Run one cell with Shift+Enter and wait for it."""
        self.page.evaluate(lab_scripts.FOLLOW_RUNS)
        self.cell(which).locator(".cm-content").first.click()
        self.page.keyboard.press("Shift+Enter")
        self._wait_for_runs(1)

    def answer(self, exercise: str, source: str) -> Locator:
        """Type an answer into "{exercise}-stub", run it and its check; what the check says."""
        self.cell(f"{exercise}-stub").locator(".cm-content").first.click()
        self.page.keyboard.press("ControlOrMeta+A")
        self.page.keyboard.insert_text(source)
        self.run_cell(f"{exercise}-stub")
        self.run_cell(f"{exercise}-check")
        return self.output(f"{exercise}-check")

    def restart(self):
        """Kernel → Restart Kernel…, confirmed; returns when the new kernel is ready."""
        self.page.evaluate(lab_scripts.FOLLOW_RUNS)
        self.menu("Kernel", "Restart Kernel…")
        self.page.locator(".jp-Dialog-button.jp-mod-accept").click()
        self.page.wait_for_function(lab_scripts.ALL_RAN, arg=[0, 1], **LONG)

    def _wait_for_runs(self, expected: int | None = None, connections: int = 0):
        if expected is None:
            expected = self.page.evaluate(lab_scripts.CODE_CELLS)
        self.page.wait_for_function(lab_scripts.ALL_RAN, arg=[expected, connections], **LONG)
        failed = self.page.evaluate(lab_scripts.FAILED)
        if failed:
            raise CellFailedError("\n".join(failed))
        self.wait_for_cells()
        # The kernel is done before the page has drawn the widgets it was told about.
        expect(self.page.get_by_text("Loading widget...")).to_have_count(0)

    def wait_for_cells(self):
        """Wait until all cells are on the page: JupyterLab puts those below the window there in
        idle moments."""
        self.page.wait_for_function(lab_scripts.ALL_CELLS, **LONG)

    def wait_until_idle(self):
        """Wait until the kernel has dealt with everything the controls sent it."""
        self.page.evaluate(lab_scripts.CATCH_UP)
        self.page.wait_for_function(lab_scripts.KERNEL_READY, timeout=LONG["timeout"])

    def ask(self, expression: str):
        """What a Python expression is worth in the notebook's kernel; must be JSON's kind.

        Everything the page sent before has been dealt with when the answer comes.
        """
        self.page.evaluate(lab_scripts.CATCH_UP)
        asked = f"__import__('json').dumps({expression})"
        return json.loads(ast.literal_eval(self.page.evaluate(lab_scripts.ASK, asked)))

    def disagreements(self) -> list:
        """Where a control shows another thing than the kernel holds: [label, what, here, there]."""
        return self.page.evaluate(lab_scripts.DISAGREE, self.ask(HELD))

    def cell(self, which: int | str) -> Locator:
        """A cell by its id or its index from 0."""
        if isinstance(which, str):
            ids = self.cell_ids()
            if which not in ids:
                raise LookupError(f"no cell {which!r}; this notebook has {', '.join(ids)}")
            which = ids.index(which)
        return self.page.locator(".jp-Notebook .jp-Cell").nth(which)

    def cell_ids(self) -> list[str]:
        return self.page.evaluate(lab_scripts.CELL_IDS)

    def output(self, which: int | str) -> Locator:
        """What a cell shows below its code."""
        return self.cell(which).locator(".jp-Cell-outputArea")

    def output_height(self, which: int | str) -> float:
        """Height of a cell's output in CSS pixels, 0 where it shows nothing."""
        box = self.output(which).bounding_box()
        return box["height"] if box else 0.0

    def read(self, of: Locator) -> str:
        """The text that a reader sees there. What is far below the window is not drawn, and
        has none: it is scrolled to, as a reader does.
        """
        of.scroll_into_view_if_needed()
        expect(of).to_have_text(re.compile(r"\S"), use_inner_text=True)
        return of.inner_text()

    def scroll_to(self, which: int | str):
        """Bring a cell's top into the window."""
        self.cell(which).evaluate("cell => cell.scrollIntoView({ block: 'start' })")

    # --- controls, by the label a reader sees or hears --------------------------------------

    def control(self, name: str, role: str, inside: Locator | None = None) -> Locator:
        """The control with this role whose spoken name, or visible widget label, is `name`."""
        place = inside or self.page.locator(".jp-Notebook")
        spoken = place.get_by_role(role, name=name, exact=True)
        label = self.page.locator(".widget-label").get_by_text(name, exact=True)
        labelled = place.locator(".widget-inline-hbox").filter(has=label)
        return spoken.or_(labelled.get_by_role(role))

    def slider(self, name: str, inside: Locator | None = None) -> Locator:
        """A slider's handle: `press` arrow keys on it, or `drag` it."""
        return self.control(name, "slider", inside)

    def textbox(self, name: str, inside: Locator | None = None) -> Locator:
        return self.control(name, "textbox", inside)

    def drag(self, handle: Locator, fraction: float, steps: int = 8):
        """Drag a slider's handle with the mouse to `fraction` (0 to 1) of its track."""
        handle.scroll_into_view_if_needed()
        track = handle.locator("xpath=ancestor::*[contains(@class, 'noUi-base')]").bounding_box()
        start = handle.bounding_box()
        y = start["y"] + start["height"] / 2
        mouse = self.page.mouse
        mouse.move(start["x"] + start["width"] / 2, y)
        mouse.down()
        mouse.move(track["x"] + fraction * track["width"], y, steps=steps)
        mouse.up()

    # --- the window ------------------------------------------------------------------------

    def set_theme(self, theme: str):
        """Switch the theme, "JupyterLab Dark" for one, and wait until it is on."""
        is_on = "theme => document.body.dataset.jpThemeName === theme"
        if self.page.evaluate(is_on, theme):
            return
        self.page.evaluate(
            "theme => jupyterapp.commands.execute('apputils:change-theme', { theme })", theme
        )
        self.page.wait_for_function(is_on, arg=theme)
        expect(self.page.locator("#jupyterlab-splash")).to_have_count(0)

    def worst_contrast(self, of: Locator) -> tuple[float, str, int]:
        """The lowest contrast among the texts in `of`, that text, and how many there are."""
        of.scroll_into_view_if_needed()  # what is far below the window is not drawn
        ratio, text, count = of.evaluate(lab_scripts.CONTRAST)
        return ratio, text, count

    def close_side_panel(self):
        """Close the file list, as a reader does who wants the whole width for the lesson."""
        self.page.evaluate("() => jupyterapp.shell.collapseLeft()")
        expect(self.page.locator("#jp-left-stack")).to_be_hidden()

    def zoom(self, factor: float, width: int = 1024, height: int = 768):
        """What the browser's zoom does in a window of `width` x `height`: 2 is 200 %.

        Zooming leaves fewer CSS pixels, each drawn larger; this sets exactly that.
        """
        size = {"width": round(width / factor), "height": round(height / factor)}
        self.page.set_viewport_size(size)  # so that Playwright's mouse and pictures agree
        if self._devtools is None:  # kept: the page falls back when this connection ends
            self._devtools = self.page.context.new_cdp_session(self.page)
        self._devtools.send(
            "Emulation.setDeviceMetricsOverride",
            {**size, "deviceScaleFactor": factor, "mobile": False},
        )

    def sideways(self, of: Locator) -> list[str]:
        """What makes the page scroll sideways to show all of `of`: class names, none when fit."""
        of.scroll_into_view_if_needed()
        return of.evaluate(lab_scripts.SIDEWAYS)

    def expect_named(self, of: Locator, *names: str | re.Pattern) -> int:
        """These controls have these spoken names, in this order; without `names`, each has one.

        Returns how many controls there are; there must be one at least.
        """
        found = of.all()
        assert found, f"nothing is {of}"
        for one, name in zip(found, names or [re.compile(r"\S")] * len(found), strict=True):
            expect(one).to_have_accessible_name(name)
        return len(found)

    def spoken_names(self, role: str, inside: str) -> list[str]:
        """The names of the controls with this role, as the browser hands them to a screen reader.

        inside: a CSS selector; its first match counts. There must be one control at least.

        For a tab that is closed afterwards: this turns on the browser's own tree of what is
        spoken, and with it Chromium 156 crashed later on, when the page had changed.
        `expect_named` needs no such tree.
        """
        self.page.locator(inside).first.scroll_into_view_if_needed()
        devtools = self.page.context.new_cdp_session(self.page)
        place = f"document.querySelector({json.dumps(inside)})"
        found = devtools.send("Runtime.evaluate", {"expression": place})["result"]
        query = {"objectId": found["objectId"], "role": role}
        nodes = devtools.send("Accessibility.queryAXTree", query)["nodes"]
        devtools.detach()
        names = [node["name"]["value"] for node in nodes if not node["ignored"]]
        assert names, f"no {role} in {inside}"
        return names

    def screenshot(self, name: str, of: Locator | None = None) -> Path:
        """Save a PNG of the window, or of one element; returns its path.

        With COURSE_SCREENSHOTS=folder it goes there and its path is printed.
        """
        wanted = os.environ.get("COURSE_SCREENSHOTS")
        folder = Path(wanted) if wanted else self._pictures
        folder.mkdir(parents=True, exist_ok=True)
        path = folder.resolve() / f"{name}.png"
        if self._devtools is None:
            (of or self.page).screenshot(path=path)
        else:
            path.write_bytes(self._zoomed_picture(of))
        if wanted:
            print(f"screenshot: {path}")
        return path

    def _zoomed_picture(self, of: Locator | None) -> bytes:
        # Playwright's own screenshot would undo the zoom.
        clip = {}
        if of is not None:
            of.scroll_into_view_if_needed()
            clip = {"clip": of.bounding_box() | {"scale": 1}}
        answer = self._devtools.send("Page.captureScreenshot", {"format": "png", **clip})
        return base64.b64decode(answer["data"])
