"""The harness in a real JupyterLab: it waits, sees faults, moves controls, cleans up."""

import re
import socket
import struct
import sys
import time
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import expect

from . import kernels
from . import server as server_module
from .cells import markdown
from .lab import CellFailedError
from .server import LabServer, ServerError

SLIDER = """
import ipywidgets as widgets
slider = widgets.IntSlider(description="H", min=0, max=10, value=5)
other = widgets.IntSlider(description="H2", min=0, max=10, value=1)
shown = widgets.Label("H is 5")
slider.observe(lambda change: setattr(shown, "value", f"H is {change.new}"), "value")
widgets.VBox([slider, other, shown])
"""

pytestmark = pytest.mark.tools


def test_c36_an_empty_notebook_opens_and_runs_with_no_outside_request(lab, lab_page):
    lab_page.open(lab.write("empty.ipynb", [""]))
    lab_page.run_all()
    lab_page.restart_and_run_all()
    # The guard saw the page load at all; that nothing was at fault it checks after the test.
    assert any("/static/" in url for url in lab_page.watch.requests)
    assert any(url.startswith("ws://127.0.0.1") for url in lab_page.watch.requests)
    expect(lab_page.page.get_by_text("Jupyter news")).to_have_count(0)


def test_run_all_waits_for_the_last_cell_and_says_which_one_failed(lab, lab_page):
    cells = ["import time; time.sleep(0.5); print('slow')", markdown("# text"), "print(6 * 7)"]
    lab_page.open(lab.write("good.ipynb", cells))
    lab_page.run_all()
    assert lab_page.output(2).inner_text().strip() == "42"
    lab_page.restart_and_run_all()
    assert lab_page.output(2).inner_text().strip() == "42"

    lab_page.open(lab.write("bad.ipynb", ["raise ValueError('H = 5')", "print('never')"]))
    with pytest.raises(CellFailedError, match=r"ValueError: H = 5"):
        lab_page.run_all()


def test_run_all_sees_a_result_that_cannot_be_shown(lab, lab_page):
    source = "class Odd:\n    def _repr_html_(self): raise KeyError('no such text')\n\nOdd()"
    lab_page.open(lab.write("odd.ipynb", [source]))
    with pytest.raises(CellFailedError, match="KeyError: 'no such text'"):
        lab_page.run_all()


def test_restart_and_run_all_starts_a_fresh_kernel(lab, lab_page):
    source = "runs = globals().get('runs', 0) + 1; print('run', runs)"
    lab_page.open(lab.write("counting.ipynb", [source]))
    lab_page.run_all()
    lab_page.run_all()
    assert lab_page.output(0).inner_text().strip() == "run 2"
    lab_page.restart_and_run_all()
    assert lab_page.output(0).inner_text().strip() == "run 1"


def test_cells_are_found_by_id_even_far_below_the_window(lab, lab_page):
    cells = [markdown("\n\n".join(["line"] * 40)) for _ in range(5)] + ["print('at the end')"]
    lab_page.open(lab.write("long.ipynb", cells))
    lab_page.run_cell(5)
    last = lab_page.cell(5)
    identity = lab_page.cell_ids()[5]
    assert lab_page.output(identity).inner_text().strip() == "at the end"
    lab_page.scroll_to(0)
    expect(last).not_to_be_in_viewport()
    lab_page.scroll_to(identity)
    expect(last).to_be_in_viewport()
    with pytest.raises(LookupError, match="no-such-cell"):
        lab_page.cell("no-such-cell")


def test_c24_an_error_in_the_page_is_reported(lab, lab_page):
    script = """
from IPython.display import Javascript
Javascript('console.error("from the page"); setTimeout(() => { throw new Error("late") }, 0)')
"""
    lab_page.open(lab.write("errors.ipynb", [script]))
    lab_page.run_all()
    lab_page.page.wait_for_function("() => new Promise(done => setTimeout(done, 50, true))")
    faults = lab_page.take_faults()
    assert "console error: from the page" in faults
    assert any(fault.startswith("uncaught error:") and "late" in fault for fault in faults)


OUTSIDE = {
    "<img src='https://example.org/a.png'>": "https://example.org/a.png",
    "<style>@import 'https://example.org/b.css'</style>": "https://example.org/b.css",
    "<iframe src='http://192.0.2.1/c'></iframe>": "http://192.0.2.1/c",
}


def test_c36_a_request_to_another_machine_is_reported(lab, lab_page):
    show = "from IPython.display import HTML\nHTML({!r})"
    lab_page.open(lab.write("outside.ipynb", [show.format(html) for html in OUTSIDE]))
    for cell, address in enumerate(OUTSIDE.values()):
        with lab_page.page.expect_event("request", lambda r, address=address: r.url == address):
            lab_page.run_cell(cell)
        assert f"request leaves this machine: {address}" in lab_page.take_faults()
    lab_page.close()  # the requests' own failures may still be logged


