"""Artificial contrasts with ensembles, a selector of relevant features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Any, Self

import numpy as np

from duramen.jobs.replicates import OBSERVED, replicate_seed
from duramen.selection.artificial_contrasts.residuals import regression_of, unexplained
from duramen.selection.artificial_contrasts.rounds import Course, Masking, Replicate
from duramen.selection.records import Account, Detail, Selector
from duramen.selection.refitting import Opening, RefittingSelector
from duramen.selection.trials import require_out_of_bag
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray


class ArtificialContrasts(RefittingSelector):
    r"""Artificial contrasts with ensembles (ACE): relevant features found in rounds on residuals.

    In each of R replicates a forest grows on the features and on contrasts: copies of them, each
    with its rows permuted independently. With :math:`s_{rj}` the importance of feature j in
    replicate r and :math:`v_r` a percentile of those of the contrasts, a feature is accepted if

    .. math:: s_{rj} - v_r > 0 \text{ by a one-sided paired t-test over } r = 1 \ldots R.

    The next round does the same with regression forests on what a forest of the accepted features
    leaves unexplained: a feature that strong ones hide shows in their residuals. The search ends
    when a round accepts nothing, or after `max_rounds`.

    Parameters
    ----------
    estimator : estimator of duramen, optional
        Parameters of the forests, whose trees leave rows out; it is cloned, not changed. Random
        forests by default.
    n_estimators : int, optional
        Trees of a forest; those of `estimator` by default, 500 where there is none.
    measure : str or callable, default="mdi"
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances.
    n_replicates : int, default=20
        Number R of replicates of a round.
    level : float, default=0.05
        Level of the t-tests.
    percentile : float, default=100
        Percentile of the importances of the contrasts that is to be exceeded; 100 is the best one.
    remove_masked : bool, default=False
        Drop accepted features that a more important one of the round masks, as the paper does:
        features whose splits agree with those of the other one more than splits of contrasts do.
        Of identical features one is then kept.
    max_rounds : int, default=10
        Number of rounds at most.
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
        Accepted features, by round, and by importance within a round.
    found_in_ : int64 array of shape (p,)
        Round in which each feature was accepted; 0 for the others.
    p_values_ : float64 array of shape (p,)
        p-value of each feature in the round that accepted it, and in the last one of the others.
    support_ : bool array of shape (p,)
        Whether each feature is accepted.
    ranking_ : int64 array of shape (p,)
        1 for the accepted features, and 2, 3, ... for the others by importance.
    importances_ : Importances
        Mean over the replicates of the first round, of all p features.
    history_ : dict of arrays
        ``"n_selected"``: number of features accepted after each round; ``"threshold"``: mean of
        :math:`v_r` in it; ``"importance"`` and ``"p_value"``, of shape (rounds, p).
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
    *Residuals.* Those of numbers are y less its out-of-bag prediction; those of classes the
    indicator of a class less its out-of-bag probability, the residual of the log-odds. The paper
    adds up boosted ensembles of the newly accepted features; one forest of all accepted features
    stands for these here, whose out-of-bag residuals are not fitted to the rows.

    *Null hypothesis.* As in `Boruta`, replicates repeat contrasts, not rows: `level` does not bound
    the fraction of data sets without a relevant feature in which some feature is accepted, a tenth
    of those measured (docs/guide/contrasts.md).

    References
    ----------
    E. Tuv, A. Borisov, G. Runger, K. Torkkola (2009). Feature selection with ensembles, artificial
    variables, and redundancy elimination. Journal of Machine Learning Research 10.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(100, 8, n_relevant=2, random_state=0)
    >>> model = dm.ArtificialContrasts(n_estimators=50, random_state=0).fit(data.X, data.y)
    >>> sorted(model.selected_.tolist())
    [0, 1]
    """

    exchanges = True
    exchanges_blocks = True

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int | None = None,
        measure: str | Callable[..., Any] = "mdi",
        n_replicates: int = 20,
        level: float = 0.05,
        percentile: float = 100.0,
        remove_masked: bool = False,
        max_rounds: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        client: Any = None,
        checkpoint: str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.measure = measure
        self.n_replicates = n_replicates
        self.level = level
        self.percentile = percentile
        self.remove_masked = remove_masked
        self.max_rounds = max_rounds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.client = client
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Accept features, round after round.

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
        replicates = checks.check_integer(owner, "n_replicates", self.n_replicates, 2)
        level = checks.check_real(owner, "level", self.level, 0.0, 1.0, ends="()")
        percentile = checks.check_real(owner, "percentile", self.percentile, 0.0, 100.0)
        checks.check_flag(owner, "remove_masked", self.remove_masked)
        most = checks.check_integer(owner, "max_rounds", self.max_rounds, 1)
        opening = self._open(X, y)
        subject = opening.subject
        require_out_of_bag(subject, owner)
        subject.exchangeability.require(1, owner)
        masked = Masking(subject, replicates, level, percentile, owner)

        def residuals(features: IntArray, number: int) -> FloatArray:
            return unexplained(
                subject, features, replicate_seed(opening.seed, OBSERVED - 2 * number)
            )

        def unmasked(features: IntArray, number: int) -> IntArray:
            if not self.remove_masked:
                return features
            return masked.unmasked(
                features, replicate_seed(opening.seed, OBSERVED - 2 * number - 1)
            )

        course = Course(subject.data.n_columns, most, replicates, level, residuals, unmasked)
        course.take(
            opening.run(
                Replicate(subject, regression_of(subject, owner), percentile, owner),
                most * replicates,
                subject.data.n_columns + 1,
                ready=course.ready,
                arguments=lambda _: (course.left_over,),
                level=level,
                replicates_of_round=replicates,
                percentile=percentile,
                remove_masked=self.remove_masked,
            )
        )
        self._take(opening, course)
        return self

    def _take(self, opening: Opening, course: Course) -> None:
        importance, p_values = np.array(course.importances), np.array(course.p_values)
        found = np.flatnonzero(course.found_in)
        rounds = course.found_in[found]
        order = np.lexsort((-importance[rounds - 1, found], rounds))
        history = {
            "n_selected": np.array(
                [np.count_nonzero(rounds <= k + 1) for k in range(len(importance))]
            ),
            "threshold": np.array(course.thresholds),
            "importance": importance,
            "p_value": p_values,
        }
        self._adopt(opening.data, found[order], history)
        self.found_in_ = course.found_in
        last = np.where(course.found_in, course.found_in, len(p_values)) - 1
        self.p_values_ = p_values[last, np.arange(len(last))]
        self.n_rounds_ = len(importance)
        self._set_importances(opening.subject, importance[0])

    def account(self, record: Selector) -> Account:
        """Return what is told of the run in a report.

        Parameters
        ----------
        record : Selector
            That of this class.
        """
        told = super().account(record)
        return replace(
            told,
            run=f"{record.title}, {self.n_rounds_:,} round{'s' * (self.n_rounds_ != 1)}",
            step="round",
            facts=(("rounds", f"{self.n_rounds_:,}"),),
            details=(
                Detail("round", "accepted in round", self.found_in_),
                Detail("p_value", "p-value", self.p_values_),
            ),
            results={"rounds": self.n_rounds_},
        )
