"""Whether a feature is ranked high again and again (mr-test; Zhang et al. 2006)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import checks
from duramen.jobs.replicates import Task, replicate_seed
from duramen.results.significance import Significance
from duramen.significance.measured import Data, FloatArray, Measured, MeasureLike
from duramen.significance.refits import NULL, PROMISE, Refits
from duramen.significance.resampling import subsample_size, subsamples
from duramen.significance.sampling_units import SamplingUnits
from duramen.significance.sequential import sequential_p_values
from duramen.significance.significance_test import SignificanceTest

NULLS = {
    "permuted": NULL,
    "irrelevant": "The feature is ranked, on average over the runs, as features are in single runs "
    "that belong to the last {size} of {p} by mean rank, which are taken to say nothing.",
}
# The replicate whose seed the seed of the permutations comes from.
_PERMUTATIONS = 2**32 - 2
_RUNS = 20


def mean_rank_test(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    measure: MeasureLike = "mdi",
    n_runs: int = _RUNS,
    subsample: int | float = 0.632,
    null: str = "permuted",
    n_permutations: int = 100,
    irrelevant: float = 0.5,
    strata: Any = None,
    blocks: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Significance:
    r"""P-values of the mean rank of a feature over forests grown on subsamples (mr-test).

    In each of R runs a forest grows on a subsample of the rows, and r_bj is the rank of feature j
    by importance (1 the best; equal ones share the mean of their ranks). The statistic is the mean
    rank over the runs, :math:`\bar r_j`; small is good.

    * ``null="permuted"``: the runs are repeated for each of S permutations of the target,
      :math:`p_j = (1 + \#\{s : \bar r_{sj} \le \bar r_j\}) / (S + 1)`.
    * ``null="irrelevant"``, after Zhang et al. (2006) and Huynh-Thu et al. (2012): the features U
      with the largest mean ranks, a share of all, are taken to be irrelevant, and
      :math:`p_j = \#\{(b, k) : k \in U, r_{bk} \le \bar r_j\} / (R \, |U|)`.

    Parameters
    ----------
    estimator : estimator of duramen
        The parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows; two features or more.
    y : array-like of shape (n,), optional
        Their classes or numbers; None with a learning set.
    measure : str or callable
        As for :func:`altmann`.
    n_runs : int
        Number R of subsamples.
    subsample : int or float
        Rows of a subsample, or their share, drawn without replacement; of each class in proportion.
    null : {"permuted", "irrelevant"}
        Which null law mean ranks are compared with.
    n_permutations : int
        Number S of permutations, for "permuted".
    irrelevant : float
        Share of the features in U, in (0, 1], for "irrelevant".
    strata, blocks : array-like of shape (n,), optional
        As for :func:`altmann`. Subsamples are of whole blocks, `subsample` being their number or
        fraction. "irrelevant", which permutes nothing, takes no `strata`.
    random_state : int, RandomState, Generator or None
        Seed of forests, subsamples and permutations.
    n_jobs : int, optional
        Forests that are grown at a time; the result does not depend on it.
    client : dask.distributed.Client, optional
        Its workers grow the forests, in place of threads here; the data are sent to each of them
        once. The result is the same, in every bit. Needs the extra ``distributed``.
    checkpoint : path, optional
        File in which finished permutations ("permuted") or runs ("irrelevant") are kept; a run that
        was killed goes on from it, to the same bytes.
    verbose : int
        Above 0: a progress bar with the time left.

    Returns
    -------
    Significance
        ``scores`` are the shares of the other features that a feature is ranked before, on average
        over the runs: 1 if it is always the first, 1/2 by chance, 0 if always the last. `details`
        hold "mean_rank" and "sd_rank", over the runs.

    Raises
    ------
    TypeError
        If `estimator` is none of this package.
    ValueError
        If there is one feature only, an argument is not as described, or the checkpoint is of
        another run.

    Notes
    -----
    *What a p-value promises.* "permuted" is exact, P(p_j <= alpha) <= alpha, under the complete
    null hypothesis that the target is independent of all features together. Where some features are
    relevant, these hold the first ranks and those correlated with them the next ones, which are
    found too; only features that are independent of the target and of the relevant ones have
    p-values that are too large.

    *"irrelevant" promises nothing.* It compares means with single values, which makes it cautious
    where ranks change from run to run, and it takes its null sample from the end of the same
    ranking, which makes it bold where they do not. What chance shows in the rows comes again in
    every subsample, so that ranks are the more stable the more trees there are: in pure noise of
    60 x 30, with U the last quarter and 25 runs, .6 % of p-values are <= .05 with 20 trees a
    forest, 9 % with 500, 10 % with 2000. It is there for comparison with the literature. For the
    same reason the law of the mean of R independent ranks, normal with variance
    (p^2 - 1) / (12 R), is no choice at all: with it 23 % are <= .05.

    *What it can see.* Ranks know no distance: a feature that is far ahead has rank 1, as one that
    is ahead by chance. With few features, or several relevant ones, `altmann` sees more.

    *What it costs.* R (S + 1) forests for "permuted", R for "irrelevant".

    References
    ----------
    C. Zhang, X. Lu, X. Zhang (2006). Significance of gene ranking for classification of microarray
    samples. IEEE/ACM Transactions on Computational Biology and Bioinformatics 3. V. A. Huynh-Thu,
    Y. Saeys, L. Wehenkel, P. Geurts (2012). Statistical interpretation of machine learning-based
    feature importance scores for biomarker discovery. Bioinformatics 28.
    """
    name = "mean_rank_test"
    runs = checks.check_integer(name, "n_runs", n_runs, 1)
    checks.check_choice(name, "null", null, NULLS)
    n = checks.check_integer(name, "n_permutations", n_permutations, 1)
    if checks.check_real(name, "irrelevant", irrelevant, 0.0, 1.0) == 0:
        raise checks.refuse(name, "irrelevant", "a share in (0, 1]", irrelevant)
    work = (random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.checked(name, estimator, X, y, measure, *work, strata=strata, blocks=blocks)
    subject = refits.subject
    _check_permuted(subject, null, n)
    p = len(subject.names)
    if p < 2:
        raise ValueError(f"{name}: ranks need two features or more, got {p}.")
    resampled = _Resampled.of(subject, subsample, name)
    choices = {"n_runs": runs, "n_rows_drawn": resampled.size, "null": null}
    identity = subject.identity(name, **choices)
    plan = refits.plan if null == "irrelevant" else replace(refits.plan, checkpoint=None, verbose=0)
    ranks = refits.run(resampled.single_ranks, runs, p, identity, plan=plan)
    sums = ranks.sum(axis=0)
    if null == "permuted":
        seed = replicate_seed(refits.seed, _PERMUTATIONS)
        null_sums = refits.run(resampled.permuted_sums(runs), n, p, identity, seed=seed)
        p_values = sequential_p_values(-sums, -null_sums, n)
        choices["n_permutations"] = n
    else:
        last = last_by_rank(sums, irrelevant)
        p_values = shares_of_ranks(sums / runs, ranks[:, last])
        choices["n_irrelevant"] = len(last)
    return Significance(
        names=subject.names,
        scores=(p - sums / runs) / (p - 1),
        p_values=p_values,
        method=name,
        null=NULLS[null].format(size=choices.get("n_irrelevant"), p=p)
        + subject.exchangeability.clause,
        details={"mean_rank": sums / runs, "sd_rank": ranks.std(axis=0)},
        metadata=refits.metadata(identity, **choices),
    )


def last_by_rank(rank_sums: FloatArray, share: float) -> NDArray[np.intp]:
    """Return the share of the features, one at least, with the largest sums of ranks."""
    size = max(1, round(share * len(rank_sums)))
    return np.argsort(-rank_sums, kind="stable")[:size]


def shares_of_ranks(mean_ranks: FloatArray, null_ranks: FloatArray) -> FloatArray:
    """Return the share of all null ranks that are at most each mean rank.

    Parameters
    ----------
    mean_ranks : float64 array of shape (p,)
    null_ranks : float64 array of shape (R, U)
        Ranks in single runs.

    Returns
    -------
    float64 array of shape (p,)
    """
    ascending = np.sort(null_ranks, axis=None)
    shares: FloatArray = np.searchsorted(ascending, mean_ranks, side="right") / ascending.size
    return shares


def _check_permuted(subject: Measured, null: str, n_permutations: int) -> None:
    """Check that strata and blocks suit the null distribution."""
    rows = subject.exchangeability
    if null == "permuted":
        rows.require(n_permutations, "mean_rank_test", subject.data.target.values, stacklevel=4)
    elif rows.strata is not None:
        raise ValueError(
            'mean_rank_test: strata must be None for null="irrelevant", which permutes no rows. '
            'Hint: null="permuted".'
        )


@dataclass(frozen=True)
class _Resampled:
    """Ranks of the features in forests on subsamples."""

    subject: Measured
    size: int

    @classmethod
    def of(cls, subject: Measured, subsample: Any, function: str) -> _Resampled:
        units = SamplingUnits.of(subject)
        size = subsample_size(subsample, units.count, units.n_classes, function, units=units.name)
        return cls(subject, size)

    def ranks(self, data: Data, random: np.random.Generator) -> FloatArray:
        """Return the ranks, of shape (p,), on rows drawn at random; 1 is the best."""
        from scipy.stats import rankdata

        subject = replace(self.subject, data=data)
        units = SamplingUnits.of(subject)
        rows = units.rows(subsamples(units.labels, units.count, self.size))(random)
        seed = int(random.integers(2**32))
        scores = subject.of_rows(rows, key=seed).scores(seed)
        ranks: FloatArray = rankdata(-scores)
        return ranks

    def single_ranks(self, _: int, seed: int) -> FloatArray:
        """Run one replicate on the data as they are."""
        return self.ranks(self.subject.data, np.random.default_rng(seed))

    def permuted_sums(self, runs: int) -> Task:
        """Return the task that permutes the target and sums the ranks over the runs."""
        data, rows = self.subject.data, self.subject.exchangeability

        def task(_: int, seed_b: int) -> FloatArray:
            random = np.random.default_rng(seed_b)
            permuted = data.permuted(rows.permutation(random, data.target.values), key=seed_b)
            sums = np.zeros(data.n_columns)
            for _ in range(runs):
                sums += self.ranks(permuted, random)
            return sums

        return task


MEAN_RANK_TEST = SignificanceTest(
    "mean_rank_test",
    mean_rank_test,
    "mean rank test",
    PROMISE,
    reference="C. Zhang, X. Lu, X. Zhang (2006). Significance of gene ranking for classification "
    "of microarray samples. IEEE/ACM Transactions on Computational Biology and Bioinformatics 3.",
    forests=lambda rounds, p: _RUNS * (rounds + 1),
)
