// Draws tensors cell by cell, side by side, and the row of memory below them.
// Words come ready from Python and become text nodes, never HTML. Cells keep their element from
// one frame to the next, by number, so that a number can be seen to travel.

// All sentences lie on one another, so the tallest sets the height once for all steps.
function writeStack(parent, sentences, at) {
  while (parent.children.length > sentences.length) parent.lastChild.remove();
  sentences.forEach((text, i) => {
    const line = parent.children[i] || make("div", "", parent);
    writeMath(line, text);
    line.classList.toggle("shown", i === at);
    line.setAttribute("aria-hidden", String(i !== at));
  });
}

function makePanel(parent, strips) {
  const root = make("div", "panel", parent);
  const part = (tag, className, place = root) => make(tag, className, place);
  const title = part("div", "title");
  const made = part("div", "made");
  const shape = part("div", "shape");
  const strides = part("div", "strides");
  const note = part("div", "stack note");
  const scroll = part("div", "scroll");
  scroll.setAttribute("role", "group");
  const grid = make("div", "grid", scroll);
  grid.setAttribute("role", "grid");
  const watcher = scrolls(scroll);
  const left = part("div", "left-out");
  const rule = part("div", "stack rule");
  const strip = make("div", "strip", strips);
  const cells = new Map();
  return { title, made, shape, strides, note, grid, left, rule, strip, watcher, cells };
}

