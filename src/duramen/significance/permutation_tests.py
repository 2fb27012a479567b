"""Tests of importances against importances under permuted labels, feature by feature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data import EncodedTable, encode
from duramen.data.exchangeability import Exchangeability
from duramen.data.sources import names_of
from duramen.importances.refit import qualified
from duramen.jobs.replicates import (
    OBSERVED,
    Plan,
    replicate_seed,
    run_replicates,
)
from duramen.results.importances import NULL, Importances, PermutedImportances
from duramen.results.result import warn_of
from duramen.results.significance import ErrorRates, Significance
from duramen.significance.measured import (
    HUYNH_THU,
    PROMISE,
    Data,
    MeasureLike,
    Refits,
    SignificanceTest,
)
from duramen.significance.permutations import (
    expected_discoveries,
    permutation_p_values,
    permuted_labels,
)
from duramen.significance.resampling import SamplingUnits, subsample_size, subsamples
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, RandomState, TableLike, refuse_masked
from duramen.support.provenance import fingerprint, versions

# Data sets of noise of 100 x 100, of 100, in which q-values of a fitted distribution take something
# (docs/explanation/tests/calibration.md).
_TAKEN = {"normal": "64 to 70", "gamma": "21 to 25"}


def altmann(
    estimator: Any,
    X: TableLike | None = None,
    y: ArrayLike | None = None,
    *,
    measure: MeasureLike = "auto",
    n_permutations: int = 100,
    distribution: str = "empirical",
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Significance:
    r"""Test importances by permuting the target and growing the forest anew (PIMP).

    .. math:: p_j = \frac{1 + \#\{s : v_{sj} \ge v_j\}}{S + 1}

    with v_j the importance of feature j and v_sj the same after the s-th of S permutations of the
    target (Altmann et al. 2010). The null hypothesis is complete: the target is independent of all
    features together. Where some features are relevant, those that are correlated with them depend
    on the target too, and are found like any associated feature. Features that are independent of
    the target and of the relevant ones tend to have larger p-values than under the null hypothesis,
    since relevant features take splits that they would get by chance.

    Parameters
    ----------
    estimator : estimator of duramen, any model with fit and predict, or PermutedImportances
        Parameters of the forests, or a model to refit; it is cloned, not changed. Or the result of
        `permuted_importances`, in place of the data and of all other arguments that are about
        growing forests.
    X : table of shape (n, p), or LearningSet
        The rows; None with PermutedImportances.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set, and with PermutedImportances.
    measure : str or callable
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances. "auto" as
        in :func:`max_t`: "mdi_oob" if trees leave rows out, and trees of classes by entropy.
    n_permutations : int
        Number S of permutations.
    distribution : {"empirical", "normal", "lognormal", "gamma"}
        "empirical": the fraction above. Else the upper tail at v_j of that distribution, fitted to
        the S values of feature j by maximum likelihood; where these do not vary, or a
        Kolmogorov-Smirnov test rejects the fit at .05, the empirical p-value stands.
    strata : array-like of shape (n,), optional
        Stratum of each row; rows are exchanged within strata only.
    groups : array-like of shape (n,), optional
        Group of each row; the rows of a group stay together.
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
        ``scores`` are the importances; `details` hold "null_mean" and "null_sd" of the values
        under permutation, and for fitted distributions "fitted", 1 where the distribution was used.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, `strata` and `groups` leave nothing to exchange, or the
        checkpoint is of another run.

    Warns
    -----
    UserWarning
        If `strata` and `groups` allow fewer different arrangements than permutations are asked for,
        or a normal or gamma distribution was used: q-values from these are too small.

    Notes
    -----
    A function as `measure` is called with a fitted estimator and the encoded rows that it was grown
    on, and returns `Importances` or p numbers. Names are those of the testable measures in
    :data:`duramen.importances.catalogue`.

    Within strata, such as populations or batches, the null hypothesis is that the target is
    independent of the features given the stratum. Groups, such as persons or families, of one
    target value each exchange these values; others exchange all of their rows, in order, with
    groups of as many rows. With "holdout_mda" the rows of a group are also held out together.

    References
    ----------
    A. Altmann, L. Tolosi, O. Sander, T. Lengauer (2010). Permutation importance: a corrected
    feature importance measure. Bioinformatics 26.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.altmann(forest, data.X, data.y, n_permutations=19, random_state=0)
    >>> result.selected(0.05, control="none")
    ('x0',)
    """
    name = "altmann"
    checks.check_choice(name, "distribution", distribution, ("empirical", *DISTRIBUTIONS))
    execution = (random_state, n_jobs, client, checkpoint, verbose)
    permuted = permuted_labels(
        name, estimator, X, y, measure, n_permutations, execution, strata=strata, groups=groups
    )
    observed, null = permuted.importances.values, permuted.permuted
    p_values = permutation_p_values(observed, null)
    details = {"null_mean": null.mean(axis=0), "null_sd": null.std(axis=0)}
    notes = list[str]()
    if distribution != "empirical":
        tails, used = fitted_tails(observed, null, distribution)
        p_values = np.where(used, tails, p_values)
        details["fitted"] = used.astype(np.float64)
        notes.append(
            f"the p-values of {np.count_nonzero(used):,} of {used.size:,} features are tail "
            f"probabilities of a {distribution} distribution fitted to {len(null):,} values, the "
            "others fractions of the permutations; only the latter are exact, and a fitted tail is "
            "an extrapolation far beyond the permutations"
        )
        if distribution in _TAKEN and used.any():
            notes.append(
                f"q-values of {distribution} tails are too small: in noise of 100 x 100, some "
                f"feature had one up to .05 in {_TAKEN[distribution]} of 100 data sets. Hint: use "
                "distribution='lognormal', or distribution='empirical' with more permutations"
            )
        warn_of(name, notes[1:])
    return Significance(
        names=permuted.names,
        scores=observed,
        p_values=p_values,
        method=name,
        null=permuted.null,
        unit=permuted.importances.unit,
        details=details,
        metadata={**permuted.metadata, "method": name, "distribution": distribution},
        notes=tuple(notes),
    )


ALTMANN = SignificanceTest(
    "altmann",
    altmann,
    "Altmann",
    PROMISE,
    reference="A. Altmann et al. (2010). Permutation importance: a corrected feature importance "
    "measure. Bioinformatics 26.",
    permutes=True,
)


# --- distributions fitted to values under the null hypothesis -------------------------------------

DISTRIBUTIONS = ("normal", "lognormal", "gamma")
_LEVEL = 0.05
_NEWTON_STEPS = 6
# Below, rounding would drown the steps, and the first guess is as good.
_LEAST_GAP = 1e-15
_LEAST_STEPPED = 1e-8

# Upper tail of a distribution fitted to each of p columns, at p numbers or a row of them a draw.
Tail = Callable[[FloatArray], FloatArray]


def fitted_tails(
    observed: FloatArray, null: FloatArray, distribution: str
) -> tuple[FloatArray, BoolArray]:
    """Return the upper tail of a distribution fitted to the S null values of each feature, (S, p).

    It is fitted by maximum likelihood; log-normal and gamma to positive values only. Returned are
    tails, of shape (p,), 1 where the distribution is not used, and where it is used: not where the
    values do not vary, are fewer than 3, lie outside the support, or a Kolmogorov-Smirnov test
    rejects the fit at .05. That test takes the distribution as given, not fitted, and so rejects
    less often.
    """
    from scipy.stats import kstwo

    used = np.ptp(null, axis=0) > 1e-12 * np.abs(null).max(axis=0)
    used &= len(null) >= 3
    if distribution != "normal":
        used &= null.min(axis=0) > 0
    tails = np.ones(len(observed))
    if not used.any():
        return tails, used
    values, n = null[:, used], len(null)
    if distribution == "gamma":
        tail = _gamma(values)
    elif distribution == "normal":
        tail = _normal(values)
    else:
        of_logarithms = _normal(np.log(values))

        def tail(x: FloatArray) -> FloatArray:
            with np.errstate(divide="ignore"):
                return of_logarithms(np.log(np.maximum(x, 0.0)))

    below = 1 - tail(np.sort(values, axis=0))
    steps = np.arange(n + 1)[:, np.newaxis] / n
    distance = np.maximum((below - steps[:-1]).max(axis=0), (steps[1:] - below).max(axis=0))
    fits = distance <= kstwo.isf(_LEVEL, n)
    tails[used] = np.where(fits, tail(observed[used]), 1.0)
    used[used] = fits
    return tails, used


def _normal(null: FloatArray) -> Tail:
    from scipy.special import ndtr

    mean, sd = null.mean(axis=0), null.std(axis=0)
    return lambda x: np.asarray(ndtr((mean - x) / sd))


def _gamma(null: FloatArray) -> Tail:
    r"""Solve :math:`\log a - \psi(a) = \log \bar v - \overline{\log v}` for the shape a."""
    from scipy.special import digamma, gammaincc, polygamma

    mean = null.mean(axis=0)
    gap = np.maximum(np.log(mean) - np.log(null).mean(axis=0), _LEAST_GAP)
    shape = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    stepped = gap > _LEAST_STEPPED
    for _ in range(_NEWTON_STEPS):
        a = shape[stepped]
        slope = 1 / a - polygamma(1, a)
        shape[stepped] = a - (np.log(a) - digamma(a) - gap[stepped]) / slope
    scale = mean / shape
    return lambda x: np.asarray(gammaincc(shape, np.maximum(x, 0.0) / scale))


# --- false discovery rate along a ranking (Huynh-Thu et al. 2012) ---------------------------------

FALSE_DISCOVERIES = (
    "Expected number of features that would score as high as this one if none were relevant, as "
    "a fraction of the number that do."
)


def fdr_curve(
    estimator: Any,
    X: TableLike | None = None,
    y: ArrayLike | None = None,
    *,
    measure: MeasureLike = "auto",
    n_permutations: int = 100,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> ErrorRates:
    r"""Estimate the false discovery rate of the first i features of a ranking, for each i.

    .. math:: eFDR_i = \min\Bigl(1,\; \frac1B \sum_{b=1}^{B} \frac{\#\{k : s^b_k \ge s_i\}}{i}
              \Bigr)

    with :math:`s_1 \ge \dots \ge s_p` the importances in order, and s^b those after the b-th of B
    permutations of the target. The number of features that score s_i or more by chance alone, on
    average, is set against the i that do. The curve goes up and down; the rate of the first i
    features is its least value from i on, and taking the features whose rate is at most alpha is
    taking as many as the curve allows.

    It is an estimate of an expected fraction, not a bound with a proof. What it counts as false is
    a feature that is independent of the target; one that is correlated with a relevant feature is
    not, and is taken without being counted. All p features are counted as if none were relevant,
    and with permuted targets features that are independent of the target and of the relevant ones
    score higher than beside these: where some are relevant, the fraction of such false ones is
    mostly below alpha. Where none are, it is alpha or, with fewer than 100 permutations, a little
    more. Scores of all features are pooled: of columns that have different chances (few and many
    values) those with the better ones fill the selection. And the rate is a mean over many data
    sets: a single one may have many false ones while others have none, the more so the more
    features depend on each other. :func:`altmann` tests each feature against itself, and
    the q-values of :func:`max_t` are the same rates of standardized importances.

    Parameters
    ----------
    estimator : estimator of duramen, any model with fit and predict, or PermutedImportances
        Parameters of the forests, or a model to refit; it is cloned, not changed. Or the result of
        `permuted_importances`, in place of the data and of all other arguments that are about
        growing forests.
    X : table of shape (n, p), or LearningSet
        The rows; None with PermutedImportances.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set, and with PermutedImportances.
    measure : str or callable
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances. "auto" as
        in :func:`max_t`: "mdi_oob" if trees leave rows out, and trees of classes by entropy.
    n_permutations : int
        Number B of permutations.
    strata : array-like of shape (n,), optional
        Stratum of each row; rows are exchanged within strata only.
    groups : array-like of shape (n,), optional
        Group of each row; the rows of a group stay together.
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
    ErrorRates
        In the order of the ranking. `details` hold "estimate", eFDR_i before it was made monotone.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the checkpoint is of another run.

    Notes
    -----
    The cost is B + 1 forests. They and the permutations are those of :func:`altmann` with the same
    arguments, whose checkpoints serve here too.

    References
    ----------
    V. A. Huynh-Thu, Y. Saeys, L. Wehenkel, P. Geurts (2012). Statistical interpretation of machine
    learning-based feature importance scores for biomarker discovery. Bioinformatics 28.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.fdr_curve(
    ...     forest, data.X, data.y, n_permutations=19, random_state=0)
    >>> result.selected(0.05)
    ('x0',)
    """
    name = "fdr_curve"
    execution = (random_state, n_jobs, client, checkpoint, verbose)
    permuted = permuted_labels(
        name, estimator, X, y, measure, n_permutations, execution, strata=strata, groups=groups
    )
    observed = permuted.importances
    order = np.argsort(-observed.values, kind="stable")
    scores, places = observed.values[order], np.arange(1, len(order) + 1)
    estimate = np.minimum(expected_discoveries(scores, permuted.permuted) / places, 1.0)
    return ErrorRates(
        names=tuple(observed.names[j] for j in order),
        scores=scores,
        rates=np.minimum.accumulate(estimate[::-1])[::-1],
        method=name,
        meaning=FALSE_DISCOVERIES + permuted.restrictions,
        unit=observed.unit,
        details={"estimate": estimate},
        metadata={**permuted.metadata, "method": name},
    )


FDR_CURVE = SignificanceTest(
    "fdr_curve",
    fdr_curve,
    "FDR curve",
    "The rate is an estimate of the fraction of features that are independent of the target among "
    "all up to this one, and no upper bound: one data set may have many false features while "
    "others have none. Features that are correlated with relevant ones are not counted as false.",
    reference=HUYNH_THU,
    permutes=True,
)


# --- mean ranks over subsamples (Zhang et al. 2006) ----------------------------------------------

# The replicate whose seed the seed of the permutations comes from.
_MEAN_RANKS = 2**32 - 2
_RUNS = 20
_FRACTION = 0.632


def mean_rank_test(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    measure: MeasureLike = "auto",
    n_resamples: int = _RUNS,
    subsample: int | float = _FRACTION,
    n_permutations: int = 100,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Significance:
    r"""Test the mean rank of each feature over forests grown on subsamples (mr-test).

    In each of R runs a forest grows on a subsample of the rows, and r_bj is the rank of feature j
    by importance (1 the best; equal ones share the mean of their ranks). The statistic is the mean
    rank over the runs, :math:`\bar r_j`; small is good. The runs are repeated for each of S
    permutations of the target,

    .. math:: p_j = \frac{1 + \#\{s : \bar r_{sj} \le \bar r_j\}}{S + 1}

    (after Zhang et al. 2006, and Huynh-Thu et al. 2012, who compare with the ranks of the last
    features of the same ranking, which are too small for irrelevant ones).

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    measure : str or callable
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances. "auto" as
        in :func:`max_t`: "mdi_oob" if trees leave rows out, and trees of classes by entropy.
    n_resamples : int
        Number R of subsamples.
    subsample : int or float
        Rows of a subsample, or their fraction, drawn without replacement, of each class in
        proportion; with `groups`, whole groups.
    n_permutations : int
        Number S of permutations.
    strata : array-like of shape (n,), optional
        Stratum of each row; rows are exchanged within strata only.
    groups : array-like of shape (n,), optional
        Group of each row; the rows of a group stay together.
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
        ``scores`` are the fractions of the other features that a feature is ranked before, on
        average over the runs: 1 if it is always the first, 1/2 by chance, 0 if always the last.
        `details` hold "mean_rank" and "sd_rank", over the runs.

    Raises
    ------
    TypeError, ValueError
        If there is one feature only, an argument is not as described, or the checkpoint is of
        another run.

    Notes
    -----
    The test is exact, P(p_j <= alpha) <= alpha, under the complete null hypothesis that the target
    is independent of all features together. Where some features are relevant, these hold the first
    ranks and those correlated with them the next ones, which are found too; only features that are
    independent of the target and of the relevant ones have p-values that are too large.

    Ranks know no distance: a feature that is far ahead has rank 1, as one that is ahead by chance.
    With few features, or several relevant ones, `altmann` has more power. The cost is R (S + 1)
    forests.

    References
    ----------
    C. Zhang, X. Lu, X. Zhang (2006). Significance of gene ranking for classification of microarray
    samples. IEEE/ACM Transactions on Computational Biology and Bioinformatics 3. V. A. Huynh-Thu,
    Y. Saeys, L. Wehenkel, P. Geurts (2012). Statistical interpretation of machine learning-based
    feature importance scores for biomarker discovery. Bioinformatics 28.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.mean_rank_test(
    ...     forest, data.X, data.y, n_resamples=3, n_permutations=19, random_state=0)
    >>> result.top(1).names
    ('x0',)
    """
    name = "mean_rank_test"
    runs = checks.check_integer(name, "n_resamples", n_resamples, 1)
    n = checks.check_integer(name, "n_permutations", n_permutations, 1)
    execution = (random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.of(name, estimator, X, y, measure, execution, strata=strata, groups=groups)
    subject, data, p = refits.subject, refits.subject.data, len(refits.subject.names)
    data.exchangeability.require(n, name, data.target.values)
    if p < 2:
        raise ValueError(f"{name}: ranks need two features or more, got {p}.")
    units = SamplingUnits.of(data)
    size = subsample_size(subsample, units.count, units.n_classes, name, units=units.name)

    def ranks_of(data: Data, random: np.random.Generator) -> FloatArray:
        """Return the ranks, of shape (p,), on rows drawn at random; 1 is the best."""
        from scipy.stats import rankdata

        drawn = SamplingUnits.of(data)
        draw = drawn.rows(subsamples(drawn.labels, drawn.count, size))
        places, seed = draw(random), int(random.integers(2**32))
        scores = replace(subject, data=data).of_rows(places, key=seed).scores(seed)
        return np.asarray(rankdata(-scores), dtype=np.float64)

    def task(_: int, seed_b: int) -> FloatArray:
        return ranks_of(data, np.random.default_rng(seed_b))

    def permuted_sums(_: int, seed_b: int) -> FloatArray:
        """Permute the target and sum the ranks over the runs."""
        random = np.random.default_rng(seed_b)
        order = data.exchangeability.permutation(random, data.target.values)
        permuted, sums = data.permuted(order, key=seed_b), np.zeros(p)
        for _ in range(runs):
            sums += ranks_of(permuted, random)
        return sums

    choices = {"n_resamples": runs, "n_rows_drawn": size}
    identity = subject.identity(name, **choices)
    alone = Plan(refits.n_threads, cluster=refits.cluster)
    ranks = refits.run(task, runs, p, identity, plan=alone)
    seed = replicate_seed(refits.seed, _MEAN_RANKS)
    null_sums = refits.run(permuted_sums, n, p, identity, seed=seed)
    sums = ranks.sum(axis=0)
    return Significance(
        names=subject.names,
        scores=(p - sums / runs) / (p - 1),
        p_values=permutation_p_values(-sums, -null_sums),
        method=name,
        null=NULL + subject.clause,
        details={"mean_rank": sums / runs, "sd_rank": ranks.std(axis=0)},
        metadata=refits.metadata(identity, **choices, n_permutations=n),
    )


MEAN_RANK_TEST = SignificanceTest(
    "mean_rank_test",
    mean_rank_test,
    "mean rank test",
    PROMISE,
    reference="C. Zhang, X. Lu, X. Zhang (2006). Significance of gene ranking for classification "
    "of microarray samples. IEEE/ACM Transactions on Computational Biology and Bioinformatics 3.",
    forests=lambda rounds, p: _RUNS * (rounds + 1),
    permutes=True,
    fraction=_FRACTION,
)


# --- any importance that a user can compute -------------------------------------------------------

Importance = Callable[[Any, NDArray[Any], int], Any]

_NULL = "The target is independent of X: its values could be permuted among the rows in any order."


def permutation_test(
    importance: Importance,
    X: TableLike,
    y: ArrayLike | None,
    *,
    n_permutations: int = 100,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Significance:
    r"""Test any importance by computing it again with the target permuted.

    .. math:: p_j = \frac{1 + \#\{s : v_{sj} \ge v_j\}}{S + 1}

    with v_j what `importance` gives for feature j, and v_sj what it gives after the s-th of S
    permutations of the target: :func:`altmann` for functions instead of forests. If rows are
    exchangeable, P(p_j <= a) <= a under the complete null hypothesis that the target is independent
    of X, whatever the function does with X and y. A feature that is correlated with a relevant one
    depends on the target, and is found where the function sees it.

    Parameters
    ----------
    importance : callable
        ``importance(X, y, seed)`` returns p numbers, the larger the more important, or
        `Importances`. `X` is passed as it was given; `y` is an array; `seed`, in 0..2**32-1, is
        what all randomness of the function shall come from. With `n_jobs` it is called from
        several threads at a time, and must not change anything they share.
    X : any
        What `importance` takes. Features have the names of `Importances`, else of the columns of X
        if it has names, else ``x0``, ``x1``, ...
    y : array-like of shape (n,) or (n, k)
        Target; its rows are permuted.
    n_permutations : int
        Number S of permutations.
    strata : array-like of shape (n,), optional
        Stratum of each row; rows are exchanged within strata only.
    groups : array-like of shape (n,), optional
        Group of each row; the rows of a group stay together.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads; the result does not depend on it. They gain time where `importance` spends it
        outside of Python, as forests do.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.
    checkpoint : path, optional
        File in which finished permutations are kept; a run that was killed goes on from it, to the
        same bytes. It knows the run by the data, the seed, versions of packages and the *name* of
        the function (module and qualified name): after a change to what the function does, remove
        the file.
    verbose : int
        Above 0: a progress bar with the time left.

    Returns
    -------
    Significance
        ``scores`` are what `importance` gives for the data as they are; `details` hold "null_mean"
        and "null_sd" of its values under permutation.

    Raises
    ------
    TypeError
        If `importance` cannot be called, or a checkpoint is wanted for data that cannot be
        recognized again.
    ValueError
        If `importance` does not return p finite numbers each time, an argument is not as
        described, or the checkpoint is of another run.

    Notes
    -----
    The cost is S + 1 calls of `importance`.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> def importance(X, y, seed):
    ...     return np.abs(np.corrcoef(X.T, y)[-1, :-1])
    >>> result = dm.significance.permutation_test(importance, data.X, data.y, random_state=0)
    >>> result.selected(0.1)
    ('x0', 'x1')
    """
    name = "permutation_test"
    n = checks.check_integer(name, "n_permutations", n_permutations, 1)
    plan = Plan.checked(name, n_jobs, checkpoint, verbose, client)
    target = np.asarray(refuse_masked(y, "y", name))
    if target.ndim == 0 or not len(target):
        raise ValueError(f"{name}: y must have at least one row, got shape {target.shape}.")
    rows = Exchangeability.checked(len(target), strata, groups, function=name)
    if not callable(importance):
        raise checks.refuse(name, "importance", "a function importance(X, y, seed)", importance)
    rows.require(n, name, target)
    data = None  # X that is no table has no fingerprint
    try:
        table = X if isinstance(X, np.ndarray) else encode(X).fingerprint()
        data = fingerprint(table, target if target.dtype.kind in "biufc" else target.astype(str))
    except (TypeError, ValueError) as error:
        if checkpoint is not None:
            raise TypeError(
                f"{name}: X, of type {type(X).__name__}, cannot be recognized by its values, which "
                f"a checkpoint needs ({error}). Hint: give an array or a data frame, or no "
                "checkpoint."
            ) from None
    identity: dict[str, Any] = {
        "method": name,
        "importance": qualified(importance),
        "data": data,
        "versions": versions(),
        **rows.identity(),
    }
    seed = checks.draw_seed(random_state)

    def values_of(y: NDArray[Any], seed: int, p: int | None = None) -> tuple[Any, FloatArray]:
        """Return the result of the function and its numbers, p if that is known."""
        result = importance(X, y, seed)
        values = np.asarray(result.values if isinstance(result, Importances) else result)
        numbers = values.ndim == 1 and values.dtype.kind in "biuf"
        if not numbers or len(values) != (p or len(values) or 1) or not np.isfinite(values).all():
            raise ValueError(
                f"{name}: importance must return {p or 'p'} finite numbers each time, or "
                f"Importances, got {type(result).__name__} of shape {values.shape} and type "
                f"{values.dtype}, or NaN or infinity among them."
            )
        return result, values.astype(np.float64)

    first, observed = values_of(target.copy(), replicate_seed(seed, OBSERVED) % 2**32)
    if not isinstance(first, Importances):
        names = X.names if isinstance(X, EncodedTable) else names_of(X) or ()
        if len(names) != len(observed):
            names = [f"x{j}" for j in range(len(observed))]
        first = Importances(tuple(map(str, names)), observed, identity["importance"], "1")

    def task(_: int, seed_b: int) -> FloatArray:
        random = np.random.default_rng(seed_b)
        order = rows.permutation(random, target)
        return values_of(target[order], int(random.integers(2**32)), len(observed))[1]

    null = run_replicates(
        task, n, len(observed), seed=seed, identity=identity, plan=plan, function=name
    )
    result = altmann(PermutedImportances(first, null))
    metadata = {**identity, "n_permutations": n, "seed": seed}
    return replace(result, method=name, null=_NULL + rows.clause, metadata=metadata)
