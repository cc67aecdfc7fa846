// Draws training curves as SVG, a progress bar above, a table of the numbers behind a switch.
// Lines are kept from one frame to the next. Words come ready from Python as text. The picture
// is as many units wide as the page has pixels for it, so that its words never shrink.

const HEIGHT = 250, LEFT = 40, RIGHT = 12, TOP = 10, BOTTOM = 26;

const yOf = (share) => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);

function swatch(parent, index) {
  const svg = draw("svg", parent, { class: "swatch", viewBox: "0 0 30 8", "aria-hidden": "true" });
  draw("path", svg, { class: "line", d: "M1 4H29", "data-series": index });
}

function render({ model, el }) {
  el.classList.add("mha", "mha-curves");
  el.dataset.lmSuppressShortcuts = "true";
  const top = make("div", "top", el);
  const bar = make("div", "bar", top);
  const fill = make("div", "fill", bar);
  bar.setAttribute("role", "progressbar");
  bar.setAttribute("aria-valuemin", 0);
  bar.setAttribute("aria-valuemax", 100);
  const status = make("div", "status", top);
  const title = make("div", "title", el);
  const legend = make("div", "legend", el);
  const svg = draw("svg", el, { class: "chart", role: "img" });
  const axes = draw("g", svg, {});
  const lines = draw("g", svg, {});
  const details = make("details", "", el);
  const summary = make("summary", "", details);
  summary.dataset.lmSuppressShortcuts = "true";
  const wide = make("div", "wide", details);
  wide.setAttribute("role", "region");
  const table = make("table", "", wide);
  let width = 640;

  function paintAxes({ steps, words }) {
    axes.replaceChildren();
    for (const share of [0, 0.2, 0.4, 0.6, 0.8, 1]) {
      draw("path", axes, { class: "grid", d: `M${LEFT} ${yOf(share)}H${width - RIGHT}` });
      draw("text", axes, { x: LEFT - 7, y: yOf(share) + 4, "text-anchor": "end" }, share.toFixed(1));
    }
    draw("text", axes, { x: LEFT, y: HEIGHT - 8, "text-anchor": "middle" }, "0");
    draw("text", axes, { x: width - RIGHT, y: HEIGHT - 8, "text-anchor": "end" },
      `${words.step} ${steps}`);
  }

  function paintLines({ series, steps }) {
    const xOf = (step) => LEFT + (step / steps) * (width - LEFT - RIGHT);
    const wanted = series.flatMap((one, s) => one.curves.map((curve) => [s, curve]));
    while (lines.children.length > wanted.length) lines.lastChild.remove();
    while (lines.children.length < wanted.length) draw("path", lines, { class: "line" });
    wanted.forEach(([s, curve], i) => {
      const points = curve.map(([step, y]) => `${xOf(step).toFixed(1)} ${yOf(y).toFixed(1)}`);
      const line = lines.children[i];
      line.setAttribute("d", points.length ? `M${points.join("L")}` : "");
      line.dataset.series = s;
      line.dataset.points = points.length;
      line.dataset.last = curve.length ? curve.at(-1)[1] : "";
    });
  }

  function paintTable({ series, words }) {
    table.replaceChildren();
    const head = make("tr", "", make("thead", "", table));
    const body = make("tbody", "", table);
    const count = Math.max(...series.map((one) => one.numbers.length));
    const names = [words.model];
    for (let seed = 0; seed < count; seed++) names.push(`${words.seed} ${seed}`);
    for (const name of names) {
      const cell = make("th", "", head);
      cell.scope = "col";
      cell.textContent = name;
    }
    for (const one of series) {
      const row = make("tr", "", body);
      const name = make("th", "", row);
      name.scope = "row";
      name.textContent = one.name;
      for (const number of one.numbers) make("td", "", row).textContent = number;
    }
  }

  function paintChart(frame) {
    set(svg, { viewBox: `0 0 ${width} ${HEIGHT}` });
    paintAxes(frame);
    paintLines(frame);
  }

  function paint() {
    const frame = model.get("frame");
    el.classList.toggle("cleared", Boolean(frame.reason));
    if (frame.reason || !frame.series.length) return;
    const { words } = frame;
    fill.style.width = `${100 * frame.done}%`;
    bar.setAttribute("aria-label", words.progress);
    bar.setAttribute("aria-valuenow", Math.round(100 * frame.done));
    bar.setAttribute("aria-valuetext", frame.status);
    status.textContent = frame.status;
    title.textContent = words.title;
    legend.replaceChildren();
    frame.series.forEach(({ name }, i) => {
      const entry = make("span", "entry", legend);
      swatch(entry, i);
      entry.append(name);
    });
    svg.setAttribute("aria-label", frame.spoken);
    summary.textContent = words.table;
    wide.setAttribute("aria-label", words.title);
    paintChart(frame);
    paintTable(frame);
    el.dataset.done = frame.done;
    el.dataset.painted = Number(el.dataset.painted || 0) + 1;
  }

  model.on("change:frame", paint);
  paint();
  const scroller = scrolls(wide);
  const watcher = new ResizeObserver(([{ contentRect }]) => {
    const now = Math.round(contentRect.width), frame = model.get("frame");
    if (!now || now === width) return;
    width = now;
    if (frame.series.length) paintChart(frame);
  });
  watcher.observe(svg);
  return () => {
    scroller.disconnect();
    watcher.disconnect();
    model.off("change:frame", paint);
  };
}

export default { initialize, render };
