"""Additive models of single columns, and the indicators that select their columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.encoded import EncodedTable
from duramen.data.survival import at_risk, risk_intervals
from duramen.data.target import Target
from duramen.support.arrays import BoolArray, FloatArray, IntArray

_MOST_LABELS = 15  # of a nominal column, that have a coefficient
_STEPS_OF_COLUMN = 15
_JOINING = 10  # columns that join the model at a time
_NEAR = 0.8  # of the largest statistic, from which on columns join with the strongest
_ROWS_PER_TERM = 5
_ROWS_PER_COEFFICIENT = 2  # of all classes but the first
_RIDGE = 0.1  # on coefficients of terms of variance 1: bounds coefficients of separated classes
_STEPS = 50
_LARGEST_MOVE = 3.0  # of a logit, in a step
_CUBIC = 3
_DEGREES = 0.75  # of freedom of a column, times the cube root of the rows
_ROUNDING = 1e-10
_SCREENED = 3  # cuts of a column that find its main effect, at least
_SPANNED = 0.05  # of the spread of the scores of an indicator, that the terms leave of it
_ENTRIES = 1 << 22  # of the indicators that are scored at a time


def indicators(
    table: EncodedTable, columns: IntArray, n_cuts: int
) -> tuple[BoolArray, NDArray[np.intp]]:
    """Return at most `n_cuts` indicators of each column: rows above quantiles, or with a label.

    A column with an order has those of its values above quantiles at equal distances, missing
    values above all others; a nominal column has those of its most frequent labels.

    Returns
    -------
    values : bool array of shape (n, q)
    column : int array of shape (q,)
        Place of the column of each among `columns`, ascending.
    """
    n = table.n_rows
    values: list[BoolArray] = []
    of: list[int] = []
    for place, j in enumerate(columns.tolist()):
        codes = np.asarray(table.codes(j))
        if table.kinds[j] == "nominal":
            counts = np.bincount(codes)
            labels = np.argsort(-counts, kind="stable")[: n_cuts if len(counts) > 2 else 1]
            candidates = [codes == label for label in np.sort(labels)]
        else:
            ordered = np.sort(codes)
            ranks = np.arange(1, n_cuts + 1) * n // (n_cuts + 1)
            # The cut below the value at the quantile, where most rows have the least value.
            cuts = np.where(ordered[ranks] == ordered[-1], ordered[ranks] - 1.0, ordered[ranks])
            candidates = [codes > cut for cut in np.unique(cuts)]
        varied = [column for column in candidates if column.any() and not column.all()]
        values += varied
        of += [place] * len(varied)
    stacked = np.array(values, dtype=np.bool_).reshape(len(values), n).T
    return np.asfortranarray(stacked), np.array(of, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class AdditiveModel:
    """Additive model of m outcomes: a number, all classes but the first, or an event.

    Attributes
    ----------
    terms : float64 array of shape (n, q)
        Ones, then a basis of functions of each column in the model.
    means, residuals : float64 arrays of shape (m, n)
    weights : float64 array of shape (m, m, n)
        Derivatives of the means by the linear predictors: ones for numbers, else the variances
        and covariances of the outcomes.
    coefficients : float64 array of shape (m, q)
    inverse : float64 array of shape (m q, m q)
        Inverse of the penalized information of the coefficients.
    """

    terms: FloatArray
    means: FloatArray
    residuals: FloatArray
    weights: FloatArray
    coefficients: FloatArray
    inverse: FloatArray

    @classmethod
    def fit(
        cls,
        terms: FloatArray,
        outcomes: FloatArray,
        target: Target,
        first: FloatArray | None = None,
    ) -> AdditiveModel:
        """Fit the coefficients of terms to convergence, by Newton's method.

        It starts from those of the first terms where these were fitted before, else from 0.
        Outcomes are numbers, or classes in a logistic model, or events in Cox's model with the
        cumulative hazard of Breslow.
        """
        from scipy.special import softmax

        size = (len(outcomes), terms.shape[1])
        coefficients, ridge = np.zeros(size), _RIDGE * (np.arange(size[1]) > 0)
        if first is not None:
            coefficients[:, : first.shape[1]] = first
        for _ in range(_STEPS):
            linear = coefficients @ terms.T
            if target.censored:
                begin, end, occurred = risk_intervals(target.values)
                risks = np.exp(linear[0] - linear[0].max())
                sums = at_risk(risks[:, np.newaxis], begin, end)[:, 0]
                steps = np.bincount(end, occurred) / np.maximum(sums, 1e-300)
                hazard = np.append(0.0, np.cumsum(steps))
                means = ((hazard[end + 1] - hazard[begin]) * risks)[np.newaxis]
                weights = means[np.newaxis]
            elif target.codes is None:
                means, weights = linear, np.ones((1, *linear.shape))
            else:
                means = softmax(np.vstack([np.zeros(linear.shape[1]), linear]), axis=0)[1:]
                weights = -means[:, np.newaxis] * means
                weights[np.diag_indices(len(means))] += means
            residuals = outcomes - means
            inverse = _inverse(terms, weights)
            scores = residuals @ terms - ridge * coefficients
            step = (inverse @ scores.ravel()).reshape(size)
            move = np.abs(step @ terms.T).max()
            if move <= 1e-6 * max(1.0, np.abs(outcomes).max()):
                break
            exact = target.codes is None and not target.censored
            coefficients += step * (1.0 if exact else min(1.0, _LARGEST_MOVE / move))
        if np.abs(residuals).max() <= _ROUNDING * np.abs(outcomes).max():
            residuals = np.zeros(residuals.shape)
        return cls(terms, means, residuals, weights, coefficients, inverse)

    def with_terms(self, terms: FloatArray) -> AdditiveModel:
        """Return the model with further terms, whose coefficients are 0."""
        coefficients = np.hstack([self.coefficients, np.zeros((len(self.means), terms.shape[1]))])
        terms = np.hstack([self.terms, terms])
        inverse = _inverse(terms, self.weights)
        return replace(self, terms=terms, coefficients=coefficients, inverse=inverse)

    def scores(self, columns: FloatArray, k: int) -> FloatArray:
        """Return the efficient scores of columns in the k-th outcome, shape (n, c).

        They are products with the residuals of the part of each column that is orthogonal to the
        terms, with the weights: to first order, errors of the coefficients do not change them.
        """
        m, q = len(self.means), self.terms.shape[1]
        shared = [self.terms.T @ (weights[:, np.newaxis] * columns) for weights in self.weights[k]]
        moves = (self.inverse @ np.vstack(shared)).reshape(m, q, -1)
        scores = columns * self.residuals[k][:, np.newaxis]
        for move, residual in zip(moves, self.residuals, strict=True):
            scores -= (self.terms @ move) * residual[:, np.newaxis]
        return np.asarray(scores)

    def information(self, columns: FloatArray) -> FloatArray:
        """Return the efficient information of columns in all outcomes, shape (m c, m c).

        It is the covariance of the sums of their scores, by the weights.
        """
        m, c = len(self.means), columns.shape[1]
        inverse = self.with_terms(columns).inverse.reshape(m, -1, m, self.terms.shape[1] + c)
        block = inverse[:, -c:, :, -c:].reshape(m * c, m * c)
        return np.asarray(np.linalg.inv(block) - _RIDGE * np.eye(m * c))

    def refitted(self, errors: FloatArray) -> FloatArray:
        """Return errors of the outcomes, shape (d, m, n), less their fit to first order.

        They are the residuals of a fit to the means plus these errors, to first order.
        """
        draws, m, q = len(errors), len(self.means), self.terms.shape[1]
        moves = (errors @ self.terms).reshape(draws, m * q) @ self.inverse
        fitted = moves.reshape(draws, m, q) @ self.terms.T
        return np.asarray(errors - np.einsum("kln,dln->dkn", self.weights, fitted))

    def leverages(self) -> FloatArray:
        """Return the derivative of each fitted mean by its outcome, shape (m, n)."""
        m, q = len(self.means), self.terms.shape[1]
        blocks = self.inverse.reshape(m, q, m, q)
        spread = np.einsum("nq,lqkr,nr->lkn", self.terms, blocks, self.terms, optimize=True)
        return np.asarray(np.einsum("kln,lkn->kn", self.weights, spread))


def additive_model(
    table: EncodedTable,
    target: Target,
    columns: IntArray,
    n_cuts: int,
    unit: IntArray,
    strata: IntArray | None = None,
) -> AdditiveModel:
    """Select the columns with a main effect among some, and fit an additive model of them.

    A column joins the model if the efficient score statistic of one of its indicators, of at least
    three cuts, exceeds what the largest of q independent ones does by chance, sqrt(2 log q); those
    of the largest statistics join first. The rows of a unit, a number from 0 on, may depend on each
    other. The functions of a column have about three quarters of the cube root of the effective
    number of rows for an outcome as degrees of freedom. All terms together are at most a fifth of
    that number of rows, and their coefficients in all outcomes a half. Then steps of these columns
    join at fifteen quantiles, by the same limit. At most ten columns join at a time, those whose
    statistics are near the largest. The largest strata have an effect in any model.
    """
    n, values = table.n_rows, np.asarray(target.values)
    outcomes = values[np.newaxis].astype(np.float64)
    informative = float(n)
    if target.censored:
        outcomes = (values % 2).astype(np.float64)[np.newaxis]
        informative = float(outcomes.sum())
    elif target.codes is not None:
        labels = np.arange(1, target.n_classes)[:, np.newaxis]
        outcomes = np.asarray(target.codes == labels, dtype=np.float64)
        # Rows outside of the largest class.
        informative = n - np.r_[outcomes.sum(axis=1), n - outcomes.sum()].max()
    effective = min(n, 2.0 * informative) * np.sqrt((int(unit.max()) + 1) / n)
    most = int(effective / max(_ROWS_PER_TERM, _ROWS_PER_COEFFICIENT * len(outcomes)))
    effective /= len(outcomes)
    terms = np.ones((n, 1))
    if strata is not None:
        terms = np.hstack([terms, basis_of(strata, True, effective)])
    model = AdditiveModel.fit(terms, outcomes, target)
    for smooth, n_each in ((True, max(n_cuts, _SCREENED)), (False, _STEPS_OF_COLUMN)):
        steps, of = indicators(table, columns, n_each)
        limit, in_use = np.sqrt(2.0 * np.log(max(len(of), 2))), np.zeros(len(of), dtype=np.bool_)
        while True:
            # The largest statistics above the limit, one of each column, in their order.
            size = np.where(in_use, 0.0, _statistics(model, steps, unit))
            order = np.argsort(-size, kind="stable")
            strong = order[size[order] > max(limit, _NEAR * size.max(initial=0.0))]
            _, first_of_column = np.unique(of[strong], return_index=True)
            joining = strong[np.sort(first_of_column)][:_JOINING]
            n_before = terms.shape[1]
            if not smooth:
                added = joining[: max(0, most - n_before)]
                more = steps[:, added] - steps[:, added].mean(axis=0)
                terms = np.hstack([terms, more / more.std(axis=0)])
                joining = joining[:0]
            for k in joining.tolist():
                j = columns[of[k]]
                nominal = table.kinds[j] == "nominal"
                functions = basis_of(np.asarray(table.codes(j)), nominal, effective)
                if terms.shape[1] + functions.shape[1] > most:
                    break
                terms = np.hstack([terms, functions])
                in_use |= of == of[k]
            if terms.shape[1] == n_before:
                break
            model = AdditiveModel.fit(terms, outcomes, target, model.coefficients)
        columns = columns[np.unique(of[in_use])]
    return model


def basis_of(codes: NDArray[Any], nominal: bool, effective: float) -> FloatArray:
    """Return a basis of functions of a column, of mean 0 and variance 1, shape (n, d).

    A nominal column has indicators of its most frequent labels, a column of few values has steps,
    and any other has cubic splines of the normal scores of its ranks, with knots at quantiles.
    Missing values come after all others.
    """
    from scipy.interpolate import BSpline
    from scipy.special import ndtri

    _, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    degrees = max(_CUBIC, round(_DEGREES * effective ** (1.0 / 3.0)))
    if nominal:
        chosen = np.argsort(-counts, kind="stable")[:_MOST_LABELS]
        functions = (place[:, np.newaxis] == chosen).astype(np.float64)
    elif len(counts) <= degrees + 1:
        functions = (place[:, np.newaxis] > np.arange(len(counts) - 1)).astype(np.float64)
    else:
        scores = ndtri((np.cumsum(counts) - counts / 2.0) / len(codes))[place]
        inner = np.quantile(scores, np.arange(1, degrees - 2) / (degrees - 2))
        ends = np.repeat([scores.min(), scores.max()], _CUBIC + 1)
        knots = np.r_[ends[: _CUBIC + 1], inner, ends[_CUBIC + 1 :]]
        functions = BSpline.design_matrix(scores, knots, _CUBIC).toarray()
    functions = functions - functions.mean(axis=0)
    basis, sizes, _ = np.linalg.svd(functions, full_matrices=False)
    return np.asarray(basis[:, sizes > 1e-6 * sizes.max(initial=1e-300)] * np.sqrt(len(codes)))


def _inverse(terms: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the inverse of the penalized information of all coefficients, shape (m q, m q)."""
    m, q = len(weights), terms.shape[1]
    information = np.empty((m, q, m, q))
    for k in range(m):
        for other in range(k + 1):
            block = (terms * weights[k, other][:, np.newaxis]).T @ terms
            information[k, :, other], information[other, :, k] = block, block.T
    penalty = np.diag(np.tile(_RIDGE * (np.arange(q) > 0), m))  # none of the constant term
    return np.asarray(np.linalg.inv(information.reshape(m * q, m * q) + penalty), dtype=np.float64)


def _statistics(model: AdditiveModel, values: BoolArray, unit: IntArray) -> FloatArray:
    """Return the size of the efficient score statistic of each indicator, the largest of outcomes.

    The variance of a score is the sum of squares of its sums over units.
    """
    from scipy.sparse import csr_array

    n = len(unit)
    sums = csr_array((np.ones(n), (unit, np.arange(n))))
    largest = np.zeros(values.shape[1])
    width = max(1, _ENTRIES // n)
    for start in range(0, values.shape[1], width):
        block = values[:, start : start + width].astype(np.float64)
        here = largest[start : start + width]
        for k in range(len(model.means)):
            scores = np.asarray(sums @ model.scores(block, k))
            spread = np.sqrt((scores**2).sum(axis=0))
            alone = np.sqrt(((sums @ (block * model.residuals[k][:, np.newaxis])) ** 2).sum(axis=0))
            # What the terms span already has a score of the ridge alone.
            spread[spread <= _SPANNED * alone] = np.inf
            size = np.abs(scores.sum(axis=0)) / np.where(spread > 0.0, spread, np.inf)
            np.maximum(here, size, out=here)
    return largest
