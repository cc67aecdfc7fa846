// Draws the shape trace: a card per step, arrows between them, the chosen step explained below.
// Words and numbers come ready from Python; here they become text nodes, never HTML.

const CARD = 102; // px: the narrowest card, wide enough for every operation in both languages
const ARROW = 20; // px: an arrow and the space around it

function makeCard(id) {
  const item = make("div", "item");
  item.setAttribute("role", "presentation");
  const arrow = make("span", "arrow", item);
  arrow.textContent = "→";
  arrow.setAttribute("aria-hidden", "true");
  const card = make("button", "step", item);
  card.type = "button";
  // JupyterLab looks for this from the focused element upwards, and its shortcuts match the
  // focused element itself: on the root alone it would come too late.
  card.dataset.lmSuppressShortcuts = "true";
  card.setAttribute("role", "tab");
  card.setAttribute("aria-describedby", id);
  const part = (name) => make("span", name, card);
  const parts = ["name", "operation", "symbols", "shape", "strides"].map(part);
  return { item, card, parts, panel: null };
}

function fillCard({ card, parts }, step, cleared) {
  const [name, operation, symbols, shape, strides] = parts;
  card.dataset.step = step.name;
  card.setAttribute("aria-label", cleared ? `${step.name} = ${step.operation}` : step.spoken);
  writeMath(name, step.name);
  writeMath(operation, step.operation);
  writeTuple(symbols, step.symbols, step.symbols);
  if (cleared) {
    shape.textContent = strides.textContent = "–";
  } else {
    writeTuple(shape, step.shape, step.symbols);
    strides.textContent = `(${step.strides.join(", ")}${step.strides.length === 1 ? "," : ""})`;
  }
}

function fillPanel(panel, step, frame) {
  panel.textContent = "";
  writeMath(make("div", "meaning", panel), step.meaning);
  const facts = make("div", "facts", panel);
  const name = make("span", "name", facts);
  writeMath(name, step.name);
  facts.append(": ", frame.shape_word, " ");
  writeTuple(make("span", "tuple", facts), step.symbols, step.symbols);
  facts.append(" = ");
  writeTuple(make("b", "tuple", facts), step.shape, step.symbols);
  facts.append(", ", frame.strides_word, " ");
  writeTuple(make("b", "tuple", facts), step.strides, step.symbols);
  facts.append(", ", step.memory, ".");
}

function render({ model, el }) {
  const id = `mha-shapes-${Math.random().toString(36).slice(2)}`;
  el.classList.add("mha", "mha-shapes");
  el.dataset.lmSuppressShortcuts = "true";
  const list = make("div", "steps", el);
  list.setAttribute("role", "tablist");
  const legend = make("div", "legend", el);
  const panels = make("div", "panels", el);
  panels.id = id;
  panels.setAttribute("role", "status");
  const hint = make("div", "panel hint", panels);
  const reason = make("div", "panel reason", panels);
  const cards = [];
  let columns = 1;

  const chosen = () => model.get("selected");

  function choose(index) {
    model.set("selected", index);
    model.save_changes();
    cards[index].card.focus();
  }

  function mark() {
    const { cards: steps, reason: why } = model.get("frame");
    const now = chosen() !== null && chosen() < cards.length ? chosen() : null;
    cards.forEach(({ card, panel }, i) => {
      card.setAttribute("aria-selected", String(i === now));
      card.tabIndex = i === (now ?? 0) ? 0 : -1;
      panel.classList.toggle("shown", i === now && !why);
    });
    hint.classList.toggle("shown", now === null && !why && steps.length > 0);
    reason.classList.toggle("shown", Boolean(why));
  }

  function paint() {
    const frame = model.get("frame");
    const cleared = Boolean(frame.reason);
    while (cards.length > frame.cards.length) {
      const last = cards.pop();
      last.item.remove();
      last.panel.remove();
    }
    frame.cards.forEach((step, i) => {
      if (!cards[i]) {
        cards[i] = makeCard(id);
        cards[i].card.addEventListener("click", () => choose(i));
        cards[i].panel = make("div", "panel", panels);
        list.append(cards[i].item);
      }
      fillCard(cards[i], step, cleared);
      fillPanel(cards[i].panel, step, frame);
      cards[i].panel.dataset.sentence = step.name;
    });
    list.setAttribute("aria-label", frame.label);
    el.classList.toggle("cleared", cleared);
    hint.textContent = frame.hint;
    reason.textContent = frame.reason;
    legend.textContent = "";
    if (frame.cards.length) {
      make("span", "", legend).textContent = frame.legend_title;
      for (const [axis, meaning] of frame.legend) {
        const entry = colour(make("span", "axis", legend), axis);
        writeMath(make("b", "", entry), axis);
        entry.append(" ", meaning);
      }
      make("span", "", legend).textContent = frame.strides_note;
      if (frame.note) make("span", "note", legend).textContent = frame.note;
    }
    mark();
    arrange();
    el.dataset.painted = Number(el.dataset.painted || 0) + 1;
  }

  // As few rows as fit, equally long: ten steps stand as 10, 5 + 5 or 4 + 4 + 2, not as 7 + 3.
  function arrange() {
    const width = list.clientWidth;
    if (!width || !cards.length) return;
    const shape = Math.max(...cards.map(({ parts }) => parts[3].textContent.length));
    const strides = Math.max(...cards.map(({ parts }) => parts[4].textContent.length));
    const card = Math.max(CARD, 12 + 7.6 * shape, 12 + 6.5 * strides); // px per character
    const fit = Math.max(1, Math.floor((width + ARROW) / (card + ARROW)));
    columns = Math.ceil(cards.length / Math.ceil(cards.length / fit));
    list.style.setProperty("--columns", columns);
    cards.forEach(({ item }, i) => item.classList.toggle("first", i % columns === 0));
  }

  function onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !cards.length) return;
    const here = cards.findIndex(({ card }) => card === document.activeElement);
    if (here < 0) return;
    const last = cards.length - 1;
    const to = {
      ArrowRight: here + 1, ArrowLeft: here - 1, ArrowDown: here + columns,
      ArrowUp: here - columns, Home: 0, End: last, Enter: here, " ": here,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation(); // the notebook must not also move to another cell
    if (to >= 0 && to <= last) choose(to);
  }

  list.addEventListener("keydown", onKey);
  model.on("change:frame", paint);
  model.on("change:selected", mark);
  const watcher = new ResizeObserver(arrange);
  watcher.observe(list);
  paint();

  return () => {
    watcher.disconnect();
    list.removeEventListener("keydown", onKey);
    model.off("change:frame", paint);
    model.off("change:selected", mark);
  };
}

export default { initialize, render };
