"""Caller of an analysis: a call in Python, or the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from duramen.analyses.execution import Clock, Execution, nothing
from duramen.analyses.inputs import call_words, execution_of
from duramen.reports import Report


@dataclass(frozen=True)
class Caller:
    """Words that called an analysis, the clock of its steps, and how remarks are shown."""

    command: str
    clock: Clock = field(default_factory=Clock)
    tell: Callable[[str], None] | None = None
    announce: Callable[[str], None] | None = None  # shows how long work will take
    obey: Callable[[KeyboardInterrupt], None] = nothing  # told of a stop that ended the work
    finish: Callable[[Path, Report], None] | None = None  # writes results into a store

    def execution(
        self,
        function: str,
        *,
        random_state: Any = 0,
        n_jobs: int | None = None,
        client: Any = None,
        checkpoint: Any = None,
        verbose: int = 0,
    ) -> Execution:
        """Check how an analysis is to be executed; what is told is shown, and kept in `told`.

        Raises
        ------
        ValueError, TypeError
            If an argument is not as :func:`duramen.rank` describes.
        """
        told: list[str] = []

        def tell(text: str) -> None:
            if text not in told:
                told.append(text)
                self.notes([text])

        made = execution_of(
            function,
            told,
            random_state=random_state,
            n_jobs=n_jobs,
            client=client,
            checkpoint=checkpoint,
            verbose=verbose,
        )
        return replace(
            made, tell=tell, told=told, announce=self.announce, obey=self.obey, clock=self.clock
        )

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
