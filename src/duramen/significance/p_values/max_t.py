"""Step-down max-T tests of importances by permuted labels (Westfall and Young 1993)."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from duramen import checks
from duramen.results.adjusted_significance import AdjustedSignificance
from duramen.significance.discoveries import pooled_rates
from duramen.significance.measured import FloatArray, MeasureLike
from duramen.significance.refits import Refits
from duramen.significance.sequential import sequential_p_values
from duramen.significance.significance_test import SignificanceTest
from duramen.significance.standardized import standardized

NULL = "The target is independent of all features together: its values could be in any order."


def max_t(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    measure: MeasureLike = "auto",
    n_permutations: int = 99,
    balanced: bool = True,
    strata: Any = None,
    blocks: Any = None,
    random_state: Any = None,
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

    If no feature is associated with the target, the probability that any feature has an adjusted
    p-value up to alpha is at most alpha, whatever the forest, its number of trees, the measure and
    the dependence between features. Where some features are relevant, the others are protected to
    the same degree if their joint distribution is the same under permuted labels as on the data
    (subset pivotality). Forests do not have this property strictly. Importances that add up to a
    limited total, as MDI does, are larger for irrelevant features under permuted labels than beside
    relevant ones, so that the test errs on the side of caution. Features that are correlated with
    relevant ones are associated with the target, and found.

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    measure : str or callable
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances. "auto"
        is "mdi_oob" if trees leave rows out ("mda" for survival), else "mdi": measures on
        out-of-bag rows find more, and MDA controls less (docs/guide/max-t.md).
    n_permutations : int
        Number B of permutations. The least adjusted p-value is 1 / (B + 1): 19 permutations allow
        for one of .05.
    balanced : bool
        Whether the statistic is the importance standardized by its mean and standard deviation
        under permutation, so that features with many distinct values have no advantage over those
        with few. The standard deviation of a feature counts as no less than the root mean square
        over all features. Otherwise the statistic is the importance itself.
    strata : array-like of shape (n,), optional
        Stratum of each row; rows are exchanged within strata only (docs/guide/strata.md).
    blocks : array-like of shape (n,), optional
        Block of each row; the rows of a block stay together (docs/guide/strata.md).
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
        each feature alone; `details` hold "null_mean" and "null_sd" of the importances under
        permutation.

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
    P. H. Westfall, S. S. Young (1993). Resampling-Based Multiple Testing. Wiley. Y. Ge, S. Dudoit,
    T. P. Speed (2003). Resampling-based multiple testing for microarray data analysis. Test 12.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.max_t(forest, data.X, data.y, n_permutations=39, random_state=0)
    >>> result.verdicts()[:2]
    ('confirmed', 'noise')
    """
    name = "max_t"
    n = checks.check_integer(name, "n_permutations", n_permutations, 1)
    checks.check_flag(name, "balanced", balanced)
    work = (random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.checked(name, estimator, X, y, measure, *work, strata=strata, blocks=blocks)
    importances = refits.observed()
    observed = importances.values
    null = refits.permuted_scores(n)
    everything = np.vstack([observed, null])
    statistics = standardized(everything) if balanced else everything
    return AdjustedSignificance(
        names=importances.names,
        scores=observed,
        p_values=sequential_p_values(observed, null, n),
        method=name,
        null=NULL + refits.subject.exchangeability.clause,
        unit=importances.unit,
        q_values=pooled_rates(statistics[0], statistics),
        adjustment="pooled permutations",
        p_adjusted=step_down(statistics[0], statistics[1:]),
        statistics=statistics[0],
        details={"null_mean": null.mean(axis=0), "null_sd": null.std(axis=0)},
        metadata=refits.metadata(n_permutations=n, balanced=balanced),
    )


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
    "If no feature is associated with the target, any is confirmed with a probability of at most "
    "{level:g}, whatever the number of trees and however features depend on each other. Where some "
    "are relevant, features that are independent of the target are protected as far as their "
    "importances under permuted labels are no smaller than beside the relevant features, which "
    "held for MDI and MDA of random forests in simulations but has no proof. Features correlated "
    "with relevant ones are associated with the target, and may be confirmed.",
    reference="P. H. Westfall, S. S. Young (1993). Resampling-based multiple testing. Wiley.",
    least=19,
    most_trees=500,
    default=True,
    permutes=True,
)
