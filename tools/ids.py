"""Names for cells, so that a message about a cell can be understood."""

import re

from nbformat import NotebookNode

# What Jupyter makes up for a new cell: 8 hex digits, or a whole UUID.
MADE_UP = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8}")
LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def give_ids(notebook: NotebookNode) -> dict[str, str]:
    """Name every cell whose id is missing, illegal, doubled or made up. Returns old -> new.

    The new id comes from the section's heading; an id that an author chose stays for good.
    """
    keep = _good_ids(notebook)
    taken = {cell.id for cell, good in zip(notebook.cells, keep, strict=True) if good}
    renamed: dict[str, str] = {}
    section = "lesson"
    for cell, good in zip(notebook.cells, keep, strict=True):
        heading = re.search(r"^#{1,6}\s+(.+)$", cell.source, re.MULTILINE)
        if cell.cell_type == "markdown" and heading:
            section = _slug(heading[1]) or section
        if good:
            continue
        base = name = _name_for(cell, section)
        number = 2
        while name in taken:
            name, number = f"{base}-{number}", number + 1
        taken.add(name)
        if (old := cell.get("id")) and old not in taken:
            renamed[old] = name
        cell["id"] = name
    notebook.nbformat, notebook.nbformat_minor = 4, max(5, notebook.get("nbformat_minor", 0))
    return renamed


def _good_ids(notebook: NotebookNode) -> list[bool]:
    seen, good = set(), []
    for cell in notebook.cells:
        name = cell.get("id") or ""
        usable = LEGAL.fullmatch(name) and not MADE_UP.fullmatch(name) and name not in seen
        good.append(bool(usable))
        seen.add(name)
    return good


def _slug(text: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return "-".join(plain.split("-")[:5])[:40].strip("-")


def _name_for(cell: NotebookNode, section: str) -> str:
    if cell.cell_type != "code":
        return section if cell.source.lstrip().startswith("#") else f"{section}-text"
    lines = [line for line in cell.source.splitlines() if line.strip()]
    call = re.match(r"(?:\w+\s*=\s*)?([A-Za-z_]\w*)\(", lines[-1]) if lines else None
    return f"{section}-{_slug(call[1])}" if call else f"{section}-code"
