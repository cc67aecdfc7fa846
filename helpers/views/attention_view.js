// The attention view: every head as a small map, one head large as map, arcs or table.
//
// One buffer of float32 weights (H, Tq, Tk) comes from Python in `frame` and is painted into
// canvases of one pixel per weight, which CSS scales. Nodes are kept and filled again: a new
// picture of the same shape rebuilds nothing, and focus stays where it was.
// Words on the page come from Python (`labels`); tokens are only ever set as text.

// matplotlib's viridis at 0, 5, 10 … 255.
const STOPS =
  "44015446085c471063481769481d6f482475472a7a46307e453781433d844142873f48893d4e8a" +
  "3a538b38598c355e8d33638d31688e2e6d8e2c718e2a768e297b8e27808e25848e23898e218e8d" +
  "20928c1f978b1e9c891fa18821a58524aa8328ae802eb37c35b7793dbc7446c06f50c46a5ac864" +
  "65cb5e70cf577cd25089d54895d840a2da37b0dd2fbddf26cae11fd8e219e5e419f1e51dfde725";
const BOX = 372; // height of the small maps together, whatever their number, in px
const LARGEST = 140; // side of one small map, in px
const SMALLEST = 24;
const MOST_LINES = 600; // arcs: more would be a blur
const FULL_TABLE = 32; // tokens up to which the table shows every weight
const STRONGEST = 5; // and how many keys per query beyond that
const SVG = "http://www.w3.org/2000/svg"; // the name of a namespace; nothing is fetched

// The 256 colours of the scale, each as the 4 bytes RGBA of one pixel.
export function viridis() {
  const stops = STOPS.match(/../g).map((hex) => parseInt(hex, 16));
  const bytes = new Uint8ClampedArray(4 * 256);
  for (let i = 0; i < 256; i++) {
    const low = Math.min(Math.floor(i / 5), 50), part = i / 5 - low;
    for (let c = 0; c < 3; c++)
      bytes[4 * i + c] = stops[3 * low + c] * (1 - part) + stops[3 * low + 3 + c] * part;
    bytes[4 * i + 3] = 255;
  }
  return new Uint32Array(bytes.buffer);
}

// A number as Python writes it: an exact half goes to the even digit (toFixed rounds it up).
export function fixed(value, digits) {
  const scaled = value * 10 ** digits;
  const half = Math.abs(scaled % 1) === 0.5;
  return (half ? (2 * Math.round(scaled / 2)) / 10 ** digits : value).toFixed(digits);
}

export const fill = (template, values) =>
  template.replace(/\{(\w+)\}/g, (_, name) => values[name]);

// The weights as Float32Array. A buffer may begin anywhere, a Float32Array only at 4·n.
export function weightsOf(frame) {
  const bytes = frame.weights;
  if (!frame.shape[0]) return new Float32Array(0);
  const { buffer, byteOffset: start, byteLength: length } = bytes;
  return start % 4
    ? new Float32Array(buffer.slice(start, start + length))
    : new Float32Array(buffer, start, length / 4);
}

// How many columns of small maps, and their side: as large as fits into width × BOX.
export function gridOf(count, width, fixedColumns) {
  const title = (side) => (side < 60 ? 18 : 28), pad = (side) => (side < 60 ? 4 : 12);
  const sideFor = (columns) => {
    const rows = Math.ceil(count / columns);
    const fit = (like) => Math.min(width / columns - pad(like), BOX / rows - title(like), LARGEST);
    return Math.floor(fit(LARGEST) < 60 ? Math.min(fit(0), 59) : fit(LARGEST));
  };
  let columns = 1;
  if (fixedColumns) {
    columns = fixedColumns;
    while (columns > 1 && width / columns - pad(0) < SMALLEST) columns = Math.ceil(columns / 2);
  } else {
    for (let c = 2; c <= count; c++) {
      const gain = sideFor(c) - sideFor(columns);
      if (gain > 0 || (gain === 0 && count % c === 0)) columns = c; // full rows look better
    }
  }
  const side = Math.max(sideFor(columns), SMALLEST), rows = Math.ceil(count / columns);
  const gap = Math.max(0, Math.min(14, (BOX - rows * (side + title(side))) / Math.max(1, rows - 1)));
  return { columns, side, gap };
}

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  // JupyterLab's shortcuts ("a" adds a cell) leave alone the element with this mark, not what
  // stands in it: whatever can have the focus must carry it.
  if (tag === "button" || tag === "input" || attributes.tabindex) node.dataset.lmSuppressShortcuts = "true";
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Exactly `count` children, the ones that stand already kept.
function keep(parent, count, create) {
  while (parent.children.length > count) parent.lastElementChild.remove();
  while (parent.children.length < count) parent.append(create(parent.children.length));
  return parent.children;
}

