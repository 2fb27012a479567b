"""Cross-validated score of a learner on some features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from duramen.data import EncodedTable, LearningSet
from duramen.selection.numbers import numbers_of
from duramen.support.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Score:
    """Task of a set of features: mean score over folds.

    All sets have the same folds and the same seed of the learner.

    Attributes
    ----------
    learner : estimator
        Classifier or regressor, not fitted.
    scorer : callable
        Given a fitted learner, rows and labels, returns a number; larger is better.
    data : LearningSet
    folds : int64 array of shape (n,)
        Fold of each row.
    seed : int
        Seed of the learner, if it has one.
    """

    learner: Any
    scorer: Callable[[Any, Any, Any], float]
    data: LearningSet[EncodedTable]
    folds: IntArray
    seed: int

    def __call__(self, _: int, __: int, columns: IntArray) -> FloatArray:
        """Fit the learner without each fold, and score it on the fold."""
        from duramen.estimators.base import BaseForest

        table, labels = self.data.table.take_columns(columns), self.data.y
        own = isinstance(self.learner, BaseForest)
        rows = table.take_rows if own else numbers_of(table).__getitem__
        found = []
        for fold in range(int(self.folds.max()) + 1):
            inside, out = (np.flatnonzero(one) for one in (self.folds != fold, self.folds == fold))
            learner = clone(self.learner)
            if "random_state" in learner.get_params():
                learner.set_params(random_state=self.seed % 2**32)
            learner.fit(rows(inside), labels[inside])
            found.append(float(self.scorer(learner, rows(out), labels[out])))
        return np.array([np.mean(found)])
