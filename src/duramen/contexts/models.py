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

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from duramen.contexts.growth import Growth
from duramen.contexts.nulls import Null, Nulls, Scheme, Term
from duramen.contexts.values import Context
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
# Pairs are looked for among so many features, those with the smallest p-values.
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


def conditional_nulls(growth: Growth, context: Context, scheme: Scheme) -> Nulls:
    """Choose the terms of the models of a context, and fit the model of each feature."""
    table, target = growth.data.table, target_basis(growth)
    equal = scheme.nulls(table.n_columns)
    bases = [feature_basis(table, j) for j in range(table.n_columns)]
    p_value = score_test(context, scheme.cells)
    terms, left_out = _terms(bases, target, p_value, table.n_rows)
    if not terms:
        return equal
    strata = scheme.relevance.strata
    if strata is None and context.weights is not None:
        strata = np.zeros(table.n_rows, dtype=np.int64)

    def log_weights(tested: int | None) -> FloatArray:
        """Return log-probabilities of the contexts if `tested` is context-independent.

        What a feature shares with a correlated one that is tested is left to that one: otherwise
        copies of a feature would explain each other.
        """
        columns = [target]
        for term in terms:
            own = _columns(bases, term.features)
            columns.append(own)
            if tested not in term.features:
                if tested is not None:
                    own = _without(own, bases[tested])
                columns.append(products(target, own))
        codes = context.codes.astype(np.int64)
        return log_probabilities(np.column_stack(columns), codes, context.scores, strata)

    own = sorted({j for term in terms for j in term.features})
    others = np.setdiff1d(np.arange(table.n_columns), own)
    tested = [(np.array([j]), j) for j in own]
    every = [(others, None), *tested] if len(others) else tested
    effects = tuple(
        Null(scheme.effects, features, log_weights(j), number)
        for number, (features, j) in enumerate(every)
    )
    return Nulls(effects, equal.relevance, tuple(terms), left_out)


def _terms(
    bases: Sequence[FloatArray],
    target: FloatArray,
    p_value: Callable[[FloatArray], float],
    n_rows: int,
) -> tuple[list[Term], int]:
    """Return the terms with small p-values as far as there are rows, and how many are left out."""

    def tested(features: tuple[int, ...]) -> Term:
        return Term(features, p_value(_both(bases, target, features)))

    singles = [tested((j,)) for j in range(len(bases))]
    chosen = _small(singles)
    first = sorted(singles, key=lambda term: term.p_value)[:_PAIRED]
    pairs = combinations(sorted(term.features[0] for term in first), 2)
    chosen += _small([tested(pair) for pair in pairs])
    room = min(n_rows // _ROWS_PER_COLUMN, _MOST_COLUMNS)
    terms: list[Term] = []
    missed = 0
    for term in sorted(chosen, key=lambda term: term.p_value):
        width = _both(bases, target, term.features).shape[1]
        if width <= room:
            terms.append(term)
            room -= width
        else:
            missed += term.p_value <= _NOTED / max(1, len(bases))
    return terms, missed


def _small(terms: Sequence[Term]) -> list[Term]:
    level = min(_LEVEL, _CHOSEN_BY_CHANCE / max(1, len(terms)))
    return [term for term in terms if term.p_value <= level]


def _columns(bases: Sequence[FloatArray], features: tuple[int, ...]) -> FloatArray:
    """Return the basis of a feature, or the products of the first columns of two."""
    if len(features) == 1:
        return bases[features[0]]
    first, second = (bases[j][:, :1] for j in features)
    return products(first, second)


def _both(bases: Sequence[FloatArray], target: FloatArray, features: tuple[int, ...]) -> FloatArray:
    own = _columns(bases, features)
    return np.hstack([own, products(target, own)])


def _without(columns: FloatArray, basis: FloatArray) -> FloatArray:
    """Return what a regression on correlated columns of a basis leaves of columns."""
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

    weights = _centered(context.scores[context.codes[order]], starts, sizes)
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


def target_basis(growth: Growth) -> FloatArray:
    """Return indicators of classes, or normal scores of numbers and their squares."""
    values = np.asarray(growth.data.target.values)
    if growth.data.classes is not None:
        return _standardized(_indicators(values.astype(np.int64)))
    codes = np.unique(values, return_inverse=True)[1].reshape(-1)
    return _standardized(_scores(codes, np.ones(len(codes), dtype=np.bool_)))


def products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the products of each column of one matrix with each of another."""
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


def _scores(codes: IntArray, present: NDArray[np.bool_]) -> FloatArray:
    """Return normal scores, and their squares if there are more than two values; 0 if unknown."""
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
    columns: FloatArray, codes: IntArray, scores: FloatArray, strata: IntArray | None = None
) -> FloatArray:
    r"""Return fitted log-probabilities of all values, shape (n, L), by Newton's method.

    Those of row i are :math:`\sum_k s_{lk} \beta_k x_i` plus a constant, with scores of the values
    of shape (L, K): for classes, indicators of all but the first. Every stratum has its own
    frequencies of the values, to which one row with the frequencies of all rows is added.
    """
    n = len(codes)
    model = np.column_stack([np.ones(n), columns])
    penalty = np.full(model.shape[1], _RIDGE)
    penalty[0] = 1e-6
    is_value = codes[:, None] == np.arange(len(scores))
    offset = _offset(is_value, strata)
    own, free = scores[codes], scores.shape[1]
    coefficients = np.zeros((model.shape[1], free))

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
        hessian = _hessian(model, probabilities, scores, penalty)
        step = np.linalg.solve(hessian, gradient.T.ravel())
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


def _hessian(
    model: FloatArray, probabilities: FloatArray, scores: FloatArray, penalty: FloatArray
) -> FloatArray:
    """Return the second derivatives of the loss, coefficients of a score side by side."""
    width, free = model.shape[1], scores.shape[1]
    expected = probabilities @ scores
    hessian = np.zeros((free, width, free, width))
    for b in range(free):
        covariances = (probabilities * (scores[:, b] - expected[:, b : b + 1])) @ scores
        for a in range(free):
            hessian[a, :, b, :] = (model * covariances[:, a : a + 1]).T @ model
        hessian[a, :, a, :] += np.diag(penalty)
    return hessian.reshape(free * width, free * width)


def _offset(is_value: NDArray[np.bool_], strata: IntArray | None) -> FloatArray:
    """Return log-frequencies of the values in the stratum of each row; 0 without strata."""
    if strata is None:
        return np.zeros(is_value.shape)
    overall = is_value.mean(axis=0)
    counts = np.zeros((int(strata.max()) + 1, is_value.shape[1]))
    np.add.at(counts, strata, is_value)
    frequencies = (counts + overall) / (counts.sum(axis=1, keepdims=True) + 1)
    return np.asarray(np.log(frequencies)[strata])
