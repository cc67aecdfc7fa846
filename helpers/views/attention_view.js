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
  if (!frame.shape[0]) return new Float32Array(0);
  const { buffer, byteOffset: start, byteLength: length } = frame.weights;
  return start % 4
    ? new Float32Array(buffer.slice(start, start + length))
    : new Float32Array(buffer, start, length / 4);
}

// How many columns of small maps, their side and the gap: as large as fits into width × BOX.
export function gridOf(count, width, fixedColumns) {
  const title = (side) => (side < 60 ? 18 : 28), pad = (side) => (side < 60 ? 4 : 12);
  const sideFor = (columns) => {
    const rows = Math.ceil(count / columns);
    const fit = (like) => Math.min(width / columns - pad(like), BOX / rows - title(like), LARGEST);
    return Math.floor(fit(LARGEST) < 60 ? Math.min(fit(0), 59) : fit(LARGEST));
  };
  let columns = fixedColumns || 1;
  if (fixedColumns) {
    while (columns > 1 && width / columns - pad(0) < SMALLEST) columns = Math.ceil(columns / 2);
  } else {
    for (let c = 2; c <= count; c++) {
      const side = sideFor(c), best = sideFor(columns);
      const fuller = count % c === 0 && (side === best || count % columns > 0);
      // Full rows look better: they may cost an eighth of the side.
      if (side > best || (fuller && side >= best * 0.875)) columns = c;
    }
  }
  const side = Math.max(sideFor(columns), SMALLEST), rows = Math.ceil(count / columns);
  const left = BOX - rows * (side + title(side));
  return { columns, side, gap: Math.max(0, Math.min(14, left / Math.max(1, rows - 1))) };
}

// What a small map has room for: "head 12" -> "12", and under 42 px "L2-H12" -> "H12" as well,
// but for the first of its row.
export function shortName(name, side, isFirst) {
  const short = side < 60 ? name.replace(/^.*\s(?=\d+$)/, "") : name;
  return side < 42 && !isFirst ? short.replace(/^L\d+-(?=H\d+$)/, "") : short;
}

const within = (i, count) => Math.max(0, Math.min(count - 1, i));
const range = (count) => [...Array(count).keys()];
const isEmpty = (row) => row.every((weight) => weight === 0);

// make("p.name", attributes, ...children)
function make(what, attributes = {}, ...children) {
  const [tag, name] = what.split("."), node = document.createElement(tag);
  if (name) node.className = name;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  // JupyterLab's shortcuts ("a" adds a cell) leave alone the element with this mark, not what
  // stands in it: whatever can have the focus must carry it.
  if (tag === "button" || tag === "input" || attributes.tabindex)
    node.dataset.lmSuppressShortcuts = "true";
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
  return [...parent.children];
}

// Names along one side of a map, every n-th where they would overlap, and one for the cursor.
class Axis {
  constructor(className) {
    this.names = make("div");
    this.cursor = make("span.mha-cursor-name", { dir: "auto", hidden: "" });
    this.el = make("div", { class: `mha-axis ${className}`, "aria-hidden": "true" });
    this.el.append(this.names, this.cursor);
    this.texts = [];
  }

  show(texts, titles, length) {
    const dense = length / texts.length < 16, pitch = dense ? 12.5 : 16;
    const step = Math.max(1, Math.ceil((pitch * texts.length) / length));
    const count = Math.ceil(texts.length / step);
    this.el.classList.toggle("mha-dense", dense);
    this.texts = texts;
    keep(this.names, count, () => make("span", { dir: "auto" })).forEach((node, n) => {
      this.place(node, n * step);
      if (node.title !== titles[n * step]) node.title = titles[n * step];
    });
  }

  place(node, i) {
    write(node, this.texts[i]);
    node.style.setProperty("--at", (i + 0.5) / this.texts.length);
  }

  point(i) {
    this.cursor.hidden = !(i < this.texts.length);
    if (!this.cursor.hidden) this.place(this.cursor, i);
  }
}

