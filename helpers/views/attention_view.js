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

const range = (count) => [...Array(count).keys()];
const isEmpty = (row) => row.every((weight) => weight === 0);

// Names along one side of a map, every n-th where they would overlap, and one for the cursor.
class Axis {
  constructor(className) {
    this.names = element("div");
    this.cursor = element("span.mha-cursor-name", { dir: "auto", hidden: "" });
    this.el = element("div", { class: `mha-axis ${className}`, "aria-hidden": "true" });
    this.el.append(this.names, this.cursor);
    this.texts = [];
  }

  show(texts, titles, length) {
    const dense = length / texts.length < 16, pitch = dense ? 12.5 : 16;
    const step = Math.max(1, Math.ceil((pitch * texts.length) / length));
    const count = Math.ceil(texts.length / step);
    this.el.classList.toggle("mha-dense", dense);
    this.texts = texts;
    keep(this.names, count, () => element("span", { dir: "auto" })).forEach((node, n) => {
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

class AttentionView extends MapView {
  constructor(model, el) {
    super(model, ["frame", "labels", "selected", "mode", "pointed", "row_sums"]);
    this.colours = viridis();
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
    const { id } = this;
    const unseen = { "aria-hidden": "true" };
    const words = (...names) => this.words(...names);

    this.grid = element("div.mha-heads", { role: "toolbar" });
    this.grid.style.setProperty("--box", `${BOX}px`);
    this.barMark = element("i", { hidden: "" });
    this.bar = element("span.mha-bar", { role: "img" }, colourStrip(this.colours), this.barMark);
    this.makeModes("map", "arcs", "table");
    this.sumsBox = element("input", { type: "checkbox", "data-row-sums": "" });
    const sumsLabel = element("label.mha-check", {}, this.sumsBox, words("row_sums"));
    this.legend = element("span.mha-legend", { hidden: "" }, element("i"), words("nothing"));
    this.notice = element("p.mha-notice mha-reason", { "data-notice": "", role: "status" });
    const all = element("section.mha-all", {}, this.grid,
      element("div.mha-scale", {}, "0", this.bar, words("scale")),
      element("div.mha-switches", {}, this.modes, sumsLabel),
      element("div.mha-under", {}, this.legend, this.notice),
      words("lost", "p.mha-lost", { role: "status" }));

    this.swatch = element("i.mha-swatch");
    this.name = element("b");
    const reach = { tabindex: "0", role: "application", "aria-describedby": `${id}-help` };
    [this.queries, this.from] = [new Axis("mha-queries"), new Axis("mha-queries")];
    [this.keys, this.to] = [new Axis("mha-keys"), new Axis("mha-to")];
    this.sums = new Axis("mha-sums");
    this.canvas = element("canvas", unseen);
    this.cell = element("div.mha-cell", { hidden: "" });
    this.large = element("div.mha-large", { "data-large": "", ...reach }, this.canvas, this.cell);
    const corner = element("div.mha-corner", unseen, words("key_axis"), words("query_axis"));
    const sigma = element("div.mha-sigma", unseen, "Σ");
    const map = element("div.mha-map", {}, corner, this.keys.el, sigma,
      this.queries.el, this.large, this.sums.el);
    const box = { viewBox: "0 0 100 100", preserveAspectRatio: "none" };
    this.svg = draw("svg", null, { ...box, ...unseen });
    this.lines = element("span");
    this.arcs = element("div.mha-arcs", { "data-arcs": "", ...reach }, words("query_side"),
      this.lines, words("key_side"), this.from.el, this.svg, this.to.el);
    this.table = new NumberTable();
    this.readout = element("p.mha-readout", { "data-readout": "" });
    this.spoken = element("span.mha-hidden", { "aria-live": "polite" });
    const one = element("section.mha-one", {},
      element("div.mha-title", {}, this.swatch, this.name, words("axes")),
      element("div.mha-stage", {}, map, this.arcs, this.table.el),
      this.readout, this.spoken, words("map_help", "span.mha-hidden", { id: `${id}-help` }));

    const root = { class: "mha mha-maps mha-attention", "data-painted": "0" };
    this.root = element("div", root, all, one);
    this.root.dataset.lmSuppressShortcuts = "true";
  }

  listen() {
    const cellOf = new Map([
      [this.grid, (event) => this.smallCellAt(event)],
      [this.large, (event) => this.largeCellAt(event)],
      [this.arcs, (event) => this.lineAt(event)],
      [this.table.el, (event) => event.target.closest("td")?.cell || null],
    ]);
    for (const [area, cell] of cellOf) {
      area.addEventListener("pointermove", (event) => this.over(cell(event)));
      area.addEventListener("pointerleave", () => this.over(null));
      if (area === this.grid) continue;
      area.addEventListener("click", (event) => {
        const at = cell(event);
        if (at) this.pin([at.query, at.key]);
      });
    }
    const headOf = (event) => event.target.closest("[data-head]")?.dataset.head;
    this.grid.addEventListener("click", (event) => this.select(headOf(event)));
    this.grid.addEventListener("focusin", (event) => this.rove(Number(headOf(event))));
    this.grid.addEventListener("keydown", (event) => this.headKey(event));
    this.large.addEventListener("keydown", (event) => this.cellKey(event));
    this.arcs.addEventListener("keydown", (event) => this.cellKey(event));
    this.sumsBox.addEventListener("change", () => this.set("row_sums", this.sumsBox.checked));

    // A restarted kernel has forgotten this view. JupyterLab lets us hear of it.
    this.kernel = this.model.widget_manager?.kernel?.statusChanged;
    this.kernelStatus = (_, status) => {
      if (/restarting|dead/.test(status)) this.root.dataset.lost = "";
    };
    this.kernel?.connect(this.kernelStatus);
  }

  remove() {
    this.kernel?.disconnect(this.kernelStatus);
    super.remove();
  }

  // Painting ---------------------------------------------------------------------------

  paint() {
    const { model, root } = this;
    if (this.labels !== model.get("labels")) this.sayWords((this.labels = model.get("labels")));
    if (this.frame !== model.get("frame")) this.take((this.frame = model.get("frame")));
    this.selected = within(model.get("selected"), this.H);
    this.showMode();
    this.sumsBox.checked = root.dataset.sums = model.get("row_sums");
    this.sumsBox.disabled = this.mode !== "map"; // the table always has them
    this.arrange();
    this.paintLarge();
    this.showPointed();
    root.dataset.shape = this.frame.shape.join();
    root.dataset.painted = Number(root.dataset.painted) + 1;
  }

  sayWords(labels) {
    super.sayWords(labels);
    this.grid.setAttribute("aria-label", labels.heads);
    this.bar.setAttribute("aria-label", labels.scale_name);
    for (const area of [this.large, this.arcs])
      area.setAttribute("aria-roledescription", labels.map_role);
  }

  // A new picture: its weights, its small maps.
  take(frame) {
    [this.H, this.Tq, this.Tk] = frame.shape;
    const { H, Tq, Tk, grid, hover } = this;
    this.weights = H ? floats(frame.weights) : new Float32Array(0);
    this.pixels = H ? new ImageData(Tk, Tq) : null;
    this.root.dataset.empty = !H;
    write(this.notice, frame.notice);
    const focused = grid.contains(document.activeElement);
    let hatched = false;
    keep(grid, H, (h) => {
      const label = element("span", {}, element("i.mha-swatch"), element("span"));
      const canvas = element("canvas", { "aria-hidden": "true" });
      return element("button", { type: "button", tabindex: "-1", "data-head": h }, label, canvas);
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
    if (!H || mode !== "table") this.table.clear();
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
    keep(this.svg, order.length, () => draw("path")).forEach((path, n) => {
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
    const caption = fill(full ? labels.caption : labels.caption_strongest, { name, count });
    const columns = full ? keys : range(count).map((i) => `${i + 1}`);
    const titles = [`${labels.query_axis} ${labels.key_axis}`, ...columns, labels.row_sum];
    const shown = range(Tq).map((q) => {
      const row = this.row(q), all = range(Tk);
      return full ? all : all.sort((a, b) => row[b] - row[a]).slice(0, count);
    });
    const lines = shown.map((of, q) => {
      const row = this.row(q), text = (k) => fixed(row[k], 3);
      const texts = of.map((k) => (full ? text(k) : row[k] ? `${keys[k]} ${text(k)}` : ""));
      return [queries[q], ...texts, isEmpty(row) ? `${sums[q]} · ${labels.nothing}` : sums[q]];
    });
    this.table.show(caption, titles, lines).forEach((cells, q) => {
      cells[count + 1].cell = null; // a cell kept from a wider table
      shown[q].forEach((key, i) => (cells[i + 1].cell = { query: q, key }));
    });
  }

  // Pointing, reading out, choosing -----------------------------------------------------

  largeCellAt(event) {
    const [query, key] = cellAt(this.large, event, this.Tq, this.Tk);
    return { query, key };
  }

  smallCellAt(event) {
    const button = event.target.closest("[data-head]");
    if (!button) return null;
    const [query, key] = cellAt(button.lastChild, event, this.Tq, this.Tk);
    return { query, key, head: Number(button.dataset.head) };
  }

  // In arcs, the left half is a query's, the right half a key's: its strongest line is read.
  lineAt(event) {
    const { svg, Tq, Tk } = this, [query, half] = cellAt(svg, event, Tq, 2);
    const best = (weights) => weights.reduce((top, w, i) => (w > weights[top] ? i : top), 0);
    if (half === 0) return { query, key: best(this.row(query)) };
    const [key] = cellAt(svg, event, Tk, 2);
    return { query: best(range(Tq).map((q) => this.row(q)[key])), key, by: "key" };
  }

  showPointed() {
    const [query, key] = this.model.get("pointed"), { H, Tq, Tk, frame, labels } = this;
    const pinned = query < Tq && key < Tk ? { query, key } : null;
    const cell = this.hover || pinned, head = cell?.head ?? this.selected;
    const here = head === this.selected ? cell : pinned; // what the large picture marks
    for (const axis of [this.queries, this.from]) axis.point(here?.query);
    for (const axis of [this.keys, this.to]) axis.point(here?.key);
    this.cell.hidden = !here;
    if (here) placeCursor(this.cell, here.query, here.key, Tq, Tk);
    const by = here?.by || "query";
    this.svg.classList.toggle("mha-dimmed", Boolean(here));
    for (const path of this.svg.children)
      path.classList.toggle("mha-lit", path.cell[by] === here?.[by]);
    for (const td of this.table.body.querySelectorAll("td")) {
      const marked = here && td.cell?.query === here.query && td.cell?.key === here.key;
      td.classList.toggle("mha-here", Boolean(marked));
    }
    this.barMark.hidden = !cell;
    if (!cell) return write(this.readout, H ? labels.hint : "");
    const row = this.row(cell.query, head), weight = row[cell.key];
    this.barMark.style.left = `${100 * Math.min(1, weight)}%`;
    const values = { query: frame.query_titles[cell.query], key: frame.key_titles[cell.key],
      weight: fixed(weight, 2), name: frame.names[head] };
    this.readOut(isEmpty(row) ? labels.no_keys : labels.readout, values, "query", "key", "weight");
  }

  select(head) {
    if (head === undefined) return;
    this.set("selected", Number(head));
    this.speak(() => this.frame.alts[head] || "");
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
    const cell = this.moved(event, this.model.get("pointed"), this.Tq, this.Tk);
    if (cell) this.pin(cell);
  }
}

function render({ model, el }) {
  const view = new AttentionView(model, el);
  return () => view.remove();
}

export default { initialize, render };
