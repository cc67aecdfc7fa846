// Heat maps of signed numbers: one canvas pixel per number, scaled by CSS; blocks of columns
// named above; tables behind a switch. The colours come from Python, dark or light page alike.
// Nodes are kept and filled again, so that a new picture moves nothing and focus stays.

const HEIGHT = 190; // of a map with few rows, in px; with more it grows up to twice that
const MOST_COLUMNS = 64; // that a table shows
const STEPS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

const within = (i, count) => Math.max(0, Math.min(count - 1, i));
const fill = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const signed = (value) => {
  const text = value.toFixed(2).replace("-", "−");
  return text === "−0.00" ? "0.00" : text;
};

function make(what, attributes = {}, ...children) {
  const [tag, name] = what.split("."), node = document.createElement(tag);
  if (name) node.className = name;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  // JupyterLab's shortcuts match the focused element itself: it has to carry the mark.
  if (tag === "input" || attributes.tabindex) node.dataset.lmSuppressShortcuts = "true";
  node.append(...children);
  return node;
}

function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function keep(parent, count, create) {
  while (parent.children.length > count) parent.lastElementChild.remove();
  while (parent.children.length < count) parent.append(create());
  return [...parent.children];
}

// Every n-th name along an axis, as many as have `pitch` px each.
function label(parent, texts, length, pitch, side) {
  const fit = Math.max(1, Math.ceil((pitch * texts.length) / Math.max(1, length)));
  const step = STEPS.find((n) => n >= fit) ?? fit;
  keep(parent, Math.ceil(texts.length / step), () => make("span", { dir: "auto" }))
    .forEach((node, n) => {
      write(node, texts[n * step]);
      node.title = texts[n * step];
      node.style[side] = `${(100 * (n * step + 0.5)) / texts.length}%`;
    });
}

class HeatView {
  constructor(model, el) {
    this.model = model;
    this.hover = null; // the cell under the mouse; the pinned one is in the model
    const bytes = model.get("colours");
    this.colours = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    this.build();
    el.append(this.root);
    this.again = () => this.schedule();
    for (const name of ["frame", "labels", "mode", "pointed"]) model.on(`change:${name}`, this.again);
    this.observer = new ResizeObserver(this.again);
    this.observer.observe(this.maps);
    this.schedule();
  }

  build() {
    const id = "mha" + Math.random().toString(36).slice(2, 10); // a page may hold many views
    this.id = id;
    this.text = {};
    const words = (name, what = "span", more = {}) => (this.text[name] = make(what, more));
    this.maps = make("div.maps");
    this.modes = make("div.modes", { role: "radiogroup" });
    for (const mode of ["map", "table"]) {
      const input = make("input", { type: "radio", name: id, value: mode, "data-mode": mode });
      input.addEventListener("change", () => this.set("mode", mode));
      this.modes.append(make("label", {}, input, words(mode)));
    }
    const strip = make("canvas", { "aria-hidden": "true", width: this.colours.length, height: 1 });
    const pixels = new ImageData(this.colours.length, 1);
    new Uint32Array(pixels.data.buffer).set(this.colours);
    strip.getContext("2d").putImageData(pixels, 0, 0);
    this.ends = make("span.ends");
    this.scale = make("div.scale", { role: "img" }, make("span.bar", {}, strip), this.ends);
    this.readout = make("p.readout", { "data-readout": "" });
    this.spoken = make("span.unseen", { "aria-live": "polite" });
    this.reason = make("p.reason", { role: "status" });
    this.root = make("div", { class: "mha mha-heat", "data-painted": "0" }, this.maps,
      make("div.under", {}, this.scale, words("columns", "span.columns"), this.modes),
      this.readout, this.spoken, words("help", "span.unseen", { id: `${id}-help` }), this.reason);
    this.root.dataset.lmSuppressShortcuts = "true";
  }

