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

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from duramen.contexts.bases import feature_basis, products, target_basis
from duramen.contexts.nulls import Null
from duramen.contexts.regression import log_probabilities
from duramen.contexts.subject import Subject
from duramen.contexts.values import Context
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


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """Features that are tested against the same assignments of contexts."""

    features: IntArray  # their indices
    log_weights: FloatArray | None = None  # (n, C): log-probabilities; None where all are equal


@dataclass(frozen=True)
class Term:
    """Feature, or pair of features, that is associated with the context given the target."""

    features: tuple[int, ...]
    p_value: float


@dataclass(frozen=True, eq=False)
class Dependence:
    """Null hypotheses of all features, and the terms of their models."""

    hypotheses: tuple[Hypothesis, ...]
    terms: tuple[Term, ...] = ()
    left_out: int = 0  # terms with very small p-values for which there are too few rows

    @property
    def features(self) -> tuple[int, ...]:
        """Features of the terms."""
        return tuple(sorted({j for term in self.terms for j in term.features}))


def equal_odds(n_features: int) -> Dependence:
    """Return the null hypothesis that no feature depends on the context."""
    return Dependence((Hypothesis(np.arange(n_features)),))


def dependence_of(subject: Subject, context: Context, null: Null) -> Dependence:
    """Choose the terms of the models of a context, and fit the model of each feature."""
    table, target = subject.data.table, target_basis(subject)
    bases = [feature_basis(table, j) for j in range(table.n_columns)]
    scores = _Scores.of(context, null.cells)
    terms, left_out = _terms(bases, target, scores, table.n_rows)
    everything = np.arange(table.n_columns)
    if not terms:
        return Dependence((Hypothesis(everything),))
    strata = null.relevance.strata
    fit = _Fit(bases, target, context, strata, terms)
    own = sorted({j for term in terms for j in term.features})
    others = np.setdiff1d(everything, own)
    hypotheses = [Hypothesis(np.array([j]), fit.log_weights(j)) for j in own]
    if len(others):
        hypotheses.insert(0, Hypothesis(others, fit.log_weights(None)))
    return Dependence(tuple(hypotheses), tuple(terms), left_out)


@dataclass(frozen=True, eq=False)
class _Fit:
    """Logistic regressions of the context, one for each feature that is tested."""

    bases: Sequence[FloatArray]
    target: FloatArray
    context: Context
    strata: IntArray | None
    terms: Sequence[Term]

    def log_weights(self, tested: int | None) -> FloatArray:
        """Return log-probabilities of the contexts if `tested` is context-independent.

        What a feature shares with a correlated one that is tested is left to that one: otherwise
        copies of a feature would explain each other.
        """
        columns = [self.target]
        for term in self.terms:
            own = _columns(self.bases, term.features)
            columns.append(own)
            if tested not in term.features:
                if tested is not None:
                    own = _without(own, self.bases[tested])
                columns.append(products(self.target, own))
        strata = self.strata
        if strata is None and self.context.weights is not None:
            strata = np.zeros(len(self.context.codes), dtype=np.int64)
        codes = self.context.codes.astype(np.int64)
        return log_probabilities(np.column_stack(columns), codes, self.context.scores, strata)


def _terms(
    bases: Sequence[FloatArray], target: FloatArray, scores: _Scores, n_rows: int
) -> tuple[list[Term], int]:
    """Return the terms with small p-values as far as there are rows, and how many are left out."""
    singles = [Term((j,), scores.p_value(_both(bases, target, (j,)))) for j in range(len(bases))]
    chosen = _small(singles)
    first = sorted(singles, key=lambda term: term.p_value)[:_PAIRED]
    pairs = combinations(sorted(term.features[0] for term in first), 2)
    chosen += _small([Term(pair, scores.p_value(_both(bases, target, pair))) for pair in pairs])
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


@dataclass(frozen=True, eq=False)
class _Scores:
    """Score tests of columns for an association with the context within groups of rows."""

    order: IntArray  # rows by group
    starts: IntArray  # where the rows of each group begin
    sizes: IntArray  # rows of each group
    weights: FloatArray  # (n, C - 1): in the contexts, less their means in the groups
    covariances: FloatArray  # (G, C - 1, C - 1): of the contexts in the groups, by size - 1

    @classmethod
    def of(cls, context: Context, cells: IntArray) -> _Scores:
        """Prepare the tests."""
        order = np.argsort(cells, kind="stable")
        starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
        sizes = np.diff(np.append(starts, len(cells)))
        own = _centered(context.scores[context.codes[order]], starts, sizes)
        squares = np.add.reduceat(own[:, :, None] * own[:, None, :], starts)
        scale = np.maximum(sizes - 1, 1)
        return cls(order, starts, sizes, own, squares / scale[:, None, None])

    def p_value(self, columns: FloatArray) -> float:
        """Return the p-value of a quadratic form of the scores, under permutations in groups."""
        from scipy import stats

        if not columns.shape[1]:
            return 1.0
        own = _centered(columns[self.order], self.starts, self.sizes)
        scores = (self.weights.T @ own).ravel()
        squares = np.add.reduceat(own[:, :, None] * own[:, None, :], self.starts)
        covariance = np.einsum("gab,gde->adbe", self.covariances, squares, optimize=True)
        covariance = covariance.reshape(len(scores), len(scores))
        values, vectors = np.linalg.eigh(covariance)
        positive = values > 1e-9 * max(float(values[-1]), 1e-300)
        if not positive.any() or values[-1] <= 0:
            return 1.0
        statistic = float((((scores @ vectors[:, positive]) ** 2) / values[positive]).sum())
        return float(stats.chi2.sf(statistic, int(positive.sum())))


def _centered(columns: FloatArray, starts: IntArray, sizes: IntArray) -> FloatArray:
    means = np.add.reduceat(columns, starts) / sizes[:, None]
    return columns - np.repeat(means, sizes, axis=0)
