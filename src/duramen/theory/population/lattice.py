"""Population importances by a walk over the lattice of subsets, in the kernel."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from duramen import _kernel
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.checks import check_integer, check_jobs, check_real
from duramen.support.text import duration
from duramen.theory.distributions.finite_distribution import (
    FiniteDistribution,
    check_distribution,
)
from duramen.theory.distributions.subsets import count_subsets

Progress = Callable[[float], None]

HOURS = 6.0
"""Default limit: a sum that is estimated to take more hours is refused."""

# The kernel's numbers of the criteria.
_CODES = {"gini": 0, "entropy": 1, "variance": 2}

# Weights that are whole multiples of a common one are rows that count 1, some of them repeated,
# which the kernel handles faster: as long as that does not make the table much longer.
_MOST_MULTIPLE = 32
_MOST_REPEATED = 4
_MOST_ROWS = 1 << 20
_ROUNDING = 1e-13

# So little work needs no estimate: a second at most.
_FEW = 1e6
_FEW_SIZES = 20  # depths above give more subsets
_QUICK_SECONDS = 0.5

_FIRST_SETS = 32
_FIRST_SETS_OF_LARGE_TABLES = 4
_LONG = 2048  # rows
_LARGE = 1 << 20  # entries
_BARREN = 3  # sizes without any work, after which there is none at larger sizes either
_ENDLESS = 10**300
_MOST_SETS = 4096
_PROBE_SECONDS = 0.25
_PATIENCE = 300.0  # seconds that a hint may propose
_LIFETIME = 80 * 365.25 * 86400


def check_depth(function: str, max_depth: int | None, n_features: int) -> int:
    """Check the depth of trees that split on each feature once; None is `n_features`."""
    if max_depth is None:
        return n_features
    depth = check_integer(function, "max_depth", max_depth, 1, hint="None grows trees in full")
    return min(depth, n_features)


@dataclass(frozen=True)
class LatticeCost:
    """Estimated cost of a sum over subsets.

    Parameters
    ----------
    n_subsets : int
        Number of sets of up to D features.
    seconds : float
        Estimated time on this machine with as many threads as were asked for.
    by_size : tuple of float
        Seconds by size of the conditioning set, 0 .. D - 1; once all smaller sizes take longer
        than a lifetime, 0.

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> dm.theory.population.lattice_cost(xor).seconds < 1
    True
    """

    n_subsets: int
    seconds: float
    by_size: tuple[float, ...]

    def __str__(self) -> str:
        number, power = self.n_subsets, self.n_subsets.bit_length() - 1
        count = f"{number:,}" if number < 1e12 else f"some 10^{math.log10(number):.0f}"
        if power > 9 and number == 1 << power:
            count = f"2^{power}"
        return f"{count} subsets, {_duration(self.seconds)}"


def _duration(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    if seconds > _LIFETIME:
        return "longer than a lifetime"
    return f"about {duration(seconds)}"


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
    r"""Compute the importances of infinitely many totally randomized multiway trees, by degree.

    .. math::

        Imp(X_m, k) = \frac{1}{C_p^k} \frac{1}{p-k}
        \sum_{B \in \mathcal{P}_k(V^{-m})} G(Y; X_m | B), \qquad k = 0, \ldots, D-1

    with G the conditional decrease of impurity, for the entropy :math:`I(X_m;Y|B)` (thesis, eq. 5.2
    and 5.10; Louppe et al. 2013, eq. 3 and appendix I). D is `max_depth`, by default p; the result
    has shape (p, min(D, p)). A context is left out; parameters are those of
    `population_importances`.
    """
    table, depth, unit = _table(function, dist, max_depth, criterion)
    n_threads = check_jobs(function, n_jobs)
    if max_hours is not None:
        check_real(function, "max_hours", max_hours, 0.0, hint="None allows any time")
    p = dist.n_features
    if p == 0 or dist.n_classes == 1:
        return np.zeros((p, depth))
    if depth <= _FEW_SIZES and count_subsets(p, depth) * (1 + dist.n_rows / 64) <= _FEW:
        costs = np.array([float(math.comb(p, k)) for k in range(depth)])
        costs *= _QUICK_SECONDS / costs.sum()
    else:
        cost = _estimated(table, p, depth, n_threads)
        limit = math.inf if max_hours is None else 3600.0 * max_hours
        if cost.seconds > limit:
            hint, taken = "leave features out", np.cumsum(cost.by_size)
            if feasible := int(np.count_nonzero(taken <= min(limit, _PATIENCE))):
                within = _duration(float(taken[feasible - 1]))
                hint = f"max_depth={feasible} takes {within}; or {hint}"
            raise ValueError(
                f"{function}: trees of depth {depth} take {cost}, more than "
                f"max_hours={max_hours:g}. Hint: {hint}; max_hours=None computes it anyway."
            )
        costs = n_threads * np.array(cost.by_size) + np.finfo(float).tiny

    def report(done: int) -> None:
        if progress is not None:
            progress(min(1.0, done / _kernel.LATTICE_DONE))

    return unit * _kernel.lattice(table, depth, costs, n_threads, progress and report)


def lattice_cost(
    dist: FiniteDistribution,
    max_depth: int | None = None,
    *,
    criterion: str = "entropy",
    n_jobs: int | None = None,
) -> LatticeCost:
    r"""Estimate the time of `population_importances` for totally randomized multiway trees.

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

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> dm.theory.population.lattice_cost(xor).n_subsets
    4
    """
    table, depth, _ = _table("lattice_cost", dist, max_depth, criterion)
    n_threads = check_jobs("lattice_cost", n_jobs)
    if dist.n_features == 0 or dist.n_classes == 1:
        return LatticeCost(1, 0.0, (0.0,) * depth)
    return _estimated(table, dist.n_features, depth, n_threads)


def _table(
    function: str, dist: FiniteDistribution, max_depth: int | None, criterion: str
) -> tuple[_kernel.LatticeTable, int, float]:
    """Return the table of the kernel, the depth, and the factor of the kernel's values."""
    check_distribution(function, dist)
    centered = dist.centered_numbers(function, criterion)
    p = dist.n_features
    depth = check_depth(function, max_depth, p)
    if dist.context is not None:
        dist = dist.marginal(range(p), keep_context=False)
    numbers, unit = None, 1.0
    if criterion == "variance":
        _, exponent = math.frexp(float(np.abs(centered).max()))  # a power of 2 costs no digits
        numbers, unit = np.ldexp(centered, -exponent), math.ldexp(1.0, exponent) ** 2
    codes, classes = dist.codes, dist.target
    weights: FloatArray | None = dist.weights
    times = multiplicities(dist.weights)
    if times is not None:
        codes, classes = np.repeat(codes, times, axis=0), np.repeat(classes, times)
        weights = None
    columns = np.ascontiguousarray(codes.T)
    code = _CODES[criterion]
    return (
        _kernel.LatticeTable(columns, classes, dist.n_classes, weights, numbers, code),
        depth,
        unit,
    )


