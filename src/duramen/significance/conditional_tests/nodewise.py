"""Columns of a table as scores, and the residuals of each feature given all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from duramen.data import EncodedTable
from duramen.data.strata import centered_within
from duramen.significance.conditional_tests.inference import rows_of_units
from duramen.support.arrays import BoolArray, FloatArray, IntArray

_LEVEL = 0.01  # of the search for features that depend on powers of others
_MOST_CURVED = 5  # of these
_MOST_LINEAR = 50  # other features beside them
_RIDGE = np.logspace(-4.0, 1.0, 11)


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of the columns of a table, each of mean 0 (within strata) and variance 1, about.

    A numeric or ordinal feature has one column of normal scores of its mid-ranks, and one indicator
    more where values are missing; a feature of two values has an indicator; a nominal one an
    indicator for each value, its missing ones among them. A constant feature has none.

    Attributes
    ----------
    values : float64 array of shape (n, q)
    first : int64 array of shape (p + 1,)
        Where the columns of each feature begin.
    discrete : bool array of shape (p,)
        Whether all columns of a feature are indicators.
    codes : list of p arrays of shape (n,)
        Codes of each feature, that of missing values last.
    """

    values: FloatArray
    first: IntArray
    discrete: BoolArray
    codes: list[np.ndarray]

    @classmethod
    def of(cls, table: EncodedTable, strata: IntArray | None = None) -> Scores:
        """Return the scores of a table."""
        from scipy.special import ndtri

        columns, first, discrete, all_codes = list[FloatArray](), [0], list[bool](), []
        for j in range(table.n_columns):
            codes = np.asarray(table.codes(j))
            counts, missing = np.bincount(codes, minlength=1), codes >= len(table.values(j))
            present = np.flatnonzero(counts)
            discrete.append(len(present) <= 2 or table.kinds[j] == "nominal")
            if len(present) == 2:
                columns.append(standardized((codes == present[1]).astype(np.float64)))
            elif len(present) > 2 and table.kinds[j] == "nominal":
                columns += [(codes == value).astype(np.float64) for value in present]
            elif len(present) > 2:
                counts = np.bincount(codes[~missing])
                middle = np.cumsum(counts) - counts / 2.0
                column = np.zeros(len(codes))
                column[~missing] = ndtri(middle / np.count_nonzero(~missing))[codes[~missing]]
                columns.append(standardized(column))
                if missing.any():
                    columns.append(standardized(missing.astype(np.float64)))
            first.append(len(columns))
            all_codes.append(codes)
        values = np.column_stack(columns) if columns else np.zeros((table.n_rows, 0))
        return cls(centered_within(values, strata), np.array(first), np.array(discrete), all_codes)

    def columns(self, j: int) -> slice:
        """Return the columns of the j-th feature."""
        return slice(int(self.first[j]), int(self.first[j + 1]))

    def of_features(self, features: Sequence[int]) -> FloatArray:
        """Return the scores of some features beside each other, shape (n, b)."""
        return np.hstack([self.values[:, self.columns(j)] for j in features])

    @property
    def widths(self) -> IntArray:
        """Number of columns of each feature, 0 of a constant one; shape (p,)."""
        return np.diff(self.first)


def standardized(columns: FloatArray) -> FloatArray:
    """Return columns of mean 0 and variance 1; constant columns become 0."""
    columns = columns - columns.mean(axis=0)
    return np.asarray(columns / np.maximum(columns.std(axis=0), 1e-300))


# --- features that depend on squares or cubes of others -------------------------------------------


def curved_in(scores: Scores, residuals: FloatArray) -> list[IntArray]:
    """Return up to five other features that the residuals of each feature depend on.

    Looked at are a mean that depends on the square or the cube of another feature, and a spread
    that depends on its square.
    """
    from scipy.special import ndtri

    p = len(scores.widths)
    curved = [np.empty(0, dtype=np.int64)] * p
    numbers = np.flatnonzero((scores.widths > 0) & ~scores.discrete)
    if not len(numbers):
        return curved
    values = scores.values[:, scores.first[numbers]]
    residuals = standardized(residuals)
    limit = -ndtri(_LEVEL / (6.0 * len(numbers))) / np.sqrt(len(values))
    squares, cubes = standardized(values**2), standardized(values**3 - 3.0 * values)
    pairs = ((residuals, squares), (residuals, cubes), (standardized(residuals**2), squares))
    sizes = np.max([np.abs(left.T @ right) / len(values) for left, right in pairs], axis=0)
    for j in np.flatnonzero(scores.widths).tolist():
        size = sizes[scores.columns(j)].max(axis=0)
        size[numbers == j] = 0.0
        largest = np.argsort(-size, kind="stable")[:_MOST_CURVED]
        curved[j] = numbers[largest[size[largest] > limit]]
    return curved


