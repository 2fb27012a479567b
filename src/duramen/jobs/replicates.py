"""Many independent jobs: in parallel, resumable, the same bytes for any threads or cluster.

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
from typing import Any, Generic, Self, TypeVar
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from duramen.data.memory import require_memory
from duramen.jobs.progress import stepwise_bar
from duramen.jobs.workers import Cluster, Threads, Workers, check_client
from duramen.results.archive import Checkpoint, identity_of
from duramen.support import checks
from duramen.support.arrays import Arrays, FloatArray


class Rows:
    """Results of the same number of float64 values each.

    Parameters
    ----------
    n_jobs : int
        Number of jobs at most.
    width : int
        Values of a job.
    """

    kind = "replicates"

    def __init__(self, n_jobs: int, width: int) -> None:
        self._values = np.empty((n_jobs, width))
        self._done = 0

    def __len__(self) -> int:
        return self._done

    def add(self, result: FloatArray) -> None:
        """Append the values of the next job."""
        self._values[self._done] = result
        self._done += 1

    def first(self, count: int) -> FloatArray:
        """Return a view of the values of the first jobs, of shape (count, width)."""
        return self._values[:count]

    def to_arrays(self) -> Arrays:
        """Return all values as one array."""
        return {"values": self.first(self._done)}

    def take(self, arrays: Arrays) -> int:
        """Start from the values in a checkpoint, as far as there are jobs for them."""
        values = arrays["values"]
        if values.shape[1:] != self._values.shape[1:] or values.dtype != self._values.dtype:
            raise ValueError("it holds replicates of another shape")
        self._done = min(len(values), len(self._values))
        self._values[: self._done] = values[: self._done]
        return len(values)


class Records:
    """Results of named arrays: the same names, types and dimensions for every job, any shapes."""

    kind = "jobs"

    def __init__(self, n_jobs: int) -> None:
        self._most = n_jobs
        self._done: list[Arrays] = []

    def __len__(self) -> int:
        return len(self._done)

    def add(self, result: Mapping[str, NDArray[Any]]) -> None:
        """Append the arrays of the next job, of the names, types and dimensions of the first."""
        self._done.append({name: np.asarray(result[name]) for name in sorted(result)})

    def first(self, count: int) -> list[Arrays]:
        """Return the arrays of the first jobs; without a copy of the list where these are all."""
        return self._done if count == len(self._done) else self._done[:count]

    def to_arrays(self) -> Arrays:
        """Return the values of each name end to end, and their shapes."""
        joined: Arrays = {}
        for name in self._done[0]:
            parts = [arrays[name] for arrays in self._done]
            joined[f"{name}.values"] = np.concatenate([part.ravel() for part in parts])
            shapes = np.array([part.shape for part in parts], dtype=np.int64)
            joined[f"{name}.shapes"] = shapes.reshape(len(parts), -1)
        return joined

    def take(self, arrays: Arrays) -> int:
        """Start from the arrays in a checkpoint, as far as there are jobs for them."""
        parts = {}
        for name in sorted(key.removesuffix(".shapes") for key in arrays if key.endswith("shapes")):
            shapes = arrays[f"{name}.shapes"]
            ends = np.cumsum(shapes.prod(axis=1, dtype=np.int64))[:-1]
            split = np.split(arrays[f"{name}.values"], ends)
            parts[name] = [part.reshape(shape) for part, shape in zip(split, shapes, strict=True)]
        done = [dict(zip(parts, job, strict=True)) for job in zip(*parts.values(), strict=True)]
        self._done = done[: self._most]
        return len(done)


Task = Callable[..., FloatArray]


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
        n_jobs: Any,
        checkpoint: str | PathLike[str] | None = None,
        verbose: Any = 0,
        client: Any = None,
    ) -> Self:
        """Check what the user said; `function` is the one that was called, for errors."""
        n_threads = checks.check_jobs(function, n_jobs)
        verbose = checks.check_verbosity(function, verbose)
        cluster = None if client is None else check_client(function, client)
        return cls(n_threads, checkpoint, verbose, cluster)

    @property
    def workers(self) -> Workers:
        """Cluster if there is one, else threads."""
        return self.cluster or Threads(self.n_threads)

    @property
    def threads_within(self) -> int:
        """Threads that a job may take where jobs run one after the other in this process."""
        return 1 if self.cluster else self.n_threads


@dataclass(frozen=True)
class ExecutionParameters:
    """Parameters of execution as the user gave them, the same in every test that refits forests.

    No number of a result depends on them, apart from the seed.
    """

    random_state: Any = None  # int, RandomState, Generator or None
    n_jobs: int | None = None
    client: Any = None  # dask.distributed.Client
    checkpoint: str | PathLike[str] | None = None
    verbose: int = 0

    def plan(self, function: str) -> Plan:
        """Check all but the seed; `function` is the one that was called, for errors."""
        return Plan.checked(function, self.n_jobs, self.checkpoint, self.verbose, self.client)

    def seed(self) -> int:
        """Draw the seed of the run."""
        return checks.draw_seed(self.random_state)


# The replicate whose seed the forest on the data as they are takes.
OBSERVED = 2**32 - 1


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
    task: Task,
    n_replicates: int,
    width: int,
    *,
    seed: int,
    identity: Mapping[str, Any],
    plan: Plan,
    function: str,
    **steering: Any,
) -> FloatArray:
    """Run a task for replicate 0, 1, 2 ... and return what each gave.

    Parameters
    ----------
    task : callable
        ``task(b, seed_b)`` returns the float64 array of shape (width,) of replicate b. It may be
        called from several threads at a time, or on a copy of all it refers to in another process.
    n_replicates : int
        Number B of replicates.
    width : int
        Numbers that a replicate gives.
    seed : int
        Seed of the run; ``seed_b`` follows from it and b (:func:`replicate_seed`).
    identity : mapping
        What the run depends on beside the seed, as far as JSON can hold it: settings, fingerprint
        of the data, the method. A checkpoint with another identity is refused.
    plan : Plan
        Workers, checkpoint, progress.
    function : str
        The function that the user called, for errors and the progress bar.
    **steering
        `decided`, `ready`, `arguments`, `unit` and `beside` of :func:`run_jobs`; the first two take
        the replicates as an array of shape (b, width).

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
    require_memory(
        8 * n_replicates * width,
        what=f"{n_replicates} replicates of {width} numbers",
        function=function,
        hint="ask for fewer replicates",
    )
    results = Rows(n_replicates, width)
    checkpoint = None
    if plan.checkpoint is not None:
        whole = identity_of(identity, seed=seed, width=width)
        checkpoint = Checkpoint(plan.checkpoint, results.kind, whole, function, _INTERVAL)
    steering.setdefault("unit", "forest")
    done = _run(task, n_replicates, results, checkpoint, seed, plan, function, **steering)
    return results.first(done)


