// Draws graphs over one row of tokens: arcs above it, the dependency tree below it. Places and
// words come ready from Python; here they become SVG and text nodes, which are kept from one
// frame to the next, so that a moved slider changes lines and nothing else.

const curve = (p) => `M${p[0]} ${p[1]}C${p[2]} ${p[3]} ${p[4]} ${p[5]} ${p[6]} ${p[7]}`;
// The ends stand upright, so an arrow's head points straight down (side 1) or up (side -1).
const tip = (p, side, size) =>
  `M${p[6] - size} ${p[7] - side * 2 * size}h${2 * size}L${p[6]} ${p[7]}z`;

function render({ model, el }) {
  el.classList.add("mha", "mha-graph");
  el.dataset.lmSuppressShortcuts = "true";
  const title = make("div", "title", el);
  const heads = make("div", "heads", el);
  heads.setAttribute("role", "group");
  const stage = make("div", "stage", el);
  stage.setAttribute("role", "group");
  const svg = draw("svg", stage, { role: "presentation" });
  const back = draw("g", svg, { class: "back", "aria-hidden": "true" });
  const branches = draw("g", svg, { class: "tree", "aria-hidden": "true" });
  const arcs = draw("g", svg, { class: "arcs", "aria-hidden": "true" });
  const notes = draw("g", svg, { class: "notes", "aria-hidden": "true" });
  const tokens = draw("g", svg, { class: "tokens" });
  const readout = make("div", "readout", el);
  readout.setAttribute("aria-live", "polite");
  readout.dataset.readout = "";
  const legend = make("div", "legend", el);
  const details = make("details", "", el);
  const summary = make("summary", "", details);
  summary.dataset.lmSuppressShortcuts = "true";
  const wide = make("div", "wide", details);
  wide.setAttribute("role", "region");
  const table = make("table", "", wide);
  const watchers = [scrolls(stage), scrolls(wide)];
  let current = 0; // the token that Tab reaches
  let pointed = -1; // the token whose edges stand out

  function press(head) {
    model.set("pressed", [head, (model.get("pressed")[1] || 0) + 1]);
    model.save_changes();
  }

  function makeHead(i) {
    const button = make("button", "head");
    button.type = "button";
    button.dataset.head = i;
    // JupyterLab's shortcuts match the focused element itself: on the root alone this is too late.
    button.dataset.lmSuppressShortcuts = "true";
    const swatch = draw("svg", button, { viewBox: "0 0 26 8", "aria-hidden": "true" });
    draw("path", swatch, { d: "M1 4H25" });
    make("b", "", button);
    make("span", "count", button);
    button.addEventListener("click", () => press(i));
    return button;
  }

  function makeToken(i) {
    const group = draw("g", null, { class: "token", role: "img", "data-token": i });
    group.dataset.lmSuppressShortcuts = "true";
    draw("rect", group, { rx: 4 });
    draw("text", group, { "text-anchor": "middle" });
    group.addEventListener("focus", () => { current = i; tabs(); point(i); });
    group.addEventListener("pointerenter", () => point(i));
    group.addEventListener("click", () => group.focus());
    return group;
  }

  const tabs = () =>
    [...tokens.children].forEach((g, i) => g.setAttribute("tabindex", i === current ? 0 : -1));

  function point(i) {
    pointed = i;
    const { tokens: all, words, reason, empty } = model.get("frame");
    const here = all[i];
    svg.classList.toggle("dimmed", Boolean(here));
    const touches = (node) => here && (Number(node.dataset.q) === i || Number(node.dataset.k) === i);
    for (const node of [...arcs.children, ...branches.children])
      node.classList.toggle("lit", Boolean(touches(node)));
    [...tokens.children].forEach((g, n) => g.classList.toggle("here", n === i && Boolean(here)));
    readout.textContent = reason || (here ? here.reading : empty || (words ? words.hint : ""));
  }

  function paintHeads({ buttons, words }) {
    heads.setAttribute("aria-label", words ? words.heads : "");
    keep(heads, buttons.length, makeHead).forEach((button, i) => {
      const one = buttons[i];
      const [swatch, name, count] = button.children;
      set(swatch.firstChild, { stroke: one.colour, "stroke-dasharray": one.dashes.join(" ") });
      name.textContent = one.name;
      count.textContent = one.count;
      button.setAttribute("aria-pressed", String(one.on));
      button.setAttribute("aria-label", one.label);
    });
  }

  function paintArcs({ arcs: all, buttons }) {
    const made = () => {
      const group = draw("g", null);
      draw("path", group, { class: "line" });
      draw("path", group, { class: "tip" });
      return group;
    };
    keep(arcs, all.length, made).forEach((group, n) => {
      const { points, width, q, k, head, weight } = all[n];
      const { colour, dashes } = buttons[head];
      Object.assign(group.dataset, { q, k, edge: head, weight });
      const [line, arrow] = group.children;
      set(line, { d: curve(points), stroke: colour, "stroke-width": width,
        "stroke-dasharray": dashes.join(" ") });
      set(arrow, { d: tip(points, 1, 3 + width / 3), fill: colour });
    });
  }

  function paintTree({ tree }) {
    const made = () => {
      const group = draw("g", null);
      draw("path", group, { class: "line" });
      draw("path", group, { class: "tip" });
      draw("text", group, { "text-anchor": "middle" });
      return group;
    };
    keep(branches, tree.length, made).forEach((group, n) => {
      const { points, q, k, relation, found } = tree[n];
      Object.assign(group.dataset, { q, k, found });
      const [line, arrow, text] = group.children;
      set(line, { d: curve(points) });
      set(arrow, { d: tip(points, -1, 3.5) });
      const low = points[1] + 0.75 * (points[3] - points[1]);
      set(text, { x: (points[0] + points[6]) / 2, y: low + 4 });
      text.textContent = relation;
    });
  }

  function paintTokens({ tokens: all }) {
    current = Math.min(current, Math.max(0, all.length - 1));
    keep(tokens, all.length, makeToken).forEach((group, i) => {
      const { text, x, y, special, reading } = all[i];
      const [box, label] = group.children;
      group.dataset.special = special;
      group.setAttribute("aria-label", reading);
      label.textContent = text;
      set(label, { x, y });
      const width = Math.max(18, 7.4 * text.length + 8);
      set(box, { x: x - width / 2, y: y - 14, width, height: 19 });
    });
    tabs();
  }

  function paintNotes({ size, lines, words, empty, treeless, tokens: all }) {
    back.replaceChildren();
    notes.replaceChildren();
    if (!size || !all.length) return;
    const [width] = size, [above, below] = lines;
    draw("path", back, { d: `M0 ${above}H${width}M0 ${below}H${width}` });
    const say = (text, x, y, anchor) => {
      draw("text", notes, { x, y, "text-anchor": anchor }, text);
    };
    say(words.above, 4, 14, "start");
    say(words.below, 4, size[1] - 6, "start");
    if (empty) say(empty, width / 2, above / 2, "middle");
    if (treeless) say(words.treeless, width / 2, below + 50, "middle");
  }

  function paintLegend({ scale, words, tokens: all }) {
    legend.replaceChildren();
    if (!scale || !all.length) return;
    const entry = (text, style) => {
      const span = make("span", "entry", legend);
      const svg = draw("svg", span, { viewBox: "0 0 26 8", "aria-hidden": "true" });
      draw("path", svg, { d: "M1 4H25", ...style });
      make("span", "", span, text);
    };
    make("span", "", legend, words.scale);
    for (const [weight, width] of scale) entry(weight, { "stroke-width": width });
    entry(words.found, { class: "found" });
    entry(words.not_found, { class: "missed" });
  }

  function paintTable({ table: rows, words, title: name }) {
    details.classList.toggle("bare", !rows.length); // its place is kept
    if (!rows.length) return;
    summary.textContent = words.table;
    wide.setAttribute("aria-label", name);
    keep(table, rows.length, () => make("tr")).forEach((tr, r) => {
      const tag = (c) => (r && c ? "td" : "th");
      keep(tr, rows[r].length, (c) => make(tag(c))).forEach((cell, c) => {
        cell.textContent = rows[r][c];
        if (cell.tagName === "TH") cell.scope = r ? "row" : "col";
        if (!c) cell.dir = "auto";
      });
    });
  }

  function paint() {
    const frame = model.get("frame");
    if (frame.size) set(svg, { viewBox: `0 0 ${frame.size.join(" ")}` });
    el.dataset.empty = String(Boolean(frame.reason || frame.empty));
    title.textContent = frame.title || "";
    stage.setAttribute("aria-label", frame.reason || frame.title || "");
    paintHeads(frame);
    paintTree(frame);
    paintArcs(frame);
    paintTokens(frame);
    paintNotes(frame);
    paintLegend(frame);
    paintTable(frame);
    point(pointed);
    el.dataset.painted = Number(el.dataset.painted || 0) + 1;
  }

  // On the div, not on the SVG group: Chromium lets Tab stop at SVG elements that hear keys.
  stage.addEventListener("keydown", (event) => {
    if (event.target === stage) return; // it scrolls
    const all = tokens.children;
    const target = { ArrowRight: current + 1, ArrowLeft: current - 1, Home: 0,
      End: all.length - 1 }[event.key];
    if (event.key === "Escape") point(-1);
    else if (target === undefined) return;
    else if (all[target]) all[target].focus();
    event.preventDefault();
    event.stopPropagation();
  });
  stage.addEventListener("pointerleave", () =>
    point(tokens.contains(document.activeElement) ? current : -1));
  stage.addEventListener("focusout", (event) => {
    if (!tokens.contains(event.relatedTarget)) point(-1);
  });
  model.on("change:frame", paint);
  paint();
  return () => {
    watchers.forEach((watcher) => watcher.disconnect());
    model.off("change:frame", paint);
  };
}

export default { initialize, render };
