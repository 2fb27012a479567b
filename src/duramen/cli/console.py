"""What a command says, and how it ends."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from duramen.cli import INTERRUPTED

USER_ERROR = 2
_LONGEST = 4000  # characters of a line; a message may quote what a file holds


@contextmanager
def ending_well(command: str) -> Iterator[None]:
    """End the command with a short word when it is stopped, or the system refuses something.

    Ctrl-C ends it with code 130, SIGTERM with 143 and SIGHUP with 129, after what was begun is
    removed or kept; what the system refuses, such as space on a disk, with code 2.
    """
    with _stopped_by_signals():
        try:
            yield
        except Stopped as stopped:
            _complain(f"duramen {command}: stopped by {stopped.signal.name}, nothing was written")
            raise typer.Exit(128 + stopped.signal) from None
        except KeyboardInterrupt:
            _complain(f"duramen {command}: interrupted, nothing was written")
            raise typer.Exit(INTERRUPTED) from None
        except (OSError, MemoryError) as error:
            _end(command, error)


class Stopped(KeyboardInterrupt):
    """A signal that asks the process to end."""

    def __init__(self, signal: signal.Signals) -> None:
        super().__init__(signal.name)
        self.signal = signal


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
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


def _end(command: str, error: BaseException) -> NoReturn:
    """Say in one line what is wrong, and end the command."""
    complaint = " ".join(str(error).split()) or type(error).__name__
    owner = f"duramen {command}: "
    _complain(complaint if complaint.startswith(owner) else owner + complaint)
    raise typer.Exit(USER_ERROR) from None


@contextmanager
def user_errors(command: str) -> Iterator[None]:
    """Turn what the library says about a user's input into one line and exit code 2.

    Only for steps that take the input in: anywhere else such an exception is a fault of ours, and
    its traceback is wanted.
    """
    try:
        yield
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        if isinstance(error, ImportError) and error.name is not None:
            raise  # of a module of ours; words on an extra that is not there have no name
        _end(command, error)


@contextmanager
def warnings_as_notes(quiet: bool) -> Iterator[None]:
    """Show the warnings of the library as plain lines on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    if not quiet:
        for warning in caught:
            note(str(warning.message))


def note(text: str) -> None:
    """Show what the user had better know on standard error."""
    _complain(f"note: {' '.join(text.split())}")


def standard_error() -> Console:
    """Return a console on the present standard error."""
    return Console(stderr=True)


def _complain(line: str) -> None:
    from duramen.results.text import printable

    standard_error().print(Text(printable(line, _LONGEST)), soft_wrap=True)
