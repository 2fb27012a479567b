r"""Models of a context given the target and the features, one for each null hypothesis.

A feature X_m is context-independent if, given the other features, the odds of the contexts are a
product of a function of the target and a function of X_m:

.. math:: \log P(c | x, y) = f_c(x_{-m}, y) + g_c(x) + const

so that the association of X_m and Y, as odds ratios, is the same in all contexts. The model of X_m
is a logistic regression of the context on the target, on features and pairs of features that are
associated with the context given the target, and on their products with the target, but for those
of X_m.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from duramen.contexts.inputs import Context, Growth
from duramen.contexts.nulls import Null, Nulls
from duramen.data import EncodedTable
from duramen.support.arrays import FloatArray, IntArray

# Level of the score tests that choose the terms of the models, and how many terms may be chosen by
# chance if there are many. A term that is missed leaves an effect unexplained, whose nodes let
# noise features seem to depend on the context; one that is chosen by chance costs little power.
_LEVEL = 0.2
_CHOSEN_BY_CHANCE = 3.0
# Terms without a place in the models are noted where their p-values, times the number of features,
# are at most this.
_NOTED = 0.05
# Number of features, by increasing p-value, among which pairs are searched.
_PAIRED = 100
# Columns of a model: rows for each, and the most.
_ROWS_PER_COLUMN = 5
_MOST_COLUMNS = 60
# Standard errors from which on two features count as correlated.
_CORRELATED = 3.5
# Rarer categories are taken together.
_FEWEST_ROWS = 10
_MOST_CATEGORIES = 5
# Penalty on half the squared coefficients of columns of variance 1. It keeps them finite; a larger
# one, as the 1 of scikit-learn, shrinks strong effects, and what is left of them counts against
# the null hypotheses.
_RIDGE = 0.1
_STEPS, _HALVINGS = 30, 12
_CONVERGED = 1e-8


def conditional_nulls(growth: Growth, context: Context, equal: Nulls) -> Nulls:
    """Choose the terms of the models of a context, and fit the model of each feature.

    The terms are those with small p-values of the score test, as far as there are rows.
    """
    table, rows = growth.data.table, equal.relevance.rows
    n, p = table.n_rows, table.n_columns
    values = np.asarray(growth.data.target.values)
    if growth.data.classes is not None:
        target = _standardized(_indicators(values.astype(np.int64)))
    else:
        codes = np.unique(values, return_inverse=True)[1].reshape(-1)
        target = _standardized(_scores(codes, np.ones(n, dtype=np.bool_)))
    bases = [feature_basis(table, j) for j in range(p)]
    p_value = score_test(context, equal.cells)

    def columns_of(features: tuple[int, ...]) -> FloatArray:
        """Return the basis of a feature, or the products of the first columns of two."""
        if len(features) == 1:
            return bases[features[0]]
        first, second = (bases[j][:, :1] for j in features)
        return products(first, second)

    def with_target(features: tuple[int, ...]) -> FloatArray:
        own = columns_of(features)
        return np.hstack([own, products(target, own)])

    singles = {(j,): p_value(with_target((j,))) for j in range(p)}
    first = sorted(j for (j,) in sorted(singles, key=singles.__getitem__)[:_PAIRED])
    pairs = {pair: p_value(with_target(pair)) for pair in combinations(first, 2)}
    chosen: dict[tuple[int, ...], float] = {}
    for tested in (singles, pairs):
        level = min(_LEVEL, _CHOSEN_BY_CHANCE / max(1, len(tested)))
        chosen |= {term: own for term, own in tested.items() if own <= level}
    room = min(n // _ROWS_PER_COLUMN, _MOST_COLUMNS)
    terms: list[tuple[int, ...]] = []
    left_out = 0
    for term in sorted(chosen, key=chosen.__getitem__):
        width = with_target(term).shape[1]
        if width <= room:
            terms.append(term)
            room -= width
        else:
            left_out += chosen[term] <= _NOTED / max(1, p)
    if not terms:
        return equal

    def log_weights(tested: int | None) -> FloatArray:
        """Return log-probabilities of the contexts if `tested` is context-independent.

        What a feature shares with a correlated one that is tested is left to that one: otherwise
        copies of a feature would explain each other.
        """
        columns = [target]
        for term in terms:
            own = columns_of(term)
            columns.append(own)
            if tested is None:
                columns.append(products(target, own))
            elif tested not in term:
                columns.append(products(target, _without(own, bases[tested])))
        codes = context.codes.astype(np.int64)
        return log_probabilities(np.column_stack(columns), codes, context.count, rows.strata)

    own = sorted({j for term in terms for j in term})
    others = np.setdiff1d(np.arange(p), own)
    every: list[tuple[IntArray, int | None]] = [(others, None)] if len(others) else []
    every += [(np.array([j]), j) for j in own]
    effects = tuple(
        Null(equal.effects[0].rows, features, log_weights(j), number)
        for number, (features, j) in enumerate(every)
    )
    return replace(equal, effects=effects, terms=tuple(terms), n_left_out=left_out)


def _without(columns: FloatArray, basis: FloatArray) -> FloatArray:
    """Return the residuals of columns after regression on correlated columns of a basis."""
    n = len(columns)
    near = np.abs(columns.T @ basis).max(axis=1, initial=0.0) / n > _CORRELATED / np.sqrt(n)
    left = columns.copy()
    if near.any():
        fitted = basis @ np.linalg.lstsq(basis, columns[:, near], rcond=None)[0]
        left[:, near] -= fitted
    return left


def score_test(context: Context, cells: IntArray) -> Callable[[FloatArray], float]:
    """Return the test of columns for an association with the context within groups of rows.

    Its p-value is that of a quadratic form of the scores, under permutations within the groups.
    """
    from scipy import stats

    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(cells)))

    def squares_of(own: FloatArray) -> FloatArray:
        """Return the sums of products of two columns in each group, of shape (G, c, c)."""
        return np.add.reduceat(own[:, :, None] * own[:, None, :], starts)

    weights = _centered(np.eye(context.count)[:, 1:][context.codes[order]], starts, sizes)
    covariances = squares_of(weights) / np.maximum(sizes - 1, 1)[:, None, None]

    def p_value(columns: FloatArray) -> float:
        if not columns.shape[1]:
            return 1.0
        own = _centered(columns[order], starts, sizes)
        scores = (weights.T @ own).ravel()
        covariance = np.einsum("gab,gde->adbe", covariances, squares_of(own), optimize=True)
        covariance = covariance.reshape(len(scores), len(scores))
        values, vectors = np.linalg.eigh(covariance)
        positive = values > 1e-9 * max(float(values[-1]), 1e-300)
        if not positive.any() or values[-1] <= 0:
            return 1.0
        statistic = float((((scores @ vectors[:, positive]) ** 2) / values[positive]).sum())
        return float(stats.chi2.sf(statistic, int(positive.sum())))

    return p_value


def _centered(columns: FloatArray, starts: IntArray, sizes: IntArray) -> FloatArray:
    means = np.add.reduceat(columns, starts) / sizes[:, None]
    return columns - np.repeat(means, sizes, axis=0)


# --- columns of the models ------------------------------------------------------------------------


def feature_basis(table: EncodedTable, j: int) -> FloatArray:
    """Return normal scores of a feature and their squares, or indicators of categories.

    A missing value has an indicator of its own. Columns, of shape (n, d), have mean 0 and variance
    1; d is 0 for a constant feature.
    """
    codes = np.asarray(table.codes(j), dtype=np.int64)
    if table.kinds[j] == "nominal":
        return _standardized(_indicators(codes))
    present = codes < len(table.values(j))
    columns = _scores(codes, present)
    if not present.all():
        columns = np.column_stack([columns, ~present])
    return _standardized(columns)


def products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the products of each column of one matrix with each of another."""
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


