"""Base of the survival forests: mortality, cumulative hazards, survival functions, concordance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from duramen.data import SurvivalTarget, Target, Task
from duramen.estimators.base import BaseForest, ClassWeight
from duramen.forests import prediction
from duramen.support.arrays import FloatArray


@dataclass(kw_only=True, eq=False, repr=False)
class SurvivalForest(BaseForest):
    """Base of the forests for survival.

    The target is a structured array with a boolean field for the event and one for the time, as in
    scikit-survival, or a table of two columns: first the times, then the events. A time without an
    event is right-censored.

    Attributes
    ----------
    forest_, n_features_in_, feature_names_in_, feature_importances_
        As in :class:`ForestClassifier`.
    event_times_ : array of shape (D,)
        Sorted distinct times at which the event occurred in the training rows.
    oob_score_ : float
        Concordance of the out-of-bag mortalities, if asked for.
    oob_prediction_ : array of shape (n,)
        Out-of-bag mortalities; NaN where a row is in every bag.
    oob_error_curve_ : array of shape (n_estimators,)
        1 - the out-of-bag concordance after 1, 2, ... trees.
    """

    target_class: ClassVar[type[Target]] = SurvivalTarget
    task: ClassVar[Task] = SurvivalTarget.task
    criterion: str = field(default="log_rank", init=False)
    min_samples_split: int | float = SurvivalTarget.min_samples_split
    min_samples_leaf: int | float = SurvivalTarget.min_samples_leaf
    min_impurity_decrease: float = field(default=0.0, init=False)
    min_impurity_split: float = field(default=0.0, init=False)
    class_weight: ClassWeight = field(default=None, init=False)
    ccp_alpha: float = field(default=0.0, init=False)
    splits: str = field(default="ordered", init=False)
    stop_alpha: float | None = field(default=None, init=False)
    stop_permutations: int | None = field(default=None, init=False)

    def _set_out_of_bag(
        self, estimate: prediction.OutOfBag, seen: NDArray[np.bool_], target: Target
    ) -> None:
        means = estimate.means()
        self.oob_prediction_ = means[:, 0]
        truth_seen = target.take(np.flatnonzero(seen))

        def concordance(truth: Any, guess: FloatArray) -> float:
            return prediction.concordance(truth_seen, guess)

        self.oob_score_ = self._score_out_of_bag(truth_seen.labels, means[seen, 0], concordance)

    @property
    def event_times_(self) -> FloatArray:
        """Sorted distinct times at which the event occurred in the training rows, shape (D,)."""
        check_is_fitted(self, "forest_")
        assert self.forest_.leaf_events is not None
        return self.forest_.leaf_events.event_times

    def predict(self, X: Any) -> FloatArray:
        """Predict the mortality of every row, shape (n,): the higher, the earlier the event.

        The mean over the trees of the cumulative hazards of the leaves, added up over
        `event_times_`: the number of events to be expected among rows that are all like this one
        (Ishwaran et al. 2008).

        Parameters
        ----------
        X : array, data frame, sparse matrix or EncodedTable of shape (n, p)
            The rows. Categories that were never seen go to the heavier child.
        """
        return self._mean_values(X, "predict")[:, 0]

    def predict_cumulative_hazard_function(
        self, X: Any, times: ArrayLike | None = None
    ) -> FloatArray:
        """Predict cumulative hazards: means over the trees of Nelson-Aalen estimates of the leaves.

        Parameters
        ----------
        X : array, data frame, sparse matrix or EncodedTable of shape (n, p)
            The rows.
        times : array-like of shape (m,), optional
            Times; by default `event_times_`.

        Returns
        -------
        float64 array of shape (n, m)
        """
        return self._curves(X, times, "predict_cumulative_hazard_function", survival=False)

    def predict_survival_function(self, X: Any, times: ArrayLike | None = None) -> FloatArray:
        """Predict survival functions: means over the trees of Kaplan-Meier estimates of the leaves.

        Parameters
        ----------
        X : array, data frame, sparse matrix or EncodedTable of shape (n, p)
            The rows.
        times : array-like of shape (m,), optional
            Times; by default `event_times_`.

        Returns
        -------
        float64 array of shape (n, m)
            Probability of no event up to each time.
        """
        return self._curves(X, times, "predict_survival_function", survival=True)

    def _curves(
        self, X: Any, times: ArrayLike | None, method: str, *, survival: bool
    ) -> FloatArray:
        rows = self._routed(X, method)
        curves = prediction.mean_curves(
            self.forest_, rows, survival=survival, n_threads=self._threads()
        )
        if times is None:
            return curves
        wanted = np.asarray(times, dtype=np.float64)
        if wanted.ndim != 1 or np.isnan(wanted).any():
            raise ValueError(
                f"{self._owner}.{method}: times must be one-dimensional numbers, got {times!r}"
            )
        before = np.full((len(curves), 1), 1.0 if survival else 0.0)
        place = np.searchsorted(self.event_times_, wanted, side="right")
        return np.hstack([before, curves])[:, place]

    def score(self, X: Any, y: Any) -> float:
        """Compute Harrell's concordance of :meth:`predict` with survival.

        Of the pairs of rows whose order is known, the fraction in which the one with the earlier
        event has the higher mortality; equal mortalities count one half. Pairs with both events at
        the same time do not count; of an event and a censored row at the same time the event came
        first (Harrell, Lee and Mark 1996). NaN where there is no such pair.

        Parameters
        ----------
        X : array, data frame, sparse matrix or EncodedTable of shape (n, p)
            The rows.
        y : structured array of shape (n,), or table of shape (n, 2)
            Events and times, as for `fit`.
        """
        function = f"{self._owner}.score"
        risks = self.predict(X)
        target = SurvivalTarget.encode(y, n_rows=len(risks), function=function)
        return prediction.concordance(target, risks)
