"""Execution of an analysis: seed, threads, checkpoint, messages, times, and its end by Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from glob import escape
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Self, TypeVar

from duramen.jobs.progress import titled
from duramen.jobs.workers import check_client
from duramen.reports.report import Report, Run
from duramen.support import checks
from duramen.support.checks import gathered_warnings
from duramen.support.files import expanded
from duramen.support.provenance import versions

T = TypeVar("T")
_LONGEST = 60  # characters of a value in the record of a call


@dataclass
class Execution:
    """Seed, threads, progress and messages of an analysis.

    The command line makes one, with its own ways to show messages; `of` adds the arguments of a
    call to it, or to one that shows nothing.
    """

    command: str = ""  # call or command line, for the record
    show: Callable[[str], None] | None = None  # shows a remark
    announce: Callable[[str], None] | None = None  # shows how long work will take
    obey: Callable[[KeyboardInterrupt], None] = lambda stop: None  # a stop that ended the work
    finish: Callable[[Path, Report], None] | None = None  # writes results into a store
    before_step: Callable[[], None] = lambda: None
    again: str = "the same call"  # which resumes a stopped run
    seconds: dict[str, float] = field(default_factory=dict)  # of each step
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0  # above 0: progress bars
    checkpoint: Path | None = None
    client: Any = None  # of a Dask cluster, for work that is repeated
    resources: Mapping[str, Any] = field(default_factory=dict)  # the five above, as arguments
    remarks: list[str] = field(default_factory=list)  # remarks, for the report
    left_out: list[str] = field(default_factory=list)  # results that are not computed, and why
    stop: KeyboardInterrupt | None = None  # which ended the work before all was computed
    unfinished: list[str] = field(default_factory=list)  # parts that it has left out

    @classmethod
    def of(cls, function: Callable[..., Any], arguments: Mapping[str, Any]) -> Self:
        """Return the execution of a call of an analysis.

        Raises
        ------
        ValueError, TypeError
            If an argument is not as :func:`duramen.rank` describes.
        """
        name, get = function.__name__, arguments.get
        caller: Any = CALLER.get()
        if caller is None:  # a call in Python, which is recorded without what has its default
            words = []
            for key, parameter in signature(function).parameters.items():
                value, default = arguments[key], parameter.default
                if key == "data" or (key == "y" and not isinstance(value, str | None)):
                    words.append(key)
                    continue
                plain = isinstance(value, str | int | float)
                if value is default or (plain and value == default):
                    continue
                passed = {key: value}
                if parameter.kind is Parameter.VAR_KEYWORD:
                    passed = dict(value)
                for word, one in passed.items():
                    text = " ".join(repr(one).split())
                    words.append(f"{word}={text if len(text) <= _LONGEST else '...'}")
            caller = cls(f"dm.{name}({', '.join(words)})")
        checks.check_jobs(name, get("n_jobs"))
        if get("client") is not None:
            check_client(name, get("client"))
        checkpoint, seed = get("checkpoint"), None
        if "random_state" in arguments:
            seed = checks.check_seed(name, arguments["random_state"])
        if checkpoint is not None:
            checkpoint = expanded(checkpoint, name)
        verbose = checks.check_verbosity(name, get("verbose", 0))
        resources = {"random_state": seed, "n_jobs": get("n_jobs"), "client": get("client")}
        resources |= {"checkpoint": checkpoint, "verbose": verbose}
        made: Self = replace(caller, resources=resources, **resources)
        return made

    def record(self, facts: Mapping[str, Any], **more: Any) -> Run:
        """Return the record of the run, with `facts` about the data."""
        return Run(
            **{"versions": versions("pyarrow", "matplotlib"), **facts},
            command=self.command,
            seed=self.random_state,
            timings=dict(self.seconds),
            **more,
        )

    # --- messages --------------------------------------------------------------------------

    def tell(self, *remarks: str) -> None:
        """Show remarks, each once."""
        for text in dict.fromkeys(remarks):
            if text not in self.remarks:
                self.remarks.append(text)
                if self.show is not None:
                    self.show(text)

    def leave_out(self, *reasons: str) -> None:
        """Show why results are not computed, and keep it."""
        self.tell(*reasons)
        self.left_out += reasons

    @contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Show warnings of the library as remarks."""
        with gathered_warnings() as gathered:
            yield
        self.tell(*map(str, gathered))

    # --- steps -----------------------------------------------------------------------------

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a step, whose name is the title of progress bars."""
        self.before_step()
        start = time.perf_counter()
        with titled(name.replace("_", "-")):
            yield
        took = self.seconds.get(name, 0.0) + time.perf_counter() - start
        self.seconds[name] = round(took, 4)

    @contextmanager
    def keeping(self, checkpoint: Path | None) -> Iterator[None]:
        """Show the files with the finished work if a stop ends a step.

        They are the checkpoint and those with a word added to its name.
        """
        try:
            yield
        except KeyboardInterrupt:
            if checkpoint is not None:
                beside = f"{escape(checkpoint.stem)}-*{escape(checkpoint.suffix)}"
                files = [checkpoint, *sorted(checkpoint.parent.glob(beside))]
                if names := [file.name for file in files if file.is_file()]:
                    shown = ", ".join(names[:3])
                    self.tell(f"{shown} holds the work done so far; {self.again} resumes from it")
            raise

    @contextmanager
    def work(self, name: str) -> Iterator[None]:
        """Time the main step, show its warnings as remarks, and name its checkpoint at a stop."""
        with self.keeping(self.checkpoint), self.step(name), self.warnings_as_notes():
            yield

    def run(
        self,
        part: str,
        compute: Callable[[], T],
        *,
        timed: str,
        checkpoint: Path | None = None,
    ) -> T | None:
        """Return the part that a step computes; None if a stop has left it out.

        Parameters
        ----------
        part : str
            Name of the part in the note on what a stop has left out.
        compute : callable
            Computes the part.
        timed : str
            Name of the step in the record of times.
        checkpoint : path, optional
            File that keeps the work of the step, which is told where a stop ends it.
        """
        if self.stop is None:
            try:
                with self.keeping(checkpoint), self.step(timed):
                    return compute()
            except KeyboardInterrupt as stop:
                self.end(stop)
        self.unfinished.append(part)
        return None

    def end(self, stop: KeyboardInterrupt, *unfinished: str) -> None:
        """Skip all further steps; the parts that a step has not finished are named."""
        self.obey(stop)
        self.stop = stop
        self.unfinished += unfinished


CALLER: ContextVar[Execution | None] = ContextVar("CALLER", default=None)
"""Command line that calls the analysis; None for a call in Python."""


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


class AnalysisInterrupted(KeyboardInterrupt):
    """Ctrl-C during an analysis of which a part is done.

    Attributes
    ----------
    report : Report
        Results so far; its notes say what is left out.
    stop : KeyboardInterrupt or None
        The stop, such as Ctrl-C, that ended the work.
    """

    def __init__(self, report: Report, stop: KeyboardInterrupt | None = None) -> None:
        super().__init__(
            "interrupted; the attribute report of this exception has the finished part"
        )
        self.report = report
        self.stop = stop
