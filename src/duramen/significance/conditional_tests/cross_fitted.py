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
from duramen.significance.conditional_tests.sampler import Scores, folds_of_groups
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
        """Return the columns of a table: values of numeric features, else scores."""
        columns, owners = [], []
        for j in range(table.n_columns):
            for k, column in enumerate(scores.values[:, scores.columns(j)].T):
                if k == 0 and not scores.discrete[j] and table.kinds[j] == "numeric":
                    column = _numbers(scores.codes[j], np.asarray(table.values(j)))
                columns.append(column)
                owners.append(j)
        stacked = np.column_stack(columns) if columns else np.zeros((table.n_rows, 0))
        return cls(stacked, np.array(owners, dtype=np.int64))


def _numbers(codes: np.ndarray, values: FloatArray) -> FloatArray:
    """Return the values of a numeric feature, standardized, 0 where missing."""
    missing = codes >= len(values)
    scale = max(float(np.abs(values).max(initial=0.0)), 1e-300)
    numbers = np.append(values / scale, 0.0)[codes]
    present = numbers[~missing]
    spread = float(present.std())
    return np.where(missing, 0.0, (numbers - present.mean()) / (spread if spread > 0 else 1.0))


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


@dataclass(frozen=True, eq=False)
class Linear:
    """Lasso of a response: an intercept, shape (c,), and coefficients of a design, shape (c, q)."""

    design: Design
    intercepts: FloatArray
    coefficients: FloatArray

    @classmethod
    def fitted(
        cls, design: Design, rows: IntArray, response: FloatArray, groups: IntArray | None = None
    ) -> Linear:
        """Fit some rows; the penalty is that of the least error in cross-validation.

        Folds are drawn at random, as rows may be sorted by the target; rows of one of the `groups`,
        shape (m,), are in one fold.
        """
        from sklearn.model_selection import KFold

        columns = design.columns[rows]
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
            if spread == 0.0 or not columns.shape[1] or len(rows) < _FOLDS:
                continue
            coefficients[k] = lasso(columns, numbers / spread, folds).coef_ * spread
        intercepts = response.mean(axis=0) - columns.mean(axis=0) @ coefficients.T
        return cls(design, intercepts, coefficients)

    def predict(self, rows: IntArray) -> FloatArray:
        """Return predictions of some rows, shape (m, c)."""
        return np.asarray(self.intercepts + self.design.columns[rows] @ self.coefficients.T)

    def changes(
        self, hypotheses: tuple[IntArray, ...], rows: IntArray, donors: np.ndarray
    ) -> FloatArray:
        """Return how draws change the predictions of some rows, shape (2, G, m, c).

        `donors` have shape (members of all hypotheses, draws, m).
        """
        changes = np.zeros((2, len(hypotheses), len(rows), len(self.intercepts)))
        used = (self.coefficients != 0.0).any(axis=0)
        of_feature = {
            int(j): used & (self.design.owners == j) for j in np.unique(self.design.owners[used])
        }
        member = 0
        for g, features in enumerate(hypotheses):
            for j in features.tolist():
                if j in of_feature:
                    columns = of_feature[j]
                    part = self.design.columns[:, columns] @ self.coefficients[:, columns].T
                    for half in range(2):
                        drawn = part[donors[member, half::2]].mean(axis=0)
                        changes[half, g] += drawn - part[rows]
                member += 1
        return changes


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
        classes, width = self._classes(forest), self.response.shape[1]
        predictions: dict[str, FloatArray] = {}
        if self.donors.size:
            donors = self.donors[:, :, rows]
            halves = [
                replaced_means(
                    forest.forest_, data.table, rows, self.hypotheses, donors[:, half::2]
                )
                for half in range(2)
            ]
            predictions["predicted"] = halves[0][0]
            predictions["replaced"] = np.stack([drawn for _, drawn in halves])
        elif classes is None:
            predictions["predicted"] = np.asarray(forest.predict(data.table.take_rows(rows)))[
                :, None
            ]
        else:
            predictions["predicted"] = np.asarray(forest.predict_proba(data.table.take_rows(rows)))
        if classes is not None:
            predictions = {
                name: _of_classes(fractions, classes, width)
                for name, fractions in predictions.items()
            }
        if self.linear and order is None:
            after = self._of_the_rest(forest, classes, others)
            predictions["predicted"] = predictions["predicted"] + after.predict(rows)
            if self.donors.size:
                changes = after.changes(self.hypotheses, rows, donors)
                replaced = predictions["replaced"] + after.predict(rows) + changes
                predictions["replaced"] = replaced
        return {"rows": rows, **predictions}

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

    def _of_the_rest(self, forest: Any, classes: IntArray | None, rows: IntArray) -> Linear:
        """Return a lasso of the out-of-bag residuals of a forest that was grown on some rows."""
        response = self.response[rows]
        rest = response - _out_of_bag(forest, classes, response.shape[1])
        seen = np.isfinite(rest).all(axis=1)
        groups = self.data.exchangeability.groups
        return Linear.fitted(
            self.design, rows[seen], rest[seen], None if groups is None else groups[rows[seen]]
        )

    def _classes(self, forest: Any) -> IntArray | None:
        """Return the column of the response of each class of a forest; -1: of none."""
        if not isinstance(self.data.target, ClassTarget):
            return None
        number = np.searchsorted(self.data.target.classes, forest.classes_)
        return np.asarray(number - 1 if self.data.target.n_classes == 2 else number)


def _of_classes(fractions: FloatArray, classes: IntArray, width: int) -> FloatArray:
    """Return fractions of the classes of a forest as columns of the response."""
    columns = np.zeros((*fractions.shape[:-1], width))
    columns[..., classes[classes >= 0]] = fractions[..., classes >= 0]
    return columns


def _out_of_bag(forest: Any, classes: IntArray | None, width: int) -> FloatArray:
    """Return the out-of-bag predictions of the training rows, NaN where there is none."""
    if classes is None:
        return np.asarray(forest.oob_prediction_)[:, None]
    fractions = np.asarray(forest.oob_decision_function_)
    predicted = _of_classes(fractions, classes, width)
    predicted[~np.isfinite(fractions).all(axis=1)] = np.nan
    return predicted


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
