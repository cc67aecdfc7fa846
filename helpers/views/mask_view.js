// Draws one sequence's mask as a grid of 1 and 0, its axes beside those of the scores, and one
// row of weights made three ways. All words come from Python and are only ever set as text.
// Nodes are kept and filled again, so that focus stays on its cell when the mask changes.

const AXIS_NAMES = { 2: "query", 3: "key" }; // the two T of the scores

// A row of a table: one heading, then cells.
function fillRow(tr, heading, cells, tag = "td") {
  keep(tr, cells.length + 1, (i) => make(i ? tag : "th"));
  const [th, ...rest] = tr.children;
  if (!th.scope) th.scope = tag === "td" ? "row" : "col";
  write(th, heading);
  cells.forEach((text, i) => write(rest[i], text));
  return rest;
}

class MaskPicture {
  constructor(model, el) {
    this.model = model;
    this.hover = null;
    const root = (this.root = make("div", "mha mha-mask", el));
    set(root, { "data-painted": "0", "data-lm-suppress-shortcuts": "true" });
    this.left = make("section", "part", root);
    this.title = make("div", "title", this.left);
    this.axes = make("div", "quiet", this.left);
    this.grid = set(make("table", "grid", this.left), { role: "grid" });
    this.head = make("tr", "", make("thead", "", this.grid));
    this.body = make("tbody", "", this.grid);
    this.legend = make("div", "legend", this.left);
    this.readout = set(make("p", "readout", this.left), { "aria-live": "polite" });

    const right = make("section", "part", root);
    this.shapesTitle = make("div", "title", right);
    this.shapes = make("tbody", "", make("table", "shapes", right));
    this.shapesNote = make("div", "quiet", right);
    this.waysTitle = make("div", "title ways-title", right);
    this.ways = make("tbody", "", make("table", "ways", right));
    this.remark = set(make("p", "remark", right), { "aria-live": "polite" });
    this.reason = set(make("p", "reason", root), { role: "status" });
    this.listen();
    this.paint();
  }

  listen() {
    this.again = () => this.paint();
    this.changed = ["change:frame", "change:pointed"];
    for (const name of this.changed) this.model.on(name, this.again);
    const cellOf = (event) => event.target.closest("td[data-cell]")?.dataset.cell.split(",").map(Number);
    this.grid.addEventListener("pointermove", (event) => this.over(cellOf(event)));
    this.grid.addEventListener("pointerleave", () => this.over(null));
    this.grid.addEventListener("focusin", (event) => this.pin(cellOf(event)));
    this.grid.addEventListener("keydown", (event) => this.key(event, cellOf(event)));
  }

  remove() {
    for (const name of this.changed) this.model.off(name, this.again);
    this.root.remove();
  }

  over(cell) {
    if (String(cell || "") === String(this.hover || "")) return;
    this.hover = cell || null;
    this.paintRow();
  }

  pin(cell) {
    if (!cell || String(cell) === String(this.model.get("pointed"))) return;
    this.model.set("pointed", cell);
    this.model.save_changes();
  }

