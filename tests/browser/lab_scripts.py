"""What `LabPage` asks of the page, in JavaScript; `jupyterapp` is JupyterLab's own object."""

# Close everything, as when JupyterLab comes up; whether that is how it now is.
PUT_AWAY = """
async () => {
  const { shell } = jupyterapp;
  for (const panel of [...shell.widgets("main")]) {
    if (panel.context) panel.context.model.dirty = false; // or it would ask
    panel.close();
  }
  shell.expandLeft();
  await new Promise(done => requestAnimationFrame(done));
  return !document.querySelector(".jp-Notebook, .jp-Dialog, .lm-Menu, #jupyterlab-splash");
}
"""
# Open a notebook where JupyterLab is loaded; nothing else is left in the middle.
OPEN = """
async path => {
  const { commands, shell } = jupyterapp;
  const opened = await commands.execute("docmanager:open", { path });
  for (const other of [...shell.widgets("main")]) if (other !== opened) other.close();
}
"""
# One entry per code cell sent to the kernel since `reset`: its reply, and whether the kernel
# has said "idle" for it, which it does after the last of its outputs.
FOLLOW_RUNS = """
() => {
  const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  if (window.courseRuns?.kernel === kernel) {
    window.courseRuns.cells.clear();
    window.courseRuns.connections = 0;
    return;
  }
  const cells = new Map();
  const runs = window.courseRuns = { kernel, cells, connections: 0 };
  kernel.connectionStatusChanged.connect((_, status) => {
    if (status === "connected") runs.connections += 1;
  });
  kernel.anyMessage.connect((_, { msg, direction }) => {
    const type = msg.header.msg_type;
    if (direction === "send" && type === "execute_request" && msg.metadata.cellId) {
      cells.set(msg.header.msg_id, { cell: msg.metadata.cellId, reply: null, idle: false });
    }
    const run = cells.get(msg.parent_header?.msg_id);
    if (!run || direction !== "recv") return;
    if (type === "execute_reply") run.reply = msg.content;
    if (type === "error") run.error = `${msg.content.ename}: ${msg.content.evalue}`;
    if (type === "status" && msg.content.execution_state === "idle") run.idle = true;
  });
}
"""
ALL_RAN = """
([expected, connections]) => {
  if (window.courseRuns.connections < connections) return false;
  const runs = [...window.courseRuns.cells.values()];
  if (runs.some(run => run.reply && run.reply.status === "error" && run.idle)) return true;
  return runs.length >= expected && runs.every(run => run.reply && run.idle)
    && window.courseRuns.kernel.status === "idle";
}
"""
# "error" is sent for what a cell raises, and also for what fails while its result is shown.
FAILED = """
() => [...window.courseRuns.cells.values()]
  .filter(run => run.error || run.reply?.status === "error")
  .map(run => `cell ${run.cell}: ${run.error ?? run.reply.ename}`)
"""
CODE_CELLS = """
() => jupyterapp.shell.currentWidget.content.widgets
  .filter(cell => cell.model.type === "code" && cell.model.sharedModel.source.trim()).length
"""
ALL_CELLS = """
() => jupyterapp.shell.currentWidget.content.widgets.every(cell => !cell.isPlaceholder())
"""
CELL_IDS = "() => jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model.id)"
KERNEL_READY = """
() => {
  const panel = window.jupyterapp?.shell?.currentWidget;
  const kernel = panel?.sessionContext?.session?.kernel;
  return !!panel?.content?.widgets && panel.context.isReady
    && kernel?.connectionStatus === "connected" && kernel.status === "idle";
}
"""
# What an expression is worth in the kernel, its text as Python would print it.
ASK = """
async expression => {
  const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const request = { code: "", silent: true, user_expressions: { asked: expression } };
  const { content } = await kernel.requestExecute(request).done;
  const { status, data, ename, evalue } = content.user_expressions.asked;
  if (status !== "ok") throw new Error(`${ename}: ${evalue}`);
  return data["text/plain"];
}
"""
# Where the controls of ipywidgets on the page differ from `held`, what the kernel holds of each
# (model's id -> its traits): [label, trait, on the page, in the kernel]. A slider's handle and
# the end of its track count too.
DISAGREE = """
async held => {
  const { rendermime } = jupyterapp.shell.currentWidget.content;
  const renderer = rendermime.createRenderer("application/vnd.jupyter.widget-view+json");
  const manager = await renderer._manager.promise;
  // A slider adds its steps up to 1.0000000000000002.
  const plain = (_, value) => typeof value === "number" ? +value.toFixed(10) : value;
  const found = [];
  for (const [id, traits] of Object.entries(held)) {
    if (!manager.has_model(id)) continue; // never shown
    const model = await manager.get_model(id);
    const differ = (name, here, there) => {
      if (JSON.stringify(here, plain) !== JSON.stringify(there, plain))
        found.push([model.get("description"), name, here, there]);
    };
    for (const [name, value] of Object.entries(traits)) differ(name, model.get(name), value);
    for (const view of await Promise.all(Object.values(model.views ?? {}))) {
      const slider = view.$slider?.noUiSlider;
      if (!slider) continue;
      const labels = traits._options_labels;
      differ("handle", Number(slider.get()), traits.index ?? traits.value);
      differ("end", slider.options.range.max, labels ? labels.length - 1 : traits.max);
    }
  }
  return found;
}
"""
# The lowest contrast of any text that shows, each against what lies behind it, and which text
# that was, and how many there are. A canvas mixes half-transparent colours as the screen does.
CONTRAST = """
root => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const lay = colour => { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); };
  const seen = () => {
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map(v => v / 255)
      .map(v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  let worst = [99, "no text at all"], count = 0;
  const measure = (text, owner) => {
    if (!text || !owner.checkVisibility({ visibilityProperty: true })) return;
    const behind = [];
    for (let node = owner; node; node = node.parentElement) behind.unshift(node);
    lay("#fff");
    for (const node of behind) lay(getComputedStyle(node).backgroundColor);
    const paper = seen();
    lay(getComputedStyle(owner).color);
    const [low, high] = [paper, seen()].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    count += 1;
    if (ratio < worst[0]) worst = [ratio, text];
  };
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode())
    measure(walker.currentNode.textContent.trim(), walker.currentNode.parentElement);
  for (const field of root.querySelectorAll("input[type=text], input[type=number], select"))
    measure(field.value, field);
  return [...worst, count];
}
"""
# What around `of`, up to the notebook's panel, would scroll sideways to show all of it. Below
# 416 px JupyterLab's own window does, with any notebook.
SIDEWAYS = """
of => {
  const wide = [];
  for (let node = of; !node.matches(".jp-LabShell"); node = node.parentElement) {
    const fixed = ["visible", "clip"].includes(getComputedStyle(node).overflowX);
    if ((node === of || !fixed) && node.scrollWidth > node.clientWidth + 1)
      wide.push(node.className || node.tagName);
  }
  return wide;
}
"""
# Two screen frames from now: whatever waits for the next one has been painted.
PAINTED = """
() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))
"""
# What the widgets of a page send goes to a thread of its own in the kernel (a "subshell"), each
# thread answers in order: with the second answers, every change made before the first question
# has been dealt with, and what the page held back until then has been sent too.
CATCH_UP = """
async () => {
  const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const threads = [kernel.subshellId];
  if (kernel.supportsSubshells)
    threads.push(...(await kernel.requestListSubshell({}).done).content.subshell_id);
  const ask = thread => {
    const before = kernel.subshellId;
    kernel.subshellId = thread;
    const answer = kernel.requestKernelInfo(); // is sent at once
    kernel.subshellId = before;
    return answer;
  };
  for (let round = 0; round < 2; round++) await Promise.all(threads.map(ask));
}
"""
