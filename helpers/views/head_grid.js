// All heads of an encoder as a grid of buttons: rows are layers, columns are heads. A press
// chooses a head. Words and numbers come ready from Python and become text nodes.

function render({ model, el }) {
  el.classList.add("mha", "mha-head-grid");
  el.dataset.lmSuppressShortcuts = "true";
  const title = make("div", "title", el);
  const grid = make("div", "cells", el);
  grid.setAttribute("role", "group");
  const readout = make("div", "readout", el);
  readout.setAttribute("aria-live", "polite");
  readout.dataset.readout = "";
  const legend = make("div", "legend", el);
  let buttons = [];
  let size = "";
  let focused = 0;

  function build(rows, columns) {
    grid.replaceChildren();
    grid.style.setProperty("--columns", columns);
    make("span", "corner", grid);
    for (let c = 0; c < columns; c++) make("span", "column", grid, `H${c + 1}`);
    buttons = [];
    for (let r = 0; r < rows; r++) {
      make("span", "row", grid, `L${r + 1}`);
      for (let c = 0; c < columns; c++) {
        const i = r * columns + c;
        const button = make("button", "cell", grid);
        button.type = "button";
        button.dataset.head = i;
        make("span", "mark", button);
        make("span", "number", button);
        button.addEventListener("click", () => press(i));
        button.addEventListener("focus", () => { focused = i; tabs(); });
        buttons.push(button);
      }
    }
  }

  const tabs = () => buttons.forEach((b, i) => { b.tabIndex = i === focused ? 0 : -1; });

  function press(i) {
    model.set("pressed", [i, (model.get("pressed")[1] || 0) + 1]);
    model.save_changes();
  }

  function paint() {
    const frame = model.get("frame");
    const { rows, columns, cells } = frame;
    el.dataset.empty = String(!cells.length);
    title.textContent = frame.title;
    readout.textContent = frame.reason || frame.reading;
    if (size !== `${rows},${columns}`) {
      build(rows, columns);
      size = `${rows},${columns}`;
      tabs();
    }
    grid.setAttribute("aria-label", frame.title);
    buttons.forEach((button, i) => {
      const cell = cells[i] || { mark: "", number: "–", shade: 0, role: "", label: "", on: true };
      const [mark, number] = button.children;
      mark.textContent = cell.mark;
      number.textContent = cell.number;
      button.style.setProperty("--shade", `${Math.round(cell.shade * 55)}%`);
      button.dataset.role = cell.role;
      button.dataset.on = String(cell.on);
      button.disabled = !cells.length;
      button.setAttribute("aria-label", cell.label);
      button.setAttribute("aria-pressed", String(frame.toggles ? cell.on : i === frame.selected));
      button.classList.toggle("chosen", !frame.toggles && i === frame.selected);
    });
    if (frame.selected >= 0 && !frame.toggles && !grid.contains(document.activeElement)) {
      focused = frame.selected; // Tab comes to the head that is read out
      tabs();
    }
    legend.replaceChildren();
    for (const { mark, role, words } of frame.legend) {
      const entry = make("span", "entry", legend);
      const swatch = make("span", "swatch", entry, mark);
      swatch.dataset.role = role;
      swatch.setAttribute("aria-hidden", "true");
      make("span", "", entry, words);
    }
    el.dataset.painted = Number(el.dataset.painted || 0) + 1;
  }

  grid.addEventListener("keydown", (event) => {
    const columns = model.get("frame").columns;
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const next = buttons[focused + step];
    const sameRow = Math.floor((focused + step) / columns) === Math.floor(focused / columns);
    if (next && (Math.abs(step) > 1 || sameRow)) next.focus();
  });

  model.on("change:frame", paint);
  paint();
  return () => model.off("change:frame", paint);
}

export default { initialize, render };
