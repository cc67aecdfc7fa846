"""One torch thread for many small pieces of work."""

from contextlib import contextmanager

import torch


@contextmanager
def one_thread():
    """One torch thread inside, the reader's own number again after it.

    For small tensors, waiting for a second thread takes longer than the work: 600 sentences
    took 75 s with two threads on a busy machine, and 7 s with one.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
