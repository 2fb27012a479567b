"""Early end of a command: signals, and memory that runs out."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from duramen.support.files import STOPS

INTERRUPTED = 130
USER_ERROR = 2
_NEARLY = 1 << 26  # bytes below a limit on memory


class Stopped(KeyboardInterrupt):
    """Signal that asks the process to end."""

    def __init__(self, signal: signal.Signals) -> None:
        super().__init__(signal.name)
        self.signal = signal


_came: list[KeyboardInterrupt] = []  # stops that are not obeyed yet


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Turn the signals `STOPS` into `Stopped`; a signal that nohup ignores stays ignored.

    A stop that is lost, since it came in a finalizer or other code swallowed it, or turned it into
    an error of its own, as imports of compiled modules do, is raised at the next step: see
    :func:`raise_lost_stop`.
    """
    stops = _exchanged(signal.SIG_DFL, _stop)
    interrupts = _exchanged(signal.default_int_handler, _stop, ("SIGINT",))
    usual = sys.unraisablehook

    def lost(unraised: Any) -> None:
        """Hide stops and memory errors in finalizers."""
        error = unraised.exc_value
        if not isinstance(error, KeyboardInterrupt) and not out_of_memory(error):
            usual(unraised)

    sys.unraisablehook = lost
    try:
        with lost_stops():
            yield
    finally:
        sys.unraisablehook = usual
        _came.clear()
        for number in stops:
            signal.signal(number, signal.SIG_DFL)
        for number in interrupts:
            signal.signal(number, signal.default_int_handler)


def _stop(number: int, _: Any) -> None:
    interrupt = number == signal.SIGINT
    _came.append(KeyboardInterrupt() if interrupt else Stopped(signal.Signals(number)))
    raise _came[-1]


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
    """Ignore further signals of `STOPS`, which would end the command twice.

    Nothing changes where :func:`stopped_by_signals` is not in effect, which also ends this.
    """
    _exchanged(_stop, signal.SIG_IGN)


def _exchanged(before: Any, after: Any, names: Sequence[str] = STOPS) -> tuple[int, ...]:
    """Exchange one handler of signals for another; return the numbers of these signals."""
    if threading.current_thread() is not threading.main_thread():
        return ()
    numbers = (getattr(signal, name, None) for name in names)
    exchanged = tuple(n for n in numbers if n is not None and signal.getsignal(n) == before)
    for number in exchanged:
        signal.signal(number, after)
    return exchanged


def out_of_memory(error: BaseException) -> bool:
    """Tell whether an error means that memory ran out, with a MemoryError or without.

    Others, such as those that draw figures, raise what they happen to: where the limit on
    addresses (``ulimit -v``) is nearly reached, any error is taken for that.
    """
    from duramen.support.threads import addresses_left

    if isinstance(error, MemoryError):
        return True
    left = addresses_left()
    return left is not None and left < _NEARLY
