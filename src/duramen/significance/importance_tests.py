"""P-values of the importances of one forest: by negative values, or by counts of splits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.data.exchangeability import EXCHANGEABLE
from duramen.forests.settings import GrowthSettings
from duramen.importances import catalogue
from duramen.importances.arguments import check_importances
from duramen.importances.refit import seeded
from duramen.jobs.replicates import OBSERVED, replicate_seed
from duramen.results.importances import NULL, Importances
from duramen.results.result import warn_of
from duramen.results.significance import Significance
from duramen.significance.measured import PROMISE, Refits, SignificanceTest
from duramen.significance.permutations import permutation_p_values
from duramen.support import checks
from duramen.support.arrays import RandomState, TableLike

SYMMETRIC = (
    "The feature's importance is a draw from a distribution that is symmetric about 0 and the same "
    "for all features without influence."
)

# With fewer negative values, the null sample says little about its tail.
_ENOUGH = 100
_SKEWED = (
    "{} are not symmetric about 0 for irrelevant features. P-values are too small, increasingly so "
    "with more trees (in noise of 60 x 300 with 1000 trees, 9 in 100 are <= .05 and 5 to 7 in 100 "
    "<= .01). Hint: use holdout_mda or air"
)


def janitza(importances: Importances, *, add_one: bool = True) -> Significance:
    r"""Test importances that chance makes negative as often as positive.

    The null sample V holds all negative importances, their mirror images, and all zeros; with
    ``|V|`` the number of its members,

    .. math:: p_j = \frac{1 + \#\{v \in V : v \ge VI_j\}}{1 + |V|}.

    Parameters
    ----------
    importances : Importances
        Of :func:`duramen.importances.holdout_mda`, ``air`` or ``sandri``, of ``mdi`` on held-out
        or out-of-bag rows, or of another measure whose values are symmetric about 0 for features
        without influence.
    add_one : bool
        Count the value itself as a member of the null sample. False is the p-value of the paper,
        b / \|V\|, which is 0 beyond all of V: its q-value is then 0 too, and in pure noise of 1000
        features some feature had one in 48 % of data sets.

    Returns
    -------
    Significance
        ``scores`` are the importances.

    Raises
    ------
    TypeError
        If `importances` is none.
    ValueError
        If the measure is never negative, as MDI from the training counts, or no value is.

    Warns
    -----
    UserWarning
        If fewer than 100 values are negative; or the values are known to be skewed where a feature
        is irrelevant, so that p-values come out too small: those from out-of-bag rows, and `sandri`
        over several permutations.

    Notes
    -----
    If all features without influence have one distribution of importance, and that is symmetric
    about 0, then about a fraction alpha of them has p <= alpha, the more exactly the more negative
    values there are: with m of them, the smallest p is at most 1 / (2 m + 1). It is a statement
    about many features at once, not about one of a few. Symmetric are the values of
    ``holdout_mda``, of ``air``, where a feature and its shadow may change places, and of ``mdi``
    and ``mda`` on rows that no tree was grown on. No forest is grown.

    Without influence are features that are independent of the target. One that is correlated with a
    relevant feature depends on the target: a forest uses it in place of the other, its importance
    is above 0 in expectation, and it is taken far more often than alpha. `strata` have no place
    here, since no rows are permuted. Rows must be exchangeable, which copies, samples of one person
    and time series are not; give the `groups` of such rows to ``holdout_mda``.

    It does not hold where the distributions of features differ: p-values of columns with many
    values are too small and those of columns with few too large, while the fraction over all
    features stays about right. Nor does it hold where the distribution is skewed (see Warns). Of
    hold-out values with classes of 10 and 90 rows, 5.4 to 5.7 % of p-values are <= .05 and 1.8 to
    2.0 % <= .01.

    References
    ----------
    S. Janitza, E. Celik, A.-L. Boulesteix (2018). A computationally fast variable importance test
    for random forests for high-dimensional data. Advances in Data Analysis and Classification 12.
    S. Nembrini, I. R. König, M. N. Wright (2018). The revival of the Gini importance?
    Bioinformatics 34 (with AIR).

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(200, 300, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.janitza(dm.importances.air(forest, data.X, data.y))
    >>> result.top(1).names
    ('x0',)
    """
    name = "janitza"
    check_importances(name, importances, "use dm.importances.holdout_mda(estimator, X, y).")
    checks.check_flag(name, "add_one", add_one)
    measure, values = importances.measure, importances.values
    choices = importances.metadata.get(measure, {})
    choices = choices if isinstance(choices, Mapping) else {}
    rows = choices.get("rows")
    trained = measure == "mdi" and rows not in ("held-out", "out-of-bag")
    if trained or (measure != "mdi" and measure in catalogue and not catalogue[measure].symmetric):
        counted = " from the training counts" if trained else ""
        raise ValueError(
            f"{name}: values of {measure}{counted} are not symmetric about 0 for irrelevant "
            "features, so that they contain no sample of the null distribution. Hint: use "
            'holdout_mda, air or mdi(forest, X, y, rows="oob"), or altmann for this measure.'
        )
    negative = values[values < 0]
    if not negative.size:
        raise ValueError(
            f"{name}: none of the {len(values)} importances is negative, so that there is no "
            "sample of the null distribution. Hint: give more features, grow more trees if most "
            "values are 0, or use altmann."
        )
    notes = list[str]()
    if rows in ("oob", "out-of-bag"):  # of one tree, which are training rows of other trees
        notes.append(_SKEWED.format(f"out-of-bag values of {measure}"))
    elif measure == "sandri" and choices.get("n_repeats") != 1:  # shadows whose mean hardly varies
        notes.append(_SKEWED.format("values of sandri over several permutations"))
    if negative.size < _ENOUGH:
        notes.append(
            f"only {negative.size} of {len(values)} importances are negative; with fewer than "
            f"{_ENOUGH}, p-values are coarse and uncertain. Hint: use altmann, which needs no "
            "negative importances"
        )
    warn_of(name, notes)
    n_zero = np.count_nonzero(values == 0)
    null = np.sort(np.concatenate([negative, -negative, np.zeros(n_zero)]))
    reached = null.size - np.searchsorted(null, values, side="left")
    return Significance(
        names=importances.names,
        scores=values,
        p_values=(reached + add_one) / (null.size + add_one),
        method=name,
        null=SYMMETRIC + ("" if "groups" in choices else EXCHANGEABLE),
        unit=importances.unit,
        metadata={
            **importances.metadata,
            "measure": measure,
            name: {
                "add_one": bool(add_one),
                "n_negative": int(negative.size),
                "n_zero": int(n_zero),
            },
        },
        notes=tuple(notes),
    )


JANITZA = SignificanceTest(
    "janitza",
    janitza,
    "Janitza",
    "If the importances of all features without influence have one distribution, symmetric about "
    "0, a fraction of about alpha of these many features has a p-value up to alpha. Features that "
    "are correlated with relevant ones do have importance, and are selected with them. If features "
    "differ in their numbers of values, the p-values of those with many values are too small.",
    reference="S. Janitza, E. Celik, A.-L. Boulesteix (2018). A computationally fast variable "
    "importance test for random forests for high-dimensional data. Advances in Data "
    "Analysis and Classification 12.",
    repeats="",
    forests=lambda rounds, p: 0,
    suits=lambda measure: measure.refits and measure.symmetric,
)


# --- selection frequencies (Konukoglu and Ganz 2014) ----------------------------------------------

NULLS = ("binomial", "permuted")

BINOMIAL = (
    "Every split is won by the feature with probability {p0:.4g}, independently of the other "
    "splits, as if chance alone decided between the features that do not always win."
)

# Figures of docs/explanation/tests/janitza.md and calibration.md.
_ONE_CANDIDATE = (
    "the binomial distribution is for columns that can be split in every branch: for columns "
    "with many values among others with few, 17 to 21 % of p-values were <= .05 in random "
    'forests and 39 to 50 % in Extra-Trees. Hint: null="permuted" compares each column with its '
    "own null distribution"
)
_SEVERAL_CANDIDATES = (
    "with more than one candidate the counts vary far more than the binomial distribution allows, "
    "and p-values are too small, the more so the more trees there are: in noise of 60 x 30 with "
    '5 candidates, 8 to 25 % of them are <= .05. Hint: null="permuted"'
)


def frequency_control(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    null: str | None = None,
    n_winners: int = 0,
    n_permutations: int = 100,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Significance:
    r"""Test the number of splits of a forest on each feature.

    After Konukoglu and Ganz (2014): let r of p features win every split for which they are among
    the K candidates, and chance decide otherwise. Then an irrelevant feature wins a split with
    probability

    .. math:: p_0 = \binom{p-r}{K} \Big/ \binom{p}{K} \Big/ (p - r),

    and of M splits, counted over all trees, it wins Bin(M, p_0); the p-value is the upper tail of
    that distribution at its count. The other null distribution is that of the fraction of the
    splits after the target was permuted and the forest grown anew.

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    null : {"binomial", "permuted"}, optional
        The null distribution of the counts. By default "binomial" for K = 1, and "permuted" for
        K > 1, trees on subspaces, or with `strata` or `groups`: see Notes.
    n_winners : int
        r, for "binomial". It cannot be told from the counts, since these depend on chance as much:
        0, the default, gives the largest p_0 and p-values, and for K = 1 r plays no part.
    n_permutations : int
        Number S of permutations of the target, for "permuted".
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
        ``scores`` are fractions of the splits, as of :func:`duramen.importances.frequency`;
        `details` hold "count", the splits, and "expected", how many it would be under the null
        distribution, on average. ``metadata["null"]`` says which null distribution was taken.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, trees see some of the columns only ("binomial"), or the
        checkpoint is of another run.

    Notes
    -----
    *K = 1, "binomial".* The distribution is right for columns that do not become constant in a
    branch, such as continuous ones. Columns of few values do, and leave their splits to the others,
    whose p-values are too small. Since the target has no say in the draw, relevant features are
    drawn as often as others: hardly any power is left.

    *K > 1, "binomial".* A feature that looks good by chance wins again and again in all trees, and
    counts vary far more than Bin(M, p_0) allows: the more trees, the worse (figures in the guide).
    Hence "permuted", which is exact under its null whatever K, and the kinds of columns; it costs S
    forests. Fractions are compared, not counts, as forests on a permuted target have more splits.
    Features that are correlated with relevant ones are associated with the target and found too.
    Those that are independent of the target and of the relevant ones lose splits to these, and have
    p-values that are rather too large.

    References
    ----------
    E. Konukoglu, M. Ganz (2014). Approximate false positive rate control in selection frequency
    for random forest. arXiv:1410.2838.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.frequency_control(
    ...     forest, data.X, data.y, n_permutations=19, random_state=0)
    >>> result.metadata["null"], result.top(1).names
    ('permuted', ('x0',))
    """
    from scipy.stats import binom

    name = "frequency_control"
    winners = checks.check_integer(name, "n_winners", n_winners, 0)
    n = checks.check_integer(name, "n_permutations", n_permutations, 1)
    if null is not None:
        checks.check_choice(name, "null", null, NULLS)
    execution = (random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.of(name, estimator, X, y, "frequency", execution, strata=strata, groups=groups)
    subject, p = refits.subject, len(refits.subject.names)
    restricted = subject.exchangeability.restricted
    settings = subject.template.growth_settings(*subject.data.table.shape)
    chosen, k = null or _null_of(settings, restricted)["null"], _candidates(settings)
    if chosen == "binomial" and restricted:
        raise ValueError(
            f'{name}: strata and groups must be None for null="binomial", which permutes no rows. '
            'Hint: null="permuted".'
        )
    if chosen == "binomial" and settings.column_samples:
        raise ValueError(
            f"{name}: the trees of this forest see {settings.column_samples} of {p} columns each, "
            'so that splits on a column are not independent. Hint: null="permuted".'
        )
    if winners >= p or (winners and chosen == "permuted"):
        raise ValueError(
            f"{name}: n_winners must be less than the number of features, {p}, and 0 with "
            f'null="permuted", got {winners}.'
        )
    template = seeded(subject.template, replicate_seed(refits.seed, OBSERVED))
    feature = template.fit(subject.data).forest_.feature
    counts = np.bincount(feature[feature >= 0], minlength=p)
    total = int(counts.sum())
    scores, notes = counts / max(1, total), list[str]()
    choices: dict[str, Any] = {"n_permutations": n}
    if chosen == "binomial":
        p0 = split_probability(p, k, winners)
        p_values, expected = binom.sf(counts - 1, total, p0), np.full(p, total * p0)
        hypothesis = BINOMIAL.format(p0=p0) + EXCHANGEABLE
        choices = {"n_winners": winners, "max_features": k, "p0": p0}
        notes.append(_ONE_CANDIDATE if k == 1 else _SEVERAL_CANDIDATES)
    else:
        draws = refits.permuted_scores(n)
        p_values, expected = permutation_p_values(scores, draws), draws.mean(axis=0) * total
        hypothesis = NULL + subject.clause
    return Significance(
        names=subject.names,
        scores=scores,
        p_values=p_values,
        method=name,
        null=hypothesis,
        details={"count": counts.astype(np.float64), "expected": expected},
        metadata=refits.metadata(null=chosen, n_splits=total, **choices),
        notes=tuple(notes),
    )


def split_probability(n_features: int, max_features: int, n_winners: int = 0) -> float:
    """Return p_0, the probability that a feature without influence wins a split.

    With r of p features that win whenever they are among the K candidates of a node, it is [C(p-r,
    K) / C(p, K)] / (p - r); 0 where a winner is always among the candidates.
    """
    losers = n_features - n_winners
    if max_features > losers:
        return 0.0
    none_drawn = math.prod((losers - i) / (n_features - i) for i in range(max_features))
    return none_drawn / losers


def _candidates(settings: GrowthSettings) -> int:
    """Return K; PERT draws a column at random, and takes it."""
    return 1 if settings.cut == "pert" else settings.max_features


def _null_of(settings: GrowthSettings, permuting: bool) -> dict[str, str]:
    """Return the null: binomial for one candidate of all columns, unless rows are permuted."""
    free = _candidates(settings) == 1 and not settings.column_samples
    return {"null": "binomial" if free and not permuting else "permuted"}


FREQUENCY_CONTROL = SignificanceTest(
    "frequency_control",
    frequency_control,
    "frequency control",
    f"By permuted targets {PROMISE[0].lower()}{PROMISE[1:]} The p-values of the binomial "
    "distribution, which is for forests that try one feature at a node, are correct if all "
    "features are continuous; with mixed features, they are too small for features with many "
    "values.",
    reference="E. Konukoglu, M. Ganz (2014). Approximate false positive rate control in selection "
    "frequency for random forest. arXiv:1410.2838.",
    suits=lambda measure: measure.name == "frequency",
    adapt=_null_of,
    permutes=True,
)
