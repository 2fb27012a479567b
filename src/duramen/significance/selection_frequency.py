"""P-values of selection frequencies (Konukoglu and Ganz 2014)."""

from __future__ import annotations

import math
from os import PathLike
from typing import Any

import numpy as np

from duramen.data import LearningSet
from duramen.data.exchangeability import EXCHANGEABLE
from duramen.forests.forest import Forest
from duramen.forests.settings import GrowthSettings
from duramen.importances.arguments import forest_of, metadata_of
from duramen.importances.refit import seeded
from duramen.jobs.replicates import OBSERVED, ExecutionParameters, replicate_seed
from duramen.results.importances import NULL
from duramen.results.significance import Significance
from duramen.significance.measured import PROMISE, Refits
from duramen.significance.null_distributions import sequential_p_values
from duramen.significance.significance_test import SignificanceTest
from duramen.support import checks
from duramen.support.arrays import IntArray

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
    X: Any = None,
    y: Any = None,
    *,
    null: str | None = None,
    n_winners: int = 0,
    n_permutations: int = 100,
    strata: Any = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Significance:
    r"""Test how often the splits of a forest are on a feature.

    After Konukoglu and Ganz (2014): let r of p features win every split for which they are among
    the K candidates, and chance decide otherwise. Then an irrelevant feature wins a split with
    probability

    .. math:: p_0 = \binom{p-r}{K} \Big/ \binom{p}{K} \Big/ (p - r),

    and of M splits, counted over all trees, it wins Bin(M, p_0); the p-value is the upper tail of
    that distribution at its count. The other null distribution is that of the fraction of the
    splits after the target was permuted and the forest grown anew.

    Parameters
    ----------
    estimator : estimator of duramen, or Forest
        With `X` and `y`, the parameters of the forests; it is cloned, not changed. Without them, a
        forest, or an estimator that was fitted, whose splits are counted.
    X : table of shape (n, p), optional
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    null : {"binomial", "permuted"}, optional
        The null distribution of the counts. By default "binomial" for K = 1, and "permuted" for
        K > 1 or with `strata` or `groups`: see Notes. "permuted" needs `X` and `y`.
    n_winners : int
        r, for "binomial". It cannot be told from the counts, since these depend on chance as much:
        0, the default, gives the largest p_0 and p-values, and for K = 1 r plays no part.
    n_permutations : int
        Number S of permutations of the target, for "permuted".
    strata : array-like of shape (n,), optional
        Stratum of each row; rows are exchanged within strata only (docs/how-to/tests/strata.md).
    groups : array-like of shape (n,), optional
        Group of each row; the rows of a group stay together (docs/how-to/tests/strata.md).
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
        If an argument is not as described, trees see some of the columns only ("binomial"), K > 1
        without `X` and `y` and no null distribution is named, or the checkpoint is of another run.

    Notes
    -----
    *K = 1, "binomial".* The distribution is right for columns that do not become constant in a
    branch, such as continuous ones. Columns of few values do, and leave their splits to the others,
    whose p-values are too small. Since the target has no say in the draw, relevant features are
    drawn as often as others: hardly any power is left.

    *K > 1, "binomial".* A feature that looks good by chance wins again and again in all trees, and
    counts vary far more than Bin(M, p_0) allows: the more trees, the worse (figures in
    docs/explanation/tests/janitza.md). Hence "permuted", which is exact under its null whatever K,
    and the kinds of columns; it costs S forests. Fractions are compared, not counts, as forests on
    a permuted target have more splits. Features that are correlated with relevant ones are
    associated with the target and found too. Those that are independent of the target and of the
    relevant ones lose splits to these, and have p-values that are rather too large.

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
    name = "frequency_control"
    winners = checks.check_integer(name, "n_winners", n_winners, 0)
    n = checks.check_integer(name, "n_permutations", n_permutations, 1)
    if null is not None:
        checks.check_choice(name, "null", null, NULLS)
    execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
    execution.plan(name)  # checked also where nothing is refitted
    if (X is None) != (y is None) and not isinstance(X, LearningSet):
        raise ValueError(f"{name}: X and y must be given together, got only one of them.")
    if X is None:
        _check_permuted("binomial", strata is not None or groups is not None)
        return _of_forest(forest_of(estimator, name), null, winners)
    refits = Refits.checked(
        name, estimator, X, y, "frequency", execution, strata=strata, groups=groups
    )
    subject = refits.subject
    settings = subject.template.growth_settings(*subject.data.table.shape)
    free = _candidates(settings) == 1 and not subject.exchangeability.restricted
    chosen = null or ("binomial" if free else "permuted")
    _check_permuted(chosen, subject.exchangeability.restricted)
    template = seeded(subject.template, replicate_seed(refits.seed, OBSERVED))
    forest = template.fit(subject.data).forest_
    if chosen == "binomial":
        return _binomial(forest, winners, refits.metadata())
    if winners:
        raise ValueError(f'{name}: n_winners={winners} is for null="binomial" only.')
    counts = split_counts(forest)
    fractions = counts / max(1, int(counts.sum()))
    draws = refits.permuted_scores(n)
    return Significance(
        names=subject.names,
        scores=fractions,
        p_values=sequential_p_values(fractions, draws, n),
        method=name,
        null=NULL + subject.clause,
        details={"count": counts.astype(np.float64), "expected": draws.mean(axis=0) * counts.sum()},
        metadata=refits.metadata(null=chosen, n_splits=int(counts.sum()), n_permutations=n),
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


def split_counts(forest: Forest) -> IntArray:
    """Return the number of splits on each feature, over all trees; shape (p,)."""
    feature = forest.feature[forest.feature >= 0]
    return np.asarray(np.bincount(feature, minlength=forest.n_features).astype(np.int64))


def _check_permuted(null: str, restricted: bool) -> None:
    """Refuse strata and groups for the binomial distribution, which permutes nothing."""
    if null == "binomial" and restricted:
        raise ValueError(
            'frequency_control: strata and groups must be None for null="binomial", which permutes '
            'no rows. Hint: give X and y, with null="permuted".'
        )


def _candidates(settings: GrowthSettings) -> int:
    """Return K; PERT draws a column at random, and takes it."""
    return 1 if settings.cut == "pert" else settings.max_features


def _of_forest(forest: Forest, null: str | None, winners: int) -> Significance:
    k = _candidates(forest.settings)
    if null == "permuted" or (null is None and k > 1):
        raise ValueError(
            'frequency_control: null="permuted" grows forests anew, and needs X and y besides '
            f"the estimator; it is the default where K > 1 (here {k}), as binomial p-values are "
            'then far too small. Hint: frequency_control(estimator, X, y), or null="binomial".'
        )
    return _binomial(forest, winners, metadata_of(forest, "frequency_control"))


def _binomial(forest: Forest, winners: int, metadata: dict[str, Any]) -> Significance:
    from scipy.stats import binom

    settings, p = forest.settings, forest.n_features
    if settings.column_samples:
        raise ValueError(
            f"frequency_control: the trees of this forest see {settings.column_samples} of {p} "
            "columns each, so that splits on a column are not independent. Hint: give X and y, "
            'with null="permuted".'
        )
    if winners >= p:
        raise ValueError(
            f"frequency_control: n_winners must be less than the number of features, {p}, got "
            f"{winners}."
        )
    counts = split_counts(forest)
    total = int(counts.sum())
    k = _candidates(settings)
    p0 = split_probability(p, k, winners)
    return Significance(
        names=forest.names,
        scores=counts / max(1, total),
        p_values=binom.sf(counts - 1, total, p0),
        method="frequency_control",
        null=BINOMIAL.format(p0=p0) + EXCHANGEABLE,
        details={"count": counts.astype(np.float64), "expected": np.full(p, total * p0)},
        metadata={
            **metadata,
            "null": "binomial",
            "n_winners": winners,
            "max_features": k,
            "p0": p0,
            "n_splits": total,
        },
        notes=(_ONE_CANDIDATE if k == 1 else _SEVERAL_CANDIDATES,),
    )


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
