"""Accumulated local effects and partial dependence of one feature."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable
from duramen.data.encoding import routing_values
from duramen.data.learning_sets import table_of
from duramen.data.strata import adjusted_means
from duramen.effects.association import intervals
from duramen.forests.forest import Forest
from duramen.forests.prediction import deviations
from duramen.forests.structure import joined
from duramen.importances.arguments import class_names, encode_like, forest_of, metadata_of
from duramen.results.feature_effect import FeatureEffect
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

POINTS = 40
_INTERVALS = 10
_COPIED = 0.25  # fraction of the nodes of a forest that are copied to predict by some of its trees
_AT_ONCE = 1 << 21  # numbers of copies of the rows that are predicted in one call


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
        A forest of this package or of scikit-learn.
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
        If `forest` is no such forest.
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
    checks.check_integer(function, "n_intervals", n_intervals, 1)
    grown, values, n_threads, j = _read_with(forest, X, feature, function, max_rows, n_jobs)
    return local_effects(grown, values, j, n_intervals, n_threads)


def local_effects(
    forest: Forest, values: FloatArray, j: int, n_intervals: int, n_threads: int
) -> FeatureEffect:
    """Return the accumulated local effect of the j-th column on rows of :func:`read_rows`."""
    users, fraction = _splitting_on(forest, j)
    missing = None
    if forest.schema.missing[j]:
        absent = mean_at(users, values, (j,), np.array([[np.nan]]), n_threads)[0]
        missing = fraction * (absent - deviations(users, values, n_threads).mean(axis=0))
    present = has_value(forest, values, j)
    rows = values if present.all() else values[present]
    column = rows[:, j].copy()
    if forest.schema.kinds[j] == "nominal":
        points = _ordered_levels(forest, rows, j, n_threads)
        weights = np.array([np.count_nonzero(column == level) for level in points])[:, None]
        effects = np.zeros((len(points), forest.n_values))
        for k, pair in enumerate(pairwise(points.tolist())):
            near = rows[np.isin(column, pair)]
            low, high = mean_at(users, near, (j,), np.array(pair)[:, None], n_threads)
            effects[k + 1] = effects[k] + fraction * (high - low)
        at_rows = effects
    else:
        points = _quantiles(column, n_intervals)
        effects = np.zeros((len(points), forest.n_values))
        at_rows, weights = effects, np.ones((1, 1))
        if len(points) > 1:
            interval = np.clip(np.searchsorted(points, column), 1, len(points) - 1) - 1
            rows[:, j] = points[interval + 1]
            change = deviations(users, rows, n_threads)
            rows[:, j] = points[interval]
            change -= deviations(users, rows, n_threads)
            rows[:, j] = column
            weights = np.bincount(interval, minlength=len(points) - 1)[:, None]
            steps = np.zeros((len(points) - 1, forest.n_values))
            np.add.at(steps, interval, change)
            steps *= fraction / weights
            np.cumsum(steps, axis=0, out=effects[1:])
            at_rows = (effects[1:] + effects[:-1]) / 2
    effects = effects - (weights * at_rows).sum(axis=0) / weights.sum()
    choices = {"n_intervals": n_intervals}
    return _effect(forest, j, "ale", points, effects, missing, len(values), **choices)


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
    return _effect(forest, j, "within_strata", points[taken], effects, missing, len(codes))


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
        If `forest` is no such forest.
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
    checks.check_integer(function, "n_points", n_points, 1)
    grown, values, n_threads, j = _read_with(forest, X, feature, function, max_rows, n_jobs)
    rows = values[has_value(grown, values, j)]
    if grown.schema.kinds[j] == "nominal":
        points = _ordered_levels(grown, rows, j, n_threads)
    else:
        points = _quantiles(rows[:, j], n_points - 1)
    effects = mean_at(grown, values, (j,), points[:, None], n_threads) + grown.origin
    missing = None
    if grown.schema.missing[j]:
        missing = mean_at(grown, values, (j,), np.array([[np.nan]]), n_threads)[0] + grown.origin
    method, choices = "partial_dependence", {"n_points": n_points}
    return _effect(grown, j, method, points, effects, missing, len(values), **choices)


# --- rows, and predictions where columns of them are replaced -------------------------------------


def read_rows(
    forest: Forest, X: Any, function: str, max_rows: int | None, n_jobs: int | None
) -> tuple[Forest, FloatArray, int]:
    """Read at most `max_rows` rows, at equal distances, in the terms of a forest's columns.

    Returns the forest, with the labels of the rows for columns that its trees do not split on;
    numbers, codes of categories and NaN for missing, shape (n, p); and the number of threads.
    """
    if max_rows is not None:
        checks.check_integer(function, "max_rows", max_rows, 1)
    X = table_of(X)
    if max_rows is not None and hasattr(X, "take_rows"):  # fewer rows to decode
        X = X.take_rows(_spaced(len(X), max_rows))
    if not all(len(labels) for labels in forest.schema.labels.values()):
        table = encode_like(forest, X)
        if table.n_columns == forest.n_features:
            forest = replace(forest, schema=forest.schema.with_labels_of(table.schema))
    values = routing_values(forest.schema, X, function=function)
    if max_rows is not None:
        values = values[_spaced(len(values), max_rows)]
    values = np.array(values, dtype=np.float64, order="C", copy=True)
    return forest, values, checks.check_jobs(function, n_jobs)


def _spaced(n_rows: int, at_most: int) -> NDArray[np.int64]:
    """Return the indices of rows at equal distances."""
    taken = min(n_rows, at_most)
    return np.asarray((np.arange(taken) + 0.5) * n_rows / taken, dtype=np.int64)


def _read_with(
    forest: Any,
    X: Any,
    feature: str | int,
    function: str,
    max_rows: int | None,
    n_jobs: int | None,
) -> tuple[Forest, FloatArray, int, int]:
    """Read rows by :func:`read_rows`, and the index of a feature, which must have a value there."""
    grown = forest_of(forest, function, X, survival=True)
    grown, values, n_threads = read_rows(grown, X, function, max_rows, n_jobs)
    (j,) = checks.places_of(feature, grown.names, f"{function}: feature")
    if not has_value(grown, values, j).any():
        raise ValueError(
            f"{function}: feature must have a value in X, got {grown.names[j]!r}, which is "
            "missing in all rows."
        )
    return grown, values, n_threads, j


def has_value(forest: Forest, values: FloatArray, j: int) -> NDArray[np.bool_]:
    """Return where a column holds a value that training has seen, shape (n,)."""
    present = ~np.isnan(values[:, j])
    return present & (values[:, j] >= 0) if j in forest.schema.labels else present


def mean_at(
    forest: Forest,
    values: FloatArray,
    columns: tuple[int, ...],
    points: FloatArray,
    n_threads: int,
) -> FloatArray:
    """Return the mean prediction with columns set to each of some points, shape (G, C).

    `points` has the shape (G, number of columns). Predictions are less the forest's origin: effects
    are differences.
    """
    n, means = len(values), np.empty((len(points), forest.n_values))
    at_once = max(1, _AT_ONCE // max(1, values.size))
    for start in range(0, len(points), at_once):
        some = points[start : start + at_once]
        if at_once == 1:  # wide rows are not copied
            before = values[:, columns].copy()
            values[:, columns] = some
            means[start] = deviations(forest, values, n_threads).mean(axis=0)
            values[:, columns] = before
            continue
        copies = np.tile(values, (len(some), 1))
        copies[:, columns] = np.repeat(some, n, axis=0)
        parts = deviations(forest, copies, n_threads).reshape(len(some), n, -1)
        means[start : start + at_once] = parts.mean(axis=1)
    return means


def _splitting_on(forest: Forest, j: int) -> tuple[Forest, float]:
    """Return the trees that split on a column, and their fraction.

    The other trees predict the same for any of its values: a difference of two predictions is
    that of these trees, times their fraction. Where they are many, all trees are returned.
    """
    nodes = np.flatnonzero(forest.feature == j)
    trees = np.unique(np.searchsorted(forest.offsets, nodes, side="right") - 1)
    if not len(trees):
        return forest.part(0, 1), 0.0
    if np.diff(forest.offsets)[trees].sum() > _COPIED * forest.n_nodes:
        return forest, 1.0
    arrays: dict[str, Any] = joined(
        [forest.part(tree, tree + 1).arrays() for tree in trees.tolist()]
    )
    return replace(forest, **arrays, leaf_events=None), len(trees) / forest.n_trees


# --- points of a curve ----------------------------------------------------------------------------


def _quantiles(column: FloatArray, n_intervals: int) -> FloatArray:
    """Return the ends of intervals with about as many rows each, all of them values of a column."""
    distinct = np.unique(column)
    if len(distinct) <= n_intervals + 1:
        return distinct
    steps = np.linspace(0.0, 1.0, n_intervals + 1)
    return np.unique(np.quantile(column, steps, method="inverted_cdf"))


def _ordered_levels(forest: Forest, rows: FloatArray, j: int, n_threads: int) -> FloatArray:
    """Return the codes of the categories that occur, by the mean prediction of their rows."""
    levels, place = np.unique(rows[:, j], return_inverse=True)
    predicted = deviations(forest, rows, n_threads)
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
