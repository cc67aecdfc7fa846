"""What `LabPage` asks of the page, in JavaScript; `jupyterapp` is JupyterLab's own object."""

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
CELL_IDS = "() => jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model.id)"
KERNEL_READY = """
() => {
  const panel = window.jupyterapp?.shell?.currentWidget;
  const kernel = panel?.sessionContext?.session?.kernel;
  return !!panel?.content?.widgets && panel.context.isReady
    && kernel?.connectionStatus === "connected" && kernel.status === "idle";
}
"""
# The kernel answers in order: with the second answer, every change made before the first
# question has been dealt with, and what the page held back until then has been sent too.
CATCH_UP = """
async () => {
  const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  await kernel.requestKernelInfo();
  await kernel.requestKernelInfo();
}
"""
