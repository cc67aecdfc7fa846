// Draws maps of booleans as SVG: one path for the cells that depend, one for those that do not,
// one for those that look ahead. Words come ready from Python and become text nodes.

const square = (r, c) => `M${c + 0.08} ${r + 0.08}h.84v.84h-.84z`;
const dot = (r, c) => `M${c + 0.4} ${r + 0.4}h.2v.2h-.2z`;
const cross = (r, c) => `M${c + 0.3} ${r + 0.3}l.4 .4m0 -.4l-.4 .4`;

function drawMap(svg, { rows, causal }) {
  const size = rows.length;
  svg.replaceChildren();
  svg.setAttribute("viewBox", `-0.1 -0.1 ${size + 0.2} ${size + 0.2}`);
  let [depends, free, ahead, crosses] = ["", "", "", ""];
  rows.forEach((row, r) => row.forEach((yes, c) => {
    if (!yes) free += dot(r, c);
    else if (causal && c > r) {
      ahead += square(r, c);
      crosses += cross(r, c);
    } else depends += square(r, c);
  }));
  draw("path", svg, { class: "free", d: free });
  draw("path", svg, { class: "depends", d: depends });
  draw("path", svg, { class: "ahead", d: ahead });
  draw("path", svg, { class: "cross", d: crosses });
}

function render({ model, el }) {
  el.classList.add("mha", "mha-dependency");
  el.dataset.lmSuppressShortcuts = "true";
  const heading = make("div", "heading", el);
  const maps = make("div", "maps", el);
  const legend = make("div", "legend", el);
  const built = [];

  function makeMap() {
    const box = make("figure", "", maps);
    const title = make("figcaption", "", box);
    const svg = draw("svg", box, { role: "img" });
    return { box, title, svg, count: make("div", "count", box), note: make("div", "note", box) };
  }

  function swatch(kind, text, rows, causal) {
    const entry = make("span", "entry", legend);
    const svg = draw("svg", entry, { "aria-hidden": "true", "data-kind": kind });
    entry.append(text);
    drawMap(svg, { rows, causal });
    svg.setAttribute("viewBox", "0 0 1 1");
    if (causal) svg.setAttribute("viewBox", "1 0 1 1");
  }

  function paint() {
    const frame = model.get("frame");
    el.classList.toggle("cleared", Boolean(frame.reason));
    if (frame.reason || !frame.maps.length) return;
    heading.textContent = frame.heading;
    while (built.length < frame.maps.length) built.push(makeMap());
    frame.maps.forEach((one, i) => {
      const { box, title, svg, count, note } = built[i];
      box.dataset.depends = one.rows.flat().filter(Boolean).length;
      title.textContent = one.title;
      count.textContent = one.count;
      note.textContent = one.note;
      svg.setAttribute("aria-label", one.spoken);
      drawMap(svg, one);
    });
    legend.replaceChildren();
    make("span", "entry", legend).textContent = frame.words.axes;
    swatch("depends", frame.words.depends, [[1]], false);
    swatch("free", frame.words.free, [[0]], false);
    swatch("ahead", frame.words.looks_ahead, [[0, 1], [0, 0]], true);
    el.dataset.painted = Number(el.dataset.painted || 0) + 1;
  }

  model.on("change:frame", paint);
  paint();
  return () => model.off("change:frame", paint);
}

export default { initialize, render };
