"""Selectors of a small set by the out-of-bag errors of nested sets: varSelRF and VSURF."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from duramen.data import Target
from duramen.forests.forest import Forest
from duramen.forests.prediction import estimate_out_of_bag, predict, rows_of
from duramen.importances import Inputs
from duramen.importances.measures.holdout_mda import cross_fitted
from duramen.importances.models import ModelRows, fitted, predicted
from duramen.importances.refit import is_model, seeded
from duramen.jobs.replicates import Steps
from duramen.results.summary import Column, counted
from duramen.selection.refitting import RefittingSelector, require_out_of_bag
from duramen.selection.selector import folds_of, places
from duramen.significance.measured import Measured
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, TableLike
from duramen.support.threads import one_openmp_thread


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
    estimator : estimator of duramen or any model, optional
        Parameters of the forests, whose trees leave rows out; it is cloned, not changed. Random
        forests by default; or any model with fit and predict, which is refitted in their place.
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
    Some features are always selected, also on pure noise. Compare the nested error with the error
    of a constant prediction to judge them.

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
    of_models = True

    measure: str | Callable[..., Any] = "mda"
    drop: float = 0.2
    min_features: int = 2
    recompute: bool = False
    standard_errors: float = 1.0
    nested_folds: int | None = 5

    def fit(self, X: TableLike, y: ArrayLike | None = None) -> Self:
        """Eliminate features in rounds, and select a set.

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
        if not is_model(subject.template):
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
        trials = trials.reshape(len(rounds), -1, p + 3)
        errors, standard_errors = trials[:, :, -3], trials[:, :, -2]
        sets = chains[0]
        best = [
            smallest_within(errors[:, k], standard_errors[:, k], factor) for k in range(1 + n_folds)
        ]
        history = {
            "n_features": np.array([len(features) for features in sets]),
            "error": errors[:, 0],
            "standard_error": standard_errors[:, 0],
            "importance": trials[:, 0, :-3],
        }
        importance, remaining = trials[0, 0, :-3], sets[best[0]]
        order = np.argsort(-importance[remaining], kind="stable")
        self._adopt(opening.data, remaining[order], history)
        last = np.zeros(p, dtype=np.int64)
        for features in sets:
            last[features] += 1
        self.eliminated_in_ = np.where(last < len(sets), last + 1, 0)
        self.error_ = float(errors[best[0], 0])
        self.nested_sizes_ = history["n_features"][np.array(best[1:], dtype=np.int64)]
        self.nested_error_ = float("nan")
        if n_folds:
            losses = trials[best[1:], np.arange(1, 1 + n_folds), -1]
            self.nested_error_ = float(np.average(losses, weights=np.bincount(folds)))
        self._set_importances(subject, importance)
        return self

    def _scores(self) -> FloatArray:
        # Features that are eliminated later come first, then by importance.
        rounds = np.where(self.eliminated_in_ == 0, np.iinfo(np.int64).max, self.eliminated_in_)
        order = np.lexsort((self.importances_.values, rounds))
        return places(order)

    def _figures(self) -> dict[str, Any]:
        rounds, nested = len(self.history_["n_features"]), self.nested_error_
        return {
            "run": counted(rounds, "round"),
            "step": "round",
            "results": {
                "rounds": rounds,
                "error": self.error_,
                "nested_error": nested if np.isfinite(nested) else None,
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
    """Yield the trials of chains of eliminations, on all rows and without each fold.

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


SETS = ("prediction", "interpretation", "threshold")


@dataclass(kw_only=True, eq=False, repr=False)
class VSURF(RefittingSelector):
    r"""VSURF: features for interpretation and for prediction, in three steps.

    *Thresholding.* Forests on all features give the mean and the standard deviation of each
    importance. A regression tree of the deviations on the rank of the mean, pruned by
    cross-validation, predicts the noise of importances; features are kept up to the first one whose
    mean is below its smallest prediction.

    *Interpretation.* Of nested models of the 1, 2, ... most important features that were kept, with
    mean out-of-bag errors :math:`e_k`, the smallest one is taken with :math:`e_k \le e_{k^*} +
    s_{k^*}`, the smallest error and the standard deviation of it over forests.

    *Prediction.* Its features are tried one after the other; one is kept if the error decreases by
    more than the mean of :math:`|e_{k+1} - e_k|` beyond the model for interpretation.

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
    select : {"prediction", "interpretation", "threshold"}, default="prediction"
        Step whose features are selected.
    n_thresholding : int, default=20
        Number of forests of the first step, at least 2.
    n_interpretation : int, default=10
        Number of forests of a nested model, at least 2.
    n_prediction : int, default=10
        Number of forests of a model for prediction.
    threshold_factor : float, default=1
        Factor of the smallest prediction of the tree.
    standard_deviations : float, default=1
        Number of standard deviations by which the error of the model for interpretation may exceed
        the smallest one.
    jump_factor : float, default=1
        Factor of the mean difference that the error must decrease by.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.
    checkpoint : path, optional
        File that keeps finished work, and a second one beside it with the suffix ".errors": an
        interrupted run resumes from them, to the same bytes.
    verbose : int, default=0
        Above 0: a progress bar with the time left.

    Attributes
    ----------
    selected_ : int64 array
        Features of the step `select`, in the order of their mean importance.
    thresholded_, interpretation_, prediction_ : int64 array
        Features of the three steps, in this order.
    threshold_ : float
        Importance that features had to reach in the first step.
    jump_ : float
        Decrease of the error that a feature for prediction had to exceed.
    support_ : bool array of shape (p,)
        Whether each feature is selected.
    ranking_ : int64 array of shape (p,)
        1 for the selected features, and 2, 3, ... for the others by importance.
    importances_ : Importances
        Mean over the forests of the first step, of all p features.
    history_ : dict of arrays
        ``"importance"``, of shape (forests, p), of the first step; ``"error"`` and
        ``"standard_deviation"`` of the nested models; ``"prediction_error"`` of the models for
        prediction, with each feature for interpretation in turn.
    classes_ : array of shape (C,)
        Sorted class labels, where the target holds classes.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    At least one feature is selected, on pure noise too. Of identical features all reach the
    threshold; the model for interpretation may have some of them, that for prediction has one.

    Where the model for interpretation has all features above the threshold, nothing lies beyond it
    and the decrease must be above 0.

    References
    ----------
    R. Genuer, J.-M. Poggi, C. Tuleau-Malot (2010). Variable selection using random forests. Pattern
    Recognition Letters 31. The rules are those of the R package VSURF 1.2; the tree is pruned at
    one of at most 20 complexities.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(100, 6, n_relevant=2, random_state=0)
    >>> model = dm.VSURF(n_estimators=50, n_thresholding=5, n_interpretation=3, random_state=0)
    >>> model.fit(data.X, data.y).selected_.tolist()
    [0, 1]
    """

    exchanges_groups = True

    measure: str | Callable[..., Any] = "mda"
    select: Literal["prediction", "interpretation", "threshold"] = "prediction"
    n_thresholding: int = 20
    n_interpretation: int = 10
    n_prediction: int = 10
    threshold_factor: float = 1.0
    standard_deviations: float = 1.0
    jump_factor: float = 1.0

    def fit(self, X: TableLike, y: ArrayLike | None = None) -> Self:
        """Select features in three steps.

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
            If a parameter, X or y is not as described, or a checkpoint is of another run.
        """
        owner = type(self).__name__
        checks.check_choice(owner, "select", self.select, SETS)
        counts = [
            checks.check_integer(owner, name, getattr(self, name), least)
            for name, least in (("n_thresholding", 2), ("n_interpretation", 2), ("n_prediction", 1))
        ]
        factors = [
            checks.check_real(owner, name, getattr(self, name), 0.0)
            for name in ("threshold_factor", "standard_deviations", "jump_factor")
        ]
        opening = self._open(X, y)
        subject, p = opening.subject, opening.subject.data.n_columns
        require_out_of_bag(subject, owner, fitted=True)
        first = opening.run(
            lambda _, seed, columns: trial(subject, seed, columns, measured=True),
            counts[0],
            p + 3,
            opening.identity(step="thresholding"),
            arguments=lambda _: (np.arange(p),),
        )[:, :p]
        mean, deviation = first.mean(axis=0), first.std(axis=0, ddof=1)
        order = np.argsort(-mean, kind="stable")
        threshold = factors[0] * noise_level(deviation[order], opening.seed)
        selected = order[: above(mean[order], threshold)]

        def models() -> Steps[tuple[FloatArray, FloatArray, int, float, list[int], list[float]]]:
            """Yield the columns of nested models for interpretation, then for prediction."""
            ends = np.repeat(np.arange(1, len(selected) + 1), counts[1])
            forests = yield [(selected[:end],) for end in ends.tolist()]
            rows = forests[:, 0].reshape(len(selected), -1)
            errors, spread = rows.mean(axis=1), rows.std(axis=1, ddof=1)
            n_interpreted = interpreted(errors, spread, factors[1])
            least = factors[2] * mean_jump(errors, n_interpreted)
            chosen, tried = yield from predicting(selected[:n_interpreted], counts[2], least)
            return errors, spread, n_interpreted, least, chosen, tried

        _, (errors, spread, n_interpreted, least, chosen, tried) = opening.follow(
            lambda _, seed, columns: trial(subject, seed, columns)[-3:-2],
            (counts[1] + counts[2]) * len(selected),
            1,
            models(),
            part="errors",
            features=selected.tolist(),
            counts=counts,
            factors=factors,
        )
        sets = {
            "threshold": selected,
            "interpretation": selected[:n_interpreted],
            "prediction": np.array(chosen, dtype=np.int64),
        }
        history = {
            "importance": first,
            "error": errors,
            "standard_deviation": spread,
            "prediction_error": np.array(tried),
        }
        self._adopt(opening.data, sets[self.select], history)
        self.thresholded_, self.interpretation_ = sets["threshold"], sets["interpretation"]
        self.prediction_ = sets["prediction"]
        self.threshold_, self.jump_ = threshold, least
        self._set_importances(subject, mean)
        return self

    def _figures(self) -> dict[str, Any]:
        steps = np.full(self.n_features_in_, "none", dtype="U14")
        sets = {
            "threshold": self.thresholded_,
            "interpretation": self.interpretation_,
            "prediction": self.prediction_,
        }
        for name, features in sets.items():
            steps[features] = name
        return {
            "columns": (Column("last step", steps.tolist(), "words", name="step"),),
            "results": {f"features_{name}": len(features) for name, features in sets.items()},
        }


def predicting(
    features: IntArray, n_forests: int, least: float
) -> Steps[tuple[list[int], list[float]]]:
    """Try features in order; keep a feature if it lowers the error by at least `least`.

    Returns the features chosen, and the errors of all models.
    """
    chosen: list[int] = []
    errors: list[float] = []
    smallest = np.inf
    for feature in features.tolist():
        forests = yield [(np.array([*chosen, feature], dtype=np.int64),)] * n_forests
        errors.append(float(forests[:, 0].mean()))
        if not chosen or errors[-1] < smallest - least:
            chosen.append(feature)
            smallest = errors[-1]
    return chosen, errors


N_FOLDS = 10
MOST_PRUNINGS = 20  # complexities that are tried


def noise_level(deviations: FloatArray, seed: int) -> float:
    """Return the smallest prediction of a pruned regression tree of deviations on their rank.

    Parameters
    ----------
    deviations : float64 array of shape (p,)
        Standard deviations of the importances, in the order of the mean importances.
    seed : int
        Seed of the folds of the cross-validation that the complexity of the tree is chosen by.

    Returns
    -------
    float
    """
    from sklearn.model_selection import KFold
    from sklearn.tree import DecisionTreeRegressor

    p = len(deviations)
    if p < 2:
        return float(deviations.min())
    ranks = np.arange(p, dtype=np.float64)[:, np.newaxis]
    path = DecisionTreeRegressor(random_state=0).cost_complexity_pruning_path(ranks, deviations)
    steps = np.unique(np.maximum(path.ccp_alphas, 0.0))
    alphas = np.sqrt(steps[:-1] * steps[1:]) if len(steps) > 1 else steps
    alphas = np.unique(np.append(alphas, steps[-1]))
    if len(alphas) > MOST_PRUNINGS:
        alphas = alphas[np.linspace(0, len(alphas) - 1, MOST_PRUNINGS).round().astype(int)]
    folds = list(KFold(min(N_FOLDS, p), shuffle=True, random_state=seed % 2**32).split(ranks))

    def pruned(alpha: float, rows: IntArray) -> DecisionTreeRegressor:
        tree = DecisionTreeRegressor(random_state=0, ccp_alpha=float(alpha))
        return tree.fit(ranks[rows], deviations[rows])

    errors = [
        sum(
            float(np.sum((pruned(alpha, inside).predict(ranks[out]) - deviations[out]) ** 2))
            for inside, out in folds
        )
        for alpha in alphas
    ]
    best = alphas[len(errors) - 1 - int(np.argmin(errors[::-1]))]
    return float(pruned(best, np.arange(p)).predict(ranks).min())


def above(importances: FloatArray, level: float) -> int:
    """Count the decreasing importances before the first importance below a level.

    At least 1.
    """
    below = np.flatnonzero(importances < level)
    return max(1, int(below[0]) if len(below) else len(importances))


def interpreted(errors: FloatArray, deviations: FloatArray, factor: float) -> int:
    """Return the number of features of the smallest model that is nearly the best.

    Parameters
    ----------
    errors, deviations : float64 array of shape (m,)
        Mean errors of the models of the first 1 .. m features, and their standard deviations.
    factor : float
        Number of standard deviations, of the best model, by which the error may exceed its.

    Returns
    -------
    int
    """
    best = int(np.argmin(errors))
    return int(np.flatnonzero(errors <= errors[best] + factor * deviations[best])[0]) + 1


def mean_jump(errors: FloatArray, n_interpreted: int) -> float:
    """Return the mean absolute difference of the errors beyond the model for interpretation.

    0 where there are none.
    """
    jumps = np.abs(np.diff(errors[n_interpreted - 1 :]))
    return float(jumps.mean()) if len(jumps) else 0.0


# --- forests of the sets ---------------------------------------------------------------------


def losses(means: FloatArray, target: Target) -> FloatArray:
    """Return the loss of every row, shape (n,): 0 or 1 for classes, squared errors for numbers.

    Rows without a prediction, NaN in `means` of shape (n, C), are NaN.
    """
    missing = np.isnan(means[:, 0])
    if target.codes is None:
        return np.asarray((means[:, 0] - target.values) ** 2, dtype=np.float64)
    guessed = np.argmax(np.where(missing[:, np.newaxis], 0.0, means), axis=1)
    return np.where(missing, np.nan, guessed != target.codes)


def standard_error(losses: FloatArray, groups: IntArray | None) -> float:
    """Return the standard error of a mean over rows, or over the rows of independent groups."""
    if groups is None:
        return float(losses.std() / np.sqrt(len(losses)))
    sums = np.bincount(groups, losses - losses.mean())
    return float(np.sqrt(sums @ sums) / len(losses))


def trial(
    subject: Measured,
    seed: int,
    columns: IntArray,
    measured: bool = False,
    folds: IntArray | None = None,
    fold: int = -1,
) -> FloatArray:
    """Grow a forest on some features; return its importances and errors.

    Parameters
    ----------
    subject : Measured
        The forests.
    seed : int
        Seed of the forest.
    columns : int64 array
        The features.
    measured : bool
        Whether importances are computed.
    folds : int64 array of shape (n,), optional
        Fold of each row, of which a trial may leave one out.
    fold : int
        The fold that is left out; -1 for all rows.

    Returns
    -------
    float64 array of shape (p + 3,)
        Importances of the columns, NaN for others and where they are not asked for; the
        out-of-bag error, or the cross-fitted one of another model, and its standard error; the mean
        loss of the fold, or NaN. Classes that the forest lacks are missed.
    """
    whole = subject.data
    table = whole.table.take_columns(columns)
    data = whole.with_table(table, key=("columns", columns.tolist()))
    held_out = folds is not None and fold >= 0
    if held_out:
        data = data.of_rows(np.flatnonzero(folds != fold), key=("without", fold))
    row, other = np.full(whole.n_columns + 3, np.nan), is_model(subject.template)
    grown = seeded(subject.template, seed)
    if not other:
        grown.fit(data)
    if measured:
        inputs = Inputs(grown, data, seed % 2**32, getattr(grown, "n_jobs", 1))
        importances: Any = subject.measure(inputs)
        row[columns] = importances.values
    if other:
        loss = losses(cross_fitted(grown, data, seed % 2**32, "trial"), data.target)
    else:
        forest: Forest = grown.forest_
        deviations, _, _ = estimate_out_of_bag(forest, data.table, data.target)
        loss = losses(deviations + forest.origin, data.target)
    seen = ~np.isnan(loss)
    if seen.any():
        groups = data.exchangeability.groups
        row[-3] = loss[seen].mean()
        row[-2] = standard_error(loss[seen], None if groups is None else groups[seen])
    if not held_out:
        return row
    rows = np.flatnonzero(folds == fold)
    if other:
        every = ModelRows.of(table, "trial")
        with one_openmp_thread():
            fitted(grown, every, whole, np.flatnonzero(folds != fold), "trial")
            means, classes = predicted(grown, every.take(rows), whole.classes), whole.classes
    else:
        means = predict(forest, rows_of(forest, table.take_rows(rows), "", "trial"))
        classes = forest.classes
    if classes is None:
        row[-1] = losses(means, whole.target.take(rows)).mean()
    else:
        row[-1] = np.mean(classes[np.argmax(means, axis=1)] != whole.target.labels[rows])
    return row
