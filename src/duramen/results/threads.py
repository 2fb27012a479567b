"""Threads of Python, where a limit of the system may let fewer start than are asked for."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor


def startable(wanted: int) -> int:
    """Return how many of the threads that are wanted can work at a time, the calling one included.

    Parameters
    ----------
    wanted : int
        At least 1.
    """
    done = threading.Event()
    started: list[threading.Thread] = []
    try:
        for _ in range(wanted - 1):
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


class Pool(ThreadPoolExecutor):
    """A pool whose work is done by the threads that can be started, if not all of them can."""

    def _adjust_thread_count(self) -> None:
        """Start another thread, which the pool can do without once it has one.

        Raises
        ------
        MemoryError
            If it would be the first one.
        """
        try:
            super()._adjust_thread_count()
        except RuntimeError:  # the task is in the queue already
            if not self._threads:
                raise MemoryError(
                    "no thread can be started; raise the limit on processes or memory, or use one "
                    "job"
                ) from None
