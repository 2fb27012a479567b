"""Accumulated local effects and partial dependence of one feature."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from duramen.data import EncodedTable
from duramen.data.strata import adjusted_means
from duramen.effects.response import intervals
from duramen.effects.rows import Rows, column_of, with_all_labels
from duramen.forests.forest import Forest
from duramen.importances.arguments import class_names, forest_of, metadata_of
from duramen.results.feature_effect import FeatureEffect
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

POINTS = 40
_INTERVALS = 10


def accumulated_local_effects(
    forest: Any,
    X: Any,
    feature: str | int,
    *,
    n_intervals: int = POINTS,
    max_rows: int | None = None,
    n_jobs: int | None = None,
) -> FeatureEffect:
    r"""Compute the accumulated local effect of a feature on the predictions of a forest.

    .. math:: \hat g_j(z_k) = \sum_{l=1}^{k} \frac{1}{n_l} \sum_{i: x_{ij} \in (z_{l-1}, z_l]}
       \left[\hat f(z_l, x_{i,\setminus j}) - \hat f(z_{l-1}, x_{i,\setminus j})\right] - c

    with c such that the mean over the rows is 0 (Apley and Zhu 2020, eqs. 15 and 16), and f the
    mean prediction, the probability of a class or, of survival, the mortality: the number of events
    to be expected among rows that are all like this one. The ends :math:`z_k` of the intervals are
    quantiles of the feature. Only rows near a point tell what a change there does, so that no
    prediction is needed for combinations of values that do not occur: unlike partial dependence,
    the effect is not biased where features are correlated.

    The categories of a nominal feature are put in the order of the mean prediction of their rows,
    and a step between two neighbors is the mean over the rows of both.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package.
    X : table of shape (n, p), or LearningSet
        Rows over which effects are averaged, such as the training table.
    feature : str or int
        Name or index of the column.
    n_intervals : int
        At most so many intervals; fewer where the feature has few values.
    max_rows : int, optional
        At most so many rows, at equal distances in the table; by default all.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    FeatureEffect
        With `values` of shape (G, C), of mean 0 over the rows. Rows where the feature is missing
        are left out; `missing` has the mean prediction where it is missing in all rows, less that
        of the rows as they are.

    Raises
    ------
    TypeError
        If `forest` is no forest of this package.
    ValueError
        If the feature is not a column, or has no value in `X`.

    References
    ----------
    Apley and Zhu (2020). Visualizing the effects of predictor variables in black box supervised
    learning models. Journal of the Royal Statistical Society B 82.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).uniform(size=(300, 2))
    >>> forest = dm.RandomForestRegressor(50, random_state=0).fit(X, 3 * X[:, 0] - X[:, 1])
    >>> effect = dm.effects.accumulated_local_effects(forest, X, "x0")
    >>> bool(2 < effect.values[-1, 0] - effect.values[0, 0] < 3)
    True
    """
    function = "accumulated_local_effects"
    grown = forest_of(forest, function, survival=True)
    checks.check_integer(function, "n_intervals", n_intervals, 1)
    rows = Rows.of(grown, X, function, max_rows, n_jobs)
    return local_effects(rows, column_of(grown, feature, function), n_intervals, function)


def local_effects(rows: Rows, j: int, n_intervals: int, function: str) -> FeatureEffect:
    """Return the accumulated local effect of the j-th column on prepared rows."""
    here = _with_values(rows, j, function)
    if rows.forest.schema.kinds[j] == "nominal":
        points, effects = _of_levels(here, j)
    else:
        points, effects = _of_intervals(here, j, n_intervals)
    missing = None
    if rows.forest.schema.missing[j]:
        users, fraction = rows.splitting_on(j)
        absent = users.mean_at((j,), np.array([[np.nan]]))[0]
        missing = fraction * (absent - users.predict().mean(axis=0))
    choices = {"n_intervals": n_intervals}
    return _effect(rows.forest, j, "ale", points, effects, missing, len(rows), **choices)


def effect_within_strata(
    forest: Forest, table: EncodedTable, j: int, numbers: FloatArray, strata: IntArray
) -> FeatureEffect:
    """Return the effect of the j-th column on the mean of numbers, of shape (n, C), within strata.

    The least-squares means of the numbers in intervals of the feature with about as many rows each,
    or in its categories, adjusted for the strata. A forest that does not know the strata has the
    effect of both.
    """
    codes, values = table.codes(j).astype(np.int64), table.values(j)
    present = codes < len(values)
    levels, points = codes.copy(), np.arange(len(values), dtype=np.float64)
    if forest.schema.kinds[j] == "numeric":
        levels[present] = intervals(codes[present], _INTERVALS)
        inside = np.asarray(values, dtype=np.float64)[codes[present]]
        sizes = np.bincount(levels[present])
        points = np.bincount(levels[present], inside) / np.maximum(sizes, 1)
    levels[~present] = len(points)
    means = adjusted_means(levels, numbers, strata) - numbers.mean(axis=0)
    taken, sizes = np.unique(levels[present], return_counts=True)
    if forest.schema.kinds[j] == "nominal":
        order = _order_of(means[taken])
        taken, sizes = taken[order], sizes[order]
    effects = means[taken] - sizes @ means[taken] / sizes.sum()
    missing = None if present.all() else means[-1]
    labeled = with_all_labels(forest, table)
    return _effect(labeled, j, "within_strata", points[taken], effects, missing, len(codes))


def partial_dependence(
    forest: Any,
    X: Any,
    feature: str | int,
    *,
    n_points: int = POINTS,
    max_rows: int | None = None,
    n_jobs: int | None = None,
) -> FeatureEffect:
    r"""Compute the partial dependence of the predictions of a forest on a feature.

    .. math:: \hat F_j(z) = \frac{1}{n} \sum_{i=1}^{n} \hat f(z, x_{i,\setminus j})

    the mean prediction with the feature set to z in all rows (Friedman 2001, eq. 53). Where
    features are correlated it needs predictions for combinations of values that do not occur;
    :func:`accumulated_local_effects` does not.

    Parameters
    ----------
    forest, X, feature, max_rows, n_jobs
        As for :func:`accumulated_local_effects`.
    n_points : int
        At most so many points: all values of the feature, or so many quantiles.

    Returns
    -------
    FeatureEffect
        With `values` of shape (G, C), and `missing` where the feature had missing values in
        training.

    Raises
    ------
    TypeError
        If `forest` is no forest of this package.
    ValueError
        If the feature is not a column, or has no value in `X`.

    References
    ----------
    Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals of
    Statistics 29.

    Examples
    --------
    >>> import duramen as dm
    >>> X = [[i % 2, i % 5] for i in range(40)]
    >>> forest = dm.RandomForestRegressor(20, random_state=0).fit(X, [row[0] for row in X])
    >>> effect = dm.effects.partial_dependence(forest, X, 0)
    >>> effect.points.tolist(), bool(effect.values[0, 0] < 0.2 < 0.8 < effect.values[1, 0])
    ([0.0, 1.0], True)
    """
    function = "partial_dependence"
    grown = forest_of(forest, function, survival=True)
    checks.check_integer(function, "n_points", n_points, 1)
    rows = Rows.of(grown, X, function, max_rows, n_jobs)
    j = column_of(grown, feature, function)
    here = _with_values(rows, j, function)
    nominal = grown.schema.kinds[j] == "nominal"
    points = _ordered_levels(here, j) if nominal else _quantiles(here.values[:, j], n_points - 1)
    effects = rows.mean_at((j,), points[:, None]) + grown.origin
    missing = None
    if grown.schema.missing[j]:
        missing = rows.mean_at((j,), np.array([[np.nan]]))[0] + grown.origin
    choices = {"n_points": n_points}
    return _effect(
        rows.forest, j, "partial_dependence", points, effects, missing, len(rows), **choices
    )


def _with_values(rows: Rows, j: int, function: str) -> Rows:
    """Return the rows that have a value in the j-th column."""
    present = rows.present(j)
    if not present.any():
        raise ValueError(
            f"{function}: feature must have a value in X, got {rows.forest.names[j]!r}, which is "
            "missing in all rows."
        )
    return rows if present.all() else Rows(rows.forest, rows.values[present], rows.n_threads)


def _quantiles(column: FloatArray, n_intervals: int) -> FloatArray:
    """Return the ends of intervals with about as many rows each, all of them values of a column."""
    distinct = np.unique(column)
    if len(distinct) <= n_intervals + 1:
        return distinct
    steps = np.linspace(0.0, 1.0, n_intervals + 1)
    return np.unique(np.quantile(column, steps, method="inverted_cdf"))


def _of_intervals(rows: Rows, j: int, n_intervals: int) -> tuple[FloatArray, FloatArray]:
    column = rows.values[:, j].copy()
    ends = _quantiles(column, n_intervals)
    if len(ends) == 1:
        return ends, np.zeros((1, rows.forest.n_values))
    interval = np.clip(np.searchsorted(ends, column), 1, len(ends) - 1) - 1
    users, fraction = rows.splitting_on(j)
    upper, lower = (users.replaced((j,), at[None]) for at in (ends[interval + 1], ends[interval]))
    sizes = np.bincount(interval, minlength=len(ends) - 1)[:, None]
    steps = np.zeros((len(ends) - 1, upper.shape[1]))
    np.add.at(steps, interval, upper - lower)
    steps *= fraction / sizes
    effects = np.vstack([np.zeros(upper.shape[1]), np.cumsum(steps, axis=0)])
    middle = (effects[1:] + effects[:-1]) / 2
    return ends, effects - (sizes * middle).sum(axis=0) / sizes.sum()


def _ordered_levels(rows: Rows, j: int) -> FloatArray:
    """Return the codes of the categories that occur, by the mean prediction of their rows."""
    levels, place = np.unique(rows.values[:, j], return_inverse=True)
    predicted = rows.predict()
    means = np.array([predicted[place == k].mean(axis=0) for k in range(len(levels))])
    return levels[_order_of(means)]


def _order_of(means: FloatArray) -> IntArray:
    """Return the order of categories by their means, of shape (k, C).

    With several classes, by the first principal component of the mean probabilities.
    """
    centered = means - means.mean(axis=0)
    axis = np.linalg.svd(centered, full_matrices=False)[2][0]
    heaviest = np.abs(axis).argmax() if len(axis) != 2 else 1
    scores = centered @ (axis * (np.sign(axis[heaviest]) or 1.0))
    return np.argsort(scores, kind="stable")


def _of_levels(rows: Rows, j: int) -> tuple[FloatArray, FloatArray]:
    levels = _ordered_levels(rows, j)
    column = rows.values[:, j]
    sizes = np.array([np.count_nonzero(column == level) for level in levels])[:, None]
    effects = [np.zeros(rows.forest.n_values)]
    users, fraction = rows.splitting_on(j)
    for low, high in pairwise(levels.tolist()):
        near = Rows(users.forest, rows.values[np.isin(column, (low, high))], rows.n_threads)
        pair = near.mean_at((j,), np.array([[low], [high]]))
        effects.append(effects[-1] + fraction * (pair[1] - pair[0]))
    effects_of_levels = np.array(effects)
    return levels, effects_of_levels - (sizes * effects_of_levels).sum(axis=0) / sizes.sum()


def _effect(
    forest: Forest,
    j: int,
    method: str,
    points: FloatArray,
    effects: FloatArray,
    missing: FloatArray | None,
    n_rows: int,
    **choices: int,
) -> FeatureEffect:
    labels = forest.schema.labels.get(j)
    names = () if labels is None else tuple(str(labels[int(code)]) for code in points)
    return FeatureEffect(
        name=forest.names[j],
        kind=forest.schema.kinds[j],
        method=method,
        points=points if labels is None else np.arange(len(points), dtype=np.float64),
        labels=names,
        values=effects,
        classes=class_names(forest),
        missing=missing,
        metadata=metadata_of(forest, method, n_effect_rows=n_rows, **choices),
    )