  key(event, cell) {
    if (!cell || event.ctrlKey || event.altKey || event.metaKey) return;
    const last = this.frame.allowed.length - 1, [q, k] = cell;
    const to = {
      ArrowUp: [q - 1, k], ArrowDown: [q + 1, k], ArrowLeft: [q, k - 1], ArrowRight: [q, k + 1],
      Home: [q, 0], End: [q, last],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    const [row, column] = to.map((i) => Math.max(0, Math.min(last, i)));
    this.body.children[row].children[column + 1].focus();
  }

  paint() {
    const frame = (this.frame = this.model.get("frame"));
    this.root.classList.toggle("cleared", !frame.allowed.length);
    write(this.reason, frame.reason);
    if (frame.allowed.length) {
      this.paintGrid(frame);
      this.paintLegend(frame.words);
      this.paintShapes(frame);
      this.paintRow();
    }
    this.root.dataset.painted = Number(this.root.dataset.painted) + 1;
  }

  paintGrid({ words, title, tokens, allowed, sentences, sums, empty }) {
    write(this.title, title);
    write(this.axes, words.axes);
    this.grid.setAttribute("aria-label", `${title}. ${words.axes}`);
    const cursor = this.model.get("pointed");
    const heads = fillRow(this.head, "", [...tokens, words.sum], "th");
    heads.forEach((th) => (th.scope = "col"));
    heads[tokens.length].className = "sum";
    keep(this.body, tokens.length, () => make("tr")).forEach((tr, q) => {
      const cells = fillRow(tr, tokens[q], [...allowed[q].map(String), sums[q]]);
      tr.classList.toggle("empty", empty.includes(q));
      cells.forEach((td, k) => {
        if (k === tokens.length) {
          td.className = "sum";
          td.setAttribute("aria-label", `${words.sum} ${sums[q]}`);
          return;
        }
        td.className = allowed[q][k] ? "one" : "zero";
        td.dataset.cell = `${q},${k}`;
        td.dataset.lmSuppressShortcuts = "true"; // looked for on the focused element itself
        td.setAttribute("role", "gridcell");
        td.setAttribute("aria-label", sentences[q][k]);
        const here = cursor.length ? cursor[0] === q && cursor[1] === k : q + k === 0;
        td.tabIndex = here ? 0 : -1;
        td.classList.toggle("here", cursor.length > 0 && here);
      });
    });
  }

  paintLegend(words) {
    const entries = [["one", "1", words.one], ["zero", "0", words.zero], ["none", "", words.none]];
    keep(this.legend, entries.length, () => {
      const entry = make("span");
      make("i", "", entry);
      make("span", "", entry);
      return entry;
    }).forEach((entry, i) => {
      const [swatch, text] = entry.children;
      swatch.className = entries[i][0];
      write(swatch, entries[i][1]);
      write(text, entries[i][2]);
    });
  }

  paintShapes({ words, axes }) {
    write(this.shapesTitle, words.shapes);
    const column = (i) => axes.map((axis) => axis[i]);
    const masked = axes.some((axis) => axis[2]);
    const symbols = column(0).map((axis, i) => (AXIS_NAMES[i] ? `${axis} ${words[AXIS_NAMES[i]]}` : axis));
    const lines = [
      ["", symbols], [words.scores, column(1)],
      [words.mask, column(2).map((size) => size || (masked ? "·" : "–"))],
      [words.repeated, column(3).map((times) => times || (masked ? "=" : "–"))],
    ];
    keep(this.shapes, lines.length, () => make("tr")).forEach((tr, n) => {
      fillRow(tr, ...lines[n]).forEach((td, i) => {
        td.style.color = n < 3 ? `var(--axis-${axes[i][0]})` : "";
      });
    });
    write(this.shapesNote, masked ? words.lined_up : words.no_mask);
  }

  // What follows the cell pointed at: the sentence, and its row made three ways.
  paintRow() {
    const { frame } = this;
    if (!frame.allowed.length) return;
    const [q, k] = this.hover || this.model.get("pointed");
    write(this.readout, q === undefined ? frame.words.hint : frame.sentences[q][k]);
    const row = q ?? frame.empty[0] ?? 0;
    write(this.waysTitle, frame.captions[row]);
    const lines = [["", frame.tokens], ...frame.ways[row]];
    keep(this.ways, lines.length, () => make("tr")).forEach((tr, n) =>
      fillRow(tr, ...lines[n]).forEach((td) => {
        td.className = td.textContent === "NaN" ? "nan" : "";
      }));
    write(this.remark, frame.remarks[row]);
  }
}

function render({ model, el }) {
  const picture = new MaskPicture(model, el);
  return () => picture.remove();
}

export default { initialize, render };