def multiplicities(weights: FloatArray) -> IntArray | None:
    """Return the multiplicities of equal rows, or None if the weights imply large ones."""
    relative = weights / weights.min()
    for times in range(1, _MOST_MULTIPLE + 1):
        wanted = times * relative
        counts = np.rint(wanted)
        if counts.sum() > min(_MOST_ROWS, _MOST_REPEATED * len(weights)):
            return None
        if np.all(np.abs(wanted - counts) <= _ROUNDING * wanted):
            return np.asarray(counts, dtype=np.int64)
    return None


def _estimated(table: _kernel.LatticeTable, p: int, depth: int, n_threads: int) -> LatticeCost:
    """Estimate the cost from the work measured at random subsets of each size.

    Time is that of the work, at the rate of all measurements. Sizes with the largest standard error
    are measured again for a moment.
    """
    random = np.random.default_rng(0)
    works: list[list[float]] = []  # by size
    seconds, measured = 0.0, 0.0

    def probe(size: int, n: int) -> None:
        nonlocal seconds, measured
        sets = np.empty((n, size), dtype=np.uint32)
        for row in sets:
            row[:] = np.sort(random.choice(p, size, replace=False))
        work, all_work, taken = _kernel.probe_lattice(table, depth, sets)
        works[size] += work.tolist()
        seconds += taken
        measured += all_work

    def total(size: int, work: float) -> float:
        """Return the work of all sets of a size."""
        return min(math.comb(p, size), _ENDLESS) * work if work else 0.0

    def error(size: int) -> float:
        single = math.comb(p, size) == 1
        deviation = float(np.std(works[size])) / math.sqrt(len(works[size]))
        return 0.0 if single else total(size, deviation)

    small = table.n_rows <= _LONG and table.n_rows * p <= _LARGE
    first = _FIRST_SETS if small else _FIRST_SETS_OF_LARGE_TABLES
    barren, so_far = 0, 0.0
    for size in range(depth):
        works.append([])
        probe(size, first if size else 1)
        so_far += total(size, float(np.mean(works[size])))
        barren = 0 if any(works[size]) else barren + 1
        if barren == _BARREN or so_far * seconds > _LIFETIME * measured * n_threads:
            break
    while seconds < _PROBE_SECONDS:
        widest = max(range(len(works)), key=error)
        if not error(widest) or len(works[widest]) >= _MOST_SETS:
            break
        probe(widest, len(works[widest]))
    rate = seconds / measured / n_threads if measured else 0.0
    by_size = [rate * total(size, float(np.mean(work))) for size, work in enumerate(works)]
    return LatticeCost(
        n_subsets=count_subsets(p, depth),
        seconds=sum(by_size),
        by_size=(*by_size, *[0.0] * (depth - len(by_size))),
    )