class AttentionView {
  constructor(model, el) {
    this.model = model;
    this.colours = viridis();
    this.hover = null; // the cell under the mouse; the pinned one is in the model
    this.build();
    el.append(this.root);
    // Sizes as last seen: asked for while JupyterLab keeps a cell out of sight, they are 0.
    this.sizes = new Map([[this.grid, 500], [this.large, 300], [this.svg, 340]]);
    this.observer = new ResizeObserver((entries) => {
      for (const { target, contentRect: { width, height } } of entries)
        if (width) this.sizes.set(target, target === this.svg ? height : width);
      this.schedule();
    });
    for (const area of this.sizes.keys()) this.observer.observe(area);
    this.listen();
    this.schedule();
  }

  build() {
    const id = "mha" + Math.random().toString(36).slice(2, 10); // a page may hold many views
    const unseen = { "aria-hidden": "true" };
    this.text = {}; // nodes whose words come from `labels`, by the label's name
    const words = (name, what = "span", attributes = {}) =>
      (this.text[name] = make(what, attributes));

    this.grid = make("div.mha-heads", { role: "toolbar" });
    this.grid.style.setProperty("--box", `${BOX}px`);
    const bar = make("canvas", { ...unseen, width: 256, height: 1 }), strip = new ImageData(256, 1);
    new Uint32Array(strip.data.buffer).set(this.colours);
    bar.getContext("2d").putImageData(strip, 0, 0);
    this.barMark = make("i", { hidden: "" });
    this.bar = make("span.mha-bar", { role: "img" }, bar, this.barMark);
    this.modes = make("div.mha-modes", { role: "radiogroup" });
    for (const mode of ["map", "arcs", "table"]) {
      const input = make("input", { type: "radio", name: id, value: mode, "data-mode": mode });
      this.modes.append(make("label", {}, input, words(mode)));
    }
    this.sumsBox = make("input", { type: "checkbox", "data-row-sums": "" });
    const sumsLabel = make("label.mha-check", {}, this.sumsBox, words("row_sums"));
    this.legend = make("span.mha-legend", { hidden: "" }, make("i"), words("nothing"));
    this.notice = make("p.mha-notice", { "data-notice": "", role: "status" });
    const all = make("section.mha-all", {}, this.grid,
      make("div.mha-scale", {}, "0", this.bar, words("scale")),
      make("div.mha-switches", {}, this.modes, sumsLabel),
      make("div.mha-under", {}, this.legend, this.notice),
      words("lost", "p.mha-lost", { role: "status" }));

    this.swatch = make("i.mha-swatch");
    this.name = make("b");
    const reach = { tabindex: "0", role: "application", "aria-describedby": `${id}-help` };
    [this.queries, this.from] = [new Axis("mha-queries"), new Axis("mha-queries")];
    [this.keys, this.to] = [new Axis("mha-keys"), new Axis("mha-to")];
    this.sums = new Axis("mha-sums");
    this.canvas = make("canvas", unseen);
    this.cell = make("div.mha-cell", { hidden: "" });
    this.large = make("div.mha-large", { "data-large": "", ...reach }, this.canvas, this.cell);
    const corner = make("div.mha-corner", unseen, words("key_axis"), words("query_axis"));
    const map = make("div.mha-map", {}, corner, this.keys.el, make("div.mha-sigma", unseen, "Σ"),
      this.queries.el, this.large, this.sums.el);
    this.svg = document.createElementNS(SVG, "svg");
    const svg = { viewBox: "0 0 100 100", preserveAspectRatio: "none", ...unseen };
    for (const [name, value] of Object.entries(svg)) this.svg.setAttribute(name, value);
    this.lines = make("span");
    this.arcs = make("div.mha-arcs", { "data-arcs": "", ...reach }, words("query_side"),
      this.lines, words("key_side"), this.from.el, this.svg, this.to.el);
    this.caption = make("caption");
    this.tableHead = make("tr");
    this.tableBody = make("tbody");
    const head = make("thead", {}, this.tableHead);
    const table = make("table", {}, this.caption, head, this.tableBody);
    this.table = make("div.mha-table", { "data-table": "", tabindex: "0", role: "region" }, table);
    this.readout = make("p.mha-readout", { "data-readout": "" });
    this.spoken = make("span.mha-hidden", { "aria-live": "polite" });
    const one = make("section.mha-one", {},
      make("div.mha-title", {}, this.swatch, this.name, words("axes")),
      make("div.mha-stage", {}, map, this.arcs, this.table),
      this.readout, this.spoken, words("map_help", "span.mha-hidden", { id: `${id}-help` }));

    this.root = make("div", { class: "mha mha-attention", "data-painted": "0" }, all, one);
    this.root.dataset.lmSuppressShortcuts = "true";
  }

