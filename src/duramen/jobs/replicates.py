"""Independent jobs in parallel: resumable, with the same bytes on any threads or cluster.

A method is a *task*, the computation of job number b, and a reading of all the results. The engine
here runs the task, on any workers but always read in the order of the jobs, keeps what is done on
disk, and stops early where the method says that it is decided.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, cast
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from duramen.data.memory import require_memory
from duramen.jobs.progress import progress_bar
from duramen.jobs.workers import Cluster, check_client, running
from duramen.results.archive import Checkpoint, identity_of
from duramen.support import checks
from duramen.support.arrays import Arrays, FloatArray

Task = Callable[..., FloatArray]

OBSERVED = 2**32 - 1
"""Replicate whose seed the forest on the data as they are takes."""

_INTERVAL = 5.0  # seconds between two writes of a checkpoint


@dataclass(frozen=True)
class Plan:
    """Settings of a run of jobs, the same in every function that repeats work.

    Attributes
    ----------
    n_threads : int
        Jobs that are computed at a time. The result does not depend on it.
    checkpoint : path or None
        File to keep what is done in. Where it exists and is of the same run, the run goes on.
    verbose : int
        Above 0: a progress bar with the time left.
    cluster : Cluster or None
        Workers that run the jobs in place of threads.
    """

    n_threads: int = 1
    checkpoint: str | PathLike[str] | None = None
    verbose: int = 0
    cluster: Cluster | None = None

    @classmethod
    def checked(
        cls,
        function: str,
        /,
        n_jobs: Any,
        checkpoint: str | PathLike[str] | None = None,
        verbose: Any = 0,
        client: Any = None,
        **fields: Any,
    ) -> Self:
        """Check the arguments of a function; `fields` are passed on to a subclass."""
        n_threads = checks.check_jobs(function, n_jobs)
        verbose = checks.check_verbosity(function, verbose)
        cluster = None if client is None else check_client(function, client)
        return cls(n_threads, checkpoint, verbose, cluster, **fields)

    @property
    def threads_within(self) -> int:
        """Threads that a job may take where jobs run one after the other in this process."""
        return 1 if self.cluster else self.n_threads


def checkpoint_beside(checkpoint: Path | None, word: str) -> Path | None:
    """Return another checkpoint: the word, as in a URL, is added to the name of the file."""
    if checkpoint is None:
        return None
    return checkpoint.with_name(f"{checkpoint.stem}-{quote(word, safe=' ')}{checkpoint.suffix}")


def replicate_seed(seed: int, number: int) -> int:
    """Return the seed of a replicate, in 0..2**64-1; it depends on both numbers alone."""
    state = np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(1, np.uint64)
    return int(state[0])


def run_replicates(
    task: Callable[..., Any],
    n_replicates: int,
    width: int | None,
    *,
    seed: int,
    identity: Mapping[str, Any],
    plan: Plan,
    function: str,
    decided: Callable[[Any], bool] | None = None,
    ready: Callable[[Any], int] | None = None,
    arguments: Callable[[int], tuple[Any, ...]] | None = None,
    interrupted: Callable[[Any], object] | None = None,
    unit: str = "forest",
) -> FloatArray:
    """Run a task for replicates 0, 1, 2, ... and return their results.

    Parameters
    ----------
    task : callable
        ``task(b, seed_b)`` returns the float64 array of shape (width,) of replicate b. It may be
        called from several threads at a time, or on a copy of all it refers to in another process.
    n_replicates : int
        Number B of replicates, or the largest number where `decided` or `ready` ends the run.
    width : int or None
        Numbers that a replicate gives; None for named arrays (:func:`run_jobs`).
    seed : int
        Seed of the run; ``seed_b`` follows from it and b (:func:`replicate_seed`).
    identity : mapping
        What the run depends on beside the seed, as far as JSON can hold it: settings, fingerprint
        of the data, the method. A checkpoint with another identity is refused.
    plan : Plan
        Workers, checkpoint, progress.
    function : str
        The function that the user called, for errors and the progress bar.
    decided : callable, optional
        Called with all the results so far, an array of shape (b, width), after each of them; True
        stops the run.
    ready : callable, optional
        Called with all the results so far; returns how many replicates, from 0 and at most all, can
        be computed without knowing more. Once these are done it is called again; the run ends where
        it returns no more than there are.
    arguments : callable, optional
        ``arguments(b)``, called in this process, returns what the task takes after the seed.
    interrupted : callable, optional
        Called with the results so far where Ctrl-C ends the run.
    unit : str
        Name of a replicate in the progress bar.

    Returns
    -------
    float64 array of shape (b, width)
        b = B, or fewer where the run was decided, or nothing more was ready.

    Raises
    ------
    ValueError
        If the checkpoint belongs to another run, or its folder does not exist.
    MemoryError
        If the replicates would not fit in memory.
    """
    kind, shape = "jobs", dict[str, int]()
    results: Any = []
    if width is not None:
        require_memory(
            8 * n_replicates * width,
            what=f"{n_replicates} replicates of {width} numbers",
            function=function,
            hint="ask for fewer replicates",
        )
        kind, shape, results = "replicates", {"width": width}, np.empty((n_replicates, width))
    checkpoint = None
    if plan.checkpoint is not None:
        whole = identity_of(identity, seed=seed, **shape)
        checkpoint = Checkpoint(plan.checkpoint, kind, whole, function, _INTERVAL)
    done = 0

    def resume(arrays: Arrays) -> int:
        nonlocal done
        rows: Any = _unpacked(arrays) if width is None else arrays["values"]
        if width is not None and (rows.shape[1:] != (width,) or rows.dtype != np.float64):
            raise ValueError("it holds replicates of another shape")
        done = min(len(rows), n_replicates)
        results[:done] = rows[:done]
        return len(rows)

    def keep(file: Checkpoint) -> None:
        file.write(_packed(results) if width is None else {"values": results[:done]})

    with checkpoint.held() if checkpoint else nullcontext():
        written = checkpoint.read(resume) if checkpoint else 0
        if decided is not None:
            for count in range(1, done + 1):
                if decided(results[:count]):
                    return cast("FloatArray", results[:count])
        if done == n_replicates:
            return cast("FloatArray", results)
        with (
            progress_bar(n_replicates, function, plan.verbose, unit, done=done) as report,
            running(task, plan.n_threads, plan.cluster) as run,
        ):
            try:
                while True:
                    begin, until = done, n_replicates
                    if ready is not None:
                        until = ready(results[:done])
                    jobs = (
                        (b, replicate_seed(seed, b), *(arguments(b) if arguments else ()))
                        for b in range(begin, until)
                    )
                    for result in run(jobs):
                        if width is None:
                            results.append(
                                {name: np.asarray(result[name]) for name in sorted(result)}
                            )
                        else:
                            results[done] = result
                        done += 1
                        # A list is not copied after each job.
                        ended = decided is not None and decided(
                            results if width is None else results[:done]
                        )
                        if report is not None:
                            report(done)
                        if ended:
                            return cast("FloatArray", results[:done])
                        if checkpoint and time.monotonic() >= checkpoint.due:
                            keep(checkpoint)
                            written = done
                    if until <= begin:
                        return cast("FloatArray", results[:done])
            except KeyboardInterrupt:
                if interrupted is not None:
                    interrupted(results[:done])
                raise
            finally:  # at the end, and when interrupted
                if checkpoint and done > written:
                    keep(checkpoint)


def run_jobs(
    task: Callable[..., Mapping[str, NDArray[Any]]],
    n_jobs: int,
    *,
    unit: str = "job",
    **options: Any,
) -> list[Arrays]:
    """Run a task whose results are named arrays, such as one for each target of a network.

    Parameters
    ----------
    task : callable
        ``task(b, seed_b)`` returns the arrays of job b: the same names, types and numbers of
        dimensions for every job, of any shapes.
    n_jobs : int
        Number of jobs at most.
    unit : str
        Name of a job in the progress bar.
    **options
        Further arguments of :func:`run_replicates`, whose functions take lists of results.

    Returns
    -------
    list of dict of arrays
        One for each job, in order.
    """
    return cast("list[Arrays]", run_replicates(task, n_jobs, None, unit=unit, **options))


def _packed(results: list[Arrays]) -> Arrays:
    """Return the values of each name end to end, and their shapes."""
    joined: Arrays = {}
    for name in results[0]:
        parts = [arrays[name] for arrays in results]
        joined[f"{name}.values"] = np.concatenate([part.ravel() for part in parts])
        shapes = np.array([part.shape for part in parts], dtype=np.int64)
        joined[f"{name}.shapes"] = shapes.reshape(len(parts), -1)
    return joined


def _unpacked(arrays: Arrays) -> list[Arrays]:
    """Return the named arrays of each job."""
    parts = {}
    for name in sorted(key.removesuffix(".shapes") for key in arrays if key.endswith("shapes")):
        shapes = arrays[f"{name}.shapes"]
        ends = np.cumsum(shapes.prod(axis=1, dtype=np.int64))[:-1]
        split = np.split(arrays[f"{name}.values"], ends)
        parts[name] = [part.reshape(shape) for part, shape in zip(split, shapes, strict=True)]
    return [dict(zip(parts, job, strict=True)) for job in zip(*parts.values(), strict=True)]


# --- jobs that depend on the results of earlier ones, given by a generator ------------------------

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
        """Return the number of jobs that these results allow to be started."""
        while self._jobs is not None and len(results) >= (until := self._taken + len(self._jobs)):
            rows, self._taken = results[self._taken : until], until
            try:
                self._jobs = self._steps.send(rows)
            except StopIteration as end:
                self._jobs, self.outcome = None, end.value
        return self._taken + len(self._jobs or ())

    def arguments(self, number: int) -> tuple[Any, ...]:
        """Return the arguments of a job that can be done."""
        return (self._jobs or ())[number - self._taken]