def by_splines(nodewise: Nodewise, scores: Scores, j: int, curved: IntArray) -> FloatArray:
    """Return residuals of a feature on splines of others.

    The predictors are the features that matter most in the linear regression, and B-splines of the
    scores of the `curved` ones; the rows are left out one at a time, or a group at a time.
    """
    columns, weights = nodewise.scores.values, np.abs(nodewise.weights(j))
    largest = np.argsort(-weights, kind="stable")[:_MOST_LINEAR]
    linear = columns[:, largest[weights[largest] > 0.0]]
    predictors = standardized(np.hstack([linear, splines_of(scores, curved)]))
    return ridge_residuals(predictors, columns[:, scores.columns(j)], nodewise.groups)


def splines_of(scores: Scores, features: IntArray) -> FloatArray:
    """Return B-splines of the scores of numeric features."""
    from sklearn.preprocessing import SplineTransformer

    basis = SplineTransformer(n_knots=6, knots="quantile", include_bias=False)
    return np.asarray(basis.fit_transform(scores.values[:, scores.first[features]]))


def ridge_residuals(
    columns: FloatArray, responses: FloatArray, groups: IntArray | None = None
) -> FloatArray:
    """Return residuals of ridge regressions without the row, with the best of some penalties.

    With `groups`, the group of the row is left out.
    """
    left, singular, _ = np.linalg.svd(columns, full_matrices=False)
    n = len(columns)
    best: FloatArray | None = None
    centered_responses = responses - responses.mean(axis=0)
    for penalty in _RIDGE:
        shrunk = singular**2 / (singular**2 + n * penalty)
        fitted = (left * shrunk) @ (left.T @ centered_responses)
        if groups is None:
            leverage = np.square(left) @ shrunk + 1.0 / n
            trial = (centered_responses - fitted) / np.maximum(1.0 - leverage, 1e-9)[:, None]
        else:
            trial, hat = centered_responses - fitted, left * np.sqrt(shrunk)
            for rows in rows_of_units(groups):
                trial[rows] = np.linalg.solve(_free(hat[rows], n), trial[rows])
        if best is None or np.square(trial).sum() < np.square(best).sum():
            best = trial
    assert best is not None
    return best


# --- ridge regression of every feature on all others ----------------------------------------------
# With the scores Z of the features, S = Z^T Z / n and :math:`\Omega = (S + \lambda I)^{-1}`, the
# residuals of the columns B of a feature on those of all others are
#
# .. math:: Z \Omega_{\cdot B} \Omega_{BB}^{-1},
#
# and those of the rows left out follow by the leverages. A singular value decomposition of Z gives
# all of them for each penalty, also where there are more features than rows; each feature takes the
# penalty with the least squared residuals.
#
# Rows of a group, which may depend on each other, are left out together, by the inverse of their
# block of the identity less the hat matrix.
#
# A regression on all others spreads over many columns what few of them explain, above all where
# features are more than rows. So each column is also predicted from those that are most correlated
# with it, rows left out by folds, screening included (sure independence screening, Fan and Lv
# 2008).