  buildMap(which) {
    const canvas = make("canvas", { "aria-hidden": "true" });
    const cell = make("div.cell", { hidden: "" });
    const reach = { tabindex: "0", role: "application", "aria-describedby": `${this.id}-help` };
    const area = make("div.area", { "data-map": which, ...reach }, canvas, make("div.lines"), cell);
    const cellAt = (event) => {
      const box = area.getBoundingClientRect(), [, T, C] = this.frame.shape;
      const at = (part, count) => within(Math.floor(part * count), count);
      return [which, at((event.clientY - box.top) / box.height, T),
        at((event.clientX - box.left) / box.width, C)];
    };
    area.addEventListener("pointermove", (event) => this.over(cellAt(event)));
    area.addEventListener("pointerleave", () => this.over(null));
    area.addEventListener("click", (event) => this.pin(cellAt(event)));
    area.addEventListener("keydown", (event) => this.key(event, which));
    const table = make("table", {}, make("caption"), make("thead", {}, make("tr")), make("tbody"));
    const heading = make("div.heading", {}, make("b"), make("span"));
    const grid = make("div.grid", {}, make("div.blocks"), make("div.rows", { "aria-hidden": "true" }),
      area, make("div.axis", { "aria-hidden": "true" }));
    const box = make("div.table", { tabindex: "0", role: "region", "data-table": which }, table);
    return make("section", {}, heading, make("div.stage", {}, grid, box));
  }

  remove() {
    for (const name of ["frame", "labels", "mode", "pointed"]) this.model.off(`change:${name}`, this.again);
    this.observer.disconnect();
    cancelAnimationFrame(this.timer);
    clearTimeout(this.speaking);
    this.root.remove();
  }

  set(name, value) {
    this.model.set(name, value);
    this.model.save_changes();
  }

  schedule() {
    this.timer ||= requestAnimationFrame(() => {
      this.timer = 0;
      this.paint();
    });
  }

  paint() {
    const { model, root } = this, frame = model.get("frame"), labels = model.get("labels");
    for (const [name, node] of Object.entries(this.text)) write(node, labels[name]);
    this.modes.setAttribute("aria-label", labels.modes);
    this.labels = labels;
    root.dataset.shown = model.get("mode");
    for (const input of this.modes.querySelectorAll("input"))
      input.checked = input.value === root.dataset.shown;
    write(this.reason, frame.reason);
    root.dataset.empty = Boolean(frame.reason);
    if (frame.shape) {
      this.frame = frame;
      this.numbers = this.read(frame.numbers);
      this.scale.setAttribute("aria-label", fill(labels.scale_name, { low: frame.ends[0], high: frame.ends[2] }));
      keep(this.ends, 3, () => make("span")).forEach((node, i) => write(node, frame.ends[i]));
      keep(this.maps, frame.shape[0], () => this.buildMap(this.maps.children.length))
        .forEach((section, which) => this.paintMap(section, which));
      this.showPointed();
    }
    root.dataset.painted = Number(root.dataset.painted) + 1;
  }

  // A buffer may begin anywhere, a Float32Array only at 4·n.
  read({ buffer, byteOffset: start, byteLength: length }) {
    return new Float32Array(start % 4 ? buffer.slice(start, start + length) : buffer, start % 4 ? 0 : start, length / 4);
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
    area.classList.toggle("smooth", C > width * devicePixelRatio || T > height * devicePixelRatio);
    if (width) {
      label(find(".rows"), frame.rows, height, 15, "top");
      label(find(".axis"), [...Array(C).keys()].map(String), width, 22, "left");
    }
    this.paintBlocks(find(".blocks"), find(".lines"), frame.blocks[which], C, width);
    if (this.root.dataset.shown === "table") this.paintTable(section, which);
    else find("tbody").replaceChildren();
  }

