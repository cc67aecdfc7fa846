"""pip, kept short on the screen and whole in a log, its failures told in words."""

import os
import queue
import re
import subprocess
import threading
from contextlib import suppress

from helpers.texts import t

from . import PROJECT, children
from .environment import Environment
from .say import Progress, StepError

# An older pip takes twice as long to find out which packages fit together. Python 3.11 and 3.12
# bring one.
QUICK = (25, 0)
QUICK_PIP = "pip==25.3"

# What pip prints when a thing goes wrong, on Linux, macOS and Windows. The order matters: a
# full disk or a silent index also ends in pip's "no matching distribution".
_SIGNS = {
    "no_room": r"No space left on device|Errno 28\b|Disk quota exceeded|WinError 112\b"
    r"|not enough space on the disk",
    "no_index": r"NewConnectionError|NameResolutionError|name resolution|getaddrinfo failed"
    r"|Max retries exceeded|Could not fetch URL|Connection refused|Connection reset|timed out"
    r"|ProxyError|CERTIFICATE_VERIFY_FAILED|SSLError|Network is unreachable|HTTP error 5\d\d"
    r"|Connection broken|ProtocolError|IncompleteRead",
    "no_pin": r"No matching distribution found for (?P<name>[^\s(]+)",
    "conflict": r"ResolutionImpossible|conflicting dependencies",
    "damaged": r"DO NOT MATCH THE HASHES|BadZipFile|has an invalid wheel",
    "refused": r"Permission denied|Errno 13\b|WinError (?:5|32)\b|Access is denied",
    "long_path": r"WinError 206\b|Windows Long Path|filename or extension is too long",
}


def renew(environment: Environment) -> None:
    """A quicker pip where the environment's is a slow one.

    Where none is to be had the slow one stays, and whatever is in the way is told when the
    packages are installed. Where the user has turned the index off, none is asked for.
    """
    numbers = re.findall(r"\d+", environment.ask("import pip; print(pip.__version__)") or "")
    version = tuple(int(number) for number in numbers[:2])
    if version < QUICK and "PIP_NO_INDEX" not in os.environ:
        with suppress(StepError):
            install(environment, ["--retries", "0", QUICK_PIP])


def install(environment: Environment, arguments: list[str]) -> None:
    """`pip install` with these arguments; all that pip says is added to the environment's log.

    pip would also compile every file, one after the other: see `set_up.compile_all`.
    Raises StepError with the reason in words when pip does not succeed.
    """
    command = [str(environment.python), "-m", "pip", "install", "--no-input"]
    command += ["--no-compile", "--progress-bar", "off", *arguments]
    env = children.variables(
        environment.folder, PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1", PYTHONUNBUFFERED="1"
    )
    lines = []
    with (
        open(environment.log, "a", encoding="utf-8", errors="backslashreplace") as log,
        subprocess.Popen(
            command,
            cwd=PROJECT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        ) as pip,
    ):
        log.write("\n$ " + " ".join(command) + "\n")
        progress = Progress()
        try:
            for line in _lines(pip.stdout, progress.tick):
                lines.append(line)
                log.write(line)
                if news := what_it_says(line):
                    progress.show(news)
        except BaseException:
            pip.terminate()
            raise
        finally:
            progress.close()
    if pip.returncode != 0:
        raise explain(lines, environment.log)


def _lines(stream, while_waiting):
    """The lines of `stream` as they come; calls `while_waiting` each second without one.

    Reading in a thread leaves this one free to be interrupted, on Windows too.
    """
    arrived = queue.Queue()

    def read():
        for line in stream:
            arrived.put(line)
        arrived.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = arrived.get(timeout=1)
        except queue.Empty:
            while_waiting()
            continue
        if line is None:
            return
        yield line


def what_it_says(line: str) -> str | None:
    """The few words worth showing of a line that pip printed, or None."""
    if found := re.match(r"\s*Downloading (?P<file>\S+) \((?P<size>[\d.]+ [MG]B)\)", line):
        name = found["file"].rsplit("/", 1)[-1].split("-")[0]
        return t("launcher.pip.downloading", name=name, size=found["size"])
    if found := re.match(r"Collecting (?P<name>[\w.-]+)|Processing .*?(?P<file>[\w.]+)-\d", line):
        return found["name"] or found["file"]
    if "Retrying (" in line:
        return t("launcher.pip.retrying")
    if found := re.match(r"Installing collected packages: (?P<names>.+)", line):
        count = len(found["names"].split(", "))
        return t("launcher.pip.unpacking", count=count) if count > 9 else None
    return None


def kind_of_failure(output: str) -> tuple[str | None, str]:
    """Which of the known troubles pip's output shows, and the package it names if any."""
    for kind, sign in _SIGNS.items():
        if found := re.search(sign, output, re.IGNORECASE):
            return kind, found.groupdict().get("name", "")
    return None, ""


def explain(lines: list[str], log) -> StepError:
    """What pip's output means, as a StepError with the lines that show it."""
    kind, name = kind_of_failure("".join(lines))
    why, advice = {
        "no_room": (t("launcher.disk.full"), t("launcher.disk.advice")),
        "no_index": (t("launcher.pip.no_index"), t("launcher.pip.no_index_advice")),
        "no_pin": (t("launcher.pip.no_pin", name=name), t("launcher.pip.no_pin_advice")),
        "conflict": (t("launcher.pip.conflict"), t("launcher.pip.conflict_advice")),
        "damaged": (t("launcher.pip.damaged"), t("launcher.pip.again")),
        "refused": (t("launcher.pip.refused"), t("launcher.pip.refused_advice")),
        "long_path": (t("launcher.pip.long_path"), t("launcher.pip.long_path_advice")),
        None: (t("launcher.pip.unknown"), t("launcher.pip.again")),
    }[kind]
    said = [line.strip() for line in lines if line.strip()]
    errors = [line for line in said if line.lower().startswith("error")]
    return StepError(why, advice, (errors or said)[-6:], log)
