"""A copy of chance of every column among the features, again and again (Huynh-Thu et al. 2012)."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from duramen import checks
from duramen.results.error_rates import ErrorRates
from duramen.significance.measured import FloatArray, MeasureLike
from duramen.significance.probed import with_settled_candidates
from duramen.significance.refits import Refits
from duramen.significance.significance_test import HUYNH_THU, SignificanceTest
from duramen.tables.shadows import with_shadows

MEANING = (
    "Probability that, among copies of all columns that say nothing, one would score as high as "
    "this feature does."
)


def multiple_probes(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    measure: MeasureLike = "mdi",
    n_runs: int = 100,
    add_one: bool = True,
    strata: Any = None,
    blocks: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> ErrorRates:
    r"""Family-wise error rates from probes that are ranked along with the features (mProbes).

    In each of R runs the rows of X are permuted, all columns by the same permutation, and these p
    probes join the p features while a forest grows. With s_rj the importance of feature j in run r
    and s_r,p+k that of probe k,

    .. math:: FWER_j = \frac{1 + \#\{r : \max_k s_{r,p+k} \ge s_{rj}\}}{R + 1}

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
        Count the feature itself as a best probe that reaches it. False is the rate of the paper,
        b / R, which may be 0.
    strata, blocks : array-like of shape (n,), optional
        As for :func:`altmann`; here blocks always exchange all of their rows with blocks of as
        many rows.
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
    ErrorRates
        By increasing rate, then by decreasing mean importance; ``selected(alpha)`` gives the
        features whose rate is at most alpha. ``scores`` are the shares of the runs in which a
        feature beats all probes; `details` hold "importance", the mean over the runs, and
        "own_probe", the share of the runs in which the probe that copies the feature itself scores
        as high: a p-value of that feature alone.

    Raises
    ------
    TypeError
        If `estimator` is none of this package.
    ValueError
        If an argument is not as described, or the checkpoint is of another run.
    MemoryError
        If the table does not fit twice into memory.

    Notes
    -----
    *What a rate promises.* If no feature says anything, features and probes can change places as a
    whole: the best feature beats the best probe in every other run, and only one that stands out in
    nearly all of them has a low rate. If forests had no luck of their own, P(any rate <= alpha)
    would be alpha or less, and (alpha R + 1) / (R + 1) without `add_one`. Few trees make the best
    of the probes change from run to run, and rates larger: of 60 data sets of 60 rows and 30
    columns of noise, none had a rate <= .05 for 50 trees, one for 300. Where some features are
    relevant, the same holds nearly for features that are independent of the target and of these.
    Those that are correlated with relevant ones are associated with the target, while probes are
    not, and are taken more often.

    *One permutation for all columns* keeps the correlations of the columns among the probes, so
    that the best of them reaches as far as the best of as many correlated features. Permutations
    of their own would make probes more different than features are, and rates larger.

    *"own_probe"* is fair to columns of few and of many values alike, whatever the measure; the
    rates are not, since the best probe is most often one of many values.

    *Candidates.* K is resolved for p columns and drawn from 2p, as for
    :func:`duramen.importances.air`: relevant features are offered about half as often, and forests
    should have twice the trees.

    *What it costs.* R forests of 2p columns.

    References
    ----------
    V. A. Huynh-Thu, Y. Saeys, L. Wehenkel, P. Geurts (2012). Statistical interpretation of machine
    learning-based feature importance scores for biomarker discovery. Bioinformatics 28.
    """
    name = "multiple_probes"
    runs = checks.check_integer(name, "n_runs", n_runs, 1)
    checks.check_flag(name, "add_one", add_one)
    work = (random_state, n_jobs, client, checkpoint, verbose)
    given = Refits.checked(name, estimator, X, y, measure, *work, strata=strata, blocks=blocks)
    given.subject.exchangeability.require(runs, name)
    refits = with_settled_candidates(given)
    subject, p = refits.subject, len(refits.subject.names)

    def task(_: int, seed_b: int) -> FloatArray:
        random = np.random.default_rng(seed_b)
        order = subject.exchangeability.permutation(random)
        table = with_shadows(subject.data.table, order, function=name)
        data = subject.data.with_table(table, key=seed_b)
        return subject.scores(int(random.integers(2**32)), data=data)

    scores = refits.run(task, runs, 2 * p)
    features, probes = scores[:, :p], scores[:, p:]
    beaten = np.count_nonzero(probes.max(axis=1, keepdims=True) >= features, axis=0)
    importance = features.mean(axis=0)
    own = np.count_nonzero(probes >= features, axis=0)
    order = np.lexsort((-importance, beaten))
    total = runs + add_one
    return ErrorRates(
        names=tuple(subject.names[j] for j in order),
        scores=(runs - beaten[order]) / total,
        rates=(beaten[order] + add_one) / total,
        method=name,
        meaning=MEANING + subject.exchangeability.clause,
        details={
            "importance": importance[order],
            "own_probe": (own[order] + add_one) / total,
        },
        metadata=refits.metadata(n_runs=runs, add_one=bool(add_one)),
    )


MULTIPLE_PROBES = SignificanceTest(
    "multiple_probes",
    multiple_probes,
    "multiple probes",
    "If the target is independent of all features, the probability that any of them has a rate up "
    "to alpha is about alpha, or less: the method is strict. Features that are correlated with "
    "relevant ones are associated with the target, unlike probes, and may be selected with them. "
    "The best probe is most often one of many values, so that features of few values have larger "
    "rates.",
    reference=HUYNH_THU,
    repeats="n_runs",
    forests=lambda rounds, p: rounds,
)
