"""The evening before class, without `course.py`: the notebooks' own tools on a locked-down machine.

Two lessons stand for all: checks, exercises, pictures and explorers are in them.
`course.py test` runs the whole series.
"""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

PROJECT = Path(__file__).resolve().parents[1]
SHORT = "notebooks/en/01_one-head.ipynb"
OTHER = "notebooks/es/04_concat-and-output-projection.ipynb"
NOWHERE = "http://127.0.0.1:9"  # a port at which nobody answers


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A copy in a folder with a space and accents, nothing in it can be written to."""
    folder = tmp_path_factory.mktemp("clase") / "Curso de atención" / "ñandú 1"
    for part in ("helpers", "notebooks/en", "notebooks/es"):
        shutil.copytree(PROJECT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PROJECT / "requirements.txt", folder)
    paths = [folder, *folder.rglob("*")]
    for path in paths:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    yield folder
    for path in paths:  # or the temporary folder could not be removed
        if path.exists():
            path.chmod(path.stat().st_mode | stat.S_IWUSR)


def pytest_in(folder, *arguments):
    """pytest as somebody types it who knows nothing of this course, with another locale."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "COURSE", "JUPYTER"))}
    env |= {"LC_ALL": "C", "HTTP_PROXY": NOWHERE, "HTTPS_PROXY": NOWHERE}
    env |= {"PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, encoding="utf-8", errors="replace"
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    "option, runs", [("--nbval", [[SHORT, OTHER], [SHORT]]), ("--nbval-lax", [[OTHER]])]
)
def test_c32_c35_c36_the_notebooks_own_tools_twice_in_a_row(course, option, runs):
    before = {path: path.read_bytes() for path in course.rglob("*") if path.is_file()}
    for lessons in runs:
        code, said = pytest_in(course, option, *lessons)
        assert code == 0, said[-3000:]
        assert "skipped" not in said
    assert {path: path.read_bytes() for path in course.rglob("*") if path.is_file()} == before


def test_c32_a_kernel_nobody_has(course, tmp_path):
    """An author saved the lesson with a kernel of another name; nbval is told to use this one."""
    book = nbformat.read(course / SHORT, as_version=4)
    book.metadata.kernelspec.name = "conda-env-clase-py"
    file = tmp_path / "otra carpeta" / SHORT
    file.parent.mkdir(parents=True)
    os.symlink(course / "helpers", file.parents[2] / "helpers")
    nbformat.write(book, file)
    code, said = pytest_in(file.parent, "--nbval", "--nbval-current-env", file.name)
    assert code == 0, said[-3000:]


@pytest.mark.parametrize("language", ["en", "es"])
def test_c25_c34_a_lesson_exported_to_html_reads_well(language):
    """Every lesson has its pictures on the page, each with words for it; no widget is missed."""
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(template_name="lab")
    files = sorted((PROJECT / "notebooks" / language).glob("*.ipynb"))
    assert len(files) == 11
    for file in files:
        book = nbformat.read(file, as_version=4)
        page, _ = exporter.from_notebook_node(book)
        pictures = [
            output.metadata
            for cell in book.cells
            if cell.cell_type == "code"
            for output in cell.outputs
            if "image/png" in output.get("data", {})
        ]
        assert page.count('src="data:image/png;base64,') == len(pictures), file.name
        # JupyterLab takes the words from here; nbconvert's own template does not.
        assert all(picture["image/png"]["alt"] for picture in pictures), file.name
        assert pictures or file.name.startswith("10"), file.name
        assert "model not found" not in page and "Error displaying widget" not in page
        assert "application/vnd.jupyter.widget-view+json" not in page
