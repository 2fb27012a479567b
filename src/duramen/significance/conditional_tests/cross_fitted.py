"""Predictions of the target by cross-fitted forests, and by least squares on selected columns.

A forest is followed by a lasso of its out-of-bag residuals, since it needs many rows for an effect
that a line tells with few.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from duramen.data import ClassTarget, EncodedTable
from duramen.data.strata import centered_within
from duramen.forests.prediction import replacement_changes
from duramen.importances.refit import seeded
from duramen.significance.conditional_tests.inference import (
    Predictions,
    combined,
    covariance_p_value,
    robust_p_value,
    size_correlation,
)
from duramen.significance.conditional_tests.nodewise import Nodewise, Scores, by_splines, curved_in
from duramen.significance.conditional_tests.sampler import Sampler, folds_of_groups
from duramen.significance.measured import Data
from duramen.support.arrays import Arrays, BoolArray, FloatArray, IntArray

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
    """Return a path of lasso penalties, from the smallest one with all coefficients 0."""
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
    """Settings of a cross-fitted prediction, shared by all folds.

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
            donors, grown = self.donors[:, :, rows], forest.forest_
            known = grown, data.table, rows, self.hypotheses
            halves = [replacement_changes(*known, donors[:, half::2]) for half in range(2)]
            predicted = halves[0][0] + grown.origin
            arrays["predicted"] = as_response(predicted)
            arrays["replaced"] = as_response(predicted + np.stack([after for _, after in halves]))
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
        """Return this cross-fitting without some features."""
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


# --- partial regressions -------------------------------------------------------------------------
# A lasso shrinks the coefficients of the features that it selects, so that some of their effect
# stays in what it leaves, and with it a correlation with the features beside them. The selected
# features are therefore fitted again, without a penalty (Belloni, Chernozhukov and Hansen 2014).

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
        """Return an orthonormal basis of the columns fitted for a hypothesis, shape (n, s)."""
        if g not in self.without:
            return self.basis_of_all
        return _basis_of(self.columns[:, self.without[g]])


def projected_out(basis: FloatArray, columns: FloatArray) -> FloatArray:
    """Return the residuals of columns after least squares on a basis."""
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
    """Return the p-values of slopes of the target on the residuals of each hypothesis, (G,).

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
        """Return the residuals of the target and of the features, and a basis of the fit."""
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
