"""python -m benchmarks [names] [--readme]: measure, print the table, keep the results.

Exits with 1 when a budget is missed, so that a script can ask too. No test runs it: a time
depends on what else the machine does, and a test that fails now and then is soon not believed.
"""

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path

from . import BENCHMARKS
from .report import as_data, from_data, machine, others_percent, table, update_readme

HERE = Path(__file__).parent
QUIET_PERCENT = 20
READMES = {"en": "README.md", "es": "README.es.md"}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"which ones: {', '.join(BENCHMARKS)} (all)")
    parser.add_argument("--readme", action="store_true", help="update the READMEs' table")
    wanted = parser.parse_args(arguments)
    unknown = sorted(set(wanted.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    if wanted.names and wanted.readme:
        parser.error("--readme takes a full run, so that the whole table is from one machine")

    busy = others_percent()
    if busy > QUIET_PERCENT:
        print(
            f"other programs use {busy:.0f} % of this machine, so the numbers will be slower; "
            "measure again when it is quiet.",
            file=sys.stderr,
        )
    lines, broken = [], []
    for name in wanted.names or BENCHMARKS:
        print(f"measuring: {name} …", file=sys.stderr, flush=True)
        try:
            lines += import_module(BENCHMARKS[name]).run()
        except (RuntimeError, AssertionError) as error:  # the others are still worth their time
            broken.append(f"{name} could not be measured: {error}")
    where = machine()
    data = as_data(lines, where)
    lines = from_data(data)  # the tables say what is kept, digit for digit
    text = table(lines, "en", where)
    print(text)
    for line in lines:
        if line.missing:
            print(f"{line.key}: {line.missing}", file=sys.stderr)
        if line.met is False:
            print(f"{line.key}: budget missed", file=sys.stderr)
    if broken:
        print("\n".join([*broken, "Nothing was kept."]), file=sys.stderr)
        return 1
    if not wanted.names:  # a partial run keeps the last whole one
        write(HERE / "results.md", text)
        write(HERE / "results.json", json.dumps(data, indent=2))
    if wanted.readme:
        for language, name in READMES.items():
            update_readme(HERE.parent / name, table(lines, language, where))
    return 1 if any(line.met is False for line in lines) else 0


def write(path: Path, text: str) -> None:
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main())
