"""What pip says, told in a few words, on any terminal."""

import errno
import io
import sys

import pytest

from helpers import texts
from launcher import cli, pip_run, say
from launcher.say import StepError

OFFLINE = """WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None))
 after connection broken by 'NewConnectionError('<HTTPSConnection object at 0x7f>: Failed to
 establish a new connection: [Errno -2] Name or service not known')': /simple/torch/
ERROR: Could not find a version that satisfies the requirement torch==2.13.0 (from versions: none)
ERROR: No matching distribution found for torch==2.13.0
"""
NO_PIN = """ERROR: Could not find a version that satisfies the requirement torch==9 (2, 3)
ERROR: No matching distribution found for torch==9
"""
OS_ERROR = "ERROR: Could not install packages due to an OSError: "
NO_ROOM = OS_ERROR + "[Errno 28] No space left on device\n"


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        (OFFLINE, "no_index"),
        ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]'))", "no_index"),
        ("pip._vendor.urllib3.exceptions.ReadTimeoutError: Read timed out.", "no_index"),
        (NO_PIN, "no_pin"),
        (NO_ROOM, "no_room"),
        (OS_ERROR + "[WinError 112] There is not enough space on the disk: 'C:\\x'", "no_room"),
        (OFFLINE + NO_ROOM, "no_room"),
        (OS_ERROR + "[WinError 5] Access is denied: 'torch\\_C.pyd'", "refused"),
        (OS_ERROR + "[Errno 13] Permission denied: '/srv/course'", "refused"),
        (OS_ERROR + "[WinError 206] The filename or extension is too long", "long_path"),
        ("ERROR: ResolutionImpossible: for help visit", "conflict"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "damaged"),
        ("ERROR: something pip never said before", None),
    ],
)
def test_the_reason_is_read_from_what_pip_prints(output, kind):
    assert pip_run.kind_of_failure(output)[0] == kind
    failure = pip_run.explain(output.splitlines(keepends=True), "setup.log")
    assert failure.why and failure.advice and failure.log == "setup.log"


def test_a_failure_shows_pips_error_lines_and_no_more():
    lines = [f"Collecting package{n}\n" for n in range(100)] + NO_PIN.splitlines(keepends=True)
    failure = pip_run.explain(lines, None)
    assert failure.details == NO_PIN.splitlines()
    assert "torch==9" in failure.why
    assert len(pip_run.explain(lines[:100], None).details) == 6


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("Collecting torch==2.13.0 (from -r requirements.txt (line 2))", "torch"),
        ("  Downloading torch-2.13.0-cp312-none-macosx_11_0.whl (80.1 MB)", "torch (80.1 MB)"),
        ("  Downloading six-1.17.0-py2.py3-none-any.whl.metadata (1.7 kB)", None),
        ("Processing /wheels/torch-2.13.0+cpu-cp311.whl (from -r requirements.txt)", "torch"),
        ("Installing collected packages: " + ", ".join("abcdefghijkl"), "unpacking 12 packages"),
        ("WARNING: Retrying (Retry(total=4, connect=None)) after", "the package index does not"),
        ("Requirement already satisfied: six in ./lib", None),
        ("Obtaining file:///home/course", None),
    ],
)
def test_the_few_words_of_pip_that_are_shown(line, shown):
    said = pip_run.what_it_says(line)
    assert said is None if shown is None else said.startswith(shown)


@pytest.mark.parametrize(
    ("version", "without_index", "renewed"),
    [
        ("23.2.1", False, True), ("24.3", False, True), (None, False, True),
        ("25.0", False, False), ("26.1b1", False, False), ("23.2.1", True, False),
    ],
)  # fmt: skip
def test_a_slow_pip_is_renewed_where_there_is_an_index(
    version, without_index, renewed, monkeypatch
):
    class Here:
        def ask(self, code):
            return version

    asked = []

    def none_to_be_had(environment, arguments):
        asked.append(arguments)
        raise StepError("no index", "look")

    monkeypatch.setattr(pip_run, "install", none_to_be_had)
    monkeypatch.delenv("PIP_NO_INDEX", raising=False)
    if without_index:
        monkeypatch.setenv("PIP_NO_INDEX", "1")
    pip_run.renew(Here())  # and what went wrong is not told here
    assert asked == ([["--retries", "0", pip_run.QUICK_PIP]] if renewed else [])
    quick = tuple(int(number) for number in pip_run.QUICK_PIP.split("==")[1].split("."))
    assert quick >= pip_run.QUICK


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_one_line_on_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    stream = Terminal()
    progress = say.Progress(stream)
    for name in ("torch", "numpy", "x" * 200):
        progress.show(name)
    progress.tick()
    progress.close()
    assert "\n" not in stream.getvalue()
    assert max(len(part) for part in stream.getvalue().split("\r")) < 60
    assert stream.getvalue().endswith("\r")


def test_progress_is_wrapped_names_in_a_file(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    stream = io.StringIO()
    progress = say.Progress(stream)
    names = [f"package-{n}" for n in range(30)]
    for name in names:
        progress.show(name)
        progress.tick()
    progress.close()
    lines = stream.getvalue().splitlines()
    assert stream.getvalue().split() == names
    assert 3 < len(lines) < 10 and max(len(line) for line in lines) <= 60


# Speaking -----------------------------------------------------------------------------------


@pytest.mark.parametrize("language", texts.LANGUAGES)
@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "cp437", "utf-8"])
def test_c35_every_text_can_be_printed(monkeypatch, language, encoding):
    texts.set_language(language)
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    say.speak_on_any_terminal()

    def walk(node):
        for value in node.values() if isinstance(node, dict) else ():
            walk(value)
        if isinstance(node, str):
            print(node)

    walk(texts.texts_under("launcher"))
    print("\N{CHECK MARK} «¿dónde?» \udcf1 漢")
    stream.flush()
    last = stream.buffer.getvalue().splitlines()[-1].decode(encoding, errors="replace")
    assert "nde?" in last
    if encoding == "ascii":
        assert last == '? "donde?" ? ?'


def test_long_lines_break_between_words_on_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    say.say("a sentence that is longer than this narrow terminal is wide")
    assert terminal.getvalue().splitlines() == [
        "a sentence that is longer than this",
        "narrow terminal is wide",
    ]


def test_a_failed_step_is_named_with_its_reason_and_what_to_try(capsys):
    steps = say.Steps(total=2)
    with steps.step("Making tea"):
        pass
    with pytest.raises(StepError) as caught, steps.step("Pouring it"):
        raise OSError(errno.ENOSPC, "No space left on device")
    say.say_failure(caught.value)
    out = capsys.readouterr().out
    assert "[1/2] Making tea ..." in out and "[2/2] Pouring it ..." in out
    assert "This step did not work: Pouring it." in out
    assert "Why: there is no room left on the disk." in out
    assert "What to try: free some room" in out


def test_ctrl_c_anywhere_is_a_sentence_and_130(monkeypatch, capsys):
    def interrupted(wishes):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "run", interrupted)
    assert cli.main(["lab", "--lang", "es"]) == 130
    assert "Interrumpido." in capsys.readouterr().out
