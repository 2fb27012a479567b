"""Predictions of rows by forests that were grown without them, with features as they are and drawn.

A forest is followed by a lasso of its out-of-bag residuals, since it needs many rows for an effect
that a line tells with few.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from duramen.data import ClassTarget, EncodedTable
from duramen.forests.prediction import replaced_means
from duramen.importances.refit import seeded
from duramen.significance.conditional_tests.nodewise import Scores
from duramen.significance.conditional_tests.sampler import folds_of_groups
from duramen.significance.measured import Data
from duramen.support.arrays import Arrays, FloatArray, IntArray

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest

_PENALTIES = 15  # of a path of the lasso
_LEAST_PENALTY = 0.02  # its last one, as a fraction of the first
_FOLDS = 3  # of the choice of a penalty
TOLERANCE = 1e-3  # of a lasso


@dataclass(frozen=True, eq=False)
class Design:
    """Numeric columns of a table: numbers standardized, and indicators of levels.

    Attributes
    ----------
    columns : float64 array of shape (n, q)
    owners : int64 array of shape (q,)
        Feature that each column belongs to.
    """

    columns: FloatArray
    owners: IntArray

    @classmethod
    def of(cls, table: EncodedTable, scores: Scores) -> Design:
        """Return the columns of a table: values of numeric features, 0 where missing, or scores."""
        columns = np.array(scores.values)
        for j in np.flatnonzero((scores.widths > 0) & ~scores.discrete).tolist():
            if table.kinds[j] != "numeric":
                continue
            codes, values = scores.codes[j], np.asarray(table.values(j))
            missing = codes >= len(values)
            scale = max(float(np.abs(values).max(initial=0.0)), 1e-300)
            numbers = np.append(values / scale, 0.0)[codes]
            present = numbers[~missing]
            spread = float(present.std()) or 1.0
            columns[:, scores.first[j]] = np.where(
                missing, 0.0, (numbers - present.mean()) / spread
            )
        return cls(columns, np.repeat(np.arange(table.n_columns), scores.widths))


def penalties(columns: FloatArray, numbers: FloatArray) -> FloatArray:
    """Return a path of penalties of the lasso, from the least one that leaves no coefficient."""
    largest = np.abs((columns - columns.mean(axis=0)).T @ (numbers - numbers.mean())).max()
    path: FloatArray = np.geomspace(1.0, _LEAST_PENALTY, _PENALTIES)
    return max(float(largest) / len(columns), 1e-12) * path


def lasso(columns: FloatArray, numbers: FloatArray, cv: Any) -> Any:
    """Return a lasso with the penalty of the least error in cross-validation."""
    from sklearn.linear_model import LassoCV

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence: near enough will do
        return LassoCV(alphas=penalties(columns, numbers), cv=cv, tol=TOLERANCE).fit(
            columns, numbers
        )


def fitted_lines(
    columns: FloatArray, response: FloatArray, groups: IntArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return intercepts, (c,), and coefficients, (c, q), of a lasso of each column of a response.

    The penalty is that of the least error in cross-validation. Folds are drawn at random, as rows
    may be sorted by the target; rows of one of the `groups`, shape (m,), are in one fold.
    """
    from sklearn.model_selection import KFold

    folds: Any = KFold(_FOLDS, shuffle=True, random_state=0)
    if groups is not None:
        labels = np.unique(groups, return_inverse=True)[1]
        of_rows = folds_of_groups(labels, _FOLDS, np.random.default_rng(0))
        folds = [
            (np.flatnonzero(of_rows != k), np.flatnonzero(of_rows == k)) for k in range(_FOLDS)
        ]
    coefficients = np.zeros((response.shape[1], columns.shape[1]))
    for k, numbers in enumerate(response.T):
        spread = float(numbers.std())
        if spread > 0.0 and columns.shape[1] and len(columns) >= _FOLDS:
            coefficients[k] = lasso(columns, numbers / spread, folds).coef_ * spread
    return response.mean(axis=0) - columns.mean(axis=0) @ coefficients.T, coefficients