// Names along one side of a map, every n-th where they would overlap, and one for the cursor.
class Axis {
  constructor(className) {
    this.names = make("div");
    this.cursor = make("span", { class: "mha-cursor-name", dir: "auto", hidden: "" });
    this.el = make("div", { class: `mha-axis ${className}`, "aria-hidden": "true" });
    this.el.append(this.names, this.cursor);
  }

  show(texts, titles, length) {
    const dense = length / texts.length < 16;
    const step = Math.max(1, Math.ceil(((dense ? 12.5 : 16) * texts.length) / (length || 1)));
    this.el.classList.toggle("mha-dense", dense);
    this.texts = texts;
    const nodes = keep(this.names, Math.ceil(texts.length / step), () => make("span", { dir: "auto" }));
    for (let n = 0; n < nodes.length; n++) {
      const i = n * step;
      write(nodes[n], texts[i]);
      if (nodes[n].title !== titles[i]) nodes[n].title = titles[i];
      nodes[n].style.setProperty("--at", (i + 0.5) / texts.length);
    }
  }

  point(i) {
    this.cursor.hidden = i === undefined;
    if (this.cursor.hidden) return;
    write(this.cursor, this.texts[i]);
    this.cursor.style.setProperty("--at", (i + 0.5) / this.texts.length);
  }
}

class AttentionView {
  constructor(model, el) {
    this.model = model;
    this.colours = viridis();
    this.hover = null; // { head, query, key, by } under the mouse; the pinned cell is in the model
    this.build(el);
    this.listen();
    // Sizes as last seen: asked for while JupyterLab keeps a cell out of sight, they are 0.
    this.sizes = new Map([[this.grid, 500], [this.large, 300], [this.svg, 340]]);
    this.observer = new ResizeObserver((entries) => {
      for (const { target, contentRect: { width, height } } of entries)
        if (width) this.sizes.set(target, target === this.svg ? height : width);
      this.schedule();
    });
    for (const area of this.sizes.keys()) this.observer.observe(area);
    this.schedule();
  }

