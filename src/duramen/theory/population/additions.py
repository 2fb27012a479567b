"""Effects of added copies or irrelevant features on importances, in closed form.

Both closed forms reweigh sums over the conditioning sets of the features that are there, so that
adding a thousand features costs what adding one does.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from duramen.results.importances import Importances
from duramen.support.arrays import FloatArray
from duramen.support.checks import check_integer
from duramen.theory.distributions.finite_distribution import FiniteDistribution, check_distribution
from duramen.theory.population.importances import importances_of
from duramen.theory.population.lattice import HOURS, Progress, check_depth, lattice_importances


def redundant_importances(
    dist: FiniteDistribution,
    feature: str | int,
    *,
    copies: int = 1,
    max_depth: int | None = None,
    criterion: str = "entropy",
    progress: Progress | None = None,
    max_hours: float | None = HOURS,
    n_jobs: int | None = None,
) -> Importances:
    r"""Compute the importances after adding features totally redundant with one of them.

    With :math:`N_c` copies of :math:`X_j` there are :math:`P = p + N_c` features. Given one of
    them the others are uninformative, so for :math:`X_j` and each copy

    .. math::

        Imp(X_j) = \sum_{k=0}^{p-1} \frac{1}{C_P^k (P-k)}
        \sum_{B \in \mathcal{P}_k(V^{-j})} I(X_j;Y|B),

    while a set with :math:`X_j` stands for all sets with any k' of the :math:`N_c + 1`:

    .. math::

        Imp(X_l) = \sum_{k=0}^{p-2} \Big( \frac{1}{C_P^k (P-k)} \sum_B I(X_l;Y|B)
        + \sum_{k'=1}^{N_c+1} \frac{C_{N_c+1}^{k'}}{C_P^{k+k'} (P-k-k')} \sum_B I(X_l;Y|B,X_j)
        \Big)

    with B over the sets of k features other than :math:`X_l, X_j` (thesis, propositions 5.9 to
    5.11; there the weights of proposition 5.11 are garbled).

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context is left out.
    feature : str or int
        The feature :math:`X_j`, by name or index.
    copies : int, default=1
        Number :math:`N_c` of totally redundant features, at least 0.
    max_depth : int, optional
        Greatest depth D of the trees; by default they are grown in full.
    criterion, n_jobs, progress, max_hours
        As for `population_importances`.

    Returns
    -------
    Importances
        Of the p features and, after them, of the copies, for totally randomized multiway trees.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If a parameter is not allowed, or the sum would take longer than `max_hours`.

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> doubled = dm.theory.population.redundant_importances(xor, "X2")
    >>> dict(zip(doubled.names, doubled.values.round(3).tolist(), strict=True))
    {'X1': 0.667, 'X2': 0.167, 'X2 copy 1': 0.167}
    """
    function = "redundant_importances"
    check_distribution(function, dist)
    j = dist.index(feature)
    check_integer(function, "copies", copies, 0)
    p, P = dist.n_features, dist.n_features + int(copies)
    depth = check_depth(function, max_depth, P)
    options: dict[str, Any] = {
        "max_depth": min(depth, p),
        "criterion": criterion,
        "n_jobs": n_jobs,
        "max_hours": max_hours,
        "function": function,
    }
    others = [m for m in range(p) if m != j]
    all_sets = p * _padded(lattice_importances(dist, progress=_part(progress, 0), **options), p)
    rest = dist.marginal(others, keep_context=False)
    options["max_depth"] = min(depth, max(1, p - 1))
    below = lattice_importances(rest, progress=_part(progress, 1), **options)
    without = np.zeros((p, p))  # mean of I(X_l;Y|B) over the sets B of k features without X_j
    without[others] = (p - 1) * _padded(below, p)
    with_copy = _means_given(all_sets, without, p)

    by_degree = np.zeros((P, depth))
    by_degree[[j, *range(p, P)]] = _weights(p, p - 1, 0, P, depth) @ all_sets[j]
    # Without any of the N_c + 1, or with at least one of them.
    by_degree[others] = without[others] @ _weights(p, p - 2, 0, P, depth).T
    by_degree[others] += (
        with_copy[others] @ _weights(p, p - 2, int(copies) + 1, P, depth, least=1).T
    )
    settings = {
        "redundant_with": dist.names[j],
        "copies": int(copies),
        "max_depth": max_depth,
        "criterion": criterion,
    }
    names = _more_names(dist, f"{dist.names[j]} copy", int(copies))
    return importances_of(dist, by_degree, criterion, settings, names=names)


def irrelevant_importances(
    dist: FiniteDistribution,
    *,
    count: int = 1,
    max_depth: int | None = None,
    criterion: str = "entropy",
    progress: Progress | None = None,
    max_hours: float | None = HOURS,
    n_jobs: int | None = None,
) -> Importances:
    r"""Compute the importances after adding irrelevant features.

    With N features that are irrelevant, whatever others are given, there are P = p + N, and

    .. math::

        Imp(X_m) = \sum_{k=0}^{p-1} \sum_{i=0}^{N} \frac{C_N^i}{C_P^{k+i} (P-k-i)}
        \sum_{B \in \mathcal{P}_k(V^{-m})} I(X_m;Y|B)

    over the degrees k + i < D. For trees grown in full nothing changes in sum (thesis, theorem
    5.8), but degrees go up; in trees of bounded depth importances fall.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context is left out.
    count : int, default=1
        Number N of irrelevant features, at least 0.
    max_depth : int, optional
        Greatest depth D of the trees; by default they are grown in full.
    criterion, n_jobs, progress, max_hours
        As for `population_importances`.

    Returns
    -------
    Importances
        Of the p features and, after them, of the irrelevant ones, which have none, for totally
        randomized multiway trees.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If a parameter is not allowed, or the sum would take longer than `max_hours`.

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> dm.theory.population.irrelevant_importances(xor, count=2).values.round(3).tolist()
    [0.5, 0.5, 0.0, 0.0]
    """
    function = "irrelevant_importances"
    check_distribution(function, dist)
    check_integer(function, "count", count, 0)
    p, P = dist.n_features, dist.n_features + int(count)
    depth = check_depth(function, max_depth, P)
    own = lattice_importances(
        dist,
        max_depth=max(1, min(depth, p)),
        criterion=criterion,
        n_jobs=n_jobs,
        progress=progress,
        max_hours=max_hours,
        function=function,
    )
    by_degree = np.zeros((P, depth))
    by_degree[:p] = p * _padded(own, p) @ _weights(p, p - 1, int(count), P, depth).T
    settings = {"irrelevant": int(count), "max_depth": max_depth, "criterion": criterion}
    names = _more_names(dist, "irrelevant", int(count))
    return importances_of(dist, by_degree, criterion, settings, names=names)


def _part(progress: Progress | None, part: int) -> Progress | None:
    """Report the progress of the first or the second of two sums, the second being the shorter."""
    if progress is None:
        return None
    return lambda done: progress((2 * done if part == 0 else 2 + done) / 3)


def _padded(by_degree: FloatArray, p: int) -> FloatArray:
    """Return importances of degrees 0 .. p - 1, padded with zeros."""
    return np.pad(by_degree, ((0, 0), (0, p - by_degree.shape[1])))


def _means_given(all_sets: FloatArray, without: FloatArray, p: int) -> FloatArray:
    """Return the mean of I(X_l;Y|B,X_j) over the sets B of k features without X_j.

    Of the C(p-1, k+1) sets of k + 1 features, C(p-2, k) have X_j and C(p-2, k+1) have not.
    """
    means = np.zeros((p, p))
    for k in range(p - 1):
        with_j, without_j = comb(p - 2, k), comb(p - 2, k + 1)
        total = all_sets[:, k + 1] * (comb(p - 1, k + 1) / with_j)
        means[:, k] = np.maximum(0.0, total - without[:, k + 1] * (without_j / with_j))
    return means


def _weights(
    p: int, n_others: int, n_added: int, n_features: int, depth: int, *, least: int = 0
) -> FloatArray:
    """Return the weight of a mean over sets of k features at each degree q, shape (depth, p).

    There are C(n_others, k) such sets. Each stands for C(n_added, q - k) sets of q among
    `n_features`, if q - k >= least.
    """
    weights = np.zeros((depth, p))
    for q in range(depth):
        for k in range(min(q - least, n_others) + 1):
            sets = comb(n_others, k) * comb(n_added, q - k)
            weights[q, k] = sets / (comb(n_features, q) * (n_features - q))
    return weights


def _more_names(dist: FiniteDistribution, stem: str, count: int) -> tuple[str, ...]:
    """Return the names of the features, and further ones that are not taken."""
    names = list(dist.names)
    number = 0
    while len(names) < dist.n_features + count:
        number += 1
        if f"{stem} {number}" not in dist.names:
            names.append(f"{stem} {number}")
    return tuple(names)