def test_c36_a_socket_to_another_machine_is_reported(lab, lab_page):
    script = "from IPython.display import Javascript\nJavascript('new WebSocket(\"{}\")')"
    address = "wss://example.org/socket"
    lab_page.open(lab.write("socket.ipynb", [script.format(address)]))
    with lab_page.page.expect_websocket(lambda socket: socket.url.startswith(address)):
        lab_page.run_all()
    faults = lab_page.take_faults()
    assert any(f"request leaves this machine: {address}" in fault for fault in faults)


def test_a_slider_moves_by_mouse_and_by_arrow_key(lab, lab_page):
    lab_page.open(lab.write("slider.ipynb", [SLIDER]))
    lab_page.run_all()
    output, slider = lab_page.output(0), lab_page.slider("H")
    expect(slider).to_have_count(1)  # and not "H2"
    lab_page.drag(slider, 0.8)
    expect(output).to_contain_text("H is 8")
    slider.press("ArrowRight")
    expect(output).to_contain_text("H is 9")
    lab_page.drag(slider, 0)
    expect(output).to_contain_text("H is 0")
    lab_page.slider("H2").press("ArrowLeft")
    expect(lab_page.slider("H2")).to_have_attribute("aria-valuenow", re.compile(r"^0(\.0)?$"))
    expect(output).to_contain_text("H is 0")


def test_a_control_is_found_by_its_whole_spoken_name(lab, lab_page):
    inputs = "<input type='range' aria-label='H'><input type='range' aria-label='H by hand'>"
    lab_page.open(
        lab.write("spoken.ipynb", [f'from IPython.display import HTML\nHTML("{inputs}")'])
    )
    lab_page.run_all()
    expect(lab_page.slider("H")).to_have_count(1)
    expect(lab_page.slider("H by hand")).to_have_count(1)
    expect(lab_page.slider("hand")).to_have_count(0)


SLOW = """
import time
heard = []
def slowly(change):
    time.sleep(0.4)
    heard.append(change.new)
slider.observe(slowly, "value")
"""


def test_wait_until_idle_waits_for_the_last_change(lab, lab_page):
    lab_page.open(lab.write("slow.ipynb", [SLIDER, SLOW, "print(heard[-1:])"]))
    lab_page.run_all()
    for _ in range(3):
        lab_page.slider("H").press("ArrowRight")
    lab_page.wait_until_idle()
    lab_page.run_cell(2)
    assert lab_page.output(2).inner_text().strip() == "[8]"


def test_c31_a_theme_can_be_switched_and_is_forgotten_with_the_page(lab, new_lab_page):
    notebook = lab.write("theme.ipynb", [""])
    background = "() => getComputedStyle(document.body).getPropertyValue('--jp-layout-color1')"
    with new_lab_page() as first:
        first.open(notebook)
        light = first.page.evaluate(background)
        for theme in ("JupyterLab Dark", "JupyterLab Dark High Contrast"):
            first.set_theme(theme)
            assert first.page.evaluate(background) != light
    with new_lab_page() as second:
        second.open(notebook)
        assert second.page.evaluate(background) == light


def test_a_tab_that_was_put_away_is_as_it_came_up(lab, new_lab_page):
    size = "() => [innerWidth, innerHeight, devicePixelRatio]"
    with new_lab_page(1100, 800) as first:
        first.open(lab.write("first.ipynb", ["kept = 1"]))
        first.run_all()
        first.set_theme("JupyterLab Dark")
        first.close_side_panel()
        first.cell(0).locator(".cm-content").click()
        first.page.keyboard.insert_text("# not saved")
        first.zoom(2)
        first.zoom(1, 1100, 800)
    with new_lab_page(1100, 800) as second:
        assert second is first
        assert lab.kernels() == []
        second.open(lab.write("second.ipynb", ["print('kept' in globals())"]))
        second.run_all()
        assert second.output(0).inner_text().strip() == "False"
        assert second.page.evaluate(size) == [1100, 800, 1]
        expect(second.page.locator("#jp-left-stack")).to_be_visible()
        expect(second.page.locator("#jp-main-dock-panel .lm-TabBar-tab")).to_have_count(1)
        second.menu("Kernel", "Restart Kernel…")  # a question nobody answers
        expect(second.page.locator(".jp-Dialog")).to_be_visible()
    assert second.closed
    with new_lab_page() as third:
        assert third is not second


def test_c31_zoom_leaves_fewer_and_larger_pixels(lab, lab_page):
    lab_page.open(lab.write("zoom.ipynb", [""]))
    lab_page.zoom(2, width=1024, height=768)
    window = lab_page.page.evaluate("() => [innerWidth, innerHeight, devicePixelRatio]")
    assert window == [512, 384, 2]
    picture = lab_page.screenshot("zoomed").read_bytes()
    assert struct.unpack(">II", picture[16:24]) == (1024, 768)  # a PNG's width and height
    assert lab_page.page.evaluate("() => devicePixelRatio") == 2
    width = "() => document.querySelector('.jp-Notebook').clientWidth"
    beside_files = lab_page.page.evaluate(width)
    lab_page.close_side_panel()
    assert lab_page.page.evaluate(width) > beside_files + 100
    lab_page.zoom(1, width=1024, height=768)
    assert lab_page.page.evaluate("() => innerWidth") == 1024


