"""A Python that is too old is told so in words."""

import ast

from fake_course import PROJECT

import course as entry


def test_course_py_can_be_read_by_any_python():
    source = (PROJECT / "course.py").read_text(encoding="utf-8")
    assert source.isascii()  # Python 2 reads no other without being told
    tree = ast.parse(source, feature_version=(3, 4))
    new = (ast.JoinedStr, ast.NamedExpr, ast.AnnAssign, ast.Match, ast.AsyncFunctionDef)
    assert [node for node in ast.walk(tree) if isinstance(node, new)] == []
    annotated = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.returns]
    assert annotated == []


def test_old_python_is_told_in_both_languages(monkeypatch, capsys):
    monkeypatch.setattr(entry.sys, "version_info", (3, 8, 18, "final", 0))
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert entry.main() == 1
    out = capsys.readouterr().out
    assert "needs Python 3.11 or newer; this is Python 3.8.18" in out
    assert "necesita Python 3.11 o posterior, y este es Python 3.8.18" in out
    assert "python.org" in out


def test_old_python_names_a_newer_one_that_is_there(monkeypatch, capsys):
    monkeypatch.setattr(entry.sys, "version_info", (3, 9, 6, "final", 0))
    monkeypatch.setattr("shutil.which", lambda name: name == "python3.12")
    assert entry.main() == 1
    assert "python3.12 course.py lab" in capsys.readouterr().out
