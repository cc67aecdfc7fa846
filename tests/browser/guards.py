"""What must not happen on a lesson's page: a request that leaves the machine, an error."""

import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

# Schemes whose content is already in the page or in the browser.
INNER_SCHEMES = {"data", "blob", "about"}

# What JupyterLab itself writes to the console on a plain notebook, each with its reason.
# Matched against the whole message: a lesson's error never hides behind one of these.
ALLOWED_CONSOLE_ERRORS: tuple[re.Pattern, ...] = (
    # A notebook was closed, and its kernel ended, before its debugger had said what it can do.
    re.compile(
        "Could not restore the debugger state: "
        "Canceled future for debug_request message before replies were done"
    ),
)

# What they throw on a plain notebook, every step of the way in their own scripts.
ALLOWED_PAGE_ERRORS: tuple[re.Pattern, ...] = (
    # Notebook 7.6 loads a setting whose plugin it does not have; nothing is missing on the page.
    re.compile(
        r"TypeError: Cannot read properties of undefined \(reading 'schema'\)"
        r"(\n    at .*(/static/notebook/notebook_core\.\w+\.js\S*|Promise\.all \(index \d+\)))+"
    ),
    # anywidget gave up on a script after two seconds; our views hear the kernel all the same.
    re.compile(
        r"Error: \[anywidget\] Failed to initialize model\."
        r"\n    at AbortSignal\.<anonymous> \(.*/lab/extensions/anywidget/static/\S+\)"
    ),
    # A notebook was closed while JupyterLab 4.6 was putting its last cells on the page.
    re.compile(
        r"TypeError: Cannot read properties of null \(reading 'id'\)"
        r"(\n    at (async )?\w+\._runOnIdleTime \(.*/static/lab/jlab_core\.\w+\.js\S*\))+"
    ),
)


def stays_here(url: str) -> bool:
    """True when loading `url` asks nobody but this machine."""
    parts = urlsplit(url)
    if parts.scheme in INNER_SCHEMES:
        return True
    host = parts.hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_allowed(message: str) -> bool:
    """True for a console error that JupyterLab emits without any lesson open."""
    return any(pattern.fullmatch(message) for pattern in ALLOWED_CONSOLE_ERRORS)


@dataclass
class Watch:
    """Listens to everything the pages of one browser context load and complain about."""

    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)  # what is allowed, with its reason above
    _seen_requests: int = 0
    _seen_errors: int = 0

    def listen_to(self, context) -> "Watch":
        """Attach to a Playwright browser context before its first page opens."""
        context.on("request", lambda request: self.saw_request(request.url))
        context.on("console", lambda message: self.saw_console(message.type, message.text))
        context.on("weberror", lambda error: self.saw_page_error(error.error))
        context.on("page", self._listen_to_page)
        return self

    def _listen_to_page(self, page):
        page.on("websocket", lambda socket: self.saw_request(socket.url))
        page.on("crash", lambda _: self.errors.append("the page crashed"))

    def saw_request(self, url: str):
        self.requests.append(url)

    def saw_console(self, kind: str, text: str):
        if kind == "error":
            self._keep(f"console error: {text}", is_allowed(text))

    def saw_page_error(self, error):
        text = getattr(error, "stack", None) or str(error)
        allowed = any(pattern.fullmatch(text) for pattern in ALLOWED_PAGE_ERRORS)
        self._keep(f"uncaught error: {text}", allowed)

    def _keep(self, error: str, allowed: bool):
        (self.passed_over if allowed else self.errors).append(error)

    def take_faults(self) -> list[str]:
        """Faults since the last call, in words; a second call gives only newer ones."""
        requests = self.requests[self._seen_requests :]
        errors = self.errors[self._seen_errors :]
        self._seen_requests, self._seen_errors = len(self.requests), len(self.errors)
        outside = [url for url in dict.fromkeys(requests) if not stays_here(url)]
        return [f"request leaves this machine: {url}" for url in outside] + errors
