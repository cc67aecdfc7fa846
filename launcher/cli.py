"""Reads the command line, runs the command, tells a failure in words."""

import os
import signal
import sys
from pathlib import Path

from helpers.texts import LANGUAGES, set_language, t

from . import PROJECT, children, classroom, lab, set_up, testing
from .say import (
    StepError,
    UsageError,
    from_os_error,
    say,
    say_failure,
    speak_on_any_terminal,
)

COMMANDS = ("lab", "test", "save", "bench", *classroom.COMMANDS)
INTERRUPTED = 130


class Wishes:
    """What the command line asks for."""

    def __init__(self, words: list[str]):
        self.command, self.help = None, False
        self.language, self.port, self.browser = "en", None, True
        self.rest = []
        words = list(words)
        while words:
            self._take(words.pop(0), words)
        if self.rest and self.command in ("lab", None):
            raise UsageError(t("launcher.usage.unknown", word=self.rest[0]))
        if self.command in classroom.COMMANDS and not self.help:
            # now, not after a set-up that takes long
            self.module = classroom.module_and_words(self.command, self.language, self.rest)

    def _take(self, word: str, following: list[str]) -> None:
        name, equals, value = word.partition("=")
        if name in ("--lang", "--port"):
            if not equals and not following:
                raise UsageError(t("launcher.usage.no_value", option=name))
            value = value if equals else following.pop(0)
            self._set(name, value)
        elif word == "--no-browser":
            self.browser = False
        elif self.command is None and word in ("-h", "--help", "help"):
            self.help = True
        elif self.command is None and not word.startswith("-"):
            if word not in COMMANDS:
                raise UsageError(t("launcher.usage.unknown", word=word))
            self.command = word
        elif word in ("-h", "--help"):
            self.help = True
        else:
            self.rest.append(word)

    def _set(self, name: str, value: str) -> None:
        if name == "--lang":
            if value not in LANGUAGES:
                raise UsageError(t("launcher.usage.language", word=value))
            self.language = value
            set_language(value)
        else:
            if not (value.isdecimal() and 1 <= int(value) <= 65535):
                raise UsageError(t("launcher.usage.port", word=value))
            self.port = int(value)


def main(words: list[str]) -> int:
    """Run `course.py` with these words; the exit code."""
    speak_on_any_terminal()
    choose_language(words)
    python = "python" if os.name == "nt" else "python3"
    try:
        wishes = Wishes(words)
    except UsageError as wrong:
        say(str(wrong))
        say(t("launcher.usage.advice", command=f"{python} course.py --help"))
        return 2
    if wishes.help or wishes.command is None:
        topic = {
            "report": t("launcher.help_report", python=python),
            "carry": t("launcher.help_carry", python=python),
        }
        say(topic.get(wishes.command) or t("launcher.help", python=python))
        return 0
    signal.signal(signal.SIGTERM, _end)
    try:
        return run(wishes)
    except StepError as failure:
        say_failure(failure)
        return 1
    except OSError as error:
        say_failure(from_os_error(error))
        return 1
    except KeyboardInterrupt:
        say()
        say(t("launcher.interrupted", command=" ".join([python, "course.py", *words])))
        return INTERRUPTED


def _end(*_):
    raise SystemExit(143)


def choose_language(words: list[str]) -> None:
    """Set it first, wherever `--lang` stands, so that every message comes in it."""
    options = [word.partition("=") for word in words]
    for (name, equals, value), following in zip(options, [*words[1:], ""], strict=False):
        value = value if equals else following
        if name == "--lang" and value in LANGUAGES:
            set_language(value)


def run(wishes: Wishes) -> int:
    """Do what is asked for; the exit code."""
    if wishes.command == "lab":
        # before the set-up, which takes long the first time
        lab.first_lesson(wishes.language)
        if wishes.port is not None:
            lab.check_port(wishes.port)
        environment = set_up.ready()
        return lab.open_lab(environment, wishes.language, wishes.port, wishes.browser)
    if wishes.command == "test":
        environment = set_up.ready(developer=True)
        if wishes.rest:
            return testing.some_tests(environment, wishes.rest)
        return testing.run_all(environment)
    if wishes.command == "save":
        environment = set_up.ready()
        module = ["tools.save", *(_from_the_project(word) for word in wishes.rest)]
    elif wishes.command in classroom.COMMANDS:
        environment = set_up.ready()
        module = wishes.module
    else:
        environment = set_up.ready(developer=True)
        module = ["benchmarks", *wishes.rest]
    command = [environment.python, "-m", *module]
    env = children.variables(environment.folder)
    if wishes.command in classroom.COMMANDS and sys.stdout.encoding:
        env["PYTHONIOENCODING"] = sys.stdout.encoding  # they speak on this terminal as we do
    return children.run(command, PROJECT, env)


def _from_the_project(word: str) -> str:
    """A path as named from the folder the user is in, as a whole path; other words as they are."""
    return str(Path(word).resolve()) if Path(word).exists() else word
