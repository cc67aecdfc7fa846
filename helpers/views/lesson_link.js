// A link to another lesson, from inside a widget. JupyterLab and Notebook look only at the links
// in text cells; what they do with those is done here with this one: `file`, which lies beside
// the notebook, opens as it does from there. Elsewhere it stays a plain link.
function lessonLink({ file, text }, model) {
  const address = encodeURI(file);
  const link = document.createElement("a");
  link.textContent = text;
  link.href = address;
  link.className = "mha-lesson-link";
  const { resolver, linkHandler } = model.widget_manager?.rendermime ?? {};
  if (resolver && linkHandler) {
    resolver
      .resolveUrl(address)
      .then((path) => linkHandler.handleLink(link, decodeURIComponent(path), ""));
  }
  return link;
}
