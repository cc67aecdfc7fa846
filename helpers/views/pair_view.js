// The table that compares two explorers. Words and numbers come ready from Python; here they
// become text nodes, never HTML. Also names the two sides around it for screen readers.

function heading(parent, text, scope) {
  make("th", "", parent, text).scope = scope;
}

function draw(el, frame) {
  const { names = [], rows = [], heads = [] } = frame;
  const table = make("table");
  make("caption", "mha-hidden", table, frame.caption ?? "");
  const top = make("tr", "", make("thead", "", table));
  make("td", "", top);
  for (const name of names) heading(top, name, "col");
  const body = make("tbody", "", table);
  heads.forEach((head, i) => {
    const line = make("tr", "", body);
    line.dataset.row = ["left", "right", "change"][i];
    heading(line, head, "row");
    rows.forEach((row, j) => {
      const cell = make("td", "", line, row[i]);
      cell.dataset.name = names[j]; // shown beside the number where the page is narrow
      cell.classList.toggle("mha-differs", row[0] !== row[1]);
    });
  });
  el.replaceChildren(...(names.length ? [table] : []));
}

function nameSides(el, titles) {
  const sides = el.closest(".mha-playground")?.querySelectorAll(".mha-side") ?? [];
  sides.forEach((side, i) => {
    side.setAttribute("role", "group");
    side.setAttribute("aria-label", titles[i] ?? "");
  });
  return sides.length === titles.length;
}

function render({ model, el }) {
  el.classList.add("mha", "mha-pair");
  let watcher;
  const show = () => {
    const frame = model.get("frame");
    draw(el, frame);
    nameSides(el, frame.titles ?? []);
  };
  model.on("change:frame", show);
  show();
  // The sides come to the page after this table, when their own views are made.
  const arrival = whenInside(el, ".mha-playground", (playground) => {
    const named = () => nameSides(el, model.get("frame").titles ?? []);
    if (named()) return;
    watcher = new MutationObserver(() => named() && watcher.disconnect());
    watcher.observe(playground, {
      subtree: true, childList: true, attributes: true, attributeFilter: ["class"],
    });
  });
  return () => {
    arrival.disconnect();
    watcher?.disconnect();
    model.off("change:frame", show);
  };
}

export default { initialize, render };
