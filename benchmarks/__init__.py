"""How fast the course's own views are, against the usual way, measured in one run.

`python -m benchmarks` measures, prints a table and writes it beside this file; see
`__main__.py`. A benchmark is a module with a `run()` that returns a list of
`report.Line`; it is listed in `BENCHMARKS`.
"""

BENCHMARKS = {
    "kernel": "benchmarks.heads_in_kernel",
    "browser": "benchmarks.heads_in_browser",
    "growth": "benchmarks.growth",
}
