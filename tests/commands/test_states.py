"""Whether an environment is whole, where it goes, and whether there is room for it."""

import errno
import os
import sys
from pathlib import Path

import pytest

from helpers import texts
from launcher import children, environment, say, set_up
from launcher.environment import DEVELOPER_FILES, READER_FILES, Environment
from launcher.say import StepError


def test_states(here, monkeypatch, tmp_path):
    assert Environment(tmp_path / "none").state() == "missing"
    (tmp_path / "empty").mkdir()
    assert Environment(tmp_path / "empty").state() == "missing"
    assert here.state() == "unfinished"
    here.mark(READER_FILES)
    assert here.state() == "ready"
    assert here.state(DEVELOPER_FILES) == "unfinished"
    assert here.is_ready() and not here.is_ready((READER_FILES, DEVELOPER_FILES))
    monkeypatch.setattr(environment, "fingerprint", lambda files: "other")
    assert here.state() == "changed"
    monkeypatch.setattr(environment, "PROJECT", tmp_path)
    assert here.state() == "moved"
    here.python.unlink()
    here.python.symlink_to(tmp_path / "gone")
    assert here.state() == "broken"


@pytest.mark.parametrize("found", [(3, 10), (3, 99), None])
def test_another_python_than_the_marked_one_is_broken(here, monkeypatch, found):
    here.mark(READER_FILES)
    monkeypatch.setattr(here, "python_version", lambda: found)
    assert here.state() == "broken"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"requirements": 1, "python": 3}'])
def test_a_marker_cut_short_counts_as_unfinished(here, text):
    here.mark(READER_FILES)
    (marker,) = here.folder.glob("course-*.json")
    marker.write_text(text, encoding="utf-8")
    assert here.state() == "unfinished"


def test_c35_the_mark_names_any_folder_in_ascii(here, monkeypatch, tmp_path):
    folder = tmp_path / "Curso de atención" / "ñandú 1"
    folder.mkdir(parents=True)
    for name in READER_FILES:
        (folder / name).write_text("numpy==1\n", encoding="utf-8")
    monkeypatch.setattr(environment, "PROJECT", folder)
    here.mark(READER_FILES)
    (marker,) = here.folder.glob("course-*.json")
    assert marker.read_bytes().isascii()
    assert here.state() == "ready"


@pytest.mark.parametrize(
    ("system", "python"), [("nt", ".venv/Scripts/python.exe"), ("posix", ".venv/bin/python")]
)
def test_the_python_of_an_environment(system, python):
    assert children.python_in(Path(".venv"), system) == Path(python)


@pytest.mark.parametrize(
    ("platform", "variable"),
    [("linux", {"XDG_DATA_HOME": "data"}), ("darwin", {"HOME": "data"})],
)
def test_c36_the_users_own_folder(monkeypatch, tmp_path, platform, variable):
    monkeypatch.setattr(sys, "platform", platform)
    for name, folder in variable.items():
        monkeypatch.setenv(name, str(tmp_path / folder))
    found = environment.folder_of_the_user()
    assert found.is_relative_to(tmp_path / "data") and found.parent.is_dir()
    monkeypatch.setattr(children, "can_write", lambda folder: False)
    with pytest.raises(StepError, match="neither the course's folder nor your own"):
        environment.folder_of_the_user()


def test_only_what_looks_like_an_environment_is_deleted(here, tmp_path):
    other = Environment(tmp_path / "photos")
    other.folder.mkdir()
    (other.folder / "summer.jpg").touch()
    with pytest.raises(StepError, match="is not a Python environment") as caught:
        set_up.remove(other)
    assert (other.folder / "summer.jpg").exists() and "move it away" in caught.value.advice
    set_up.remove(here)
    assert not here.folder.exists()


def test_a_python_without_venv(monkeypatch, tmp_path):
    monkeypatch.setattr(set_up.importlib.util, "find_spec", lambda name: name != "ensurepip")
    with pytest.raises(StepError, match="without the modules venv and ensurepip") as caught:
        set_up.create(Environment(tmp_path / ".venv"))
    version = ".".join(str(part) for part in sys.version_info[:2])
    assert f"sudo apt install python{version}-venv" in caught.value.advice


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        ("The virtual environment was not created successfully because ensurepip is not", "venv"),
        ("Error: [Errno 28] No space left on device: '.venv/bin/pip'", "no room left"),
        ("Error: something else", "could not make the environment"),
    ],
)
def test_a_venv_that_fails(monkeypatch, tmp_path, printed, why):
    failed = set_up.subprocess.CompletedProcess([], 1, stdout=printed)
    monkeypatch.setattr(set_up.subprocess, "run", lambda *a, **k: failed)
    with pytest.raises(StepError, match=why) as caught:
        set_up.create(Environment(tmp_path / ".venv"))
    assert caught.value.details == [printed]


# Room on the disk ---------------------------------------------------------------------------


class Free:
    def __init__(self, gigabytes):
        self.free = gigabytes * 1_000_000_000


def test_too_little_room_is_said_before_anything_is_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(set_up.shutil, "disk_usage", lambda folder: Free(1.26))
    with pytest.raises(StepError, match=r"1\.3 GB free .* at least 3 GB are needed"):
        set_up.check_room(tmp_path / ".venv")
    texts.set_language("es")
    with pytest.raises(StepError, match=r"quedan 1\.3 GB libres .* al menos 3 GB") as caught:
        set_up.check_room(tmp_path / ".venv")
    assert "libera espacio" in caught.value.advice


def test_room_for_one_torch_but_not_the_other_is_a_note_on_linux(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(set_up.shutil, "disk_usage", lambda folder: Free(4))
    for platform, said in (("linux", True), ("darwin", False)):
        monkeypatch.setattr(sys, "platform", platform)
        set_up.check_room(tmp_path / ".venv")
        assert ("4.0 GB are free" in capsys.readouterr().out) is said


def test_room_for_downloads_on_a_disk_of_their_own(monkeypatch, tmp_path):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(set_up.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    device = {str(tmp_path): 1, str(tmp_path / "tmp"): 2}
    room = {str(tmp_path): Free(50), str(tmp_path / "tmp"): Free(0.2)}
    real = os.stat

    class Stat:
        def __init__(self, folder):
            self.st_dev = device[str(folder)]

    monkeypatch.setattr(set_up.os, "stat", lambda f, **k: Stat(f) if str(f) in device else real(f))
    monkeypatch.setattr(set_up.shutil, "disk_usage", lambda folder: room[str(folder)])
    with pytest.raises(StepError, match=r"0\.2 GB free in .*tmp, and at least 1 GB"):
        set_up.check_room(tmp_path / ".venv")


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left"), OSError(errno.EDQUOT, "quota")]
)
def test_an_error_for_want_of_room_is_said_so(error):
    assert say.from_os_error(error).why == "there is no room left on the disk."
    other = say.from_os_error(PermissionError(errno.EACCES, "Permission denied", "x.py"))
    assert "x.py" in other.why
