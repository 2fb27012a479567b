"""P-values from the cross-fitted predictions of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from duramen.data.target import midranks
from duramen.support.arrays import Arrays, FloatArray, IntArray

_ENOUGH = 100  # draws of a randomization test that reach the data, which end it
_BATCH = 200  # draws at a time
_DRAWS_OF_MEAN = 200  # for the mean of a feature
_FITTED = 1e-8  # of a direction in a group of rows


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of all rows, by forests grown without them.

    Attributes
    ----------
    response : float64 array of shape (n, c)
    predicted : float64 array of shape (n, c)
    replaced : float64 array of shape (2, G, n, c)
        With the features of each hypothesis drawn: means over two sets of draws.
    units : int64 array of shape (n,) or None
        Groups of rows that may depend on each other.
    """

    response: FloatArray
    predicted: FloatArray
    replaced: FloatArray
    units: IntArray | None

    def added(self, g: int, *, impact: bool = False) -> FloatArray:
        """Return the residual without features times the change by the features, shape (n,).

        The two factors come from different draws, so that their errors have no product. With
        `impact`, return how much larger the squared error of each row is with the features drawn.
        """
        first, second = self.replaced[0, g], self.replaced[1, g]
        own, other = self.predicted - first, self.predicted - second
        crossed = (self.response - first) * other + (self.response - second) * own
        return np.asarray(
            (crossed - own * other).sum(axis=1) if impact else crossed.sum(axis=1) / 2.0
        )

    def rest(self, g: int) -> FloatArray:
        """Return the response less its prediction without the features, shape (n, c)."""
        return np.asarray(self.response - self.replaced[:, g].mean(axis=0))

    @property
    def error(self) -> float:
        """Mean squared error of the predictions, summed over the columns of the response."""
        return float(np.square(self.response - self.predicted).sum(axis=1).mean())


def all_rows(folds: list[Arrays], name: str, axis: int = 0) -> FloatArray:
    """Return an array of the folds for all rows, in their order along an axis."""
    back = np.argsort(np.concatenate([fold["rows"] for fold in folds]))
    values = np.concatenate([fold[name] for fold in folds], axis=axis)
    return np.asarray(values.take(back, axis=axis))


def t_statistic(values: FloatArray, units: IntArray | None) -> float:
    """Return the mean of values of the rows over its standard error."""
    sums = of_units(values[:, None], units)[:, 0]
    spread = float(sums.std(ddof=1))
    return float(sums.mean() / spread * np.sqrt(len(sums))) if spread > 0 else 0.0


def of_units(values: FloatArray, units: IntArray | None) -> FloatArray:
    """Return the sums of rows of values over each unit; shape (units, d)."""
    if units is None:
        return values
    sums = np.zeros((int(units.max()) + 1, values.shape[1]))
    np.add.at(sums, units, values)
    return sums


def rows_of_units(units: IntArray) -> list[IntArray]:
    """Return the rows of each unit, an array of shape (units, size) for each size that occurs."""
    sizes = np.bincount(units)
    rows = np.split(np.argsort(units, kind="stable"), np.cumsum(sizes)[:-1])
    return [
        np.stack([part for part in rows if len(part) == size])
        for size in np.unique(sizes[sizes > 0]).tolist()
    ]


def upper_tail(t: FloatArray, n_units: int) -> FloatArray:
    """Return the probability of a t statistic at least this large."""
    from scipy.special import stdtr

    return np.asarray(stdtr(max(n_units - 1, 1), -t))


