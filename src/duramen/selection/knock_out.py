"""Knock-out strategy, a selector of all features that are associated with the target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Self

import numpy as np

from duramen.selection.refitting import RoundsOfReplicates, RoundsSelector
from duramen.significance.measured import Measured
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

    estimator: Any = field(default=None, kw_only=False)
    n_estimators: int | None = None
    measure: str | Callable[..., Any] = "scaled_mda"
    alpha: float = 0.05
    n_permutations: int = 99
    max_rounds: int = 10
    random_state: Any = None
    n_jobs: int | None = None
    client: Any = None
    checkpoint: str | PathLike[str] | None = None
    verbose: int = 0

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
        rounds = KnockOutRounds(data.n_columns, most, permutations, alpha)
        opening.follow(
            Forests(subject, permutations + 1),
            most * (permutations + 1),
            data.n_columns,
            rounds.steps(),
            alpha=alpha,
            n_permutations=permutations,
        )
        self._take(opening, rounds, rounds.p_values)
        return self


@dataclass(frozen=True)
class Forests:
    """Task of a forest: importances of the features that are left, NaN for the others.

    The first of every `per_round` forests is grown on the target, the others on permutations of it.
    """

    subject: Measured
    per_round: int

    def __call__(self, number: int, seed: int, left: IntArray) -> FloatArray:
        """Grow a forest and measure it."""
        data = self.subject.data
        table = data.table.take_columns(left)
        among = replace(self.subject, data=data.with_table(table, key=("left", left.tolist())))
        row = np.full(data.n_columns, np.nan)
        if number % self.per_round == 0:
            row[left] = among.scores(seed)
        else:
            row[left] = among.permuted_scores(np.random.default_rng(seed), seed)
        return row


class KnockOutRounds(RoundsOfReplicates):
    """Features found in the rounds so far: a forest on the target, and others on permuted ones.

    Parameters
    ----------
    p : int
        Number of features.
    most : int
        Number of rounds at most.
    n_permutations : int
        Number S of permutations of a round.
    alpha : float
        Level of a round.
    """

    def __init__(self, p: int, most: int, n_permutations: int, alpha: float) -> None:
        super().__init__(p, most, n_permutations + 1)
        self._alpha = alpha
        self.p_values = np.ones(p)

    def arguments(self) -> tuple[IntArray]:
        """Return the features that are left."""
        return (self.left,)

    def judged(self, replicates: FloatArray) -> tuple[FloatArray, float, IntArray]:
        """Return importances, threshold and features found in a round."""
        left, observed = self.left, replicates[0]
        largest = np.sort(replicates[1:, left].max(axis=1))
        reached = len(largest) - np.searchsorted(largest, observed[left], side="left")
        self.p_values[left] = (1 + reached) / self._size
        # At most level (S + 1) - 1 of the largest may reach it.
        allowed = int(self._alpha * self._size + 1e-9) - 1
        threshold = float(largest[len(largest) - 1 - min(allowed, len(largest) - 1)])
        return observed, threshold, left[self.p_values[left] <= self._alpha]
