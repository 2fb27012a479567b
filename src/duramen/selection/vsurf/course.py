"""Forests of the steps of VSURF after the first."""

from __future__ import annotations

import numpy as np

from duramen.selection.trials import Trial
from duramen.selection.vsurf.rules import Prediction, interpreted, mean_jump
from duramen.support.arrays import FloatArray, IntArray


class Errors(Trial):
    """Task of a forest on some features: its out-of-bag error."""

    def __call__(
        self, number: int, seed: int, columns: IntArray, measured: bool = False, fold: int = -1
    ) -> FloatArray:
        """Grow a forest and return its error, shape (1,)."""
        return super().__call__(number, seed, columns, measured, fold)[-3:-2]


class Course:
    """Nested models for interpretation, and then the models for prediction.

    Parameters
    ----------
    features : int64 array of shape (m,)
        Features above the threshold, the most important first.
    n_interpretation, n_prediction : int
        Number of forests of a model.
    deviations : float
        Number of standard deviations by which the error of the smallest model may exceed the best.
    jumps : float
        Number of mean jumps by which the error must decrease with a further feature.
    """

    def __init__(
        self,
        features: IntArray,
        n_interpretation: int,
        n_prediction: int,
        deviations: float,
        jumps: float,
    ) -> None:
        self._features, self._deviations, self._jumps = features, deviations, jumps
        self._sizes = n_interpretation, n_prediction
        self._nested = n_interpretation * len(features)
        self.n_forests = self._nested + n_prediction * len(features)
        self.errors = self.spread = np.empty(0)
        self.n_interpreted = 0
        self.prediction: Prediction | None = None

    def ready(self, forests: FloatArray) -> int:
        """Return how many forests can be grown without knowing more than these."""
        if len(forests) < self._nested:
            return self._nested
        if self.prediction is None:
            rows = forests[: self._nested, 0].reshape(len(self._features), -1)
            self.errors, self.spread = rows.mean(axis=1), rows.std(axis=1, ddof=1)
            self.n_interpreted = interpreted(self.errors, self.spread, self._deviations)
            least = self._jumps * mean_jump(self.errors, self.n_interpreted)
            self.prediction = Prediction(self._features[: self.n_interpreted], least)
        size, step = self._sizes[1], len(self.prediction.errors)
        while self.prediction.columns is not None:
            rows = forests[self._nested + step * size : self._nested + (step + 1) * size, 0]
            if len(rows) < size:
                return self._nested + (step + 1) * size
            self.prediction.take(float(rows.mean()))
            step += 1
        return self._nested + step * size

    def arguments(self, number: int) -> tuple[IntArray]:
        """Return the columns of a forest."""
        if number < self._nested:
            return (self._features[: number // self._sizes[0] + 1],)
        columns = None if self.prediction is None else self.prediction.columns
        return (self._features[:0] if columns is None else columns,)
