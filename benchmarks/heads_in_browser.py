"""Key press on the H slider to the new picture, in JupyterLab: ours and the usual way.

Both live in one notebook with one kernel, and both clocks run inside the page: from the key
event's own time stamp to the moment the picture has changed.
"""

import statistics
import tempfile
from pathlib import Path

from . import usual_way
from .report import Line

ROUNDS, PER_ROUND = 7, 3
OURS, USUAL = 0, 1  # the cells

CELLS = [
    """
from benchmarks import usual_way
from helpers.explorers import MultiHeadExplorer
MultiHeadExplorer(sentence=usual_way.SENTENCE, T=usual_way.T, d_model=usual_way.D_MODEL,
                  H=8, seed=usual_way.SEED)
""",
    """
%matplotlib inline
import ipywidgets
ipywidgets.interact(usual_way.draw, H=usual_way.slider(8));
""",
]

# Both resolve to milliseconds since the next key press.
_UNTIL = """
const sinceKey = new Promise(resolve =>
  addEventListener("keydown", event => resolve(event.timeStamp), { capture: true, once: true }));
const until = (node, changed) => new Promise(resolve => {
  const observer = new MutationObserver(async () => {
    if (!await changed()) return;
    observer.disconnect();
    resolve(performance.now());
  });
  observer.observe(node, { attributes: true, childList: true, subtree: true });
});
"""
_PAINTED = f"""
(output, shape) => {{
  {_UNTIL}
  const root = output.querySelector(".mha-attention");
  const before = Number(root.dataset.painted);
  const shown = until(root, () =>
    Number(root.dataset.painted) > before && root.dataset.shape === shape);
  window.courseTook = Promise.all([sinceKey, shown]).then(([key, now]) => now - key);
}}
"""
_LOADED = f"""
(output) => {{
  {_UNTIL}
  const before = output.querySelector(".widget-output img").src;
  const shown = until(output, async () => {{
    const image = output.querySelector(".widget-output img");
    if (!image || image.src === before) return false;
    await image.decode();
    return true;
  }});
  window.courseTook = Promise.all([sinceKey, shown]).then(([key, now]) => now - key);
}}
"""


def measure(lab_page) -> dict[str, float]:
    """Median milliseconds of either way on an opened page, arriving at 8 heads from 16."""
    lab_page.run_all()
    cells = {"ours": lab_page.output(OURS), "usual": lab_page.output(USUAL)}
    sliders = {
        "ours": cells["ours"].locator(".mha-axis-H").get_by_role("slider"),
        "usual": lab_page.slider(usual_way.LABEL),
    }
    scripts = {"ours": _PAINTED, "usual": _LOADED}
    cells["usual"].locator(".widget-output img").wait_for()
    times = {name: [] for name in cells}
    for turn in range(ROUNDS + 1):
        for name, output in cells.items():
            sliders[name].focus()
            for _ in range(PER_ROUND if name == "ours" else 1):
                for key, H in (("ArrowRight", 16), ("ArrowLeft", 8)):
                    output.evaluate(scripts[name], f"{H},{usual_way.T},{usual_way.T}")
                    lab_page.page.keyboard.press(key)
                    took = lab_page.page.evaluate("() => window.courseTook")
                    lab_page.wait_until_idle()
                if turn:
                    times[name].append(took)
    return {name: statistics.median(each) for name, each in times.items()}


def run() -> list[Line]:
    # Only here: `import benchmarks` must not need a browser or Playwright.
    from playwright.sync_api import sync_playwright

    from tests.browser.browsers import NoBrowserError, browser_required, launch
    from tests.browser.lab import open_tab
    from tests.browser.server import LabServer

    budget = {"unit": "ms", "ratio": 12, "than": "interact"}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        try:
            browser = launch(playwright)
        except NoBrowserError as missing:
            if browser_required():
                raise
            return [Line("heads_in_browser", None, missing=str(missing), **budget)]
        server = LabServer(Path(folder) / "lab").start()
        try:
            # Wide and tall enough for both cells: scrolling is not what is measured.
            with open_tab(browser, server, Path(folder), width=1280, height=2400) as page:
                page.open(server.write("bench.ipynb", CELLS))
                took = measure(page)
                faults = page.take_faults()
        finally:
            server.stop()
            browser.close()
    if faults:
        raise RuntimeError("the page was not well while it was measured:\n" + "\n".join(faults))
    return [Line("heads_in_browser", took["ours"], against=took["usual"], **budget)]
