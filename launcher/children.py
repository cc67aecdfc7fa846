"""The programs the launcher starts: with which variables, and how they end."""

import os
import subprocess
import tempfile
from pathlib import Path

# What a reader's machine may have set for another Python, and would break this one.
FOREIGN = (
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONIOENCODING",
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_ROOT",
    "PIP_REQUIRE_VIRTUALENV",
)


def python_in(folder: Path, system: str = os.name) -> Path:
    """The Python of the environment in `folder`."""
    return folder / ("Scripts/python.exe" if system == "nt" else "bin/python")


def variables(folder: Path, **extra: str) -> dict[str, str]:
    """Environment variables for a program of the environment in `folder`."""
    kept = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    return kept | {
        "VIRTUAL_ENV": str(folder),
        "PATH": str(python_in(folder).parent) + os.pathsep + kept.get("PATH", ""),
        "PYTHONUTF8": "1",
        "PYTHONNOUSERSITE": "1",
        # the kernel named python3 is this environment's, not one the user registered
        "JUPYTER_PREFER_ENV_PATH": "1",
        # Left alone, glibc raises these with each large tensor that is freed, and a kernel keeps
        # what it no longer uses: 60 MB in lesson 08. Elsewhere they do nothing.
        "MALLOC_MMAP_THRESHOLD_": "524288",
        "MALLOC_TRIM_THRESHOLD_": "1048576",
        **extra,
    }


def own_jupyter_folders(folder: Path) -> dict[str, str]:
    """Variables that keep Jupyter's and IPython's files in `folder`, not in the home folder."""
    names = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
    }
    for name in names.values():
        (folder / name).mkdir(exist_ok=True)
    return {variable: str(folder / name) for variable, name in names.items()}


def can_write(folder: Path) -> bool:
    """Whether a file can be made in `folder`; tried, since permission bits do not tell all."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def home_can_be_written() -> bool:
    try:
        return can_write(Path.home())
    except RuntimeError:  # no home folder at all
        return False


def run(command: list, cwd: Path, env: dict[str, str]) -> int:
    """Run a program on this terminal; its exit code. Ctrl-C reaches it and then stops us too."""
    with subprocess.Popen([str(part) for part in command], cwd=cwd, env=env) as process:
        try:
            return process.wait()
        except BaseException:
            if not _ended(process, seconds=10):
                process.terminate()
            raise


def run_until_it_ends(command: list, cwd: Path, env: dict[str, str]) -> int:
    """Run a server on this terminal: Ctrl-C is for it to answer, we wait until it has ended."""
    with subprocess.Popen([str(part) for part in command], cwd=cwd, env=env) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue
            except BaseException:
                process.terminate()
                raise


def _ended(process: subprocess.Popen, seconds: float) -> bool:
    try:
        process.wait(seconds)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        return False
    return True
