"""Test of all pairs of features for interactions beyond an additive model."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data import EncodedTable, LearningSet
from duramen.data.additive_model import AdditiveModel, additive_model, indicators
from duramen.data.exchangeability import EXCHANGEABLE
from duramen.data.learning_sets import learning_set_of
from duramen.data.target import midranks
from duramen.jobs.replicates import Plan, run_jobs
from duramen.results.pair_interactions import PairInteractions
from duramen.support import checks
from duramen.support.arrays import Arrays, BoolArray, FloatArray, IntArray, RandomState, TableLike
from duramen.support.provenance import versions
from duramen.support.threads import one_blas_thread

_NAME = "interaction_test"
_BLOCK = 256  # indicators of the features of a job, about
_LEAST = 5  # rows of each quadrant, or as many at even odds
_LEAST_GROUPS = 20
_EVEN = 0.25  # variance of a class at even odds
_LITTLE = 0.15  # of the variance of a class, left by main effects
_SEPARATED = (
    "main effects nearly separate the classes: they leave {left:.0%} of the variance, in which "
    "interactions can hardly show"
)
_LEAST_VARIANCE = 0.1  # of a residual, as a fraction of that of its error

NULL = "The mean of the target (its logit, for classes) is a sum of functions of single features."


def interaction_test(
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    n_pairs: int = 100,
    n_cuts: int = 3,
    n_resamples: int = 99,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> PairInteractions:
    r"""Test every pair of features for an interaction beyond main effects, by max-T.

    A cut of each of two features divides the rows into four quadrants. With :math:`r_i` the
    residuals of an additive model of all features with a main effect, and :math:`w_i` their
    weights, the statistic of two cuts is a contrast of the quadrants, over its standard error:

    .. math:: z = \frac{d_{11} - d_{10} - d_{01} + d_{00}}
              {\sqrt{\sum_{q} \sum_{i \in q} v_i / W_q^2}}, \quad
              d_q = \frac{1}{W_q} \sum_{i \in q} r_i, \quad W_q = \sum_{i \in q} w_i.

    For numbers :math:`w_i = 1` and :math:`v_i = r_i^2 / (1 - h_i)` with the leverages
    :math:`h_i`; for classes of probability :math:`p_i` both are :math:`p_i (1 - p_i)`. This is the
    score test for an interaction of the two indicators, the orthogonal score given their main
    effects (Neyman 1959). A contrast of products has more power for effects that change gradually:
    with :math:`e_i` the product of the mid-ranks of both features less its regression, with the
    weights, on these and their squares,

    .. math:: z = \frac{\sum_i r_i e_i}{\sqrt{\sum_i v_i e_i^2}}.

    Features with three or more labels, and those with one value in more than half of the rows, have
    the first contrast alone. The statistic of a pair is that of largest size over both contrasts,
    the cuts of both features, and the classes. All pairs of features are tested at once.

    The p-values are family-wise: a pair is compared with the largest statistic of all pairs in
    data drawn under the null hypothesis. Classes are drawn by the probabilities of the additive
    model; errors of numbers are residuals over :math:`\sqrt{1 - h_i}`, with random signs. The rows
    of a group of a learning set, such as those of one person, have the same random sign, which
    keeps their dependence, for classes too. The additive model is refitted to each draw, to first
    order. Permuting the target would remove main effects, and then two features with strong main
    effects appear to interact.

    Parameters
    ----------
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    n_pairs : int
        Number of pairs that the result has, those of largest statistics.
    n_cuts : int
        Number of cuts of a feature, at quantiles: 3 are the quartiles. A nominal feature has its
        most frequent labels against the others. The time grows with the square.
    n_resamples : int
        Number B of draws; 0 for no p-values. The least p-value is 1 / (B + 1).
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.
    checkpoint : path, optional
        File that keeps finished work: an interrupted run resumes from it, to the same bytes.
    verbose : int
        Above 0: a progress bar with the time left.

    Returns
    -------
    PairInteractions
        ``measure="interaction_test"``, unit "z": `values` are the statistics of the strongest
        pairs, a sparse matrix, `p_adjusted` their family-wise p-values. The sign is that of the
        contrast: above 0 where the target, or the class, is more frequent with both features high
        or both low. ``metadata["interaction_test"]["null"]`` says what the p-values assume:
        exchangeable rows, unless there are groups.

    Raises
    ------
    ValueError
        If the target is survival, there are weights or strata, or few groups.

    Notes
    -----
    The additive model is fitted to convergence: linear for numbers, multinomial logistic for
    classes. Where it nearly separates the classes, a note of the result says so. A feature joins if
    its efficient score exceeds what the largest of as many independent ones has by chance. It has
    cubic splines of its normal scores, with :math:`\frac{3}{4} n^{1/3}` degrees of freedom (n the
    number of rows, or twice that outside the largest class if it is less, times the root of the
    number of groups per row), and steps at quantiles that still exceed the limit; all terms
    together are at most a fifth of n.

    The p-values are valid for many rows (Chernozhukov et al. 2013, for numbers of pairs far above
    that of rows) under two assumptions: the rows, or groups, are independent; and the mean, or the
    log-odds, is a sum of functions of single features that splines and steps follow closely. On
    another scale, such as that of probabilities, main effects alone are an interaction. A main
    effect that is too weak to be found can leave a part in pairs of correlated features (the guide
    has measured rates). A pair whose features are correlated with two that interact has a part of
    their interaction. Interactions of three and more features that leave no trace in pairs are not
    found.

    References
    ----------
    Y. Lou, R. Caruana, J. Gehrke, G. Hooker (2013). Accurate intelligible models with pairwise
    interactions. KDD. V. Chernozhukov, D. Chetverikov, K. Kato (2013). Gaussian approximations and
    multiplier bootstrap for maxima of sums of high-dimensional random vectors. Annals of Statistics
    41. J. Neyman (1959). Optimal asymptotic tests of composite statistical hypotheses. In:
    Probability and Statistics (the Cramer volume). P. H. Westfall, S. S. Young (1993).
    Resampling-Based Multiple Testing. Wiley.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).normal(size=(300, 50))
    >>> y = X[:, 0] + (X[:, 3] > 0) * (X[:, 7] > 0) * 2
    >>> pairs = dm.significance.interaction_test(X, y, random_state=0)
    >>> pairs.to_frame()[["feature", "other", "p_adjusted"]].values[0].tolist()
    ['x3', 'x7', 0.01]
    """
    from scipy.sparse import coo_array

    most = checks.check_integer(_NAME, "n_pairs", n_pairs, 1)
    cuts = checks.check_integer(_NAME, "n_cuts", n_cuts, 1)
    n = checks.check_integer(_NAME, "n_resamples", n_resamples, 0)
    plan = Plan.checked(_NAME, n_jobs, checkpoint, verbose, client)
    seed = checks.draw_seed(random_state)
    data = learning_set_of(X, y, _NAME)
    check_rows(data)
    choices = {"n_pairs": most, "n_cuts": cuts, "n_resamples": n}
    with one_blas_thread():
        scan = _Scan.of(data, most, cuts, n, seed)
    blocks = run_jobs(
        scan,
        len(scan.blocks),
        seed=seed,
        identity={**choices, "method": _NAME, "fingerprint": data.fingerprint},
        plan=plan,
        function=_NAME,
        unit="block of features",
    )
    first, second, values = (
        np.concatenate([block[name] for block in blocks]) for name in ("first", "second", "value")
    )
    order = np.lexsort((second, first, -np.abs(values)))[:most]
    places = (
        np.concatenate([first[order], second[order]]),
        np.concatenate([second[order], first[order]]),
    )

    def symmetric(of_pairs: FloatArray) -> Any:
        both = np.concatenate([of_pairs, of_pairs])
        return coo_array((both, places), shape=(data.n_columns, data.n_columns)).tocsr()

    p_adjusted = None
    if n:
        largest = np.max([block["largest"] for block in blocks], axis=0)
        reached = (largest[:, np.newaxis] >= np.abs(values[order])).sum(axis=0)
        p_adjusted = symmetric((1.0 + reached) / (1.0 + n))
    notes: tuple[str, ...] = ()
    if data.target.codes is not None:
        fraction = np.bincount(data.target.codes)[-len(scan.weights) :] / data.n_rows
        left = float((_EVEN * scan.weights.mean(axis=1) / (fraction * (1.0 - fraction))).max())
        notes = (_SEPARATED.format(left=left),) if left < _LITTLE else ()
    grouped = data.exchangeability.groups is not None
    return PairInteractions(
        names=data.names,
        values=symmetric(values[order]),
        measure=_NAME,
        unit="z",
        p_adjusted=p_adjusted,
        metadata={
            _NAME: {**choices, "null": NULL + ("" if grouped else EXCHANGEABLE)},
            "n_rows": data.n_rows,
            "seed": seed,
            "fingerprint": data.fingerprint,
            "versions": versions(),
        },
        notes=notes,
    )


def check_rows(data: LearningSet[Any]) -> None:
    """Refuse data that the test does not support.

    Raises
    ------
    ValueError
        If the target is survival, there are weights or strata, or few groups.
    """
    rows = data.exchangeability
    few_groups = rows.groups is not None and rows.n_units < _LEAST_GROUPS
    refused = {
        "survival": data.target.censored,
        "weights. Hint: leave them out": data.weights is not None,
        "strata. Hint: make them a feature of the additive model": rows.strata is not None,
        f"{rows.n_units} groups, with one random sign each": few_groups,
    }
    for what, found in refused.items():
        if found:
            raise ValueError(
                f"{_NAME}: takes classes or numbers, rows that count equally, no strata, and at "
                f"least {_LEAST_GROUPS} groups of rows if there are any, got {what}."
            )


@dataclass(frozen=True, eq=False)
class _Scan:
    """Contrasts of all pairs whose first feature is in a block: a job of :func:`run_jobs`.

    Residuals are whole numbers and ranks multiples of a power of 2, so that sums are exact, in any
    order.
    """

    features: IntArray  # that have indicators
    indicators: BoolArray  # (n, q)
    feature: IntArray  # (q,), place of the feature of each indicator
    ranks: NDArray[np.float32]  # mid-ranks of these from -1 to 1, or 0
    residuals: FloatArray  # (outcomes, n)
    weights: FloatArray  # (outcomes, n)
    variances: FloatArray  # (outcomes, n)
    drawn: NDArray[np.int32]  # residuals under the null hypothesis, (draws, outcomes, n)
    n_pairs: int
    blocks: tuple[tuple[int, int], ...]  # features

    @classmethod
    def of(
        cls, data: LearningSet[EncodedTable], n_pairs: int, n_cuts: int, n: int, seed: int
    ) -> _Scan:
        target, every, unit = data.target, np.arange(data.n_columns), data.exchangeability.units
        values, of_values = indicators(data.table, every, n_cuts)
        features, feature = np.unique(of_values, return_inverse=True)
        model = additive_model(data.table, target, every, n_cuts, unit)
        residuals, weights = model.residuals, np.einsum("kkn->kn", model.weights)
        variances, inflated = weights, _inflated(model, unit)

        # Residuals under the null hypothesis, refitted to first order. Classes of independent rows
        # are drawn by their probabilities; others are multiplied by a random sign of the unit.
        random, rows, n_units = np.random.default_rng(seed), len(unit), int(unit.max()) + 1
        if target.codes is not None and n_units == rows:
            below = np.cumsum(np.vstack([1.0 - model.means.sum(axis=0), model.means]), axis=0)
            uniform = random.random((n, 1, rows))
            drawn = model.refitted(((uniform >= below[:-1]) & (uniform < below[1:])) - model.means)
        else:
            signs = random.integers(0, 2, (n, 1, n_units)).astype(np.float64) * 2.0 - 1.0
            drawn = model.refitted(signs[:, :, unit] * inflated)
        if target.codes is None:
            variances = inflated**2
        elif len(residuals) > 1:  # the first class has no predictor of its own
            residuals = np.vstack([-residuals.sum(axis=0), residuals])
            drawn = np.concatenate([-drawn.sum(axis=1, keepdims=True), drawn], axis=1)
            first = np.maximum(1.0 - model.means.sum(axis=0), 0.0)
            variances = weights = np.vstack([first * (1.0 - first), weights])

        # Mid-ranks of features, 0 for labels without an order, and where more than half of the rows
        # have one value: few rows would decide on products with it. Missing values are above all.
        ranks = np.zeros((rows, len(features)), dtype=np.float32, order="F")
        bits = (52 - int(np.ceil(np.log2(max(data.n_rows, 2))))) // 2
        multiple = 2.0 ** (bits // 2)
        for place, j in enumerate(features.tolist()):
            _, codes, counts = np.unique(
                data.table.codes(j), return_inverse=True, return_counts=True
            )
            ordered = data.table.kinds[j] != "nominal" or len(counts) == 2
            if ordered and counts.max() <= rows / 2:
                of_values = np.round(midranks(counts) * (multiple / rows))
                ranks[:, place] = of_values[codes] / multiple
        sizes = [np.abs(residuals), np.sqrt(variances), np.abs(drawn).max(axis=0, initial=0.0)]
        scale = 2.0**bits / np.maximum(np.max(sizes, axis=(0, 2)), 1e-300)[:, np.newaxis]
        most = 1.0 if target.codes is None else _EVEN
        width = max(1, _BLOCK // n_cuts)
        starts = range(0, max(len(features) - 1, 1), width)
        blocks = tuple((start, min(start + width, len(features))) for start in starts)
        return cls(
            features,
            values,
            feature,
            ranks,
            np.round(residuals * scale),
            np.round(weights / most * 2.0**bits) / 2.0**bits,
            np.round(variances * scale**2),
            np.round(drawn * scale).astype(np.int32),
            n_pairs,
            blocks,
        )

    def __call__(self, job: int, _: int) -> Arrays:
        begin, end = self.blocks[job]
        first = np.searchsorted(self.feature, np.arange(len(self.features) + 1))
        largest = np.zeros(len(self.drawn))
        if len(first) < 3:
            nothing = np.empty(0, dtype=np.int64)
            return {"first": nothing, "second": nothing, "value": largest[:0], "largest": largest}
        here = self.indicators[:, first[begin] : first[end]].astype(np.float64)
        there = self.indicators[:, first[begin] :].astype(np.float64)
        ranks = self.ranks[:, begin:].astype(np.float64)
        rows, columns = first[begin:end] - first[begin], first[begin:-1] - first[begin]
        feature, place = self.feature[first[begin] :], np.arange(ranks.shape[1])
        strongest, first_ranks = np.zeros((end - begin, len(place))), ranks[:, : end - begin]
        pairs = feature[: here.shape[1], np.newaxis] < feature  # each pair once
        of_features = place[: end - begin, np.newaxis] < place
        for k, residual in enumerate(self.residuals):
            of_rows = self.weights[k], self.variances[k]
            kinds = (
                (here, there, _of_cuts(pairs, here, there, *of_rows)),
                (first_ranks, ranks, _of_products(of_features, first_ranks, ranks, *of_rows)),
            )
            of_cuts, of_products = (_contrasts(*kind, residual) for kind in kinds)
            most, least = (
                ufunc.reduceat(ufunc.reduceat(of_cuts, rows, axis=0), columns, axis=1)
                for ufunc in (np.maximum, np.minimum)
            )
            for top in (np.where(most >= -least, most, least), of_products):
                strongest = np.where(np.abs(top) > np.abs(strongest), top, strongest)
            for b, errors in enumerate(self.drawn[:, k].astype(np.float64)):
                for kind in kinds:
                    contrasts = _contrasts(*kind, errors)
                    largest[b] = max(largest[b], contrasts.max(), -contrasts.min())
        above, below = np.nonzero(strongest)
        values = strongest[above, below]
        order = np.argsort(-np.abs(values), kind="stable")[: self.n_pairs]
        return {
            "first": self.features[above[order] + begin],
            "second": self.features[below[order] + begin],
            "value": values[order],
            "largest": largest,
        }


def _inflated(model: AdditiveModel, unit: IntArray) -> FloatArray:
    """Return residuals with the variance of errors: over the root of 1 less leverages (HC2).

    Those of a group are multiplied by the inverse root of the identity less its block of the
    projection on the terms (CR2; Bell and McCaffrey 2002).
    """
    if int(unit.max()) + 1 == len(unit):
        return model.residuals / np.sqrt(np.maximum(1.0 - model.leverages(), _LEAST_VARIANCE))
    m, q = len(model.means), model.terms.shape[1]
    inflated = model.residuals.copy()
    order = np.argsort(unit, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(unit))[:-1])
    for k in range(m):
        root = np.linalg.cholesky(model.inverse.reshape(m, q, m, q)[k, :, k])
        scale = np.sqrt(np.maximum(model.weights[k, k], 1e-12))
        terms = (model.terms * scale[:, np.newaxis]) @ root
        for rows in groups:
            axes, sizes, _ = np.linalg.svd(terms[rows], full_matrices=False)
            factors = 1.0 / np.sqrt(np.maximum(1.0 - sizes**2, _LEAST_VARIANCE)) - 1.0
            along = axes.T @ (inflated[k, rows] / scale[rows])
            inflated[k, rows] += scale[rows] * (axes @ (factors * along))
    return inflated


# Powers of either column: in their product, and in the functions on which it is regressed.
_POWERS = ((1, 1), (0, 0), (1, 0), (0, 1), (2, 0), (0, 2))
_COLLINEAR = 1e-9  # added to the mean squares of these functions
_LEAST_LEFT = 1e-3  # of the mean square of a product, in the residuals of its regression

# Contrasts of residuals by pairs of columns, over their standard errors: sums of the residuals
# times a function of both columns, their product less functions of one of them. They have the
# coefficients of the product and of 1, and of functions of the first and of the second column.
Coefficients = tuple[
    FloatArray,
    FloatArray,
    list[tuple[FloatArray, FloatArray]],
    list[tuple[FloatArray, FloatArray]],
]


def _of_cuts(
    pairs: BoolArray,
    here: FloatArray,
    there: FloatArray,
    weights: FloatArray,
    variances: FloatArray,
) -> Coefficients:
    """Return contrasts of the means of four quadrants with enough rows."""

    def quadrants(of_rows: FloatArray) -> list[FloatArray]:
        """Return sums over the rows with both indicators, the first, the second, none."""
        both = here.T @ (there * of_rows[:, np.newaxis])
        first, second = (of_rows @ here)[:, np.newaxis], (of_rows @ there)[np.newaxis]
        return [both, first - both, second - both, of_rows.sum() - first - second + both]

    sizes = quadrants(weights)
    enough = pairs & (np.minimum.reduce(sizes) >= _LEAST)
    inverse = [1.0 / np.where(enough, size, 1.0) for size in sizes]
    variance = np.zeros(enough.shape)
    for part, scale in zip(quadrants(variances), inverse, strict=True):
        variance += part * scale**2
    scale = _inverse_root(variance, enough)
    both, first, second, neither = (part * scale for part in inverse)
    of_first, of_second = [(here, -(first + neither))], [(there, -(second + neither))]
    return both + first + second + neither, neither, of_first, of_second


def _of_products(
    pairs: BoolArray,
    here: FloatArray,
    there: FloatArray,
    weights: FloatArray,
    variances: FloatArray,
) -> Coefficients:
    """Return contrasts of products less their regression on both columns and their squares."""
    gram = _gram(here, there, weights)
    ridge = _COLLINEAR * weights.sum() * np.eye(len(_POWERS) - 1)
    fit = np.linalg.solve(gram[..., 1:, 1:] + ridge, gram[..., 1:, :1])[..., 0]
    contrast = np.concatenate([np.ones((*fit.shape[:2], 1)), -fit], axis=2)

    def square(gram: FloatArray) -> FloatArray:
        return np.asarray(((gram @ contrast[..., np.newaxis])[..., 0] * contrast).sum(axis=2))

    enough = pairs & (square(gram) > _LEAST_LEFT * gram[..., 0, 0])
    contrast *= _inverse_root(square(_gram(here, there, variances)), enough)[..., np.newaxis]
    both, total, first, second, *squares = np.ascontiguousarray(np.moveaxis(contrast, 2, 0))
    of_first = [(here, first), (here**2, squares[0])]
    return both, total, of_first, [(there, second), (there**2, squares[1])]


def _contrasts(
    here: FloatArray, there: FloatArray, coefficients: Coefficients, residual: FloatArray
) -> FloatArray:
    """Return the contrasts of all pairs of columns, shape (a, b)."""
    both, total, of_first, of_second = coefficients
    values: FloatArray = (here * residual[:, np.newaxis]).T @ there
    values *= both
    values += total * residual.sum()
    for columns, factors in of_first:
        values += factors * (residual @ columns)[:, np.newaxis]
    for columns, factors in of_second:
        values += factors * (residual @ columns)
    return values


def _gram(here: FloatArray, there: FloatArray, of_rows: FloatArray) -> FloatArray:
    """Return the sums of products of the functions in `_POWERS`, by pair, shape (a, b, 6, 6)."""
    first, second, q = [np.ones((len(here), 1))], [of_rows[:, np.newaxis]], len(_POWERS)
    for _ in range(4):
        first.append(first[-1] * here)
        second.append(second[-1] * there)
    sums: dict[tuple[int, int], FloatArray] = {}
    gram = np.empty((here.shape[1], there.shape[1], q, q))
    for i, j in np.ndindex(q, q):
        power = (_POWERS[i][0] + _POWERS[j][0], _POWERS[i][1] + _POWERS[j][1])
        if power not in sums:
            sums[power] = first[power[0]].T @ second[power[1]]
        gram[..., i, j] = sums[power]
    return gram


def _inverse_root(variance: FloatArray, enough: BoolArray) -> FloatArray:
    enough = enough & (variance > 0.0)
    return np.where(enough, 1.0, 0.0) / np.sqrt(np.where(enough, variance, 1.0))
