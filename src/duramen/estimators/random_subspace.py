"""Random subspace: each tree sees some of the columns, drawn at random."""

from __future__ import annotations

from collections.abc import Callable

from duramen.estimators.base import (
    ClassWeight,
    Columns,
    ForestClassifier,
    ForestRegressor,
    RandomState,
)


class RandomSubspaceClassifier(ForestClassifier):
    """Random subspace trees for classes: each tree sees some of the columns.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        Impurity: Gini index, or Shannon entropy in bits ("log_loss" is another name for it).
    max_depth : int or None, default=None
        Greatest depth of a leaf; None for no limit.
    min_samples_split : int or float, default=2
        Least number of distinct rows at a node that is split; a float is a share of the rows.
    min_samples_leaf : int or float, default=1
        Least number of distinct rows at a child; a float is a share of the rows.
    max_features : {"sqrt", "log2"}, int, float or None, default=None
        Candidate columns at a node, drawn without replacement among those that are not constant
        there; a float is a share of the columns, None all of them.
    max_leaf_nodes : int or None, default=None
        Greatest number of leaves, the largest decreases of impurity first; None for no limit.
    min_impurity_decrease : float, default=0.0
        Least decrease of impurity, times the share of the rows' weight at the node, of a split.
    n_subspace_features : int or float, default=0.5
        Columns drawn for each tree, without replacement; a float is a share of the columns.
    bootstrap : bool, default=False
        Whether the rows of a tree are drawn with replacement.
    oob_score : bool or callable, default=False
        Whether to estimate the accuracy from the trees that lack a row in their bag; a callable
        ``score(y_true, y_pred)`` replaces it.
    n_jobs : int or None, default=None
        Threads; -1 for all processors, None for one. The forest does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Where the seed comes from; an int gives the same forest every time.
    verbose : int, default=0
        Above 0 for a progress bar on standard error.
    class_weight : dict, "balanced", "balanced_subsample" or None, default=None
        Weights of the classes; "balanced" is n / (C n_c), "balanced_subsample" the same within the
        bag of each tree.
    max_samples : int, float or None, default=None
        Rows drawn for each tree, a float being a share; with replacement if ``bootstrap``, else
        without. None for as many as there are.
    splits : {"ordered", "multiway", "one-vs-rest", "any"}, default="ordered"
        Family of splits: in two by order, one child a value, one value against the others, or any
        two groups of the categories of a nominal column.
    categorical_features : None, "from_dtype" or list of names, indices or bools, default=None
        Columns to take for nominal ones beside those whose type says so.
    stop_alpha : float or None, default=None
        Level of the chi-square test that a node's split must pass; None for no test.
    count_constant_features : bool, default=False
        Whether a column that is constant at the node counts as one of ``max_features``. Multiway
        trees without ``max_leaf_nodes`` draw constant columns in any case; with True a drawn one
        takes a level of ``max_depth``.

    Attributes
    ----------
    forest_ : Forest
        The trees as flat arrays.
    classes_ : array of shape (C,)
        Sorted class labels.
    n_classes_ : int
        Number of classes C.
    n_features_in_ : int
        Number of columns p.
    feature_names_in_ : array of shape (p,)
        Names of the columns, where X had names.
    feature_importances_ : array of shape (p,)
        Mean decrease of impurity, with sum 1.
    oob_score_ : float
        Out-of-bag accuracy, if asked for.
    oob_decision_function_ : array of shape (n, C)
        Out-of-bag class probabilities; NaN where a row is in every bag.
    oob_error_curve_ : array of shape (n_estimators,)
        Out-of-bag error rate after 1, 2, ... trees.

    References
    ----------
    Ho, The random subspace method for constructing decision forests, IEEE Transactions on Pattern
    Analysis and Machine Intelligence 20 (1998).
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        max_features: str | int | float | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        n_subspace_features: int | float = 0.5,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        class_weight: ClassWeight = None,
        max_samples: int | float | None = None,
        splits: str = "ordered",
        categorical_features: Columns = None,
        stop_alpha: float | None = None,
        count_constant_features: bool = False,
    ) -> None:
        self._store(locals())


class RandomSubspaceRegressor(ForestRegressor):
    """Random subspace trees for numbers: each tree sees some of the columns.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"squared_error", "variance"}, default="squared_error"
        Impurity: the variance of ``y``, under two names.
    max_depth : int or None, default=None
        Greatest depth of a leaf; None for no limit.
    min_samples_split : int or float, default=2
        Least number of distinct rows at a node that is split; a float is a share of the rows.
    min_samples_leaf : int or float, default=1
        Least number of distinct rows at a child; a float is a share of the rows.
    max_features : {"sqrt", "log2"}, int, float or None, default=None
        Candidate columns at a node, drawn without replacement among those that are not constant
        there; a float is a share of the columns, None all of them.
    max_leaf_nodes : int or None, default=None
        Greatest number of leaves, the largest decreases of impurity first; None for no limit.
    min_impurity_decrease : float, default=0.0
        Least decrease of impurity, times the share of the rows' weight at the node, of a split.
    n_subspace_features : int or float, default=0.5
        Columns drawn for each tree, without replacement; a float is a share of the columns.
    bootstrap : bool, default=False
        Whether the rows of a tree are drawn with replacement.
    oob_score : bool or callable, default=False
        Whether to estimate the coefficient of determination from the trees that lack a row in
        their bag; a callable ``score(y_true, y_pred)`` replaces it.
    n_jobs : int or None, default=None
        Threads; -1 for all processors, None for one. The forest does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Where the seed comes from; an int gives the same forest every time.
    verbose : int, default=0
        Above 0 for a progress bar on standard error.
    max_samples : int, float or None, default=None
        Rows drawn for each tree, a float being a share; with replacement if ``bootstrap``, else
        without. None for as many as there are.
    splits : {"ordered", "multiway", "one-vs-rest", "any"}, default="ordered"
        Family of splits: in two by order, one child a value, one value against the others, or any
        two groups of the categories of a nominal column.
    categorical_features : None, "from_dtype" or list of names, indices or bools, default=None
        Columns to take for nominal ones beside those whose type says so.
    stop_alpha : float or None, default=None
        Level of the chi-square test that a node's split must pass; None for no test.
    count_constant_features : bool, default=False
        Whether a column that is constant at the node counts as one of ``max_features``. Multiway
        trees without ``max_leaf_nodes`` draw constant columns in any case; with True a drawn one
        takes a level of ``max_depth``.

    Attributes
    ----------
    forest_ : Forest
        The trees as flat arrays.
    n_features_in_ : int
        Number of columns p.
    feature_names_in_ : array of shape (p,)
        Names of the columns, where X had names.
    feature_importances_ : array of shape (p,)
        Mean decrease of impurity, with sum 1.
    oob_score_ : float
        Out-of-bag coefficient of determination, if asked for.
    oob_prediction_ : array of shape (n,)
        Out-of-bag predictions; NaN where a row is in every bag.
    oob_error_curve_ : array of shape (n_estimators,)
        Out-of-bag mean squared error after 1, 2, ... trees.

    References
    ----------
    Ho, The random subspace method for constructing decision forests, IEEE Transactions on Pattern
    Analysis and Machine Intelligence 20 (1998).
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        max_features: str | int | float | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        n_subspace_features: int | float = 0.5,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        max_samples: int | float | None = None,
        splits: str = "ordered",
        categorical_features: Columns = None,
        stop_alpha: float | None = None,
        count_constant_features: bool = False,
    ) -> None:
        self._store(locals())