  build(el) {
    const id = "mha" + Math.random().toString(36).slice(2, 10); // a page may hold many views
    this.text = {}; // nodes whose words come from `labels`, by the label's name
    const words = (name, tag = "span", attributes = {}) => (this.text[name] = make(tag, attributes));
    const canvas = () => make("canvas", { "aria-hidden": "true" });

    this.grid = make("div", { class: "mha-heads", role: "toolbar" });
    this.grid.style.minHeight = `${BOX}px`;
    this.bar = Object.assign(canvas(), { width: 256, height: 1 });
    this.barMark = make("i", { hidden: "" });
    this.barBox = make("span", { class: "mha-bar", role: "img" }, this.bar, this.barMark);
    this.nothing = make("span", { class: "mha-legend", hidden: "" }, make("i"), words("nothing"));
    const scale = make("div", { class: "mha-scale" }, "0", this.barBox, words("scale"));

    this.modes = make("div", { class: "mha-modes", role: "radiogroup" });
    for (const mode of ["map", "arcs", "table"]) {
      const input = make("input", { type: "radio", name: id, value: mode, "data-mode": mode });
      this.modes.append(make("label", {}, input, words(mode)));
    }
    this.sumsBox = make("input", { type: "checkbox", "data-row-sums": "" });
    const switches = make("div", { class: "mha-switches" }, this.modes,
      make("label", { class: "mha-check" }, this.sumsBox, words("row_sums")));
    this.notice = make("p", { class: "mha-notice", "data-notice": "", role: "status" });
    const under = make("div", { class: "mha-under" }, this.nothing, this.notice);
    const all = make("section", { class: "mha-all" }, this.grid, scale, switches, under,
      words("lost", "p", { class: "mha-lost" }));

    this.swatch = make("i", { class: "mha-swatch" });
    this.name = make("b");
    const title = make("div", { class: "mha-title" }, this.swatch, this.name, words("axes"));
    this.keys = new Axis("mha-keys");
    this.queries = new Axis("mha-queries");
    this.sums = new Axis("mha-sums");
    this.cell = make("div", { class: "mha-cell", hidden: "" });
    const reach = { tabindex: "0", role: "application", "aria-describedby": `${id}-help` };
    this.large = make("div", { class: "mha-large", "data-large": "", ...reach }, canvas(), this.cell);
    const map = make("div", { class: "mha-map" },
      make("div", { class: "mha-corner", "aria-hidden": "true" }, words("key_axis"), words("query_axis")),
      this.keys.el, make("div", { class: "mha-sigma", "aria-hidden": "true" }, "Σ"),
      this.queries.el, this.large, this.sums.el);
    this.from = new Axis("mha-queries");
    this.to = new Axis("mha-to");
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("viewBox", "0 0 100 100");
    this.svg.setAttribute("preserveAspectRatio", "none");
    this.svg.setAttribute("aria-hidden", "true");
    this.lines = make("span");
    this.arcs = make("div", { class: "mha-arcs", "data-arcs": "", ...reach },
      words("query_side"), this.lines, words("key_side"), this.from.el, this.svg, this.to.el);
    this.table = make("table", {}, make("caption"), make("thead", {}, make("tr")), make("tbody"));
    this.tableBox = make("div", { class: "mha-table", "data-table": "", tabindex: "0", role: "region" }, this.table);
    const stage = make("div", { class: "mha-stage" }, map, this.arcs, this.tableBox);
    this.readout = make("p", { class: "mha-readout", "data-readout": "" });
    this.spoken = make("span", { class: "mha-hidden", "aria-live": "polite" });
    const one = make("section", { class: "mha-one" }, title, stage, this.readout, this.spoken,
      words("map_help", "span", { class: "mha-hidden", id: `${id}-help` }));

    this.root = make("div", { class: "mha mha-attention", "data-lm-suppress-shortcuts": "true" }, all, one);
    this.root.dataset.painted = 0;
    el.append(this.root);
    new Uint32Array((this.pixels = new ImageData(256, 1)).data.buffer).set(this.colours);
    this.bar.getContext("2d").putImageData(this.pixels, 0, 0);
  }

  listen() {
    this.again = () => this.schedule();
    this.traits = ["frame", "labels", "selected", "mode", "pointed", "row_sums"];
    for (const name of this.traits) this.model.on(`change:${name}`, this.again);

    const headOf = (event) => event.target.closest("[data-head]");
    this.grid.addEventListener("click", (event) => {
      const button = headOf(event);
      if (button) this.select(Number(button.dataset.head));
    });
    this.grid.addEventListener("focusin", (event) => this.rove(Number(headOf(event).dataset.head)));
    this.grid.addEventListener("keydown", (event) => this.headKey(event));
    this.grid.addEventListener("pointermove", (event) => {
      const button = headOf(event), canvas = button && button.querySelector("canvas");
      this.over(canvas && { head: Number(button.dataset.head), ...this.cellAt(canvas, event) });
    });
    this.large.addEventListener("pointermove", (event) => this.over(this.cellAt(this.large, event)));
    this.arcs.addEventListener("pointermove", (event) => this.over(this.lineAt(event)));
    this.table.addEventListener("pointermove", (event) => this.over(this.tableCellAt(event)));
    for (const area of [this.grid, this.large, this.arcs, this.table])
      area.addEventListener("pointerleave", () => this.over(null));
    this.large.addEventListener("click", (event) => this.pin(this.cellAt(this.large, event)));
    this.arcs.addEventListener("click", (event) => this.pin(this.lineAt(event)));
    this.table.addEventListener("click", (event) => this.pin(this.tableCellAt(event)));
    for (const area of [this.large, this.arcs])
      area.addEventListener("keydown", (event) => this.cellKey(event));
    this.modes.addEventListener("change", (event) => this.set("mode", event.target.value));
    this.sumsBox.addEventListener("change", () => this.set("row_sums", this.sumsBox.checked));
  }

