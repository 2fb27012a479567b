"""Partial regressions: what features that a lasso selects leave of a response and of a feature.

A lasso shrinks the coefficients of the features that it selects, so that some of their effect
stays in what it leaves, and with it a correlation with the features beside them. The selected
features are therefore fitted again, without a penalty (Belloni, Chernozhukov and Hansen 2014).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from duramen.data.scores import centered_within
from duramen.significance.conditional_tests.cross_fitted import (
    TOLERANCE,
    CrossFitting,
    Design,
    penalties,
)
from duramen.significance.conditional_tests.inference import (
    Predictions,
    combined,
    covariance_p_value,
    robust_p_value,
    size_correlation,
)
from duramen.significance.conditional_tests.sampler import (
    KnownSampler,
    Nodewise,
    Sampler,
    Scores,
    by_splines,
    curved_in,
    normal_scores_of,
)
from duramen.support.arrays import BoolArray, FloatArray, IntArray

_LARGEST = 0.5  # most selected columns, as a fraction of the rows
_RIDGE = 1e-9  # for columns that add up to a constant, such as the indicators of all levels
_RANK = 1e-8
_WEAK = 2.0  # fraction of the variance that lines predict by chance, times the root of the units


@dataclass(frozen=True, eq=False)
class PartialRegression:
    """Least squares of the response on columns that a lasso selects, for each hypothesis.

    All rows are used: under the null hypothesis what is left is a function of the target and of
    the other features alone, whatever it has adapted to. Columns and response are centered within
    strata, which fits the strata too.

    Attributes
    ----------
    response : float64 array of shape (n, c)
    columns : float64 array of shape (n, q)
    of_values : bool
        Whether the columns are values, not scores.
    without : dict of int to bool array of shape (q,)
        Columns that are selected without those of a hypothesis, if any of these is selected.
    n_means : int
        Strata, or 1.
    error : float
        Mean squared error of rows left out, summed over the columns of the response.
    noise : float
        The same where it is hardly less than the variance of the response, so that most columns are
        selected by chance and fit the noise of their own rows; else 0.
    """

    response: FloatArray
    columns: FloatArray
    of_values: bool
    without: dict[int, BoolArray]
    n_means: int
    error: float
    noise: float
    _basis: FloatArray

    @classmethod
    def of(cls, fitting: CrossFitting, scores: Scores) -> PartialRegression:
        """Select columns, with the penalty at which their least squares are best for the folds.

        The columns are the values or the scores, whichever predict the rows left out better.
        """
        strata = fitting.data.exchangeability.strata
        response = centered_within(fitting.response, strata)
        n_means = 1 if strata is None else int(strata.max()) + 1
        values = centered_within(fitting.design.columns, strata)
        path = _Path.of(values, response, fitting.folds)
        of_values, columns = True, values
        if not np.array_equal(values, scores.values):
            of_scores = _Path.of(scores.values, response, fitting.folds)
            if of_scores.error < path.error:
                path, of_values, columns = of_scores, False, scores.values
        selected = path.selected(columns, response)
        without = {}
        for g, features in enumerate(fitting.hypotheses):
            others = ~np.isin(fitting.design.owners, features)
            if not others[selected].all():
                without[g] = np.zeros_like(selected)
                without[g][others] = path.selected(columns[:, others], response)
        basis = _basis_of(columns[:, selected])
        explained = 1.0 - path.error / max(float(np.square(response).mean(axis=0).sum()), 1e-300)
        weak = explained < _WEAK / np.sqrt(fitting.data.exchangeability.n_units)
        noise = path.error if weak else 0.0
        return cls(response, columns, of_values, without, n_means, path.error, noise, basis)

    def basis(self, g: int) -> FloatArray:
        """Return an orthonormal basis of what is fitted for a hypothesis, shape (n, s)."""
        if g not in self.without:
            return self._basis
        return _basis_of(self.columns[:, self.without[g]])


def projected_out(basis: FloatArray, columns: FloatArray) -> FloatArray:
    """Return what least squares on a basis leave of columns."""
    return np.asarray(columns - basis @ (basis.T @ columns))


def _basis_of(columns: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the span of columns."""
    from scipy.linalg import qr

    if not columns.shape[1]:
        return np.zeros((len(columns), 0))
    vectors, triangle, _ = qr(columns, mode="economic", pivoting=True)
    sizes = np.abs(triangle.diagonal())
    return np.asarray(vectors[:, sizes > _RANK * max(float(sizes[0]), 1e-300)])


