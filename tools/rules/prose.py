"""What holds for the text cells of every lesson: headings, exercises, links, words."""

import re
from pathlib import Path
from urllib.parse import unquote

from nbformat import NotebookNode

FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.DOTALL | re.MULTILINE)


def _texts(notebook: NotebookNode):
    """(cell, its text without code) for every text cell."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = FENCE.sub(" ", cell.source)
            yield cell, re.sub(r"`[^`\n]*`", " ", text)


def headings(notebook: NotebookNode) -> list[tuple]:
    """(cell, level, words) for every heading, code blocks aside."""
    pattern = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$", re.MULTILINE)
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for match in pattern.finditer(FENCE.sub(" ", cell.source)):
                found.append((cell, len(match[1]), match[2]))
    return found


def heading_faults(notebook: NotebookNode) -> list[str]:
    """One title, at the top; no level left out on the way down."""
    found = []
    levels = headings(notebook)
    if [level for _, level, _ in levels].count(1) != 1:
        found.append(f"{[level for _, level, _ in levels].count(1)} titles (#): a lesson has one")
    if not notebook.cells or not notebook.cells[0].source.lstrip().startswith("# "):
        found.append("the first cell does not start with the title")
    for (_, above, _), (cell, level, words) in zip(levels, levels[1:], strict=False):
        if level > above + 1:
            found.append(f"{cell.id}: the heading {words!r} skips a level")
    return found


EXERCISE = re.compile(r"^[\W\d_]*(?:Exercise|Ejercicio)\b", re.IGNORECASE)
SOLUTION = re.compile(
    r"<details>\s*<summary>[^<]*(?:<\w+>)?[^<]*(?:Solution|Solución).*?</summary>(.*?)</details>",
    re.DOTALL | re.IGNORECASE,
)
CHECK = re.compile(r"""\bcheck\(\s*["']([\w.]+)["']""")


def exercises(notebook: NotebookNode) -> dict[str, list[NotebookNode]]:
    """Heading of each exercise -> its cells, up to the next heading of its level or above."""
    found: dict[str, list[NotebookNode]] = {}
    current, depth = None, 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for match in re.finditer(r"^(#{1,6})\s+(.+)$", FENCE.sub(" ", cell.source), re.M):
                if EXERCISE.match(match[2]):
                    current, depth = match[2].strip(), len(match[1])
                    found[current] = []
                elif len(match[1]) <= depth:
                    current = None
        if current is not None:
            found[current].append(cell)
    return found


def solutions(cells: list[NotebookNode]) -> list[str]:
    """The Python of each folded solution among the cells of an exercise."""
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return [block for folded in SOLUTION.findall(text) for block in code_blocks(folded)]


def code_blocks(text: str) -> list[str]:
    return re.findall(r"^```python[ \t]*\n(.*?)^```[ \t]*$", text, re.DOTALL | re.MULTILINE)


def check_ids(cells: list[NotebookNode]) -> list[str]:
    """The exercises that these cells check, "01.attention_weights"."""
    return [
        name for cell in cells if cell.cell_type == "code" for name in CHECK.findall(cell.source)
    ]


def exercise_faults(notebook: NotebookNode) -> list[str]:
    """Every exercise has a cell to write in, a check and, folded away, a solution."""
    found = []
    for heading, cells in exercises(notebook).items():
        if not any(cell.cell_type == "code" and not check_ids([cell]) for cell in cells):
            found.append(f"{heading!r}: no cell to write the answer in")
        if len(check_ids(cells)) != 1:
            found.append(f"{heading!r}: {len(check_ids(cells))} checks, one is right")
        if not solutions(cells):
            found.append(f"{heading!r}: no <details> with the code of a solution")
    return found


def details_faults(notebook: NotebookNode) -> list[str]:
    """Folded parts open and close in one cell; Markdown inside needs the blank line first."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        text = re.sub(r"`[^`\n]*`", " ", cell.source)
        counts = {text.count(tag) for tag in ("<details>", "</details>", "<summary>", "</summary>")}
        if len(counts) != 1:
            found.append(f"{cell.id}: <details> and <summary> do not pair up")
        if re.search(r"</summary>(?!\s*\n[ \t]*\n)", text):
            found.append(f"{cell.id}: a blank line is missing below </summary>")
    return found


LINK = re.compile(r"(!?)\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
TAG = re.compile(r"""<(img|a|script|link|iframe)\b[^>]*?(?:src|href)\s*=\s*["']([^"']+)["']""")


def broken_links(notebook: NotebookNode, folder: Path) -> list[str]:
    """Links lead to a file that is there, or to a heading; pictures come with the course."""
    found = []
    anchors = {words.replace(" ", "-") for _, _, words in headings(notebook)}
    anchors |= set(re.findall(r"""(?:id|name)\s*=\s*["']([^"']+)["']""", _all_text(notebook)))
    for cell, text in _texts(notebook):
        links = [(mark == "!", target) for mark, target in LINK.findall(text)]
        links += [(tag != "a", target) for tag, target in TAG.findall(text)]
        for picture, target in links:
            why = _why_broken(cell, picture, unquote(target), anchors, folder)
            if why:
                found.append(f"{cell.id}: {target}: {why}")
    return found


def _all_text(notebook: NotebookNode) -> str:
    return "\n".join(text for _, text in _texts(notebook))


def _why_broken(cell, picture: bool, target: str, anchors: set[str], folder: Path) -> str:
    if re.match(r"(?:https?:)?//", target):
        return "a picture or script from elsewhere" if picture else ""
    if target.startswith(("mailto:", "data:image/")):
        return ""
    if target.startswith("attachment:"):
        there = target.removeprefix("attachment:") in cell.get("attachments", {})
        return "" if there else "no such attachment"
    path, _, anchor = target.partition("#")
    if not path:
        return "" if anchor in anchors else "no such heading in this lesson"
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        return "not relative to the lesson"
    return "" if (folder / path).exists() else "no such file"


# Words that make a reader who does not see it at once feel small.
BELITTLING = re.compile(
    r"\b(simply|obviously|just|trivially|simplemente|obviamente|trivialmente)\b", re.IGNORECASE
)


def belittling_words(notebook: NotebookNode) -> list[str]:
    found = [
        f"{cell.id}: {match[0]!r}"
        for cell, text in _texts(notebook)
        for match in BELITTLING.finditer(text)
    ]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            comments = "\n".join(re.findall(r"#(.*)$", cell.source, re.MULTILINE))
            found += [f"{cell.id}: {match[0]!r}" for match in BELITTLING.finditer(comments)]
    return found


PROSE_RULES = (heading_faults, exercise_faults, details_faults, belittling_words)
