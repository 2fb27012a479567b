"""Many forests on permuted or resampled data: in parallel, resumable, the same for any threads.

A method of this room is a *task*, what to compute in replicate number b, and a reading of what all
the replicates gave. The engine here runs the tasks, in any number of threads but always read in
their order, keeps what is done on disk, and stops early where the method says that it is decided.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from duramen.forests import parameters
from duramen.forests.progress import stepwise_bar
from duramen.results.checkpoint import Checkpoint, identity_of
from duramen.tables.memory import require_memory

FloatArray = NDArray[np.float64]
Task = Callable[[int, int], FloatArray]
Decided = Callable[[FloatArray], bool]
Ready = Callable[[FloatArray], int]

_KIND = "replicates"
_INTERVAL = 5.0  # seconds between two writes of a checkpoint


@dataclass(frozen=True)
class Plan:
    """How replicates are run; what the user may say about it in every method of this room.

    Attributes
    ----------
    n_threads : int
        Replicates that are computed at a time. The result does not depend on it.
    checkpoint : path or None
        File to keep what is done in. Where it exists and is of the same run, the run goes on.
    verbose : int
        Above 0: a progress bar with the time left.
    """

    n_threads: int = 1
    checkpoint: str | PathLike[str] | None = None
    verbose: int = 0

    @classmethod
    def checked(
        cls, function: str, n_jobs: Any, checkpoint: str | PathLike[str] | None, verbose: Any
    ) -> Self:
        """Check what the user said; `function` is the one that was called, for errors."""
        n_threads = parameters.check_jobs(function, n_jobs)
        return cls(n_threads, checkpoint, parameters.check_verbosity(function, verbose))


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
    unit: str = "forest",
) -> FloatArray:
    """Run a task for replicate 0, 1, 2 ... and return what each gave.

    Parameters
    ----------
    task : callable
        ``task(b, seed_b)`` returns the float64 array of shape (width,) of replicate b. It may be
        called from several threads at a time.
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
        Threads, checkpoint, progress.
    function : str
        The function that the user called, for errors and the progress bar.
    decided : callable, optional
        Called with all the replicates so far, in order, after each of them; True stops the run.
    ready : callable, optional
        Where the next replicates depend on what the last ones gave: called with all the replicates
        so far, returns how many, from 0 and at most B, can be computed without knowing more. Once
        these are done it is called again; the run ends where it returns no more than there are.
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
    whole = identity_of(identity, seed=seed, width=width)
    checkpoint = Checkpoint(plan.checkpoint, _KIND, whole, function, _INTERVAL)
    with checkpoint.held():
        store = _Kept(checkpoint)
        values = np.empty((n_replicates, width))
        done = store.read(values)
        if decided is not None:
            for b in range(1, done + 1):
                if decided(values[:b]):
                    return values[:b]
        with stepwise_bar(n_replicates, function, unit, plan.verbose, done=done) as advance:
            try:
                while (until := n_replicates if ready is None else ready(values[:done])) > done:
                    for result in _in_order(task, range(done, until), seed, plan.n_threads):
                        values[done] = result
                        done += 1
                        advance()
                        if decided is not None and decided(values[:done]):
                            return values[:done]
                        store.write_now_and_then(values[:done])
            finally:  # at the end, and when interrupted
                store.write(values[:done])
        return values[:done]


def _in_order(task: Task, numbers: range, seed: int, n_threads: int) -> Iterator[FloatArray]:
    """Yield what the tasks return, in the order of their numbers."""
    if n_threads == 1:
        for b in numbers:
            yield task(b, replicate_seed(seed, b))
        return
    ahead: deque[Future[FloatArray]] = deque()
    upcoming = iter(numbers)
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            while True:
                for b in islice(upcoming, 2 * n_threads - len(ahead)):
                    ahead.append(pool.submit(task, b, replicate_seed(seed, b)))
                if not ahead:
                    return
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()


class _Kept:
    """The replicates that are done, on disk."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._count = 0

    def read(self, values: FloatArray) -> int:
        """Fill in the replicates that are on disk; return how many."""
        arrays = self._checkpoint.read()
        if arrays is None:
            return 0
        found = arrays["values"]
        if found.shape[1:] != values.shape[1:] or found.dtype != values.dtype:
            raise ValueError("the checkpoint holds replicates of another shape; remove it")
        kept = found[: len(values)]
        values[: len(kept)] = kept
        self._count = len(arrays["values"])
        return len(kept)

    def write_now_and_then(self, values: FloatArray) -> None:
        """Keep the replicates if the last time was long ago."""
        if self._checkpoint.due:
            self.write(values)

    def write(self, values: FloatArray) -> None:
        """Keep the replicates, unless as many are kept already."""
        if len(values) > self._count:
            self._checkpoint.write({"values": values})
            self._count = len(values)
