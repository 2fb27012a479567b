"""Random forests that draw some features more often: enriched and importance-weighted ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.data import EncodedTable, LearningSet, Target
from duramen.data.encoded import refuse_unordered
from duramen.estimators.base import OUT_OF_BAG, BaseForest
from duramen.estimators.forests import RandomForestClassifier, RandomForestRegressor
from duramen.forests.forest import mean_decreases
from duramen.forests.growth import Guidance, grow
from duramen.forests.settings import GrowthSettings
from duramen.results.adjustment import adjusted
from duramen.support import checks
from duramen.support.arrays import FloatArray

LARGEST_WEIGHT = 1000.0  # of an enriched forest
LEAST_IMPORTANCE = 0.01  # of the mean, which every feature is given besides
_FIRST_SEED = 0x9E3779B97F4A7C15  # apart from the seed of the forest itself


def enriched_weights(p_values: FloatArray) -> FloatArray:
    """Return weights 1 / q - 1 of features, at most 1000, q the Benjamini-Hochberg q-values.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.estimators.guided_forest import enriched_weights
    >>> enriched_weights(np.array([0.1, 0.4, 1.0]))
    array([2.33333333, 0.66666667, 0.        ])
    """
    q_values = adjusted(np.asarray(p_values, dtype=np.float64), "fdr")
    with np.errstate(divide="ignore"):
        weights: FloatArray = np.minimum(1.0 / q_values - 1.0, LARGEST_WEIGHT)
    return weights


def importance_weights(importances: FloatArray) -> FloatArray:
    """Return weights of features: positive parts of importances, plus 1 % of their mean.

    All are 1 where no importance is positive.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.estimators.guided_forest import importance_weights
    >>> importance_weights(np.array([2.98, 0.0, -1.0]))
    array([2.98993333, 0.00993333, 0.00993333])
    """
    positive = np.maximum(np.asarray(importances, dtype=np.float64), 0.0)
    if not positive.any():
        return np.ones(len(positive))
    weights: FloatArray = positive + LEAST_IMPORTANCE * positive.mean()
    return weights


def association_p_values(table: EncodedTable, target: Target, owner: str) -> FloatArray:
    """Return the p-value of the F test of each feature with the target, shape (p,).

    For two classes that is the two-sided t-test with equal variances, for numbers the test of the
    correlation. Rows without a value do not count; 1 for constant features.

    Raises
    ------
    ValueError
        If a column has more than two labels without an order.
    """
    from scipy.stats import f

    hint = "for which there is no t-test. Hint: use feature_weights='importance'."
    refuse_unordered(table, owner, hint)
    p_values = np.ones(table.n_columns)
    for j in range(table.n_columns):
        kind, values, codes = table.kinds[j], table.values(j), table.codes(j)
        there = np.flatnonzero(codes < len(values))
        numbers = values.astype(np.float64) if kind == "numeric" else np.arange(len(values)) * 1.0
        x = numbers[codes[there]]
        x = x - x.mean() if len(x) else x
        if target.codes is None:
            y = target.values[there] - target.values[there].mean() if len(x) else target.values[:0]
            freedom, total = 1, float(y @ y)
            between = float(x @ y) ** 2 / total if total > 0 else 0.0
        else:
            groups = target.codes[there]
            sizes = np.bincount(groups, minlength=target.n_classes)
            sums = np.bincount(groups, weights=x, minlength=target.n_classes)
            freedom = int(np.count_nonzero(sizes)) - 1
            between = float((sums[sizes > 0] ** 2 / sizes[sizes > 0]).sum())
        within, left = float(x @ x) - between, len(x) - freedom - 1
        if between <= 0.0 or freedom < 1 or left < 1:
            continue
        statistic = np.inf if within <= 1e-12 * between else between / freedom / (within / left)
        p_values[j] = f.sf(statistic, freedom, left)
    return p_values


@dataclass(kw_only=True, eq=False, repr=False)
class _Guided(BaseForest):
    """Base of the draw by weights."""

    feature_weights: str | ArrayLike = "importance"
    feature_weights_: FloatArray = field(init=False)
    _saved = (*OUT_OF_BAG, "feature_weights_")

    def _guidance(
        self, data: LearningSet[EncodedTable], settings: GrowthSettings, seed: int, n_threads: int
    ) -> Guidance:
        owner, p, requested = type(self).__name__, data.n_columns, self.feature_weights
        if isinstance(requested, str):
            checks.check_choice(owner, "feature_weights", requested, ("importance", "enriched"))
            if requested == "enriched":
                weights = enriched_weights(association_p_values(data.table, data.target, owner))
            else:
                n_trees = int(self.get_params()["n_estimators"])
                first = grow(
                    data, settings, n_trees=n_trees, seed=seed ^ _FIRST_SEED, n_threads=n_threads
                )
                weights = importance_weights(mean_decreases(first).values)
        else:
            try:
                weights = np.asarray(requested, dtype=np.float64)
            except (TypeError, ValueError):
                weights = np.empty(0)
            if weights.shape != (p,) or not np.isfinite(weights).all() or (weights < 0).any():
                allowed = f"'importance', 'enriched' or {p} finite numbers >= 0"
                raise checks.refuse(owner, "feature_weights", allowed, requested)
        guidance = Guidance(np.ascontiguousarray(weights))
        guidance.refuse(settings, owner)
        self._weights = guidance.weights
        return guidance

    def _adopt(self, forest: Any) -> None:
        super()._adopt(forest)
        if hasattr(self, "_weights"):
            self.feature_weights_ = self.__dict__.pop("_weights")


@dataclass(kw_only=True, eq=False, repr=False)
class GuidedForestClassifier(RandomForestClassifier, _Guided):
    r"""Random forest for classification that draws some features more often.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    feature_weights : {"importance", "enriched"} or array-like of shape (p,), default="importance"
        Weights of the features in the draw of the candidates of a node, without replacement:
        "importance" for the mean decreases of impurity in a first forest of as many trees, plus
        1 % of their mean; "enriched" for 1 / q - 1, at most 1000, of the q-values of F tests
        (for two classes t-tests); or numbers, of which 0 leaves a feature out. Equal ones make an
        ordinary random forest.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        Impurity: "gini" for the Gini index, "entropy" or "log_loss" for the Shannon entropy.
    max_depth : int or None, default=None
        Largest depth of a leaf; None for no limit.
    min_samples_split : int or float, default=2
        Least number of distinct rows at a node that is split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=1
        Least number of distinct rows at a child; a float is a fraction of all rows.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Number of features tried at a node, drawn among those that are not constant there; a float
        is a fraction of the features, None all of them.
    max_leaf_nodes : int or None, default=None
        Largest number of leaves; the splits that decrease impurity most come first.
    min_impurity_decrease : float, default=0.0
        Least decrease of impurity of a split, times the fraction of the weight at the node.
    min_impurity_split : float, default=0.0
        Impurity up to which a node is a leaf, in the unit of ``criterion``.
    bootstrap : bool, default=True
        Whether the rows of a tree are drawn with replacement.
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
        Number of rows drawn for each tree, without replacement unless ``bootstrap``; a float is a
        fraction, None as many as there are.
    splits : {"ordered", "multiway", "one-vs-rest", "any"}, default="ordered"
        Family of splits: two groups by order; one child for each value; one value against all
        others; any two groups of categories.
    categorical_features : None, "from_dtype" or list of names, indices or bools, default=None
        Columns to treat as categorical, besides those whose type says so.
    stop_alpha : float or None, default=None
        Level of the chi-square test that a split must pass; None for no test.
    count_constant_features : bool, default=False
        Whether a feature that is constant at the node counts as one of ``max_features``; in
        multiway trees, which draw them anyway, whether such a draw takes a level of depth.

    Attributes
    ----------
    feature_weights_ : float64 array of shape (p,)
        Weights of the features; further attributes are those of :class:`RandomForestClassifier`.

    Notes
    -----
    Where few of many features matter, most nodes of a random forest have none of them among their
    candidates; weights bring them in. Weights that were computed from the target make out-of-bag
    estimates too good: cross-validate the whole estimator. F tests give all rows the same weight.

    References
    ----------
    Enriched random forests: D. Amaratunga, J. Cabrera, Y.-S. Lee, Bioinformatics 24 (2008).
    Weights by importance: after Y. Liu, H. Zhao, Variable importance-weighted random forests,
    Quantitative Biology 5 (2017).

    Examples
    --------
    >>> import duramen as dm
    >>> X, y = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]], ["a", "a", "b", "b"]
    >>> forest = dm.GuidedForestClassifier(20, feature_weights=[1.0, 0.0], random_state=0)
    >>> forest.fit(X, y).feature_importances_
    array([1., 0.])
    """

    n_best_splits: int = field(default=1, init=False)
    stop_permutations: int | None = field(default=None, init=False)


@dataclass(kw_only=True, eq=False, repr=False)
class GuidedForestRegressor(RandomForestRegressor, _Guided):
    r"""Random forest for regression that draws some features more often.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    feature_weights : {"importance", "enriched"} or array-like of shape (p,), default="importance"
        Weights of the features in the draw of the candidates of a node, without replacement:
        "importance" for the mean decreases of impurity in a first forest of as many trees, plus
        1 % of their mean; "enriched" for 1 / q - 1, at most 1000, of the q-values of F tests
        (for two classes t-tests); or numbers, of which 0 leaves a feature out. Equal ones make an
        ordinary random forest.
    criterion : {"squared_error", "variance"}, default="squared_error"
        Impurity: "squared_error" or "variance" for the variance.
    max_depth : int or None, default=None
        Largest depth of a leaf; None for no limit.
    min_samples_split : int or float, default=2
        Least number of distinct rows at a node that is split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=1
        Least number of distinct rows at a child; a float is a fraction of all rows.
    max_features : {"sqrt", "log2"}, int, float or None, default=1.0
        Number of features tried at a node, drawn among those that are not constant there; a float
        is a fraction of the features, None all of them.
    max_leaf_nodes : int or None, default=None
        Largest number of leaves; the splits that decrease impurity most come first.
    min_impurity_decrease : float, default=0.0
        Least decrease of impurity of a split, times the fraction of the weight at the node.
    min_impurity_split : float, default=0.0
        Impurity up to which a node is a leaf, in the unit of ``criterion``.
    bootstrap : bool, default=True
        Whether the rows of a tree are drawn with replacement.
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
        Number of rows drawn for each tree, without replacement unless ``bootstrap``; a float is a
        fraction, None as many as there are.
    splits : {"ordered", "multiway", "one-vs-rest", "any"}, default="ordered"
        Family of splits: two groups by order; one child for each value; one value against all
        others; any two groups of categories.
    categorical_features : None, "from_dtype" or list of names, indices or bools, default=None
        Columns to treat as categorical, besides those whose type says so.
    stop_alpha : float or None, default=None
        Level of the chi-square test that a split must pass; None for no test.
    count_constant_features : bool, default=False
        Whether a feature that is constant at the node counts as one of ``max_features``; in
        multiway trees, which draw them anyway, whether such a draw takes a level of depth.

    Attributes
    ----------
    feature_weights_ : float64 array of shape (p,)
        Weights of the features; further attributes are those of :class:`RandomForestRegressor`.

    Notes
    -----
    Where few of many features matter, most nodes of a random forest have none of them among their
    candidates; weights bring them in. Weights that were computed from the target make out-of-bag
    estimates too good: cross-validate the whole estimator. F tests give all rows the same weight.

    References
    ----------
    Enriched random forests: D. Amaratunga, J. Cabrera, Y.-S. Lee, Bioinformatics 24 (2008).
    Weights by importance: after Y. Liu, H. Zhao, Variable importance-weighted random forests,
    Quantitative Biology 5 (2017).

    Examples
    --------
    >>> import duramen as dm
    >>> X, y = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]], [0.0, 0.0, 1.0, 1.0]
    >>> forest = dm.GuidedForestRegressor(20, feature_weights=[2.0, 1.0], random_state=0)
    >>> forest.fit(X, y).feature_weights_
    array([2., 1.])
    """

    n_best_splits: int = field(default=1, init=False)
    stop_permutations: int | None = field(default=None, init=False)
