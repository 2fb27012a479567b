"""P-values from one random probe among the features (Huynh-Thu et al. 2012)."""

from __future__ import annotations

from os import PathLike
from typing import Any

from duramen.jobs.replicates import ExecutionParameters
from duramen.results.significance import Significance
from duramen.significance.measured import MeasureLike
from duramen.significance.probed import count_reached, probed, with_settled_candidates
from duramen.significance.refits import Refits
from duramen.significance.significance_test import HUYNH_THU, SignificanceTest
from duramen.support import checks

NULL = (
    "The feature is a random probe: it is no more associated with the target than a random "
    "column of the table whose rows were permuted."
)


def one_probe(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    measure: MeasureLike = "auto",
    n_permutations: int = 100,
    add_one: bool = True,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Significance:
    r"""Test features against a random probe that is ranked along with them (1Probe).

    In each of R runs a column is drawn at random, its rows are permuted, and this probe joins the
    p features while a forest grows. With s_rj the importance of feature j in run r and s_r0 that
    of the probe,

    .. math:: p_j = \frac{1 + \#\{r : s_{r0} \ge s_{rj}\}}{R + 1}

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
        Count the feature itself as a probe that reaches it. False is the p-value of the paper,
        b / R, which may be 0; its q-value is then 0 too.
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
        ``scores`` are the mean importances over the runs.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the checkpoint is of another run.

    Notes
    -----
    Where all columns have one distribution, an irrelevant feature is in each run as good as the
    probe. If forests did not vary, P(p_j <= alpha) would be alpha or less, and (alpha R + 1) / (R +
    1) without `add_one`; with few trees the test is cautious. A probe copies any column: if the
    measure favors columns of many values, as MDI does, their p-values are too small and those of
    columns with few values too large. A feature that is correlated with a relevant one beats the
    probe, which has lost its correlations. The guide, docs/how-to/tests/probes.md, has figures.

    K is resolved for the p columns, and drawn from p + 1. Groups exchange all of their rows with
    groups of as many rows. Strata are not possible: within them the probe of a column would keep
    the association that the column has through them, and one column is compared with probes of
    others. The cost is R forests of p + 1 columns.

    References
    ----------
    V. A. Huynh-Thu, Y. Saeys, L. Wehenkel, P. Geurts (2012). Statistical interpretation of machine
    learning-based feature importance scores for biomarker discovery. Bioinformatics 28.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.one_probe(
    ...     forest, data.X, data.y, n_permutations=19, random_state=0)
    >>> result.selected(0.05, control="none")
    ('x0',)
    """
    name = "one_probe"
    runs = checks.check_integer(name, "n_permutations", n_permutations, 1)
    checks.check_flag(name, "add_one", add_one)
    execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.checked(
        name, estimator, X, y, measure, execution, groups=groups, takes_strata=False
    )
    refits = with_settled_candidates(refits, runs)
    features, probes = probed(refits, runs, 1)
    subject = refits.subject
    return Significance(
        names=subject.names,
        scores=features.mean(axis=0),
        p_values=(count_reached(features, probes) + add_one) / (runs + add_one),
        method=name,
        null=NULL + subject.exchangeability.clause,
        metadata=refits.metadata(n_permutations=runs, add_one=bool(add_one)),
    )


ONE_PROBE = SignificanceTest(
    "one_probe",
    one_probe,
    "one probe",
    "If all features have one distribution, one that is independent of the target and of the "
    "other features has a p-value up to alpha with probability alpha or less, and less with "
    "fewer trees. A feature that is correlated with a relevant feature is associated with the "
    "target, and is selected more often. If features differ in their numbers of values, the "
    "p-values of those with many values are too small for measures that favor many values, such "
    "as MDI.",
    reference=HUYNH_THU,
    forests=lambda rounds, p: rounds,
)
