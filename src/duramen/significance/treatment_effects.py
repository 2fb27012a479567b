"""Average effects of features on the target as real parameters, with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.results.significance import Intervals
from duramen.support import checks
from duramen.support.arrays import FloatArray
from duramen.support.provenance import versions

_NAME = "average_effects"
_LEAST_ROWS = 10


def average_effects(
    X: ArrayLike,
    y: ArrayLike,
    *,
    outcome: Any = None,
    propensity: Any = None,
    features: list[int] | None = None,
    cv: int = 5,
    confidence_level: float = 0.95,
    clip: float = 0.02,
    names: list[str] | None = None,
    random_state: Any = None,
) -> Intervals:
    r"""Estimate the average effect of high against low values of each feature, given the others.

    .. math:: \psi_j = E_W \bigl\{ E(Y | A_j = 1, W) - E(Y | A_j = 0, W) \bigr\}

    with :math:`A_j = 1` where feature j is above its median (of two values: where it has the larger
    one) and W the other features: the importance of a feature as a real parameter of the
    distribution (van der Laan 2006; thesis, section 4.5). It is estimated by the mean of

    .. math::

        \phi = m_1 - m_0 + \frac{A}{g} (Y - m_1) - \frac{1 - A}{1 - g} (Y - m_0),
        \quad m_a = \hat E(Y | A = a, W), \quad g = \hat P(A = 1 | W)

    with both models fitted on the other folds of a cross-validation. Errors of one are multiplied
    with errors of the other, so that the estimate is nearly unbiased, and normal with the
    standard error :math:`\mathrm{sd}(\phi) / \sqrt n`, where both come reasonably close.

    Parameters
    ----------
    X : array-like of float64, shape (n, p)
        Numeric features; no missing values.
    y : array-like of shape (n,)
        Numbers, 0 and 1 for two classes.
    outcome : regressor, optional
        Model of Y given A and W, in scikit-learn's manner; a random forest of 200 trees by default.
    propensity : classifier, optional
        Model of A given W with ``predict_proba``; a random forest of 200 trees with at least 10
        rows a leaf by default.
    features : list of int, optional
        Indices of the features whose effect is estimated; by default all.
    cv : int, default=5
        Number of folds.
    confidence_level : float, default=0.95
        Probability with which an interval is to cover.
    clip : float, default=0.02
        Least probability of either value of A that is divided by.
    names : list of str, optional
        Names of all p features; ``x0``, ``x1``, ... by default.
    random_state : int, RandomState, Generator or None
        Seed of folds and default forests.

    Returns
    -------
    Intervals
        Effects in units of Y, signed, with standard errors, normal intervals, and one-sided
        p-values of the hypothesis that the effect is 0 or less. Metadata hold the cut of each
        feature.

    Raises
    ------
    ValueError
        If an argument is not as described, or a feature is constant.

    Notes
    -----
    The effect is that of an association given the other features, and causal only where these are
    all that A and Y have in common, and none of them is an effect of A. It needs rows of both
    kinds wherever W is: correlated features, one of which nearly determines A, have wide intervals
    and an effect that rests on few rows. The effect averages over W: one that is positive in half
    of the rows and negative in the others is 0, where MDI and MDA are not.

    References
    ----------
    M. J. van der Laan (2006). Statistical inference for variable importance. International Journal
    of Biostatistics 2. V. Chernozhukov et al. (2018). Double/debiased machine learning for
    treatment and structural parameters. Econometrics Journal 21.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression, LogisticRegression
    >>> import duramen as dm
    >>> random = np.random.default_rng(0)
    >>> X = random.integers(0, 2, (500, 3)).astype(float)
    >>> y = 2 * X[:, 0] + X[:, 1] + random.normal(size=500)
    >>> found = dm.significance.average_effects(
    ...     X, y, outcome=LinearRegression(), propensity=LogisticRegression(), random_state=0)
    >>> found.above(0)
    ('x0', 'x1')
    """
    from duramen.estimators import RandomForestClassifier, RandomForestRegressor  # slow to import

    table, target = _checked(X, y)
    n, p = table.shape
    folds = checks.check_integer(_NAME, "cv", cv, 2)
    checks.check_real(_NAME, "confidence_level", confidence_level, 0.0, 1.0, ends="()")
    checks.check_real(_NAME, "clip", clip, 0.0, 0.5, ends="()")
    seed = checks.draw_seed(random_state)
    labels = [f"x{j}" for j in range(p)] if names is None else list(names)
    chosen = checks.places_of(range(p) if features is None else features, labels, _NAME)
    fold = np.random.default_rng(seed).permutation(n) % folds
    models = (
        RandomForestRegressor(200, random_state=seed % 2**32) if outcome is None else outcome,
        RandomForestClassifier(200, min_samples_leaf=10, random_state=seed % 2**32)
        if propensity is None
        else propensity,
    )
    parts = np.empty((n, len(chosen)))
    cuts = {}
    for place, j in enumerate(chosen):
        cut = _cut(table[:, j], labels[j])
        cuts[labels[j]] = cut
        parts[:, place] = _influences(table, target, j, table[:, j] > cut, fold, models, clip)
    from scipy import stats

    values = parts.mean(axis=0)
    error = parts.std(axis=0, ddof=1) / np.sqrt(n)
    width = float(stats.norm.ppf((1 + confidence_level) / 2)) * error
    ratio = np.divide(values, error, out=np.zeros_like(values), where=error > 0)
    return Intervals(
        names=tuple(labels[j] for j in chosen),
        values=values,
        standard_error=error,
        low=values - width,
        high=values + width,
        confidence_level=confidence_level,
        measure="average effect",
        unit="target",
        method="influence function",
        kind="normal",
        p_values=np.asarray(stats.norm.sf(ratio)),
        metadata={
            _NAME: {"cv": folds, "clip": clip, "cuts": cuts, "seed": seed},
            "versions": versions(),
        },
    )


def _checked(X: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    try:
        table, target = np.array(X, dtype=np.float64), np.array(y, dtype=np.float64)
    except (TypeError, ValueError):
        table, target = np.empty(0), np.empty(0)
    if table.ndim != 2 or len(table) < _LEAST_ROWS or not np.isfinite(table).all():
        what = f"a table of finite numbers with at least {_LEAST_ROWS} rows"
        raise checks.refuse(_NAME, "X", what, np.shape(X))
    if target.shape != (len(table),) or not np.isfinite(target).all():
        raise checks.refuse(_NAME, "y", f"{len(table)} finite numbers", np.shape(y))
    return table, target


def _cut(column: FloatArray, name: str) -> float:
    """Return the value above which a feature counts as high."""
    distinct = np.unique(column)
    if len(distinct) < 2:
        raise ValueError(f"{_NAME}: {name!r} is constant and has no effect. Hint: leave it out.")
    if len(distinct) == 2:
        return float(distinct[0])
    median = float(np.median(column))
    return median if median < distinct[-1] else float(distinct[-2])


def _influences(
    table: FloatArray,
    target: FloatArray,
    j: int,
    high: NDArray[np.bool_],
    fold: NDArray[np.int64],
    models: tuple[Any, Any],
    clip: float,
) -> FloatArray:
    """Return the terms whose mean is the effect of a feature, shape (n,)."""
    from sklearn.base import clone

    others = np.delete(table, j, axis=1)
    with_it = np.column_stack([high, others])
    influences = np.empty(len(table))
    for k in range(int(fold.max()) + 1):
        test = fold == k
        train = ~test
        if high[train].all() or not high[train].any():
            raise ValueError(
                f"{_NAME}: feature {j} has a single value in the rows of a fold. Hint: use fewer "
                "folds, or leave it out."
            )
        outcome = clone(models[0]).fit(with_it[train], target[train])
        chance = np.full(int(test.sum()), high[train].mean())
        if others.shape[1]:
            model = clone(models[1]).fit(others[train], high[train])
            chance = model.predict_proba(others[test])[:, 1]
        chance = np.clip(chance, clip, 1.0 - clip)
        sides = []
        for value in (0.0, 1.0):
            moved = with_it[test].copy()
            moved[:, 0] = value
            sides.append(np.asarray(outcome.predict(moved), dtype=np.float64))
        low_side, high_side = sides
        above, y = high[test], target[test]
        residual = np.where(above, (y - high_side) / chance, -(y - low_side) / (1.0 - chance))
        influences[test] = high_side - low_side + residual
    return influences
