// Pictures made of lines. Needs nodes.js.

const SVG = "http://www.w3.org/2000/svg"; // the name of a namespace; nothing is fetched

function draw(tag, parent, attributes = {}, text) {
  const node = set(document.createElementNS(SVG, tag), attributes);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}