  remove() {
    for (const name of this.traits) this.model.off(`change:${name}`, this.again);
    this.observer.disconnect();
    cancelAnimationFrame(this.timer);
    clearTimeout(this.speaking);
    this.root.remove();
  }

  set(name, value) {
    this.model.set(name, value);
    this.model.save_changes();
  }

  // However many changes come, one painting per frame of the screen, of the last of them.
  schedule() {
    if (this.timer) return;
    this.timer = requestAnimationFrame(() => {
      this.timer = 0;
      this.paint();
    });
  }

  // Painting ---------------------------------------------------------------------------

  paint() {
    const { model, root } = this;
    if (this.labels !== model.get("labels")) this.sayWords((this.labels = model.get("labels")));
    if (this.frame !== model.get("frame")) this.take((this.frame = model.get("frame")));
    this.selected = Math.max(0, Math.min(model.get("selected"), this.H - 1));
    this.mode = model.get("mode");
    root.dataset.shown = this.mode;
    root.dataset.sums = this.sumsBox.checked = model.get("row_sums");
    this.sumsBox.disabled = this.mode !== "map"; // the table always has them
    for (const input of this.modes.querySelectorAll("input")) input.checked = input.value === this.mode;
    this.arrange();
    this.paintLarge();
    this.showPointed();
    root.dataset.shape = this.frame.shape.join();
    root.dataset.painted = Number(root.dataset.painted) + 1;
  }

  sayWords(labels) {
    for (const [name, node] of Object.entries(this.text)) write(node, labels[name]);
    for (const area of [this.large, this.arcs]) area.setAttribute("aria-roledescription", labels.map_role);
    this.grid.setAttribute("aria-label", labels.heads);
    this.modes.setAttribute("aria-label", labels.modes);
    this.barBox.setAttribute("aria-label", labels.scale_name);
  }

  // A new picture: its weights, its small maps.
  take(frame) {
    [this.H, this.Tq, this.Tk] = frame.shape;
    const { H, Tq, Tk, root, grid } = this;
    this.weights = weightsOf(frame);
    root.dataset.empty = !H;
    write(this.notice, frame.notice);
    this.pixels = H ? new ImageData(Tk, Tq) : null;
    const focused = grid.contains(document.activeElement);
    const buttons = keep(grid, H, (i) => make("button", { type: "button", tabindex: "-1", "data-head": i },
      make("span", {}, make("i", { class: "mha-swatch" }), make("span")), make("canvas", { "aria-hidden": "true" })));
    let hatched = false;
    for (let h = 0; h < H; h++) {
      const [label, canvas] = buttons[h].children, name = frame.names[h];
      buttons[h].setAttribute("aria-label", frame.alts[h]);
      buttons[h].title = name;
      label.firstChild.style.background = frame.colours[h];
      label.lastChild.dataset.short = name.replace(/^.*\s(?=\d+$)/, "");
      write(label.lastChild, name);
      hatched = this.paintHead(canvas, h) || hatched;
    }
    this.nothing.hidden = !hatched;
    this.hover = null;
    if (H) this.rove(Math.min(this.roving ?? this.model.get("selected"), H - 1));
    if (focused && H && !grid.contains(document.activeElement)) buttons[this.roving].focus();
  }

