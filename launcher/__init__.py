"""What `course.py` does: the environment, JupyterLab, the tests. Standard library only.

It runs before anything is installed, so the one thing it takes from the course is the
lookup of texts, `helpers.texts`, which needs nothing either.
"""

from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
