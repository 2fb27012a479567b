"""Many independent jobs: in parallel, resumable, the same bytes for any threads or cluster.

A method is a *task*, the computation of job number b, and a reading of all the results. The engine
here runs the task, on any workers but always read in the order of the jobs, keeps what is done on
disk, and stops early where the method says that it is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from duramen.data.memory import require_memory
from duramen.jobs.kept import Arrays, Kept, Records, Results, Rows
from duramen.jobs.progress import stepwise_bar
from duramen.jobs.workers import Cluster, Threads, Workers, check_client
from duramen.results.checkpoint import Checkpoint, identity_of
from duramen.support import checks
from duramen.support.arrays import FloatArray

Task = Callable[..., FloatArray]
Decided = Callable[[FloatArray], bool]
Ready = Callable[[FloatArray], int]
Arguments = Callable[[int], tuple[Any, ...]]
ResultT = TypeVar("ResultT")
AllT = TypeVar("AllT")

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
    decided: Decided | None = None,
    ready: Ready | None = None,
    arguments: Arguments | None = None,
    unit: str = "forest",
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
    decided : callable, optional
        Called with all the replicates so far, in order, after each of them; True stops the run.
    ready : callable, optional
        Where the next replicates depend on what the last ones gave: called with all the replicates
        so far, returns how many, from 0 and at most B, can be computed without knowing more. Once
        these are done it is called again; the run ends where it returns no more than there are.
    arguments : callable, optional
        Where a task depends on what `ready` was told: ``arguments(b)``, called in this process,
        returns what the task takes after the seed.
    unit : str
        What a replicate is, for the progress bar.

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
    whole = identity_of(identity, seed=seed, width=width)
    return _run(
        task,
        n_replicates,
        results,
        Checkpoint(plan.checkpoint, results.kind, whole, function, _INTERVAL),
        seed=seed,
        plan=plan,
        function=function,
        decided=decided,
        ready=ready,
        arguments=arguments,
        unit=unit,
    )


def run_jobs(
    task: Callable[..., Mapping[str, NDArray[Any]]],
    n_jobs: int,
    *,
    seed: int,
    identity: Mapping[str, Any],
    plan: Plan,
    function: str,
    decided: Callable[[list[Arrays]], bool] | None = None,
    ready: Callable[[list[Arrays]], int] | None = None,
    arguments: Arguments | None = None,
    unit: str = "job",
    beside: Callable[[], str] | None = None,
    interrupted: Callable[[list[Arrays]], object] | None = None,
) -> list[Arrays]:
    """Run a task whose results are named arrays, such as one for each target of a network.

    Parameters
    ----------
    task : callable
        ``task(b, seed_b)`` returns the arrays of job b: the same names, types and numbers of
        dimensions for every job, of any shapes.
    n_jobs : int
        Number of jobs, or the largest number where `decided` or `ready` ends the run.
    seed, identity, plan, function, decided, ready, arguments, unit
        As for :func:`run_replicates`.
    beside : callable, optional
        Returns words that stand beside the progress bar after a job.
    interrupted : callable, optional
        Called with the results of the first jobs, as many as are done, where Ctrl-C ends the run.

    Returns
    -------
    list of dict of arrays
        One for each job, in order.

    Raises
    ------
    ValueError
        If the checkpoint belongs to another run, its folder does not exist, or jobs return arrays
        of different names, types or dimensions.
    """
    results = Records(n_jobs)
    checkpoint = Checkpoint(
        plan.checkpoint, results.kind, identity_of(identity, seed=seed), function, _INTERVAL
    )
    try:
        return _run(
            task,
            n_jobs,
            results,
            checkpoint,
            seed=seed,
            plan=plan,
            function=function,
            decided=decided,
            ready=ready,
            arguments=arguments,
            unit=unit,
            beside=beside,
        )
    except KeyboardInterrupt:
        if interrupted is not None:
            interrupted(results.first(len(results)))
        raise


def _run(
    task: Callable[..., ResultT],
    n_jobs: int,
    results: Results[ResultT, AllT],
    checkpoint: Checkpoint,
    *,
    seed: int,
    plan: Plan,
    function: str,
    decided: Callable[[AllT], bool] | None = None,
    ready: Callable[[AllT], int] | None = None,
    arguments: Arguments | None = None,
    unit: str,
    beside: Callable[[], str] | None = None,
) -> AllT:
    """Run the jobs that a checkpoint does not hold, until all are done or it is decided."""

    def job(b: int) -> tuple[Any, ...]:
        return b, replicate_seed(seed, b), *(arguments(b) if arguments else ())

    with checkpoint.held():
        kept = Kept(checkpoint, results)
        for done in range(1, len(results) + 1):
            if decided is not None and decided(results.first(done)):
                return results.first(done)
        if len(results) == n_jobs:
            return results.first(n_jobs)
        with (
            stepwise_bar(
                n_jobs, function, unit, plan.verbose, done=len(results), beside=beside
            ) as advance,
            plan.workers.running(task) as run,
        ):
            try:
                while True:
                    done = len(results)
                    until = n_jobs if ready is None else ready(results.first(done))
                    for result in run(map(job, range(done, until))):
                        results.add(result)
                        ended = decided is not None and decided(results.first(len(results)))
                        advance()
                        if ended:
                            return results.first(len(results))
                        kept.write_now_and_then()
                    if until <= done:
                        return results.first(done)
            finally:  # at the end, and when interrupted
                kept.write()
