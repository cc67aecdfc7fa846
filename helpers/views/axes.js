// Names and shapes, each axis in its colour. Needs nodes.js.

const AXES = ["B", "T", "H", "d_k", "d_model"];

function colour(node, axis) {
  if (AXES.includes(axis)) node.style.color = `var(--axis-${axis.replace("_", "-")})`;
  return node;
}

// Q_heads, W_Q, d_k: one letter, then what stands below the line. Axes get their colour.
function writeMath(parent, text) {
  parent.textContent = "";
  let end = 0;
  for (const match of text.matchAll(/\b([A-Za-z])_([A-Za-z0-9]+)\b|\b[BTH]\b/g)) {
    parent.append(text.slice(end, match.index));
    const node = colour(make("span", match[1] ? "sym" : "", parent), match[0]);
    node.append(match[1] || match[0]);
    if (match[1]) make("sub", "", node).textContent = match[2];
    end = match.index + match[0].length;
  }
  parent.append(text.slice(end));
}

// (9, 512), each entry in the colour of its axis.
function writeTuple(parent, entries, axes) {
  parent.textContent = "(";
  entries.forEach((entry, i) => {
    if (i) parent.append(", ");
    const node = colour(make("span", "", parent), axes[i]);
    if (entry === axes[i]) writeMath(node, entry);
    else node.textContent = entry;
  });
  parent.append(entries.length === 1 ? ",)" : ")");
}
