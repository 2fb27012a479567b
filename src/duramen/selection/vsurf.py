"""VSURF, a selector of features for interpretation and for prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from duramen.jobs.replicates import Steps
from duramen.results.summary import Column
from duramen.selection.refitting import Opening, RefittingSelector, require_out_of_bag, trial
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

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

    def fit(self, X: Any, y: Any = None) -> Self:
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
        _, models = opening.follow(
            lambda _, seed, columns: trial(subject, seed, columns)[-3:-2],
            (counts[1] + counts[2]) * len(selected),
            1,
            nested_models(selected, counts[1], counts[2], factors[1], factors[2]),
            part="errors",
            features=selected.tolist(),
            counts=counts,
            factors=factors,
        )
        self._take(opening, first, threshold, selected, models)
        return self

    def _take(
        self,
        opening: Opening,
        first: FloatArray,
        threshold: float,
        selected: IntArray,
        models: Models,
    ) -> None:
        sets = {
            "threshold": selected,
            "interpretation": selected[: models.n_interpreted],
            "prediction": np.array(models.chosen, dtype=np.int64),
        }
        history = {
            "importance": first,
            "error": models.errors,
            "standard_deviation": models.spread,
            "prediction_error": np.array(models.prediction_errors),
        }
        self._adopt(opening.data, sets[self.select], history)
        self.thresholded_, self.interpretation_ = sets["threshold"], sets["interpretation"]
        self.prediction_ = sets["prediction"]
        self.threshold_ = threshold
        self.jump_ = models.least
        self._set_importances(opening.subject, first.mean(axis=0))

    def _figures(self) -> dict[str, Any]:
        steps = np.full(self.n_features_in_, "none", dtype="U14")
        sets = {
            "threshold": self.thresholded_,
            "interpretation": self.interpretation_,
            "prediction": self.prediction_,
        }
        for name, features in sets.items():
            steps[features] = name
        words = ", ".join(f"{len(features):,} {name}" for name, features in sets.items())
        return {
            "facts": (("features of the steps", words),),
            "columns": (Column("last step", steps.tolist(), "words", name="step"),),
            "results": {f"features_{name}": len(features) for name, features in sets.items()},
        }


class Models(NamedTuple):
    """Errors of the models, and the features that were kept by them."""

    errors: FloatArray  # of the nested models: mean over their forests
    spread: FloatArray  # standard deviation over their forests
    n_interpreted: int  # features of the model for interpretation
    least: float  # decrease of the error that a further feature must exceed
    chosen: list[int]  # features for prediction
    prediction_errors: list[float]  # of the model with each feature for interpretation in turn


def nested_models(
    features: IntArray, n_interpretation: int, n_prediction: int, deviations: float, jumps: float
) -> Steps[Models]:
    """Yield the columns of nested models for interpretation, then of those for prediction.

    Parameters
    ----------
    features : int64 array of shape (m,)
        Features above the threshold, the most important first.
    n_interpretation, n_prediction : int
        Number of forests of a model.
    deviations : float
        Number of standard deviations by which the error of the smallest model may exceed the best.
    jumps : float
        Number of mean jumps by which the error must decrease with a further feature.
    """
    ends = np.repeat(np.arange(1, len(features) + 1), n_interpretation)
    forests = yield [(features[:end],) for end in ends.tolist()]
    rows = forests[:, 0].reshape(len(features), -1)
    errors, spread = rows.mean(axis=1), rows.std(axis=1, ddof=1)
    n_interpreted = interpreted(errors, spread, deviations)
    least = jumps * mean_jump(errors, n_interpreted)
    chosen, tried = yield from predicting(features[:n_interpreted], n_prediction, least)
    return Models(errors, spread, n_interpreted, least, chosen, tried)


def predicting(
    features: IntArray, n_forests: int, least: float
) -> Steps[tuple[list[int], list[float]]]:
    """Try features one after the other; keep those whose model has an error less by `least`.

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
    """Return how many of importances in decreasing order come before the first one below a level.

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
