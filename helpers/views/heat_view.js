// Heat maps of signed numbers: one canvas pixel per number, scaled by CSS; blocks of columns
// named above; tables behind a switch. The colours come from Python, dark or light page alike.
// Nodes are kept and filled again, so that a new picture moves nothing and focus stays.

const HEIGHT = 190; // of a map with few rows, in px; with more it grows up to twice that
const MOST_COLUMNS = 64; // that a table shows
const STEPS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

const signed = (value) => {
  const text = value.toFixed(2).replace("-", "−");
  return text === "−0.00" ? "0.00" : text;
};

// Every n-th name along an axis, as many as have `pitch` px each.
function label(parent, texts, length, pitch, side) {
  const fit = Math.max(1, Math.ceil((pitch * texts.length) / Math.max(1, length)));
  const step = STEPS.find((n) => n >= fit) ?? fit;
  keep(parent, Math.ceil(texts.length / step), () => element("span", { dir: "auto" }))
    .forEach((node, n) => {
      write(node, texts[n * step]);
      node.title = texts[n * step];
      node.style[side] = `${(100 * (n * step + 0.5)) / texts.length}%`;
    });
}

class HeatView extends MapView {
  constructor(model, el) {
    super(model, ["frame", "labels", "mode", "pointed"]);
    const { buffer, byteOffset: start, byteLength: length } = model.get("colours");
    this.colours = new Uint32Array(buffer.slice(start, start + length));
    this.build();
    el.append(this.root);
    this.observer = new ResizeObserver(this.again);
    this.observer.observe(this.maps);
    this.schedule();
  }

  build() {
    this.maps = element("div.maps");
    this.tables = [];
    this.makeModes("map", "table");
    this.ends = element("span.ends");
    const bar = element("span.mha-bar", {}, colourStrip(this.colours));
    this.scale = element("div.scale", { role: "img" }, bar, this.ends);
    this.readout = element("p.readout", { "data-readout": "" });
    this.spoken = element("span.mha-hidden", { "aria-live": "polite" });
    this.reason = element("p.mha-reason", { role: "status" });
    const help = this.words("help", "span.mha-hidden", { id: `${this.id}-help` });
    this.root = element("div", { class: "mha mha-maps mha-heat", "data-painted": "0" }, this.maps,
      element("div.under", {}, this.scale, this.words("columns", "span.columns"), this.modes),
      this.readout, this.spoken, help, this.reason);
    this.root.dataset.lmSuppressShortcuts = "true";
  }

  buildMap(which) {
    const unseen = { "aria-hidden": "true" }, canvas = element("canvas", unseen);
    const cell = element("div.mha-cell", { hidden: "" });
    const reach = { tabindex: "0", role: "application", "aria-describedby": `${this.id}-help` };
    const lines = element("div.lines");
    const area = element("div.area", { "data-map": which, ...reach }, canvas, lines, cell);
    const here = (event) => {
      const [, T, C] = this.frame.shape;
      return [which, ...cellAt(area, event, T, C)];
    };
    area.addEventListener("pointermove", (event) => this.over(here(event)));
    area.addEventListener("pointerleave", () => this.over(null));
    area.addEventListener("click", (event) => this.pin(here(event)));
    area.addEventListener("keydown", (event) => this.key(event, which));
    const heading = element("div.heading", {}, element("b"), element("span"));
    const grid = element("div.grid", {}, element("div.blocks"), element("div.rows", unseen), area,
      element("div.axis", unseen));
    const table = (this.tables[which] = new NumberTable(which));
    return element("section", {}, heading, element("div.mha-stage", {}, grid, table.el));
  }

  paint() {
    const { model, root } = this, frame = model.get("frame"), labels = model.get("labels");
    this.sayWords((this.labels = labels));
    this.showMode();
    write(this.reason, frame.reason);
    root.dataset.empty = Boolean(frame.reason);
    if (frame.shape) {
      this.frame = frame;
      this.numbers = floats(frame.numbers);
      const ends = { low: frame.ends[0], high: frame.ends[2] };
      this.scale.setAttribute("aria-label", fill(labels.scale_name, ends));
      keep(this.ends, 3, () => element("span")).forEach((node, i) => write(node, frame.ends[i]));
      keep(this.maps, frame.shape[0], () => this.buildMap(this.maps.children.length))
        .forEach((section, which) => this.paintMap(section, which));
      this.showPointed();
    }
    root.dataset.painted = Number(root.dataset.painted) + 1;
  }

