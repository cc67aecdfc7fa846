"""Kernels that start at once, for the tests' JupyterLab: copies of a process that is ready.

Loading torch, matplotlib and the widgets takes three seconds of every kernel, and the browser
tests start nearly a hundred. Here one process loads them and copies itself for each kernel that
JupyterLab asks for. From there on a copy is a kernel like any other. Kernels that start as a
reader's do run in Notebook 7's tests and in the lessons' part of `course.py test`.

    python kernels.py ready SOCKET                    the process that is copied
    python kernels.py start SOCKET CONNECTION_FILE    what JupyterLab starts and stops
"""

import gc
import json
import os
import select
import signal
import socket
import sys
import threading
from pathlib import Path

CAN_COPY = sys.platform == "linux"  # Windows has no fork, macOS warns of it
LOADED = (
    "ipykernel.kernelapp",
    "ipykernel.debugger",
    "psutil",
    "ipywidgets",
    "anywidget",
    "torch",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "networkx",
)


def write_kernelspec(folder: Path, place: Path):
    """Let a JupyterLab that has `folder` in JUPYTER_PATH start kernels at the socket `place`."""
    start = [sys.executable, "-I", "-S", str(Path(__file__)), "start", str(place)]
    spec = {
        "argv": [*start, "{connection_file}"],
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "interrupt_mode": "message",  # a signal would reach `start` and not the kernel
        "metadata": {"debugger": True},
    }
    file = folder / "kernels" / "python3" / "kernel.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(spec), encoding="utf-8")


def ready(place: str):
    """Load what lessons load; a copy of this process for each connection."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(place)
        server.listen(16)  # who comes now waits
        sys.path.pop(0)  # this folder: a notebook's kernel does not have it
        for name in LOADED:
            __import__(name)
        gc.collect()
        gc.freeze()  # the copies share what is loaded: their collections need not go through it
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a kernel that ended leaves nothing behind
        while True:
            here, _, _ = select.select([server, sys.stdin], [], [])
            if sys.stdin in here:  # the tests have ended, whichever way
                return
            connection, _ = server.accept()
            request, streams = _read(connection)
            if os.fork() == 0:
                server.close()
                _be_a_kernel(connection, request, streams)
                return
            for stream in streams:
                os.close(stream)
            connection.close()


def _read(connection) -> tuple[dict, list[int]]:
    text, streams, *_ = socket.recv_fds(connection, 65536, 3)
    while not text.endswith(b"\n"):
        text += connection.recv(65536)
    return json.loads(text), streams


def _be_a_kernel(connection, request: dict, streams: list[int]):
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.environ.pop("JPY_PARENT_PID", None)  # of `start`; this one's parent is another
    os.chdir(request["folder"])

    def end_with_start():
        connection.recv(1)
        os._exit(1)

    threading.Thread(target=end_with_start, daemon=True).start()
    from ipykernel.kernelapp import IPKernelApp

    sys.argv = ["ipykernel_launcher.py", "-f", request["connection_file"]]
    IPKernelApp.launch_instance()


def start(place: str, connection_file: str):
    """Ask for a kernel; lives as long as it does, and it no longer than this."""
    request = {
        "connection_file": connection_file,
        "environment": dict(os.environ),
        "folder": os.getcwd(),
    }
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(place)
        text = json.dumps(request).encode() + b"\n"
        sent = socket.send_fds(connection, [text], [0, 1, 2])
        connection.sendall(text[sent:])
        connection.recv(1)


if __name__ == "__main__":
    {"ready": ready, "start": start}[sys.argv[1]](*sys.argv[2:])
