// What the views make their nodes with. Words go in as text, never as HTML.

// A new node at the end of `parent`.
function make(tag, className, parent, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}

function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

// A new text only where it differs: equal ones would still be spoken, or lose a selection.
function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
  return node;
}

// Exactly `count` children, made or removed at the end; the others are left alone.
function keep(parent, count, create) {
  while (parent.children.length > count) parent.lastElementChild.remove();
  while (parent.children.length < count) parent.append(create(parent.children.length));
  return [...parent.children];
}

// Calls `then` with the nearest element around `el` that fits the selector, as soon as there is
// one; what it returns is disconnected. JupyterLab makes what stands below the window long before
// it puts it on the page, and only there ipywidgets gives a widget its classes.
function whenInside(el, selector, then) {
  const watcher = new MutationObserver(look);
  function look() {
    const found = el.closest(selector);
    if (!found) return;
    watcher.disconnect();
    then(found);
  }
  const seen = { subtree: true, childList: true, attributes: true, attributeFilter: ["class"] };
  watcher.observe(document.body, seen);
  look();
  return watcher;
}

// A box that the keyboard can scroll: where it is too small for its children, and only there,
// it takes the focus. Call it when the children are in it; what it returns is disconnected.
function scrolls(box) {
  box.dataset.lmSuppressShortcuts = "true"; // the arrow keys are the box's, not JupyterLab's
  const watcher = new ResizeObserver(() => {
    const wide = box.scrollWidth > box.clientWidth + 1;
    if (wide || box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
  for (const node of [box, ...box.children]) watcher.observe(node);
  return watcher;
}

// element("p.name", attributes, ...children)
function element(what, attributes = {}, ...children) {
  const [tag, name] = what.split("."), node = set(document.createElement(tag), attributes);
  if (name) node.className = name;
  // JupyterLab's shortcuts ("a" adds a cell) leave alone the element with this mark, not what
  // stands in it: whatever can have the focus must carry it.
  if (tag === "button" || tag === "input" || attributes.tabindex)
    node.dataset.lmSuppressShortcuts = "true";
  node.append(...children);
  return node;
}
