// A link to another lesson, from inside a widget. JupyterLab and Notebook resolve only links in
// text cells; here the command that opens a file is named on the link, and its path is made
// from the address of the page, which names the notebook being read. Elsewhere it stays a
// plain link to the file beside this one.
function lessonLink({ file, text }) {
  const link = document.createElement("a");
  link.textContent = text;
  link.href = encodeURI(file);
  link.className = "mha-lesson-link";
  link.addEventListener("click", () => {
    const page = /\/(?:tree|notebooks)\/(.+)$/.exec(window.location.pathname);
    if (!page) return;
    const path = [...decodeURIComponent(page[1]).split("/").slice(0, -1), file].join("/");
    link.dataset.commandlinkerCommand = "docmanager:open";
    link.dataset.commandlinkerArgs = JSON.stringify({ path });
  });
  return link;
}
