"""What a command says, and how it ends."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.text import Text

from duramen.cli import INTERRUPTED

USER_ERROR = 2


@contextmanager
def ending_well(command: str) -> Iterator[None]:
    """End the command with code 130 and a short word when it is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        _complain(f"duramen {command}: interrupted, nothing was written")
        raise typer.Exit(INTERRUPTED) from None


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
        complaint = " ".join(str(error).split()) or type(error).__name__
        owner = f"duramen {command}: "
        _complain(complaint if complaint.startswith(owner) else owner + complaint)
        raise typer.Exit(USER_ERROR) from None


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
    standard_error().print(Text(line), soft_wrap=True)
