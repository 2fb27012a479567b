"""Features that tell something the others do not, by knockoffs, at a false discovery rate."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from duramen.data import ClassTarget, EncodedTable, NumberTarget
from duramen.data.recoding import with_knockoffs
from duramen.importances import catalogue, mdi
from duramen.importances.refit import for_task, leaves_rows_out, seeded
from duramen.jobs.replicates import ExecutionParameters, replicate_seed, run_replicates
from duramen.results.fields import warn_of
from duramen.results.significance import Significance
from duramen.significance.conditional_tests.conditional import NULL, prepared
from duramen.significance.conditional_tests.cross_fitted import (
    Design,
    folds_of,
    lasso,
)
from duramen.significance.conditional_tests.diagnosis import Diagnosis, diagnosis
from duramen.significance.conditional_tests.knockoff_sampler import (
    EstimatedKnockoffs,
    ExactKnockoffs,
    KnockoffKind,
    KnownKnockoffs,
)
from duramen.significance.conditional_tests.scores import Scores
from duramen.significance.hypotheses import Hypotheses
from duramen.significance.measured import Data, Measured, MeasureLike, measured
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.provenance import fingerprint
from duramen.support.threads import one_blas_thread

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest

_FOLDS = 3  # of the choice of the lasso's penalty
_TREES, _LEAF = 200, 5  # of forests where no estimator is given
_OF_DIAGNOSIS = 2**31  # number of its first seed


def knockoffs(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    alpha: float = 0.1,
    measure: MeasureLike = "auto",
    sampler: KnockoffKind | KnownKnockoffs = "auto",
    feature_groups: Any = None,
    n_draws: int = 20,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Significance:
    r"""Select features that tell something the others do not, by model-X knockoffs.

    A knockoff of each feature is drawn, such that swapping both leaves the joint distribution of
    all features and knockoffs as it is, without a look at the target (Candes et al. 2018). Features
    and knockoffs are ranked together, the columns in random order, and the statistic of a feature
    is its importance less that of its knockoff,

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
    measure : str or callable
        Importance of features and knockoffs. "auto": the absolute coefficients of a lasso, and the
        out-of-bag mean decrease of impurity (MDI) of a forest of what the lasso leaves, each
        divided by its largest, and weighted by the fraction of the target's variance that it
        predicts. Else the name of a testable measure, such as "mdi_oob", or
        ``measure(forest, X, y)`` that returns importances of the 2p columns.
    sampler : {"auto", "gaussian", "forest"} or KnownKnockoffs
        Distribution of the features. "gaussian": second-order Gaussian knockoffs of the normal
        scores, with a shrunken covariance; nominal features are drawn one after the other by ridge
        regressions and forests. "auto": those that depend on squares or cubes of others likewise.
        "forest": all features. Or an object with a method ``knockoffs(random)`` that returns exact
        ones of shape (n, p), such as a `MarkovChain`.
    feature_groups : mapping, labels, path, ..., optional
        Features that are tested together, as for :func:`duramen.io.feature_groups`: whether a
        group tells something that the features outside it do not. Groups must not overlap.
        Gaussian knockoffs are then such that groups can be swapped as a whole, which makes those of
        correlated members less like these. The importances of the members are added.
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
        If there are fewer than 1 / alpha features or groups, so that none can be selected; or if
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
    R. Dai, R. F. Barber (2016). The knockoff filter for FDR control in group-sparse and multitask
    regression. ICML.

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
    function = "knockoffs"
    checks.check_real(function, "alpha", alpha, 0.0, 1.0, ends="()")
    checks.check_integer(function, "n_draws", n_draws, 1)
    execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
    plan = execution.plan(function)
    data, statistic = _statistic(estimator, X, y, measure, function)
    tested = Hypotheses.of(data.names, feature_groups, False, function)
    names, hypotheses = tested.names, tested.features
    seed = execution.seed()
    grouped = feature_groups is not None
    fitted = _fitted(sampler, data.table, tested.labels(data.names, function) if grouped else None)
    notes = list(fitted.notes)
    if len(names) * alpha < 1.0:
        notes.append(
            f"{len(names)} features or groups are fewer than 1 / alpha = {1 / alpha:g}: none can "
            "be selected. Hint: dm.significance.conditional tests each of few features"
        )
        warn_of(function, notes[-1:])
    exact = isinstance(fitted, ExactKnockoffs)
    identity = {
        **statistic.identity(function),
        "sampler": type(sampler).__name__ if exact else sampler,
        "hypotheses": [features.tolist() for features in hypotheses],
    }
    if exact:
        identity["draw"] = fingerprint(fitted.donors(np.random.default_rng(seed)))

    def task(_: int, seed_b: int) -> FloatArray:
        random = np.random.default_rng(seed_b)
        importances = statistic.importances(fitted.donors(random), random)
        differences = importances[: data.n_columns] - importances[data.n_columns :]
        return np.array([differences[features].sum() for features in hypotheses])

    W = run_replicates(
        task, n_draws, len(names), seed=seed, identity=identity, plan=plan, function=function
    )
    drawn = np.array([e_values(row, alpha, single=n_draws == 1) for row in W])
    e = drawn.mean(axis=0)
    fit = None
    if isinstance(fitted, EstimatedKnockoffs):
        fit = _diagnosis(fitted, dict(zip(names, hypotheses, strict=True)), W, seed)
    if fit is not None:
        notes += fit.notes(of_knockoffs=True)
        warn_of(function, fit.notes(of_knockoffs=True))
    return Significance(
        names=names,
        scores=W.mean(axis=0),
        p_values=1.0 / np.maximum(e, 1.0),
        q_values=adjusted(e),
        adjustment="e-BH",
        method=function,
        null=NULL + data.exchangeability.clause,
        details={"e_value": e, "selected": (drawn > 0.0).mean(axis=0)},
        metadata={
            **identity,
            "alpha": alpha,
            "n_draws": n_draws,
            "seed": seed,
            **({} if fit is None else {"diagnosis": fit.record()}),
        },
        notes=tuple(notes),
    )


