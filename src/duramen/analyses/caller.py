"""Caller of an analysis: a call in Python, or the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from duramen.analyses.execution import Clock, Execution, nothing
from duramen.jobs.workers import check_client
from duramen.reports import Report
from duramen.support import checks
from duramen.support.files import expanded

_LONGEST = 60  # characters of a value in the record of a call


@dataclass(frozen=True)
class Caller:
    """Caller of an analysis: its command, the clock of its steps, and where remarks are shown."""

    command: str
    clock: Clock = field(default_factory=Clock)
    tell: Callable[[str], None] | None = None
    announce: Callable[[str], None] | None = None  # shows how long work will take
    obey: Callable[[KeyboardInterrupt], None] = nothing  # told of a stop that ended the work
    finish: Callable[[Path, Report], None] | None = None  # writes results into a store
    again: str = "the same call"  # which resumes a stopped run

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

        checks.check_jobs(function, n_jobs)
        if client is not None:
            check_client(function, client)
        return Execution(
            random_state=checks.check_seed(function, random_state),
            n_jobs=n_jobs,
            verbose=checks.check_verbosity(function, verbose),
            checkpoint=None if checkpoint is None else expanded(checkpoint, function),
            client=client,
            tell=tell,
            told=told,
            announce=self.announce,
            obey=self.obey,
            again=self.again,
            clock=self.clock,
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


def call_words(function: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    """Return the call of a function as text, without what has its default."""
    words = []
    for name, parameter in signature(function).parameters.items():
        value, default = arguments[name], parameter.default
        if parameter.kind is Parameter.VAR_KEYWORD:
            words += [f"{key}={_shown(one)}" for key, one in value.items()]
        elif name == "data" or (name == "y" and not isinstance(value, str | None)):
            words.append(name)
        elif value is not default and not (
            isinstance(value, str | int | float) and value == default
        ):
            words.append(f"{name}={_shown(value)}")
    return f"dm.{function.__name__}({', '.join(words)})"


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else "..."


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