def _scores(codes: IntArray, present: NDArray[np.bool_]) -> FloatArray:
    """Return normal scores, and squares for more than two values; 0 for missing values."""
    from scipy import special

    columns = np.zeros((len(codes), 2))
    if present.any():
        _, number, counts = np.unique(codes[present], return_inverse=True, return_counts=True)
        middle = (np.cumsum(counts) - counts / 2) / present.sum()
        score = special.ndtri(middle)[number.reshape(-1)]
        columns[present] = np.column_stack([score, score**2 - (score**2).mean()])
        if len(counts) < 3:
            columns[:, 1] = 0.0
    return columns


def _indicators(codes: IntArray) -> FloatArray:
    """Return indicators of the categories after the most frequent one, the rare ones as one."""
    values, number, counts = np.unique(codes, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    frequent = int(np.count_nonzero(counts >= _FEWEST_ROWS))
    n_columns = min(len(values), max(2, min(frequent + 1, _MOST_CATEGORIES)))
    place = np.minimum(place, n_columns - 1)[number.reshape(-1)]
    return np.asarray((place[:, None] == np.arange(1, n_columns)).astype(np.float64))


def _standardized(columns: FloatArray) -> FloatArray:
    columns = columns - columns.mean(axis=0)
    spread = columns.std(axis=0)
    return np.asarray(columns[:, spread > 1e-9] / spread[spread > 1e-9])


# --- logistic regression --------------------------------------------------------------------------


def log_probabilities(
    columns: FloatArray, codes: IntArray, n_contexts: int, strata: IntArray | None = None
) -> FloatArray:
    r"""Return fitted log-probabilities of all contexts, shape (n, C), by Newton's method.

    The log-odds of a context against the first are linear in the columns. Every stratum has its own
    frequencies of the contexts, to which one row with the frequencies of all rows is added.
    """
    n = len(codes)
    model = np.column_stack([np.ones(n), columns])
    width, free = model.shape[1], n_contexts - 1
    penalty = np.full(width, _RIDGE)
    penalty[0] = 1e-6
    is_value = codes[:, None] == np.arange(n_contexts)
    offset = np.zeros(is_value.shape)
    if strata is not None:
        counts = np.zeros((int(strata.max()) + 1, n_contexts))
        np.add.at(counts, strata, is_value)
        frequencies = (counts + is_value.mean(axis=0)) / (counts.sum(axis=1, keepdims=True) + 1)
        offset = np.log(frequencies)[strata]
    scores = np.eye(n_contexts)[:, 1:]
    own = scores[codes]
    coefficients = np.zeros((width, free))

    def fitted(coefficients: FloatArray) -> tuple[FloatArray, float]:
        logs = offset + model @ coefficients @ scores.T
        logs -= logs.max(axis=1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
        loss = -logs[is_value].sum() + 0.5 * float((penalty[:, None] * coefficients**2).sum())
        return logs, float(loss)

    logs, loss = fitted(coefficients)
    for _ in range(_STEPS):
        probabilities = np.exp(logs)
        expected = probabilities @ scores
        gradient = model.T @ (own - expected) - penalty[:, None] * coefficients
        hessian = np.zeros((free, width, free, width))
        for b in range(free):
            covariances = (probabilities * (scores[:, b] - expected[:, b : b + 1])) @ scores
            for a in range(free):
                hessian[a, :, b, :] = (model * covariances[:, a : a + 1]).T @ model
            hessian[b, :, b, :] += np.diag(penalty)
        step = np.linalg.solve(hessian.reshape(free * width, -1), gradient.T.ravel())
        step, before = step.reshape(free, -1).T, loss
        for halving in range(_HALVINGS):
            logs, loss = fitted(coefficients + step / 2**halving)
            if loss <= before:
                coefficients = coefficients + step / 2**halving
                break
        else:
            return fitted(coefficients)[0]
        if before - loss < _CONVERGED * (1 + abs(loss)):
            break
    return logs
