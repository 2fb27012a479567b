"""Interaction of two features: Friedman's H statistic, and a test on the rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from typing import Any

import numpy as np

from duramen.data import EncodedTable, LearningSet
from duramen.data.additive_model import AdditiveModel, additive_model, basis_of
from duramen.effects.association import intervals
from duramen.effects.curves import Rows, mean_at, numbers_of, read_rows
from duramen.forests.forest import Forest
from duramen.importances.arguments import forest_of, metadata_of
from duramen.results.feature_effect import InteractionStrengths
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, TableLike
from duramen.support.threads import one_blas_thread

ROWS = 100
_ROUNDING = 1e-20  # of squares
_CUTS = 3  # of a feature, that find its main effect
_LEVELS = 3
_RANK = 1e-6


def interaction_strength(
    forest: Any,
    X: TableLike,
    features: Sequence[str | int] | None = None,
    *,
    max_rows: int | None = ROWS,
    n_jobs: int | None = None,
) -> InteractionStrengths:
    r"""Compute Friedman's H statistic of every pair of features, and its numerator.

    .. math:: H_{jk}^2 = \frac{\sum_i [\hat F_{jk}(x_{ij}, x_{ik}) - \hat F_j(x_{ij})
       - \hat F_k(x_{ik})]^2}{\sum_i \hat F_{jk}(x_{ij}, x_{ik})^2}

    with F the partial dependence on one or two features, centered over the rows (Friedman and
    Popescu 2008, eq. 44), summed over the classes in classification. H is the fraction of a joint
    effect, which may be small: pairs are in the order of `strengths`, the square root of the mean
    of the numerator, which has the unit of the predictions. Where features are correlated, both
    depend on predictions for combinations of values that do not occur.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package or of scikit-learn.
    X : table of shape (n, p), or LearningSet
        Rows over which effects are averaged, such as the training table.
    features : sequence of str or int, optional
        Columns whose pairs are measured; by default all.
    max_rows : int, optional
        At most so many rows, at equal distances in the table; None for all. The time grows with
        their square.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    InteractionStrengths

    Raises
    ------
    TypeError
        If `forest` is no such forest.
    ValueError
        If there are fewer than two features, or one is not a column.

    References
    ----------
    Friedman and Popescu (2008). Predictive learning via rule ensembles. Annals of Applied
    Statistics 2.

    Examples
    --------
    >>> import duramen as dm
    >>> X = [[i % 2, i // 2 % 2, i % 3] for i in range(48)]
    >>> forest = dm.RandomForestClassifier(50, random_state=0).fit(X, [a ^ b for a, b, _ in X])
    >>> strengths = dm.effects.interaction_strength(forest, X)
    >>> strengths.pairs[0], bool(strengths.h[0] > 0.9)
    (('x0', 'x1'), True)
    """
    function = "interaction_strength"
    grown = forest_of(forest, function, X, survival=True, boosted=True)
    asked = range(grown.n_features) if features is None else features
    columns = checks.places_of(asked, grown.names, f"{function}: features")
    if len(columns) < 2:
        raise ValueError(f"{function}: features must be two or more, got {len(columns)}.")
    grown, rows, taken, n_threads = read_rows(grown, X, function, max_rows, n_jobs)
    every = list(combinations(columns, 2))
    pairs, strengths, h, mains = pair_strengths(grown, rows, taken, every, n_threads)
    return InteractionStrengths(
        pairs=tuple((grown.names[j], grown.names[k]) for j, k in pairs),
        strengths=strengths,
        h=h,
        mains={grown.names[j]: main for j, main in mains.items()},
        metadata=metadata_of(grown, function, n_effect_rows=len(taken)),
    )


def pair_strengths(
    forest: Forest, rows: Rows, taken: IntArray, pairs: list[tuple[int, int]], n_threads: int
) -> tuple[list[tuple[int, int]], FloatArray, FloatArray, dict[int, float]]:
    """Return pairs of columns, the strongest first, with strength and H; and main effects."""

    def dependence(at: tuple[int, ...]) -> FloatArray:
        """Return the centered partial dependence on columns at the values of each row, (n, C)."""
        own = numbers_of(forest, rows, taken, at, unseen=-1.0)
        own[np.isnan(own)] = np.inf  # missing values are equal to each other
        _, first, place = np.unique(own, axis=0, return_index=True, return_inverse=True)
        donors = np.repeat(taken[first][:, None], len(at), axis=1)
        effects = mean_at(forest, rows, taken, at, donors, n_threads)[place.reshape(-1)]
        return np.asarray(effects - effects.mean(axis=0))

    alone = {j: dependence((j,)) for j in dict.fromkeys(chain.from_iterable(pairs))}
    numerators, totals = np.zeros(len(pairs)), np.zeros(len(pairs))
    for i, (j, k) in enumerate(pairs):
        together = dependence((j, k))
        numerators[i] = np.square(together - alone[j] - alone[k]).mean()
        totals[i] = np.square(together).mean()
        if numerators[i] <= _ROUNDING * totals[i]:
            numerators[i] = 0.0
    h = np.sqrt(np.divide(numerators, totals, out=np.zeros(len(pairs)), where=totals > 0))
    order = np.argsort(-numerators, kind="stable")
    mains = {j: float(np.sqrt(np.square(effects).mean())) for j, effects in alone.items()}
    return [pairs[i] for i in order], np.sqrt(numerators[order]), h[order], mains


@one_blas_thread()
def main_effects(data: LearningSet[EncodedTable], columns: Sequence[int]) -> AdditiveModel:
    """Return an additive model of the main effects of some columns, and of the strata."""
    rows, features = data.exchangeability, np.asarray(columns, dtype=np.int64)
    return additive_model(data.table, data.target, features, _CUTS, rows.units, rows.strata)


@one_blas_thread()
def interaction_p_value(
    data: LearningSet[EncodedTable], model: AdditiveModel, j: int, k: int
) -> float:
    r"""Return the p-value of the score test for an interaction of two columns.

    Both columns are put into at most three groups: intervals of about as many rows, or the two
    largest categories and the rest. With :math:`s_i` the efficient scores of row i for the products
    of their indicators, given the model and the indicators of both, the statistic is

    .. math:: (\sum_i s_i)^\top \bigl(\sum_u S_u S_u^\top\bigr)^{-1} \sum_i s_i,
       \quad S_u = \sum_{i \in u} s_i,

    with units u of the rows of a group, or single rows. It has a chi-squared distribution, about,
    if the mean of the target, the log-odds of its classes, or the log-hazard is a sum of main
    effects that the model holds; the variance of the target may differ between rows.
    """
    from scipy.special import chdtrc

    bases = []
    for column in (j, k):
        codes = data.table.codes(column).astype(np.int64)
        if data.table.kinds[column] == "nominal":
            _, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
            ranks = np.argsort(np.argsort(-counts, kind="stable"), kind="stable")
            group = np.asarray(np.minimum(ranks, _LEVELS - 1)[place], dtype=np.int64)
        else:
            group = intervals(codes, _LEVELS)
        bases.append(basis_of(group, True, float(data.n_rows)))
    first, other = bases
    given = model.with_terms(np.hstack([first, other]))
    products = (first[:, :, np.newaxis] * other[:, np.newaxis]).reshape(data.n_rows, -1)
    if not products.shape[1]:  # a constant column
        return 1.0
    scores = np.hstack([given.scores(products, m) for m in range(len(model.means))])
    if data.target.codes is not None and data.exchangeability.groups is None:
        covariance = given.information(products)
    else:
        unit = data.exchangeability.units
        sums = np.stack([np.bincount(unit, column) for column in scores.T], axis=1)
        covariance = np.asarray(sums.T @ sums, dtype=np.float64)
    sizes, axes = np.linalg.eigh(covariance)
    large = sizes > _RANK * max(float(sizes[-1]), _RANK * data.n_rows)
    statistic = np.square(axes.T[large] @ scores.sum(axis=0)) / sizes[large]
    return float(chdtrc(large.sum(), statistic.sum())) if large.any() else 1.0
