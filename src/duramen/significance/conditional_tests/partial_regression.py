"""Partial regressions: what features that a lasso selects leave of a response and of a feature.

A lasso shrinks the coefficients of the features that it selects, so that some of their effect
stays in what it leaves, and with it a correlation with the features beside them. The selected
features are therefore fitted again, without a penalty (Belloni, Chernozhukov and Hansen 2014).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from duramen.data.strata import centered_within
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
from duramen.significance.conditional_tests.nodewise import (
    Nodewise,
    Scores,
    by_splines,
    curved_in,
)
from duramen.significance.conditional_tests.sampler import Sampler
from duramen.support.arrays import BoolArray, FloatArray, IntArray

MANY_FEATURES = 500
"""Features from which on forests that predict each of them take long."""

OF_LINES = 0.95
"""Weight of the linear test where a forest predicts no better than lines."""

_LARGEST = 0.5  # most selected columns, as a fraction of the rows
_RIDGE = 1e-9  # for columns that add up to a constant, such as the indicators of all levels
_RANK = 1e-8
_WEAK = 2.0  # fraction of the variance that lines predict by chance, times the root of the units
_VARIES, _VARIES_WITH_ALL = 2.0, 1.0  # standard errors of correlations of sizes, and of their mean


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
    basis_of_all : float64 array of shape (n, s)
        Orthonormal basis of the columns that are selected of all.
    """

    response: FloatArray
    columns: FloatArray
    of_values: bool
    without: dict[int, BoolArray]
    n_means: int
    error: float
    noise: float
    basis_of_all: FloatArray

    @classmethod
    def of(cls, fitting: CrossFitting, scores: Scores) -> PartialRegression:
        """Select columns, with the penalty at which their least squares are best for the folds.

        The columns are the values or the scores, whichever predict the rows left out better.
        """
        strata = fitting.data.exchangeability.strata
        response = centered_within(fitting.response, strata)
        columns = centered_within(fitting.design.columns, strata)
        best, error = _best_penalties(columns, response, fitting.folds)
        of_values = True
        if not np.array_equal(columns, scores.values):
            of_scores, error_of_scores = _best_penalties(scores.values, response, fitting.folds)
            if error_of_scores < error:
                best, error, of_values, columns = of_scores, error_of_scores, False, scores.values
        selected, without = _selected(columns, response, best), {}
        for g, features in enumerate(fitting.hypotheses):
            others = ~np.isin(fitting.design.owners, features)
            if not others[selected].all():
                without[g] = np.zeros_like(selected)
                without[g][others] = _selected(columns[:, others], response, best)
        explained = 1.0 - error / max(float(np.square(response).mean(axis=0).sum()), 1e-300)
        weak = explained < _WEAK / np.sqrt(fitting.data.exchangeability.n_units)
        return cls(
            response,
            columns,
            of_values,
            without,
            1 if strata is None else int(strata.max()) + 1,
            error,
            error if weak else 0.0,
            _basis_of(columns[:, selected]),
        )

    def basis(self, g: int) -> FloatArray:
        """Return an orthonormal basis of what is fitted for a hypothesis, shape (n, s)."""
        if g not in self.without:
            return self.basis_of_all
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


def _best_penalties(
    columns: FloatArray, response: FloatArray, folds: IntArray
) -> tuple[FloatArray, float]:
    """Return the penalty of a lasso of each column of the response, and the error.

    At these penalties least squares on the selected columns are best; they are 0 of a constant
    response. The error is the mean squared one of rows left out, summed over the columns of the
    response.
    """
    from sklearn.linear_model import lasso_path

    best, error = np.zeros(response.shape[1]), 0.0
    for c, numbers in enumerate(response.T):
        if not columns.shape[1] or not numbers.any():
            continue
        path = penalties(columns, numbers)
        errors = np.zeros(len(path))
        for fold in range(int(folds.max()) + 1):
            train, test = columns[folds != fold], columns[folds == fold]
            means, mean = train.mean(axis=0), float(numbers[folds != fold].mean())
            train, target = train - means, numbers[folds != fold] - mean
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of convergence
                supports = lasso_path(train, target, alphas=path, tol=TOLERANCE)[1] != 0.0
            used = supports.any(axis=1)
            train, supports = train[:, used], supports[used]
            new, left_out = test[:, used] - means[used], numbers[folds == fold] - mean
            gram, moments = train.T @ train, train.T @ target
            gram[np.diag_indices_from(gram)] += _RIDGE * len(train)
            of_fold = np.full(len(path), np.inf)
            for i, support in enumerate(supports.T):
                if i and (support == supports[:, i - 1]).all():
                    of_fold[i] = of_fold[i - 1]
                elif support.sum() <= _LARGEST * len(train):
                    coefficients = np.linalg.solve(gram[np.ix_(support, support)], moments[support])
                    of_fold[i] = np.square(left_out - new[:, support] @ coefficients).sum()
            errors += of_fold
        best[c] = path[np.argmin(errors)]
        error += float(errors.min()) / len(numbers)
    return best, error


