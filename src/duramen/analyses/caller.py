"""Caller of an analysis: a call in Python, or the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from duramen.analyses.execution import Clock
from duramen.analyses.inputs import call_words


@dataclass(frozen=True)
class Caller:
    """Words that called an analysis, the clock of its steps, and how remarks are shown."""

    command: str
    clock: Clock = field(default_factory=Clock)
    tell: Callable[[str], None] | None = None
    verbose: int = 0

    def notes(self, lines: Iterable[str]) -> None:
        """Show remarks as soon as they are known, if the caller does."""
        if self.tell is not None:
            for line in lines:
                self.tell(line)


CALLER: ContextVar[Caller | None] = ContextVar("CALLER", default=None)
"""Command line that calls the analysis; None for a call in Python."""


def calling(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Caller:
    """Return the caller of an analysis: the command line, or the call with its arguments."""
    return CALLER.get() or Caller(call_words(function, arguments))


@contextmanager
def faults_of_ours() -> Iterator[None]:
    """Mark errors that are no fault of the user: they keep their traceback on the command line.

    Raises
    ------
    RuntimeError
        In place of any error that would be taken for one of the user's input.
    """
    try:
        yield
    except (ValueError, TypeError, ImportError) as error:
        raise RuntimeError(f"fault of duramen, please report it: {error}") from error
