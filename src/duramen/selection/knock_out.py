"""Knock-out strategy, a selector of all features that are associated with the target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from duramen.jobs.replicates import Steps
from duramen.selection.refitting import Rounds, RoundsSelector
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray


@dataclass(kw_only=True, eq=False, repr=False)
class KnockOut(RoundsSelector):
    r"""Knock-out strategy: relevant features found in rounds, without those found before.

    In each round a forest grows on the features that are left, and one on each of S permuted
    targets. With :math:`s_j` the importance of feature j and :math:`s_{bk}` that of feature k after
    permutation b,

    .. math:: p_j = \frac{1 + \#\{b : \max_k s_{bk} \ge s_j\}}{S + 1}.

    Features with :math:`p_j` up to `alpha` are found, and leave. The search ends when a round finds
    nothing, when no feature is left, or after `max_rounds` (after Ganz et al. 2015, whose threshold
    of split frequencies, `duramen.significance.frequency_control`, permutations replace here).

    Parameters
    ----------
    estimator : estimator of duramen, optional
        Parameters of the forests; it is cloned, not changed. Random forests by default.
    n_estimators : int, optional
        Number of trees of a forest; by default those of `estimator`, 500 without one.
    measure : str or callable, default="scaled_mda"
        Importance measure of the forests, such as mdi or scaled_mda.

        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances.
        "scaled_mda" is MDA divided by its standard error over trees; "frequency", the fraction of
        splits, is that of the paper, and finds less where trees are fully grown, as most splits
        of these are between few rows.
    alpha : float, default=0.05
        Family-wise error rate of a round.
    n_permutations : int, default=99
        Number of permutations of the target in a round; at least 1 / `alpha` - 1.
    max_rounds : int, default=10
        Maximum number of rounds.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.
    checkpoint : path, optional
        File that keeps finished work: an interrupted run resumes from it, to the same bytes.
    verbose : int, default=0
        Above 0: a progress bar with the time left.

    Attributes
    ----------
    selected_ : int64 array
        Features found, by round, and by importance within a round.
    found_in_ : int64 array of shape (p,)
        Round in which each feature was found; 0 for the others.
    p_values_ : float64 array of shape (p,)
        p-value of each feature in the last round in which it took part.
    support_ : bool array of shape (p,)
        Whether each feature is found.
    ranking_ : int64 array of shape (p,)
        1 for the features found, and 2, 3, ... for the others by importance.
    importances_ : Importances
        Of all p features, in the forest of the first round.
    history_ : dict of arrays
        ``"n_selected"``: number of features found after each round; ``"threshold"``: importance
        that was to be exceeded in the round; ``"importance"``, of shape (rounds, p): importances,
        NaN for features that were left out.
    n_rounds_ : int
        Number of rounds.
    classes_ : array of shape (C,)
        Sorted class labels, where the target holds classes.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    If the target is independent of all features, the probability that any is found is at most
    `alpha`: the first round is a permutation test, and no other follows where it finds nothing.
    With relevant features, there is one more round after the last of them was found, with the same
    probability for features that are independent of target and of relevant features together.
    Features that are correlated with relevant ones are found too, sooner or later.

    A feature that is relevant only together with others that were found cannot be found without
    them: for exclusive ors, take few rounds, or `SequentialRandomSubspace`.

    References
    ----------
    M. Ganz, D. N. Greve, B. Fischl, E. Konukoglu (2015). Relevant feature set estimation with a
    knock-out strategy and random forests. NeuroImage 122.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(100, 8, n_relevant=2, random_state=0)
    >>> model = dm.KnockOut(n_estimators=50, n_permutations=19, random_state=0)
    >>> sorted(model.fit(data.X, data.y).selected_.tolist())
    [0, 1]
    """

    exchanges = True
    exchanges_groups = True
    found_as = "found"

    measure: str | Callable[..., Any] = "scaled_mda"
    alpha: float = 0.05
    n_permutations: int = 99
    max_rounds: int = 10

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find features, round after round.

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
        """
        owner = type(self).__name__
        alpha = checks.check_real(owner, "alpha", self.alpha, 0.0, 1.0, ends="()")
        permutations = checks.check_integer(owner, "n_permutations", self.n_permutations, 1)
        if (permutations + 1) * alpha < 1:
            raise checks.refuse(
                owner,
                "n_permutations",
                f"an int >= 1 / alpha - 1 = {1 / alpha - 1:.6g}",
                permutations,
                "no p-value of fewer permutations is as small as alpha",
            )
        most = checks.check_integer(owner, "max_rounds", self.max_rounds, 1)
        opening = self._open(X, y)
        data, subject = opening.data, opening.subject
        subject.exchangeability.require(permutations, owner, data.target.values)
        rounds = Rounds(np.zeros(data.n_columns, dtype=np.int64), most)

        def task(number: int, seed: int, left: IntArray) -> FloatArray:
            """Return importances of the features that are left, NaN for the others."""
            whole = subject.data
            table = whole.table.take_columns(left)
            among = replace(subject, data=whole.with_table(table, key=("left", left.tolist())))
            row = np.full(whole.n_columns, np.nan)
            if number % (permutations + 1) == 0:
                row[left] = among.scores(seed)
            else:
                row[left] = among.permuted_scores(np.random.default_rng(seed), seed)
            return row

        opening.follow(
            task,
            most * (permutations + 1),
            data.n_columns,
            knocked_out(rounds, permutations + 1, alpha),
            alpha=alpha,
            n_permutations=permutations,
        )
        self._take(opening, rounds, rounds.p_values[-1])
        return self


def knocked_out(rounds: Rounds, size: int, alpha: float) -> Steps[None]:
    """Yield the forests of the rounds: one on the target, and others on permuted ones.

    The p-values of a feature are those of the last round in which it took part.
    """
    p_values = np.ones(len(rounds.found_in))
    while rounds.open:
        left = rounds.left
        replicates = yield [(left,)] * size
        observed = replicates[0]
        largest = np.sort(replicates[1:, left].max(axis=1))
        reached = len(largest) - np.searchsorted(largest, observed[left], side="left")
        p_values = p_values.copy()
        p_values[left] = (1 + reached) / size
        # At most level (S + 1) - 1 of the largest may reach it.
        allowed = int(alpha * size + 1e-9) - 1
        threshold = float(largest[len(largest) - 1 - min(allowed, len(largest) - 1)])
        rounds.add(observed, threshold, p_values, left[p_values[left] <= alpha])
