"""Mean rank test (mr-test; Zhang et al. 2006)."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from duramen.jobs.replicates import ExecutionParameters, replicate_seed
from duramen.results.importances import NULL
from duramen.results.significance import Significance
from duramen.significance.measured import PROMISE, Data, MeasureLike, Refits
from duramen.significance.null_distributions import sequential_p_values
from duramen.significance.resampling import SamplingUnits, subsample_size, subsamples
from duramen.significance.significance_test import SignificanceTest
from duramen.support import checks
from duramen.support.arrays import FloatArray

# The replicate whose seed the seed of the permutations comes from.
_PERMUTATIONS = 2**32 - 2
_RUNS = 20
_FRACTION = 0.632


def mean_rank_test(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    measure: MeasureLike = "auto",
    n_resamples: int = _RUNS,
    subsample: int | float = _FRACTION,
    n_permutations: int = 100,
    strata: Any = None,
    groups: Any = None,
    random_state: Any = None,
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
    execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.checked(name, estimator, X, y, measure, execution, strata=strata, groups=groups)
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
    alone = replace(refits.plan, checkpoint=None, verbose=0)
    ranks = refits.run(task, runs, p, identity, plan=alone)
    seed = replicate_seed(refits.seed, _PERMUTATIONS)
    null_sums = refits.run(permuted_sums, n, p, identity, seed=seed)
    sums = ranks.sum(axis=0)
    return Significance(
        names=subject.names,
        scores=(p - sums / runs) / (p - 1),
        p_values=sequential_p_values(-sums, -null_sums, n),
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
