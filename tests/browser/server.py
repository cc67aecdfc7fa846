"""A JupyterLab server of its own: temporary folders, a free port, a token, a clean end."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from urllib.parse import quote

import nbformat
import psutil

from launcher.lab import PROMPT

from . import kernels
from .cells import notebook_of
from .processes import Copier, family_of, own_group

PROJECT = Path(__file__).resolve().parents[2]
START_SECONDS = 90
PORT_TRIES = 3

# What a test needs different from JupyterLab's defaults, and nothing else.
SETTINGS = {
    # No question about news and no look at the package index.
    "@jupyterlab/apputils-extension:notification": {
        "checkForUpdates": False,
        "fetchNews": "false",
    },
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
}


class ServerError(RuntimeError):
    """JupyterLab did not start, or did not answer; the message ends with its log."""


class PortTakenError(ServerError):
    """Another program took the port first."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class LabServer:
    """JupyterLab over the folder `home`, which holds its settings, logs and notebooks.

    Kernels are those of the Python that runs the tests; `helpers` is this project's. They start
    at once (see `kernels.py`), with `at_once=False` as a reader's do.
    """

    def __init__(self, home: Path, at_once: bool = True):
        self.home = Path(home)
        self._copier = Copier(self.home / "kernels") if at_once and kernels.CAN_COPY else None
        # A space and accents on purpose: readers have such folders (field case C35).
        self.folder = self.home / "Curso de atención 1"
        self.folder.mkdir(parents=True)
        self._settings = self.home / "settings"
        self._log = self.home / "jupyterlab.log"
        self._token = secrets.token_hex(16)
        self._process = None
        self.port = None
        self._aside = ThreadPoolExecutor(max_workers=2)
        self._ends: dict[str, Future] = {}

    # --- notebooks -------------------------------------------------------------------------

    def write(self, name: str, cells) -> str:
        """Write a notebook made of `cells` (see `cells.notebook_of`); returns the path to open."""
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook_of(cells), target)
        return name

    def copy(self, notebook: str | Path, name: str | None = None) -> str:
        """Copy a lesson ("en/01_one-head.ipynb") or any notebook file; returns the path to open."""
        source = Path(notebook)
        if not source.is_absolute():
            name = name or source.as_posix()
            source = PROJECT / "notebooks" / source
        name = name or source.name
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        return name

    # --- start and end ---------------------------------------------------------------------

    def start(self) -> "LabServer":
        """Start the server and wait until it answers. Raises `ServerError` with its log."""
        config = self.home / "config"
        overrides = config / "labconfig" / "default_setting_overrides.json"
        overrides.parent.mkdir(parents=True)
        overrides.write_text(json.dumps(SETTINGS), encoding="utf-8")
        for _ in range(PORT_TRIES - 1):
            try:
                self._start_once(config)
                return self
            except PortTakenError:
                continue
        self._start_once(config)
        return self

    def _start_once(self, config: Path):
        self.port = free_port()
        if self._copier:
            self._copier.start(self._environment(config))
        with self._log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                self.command(),
                cwd=self.folder,
                env=self._environment(config),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                **own_group(),
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def command(self) -> list[str]:
        command = [
            *(sys.executable, "-m", "jupyterlab", "--no-browser"),
            "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.port={self.port}",
            "--ServerApp.port_retries=0",
            f"--ServerApp.root_dir={self.folder}",
            # Lets a test ask JupyterLab itself whether a kernel is idle.
            "--LabApp.expose_app_in_browser=True",
            "--JupyterNotebookApp.expose_app_in_browser=True",
            PROMPT,
            # Its other kind looks at the package index.
            "--LabApp.extension_manager=readonly",
            "--LanguageServerManager.autodetect=False",  # each start would ask node and npm
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--allow-root")
        return command

    def _environment(self, config: Path) -> dict[str, str]:
        # The tester's own Jupyter settings and kernels must not reach the tests.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("JUPYTER")}
        runtime = self.home / "runtime"
        runtime.mkdir(mode=0o700, exist_ok=True)
        if self._copier:
            environment["JUPYTER_PATH"] = str(self._copier.folder)
        return environment | {
            "JUPYTER_CONFIG_DIR": str(config),
            "JUPYTER_DATA_DIR": str(self.home / "data"),
            "JUPYTER_RUNTIME_DIR": str(runtime),
            "JUPYTERLAB_SETTINGS_DIR": str(self._settings),
            "JUPYTERLAB_WORKSPACES_DIR": str(self.home / "workspaces"),
            "JUPYTER_TOKEN": self._token,  # not on the command line, where others could read it
            "IPYTHONDIR": str(self.home / "ipython"),
            "ATTENTION_COURSE_PROGRESS": "off",  # one test's answers are not the next one's
            "PYTHONPATH": os.pathsep.join(
                filter(None, [str(PROJECT), environment.get("PYTHONPATH")])
            ),
        }

    def _wait_until_ready(self):
        deadline = time.monotonic() + START_SECONDS
        while True:
            if self._process.poll() is not None:
                log = self.log()
                # Between looking for a free port and using it, another program may have come.
                kind = PortTakenError if "is already in use" in log else ServerError
                raise kind(f"JupyterLab ended with exit code {self._process.returncode}.\n{log}")
            try:
                self.request("GET", "api/status", seconds=2)  # another program may only listen
                return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                if time.monotonic() > deadline:
                    raise ServerError(
                        f"JupyterLab did not answer within {START_SECONDS} s.\n{self.log()}"
                    ) from None
            time.sleep(0.1)

    def stop(self):
        """End the server and every kernel it started; safe to call twice."""
        process, self._process = self._process, None
        if process is None:
            return
        wait(self._ends.values())
        self._ends.clear()
        # Kernels live in process groups of their own, so the list is taken while the
        # server can still tell who its children are.
        family = family_of(process.pid) + self.copied_kernels()
        if process.poll() is None:
            try:
                self.request("POST", "api/shutdown")
                process.wait(timeout=15)
            except (urllib.error.URLError, ConnectionError, subprocess.TimeoutExpired):
                process.terminate()
        _, alive = psutil.wait_procs(family, timeout=5)
        for survivor in alive:
            try:
                survivor.kill()
            except psutil.NoSuchProcess:
                pass
        process.wait(timeout=10)
        if self._copier:
            self._copier.stop()

    @property
    def pid(self) -> int:
        return self._process.pid

    # --- while it runs ---------------------------------------------------------------------

    def url(self, path: str, application: str = "lab/tree") -> str:
        """The address that opens `path` in JupyterLab, or with "notebooks" in Notebook 7.

        `reset` forgets an earlier layout.
        """
        place = quote(Path(path).as_posix())
        return f"http://127.0.0.1:{self.port}/{application}/{place}?token={self._token}&reset"

    def request(self, method: str, path: str, seconds: float = 20):
        """Ask the server's REST interface; the answer read as JSON, None when empty."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/{path}",
            method=method,
            headers={"Authorization": f"token {self._token}"},
            data=b"" if method == "POST" else None,
        )
        # Straight to this machine, whatever proxy the environment names.
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=seconds) as answer:
            body = answer.read()
        return json.loads(body) if body else None

    def kernels(self) -> list[dict]:
        """The kernels that run now, as the server lists them."""
        self.wait_for_ends()
        return self.request("GET", "api/kernels")

    def copied_kernels(self) -> list[psutil.Process]:
        """The kernels that are copies; JupyterLab's own children only asked for them."""
        return self._copier.kernels() if self._copier else []

    def end_kernels(self, notebooks: list[str]):
        """Begin to end these notebooks' kernels, which takes a kernel two seconds."""
        for session in self.request("GET", "api/sessions"):
            if session["path"] in notebooks:
                place = f"api/sessions/{session['id']}"
                self._ends[session["path"]] = self._aside.submit(self.request, "DELETE", place)

    def wait_for_ends(self, *notebooks: str):
        """Wait for the kernels that `end_kernels` ends: of these notebooks, or else all.

        Opened again, a notebook then starts from a fresh one.
        """
        for notebook in notebooks or list(self._ends):
            if notebook in self._ends:
                self._ends.pop(notebook).result()

    def forget_settings(self):
        """Back to default settings: a theme chosen in one test stays out of the next."""
        shutil.rmtree(self._settings, ignore_errors=True)

    def log(self) -> str:
        """The last lines of the server's log, the token blanked."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-40:]).replace(self._token, "…")
