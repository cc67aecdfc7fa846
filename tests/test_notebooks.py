"""Every lesson file, in both editions, keeps the rules of `tools/rules/`.

That two fresh kernels give the same outputs (C38a) is what `--nbval` in `course.py test` asks of
every cell. Here: what can be told from the files, and that each rule is able to fail.
"""

import sys
import warnings
from pathlib import Path

import nbformat
import pytest
import sample_lesson as sample
from nbformat.v4 import new_code_cell, new_markdown_cell

from launcher import testing
from launcher.environment import Environment
from tools import rules
from tools.lessons import ROOT, lessons, read, text_of
from tools.normalise import normalise
from tools.rules import code, files, outputs, prose

PATHS = [*lessons(), *lessons(language="es")]
each_lesson = pytest.mark.parametrize("path", PATHS, ids=lambda p: f"{p.parent.name}/{p.stem}")


# The lessons ------------------------------------------------------------------------------


def test_there_are_lessons():
    assert lessons(), "no English lesson was found: every other test here would say nothing"
    assert lessons(language="es"), "no Spanish lesson was found"


@each_lesson
@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_lesson_keeps_the_rule(path, rule):
    assert rule(read(path)) == []


@each_lesson
def test_c34_lesson_opens_everywhere(path):
    assert files.too_big(path) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nbformat.validate(nbformat.read(path, as_version=4))


@each_lesson
def test_links_and_pictures_of_the_lesson_lead_somewhere(path):
    assert prose.broken_links(read(path), path.parent) == []


@each_lesson
def test_lesson_is_saved_the_way_save_writes_it(path):
    tidy = read(path)
    normalise(tidy)
    assert path.read_text(encoding="utf-8") == text_of(tidy)


def test_first_code_cell_is_the_same_in_all_lessons():
    cells = {rules.first_cell(read(path)) for path in PATHS}
    assert len(cells) == 1, "\n\n---\n\n".join(sorted(cells))


# Half a minute of training in lesson 07, where no answer is used; nbval runs these.
TRAINING = {
    *("explorer-run", "table-run", "curves-run", "slow-run"),
    *("look-run", "measure-run", "gate-run", "readout-run", "three-run"),
}


@pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem)
def test_the_solutions_of_the_lesson_pass_their_checks(path):
    book = read(path)
    for heading, cells in prose.exercises(book).items():
        [exercise], answers = prose.check_ids(cells), prose.solutions(cells)
        assert answers, heading
        tried = [f'{answer}\nassert check("{exercise}").passed' for answer in answers]
        after = book.cells.index(cells[-1]) + 1
        book.cells[after:after] = [new_code_cell(code, id="solution") for code in tried]
    names = {"__name__": "__main__"}
    for cell in book.cells:  # no kernel and no pictures: the outputs are nbval's to compare
        if cell.cell_type == "code" and not (path.stem[:2] == "07" and cell.id in TRAINING):
            exec(compile(cell.source, f"{path.stem}: {cell.id}", "exec"), names)


def run_as_course_test_does(folder, monkeypatch):
    """What `course.py test` does with the lessons below `folder`: (passed, counts)."""
    monkeypatch.setattr(testing, "PROJECT", folder)
    monkeypatch.setattr(testing, "EDITIONS", ("notebooks/en",))
    monkeypatch.setattr(testing, "TWO_WORKERS", [])
    (folder / "scratch").mkdir()
    environment = Environment(Path(sys.prefix))
    env = testing.variables(environment, folder / "scratch")
    return testing.lessons(environment, env, folder / "scratch")


@pytest.mark.parametrize("broken", [False, True], ids=["as it is", "another output"])
def test_c32_a_kernel_name_of_another_machine_fails_no_lesson(tmp_path, monkeypatch, broken):
    book = sample.ran(sample.english())
    book.metadata.kernelspec.name = "conda-env-clase-py"
    if broken:
        sample.cell(book, "widths").outputs[0].text = "3\n"
    sample.write_pair(tmp_path / "notebooks", en=book)
    passed, counts = run_as_course_test_does(tmp_path, monkeypatch)
    assert passed is not broken and counts.startswith("4 passed" if broken else "5 passed"), counts


# Each rule can fail -----------------------------------------------------------------------


def output(name, *made):
    """Put these outputs below a cell."""
    return lambda book: sample.cell(book, name).update(outputs=list(made))


def source(name, text):
    return lambda book: sample.cell(book, name).update(source=text)


def added(text, kind=new_markdown_cell):
    return lambda book: book.cells.append(kind(text, id="added"))


