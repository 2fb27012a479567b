"""Perfect random tree ensembles: a cut between two random rows of different classes."""

from __future__ import annotations

from collections.abc import Callable

from duramen.estimators.base import ClassWeight, Columns, ForestClassifier, RandomState


class PERTClassifier(ForestClassifier):
    """Perfect random tree ensembles (PERT): cuts between two random rows of different classes.

    At a node two rows of different classes are drawn, then a column on which they differ, and the
    cut is a uniform mixture of their two values. The criterion only measures what the splits
    achieve.

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
    categorical_features : None, "from_dtype" or list of names, indices or bools, default=None
        Columns to take for nominal ones beside those whose type says so.

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
    Cutler, Zhao, PERT - perfect random tree ensembles, Computing Science and Statistics 33 (2001).
    """

    cut_rule = "pert"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        class_weight: ClassWeight = None,
        max_samples: int | float | None = None,
        categorical_features: Columns = None,
    ) -> None:
        self._store(locals())
