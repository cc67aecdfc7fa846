"""How the launcher speaks: on any terminal, in steps, and in words when a step fails."""

import codecs
import errno
import shutil
import sys
import textwrap
import time
import unicodedata
from contextlib import contextmanager

from helpers.texts import t

NO_ROOM = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_plain = {"«": '"', "»": '"', "—": "-", "·": "-", "¿": "", "¡": "", "×": "x"}


class UsageError(Exception):
    """The command line says something the course does not know."""


class StepError(Exception):
    """A step that did not work: why, what to try, and the lines of a log that show it."""

    def __init__(self, why: str, advice: str, details: list[str] = (), log=None):
        super().__init__(why)
        self.why, self.advice, self.details, self.log = why, advice, list(details), log
        self.step = None


def _closest(error: UnicodeError):
    """A codec error handler: what the terminal cannot print loses its accent, not its letter."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    out = ""
    for character in error.object[error.start : error.end]:
        bare = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
        out += _plain.get(character, bare or "?")
    return out, error.end


def speak_on_any_terminal() -> None:
    """After this, no text can make print() fail, whatever the terminal's encoding."""
    codecs.register_error("closest", _closest)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="closest")


def say(text: str = "") -> None:
    """Print; on a terminal, a long line breaks between words."""
    width = shutil.get_terminal_size((88, 24)).columns
    if sys.stdout.isatty() and "\n" not in text and len(text) > width:
        text = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    print(text, flush=True)


class Steps:
    """Numbers the steps of a set-up and remembers which one failed."""

    def __init__(self, total: int):
        self.total, self.number = total, 0

    @contextmanager
    def step(self, name: str):
        """Say `name`; a failure inside carries it, an OSError becomes a failure in words."""
        self.number += 1
        say(t("launcher.step", number=self.number, total=self.total, name=name))
        try:
            yield
        except StepError as failure:
            failure.step = name
            raise
        except OSError as error:
            failure = from_os_error(error)
            failure.step = name
            raise failure from error


def from_os_error(error: OSError) -> StepError:
    """An error of the operating system as a StepError in words."""
    if error.errno in NO_ROOM or getattr(error, "winerror", None) == 112:
        return StepError(t("launcher.disk.full"), t("launcher.disk.advice"))
    return StepError(t("launcher.os_error.why", error=error), t("launcher.os_error.advice"))


def say_failure(failure: StepError) -> None:
    say()
    if failure.step:
        say(t("launcher.failed.step", step=failure.step))
    say(t("launcher.failed.why", why=failure.why))
    for line in failure.details:
        say("    | " + line)
    say(t("launcher.failed.try", advice=failure.advice))
    if failure.log:
        say(t("launcher.failed.log", log=failure.log))


class Progress:
    """One line that changes, on a terminal; names in wrapped lines where output is kept."""

    def __init__(self, stream=None):
        self.stream = stream or sys.stdout
        self.live = self.stream.isatty()
        self.width = shutil.get_terminal_size((88, 24)).columns - 1
        self.started = time.monotonic()
        self.text, self.column = "", 0

    def show(self, text: str) -> None:
        """What is happening now."""
        self.text = text
        if self.live:
            return self.tick()
        if self.column and self.column + len(text) + 2 > self.width:
            self.stream.write("\n")
            self.column = 0
        self.stream.write(("  " if self.column else "      ") + text)
        self.column += len(text) + (2 if self.column else 6)
        self.stream.flush()

    def tick(self) -> None:
        """The same line again, with the time that has passed."""
        if self.live:
            minutes, seconds = divmod(int(time.monotonic() - self.started), 60)
            line = f"      {minutes}:{seconds:02d}  {self.text}"[: self.width]
            self.stream.write("\r" + line.ljust(self.width))
            self.stream.flush()

    def close(self) -> None:
        if self.live:
            self.stream.write("\r" + " " * self.width + "\r")
        elif self.column:
            self.stream.write("\n")
        self.stream.flush()
