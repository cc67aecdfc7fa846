"""What `course.py` does: the environment, JupyterLab, the tests. Standard library only.

It runs before anything is installed, so it takes no more from the course than the lookup of
texts, `helpers.texts`, and the list of packages in `helpers.lesson`, which need nothing either.
`kernel_socket` alone is loaded by JupyterLab, and not from here.
"""

from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
