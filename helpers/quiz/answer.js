// The controls of one question: native radios, checkboxes or a text field in a form, so that
// Tab, arrows, Space and Enter do what they do everywhere. All text goes in as text nodes.
// `code` in backticks becomes <code>.
function withCode(text) {
  return text.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part));
}

function optionRows(kind, options, id) {
  const type = kind === "single" ? "radio" : "checkbox";
  return options.map(([option, text]) => {
    const input = element("input", { type, name: id, value: option });
    const words = element("span", { class: "mha-quiz-option" }, ...withCode(text));
    const row = element("label", {}, input, words, element("span", { class: "mha-quiz-mark" }));
    return { input, row };
  });
}

function numberField(words, id) {
  const about = { "aria-describedby": `${id}-hint`, autocomplete: "off", spellcheck: "false" };
  const input = element("input", { type: "text", id: `${id}-field`, ...about });
  const label = element("label", { for: `${id}-field` }, words.field);
  return { input, row: element("div", { class: "mha-quiz-number" }, label, input) };
}

function render({ model, el }) {
  const id = `mha-quiz-${Math.random().toString(36).slice(2)}`; // one per view
  const kind = model.get("kind");
  const words = model.get("words");
  const numeric = kind === "numeric";
  const rows = numeric ? [numberField(words, id)] : optionRows(kind, model.get("options"), id);

  const group = element("div", {
    class: "mha-quiz-group",
    role: kind === "single" ? "radiogroup" : "group",
    "aria-label": model.get("name"),
  });
  group.append(...rows.map(({ row }) => row));
  const hint = element("p", { class: "mha-quiz-hint", id: `${id}-hint` }, words.hint);
  if (kind === "several") group.setAttribute("aria-describedby", hint.id);
  const spokenName = `${words.button}: ${words.place}`; // or all buttons would sound alike
  const button = element("button", { type: "submit", "aria-label": spokenName }, words.button);
  // Two lines: the verdict on the page, and the explanation for a screen reader alone,
  // because MathJax would announce its formulas piece by piece.
  const said = element("span", { class: "mha-quiz-said" });
  const spoken = element("span", { class: "mha-quiz-spoken mha-hidden" });
  const lesson = element("span", { class: "mha-quiz-lesson" });
  const status = element("div", { class: "mha-quiz-status", role: "status" }, said, lesson, spoken);
  const form = element("form", { class: "mha-quiz-form", lang: words.lang });
  form.append(...(words.hint ? [hint] : []), group, button, status);
  form.dataset.kind = kind;
  el.append(form);

  const chosen = () =>
    numeric
      ? [rows[0].input.value]
      : rows.filter(({ input }) => input.checked).map(({ input }) => input.value);

  form.addEventListener("input", () => {
    model.set("answer", chosen());
    model.save_changes();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    model.send({ check: chosen() });
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.tagName === "INPUT") {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  // JupyterLab would take arrows and letters (a, b, dd) for its own shortcuts: its attribute
  // on the focused control, set before it looks, leaves them to us. Ctrl+S stays its own.
  function keepKeys(event) {
    const held = event.ctrlKey || event.metaKey || event.altKey;
    if (form.contains(event.target)) {
      event.target.toggleAttribute("data-lm-suppress-shortcuts", !held);
    }
  }
  window.addEventListener("keydown", keepKeys, true);

  function showAnswer() {
    const answer = model.get("answer");
    for (const { input } of rows) {
      if (!numeric) input.checked = answer.includes(input.value);
      // Writing an equal text would still move the cursor.
      else if (input.value !== (answer[0] ?? "")) input.value = answer[0] ?? "";
    }
  }
  function showVerdict() {
    form.dataset.verdict = model.get("verdict");
    said.textContent = model.get("said");
    spoken.textContent = model.get("spoken");
    const link = model.get("link");
    lesson.replaceChildren(...(link.file ? [` ${link.before} `, lessonLink(link, model)] : []));
  }
  function showMarks() {
    const marks = model.get("marks");
    for (const { input, row } of numeric ? [] : rows) {
      row.lastChild.textContent = marks[input.value] ?? "";
    }
  }
  model.on("change:answer", showAnswer);
  model.on("change:verdict change:said change:spoken change:link", showVerdict);
  model.on("change:marks", showMarks);
  showAnswer();
  showVerdict();
  showMarks();
  return () => {
    window.removeEventListener("keydown", keepKeys, true);
    model.off("change:answer", showAnswer);
    model.off("change:verdict change:said change:spoken change:link", showVerdict);
    model.off("change:marks", showMarks);
  };
}

export default { initialize, render };
