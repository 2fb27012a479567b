"""Selection of conditionally associated features by knockoffs, at a false discovery rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from duramen.data import ClassTarget, EncodedTable, NumberTarget
from duramen.data.recoding import with_knockoffs
from duramen.importances import catalogue, mdi
from duramen.importances.refit import for_task, leaves_rows_out, seeded
from duramen.jobs.replicates import Plan, replicate_seed, run_replicates
from duramen.results.result import warn_of
from duramen.results.significance import Significance
from duramen.significance.conditional_tests.conditional import NULL, prepared
from duramen.significance.conditional_tests.cross_fitted import Design, folds_of, lasso
from duramen.significance.conditional_tests.nodewise import (
    Nodewise,
    Scores,
    curved_in,
    ridge_residuals,
    splines_of,
    standardized,
)
from duramen.significance.conditional_tests.sampler import (
    Sampler,
    diagnosis,
    forest_residuals,
    misfit_notes,
    nearest_rows,
    probabilities,
    rows_of_levels,
)
from duramen.significance.measured import Data, Measured
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, RandomState, TableLike
from duramen.support.provenance import fingerprint
from duramen.support.threads import one_blas_thread

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest

_FOLDS = 3  # of the choice of the lasso's penalty
_TREES, _LEAF = 200, 5  # of forests where no estimator is given
_OF_DIAGNOSIS = 2**31  # number of its first seed

KnockoffKind = Literal["auto", "gaussian", "forest"]
_ESTIMATED = (
    "The error rate holds if knockoffs and features can be swapped, which was estimated: the "
    "knockoffs have the covariances of the normal scores of the features."
)


def knockoffs(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    alpha: float = 0.1,
    sampler: KnockoffKind = "auto",
    n_draws: int = 20,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Significance:
    r"""Select features that are associated with the target given all others, by knockoffs.

    A knockoff of each feature is drawn, such that swapping both leaves the joint distribution of
    all features and knockoffs as it is, without a look at the target (Candes et al. 2018). The
    importance of features and knockoffs, the columns in random order, is the absolute coefficient
    of a lasso, and the out-of-bag mean decrease of impurity (MDI) of a forest of what the lasso
    leaves, each divided by its largest, and weighted by the fraction of the target's variance that
    it predicts. The statistic of a feature is its importance less that of its knockoff,

    .. math:: W_j = Imp(X_j) - Imp(\tilde X_j),

    which is negative as often as positive if the target does not depend on the feature given all
    others. In each of several draws the features with W_j at least a threshold T have an e-value,

    .. math:: e_j = \frac{p \, 1\{W_j \ge T\}}{1 + \#\{k : W_k \le -T\}},

    and those whose mean e-values are large enough are selected (Ren and Barber 2024), which depends
    less on the seed than a single draw.

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forests; it is cloned, not changed. None: 200 trees.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    alpha : float
        False discovery rate that the thresholds aim at, in (0, 1). `selected` holds for any other
        rate too, with fewer features.
    sampler : {"auto", "gaussian", "forest"}
        Distribution of the features. "gaussian": second-order Gaussian knockoffs of the normal
        scores, with a shrunken covariance; nominal features are drawn one after the other by ridge
        regressions and forests. "auto": those that depend on squares or cubes of others likewise.
        "forest": all features.
    n_draws : int
        Number of draws of knockoffs, with a forest of 2p columns each. With 1 the selected features
        are those of knockoff+.
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
    Significance
        `selected(alpha)` are the features. `scores` are mean statistics W; `q_values` the least
        rate at which e-BH (Wang and Ramdas 2022) selects a feature; `p_values` are 1 / e, at most
        1; `details` hold ``e_value`` and ``selected``, the fraction of draws in which a feature
        reaches the threshold.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, the rows have strata or groups, or the checkpoint is of
        another run.
    MemoryError
        If the table does not fit twice into memory.

    Warns
    -----
    UserWarning
        If there are fewer than 1 / alpha features, so that none can be selected; or if
        the knockoffs of a sample do not fit, so that a forest tells rows with a knockoff in place
        of a feature from the data, with an area under its ROC curve (AUC) above .52 at a level of
        .01 (``metadata["diagnosis"]`` has the areas).

    Notes
    -----
    The expected fraction of features that tell nothing the others do not, among the selected, is at
    most alpha if the distribution of the features is right. That of a sample is estimated, which
    `notes` say. At least 1 / alpha features are selected or none: fewer direct features than that
    are found by :func:`conditional`. With one draw T is the least threshold at which
    :math:`(1 + \#\{W_j \le -T\}) / \#\{W_j \ge T\}` is at most alpha, with more at most alpha / 2,
    or at which no statistic is as negative and at least 1 / alpha are as large.

    References
    ----------
    E. Candes, Y. Fan, L. Janson, J. Lv (2018). Panning for gold: model-X knockoffs for high
    dimensional controlled variable selection. Journal of the Royal Statistical Society B 80.
    Z. Ren, R. F. Barber (2024). Derandomised knockoffs: leveraging e-values for false discovery
    rate control. Journal of the Royal Statistical Society B 86. R. Wang, A. Ramdas (2022). False
    discovery rate control with e-values. Journal of the Royal Statistical Society B 84. A. Spector,
    L. Janson (2022). Powerful knockoffs via minimizing reconstructability. Annals of Statistics 50.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(300, 40))
    >>> X[:, 20:] += X[:, :20]  # the second half stands in for the first
    >>> y = X[:, :20] @ random.choice([-1.0, 1.0], 20) + random.normal(size=300)
    >>> result = dm.significance.knockoffs(None, X, y, n_draws=5, random_state=0)
    >>> len(result.selected(0.1)), result.mask(0.1)[20:].sum().item()
    (20, 0)
    """
    name = "knockoffs"
    checks.check_real(name, "alpha", alpha, 0.0, 1.0, ends="()")
    checks.check_integer(name, "n_draws", n_draws, 1)
    checks.check_choice(name, "sampler", sampler, get_args(KnockoffKind))
    plan = Plan.checked(name, n_jobs, checkpoint, verbose, client)
    data, template = checked_rows(estimator, X, y)
    seed = checks.draw_seed(random_state)
    with one_blas_thread():
        fitted = EstimatedKnockoffs.of(data.table, sampler)
        design = Design.of(data.table, fitted.sampler.scores)
    notes = [_ESTIMATED]
    if data.n_columns * alpha < 1.0:
        notes.append(
            f"{data.n_columns} features are fewer than 1 / alpha = {1 / alpha:g}: none can "
            "be selected. Hint: dm.significance.conditional tests each of few features"
        )
        warn_of(name, notes[-1:])
    subject = Measured(template, data, catalogue["mdi_oob"], "auto")
    identity = {**subject.identity(name), "sampler": sampler}

    def task(_: int, seed_b: int) -> FloatArray:
        random = np.random.default_rng(seed_b)
        donors = fitted.donors(random)
        return np.subtract(*np.split(importances_beside(data, template, design, donors, random), 2))

    W = run_replicates(
        task, n_draws, data.n_columns, seed=seed, identity=identity, plan=plan, function=name
    )
    e_values_of_draws = np.array([e_values(row, alpha, single=n_draws == 1) for row in W])
    e, scores = e_values_of_draws.mean(axis=0), W.mean(axis=0)
    with one_blas_thread():
        fit = diagnosis(
            fitted.sampler,
            {name: np.array([j]) for j, name in enumerate(data.names)},
            -scores,  # features of large statistics first
            replicate_seed(seed, _OF_DIAGNOSIS + 1),
            donors=fitted.donors(np.random.default_rng(replicate_seed(seed, _OF_DIAGNOSIS))),
        )
    misfit = misfit_notes(fit, of_knockoffs=True)
    warn_of(name, misfit)
    return Significance(
        names=data.names,
        scores=scores,
        p_values=1.0 / np.maximum(e, 1.0),
        q_values=adjusted(e),
        adjustment="e-BH",
        method=name,
        null=NULL + data.exchangeability.clause,
        details={"e_value": e, "selected": (e_values_of_draws > 0.0).mean(axis=0)},
        metadata={
            **identity,
            "alpha": alpha,
            "n_draws": n_draws,
            "seed": seed,
            **({} if fit is None else {"diagnosis": fit}),
        },
        notes=(*notes, *misfit),
    )


def threshold(W: FloatArray, alpha: float, *, single: bool = True) -> float:
    """Return the smallest threshold of knockoff+ at a level, or infinity.

    Without `single` the level is half as large, so that features can be missed in some draws; a
    threshold that no knockoff and at least 1 / alpha features reach is then enough. Which threshold
    it is depends on the signs of smaller statistics alone, as the error rate of e-values needs.
    """
    sizes = np.unique(np.abs(W[W != 0.0]))
    ascending = np.sort(W)
    features = len(W) - np.searchsorted(ascending, sizes, side="left")
    others = np.searchsorted(ascending, -sizes, side="right")
    level = alpha if single else alpha / 2.0
    enough = (features > 0) & (1 + others <= level * features * (1.0 + 1e-9))
    if not single:
        enough |= (others == 0) & (features * alpha * (1.0 + 1e-9) >= 1.0)
    return float(sizes[np.argmax(enough)]) if enough.any() else np.inf


def e_values(W: FloatArray, alpha: float, *, single: bool = True) -> FloatArray:
    """Return the e-values of the statistics of a draw, shape (p,)."""
    least = threshold(W, alpha, single=single)
    return np.asarray(len(W) * (least <= W) / (1.0 + np.count_nonzero(-least >= W)))


def adjusted(e: FloatArray) -> FloatArray:
    """Return the least level at which e-BH selects each hypothesis, at most 1; shape (p,)."""
    order = np.argsort(-e, kind="stable")
    ranks = np.arange(1, len(e) + 1)
    levels = len(e) / np.maximum(ranks * e[order], 1e-300)
    q_values = np.empty(len(e))
    q_values[order] = np.minimum.accumulate(levels[::-1])[::-1]
    return np.minimum(q_values, 1.0)


def checked_rows(estimator: Any, X: Any, y: Any) -> tuple[Data, BaseForest]:
    """Return the learning set, and the parameters of forests that predict numbers."""
    function = "knockoffs"
    data, template = prepared(estimator, X, y, None, None, _FOLDS, function)
    if data.exchangeability.restricted:
        raise ValueError(
            f"{function}: the rows of this learning set have strata or groups, which {function} "
            "does not support, since knockoffs of rows are drawn as if these were independent. "
            "Hint: dm.significance.conditional, which takes both."
        )
    if not leaves_rows_out(template):
        raise ValueError(
            f"{function}: bootstrap of estimator must be True, since out-of-bag rows are read, got "
            "False."
        )
    if estimator is None:
        template.set_params(n_estimators=_TREES, min_samples_leaf=_LEAF)
    if isinstance(data.target, ClassTarget):
        numbers = NumberTarget.encode(data.target.responses()[:, 0])
        template = for_task(template, numbers, function).set_params(oob_score=True, n_jobs=1)
    return data, template


def importances_beside(
    data: Data,
    template: BaseForest,
    design: Design,
    donors: np.ndarray,
    random: np.random.Generator,
) -> FloatArray:
    """Return importances of p features, then of their knockoffs, by a lasso and a forest, (2p,)."""
    # A lasso of features and knockoffs, in random order.
    columns, owners = design.columns, design.owners
    copies = np.take_along_axis(columns, donors[owners].T.astype(np.intp), axis=0)
    order = random.permutation(2 * len(owners))
    both = np.hstack([columns, copies])[:, order]
    owners = np.concatenate([owners, owners + data.n_columns])[order]
    folds, response = folds_of(data, _FOLDS, random), data.target.responses()
    parts = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(_FOLDS)]
    of_lasso, of_forest = np.zeros((2, 2 * data.n_columns))
    gains, rest = np.zeros(2), response - response.mean(axis=0)
    for c, spread in enumerate(response.std(axis=0).tolist()):
        if spread == 0.0 or not len(owners):
            continue
        model = lasso(both, response[:, c] / spread, parts)
        sizes = spread * np.abs(model.coef_) * both.std(axis=0)
        of_lasso += np.bincount(owners, sizes, minlength=len(of_lasso))
        rest[:, c] = response[:, c] - spread * model.predict(both)
        error = float(model.mse_path_.mean(axis=1).min())
        gains[0] += spread**2 * max(1.0 - error, 0.0)
    # A forest of what the lasso leaves.
    every = np.arange(data.n_columns)
    table = with_knockoffs(data.table, every, donors, function="knockoffs")
    order = random.permutation(table.n_columns)
    key = ("knockoffs", fingerprint(donors), fingerprint(order))
    data = data.with_table(table.take_columns(order), key=key)
    for numbers in rest.T:
        seed = int(random.integers(2**32))
        target = data.with_target(NumberTarget.encode(numbers))
        forest: Any = seeded(template, seed).fit(target)
        of_forest[order] += mdi(forest, target.table, numbers, rows="oob").values
        left = numbers - np.asarray(forest.oob_prediction_)
        gains[1] += max(float(numbers.var() - np.nanmean(np.square(left))), 0.0)
    weights = gains / gains.sum() if gains.any() else np.array([0.5, 0.5])
    for importances in (of_lasso, of_forest):
        importances /= float(np.abs(importances).max(initial=0.0)) or 1.0
    return np.asarray(weights[0] * of_lasso + weights[1] * of_forest)


# --- knockoffs of the columns of a table, as values of its other rows -----------------------------
# A knockoff can be swapped with its column without a change of the joint distribution of all
# columns and knockoffs (Candes et al. 2018).

_FILLS = 10  # rounds of draws in place of gaps


@dataclass(frozen=True, eq=False)
class EstimatedKnockoffs:
    """Knockoffs from a distribution that is estimated from the rows.

    Numbers, grades and flags have second-order Gaussian knockoffs of their scores, given the other
    columns. These follow one after the other, each drawn given all columns and the knockoffs before
    it (sequential conditional independent pairs, Candes et al. 2018, algorithm 1).

    Attributes
    ----------
    sampler : Sampler
        Scores of the table's columns.
    gaussian : int64 array of shape (q,)
        Columns of the scores that have Gaussian knockoffs.
    values : float64 array of shape (n, q)
        These columns, with gaps filled.
    second_order : SecondOrder
        Distribution of what the other columns leave of these, standardized.
    explained : float64 array of shape (n, q)
        What the other columns predict of these.
    spread : float64 array of shape (q,)
        Standard deviation of what they leave.
    curved : dict of int to int64 array
        Features that are drawn one after the other, and those whose squares or cubes each depends
        on.
    """

    sampler: Sampler
    gaussian: IntArray
    values: FloatArray
    second_order: SecondOrder
    explained: FloatArray
    spread: FloatArray
    curved: dict[int, IntArray]

    @classmethod
    def of(cls, table: EncodedTable, kind: KnockoffKind) -> EstimatedKnockoffs:
        """Estimate the distribution of the columns.

        Parameters
        ----------
        table : EncodedTable
            The rows.
        kind : {"auto", "gaussian", "forest"}
            Features that are drawn one after the other: nominal ones ("gaussian"), also those that
            depend on squares or cubes of others ("auto"), or all.
        """
        scores = Scores.of(table)
        nodewise, filled, widths = Nodewise.of(scores), with_gaps_filled(scores), scores.widths
        curved = [np.empty(0, dtype=np.int64)] * table.n_columns
        if kind != "gaussian" and scores.values.shape[1] <= MOST_DENSE:
            fitted = nodewise if filled is scores else Nodewise.of(filled)
            curved = curved_in(fitted.scores, fitted.residuals)
        depends = np.array([len(features) > 0 for features in curved], dtype=bool)
        nominal = scores.discrete & (widths > 1)
        alone = (widths > 0) & (nominal | depends | (kind == "forest"))
        of_alone = np.repeat(alone, widths)
        values = filled.values[:, ~of_alone]
        explained = np.zeros_like(values)
        if alone.any() and values.shape[1]:
            explained = values - ridge_residuals(scores.values[:, of_alone], values)
        rest = values - explained
        rest -= rest.mean(axis=0)
        spread = np.maximum(rest.std(axis=0), 1e-12)
        return cls(
            Sampler(table, nodewise, alone, nodewise.residuals, 0),
            np.flatnonzero(~of_alone),
            values,
            SecondOrder.of(rest / spread),
            explained,
            spread,
            {j: curved[j] for j in np.flatnonzero(alone).tolist()},
        )

    def donors(self, random: np.random.Generator) -> np.ndarray:
        """Return the row whose value the knockoff of each column has, uint32 of shape (p, n).

        Of the Gaussian knockoff of an indicator the mean gives the probability, and the noise the
        quantile that is compared with it, so that the knockoffs of several features keep the
        covariance of their noise.
        """
        from scipy.special import ndtr

        scores, table = self.sampler.scores, self.sampler.table
        n, p = table.n_rows, table.n_columns
        donors = np.tile(np.arange(n, dtype=np.uint32), (p, 1))
        mean = self.explained + self.second_order.mean * self.spread
        noise = self.second_order.noise(random) * self.spread
        deviation = self.second_order.noise_deviation * self.spread
        drawn = np.unique(np.repeat(np.arange(p), scores.widths)[self.gaussian]).tolist()
        for j in drawn:
            first = int(np.searchsorted(self.gaussian, scores.first[j]))
            last = first + int(scores.widths[j]) - 1  # of two columns that of a gap
            second, missing = np.zeros((2, n), dtype=bool)
            if last > first or scores.discrete[j]:
                quantile = ndtr(noise[:, last] / max(float(deviation[last]), 1e-300))
                second = quantile > 1.0 - probabilities(mean[:, last], self.values[:, last])
                missing = self.values[:, last] > 0.0
                rows = rows_of_levels(missing.astype(np.int64), second.astype(np.int64), random)
                donors[j] = rows
            if not scores.discrete[j]:
                numbers = np.where(missing, np.nan, self.values[:, first])
                nearest = nearest_rows(numbers, mean[:, first] + noise[:, first], random)
                donors[j] = np.where(second, donors[j], nearest)
        for j, curved in self.curved.items():
            block = scores.columns(j)
            parts = [np.delete(scores.values, np.r_[block], axis=1)]
            parts += [scores.values[donors[k], scores.columns(k)] for k in drawn]
            if len(curved) and not scores.discrete[j]:
                parts.append(splines_of(scores, curved))
            residuals = ridge_residuals(standardized(np.hstack(parts)), scores.values[:, block])
            beside = with_knockoffs(table, drawn, donors[drawn], function="knockoffs")
            of_forest = forest_residuals(
                beside, scores, residuals, j, int(random.integers(2**32)), n_threads=1
            )
            if np.square(of_forest).sum() < np.square(residuals).sum():
                residuals = of_forest
            donors[j] = self.sampler.drawn(j, residuals, [random.permutation(n)], random)[0]
            drawn.append(j)
        return donors


def with_gaps_filled(scores: Scores) -> Scores:
    """Return scores with draws in the gaps of numbers and grades.

    A gap has a score of 0, so that correlations with other columns are too small. Here the values
    have variance 1, and gaps are drawn given the other columns from a normal distribution, whose
    covariance is estimated from the filled columns, a few times in turn. Of more than `MOST_DENSE`
    columns the scores are returned as they are.
    """
    numbers = np.flatnonzero(~scores.discrete & (scores.widths > 1))
    columns = scores.first[numbers]
    values = np.array(scores.values)
    if not len(numbers) or values.shape[1] > MOST_DENSE:
        return scores
    gaps = scores.values[:, columns + 1] > 0.0
    filled = np.where(gaps, np.nan, values[:, columns])
    filled = (filled - np.nanmean(filled, axis=0)) / np.nanstd(filled, axis=0)
    values[:, columns] = np.nan_to_num(filled)
    used = np.delete(np.arange(values.shape[1]), columns + 1)  # nothing of its own indicator
    places = np.searchsorted(used, columns)
    random = np.random.default_rng(0)
    for _ in range(_FILLS):
        part = values[:, used]
        shrinkage = max(ledoit_wolf(part - part.mean(axis=0)), LEAST_SHRINKAGE)
        covariance = (1.0 - shrinkage) * np.cov(part.T, bias=True)
        covariance = np.atleast_2d(covariance) + shrinkage * np.eye(len(used))
        precision = np.linalg.inv(covariance)
        for place, rows in zip(places.tolist(), gaps.T, strict=True):
            own = float(precision[place, place])
            others = np.delete(np.arange(len(used)), place)
            mean = -part[rows][:, others] @ precision[place, others] / own
            part[rows, place] = mean + random.normal(size=len(mean)) / np.sqrt(own)
        values[:, columns] = part[:, places]
    return replace(scores, values=values)


# --- second-order Gaussian knockoffs (Candes et al. 2018) -----------------------------------------
# With the covariance S of the columns Z and a diagonal matrix D, knockoffs are normal with mean
# :math:`Z (I - S^{-1} D)` and covariance :math:`2 D - D S^{-1} D`: then (Z, its knockoffs) have the
# same covariances when columns are swapped with their knockoffs. D is a multiple of the variance
# of each column given all others, that with the least sum of the variances of each column and each
# knockoff given all other columns and knockoffs (Spector and Janson 2022).

MOST_DENSE = 1000
"""Columns up to which matrices of all pairs are computed."""

LEAST_SHRINKAGE = 1e-3
"""Least fraction by which a covariance is shrunken."""


@dataclass(frozen=True, eq=False)
class SecondOrder:
    r"""Joint distribution of columns and their knockoffs.

    The covariance of the scaled columns is :math:`V diag(\mu) V^T`, and a multiple of the identity
    on what is orthogonal to V, so that a draw of q columns takes n q r operations. Beyond
    `MOST_DENSE` columns V are the right singular vectors of n rows, and D a multiple of I.

    Attributes
    ----------
    mean : float64 array of shape (n, q)
        Mean of the knockoffs of each row given its columns.
    noise_deviation : float64 array of shape (q,)
        Standard deviation of the noise of each column.
    strength : float
        Multiple of the square of `scale` that is D.
    scale : float64 array of shape (q,)
        Standard deviation of each column given the others, in whose multiples V is; or ones.
    vectors : float64 array of shape (q, r)
        V.
    inside : float64 array of shape (r,)
        Standard deviations of the scaled noise along V.
    outside : float
        That orthogonal to V.
    """

    mean: FloatArray
    noise_deviation: FloatArray
    strength: float
    scale: FloatArray
    vectors: FloatArray
    inside: FloatArray
    outside: float

    @classmethod
    def of(cls, values: FloatArray) -> SecondOrder:
        r"""Estimate the covariance of columns of mean 0 and variance 1, about, and choose D.

        D is the multiple g with the least :math:`tr D^{-1} + tr (2 S - D)^{-1}`.
        """
        from scipy.optimize import minimize_scalar

        n, q = values.shape
        if not q:
            return cls(values, np.ones(0), 1.0, np.ones(0), np.zeros((0, 0)), np.ones(0), 1.0)
        shrinkage = max(ledoit_wolf(values), LEAST_SHRINKAGE)
        if q <= MOST_DENSE:
            covariance = (1.0 - shrinkage) * values.T @ values / n + shrinkage * np.eye(q)
            scale = 1.0 / np.sqrt(np.linalg.inv(covariance).diagonal())
            sizes, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
        else:
            _, singular, right = np.linalg.svd(values, full_matrices=False)
            scale, vectors = np.ones(q), right.T
            sizes = (1.0 - shrinkage) * singular**2 / n + shrinkage
        weights, total = np.square(vectors).T @ (1.0 / scale**2), float((1.0 / scale**2).sum())
        rest = max(q - len(sizes), 0)
        least = min(float(sizes.min()), shrinkage) if rest else float(sizes.min())

        def variance(g: float) -> float:
            orthogonal = rest / (2.0 * shrinkage - g) if rest else 0.0
            return total / g + float((weights / (2.0 * sizes - g)).sum()) + orthogonal

        best = minimize_scalar(variance, bounds=(0.0, 2.0 * least), method="bounded")
        g = float(best.x)
        scaled = values / scale
        shrunk = g * (scaled @ vectors) * (1.0 / sizes - 1.0 / shrinkage)
        mean = ((1.0 - g / shrinkage) * scaled - shrunk @ vectors.T) * scale
        inside = np.sqrt(np.maximum(2.0 * g - g**2 / sizes, 0.0))
        outside = float(np.sqrt(max(2.0 * g - g**2 / shrinkage, 0.0)))
        of_noise = outside**2 + np.square(vectors) @ (inside**2 - outside**2)
        deviation = np.sqrt(np.maximum(of_noise, 0.0)) * scale
        return cls(mean, deviation, g, scale, vectors, inside, outside)

    def noise(self, random: np.random.Generator) -> FloatArray:
        """Draw knockoffs less their mean, shape (n, q)."""
        normal = random.normal(size=self.mean.shape)
        of_vectors = (normal @ self.vectors) * (self.inside - self.outside)
        return np.asarray((self.outside * normal + of_vectors @ self.vectors.T) * self.scale)


def ledoit_wolf(values: FloatArray) -> float:
    """Return the shrinkage of the covariance of centered columns to a multiple of the identity.

    The fraction of Ledoit and Wolf (2004), with the smaller of both Gram matrices.
    """
    n, q = values.shape
    gram = values @ values.T if n < q else values.T @ values
    squares = float(np.square(gram).sum()) / n**2
    trace = float(np.square(values).sum()) / n
    distance = squares - trace**2 / q
    variation = (float(np.square(np.square(values).sum(axis=1)).sum()) / n - squares) / n
    return float(np.clip(variation / distance, 0.0, 1.0)) if distance > 0.0 else 1.0
