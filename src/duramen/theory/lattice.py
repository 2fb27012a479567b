"""Population importances by a walk over the lattice of subsets, in the kernel."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.theory.arguments import refuse, whole
from duramen.theory.decreases import check_choice, check_distribution
from duramen.theory.distribution import FiniteDistribution
from duramen.theory.information import CRITERIA
from duramen.theory.partition import FloatArray

Progress = Callable[[float], None]

HOURS = 6.0
"""What is estimated to take longer is refused unless the caller says otherwise."""

# The kernel's numbers of the criteria.
_CODES = {"gini": 0, "entropy": 1, "variance": 2}
_MOST_THREADS = 256

# Weights that are whole multiples of a common one are rows that count 1, some of them repeated,
# which the kernel handles faster: as long as that does not make the table much longer.
_MOST_MULTIPLE = 32
_MOST_REPEATED = 4
_MOST_ROWS = 1 << 20
_ROUNDING = 1e-13

# So little work needs no estimate: a second at most.
_FEW = 1e6

_FIRST_SETS = 4
_MOST_SETS = 4096
_PROBE_SECONDS = 0.25
_GOOD = 0.1  # relative standard error at which an estimate is good enough
_PATIENCE = 300.0  # seconds that a hint may propose
_UNITS = (
    (172800.0, 86400.0, "days"),
    (5400.0, 3600.0, "hours"),
    (90.0, 60.0, "minutes"),
    (0.0, 1.0, "s"),
)


@dataclass(frozen=True)
class LatticeCost:
    """What a sum over subsets takes.

    Parameters
    ----------
    n_subsets : int
        Number of conditioning sets.
    seconds : float
        Estimated time on this machine with as many threads as were asked for.
    relative_error : float
        Standard error of the estimate due to sampling, relative to it. That the machine may be
        busy is not in it.
    by_size : tuple of float
        Seconds by size of the conditioning set, 0 .. D - 1.
    """

    n_subsets: int
    seconds: float
    relative_error: float
    by_size: tuple[float, ...]

    def __str__(self) -> str:
        power = math.log2(self.n_subsets)
        count = f"2^{power:.0f}" if power == round(power) and power > 9 else f"{self.n_subsets:,}"
        count = count if len(count) < 16 else f"{float(self.n_subsets):.2g}"
        return f"{count} subsets, {_duration(self.seconds)}"


def _duration(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    _, size, unit = next(one for one in _UNITS if seconds >= one[0])
    amount = seconds / size
    return f"about {amount:.2g} {unit}" if amount < 100 else f"about {amount:,.0f} {unit}"


def lattice_importances(
    dist: FiniteDistribution,
    *,
    max_depth: int | None = None,
    criterion: str = "entropy",
    n_jobs: int | None = None,
    progress: Progress | None = None,
    max_hours: float | None = HOURS,
    function: str = "lattice_importances",
) -> FloatArray:
    r"""Importances of infinitely many totally randomised multiway trees, by degree.

    .. math::

        Imp(X_m, k) = \frac{1}{C_p^k} \frac{1}{p-k}
        \sum_{B \in \mathcal{P}_k(V^{-m})} G(Y; X_m | B), \qquad k = 0, \ldots, D-1

    with G the conditional decrease of impurity, for the entropy :math:`I(X_m;Y|B)` (thesis, eq.
    5.2 and 5.10; Louppe et al. 2013, eq. 3 and appendix I).

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context is left out.
    max_depth : int, optional
        D, at least 1; by default p.
    criterion : {"entropy", "gini", "variance"}, default="entropy"
    n_jobs : int, optional
        Number of threads; None is 1, -1 all processors. The result does not depend on it.
    progress : callable, optional
        Told the share of the work that is done, from 0 to 1.
    max_hours : float, optional
        What is estimated to take longer is refused; None refuses nothing.
    function : str
        Who asks, for errors.

    Returns
    -------
    ndarray of float64, shape (p, min(D, p))

    Raises
    ------
    ValueError
        If a parameter is not allowed, or the sum would take longer than `max_hours`.
    """
    arguments, depth, n_threads = _arguments(function, dist, max_depth, criterion, n_jobs)
    p = dist.n_features
    if p == 0 or dist.n_classes == 1:
        return np.zeros((p, depth))
    if _is_quick(dist, depth):
        levels = np.array([float(math.comb(p, k)) for k in range(depth)])
    else:
        cost = _estimated(arguments, p, depth, n_threads)
        _refuse_hopeless(function, cost, max_hours, depth)
        levels = np.array(cost.by_size)
    levels /= max(float(levels.sum()), np.finfo(float).tiny)
    told = None if progress is None else _as_share(progress)
    return _kernel.lattice(*arguments, depth, levels, n_threads, told)


def lattice_cost(
    dist: FiniteDistribution,
    max_depth: int | None = None,
    *,
    criterion: str = "entropy",
    n_jobs: int | None = None,
) -> LatticeCost:
    r"""Estimate what `population_importances` takes for totally randomised multiway trees.

    A fraction of a second is spent on random subsets: the work that comes with a subset B in the
    walk over the lattice is measured for some subsets of every size k, and its mean, times the
    number :math:`C_p^k` of them, estimates the work at that size without bias (after Knuth 1975).
    A clock turns work into time.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y.
    max_depth : int, optional
        Greatest depth of the trees; by default p.
    criterion : {"entropy", "gini", "variance"}, default="entropy"
    n_jobs : int, optional
        Number of threads; None is 1, -1 all processors.

    Returns
    -------
    LatticeCost
        ``str`` of it reads like "2^24 subsets, about 40 s".

    Raises
    ------
    ValueError
        If a parameter is not allowed.

    References
    ----------
    D. E. Knuth (1975). Estimating the efficiency of backtrack programs. Mathematics of
    Computation 29.
    """
    arguments, depth, n_threads = _arguments("lattice_cost", dist, max_depth, criterion, n_jobs)
    if dist.n_features == 0 or dist.n_classes == 1:
        return LatticeCost(1, 0.0, 0.0, (0.0,) * depth)
    return _estimated(arguments, dist.n_features, depth, n_threads)


def threads(function: str, n_jobs: int | None) -> int:
    """Resolve ``n_jobs`` to a number of threads: None is 1, -1 all processors, -2 all but one."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or n_jobs == 0:
        raise refuse(function, "n_jobs", "an int other than 0, or None", n_jobs, "-1 means all.")
    asked = whole(function, "n_jobs", n_jobs, -_MOST_THREADS)
    if asked > 0:
        return min(asked, _MOST_THREADS)
    if hasattr(os, "sched_getaffinity"):
        n_processors = len(os.sched_getaffinity(0))
    else:
        n_processors = os.cpu_count() or 1
    return min(max(1, n_processors + 1 + asked), _MOST_THREADS)


