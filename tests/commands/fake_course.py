"""A copy of the launcher in a course of its own, whose packages are empty.

`course.py` runs there for real, with real environments and the real pip, in seconds and
without a network: every requirement is a wheel of a few bytes made here.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest

posix = pytest.mark.skipif(os.name == "nt", reason="signals and links as on Linux and macOS")
PROJECT = Path(__file__).resolve().parent.parent.parent
REQUIREMENTS = ("requirements.txt", "requirements-model.txt", "requirements-dev.txt")
COPIED = ("course.py", "launcher", "helpers/__init__.py", "helpers/lesson.py", "helpers/texts")

# A stand-in for a program: writes down how it was started, and ends as it is told to.
RECORDER = """
import json, os, pathlib, sys, time
name = os.path.basename(os.path.dirname(__file__))
overrides = [
    json.loads((pathlib.Path(folder) / "labconfig/default_setting_overrides.json").read_text())
    for folder in os.environ.get("JUPYTER_CONFIG_PATH", "").split(os.pathsep)
    if folder and os.path.isdir(os.path.join(folder, "labconfig"))
]
call = {"program": name, "arguments": sys.argv[1:], "folder": os.getcwd(),
        "environment": dict(os.environ), "overrides": overrides}
with open(os.environ["CALLS"], "a", encoding="utf-8") as file:
    file.write(json.dumps(call) + "\\n")
if name in os.environ.get("WAITS", "").split():
    print("waiting", flush=True)
    time.sleep(60)
for argument in sys.argv[1:]:
    if argument.startswith("--junitxml="):
        cases = os.environ.get("CELLS" if "--nbval" in sys.argv else "CASES", "")
        pathlib.Path(argument.partition("=")[2]).write_text("<a>" + cases + "</a>")
sys.exit(" ".join([name, *sys.argv[1:2]]) in os.environ.get("FAILS", "").split(", "))
"""
PROGRAMS = ("jupyterlab", "ruff", "pytest")

# Installs the folder as `pip install -e .` does, without downloading setuptools.
BACKEND = """
import pathlib, zipfile

def get_requires_for_build_editable(config_settings=None):
    return []

def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    name = "course-1-py3-none-any.whl"
    finder = f"import sys; sys.path.append({ascii(str(pathlib.Path.cwd()))})\\n"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w") as wheel:
        wheel.writestr("course.pth", finder)
        info = "course-1.dist-info/"
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: course\\nVersion: 1\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any\\n")
        wheel.writestr(info + "RECORD", "")
    return name
"""


def pins(name: str, folder: Path = PROJECT) -> dict[str, str]:
    """package -> version of a requirement file."""
    text = (folder / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE))


def write_wheel(folder: Path, package: str, version: str) -> Path:
    """A wheel that installs one module which knows its version, and does what RECORDER does."""
    module = re.sub(r"[-.]", "_", package)
    files = {f"{module}/__init__.py": f"version = {version!r}\n"}
    if module in PROGRAMS:
        files[f"{module}/__main__.py"] = RECORDER
    if module == "matplotlib":
        files["matplotlib/font_manager.py"] = ""
    info = f"{module}-{version}.dist-info"
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/RECORD"] = ""
    path = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return path


def hear_ctrl_c():
    """Tests run in the background of a script ignore it, and so would what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class FakeCourse:
    """The launcher's copy in `folder`; `outside` holds what is not part of the course."""

    def __init__(self, folder: Path, outside: Path):
        self.folder, self.outside = folder, outside
        self.wheels, self.calls_file = outside / "wheels", outside / "calls"
        for name in ("wheels", "home", "tmp"):
            (outside / name).mkdir(parents=True, exist_ok=True)
        for name in COPIED:
            copy = shutil.copytree if (PROJECT / name).is_dir() else shutil.copy
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            copy(PROJECT / name, folder / name)
        for name in REQUIREMENTS:
            shutil.copy(PROJECT / name, folder)
            for package, version in pins(name).items():
                write_wheel(self.wheels, package, version)
        self.write(
            "pyproject.toml",
            '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
            '[project]\nname = "course"\nversion = "1"\n',
        )
        self.write("backend.py", BACKEND)
        for module in ("tools/save", "benchmarks/__main__"):
            self.write(f"{module}.py", RECORDER)
        for language in ("en", "es"):
            self.write(f"notebooks/{language}/00_start-here.ipynb", "{}")

    @property
    def python(self) -> Path:
        return self.folder / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def variables(self, **more) -> dict[str, str]:
        """Environment variables: pip sees the wheels made here and nothing else."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "JUPYTER_"))}
        temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self.outside / "tmp"))
        ours = {
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "PIP_CONFIG_FILE": os.devnull,
            "CALLS": str(self.calls_file),
            "HOME": str(self.outside / "home"),
            "USERPROFILE": str(self.outside / "home"),
        }
        for name in ("XDG_DATA_HOME", "PYTHONUTF8", "PYTHONIOENCODING"):
            kept.pop(name, None)
        wanted = {**kept, **temporary, **ours, **more}
        return {name: value for name, value in wanted.items() if value is not None}

    def start(self, *words, code: str | None = None, **variables) -> subprocess.Popen:
        """`python course.py` with these words, or `code` instead of course.py."""
        program = ["course.py"] if code is None else ["-c", code]
        return subprocess.Popen(
            [sys.executable, *program, *words],
            cwd=self.folder,
            env=self.variables(**variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=os.name != "nt",
            preexec_fn=hear_ctrl_c if os.name != "nt" else None,
        )

    def run(self, *words, code: str | None = None, **variables) -> tuple[int, str]:
        """The same, to its end: exit code and all that it printed."""
        process = self.start(*words, code=code, **variables)
        out, _ = process.communicate(timeout=180)
        return process.returncode, out.decode("utf-8", errors="replace")

    def calls(self) -> list[dict]:
        """How the stand-ins were started since the last time this was asked."""
        if not self.calls_file.exists():
            return []
        lines = self.calls_file.read_text(encoding="utf-8").splitlines()
        self.calls_file.unlink()
        return [json.loads(line) for line in lines]

    def versions(self, packages) -> dict[str, str]:
        """package -> version that is installed in the course's environment."""
        asked = f"print(json.dumps({{name: m.version(name) for name in {list(packages)!r}}}))"
        return json.loads(self.ask(f"import json, importlib.metadata as m; {asked}"))

    def ask(self, code: str, folder: Path | None = None) -> str:
        """What `code` prints in the course's environment."""
        command = [self.python, "-X", "utf8", "-c", code]
        return subprocess.check_output(
            command, cwd=folder or self.outside, encoding="utf-8", env=self.variables()
        ).strip()


@contextmanager
def listener():
    """A port of this machine where somebody listens, and never says anything."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(8)
        yield server
