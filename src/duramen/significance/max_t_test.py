"""Step-down max-T tests of importances by permuted labels (Westfall and Young 1993)."""

from __future__ import annotations

import math
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.jobs.replicates import OutcomeT, Steps, replicate_seed
from duramen.results.importances import PermutedImportances
from duramen.results.significance import AdjustedSignificance
from duramen.results.summary import counted
from duramen.significance.hypotheses import Hypotheses
from duramen.significance.measured import MeasureLike, Refits, SignificanceTest
from duramen.significance.permutations import (
    JointStatistics,
    check_grown,
    expected_discoveries,
    mean_variance,
    permutation_p_values,
    pivotality_notes,
    standardized,
    statistics_beside,
)
from duramen.support import checks
from duramen.support.arrays import FloatArray, RandomState, TableLike

IndexArray = NDArray[np.intp]
Columns = dict[str, FloatArray]

NULL = (
    "The target is independent of all features together: its values could be in any order. In "
    "later stages: the target and the features confirmed before are independent of all others "
    "together."
)

_MAX_STAGES = 3
# Permutations after which a stage is looked at: it ends if hardly any verdict can change, and from
# the last of them on if features are confirmed.
_LOOKS = (19, 39)
_ONE_STAGE = (
    "the test ended after its first stage, which confirmed {}: PermutedImportances have no forests "
    "for later stages, which may confirm weaker features. Hint: max_t(estimator, X, y) grows them"
)
# Fractions of the level that are given to each statistic, without and with the joint one.
_FRACTIONS = {
    False: {"importance": 0.3, "marginal": 0.7},
    True: {"importance": 0.3, "marginal": 0.5, "joint": 0.2},
}
# Fraction of rows whose largest statistics exceed the scales of all.
_EXCEEDING = 0.1


