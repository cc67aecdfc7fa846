"""Fixtures for tests in a real JupyterLab.

    def test_something(lab, lab_page):
        lab_page.open(lab.copy("en/01_one-head.ipynb"))
        lab_page.run_all()

After each test two things are checked of every page that was open in it: no request left
the machine, nothing complained in the console. A module that wants one page for several
tests makes its own fixture from `new_lab_page`:

    @pytest.fixture(scope="module")
    def lesson(lab, new_lab_page):
        with new_lab_page() as page:
            page.open(lab.copy("en/01_one-head.ipynb")).run_all()
            yield page
"""

import os
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from .browsers import NoBrowserError, browser_required, launch
from .lab import LabPage, open_tab
from .server import LabServer

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")


# The scope is the package, not the session: while Playwright is on, this thread has a
# running event loop, and tests elsewhere that start one of their own would fail.
@pytest.fixture(scope="package")
def browser():
    """The installed Chromium, Chrome or Edge; without one the test is skipped, or fails."""
    with sync_playwright() as playwright:
        try:
            running = launch(playwright)
        except NoBrowserError as missing:
            if browser_required():
                pytest.fail(f"COURSE_REQUIRE_BROWSER is set: {missing}", pytrace=False)
            pytest.skip(str(missing))
        yield running
        running.close()


@pytest.fixture(scope="package")
def lab(browser, tmp_path_factory):
    """A running JupyterLab (`LabServer`): `lab.write(...)` and `lab.copy(...)` notebooks."""
    server = LabServer(tmp_path_factory.mktemp("lab")).start()
    yield server
    server.stop()


@pytest.fixture(scope="package")
def _tabs():
    """Every tab opened and not yet checked for the last time."""
    return []


@pytest.fixture(scope="package")
def new_lab_page(browser, lab, _tabs, tmp_path_factory):
    """Call it for a JupyterLab with nothing open: `with new_lab_page() as page:`; see `LabPage`.

    Loading JupyterLab is most of what a tab costs, so a tab that was put away is used again, as
    a reader stays in one through all lessons. `fresh=True` where the test is about loading it.
    """
    pictures = tmp_path_factory.mktemp("pictures")
    spare: list[LabPage] = []

    @contextmanager
    def make(width: int = 1280, height: int = 900, fresh: bool = False):
        if spare and not fresh:
            tab = spare.pop()
            tab.page.set_viewport_size({"width": width, "height": height})
        else:
            tab = open_tab(browser, lab, pictures, width, height)
            _tabs.append(tab)
        try:
            yield tab
        finally:
            tab.put_away()
            if not tab.closed:
                spare.append(tab)

    yield make
    for tab in _tabs:
        tab.close()


@pytest.fixture
def lab_page(new_lab_page):
    """A JupyterLab tab for one test; its kernels end with it."""
    with new_lab_page() as page:
        yield page


@pytest.fixture(autouse=True)
def nothing_leaves_nothing_breaks(_tabs):
    """Fails the test when a page asked another machine for something or logged an error."""
    yield
    faults = [fault for tab in _tabs for fault in tab.take_faults()]
    _tabs[:] = [tab for tab in _tabs if not tab.closed]
    if faults:
        pytest.fail("\n".join(faults), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """With COURSE_SCREENSHOTS=folder, a failing test leaves a picture of its pages there."""
    report = yield
    if report.when == "call" and report.failed and os.environ.get("COURSE_SCREENSHOTS"):
        for tab in item.funcargs.get("_tabs", ()):
            if not tab.closed:
                name = "".join(c if c.isalnum() else "-" for c in item.name)
                tab.screenshot(f"failed-{name}")
    return report
