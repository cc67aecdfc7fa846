"""Run a lesson in a fresh kernel, as a reader would with Run All."""

import os
import subprocess
import tempfile
from pathlib import Path

from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from helpers.classroom.kernel import ThisPython

from .lessons import SaveError

TIMEOUT = 120  # seconds for one cell
# Nothing may look for news, weights or fonts elsewhere while a lesson runs.
QUIET = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


def execute(notebook: NotebookNode, folder: Path, name: str) -> None:
    """Run every cell, in place, with `folder` as the working directory.

    Raises SaveError that names the lesson and the cell and says what happened.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    running = {"cell": "the first cell"}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        client = NotebookClient(
            notebook,
            km=AsyncKernelManager(kernel_name="python3", kernel_spec_manager=ThisPython()),
            timeout=TIMEOUT,
            store_widget_state=False,
            record_timing=False,
            coalesce_streams=True,
            on_cell_start=lambda cell, cell_index: running.update(cell=cell.id),
        )
        try:
            client.execute(cwd=str(folder), env=_environment(scratch), stderr=subprocess.DEVNULL)
        except CellExecutionError as error:
            what = f"{error.ename}: {error.evalue}".strip()
            raise SaveError(f"{name}, cell {running['cell']}: {what}") from None
        except CellTimeoutError:
            what = f"no answer after {TIMEOUT} seconds"
            raise SaveError(f"{name}, cell {running['cell']}: {what}") from None
        except (DeadKernelError, RuntimeError) as error:
            raise SaveError(f"{name}, cell {running['cell']}: the kernel died ({error})") from None


def _environment(scratch: str) -> dict[str, str]:
    """The author's environment without what would change a lesson's outputs."""
    kept = {k: v for k, v in os.environ.items() if k not in ("MPLBACKEND", "PYTHONSTARTUP")}
    own = {"IPYTHONDIR": scratch, "ATTENTION_COURSE_PROGRESS": "off"}
    return {**kept, **QUIET, **own}