def threshold(W: FloatArray, alpha: float, *, single: bool = True) -> float:
    """Return the least threshold of knockoff+ at a level, infinite if there is none.

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


@one_blas_thread()
def _fitted(
    sampler: Any, table: EncodedTable, labels: IntArray | None
) -> EstimatedKnockoffs | ExactKnockoffs:
    """Return the sampler that is asked for, of groups of features by their labels."""
    function = "knockoffs"
    if isinstance(sampler, str):
        checks.check_choice(function, "sampler", sampler, get_args(KnockoffKind))
        return EstimatedKnockoffs.of(table, sampler, labels)  # type: ignore[arg-type]
    if not hasattr(sampler, "knockoffs"):
        raise TypeError(
            f'{function}: sampler must be "auto", "gaussian", "forest" or an object with a method '
            f"knockoffs(random), got {type(sampler).__name__}."
        )
    return ExactKnockoffs(table, sampler)


@one_blas_thread()
def _diagnosis(
    fitted: EstimatedKnockoffs, hypotheses: dict[str, IntArray], W: FloatArray, seed: int
) -> Diagnosis | None:
    """Tell whether a classifier tells a draw of knockoffs from the data.

    Looked at are the features with the largest statistics.
    """
    donors = fitted.donors(np.random.default_rng(replicate_seed(seed, _OF_DIAGNOSIS)))
    return diagnosis(
        fitted.sampler,
        hypotheses,
        -W.mean(axis=0),
        replicate_seed(seed, _OF_DIAGNOSIS + 1),
        donors=donors,
    )


@dataclass(frozen=True, eq=False)
class OfForest:
    """A measure of one forest of all features and their knockoffs."""

    subject: Measured

    def importances(self, donors: np.ndarray, random: np.random.Generator) -> FloatArray:
        """Return importances of p features, then of their knockoffs, shape (2p,)."""
        data, order = _with_knockoffs(self.subject.data, donors, random)
        values = np.empty(len(order))
        values[order] = self.subject.scores(int(random.integers(2**32)), data=data)
        return values

    def identity(self, function: str) -> dict[str, Any]:
        """Return what the importances depend on."""
        return self.subject.identity(function)


@dataclass(frozen=True, eq=False)
class LassoAndForest:
    """Coefficients of a lasso, and out-of-bag MDI of a forest of what it leaves."""

    template: BaseForest
    data: Data
    design: Design

    def importances(self, donors: np.ndarray, random: np.random.Generator) -> FloatArray:
        """Return importances of p features, then of their knockoffs, shape (2p,)."""
        of_lasso, rest, gain_of_lasso = self._lasso(donors, random)
        data, order = _with_knockoffs(self.data, donors, random)
        of_forest, gain_of_forest = np.zeros(len(order)), 0.0
        for numbers in rest.T:
            seed = int(random.integers(2**32))
            target = data.with_target(NumberTarget.encode(numbers))
            forest: Any = seeded(self.template, seed).fit(target)
            of_forest[order] += mdi(forest, target.table, numbers, rows="oob").values
            left = numbers - np.asarray(forest.oob_prediction_)
            gain_of_forest += max(float(numbers.var() - np.nanmean(np.square(left))), 0.0)
        gains = np.array([gain_of_lasso, gain_of_forest])
        weights = gains / gains.sum() if gains.any() else np.array([0.5, 0.5])
        return np.asarray(weights[0] * _scaled(of_lasso) + weights[1] * _scaled(of_forest))

    def _lasso(
        self, donors: np.ndarray, random: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, float]:
        """Return importances, what is left of the response, and the variance that is predicted."""
        columns, owners = self.design.columns, self.design.owners
        copies = np.take_along_axis(columns, donors[owners].T.astype(np.intp), axis=0)
        order = random.permutation(2 * len(owners))
        both = np.hstack([columns, copies])[:, order]
        owners = np.concatenate([owners, owners + self.data.n_columns])[order]
        folds, response = folds_of(self.data, _FOLDS, random), self.data.target.responses()
        parts = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(_FOLDS)]
        importances, gain = np.zeros(2 * self.data.n_columns), 0.0
        rest = response - response.mean(axis=0)
        for c, spread in enumerate(response.std(axis=0).tolist()):
            if spread == 0.0 or not len(owners):
                continue
            model = lasso(both, response[:, c] / spread, parts)
            sizes = spread * np.abs(model.coef_) * both.std(axis=0)
            importances += np.bincount(owners, sizes, minlength=len(importances))
            rest[:, c] = response[:, c] - spread * model.predict(both)
            error = float(model.mse_path_.mean(axis=1).min())
            gain += spread**2 * max(1.0 - error, 0.0)
        return importances, rest, gain

    def identity(self, function: str) -> dict[str, Any]:
        """Return what the importances depend on."""
        subject = Measured(self.template, self.data, catalogue["mdi_oob"], "auto")
        return subject.identity(function)


def _scaled(importances: FloatArray) -> FloatArray:
    """Return importances over the largest."""
    largest = float(np.abs(importances).max(initial=0.0))
    return importances / (largest if largest > 0.0 else 1.0)


def _with_knockoffs(
    data: Data, donors: np.ndarray, random: np.random.Generator
) -> tuple[Data, IntArray]:
    """Return the rows with knockoffs beside the features, in an order of columns that is drawn."""
    both = with_knockoffs(data.table, np.arange(data.n_columns), donors, function="knockoffs")
    order = random.permutation(both.n_columns)
    key = ("knockoffs", fingerprint(donors), fingerprint(order))
    return data.with_table(both.take_columns(order), key=key), order


def _statistic(
    estimator: Any, X: Any, y: Any, measure: MeasureLike, function: str
) -> tuple[Data, OfForest | LassoAndForest]:
    """Return the learning set, and the importances that are asked for."""
    data, template = prepared(estimator, X, y, None, None, _FOLDS, function)
    if data.exchangeability.restricted:
        raise ValueError(
            f"{function}: the rows of this learning set have strata or groups, which {function} "
            "does not support, since knockoffs of rows are drawn as if these were independent. "
            "Hint: dm.significance.conditional, which takes both."
        )
    if estimator is None:
        template.set_params(n_estimators=_TREES, min_samples_leaf=_LEAF)
    if measure != "auto":
        return data, OfForest(measured(template, data, None, measure, function))
    if not leaves_rows_out(template):
        raise ValueError(
            f"{function}: bootstrap of estimator must be True with measure 'auto', which reads "
            'out-of-bag rows, got False. Hint: bootstrap=True, or measure="mdi".'
        )
    if isinstance(data.target, ClassTarget):
        numbers = NumberTarget.encode(data.target.responses()[:, 0])
        template = for_task(template, numbers, function).set_params(oob_score=True, n_jobs=1)
    return data, LassoAndForest(template, data, Design.of(data.table, Scores.of(data.table)))
