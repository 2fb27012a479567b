"""Early end of a command: signals, and memory that runs out."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from duramen.support.files import STOPS

INTERRUPTED = 130
USER_ERROR = 2
_SOON = 0.01  # seconds
_PATIENCE = 5.0  # seconds
_NEARLY = 1 << 26  # bytes below a limit on memory


class Stopped(KeyboardInterrupt):
    """Signal that asks the process to end."""

    def __init__(self, signal: signal.Signals) -> None:
        super().__init__(signal.name)
        self.signal = signal


_came: list[KeyboardInterrupt] = []  # stops that are not obeyed yet
_handled: list[int] = []  # signals whose handler ran
unfinished: set[Path] = set()
"""Folders to remove where a signal ends the process at once."""


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Turn the signals `STOPS` into `Stopped`; one that is ignored, as by nohup, stays ignored.

    A stop that comes in a callback of the interpreter, which cannot raise it, is repeated. One that
    other code swallows, or turns into an error of its own, as imports of compiled modules do, is
    raised again: see :func:`raise_lost_stop`. Where a library computes without a break, so that no
    handler runs, the process ends after five seconds.
    """
    stops = _exchanged(signal.SIG_DFL, _stop)
    interrupts = _exchanged(signal.default_int_handler, _stop, ("SIGINT",))
    try:
        with _ended_in_time(), _repeating_lost_stops(), lost_stops():
            yield
    finally:
        _came.clear()
        _handled.clear()
        for number in stops:
            signal.signal(number, signal.SIG_DFL)
        for number in interrupts:
            signal.signal(number, signal.default_int_handler)


def _stop(number: int, _: Any) -> None:
    _handled.append(number)
    interrupt = number == signal.SIGINT
    _came.append(KeyboardInterrupt() if interrupt else Stopped(signal.Signals(number)))
    raise _came[-1]


@contextmanager
def _ended_in_time() -> Iterator[None]:
    """End the process where a stop came and its handler has not run for some seconds.

    Handlers run between two steps of the interpreter, and a decomposition of a large matrix is one
    step. A thread reads the numbers of the signals, which the system's handler writes at once;
    where the system allows no further thread, stops wait for the end of a step.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    read, write = socket.socketpair()
    write.setblocking(False)
    try:
        threading.Thread(target=_watch, args=(read,), daemon=True).start()
    except RuntimeError:
        read.close()
        write.close()
        yield
        return
    before = signal.set_wakeup_fd(write.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        write.close()


def _watch(numbers: socket.socket) -> None:
    """Read signals until no more can come, and see that stops are obeyed."""
    with numbers:
        while data := numbers.recv(1):
            number = data[0]
            if signal.getsignal(number) is not _stop:
                continue
            deadline = time.monotonic() + _PATIENCE
            while time.monotonic() < deadline and not _handled:
                time.sleep(_SOON)
            if not _handled and signal.getsignal(number) is _stop:
                for folder in unfinished:
                    shutil.rmtree(folder, ignore_errors=True)
                name = signal.Signals(number).name
                os.write(2, f"duramen: stopped by {name}, nothing was written\n".encode())
                os._exit(128 + number)


def raise_lost_stop(error: Exception | None = None) -> None:
    """Raise a stop that came and was not obeyed, in place of an error that may come of it."""
    if _came:
        raise _came[0] from error


def obey(stop: KeyboardInterrupt) -> None:
    """Forget the stops that came, since the work has ended because of this one.

    What is finished is written then. Ctrl-C ends that, too; repeated `STOPS` do not.
    """
    _came.clear()
    if isinstance(stop, Stopped):
        ignore_further_stops()


@contextmanager
def lost_stops() -> Iterator[None]:
    """Raise a stop in place of an error that came after it."""
    try:
        yield
    except Exception as error:
        raise_lost_stop(error)
        raise


def ignore_further_stops() -> None:
    """Ignore the signals `STOPS` once one is obeyed: a repeated one would end the command twice.

    Nothing changes where :func:`stopped_by_signals` is not in effect, which also ends this.
    """
    _exchanged(_stop, signal.SIG_IGN)


def _exchanged(before: Any, after: Any, names: Sequence[str] = STOPS) -> tuple[int, ...]:
    """Give signals another handler where they have this one; return which have it."""
    if threading.current_thread() is not threading.main_thread():
        return ()
    numbers = (getattr(signal, name, None) for name in names)
    exchanged = tuple(n for n in numbers if n is not None and signal.getsignal(n) == before)
    for number in exchanged:
        signal.signal(number, after)
    return exchanged


@contextmanager
def _repeating_lost_stops() -> Iterator[None]:
    """Send signals again whose exception was lost, such as in a finalizer, without a message.

    There is none either where memory ran out in such a place: the work that goes on without it
    ends with an error of its own.
    """
    usual, timers = sys.unraisablehook, []

    def lost(lost_error: Any) -> None:
        error = lost_error.exc_value
        if isinstance(error, KeyboardInterrupt):
            number = error.signal if isinstance(error, Stopped) else signal.SIGINT
            timers.append(threading.Timer(_SOON, os.kill, (os.getpid(), number)))
            timers[-1].daemon = True
            with suppress(RuntimeError):
                timers[-1].start()
        elif not isinstance(error, Exception) or not out_of_memory(error):
            usual(lost_error)

    sys.unraisablehook = lost
    try:
        yield
    finally:
        sys.unraisablehook = usual
        if timers:  # one that is just sent would end the process while it exits
            _exchanged(_stop, signal.SIG_IGN, ("SIGINT", *STOPS))
        for timer in timers:
            timer.cancel()
            with suppress(RuntimeError):  # it could not be started
                timer.join()


def out_of_memory(error: Exception) -> bool:
    """Tell whether memory ran out, which not every library reports by a MemoryError.

    Others, such as those that draw figures, raise what they happen to: where the limit on
    addresses (``ulimit -v``) is nearly reached, any error is taken for that.
    """
    from duramen.support.threads import addresses_left

    if isinstance(error, MemoryError):
        return True
    left = addresses_left()
    return left is not None and left < _NEARLY
