"""Jobs that depend on the results of earlier ones, given by a generator."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Generic, TypeVar

from duramen.support.arrays import FloatArray

OutcomeT = TypeVar("OutcomeT")
Batch = Sequence[tuple[Any, ...]]
Steps = Generator[Batch, FloatArray, OutcomeT]
"""Yields the arguments of jobs, is sent a row of numbers a job, and returns the outcome."""


class Batches(Generic[OutcomeT]):
    """Arguments `ready` and `arguments` of `run_replicates` for the jobs of a generator.

    Parameters
    ----------
    steps : generator
        Yields the arguments of the jobs that can be done without knowing more than the results
        before, a tuple a job, and is sent their results; what it returns is the outcome.
    """

    def __init__(self, steps: Steps[OutcomeT]) -> None:
        self._steps = steps
        self._jobs: Batch | None = next(steps, None)
        self._taken = 0
        self.outcome: OutcomeT | None = None

    def ready(self, results: FloatArray) -> int:
        """Return how many jobs can be done without knowing more than these results."""
        while self._jobs is not None:
            until = self._taken + len(self._jobs)
            if len(results) < until:
                return until
            rows, self._taken = results[self._taken : until], until
            try:
                self._jobs = self._steps.send(rows)
            except StopIteration as end:
                self._jobs, self.outcome = None, end.value
        return self._taken

    def arguments(self, number: int) -> tuple[Any, ...]:
        """Return the arguments of a job that can be done."""
        jobs: Batch = self._jobs or ()
        return jobs[number - self._taken]
