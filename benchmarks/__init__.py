"""Every line of the course's speed budget, measured in one run.

`python -m benchmarks` measures, prints a table and writes it beside this file; see
`__main__.py`. A benchmark is a module with a `run()` that returns a list of
`report.Line`; it is listed in `BENCHMARKS`, and its name measures it alone. The short ones
come first; `browser`, `memory`, `training` and `series` take from a quarter of a minute to
several.
"""

BENCHMARKS = {
    "kernel": "benchmarks.heads_in_kernel",
    "growth": "benchmarks.growth",
    "explorers": "benchmarks.every_explorer",
    "layer": "benchmarks.layer",
    "imports": "benchmarks.imports",
    "browser": "benchmarks.heads_in_browser",
    "memory": "benchmarks.memory",
    "training": "benchmarks.training",
    "series": "benchmarks.series",
}
