// Shows the note as text (never as HTML) and announces it to screen readers.
// ipywidgets' sliders have no spoken name: noUiSlider makes the handle, the label stands
// beside it unconnected. nameSliders() connects the two inside the explorer around this note.

function nameSliders(explorer) {
  for (const slider of explorer.querySelectorAll(".widget-slider")) {
    const handle = slider.querySelector('[role="slider"]');
    const label = slider.querySelector(".widget-label");
    const readout = slider.querySelector(".widget-readout");
    if (!handle || !label) continue;
    // JupyterLab looks for this on the focused element itself: arrows must move the slider,
    // not the notebook.
    if (!handle.dataset.lmSuppressShortcuts) handle.dataset.lmSuppressShortcuts = "true";
    // Only write what differs: this runs inside a MutationObserver.
    const name = label.textContent;
    if (handle.getAttribute("aria-label") !== name) handle.setAttribute("aria-label", name);
    const value = readout ? readout.textContent : "";
    if (value && handle.getAttribute("aria-valuetext") !== value)
      handle.setAttribute("aria-valuetext", value);
    if (readout && readout.getAttribute("aria-label") !== name)
      readout.setAttribute("aria-label", name);
  }
}

// noUiSlider goes to where the slider ended when it was made, also after it became longer.
function goToEnd(event) {
  const slider = event.target.closest('[role="slider"]')?.closest(".noUi-target")?.noUiSlider;
  if (event.key !== "End" || !slider) return;
  event.preventDefault();
  event.stopPropagation();
  slider.set(slider.options.range.max);
}

function render({ model, el }) {
  el.classList.add("mha", "mha-note");
  const note = set(make("div", "", el), { role: "status" });
  make("div", "mha-note-lost", el, model.get("lost")); // shown by the stylesheet, in its place

  const show = () => {
    note.textContent = model.get("text");
    note.dataset.kind = model.get("kind");
  };
  model.on("change:text", show);
  model.on("change:kind", show);
  show();

  let watcher, explorer;
  const arrival = whenInside(el, ".mha-explorer", (found) => {
    explorer = found;
    nameSliders(explorer);
    explorer.addEventListener("keydown", goToEnd, true);
    watcher = new MutationObserver(() => nameSliders(explorer));
    watcher.observe(explorer, {
      subtree: true, childList: true, attributes: true, attributeFilter: ["aria-valuetext"],
    });
  });
  return () => {
    arrival.disconnect();
    watcher?.disconnect();
    explorer?.removeEventListener("keydown", goToEnd, true);
    model.off("change:text", show);
    model.off("change:kind", show);
  };
}

export default { initialize, render };