def covariance_p_value(
    rest: FloatArray,
    residuals: FloatArray,
    units: IntArray | None,
    n_fitted: int = 0,
    basis: FloatArray | None = None,
    noise: float = 0.0,
) -> float:
    r"""Return the p-value of the hypothesis that two sets of residuals have covariances of 0.

    The d = c b products u of the centered columns e and r of both are summed over the n units. The
    sum of squares of these sums is compared with that of normal numbers with their covariance S, by
    its mean and variance (Satterthwaite 1946):

    .. math:: F = \|\textstyle\sum u\|^2 / tr S \quad\text{with } f = (tr S)^2 / tr S^2

    and (n - 2) f degrees of freedom. S is that of r times what a line in r leaves of e, since the
    square of a large effect would add to the variance of u, above all if r has heavy tails. With
    d = 1 it is the two-sided t test of a slope, with the larger of two standard errors: the usual
    one and HC2 (MacKinnon and White 1985), which holds where the variance of e depends on r. With
    more, the larger of both traces is taken. Of columns that were fitted to all rows before, both
    e and r, their dimension is left out of the degrees of freedom.

    Columns that were selected for the target by chance fit its noise better than other columns, so
    that what they leave is too small, above all in few rows. Both standard errors are multiplied by
    :math:`\sqrt{v / s^2}` where the mean squared error v of rows left out exceeds the variance
    :math:`s^2` of what is left.

    Groups of rows that may depend on each other have the standard error CR2 and the degrees of
    freedom of Bell and McCaffrey (2002), which are those of groups, not of rows: see `_of_groups`.

    Parameters
    ----------
    rest : float64 array of shape (n_rows, c)
    residuals : float64 array of shape (n_rows, b)
    units : int64 array of shape (n_rows,) or None
        Groups of rows that may depend on each other.
    n_fitted : int
        Dimension of the columns that were fitted to both before, besides a constant.
    basis : float64 array of shape (n_rows, s), optional
        Orthonormal columns, centered, that span those columns, or but a part of them. Only groups
        of rows need it; each dimension outside it takes a group away.
    noise : float
        Mean squared error of rows left out, summed over the columns of `rest`; 0 where columns were
        not selected by chance.
    """
    from scipy.special import fdtrc

    own = (residuals - residuals.mean(axis=0))[:, None, :]
    response = (rest - rest.mean(axis=0))[:, :, None]
    products = response * own
    squares = np.square(own).sum(axis=0)
    scale = np.maximum(squares, 1e-300)
    left = response - products.sum(axis=0) / scale * own
    n_free = max(len(rest) - 2 - n_fitted, 1)
    usual = float((squares * np.square(left).sum(axis=0)).sum()) / n_free
    if units is None:
        weighted = own * left / np.sqrt(np.maximum(1.0 - np.square(own) / scale, 1e-9))
        deviations = weighted.reshape(len(rest), -1)
        larger = max(len(rest) - 2, 1) / n_free
        m = float(max(len(rest) - 2 - n_fitted, 2))
    else:
        known = np.zeros((len(rest), 0)) if basis is None else basis
        weights, freedoms = _of_groups(own[:, 0], known, units)
        deviations = of_units((weights[:, None] * left).reshape(len(rest), -1), units)
        more = n_fitted - known.shape[1]
        larger = (len(deviations) - 1) / max(len(deviations) - 1 - more, 1)
        m = max(float(freedoms.mean()) - more, 1.0)
    trace, n = float(np.square(deviations).sum()), len(deviations)
    if trace <= 0.0:
        return 1.0
    residual = float(np.square(left).mean(axis=(0, 2)).sum()) * n / max(n - 2 - n_fitted, 1)
    wanted = max(trace * larger, usual) * max(1.0, noise / max(residual, 1e-300))
    deviations *= np.sqrt(wanted / trace)
    wide = deviations.shape[1] > n
    gram = deviations @ deviations.T if wide else deviations.T @ deviations
    # Without bias where the products are normal: that of few rows would add (tr S)^2 / m.
    free = max(m, 2.0)
    square = (float(np.square(gram).sum()) - wanted**2 / free) * free**2
    square /= (free - 1) * (free + 2)
    freedom = min(max(1.0, wanted**2 / max(square, 1e-300)), float(deviations.shape[1]))
    reached = float(np.square(products.sum(axis=0)).sum()) / wanted
    return float(fdtrc(freedom, m * freedom, reached))


