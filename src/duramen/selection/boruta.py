"""Boruta, a selector of all relevant features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from duramen.results.adjustment import adjusted
from duramen.results.summary import Column, counted
from duramen.selection.refitting import RefittingSelector, beside_shadows
from duramen.selection.selector import places
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, TableLike

CORRECTIONS = {"bonferroni": 0.01, "two-step": 0.05}
"""Corrections of the R package and of boruta_py, with the levels that they have by default."""
REJECTED, TENTATIVE, CONFIRMED = -1, 0, 1
VERDICTS = {CONFIRMED: "confirmed", TENTATIVE: "tentative", REJECTED: "rejected"}


@dataclass(kw_only=True, eq=False, repr=False)
class Boruta(RefittingSelector):
    r"""Boruta: all features that are more important than the best permuted copy.

    In each round a forest grows on the features that are not rejected yet and on their shadows:
    copies of them, each with its rows permuted independently, at least 5 of them. A feature has a
    hit where its importance is larger than that of the best shadow. After n rounds, a feature of
    :math:`h_j` hits is confirmed if

    .. math:: P(B \ge h_j) \text{ is small}, \qquad B \sim \mathrm{Binomial}(n, 1/2),

    rejected if :math:`P(B \le h_j)` is, and tentative otherwise. Confirmed features stay in the
    forests, and keep their verdict; rejected ones leave. The search ends when no feature is
    tentative, or after `max_rounds`.

    Parameters
    ----------
    estimator : estimator of duramen or any model, optional
        Parameters of the forests; it is cloned, not changed. Random forests by default; or any
        model with fit and predict, which is refitted in their place.
    n_estimators : int, optional
        Number of trees of a forest; by default those of `estimator`, 500 without one.
    measure : str or callable, default="scaled_mda"
        Importance measure of the forests, such as mdi or scaled_mda.

        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances.
        "scaled_mda" is the permutation importance divided by its standard error over trees, as in
        R's Boruta; "mdi" is that of boruta_py, and several times as fast.
    correction : {"bonferroni", "two-step"}, default="bonferroni"
        Correction for testing many features in many rounds, as in R's Boruta or boruta_py.

        Definition of a small p-value, with p features in all.

        "bonferroni"
            :math:`p \, P < ` `alpha` (R's Boruta).
        "two-step"
            Benjamini and Hochberg's false discovery rate over the features that are not rejected
            is at most `alpha`, and P at most `alpha` / n (boruta_py).
    alpha : float, optional
        Level of the tests; by default 0.01 for bonferroni and 0.05 for two-step.
    percentile : float, default=100
        Percentile of the permuted copies that a feature must exceed; 100 is the best one.

        Smaller ones, as in boruta_py, confirm more features, relevant and irrelevant.
    max_rounds : int, default=99
        Maximum number of rounds.
    rough_fix : bool, default=False
        Decide tentative features by their median importances.

        They are confirmed in the end where the median of the importances over the rounds is larger
        than that of the thresholds, else rejected (R's TentativeRoughFix).
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads, which grow the forest of a round; the result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that grows the forests of rounds between which no verdict can change; the result
        does not depend on it.
    checkpoint : path, optional
        File that keeps finished work: an interrupted run resumes from it, to the same bytes.
    verbose : int, default=0
        Above 0: a progress bar with the time left.

    Attributes
    ----------
    selected_ : int64 array
        Confirmed features, in the order in which they were, by importance within a round.
    verdicts_ : str array of shape (p,)
        "confirmed", "tentative" or "rejected".
    support_ : bool array of shape (p,)
        Whether each feature is confirmed.
    ranking_ : int64 array of shape (p,)
        1 for the confirmed features, and 2, 3, ... for the others: the tentative ones before the
        rejected ones, each by importance.
    hits_ : int64 array of shape (p,)
        Rounds in which the feature was above the threshold.
    decided_in_ : int64 array of shape (p,)
        Round of the verdict; 0 for features that were tentative in the end.
    importances_ : Importances
        Mean over the rounds in which a feature took part, of all p features.
    history_ : dict of arrays
        ``"n_selected"``, ``"n_tentative"`` and ``"n_rejected"``: numbers of features after each
        round (before `rough_fix`); ``"threshold"``: importance that was to be exceeded in it;
        ``"importance"``, of shape (rounds, p): importances, NaN for features that were rejected.
    n_rounds_ : int
        Number of rounds.
    alpha_ : float
        Level of the tests.
    classes_ : array of shape (C,)
        Sorted class labels, where the target holds classes.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    *Null hypothesis.* Rounds repeat forests and shadows, not rows. A feature that is associated
    with the target by chance in these rows is so in all rounds, and hits in more than half of them
    if it is above the median of the best shadow. Of irrelevant features alone, the best one is
    above the best of as many shadows half of the time: with no relevant feature, some feature is
    confirmed in a considerable fraction of data sets, which `alpha` does not bound (the guide has
    figures). Tests that permute the target, such as `duramen.significance.max_t`, bound it.

    *Correlated features.* The importance of a relevant feature is divided among its copies; all of
    them are confirmed as long as each part is above the threshold. So are irrelevant features that
    are correlated with a relevant one.

    *Candidates.* K is resolved for the features and shadows of the round, as in both packages.

    References
    ----------
    M. B. Kursa, W. R. Rudnicki (2010). Feature selection with the Boruta package. Journal of
    Statistical Software 36(11). The "two-step" correction and `percentile` are after boruta_py 0.4.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(100, 8, n_relevant=2, random_state=0)
    >>> model = dm.Boruta(n_estimators=50, measure="mdi", max_rounds=30, random_state=0)
    >>> model.fit(data.X, data.y).verdicts_[:3].tolist()
    ['confirmed', 'confirmed', 'rejected']
    """

    exchanges = True
    exchanges_groups = True
    of_models = True

    measure: str | Callable[..., Any] = "scaled_mda"
    correction: Literal["bonferroni", "two-step"] = "bonferroni"
    alpha: float | None = None
    percentile: float = 100.0
    max_rounds: int = 99
    rough_fix: bool = False

    def fit(self, X: TableLike, y: ArrayLike | None = None) -> Self:
        """Confirm and reject features.

        Parameters
        ----------
        X : table of shape (n, p), or LearningSet
            The rows; a store is read into memory.
        y : array-like of shape (n,), optional
            Classes or numbers; None with a learning set.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            If a parameter, X or y is not as described, or the checkpoint is of another run.
        MemoryError
            If the table does not fit twice into memory.
        """
        owner = type(self).__name__
        correction = checks.check_choice(owner, "correction", self.correction, CORRECTIONS)
        alpha = CORRECTIONS[correction] if self.alpha is None else self.alpha
        checks.check_real(owner, "alpha", alpha, 0.0, 1.0)
        percentile = checks.check_real(owner, "percentile", self.percentile, 0.0, 100.0)
        most = checks.check_integer(owner, "max_rounds", self.max_rounds, 1)
        checks.check_flag(owner, "rough_fix", self.rough_fix)
        opening = self._open(X, y, threads_grow=True)
        subject, p = opening.subject, opening.data.n_columns
        subject.exchangeability.require(1, owner)
        hit_counts = HitCounts(p, most, correction, alpha)

        def task(_: int, seed: int, active: IntArray) -> FloatArray:
            """Return importances, NaN for rejected features, and a percentile of the shadows'."""
            row = np.full(p + 1, np.nan)
            row[active], shadows = beside_shadows(subject, active, seed, owner)
            row[-1] = np.percentile(shadows, percentile)
            return row

        rounds = opening.run(
            task,
            most,
            p + 1,
            opening.identity(correction=correction, alpha=float(alpha), percentile=percentile),
            ready=hit_counts.ready,
            arguments=lambda _: (np.flatnonzero(hit_counts.verdicts != REJECTED),),
            unit="round",
        )
        hit_counts.take(rounds)
        importance, threshold, verdicts = rounds[:, :p], rounds[:, -1], hit_counts.verdicts
        tentative = np.flatnonzero(verdicts == TENTATIVE)
        if self.rough_fix and len(tentative):
            above = np.median(importance[:, tentative], axis=0) > np.median(threshold)
            verdicts = verdicts.copy()
            verdicts[tentative] = np.where(above, CONFIRMED, REJECTED)
        mean, confirmed = np.nanmean(importance, axis=0), np.flatnonzero(verdicts == CONFIRMED)
        decided_in, counts = hit_counts.decided_in, np.array(hit_counts.counts)
        round_of = np.where(decided_in, decided_in, len(rounds) + 1)[confirmed]
        history = {
            "n_selected": counts[:, 1 + CONFIRMED],
            "n_tentative": counts[:, 1 + TENTATIVE],
            "n_rejected": counts[:, 1 + REJECTED],
            "threshold": threshold,
            "importance": importance,
        }
        self._adopt(opening.data, confirmed[np.lexsort((-mean[confirmed], round_of))], history)
        self.verdicts_ = np.array([VERDICTS[verdict] for verdict in verdicts.tolist()])
        self.hits_, self.decided_in_ = hit_counts.hits, decided_in
        self.n_rounds_, self.alpha_ = len(rounds), float(alpha)
        self._set_importances(subject, mean)
        return self

    def _scores(self) -> FloatArray:
        # Tentative features come before rejected ones.
        order = np.lexsort((self.importances_.values, self.verdicts_ == VERDICTS[TENTATIVE]))
        return places(order)

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "alpha": self.alpha_}

    def _figures(self) -> dict[str, Any]:
        verdicts = self.verdicts_.tolist()
        return {
            "run": counted(self.n_rounds_, "round"),
            "step": "round",
            "columns": (
                Column("verdict", verdicts, "words", name="verdict"),
                Column("rounds above all shadows", name="hits", numbers=self.hits_),
            ),
            "results": {
                "rounds": self.n_rounds_,
                **{word: verdicts.count(word) for word in VERDICTS.values()},
            },
        }


def decided(
    verdicts: IntArray, hits: IntArray, n_rounds: int, correction: str, alpha: float
) -> IntArray:
    """Return the verdicts after a number of rounds, from earlier verdicts and hits."""
    there, new = np.flatnonzero(verdicts != REJECTED), verdicts.copy()
    for tail, verdict in zip(_tails(n_rounds), (CONFIRMED, REJECTED), strict=True):
        p_values = tail[hits[there]]
        if correction == "bonferroni":
            significant = np.minimum(p_values * len(verdicts), 1.0) < alpha
        else:
            significant = (adjusted(p_values, "fdr") <= alpha) & (p_values <= alpha / n_rounds)
        new[there[(verdicts[there] == TENTATIVE) & significant]] = verdict
    return new


@lru_cache(maxsize=256)
def _tails(n: int) -> tuple[FloatArray, FloatArray]:
    """Return P(B >= h) and P(B <= h) for h = 0..n and B binomial of n fair coins."""
    from scipy.stats import binom

    counts = np.arange(n + 1)
    return binom.sf(counts - 1, n, 0.5), binom.cdf(counts, n, 0.5)


class HitCounts:
    """Verdicts and hits of the features, round after round.

    Parameters
    ----------
    p : int
        Number of features.
    most : int
        Maximum number of rounds.
    correction : {"bonferroni", "two-step"}
    alpha : float
        Level of the tests.
    """

    def __init__(self, p: int, most: int, correction: str, alpha: float) -> None:
        self._rule, self._most = (correction, alpha), most
        self.hits = np.zeros(p, dtype=np.int64)
        self.verdicts = np.full(p, TENTATIVE, dtype=np.int64)
        self.decided_in = np.zeros(p, dtype=np.int64)  # round; 0 for tentative features
        self.counts: list[IntArray] = []  # rejected, tentative and confirmed after each round

    def take(self, rounds: FloatArray) -> None:
        """Update hits and verdicts by the new ones of all rounds so far."""
        for row in rounds[len(self.counts) :]:
            n_rounds = len(self.counts) + 1
            self.hits += row[:-1] > row[-1]  # hits of rejected features are missing
            verdicts = decided(self.verdicts, self.hits, n_rounds, *self._rule)
            self.decided_in[verdicts != self.verdicts] = n_rounds
            self.verdicts = verdicts
            self.counts.append(np.bincount(verdicts + 1, minlength=3))

    def ready(self, rounds: FloatArray) -> int:
        """Return the number of rounds that these rounds allow to be computed.

        Until a verdict changes the forests of all rounds have the same features. The first round
        that can change one is that in which hits, or failures, in all rounds until then would: the
        more of either, the smaller are all p-values, and the more of them pass.
        """
        self.take(rounds)
        done = len(self.counts)
        if not (self.verdicts == TENTATIVE).any():
            return done
        there = self.verdicts != REJECTED
        for until in range(done + 1, self._most):
            for hits in (self.hits, self.hits + (until - done) * there):
                after = decided(self.verdicts, hits, until, *self._rule)
                if (after != self.verdicts).any():
                    return until
        return self._most
