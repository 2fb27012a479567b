"""Distribution of the importances of infinitely many trees over samples of N rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb, inf
from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from duramen.support.arrays import FloatArray, IntArray, RandomState
from duramen.support.checks import check_integer, draw_seed, refuse
from duramen.theory.distributions import TARGET, FiniteDistribution
from duramen.theory.distributions.finite_distribution import check_distribution
from duramen.theory.population import population_importances

_FUNCTION = "importance_distribution"
_MOST = 20_000  # tables that are enumerated, in about 20 s


@dataclass(frozen=True, eq=False)
class ImportanceDistribution:
    """Distribution of the importances of p features over samples of rows.

    Parameters
    ----------
    names : tuple of str
        Names of the features.
    values : ndarray of float64, shape (M, p)
        Importances in each of M samples.
    probabilities : ndarray of float64, shape (M,)
        Probabilities of the samples, with sum 1.
    exact : bool
        Whether the samples are all that there are, or were drawn.

    Examples
    --------
    >>> import duramen as dm
    >>> coins = dm.theory.FiniteDistribution.from_table([[0], [0], [1], [1]], [0, 1, 0, 1])
    >>> result = dm.theory.samples.importance_distribution(coins, n_rows=2)
    >>> result.mean().tolist(), result.tail(0.5).tolist()  # (0, 0) and (1, 1), or (0, 1) and (1, 0)
    ([0.25], [0.25])
    """

    names: tuple[str, ...]
    values: FloatArray
    probabilities: FloatArray
    exact: bool

    def mean(self) -> FloatArray:
        """Return the mean importance of each feature, shape (p,)."""
        return self.probabilities @ self.values

    def covariance(self) -> FloatArray:
        """Return the covariances of the importances, shape (p, p); variances on the diagonal."""
        deviations = self.values - self.mean()
        return (self.probabilities[:, np.newaxis] * deviations).T @ deviations

    def tail(self, threshold: Any) -> FloatArray:
        """Return the probability of an importance of at least `threshold`, shape (p,).

        Values within rounding of the threshold count; it is a number, or one for each feature.
        """
        return self.probabilities @ (self.values >= np.asarray(threshold) - 1e-12)


def importance_distribution(
    dist: FiniteDistribution,
    n_rows: int,
    *,
    n_samples: int | None = None,
    max_features: int | None = 1,
    max_depth: int | None = None,
    criterion: str = "entropy",
    random_state: RandomState = None,
) -> ImportanceDistribution:
    r"""Compute the distribution of MDI over samples of N rows.

    A sample has counts :math:`n_1, ..., n_S` of the S rows of a distribution, with probability
    :math:`N! \prod_s w_s^{n_s} / n_s!`; its importances are those of infinitely many trees grown on
    it (`duramen.theory.population_importances` of the sample).

    Parameters
    ----------
    dist : FiniteDistribution
        Distribution that rows are drawn from, independently.
    n_rows : int
        Number N of rows of a sample.
    n_samples : int, optional
        Number of samples to draw; by default all :math:`\binom{N + S - 1}{S - 1}` are enumerated,
        if they are at most 20,000.
    max_features : int or None, default=1
        Number K of features tried at a node; 1 is totally randomized, None tries all.
    max_depth : int, optional
        Depth of the trees; no limit by default.
    criterion : {"entropy", "gini"}, default="entropy"
        Impurity.
    random_state : int, RandomState, Generator or None
        Seed of the samples that are drawn.

    Returns
    -------
    ImportanceDistribution
        With `mean`, `covariance` and `tail`.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not as described, or there are too many samples to enumerate.

    Notes
    -----
    It is the spread that remains with any number of trees; a forest of T trees adds a variance of
    order 1 / T. Louppe et al. (2013, section 7) leave this distribution to future work. For a
    feature alone that is independent of the target the mean tends to `expected_information` and
    the tail to `information_p_value`.

    References
    ----------
    G. Louppe, L. Wehenkel, A. Sutera, P. Geurts (2013). Understanding variable importances in
    forests of randomized trees. NIPS 26, section 7.

    Examples
    --------
    >>> import duramen as dm
    >>> rows = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> xor = dm.theory.FiniteDistribution.from_table(rows, [0, 1, 1, 0])
    >>> result = dm.theory.samples.importance_distribution(xor, n_rows=12)
    >>> result.mean().round(3).tolist(), float(result.covariance()[0, 0].round(4))
    ([0.468, 0.468], 0.0061)
    """
    check_distribution(_FUNCTION, dist)
    n = check_integer(_FUNCTION, "n_rows", n_rows, 1, most=inf)
    weights = dist.weights / dist.weights.sum()
    if n_samples is None:
        n_tables = comb(n + dist.n_rows - 1, dist.n_rows - 1)
        if n_tables > _MOST:
            raise refuse(
                _FUNCTION,
                "n_samples",
                f"an int where there are more than {_MOST:,} samples, here {n_tables:,}",
                None,
                "n_samples=1000 draws so many",
            )
        counts = np.array(list(_compositions(n, dist.n_rows)))
        logarithms = gammaln(n + 1) + (xlogy(counts, weights) - gammaln(counts + 1)).sum(axis=1)
        probabilities = np.exp(logarithms)
        probabilities /= probabilities.sum()
    else:
        n_samples = check_integer(_FUNCTION, "n_samples", n_samples, 1)
        random = np.random.default_rng(draw_seed(random_state))
        counts, times = np.unique(
            random.multinomial(n, weights, size=n_samples), axis=0, return_counts=True
        )
        probabilities = times / n_samples
    features = [dist.columns[j] for j in range(dist.n_features)]
    options: dict[str, Any] = {
        "max_features": max_features,
        "max_depth": max_depth,
        "criterion": criterion,
    }
    values = [
        population_importances(
            FiniteDistribution.from_columns(features, dist.columns[TARGET], own / n), **options
        ).values
        for own in counts
    ]
    return ImportanceDistribution(dist.names, np.array(values), probabilities, n_samples is None)


def _compositions(n: int, parts: int) -> Iterator[IntArray]:
    """Yield all ways to write n as a sum of so many counts, in order."""
    for bars in combinations(range(n + parts - 1), parts - 1):
        yield np.diff([-1, *bars, n + parts - 1]) - 1