def html(text):
    return output("widths", nbformat.v4.new_output("display_data", {"text/html": text}))


def plain(text):
    return output("widths", nbformat.v4.new_output("display_data", {"text/plain": text}))


def error(book):
    made = nbformat.v4.new_output("error", ename="ValueError", evalue="no", traceback=[])
    sample.cell(book, "widths").outputs = [made]


BROKEN = [
    (files.invalid, lambda book: book.update(nbformat_minor=4), "format 4.4"),
    (files.invalid, lambda book: book.cells[2].pop("id"), "cell 3 has no id"),
    (files.invalid, lambda book: book.cells[2].update(id="start"), "start: this id stands on two"),
    (files.invalid, lambda book: book.cells[2].update(id="a b"), "not valid"),
    (files.invalid, lambda book: book.cells[1].pop("outputs"), "not valid"),
    (files.saved_widgets, lambda book: book.metadata.update(widgets={"a": 1}), "widget state"),
    (files.saved_widgets, output("live", sample.output_live()), "live: keeps a widget view"),
    (
        files.other_kernel,
        lambda book: book.metadata.kernelspec.update(name="conda-env-clase-py"),
        "'conda-env-clase-py'",
    ),
    (outputs.not_run, lambda book: sample.cell(book, "live").update(execution_count=7), "live"),
    (outputs.not_run, lambda book: sample.cell(book, "live").update(execution_count=None), "live"),
    (outputs.not_run, lambda book: book.update(cells=book.cells[:1]), "no code"),
    (outputs.errors_shown, error, "widths: ended in ValueError: no"),
    (outputs.errors_shown, output("widths", sample.output_text("hm", "stderr")), "stderr: hm"),
    (
        outputs.errors_shown,
        output("widths", sample.output_text("Traceback (most recent call last):\n ...")),
        "widths: shows a traceback",
    ),
    (outputs.machine_paths, output("widths", sample.output_text("/home/ana/x.py")), "/home/ana"),
    (outputs.machine_paths, output("widths", sample.output_text(r"C:\Users\Ana")), "widths"),
    (outputs.machine_paths, output("widths", sample.output_text(f"in {ROOT}")), "widths"),
    (outputs.machine_paths, plain("<function f at 0x7f1200aa>"), "at 0x7f1200aa"),
    (outputs.fetched, html('<script src="https://a.org/d3.js"></script>'), "brings a script"),
    (outputs.fetched, html("<img src='//a.org/x.png'>"), "loads src"),
    (outputs.fetched, html("<style>@import 'https://a.org/f.css'</style>"), "loads @import"),
    (outputs.fetched, html("<style>a {src: url(http://a.org/f.woff)}</style>"), "loads url("),
    (outputs.fetched, html('<link rel=stylesheet href="https://a.org/f.css">'), "loads <link"),
    (outputs.nothing_to_read, plain("VBox(children=(IntSlider(value=4),))"), "nothing to read"),
    (outputs.nothing_to_read, plain("<helpers.views.Heads object>"), "nothing to read"),
    (outputs.nothing_to_read, plain(""), "nothing to read"),
    (
        outputs.nothing_to_read,
        output(
            "widths",
            nbformat.v4.new_output(
                "display_data", {"image/png": sample.PIXEL, "text/plain": "<Figure size 1x1>"}
            ),
        ),
        "without any words",
    ),
    (code.unwanted_code, source("widths", "interact(f, H=(1, 8))"), "interact"),
    (code.unwanted_code, source("widths", "out = widgets.Output()"), "Output"),
    (code.unwanted_code, source("widths", "clear_output(wait=True)"), "clear_output"),
    (code.unwanted_code, source("widths", "explorer;  # quiet"), "semicolon"),
    (code.unwanted_code, source("widths", "!pip install torch"), "not plain Python"),
    (
        code.hidden_live_view,
        lambda book: sample.cell(book, "live").outputs.extend(sample.cell(book, "live").outputs),
        "live: shows 2 live views",
    ),
    (
        code.hidden_live_view,
        lambda book: sample.cell(book, "live").outputs[0].update(output_type="display_data"),
        "live: the live view is not the last expression",
    ),
    (code.unchecked_cells, source("widths", "# NBVAL_IGNORE_OUTPUT\nprint(1)"), "without its reas"),
    (code.unchecked_cells, source("widths", "# NBVAL_SKIP\nprint(1)"), "NBVAL_SKIP"),
    (
        code.unchecked_cells,
        lambda book: sample.cell(book, "widths").metadata.update(tags=["raises-exception"]),
        "raises-exception",
    ),
    (code.no_start, source("start", "import torch"), "no line start_lesson"),
    (prose.heading_faults, source("split", "# Another title"), "2 titles"),
    (prose.heading_faults, source("title", "## Heads"), "0 titles"),
    (prose.heading_faults, source("title", "Hello\n\n# Heads"), "does not start with the title"),
    (prose.heading_faults, source("split", "#### Deep"), "'Deep' skips a level"),
    (prose.exercise_faults, source("solution", "Think about it."), "'Exercise 1': no <details>"),
    (prose.exercise_faults, source("check", "print(1)"), "'Exercise 1': 0 checks"),
    (prose.exercise_faults, source("stub", 'check("01.a")'), "'Exercise 1': no cell to write"),
    (
        prose.exercise_faults,
        source("solution", "<details>\n<summary>Hint</summary>\n\nDivide.\n\n</details>"),
        "'Exercise 1': no <details> with the code",
    ),
    (prose.exercise_faults, added("### Exercise 2\n\nMore."), "'Exercise 2': no cell"),
    (prose.details_faults, source("split", "<details>\n<summary>Solution</summary>"), "pair up"),
    (
        prose.details_faults,
        source("split", "<details>\n<summary>Hint</summary>\n**no**\n</details>"),
        "a blank line is missing",
    ),
    (prose.belittling_words, source("split", "This is simply a view."), "split: 'simply'"),
    (prose.belittling_words, source("split", "Obviamente, no."), "split: 'Obviamente'"),
    (prose.belittling_words, source("widths", "H = 4  # just a number"), "widths: 'just'"),
]


