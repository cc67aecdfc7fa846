"""The harness without a browser: what its guards call a fault, which browser it picks."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from . import browsers
from .guards import Watch, is_allowed, stays_here
from .server import PROJECT

pytestmark = pytest.mark.tools

# --- the guards, by value --------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8888/lab",
        "http://localhost:8888/static/a.js",
        "http://[::1]:8888/lab",
        "ws://127.0.0.1:8888/api/kernels/1/channels",
        "data:image/png;base64,iVBORw0KGgo=",
        "blob:http://127.0.0.1:8888/5c1d",
        "about:blank",
    ],
)
def test_c36_an_address_on_this_machine_is_local(url):
    assert stays_here(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://cdn.example.org/mathjax.js",
        "http://localhost.example.org/",
        "http://127.0.0.1.example.org/",
        "http://127.0.0.1@example.org/",
        "wss://example.org/socket",
        "http://192.168.1.7/font.woff2",
        "http://10.0.0.1/",
        "//example.org/x.js",
    ],
)
def test_c36_an_address_elsewhere_is_not(url):
    assert not stays_here(url)


def test_faults_name_each_outside_address_once_and_every_error():
    watch = Watch()
    watch.saw_request("http://127.0.0.1:8888/lab")
    watch.saw_request("https://example.org/a.js")
    watch.saw_request("https://example.org/a.js")
    watch.saw_console("warning", "only a warning")
    watch.saw_console("error", "boom")
    watch.saw_page_error(ValueError("bad shape"))
    assert watch.take_faults() == [
        "request leaves this machine: https://example.org/a.js",
        "console error: boom",
        "uncaught error: bad shape",
    ]


def test_faults_are_told_once_and_later_ones_are_still_told():
    watch = Watch()
    watch.saw_console("error", "first")
    assert watch.take_faults() == ["console error: first"]
    assert watch.take_faults() == []
    watch.saw_console("error", "second")
    assert watch.take_faults() == ["console error: second"]


def test_no_ordinary_error_is_allowed():
    assert not is_allowed("TypeError: x is undefined")
    assert not is_allowed("")


def test_what_is_passed_over_is_kept_and_nothing_like_it_is():
    anywidget = "http://127.0.0.1:8888/lab/extensions/anywidget/static/528.d9f5934c.js:1600:30"
    told = "Error: [anywidget] Failed to initialize model."
    watch = Watch()
    watch.saw_page_error(f"{told}\n    at AbortSignal.<anonymous> ({anywidget})")
    assert watch.take_faults() == [] and len(watch.passed_over) == 1
    for other in (told, f"{told}\n    at render (blob:1)", f"{told[:-1]} 2."):
        watch.saw_page_error(other)
        assert watch.take_faults() == [f"uncaught error: {other}"]


# --- which browser ---------------------------------------------------------------------------


class _NoPlaywrightBrowser:
    class chromium:
        executable_path = "nowhere/chrome"


def test_without_a_browser_the_reason_says_what_to_install(monkeypatch):
    monkeypatch.setattr(browsers, "installed_browsers", lambda: [])
    with pytest.raises(browsers.NoBrowserError, match="Chromium, Google Chrome or Microsoft Edge"):
        browsers.find_browser(_NoPlaywrightBrowser)


@pytest.mark.parametrize(("value", "required"), [("1", True), ("0", False), ("", False)])
def test_a_browser_is_required_only_when_asked_for(monkeypatch, value, required):
    monkeypatch.setenv("COURSE_REQUIRE_BROWSER", value)
    assert browsers.browser_required() is required


def test_the_browser_named_in_the_environment_is_the_one_used(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_BROWSER", str(tmp_path / "my-chrome"))
    assert browsers.find_browser(_NoPlaywrightBrowser) == tmp_path / "my-chrome"


# --- a whole run of a copy of this folder ----------------------------------------------------


@pytest.fixture
def run_copy(tmp_path):
    """Run one test, given as source, in a copy of this folder; returns what pytest printed."""

    def run(source: str, no_browser: bool = False, **environment: str) -> str:
        package = tmp_path / "browser"
        package.mkdir()
        for module in Path(__file__).parent.glob("*.py"):
            if not module.name.startswith("test_"):
                shutil.copy(module, package)
        if no_browser:
            with (package / "browsers.py").open("a", encoding="utf-8") as file:
                file.write("def find_browser(playwright):\n    raise NoBrowserError(NONE_FOUND)\n")
        (package / "test_page.py").write_text(source, encoding="utf-8")
        (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = browser\n", encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", str(tmp_path)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=tmp_path,
            env=os.environ
            | environment
            | {
                "PYTHONPATH": str(PROJECT),  # for the launcher
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # a start saved
            },
            timeout=120,
        )
        return done.stdout + done.stderr

    return run


@pytest.mark.parametrize(("required", "verdict"), [("1", "1 error"), ("0", "1 skipped")])
def test_a_missing_browser_skips_or_fails_a_run(run_copy, required, verdict):
    source = "def test_page(lab_page):\n    pass\n"
    shown = run_copy(source, no_browser=True, COURSE_REQUIRE_BROWSER=required)
    assert verdict in shown
    assert "no browser to drive" in shown


FAULTY = """
class Tab:
    closed = True
    def take_faults(self):
        return ["console error: boom"]

def test_page(_tabs):
    _tabs.append(Tab())

def test_next():
    pass
"""


def test_c24_a_fault_on_a_page_fails_the_test_that_had_it_and_only_that(run_copy):
    shown = run_copy(FAULTY)
    assert "2 passed, 1 error" in shown
    assert "ERROR at teardown of test_page" in shown
    assert "console error: boom" in shown
