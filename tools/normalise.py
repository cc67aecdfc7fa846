"""The same notebook however, wherever and whenever it was run."""

import copy

from nbformat import NotebookNode, from_dict

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "pygments_lexer": "ipython3",
}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CELL_METADATA = ("course", "tags")


def normalise(notebook: NotebookNode) -> None:
    """Leave in the notebook only what a reader or a test needs. Works in place.

    A saved widget view without its widget is shown as "model not found" by JupyterLab in a
    notebook it trusts, and as nothing at all in exported HTML; without the view the picture
    beside it is shown everywhere. nbval does not compare views, so it goes, and the output's
    metadata remembers that it was live.
    """
    notebook.metadata = from_dict({"kernelspec": KERNEL, "language_info": LANGUAGE})
    count = 0
    for cell in notebook.cells:
        kept = {k: v for k, v in cell.metadata.items() if k in CELL_METADATA and v}
        cell.metadata = NotebookNode(kept)
        if cell.cell_type != "code":
            continue
        count += bool(cell.source.strip())
        cell.execution_count = count if cell.source.strip() else None
        for output in cell.outputs:
            _normalise_output(output, cell.execution_count)


def _normalise_output(output: NotebookNode, count: int | None) -> None:
    if output.output_type == "execute_result":
        output.execution_count = count
    if WIDGET_VIEW in output.get("data", {}):
        del output.data[WIDGET_VIEW]
        output.metadata["course"] = NotebookNode(live=True)


def without_outputs(notebook: NotebookNode) -> NotebookNode:
    """Everything but what a run makes, for comparing two states of a lesson."""
    bare = copy.deepcopy(notebook)
    for cell in bare.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return bare