  listen() {
    this.again = () => this.schedule();
    this.traits = ["frame", "labels", "selected", "mode", "pointed", "row_sums"];
    for (const name of this.traits) this.model.on(`change:${name}`, this.again);

    const cellOf = new Map([
      [this.grid, (event) => this.smallCellAt(event)],
      [this.large, (event) => this.cellAt(this.large, event)],
      [this.arcs, (event) => this.lineAt(event)],
      [this.table, (event) => event.target.closest("td")?.cell || null],
    ]);
    for (const [area, cell] of cellOf) {
      area.addEventListener("pointermove", (event) => this.over(cell(event)));
      area.addEventListener("pointerleave", () => this.over(null));
      if (area !== this.grid) area.addEventListener("click", (event) => this.pin(cell(event)));
    }
    const headOf = (event) => event.target.closest("[data-head]")?.dataset.head;
    this.grid.addEventListener("click", (event) => this.select(headOf(event)));
    this.grid.addEventListener("focusin", (event) => this.rove(Number(headOf(event))));
    this.grid.addEventListener("keydown", (event) => this.headKey(event));
    this.large.addEventListener("keydown", (event) => this.cellKey(event));
    this.arcs.addEventListener("keydown", (event) => this.cellKey(event));
    this.modes.addEventListener("change", (event) => this.set("mode", event.target.value));
    this.sumsBox.addEventListener("change", () => this.set("row_sums", this.sumsBox.checked));

    // A restarted kernel has forgotten this view. JupyterLab lets us hear of it.
    this.kernel = this.model.widget_manager?.kernel?.statusChanged;
    this.kernelStatus = (_, status) => {
      if (/restarting|dead/.test(status)) this.root.dataset.lost = "";
    };
    this.kernel?.connect(this.kernelStatus);
  }

  remove() {
    for (const name of this.traits) this.model.off(`change:${name}`, this.again);
    this.kernel?.disconnect(this.kernelStatus);
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
    this.timer ||= requestAnimationFrame(() => {
      this.timer = 0;
      this.paint();
    });
  }

  // Painting ---------------------------------------------------------------------------

  paint() {
    const { model, root } = this;
    if (this.labels !== model.get("labels")) this.sayWords((this.labels = model.get("labels")));
    if (this.frame !== model.get("frame")) this.take((this.frame = model.get("frame")));
    this.selected = within(model.get("selected"), this.H);
    this.mode = root.dataset.shown = model.get("mode");
    for (const input of this.modes.querySelectorAll("input"))
      input.checked = input.value === this.mode;
    this.sumsBox.checked = root.dataset.sums = model.get("row_sums");
    this.sumsBox.disabled = this.mode !== "map"; // the table always has them
    this.arrange();
    this.paintLarge();
    this.showPointed();
    root.dataset.shape = this.frame.shape.join();
    root.dataset.painted = Number(root.dataset.painted) + 1;
  }

  sayWords(labels) {
    for (const [name, node] of Object.entries(this.text)) write(node, labels[name]);
    this.grid.setAttribute("aria-label", labels.heads);
    this.modes.setAttribute("aria-label", labels.modes);
    this.bar.setAttribute("aria-label", labels.scale_name);
    for (const area of [this.large, this.arcs])
      area.setAttribute("aria-roledescription", labels.map_role);
  }

