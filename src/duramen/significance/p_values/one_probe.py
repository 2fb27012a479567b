"""One column of chance among the features, again and again (Huynh-Thu et al. 2012)."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from duramen import checks
from duramen.results.significance import Significance
from duramen.significance.measured import MeasureLike
from duramen.significance.probed import probe_task, with_settled_candidates
from duramen.significance.refits import Refits
from duramen.significance.significance_test import HUYNH_THU, SignificanceTest

NULL = (
    "The feature is a column of chance: it has no more to do with the target than a random column "
    "of the table whose rows were permuted."
)


def one_probe(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    measure: MeasureLike = "mdi",
    n_runs: int = 100,
    add_one: bool = True,
    blocks: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Significance:
    r"""P-values from a probe that is ranked along with the features (1Probe).

    In each of R runs a column is drawn at random, its rows are permuted, and this probe joins the
    p features while a forest grows. With s_rj the importance of feature j in run r and s_r0 that
    of the probe,

    .. math:: p_j = \frac{1 + \#\{r : s_{r0} \ge s_{rj}\}}{R + 1}

    (after Huynh-Thu et al. 2012).

    Parameters
    ----------
    estimator : estimator of duramen
        The parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Their classes or numbers; None with a learning set.
    measure : str or callable
        As for :func:`altmann`.
    n_runs : int
        Number R of runs, with a forest each.
    add_one : bool
        Count the feature itself as a probe that reaches it. False is the p-value of the paper,
        b / R, which may be 0; its q-value is then 0 too.
    blocks : array-like of shape (n,), optional
        As for :func:`altmann`; here blocks always exchange all of their rows with blocks of as
        many rows. There are no `strata`: within these the probe of a column keeps the association
        that the column has through them, and one column is compared with probes of others. Use
        `multiple_probes`.
    random_state : int, RandomState, Generator or None
        Seed of forests and probes.
    n_jobs : int, optional
        Forests that are grown at a time; the result does not depend on it.
    client : dask.distributed.Client, optional
        Its workers grow the forests, in place of threads here; the data are sent to each of them
        once. The result is the same, in every bit. Needs the extra ``distributed``.
    checkpoint : path, optional
        File in which finished runs are kept; a run that was killed goes on from it, to the same
        bytes.
    verbose : int
        Above 0: a progress bar with the time left.

    Returns
    -------
    Significance
        ``scores`` are the mean importances over the runs.

    Raises
    ------
    TypeError
        If `estimator` is none of this package.
    ValueError
        If an argument is not as described, or the checkpoint is of another run.

    Notes
    -----
    *What a p-value promises.* Where all columns have one distribution, a feature that says nothing
    is in each run as good as the probe, and p_j tells how far it stands out among such probes. If
    forests had no luck of their own, P(p_j <= alpha) would be alpha or less, and (alpha R + 1) / (R
    + 1) without `add_one`. Few trees make importances differ from run to run, so that p_j of any
    feature comes closer to 1/2, and the test is cautious: with 60 rows and 30 columns of noise and
    R = 100, 1.8 % of b / R are <= .05 for 50 trees, 4.1 % for 300, 5.3 % for 1000. A correction for
    many features needs many runs, as p-values are multiples of 1 / (R + 1).

    *When it does not hold.* A probe copies any column. If the measure likes columns of many values,
    as MDI does, their p-values are too small and those of columns with few values too large: of
    columns of 2, 4, 20 and 60 values (100 trees), 0, .4, 3.8 and 9.5 % are <= .05. The
    "own_probe" of `multiple_probes` compares each column with a copy of itself. And a feature that
    is correlated with a relevant one beats the probe, which has lost its correlations: it is
    associated with the target, not independent of it as the null hypothesis says.

    *Candidates.* K is resolved for the p columns, and drawn from p + 1.

    *What it costs.* R forests of p + 1 columns.

    References
    ----------
    V. A. Huynh-Thu, Y. Saeys, L. Wehenkel, P. Geurts (2012). Statistical interpretation of machine
    learning-based feature importance scores for biomarker discovery. Bioinformatics 28.
    """
    name = "one_probe"
    runs = checks.check_integer(name, "n_runs", n_runs, 1)
    checks.check_flag(name, "add_one", add_one)
    work = (random_state, n_jobs, client, checkpoint, verbose)
    given = Refits.checked(name, estimator, X, y, measure, *work, blocks=blocks, takes_strata=False)
    given.subject.exchangeability.require(runs, name)
    refits = with_settled_candidates(given)
    subject, p = refits.subject, len(refits.subject.names)
    scores = refits.run(probe_task(subject, 1, name), runs, p + 1)
    reached = np.count_nonzero(scores[:, p:] >= scores[:, :p], axis=0)
    return Significance(
        names=subject.names,
        scores=scores[:, :p].mean(axis=0),
        p_values=(reached + add_one) / (runs + add_one),
        method=name,
        null=NULL + subject.exchangeability.clause,
        metadata=refits.metadata(n_runs=runs, add_one=bool(add_one)),
    )


ONE_PROBE = SignificanceTest(
    "one_probe",
    one_probe,
    "one probe",
    "If all features have one distribution, one that is independent of the target and of the other "
    "features has a p-value up to alpha with probability alpha or less, the less the fewer trees "
    "there are. One that is correlated with a relevant feature is associated with the target, and "
    "is selected more often. Of features with many and with few values, the p-values of the former "
    "are too small if the measure likes many values, as MDI does.",
    reference=HUYNH_THU,
    repeats="n_runs",
    forests=lambda rounds, p: rounds,
)