function render({ model, el }) {
  el.classList.add("mha", "mha-cells");
  el.dataset.lmSuppressShortcuts = "true";
  const legend = make("div", "legend", el);
  const panels = make("div", "panels", el);
  const said = make("div", "stack said", el);
  said.setAttribute("role", "status");
  const readout = make("div", "readout", el);
  const memory = make("div", "memory", el);
  const memoryTitle = make("div", "title", memory);
  const strips = make("div", "strips", memory);
  const stripNote = make("div", "quiet", memory);
  const reason = make("div", "reason", el);
  reason.setAttribute("role", "status");
  let built = [];
  let inks = [];
  let sizes = "";
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

  const frameNow = () => model.get("frame");

  function paintHead(node, head) {
    const [paper, ink] = inks[head] || ["", ""];
    node.style.backgroundColor = paper;
    node.style.color = ink;
  }

  function headOf(number, panel) {
    return Math.floor((number % panel.d_model) / panel.d_k);
  }

  function point(key) {
    if (model.get("pointed") === key) return;
    model.set("pointed", key);
    model.save_changes();
  }

  // --- one tensor ---------------------------------------------------------------------------

  function place(node, row, column, height = 1, width = 1) {
    node.style.gridArea = `${row} / ${column} / span ${height} / span ${width}`;
    return node;
  }

  // Column of the grid: 1 holds the names of rows, then groups of cells with a gap between.
  const columnOf = (panel, group, column) => 2 + group * (panel.columns + 1) + column;

  function paintGrid(one, panel) {
    const { grid, cells } = one;
    const before = new Map();
    if (!calm.matches) {
      for (const [key, node] of cells) before.set(key, node.getBoundingClientRect());
    }
    const focused = grid.contains(document.activeElement) ? document.activeElement : null;
    const kind = `${panel.row_names[0]}`;
    if (one.kind !== kind || one.sizes !== sizes) cells.clear(); // other keys, other cells
    const travels = one.kind === kind && one.sizes === sizes;
    one.kind = kind;
    one.sizes = sizes;
    const pieces = [];
    const group = `repeat(${panel.columns}, minmax(var(--narrow), var(--cell)))`;
    const gap = panel.groups > 1 ? "var(--gap)" : "0px";
    const columns = Array(panel.groups).fill(group).join(` ${gap} `);
    grid.style.gridTemplateColumns = `max-content ${columns}`;
    for (const node of [grid.parentNode, grid]) node.setAttribute("aria-label", panel.label);
    grid.setAttribute("aria-rowcount", panel.rows);
    grid.setAttribute("aria-colcount", panel.groups * panel.columns);

    const name = (text, axis, row, column, width = 1, className = "name") => {
      const node = place(make("span", className), row, column, 1, width);
      node.textContent = text;
      node.setAttribute("aria-hidden", "true");
      pieces.push(colour(node, axis));
    };
    const hasHeads = panel.symbols.includes("H");
    name(hasHeads ? panel.names.group : "\u00a0", "H", 1, 1, 1, "name corner");
    name(panel.names.column, panel.column_axis, 2, 1, 1, "name corner");
    for (let g = 0; g < panel.groups; g += 1) {
      if (hasHeads) name(g, "H", 1, columnOf(panel, g, 0), panel.columns, "name group");
      for (let c = 0; c < panel.columns; c += 1) {
        name(c, panel.column_axis, 2, columnOf(panel, g, c));
      }
    }
    const width = panel.groups * (panel.columns + 1) - 1;
    const frame = (row, column, height, across) => {
      const node = place(make("i", "frame"), row, column, height, across);
      node.setAttribute("aria-hidden", "true");
      pieces.push(node);
    };
    if (panel.frames === "rows") {
      for (let r = 0; r < panel.rows; r += 1) frame(3 + r, 2, 1, width);
    } else {
      for (let g = 0; g < panel.groups; g += 1) {
        frame(3, columnOf(panel, g, 0), panel.rows, panel.columns);
      }
    }
    const rows = panel.row_names.map((text, r) => {
      const row = make("div", "row");
      row.setAttribute("role", "row");
      const head = place(make("span", "name row-name", row), 3 + r, 1);
      head.setAttribute("role", "rowheader");
      head.textContent = text;
      colour(head, panel.row_axis);
      return row;
    });
    panel.cells.forEach((cell) => {
      const [r, g, c] = cell.at;
      const node = cells.get(cell.key) || make("div", "cell");
      cells.set(cell.key, node);
      place(node, 3 + r, columnOf(panel, g, c));
      node.setAttribute("role", "gridcell");
      node.setAttribute("aria-label", cell.spoken);
      node.dataset.key = cell.key;
      node.dataset.at = `${r},${g * panel.columns + c}`;
      node.dataset.marked = cell.marked;
      node.textContent = "";
      make("span", "text", node).textContent = cell.text;
      if (cell.heads.length > 1) {
        node.style.backgroundColor = node.style.color = "";
        node.classList.add("score");
        const [q, k] = cell.heads.map((head) => (inks[head] || [""])[0]);
        const bar = make("i", "bar", node);
        bar.style.background = `linear-gradient(90deg, ${q} 50%, ${k} 50%)`;
      } else {
        node.classList.remove("score");
        paintHead(node, cell.heads[0]);
      }
      if (cell.marked) make("b", "sign", node).textContent = "≠";
      rows[r].append(node);
    });
    grid.replaceChildren(...pieces, ...rows);
    if (focused && grid.contains(focused)) focused.focus({ preventScroll: true });
    if (travels && before.size) {
      for (const [key, node] of cells) {
        const from = before.get(key);
        const to = node.getBoundingClientRect();
        if (!from || !from.width) continue;
        const [x, y] = [from.x - to.x, from.y - to.y];
        if (Math.hypot(x, y) < 1) continue;
        const start = { transform: `translate(${x}px, ${y}px)` };
        node.animate([start, { transform: "none" }], { duration: 420, easing: "ease-in-out" });
      }
    }
  }

  // Scores have no strip; an unseen one keeps its place, so that nothing below moves.
  function paintStrip({ strip }, panel, words) {
    const none = panel.strip === null;
    const blank = { memory: [...Array(panel.count).keys()], words: "\u00a0" };
    const { memory: stored, reading, jumps, words: jumpWords } = panel.strip || blank;
    strip.replaceChildren();
    strip.classList.toggle("none", none);
    const route = make("div", "route", strip);
    route.textContent = panel.route;
    if (none) make("span", "quiet", route).textContent = words.no_strip;
    const line = (label, numbers, className, breaks) => {
      make("span", "what", strip).textContent = label;
      const list = make("div", `numbers ${className}`, strip);
      numbers.forEach((number, i) => {
        const node = make("span", "number", list);
        const box = make("b", "", node);
        box.textContent = number;
        paintHead(box, headOf(number, panel));
        if (!none) node.dataset.key = number;
        if (breaks) node.dataset.jump = Boolean(breaks[i]);
        else make("small", "", node).textContent = i;
      });
    };
    line(words.in_memory, stored, "in-memory");
    line(`${words.reading}: ${jumpWords}`, reading || stored, "reading", jumps || []);
  }

  function paintPanel(one, panel, frame) {
    one.title.textContent = panel.title;
    writeMath(make("span", "tensor", (one.made.replaceChildren(), one.made)), panel.name);
    one.made.append(panel.operation ? " = " : ` · ${panel.nothing}`);
    if (panel.operation) writeMath(make("code", "", one.made), panel.operation);
    one.shape.replaceChildren();
    writeTuple(make("span", "tuple", one.shape), panel.symbols, panel.symbols);
    one.shape.append(" = ");
    writeTuple(make("b", "tuple", one.shape), panel.shape, panel.symbols);
    one.strides.replaceChildren(`${frame.words.strides} `);
    writeTuple(make("b", "tuple", one.strides), panel.strides, panel.symbols);
    one.strides.append(` · ${panel.contiguous}`);
    writeStack(one.note, panel.notes, frame.at);
    paintGrid(one, panel);
    one.left.textContent = panel.left_out || "\u00a0";
    writeStack(one.rule, panel.rules, frame.at);
    paintStrip(one, panel, frame.words);
  }

  // Two tensors stand side by side where both fit with their narrowest cells, at every step.
  function makeRoom({ d_model: features }, heads) {
    const gap = heads > 6 ? 6 : 12;
    const least = 98 + features * 24 + (heads - 1) * (gap + 3);
    panels.style.setProperty("--gap", `${gap}px`);
    panels.style.setProperty("--least", `${Math.max(255, least)}px`);
  }

  // --- all of them --------------------------------------------------------------------------

  function paintLegend(frame) {
    legend.replaceChildren();
    make("span", "", legend).textContent = frame.words.legend;
    frame.heads.forEach((_, head) => {
      const swatch = make("span", "swatch", legend);
      swatch.textContent = head;
      paintHead(swatch, head);
    });
  }

  function paint() {
    const frame = frameNow();
    const cleared = Boolean(frame.reason);
    el.classList.toggle("cleared", cleared);
    reason.textContent = frame.reason;
    if (!cleared && frame.panels.length) {
      inks = frame.heads;
      const now = JSON.stringify([frame.heads.length, frame.panels[0].d_model, frame.panels[0].rows]);
      sizes = now;
      while (built.length < frame.panels.length) built.push(makePanel(panels, strips));
      makeRoom(frame.panels[0], frame.heads.length);
      paintLegend(frame);
      frame.panels.forEach((panel, i) => paintPanel(built[i], panel, frame));
      writeStack(said, frame.sentences, frame.at);
      memoryTitle.textContent = frame.words.memory;
      stripNote.textContent = frame.words.strip_note;
      mark();
    }
    for (const one of built) one.grid.inert = cleared;
    el.dataset.painted = Number(el.dataset.painted || 0) + 1;
  }

  function mark() {
    const frame = frameNow();
    const key = model.get("pointed");
    for (const node of el.querySelectorAll("[data-key]")) {
      node.classList.toggle("pointed", key !== null && node.dataset.key === String(key));
    }
    for (const { grid } of built) {
      const cells = [...grid.querySelectorAll(".cell")];
      const entry = cells.find((cell) => cell.dataset.key === String(key)) || cells[0];
      for (const cell of cells) cell.tabIndex = cell === entry ? 0 : -1;
    }
    readout.replaceChildren();
    const lines = frame.panels.map((panel) => panel.cells.find((cell) => cell.key === key));
    if (!lines.some(Boolean)) {
      make("div", "quiet", readout).textContent = frame.words.hint;
      return;
    }
    for (const cell of lines) if (cell) make("div", "", readout).textContent = cell.readout;
  }

  function cellOf(event) {
    return event.target.closest?.("[data-key]");
  }

  function onPoint(event) {
    const cell = cellOf(event);
    if (cell && !frameNow().reason) point(Number(cell.dataset.key));
  }

  function onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const here = event.target.closest?.(".cell");
    if (!here) return;
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    const grid = here.closest(".grid");
    const [row, column] = here.dataset.at.split(",").map(Number);
    const inRow = [...grid.querySelectorAll(".cell")].filter(
      (cell) => Number(cell.dataset.at.split(",")[0]) === row,
    );
    let to = null;
    if (event.key in step) {
      const [down, across] = step[event.key];
      to = grid.querySelector(`.cell[data-at="${row + down},${column + across}"]`) || here;
    } else if (event.key === "Home") to = inRow[0];
    else if (event.key === "End") to = inRow[inRow.length - 1];
    else if (event.key === "Escape") {
      point(null);
      to = here;
    } else if (event.key === "Enter" || event.key === " ") to = here;
    if (!to) return;
    event.preventDefault();
    event.stopPropagation(); // the notebook must not also move to another cell
    if (event.key !== "Escape") to.focus();
  }

  el.addEventListener("pointerover", onPoint);
  el.addEventListener("focusin", onPoint);
  el.addEventListener("click", onPoint);
  el.addEventListener("keydown", onKey);
  model.on("change:frame", paint);
  model.on("change:pointed", mark);
  paint();

  return () => {
    for (const { watcher } of built) watcher.disconnect();
    el.removeEventListener("pointerover", onPoint);
    el.removeEventListener("focusin", onPoint);
    el.removeEventListener("click", onPoint);
    el.removeEventListener("keydown", onKey);
    model.off("change:frame", paint);
    model.off("change:pointed", mark);
  };
}

export default { initialize, render };