  // A new picture: its weights, its small maps.
  take(frame) {
    [this.H, this.Tq, this.Tk] = frame.shape;
    const { H, Tq, Tk, grid, hover } = this;
    this.weights = weightsOf(frame);
    this.pixels = H ? new ImageData(Tk, Tq) : null;
    this.root.dataset.empty = !H;
    write(this.notice, frame.notice);
    const focused = grid.contains(document.activeElement);
    let hatched = false;
    keep(grid, H, (h) => {
      const label = make("span", {}, make("i.mha-swatch"), make("span"));
      const canvas = make("canvas", { "aria-hidden": "true" });
      return make("button", { type: "button", tabindex: "-1", "data-head": h }, label, canvas);
    }).forEach((button, h) => {
      const [label, canvas] = button.children, [swatch, name] = label.children;
      button.setAttribute("aria-label", frame.alts[h]);
      button.title = frame.names[h];
      swatch.style.background = frame.colours[h];
      write(name, frame.names[h]);
      if (this.paintHead(canvas, h)) hatched = true;
    });
    this.legend.hidden = !hatched;
    if (hover && !(hover.query < Tq && hover.key < Tk && (hover.head ?? 0) < H)) this.hover = null;
    if (!H) return;
    this.rove(within(this.roving ?? this.model.get("selected"), H));
    if (focused && !grid.contains(document.activeElement)) grid.children[this.roving].focus();
  }

  // One pixel per weight. Rows without any weight stay clear: the hatching behind shows.
  paintHead(canvas, head) {
    const { Tq, Tk, colours, weights } = this;
    const pixels = new Uint32Array(this.pixels.data.buffer);
    let hatched = false;
    for (let q = 0, i = 0, w = head * Tq * Tk; q < Tq; q++) {
      const start = i, end = i + Tk;
      let empty = true;
      for (; i < end; i++, w++) {
        const weight = weights[w];
        if (weight !== 0) empty = false;
        pixels[i] = colours[weight >= 1 ? 255 : weight > 0 ? (weight * 256) | 0 : 0];
      }
      if (empty) pixels.fill(0, start, end);
      hatched ||= empty;
    }
    if (canvas.width !== Tk) canvas.width = Tk;
    if (canvas.height !== Tq) canvas.height = Tq;
    canvas.getContext("2d", { willReadFrequently: true }).putImageData(this.pixels, 0, 0);
    return hatched;
  }

  // More weights than pixels: averaging them shows a thin diagonal, dropping some may lose it.
  smooth(area, side) {
    area.classList.toggle("mha-smooth", Math.max(this.Tq, this.Tk) > side * devicePixelRatio);
  }

  arrange() {
    const { H, grid } = this;
    if (!H) return;
    const { columns, side, gap } = gridOf(H, this.sizes.get(grid), this.frame.columns);
    const style = { "--columns": columns, "--side": `${side}px`, "--row-gap": `${gap}px` };
    for (const [name, value] of Object.entries(style)) grid.style.setProperty(name, value);
    this.columns = columns;
    grid.classList.toggle("mha-dense", side < 60);
    // More heads than the box holds are scrolled, so that the page below stays where it is.
    const height = Math.ceil(H / columns) * (side + (side < 60 ? 18 : 28));
    grid.classList.toggle("mha-many", !this.frame.columns && height > BOX);
    this.smooth(grid, side);
    [...grid.children].forEach((head, h) => {
      head.setAttribute("aria-pressed", h === this.selected);
      const name = head.firstChild.lastChild;
      name.dataset.short = shortName(this.frame.names[h], side, h % columns === 0);
    });
  }

  paintLarge() {
    const { H, Tq, frame, selected, canvas, mode } = this, length = this.sizes.get(this.large);
    write(this.name, H ? frame.names[selected] : "");
    this.queries.show(frame.queries, frame.query_titles, length);
    this.keys.show(frame.keys, frame.key_titles, length);
    const sums = range(Tq).map((q) => fixed(this.row(q).reduce((a, b) => a + b, 0), 3));
    this.sums.show(sums, sums, length);
    if (!H) canvas.width = canvas.height = 1;
    if (!H || mode !== "arcs") this.svg.replaceChildren();
    if (!H || mode !== "table") this.tableBody.replaceChildren();
    if (!H) return;
    this.swatch.style.background = frame.colours[selected];
    this.root.style.setProperty("--head", frame.colours[selected]);
    for (const area of [this.large, this.arcs])
      area.setAttribute("aria-label", frame.alts[selected]);
    this.paintHead(canvas, selected);
    this.smooth(this.large, length);
    if (mode === "arcs") this.drawArcs();
    if (mode === "table") this.drawTable(sums);
  }

