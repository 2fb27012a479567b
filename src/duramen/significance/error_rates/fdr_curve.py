"""Estimated false discovery rate along a ranking, by permuted labels (Huynh-Thu et al. 2012)."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from duramen.jobs.replicates import ExecutionParameters
from duramen.results.significance import ErrorRates
from duramen.significance.measured import MeasureLike
from duramen.significance.permuted_labels import permuted_labels, reads_permuted, standardized
from duramen.significance.sequential import discovery_rates, least_from
from duramen.significance.significance_test import HUYNH_THU, SignificanceTest
from duramen.support import checks

MEANING = (
    "Expected number of features that would score as high as this one if none were relevant, as "
    "a fraction of the number that do."
)


@reads_permuted
def fdr_curve(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    measure: MeasureLike = "auto",
    n_permutations: int = 100,
    strata: Any = None,
    groups: Any = None,
    balanced: bool = False,
    random_state: Any = None,
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
    features depend on each other. :func:`altmann` tests each feature against itself.

    Parameters
    ----------
    estimator : estimator of duramen, or PermutedImportances
        Parameters of the forests; it is cloned, not changed. Or the result of
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
        Stratum of each row; rows are exchanged within strata only (docs/how-to/tests/strata.md).
    groups : array-like of shape (n,), optional
        Group of each row; the rows of a group stay together (docs/how-to/tests/strata.md).
    balanced : bool
        Whether features are ranked and compared by their importances standardized under
        permutation, as by :func:`max_t`, so that features with many distinct values have no
        advantage over those with few.
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
        In the order of the ranking. `details` hold "estimate", eFDR_i before it was made monotone,
        and "importance" where the scores are standardized.

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
    checks.check_flag(name, "balanced", balanced)
    execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
    permuted = permuted_labels(
        name, estimator, X, y, measure, n_permutations, execution, strata=strata, groups=groups
    )
    observed = permuted.importances
    rows = np.vstack([observed.values, permuted.permuted])
    statistics = standardized(rows) if balanced else rows
    order = np.argsort(-statistics[0], kind="stable")
    scores = statistics[0, order]
    estimate = discovery_rates(scores, statistics[1:])
    details = {"importance": observed.values[order]} if balanced else {}
    return ErrorRates(
        names=tuple(observed.names[j] for j in order),
        scores=scores,
        rates=least_from(estimate),
        method=name,
        meaning=MEANING + permuted.restrictions,
        unit="1" if balanced else observed.unit,
        details={"estimate": estimate, **details},
        metadata={**permuted.metadata, "method": name, "balanced": balanced},
    )


FDR_CURVE = SignificanceTest(
    "fdr_curve",
    fdr_curve,
    "FDR curve",
    "The rate is an estimate of the fraction of features that are independent of the target "
    "among all up to this one, more often too high than too low. Features that are correlated "
    "with relevant ones are associated with the target and are not counted as false. It is no "
    "upper bound: one data set may have many false features while others have none, especially "
    "if features depend on each other.",
    reference=HUYNH_THU,
    permutes=True,
)
