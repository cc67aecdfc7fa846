"""What says that the course is well: style, format, tests, and every cell of every lesson.

The tests of what authors work with have the mark `tools`: `course.py test tests -m tools`. CI runs
both.
"""

import tempfile
from pathlib import Path
from xml.etree import ElementTree

from helpers.texts import t

from . import PROJECT, children
from .environment import Environment
from .say import say

EDITIONS = ("notebooks/en", "notebooks/es")
# One module, or one lesson, stays together. In the order of their names, the slow browser tests
# come first and one after the other: a worker starts JupyterLab once.
TWO_WORKERS = ["-n", "2", "--dist", "loadscope", "--no-loadscope-reorder"]


def run_all(environment: Environment) -> int:
    """Run the four parts, each whatever became of the ones before; 0 when all passed."""
    parts = {
        "style": style,
        "format": formatting,
        "tests": tests,
        "lessons": lessons,
    }
    results = {}
    with tempfile.TemporaryDirectory(prefix="course-", ignore_cleanup_errors=True) as scratch:
        env = variables(environment, Path(scratch))
        for number, (name, part) in enumerate(parts.items(), start=1):
            say()
            title = part_title(name)
            say(t("launcher.test.part", number=number, total=len(parts), name=title))
            results[name] = part(environment, env, Path(scratch))
    return summary(results)


def part_title(name: str) -> str:
    return {
        "style": t("launcher.test.style"),
        "format": t("launcher.test.format"),
        "tests": t("launcher.test.tests"),
        "lessons": t("launcher.test.lessons"),
    }[name]


def summary(results: dict[str, tuple[bool, str]]) -> int:
    """Print what became of each part; 0 when all passed, else 1."""
    say()
    width = max(len(part_title(name)) for name in results)
    for name, (passed, counts) in results.items():
        verdict = t("launcher.test.passed") if passed else t("launcher.test.failed")
        say(f"  {part_title(name).ljust(width)}  {verdict}  {counts}".rstrip())
    failed = [part_title(name) for name, (passed, _) in results.items() if not passed]
    if failed:
        say(t("launcher.test.some_failed", count=len(failed), names=", ".join(failed)))
        return 1
    names = ", ".join(part_title(name) for name in results)
    say(t("launcher.test.all_passed", count=len(results), names=names))
    return 0


def variables(environment: Environment, scratch: Path) -> dict[str, str]:
    """Environment variables that make the tests the same on any machine: no Jupyter or IPython
    settings of the user's, no downloads, no window."""
    env = children.variables(
        environment.folder,
        HF_HUB_OFFLINE="1",
        TRANSFORMERS_OFFLINE="1",
        MPLBACKEND="Agg",
        OMP_NUM_THREADS="1",  # two workers on two cores: more threads wait for one another
        ATTENTION_COURSE_PROGRESS="off",
        **children.own_jupyter_folders(scratch),
    )
    if not children.home_can_be_written():
        env["MPLCONFIGDIR"] = str(scratch)
    # Where nothing compiled may be kept, each of some hundred processes compiles it all again.
    unwanted = ("JUPYTER_PATH", "JUPYTER_CONFIG_PATH", "PYTEST_ADDOPTS", "PYTHONDONTWRITEBYTECODE")
    for name in unwanted:
        env.pop(name, None)
    return env


def style(environment: Environment, env: dict, scratch: Path) -> tuple[bool, str]:
    command = [environment.python, "-m", "ruff", "check", "."]
    return children.run(command, PROJECT, env) == 0, ""


def formatting(environment: Environment, env: dict, scratch: Path) -> tuple[bool, str]:
    command = [environment.python, "-m", "ruff", "format", "--check", "."]
    return children.run(command, PROJECT, env) == 0, ""


def tests(environment: Environment, env: dict, scratch: Path) -> tuple[bool, str]:
    report = scratch / "tests.xml"
    command = [environment.python, "-m", "pytest", "tests", "-m", "not tools", *TWO_WORKERS]
    command.append(f"--junitxml={report}")
    code = children.run(command, PROJECT, env)
    return code == 0, counts(cases(report))


def some_tests(environment: Environment, arguments: list[str]) -> int:
    """Only pytest, with the words that followed `course.py test`; its exit code."""
    with tempfile.TemporaryDirectory(prefix="course-", ignore_cleanup_errors=True) as scratch:
        command = [environment.python, "-m", "pytest", *TWO_WORKERS, *arguments]
        return children.run(command, PROJECT, variables(environment, Path(scratch)))


def lessons(environment: Environment, env: dict, scratch: Path) -> tuple[bool, str]:
    """Strict nbval: every cell of both editions must give again what the file shows.

    The kernel is the one of this environment, whatever name an author's notebook carries, and
    it draws as in JupyterLab. A lesson of which no cell ran is a failure.
    """
    report = scratch / "lessons.xml"
    command = [environment.python, "-m", "pytest", "--nbval", *EDITIONS, "--nbval-current-env"]
    command += ["--nbval-cell-timeout", "300", *TWO_WORKERS, f"--junitxml={report}"]
    env = {name: value for name, value in env.items() if name != "MPLBACKEND"}
    passed = children.run(command, PROJECT, env) == 0
    ran = cases(report)
    for edition in EDITIONS:
        found = sorted((PROJECT / edition).rglob("*.ipynb"))
        found = [path for path in found if ".ipynb_checkpoints" not in path.parts]
        if not found:
            say(t("launcher.test.no_lessons", folder=edition))
            passed = False
        for path in found:
            name = path.relative_to(PROJECT).as_posix()
            report_name = name.replace("/", ".")
            if not any(case == report_name and outcome != "skipped" for case, outcome in ran):
                say(t("launcher.test.lesson_did_not_run", lesson=name))
                passed = False
    return passed, counts(ran)


def cases(report: Path) -> list[tuple[str, str]]:
    """(file, with dots; "passed" | "failed" | "skipped") for each test in a JUnit report."""
    if not report.exists():
        return []
    found = []
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        outcome = "failed" if kinds & {"failure", "error"} else "passed"
        outcome = "skipped" if "skipped" in kinds else outcome
        found.append((case.get("classname", ""), outcome))
    return found


def counts(ran: list[tuple[str, str]]) -> str:
    """ "312 passed, 0 failed, 2 skipped" in the language of the messages."""
    outcomes = [outcome for _, outcome in ran]
    numbers = {name: outcomes.count(name) for name in ("passed", "failed", "skipped")}
    return t("launcher.test.counts", **numbers)
