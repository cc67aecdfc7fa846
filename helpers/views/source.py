"""Scripts and stylesheets of the views, read and joined.

The page loads each view's script by itself and can import no other file from here, so what
several views share is put in front of theirs: `script("nodes", "axes", "cell_view")`.
"""

from pathlib import Path

_here = Path(__file__).parent


def script(*names: str) -> str:
    """The scripts beside this file, "nodes" for nodes.js, one after the other; before them
    late.js, whose `initialize` every view exports beside its own `render`."""
    return _joined(("late", *names), ".js")


def style(*names: str) -> str:
    """The stylesheets beside this file, one after the other."""
    return _joined(names, ".css")


def _joined(names, ending: str) -> str:
    files = (_here / f"{name}{ending}" for name in names)
    return "\n".join(file.read_text(encoding="utf-8") for file in files)
