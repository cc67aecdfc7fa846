// A table: one row per lesson, one sign per question or exercise, and the way back to the lesson.
const SIGNS = { first_try: "●", later: "◐", recorded: "▪", not_yet: "✗", open: "○" };

function cell({ states, said }, words) {
  if (!said) return element("td", {}, "–");
  // One spoken sentence for the row of signs, or each would be read as a shape.
  const counts = Object.keys(SIGNS)
    .map((state) => [state, states.filter((one) => one === state).length])
    .filter(([, count]) => count);
  const spoken = counts.map(([state, count]) => `${count} ${words[state]}`).join(", ");
  const signs = states.map((state) => element("span", { "data-state": state }, SIGNS[state]));
  const row = element("span", { class: "signs", role: "img", "aria-label": spoken, title: spoken });
  row.append(...signs);
  return element("td", {}, row, element("span", { class: "count" }, said));
}

function render({ model, el }) {
  const root = element("div", { class: "mha mha-progress" });
  el.append(root);

  function draw() {
    const { lang, words, states, rows, summary, notes } = model.get("frame");
    root.lang = lang;
    const head = element("tr");
    for (const name of ["topic", "quiz", "exercises"]) {
      head.append(element("th", { scope: "col" }, words[name]));
    }
    const body = element("tbody");
    for (const { lesson, quiz, exercises } of rows) {
      const name = element("th", { scope: "row" }, lessonLink(lesson, model));
      body.append(element("tr", {}, name, cell(quiz, states), cell(exercises, states)));
    }
    const table = element("table", {}, element("caption", { class: "mha-hidden" }, words.title), element("thead", {}, head), body);
    const legend = element("p", { class: "legend" });
    for (const [state, sign] of Object.entries(SIGNS)) {
      legend.append(element("span", { "data-state": state }, sign), ` ${states[state]}   `);
    }
    const said = element("p", { class: "summary", role: "status" }, summary);
    const below = notes.map((note) => element("p", { class: "note" }, note));
    root.replaceChildren(said, table, legend, ...below);
  }

  model.on("change:frame", draw);
  draw();
  return () => model.off("change:frame", draw);
}

export default { initialize, render };
