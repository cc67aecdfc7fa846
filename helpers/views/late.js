// anywidget 0.11 gives a script two seconds to load, counted from the widget's creation. Where a
// page was busy for longer (a slow laptop, Run All) it refuses every message to that widget, for
// good: the picture would stand still while the controls move. Then the widget hears the kernel
// itself, and asks for what it missed before it shows anything.
async function initialize({ model }) {
  let widget; // the model behind `model`, with its channel to the kernel
  const found = it => { widget = it; };
  model.on("change:_found", found);
  model.set("_found", true); // no trait: the kernel passes over it
  model.off("change:_found", found);
  if (!widget?.comm?.on_msg || !widget._handle_comm_msg) return; // another page than Jupyter's
  const hear = () => new Promise(heard => {
    const plain = Object.getPrototypeOf(Object.getPrototypeOf(widget)); // ipywidgets' own
    widget.comm.on_msg(message => plain._handle_comm_msg.call(widget, message).then(heard));
    widget.comm.send({ method: "request_state" });
  });
  // A message that says nothing: it is refused at once, or goes through when all is ready.
  let missed;
  widget._handle_comm_msg({ content: { data: {} } }).catch(() => { missed = hear(); });
  const { port1, port2 } = new MessageChannel(); // the next task; a hidden page's timers are slow
  await new Promise(now => { port1.onmessage = now; port2.postMessage(0); });
  port1.close();
  await missed;
}