  // One pixel per weight. Rows without any weight stay clear: the hatching behind shows.
  paintHead(canvas, head) {
    const { Tq, Tk, colours, weights } = this;
    const pixels = new Uint32Array(this.pixels.data.buffer);
    let hatched = false;
    for (let q = 0, i = 0, w = head * Tq * Tk; q < Tq; q++) {
      const start = i;
      let any = false;
      for (const end = i + Tk; i < end; i++, w++) {
        const weight = weights[w];
        if (weight !== 0) any = true;
        pixels[i] = colours[weight >= 1 ? 255 : weight > 0 ? (weight * 256) | 0 : 0];
      }
      if (!any) pixels.fill(0, start, i);
      hatched ||= !any;
    }
    if (canvas.width !== Tk) canvas.width = Tk;
    if (canvas.height !== Tq) canvas.height = Tq;
    canvas.getContext("2d", { willReadFrequently: true }).putImageData(this.pixels, 0, 0);
    return hatched;
  }

  arrange() {
    const { H, grid } = this;
    if (!H) return;
    const { columns, side, gap } = gridOf(H, this.sizes.get(grid), this.frame.columns);
    this.columns = columns;
    grid.style.setProperty("--columns", columns);
    grid.style.setProperty("--side", `${side}px`);
    grid.style.setProperty("--row-gap", `${gap}px`);
    grid.classList.toggle("mha-dense", side < 60);
    // More weights than pixels: averaging them shows a thin diagonal, dropping some may lose it.
    grid.classList.toggle("mha-smooth", Math.max(this.Tq, this.Tk) > side * devicePixelRatio);
    for (const button of grid.children)
      button.setAttribute("aria-pressed", Number(button.dataset.head) === this.selected);
  }

  paintLarge() {
    const { H, Tq, Tk, frame, selected, mode } = this, canvas = this.large.firstChild;
    const length = this.sizes.get(this.large);
    if (!H) {
      canvas.width = canvas.height = 1;
      return;
    }
    write(this.name, frame.names[selected]);
    this.swatch.style.background = frame.colours[selected];
    this.root.style.setProperty("--head", frame.colours[selected]);
    this.large.setAttribute("aria-label", frame.alts[selected]);
    this.arcs.setAttribute("aria-label", frame.alts[selected]);
    this.paintHead(canvas, selected);
    this.large.classList.toggle("mha-smooth", Math.max(Tq, Tk) > length * devicePixelRatio);
    this.queries.show(frame.queries, frame.query_titles, length);
    this.keys.show(frame.keys, frame.key_titles, length);
    const sums = [...Array(Tq).keys()].map((q) => fixed(this.rowSum(q), 3));
    this.sums.show(sums, sums, length);
    if (mode === "arcs") this.drawArcs();
    if (mode === "table") this.drawTable(sums);
  }

  weight(head, query, key) {
    return this.weights[(head * this.Tq + query) * this.Tk + key];
  }

  row(query, head = this.selected) {
    const start = (head * this.Tq + query) * this.Tk;
    return this.weights.subarray(start, start + this.Tk);
  }

  rowSum(query) {
    return this.row(query).reduce((sum, weight) => sum + weight, 0);
  }

  strongest(query) {
    return this.row(query).reduce((best, weight, key, row) => (weight > row[best] ? key : best), 0);
  }

  drawArcs() {
    const { Tq, Tk, selected, frame } = this, size = Tq * Tk, length = this.sizes.get(this.svg);
    const weights = this.weights.subarray(selected * size, (selected + 1) * size);
    let order = [...weights.keys()].filter((i) => weights[i] > 0).sort((a, b) => weights[a] - weights[b]);
    const all = order.length;
    order = order.slice(-MOST_LINES); // the strongest, drawn last
    const widest = Math.min(6, length / Math.max(Tq, Tk) / 2);
    write(this.lines, all > order.length ? fill(this.labels.lines, { shown: order.length, all }) : "");
    const paths = keep(this.svg, order.length, () => document.createElementNS(SVG, "path"));
    order.forEach((i, n) => {
      const query = Math.floor(i / Tk), key = i % Tk, path = paths[n];
      const from = (100 * (query + 0.5)) / Tq, to = (100 * (key + 0.5)) / Tk;
      path.cell = { query, key };
      path.setAttribute("d", `M0 ${from}C45 ${from} 55 ${to} 100 ${to}`);
      path.setAttribute("stroke-width", 0.7 + widest * weights[i]);
      path.setAttribute("stroke-opacity", Math.min(1, 0.12 + weights[i]));
    });
    this.from.show(frame.queries, frame.query_titles, length);
    this.to.show(frame.keys, frame.key_titles, length);
  }

