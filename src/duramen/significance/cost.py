"""Expected time of many forests, from that of a few."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from duramen.jobs.progress import title_of
from duramen.jobs.replicates import Plan
from duramen.jobs.workers import Run, Threads
from duramen.results.importances import Importances
from duramen.significance.measured import MeasureLike, Refits, measured
from duramen.support import checks
from duramen.support.text import duration

# A first forest that took longer than this, in seconds, is not timed a second time; others are, for
# so long in all, or so many.
_LONG = 1.0
_ENOUGH, _MOST_ROUNDS = 0.3, 8


@dataclass(frozen=True)
class Cost:
    """Expected time of many forests.

    Attributes
    ----------
    seconds : float
        Time from beginning to end, in seconds.
    n_forests : int
        Number of forests.
    n_threads : int
        Forests that are grown at a time.
    unit : str
        What is repeated, if it is not a forest.

    Examples
    --------
    >>> import duramen as dm
    >>> print(dm.significance.Cost(seconds=90.0, n_forests=1000, n_threads=4))
    1,000 forests, 4 at a time: about 1.5 min
    """

    seconds: float
    n_forests: int
    n_threads: int = 1
    unit: str = "forest"

    def __str__(self) -> str:
        forests = f"{self.n_forests:,} {self.unit}" + ("" if self.n_forests == 1 else "s")
        return f"{forests}, {self.n_threads} at a time: about {duration(self.seconds)}"


def estimate_cost(
    estimator: Any,
    X: Any,
    y: Any,
    n_forests: int,
    *,
    measure: MeasureLike = "mdi",
    permuted: bool = False,
    fraction: float = 1.0,
    n_jobs: int | None = None,
) -> Cost:
    """Estimate how long it takes to grow many forests and measure importances in each.

    Some forests are grown and measured, at least two unless they are slow, and where `n_jobs`
    allows for several at a time, as many beside each other: processors that share memory and
    caches are slower than one alone.

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    n_forests : int
        How many forests there will be: S for `altmann` with S permutations, and for `fdr_curve`;
        p S at the most for `hapfelmeier` and `conditional_error_rate`.
    measure : str or callable
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances.
    permuted : bool, default=False
        Whether the forests are grown on a permuted target, as those of `altmann`, `max_t` and
        `fdr_curve` are but the first: their trees are deeper where features are relevant.
    fraction : float, default=1.0
        Fraction of the rows that each forest is grown on.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    Cost
        ``str(cost)`` reads as a sentence.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> dm.significance.estimate_cost(forest, data.X, data.y, 100).n_forests
    100
    """
    name = "estimate_cost"
    count = checks.check_integer(name, "n_forests", n_forests, 1, most=2**62)
    n_threads = checks.check_jobs(name, n_jobs)
    subject = measured(estimator, X, y, measure, name)
    if checks.check_real(name, "fraction", fraction, 0.0, 1.0) < 1:
        drawn = np.random.default_rng(0).permutation(subject.data.n_rows)
        n_rows = max(2, round(fraction * len(drawn)))
        subject = subject.of_rows(np.sort(drawn[:n_rows]), key="cost")

    def task(seed: int) -> Any:
        if permuted:
            return subject.permuted_scores(np.random.default_rng(seed), seed)
        return subject.scores(seed)

    at_a_time = min(n_threads, count)
    with Threads(at_a_time).running(task) as run:
        first = _took(run, range(1))  # the first forest of a process may be slower than the others
        if first > _LONG and at_a_time == 1:
            return Cost(first * count, count, n_threads)
        done, seconds = 0, 0.0
        while not done or (seconds < _ENOUGH and done < _MOST_ROUNDS * at_a_time):
            seeds = range(1 + done, 1 + done + at_a_time)
            seconds += _took(run, seeds)
            done += at_a_time
    return Cost(seconds / done * count, count, n_threads)


def _took(run: Run, seeds: range) -> float:
    """Return the seconds that forests of these seeds take."""
    start = time.perf_counter()
    for _ in run(zip(seeds, strict=True)):
        pass
    return time.perf_counter() - start


def announced(refits: Refits, n_forests: int) -> Importances:
    """Measure the data as they are; say on standard error what all forests may take at most."""
    start = time.perf_counter()
    importances = refits.observed()
    seconds = time.perf_counter() - start
    announce(refits.plan, refits.function, seconds, n_forests, most=True)
    return importances


def announce(
    plan: Plan,
    function: str,
    seconds: float,
    count: int,
    *,
    unit: str = "forest",
    most: bool = False,
) -> None:
    """Say on standard error what all will take, from the seconds of one, where progress shows."""
    from tqdm import tqdm

    if plan.verbose:
        at_a_time = plan.workers.at_a_time
        cost = Cost(seconds * count / at_a_time, count, at_a_time, unit)
        tqdm.write(f"{title_of(function)}: {'at most ' if most else ''}{cost}", file=sys.stderr)
