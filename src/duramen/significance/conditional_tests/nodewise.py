r"""Ridge regression of every feature on all others, at once, with residuals of rows left out.

With the scores Z of the features, S = Z^T Z / n and :math:`\Omega = (S + \lambda I)^{-1}`, the
residuals of the columns B of a feature on those of all others are

.. math:: Z \Omega_{\cdot B} \Omega_{BB}^{-1},

and those of the rows left out follow by the leverages. A singular value decomposition of Z gives
all of them for each penalty, also where there are more features than rows; each feature takes the
penalty with the least squared residuals.

Rows of a group, which may depend on each other, are left out together, by the inverse of their
block of the identity less the hat matrix.

A regression on all others spreads over many columns what few of them explain, above all where
features are more than rows. So each column is also predicted from those that are most correlated
with it, rows left out by folds, screening included (sure independence screening, Fan and Lv 2008).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duramen.significance.conditional_tests.inference import rows_of_units
from duramen.significance.conditional_tests.scores import Scores
from duramen.support.arrays import FloatArray, IntArray

_PENALTIES = np.logspace(-3.0, 1.5, 13)
_DETERMINED = 1e-8
_NEIGHBORS = (5, 20)  # numbers of the most correlated columns
_OF_NEIGHBORS = np.logspace(-3.0, 1.0, 7)  # penalties
_OF_CHOICE = 256  # columns that the penalty is chosen for
_BLOCK = 64  # columns that are predicted at once


@dataclass(frozen=True, eq=False)
class Nodewise:
    """Residuals of every feature given all others.

    Attributes
    ----------
    scores : Scores
        The features.
    residuals : float64 array of shape (n, q)
        Of each column of the scores: the row's value less the prediction from the others, by a
        regression without the row, or without its fold; with groups, without those of its group.
    penalties : float64 array of shape (p,)
        Ridge penalty of each feature.
    """

    scores: Scores
    residuals: FloatArray
    penalties: FloatArray
    _vectors: FloatArray  # (q, r) right singular vectors
    _sizes: FloatArray  # (r,) eigenvalues of S
    groups: IntArray | None = None

    @classmethod
    def of(
        cls, scores: Scores, folds: IntArray | None = None, groups: IntArray | None = None
    ) -> Nodewise:
        """Fit the regressions, with `folds` also those on the most correlated columns.

        `folds` are those of the rows, shape (n,), and `groups` the rows that are left out together.
        """
        values, p = scores.values, len(scores.widths)
        n, q = values.shape
        residuals, penalties = np.array(values), np.zeros(p)
        if q == 0:
            return cls(scores, residuals, penalties, np.zeros((0, 0)), np.zeros(0), groups)
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
            own, hat = spread[:, columns], left * np.sqrt(sizes * weights)
            if groups is None:
                without = leverage[:, None] - own**2 / (n * diagonal[columns])
                trial = (own / diagonal[columns]) / np.maximum(1.0 - without, 1e-9)
            else:
                trial = _single_without_groups(own, diagonal[columns], hat, groups)
            errors = np.square(trial).mean(axis=0)
            better = errors < least[single]
            least[single[better]] = errors[better]
            penalties[single[better]] = penalty
            residuals[:, columns[better]] = trial[:, better]
            for j in wide:
                block = scores.columns(j)
                trial = _of_block(
                    vectors[block], weights, penalty, spread[:, block], leverage, hat, groups
                )
                error = float(np.square(trial).mean())
                if error < least[j]:
                    least[j], penalties[j], residuals[:, block] = error, penalty, trial
        if folds is not None:
            owners = np.repeat(np.arange(p), scores.widths)
            for trial in _Neighbors(values, owners, folds).residuals():
                errors, of_trial = (
                    np.bincount(owners, np.square(left).mean(axis=0), p)
                    for left in (residuals, trial)
                )
                better = (of_trial < errors)[owners]
                residuals[:, better] = trial[:, better]
        return cls(scores, residuals, penalties, vectors, sizes, groups)

    def residuals_of(self, features: np.ndarray) -> FloatArray:
        """Return the residuals of several features given all but these, shape (n, b)."""
        first = self.scores.first
        columns = np.concatenate([np.arange(first[j], first[j + 1]) for j in features])
        penalty = float(np.median(self.penalties[features]))
        values, v = self.scores.values, self._vectors[columns]
        n, weights = len(values), 1.0 / (self._sizes + penalty)
        projected = values @ self._vectors
        leverage = (np.square(projected) / n * weights).sum(axis=1) + 1.0 / n
        hat = projected * np.sqrt(weights / n)
        own = (projected * weights) @ v.T
        return _of_block(v, weights, penalty, own, leverage, hat, self.groups)

    def determines(self, columns: IntArray, n_means: int = 1) -> bool:
        """Tell whether other columns determine some exactly, by a linear equation.

        Of as many columns as rows, less the means that were taken away, any are: that tells
        nothing. With groups, whose rows may be equal, different rows count.
        """
        n, r = len(self.scores.values), len(self._sizes)
        if self.groups is not None:
            n = len(np.unique(self.scores.values, axis=0))
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


@dataclass(frozen=True, eq=False)
class _Neighbors:
    """Ridge regressions of columns on those that are most correlated with them.

    Attributes
    ----------
    values : float64 array of shape (n, q)
    owners : int64 array of shape (q,)
        Feature of each column; columns of the same are no neighbors.
    folds : int64 array of shape (n,)
    """

    values: FloatArray
    owners: IntArray
    folds: IntArray

    def residuals(self) -> list[FloatArray]:
        """Return what neighbors leave of the columns, (n, q), for each number of them.

        Rows are predicted without those of their fold. The penalty is the same for all columns:
        the one that leaves the least of up to 256 of them. A penalty for each would fit chance.
        """
        n, q = self.values.shape
        sizes = sorted({min(size, q - 1) for size in _NEIGHBORS} - {0})
        some = np.unique(np.linspace(0, q - 1, min(q, _OF_CHOICE)).astype(np.int64))
        errors = {size: np.zeros(len(_OF_NEIGHBORS)) for size in sizes}
        for first in range(0, len(some), _BLOCK):
            left = self._left(some[first : first + _BLOCK], dict.fromkeys(sizes, _OF_NEIGHBORS))
            for size in sizes:
                errors[size] += np.square(left[size]).sum(axis=(1, 2))
        best = {size: _OF_NEIGHBORS[[np.argmin(errors[size])]] for size in sizes}
        trials = [np.empty((n, q)) for _ in sizes]
        for first in range(0, q, _BLOCK):
            block = np.arange(first, min(first + _BLOCK, q))
            left = self._left(block, best)
            for trial, size in zip(trials, sizes, strict=True):
                trial[:, block] = left[size][0]
        return trials

    def _left(self, block: IntArray, penalties: dict[int, FloatArray]) -> dict[int, FloatArray]:
        """Return what numbers of neighbors leave of some columns, each of shape (penalties, n, b).

        `penalties` are those of each number of neighbors.
        """
        n = len(self.values)
        left = {
            size: np.empty((len(of_size), n, len(block))) for size, of_size in penalties.items()
        }
        for k in range(int(self.folds.max()) + 1):
            train, test = self.values[self.folds != k], self.values[self.folds == k]
            mean, spread = train.mean(axis=0), np.maximum(train.std(axis=0), 1e-12)
            train, test = (train - mean) / spread, (test - mean) / spread
            correlations = train[:, block].T @ train / len(train)
            correlations[self.owners[block][:, None] == self.owners] = 0.0
            for size, of_size in penalties.items():
                nearest = np.argpartition(-np.abs(correlations), size - 1, axis=1)[:, :size]
                moments = np.take_along_axis(correlations, nearest, axis=1)
                others = (self.owners[nearest] != self.owners[block][:, None])[:, :, None]
                columns = train.T[nearest] * others
                gram = columns @ columns.mT / len(train)
                weights = np.linalg.solve(
                    gram + of_size[:, None, None, None] * np.eye(size), moments[:, :, None]
                )
                predicted = (weights.mT @ (test.T[nearest] * others))[:, :, 0]
                rest = (test[:, block].T - predicted) * spread[block][:, None]
                left[size][:, self.folds == k] = rest.mT
        return left


def without_groups(residuals: FloatArray, hat: FloatArray, groups: IntArray) -> FloatArray:
    r"""Return residuals of a regression without the group of the row, shape (n, b).

    `residuals` are those with all rows. `hat` is a square root of the hat matrix, a constant aside,
    shape (n, r).
    """
    left = np.empty_like(residuals)
    for rows in rows_of_units(groups):
        left[rows] = np.linalg.solve(_free(hat[rows], len(hat)), residuals[rows])
    return left


def _free(hat: FloatArray, n: int) -> FloatArray:
    """Return the blocks of the identity less the hat matrix, that of a constant included."""
    size = hat.shape[1]
    return np.asarray((1.0 + 1e-9) * np.eye(size) - hat @ hat.mT - 1.0 / n)


def _single_without_groups(
    own: FloatArray, diagonal: FloatArray, hat: FloatArray, groups: IntArray
) -> FloatArray:
    r"""Return the residuals of single columns given all others, of groups left out, (n, b).

    The regression of column j on the others has the hat matrix of all columns less
    :math:`o_j o_j^	op / (n d_j)`, with `own` o and `diagonal` d.
    """
    left = np.empty_like(own)
    n = len(own)
    for rows in rows_of_units(groups):
        solved = np.linalg.solve(_free(hat[rows], n), own[rows])
        sizes = (own[rows] * solved).sum(axis=1, keepdims=True)
        left[rows] = solved * n / (n * diagonal + sizes)
    return left


def _of_block(
    vectors: FloatArray,
    weights: FloatArray,
    penalty: float,
    own: FloatArray,
    leverage: FloatArray,
    hat: FloatArray,
    groups: IntArray | None,
) -> FloatArray:
    r"""Return the residuals of columns given all others, of rows left out, shape (n, b).

    `vectors` are the rows of the right singular vectors of these columns, `weights` those of the
    eigenvalues of :math:`\Omega`, `own` the columns of :math:`Z \Omega`, and `leverage` that of the
    rows in a regression on all columns, whose hat matrix has the square root `hat`.
    """
    precision = (vectors * weights) @ vectors.T
    precision += (np.eye(len(vectors)) - vectors @ vectors.T) / penalty
    residuals = np.linalg.solve(precision, own.T).T
    if groups is not None:
        left = np.empty_like(residuals)
        for rows in rows_of_units(groups):
            free = _free(hat[rows], len(own)) + residuals[rows] @ own[rows].mT / len(own)
            left[rows] = np.linalg.solve(free, residuals[rows])
        return left
    without = leverage - (residuals * own).sum(axis=1) / len(own)
    return np.asarray(residuals / np.maximum(1.0 - without, 1e-9)[:, None])