_PENALTIES = np.logspace(-3.0, 1.5, 13)
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
    vectors: FloatArray  # (q, r) right singular vectors
    _sizes: FloatArray  # (r,) eigenvalues of S
    groups: IntArray | None = None

    @classmethod
    def of(
        cls, scores: Scores, folds: IntArray | None = None, groups: IntArray | None = None
    ) -> Nodewise:
        """Fit the regressions; with `folds`, also the regressions on correlated columns.

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
                # The regression of a column on the others has the hat matrix of all columns less
                # o o^T / (n d), with o its column of `own` and d its diagonal element.
                trial = np.empty_like(own)
                for rows in rows_of_units(groups):
                    solved = np.linalg.solve(_free(hat[rows], n), own[rows])
                    of_rows = (own[rows] * solved).sum(axis=1, keepdims=True)
                    trial[rows] = solved * n / (n * diagonal[columns] + of_rows)
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
            for trial in residuals_of_neighbors(values, owners, folds):
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
        values, v = self.scores.values, self.vectors[columns]
        n, weights = len(values), 1.0 / (self._sizes + penalty)
        projected = values @ self.vectors
        leverage = (np.square(projected) / n * weights).sum(axis=1) + 1.0 / n
        hat = projected * np.sqrt(weights / n)
        own = (projected * weights) @ v.T
        return _of_block(v, weights, penalty, own, leverage, hat, self.groups)

    def weights(self, j: int) -> FloatArray:
        """Return the coefficients of the first column of a feature on all columns, shape (q,)."""
        weights, penalty = 1.0 / (self._sizes + self.penalties[j]), self.penalties[j]
        v = self.vectors[self.scores.first[j]]
        row = self.vectors @ (weights * v) - (self.vectors @ v) / penalty
        row[self.scores.first[j]] += 1.0 / penalty
        own = float(row[self.scores.first[j]])
        coefficients: FloatArray = -row / own
        coefficients[self.scores.columns(j)] = 0.0
        return coefficients


def residuals_of_neighbors(
    values: FloatArray, owners: IntArray, folds: IntArray
) -> list[FloatArray]:
    """Return residuals of each column given its most correlated columns, by their number.

    Rows are predicted by ridge regressions without those of their fold. The penalty is the same for
    all columns: the one that leaves the least of up to 256 of them. A penalty for each would fit
    chance.

    Parameters
    ----------
    values : float64 array of shape (n, q)
    owners : int64 array of shape (q,)
        Feature of each column; columns of the same are no neighbors.
    folds : int64 array of shape (n,)
    """
    n, q = values.shape
    sizes = sorted({min(size, q - 1) for size in _NEIGHBORS} - {0})
    some = np.unique(np.linspace(0, q - 1, min(q, _OF_CHOICE)).astype(np.int64))
    errors = {size: np.zeros(len(_OF_NEIGHBORS)) for size in sizes}
    for first in range(0, len(some), _BLOCK):
        block = some[first : first + _BLOCK]
        left = _left(values, owners, folds, block, dict.fromkeys(sizes, _OF_NEIGHBORS))
        for size in sizes:
            errors[size] += np.square(left[size]).sum(axis=(1, 2))
    best = {size: _OF_NEIGHBORS[[np.argmin(errors[size])]] for size in sizes}
    trials = [np.empty((n, q)) for _ in sizes]
    for first in range(0, q, _BLOCK):
        block = np.arange(first, min(first + _BLOCK, q))
        left = _left(values, owners, folds, block, best)
        for trial, size in zip(trials, sizes, strict=True):
            trial[:, block] = left[size][0]
    return trials


def _left(
    values: FloatArray,
    owners: IntArray,
    folds: IntArray,
    block: IntArray,
    penalties: dict[int, FloatArray],
) -> dict[int, FloatArray]:
    """Return residuals of columns given numbers of neighbors, of shape (penalties, n, b).

    `penalties` are those of each number of neighbors.
    """
    left = {
        size: np.empty((len(of_size), len(values), len(block)))
        for size, of_size in penalties.items()
    }
    for k in range(int(folds.max()) + 1):
        train, test = values[folds != k], values[folds == k]
        mean, spread = train.mean(axis=0), np.maximum(train.std(axis=0), 1e-12)
        train, test = (train - mean) / spread, (test - mean) / spread
        correlations = train[:, block].T @ train / len(train)
        correlations[owners[block][:, None] == owners] = 0.0
        for size, of_size in penalties.items():
            nearest = np.argpartition(-np.abs(correlations), size - 1, axis=1)[:, :size]
            moments = np.take_along_axis(correlations, nearest, axis=1)
            others = (owners[nearest] != owners[block][:, None])[:, :, None]
            columns = train.T[nearest] * others
            gram = columns @ columns.mT / len(train)
            weights = np.linalg.solve(
                gram + of_size[:, None, None, None] * np.eye(size), moments[:, :, None]
            )
            predicted = (weights.mT @ (test.T[nearest] * others))[:, :, 0]
            rest = (test[:, block].T - predicted) * spread[block][:, None]
            left[size][:, folds == k] = rest.mT
    return left


def _free(hat: FloatArray, n: int) -> FloatArray:
    """Return the identity less the hat matrix with a constant, in blocks."""
    size = hat.shape[1]
    return np.asarray((1.0 + 1e-9) * np.eye(size) - hat @ hat.mT - 1.0 / n)


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
