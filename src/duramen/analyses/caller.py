"""Caller of an analysis: a call in Python, or the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from duramen.analyses.execution import Clock
from duramen.analyses.inputs import call_words


@dataclass(frozen=True)
class Caller:
    """Words that called an analysis, and the clock of its steps."""

    command: str
    clock: Clock = field(default_factory=Clock)


CALLER: ContextVar[Caller | None] = ContextVar("CALLER", default=None)
"""Command line that calls the analysis; None for a call in Python."""


def calling(function: Callable[..., Any], arguments: Mapping[str, Any]) -> tuple[str, Clock]:
    """Return the call of an analysis as text for its record, and a clock for its steps."""
    caller = CALLER.get()
    if caller is None:
        return call_words(function, arguments), Clock()
    return caller.command, caller.clock


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
