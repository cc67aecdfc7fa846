"""Find an installed browser that Playwright can drive: Chromium, Chrome or Edge."""

import os
import shutil
import sys
from pathlib import Path

COMMANDS = (
    "chromium-headless-shell",  # Chromium without a window to draw: a page opens in 3/4 of the time
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "microsoft-edge-stable",
)
MAC_APPS = (
    "Google Chrome.app/Contents/MacOS/Google Chrome",
    "Chromium.app/Contents/MacOS/Chromium",
    "Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
WINDOWS_APPS = (
    "Google/Chrome/Application/chrome.exe",
    "Chromium/Application/chrome.exe",
    "Microsoft/Edge/Application/msedge.exe",
)
ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No name but this machine's leads anywhere: a request outside is seen and goes nowhere.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    "--no-proxy-server",
)
NONE_FOUND = (
    "no browser to drive: none of Chromium, Google Chrome or Microsoft Edge is installed, "
    "and Playwright brought none of its own. Install one (Debian, Ubuntu: "
    "`apt-get install chromium`), or name one in COURSE_BROWSER."
)


class NoBrowserError(RuntimeError):
    """There is no browser on this machine that Playwright can drive."""


def installed_browsers() -> list[Path]:
    """Browsers found on this machine, the preferred one first.

    COURSE_BROWSER names one and is then the only one tried.
    """
    chosen = os.environ.get("COURSE_BROWSER")
    if chosen:
        return [Path(chosen)]
    found = [Path(path) for path in map(shutil.which, COMMANDS) if path]
    if sys.platform == "darwin":
        folders, apps = [Path("/Applications"), Path.home() / "Applications"], MAC_APPS
    elif os.name == "nt":
        names = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")
        folders = [Path(os.environ[name]) for name in names if os.environ.get(name)]
        apps = WINDOWS_APPS
    else:
        folders, apps = [], ()
    return found + [folder / app for folder in folders for app in apps if (folder / app).exists()]


def find_browser(playwright) -> Path:
    """The browser to use. Raises `NoBrowserError` where there is none."""
    own = Path(playwright.chromium.executable_path)
    candidates = installed_browsers() + ([own] if own.exists() else [])
    if not candidates:
        raise NoBrowserError(NONE_FOUND)
    return candidates[0]


def launch(playwright):
    """Start the browser without a window. Raises `NoBrowserError` where there is none.

    A browser that is there and does not start is an error of Playwright's own: that is
    something to repair, not a reason to leave tests out.
    """
    arguments = list(ARGUMENTS)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")  # Chromium refuses to start for root otherwise
    return playwright.chromium.launch(executable_path=find_browser(playwright), args=arguments)


def browser_required() -> bool:
    """True where a missing browser must fail the tests: COURSE_REQUIRE_BROWSER=1."""
    return os.environ.get("COURSE_REQUIRE_BROWSER", "") not in ("", "0")
