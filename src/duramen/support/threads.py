"""Threads and processes, and the limits of the system on them."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

_USUAL_STACK = 1 << 23


def startable(wanted: int) -> int:
    """Return how many of the threads that are wanted can work at a time, the calling one included.

    Their stacks take half of the addresses that are left at most: threads that take the last of
    them leave nothing to work with, and one that cannot even begin may be waited for without end.
    """
    done = threading.Event()
    started: list[threading.Thread] = []
    left = addresses_left()
    most = wanted - 1 if left is None else min(wanted - 1, left // (2 * _stack_bytes()))
    try:
        for _ in range(most):
            thread = threading.Thread(target=done.wait, daemon=True)
            thread.start()
            started.append(thread)
    except (RuntimeError, MemoryError):
        pass
    finally:
        done.set()
        for thread in started:
            thread.join()
    return len(started) + 1


def _stack_bytes() -> int:
    """Return the bytes of addresses that the stack of a thread takes."""
    if size := threading.stack_size():
        return size
    try:
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_STACK)
    except ImportError:
        return _USUAL_STACK
    return _USUAL_STACK if most == resource.RLIM_INFINITY else max(most, 1 << 16)


class Pool(ThreadPoolExecutor):
    """A pool whose work is done by the threads that can be started, if not all of them can."""

    def _adjust_thread_count(self) -> None:
        """Start another thread, which the pool can do without once it has one."""
        left = addresses_left()
        if self._threads and left is not None and left < 2 * _stack_bytes():
            return
        try:
            super()._adjust_thread_count()
        except RuntimeError:  # the task is in the queue already
            if not self._threads:
                raise MemoryError(
                    "no thread can be started; raise the limit on processes or memory, or use one "
                    "job"
                ) from None


def addresses_left() -> int | None:
    """Return how many bytes of addresses the process may take yet; None without a limit.

    The limit is that of ``ulimit -v``; systems other than Linux tell no use of it.
    """
    try:
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most == resource.RLIM_INFINITY:
            return None
        with open("/proc/self/statm", "rb") as file:
            pages = int(file.read().split()[0])
    except (ImportError, OSError, ValueError):
        return None
    return max(0, most - pages * resource.getpagesize())


_SECONDS = 1.0  # between two looks


def end_with(parent: int) -> None:
    """End this process soon after its parent, which may be killed without a chance to say so."""
    if hasattr(os, "getppid"):
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS)
    os._exit(1)
