"""Tests by permuting columns and refitting: one at a time, or all from a place of a ranking on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from duramen.data.recoding import with_permuted
from duramen.importances.arguments import refuse_overlaps
from duramen.importances.groups import Aggregation, Grouping, grouping_of
from duramen.jobs.replicates import replicate_seed
from duramen.results.significance import ErrorRates, Significance
from duramen.significance.measured import HUYNH_THU, MeasureLike, Refits, SignificanceTest
from duramen.significance.permutations import permutation_p_values
from duramen.support import checks
from duramen.support.arrays import FloatArray, RandomState, TableLike
from duramen.support.provenance import fingerprint

NULL = (
    "The feature is independent of the target and the other features, taken together: its values "
    "could be permuted among the rows in any order."
)


def hapfelmeier(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    measure: MeasureLike = "mda",
    n_permutations: int = 100,
    features: Sequence[str | int] | None = None,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Significance:
    r"""Test features by permuting one at a time and growing the forest anew.

    .. math:: p_j = \frac{1 + \#\{l : v_{jl} \ge v_j\}}{L + 1}

    with v_j the importance of feature j, and v_jl the same in a forest grown after the l-th of L
    permutations of its column alone (Hapfelmeier and Ulm 2013). The other
    features keep what they say about the target, unlike under :func:`altmann`, so that a feature is
    compared with a useless one among the same rivals.

    P(p_j <= a) <= a for a feature that is independent of the target *and of the other features*. A
    feature that is irrelevant but correlated with a relevant one is none of these: its
    p-value may be small. ``selected(control="fwer")`` is Holm's form of the authors' Bonferroni
    correction (p_j < a / p), ``control="none"`` their uncorrected test; the smallest p-value being
    1 / (L + 1), p features at level a need L >= p / a - 1 permutations for either of "fwer" and
    "fdr" to find a single one.

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    measure : str or callable
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances. By
        default MDA, as published; it needs forests with out-of-bag rows, others take "mdi".
    n_permutations : int
        Number L of permutations of each feature.
    features : sequence of str or int, optional
        Names or indices of the features to test, chosen before looking at the data; all by default.
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
        Of the tested features, in the order of `features`. ``scores`` are the importances.

    Raises
    ------
    TypeError
        If `estimator` is none of this package, or a feature neither name nor index.
    ValueError
        If a feature does not exist or comes twice, an argument is not as described, or the
        checkpoint is of another run.

    Notes
    -----
    Groups exchange all of their rows with groups of as many rows. P-values of a feature do not
    depend on which others are tested.

    The cost is p L forests: the most expensive test of this package. `estimate_cost` tells it
    beforehand; `features` lower it.

    References
    ----------
    A. Hapfelmeier, K. Ulm (2013). A new variable selection approach using random forests.
    Computational Statistics & Data Analysis 60.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.hapfelmeier(
    ...     forest, data.X, data.y, features=[0, 5], n_permutations=19, random_state=0)
    >>> result.selected(0.05, control="none")
    ('x0',)
    """
    name = "hapfelmeier"
    n = checks.check_integer(name, "n_permutations", n_permutations, 1)
    execution = (random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.of(name, estimator, X, y, measure, execution, strata=strata, groups=groups)
    subject, data, seed = refits.subject, refits.subject.data, refits.seed
    data.exchangeability.require(n, name)
    every = range(data.n_columns) if features is None else features
    columns = checks.places_of(every, data.names, f"{name}: features")
    importances = refits.observed()
    observed, names = importances.values[columns], tuple(data.names[j] for j in columns)

    def task(number: int, _: int) -> FloatArray:
        """Return the importance of a column after a permutation of its rows, shape (1,)."""
        column, draw = columns[number // n], number % n
        random = np.random.default_rng(replicate_seed(replicate_seed(seed, column), draw))
        order = data.exchangeability.permutation(random)
        table = with_permuted(data.table, [column], order)
        permuted = data.with_table(table, key=(seed, column, draw))
        return subject.scores(int(random.integers(2**32)), data=permuted)[[column]]

    identity = refits.identity(features=list(names), n_permutations=n)
    null = refits.run(task, len(columns) * n, 1, identity).reshape(len(columns), n)
    return Significance(
        names=names,
        scores=observed,
        p_values=permutation_p_values(observed, null.T),
        method=name,
        null=NULL + data.exchangeability.clause,
        unit=importances.unit,
        metadata=refits.metadata(identity, n_grown=null.size),
    )


HAPFELMEIER = SignificanceTest(
    "hapfelmeier",
    hapfelmeier,
    "Hapfelmeier",
    "A feature that is independent of the target and of the other features has a p-value up to "
    "alpha with probability at most alpha. A feature that is correlated with a relevant one is "
    "not independent, and may have a small p-value although it adds nothing.",
    reference="A. Hapfelmeier, K. Ulm (2013). A new variable selection approach using random "
    "forests. Computational Statistics & Data Analysis 60.",
    forests=lambda rounds, p: rounds * p,
)


# --- conditional error rates of a ranking (Huynh-Thu et al. 2012) ---------------------------------

Reading = Literal["later", "own"]

BY_SCORE = (
    "Probability that, if {these} from this one on were independent of the target and of those "
    "before it, one of them would score as high as this one does."
)
BY_RANK = {
    "own": "Probability that, if {these} from this one on were independent of the target and of "
    "those before it, this one would be ranked as high as it is.",
    "later": "Probability that, if {these} after this one were independent of the target and of "
    "those up to it, one of them would be ranked before one of those up to this one. The last rate "
    "is by score.",
}
"""Events of rates by rank, by the name of the reading."""

_BY_RANK_ONLY = {
    "later": "by rank, the error rate holds only approximately: with correlated irrelevant "
    "features, some were selected at .05 in up to 11 of 100 simulations",
    "own": "by its own rank, the i-th of G irrelevant features has a rate of about i / G: this "
    "is no error rate of the ranking, and if there are more than 1 / alpha such features, some "
    "are usually selected",
}


def conditional_error_rate(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    measure: MeasureLike = "auto",
    n_permutations: int = 100,
    feature_groups: Any = None,
    how: Aggregation = "mean",
    rank_based: Reading | None = None,
    stop_at: float | None = 0.05,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> ErrorRates:
    r"""Estimate, at each place of a ranking, the probability of doing as well by chance.

    .. math:: CER_i = P\bigl(\max_{k \ge i} s^*_k \ge s_i\bigr)

    with :math:`s_1 \ge \dots \ge s_p` the importances in order, and s* those in a forest grown
    after the rows of the columns i, ..., p were permuted, jointly, against the target and the
    columns 1, ..., i-1. So the columns before i are taken to be relevant and keep what they say;
    the others are irrelevant, and the best of them is compared with what number i really scored
    (Huynh-Thu et al. 2012). The probability is estimated from B permutations by (1 + #) / (B + 1),
    and made monotone: a rate is at least that of the place before, and the same for features of
    equal scores.

    CER_1 is the p-value of the largest importance (max-T) under the complete null, so that
    P(anything is taken) <= alpha if no feature is relevant. More generally, of r relevant features
    and others that are independent of the target and of these r: P(the ranking
    begins with the r, and more than they are taken) <= alpha. For irrelevant features that are
    correlated with relevant ones nothing is promised: permuting them takes away what they owe to
    the others, and they look the better for it.

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
    n_permutations : int
        Number B of permutations for each feature in turn.
    feature_groups : mapping, labels, path, ..., optional
        Groups of features to rank instead of features, as for :func:`duramen.io.feature_groups`;
        they do not overlap, and features in none are a group each. A group is permuted as a whole.
    how : {"mean", "sum", "max"}
        What the importance of a group is made of. Of irrelevant groups, large ones have
        larger sums and maxima.
    rank_based : {"later", "own"}, optional
        Compare ranks within a forest instead of scores between forests (after Wehenkel et al.
        2017), so that a shift of all scores from one forest to another does no harm. "later": with
        the columns i+1, ..., p permuted, CER_i is the probability that one of them is ranked i-th
        or better, before one of the columns 1, ..., i; after the last one there is nothing to
        permute, and its rate is the one by score. "own": with the columns i, ..., p permuted, it is
        the probability that the i-th keeps a rank of i or better. See Notes.
    stop_at : float or None
        Stop at the first rate above this; the rates after it are not computed, and set to 1. None:
        compute all of them.
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
        In the order of the ranking; ``selected(alpha)`` gives the longest beginning whose rate is
        at most alpha. `details` hold "estimate", the rates before they were made monotone, and
        "draws", the permutations that each rests on.

    Raises
    ------
    TypeError
        If `estimator` is none of this package.
    ValueError
        If `n_permutations` are too few for any rate as low as `stop_at`, an argument is not as
        described, or the checkpoint is of another run.

    Notes
    -----
    The cost is B forests for each feature that is taken, and fewer for the one after: permutations
    stop as soon as its rate is certain to be above `stop_at`, and it is estimated after Besag and
    Clifford (1991). With ``stop_at=None`` it is p B forests. A checkpoint serves a larger
    `stop_at` too. Groups exchange all of their rows with groups of as many rows.

    Taken literally, the rate by rank would permute the columns i, ..., p and ask for the event that
    any of them is ranked i-th or better, which is certain: i - 1 columns are left for the ranks
    before. "later" and "own" are two readings that can be computed. Of G irrelevant columns that
    are alike, a permuted one keeps rank i or better with probability i / G: "own" then takes the
    first alpha G of them in every learning set. It is the p-value of a column by itself, for a few
    groups, and no error rate of the ranking.

    With "later" the promises above are not exact. In the guide's simulations of ten features that
    are irrelevant, some was taken at alpha = .05 in .05 of the learning sets where they were
    independent and in .11 where they were correlated (.95) and the forest large: what is ranked
    first competes with copies of itself on the data, and no more once they are permuted.

    References
    ----------
    V. A. Huynh-Thu, Y. Saeys, L. Wehenkel, P. Geurts (2012). Statistical interpretation of machine
    learning-based feature importance scores for biomarker discovery. Bioinformatics 28.
    M. Wehenkel, C. Bastin, P. Geurts, C. Phillips (2017). Tree ensemble methods and parcelling to
    identify brain areas related to Alzheimer's disease. PRNI.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.conditional_error_rate(
    ...     forest, data.X, data.y, n_permutations=19, random_state=0)
    >>> result.selected(0.05)
    ('x0',)
    """
    name = "conditional_error_rate"
    n = checks.check_integer(name, "n_permutations", n_permutations, 1)
    checks.check_choice(name, "how", how, ("mean", "sum", "max"))
    if rank_based is not None:
        checks.check_choice(name, "rank_based", rank_based, get_args(Reading))
    enough = None  # events that make a rate certain to be above `stop_at`
    if stop_at is not None:
        checks.check_real(name, "stop_at", stop_at, 0.0, 1.0)
        enough = math.floor(stop_at * n) + 1
        if 1 / (n + 1) > stop_at:
            raise ValueError(
                f"{name}: with n_permutations={n} no rate is below {1 / (n + 1):.3g}, and all are "
                f"above stop_at={stop_at:g}. Hint: n_permutations="
                f"{math.ceil(1 / stop_at) if stop_at else 'more'}, or a larger stop_at."
            )
    execution = (random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.of(name, estimator, X, y, measure, execution, strata=strata, groups=groups)
    subject = refits.subject
    subject.exchangeability.require(n, name)

    # Groups, or features, in the order of their importances.
    columns = np.arange(len(subject.names))
    grouping = Grouping(subject.names, columns, np.ones_like(columns))
    if feature_groups is not None:
        grouping = grouping_of(feature_groups, None, subject.names, how, "own", name)
        refuse_overlaps(grouping.groups, subject.names, name)
    first = refits.observed()
    order = np.argsort(-grouping.combined(first.values, how), kind="stable")
    members = list(grouping.groups.values())
    ranking = Grouping(
        tuple(grouping.names[g] for g in order),
        np.concatenate([members[g] for g in order]),
        grouping.sizes[order],
    )
    scores, place_of = ranking.combined(first.values, how), np.empty_like(columns)
    place_of[ranking.members] = ranking.of_member
    n_places = len(ranking.names)

    def task(number: int, seed_b: int) -> FloatArray:
        """Return 1 if permuted scores exceed the observed rank or score, else 0; shape (1,).

        Not the group that is to be irrelevant is permuted, but the target and the columns before
        the group: the rows are then the same ones in another order.
        """
        place, random = number // n, np.random.default_rng(seed_b)
        permuted = subject.exchangeability.permutation(random)
        after = rank_based == "later" and place + 1 < n_places
        begin = place + after
        table = with_permuted(subject.data.table, place_of < begin, permuted)
        data = subject.data.with_table(table, key=("kept", begin)).permuted(permuted, key=seed_b)
        values = subject.scores(int(random.integers(2**32)), data=data)
        drawn = ranking.combined(values, how)
        if rank_based == "own":
            event = np.count_nonzero(drawn > drawn[place]) <= place
        elif after:
            event = drawn[begin:].max() >= drawn[:begin].min()
        else:
            event = drawn[begin:].max() >= scores[place]
        return np.array([event], dtype=np.float64)

    count = 0  # events at a place, so far

    def decided(events: FloatArray) -> bool:
        """Tell whether a rate is above the bound, after each permutation."""
        nonlocal count
        within = (len(events) - 1) % n
        count = int(events[-1, 0]) + (count if within else 0)
        if enough is None or stop_at is None:
            return False
        return count >= enough or (within == n - 1 and (1 + count) / (1 + n) > stop_at)

    identity = subject.identity(
        name,
        n_permutations=n,
        rank_based=rank_based,
        how=None if feature_groups is None else how,
        ranking=fingerprint("\0".join(ranking.names), place_of),
    )
    events = refits.run(task, n_places * n, 1, identity, decided=decided)[:, 0]
    estimate, draws, n_known = np.ones(n_places), np.zeros(n_places), -(-len(events) // n)
    for place in range(n_known):
        of_place = events[place * n : (place + 1) * n]
        draws[place], reached = len(of_place), np.count_nonzero(of_place)
        estimate[place] = (1 + reached) / (n + 1)
        if enough is not None and reached >= enough:  # Besag and Clifford (1991)
            estimate[place] = enough / len(of_place)
    rates = np.maximum.accumulate(estimate)
    # Of equal scores, the last one that is known stands for all.
    ascending = -scores[:n_known]
    rates[:n_known] = rates[np.searchsorted(ascending, ascending, side="right") - 1]
    meaning = BY_RANK[rank_based] if rank_based else BY_SCORE
    return ErrorRates(
        names=ranking.names,
        scores=scores,
        rates=rates,
        n_known=n_known,
        method=name,
        meaning=meaning.format(these="the features" if feature_groups is None else "the groups")
        + subject.clause,
        unit=first.unit,
        details={"estimate": estimate, "draws": draws},
        metadata=refits.metadata(identity, stop_at=stop_at, n_grown=len(events)),
        notes=(_BY_RANK_ONLY[rank_based],) if rank_based else (),
    )


CONDITIONAL_ERROR_RATE = SignificanceTest(
    "conditional_error_rate",
    conditional_error_rate,
    "conditional error rate",
    "The rate belongs to the selection of all features up to this one; it is not a p-value of "
    "the feature. If the first r features are relevant and the others independent of the target "
    "and of these, the probability that more than r have a rate up to alpha is at most alpha. "
    "The rate does not cover irrelevant features that are correlated with relevant ones.",
    reference=HUYNH_THU,
    forests=lambda rounds, p: rounds * p,
    least=19,
    stops_early=True,
    of_groups=True,
)