def _of_groups(
    own: FloatArray, basis: FloatArray, units: IntArray
) -> tuple[FloatArray, FloatArray]:
    r"""Return the weights of CR2 for slopes in each column, and their degrees of freedom.

    With H the hat matrix of all that was fitted and :math:`r_g` the feature in the rows of a group,
    the squared standard error is :math:`\sum_g (r_g^\top (I - H_{gg})^{-1/2} e_g)^2`, without bias
    where the noise has one variance. Its degrees of freedom are those of its mean and variance with
    such noise (Bell and McCaffrey 2002), or with noise that the rows of a group share if these are
    fewer: :math:`(\sum_g a_g^2)^2 / \sum_g a_g^4` with :math:`a_g` the sum of the weights of a
    group. A group of one row has HC2.

    Parameters
    ----------
    own : float64 array of shape (n, b)
        Centered residuals of the features.
    basis : float64 array of shape (n, s)
        Orthonormal columns, centered.
    units : int64 array of shape (n,)

    Returns
    -------
    weights : float64 array of shape (n, b)
        :math:`(I - H_{gg})^{-1/2} r_g`.
    freedoms : float64 array of shape (b,)
    """
    n, n_units = len(own), int(units.max()) + 1
    rows = rows_of_units(units)
    weights, freedoms = np.array(own), np.full(own.shape[1], float(n_units))
    for k, column in enumerate(own.T):
        length = float(column @ column)
        if length <= 0.0:
            continue
        fitted = np.column_stack([basis, np.full(n, n**-0.5), column / np.sqrt(length)])
        for of_size in rows:
            left, singular, _ = np.linalg.svd(fitted[of_size], full_matrices=False)
            free = 1.0 - np.square(singular)
            # A direction that is fitted exactly has no residual.
            root = np.where(free > _FITTED, 1.0 / np.sqrt(np.maximum(free, _FITTED)), 0.0)
            inside = (left.mT @ column[of_size][:, :, None]) * (root - 1.0)[:, :, None]
            weights[of_size, k] += (left @ inside)[:, :, 0]
        own_squares = of_units(np.square(weights[:, [k]]), units)[:, 0]
        parts = of_units(fitted * weights[:, [k]], units)
        mean = float(own_squares.sum() - np.square(parts).sum())
        spread = float(own_squares @ (own_squares - 2.0 * np.square(parts).sum(axis=1)))
        spread += float(np.square(parts.T @ parts).sum())
        shared = np.square(of_units(weights[:, [k]], units)[:, 0])
        freedom = min(
            mean**2 / max(spread, 1e-300),
            float(shared.sum()) ** 2 / max(float(shared @ shared), 1e-300),
        )
        freedoms[k] = np.clip(freedom, 1.0, n_units)
    return weights, freedoms


def robust_p_value(rest: FloatArray, residuals: FloatArray, basis: FloatArray) -> float:
    r"""Return the two-sided p-value of a slope where the noise may vary with the feature.

    Rows far out have residuals that are too small, by the leverage h of all that was fitted, and
    they have the largest noise where it varies with the size of a feature. HC2 divides the squared
    residuals by 1 - h; its t statistic has the degrees of freedom of Bell and McCaffrey (2002),
    those of the mean and variance that the squared standard error has with noise of one variance.

    Parameters
    ----------
    rest, residuals : float64 arrays of shape (n,)
        Less what least squares on the basis fit of them.
    basis : float64 array of shape (n, s)
        Orthonormal columns, centered.
    """
    from scipy.special import stdtr

    own, response = residuals - residuals.mean(), rest - rest.mean()
    size = float(own @ own)
    if size <= 0.0:
        return 1.0
    n = len(rest)
    total = float(own @ response)
    fitted = np.column_stack([basis, np.full(n, n**-0.5), own / np.sqrt(size)])
    free = np.maximum(1.0 - np.square(fitted).sum(axis=1), 1e-6)
    weights = np.square(own) / free
    variance = float(weights @ np.square(response - total / size * own))
    if variance <= 0.0:
        return 1.0
    inner = fitted.T @ (fitted * weights[:, None])
    mean = float(weights.sum() - np.trace(inner))
    twice = np.square(weights) @ (1.0 - 2.0 * np.square(fitted).sum(axis=1))
    spread = float(twice + np.square(inner).sum())
    freedom = float(np.clip(mean**2 / max(spread, 1e-300), 1.0, n))
    return float(2.0 * stdtr(freedom, -abs(total) / np.sqrt(variance)))


