"""The scripts of all views as the page gets them: whole, and joined from the right parts."""

import base64
import importlib
import inspect
import json
import pkgutil
import re
import subprocess
from pathlib import Path

import anywidget
import pytest
from playwright._impl._driver import compute_driver_executable

import helpers.views
from helpers.views.source import script, style


def views() -> list[type]:
    modules = [
        importlib.import_module(f"helpers.views.{module.name}")
        for module in pkgutil.iter_modules(helpers.views.__path__)
    ]
    return [
        member
        for module in modules
        for _, member in inspect.getmembers(module, inspect.isclass)
        if issubclass(member, anywidget.AnyWidget) and member.__module__ == module.__name__
    ]


VIEWS = views()
OVERFLOW = re.compile(r"overflow(?:-x)?: (\w+)")
DECLARED = re.compile(r"^(?:export )?(?:function|class|const) (\w+)", re.M)


def test_every_view_is_found():
    assert len(VIEWS) >= 11


def test_scripts_load_on_their_own():
    # What a script leaves out or declares twice shows when it is loaded without the others.
    modules = {
        view.__name__: "data:text/javascript;base64,"
        + base64.b64encode(str(view._esm).encode()).decode()
        for view in VIEWS
    }
    program = (
        f"const modules = {json.dumps(modules)};"
        + """
for (const [name, source] of Object.entries(modules))
  import(source)
    .then(({ default: view }) => console.log(name, typeof view.initialize, typeof view.render))
    .catch((problem) => console.log(name, String(problem)));
"""
    )
    node = compute_driver_executable()[0]
    ran = subprocess.run([node, "-"], input=program.encode(), capture_output=True, timeout=60)
    said = sorted(ran.stdout.decode("utf-8").splitlines())
    assert said == sorted(f"{name} function function" for name in modules)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_every_function_of_the_shared_scripts_is_there_where_it_is_called(view):
    source = str(view._esm)
    for shared in ("nodes", "svg", "axes", "maps", "lesson_link"):
        for name in re.findall(
            r"^(?:export )?(?:function|class|const) (\w+)", script(shared), re.M
        ):
            called = re.search(rf"(?<![\w.]){name}\(", source)
            declared = re.findall(rf"(?:function|class|const) {name}\b|^  {name}\(", source, re.M)
            assert declared or not called, (view.__name__, name)


def test_c30_boxes_that_scroll_can_be_scrolled_by_key():
    folder = Path(helpers.views.__file__).parent
    styles = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.css")}
    scrolling = {name for name, css in styles.items() if "auto" in OVERFLOW.findall(css)}
    scrolling -= {"maps", "head_grid"}  # a map's box is the map; heads take the focus
    assert {"cell_view", "curve_view", "graph_view"} <= scrolling
    for name in scrolling:
        assert "scrolls(" in (folder / f"{name}.js").read_text(encoding="utf-8"), name


def test_parts_stand_in_the_order_they_are_named():
    assert script("nodes", "axes").index("function make(") < script("nodes", "axes").index("AXES")
    assert style("pair_view").startswith("/*") and "\n" in style("pair_view", "bar_view")
    with pytest.raises(FileNotFoundError):
        script("no_such_script")
