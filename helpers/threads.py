"""One torch thread for many small pieces of work, whichever of the kernel's threads does them."""

import threading
from contextlib import contextmanager

import torch

_lock = threading.Lock()
_inside = 0  # how many threads are in `one_thread` at this moment
_before = 1  # the reader's number, as the first of them found it
_own = threading.local()


@contextmanager
def one_thread():
    """One torch thread inside, the reader's own number again after it.

    For small tensors, waiting for a second thread takes longer than the work: 600 sentences
    took 75 s with two threads on a busy machine, and 7 s with one.

    May be nested, and entered by several threads at once (JupyterLab moves widgets in a thread
    beside the one that runs cells). OpenMP keeps the number for each thread, and a thread that
    is new to torch takes over what was set last by any other: hence each sets and restores its
    own, and one that finds 1 while another is inside has found ours, not the reader's.
    """
    global _inside, _before
    if getattr(_own, "inside", False):  # nested: the outermost restores
        yield
        return
    with _lock:
        found = torch.get_num_threads()
        if not _inside:
            _before = found
        elif found == 1:
            found = _before
        _inside += 1
        torch.set_num_threads(1)
    _own.inside = True
    try:
        yield
    finally:
        _own.inside = False
        with _lock:
            _inside -= 1
            torch.set_num_threads(found)
