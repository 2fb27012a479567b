r"""Ridge regression of every feature on all others, at once, with residuals of rows left out.

With the scores Z of the features, S = Z^T Z / n and :math:`\Omega = (S + \lambda I)^{-1}`, the
residuals of the columns B of a feature on those of all others are

.. math:: Z \Omega_{\cdot B} \Omega_{BB}^{-1},

and those of the rows left out follow by the leverages. A singular value decomposition of Z gives
all of them for each penalty, also where there are more features than rows; each feature takes the
penalty with the least squared residuals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duramen.significance.conditional_tests.scores import Scores
from duramen.support.arrays import FloatArray, IntArray

_PENALTIES = np.logspace(-3.0, 1.5, 13)
_DETERMINED = 1e-8


@dataclass(frozen=True, eq=False)
class Nodewise:
    """Residuals of every feature given all others.

    Attributes
    ----------
    scores : Scores
        The features.
    residuals : float64 array of shape (n, q)
        Of each column of the scores: the row's value less the prediction from the others, by a
        regression without the row.
    penalties : float64 array of shape (p,)
        Ridge penalty of each feature.
    """

    scores: Scores
    residuals: FloatArray
    penalties: FloatArray
    _vectors: FloatArray  # (q, r) right singular vectors
    _sizes: FloatArray  # (r,) eigenvalues of S

    @classmethod
    def of(cls, scores: Scores) -> Nodewise:
        """Fit the regressions."""
        values, p = scores.values, len(scores.widths)
        n, q = values.shape
        residuals, penalties = np.array(values), np.zeros(p)
        if q == 0:
            return cls(scores, residuals, penalties, np.zeros((0, 0)), np.zeros(0))
        left, singular, right = np.linalg.svd(values, full_matrices=False)
        large = singular > 1e-10 * max(float(singular[0]), 1e-300)
        left, singular, vectors = left[:, large], singular[large], right[large].T
        sizes = singular**2 / n
        outside = np.maximum(1.0 - np.square(vectors).sum(axis=1), 0.0)
        least = np.full(p, np.inf)
        wide = np.flatnonzero(scores.widths > 1).tolist()
        single = np.flatnonzero(scores.widths == 1)
        columns = scores.first[single]
        for penalty in _PENALTIES:
            weights = 1.0 / (sizes + penalty)
            spread = (left * (singular * weights)) @ vectors.T
            leverage = (np.square(left) * (sizes * weights)).sum(axis=1) + 1.0 / n
            diagonal = np.square(vectors) @ weights + outside / penalty
            own = spread[:, columns]
            without = leverage[:, None] - own**2 / (n * diagonal[columns])
            trial = (own / diagonal[columns]) / np.maximum(1.0 - without, 1e-9)
            errors = np.square(trial).mean(axis=0)
            better = errors < least[single]
            least[single[better]] = errors[better]
            penalties[single[better]] = penalty
            residuals[:, columns[better]] = trial[:, better]
            for j in wide:
                block = scores.columns(j)
                trial = _of_block(vectors[block], weights, penalty, spread[:, block], leverage)
                error = float(np.square(trial).mean())
                if error < least[j]:
                    least[j], penalties[j], residuals[:, block] = error, penalty, trial
        return cls(scores, residuals, penalties, vectors, sizes)

    def residuals_of(self, features: np.ndarray) -> FloatArray:
        """Return the residuals of several features given all but these, shape (n, b)."""
        first = self.scores.first
        columns = np.concatenate([np.arange(first[j], first[j + 1]) for j in features])
        penalty = float(np.median(self.penalties[features]))
        values, v = self.scores.values, self._vectors[columns]
        n, weights = len(values), 1.0 / (self._sizes + penalty)
        projected = values @ self._vectors
        leverage = (np.square(projected) / n * weights).sum(axis=1) + 1.0 / n
        return _of_block(v, weights, penalty, (projected * weights) @ v.T, leverage)

    def determines(self, columns: IntArray, n_means: int = 1) -> bool:
        """Tell whether other columns determine some exactly, by a linear equation.

        Of as many columns as rows, less the means that were taken away, any are: that tells
        nothing.
        """
        n, r = len(self.scores.values), len(self._sizes)
        if not len(columns) or r >= n - n_means:
            return False
        vectors = self._vectors[columns]
        # Rank of the part of the null space of Z in these columns.
        outside = np.linalg.eigvalsh(np.eye(len(columns)) - vectors @ vectors.T)
        return bool(outside[0] > _DETERMINED)

    def weights(self, j: int) -> FloatArray:
        """Return the coefficients of the first column of a feature on all columns, shape (q,)."""
        weights, penalty = 1.0 / (self._sizes + self.penalties[j]), self.penalties[j]
        v = self._vectors[self.scores.first[j]]
        row = self._vectors @ (weights * v) - (self._vectors @ v) / penalty
        row[self.scores.first[j]] += 1.0 / penalty
        own = float(row[self.scores.first[j]])
        coefficients: FloatArray = -row / own
        coefficients[self.scores.columns(j)] = 0.0
        return coefficients


def _of_block(
    vectors: FloatArray, weights: FloatArray, penalty: float, own: FloatArray, leverage: FloatArray
) -> FloatArray:
    r"""Return the residuals of columns given all others, of rows left out, shape (n, b).

    `vectors` are the rows of the right singular vectors of these columns, `weights` those of the
    eigenvalues of :math:`\Omega`, `own` the columns of :math:`Z \Omega`, and `leverage` that of the
    rows in a regression on all columns.
    """
    precision = (vectors * weights) @ vectors.T
    precision += (np.eye(len(vectors)) - vectors @ vectors.T) / penalty
    residuals = np.linalg.solve(precision, own.T).T
    without = leverage - (residuals * own).sum(axis=1) / len(own)
    return np.asarray(residuals / np.maximum(1.0 - without, 1e-9)[:, None])
