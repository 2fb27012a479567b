"""Rules of the three steps of VSURF."""

from __future__ import annotations

import numpy as np

from duramen.support.arrays import FloatArray, IntArray

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


class Prediction:
    """Stepwise choice of the features for prediction.

    Parameters
    ----------
    features : int64 array of shape (m,)
        Features for interpretation, the most important first.
    least : float
        Decrease of the error that a further feature must exceed.
    """

    def __init__(self, features: IntArray, least: float) -> None:
        self._features, self.least = features, least
        self.kept: list[int] = []
        self.errors: list[float] = []  # of the model with each feature in turn
        self._error = np.inf

    @property
    def columns(self) -> IntArray | None:
        """Columns of the next model; None at the end."""
        step = len(self.errors)
        if step == len(self._features):
            return None
        return np.array([*self.kept, self._features[step]], dtype=np.int64)

    def take(self, error: float) -> None:
        """Take the error of the next model."""
        feature = int(self._features[len(self.errors)])
        self.errors.append(error)
        if not self.kept or error < self._error - self.least:
            self.kept.append(feature)
            self._error = error