def size_correlation(rest: FloatArray, residuals: FloatArray, basis: FloatArray) -> float:
    """Return Spearman's correlation of the sizes of two sets of residuals, in standard errors.

    Large where the noise varies with the size of a feature. Arguments as for `robust_p_value`.
    """
    own, response = residuals - residuals.mean(), rest - rest.mean()
    size = float(own @ own)
    if size <= 0.0:
        return 0.0
    left = response - float(own @ response) / size * own
    taken = np.square(basis).sum(axis=1) + 1.0 / len(rest) + np.square(own) / size
    ranks = list[FloatArray]()  # times 2
    for values in (np.abs(own), np.abs(left) / np.sqrt(np.maximum(1.0 - taken, 1e-6))):
        _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
        ranks.append(midranks(counts)[place])
    scale = float(np.sqrt(np.square(ranks[0]).sum() * np.square(ranks[1]).sum()))
    return float(ranks[0] @ ranks[1]) / scale * np.sqrt(len(rest) - 1.0) if scale > 0 else 0.0


def combined(first: FloatArray, second: FloatArray, weight: float) -> FloatArray:
    r"""Return p-values of two tests as one, by Cauchy's combination (Liu and Xie 2020).

    With a weight w of the first, :math:`T = w \cot(\pi p_1) + (1 - w) \cot(\pi p_2)` has about a
    Cauchy distribution in its tail, however the tests depend on each other.
    """
    least, most = 1e-15, 1.0 - 1e-15
    angles = [np.pi * np.clip(p_values, least, most) for p_values in (first, second)]
    t = weight / np.tan(angles[0]) + (1.0 - weight) / np.tan(angles[1])
    return np.asarray(np.clip(np.arctan2(1.0, t) / np.pi, 0.0, 1.0))


def randomization_p_value(
    rest: FloatArray, own: FloatArray, drawn: Callable[..., FloatArray], n_draws: int
) -> float:
    r"""Return the p-value of a distilled conditional randomization test.

    With e the rest of the response and z the scores of the features, less their mean over draws of
    their own, the statistic is :math:`\|\sum_i e_i z_i^\top\|^2`. The p-value is the fraction of
    draws, the data among them, that reach that of the data. Draws end with the h-th that does, and
    the p-value of k draws is then h / k (Besag and Clifford 1991).

    Parameters
    ----------
    rest : float64 array of shape (n, c)
    own : float64 array of shape (n, b)
        Scores on the data.
    drawn : callable
        ``drawn(size, batch)`` returns the scores of `size` draws, shape (size, n, b).
    n_draws : int
    """
    mean = drawn(_DRAWS_OF_MEAN, 1).mean(axis=0)

    def statistics(scores: FloatArray) -> FloatArray:
        products = np.einsum("nc,dnb->dcb", rest, scores - mean, optimize=True)
        return np.asarray(np.square(products).sum(axis=(1, 2)))

    # What differs by rounding alone is equal.
    least = float(statistics(own[None])[0]) * (1.0 - 1e-9)
    n_reached, n_done, batch = 0, 0, 1
    while n_done < n_draws:
        batch += 1
        reached = statistics(drawn(min(_BATCH, n_draws - n_done), batch)) >= least
        places = np.flatnonzero(reached)
        if n_reached + len(places) >= _ENOUGH:
            return _ENOUGH / (n_done + int(places[_ENOUGH - n_reached - 1]) + 1)
        n_reached, n_done = n_reached + len(places), n_done + len(reached)
    return (1 + n_reached) / (n_draws + 1)
