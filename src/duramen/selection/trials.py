"""Trials of sets of features: a forest on some features and rows, its importances and errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from duramen.data import EncodedTable, Target
from duramen.forests.forest import Forest
from duramen.forests.prediction import estimate_out_of_bag, predict, rows_of
from duramen.importances import Inputs
from duramen.importances.refit import seeded
from duramen.significance.measured import Measured
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.checks import refuse


def require_out_of_bag(subject: Measured, owner: str) -> None:
    """Raise ValueError if trees do not leave rows out.

    Raises
    ------
    ValueError
        If every tree has all rows.
    """
    data = subject.data
    if not subject.template.growth_settings(data.n_rows, data.n_columns).samples_rows:
        raise refuse(
            *(owner, "estimator", "a forest whose trees leave rows out"),
            *(type(subject.template).__name__, "bootstrap=True, or max_samples below all the rows"),
        )


def require_fitted_measure(subject: Measured, owner: str) -> None:
    """Raise ValueError if a measure grows forests of its own.

    Raises
    ------
    ValueError
        If it does.
    """
    if subject.measure.refits:
        raise refuse(
            *(owner, "measure", "one of a grown forest, such as 'mda' or 'mdi'"),
            *(subject.measure.name, "the errors are those of the same forest"),
        )


def losses(means: FloatArray, target: Target) -> FloatArray:
    """Return the loss of every row, shape (n,): 0 or 1 for classes, squared errors for numbers.

    Rows without a prediction, NaN in `means` of shape (n, C), are NaN.
    """
    missing = np.isnan(means[:, 0])
    if target.codes is None:
        return np.asarray((means[:, 0] - target.values) ** 2, dtype=np.float64)
    guessed = np.argmax(np.where(missing[:, np.newaxis], 0.0, means), axis=1)
    return np.where(missing, np.nan, guessed != target.codes)


@dataclass(frozen=True)
class Trial:
    """Task of a forest on some features: p importances, error, its standard error, held-out error.

    Attributes
    ----------
    subject : Measured
        The forests.
    folds : int64 array of shape (n,) or None
        Fold of each row, of which a trial may leave one out.
    """

    subject: Measured
    folds: IntArray | None = None

    def __call__(
        self, _: int, seed: int, columns: IntArray, measured: bool, fold: int = -1
    ) -> FloatArray:
        """Grow a forest without the rows of a fold; -1 for all rows.

        Returns
        -------
        float64 array of shape (p + 3,)
            Importances of the columns, NaN for others and where they are not asked for; the
            out-of-bag error and its standard error; the mean loss of the fold, or NaN.
        """
        whole = self.subject.data
        table = whole.table.take_columns(columns)
        data = whole.with_table(table, key=("columns", columns.tolist()))
        if self.folds is not None and fold >= 0:
            data = data.of_rows(np.flatnonzero(self.folds != fold), key=("without", fold))
        grown = seeded(self.subject.template, seed).fit(data)
        row = np.full(whole.n_columns + 3, np.nan)
        if measured:
            given = Inputs(grown, data, seed % 2**32, self.subject.template.n_jobs)
            found: Any = self.subject.measure(given)
            row[columns] = found.values
        loss = losses(
            estimate_out_of_bag(grown.forest_, data.table, data.target).means(), data.target
        )
        loss = loss[~np.isnan(loss)]
        if len(loss):
            row[-3:-1] = loss.mean(), loss.std() / np.sqrt(len(loss))
        if self.folds is not None and fold >= 0:
            row[-1] = self._held_out(grown.forest_, table, fold)
        return row

    def _held_out(self, forest: Forest, table: EncodedTable, fold: int) -> float:
        """Return the mean loss of the rows of a fold; classes that the forest lacks are missed."""
        rows = np.flatnonzero(self.folds == fold)
        held = table.take_rows(rows)
        means = predict(forest, rows_of(forest, held, "", "trial"))
        target = self.subject.data.target
        if forest.classes is None:
            return float(losses(means, Target(target.values[rows])).mean())
        labels = forest.classes[np.argmax(means, axis=1)]
        return float(np.mean(labels != target.labels[rows]))


def folds_of(target: Target, n_folds: int, random: np.random.Generator) -> IntArray:
    """Return the fold of each row, drawn at random within the classes, shape (n,)."""
    n = len(target.values)
    folds = np.empty(n, dtype=np.int64)
    order = random.permutation(n)
    if target.codes is not None:
        order = order[np.argsort(target.codes[order], kind="stable")]
    folds[order] = np.arange(n) % n_folds
    return folds