  drawTable(sums) {
    const { Tq, Tk, frame, labels, selected } = this, [caption, head, body] = this.table.children;
    const full = Math.max(Tq, Tk) <= FULL_TABLE, count = Math.min(STRONGEST, Tk), name = frame.names[selected];
    const columns = full ? frame.key_titles : [...Array(count).keys()].map((i) => `${i + 1}`);
    write(caption, fill(full ? labels.caption : labels.caption_strongest, { name, count }));
    this.tableBox.setAttribute("aria-label", caption.textContent);
    const heading = () => make("th", { scope: "col", dir: "auto" });
    const titles = [`${labels.query_axis} ${labels.key_axis}`, ...columns, labels.row_sum];
    [...keep(head.firstChild, titles.length, heading)].forEach((th, i) => write(th, titles[i]));
    const rows = keep(body, Tq, () => make("tr"));
    for (let q = 0; q < Tq; q++) {
      const row = this.row(q), empty = !row.some((weight) => weight !== 0);
      const keys = [...row.keys()];
      if (!full) keys.sort((a, b) => row[b] - row[a]).length = count;
      const shown = (k) => (full ? fixed(row[k], 3) : row[k] ? `${frame.key_titles[k]} ${fixed(row[k], 3)}` : "");
      const texts = [frame.query_titles[q], ...keys.map(shown), empty ? `${sums[q]} · ${labels.nothing}` : sums[q]];
      const cells = keep(rows[q], texts.length, (i) => make(i ? "td" : "th", i ? {} : { scope: "row", dir: "auto" }));
      texts.forEach((text, i) => write(cells[i], text));
      keys.forEach((key, i) => (cells[i + 1].cell = { query: q, key }));
      cells[texts.length - 1].cell = null;
    }
  }

  // Pointing, reading out, choosing -----------------------------------------------------

  cellAt(area, event) {
    const box = area.getBoundingClientRect();
    const at = (place, start, size, count) =>
      Math.max(0, Math.min(count - 1, Math.floor(((place - start) / size) * count)));
    return {
      query: at(event.clientY, box.top, box.height, this.Tq),
      key: at(event.clientX, box.left, box.width, this.Tk),
    };
  }

  // In arcs, the left half is a query's, the right half a key's: its strongest line is read.
  lineAt(event) {
    const box = this.svg.getBoundingClientRect(), { query, key } = this.cellAt(this.svg, event);
    if (event.clientX < box.left + box.width / 2) return { query, key: this.strongest(query) };
    const place = Math.floor(((event.clientY - box.top) / box.height) * this.Tk);
    const column = Math.max(0, Math.min(this.Tk - 1, place));
    let best = 0;
    for (let q = 1; q < this.Tq; q++)
      if (this.weight(this.selected, q, column) > this.weight(this.selected, best, column)) best = q;
    return { query: best, key: column, by: "key" };
  }

  tableCellAt(event) {
    const cell = event.target.closest("td");
    return (cell && cell.cell) || null;
  }

  over(cell) {
    const next = cell && { head: this.selected, by: "query", ...cell }, last = this.hover;
    const fields = ["head", "query", "key", "by"];
    if (next === last || (next && last && fields.every((name) => next[name] === last[name]))) return;
    this.hover = next;
    this.showPointed();
  }

