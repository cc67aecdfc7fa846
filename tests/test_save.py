"""`course.py save`: runs, tidies and writes both editions, or says in words why not."""

import os
import subprocess
import sys

import pytest
import sample_lesson as sample
from nbformat.v4 import new_markdown_cell

from tools import execute, rules
from tools.editions import differences
from tools.lessons import ROOT, SaveError, find_lesson, read, text_of, write
from tools.normalise import normalise
from tools.save import main

pytestmark = pytest.mark.tools


def save(folder, *arguments):
    return main([*arguments, "--notebooks", str(folder)])


def files(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def change(folder, language, name, text):
    path = folder / language / "01_heads.ipynb"
    book = read(path)
    sample.cell(book, name).source = text
    path.write_text(text_of(book), encoding="utf-8", newline="\n")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A pair as `save` leaves it, in a folder with blanks and accents."""
    folder = sample.write_pair(tmp_path_factory.mktemp("m") / "Curso de atención" / "ñandú 1")
    assert save(folder) == 0
    return folder


@pytest.fixture
def pair(saved, tmp_path):
    """A copy of it to change."""
    for language in ("en", "es"):
        (tmp_path / language).mkdir()
        source = saved / language / "01_heads.ipynb"
        (tmp_path / language / source.name).write_bytes(source.read_bytes())
    return tmp_path


def nbval(folder):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval"]
    return subprocess.run(
        [*command, str(folder)], cwd=ROOT, capture_output=True, text=True, encoding="utf-8"
    )


def test_saved_lessons_keep_every_rule(saved):
    for language in ("en", "es"):
        assert rules.faults(saved / language / "01_heads.ipynb") == []
    books = [read(saved / language / "01_heads.ipynb") for language in ("en", "es")]
    assert differences(*books) == []
    assert [sample.cell(book, "start").outputs[0].text for book in books] == [
        "Ready.\n",
        "Listo.\n",
    ]


def test_c25_strict_nbval_accepts_the_picture_kept_in_place_of_the_live_view(saved):
    live = sample.cell(read(saved / "en" / "01_heads.ipynb"), "live").outputs[0]
    assert sorted(live.data) == ["image/png", "text/plain"] and live.metadata.course.live
    answer = nbval(saved)
    assert answer.returncode == 0 and "10 passed" in answer.stdout, answer.stdout[-3000:]


def test_strict_nbval_still_sees_another_text_beside_the_live_view(pair):
    path = pair / "en" / "01_heads.ipynb"
    path.write_text(
        path.read_text(encoding="utf-8").replace('"4 heads of width 2"\n', '"5 heads"\n'),
        encoding="utf-8",
    )
    answer = nbval(path)
    assert answer.returncode == 1 and "1 failed, 4 passed" in answer.stdout, answer.stdout[-3000:]


def test_c35_saving_again_in_a_c_locale_gives_the_same_bytes(saved):
    before = files(saved)
    environment = {
        **os.environ,
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "cp1252",
    }
    answer = subprocess.run(
        [sys.executable, "-m", "tools.save", "--notebooks", str(saved)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert files(saved) == before


def test_check_changes_nothing_and_finds_nothing_after_a_save(saved):
    before = files(saved)
    assert save(saved, "--check") == 0
    assert files(saved) == before


@pytest.mark.parametrize(
    "language, name, text, says",
    [
        ("en", "widths", "print(8 // 2)", "widths: code carried into the Spanish edition"),
        ("en", "title", "# Heads\n\nOther words.", "title: the English text has changed since"),
        ("es", "widths", "print(1)", "es/01_heads.ipynb would change"),
    ],
)
def test_check_lists_what_is_left_to_do(pair, capsys, language, name, text, says):
    change(pair, language, name, text)
    before = files(pair)
    assert save(pair, "--check") == 1
    assert says in capsys.readouterr().out and files(pair) == before


def test_a_changed_english_lesson_is_carried_run_and_its_old_text_listed(pair, capsys):
    change(pair, "en", "widths", "print(3)")
    change(pair, "en", "title", "# Heads\n\nOther words.")
    assert save(pair, "01") == 1  # a Spanish text is left to do
    assert "title: the English text has changed since" in capsys.readouterr().out
    spanish = read(pair / "es" / "01_heads.ipynb")
    assert sample.cell(spanish, "widths").outputs[0].text == "3\n"
    assert sample.cell(spanish, "title").source == sample.SPANISH["title"]
    assert save(pair, "01", "--translated", "title") == 0
    assert save(pair, "--check") == 0


def test_spanish_text_that_leaves_the_edition_is_shown_and_kept(pair, capsys, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(pair))
    before = (pair / "es" / "01_heads.ipynb").read_bytes()
    path = pair / "en" / "01_heads.ipynb"
    book = read(path)
    book.cells = [cell for cell in book.cells if cell.id not in ("split", "exercise")]
    path.write_text(text_of(book), encoding="utf-8")
    assert save(pair) == 0
    assert "Cada cabeza recibe" in capsys.readouterr().out
    [backup] = pair.glob("01_heads.es.*.ipynb")
    assert backup.read_bytes() == before


def test_a_lesson_without_spanish_edition_gets_one_to_translate(pair, capsys):
    (pair / "es" / "01_heads.ipynb").unlink()
    assert save(pair) == 1
    out = capsys.readouterr().out
    assert all(f"Spanish text to do: {name}: not translated yet" in out for name in sample.SPANISH)
    spanish = read(pair / "es" / "01_heads.ipynb")
    assert sample.cell(spanish, "start").outputs[0].text == "Listo.\n"


@pytest.mark.parametrize(
    "text, says",
    [
        ("d_model, H = 8, 0\nprint(d_model // H)", "ZeroDivisionError: integer division"),
        ("import os\nos._exit(1)", "the kernel died"),
        ("import sys\nprint('hm', file=sys.stderr)", "wrote to stderr: hm"),
        ("import os\nprint(os.getcwd())", "the output names a place on this machine"),
        ("print('Traceback (most recent call last)')", "shows a traceback"),
    ],
)
def test_a_lesson_that_fails_is_named_with_its_cell_and_left_alone(pair, capsys, text, says):
    change(pair, "en", "widths", text)
    before = files(pair)
    assert save(pair) == 2
    out = capsys.readouterr().out
    assert "NOT SAVED. en/01_heads, cell widths: " in out and says in out
    assert files(pair) == before


def test_a_cell_that_never_ends_is_named(pair, capsys, monkeypatch):
    monkeypatch.setattr(execute, "TIMEOUT", 1)
    change(pair, "en", "widths", "import threading\nthreading.Event().wait()")
    assert save(pair) == 2
    assert "en/01_heads, cell widths: no answer after 1 seconds" in capsys.readouterr().out


def test_a_lesson_may_not_start_without_its_language_line(pair, capsys):
    change(pair, "en", "start", "print('Ready.')")
    assert save(pair) == 2
    assert 'no code cell has the line start_lesson("en")' in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["07"], "'07' names no lesson"),
        (["01", "--translated", "nowhere"], "--translated nowhere: no text cell"),
        (["--translated", "widths"], "--translated widths: no text cell"),
    ],
)
def test_names_that_match_nothing_are_refused(pair, capsys, arguments, says):
    assert save(pair, *arguments) == 2
    assert says in capsys.readouterr().err


def test_a_cell_name_that_two_lessons_share_asks_for_the_lesson(pair, capsys):
    sample.write_pair(pair, name="02_more.ipynb")
    assert save(pair, "--translated", "title") == 2
    assert "01_heads, 02_more have such a cell" in capsys.readouterr().err


def test_a_lesson_is_found_by_either_file_or_by_how_its_name_begins(pair):
    english = pair / "en" / "01_heads.ipynb"
    for name in ("01", "01_heads", "01_heads.ipynb", "notebooks/es/01_heads.ipynb", str(english)):
        assert find_lesson(name, pair) == english
    sample.write_pair(pair, name="01_more.ipynb")
    with pytest.raises(SaveError, match="names several lessons"):
        find_lesson("01", pair)


def test_no_lesson_at_all_is_an_error(tmp_path, capsys):
    assert save(tmp_path) == 2
    assert "there is no lesson" in capsys.readouterr().err


def test_a_file_that_is_no_notebook_is_named(pair, capsys):
    (pair / "en" / "01_heads.ipynb").write_text("not json", encoding="utf-8")
    assert save(pair) == 2
    assert "01_heads.ipynb is not a notebook" in capsys.readouterr().err


def test_jupyter_metadata_of_one_session_goes(pair):
    path = pair / "en" / "01_heads.ipynb"
    book = read(path)
    book.metadata.kernelspec.name = "conda-env-clase-py"
    book.metadata["widgets"] = {"state": {}}
    book.metadata.language_info["version"] = "3.11.2"
    book.cells[0].metadata.update(editable=True, execution={"iopub.status.busy": "2025"})
    book.cells.append(new_markdown_cell("Some last words.", id="last"))
    path.write_text(text_of(book), encoding="utf-8")
    assert save(pair) == 1
    tidy = read(path)
    assert tidy.metadata.kernelspec.name == "python3" and "widgets" not in tidy.metadata
    assert "version" not in tidy.metadata.language_info and tidy.cells[0].metadata == {}


def test_runs_are_counted_from_one_whatever_the_session_did():
    book = sample.ran(sample.english())
    for number, cell in enumerate(book.cells):
        if cell.cell_type == "code":
            cell.execution_count = 40 - number
    sample.cell(book, "live").outputs[0].execution_count = 36
    normalise(book)
    counts = [cell.execution_count for cell in book.cells if cell.cell_type == "code"]
    assert counts == [1, 2, 3, 4, 5]
    assert sample.cell(book, "live").outputs[0].execution_count == 3


def test_a_file_that_cannot_be_written_stays_whole(tmp_path, monkeypatch):
    path = tmp_path / "01.ipynb"
    path.write_text("before", encoding="utf-8")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(SaveError, match="01.ipynb cannot be written: Permission denied"):
        write(path, "after")
    assert files(tmp_path) == {path: b"before"}
