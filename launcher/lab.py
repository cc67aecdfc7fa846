"""Opens JupyterLab on the first lesson, on this machine only, behind a token."""

import errno
import json
import os
import socket
import sys
import tempfile
from pathlib import Path

from helpers.texts import t

from . import PROJECT, children
from .environment import Environment
from .say import StepError, say

FIRST_LESSON = "00_start-here.ipynb"
# answers reach the page at once
PROMPT = "--ServerApp.kernel_websocket_connection_class=launcher.kernel_socket.PromptConnection"
LOCALES = {"en": "en", "es": "es_ES"}  # as the language pack of JupyterLab is named


def open_lab(environment: Environment, language: str, port: int | None, browser: bool) -> int:
    """Run JupyterLab until the reader stops it; its exit code."""
    if not children.can_write(PROJECT):
        say(t("launcher.folder.read_only"))
    with tempfile.TemporaryDirectory(prefix="course-", ignore_cleanup_errors=True) as scratch:
        command = [environment.python, "-m", "jupyterlab", *options(language, Path(scratch))]
        if port is not None:
            command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
        if not browser:
            command += ["--no-browser"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command += ["--allow-root"]  # JupyterLab would refuse; containers know no other user
        env = variables(environment, language, Path(scratch))
        say(t("launcher.lab.opening" if browser else "launcher.lab.address"))
        say(t("launcher.lab.stop"))
        return children.run_until_it_ends(command, PROJECT, env)


def first_lesson(language: str) -> str:
    """The page to open, as a path in the course. Raises StepError when it is not there."""
    page = f"notebooks/{language}/{FIRST_LESSON}"
    if not (PROJECT / page).is_file():
        raise StepError(t("launcher.lab.no_lesson", page=page), t("launcher.lab.no_lesson_advice"))
    return page


def options(language: str, scratch: Path) -> list[str]:
    """What JupyterLab is told on its command line, where no setting of the reader's undoes it."""
    return [
        "--ServerApp.ip=localhost",
        f"--ServerApp.root_dir={PROJECT}",
        f"--LabApp.default_url=/lab/tree/{first_lesson(language)}",
        # the tabs of another project's JupyterLab do not open here
        f"--LabApp.workspaces_dir={scratch / 'workspaces'}",
        "--ServerApp.terminals_enabled=False",
        PROMPT,
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
        "--Application.log_level=ERROR",
    ]


def variables(environment: Environment, language: str, scratch: Path) -> dict[str, str]:
    """Environment variables for JupyterLab and its kernels.

    The language of the interface lies in a folder of this run: the environment may be shared
    and read-only, and another run may want another language. A language that the reader chose
    in JupyterLab's own menu wins.
    """
    settings = {"@jupyterlab/translation-extension:plugin": {"locale": LOCALES[language]}}
    (scratch / "labconfig").mkdir()
    file = scratch / "labconfig" / "default_setting_overrides.json"
    file.write_text(json.dumps(settings), encoding="utf-8")
    path = os.environ.get("JUPYTER_CONFIG_PATH")
    env = {"JUPYTER_CONFIG_PATH": os.pathsep.join([str(scratch)] + ([path] if path else []))}
    if not children.home_can_be_written():
        say(t("launcher.lab.no_home"))
        env |= children.own_jupyter_folders(scratch)
        env["MPLCONFIGDIR"] = str(scratch)
    return children.variables(environment.folder, **env)


def check_port(port: int) -> None:
    """Raise StepError when JupyterLab could not listen on `port`, naming one that is free."""
    trouble = listening_fails(port)
    if trouble is None:
        return
    command = t("launcher.command", python="python" if os.name == "nt" else "python3")
    advice = t("launcher.port.advice", command=command, free=free_port(port))
    if trouble in (errno.EACCES, getattr(errno, "WSAEACCES", errno.EACCES)):
        raise StepError(t("launcher.port.forbidden", port=port), advice)
    raise StepError(t("launcher.port.taken", port=port), advice)


def listening_fails(port: int) -> int | None:
    """The error number of listening on localhost at `port`, None when it works."""
    try:
        addresses = {
            (i[0], i[4]) for i in socket.getaddrinfo("localhost", port, type=socket.SOCK_STREAM)
        }
    except OSError:
        addresses = {(socket.AF_INET, ("127.0.0.1", port))}
    for family, address in addresses:
        with socket.socket(family, socket.SOCK_STREAM) as listener:
            if sys.platform == "win32":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
            else:  # as JupyterLab does: a port just left is free
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                listener.bind(address)
                listener.listen(1)
            except OSError as error:
                if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    continue  # a machine without IPv6
                return error.errno
    return None


def free_port(after: int) -> int:
    """A port that is free, the next above `after` where that is possible."""
    start = max(after + 1, 1024)
    for port in range(start, min(start + 50, 65536)):
        if listening_fails(port) is None:
            return port
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