@dataclass(frozen=True, eq=False)
class _Path:
    """Penalties of a lasso of each column of the response, and the error of what they select.

    Attributes
    ----------
    penalties : float64 array of shape (c,)
        Those at which least squares on the selected columns are best; 0 of a constant response.
    error : float
        Mean squared error of rows left out, summed over the columns of the response.
    """

    penalties: FloatArray
    error: float

    @classmethod
    def of(cls, columns: FloatArray, response: FloatArray, folds: IntArray) -> _Path:
        best, error = np.zeros(response.shape[1]), 0.0
        for c, numbers in enumerate(response.T):
            if not columns.shape[1] or not numbers.any():
                continue
            path = penalties(columns, numbers)
            errors = np.zeros(len(path))
            for fold in range(int(folds.max()) + 1):
                errors += _squared_errors(columns, numbers, folds != fold, folds == fold, path)
            best[c] = path[np.argmin(errors)]
            error += float(errors.min()) / len(numbers)
        return cls(best, error)

    def selected(self, columns: FloatArray, response: FloatArray) -> BoolArray:
        """Return the columns that the lasso of any column of the response selects, shape (q,)."""
        from sklearn.linear_model import Lasso

        selected = np.zeros(columns.shape[1], dtype=np.bool_)
        for penalty, numbers in zip(self.penalties.tolist(), response.T, strict=True):
            if not penalty or not len(selected):
                continue
            spread = float(numbers.std())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of convergence: near enough will do
                fitted = Lasso(penalty / spread, tol=TOLERANCE).fit(columns, numbers / spread)
            selected |= fitted.coef_ != 0.0
        return selected


def _squared_errors(
    columns: FloatArray, numbers: FloatArray, train: BoolArray, test: BoolArray, path: FloatArray
) -> FloatArray:
    """Return the sums of squared errors on test rows, one for each penalty."""
    from sklearn.linear_model import lasso_path

    means, mean = columns[train].mean(axis=0), float(numbers[train].mean())
    fitted_columns, response = columns[train] - means, numbers[train] - mean
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence
        supports = lasso_path(fitted_columns, response, alphas=path, tol=TOLERANCE)[1] != 0.0
    used = supports.any(axis=1)
    fitted_columns, supports = fitted_columns[:, used], supports[used]
    new, target = columns[test][:, used] - means[used], numbers[test] - mean
    gram, moments = fitted_columns.T @ fitted_columns, fitted_columns.T @ response
    gram[np.diag_indices_from(gram)] += _RIDGE * len(fitted_columns)
    errors = np.full(len(path), np.inf)
    for i, support in enumerate(supports.T):
        if i and (support == supports[:, i - 1]).all():
            errors[i] = errors[i - 1]
        elif support.sum() <= _LARGEST * len(fitted_columns):
            coefficients = np.linalg.solve(gram[np.ix_(support, support)], moments[support])
            errors[i] = float(np.square(target - new[:, support] @ coefficients).sum())
    return errors


# --- slopes of what the other features leave of both ----------------------------------------------
# What is left of the target, after a prediction without the feature, is regressed on what the
# others leave of the feature, in normal scores and in values.

MANY_FEATURES = 500
"""Features from which on forests that predict each of them take long."""

OF_LINES = 0.95
"""Weight of the linear test where a forest predicts no better than lines."""

_VARIES, _VARIES_WITH_ALL = 2.0, 1.0  # standard errors of correlations of sizes, and of their mean


