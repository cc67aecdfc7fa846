"""Which texts the helpers ask for: read from the code, not run.

A key can be written out, `t("view.axis")`, or put together, `t(f"{base}.{part}")`. What stands in
the holes is followed to where the module assigns it; where that is not known, any name fits. Names
that a hole may hold have to occur somewhere in the code or its data.
"""

import ast
import json
import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from helpers import texts

FOLDER = Path(texts.__file__).parent
PROJECT = FOLDER.parent.parent
ANYTHING = ".+"


@cache
def leaves(language: str, folder: Path = FOLDER) -> dict[str, str]:
    """Every text of a language by its full key."""
    found = {}

    def walk(node, key):
        if isinstance(node, dict):
            for name, below in node.items():
                walk(below, f"{key}.{name}")
        else:
            found[key] = node

    for file in sorted((folder / language).glob("*.json")):
        walk(json.loads(file.read_text(encoding="utf-8")), file.stem)
    return found


def groups(keys) -> set[str]:
    """Every beginning of a key that holds further texts."""
    return {key[: place.start()] for key in keys for place in re.finditer(r"\.", key)}


@dataclass(frozen=True)
class Use:
    """One place where the code asks for a text."""

    where: str  # file:line
    pattern: str  # a regular expression over keys
    group: bool  # all texts below the key
    given: frozenset | None  # names of the values passed along; None when that is open

    @property
    def known(self) -> bool:
        return ANYTHING not in self.pattern

    @cached_property
    def _topic(self) -> str:
        """What every key begins with; known without trying the expression."""
        start = re.match(r"(\w+)\\\.", self.pattern)
        return start[1] if start else ""

    @cached_property
    def _compiled(self) -> re.Pattern:
        return re.compile(self.pattern.replace(ANYTHING, "(.+)"))

    def matches(self, key: str) -> re.Match | None:
        return self._compiled.fullmatch(key) if key.startswith(self._topic) else None


class Module:
    """The string values that names take in one module."""

    def __init__(self, source: str, name: str):
        self.tree, self.name = ast.parse(source), name
        self.values: dict[str, list] = {}
        self.arguments = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._bind(target, node.value, one=False)
            elif isinstance(node, ast.For | ast.comprehension):
                self._bind(node.target, node.iter, one=True)
            elif isinstance(node, ast.arg):
                self.arguments.add(node.arg)

    def _bind(self, target, value, one: bool) -> None:
        if isinstance(target, ast.Name):
            self.values.setdefault(target.id, []).append((value, one))
        else:  # unpacked: not followed
            for node in ast.walk(target):
                if isinstance(node, ast.Name):
                    self.values.setdefault(node.id, []).append((None, one))

    def pattern(self, node, seen=()) -> str:
        """A regular expression for the strings this expression can be."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return re.escape(node.value)
        if isinstance(node, ast.JoinedStr):
            return "".join(self.pattern(part, seen) for part in node.values)
        if isinstance(node, ast.FormattedValue):
            return self.pattern(node.value, seen)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.pattern(node.left, seen) + self.pattern(node.right, seen)
        if isinstance(node, ast.IfExp):
            return _any_of([self.pattern(node.body, seen), self.pattern(node.orelse, seen)])
        if isinstance(node, ast.Subscript):
            return _any_of(self._items(node.value, seen))
        if isinstance(node, ast.Name) and node.id not in (*seen, *self.arguments):
            options = []
            for value, one in self.values.get(node.id, []):
                deeper = (*seen, node.id)
                options += self._items(value, deeper) if one else [self.pattern(value, deeper)]
            return _any_of(options)
        return ANYTHING

    def _items(self, node, seen) -> list[str]:
        """The members of a literal collection, or of a name that holds one."""
        if isinstance(node, ast.Dict):
            return [self.pattern(value, seen) for value in node.values]
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return [
                option
                for item in node.elts
                for option in (
                    self._items(item.value, seen)
                    if isinstance(item, ast.Starred)
                    else [self.pattern(item, seen)]
                )
            ]
        if isinstance(node, ast.Name) and node.id not in (*seen, *self.arguments):
            options = []
            for value, one in self.values.get(node.id, []):
                options += [ANYTHING] if one else self._items(value, (*seen, node.id))
            return options or [ANYTHING]
        return [ANYTHING]

    @cache  # noqa: B019  (as many modules as there are files)
    def uses(self) -> list[Use]:
        """Every call of t and texts_under."""
        found = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
                pattern = self.pattern(node.args[0]) if name in ("t", "texts_under") else ANYTHING
                if pattern != ANYTHING:
                    where = f"{self.name}:{node.lineno}"
                    found.append(Use(where, pattern, name == "texts_under", _given(node)))
        return found

    def kept(self) -> list[Use]:
        """Strings that begin like a key: kept in a name or a table, asked for elsewhere."""
        found = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant | ast.JoinedStr):
                pattern = self.pattern(node)
                start = re.match(r"(\w+)\\\.\S+$", pattern)
                if start and (FOLDER / "en" / f"{start[1]}.json").exists():
                    found.append(Use(f"{self.name}:{node.lineno}", pattern, False, None))
        return found


def _any_of(options: list[str]) -> str:
    if not options or ANYTHING in options:
        return ANYTHING
    return options[0] if len(set(options)) == 1 else f"(?:{'|'.join(sorted(set(options)))})"


def _given(call: ast.Call) -> frozenset | None:
    names = [keyword.arg for keyword in call.keywords]
    return None if None in names else frozenset(names)


def sources() -> list[Path]:
    """The code that shows texts: the helpers' Python and JavaScript, and the launcher."""
    folders = [PROJECT / name for name in ("helpers", "launcher")]
    found = [path for folder in folders for path in folder.rglob("*")]
    return sorted(path for path in [*found, PROJECT / "course.py"] if path.suffix in (".py", ".js"))


def name_of(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


@cache
def modules() -> list[Module]:
    paths = [path for path in sources() if path.suffix == ".py"]
    return [Module(path.read_text(encoding="utf-8"), name_of(path)) for path in paths]


@cache
def vocabulary() -> frozenset[str]:
    """Every word of the code and of the data that goes with it."""
    data = [p for p in (PROJECT / "helpers").rglob("*.json") if FOLDER not in p.parents]
    words = set()
    for path in [*sources(), *data]:
        words |= set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    return frozenset(words)


def _can_be_said(part: str) -> bool:
    """A part of a key that the code can make: a word of its own, or words joined by _."""
    words = vocabulary()
    return part in words or all(bit in words for bit in part.split("_"))


def used(keys, uses, kept) -> set[str]:
    """The keys that some code asks for."""
    found = set()
    for use in [*uses, *kept]:
        below = Use(use.where, use.pattern + r"\." + ANYTHING, False, None) if use.group else None
        for key in keys:
            match = use.matches(key) or (below and below.matches(key))
            holes = match.groups() if match else ()
            if match and all(_can_be_said(part) for hole in holes for part in hole.split(".")):
                found.add(key)
    return found