def run_jobs(
    task: Callable[..., Mapping[str, NDArray[Any]]],
    n_jobs: int,
    *,
    seed: int,
    identity: Mapping[str, Any],
    plan: Plan,
    function: str,
    interrupted: Callable[[list[Arrays]], object] | None = None,
    **steering: Any,
) -> list[Arrays]:
    """Run a task whose results are named arrays, such as one for each target of a network.

    Parameters
    ----------
    task : callable
        ``task(b, seed_b)`` returns the arrays of job b: the same names, types and numbers of
        dimensions for every job, of any shapes.
    n_jobs : int
        Number of jobs, or the largest number where `decided` or `ready` ends the run.
    seed, identity, plan, function
        As for :func:`run_replicates`.
    interrupted : callable, optional
        Called with the results of the first jobs, as many as are done, where Ctrl-C ends the run.
    **steering
        Functions that end the run early, or prepare jobs that depend on earlier results:

        decided : called with all the results so far, in order, after each of them; True stops
            the run.
        ready : called with all the results so far; returns how many jobs, from 0 and at most all,
            can be computed without knowing more. Once these are done it is called again; the run
            ends where it returns no more than there are.
        arguments : ``arguments(b)``, called in this process, returns what the task takes after
            the seed.
        unit : name of a job in the progress bar.
        beside : returns words that stand beside the progress bar after a job.

    Returns
    -------
    list of dict of arrays
        One for each job, in order.

    Raises
    ------
    ValueError
        If the checkpoint belongs to another run, or its folder does not exist.
    """
    results = Records(n_jobs)
    checkpoint = None
    if plan.checkpoint is not None:
        whole = identity_of(identity, seed=seed)
        checkpoint = Checkpoint(plan.checkpoint, results.kind, whole, function, _INTERVAL)
    try:
        done = _run(task, n_jobs, results, checkpoint, seed, plan, function, **steering)
    except KeyboardInterrupt:
        if interrupted is not None:
            interrupted(results.first(len(results)))
        raise
    return results.first(done)


def _run(
    task: Callable[..., Any],
    n_jobs: int,
    results: Rows | Records,
    checkpoint: Checkpoint | None,
    seed: int,
    plan: Plan,
    function: str,
    *,
    decided: Callable[[Any], bool] | None = None,
    ready: Callable[[Any], int] | None = None,
    arguments: Callable[[int], tuple[Any, ...]] | None = None,
    unit: str = "job",
    beside: Callable[[], str] | None = None,
) -> int:
    """Run the jobs that a checkpoint does not hold; return how many results count."""

    def job(b: int) -> tuple[Any, ...]:
        return b, replicate_seed(seed, b), *(arguments(b) if arguments else ())

    with checkpoint.held() if checkpoint else nullcontext():
        written = checkpoint.read(results.take) if checkpoint else 0
        for done in range(1, len(results) + 1):
            if decided is not None and decided(results.first(done)):
                return done
        if len(results) == n_jobs:
            return n_jobs
        bar = stepwise_bar(n_jobs, function, unit, plan.verbose, done=len(results), beside=beside)
        with bar as advance, plan.workers.running(task) as run:
            try:
                while True:
                    done = len(results)
                    until = n_jobs if ready is None else ready(results.first(done))
                    for result in run(map(job, range(done, until))):
                        results.add(result)
                        ended = decided is not None and decided(results.first(len(results)))
                        advance()
                        if ended:
                            return len(results)
                        if checkpoint and time.monotonic() >= checkpoint.due:
                            checkpoint.write(results.to_arrays())
                            written = len(results)
                    if until <= done:
                        return done
            finally:  # at the end, and when interrupted
                if checkpoint and len(results) > written:
                    checkpoint.write(results.to_arrays())


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
        """Return how many jobs can be done without knowing more than these results."""
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
