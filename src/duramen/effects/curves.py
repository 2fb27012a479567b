"""Accumulated local effects and partial dependence of one feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from duramen.data import EncodedTable
from duramen.data.encoding import routing_values
from duramen.data.learning_sets import table_of
from duramen.data.strata import adjusted_means
from duramen.effects.association import intervals
from duramen.forests.forest import Forest
from duramen.forests.prediction import deviations, replacement_changes, same_codes
from duramen.importances.arguments import class_names, encode_like, forest_of, metadata_of
from duramen.results.feature_effect import FeatureEffect
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, TableLike
from duramen.support.provenance import frozen_metadata

Rows: TypeAlias = EncodedTable | FloatArray  # of :func:`read_rows`

POINTS = 40
_INTERVALS = 10
_AT_ONCE = 1 << 21  # changes of predictions that are held at a time


def accumulated_local_effects(
    forest: Any,
    X: TableLike,
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
    to be expected among rows that are all like this one. Of boosted trees f is the raw prediction,
    such as the log-odds of a class. The ends :math:`z_k` of the intervals are
    quantiles of the feature. Only rows near a point tell what a change there does, so that no
    prediction is needed for combinations of values that do not occur: unlike partial dependence,
    the effect is not biased where features are correlated.

    The categories of a nominal feature are put in the order of the mean prediction of their rows,
    and a step between two neighbors is the mean over the rows of both.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package or of scikit-learn, or boosted trees
        (:meth:`duramen.Forest.from_boosting`).
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
    grown, rows, taken, n_threads, j = _read_with(forest, X, feature, function, max_rows, n_jobs)
    return local_effects(grown, rows, taken, [j], n_intervals, n_threads)[j]


def local_effects(
    forest: Forest,
    rows: Rows,
    taken: IntArray,
    columns: Sequence[int],
    n_intervals: int,
    n_threads: int,
) -> dict[int, FeatureEffect]:
    """Return the accumulated local effects of columns that have a value in rows of `read_rows`."""
    at_once = max(1, _AT_ONCE // (3 * len(taken) * forest.n_values))
    if len(columns) > at_once:
        parts = (columns[i : i + at_once] for i in range(0, len(columns), at_once))
        every = (local_effects(forest, rows, taken, some, n_intervals, n_threads) for some in parts)
        return {j: effect for effects in every for j, effect in effects.items()}
    numbers = numbers_of(forest, rows, taken, columns)
    points, place, n_points = _points(forest, rows, taken, columns, numbers, n_intervals)
    nominal = np.array([forest.schema.kinds[j] == "nominal" for j in columns], dtype=np.bool_)
    lacking = [i for i, j in enumerate(columns) if forest.schema.missing[j]]
    n, m, width = len(taken), len(columns), forest.n_values

    # Each row is predicted with the values of the points beside it: low and high.
    low = np.where(nominal, place - 1, np.minimum(place - 1, n_points - 2)).clip(0)
    high = np.minimum(np.where(nominal, place, low) + 1, n_points - 1)
    own, present = np.arange(n)[:, None], ~np.isnan(numbers)
    ends = [taken[np.where(present, points[at, np.arange(m)], own)].T for at in (low, high)]
    missing = [np.full((1, n), missing_row(forest, rows, columns[i])) for i in lacking]
    groups = [*columns, *columns, *(columns[i] for i in lacking)]
    donors = np.concatenate([*ends, *missing])[:, None]
    _, changes = replacement_changes(forest, rows, taken, [[j] for j in groups], donors, n_threads)
    absent = dict(zip(lacking, changes[2 * m :].mean(axis=1), strict=True))

    # Mean steps, their sums, and these less their mean over the rows.
    n_most = len(points)
    shape, first = (m, n_most), n_most * np.arange(m)
    at_rise, at_fall = ((first + at).T.reshape(-1) for at in ((high - 1).clip(0), low))
    steps = np.stack(
        [
            np.bincount(at_rise, changes[m : 2 * m, :, k].reshape(-1), m * n_most)
            - np.bincount(at_fall, changes[:m, :, k].reshape(-1), m * n_most)
            for k in range(width)
        ],
        axis=-1,
    ).reshape(*shape, width)
    at = np.where(nominal, place, low)
    sizes = np.bincount((first + at)[present], minlength=m * n_most).reshape(shape)
    near, n_present = sizes.copy(), sizes.sum(axis=1)[:, None, None]
    near[nominal, :-1] += sizes[nominal, 1:]
    curves = np.zeros((*shape, width))
    np.cumsum((steps / np.maximum(near, 1)[..., None])[:, :-1], axis=1, out=curves[:, 1:])
    middle = curves.copy()
    middle[~nominal, :-1] = (curves[~nominal, :-1] + curves[~nominal, 1:]) / 2
    curves -= (sizes[..., None] * middle / np.maximum(n_present, 1)).sum(axis=1, keepdims=True)
    choices = {"n_effect_rows": n, "n_intervals": n_intervals}
    metadata = frozen_metadata("FeatureEffect", metadata_of(forest, "ale", **choices))
    return {
        j: _effect(
            forest,
            rows,
            j,
            "ale",
            numbers[points[: n_points[i], i], i],
            curves[i, : n_points[i]],
            absent.get(i),
            metadata,
        )
        for i, j in enumerate(columns)
        if n_points[i]
    }


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
    metadata = metadata_of(forest, "within_strata", n_effect_rows=len(codes))
    return _effect(forest, None, j, "within_strata", points[taken], effects, missing, metadata)


def partial_dependence(
    forest: Any,
    X: TableLike,
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
        Largest number of points; features with more values are evaluated at quantiles.

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
    grown, rows, taken, n_threads, j = _read_with(forest, X, feature, function, max_rows, n_jobs)
    numbers = numbers_of(grown, rows, taken, [j])
    points = _points(grown, rows, taken, [j], numbers, n_points - 1)[0][:, 0]
    donors = taken[points]
    if grown.schema.missing[j]:
        donors = np.append(donors, missing_row(grown, rows, j))
    effects = mean_at(grown, rows, taken, (j,), donors[:, None], n_threads) + grown.origin
    values = numbers[points, 0]
    missing = effects[-1] if grown.schema.missing[j] else None
    method = "partial_dependence"
    metadata = metadata_of(grown, method, n_effect_rows=len(taken), n_points=n_points)
    return _effect(grown, rows, j, method, values, effects[: len(points)], missing, metadata)


# --- rows, and predictions where columns of them are replaced -------------------------------------


def read_rows(
    forest: Forest, X: Any, function: str, max_rows: int | None, n_jobs: int | None
) -> tuple[Forest, Rows, IntArray, int]:
    """Read rows in the terms of a forest's columns, and take at most `max_rows` of them.

    Returns the forest, with the labels of the rows for columns that its trees do not split on; the
    rows; the indices of those over which effects are averaged, at equal distances in the table; and
    the number of threads. Rows are the table itself where its codes are those of the forest, else
    numbers, codes of categories and NaN for missing, with a last row where all is missing.
    """
    if max_rows is not None:
        checks.check_integer(function, "max_rows", max_rows, 1)
    X = table_of(X)
    if not all(len(labels) for labels in forest.schema.labels.values()):
        table = encode_like(forest, X)
        if table.n_columns == forest.n_features:
            forest = replace(forest, schema=forest.schema.with_labels_of(table.schema))
    n_threads = checks.check_jobs(function, n_jobs)
    if isinstance(X, EncodedTable) and same_codes(forest, X.schema):
        lacking = np.flatnonzero(X.missing).tolist()
        if all((X.codes(j) == len(X.values(j))).any() for j in lacking):
            return forest, X, _spaced(X.n_rows, max_rows), n_threads
    if max_rows is not None and hasattr(X, "take_rows"):  # fewer rows to decode
        X = X.take_rows(_spaced(len(X), max_rows))
    values = routing_values(forest.schema, X, function=function)
    values = values[_spaced(len(values), max_rows)]
    rows = np.vstack([values, np.full((1, values.shape[1]), np.nan)])
    return forest, rows, np.arange(len(values)), n_threads


def _spaced(n_rows: int, at_most: int | None) -> IntArray:
    """Return the indices of rows at equal distances."""
    taken = n_rows if at_most is None else min(n_rows, at_most)
    return np.asarray((np.arange(taken) + 0.5) * n_rows / taken, dtype=np.int64)


def _read_with(
    forest: Any,
    X: Any,
    feature: str | int,
    function: str,
    max_rows: int | None,
    n_jobs: int | None,
) -> tuple[Forest, Rows, IntArray, int, int]:
    """Read rows by :func:`read_rows`, and the index of a feature, which must have a value there."""
    grown = forest_of(forest, function, X, survival=True, boosted=True)
    grown, rows, taken, n_threads = read_rows(grown, X, function, max_rows, n_jobs)
    (j,) = checks.places_of(feature, grown.names, f"{function}: feature")
    if np.isnan(numbers_of(grown, rows, taken, [j])).all():
        raise ValueError(
            f"{function}: feature must have a value in X, got {grown.names[j]!r}, which is "
            "missing in all rows."
        )
    return grown, rows, taken, n_threads, j


def numbers_of(
    forest: Forest,
    rows: Rows,
    taken: IntArray,
    columns: Sequence[int],
    unseen: float = np.nan,
) -> FloatArray:
    """Return codes or values of columns, NaN for missing; shape (n, m).

    `unseen` stands for a category that training has not seen.
    """
    numbers = np.empty((len(taken), len(columns)))
    for i, j in enumerate(columns):
        if isinstance(rows, EncodedTable):
            codes = rows.codes(j)[taken]
            numbers[:, i] = np.where(codes < len(rows.values(j)), codes, np.nan)
        else:
            own = rows[taken, j]
            numbers[:, i] = np.where(own < 0, unseen, own) if j in forest.schema.labels else own
    return numbers


def missing_row(forest: Forest, rows: Rows, j: int) -> int:
    """Return the index of a row that lacks a column."""
    if isinstance(rows, EncodedTable):
        return int((rows.codes(j) == len(rows.values(j))).argmax())
    return len(rows) - 1


def mean_at(
    forest: Forest,
    rows: Rows,
    taken: IntArray,
    columns: tuple[int, ...],
    donors: IntArray,
    n_threads: int,
) -> FloatArray:
    """Return the mean prediction with columns set to their values in each of G rows, shape (G, C).

    `donors` has the shape (G, number of columns). Predictions are less the forest's origin: effects
    are differences.
    """
    n, means = len(taken), np.empty((len(donors), forest.n_values))
    at_once = max(1, _AT_ONCE // (n * forest.n_values))
    for start in range(0, len(donors), at_once):
        some = donors[start : start + at_once]
        own, changes = replacement_changes(
            forest,
            rows,
            taken,
            [columns] * len(some),
            np.repeat(some.reshape(-1, 1, 1), n, axis=2),
            n_threads,
        )
        means[start : start + at_once] = own.mean(axis=0) + changes.mean(axis=1)
    return means


# --- points of a curve ----------------------------------------------------------------------------


def _points(
    forest: Forest,
    rows: Rows,
    taken: IntArray,
    columns: Sequence[int],
    numbers: FloatArray,
    n_intervals: int,
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the points of the curves of columns, each as a row with the value of the point.

    They are the ends of intervals with about as many rows each, or all values of few, and of a
    nominal column, whose order is that of the mean predictions of the rows. With shapes (G, m),
    (n, m) and (m,): rows of the points, number of points below the value of each row, and number of
    points.
    """
    n, m = numbers.shape
    order = np.argsort(numbers, axis=0, kind="stable")
    ordered = np.take_along_axis(numbers, order, axis=0)
    is_first = np.ones((n, m), dtype=np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    is_first &= ~np.isnan(ordered)
    first = np.maximum.accumulate(np.where(is_first, np.arange(n)[:, None], 0), axis=0)
    nominal = np.array([forest.schema.kinds[j] == "nominal" for j in columns])
    many = ~nominal & (np.count_nonzero(is_first, axis=0) > n_intervals + 1)
    n_present, is_point = np.count_nonzero(~np.isnan(ordered), axis=0), is_first & ~many
    for n_rows in np.unique(n_present[many]).tolist():  # quantiles, by the inverse of the ECDF
        here = np.flatnonzero(many & (n_present == n_rows))
        steps = np.ceil(n_rows * np.linspace(0.0, 1.0, n_intervals + 1) - 1.0).astype(np.int64)
        is_point[first[np.ix_(steps.clip(0), here)], here] = True
    below = np.take_along_axis(np.cumsum(is_point, axis=0) - is_point, first, axis=0)
    n_points = np.count_nonzero(is_point, axis=0)
    points = np.zeros((max(1, int(n_points.max())), m), dtype=np.int64)
    column, at = np.nonzero(is_point.T)
    points[below[at, column], column] = order[at, column]
    place = np.empty_like(below)
    np.put_along_axis(place, order, below, axis=0)
    predicted = None
    for i in np.flatnonzero(nominal & (n_points > 0)).tolist():
        if predicted is None:
            sample = rows.take_rows(taken) if isinstance(rows, EncodedTable) else rows[taken]
            predicted = deviations(forest, sample)
        here = ~np.isnan(numbers[:, i])
        own, levels = place[here, i], n_points[i]
        means = np.stack([predicted[here][own == level].mean(axis=0) for level in range(levels)])
        by_mean = _order_of(means)
        points[:levels, i] = points[by_mean, i]
        place[here, i] = np.argsort(by_mean)[own]
    return points, place, n_points


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
    rows: Rows | None,
    j: int,
    method: str,
    points: FloatArray,
    effects: FloatArray,
    missing: FloatArray | None,
    metadata: Mapping[str, Any],
) -> FeatureEffect:
    labels = forest.schema.labels.get(j)
    if isinstance(rows, EncodedTable) and labels is None:  # points are codes
        points = np.asarray(rows.values(j)[points.astype(np.int64)], dtype=np.float64)
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
        dates=forest.schema.dates.get(forest.names[j]),
        metadata=metadata,
    )
