"""Steps of an analysis: each gives a part of the results, and a stop keeps what is finished."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from duramen.analyses.execution import Execution, checkpoints

T = TypeVar("T")


class Steps:
    """Steps of an analysis, run one after the other.

    Attributes
    ----------
    left_out : list of str
        What is not computed, and why, a sentence each.
    stop : KeyboardInterrupt or None
        Stop, such as Ctrl-C, that ended the work before all was computed.
    """

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self.left_out: list[str] = []
        self.stop: KeyboardInterrupt | None = None
        self._unfinished: list[str] = []

    def run(
        self,
        part: str,
        compute: Callable[[], T],
        *,
        timed: str = "",
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
            Name of the step in the record of times; empty if `compute` times itself.
        checkpoint : path, optional
            File that keeps the work of the step, which is told where a stop ends it.
        """
        if self.stop is None:
            try:
                with ExitStack() as stack:
                    stack.enter_context(self.execution.keeping(lambda: checkpoints(checkpoint)))
                    if timed:
                        stack.enter_context(self.execution.clock.step(timed))
                    return compute()
            except KeyboardInterrupt as stop:
                self.end(stop)
        self._unfinished.append(part)
        return None

    def end(self, stop: KeyboardInterrupt, *unfinished: str) -> None:
        """Skip all further steps; the parts that a step has not finished are named."""
        self.execution.obey(stop)
        self.stop = stop
        self._unfinished += unfinished

    def leave_out(self, what: str) -> None:
        """Show a note on a result that is not computed, and keep it."""
        self.execution.tell(what)
        self.left_out.append(what)

    def finish(self) -> None:
        """Show which results a stop has left out."""
        if self.stop is not None:
            self.leave_out(f"interrupted; left out of the results: {', '.join(self._unfinished)}")