def test_c23_the_height_of_an_output_is_measured(lab, lab_page):
    box = "from IPython.display import HTML\nHTML('<div style=\"height: {}px\"></div>')"
    lab_page.open(lab.write("heights.ipynb", [box.format(100), box.format(300), "x = 1"]))
    lab_page.run_all()
    low, high, none = (lab_page.output_height(i) for i in range(3))
    assert high - low == pytest.approx(200, abs=1)
    assert none == 0


def test_screenshots_go_where_they_were_asked_to(lab, lab_page, monkeypatch, tmp_path, capsys):
    lab_page.open(lab.write("picture.ipynb", ["print('seen')"]))
    lab_page.run_all()
    unasked = lab_page.screenshot("quiet")
    assert unasked.stat().st_size > 1000
    assert "quiet" not in capsys.readouterr().out
    monkeypatch.setenv("COURSE_SCREENSHOTS", str(tmp_path / "pictures"))
    asked = lab_page.screenshot("asked", of=lab_page.output(0))
    assert asked == tmp_path / "pictures" / "asked.png"
    assert asked.read_bytes().startswith(b"\x89PNG")
    assert str(asked) in capsys.readouterr().out


# --- the server ------------------------------------------------------------------------------


def test_closing_a_page_ends_its_kernel_and_no_other(lab, new_lab_page):
    with new_lab_page() as stays:
        stays.open(lab.write("stays.ipynb", ["print(1)"]))
        before = {kernel["id"] for kernel in lab.kernels()}
        with new_lab_page() as goes:
            goes.open(lab.write("goes.ipynb", ["print(2)"]))
            assert len(lab.kernels()) == len(before) + 1
        assert {kernel["id"] for kernel in lab.kernels()} == before
        stays.run_all()


def test_kernels_run_this_python_and_this_project(lab, lab_page):
    source = "import helpers, sys; print(sys.executable); print(helpers.__file__)"
    lab_page.open(lab.write("who.ipynb", [source]))
    lab_page.run_all()
    executable, package = lab_page.output(0).inner_text().split("\n")[:2]
    assert Path(executable) == Path(sys.executable)
    assert Path(package).parents[1] == Path(__file__).parents[2]


def test_a_copied_kernel_has_torch_and_nothing_of_the_tests_and_can_be_interrupted(lab, lab_page):
    found = "import sys; print('torch' in sys.modules, 'helpers' in sys.modules, sys.argv[0])"
    folder = f"print({str(Path(__file__).parent)!r} in sys.path)"
    lab_page.open(lab.write("copied.ipynb", [f"{found}; {folder}", "import time; time.sleep(90)"]))
    lab_page.run_cell(0)
    torch, helpers, program, on_path = lab_page.output(0).inner_text().split()
    assert (torch, helpers, on_path) == (str(kernels.CAN_COPY), "False", "False")
    assert Path(program).name == "ipykernel_launcher.py"
    lab_page.cell(1).locator(".cm-content").click()
    lab_page.page.keyboard.press("Shift+Enter")
    expect(lab_page.cell(1).locator(".jp-InputPrompt")).to_have_text("[*]:")
    lab_page.menu("Kernel", "Interrupt Kernel")
    expect(lab_page.output(1)).to_contain_text("KeyboardInterrupt")


@pytest.mark.parametrize("at_once", [True, False])
def test_stopping_the_server_ends_its_kernels_too(tmp_path, at_once):
    server = LabServer(tmp_path / "own", at_once).start()
    try:
        kernel = server.request("POST", "api/kernels")
        family = psutil.Process(server.pid).children(recursive=True)
        latest = time.monotonic() + 60  # what is copied may still be loading torch
        while at_once and kernels.CAN_COPY and not server.copied_kernels():
            assert time.monotonic() < latest, "no kernel was copied"
            time.sleep(0.05)
        family += server.copied_kernels()
        assert kernel["name"] == "python3" and family
    finally:
        server.stop()
    assert not any(process.is_running() for process in family)
    server.stop()  # a second time does nothing


class _BrokenServer(LabServer):
    def command(self):
        return [sys.executable, "-c", "import sys; print('port taken'); sys.exit(3)"]


def test_a_server_that_cannot_start_says_why(tmp_path):
    with pytest.raises(ServerError, match=r"(?s)exit code 3.*port taken"):
        _BrokenServer(tmp_path / "own", at_once=False).start()


def test_a_port_taken_by_another_program_is_left_to_it(tmp_path, monkeypatch):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken, free = other.getsockname()[1], server_module.free_port()
        ports = iter([taken, free])
        monkeypatch.setattr(server_module, "free_port", lambda: next(ports))
        server = LabServer(tmp_path / "own", at_once=False).start()
        try:
            assert server.port == free
            assert server.kernels() == []
        finally:
            server.stop()