  showPointed() {
    const [query, key] = this.model.get("pointed"), { H, Tq, Tk, selected, frame, labels } = this;
    const pinned = query < Tq && key < Tk ? { head: selected, query, key, by: "query" } : null;
    const cell = H ? this.hover || pinned : null;
    const here = cell && cell.head === selected ? cell : pinned;
    this.barMark.hidden = !cell;
    this.cell.hidden = !here;
    for (const axis of [this.queries, this.from]) if (axis.texts) axis.point(here?.query);
    for (const axis of [this.keys, this.to]) if (axis.texts) axis.point(here?.key);
    if (here) {
      const place = { "--x": (here.key + 0.5) / Tk, "--y": (here.query + 0.5) / Tq, "--w": 1 / Tk, "--h": 1 / Tq };
      for (const [name, value] of Object.entries(place)) this.cell.style.setProperty(name, value);
    }
    if (this.mode === "arcs") {
      this.svg.classList.toggle("mha-dimmed", Boolean(here));
      for (const { cell: line, classList } of this.svg.children)
        classList.toggle("mha-lit", Boolean(here) && line[here.by] === here[here.by]);
    }
    if (this.mode === "table")
      for (const td of this.table.querySelectorAll("td"))
        td.classList.toggle("mha-here", Boolean(here && td.cell) && td.cell.query === here.query && td.cell.key === here.key);
    if (!cell) return write(this.readout, H ? labels.hint : "");
    const weight = this.weight(cell.head, cell.query, cell.key);
    this.barMark.style.left = `${100 * Math.min(1, weight)}%`;
    const template = this.row(cell.query, cell.head).some((w) => w !== 0) ? labels.readout : labels.no_keys;
    this.writeSentence(template, {
      query: frame.query_titles[cell.query], key: frame.key_titles[cell.key],
      weight: fixed(weight, 2), name: frame.names[cell.head],
    });
  }

  // The sentence with each value in a node of its own: bold the first time, right-to-left apart.
  writeSentence(template, values) {
    const sentence = fill(template, values), bold = new Set(["query", "key", "weight"]);
    if (this.readout.textContent === sentence) return;
    this.readout.replaceChildren(...template.split(/(\{\w+\})/).map((part) => {
      const name = /^\{\w+\}$/.test(part) ? part.slice(1, -1) : null;
      if (!name) return part;
      return make("bdi", bold.delete(name) ? { class: "mha-bold" } : {}, String(values[name]));
    }));
  }

  // Spoken after a short rest, so that a held key or a moving mouse does not flood the ear.
  speak(text) {
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => write(this.spoken, text()), 250);
  }

  select(head) {
    this.set("selected", head);
    this.speak(() => this.frame.alts[head] || "");
  }

  pin(cell) {
    if (!cell) return;
    this.set("pointed", [cell.query, cell.key]);
    this.speak(() => this.readout.textContent);
  }

  // The heads are one stop of the Tab key; this one holds it.
  rove(head) {
    this.roving = head;
    for (const button of this.grid.children)
      button.tabIndex = Number(button.dataset.head) === head ? 0 : -1;
  }

  headKey(event) {
    const { H, columns } = this, last = H - 1, i = this.roving;
    const to = { ArrowLeft: i - 1, ArrowRight: i + 1, ArrowUp: i - columns, ArrowDown: i + columns,
      Home: 0, End: last }[event.key];
    if (event.key === "Enter" || event.key === " ") event.stopPropagation(); // the button's click
    if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.stopPropagation();
    event.preventDefault();
    if (to >= 0 && to <= last) this.grid.children[to].focus();
  }

  cellKey(event) {
    const { Tq, Tk } = this, [query, key] = this.model.get("pointed"), none = query === undefined;
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
      Home: [0, -Tk], End: [0, Tk] };
    const move = moves[event.key];
    if (event.altKey || event.metaKey || event.shiftKey) return;
    if (!move && event.key !== "Escape") return;
    event.stopPropagation();
    event.preventDefault();
    this.hover = null;
    if (!move) return this.set("pointed", []);
    const into = (place, count) => Math.max(0, Math.min(count - 1, place));
    const rows = event.ctrlKey && move[0] === 0 && Math.abs(move[1]) === Tk ? Math.sign(move[1]) * Tq : move[0];
    this.pin(none ? { query: 0, key: 0 } : { query: into(query + rows, Tq), key: into(key + move[1], Tk) });
  }
}

function render({ model, el }) {
  const view = new AttentionView(model, el);
  return () => view.remove();
}

export default { render };