  paintBlocks(names, lines, blocks, C, width) {
    keep(names, blocks.length, () => make("span", {}, make("span"), make("i"))).forEach((node, b) => {
      const { name, short, colours, size } = blocks[b], part = size / C;
      write(node.firstChild, part * width < 62 ? short : name);
      node.title = name;
      node.style.width = `${100 * part}%`;
      const stripes = colours.map((c, i) => `${c} ${12 * i}px ${12 * i + 12}px`).join();
      node.lastChild.style.background = `repeating-linear-gradient(90deg, ${stripes})`;
    });
    let column = 0;
    keep(lines, blocks.length - 1, () => make("i")).forEach((node, b) => {
      column += blocks[b].size;
      node.style.left = `${(100 * column) / C}%`;
    });
  }

  paintTable(section, which) {
    const { frame, labels, numbers } = this, [, T, C] = frame.shape, shown = Math.min(C, MOST_COLUMNS);
    const [caption, head, body] = section.querySelector("table").children;
    const words = { title: frame.titles[which], shown, all: C };
    write(caption, fill(shown < C ? labels.caption_cut : labels.caption, words));
    section.querySelector(".table").setAttribute("aria-label", caption.textContent);
    const heading = (scope) => make("th", { scope, dir: "auto" });
    keep(head.firstChild, shown + 1, () => heading("col"))
      .forEach((th, i) => write(th, i ? String(i - 1) : labels.token));
    keep(body, T, () => make("tr")).forEach((tr, row) => {
      const cells = keep(tr, shown + 1, () => tr.children.length ? make("td") : heading("row"));
      write(cells[0], frame.rows[row]);
      for (let c = 0; c < shown; c++) write(cells[c + 1], signed(numbers[(which * T + row) * C + c]));
    });
  }

  // Pointing and reading out -------------------------------------------------------------

  over(cell) {
    if (String(cell) === String(this.hover)) return;
    this.hover = cell;
    this.showPointed();
  }

  showPointed() {
    const { frame, labels } = this, [maps, T, C] = frame.shape;
    const pinned = this.model.get("pointed"), [which, row, column] = this.hover ?? pinned;
    const exists = which < maps && row < T && column < C;
    [...this.maps.children].forEach((section, i) => {
      const cell = section.querySelector(".cell");
      cell.hidden = !exists || i !== which;
      if (cell.hidden) return;
      cell.style.left = `${(100 * (column + 0.5)) / C}%`;
      cell.style.top = `${(100 * (row + 0.5)) / T}%`;
      cell.style.width = `max(${100 / C}%, 8px)`;
      cell.style.height = `max(${100 / T}%, 8px)`;
    });
    if (!exists) return write(this.readout, labels.hint);
    let left = column;
    const block = frame.blocks[which].find(({ size }) => (left -= size) < 0);
    const words = { title: frame.titles[which], row: frame.rows[row], column, block: block.name,
      number: signed(this.numbers[(which * T + row) * C + column]) };
    // Each value in a node of its own: a right-to-left word turns nothing round it.
    const parts = labels.readout.split(/\{(\w+)\}/);
    this.readout.replaceChildren(...parts.map((part, i) => (i % 2 ? make("bdi", {}, String(words[part])) : part)));
  }

  pin(cell) {
    this.set("pointed", cell);
    this.schedule();
    clearTimeout(this.speaking); // spoken after a short rest: a held key floods no ear
    this.speaking = setTimeout(() => write(this.spoken, this.readout.textContent), 250);
  }

  key(event, which) {
    const [, T, C] = this.frame.shape, [map, ...at] = this.model.get("pointed");
    const [row, column] = map === which ? at : [-1, -1];
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
      Home: [0, -C], End: [0, C] };
    const step = steps[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey || (!step && event.key !== "Escape")) return;
    event.stopPropagation();
    event.preventDefault();
    this.hover = null;
    if (!step) return this.set("pointed", []);
    this.pin([which, within(row + step[0], T), within(column + step[1], C)]);
  }
}

function render({ model, el }) {
  const view = new HeatView(model, el);
  return () => view.remove();
}

export default { render };
