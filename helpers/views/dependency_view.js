// Draws maps of booleans as SVG: one path for the cells that depend, one for those that do not,
// one for those that look ahead. Words come ready from Python and become text nodes.

const SVG = "http://www.w3.org/2000/svg";

function make(tag, className, parent) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (parent) parent.append(node);
  return node;
}

function path(svg, className, d) {
  const node = document.createElementNS(SVG, "path");
  node.setAttribute("class", className);
  node.setAttribute("d", d);
  svg.append(node);
}

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
  path(svg, "free", free);
  path(svg, "depends", depends);
  path(svg, "ahead", ahead);
  path(svg, "cross", crosses);
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
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("role", "img");
    box.append(svg);
    return { box, title, svg, count: make("div", "count", box), note: make("div", "note", box) };
  }

  function swatch(kind, text, rows, causal) {
    const entry = make("span", "entry", legend);
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("aria-hidden", "true");
    entry.append(svg, text);
    svg.dataset.kind = kind;
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

export default { render };
