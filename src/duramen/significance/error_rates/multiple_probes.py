"""Family-wise error rates from permuted copies of all columns (Huynh-Thu et al. 2012)."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from duramen.jobs.replicates import ExecutionParameters
from duramen.results.significance import ErrorRates
from duramen.significance.measured import MeasureLike
from duramen.significance.probed import probe_rates, probed, with_settled_candidates
from duramen.significance.refits import Refits
from duramen.significance.significance_test import HUYNH_THU, SignificanceTest
from duramen.support import checks

MEANING = (
    "Probability that, among permuted copies of all columns, one would score as high as "
    "this feature does."
)


def multiple_probes(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    measure: MeasureLike = "auto",
    n_permutations: int = 100,
    add_one: bool = True,
    strata: Any = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> ErrorRates:
    r"""Estimate family-wise error rates from probes ranked along with the features (mProbes).

    In each of R runs the rows of X are permuted, all columns by the same permutation, and these p
    probes join the p features while a forest grows. With s_rj the importance of feature j in run r
    and s_r,p+k that of probe k,

    .. math:: FWER_j = \frac{1 + \#\{r : \max_k s_{r,p+k} \ge s_{rj}\}}{R + 1}

    (after Huynh-Thu et al. 2012).

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
        Number R of runs, with a forest each.
    add_one : bool
        Count the feature itself as a best probe that reaches it. False is the rate of the paper,
        b / R, which may be 0.
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
    ErrorRates
        By increasing rate, then by decreasing mean importance; ``selected(alpha)`` gives the
        features whose rate is at most alpha. ``scores`` are the fractions of the runs in which a
        feature beats all probes; `details` hold "importance", the mean over the runs, and
        "own_probe", the fraction of the runs in which the probe that copies the feature itself
        scores as high: a p-value of that feature alone.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the checkpoint is of another run.
    MemoryError
        If the table does not fit twice into memory.

    Notes
    -----
    If no feature is relevant, features and probes can change places as a whole. If forests did not
    vary, P(any rate <= alpha) would be alpha or less, and (alpha R + 1) / (R + 1) without
    `add_one`; with few trees rates are larger. Where some features are relevant, the same holds
    nearly for features that are independent of the target and of these. Those that are correlated
    with relevant ones are associated with the target, while probes are not, and are taken more
    often. "own_probe" is fair to columns of few and of many values alike, whatever the measure; the
    rates are not, since the best probe is most often one of many values. The guide,
    docs/how-to/tests/probes.md, has figures.

    One permutation for all columns keeps their correlations among the probes, so that the best of
    them reaches as far as the best of as many correlated features. K is resolved for p columns and
    drawn from 2p, as for :func:`duramen.importances.air`: forests should have twice the trees.
    Groups exchange all of their rows with groups of as many rows. The cost is R forests of 2p
    columns.

    References
    ----------
    V. A. Huynh-Thu, Y. Saeys, L. Wehenkel, P. Geurts (2012). Statistical interpretation of machine
    learning-based feature importance scores for biomarker discovery. Bioinformatics 28.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.multiple_probes(
    ...     forest, data.X, data.y, n_permutations=19, random_state=0)
    >>> result.selected(0.05)
    ('x0',)
    """
    name = "multiple_probes"
    runs = checks.check_integer(name, "n_permutations", n_permutations, 1)
    checks.check_flag(name, "add_one", add_one)
    execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.checked(name, estimator, X, y, measure, execution, strata=strata, groups=groups)
    refits = with_settled_candidates(refits, runs)
    features, probes = probed(refits, runs, None)
    own = np.count_nonzero(probes >= features, axis=0)
    largest = probes.max(axis=1, keepdims=True)
    return probe_rates(
        refits,
        features,
        largest,
        MEANING,
        refits.metadata(n_permutations=runs, add_one=bool(add_one)),
        add_one=add_one,
        own_probe=(own + add_one) / (runs + add_one),
    )


MULTIPLE_PROBES = SignificanceTest(
    "multiple_probes",
    multiple_probes,
    "multiple probes",
    "If the target is independent of all features, the probability that any of them has a rate "
    "up to alpha is about alpha, or less: the method is conservative. Features that are "
    "correlated with relevant ones are associated with the target, unlike probes, and may be "
    "selected with them. The best probe is most often one with many values, so that features "
    "with few values have larger rates.",
    reference=HUYNH_THU,
    forests=lambda rounds, p: rounds,
)