def _selected(columns: FloatArray, response: FloatArray, best: FloatArray) -> BoolArray:
    """Return the columns that the lasso of any column of the response selects, shape (q,)."""
    from sklearn.linear_model import Lasso

    selected = np.zeros(columns.shape[1], dtype=np.bool_)
    for penalty, numbers in zip(best.tolist(), response.T, strict=True):
        if penalty and len(selected):
            spread = float(numbers.std())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of convergence: near enough will do
                fitted = Lasso(penalty / spread, tol=TOLERANCE).fit(columns, numbers / spread)
            selected |= fitted.coef_ != 0.0
    return selected


# --- slopes of what the other features leave of both ----------------------------------------------


def slope_p_values(
    fitted: Sampler,
    design: Design,
    hypotheses: tuple[IntArray, ...],
    observed: Predictions,
    lines: PartialRegression | None,
) -> FloatArray:
    """Return the p-values of slopes of the target on what other features leave of each, (G,).

    What is left of the target, after the prediction of forests without the feature, or after least
    squares if there are `lines`, is regressed on what the others leave of the feature, in normal
    scores and in values. Where the noise varies with the feature, standard errors are robust.
    """
    scores = [fitted.residuals(features) for features in hypotheses]
    of_values = residuals_of_values(fitted, design, hypotheses, curves=lines is not None)
    values = [
        of_values.get(g, scores[g])
        if lines is not None or not fitted.forests[features].any()
        else scores[g]
        for g, features in enumerate(hypotheses)
    ]
    residuals, strata = (scores, values), fitted.strata

    def left(kind: int, g: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what is left of the target and of the features, and a basis of what was fit."""
        own = residuals[kind][g]
        if lines is None:
            rest = observed.rest(g)
            rest = rest if strata is None else centered_within(rest, strata)
            return rest, own, np.zeros((len(own), 0))
        basis = lines.basis(g)
        return projected_out(basis, lines.response), projected_out(basis, own), basis

    n_means, noise, weight = 1 if strata is None else int(strata.max()) + 1, 0.0, 0.5
    if lines is not None:
        n_means, noise = lines.n_means, lines.noise
        weight = 1.0 - OF_LINES if lines.of_values else OF_LINES
    p_values, sizes = np.ones((2, len(hypotheses))), np.zeros((2, len(hypotheses)))
    for kind, g in np.ndindex(p_values.shape):
        rest, own, basis = left(kind, g)
        n_fitted = basis.shape[1] + n_means - 1
        p_values[kind, g] = covariance_p_value(rest, own, observed.units, n_fitted, basis, noise)
        if rest.shape[1] == own.shape[1] == 1 and observed.units is None:
            sizes[kind, g] = size_correlation(rest[:, 0], own[:, 0], basis)
    common = sizes.sum(axis=1) / np.maximum(np.count_nonzero(sizes, axis=1), 1)
    varying = (sizes != 0.0) & ((sizes > _VARIES) | (common > _VARIES_WITH_ALL)[:, None])
    for kind, g in np.argwhere(varying).tolist():
        rest, own, basis = left(kind, g)
        robust = robust_p_value(rest[:, 0], own[:, 0], basis)
        p_values[kind, g] = max(p_values[kind, g], robust)
    return combined(p_values[0], p_values[1], weight)


def residuals_of_values(
    fitted: Sampler, design: Design, hypotheses: tuple[IntArray, ...], curves: bool
) -> dict[int, FloatArray]:
    """Return residuals of values, in place of scores, of each hypothesis about numbers.

    The effect of a value is larger than that of its rank, above all where tails are heavy. Values
    are predicted along lines, or with `curves` by splines of the others where the ranks of what
    lines leave depend on squares or cubes of these.
    """
    from scipy.special import ndtri

    scores = fitted.scores
    numbers = (scores.widths > 0) & ~scores.discrete
    if not numbers.any():
        return {}
    columns = centered_within(design.columns, fitted.strata)
    nodewise = Nodewise.of(replace(scores, values=columns), fitted.folds, fitted.groups)
    residuals = np.array(nodewise.residuals)
    by_forests = np.flatnonzero(numbers & fitted.forests).tolist() if curves else []
    if by_forests:
        ranks = np.argsort(np.argsort(residuals, axis=0, kind="stable"), axis=0)
        curved = curved_in(scores, ndtri((ranks + 0.5) / len(ranks)))
        for j in by_forests:
            if len(curved[j]):
                of_splines = by_splines(nodewise, scores, j, curved[j])
                residuals[:, scores.columns(j)] = centered_within(of_splines, fitted.strata)
    of_values = replace(fitted, nodewise=nodewise, left=residuals)
    return {
        g: of_values.residuals(features)
        for g, features in enumerate(hypotheses)
        if numbers[features].all()
    }
