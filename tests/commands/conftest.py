"""A course to start, and an environment to look at."""

import os
import sys

import pytest
from fake_course import FakeCourse

from launcher import children
from launcher.environment import Environment


@pytest.fixture(scope="session")
def fresh(tmp_path_factory):
    """A course that was started once: (course, exit code, what it printed, what was started)."""
    top = tmp_path_factory.mktemp("course")
    fake = FakeCourse(top / "Curso de atención" / "ñandú 1", top / "outside")
    code, out = fake.run("lab")
    return fake, code, out, fake.calls()


@pytest.fixture
def course(fresh):
    """The same course, ready, with nothing started yet."""
    fake = fresh[0]
    fake.calls()
    return fake


@pytest.fixture
def unfinished(course):
    """The ready course without its markers: every start sets up again. Put back afterwards."""
    markers = {path: path.read_bytes() for path in (course.folder / ".venv").glob("course-*.json")}
    for path in markers:
        path.unlink()
    yield course
    for path, content in markers.items():
        path.write_bytes(content)


@pytest.fixture
def here(tmp_path):
    """An environment whose Python is the one that runs the tests; not marked as finished."""
    folder = tmp_path / ".venv"
    python = children.python_in(folder)
    python.parent.mkdir(parents=True)
    if os.name == "nt":
        pytest.skip("an environment of links, as on Linux and macOS")
    python.symlink_to(sys.executable)
    (folder / "pyvenv.cfg").write_text("", encoding="utf-8")
    return Environment(folder)
