// A table: one row per lesson, one sign per question or exercise, and the way back to the lesson.
const SIGNS = { first_try: "●", later: "◐", recorded: "▪", not_yet: "✗", open: "○" };

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function cell({ states, said }, words) {
  if (!said) return make("td", {}, "–");
  // One spoken sentence for the row of signs, or each would be read as a shape.
  const counts = Object.keys(SIGNS)
    .map((state) => [state, states.filter((one) => one === state).length])
    .filter(([, count]) => count);
  const spoken = counts.map(([state, count]) => `${count} ${words[state]}`).join(", ");
  const signs = states.map((state) => make("span", { "data-state": state }, SIGNS[state]));
  const row = make("span", { class: "signs", role: "img", "aria-label": spoken, title: spoken });
  row.append(...signs);
  return make("td", {}, row, make("span", { class: "count" }, said));
}

function render({ model, el }) {
  const root = make("div", { class: "mha-progress" });
  el.append(root);

  function draw() {
    const { lang, words, states, rows, summary, notes } = model.get("frame");
    root.lang = lang;
    const head = make("tr");
    for (const name of ["topic", "quiz", "exercises"]) {
      head.append(make("th", { scope: "col" }, words[name]));
    }
    const body = make("tbody");
    for (const { lesson, quiz, exercises } of rows) {
      const name = make("th", { scope: "row" }, lessonLink(lesson));
      body.append(make("tr", {}, name, cell(quiz, states), cell(exercises, states)));
    }
    const table = make("table", {}, make("caption", {}, words.title), make("thead", {}, head), body);
    const legend = make("p", { class: "legend" });
    for (const [state, sign] of Object.entries(SIGNS)) {
      legend.append(make("span", { "data-state": state }, sign), ` ${states[state]}   `);
    }
    const said = make("p", { class: "summary", role: "status" }, summary);
    const below = notes.map((note) => make("p", { class: "note" }, note));
    root.replaceChildren(said, table, legend, ...below);
  }

  model.on("change:frame", draw);
  draw();
  return () => model.off("change:frame", draw);
}

export default { render };
