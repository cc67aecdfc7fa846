// Draws horizontal bars from 0 to 1: label, bar, number; the sum beneath.
// Rows stay in place from one frame to the next, so bars grow and shrink instead of blinking.

function makeRow() {
  const row = make("div", "row");
  row.setAttribute("role", "listitem");
  make("bdi", "label", row);
  make("div", "bars", row);
  return row;
}

function makeBar() {
  const bar = make("div", "bar");
  make("div", "fill", make("div", "track", bar));
  make("span", "number", bar);
  return bar;
}

function swatch(parent, index) {
  const node = make("span", "swatch", parent);
  node.dataset.series = index;
  node.setAttribute("aria-hidden", "true");
}

function render({ model, el }) {
  el.classList.add("mha", "mha-bars");
  el.dataset.lmSuppressShortcuts = "true";
  const group = make("div", "", el);
  group.setAttribute("role", "group");
  const title = make("div", "title", group);
  const legend = make("div", "legend", group);
  const box = make("div", "box", group);
  box.setAttribute("role", "region");
  const rows = make("div", "rows", box);
  rows.setAttribute("role", "list");
  const lines = make("div", "lines", box);
  lines.setAttribute("aria-hidden", "true");
  const watcher = scrolls(box); // long rows scroll inside it
  const axis = make("div", "axis", group);
  const sum = make("div", "sum", group);
  const reason = make("div", "reason", sum);
  const totals = make("div", "totals", sum);
  reason.setAttribute("role", "status");

  function paintRow(row, index, frame) {
    row.dataset.bar = index;
    const label = row.querySelector(".label");
    label.textContent = frame.labels[index];
    label.title = frame.labels[index];
    const bars = keep(row.querySelector(".bars"), frame.series.length, makeBar);
    bars.forEach((bar, s) => {
      const value = frame.reason ? 0 : Math.min(1, Math.max(0, frame.series[s].values[index]));
      bar.dataset.series = s;
      bar.dataset.value = frame.reason ? "" : frame.series[s].values[index];
      const fill = bar.querySelector(".fill");
      fill.style.width = `${100 * value}%`;
      fill.style.backgroundColor = frame.colours?.[index] ?? "";
      bar.querySelector(".number").textContent =
        frame.reason ? "–" : frame.series[s].numbers[index];
    });
  }

  // Names stand under their lines, one line lower where they would meet 0, 1 or each other.
  function paintMarkers(markers) {
    lines.textContent = "";
    axis.textContent = "";
    const names = make("div", "", axis);
    const over = make("div", "", lines);
    const taken = [0, 1];
    const write = (name, value, className) => {
      const tick = make("span", className, names);
      tick.style.left = `${100 * value}%`;
      tick.textContent = name;
    };
    write("0", 0, "");
    write("1", 1, "");
    for (const [name, value] of markers) {
      write(name, value, taken.some((other) => Math.abs(other - value) < 0.2) ? "low" : "");
      taken.push(value);
      const line = make("i", "", over);
      line.style.left = `${100 * value}%`;
      line.dataset.marker = name;
    }
  }

  function paint() {
    const frame = model.get("frame");
    el.classList.toggle("cleared", Boolean(frame.reason));
    for (const node of [group, box]) node.setAttribute("aria-label", frame.label || "");
    title.textContent = frame.title;
    title.hidden = !frame.title;
    const named = frame.series.filter(({ name }) => name);
    legend.hidden = !named.length;
    legend.textContent = "";
    frame.series.forEach(({ name }, s) => {
      if (!name) return;
      const entry = make("span", "", legend);
      swatch(entry, s);
      entry.append(name);
    });
    box.dataset.count = frame.series.length;
    keep(rows, frame.labels.length, makeRow).forEach((row, i) => paintRow(row, i, frame));
    axis.hidden = !frame.labels.length;
    paintMarkers(frame.markers);
    totals.textContent = "";
    frame.series.forEach(({ name, total }, s) => {
      const entry = make("span", "", totals);
      if (name) {
        swatch(entry, s);
        entry.append(`${name}: `);
      }
      make("b", "", entry).textContent = total;
    });
    reason.textContent = frame.reason;
    el.dataset.painted = Number(el.dataset.painted || 0) + 1;
  }

  model.on("change:frame", paint);
  paint();
  return () => {
    watcher.disconnect();
    model.off("change:frame", paint);
  };
}

export default { initialize, render };
