"""Random forests and extremely randomized trees: the best of K features at each node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from duramen.data import SurvivalTarget, Target, Task
from duramen.estimators.base import BaseForest, ClassWeight, ForestClassifier, ForestRegressor
from duramen.forests import prediction
from duramen.support.arrays import BoolArray, FloatArray, TableLike


@dataclass(kw_only=True, eq=False, repr=False)
class SurvivalForest(BaseForest):
    """Base of the forests for survival.

    The target is a structured array with a boolean field for the event and one for the time, as in
    scikit-survival, or a table of two columns: first the times, then the events. A time without an
    event is right-censored. A third field named ``entry`` holds the time after which a row was
    under observation (left truncation): splits, leaves and concordance then compare rows that are
    at risk at the same time.

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

    def _set_out_of_bag(self, deviations: FloatArray, seen: BoolArray, target: Target) -> None:
        self.oob_prediction_ = deviations[:, 0]
        truth, guess = target.take(np.flatnonzero(seen)), deviations[seen, 0]
        score = float("nan")
        if len(guess) and callable(self.oob_score):
            score = float(self.oob_score(truth.labels, guess))
        elif len(guess):
            score = prediction.concordance(truth, guess)
        self.oob_score_ = score

    @property
    def event_times_(self) -> FloatArray:
        """Sorted distinct times at which the event occurred in the training rows, shape (D,)."""
        check_is_fitted(self, "forest_")
        assert self.forest_.leaf_events is not None
        return self.forest_.leaf_events.event_times

    def predict(self, X: TableLike) -> FloatArray:
        """Predict the mortality of every row, shape (n,): the higher, the earlier the event.

        The mean over the trees of the cumulative hazards of the leaves, added up over
        `event_times_`: the number of events to be expected among rows that are all like this one
        (Ishwaran et al. 2008).

        Parameters
        ----------
        X : array, data frame, sparse matrix or EncodedTable of shape (n, p)
            The rows. Categories that were never seen go to the heavier child.
        """
        rows, n_threads = self._routed(X, "predict")
        return prediction.predict(self.forest_, rows, n_threads)[:, 0]

    def predict_cumulative_hazard_function(
        self, X: TableLike, times: ArrayLike | None = None
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

    def predict_survival_function(self, X: TableLike, times: ArrayLike | None = None) -> FloatArray:
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
        rows, n_threads = self._routed(X, method)
        curves = prediction.mean_curves(self.forest_, rows, survival=survival, n_threads=n_threads)
        if times is None:
            return curves
        at = np.asarray(times, dtype=np.float64)
        if at.ndim != 1 or np.isnan(at).any():
            function = f"{type(self).__name__}.{method}"
            raise ValueError(f"{function}: times must be one-dimensional numbers, got {times!r}")
        before = np.full((len(curves), 1), 1.0 if survival else 0.0)
        place = np.searchsorted(self.event_times_, at, side="right")
        return np.hstack([before, curves])[:, place]

    def score(self, X: TableLike, y: ArrayLike | None) -> float:
        """Compute Harrell's concordance of :meth:`predict` with survival.

        Of the pairs of rows whose order is known, the fraction in which the one with the earlier
        event has the higher mortality; equal mortalities count one half. Pairs with both events at
        the same time do not count; of an event and a censored row at the same time the event came
        first (Harrell, Lee and Mark 1996). With entries, only pairs in which the other row is at
        risk at the time of the event count. NaN where there is no such pair.

        Parameters
        ----------
        X : array, data frame, sparse matrix or EncodedTable of shape (n, p)
            The rows.
        y : structured array of shape (n,), or table of shape (n, 2)
            Events and times, as for `fit`.
        """
        function = f"{type(self).__name__}.score"
        risks = self.predict(X)
        target = SurvivalTarget.encode(y, n_rows=len(risks), function=function)
        return prediction.concordance(target, risks)


@dataclass(kw_only=True, eq=False, repr=False)
class RandomForestClassifier(ForestClassifier):
    """Random forest for classification: bagged trees, the best of K features at each node.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        Impurity: "gini" for the Gini index, "entropy" or "log_loss" for the Shannon entropy.
    max_depth : int or None, default=None
        Maximum depth of the trees; None for no limit.
    min_samples_split : int or float, default=2
        Minimum number of distinct rows at a node that is split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=1
        Minimum number of distinct rows at a child; a float is a fraction of all rows.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Number of features tried at a node, drawn among those that are not constant there; a float
        is a fraction of the features, None all of them.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves; nodes whose splits decrease impurity most are split first.
    min_impurity_decrease : float, default=0.0
        Minimum decrease of impurity of a split, times the fraction of the weight at the node.
    min_impurity_split : float, default=0.0
        Impurity up to which a node is a leaf, in the unit of ``criterion``.
    bootstrap : bool, default=True
        Whether the rows of a tree are drawn with replacement: whole groups with ``groups`` of
        `fit`.
    oob_score : bool or callable, default=False
        Whether to compute out-of-bag estimates; a callable ``(y_true, y_pred)`` is the score.
    n_jobs : int or None, default=None
        Number of threads; None for 1, -1 for all processors. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Source of the seed; an int gives the same forest every time.
    verbose : int, default=0
        Above 0 for a progress bar on standard error.
    class_weight : dict, "balanced", "balanced_subsample" or None, default=None
        Weights of the classes; "balanced": n / (C n_c), "balanced_subsample": so in each bag.
    ccp_alpha : float, default=0.0
        Complexity parameter of minimal cost-complexity pruning: each grown tree is cut back to its
        subtree of least impurity + ``ccp_alpha`` times the number of leaves; 0 for none.
    max_samples : int, float or None, default=None
        Number of rows, or groups, drawn for each tree, without replacement unless ``bootstrap``; a
        float is a fraction, None as many as there are.
    splits : {"auto", "ordered", "multiway", "one-vs-rest", "any"}, default="ordered"
        Family of splits: two groups by order; one child for each value; one value against all
        others; any two groups of categories. "auto" is "ordered" if a numeric column has more than
        10 distinct values, else "multiway".
    n_best_splits : int, default=1
        Number k of the best splits of a node, over all features tried there, one of which is taken
        at random, each with the same probability; 1 for the best one.
    categorical_features : None, "from_dtype" or list of names, indices or bools, default=None
        Columns to treat as categorical, besides those whose type says so.
    stop_alpha : float or None, default=None
        Level of the test that a split must pass, by chi-square unless ``stop_permutations`` are
        given; None for no test.
    stop_permutations : int or None, default=None
        Number of permutations of the target at the node by which the best split is tested at level
        ``stop_alpha``; None for the chi-square test.
    count_constant_features : bool, default=False
        Whether a feature that is constant at the node counts as one of ``max_features``; in
        multiway trees, which draw them anyway, whether such a draw takes a level of depth.

    References
    ----------
    Breiman, Random forests, Machine Learning 45 (2001).

    Examples
    --------
    >>> import duramen as dm
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> dm.RandomForestClassifier(20, random_state=0).fit(X, y).predict([[3.0]])
    array(['b'], dtype=object)
    """

    max_features: str | int | float | None = "sqrt"
    bootstrap: bool = True


@dataclass(kw_only=True, eq=False, repr=False)
class RandomForestRegressor(ForestRegressor):
    """Random forest for regression: bagged trees, the best of K features at each node.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"squared_error", "variance"}, default="squared_error"
        Impurity: "squared_error" or "variance" for the variance.
    max_depth : int or None, default=None
        Maximum depth of the trees; None for no limit.
    min_samples_split : int or float, default=2
        Minimum number of distinct rows at a node that is split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=1
        Minimum number of distinct rows at a child; a float is a fraction of all rows.
    max_features : {"sqrt", "log2"}, int, float or None, default=1.0
        Number of features tried at a node, drawn among those that are not constant there; a float
        is a fraction of the features, None all of them.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves; nodes whose splits decrease impurity most are split first.
    min_impurity_decrease : float, default=0.0
        Minimum decrease of impurity of a split, times the fraction of the weight at the node.
    min_impurity_split : float, default=0.0
        Impurity up to which a node is a leaf, in the unit of ``criterion``.
    bootstrap : bool, default=True
        Whether the rows of a tree are drawn with replacement: whole groups with ``groups`` of
        `fit`.
    oob_score : bool or callable, default=False
        Whether to compute out-of-bag estimates; a callable ``(y_true, y_pred)`` is the score.
    n_jobs : int or None, default=None
        Number of threads; None for 1, -1 for all processors. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Source of the seed; an int gives the same forest every time.
    verbose : int, default=0
        Above 0 for a progress bar on standard error.
    ccp_alpha : float, default=0.0
        Complexity parameter of minimal cost-complexity pruning: each grown tree is cut back to its
        subtree of least impurity + ``ccp_alpha`` times the number of leaves; 0 for none.
    max_samples : int, float or None, default=None
        Number of rows, or groups, drawn for each tree, without replacement unless ``bootstrap``; a
        float is a fraction, None as many as there are.
    splits : {"auto", "ordered", "multiway", "one-vs-rest", "any"}, default="ordered"
        Family of splits: two groups by order; one child for each value; one value against all
        others; any two groups of categories. "auto" is "ordered" if a numeric column has more than
        10 distinct values, else "multiway".
    n_best_splits : int, default=1
        Number k of the best splits of a node, over all features tried there, one of which is taken
        at random, each with the same probability; 1 for the best one.
    categorical_features : None, "from_dtype" or list of names, indices or bools, default=None
        Columns to treat as categorical, besides those whose type says so.
    stop_alpha : float or None, default=None
        Level of the test that a split must pass, by chi-square unless ``stop_permutations`` are
        given; None for no test.
    stop_permutations : int or None, default=None
        Number of permutations of the target at the node by which the best split is tested at level
        ``stop_alpha``; None for the chi-square test.
    count_constant_features : bool, default=False
        Whether a feature that is constant at the node counts as one of ``max_features``; in
        multiway trees, which draw them anyway, whether such a draw takes a level of depth.

    Examples
    --------
    >>> import duramen as dm
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 1.0]
    >>> dm.RandomForestRegressor(20, random_state=0).fit(X, y).predict([[3.0]])
    array([0.95])
    """

    max_features: str | int | float | None = 1.0
    bootstrap: bool = True


@dataclass(kw_only=True, eq=False, repr=False)
class RandomSurvivalForest(SurvivalForest):
    """Random survival forest: bagged trees, the split of largest log-rank statistic of K features.

    The target holds times and events: see :class:`duramen.estimators.forests.SurvivalForest`. A
    category column is split into two groups along the order of its mean martingale residuals.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_depth : int or None, default=None
        Maximum depth of the trees; None for no limit.
    min_samples_split : int or float, default=6
        Minimum number of distinct rows at a node that is split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=3
        Minimum number of distinct rows at a child; a float is a fraction of all rows.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Number of features tried at a node, drawn among those that are not constant there; a float
        is a fraction of the features, None all of them.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves; nodes whose splits decrease impurity most are split first.
    bootstrap : bool, default=True
        Whether the rows of a tree are drawn with replacement: whole groups with ``groups`` of
        `fit`.
    oob_score : bool or callable, default=False
        Whether to compute out-of-bag estimates; a callable ``(y_true, y_pred)`` is the score.
    n_jobs : int or None, default=None
        Number of threads; None for 1, -1 for all processors. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Source of the seed; an int gives the same forest every time.
    verbose : int, default=0
        Above 0 for a progress bar on standard error.
    max_samples : int, float or None, default=None
        Number of rows, or groups, drawn for each tree, without replacement unless ``bootstrap``; a
        float is a fraction, None as many as there are.
    n_best_splits : int, default=1
        Number k of the best splits of a node, over all features tried there, one of which is taken
        at random, each with the same probability; 1 for the best one.
    categorical_features : None, "from_dtype" or list of names, indices or bools, default=None
        Columns to treat as categorical, besides those whose type says so.
    count_constant_features : bool, default=False
        Whether a feature that is constant at the node counts as one of ``max_features``; in
        multiway trees, which draw them anyway, whether such a draw takes a level of depth.

    References
    ----------
    Ishwaran, Kogalur, Blackstone, Lauer, Random survival forests, Annals of Applied Statistics 2
    (2008). Segal, Regression trees for censored data, Biometrics 44 (1988). LeBlanc, Crowley,
    Survival trees by goodness of split, Journal of the American Statistical Association 88 (1993).

    Examples
    --------
    >>> import duramen as dm
    >>> X = [[0.0], [0.0], [0.0], [0.0], [1.0], [1.0], [1.0], [1.0]]
    >>> times, events = [1, 2, 2, 3, 6, 7, 8, 9], [1, 1, 0, 1, 1, 0, 1, 1]
    >>> y = [*zip(times, events)]
    >>> forest = dm.RandomSurvivalForest(20, random_state=0).fit(X, y)
    >>> round(forest.score(X, y), 2)
    0.79
    """

    max_features: str | int | float | None = "sqrt"
    bootstrap: bool = True


@dataclass(kw_only=True, eq=False, repr=False)
class ExtraTreesClassifier(ForestClassifier):
    """Extremely randomized trees for classification: the best of K features, each cut at random.

    A cut is uniform between the smallest and the largest value of the feature at the node.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        Impurity: "gini" for the Gini index, "entropy" or "log_loss" for the Shannon entropy.
    max_depth : int or None, default=None
        Maximum depth of the trees; None for no limit.
    min_samples_split : int or float, default=2
        Minimum number of distinct rows at a node that is split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=1
        Minimum number of distinct rows at a child; a float is a fraction of all rows.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Number of features tried at a node, drawn among those that are not constant there; a float
        is a fraction of the features, None all of them.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves; nodes whose splits decrease impurity most are split first.
    min_impurity_decrease : float, default=0.0
        Minimum decrease of impurity of a split, times the fraction of the weight at the node.
    min_impurity_split : float, default=0.0
        Impurity up to which a node is a leaf, in the unit of ``criterion``.
    bootstrap : bool, default=False
        Whether the rows of a tree are drawn with replacement: whole groups with ``groups`` of
        `fit`.
    oob_score : bool or callable, default=False
        Whether to compute out-of-bag estimates; a callable ``(y_true, y_pred)`` is the score.
    n_jobs : int or None, default=None
        Number of threads; None for 1, -1 for all processors. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Source of the seed; an int gives the same forest every time.
    verbose : int, default=0
        Above 0 for a progress bar on standard error.
    class_weight : dict, "balanced", "balanced_subsample" or None, default=None
        Weights of the classes; "balanced": n / (C n_c), "balanced_subsample": so in each bag.
    ccp_alpha : float, default=0.0
        Complexity parameter of minimal cost-complexity pruning: each grown tree is cut back to its
        subtree of least impurity + ``ccp_alpha`` times the number of leaves; 0 for none.
    max_samples : int, float or None, default=None
        Number of rows, or groups, drawn for each tree, without replacement unless ``bootstrap``; a
        float is a fraction, None as many as there are.
    splits : {"auto", "ordered", "multiway", "one-vs-rest", "any"}, default="ordered"
        Family of splits: two groups by order; one child for each value; one value against all
        others; any two groups of categories. "auto" is "ordered" if a numeric column has more than
        10 distinct values, else "multiway".
    n_best_splits : int, default=1
        Number k of the best splits of a node, over all features tried there, one of which is taken
        at random, each with the same probability; 1 for the best one.
    categorical_features : None, "from_dtype" or list of names, indices or bools, default=None
        Columns to treat as categorical, besides those whose type says so.
    stop_alpha : float or None, default=None
        Level of the test that a split must pass, by chi-square unless ``stop_permutations`` are
        given; None for no test.
    stop_permutations : int or None, default=None
        Number of permutations of the target at the node by which the best split is tested at level
        ``stop_alpha``; None for the chi-square test.
    count_constant_features : bool, default=False
        Whether a feature that is constant at the node counts as one of ``max_features``; in
        multiway trees, which draw them anyway, whether such a draw takes a level of depth.

    References
    ----------
    Geurts, Ernst, Wehenkel, Extremely randomized trees, Machine Learning 63 (2006).

    Examples
    --------
    >>> import duramen as dm
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> dm.ExtraTreesClassifier(20, random_state=0).fit(X, y).predict([[3.0]])
    array(['b'], dtype=object)
    """

    cut_rule = "random"

    max_features: str | int | float | None = "sqrt"


@dataclass(kw_only=True, eq=False, repr=False)
class ExtraTreesRegressor(ForestRegressor):
    """Extremely randomized trees for regression: the best of K features, each cut at random.

    A cut is uniform between the smallest and the largest value of the feature at the node.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"squared_error", "variance"}, default="squared_error"
        Impurity: "squared_error" or "variance" for the variance.
    max_depth : int or None, default=None
        Maximum depth of the trees; None for no limit.
    min_samples_split : int or float, default=2
        Minimum number of distinct rows at a node that is split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=1
        Minimum number of distinct rows at a child; a float is a fraction of all rows.
    max_features : {"sqrt", "log2"}, int, float or None, default=1.0
        Number of features tried at a node, drawn among those that are not constant there; a float
        is a fraction of the features, None all of them.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves; nodes whose splits decrease impurity most are split first.
    min_impurity_decrease : float, default=0.0
        Minimum decrease of impurity of a split, times the fraction of the weight at the node.
    min_impurity_split : float, default=0.0
        Impurity up to which a node is a leaf, in the unit of ``criterion``.
    bootstrap : bool, default=False
        Whether the rows of a tree are drawn with replacement: whole groups with ``groups`` of
        `fit`.
    oob_score : bool or callable, default=False
        Whether to compute out-of-bag estimates; a callable ``(y_true, y_pred)`` is the score.
    n_jobs : int or None, default=None
        Number of threads; None for 1, -1 for all processors. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Source of the seed; an int gives the same forest every time.
    verbose : int, default=0
        Above 0 for a progress bar on standard error.
    ccp_alpha : float, default=0.0
        Complexity parameter of minimal cost-complexity pruning: each grown tree is cut back to its
        subtree of least impurity + ``ccp_alpha`` times the number of leaves; 0 for none.
    max_samples : int, float or None, default=None
        Number of rows, or groups, drawn for each tree, without replacement unless ``bootstrap``; a
        float is a fraction, None as many as there are.
    splits : {"auto", "ordered", "multiway", "one-vs-rest", "any"}, default="ordered"
        Family of splits: two groups by order; one child for each value; one value against all
        others; any two groups of categories. "auto" is "ordered" if a numeric column has more than
        10 distinct values, else "multiway".
    n_best_splits : int, default=1
        Number k of the best splits of a node, over all features tried there, one of which is taken
        at random, each with the same probability; 1 for the best one.
    categorical_features : None, "from_dtype" or list of names, indices or bools, default=None
        Columns to treat as categorical, besides those whose type says so.
    stop_alpha : float or None, default=None
        Level of the test that a split must pass, by chi-square unless ``stop_permutations`` are
        given; None for no test.
    stop_permutations : int or None, default=None
        Number of permutations of the target at the node by which the best split is tested at level
        ``stop_alpha``; None for the chi-square test.
    count_constant_features : bool, default=False
        Whether a feature that is constant at the node counts as one of ``max_features``; in
        multiway trees, which draw them anyway, whether such a draw takes a level of depth.

    Examples
    --------
    >>> import duramen as dm
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 1.0]
    >>> dm.ExtraTreesRegressor(20, random_state=0).fit(X, y).predict([[3.0]])
    array([1.])
    """

    cut_rule = "random"

    max_features: str | int | float | None = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class ExtraSurvivalTrees(SurvivalForest):
    """Extremely randomized survival trees: the best of K features, each cut at random.

    A cut is uniform between the smallest and the largest value of the feature at the node, and the
    one with the largest log-rank statistic is taken. The target holds times and events: see
    :class:`duramen.estimators.forests.SurvivalForest`. A category column is split into two groups
    at random.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_depth : int or None, default=None
        Maximum depth of the trees; None for no limit.
    min_samples_split : int or float, default=6
        Minimum number of distinct rows at a node that is split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=3
        Minimum number of distinct rows at a child; a float is a fraction of all rows.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Number of features tried at a node, drawn among those that are not constant there; a float
        is a fraction of the features, None all of them.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves; nodes whose splits decrease impurity most are split first.
    bootstrap : bool, default=False
        Whether the rows of a tree are drawn with replacement: whole groups with ``groups`` of
        `fit`.
    oob_score : bool or callable, default=False
        Whether to compute out-of-bag estimates; a callable ``(y_true, y_pred)`` is the score.
    n_jobs : int or None, default=None
        Number of threads; None for 1, -1 for all processors. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Source of the seed; an int gives the same forest every time.
    verbose : int, default=0
        Above 0 for a progress bar on standard error.
    max_samples : int, float or None, default=None
        Number of rows, or groups, drawn for each tree, without replacement unless ``bootstrap``; a
        float is a fraction, None as many as there are.
    n_best_splits : int, default=1
        Number k of the best splits of a node, over all features tried there, one of which is taken
        at random, each with the same probability; 1 for the best one.
    categorical_features : None, "from_dtype" or list of names, indices or bools, default=None
        Columns to treat as categorical, besides those whose type says so.
    count_constant_features : bool, default=False
        Whether a feature that is constant at the node counts as one of ``max_features``; in
        multiway trees, which draw them anyway, whether such a draw takes a level of depth.

    References
    ----------
    Geurts, Ernst, Wehenkel, Extremely randomized trees, Machine Learning 63 (2006). Ishwaran,
    Kogalur, Blackstone, Lauer, Random survival forests, Annals of Applied Statistics 2 (2008).

    Examples
    --------
    >>> import duramen as dm
    >>> X = [[0.0], [0.0], [0.0], [0.0], [1.0], [1.0], [1.0], [1.0]]
    >>> times, events = [1, 2, 2, 3, 6, 7, 8, 9], [1, 1, 0, 1, 1, 0, 1, 1]
    >>> y = [*zip(times, events)]
    >>> forest = dm.ExtraSurvivalTrees(20, random_state=0).fit(X, y)
    >>> round(forest.score(X, y), 2)
    0.79
    """

    cut_rule = "random"

    max_features: str | int | float | None = "sqrt"
