"""Steps that Ctrl-C and other signals do not cut in two."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_STOPS = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold SIGINT, SIGTERM and SIGHUP back for a short step; the first to come acts after it.

    Handlers of Python are exchanged rather than signals blocked: blocked for this thread only, a
    signal is taken by another one, such as a thread of a linear algebra library, and its handler
    runs here all the same. Signals with the system's own actions, and those of programs that call
    this from another thread than the main one, are left as they are.
    """
    came: list[int] = []
    kept: dict[int, Any] = {}

    def later(number: int, _: Any) -> None:
        came.append(number)

    try:
        if threading.current_thread() is threading.main_thread():
            for name in _STOPS:
                number = getattr(signal, name, None)
                if number is not None and callable(before := signal.getsignal(number)):
                    kept[number] = before
                    signal.signal(number, later)
        yield
    finally:
        for number, before in kept.items():
            signal.signal(number, before)
        if came:
            signal.raise_signal(came[0])
