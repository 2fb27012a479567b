"""Signals that end a command as Ctrl-C does."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INTERRUPTED = 130


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
