"""Backward elimination, a selector of a small set of features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from duramen.jobs.replicates import Steps
from duramen.results.summary import counted
from duramen.selection.refitting import Opening, RefittingSelector, require_out_of_bag, trial
from duramen.selection.selector import folds_of, places
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray


@dataclass(kw_only=True, eq=False, repr=False)
class BackwardElimination(RefittingSelector):
    r"""Backward elimination (varSelRF): the fewest features whose error is close to the best.

    A forest grows on all p features; then, round after round, on the most important ones, a
    fraction `drop` fewer each time, down to `min_features`. With :math:`e_r` the out-of-bag error
    of round r, :math:`r^*` the round of the smallest one and :math:`s` the standard error of an
    error, the smallest set is selected with

    .. math:: e_r \le e_{r^*} + c \, s_{r^*}.

    Parameters
    ----------
    estimator : estimator of duramen, optional
        Parameters of the forests, whose trees leave rows out; it is cloned, not changed. Random
        forests by default.
    n_estimators : int, optional
        Number of trees of a forest; by default those of `estimator`, 500 without one.
    measure : str or callable, default="mda"
        Importance measure of the forests, such as mdi or scaled_mda.

        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances. By
        default that of the paper, 0 on average for noise features of any number of values.
    drop : float, default=0.2
        Fraction of the features that a round drops, at least one.
    min_features : int, default=2
        Number of features of the last round.
    recompute : bool, default=False
        Compute importances in every round (recursive elimination), not in the first alone.

        By default they are those of the first forest, as in varSelRF.
    standard_errors : float, default=1
        Number of standard errors by which the error may exceed the smallest one.
    nested_folds : int or None, default=5
        Number of folds of the nested error.

        The selection is repeated without each fold, and the forest of the selected features
        predicts it. None for no nested error.
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
        Selected features, by their importance in the first round.
    eliminated_in_ : int64 array of shape (p,)
        Round of the first forest without the feature, counted from 1; 0 for features of the last.
    error_ : float
        Out-of-bag error of the selected set: fraction of wrong classes, or mean squared error. It
        is too small, since the set was chosen by it.
    nested_error_ : float
        Error of the whole procedure on rows that had no part in it; NaN without `nested_folds`.
    nested_sizes_ : int64 array of shape (folds,)
        Number of features selected without each fold.
    support_ : bool array of shape (p,)
        Whether each feature is selected.
    ranking_ : int64 array of shape (p,)
        1 for the selected features, and 2, 3, ... for the others: those eliminated later first.
    importances_ : Importances
        Of all p features, in the first forest.
    history_ : dict of arrays
        ``"n_features"``: number of features of each round; ``"error"`` and ``"standard_error"``:
        out-of-bag; ``"importance"``, of shape (rounds, p): NaN where it was not computed.
    classes_ : array of shape (C,)
        Sorted class labels, where the target holds classes.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    Some features are always selected, on pure noise too: what they are worth says the nested error
    beside that of a constant prediction.

    Of identical features, importances are alike, and either may be dropped; where the importance of
    a signal is divided among many copies they may all be dropped before weaker features. With
    ``recompute=True`` the importance of the copies that are left grows as others are dropped.

    References
    ----------
    R. Díaz-Uriarte, S. Alvarez de Andrés (2006). Gene selection and classification of microarray
    data using random forest. BMC Bioinformatics 7. B. Gregorutti, B. Michel, P. Saint-Pierre
    (2017). Correlation and variable importance in random forests. Statistics and Computing 27.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(100, 8, n_relevant=2, random_state=0)
    >>> model = dm.BackwardElimination(n_estimators=50, random_state=0).fit(data.X, data.y)
    >>> model.selected_.tolist(), model.history_["n_features"].tolist()
    ([0, 1], [8, 6, 5, 4, 3, 2])
    """

    exchanges_groups = True

    measure: str | Callable[..., Any] = "mda"
    drop: float = 0.2
    min_features: int = 2
    recompute: bool = False
    standard_errors: float = 1.0
    nested_folds: int | None = 5

    def fit(self, X: Any, y: Any = None) -> Self:
        """Eliminate features, and select one of the sets.

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
        drop = checks.check_real(owner, "drop", self.drop, 0.0, 1.0, ends="()")
        least = checks.check_integer(owner, "min_features", self.min_features, 1)
        checks.check_flag(owner, "recompute", self.recompute)
        factor = checks.check_real(owner, "standard_errors", self.standard_errors, 0.0)
        n_folds = checks.check_optional_integer(owner, "nested_folds", self.nested_folds, 2) or 0
        opening = self._open(X, y)
        subject = opening.subject
        data, p = subject.data, subject.data.n_columns
        require_out_of_bag(subject, owner, fitted=True)
        n_units = data.exchangeability.n_units
        if n_folds > n_units:
            units = "rows" if data.exchangeability.groups is None else "groups"
            allowed = f"None or an int in 2..{n_units}, the {units} of X"
            raise checks.refuse(owner, "nested_folds", allowed, n_folds)
        folds = folds_of(data, max(n_folds, 1), np.random.default_rng(opening.seed))
        rounds = sizes(p, min(least, p), drop)

        def task(_: int, seed: int, columns: IntArray, measured: bool, fold: int) -> FloatArray:
            return trial(subject, seed, columns, measured, folds, fold)

        trials, chains = opening.follow(
            task,
            len(rounds) * (1 + n_folds),
            p + 3,
            eliminations(p, rounds, 1 + n_folds, self.recompute),
            drop=drop,
            min_features=least,
            recompute=self.recompute,
            nested_folds=n_folds,
        )
        sizes_of_folds = np.bincount(folds, minlength=max(n_folds, 1))
        trials = trials.reshape(len(rounds), -1, p + 3)
        self._take(opening, chains[0], trials, factor)
        self._nest(trials[:, 1:], sizes_of_folds, factor)
        return self

    def _take(
        self, opening: Opening, columns: list[IntArray], trials: FloatArray, factor: float
    ) -> None:
        rows = trials[:, 0]
        importance, errors, standard_errors = rows[:, :-3], rows[:, -3], rows[:, -2]
        chosen = smallest_within(errors, standard_errors, factor)
        history = {
            "n_features": np.array([len(there) for there in columns]),
            "error": errors,
            "standard_error": standard_errors,
            "importance": importance,
        }
        remaining = columns[chosen]
        order = np.argsort(-importance[0, remaining], kind="stable")
        self._adopt(opening.data, remaining[order], history)
        last = np.zeros(self.n_features_in_, dtype=np.int64)
        for there in columns:
            last[there] += 1
        self.eliminated_in_ = np.where(last < len(columns), last + 1, 0)
        self.error_ = float(errors[chosen])
        self._set_importances(opening.subject, importance[0])

    def _nest(self, trials: FloatArray, sizes_of_folds: IntArray, factor: float) -> None:
        chosen = [
            smallest_within(trials[:, k, -3], trials[:, k, -2], factor)
            for k in range(trials.shape[1])
        ]
        self.nested_sizes_ = self.history_["n_features"][np.array(chosen, dtype=np.int64)]
        if not chosen:
            self.nested_error_ = float("nan")
            return
        losses = trials[chosen, np.arange(len(chosen)), -1]
        self.nested_error_ = float(np.average(losses, weights=sizes_of_folds))

    def _scores(self) -> FloatArray:
        # Features that are eliminated later come first, then by importance.
        rounds = np.where(self.eliminated_in_ == 0, np.iinfo(np.int64).max, self.eliminated_in_)
        order = np.lexsort((self.importances_.values, rounds))
        return places(order)

    def _figures(self) -> dict[str, Any]:
        rounds, nested = len(self.history_["n_features"]), self.nested_error_
        facts, is_nested = [("out-of-bag error", f"{self.error_:.4g}")], np.isfinite(nested)
        if is_nested:
            facts.append(("nested error", f"{nested:.4g}"))
        return {
            "run": counted(rounds, "round"),
            "step": "round",
            "facts": tuple(facts),
            "results": {
                "rounds": rounds,
                "error": self.error_,
                "nested_error": nested if is_nested else None,
            },
        }