  row(query, head = this.selected) {
    const start = (head * this.Tq + query) * this.Tk;
    return this.weights.subarray(start, start + this.Tk);
  }

  drawArcs() {
    const { Tq, Tk, selected, frame } = this, length = this.sizes.get(this.svg);
    const weights = this.weights.subarray(selected * Tq * Tk, (selected + 1) * Tq * Tk);
    const all = range(Tq * Tk).filter((i) => weights[i] > 0);
    all.sort((a, b) => weights[a] - weights[b]);
    const order = all.slice(-MOST_LINES); // the strongest, drawn last
    const cut = fill(this.labels.lines, { shown: order.length, all: all.length });
    write(this.lines, all.length > order.length ? cut : "");
    const widest = Math.min(6, length / Math.max(Tq, Tk) / 2);
    const line = () => document.createElementNS(SVG, "path");
    keep(this.svg, order.length, line).forEach((path, n) => {
      const weight = weights[order[n]], query = Math.floor(order[n] / Tk), key = order[n] % Tk;
      const from = (100 * (query + 0.5)) / Tq, to = (100 * (key + 0.5)) / Tk;
      path.cell = { query, key };
      path.setAttribute("d", `M0 ${from}C45 ${from} 55 ${to} 100 ${to}`);
      path.setAttribute("stroke-width", 0.7 + widest * weight);
      path.setAttribute("stroke-opacity", Math.min(1, 0.12 + weight));
    });
    this.from.show(frame.queries, frame.query_titles, length);
    this.to.show(frame.keys, frame.key_titles, length);
  }

  // Every weight, or in long sentences each query's strongest keys; the row's sum last.
  drawTable(sums) {
    const { Tq, Tk, frame, labels } = this, { query_titles: queries, key_titles: keys } = frame;
    const full = Math.max(Tq, Tk) <= FULL_TABLE, count = full ? Tk : Math.min(STRONGEST, Tk);
    const name = frame.names[this.selected];
    write(this.caption, fill(full ? labels.caption : labels.caption_strongest, { name, count }));
    this.table.setAttribute("aria-label", this.caption.textContent);
    const columns = full ? keys : range(count).map((i) => `${i + 1}`);
    const titles = [`${labels.query_axis} ${labels.key_axis}`, ...columns, labels.row_sum];
    const heading = (scope) => make("th", { scope, dir: "auto" });
    keep(this.tableHead, count + 2, () => heading("col")).forEach((th, i) => write(th, titles[i]));
    keep(this.tableBody, Tq, () => make("tr")).forEach((tr, q) => {
      const row = this.row(q), shown = range(Tk);
      if (!full) shown.sort((a, b) => row[b] - row[a]).length = count;
      const texts = shown.map((k) => fixed(row[k], 3));
      if (!full) shown.forEach((k, i) => (texts[i] = row[k] ? `${keys[k]} ${texts[i]}` : ""));
      const sum = isEmpty(row) ? `${sums[q]} · ${labels.nothing}` : sums[q];
      const cells = keep(tr, count + 2, (i) => (i ? make("td") : heading("row")));
      [queries[q], ...texts, sum].forEach((text, i) => write(cells[i], text));
      cells[count + 1].cell = null; // a cell kept from a wider table
      shown.forEach((key, i) => (cells[i + 1].cell = { query: q, key }));
    });
  }

  // Pointing, reading out, choosing -----------------------------------------------------

  cellAt(area, event) {
    const box = area.getBoundingClientRect();
    const down = (event.clientY - box.top) / box.height;
    const along = (event.clientX - box.left) / box.width;
    const at = (part, count) => within(Math.floor(part * count), count);
    return { query: at(down, this.Tq), key: at(along, this.Tk), down, along };
  }

  smallCellAt(event) {
    const button = event.target.closest("[data-head]");
    if (!button) return null;
    return { ...this.cellAt(button.lastChild, event), head: Number(button.dataset.head) };
  }

  // In arcs, the left half is a query's, the right half a key's: its strongest line is read.
  lineAt(event) {
    const { query, down, along } = this.cellAt(this.svg, event), { Tq, Tk } = this;
    const best = (weights) => weights.reduce((top, w, i) => (w > weights[top] ? i : top), 0);
    if (along < 0.5) return { query, key: best(this.row(query)) };
    const key = within(Math.floor(down * Tk), Tk);
    return { query: best(range(Tq).map((q) => this.row(q)[key])), key, by: "key" };
  }