@dataclass(frozen=True, eq=False)
class SlopeTests:
    """Residuals of the target and of each feature, or group of features.

    Attributes
    ----------
    hypotheses : tuple of H int arrays
    observed : Predictions
        Of the target, with and without the features of each hypothesis.
    lines : PartialRegression or None
        Least squares in place of these predictions.
    residuals : list of 2 lists of H float64 arrays of shape (n, b)
        What the other features leave of scores, and of values.
    strata : int64 array of shape (n,) or None
        Within which what forests leave of the target is centered.
    """

    hypotheses: tuple[IntArray, ...]
    observed: Predictions
    lines: PartialRegression | None
    residuals: tuple[list[FloatArray], list[FloatArray]]
    strata: IntArray | None = None

    @classmethod
    def of(
        cls,
        fitted: Sampler,
        design: Design,
        hypotheses: tuple[IntArray, ...],
        observed: Predictions,
        lines: PartialRegression | None,
    ) -> SlopeTests:
        """Take what the others leave of the features, or predict their values."""
        scores = [fitted.residuals(features) for features in hypotheses]
        of_values = residuals_of_values(fitted, design, hypotheses, curves=lines is not None)
        values = [
            of_values.get(g, scores[g])
            if lines is not None or not fitted.forests[features].any()
            else scores[g]
            for g, features in enumerate(hypotheses)
        ]
        return cls(hypotheses, observed, lines, (scores, values), fitted.strata)

    def left(self, kind: int, g: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what is left of the target and of the features, and a basis of what was fit."""
        own = self.residuals[kind][g]
        if self.lines is None:
            rest = self.observed.rest(g)
            if self.strata is not None:
                rest = centered_within(rest, self.strata)
            return rest, own, np.zeros((len(own), 0))
        basis = self.lines.basis(g)
        return projected_out(basis, self.lines.response), projected_out(basis, own), basis

    def p_value(self, kind: int, g: int) -> float:
        """Return the p-value of a hypothesis if the noise does not grow with its features."""
        rest, own, basis = self.left(kind, g)
        n_means, noise = 1 if self.strata is None else int(self.strata.max()) + 1, 0.0
        if self.lines is not None:
            n_means, noise = self.lines.n_means, self.lines.noise
        n_fitted = basis.shape[1] + n_means - 1
        return covariance_p_value(rest, own, self.observed.units, n_fitted, basis, noise)

    def p_values(self) -> FloatArray:
        """Return the p-values of scores and values together, shape (H,)."""
        shape = 2, len(self.hypotheses)
        p_values, sizes = np.ones(shape), np.zeros(shape)
        for kind, g in np.ndindex(shape):
            p_values[kind, g] = self.p_value(kind, g)
            rest, own, basis = self.left(kind, g)
            if rest.shape[1] == own.shape[1] == 1 and self.observed.units is None:
                sizes[kind, g] = size_correlation(rest[:, 0], own[:, 0], basis)
        common = sizes.sum(axis=1) / np.maximum(np.count_nonzero(sizes, axis=1), 1)
        varying = (sizes != 0.0) & ((sizes > _VARIES) | (common > _VARIES_WITH_ALL)[:, None])
        for kind, g in np.argwhere(varying).tolist():
            rest, own, basis = self.left(kind, g)
            robust = robust_p_value(rest[:, 0], own[:, 0], basis)
            p_values[kind, g] = max(p_values[kind, g], robust)
        weight = 0.5
        if self.lines is not None:
            weight = 1.0 - OF_LINES if self.lines.of_values else OF_LINES
        return combined(p_values[0], p_values[1], weight)


def residuals_of_values(
    fitted: Sampler, design: Design, hypotheses: tuple[IntArray, ...], curves: bool
) -> dict[int, FloatArray]:
    """Return residuals of values, in place of scores, of each hypothesis about numbers.

    The effect of a value is larger than that of its rank, above all where tails are heavy. Values
    are predicted along lines, or with `curves` by splines of the others where the ranks of what
    lines leave depend on squares or cubes of these. A known distribution has residuals of its own.
    """
    scores = fitted.scores
    numbers = (scores.widths > 0) & ~scores.discrete
    if isinstance(fitted, KnownSampler) or not numbers.any():
        return {}
    columns = centered_within(design.columns, fitted.strata)
    nodewise = Nodewise.of(replace(scores, values=columns), fitted.folds, fitted.groups)
    residuals = np.array(nodewise.residuals)
    by_forests = np.flatnonzero(numbers & fitted.forests).tolist() if curves else []
    curved = curved_in(scores, normal_scores_of(residuals)) if by_forests else []
    for j in by_forests:
        if len(curved[j]):
            block = scores.columns(j)
            residuals[:, block] = centered_within(
                by_splines(nodewise, scores, j, curved[j]), fitted.strata
            )
    of_values = replace(fitted, nodewise=nodewise, _residuals=residuals)
    return {
        g: of_values.residuals(features)
        for g, features in enumerate(hypotheses)
        if numbers[features].all()
    }