  paintMap(section, which) {
    const { frame, colours, labels } = this, [, T, C] = frame.shape;
    const find = (what) => section.querySelector(what);
    write(find("b"), frame.titles[which]);
    write(find(".heading span"), frame.notes[which]);
    const area = find(".area"), canvas = area.firstChild, pixels = new ImageData(C, T);
    area.setAttribute("aria-label", frame.alts[which]);
    area.setAttribute("aria-roledescription", labels.role);
    area.style.height = `${Math.min(2 * HEIGHT, Math.max(HEIGHT, 19 * T))}px`;
    const paint = new Uint32Array(pixels.data.buffer), middle = (colours.length - 1) / 2;
    for (let i = 0, from = which * T * C; i < T * C; i++) {
      const part = this.numbers[from + i] / frame.most;
      paint[i] = colours[Math.round(middle * (1 + Math.max(-1, Math.min(1, part))))];
    }
    [canvas.width, canvas.height] = [C, T];
    canvas.getContext("2d").putImageData(pixels, 0, 0);
    const { width, height } = area.getBoundingClientRect();
    const crowded = C > width * devicePixelRatio || T > height * devicePixelRatio;
    area.classList.toggle("mha-smooth", crowded);
    if (width) {
      label(find(".rows"), frame.rows, height, 15, "top");
      label(find(".axis"), [...Array(C).keys()].map(String), width, 22, "left");
    }
    this.paintBlocks(find(".blocks"), find(".lines"), frame.blocks[which], C, width);
    if (this.mode === "table") this.paintTable(which);
    else this.tables[which].clear();
  }

  paintBlocks(names, lines, blocks, C, width) {
    const named = () => element("span", {}, element("span"), element("i"));
    keep(names, blocks.length, named).forEach((node, b) => {
      const { name, short, colours, size } = blocks[b], part = size / C;
      write(node.firstChild, part * width < 62 ? short : name);
      node.title = name;
      node.style.width = `${100 * part}%`;
      const stripes = colours.map((c, i) => `${c} ${12 * i}px ${12 * i + 12}px`).join();
      node.lastChild.style.background = `repeating-linear-gradient(90deg, ${stripes})`;
    });
    let column = 0;
    keep(lines, blocks.length - 1, () => element("i")).forEach((node, b) => {
      column += blocks[b].size;
      node.style.left = `${(100 * column) / C}%`;
    });
  }

  paintTable(which) {
    const { frame, labels, numbers } = this, [, T, C] = frame.shape;
    const columns = [...Array(Math.min(C, MOST_COLUMNS)).keys()];
    const words = { title: frame.titles[which], shown: columns.length, all: C };
    const number = (row) => (column) => signed(numbers[(which * T + row) * C + column]);
    const lines = frame.rows.map((name, row) => [name, ...columns.map(number(row))]);
    const caption = columns.length < C ? labels.caption_cut : labels.caption;
    this.tables[which].show(fill(caption, words), [labels.token, ...columns.map(String)], lines);
  }

  // Pointing and reading out -------------------------------------------------------------

  showPointed() {
    const { frame, labels } = this, [maps, T, C] = frame.shape;
    const pinned = this.model.get("pointed"), [which, row, column] = this.hover ?? pinned;
    const exists = which < maps && row < T && column < C;
    [...this.maps.children].forEach((section, i) => {
      const cell = section.querySelector(".mha-cell");
      cell.hidden = !exists || i !== which;
      if (!cell.hidden) placeCursor(cell, row, column, T, C);
    });
    if (!exists) return write(this.readout, labels.hint);
    let left = column;
    const block = frame.blocks[which].find(({ size }) => (left -= size) < 0);
    const words = { title: frame.titles[which], row: frame.rows[row], column, block: block.name,
      number: signed(this.numbers[(which * T + row) * C + column]) };
    this.readOut(labels.readout, words);
  }

  key(event, which) {
    const [, T, C] = this.frame.shape, [map, ...at] = this.model.get("pointed");
    const cell = this.moved(event, map === which ? at : [], T, C);
    if (cell) this.pin([which, ...cell]);
  }
}

function render({ model, el }) {
  const view = new HeatView(model, el);
  return () => view.remove();
}

export default { initialize, render };