def sizes(p: int, least: int, drop: float) -> list[int]:
    """Return the numbers of features of the rounds: of each, a fraction is dropped, at least 1."""
    numbers = [p]
    while numbers[-1] > least:
        numbers.append(max(least, min(numbers[-1] - 1, round(numbers[-1] * (1.0 - drop)))))
    return numbers


def smallest_within(errors: FloatArray, standard_errors: FloatArray, factor: float) -> int:
    """Return the last set whose error is within `factor` standard errors of the smallest one.

    Parameters
    ----------
    errors, standard_errors : float64 array of shape (rounds,)
        Of sets that get smaller and smaller. The standard error is that at the smallest error, of
        the smallest set that has it.
    factor : float

    Returns
    -------
    int
    """
    best = len(errors) - 1 - int(np.argmin(errors[::-1]))
    return int(np.flatnonzero(errors <= errors[best] + factor * standard_errors[best])[-1])


def eliminations(
    p: int, rounds: list[int], n_chains: int, again: bool
) -> Steps[list[list[IntArray]]]:
    """Yield the trials of chains of eliminations: one of all rows, and one without each fold.

    A trial has columns, whether importances are wanted, and its fold; -1 for all rows.

    Parameters
    ----------
    p : int
        Number of features.
    rounds : list of int
        Numbers of features of the rounds.
    n_chains : int
        Number of chains.
    again : bool
        Whether importances are computed in every round, not in the first alone.

    Returns
    -------
    list of lists of int64 arrays
        Columns of each chain, round by round.
    """
    columns = [[np.arange(p)] for _ in range(n_chains)]
    trials = yield [(chain[0], True, fold) for fold, chain in enumerate(columns, -1)]
    step = 1
    while step < len(rounds):
        until = step + 1 if again else len(rounds)
        for chain, row in zip(columns, trials, strict=True):
            for count in rounds[step:until]:
                best = chain[-1][np.argsort(-row[chain[-1]], kind="stable")]
                chain.append(np.sort(best[:count]))
        trials = yield [
            (chain[number], again, fold)
            for number in range(step, until)
            for fold, chain in enumerate(columns, -1)
        ]
        step = until
    return columns