def max_t(
    estimator: Any,
    X: TableLike | None = None,
    y: ArrayLike | None = None,
    *,
    measure: MeasureLike = "auto",
    n_permutations: int = 99,
    balanced: bool = True,
    marginal: bool = True,
    max_stages: int = _MAX_STAGES,
    alpha: float = 0.05,
    feature_groups: Any = None,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> AdjustedSignificance:
    r"""Test importances by permuted labels, with family-wise and false discovery rates.

    One forest is grown on the data and one on each of B permutations of the target. With t_(1) >=
    ... >= t_(p) the statistics of the features on the data and t^b those after permutation b, the
    family-wise adjusted p-values are those of the step-down max-T procedure,

    .. math:: \tilde p_{(i)} = \max_{k \le i} \frac{1 + \#\{b : \max_{l \ge k} t^b_{(l)} \ge
              t_{(k)}\}}{B + 1},

    and the false discovery rate of the first i features is estimated as by :func:`fdr_curve`: the
    mean number of features that reach t_(i), over the i that reach it on the data. The mean is over
    the permutations and the data, so that the rate is at least 1 / (B + 1), as p-values are.

    *Statistics.* The statistic of a feature is the largest of three: its standardized importance,
    which sees interactions; a marginal rank statistic (Mann-Whitney, Kruskal-Wallis, Spearman,
    chi-squared or log-rank, by the kinds of column and target), which has more power for features
    that are associated with the target by themselves; and a joint linear statistic, which has more
    power where other features explain much of the target. Each is divided by a high quantile of its
    maximum over the features: of the times that one of them exceeds 1 by chance, importances take
    about .3, marginal statistics .5 and joint ones .2.

    The joint statistic compares the coefficients b of a feature in a ridge regression of scores h
    of the target on the columns Z of all features with their variance,

    .. math:: F_g = \frac{b_g^\top [P Z^\top Z P]_{gg}^{-1} b_g}{\|h - Z_{-g} b^{(-g)}\|^2 /
              \mathrm{tr}(M^2)}, \qquad P = (Z^\top Z + \lambda I)^{-1}, \quad
              M = I - Z P Z^\top,

    with the residuals of the model without the feature, and the penalty of least generalized
    cross-validation. In later stages h are the residuals of a regression on the kept features. It
    is left out where there are fewer than two rows for each column of Z, more than 2000 columns, or
    three or more classes.
    If irrelevant features are independent of the target and of the relevant features, and their
    columns normal, it is no larger for them beside relevant features than under permuted labels,
    whatever the distribution of the residuals; this is approximately so for other columns.

    *Stages.* In the first stage the target is permuted, so that all features lose their association
    with it. In each later stage, the features confirmed so far are permuted together with the
    target, and keep their association: the other features are compared with what they have by
    chance beside the confirmed ones. A feature that explains most of the target therefore does not
    hide weaker ones. Features confirmed in earlier stages stay so if they also exceed the largest
    statistics of the other features in the last stage; their adjusted p-value is the larger of the
    two.

    *Looks.* A stage is looked at after 19 permutations and after m = 39, or 2 / alpha - 1 if that
    is more. It ends if no feature can be confirmed any more, and none may be found. If B > 2 m,
    features whose statistics none of m permutations reaches are confirmed at that look, with a
    p-value of 1 / (m + 1), and the next stage begins. Otherwise all B permutations count, and where
    k of them reach a statistic,

    .. math:: p(k) = \frac{1}{m + 1} + \frac{1}{B + 1} \sum_{j \le k}
              \Bigl(1 - \binom{B - m}{j} / \binom{B}{j}\Bigr)

    is the probability under the null hypothesis that the first m are reached by none, or by all B
    of k at most (of B = 99, p(3) = .043 and p(4) = .052). It takes the statistics as the same at
    both looks; they differ a little, since they are standardized by the permutations of each.

    If rows are exchangeable, within strata or as whole `groups` where these are given, and no
    feature is associated with the target, the probability that any feature has an adjusted p-value
    up to alpha is at most alpha, whatever the forest, its number of trees, the measure and the
    dependence between features. Copies of rows, samples of one person and time series are not
    exchangeable: without `groups` they confirm noise. Where some features are relevant, let the
    others be independent of them and of the target. The test of the stage that keeps all relevant
    features is exact in the same sense. An error in an earlier stage is excluded with it where
    permuting relevant features along with the others does not make the largest statistic of these
    smaller, which is the usual case: relevant features take importance that would go to others by
    chance. It was not so for Gini importances of many classes and for MDA; the guide has measured
    rates. Features that are correlated with relevant ones are associated with the target, and
    found.

    *Groups.* With `feature_groups` the groups, and the features in none, are tested as above, and
    then the members of confirmed groups. The importance of a group is the sum of those of its
    members, as in :func:`duramen.importances.group`, over the square root of their number before it
    is standardized; its other statistics the largest of its members', standardized likewise, so
    that large groups are not favored. The members have the step-down procedure of all p features in
    the first stage, and an adjusted p-value no smaller than that of their group. The family-wise
    error rate of the groups is at most alpha, and so is that of the features; that of both together
    is at most 2 alpha (the guide has measured rates).

    Parameters
    ----------
    estimator : estimator of duramen, any model with fit and predict, or PermutedImportances
        Parameters of the forests, or a model that is refitted in their place; it is cloned, not
        changed. Or the result of
        `permuted_importances`, in place of the data and of all other arguments that are about
        growing forests.
    X : table of shape (n, p), or LearningSet
        The rows; None with PermutedImportances.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set, and with PermutedImportances.
    measure : str or callable
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances. "auto" is
        "mdi_oob" if trees leave rows out ("mdi" for survival), else "mdi". It grows trees for
        classes by entropy, and splits no node of fewer than n / 30 rows, or 50, unless
        `min_samples_split` says more: measures on out-of-bag rows find more, and so do trees of
        many rows that end there; MDA controls less, and so does the Gini index with many classes.
        For models of other packages it is "holdout_mda", the only one by name, and a function is
        given the fitted model and its rows.
    n_permutations : int
        Largest number B of permutations of a stage. The least adjusted p-value is 1 / (B + 1), and
        1 / 40 with more than 78 permutations and a level of .05: 19 allow for one of .05.
    balanced : bool
        Whether the statistic is the importance standardized by its mean and standard deviation
        under permutation, so that features with many distinct values have no advantage over those
        with few. The standard deviation of a feature counts as no less than the root mean square
        over all features. Otherwise the statistic is the importance itself.
    marginal : bool
        Whether the marginal rank statistic and the joint linear one are used beside the importance.
    max_stages : int
        Largest number of stages.
    alpha : float
        Level at which features are confirmed, in [0, 1].
    feature_groups : mapping, labels, path, ..., optional
        Groups that do not overlap, as for :func:`duramen.io.feature_groups`; features in none are
        tested with the groups. It needs ``balanced=True``.
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
    AdjustedSignificance
        `scores` are the importances, `statistics` what is compared, `p_adjusted` the family-wise
        adjusted p-values, `q_values` the estimated false discovery rates and `p_values` those of
        each feature alone, all from the last stage that tested the feature; `details` hold its
        number in "stage", the statistics in "importance_statistic", "marginal_statistic" and
        "joint_statistic", and "null_mean" and "null_sd" of the importances in the first stage.
        ``evidence()`` tells which of the statistics the verdict is due to. With `feature_groups`
        the names are the groups, and after them all features.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the checkpoint is of another run.

    Notes
    -----
    The cost is at most 1 + B `max_stages` forests; where nothing is found, it is 20 or 40, and
    where all that is relevant is strong, 79 or 118. Forests
    and permutations of the first stage are those of :func:`altmann` with the same arguments.
    `PermutedImportances` hold these alone: where the first stage confirms features, a note of the
    result says that later stages need an estimator.

    References
    ----------
    P. H. Westfall, S. S. Young (1993). Resampling-Based Multiple Testing. Wiley. Y. Ge, S. Dudoit,
    T. P. Speed (2003). Resampling-based multiple testing for microarray data analysis. Test 12.
    V. A. Huynh-Thu et al. (2012). Statistical interpretation of machine learning-based feature
    importance scores for biomarker discovery. Bioinformatics 28 (permutations that keep the
    features confirmed before). H. Strasser, C. Weber (1999). On the asymptotic theory of
    permutation statistics. Mathematical Methods of Statistics 8 (marginal statistics). A. E. Hoerl,
    R. W. Kennard (1970). Ridge regression: biased estimation for nonorthogonal problems.
    Technometrics 12. G. H. Golub, M. Heath, G. Wahba (1979). Generalized cross-validation as a
    method for choosing a good ridge parameter. Technometrics 21. J. Besag, P. Clifford (1991).
    Sequential Monte Carlo p-values. Biometrika 78 (early ends). T. J. Hastie, R. J. Tibshirani
    (1990). Generalized Additive Models. Chapman and Hall (degrees of freedom of residuals).

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.max_t(forest, data.X, data.y, n_permutations=39, random_state=0)
    >>> result.verdicts()[:2], result.evidence()[:2]
    (('confirmed', 'confirmed'), ('alone', 'jointly'))
    """
    name = "max_t"
    checks.check_flag(name, "balanced", balanced)
    checks.check_flag(name, "marginal", marginal)
    alpha = checks.check_real(name, "alpha", alpha, 0, 1)
    choices: dict[str, Any] = {"balanced": balanced, "marginal": marginal, "alpha": alpha}
    if feature_groups is not None and not balanced:
        raise ValueError(
            f"{name}: balanced must be True with feature_groups, as sums over large groups are "
            "larger by chance, got False."
        )
    execution = (random_state, n_jobs, client, checkpoint, verbose)
    rows = {"strata": strata, "groups": groups}
    marginals: FloatArray | None = None
    joints: JointStatistics | None = None
    first = estimator if isinstance(estimator, PermutedImportances) else None
    if first is not None:
        of_growth = {"X": X, "y": y, "measure": measure, "n_permutations": n_permutations}
        check_grown(name, execution, **of_growth, max_stages=max_stages, **rows)
        if marginal and first.marginal is None:
            raise ValueError(
                f"{name}: marginal must be False for PermutedImportances without marginal "
                "statistics. Hint: permuted_importances(..., marginal=True) computes them."
            )
        if marginal:
            marginals, joints = first.marginal, lambda kept: first.joint
        observed, n, stages, seed = first.importances, len(first.permuted), 1, 0
        choices["max_stages"] = 1
    else:
        n = checks.check_integer(name, "n_permutations", n_permutations, 1)
        stages = checks.check_integer(name, "max_stages", max_stages, 1)
        choices |= {"n_permutations": n, "max_stages": stages}
        refits = Refits.of(name, estimator, X, y, measure, execution, **rows)
        data, seed = refits.subject.data, refits.seed
        data.exchangeability.require(n, name, data.target.values)
        observed = refits.observed()
        if marginal:
            marginals, joints = statistics_beside(refits, n)
        # Targets of groups of different sizes are permuted, and features cannot be kept with them.
        random = np.random.default_rng(replicate_seed(seed, 0))
        order = data.exchangeability.permutation(random, data.target.values)
        if len(np.unique(order)) < data.n_rows:
            stages = 1
    tested = None
    if feature_groups is not None:
        tested = Hypotheses.of(observed.names, feature_groups, True, name)
    # What none of these permutations reaches is confirmed: p is half the level at most. The members
    # of groups are tested in the first stage, whose looks decide about groups: there none confirms.
    look = max(_LOOKS[-1], math.ceil(2 / alpha) - 1) if alpha > 0 else n
    success = look if tested is None and n > 2 * look else None
    looks = np.unique(np.minimum([*_LOOKS, success or n, n], n)).tolist()
    statistics = (observed.values, marginals, joints, balanced, alpha, seed)
    steps = _stages(*statistics, looks, success, stages, tested)
    if first is not None:
        null, (result, looked) = _walked(steps, first.permuted)
        metadata, clause, notes = dict(first.metadata), first.restrictions, first.notes
    else:
        subject = refits.subject
        null, (result, looked) = refits.follow(
            subject.permuted_scores, stages * n, data.n_columns, steps, **choices
        )
        metadata, clause, notes = refits.metadata(), subject.clause, pivotality_notes(subject)
    names, scores = observed.names, observed.values
    of_first = np.asfortranarray(null[:looked])  # sums of contiguous numbers are rounded less
    if tested is not None:
        _, (of_features, _) = _walked(_stages(*statistics, [looked], None, 1), of_first)
        names, scores, of_first = tested.names, tested.pooled(scores), tested.pooled(of_first)
        result = _nested(tested, scores, result, of_features)
        n_groups = len(names) - len(observed.names)
        sizes = map(len, tested.features[:n_groups])
        choices["feature_groups"] = dict(zip(names[:n_groups], sizes, strict=True))
    confirmed = int(np.count_nonzero(result["p_adjusted"] <= alpha))
    if first is not None and confirmed:
        notes += (_ONE_STAGE.format(counted(confirmed, "feature")),)
    return AdjustedSignificance(
        names=names,
        scores=scores,
        method=name,
        null=NULL + clause,
        unit=observed.unit,
        adjustment="pooled permutations",
        metadata={**metadata, "method": name, **choices, "n_forests": 1 + len(null)},
        notes=notes,
        p_values=result.pop("p_values"),
        p_adjusted=result.pop("p_adjusted"),
        statistics=result.pop("statistics"),
        q_values=result.pop("q_values"),
        details={**result, "null_mean": of_first.mean(axis=0), "null_sd": of_first.std(axis=0)},
    )


def _walked(steps: Steps[OutcomeT], permuted: FloatArray) -> tuple[FloatArray, OutcomeT]:
    """Walk through a stage of known importances; return the importances it used."""
    jobs, until = next(steps), 0
    while True:
        begin, until = until, until + len(jobs)
        try:
            jobs = steps.send(permuted[begin:until])
        except StopIteration as end:
            return permuted[:until], end.value


def sequential_levels(n: int, look: int | None) -> FloatArray:
    """Return the p-value of a statistic that 0, 1, ..., n of n permutations reach, (n + 1,).

    Statistics that none of the first m permutations reaches, m = `look`, have p = 1 / (m + 1), and
    come before all others, which have p(k) of :func:`max_t`: under the null hypothesis each count j
    has the same probability, and none of j is among the first m with that of the fraction there.
    """
    if look is None:
        return np.asarray((1.0 + np.arange(n + 1)) / (n + 1.0), dtype=np.float64)
    drawn = np.arange(n)
    none_early = np.concatenate([[1.0], np.cumprod(np.maximum(n - look - drawn, 0) / (n - drawn))])
    return np.asarray(1.0 / (look + 1.0) + np.cumsum(1.0 - none_early) / (n + 1.0))


def _stages(
    importances: FloatArray,
    marginals: FloatArray | None,
    joints: JointStatistics | None,
    balanced: bool,
    alpha: float,
    seed: int,
    looks: list[int],
    success: int | None,
    max_stages: int,
    hypotheses: Hypotheses | None = None,
) -> Steps[tuple[Columns, int]]:
    """Yield the permutations to compute, each by its seed and the kept features.

    A stage ends at the look that confirms features, `success`, unless it is the last one, or at
    which hardly any verdict can change. The outcome are the columns of the result, each feature as
    in the last stage that tested it, and the permutations of the first stage.

    With `hypotheses`, groups and the features in none are tested in place of features. Importances
    of a group are divided by the root of its size: standardized importances have one scale then,
    as the standard deviation of a sum of independent importances grows with this root.
    """

    def pooled(importances: FloatArray) -> FloatArray:
        if hypotheses is None:
            return importances
        sums = hypotheses.pooled(importances) / np.sqrt(hypotheses.sizes)
        return np.asarray(sums[..., hypotheses.top])

    def largest_of_groups(statistics: FloatArray) -> FloatArray:
        if hypotheses is None:
            return statistics
        return standardized(hypotheses.pooled(statistics, "max")[:, hypotheses.top], 0.0)

    n = looks[-1]
    levels = sequential_levels(n, success)
    most = np.count_nonzero(levels <= alpha) - 1  # that may reach a confirmed feature
    result, order, rates = Columns(), list[IndexArray](), list[FloatArray]()
    rejected, of_kept = np.empty(0, dtype=np.intp), list[FloatArray]()
    marginal = None if marginals is None else largest_of_groups(marginals)
    looked_first, least_adjusted = 0, 0.0
    for number in range(1, max_stages + 1):
        rows, kept = pooled(importances[np.newaxis]), rejected
        if hypotheses is not None and len(rejected):
            members = [hypotheses.features[h] for h in hypotheses.top[rejected]]
            kept = np.concatenate(members)
        tested = np.setdiff1d(np.arange(rows.shape[1]), rejected)
        confirmed = np.zeros(len(tested), dtype=np.bool_)
        for look in looks:
            null = yield [(replicate_seed(seed, b), kept) for b in range(len(rows) - 1, look)]
            rows = np.vstack([rows, pooled(null)])

            # Statistics of each kind on one scale, the data first, and those of the kept features.
            # Their importances are of the stage that confirmed them: they are standardized among
            # themselves, with the least standard deviation of this stage.
            importance, standing = rows[:, tested], of_kept
            if balanced:
                least = mean_variance(importance)
                importance = standardized(importance, least)
                standing = [standardized(values, least) for values in of_kept]
            by_kind = {"importance": importance}
            kept_by_kind = {
                "importance": np.concatenate([np.empty(0), *(values[0] for values in standing)])
            }
            if marginal is not None and joints is not None:
                by_kind["marginal"] = marginal[: len(rows), tested]
                kept_by_kind["marginal"] = marginal[0, rejected]
                alone, joint = joints(rejected[:0]), joints(kept)
                if alone is not None and joint is not None:
                    by_kind["joint"] = largest_of_groups(joint)[: len(rows), tested]
                    kept_by_kind["joint"] = largest_of_groups(alone)[0, rejected]
                # Each kind is divided by a high quantile of its largest values, which a fraction of
                # the rows exceeds, and two at least: a relevant feature on the data, and chance.
                for kind, fraction in _FRACTIONS["joint" in by_kind].items():
                    maxima = np.sort(by_kind[kind].max(axis=1))
                    exceeding = max(2, round(fraction * _EXCEEDING * len(maxima)))
                    scale = float(maxima[-min(exceeding, len(maxima))])
                    scale = scale if scale > 0 else 1.0
                    by_kind[kind] = by_kind[kind] / scale
                    kept_by_kind[kind] = kept_by_kind[kind] / scale
            statistics = np.maximum.reduce(list(by_kind.values()))
            largest = statistics[1:].max(axis=1)[:, None]
            ranked = np.argsort(-statistics[0], kind="stable")
            p_adjusted = step_down(statistics[0], statistics[1:])
            # P-values of the kept features among the tested ones; 0 if none reaches them.
            of_standing = np.maximum.reduce(list(kept_by_kind.values()))
            again = (1.0 + (largest >= of_standing).sum(axis=0)) / (look + 1)
            again = np.where(again > 1.0 / len(statistics), again, 0.0)

            of_look: FloatArray | None = None  # false discovery rates
            reached = np.rint(p_adjusted * (look + 1)).astype(np.intp) - 1
            if look == n:
                p_adjusted = np.where(confirmed, levels[0], levels[reached])
                confirmed = p_adjusted <= alpha
                break
            if look == success:
                confirmed = reached == 0
                if confirmed.any() and number < max_stages:
                    break
            open_ = (reached <= most) & ~confirmed
            may_return = (again > 0) & (again * (look + 1) <= alpha * (n + 1))
            if open_.any() or may_return.any():
                continue
            if number > 1 and look >= _LOOKS[-1]:
                break
            # May n permutations in all find a feature at twice the level?
            reaching = (statistics >= statistics[0]).sum(axis=0)[ranked]
            of_look = _rates(statistics, ranked, len(rejected))
            if not (of_look[reaching <= alpha * (n + 1)] <= 2 * alpha).any():
                break

        # Columns of the features that this stage decides about.
        last = number == max_stages or np.count_nonzero(confirmed) in (0, len(tested))
        decided = np.ones(len(tested), dtype=np.bool_) if last else confirmed
        if number == 1:
            looked_first = look
            names = ["p_values", "p_adjusted", "statistics", "q_values", "stage"]
            names += [f"{kind}_statistic" for kind in by_kind]
            names += [f"{kind}_p_adjusted" for kind in by_kind if kind != "importance"]
            result = {name: np.zeros(len(tested)) for name in names}
        places = tested[decided]
        p_values = permutation_p_values(statistics[0], statistics[1:])
        result["stage"][places] = number
        result["statistics"][places] = statistics[0, decided]
        result["p_values"][places] = p_values[decided]
        for kind, of_kind in by_kind.items():
            values = of_kind[0, decided]
            result[f"{kind}_statistic"][places] = values
            if kind != "importance":
                beaten = (largest >= values).sum(axis=0)
                result[f"{kind}_p_adjusted"][places] = (1.0 + beaten) / (look + 1)
        result["p_adjusted"][places] = np.maximum(p_adjusted[decided], least_adjusted)
        least_adjusted = result["p_adjusted"][places].max()
        order.append(tested[ranked[decided[ranked]]])
        if of_look is None:
            of_look = _rates(statistics, ranked, len(rejected))
        rates.append(of_look[decided[ranked]])
        if last:
            break
        rejected = np.concatenate([rejected, order[-1]])
        of_kept.append(rows[:, order[-1]])
    adjusted, q_values = result["p_adjusted"], result["q_values"]
    adjusted[rejected] = np.maximum(adjusted[rejected], again)
    every = np.concatenate(order)
    q_values[every] = np.minimum.accumulate(np.concatenate(rates)[::-1])[::-1]
    every = every[np.argsort(adjusted[every], kind="stable")]
    q_values[every] = np.maximum.accumulate(q_values[every])
    return result, looked_first


def _rates(statistics: FloatArray, ranked: IndexArray, n_kept: int) -> FloatArray:
    """Return the false discovery rates of the kept features and the first i tested ones, (t,)."""
    descending = statistics[0][ranked]
    counts = n_kept + np.searchsorted(-descending, -descending, side="right")
    return np.asarray(np.minimum(expected_discoveries(descending, statistics) / counts, 1.0))


def _nested(
    tested: Hypotheses,
    scores: FloatArray,
    of_groups: Columns,
    of_features: Columns,
) -> Columns:
    """Join the results of groups and of all features, whose members need a confirmed group.

    Group after group has the least adjusted p-values; a member has none below that of its group.
    """
    assert tested.parents is not None
    top, members = tested.top, np.flatnonzero(tested.parents >= 0)
    single = np.array([tested.features[h][0] for h in members], dtype=np.intp)
    result = {}
    for name, values in of_groups.items():
        result[name] = np.empty(len(tested))
        result[name][top], result[name][members] = values, of_features[name][single]
    for name in ("p_adjusted", "q_values"):
        values = result[name]
        values[members] = np.maximum(values[members], values[tested.parents[members]])
    by_statistic = (-scores, -result["statistics"])
    order = np.lexsort((*by_statistic, result["stage"], result["p_adjusted"]))
    result["q_values"][order] = np.maximum.accumulate(result["q_values"][order])
    return result


def step_down(observed: FloatArray, null: FloatArray) -> FloatArray:
    """Return the step-down max-T adjusted p-values from statistics under B permutations, (B, p).

    Equal statistics have equal p-values, those of the first of them.
    """
    order = np.argsort(-observed, kind="stable")
    reached = np.zeros(len(observed))
    for row in null:  # one permutation at a time: the matrix is not copied
        largest = np.maximum.accumulate(row[order[::-1]])[::-1]
        reached += largest >= observed[order]
    adjusted = np.empty(len(observed))
    adjusted[order] = np.maximum.accumulate((1.0 + reached) / (1.0 + len(null)))
    return adjusted


MAX_T = SignificanceTest(
    "max_t",
    max_t,
    "max-T",
    "If rows, or groups of rows, are exchangeable and no feature is associated with the target, "
    "any is confirmed with a probability of at most {level:g}, whatever the number of trees and "
    "however features depend on each other. Beside relevant features, this held in simulations "
    "for features that are independent of them and of the target, by the default statistics. "
    "Features correlated with relevant ones are associated with the target, and may be confirmed.",
    reference="P. H. Westfall, S. S. Young (1993). Resampling-based multiple testing. Wiley.",
    forests=lambda rounds, p: 1 + _MAX_STAGES * rounds,
    least=19,
    most_trees=lambda n: max(15, 50 * 1000 // max(n, 1000)),
    default=True,
    of_groups=True,
    permutes=True,
    stops_early=True,
)