  over(cell) {
    const same = (name) => this.hover?.[name] === cell?.[name];
    if (["head", "query", "key", "by"].every(same)) return;
    this.hover = cell;
    this.showPointed();
  }

  showPointed() {
    const [query, key] = this.model.get("pointed"), { H, Tq, Tk, frame, labels } = this;
    const pinned = query < Tq && key < Tk ? { query, key } : null;
    const cell = this.hover || pinned, head = cell?.head ?? this.selected;
    const here = head === this.selected ? cell : pinned; // what the large picture marks
    for (const axis of [this.queries, this.from]) axis.point(here?.query);
    for (const axis of [this.keys, this.to]) axis.point(here?.key);
    this.cell.hidden = !here;
    if (here) {
      const { style } = this.cell;
      style.setProperty("--x", (here.key + 0.5) / Tk);
      style.setProperty("--y", (here.query + 0.5) / Tq);
      style.setProperty("--w", 1 / Tk);
      style.setProperty("--h", 1 / Tq);
    }
    const by = here?.by || "query";
    this.svg.classList.toggle("mha-dimmed", Boolean(here));
    for (const path of this.svg.children)
      path.classList.toggle("mha-lit", path.cell[by] === here?.[by]);
    for (const td of this.tableBody.querySelectorAll("td")) {
      const marked = here && td.cell?.query === here.query && td.cell?.key === here.key;
      td.classList.toggle("mha-here", Boolean(marked));
    }
    this.barMark.hidden = !cell;
    if (!cell) return write(this.readout, H ? labels.hint : "");
    const row = this.row(cell.query, head), weight = row[cell.key];
    this.barMark.style.left = `${100 * Math.min(1, weight)}%`;
    this.writeSentence(isEmpty(row) ? labels.no_keys : labels.readout, {
      query: frame.query_titles[cell.query],
      key: frame.key_titles[cell.key],
      weight: fixed(weight, 2),
      name: frame.names[head],
    });
  }

  // The sentence with each value in a node of its own: bold the first time, and a
  // right-to-left word turns nothing round it.
  writeSentence(template, values) {
    if (this.readout.textContent === fill(template, values)) return;
    const bold = new Set(["query", "key", "weight"]);
    const nodes = template.split(/\{(\w+)\}/).map((part, i) => {
      if (i % 2 === 0) return part; // words between the placeholders
      return make(bold.delete(part) ? "bdi.mha-bold" : "bdi", {}, values[part]);
    });
    this.readout.replaceChildren(...nodes);
  }

  // Spoken after a short rest, so that a held key does not flood the ear.
  speak(text) {
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => write(this.spoken, text()), 250);
  }

  select(head) {
    if (head === undefined) return;
    this.set("selected", Number(head));
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
    [...this.grid.children].forEach((button, h) => (button.tabIndex = h === head ? 0 : -1));
  }

  headKey(event) {
    const { columns, roving } = this, last = this.H - 1;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
    const to = { Home: 0, End: last }[event.key] ?? roving + steps[event.key];
    if (event.key === "Enter" || event.key === " ") event.stopPropagation(); // the button's click
    if (Number.isNaN(to) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.stopPropagation();
    event.preventDefault();
    if (to >= 0 && to <= last) this.grid.children[to].focus();
  }

  cellKey(event) {
    const { Tq, Tk } = this, [query = -1, key = -1] = this.model.get("pointed");
    const far = event.ctrlKey ? Tq : 0; // with Ctrl, Home and End go to the map's corners
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
      Home: [-far, -Tk], End: [far, Tk] };
    const step = steps[event.key];
    if (event.altKey || event.metaKey || (!step && event.key !== "Escape")) return;
    event.stopPropagation();
    event.preventDefault();
    this.hover = null;
    if (!step) return this.set("pointed", []);
    this.pin({ query: within(query + step[0], Tq), key: within(key + step[1], Tk) });
  }
}

function render({ model, el }) {
  const view = new AttentionView(model, el);
  return () => view.remove();
}

export default { render };
