"""Perfect random tree ensembles: a cut between two random rows of different classes."""

from __future__ import annotations

from dataclasses import dataclass, field

from duramen.estimators.base import ForestClassifier


@dataclass(kw_only=True, eq=False, repr=False)
class PERTClassifier(ForestClassifier):
    """Perfect random tree ensembles (PERT): cuts between random rows of different classes.

    At a node two rows of different classes are drawn, then a feature on which they differ, and the
    cut is a uniform mixture of their two values; with `feature_first` the feature comes first. In
    other families of splits the two rows come to different children. Where `min_samples_leaf` does
    not allow a split, other features are tried, then other pairs of rows; a node for which ten
    rounds yield no split is a leaf. The criterion only measures what the splits achieve.

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
    feature_first : bool, default=False
        Whether the feature of a split is drawn before the two rows, which then are any two of
        different classes that differ on it; otherwise the rows come first.
    categorical_features : None, "from_dtype" or list of names, indices or bools, default=None
        Columns to treat as categorical, besides those whose type says so.

    References
    ----------
    Cutler, Zhao, PERT - perfect random tree ensembles, Computing Science and Statistics 33 (2001).

    Examples
    --------
    >>> import duramen as dm
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> dm.PERTClassifier(20, random_state=0).fit(X, y).predict([[3.0]])
    array(['b'], dtype=object)
    """

    cut_rule = "pert"

    max_features: str | int | float | None = field(default=None, init=False)
    n_best_splits: int = field(default=1, init=False)
    feature_first: bool = False
    stop_alpha: float | None = field(default=None, init=False)
    stop_permutations: int | None = field(default=None, init=False)
    count_constant_features: bool = field(default=False, init=False)
