"""What ends a command before its work is done: signals, and memory that runs out."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INTERRUPTED = 130
USER_ERROR = 2
_NEARLY = 1 << 26  # bytes below a limit on memory


class Stopped(KeyboardInterrupt):
    """A signal that asks the process to end."""

    def __init__(self, signal: signal.Signals) -> None:
        super().__init__(signal.name)
        self.signal = signal


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into `Stopped`; one that is ignored, as by nohup, stays ignored."""

    def stop(number: int, _: Any) -> None:
        raise Stopped(signal.Signals(number))

    kept: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                kept[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, before in kept.items():
            signal.signal(number, before)


def out_of_memory(error: Exception) -> bool:
    """Tell whether memory ran out, which not every library reports by a MemoryError.

    Others, such as those that draw figures, raise what they happen to: where the limit on
    addresses (``ulimit -v``) is nearly reached, any error is taken for that.
    """
    if isinstance(error, MemoryError):
        return True
    try:
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError, LookupError):
        return False
    return most != resource.RLIM_INFINITY and most - used < _NEARLY