def _arguments(
    function: str,
    dist: FiniteDistribution,
    max_depth: int | None,
    criterion: str,
    n_jobs: int | None,
) -> tuple[tuple[Any, ...], int, int]:
    """Return the table as the kernel takes it, the depth and the number of threads."""
    check_distribution(function, dist)
    check_choice(function, "criterion", criterion, CRITERIA)
    if max_depth is not None:
        whole(function, "max_depth", max_depth, 1, hint="None grows trees in full.")
    p = dist.n_features
    depth = p if max_depth is None else min(int(max_depth), p)
    return _table(dist, criterion), depth, threads(function, n_jobs)


def _table(dist: FiniteDistribution, criterion: str) -> tuple[Any, ...]:
    """Return codes, classes, their number, weights, numbers and criterion for the kernel."""
    if dist.context is not None:
        dist = dist.marginal(range(dist.n_features), keep_context=False)
    numbers = None
    if criterion == "variance":
        numbers = dist.class_numbers - dist.class_numbers[0]
        numbers -= float(np.sum(dist.weights * numbers[dist.target]))
    codes, classes = dist.codes, dist.target
    weights: FloatArray | None = dist.weights
    times = multiplicities(dist.weights)
    if times is not None:
        codes, classes = np.repeat(codes, times, axis=0), np.repeat(classes, times)
        weights = None
    columns = np.ascontiguousarray(codes.T)
    return columns, classes, dist.n_classes, weights, numbers, _CODES[criterion]


