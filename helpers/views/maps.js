// What the attention view and the heat maps do alike: a switch between picture and table, a
// cell that mouse and keys point at, its read-out. Needs nodes.js.

const within = (i, count) => Math.max(0, Math.min(count - 1, i));

export const fill = (template, values) =>
  template.replace(/\{(\w+)\}/g, (_, name) => values[name]);

// Bytes from Python as Float32Array. A buffer may begin anywhere, a Float32Array only at 4·n.
export function floats({ buffer, byteOffset: start, byteLength: length }) {
  return start % 4
    ? new Float32Array(buffer.slice(start, start + length))
    : new Float32Array(buffer, start, length / 4);
}

// All colours of a scale side by side, one pixel each.
function colourStrip(colours) {
  const strip = new ImageData(colours.length, 1);
  new Uint32Array(strip.data.buffer).set(colours);
  const canvas = element("canvas", { "aria-hidden": "true", width: colours.length, height: 1 });
  canvas.getContext("2d").putImageData(strip, 0, 0);
  return canvas;
}

// The cell under the mouse in an area of so many rows and columns.
function cellAt(area, event, rows, columns) {
  const box = area.getBoundingClientRect();
  const at = (part, count) => within(Math.floor(part * count), count);
  return [at((event.clientY - box.top) / box.height, rows),
    at((event.clientX - box.left) / box.width, columns)];
}

function placeCursor(node, row, column, rows, columns) {
  const style = { "--x": (column + 0.5) / columns, "--y": (row + 0.5) / rows,
    "--w": 1 / columns, "--h": 1 / rows };
  for (const [name, value] of Object.entries(style)) node.style.setProperty(name, value);
}

class NumberTable {
  constructor(which = "") {
    this.caption = element("caption");
    this.head = element("tr");
    this.body = element("tbody");
    const table = element("table", {}, this.caption, element("thead", {}, this.head), this.body);
    const reach = { tabindex: "0", role: "region", "data-table": which };
    this.el = element("div.mha-table", reach, table);
  }

  // `lines`: the texts of each row, its heading first. Returns the cells, row by row.
  show(caption, titles, lines) {
    write(this.caption, caption);
    this.el.setAttribute("aria-label", caption);
    const heading = (scope) => element("th", { scope, dir: "auto" });
    const put = (texts, parent, create) =>
      keep(parent, texts.length, create).map((cell, i) => write(cell, texts[i]));
    put(titles, this.head, () => heading("col"));
    return keep(this.body, lines.length, () => element("tr"))
      .map((tr, r) => put(lines[r], tr, (i) => (i ? element("td") : heading("row"))));
  }

  clear() {
    this.body.replaceChildren();
  }
}

// A view with its `root`; subclasses have `paint` and `showPointed`.
class MapView {
  constructor(model, traits) {
    this.model = model;
    this.traits = traits;
    this.id = "mha" + Math.random().toString(36).slice(2, 10); // a page may hold many views
    this.hover = null; // the cell under the mouse; the pinned one is in the model
    this.text = {}; // nodes whose words come from `labels`, by the label's name
    this.again = () => this.schedule();
    for (const name of traits) model.on(`change:${name}`, this.again);
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
    this.timer ||= requestAnimationFrame(() => {
      this.timer = 0;
      this.paint();
    });
  }

  words(name, what = "span", attributes = {}) {
    return (this.text[name] = element(what, attributes));
  }

  sayWords(labels) {
    for (const [name, node] of Object.entries(this.text)) write(node, labels[name]);
    this.modes.setAttribute("aria-label", labels.modes);
  }

  makeModes(...modes) {
    this.modes = element("div.mha-modes", { role: "radiogroup" });
    for (const mode of modes) {
      const input = { type: "radio", name: this.id, value: mode, "data-mode": mode };
      this.modes.append(element("label", {}, element("input", input), this.words(mode)));
    }
    this.modes.addEventListener("change", (event) => this.set("mode", event.target.value));
  }

  showMode() {
    this.mode = this.root.dataset.shown = this.model.get("mode");
    for (const input of this.modes.querySelectorAll("input"))
      input.checked = input.value === this.mode;
  }

  over(cell) {
    if (JSON.stringify(cell) === JSON.stringify(this.hover)) return;
    this.hover = cell;
    this.showPointed();
  }

  // A key moves the cursor, or takes it away (Escape). Returns the new cell, null for none.
  moved(event, [row = -1, column = -1], rows, columns) {
    const far = event.ctrlKey ? rows : 0; // with Ctrl, Home and End go to the map's corners
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
      Home: [-far, -columns], End: [far, columns] };
    const step = steps[event.key];
    if (event.altKey || event.metaKey || (!step && event.key !== "Escape")) return null;
    event.stopPropagation();
    event.preventDefault();
    this.hover = null;
    if (step) return [within(row + step[0], rows), within(column + step[1], columns)];
    this.set("pointed", []);
    return null;
  }

  pin(cell) {
    this.set("pointed", cell);
    this.showPointed(); // also when it was pinned before and the mouse had led elsewhere
    this.speak(() => this.readout.textContent);
  }

  // Spoken after a short rest, so that a held key does not flood the ear.
  speak(text) {
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => write(this.spoken, text()), 250);
  }

  // The sentence with each value in a node of its own: those in `bold` bold the first time, and
  // a right-to-left word turns nothing round it.
  readOut(template, values, ...bold) {
    if (this.readout.textContent === fill(template, values)) return;
    const first = new Set(bold);
    const nodes = template.split(/\{(\w+)\}/).map((part, i) => {
      if (i % 2 === 0) return part; // words between the placeholders
      return element(first.delete(part) ? "bdi.mha-bold" : "bdi", {}, values[part]);
    });
    this.readout.replaceChildren(...nodes);
  }
}