@dataclass(frozen=True, eq=False)
class CrossFitting:
    """Settings of a cross-fitted prediction, the same for all folds.

    Attributes
    ----------
    template : estimator
        Parameters of the forests, of regression or classification as the target.
    data : LearningSet
        n rows; their target is classes or numbers.
    design : Design
        Columns of the lasso.
    hypotheses : tuple of int arrays
        Features that are drawn together, for each of G hypotheses.
    donors : uint32 array of shape (members of all hypotheses, draws, n)
        Rows whose values are the draws; an even number of draws.
    folds : int64 array of shape (n,)
        Fold of each row.
    linear : bool
        Whether a lasso follows the forest.
    """

    template: BaseForest
    data: Data
    design: Design
    hypotheses: tuple[IntArray, ...]
    donors: np.ndarray
    folds: IntArray
    linear: bool

    @property
    def response(self) -> FloatArray:
        """Numbers, or indicators of classes (of the second of two), shape (n, c)."""
        return self.data.target.responses()

    def fold(self, k: int, seed: int, order: IntArray | None = None) -> Arrays:
        """Grow a forest on the other folds and predict the rows of a fold.

        Parameters
        ----------
        k : int
            Number of the fold.
        seed : int
            Seed of the forest.
        order : int64 array of shape (n,), optional
            Row whose target each row takes.

        Returns
        -------
        dict of arrays
            ``rows`` of the fold, m; ``predicted``, (m, c); ``replaced``, (2, G, m, c), with the
            features of a hypothesis drawn, means over the first and the second half of the draws.
            A permuted target, of which a lasso finds nothing, has none.
        """
        data = self.data if order is None else self.data.permuted(order, key=("permuted", seed))
        rows, others = np.flatnonzero(self.folds == k), np.flatnonzero(self.folds != k)
        forest: Any = seeded(self.template, seed).fit(data.of_rows(others, key=("fold", k)))
        response, target = self.response, self.data.target
        of_classes = isinstance(target, ClassTarget)

        def as_response(fractions: FloatArray) -> FloatArray:
            """Return fractions of the classes of the forest as columns of the response."""
            if not isinstance(target, ClassTarget):
                return fractions
            places = np.searchsorted(target.classes, forest.classes_) - (target.n_classes == 2)
            columns = np.zeros((*fractions.shape[:-1], response.shape[1]))
            columns[..., places[places >= 0]] = fractions[..., places >= 0]
            return columns

        arrays: Arrays = {"rows": rows}
        if self.donors.size:
            donors, table = self.donors[:, :, rows], data.table
            halves = [
                replaced_means(forest.forest_, table, rows, self.hypotheses, donors[:, half::2])
                for half in range(2)
            ]
            arrays["predicted"] = as_response(halves[0][0])
            arrays["replaced"] = as_response(np.stack([drawn for _, drawn in halves]))
        elif of_classes:
            fractions = np.asarray(forest.predict_proba(data.table.take_rows(rows)))
            arrays["predicted"] = as_response(fractions)
        else:
            arrays["predicted"] = np.asarray(forest.predict(data.table.take_rows(rows)))[:, None]
        if not self.linear or order is not None:
            return arrays
        if of_classes:
            fractions = np.asarray(forest.oob_decision_function_)
            out_of_bag = as_response(fractions)
            out_of_bag[~np.isfinite(fractions).all(axis=1)] = np.nan
        else:
            out_of_bag = np.asarray(forest.oob_prediction_)[:, None]
        rest = response[others] - out_of_bag
        seen = np.isfinite(rest).all(axis=1)
        groups, columns = data.exchangeability.groups, self.design.columns
        intercepts, coefficients = fitted_lines(
            columns[others[seen]], rest[seen], None if groups is None else groups[others[seen]]
        )
        by_lines = intercepts + columns[rows] @ coefficients.T
        arrays["predicted"] = arrays["predicted"] + by_lines
        if self.donors.size:
            changes, member = np.zeros_like(arrays["replaced"]), 0
            used = (coefficients != 0.0).any(axis=0)
            for g, features in enumerate(self.hypotheses):
                for j in features.tolist():
                    mine = used & (self.design.owners == j)
                    if mine.any():
                        part = columns[:, mine] @ coefficients[:, mine].T
                        for half in range(2):
                            drawn = part[donors[member, half::2]].mean(axis=0)
                            changes[half, g] += drawn - part[rows]
                    member += 1
            arrays["replaced"] = arrays["replaced"] + by_lines + changes
        return arrays

    def without(self, features: IntArray) -> CrossFitting:
        """Return the same without some features."""
        others_left = np.delete(np.arange(self.data.n_columns), features)
        table = self.data.table.take_columns(others_left)
        design = Design(
            self.design.columns[:, np.isin(self.design.owners, others_left)],
            self.design.owners[np.isin(self.design.owners, others_left)],
        )
        data = self.data.with_table(table, key=("without", *features.tolist()))
        return replace(self, data=data, design=design)


def folds_of(data: Data, n_folds: int, random: np.random.Generator) -> IntArray:
    """Return the fold of each row: classes in equal proportions, rows of a group in one fold."""
    n, groups = data.n_rows, data.exchangeability.groups
    if groups is not None:
        return folds_of_groups(groups, n_folds, random)
    labels = data.target.strata
    order = np.lexsort((random.random(n), labels))
    folds = np.empty(n, dtype=np.int64)
    folds[order] = np.arange(n) % n_folds
    return folds