def multiplicities(weights: FloatArray) -> NDArray[np.int64] | None:
    """Return how often each of some equal rows occurs, if the weights tell and it is not often."""
    relative = weights / weights.min()
    for times in range(1, _MOST_MULTIPLE + 1):
        wanted = times * relative
        counts = np.rint(wanted)
        if counts.sum() > min(_MOST_ROWS, _MOST_REPEATED * len(weights)):
            return None
        if np.all(np.abs(wanted - counts) <= _ROUNDING * wanted):
            return np.asarray(counts, dtype=np.int64)
    return None


def _is_quick(dist: FiniteDistribution, depth: int) -> bool:
    subsets = sum(math.comb(dist.n_features, k) for k in range(depth + 1))
    return subsets * (1 + dist.n_rows / 64) <= _FEW


def _as_share(progress: Progress) -> Callable[[int], None]:
    def report(done: int) -> None:
        progress(min(1.0, done / _kernel.LATTICE_DONE))

    return report


class _Level:
    """Work measured at subsets of one size."""

    def __init__(self, n_features: int, size: int) -> None:
        self.n_features = n_features
        self.size = size
        self.n_sets = math.comb(n_features, size)
        self.work: list[float] = []

    def drawn(self, n: int, random: np.random.Generator) -> NDArray[np.uint32]:
        """Draw n subsets uniformly; each is ascending."""
        sets = np.empty((n, self.size), dtype=np.uint32)
        for row in sets:
            row[:] = np.sort(random.choice(self.n_features, self.size, replace=False))
        return sets

    @property
    def total(self) -> float:
        """Estimated work at all subsets of this size."""
        return self.n_sets * float(np.mean(self.work))

    @property
    def error(self) -> float:
        """Standard error of that."""
        if self.n_sets == 1:
            return 0.0
        spread = float(np.std(self.work, ddof=1))
        return self.n_sets * spread / math.sqrt(len(self.work))


def _estimated(arguments: tuple[Any, ...], p: int, depth: int, n_threads: int) -> LatticeCost:
    random = np.random.default_rng(0)
    levels = [_Level(p, size) for size in range(depth)]
    seconds = 0.0
    measured = 0.0

    def probe(level: _Level, n: int) -> None:
        nonlocal seconds, measured
        sets = level.drawn(n, random)
        work, all_work, taken = _kernel.probe_lattice(*arguments, depth, sets)
        level.work += work.tolist()
        seconds += taken
        measured += all_work

    for level in levels:
        probe(level, _FIRST_SETS if level.size else 1)
    while seconds < _PROBE_SECONDS:
        widest = max(levels, key=lambda level: level.error)
        total = sum(level.total for level in levels)
        error = math.sqrt(sum(level.error**2 for level in levels))
        if (error <= _GOOD * total and seconds > _PROBE_SECONDS / 10) or not widest.error:
            break
        if len(widest.work) >= _MOST_SETS:
            break
        probe(widest, len(widest.work))
    rate = seconds / measured / n_threads if measured else 0.0
    total = sum(level.total for level in levels)
    error = math.sqrt(sum(level.error**2 for level in levels))
    return LatticeCost(
        n_subsets=sum(math.comb(p, k) for k in range(depth + 1)),
        seconds=total * rate,
        relative_error=error / total if total else 0.0,
        by_size=tuple(level.total * rate for level in levels),
    )


def _refuse_hopeless(function: str, cost: LatticeCost, max_hours: float | None, depth: int) -> None:
    limit = math.inf if max_hours is None else 3600.0 * max_hours
    if cost.seconds <= limit:
        return
    total = 0.0
    feasible = 0
    for size, seconds in enumerate(cost.by_size):
        total += seconds
        if total <= min(limit, _PATIENCE):
            feasible = size + 1
    hint = "leave features out"
    if feasible:
        part = sum(cost.by_size[:feasible])
        hint = f"max_depth={feasible} takes {_duration(part)}; or {hint}"
    raise ValueError(
        f"{function}: with max_depth={depth} there are {cost}, more than max_hours={max_hours:g}. "
        f"Hint: {hint}; max_hours=None computes it all the same."
    )
