"""Bagged trees: bootstrap samples, and the best cut of all features."""

from __future__ import annotations

from dataclasses import dataclass

from duramen.estimators.base import (
    ForestClassifier,
    ForestRegressor,
)


@dataclass(kw_only=True, eq=False, repr=False)
class BaggedTreesClassifier(ForestClassifier):
    """Bagged trees for classification: bootstrap samples, and the best cut of all features.

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
    max_features : {"sqrt", "log2"}, int, float or None, default=None
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
    warm_start : bool, default=False
        Whether the next fit, on the same rows, keeps the trees and adds the missing ones of
        ``n_estimators``; the result is that of growing all at once.
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
    Breiman, Bagging predictors, Machine Learning 24 (1996).

    Examples
    --------
    >>> import duramen as dm
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> dm.BaggedTreesClassifier(20, random_state=0).fit(X, y).predict([[3.0]])
    array(['b'], dtype=object)
    """

    bootstrap: bool = True


@dataclass(kw_only=True, eq=False, repr=False)
class BaggedTreesRegressor(ForestRegressor):
    """Bagged trees for regression: bootstrap samples, and the best cut of all features.

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
    max_features : {"sqrt", "log2"}, int, float or None, default=None
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
    warm_start : bool, default=False
        Whether the next fit, on the same rows, keeps the trees and adds the missing ones of
        ``n_estimators``; the result is that of growing all at once.
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
    >>> dm.BaggedTreesRegressor(20, random_state=0).fit(X, y).predict([[3.0]])
    array([0.95])
    """

    bootstrap: bool = True
