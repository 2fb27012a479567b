"""Importances at the last level: each feature given all others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from duramen.results.importances import Importances
from duramen.support.arrays import FloatArray
from duramen.theory.distributions.finite_distribution import FiniteDistribution
from duramen.theory.distributions.impurity import Decrease
from duramen.theory.distributions.partition import Partition
from duramen.theory.population.importances import importances_of


def last_level_importances(dist: FiniteDistribution, *, criterion: str = "entropy") -> Importances:
    r"""Compute the importance of each feature given all others.

    .. math:: Imp(X_m) = G(Y; X_m | V^{-m})

    for the entropy :math:`I(X_m;Y|V^{-m})` (thesis, eq. 8.1): what would be lost without the
    feature. It is positive if and only if the feature is strongly relevant. In totally randomized
    multiway trees it is p times what the feature contributes at degree p - 1; it takes no walk
    over subsets, and time that grows as the size of the table.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context is left out.
    criterion : {"entropy", "gini", "variance"}, default="entropy"
        Impurity: in bits, Gini's index, or the variance of a numeric Y.

    Returns
    -------
    Importances
        ``measure="last-level mdi"``; the degree is p - 1 for all, so that there is no `by_degree`.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If `criterion` is not allowed, or needs a numeric Y.

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> dm.theory.population.last_level_importances(xor).values.round(3).tolist()
    [1.0, 1.0]
    """
    values = last_level_decreases("last_level_importances", dist, criterion)
    settings = {"criterion": criterion}
    result = importances_of(
        dist, values[:, np.newaxis], criterion, settings, measure="last-level mdi"
    )
    return replace(result, by_degree=None)


def last_level_decreases(function: str, dist: FiniteDistribution, criterion: str) -> FloatArray:
    """Return G(Y; X_m | V-m) of every feature, of shape (p,); a context is left out."""
    decrease = Decrease(function, dist, criterion)
    p = dist.n_features
    columns = [(dist.codes[:, j], int(dist.cardinalities[j])) for j in range(p)]
    # Rows by all features after m. Once every row is alone, partitions are shared, not copied.
    after = [Partition.whole(dist.n_rows)]
    for codes, size in columns[:0:-1]:
        after.append(after[-1].refined(codes, size))
    before = Partition.whole(dist.n_rows)
    values = np.zeros(p)
    for m, (codes, size) in enumerate(columns):
        rest = after[p - 1 - m]
        others = before.refined(rest.cell, rest.n_cells)
        values[m] = decrease(others, others.refined(codes, size))
        before = before.refined(codes, size)
    return values