@pytest.mark.parametrize(
    "rule, broken, says",
    BROKEN,
    ids=[f"{rule.__name__}-{number}" for number, (rule, _, _) in enumerate(BROKEN)],
)
def test_the_rule_names_what_is_broken(rule, broken, says):
    book = sample.ran(sample.english())
    assert rule(book) == []
    broken(book)
    found = rule(book)
    assert any(says in line for line in found), found


def test_every_rule_is_shown_to_fail():
    assert {rule for rule, _, _ in BROKEN} == set(rules.RULES)


@pytest.mark.parametrize("book", [sample.english, sample.spanish])
def test_a_sound_lesson_has_no_faults(tmp_path, book):
    path = tmp_path / "01_heads.ipynb"
    path.write_text(text_of(sample.ran(book())), encoding="utf-8")
    assert rules.faults(path) == []


@pytest.mark.parametrize(
    "text, says",
    [
        ("[next](02_none.ipynb)", "02_none.ipynb: no such file"),
        ("[there](#Nowhere)", "#Nowhere: no such heading"),
        ("![map](map.png)", "map.png: no such file"),
        ("![map](https://a.org/map.png)", "a picture or script from elsewhere"),
        ('<img src="https://a.org/map.png">', "a picture or script from elsewhere"),
        ('<a href="none.ipynb">x</a>', "none.ipynb: no such file"),
        ("![x](attachment:x.png)", "no such attachment"),
        ("[x](/etc/hosts)", "not relative"),
    ],
)
def test_a_link_that_leads_nowhere_is_named(tmp_path, text, says):
    book = sample.english()
    added(text)(book)

    assert says in prose.broken_links(book, tmp_path)[0]


@pytest.mark.parametrize(
    "text",
    [
        "[next](02_caf%C3%A9.ipynb#Start)",
        "[paper](https://arxiv.org/abs/1706.03762)",
        "[here](#Splitting)",
        "`[not](a-link)`",
        "```\n[not](a-link)\n```",
    ],
)
def test_a_link_that_leads_somewhere_is_left_alone(tmp_path, text):
    (tmp_path / "02_café.ipynb").write_text("{}", encoding="utf-8")
    book = sample.english()
    added(text)(book)
    assert prose.broken_links(book, tmp_path) == []


def test_a_cell_without_id_or_a_big_file_is_a_fault_of_the_file(tmp_path):
    path = tmp_path / "01.ipynb"
    book = sample.ran(sample.english())
    del book.cells[2]["id"]
    path.write_text(text_of(book), encoding="utf-8")
    assert rules.faults(path) == ["cell 3 has no id"]
    path.write_bytes(b" " * rules.MOST_BYTES)
    assert "1 MB" in files.too_big(path)[0]


def test_an_ignored_output_with_its_reason_is_accepted():
    book = sample.english()
    source("widths", "# NBVAL_IGNORE_OUTPUT\n# a time: other on every machine\nprint(1)")(book)
    added("x = 1  # a; b", new_code_cell)(book)
    assert code.unchecked_cells(book) == [] and code.unwanted_code(book) == []
