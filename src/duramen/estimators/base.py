"""Base classes of the forest estimators: fitting, prediction, out-of-bag estimates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cache, partial
from math import isqrt, log2
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from duramen.data import (
    ClassTarget,
    EncodedTable,
    Exchangeability,
    LearningSet,
    NumberTarget,
    Target,
    Task,
    encode,
)
from duramen.data.learning_sets import learning_set_of, of_ordinary_size, whole_ratios
from duramen.data.memory import require_memory
from duramen.data.sources import categorical_kinds, names_of, shape_of, table_like
from duramen.forests import prediction, storage
from duramen.forests.forest import Forest, TreeStream, mean_decreases
from duramen.forests.growth import Guidance, grow
from duramen.forests.memory import (
    PILOT_TREES,
    most_tree_bytes,
    refuse_large_forest,
    require_tree,
)
from duramen.forests.patches import patch_memory
from duramen.forests.pruning import pruned_by_error
from duramen.forests.settings import (
    CRITERIA,
    FEW_VALUES,
    SPLITS,
    GrowthSettings,
    resolve_count,
    resolve_subspace,
    split_family,
)
from duramen.forests.storage import PLAIN
from duramen.forests.structure import decision_path
from duramen.io import ColumnStore
from duramen.jobs.progress import progress_bar
from duramen.results.summary import counted
from duramen.support import checks
from duramen.support.arrays import Arrays, BoolArray, FloatArray, TableLike
from duramen.support.checks import warn

_NEEDS_BAGS = (
    " needs trees that leave rows out. Hint: use bootstrap=True, or max_samples below the "
    "number of rows."
)

OUT_OF_BAG = ("oob_score_", "oob_decision_function_", "oob_prediction_", "oob_error_curve_")

RandomState = int | np.random.RandomState | np.random.Generator | None
ClassWeight = Mapping[Any, float] | str | None
Columns = str | Sequence[str] | Sequence[int] | Sequence[bool] | None


@dataclass(kw_only=True, eq=False, repr=False)
class BaseForest(ABC, BaseEstimator):  # type: ignore[misc]
    """Base of the forest estimators; use a derived class.

    An estimator is a set of parameters with defaults of its own, which are fields of a dataclass
    and checked in ``fit`` by :meth:`growth_settings`. An estimator declares those whose default
    differs, with ``init=False`` those that it does not have; its docstring has the texts of this
    one, which tools/docstrings.py copies.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    criterion : str
        Impurity of the nodes; each task has names of its own.
    max_depth : int or None
        Maximum depth of the trees; None for no limit.
    min_samples_split : int or float
        Minimum number of distinct rows at a node that is split; a float is a fraction of all rows.
    min_samples_leaf : int or float
        Minimum number of distinct rows at a child; a float is a fraction of all rows.
    max_features : {"sqrt", "log2"}, int, float or None
        Number of features tried at a node, drawn among those that are not constant there; a float
        is a fraction of the features, None all of them.
    max_leaf_nodes : int or None
        Maximum number of leaves; nodes whose splits decrease impurity most are split first.
    min_impurity_decrease : float
        Minimum decrease of impurity of a split, times the fraction of the weight at the node.
    min_impurity_split : float
        Impurity up to which a node is a leaf, in the unit of ``criterion``.
    n_subspace_features : int or float
        Number of features drawn for each tree, without replacement; a float is a fraction.
    bootstrap : bool
        Whether the rows of a tree are drawn with replacement: whole groups with ``groups`` of
        `fit`.
    oob_score : bool or callable
        Whether to compute out-of-bag estimates; a callable ``(y_true, y_pred)`` is the score.
    n_jobs : int or None
        Number of threads; None for 1, -1 for all processors. The result does not depend on it.
    random_state : int, RandomState, Generator or None
        Source of the seed; an int gives the same forest every time.
    verbose : int
        Above 0 for a progress bar on standard error.
    class_weight : dict, "balanced", "balanced_subsample" or None
        Weights of the classes; "balanced": n / (C n_c), "balanced_subsample": so in each bag.
    ccp_alpha : float
        Complexity parameter of minimal cost-complexity pruning: each grown tree is cut back to its
        subtree of least impurity + ``ccp_alpha`` times the number of leaves; 0 for none.
    max_samples : int, float or None
        Number of rows, or groups, drawn for each tree, without replacement unless ``bootstrap``; a
        float is a fraction, None as many as there are.
    splits : {"auto", "ordered", "multiway", "one-vs-rest", "any"}
        Family of splits: two groups by order; one child for each value; one value against all
        others; any two groups of categories. "auto" is "ordered" if a numeric column has more than
        10 distinct values, else "multiway".
    n_best_splits : int
        Number k of the best splits of a node, over all features tried there, one of which is taken
        at random, each with the same probability; 1 for the best one.
    feature_first : bool
        Whether the feature of a split is drawn before the two rows, which then are any two of
        different classes that differ on it; otherwise the rows come first.
    categorical_features : None, "from_dtype" or list of names, indices or bools
        Columns to treat as categorical, besides those whose type says so.
    stop_alpha : float or None
        Level of the test that a split must pass, by chi-square unless ``stop_permutations`` are
        given; None for no test.
    stop_permutations : int or None
        Number of permutations of the target at the node by which the best split is tested at level
        ``stop_alpha``; None for the chi-square test.
    count_constant_features : bool
        Whether a feature that is constant at the node counts as one of ``max_features``; in
        multiway trees, which draw them anyway, whether such a draw takes a level of depth.
    """

    n_estimators: int = field(default=100, kw_only=False)
    criterion: str = "gini"
    max_depth: int | None = None
    min_samples_split: int | float = 2
    min_samples_leaf: int | float = 1
    max_features: str | int | float | None = None
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    min_impurity_split: float = 0.0
    n_subspace_features: int | float | None = field(default=None, init=False)
    bootstrap: bool = False
    oob_score: bool | Callable[..., float] = False
    n_jobs: int | None = None
    random_state: RandomState = None
    verbose: int = 0
    class_weight: ClassWeight = None
    ccp_alpha: float = 0.0
    max_samples: int | float | None = None
    splits: str = "ordered"
    n_best_splits: int = 1
    feature_first: bool = field(default=False, init=False)
    categorical_features: Columns = None
    stop_alpha: float | None = None
    stop_permutations: int | None = None
    count_constant_features: bool = False

    target_class: ClassVar[type[Target]]
    task: ClassVar[Task]
    cut_rule: ClassVar[str] = "best"
    # Whether the trees read their rows and columns of a store, which then stays on disk.
    reads_patches: ClassVar[bool] = False
    _saved: ClassVar[tuple[str, ...]] = OUT_OF_BAG  # attributes beside the forest
    # Guidance of growth from a learning set, settings, seed and number of threads; None for none.
    _guidance: ClassVar[Callable[..., Guidance] | None] = None

    forest_: Forest = field(init=False)
    n_features_in_: int = field(init=False)

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Return the names of the parameters; scikit-learn would read the signature each time."""
        names: list[str] = super()._get_param_names()
        return names

    def growth_settings(
        self, n_rows: int, n_features: int, table: Any = None, n_groups: int | None = None
    ) -> GrowthSettings:
        """Check every parameter, and return the settings of growth on a table of n rows.

        Without the table, ``splits="auto"`` stands for "ordered". `n_groups` is the number of their
        groups, where trees draw groups; None where each row is drawn by itself.
        """
        owner = type(self).__name__
        # Parameters that settings have by the same name, with their checks and limits.
        counts, limits, flags = checks.check_count_or_fraction, checks.check_real, checks.check_flag
        checked: dict[str, Any] = {
            name: check(owner, name, getattr(self, name), *bounds)
            for name, check, *bounds in (
                ("max_depth", checks.check_optional_integer, 1),
                ("max_leaf_nodes", checks.check_optional_integer, 2),
                ("stop_permutations", checks.check_optional_integer, 1),
                ("min_samples_split", counts, n_rows, 2),
                ("min_samples_leaf", counts, n_rows, 1),
                ("min_impurity_decrease", limits, 0),
                ("min_impurity_split", limits, 0),
                ("ccp_alpha", limits, 0),
                ("bootstrap", flags),
                ("feature_first", flags),
            )
        }
        checks.check_integer(owner, "n_estimators", self.n_estimators, 1, most=2**62)
        subspace = resolve_subspace(owner, self.n_subspace_features, n_features)
        offered, max_features = subspace or n_features, self.max_features
        if max_features is None:
            max_features = offered
        elif isinstance(max_features, str) and max_features in ("sqrt", "log2"):
            max_features = isqrt(offered) if max_features == "sqrt" else int(log2(offered))
            max_features = max(1, max_features)
        else:
            hint = f"X has {counted(n_features, 'feature')}"
            if offered < n_features:
                hint += f", and n_subspace_features leaves {offered} of them to a tree"
            choices = "'sqrt', 'log2', None (all), "
            max_features = resolve_count(
                owner, "max_features", max_features, offered, choices=choices, hint=hint
            )
        row_samples = 0
        if self.max_samples is not None:
            n_units, units = (n_rows, "rows") if n_groups is None else (n_groups, "groups")
            row_samples = resolve_count(
                owner,
                "max_samples",
                self.max_samples,
                n_units,
                choices="None, ",
                most=checks.MOST if self.bootstrap else n_units,
                hint="" if self.bootstrap else f"bootstrap=False draws {units} without replacement",
                rounded=round,
            )
            row_samples = 0 if row_samples == n_units else row_samples
        of_task = [known for known in CRITERIA.values() if known.task == self.task]
        criteria = {alias: known.name for known in of_task for alias in known.aliases}
        stop_alpha = 1.0
        if self.stop_alpha is not None:
            hint = "None or 1 for no test"
            stop_alpha = checks.check_real(owner, "stop_alpha", self.stop_alpha, 0, 1, hint=hint)
        splits: Any = self.splits
        if isinstance(splits, str) and splits == "auto":
            splits = split_family(table)
        constants, n_best = self.count_constant_features, self.n_best_splits
        settings = GrowthSettings(
            **{**checked, "stop_permutations": checked["stop_permutations"] or 0},
            criterion=criteria[checks.check_choice(owner, "criterion", self.criterion, criteria)],
            cut=self.cut_rule,
            max_features=max_features,
            column_samples=subspace,
            balanced_subsample=isinstance(self.class_weight, str)
            and self.class_weight == "balanced_subsample",
            row_samples=row_samples,
            splits=checks.check_choice(owner, "splits", splits, ("auto", *SPLITS)),
            n_best_splits=checks.check_integer(owner, "n_best_splits", n_best, 1, most=2**31 - 1),
            stop_alpha=stop_alpha,
            count_constants=checks.check_flag(owner, "count_constant_features", constants),
        )
        if not callable(self.oob_score):
            checks.check_flag(owner, "oob_score", self.oob_score)
        checks.check_jobs(owner, self.n_jobs)
        checks.check_verbosity(owner, self.verbose)
        if settings.n_best_splits > 1 and splits == "multiway":
            raise ValueError(
                f"{owner}: n_best_splits must be 1 with splits='multiway', whose nodes have one "
                f"split a feature, got {settings.n_best_splits}. Hint: splits='ordered'."
            )
        count = settings.stop_permutations
        if count and (stop_alpha >= 1 or stop_alpha * (count + 1) * (1 + 1e-12) < 1):
            raise ValueError(
                f"{owner}: stop_permutations must be at least 1 / stop_alpha - 1, as no p-value is "
                f"below 1 / (stop_permutations + 1), and stop_alpha, the level of the test, below "
                f"1; got {count} with stop_alpha={stop_alpha:g}."
            )
        return settings

    def fit(
        self,
        X: TableLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array, data frame, sparse matrix, EncodedTable or LearningSet of shape (n, p)
            The training table. NaN and None are missing values; infinities are refused. With a
            learning set, `y`, `sample_weight` and `groups` are those that it holds.
        y : array-like of shape (n,)
            Class labels, or finite numbers in regression.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of the rows; rows of weight 0 are left out. Only their ratios
            matter, up to rounding: weights whose largest is beyond 2**-22..2**22 are divided by a
            power of two, and fractional weights in ratios of small whole numbers become these. In
            survival weights are whole numbers of copies.
        groups : array-like of shape (n,), optional
            Group of each row, such as the person that it was measured on. Trees that draw rows draw
            whole groups: a row is out of the bag of a tree that saw no row of its group, so that
            out-of-bag estimates hold for new groups. ``max_samples`` counts groups. No effect where
            every tree sees all rows.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            When a parameter, X, y, the weights or the groups are not as described.
        MemoryError
            When the forest could not fit in memory.
        """
        fit_by_parts(self, X, y=y, sample_weight=sample_weight, groups=groups)
        return self

    def _prepare(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, groups: Any = None
    ) -> tuple[LearningSet[Any], GrowthSettings]:
        """Check the parameters and the data; return the learning set and the growth settings."""
        owner = type(self).__name__
        function = f"{owner}.fit"
        table, rows = X, None
        if isinstance(X, LearningSet):
            table, rows = X.table, X.exchangeability
        else:
            table = table_like(X)
        n_rows, n_features = shape_of(table) or encode(table).shape
        if rows is None:
            rows = Exchangeability.checked(n_rows, groups=groups, function=function)
        n_groups = None if rows.groups is None else rows.n_units
        settings = self.growth_settings(n_rows, n_features, n_groups=n_groups)
        if self.oob_score and not settings.samples_rows:
            raise ValueError(f"{owner}: oob_score{_NEEDS_BAGS}")
        kinds = None
        if self.categorical_features is not None:
            kinds = categorical_kinds(owner, self.categorical_features, names_of(table), n_features)
            if kinds and isinstance(table, EncodedTable):
                raise ValueError(
                    f"{function}: X is an EncodedTable, whose kinds are set already; leave "
                    "categorical_features at None, or name the kinds in encode"
                )
        data = learning_set_of(
            X,
            y,
            function,
            self.task,
            sample_weight=sample_weight,
            kinds=kinds,
            groups=groups,
            allow_one_class=True,
            n_jobs=checks.check_jobs(owner, self.n_jobs),
        )
        if not (self.reads_patches and isinstance(data.table, ColumnStore)):
            data = data.in_memory()
        if self.class_weight is not None:
            weights = combine_class_weight(owner, self.class_weight, data.target, data.weights)
            data = data.with_weights(weights)
        if self.splits == "auto":
            settings = self.growth_settings(n_rows, n_features, data.table, n_groups)
        elif self.splits == "multiway":
            schema = data.table.schema
            counts = np.diff(schema.value_offsets)
            single = (schema.kind_codes == 0) & (counts > max(FEW_VALUES, 0.9 * n_rows))
            if single.any():
                j = int(np.argmax(single))
                warn(
                    f"{owner}: splits='multiway' gives each value a child, and "
                    f"{schema.names[j]!r} has {counts[j]:,} distinct values in {n_rows:,} rows: "
                    "children of single rows do not predict other rows. Hint: splits='auto' or "
                    "'ordered', or bins of the numbers (duramen.theory.discretize)."
                )
        return data, settings

    def _adopt(self, forest: Any) -> None:
        """Set the fitted attributes that follow from the forest, and forget all others."""
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            delattr(self, name)
        self.forest_ = forest
        self.n_outputs_ = 1
        self.n_features_in_ = forest.n_features
        if forest.schema.named:
            self.feature_names_in_ = np.array(forest.names, dtype=object)
        if forest.classes is not None:
            self.classes_ = forest.classes
            self.n_classes_ = len(forest.classes)

    @abstractmethod
    def _set_out_of_bag(self, deviations: FloatArray, seen: BoolArray, target: Target) -> None:
        """Set the out-of-bag attributes of the task from predictions less the forest's origin.

        `seen` marks the rows that have them.
        """

    # Rows through the trees

    def _routed(self, X: Any, method: str) -> tuple[prediction.Rows, int]:
        """Return rows as they are sent down the trees, and the number of threads."""
        check_is_fitted(self, "forest_")
        owner = type(self).__name__
        rows = prediction.rows_of(self.forest_, X, owner, f"{owner}.{method}")
        return rows, checks.check_jobs(owner, self.n_jobs)

    def apply(self, X: TableLike) -> NDArray[np.int32]:
        """Return the leaf of every row in every tree.

        Parameters
        ----------
        X : array, data frame, sparse matrix or EncodedTable of shape (n, p)
            The rows.

        Returns
        -------
        int32 array of shape (n, n_estimators)
            Number of the leaf among the nodes of its tree.
        """
        rows, n_threads = self._routed(X, "apply")
        return prediction.leaves(self.forest_, rows, n_threads)

    def decision_path(self, X: TableLike) -> tuple[sparse.csr_matrix, NDArray[np.int64]]:
        """Return the nodes that every row passes through.

        Parameters
        ----------
        X : array, data frame, sparse matrix or EncodedTable of shape (n, p)
            The rows.

        Returns
        -------
        indicator : sparse CSR matrix of shape (n, N)
            1 where a row passes through a node; the nodes of all trees side by side.
        n_nodes_ptr : int64 array of shape (n_estimators + 1,)
            Columns ``n_nodes_ptr[t]:n_nodes_ptr[t + 1]`` are the nodes of tree t.
        """
        return decision_path(self.forest_, self.apply(X))

    def proximity(self, X: TableLike, oob: bool = False) -> NDArray[np.float64]:
        """Return the fraction of trees in which two rows fall into the same leaf.

        Parameters
        ----------
        X : array, data frame, sparse matrix or EncodedTable of shape (n, p)
            The rows.
        oob : bool
            Count only the trees whose bag lacks both rows. X must be the training table: its bags
            are drawn again, and that they lead to the leaves of the forest is checked. NaN where
            no tree lacks both rows.

        Returns
        -------
        float64 array of shape (n, n)
            Symmetric, 1 on the diagonal.

        Raises
        ------
        ValueError
            When ``oob`` is true and X is not the training table, or no row was left out.
        """
        function = f"{type(self).__name__}.proximity"
        oob = checks.check_flag(function, "oob", oob)
        rows, n_threads = self._routed(X, "proximity")
        require_memory(
            8 * len(rows) ** 2,
            what=f"{len(rows)} x {len(rows)} proximities",
            function=function,
            hint="give fewer rows",
        )
        leaves = prediction.leaves(self.forest_, rows, n_threads)
        if oob:
            self._check_bags(leaves, f"{function}: oob=True", "; for other rows use oob=False")
        return prediction.proximity(self.forest_, leaves, oob=oob, n_threads=n_threads)

    def pruned(self, X: Any, y: Any) -> Self:
        """Return a copy whose trees are pruned by their error on rows that were held out.

        Each tree is cut back to its smallest subtree of least error: the number of rows of other
        classes than the most frequent one of their leaf, or the sum of squared deviations from the
        mean of their leaf (reduced-error pruning, Quinlan 1987; Sutera 2019, thesis, section
        3.2.2.2). Out-of-bag estimates are those of the grown trees, and are left out. A test or a
        measure that grows forests anew takes the parameters of the estimator alone, and does not
        prune.

        Parameters
        ----------
        X : array, data frame, sparse matrix or EncodedTable of shape (n, p)
            Rows that the forest was not grown on.
        y : array-like of shape (n,)
            Their classes or numbers.

        Returns
        -------
        estimator
            Fitted estimator of the same class with the pruned trees.

        Raises
        ------
        ValueError
            For survival, or if y has another length than X or holds a class that the forest was not
            grown on.

        Examples
        --------
        >>> import duramen as dm
        >>> data = dm.datasets.linear_sign(200, 6, n_relevant=2, random_state=0)
        >>> grown = dm.BaggedTreesClassifier(5, random_state=0).fit(data.X[:100], data.y[:100])
        >>> smaller = grown.pruned(data.X[100:], data.y[100:])
        >>> smaller.forest_.n_nodes < grown.forest_.n_nodes
        True
        """
        function = f"{type(self).__name__}.pruned"
        rows, n_threads = self._routed(X, "pruned")
        forest = self.forest_
        if forest.target_class.censored:
            raise ValueError(
                f"{function}: the forest must be one for classification or regression, got one for "
                "survival. Hint: max_leaf_nodes or min_samples_leaf bound survival trees."
            )
        labels: NDArray[Any] = np.asarray(y)
        if labels.shape != (len(rows),):
            raise checks.refuse(
                function, "y", f"of shape ({len(rows)},), one value a row of X", labels.shape
            )
        if forest.classes is None:
            target = labels.astype(np.float64) - forest.origin
            if not np.isfinite(target).all():
                raise checks.refuse(function, "y", "finite numbers", "NaN or infinity")
        else:
            place = {label: code for code, label in enumerate(forest.classes.tolist())}
            strange = [label for label in labels.tolist() if label not in place]
            if strange:
                raise checks.refuse(
                    function, "y", f"classes of the forest, {forest.classes}", strange[0]
                )
            target = np.array([place[label] for label in labels.tolist()], dtype=np.intp)
        smaller = copy(self)
        for name in OUT_OF_BAG:
            smaller.__dict__.pop(name, None)
        leaves = prediction.leaves(forest, rows, n_threads)
        smaller.forest_ = pruned_by_error(forest, leaves, target)
        return smaller

    def _check_bags(self, leaves: NDArray[np.int32], subject: str, hint: str = "") -> None:
        """Check that bags leave rows out, and that these are the leaves of the training rows."""
        if not self.forest_.settings.samples_rows:
            raise ValueError(f"{subject}{_NEEDS_BAGS}")
        if not self.forest_.is_filled_by(leaves):
            raise ValueError(
                f"{subject} needs the table that the forest was grown on, {self.forest_.n_rows} "
                f"rows in the same order{hint}"
            )

    @property
    def estimators_(self) -> list[Self]:
        """The trees as fitted estimators of one tree each, whose arrays are views."""
        check_is_fitted(self, "forest_")
        trees = []
        for index in range(self.forest_.n_trees):
            single: Self = clone(self).set_params(n_estimators=1, oob_score=False)
            single._adopt(self.forest_.part(index, index + 1))
            trees.append(single)
        return trees

    # Importances and files

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Mean decrease of impurity of every column, divided by its sum.

        The mean is over all trees, and then normalized; scikit-learn normalizes each tree before
        it takes the mean. The two are equal where all trees explain the same amount. All zero when
        no tree has a split. ``duramen.importances.mdi`` gives the values in the criterion's unit.
        """
        check_is_fitted(self, "forest_")
        values = mean_decreases(self.forest_).values
        total = values.sum()
        return values / total if total > 0 else np.zeros_like(values)

    def save(self, path: str | PathLike[str]) -> None:
        """Save the fitted estimator to one .npz file, without pickle.

        A ``random_state`` that is a generator is saved as None, and a callable ``oob_score`` as
        True; the forest keeps its seed.
        """
        check_is_fitted(self, "forest_")
        parameter_items = self.get_params(deep=False).items()
        parameters = {name: _plain_parameter(name, value) for name, value in parameter_items}
        attributes = [name for name in self._saved if hasattr(self, name)]
        arrays = {name: np.asarray(getattr(self, name)) for name in attributes}
        owner = type(self).__name__
        storage.save(path, owner, self.forest_, arrays, parameters=parameters)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load an estimator that :meth:`save` wrote.

        Raises
        ------
        ValueError
            When the file holds something else.
        """
        return storage.load(path, cls.__name__, f"{cls.__name__}.load", cls._unpacked)

    @classmethod
    def _unpacked(cls, forest: dict[str, Any], header: dict[str, Any], arrays: Arrays) -> Self:
        parameters: dict[str, Any] = {
            name: dict(value["pairs"]) if isinstance(value, dict) else value
            for name, value in header["parameters"].items()
        }
        estimator = cls(**parameters)
        estimator._adopt(Forest.checked(forest))
        for name in set(cls._saved) & set(arrays):
            setattr(estimator, name, arrays[name] if arrays[name].ndim else arrays[name].item())
        return estimator

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "forest_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class ForestClassifier(ClassifierMixin, BaseForest):  # type: ignore[misc]
    """Base of the forests for classification.

    Attributes
    ----------
    forest_ : Forest
        The trees as flat arrays, without the training rows.
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
    """

    target_class: ClassVar[type[Target]] = ClassTarget
    task: ClassVar[Task] = ClassTarget.task

    classes_: NDArray[Any] = field(init=False)
    n_classes_: int = field(init=False)

    def _set_out_of_bag(self, deviations: FloatArray, seen: BoolArray, target: Target) -> None:
        self.oob_decision_function_ = deviations
        codes, guess = target.values[seen], np.argmax(deviations[seen], axis=1)
        score = float("nan")
        if len(codes) and callable(self.oob_score):
            score = float(self.oob_score(self.classes_[codes], self.classes_[guess]))
        elif len(codes):
            score = float(np.mean(codes == guess))
        self.oob_score_ = score

    def predict(self, X: TableLike) -> NDArray[Any]:
        """Predict the most probable class of every row, shape (n,); ties go to the first class.

        Parameters
        ----------
        X : array, data frame, sparse matrix or EncodedTable of shape (n, p)
            The rows. Categories that were never seen go to the heavier child.
        """
        best = np.argmax(self.predict_proba(X), axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Predict class probabilities, shape (n, n_classes): means over trees of leaf frequencies.

        Parameters
        ----------
        X : array, data frame, sparse matrix or EncodedTable of shape (n, p)
            The rows.
        """
        rows, n_threads = self._routed(X, "predict")
        return prediction.predict(self.forest_, rows, n_threads)

    def oob_votes(self, X: TableLike) -> NDArray[np.int64]:
        r"""Count the trees that vote for each class, of those whose bag lacks the row.

        A tree votes for the most frequent class of the leaf, the first one of equal ones. The
        out-of-bag error by majority vote is the fraction of rows whose class has not the most
        votes (Sutera 2019, thesis, section 3.3.2.3). `oob_score_` and `oob_decision_function_` go
        by averaged probabilities, which can lead to another class where leaves hold several.

        Parameters
        ----------
        X : array, data frame, sparse matrix or EncodedTable of shape (n, p)
            The training table.

        Returns
        -------
        int64 array of shape (n, n_classes)
            Votes; a row that is in every bag has none.

        Raises
        ------
        ValueError
            When X is not the training table, or no row was left out.

        Examples
        --------
        >>> import duramen as dm
        >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
        >>> forest = dm.RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
        >>> votes = forest.fit(data.X, data.y).oob_votes(data.X)
        >>> error = (forest.classes_[votes.argmax(axis=1)] != data.y).mean()
        """
        rows, n_threads = self._routed(X, "oob_votes")
        leaves = prediction.leaves(self.forest_, rows, n_threads)
        self._check_bags(leaves, f"{type(self).__name__}.oob_votes")
        return prediction.out_of_bag_votes(self.forest_, leaves)

    def predict_log_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Return the natural logarithms of :meth:`predict_proba`; minus infinity where it is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


@dataclass(kw_only=True, eq=False, repr=False)
class ForestRegressor(RegressorMixin, BaseForest):  # type: ignore[misc]
    """Base of the forests for regression.

    Attributes
    ----------
    forest_, n_features_in_, feature_names_in_, feature_importances_
        As in :class:`ForestClassifier`.
    oob_score_ : float
        Out-of-bag coefficient of determination, if asked for.
    oob_prediction_ : array of shape (n,)
        Out-of-bag predictions; NaN where a row is in every bag.
    oob_error_curve_ : array of shape (n_estimators,)
        Out-of-bag mean squared error after 1, 2, ... trees.
    """

    target_class: ClassVar[type[Target]] = NumberTarget
    task: ClassVar[Task] = NumberTarget.task
    criterion: str = "squared_error"
    class_weight: ClassWeight = field(default=None, init=False)

    def _set_out_of_bag(self, deviations: FloatArray, seen: BoolArray, target: Target) -> None:
        from sklearn.metrics import r2_score

        origin, guess = self.forest_.origin, deviations[seen, 0]
        self.oob_prediction_ = deviations[:, 0] + origin
        truth: NDArray[Any] = target.values[seen]
        score = float("nan")
        if len(truth) and callable(self.oob_score):
            score = float(self.oob_score(truth, self.oob_prediction_[seen]))
        elif len(truth) > 1:
            score = float(r2_score(truth - origin, guess))
        self.oob_score_ = score

    def predict(self, X: TableLike) -> NDArray[np.float64]:
        """Predict the mean over the trees of the means of the leaves, shape (n,).

        Parameters
        ----------
        X : array, data frame, sparse matrix or EncodedTable of shape (n, p)
            The rows. Categories that were never seen go to the heavier child.
        """
        rows, n_threads = self._routed(X, "predict")
        return prediction.predict(self.forest_, rows, n_threads)[:, 0]

    def score(
        self, X: TableLike, y: ArrayLike | None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Compute R^2 of :meth:`predict`, as scikit-learn does."""
        from sklearn.metrics import r2_score

        rows, n_threads = self._routed(X, "predict")
        guess = prediction.deviations(self.forest_, rows, n_threads)
        truth = np.asarray(y, dtype=np.float64) - self.forest_.origin
        return float(r2_score(truth, guess[:, 0], sample_weight=sample_weight))


def _plain_parameter(name: str, value: Any) -> Any:
    """Return a parameter as a JSON value, or as text if JSON cannot represent it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, PLAIN):
        return value
    if name == "random_state":
        return None
    if name == "oob_score":
        return True
    if isinstance(value, Mapping):
        pairs = [[_plain_parameter(name, k), _plain_parameter(name, v)] for k, v in value.items()]
        return {"pairs": pairs}
    return [_plain_parameter(name, entry) for entry in value]


# --- weights of classes ---------------------------------------------------------------------------


def combine_class_weight(
    owner: str, class_weight: Any, target: Target, weights: NDArray[np.float64] | None
) -> NDArray[np.float64] | None:
    """Multiply the weights of the rows by the weights of their classes.

    "balanced" weighs class c by n / (C n_c); "balanced_subsample" is left to the growth of each
    tree.
    """
    if class_weight is None or class_weight == "balanced_subsample":
        return weights
    if isinstance(class_weight, dict):
        for label, weight in class_weight.items():
            if not checks.is_real(weight) or not np.isfinite(weight) or weight < 0:
                raise ValueError(
                    f"{owner}: class_weight must hold finite numbers >= 0, got {weight!r} for "
                    f"class {label!r}."
                )
    elif not isinstance(class_weight, str) or class_weight != "balanced":
        allowed = "None, 'balanced', 'balanced_subsample' or a dict of class to weight"
        raise checks.refuse(owner, "class_weight", allowed, class_weight)
    of_class = np.asarray(compute_sample_weight(class_weight, target.labels), dtype=np.float64)
    if of_class.any():
        of_class = of_ordinary_size(of_class)
    combined = of_class if weights is None else of_class * weights
    if not combined.any():
        raise ValueError(
            f"{owner}.fit: every row has weight 0 after class_weight={class_weight!r}; give at "
            "least one class of y a weight above 0"
        )
    combined = of_ordinary_size(combined)
    return whole_ratios(combined) if isinstance(class_weight, dict) else combined


# --- growth: as a whole, or part by part ----------------------------------------------------------

Taker = Callable[[Forest], object]

# Bytes of a part of a forest that is grown part by part, and the most trees of one.
_PART, _MOST_TREES = 1 << 28, 64


def fit_by_parts(
    estimator: BaseForest,
    X: Any,
    takers: Callable[[], Sequence[Taker]] | None = None,
    *,
    y: Any = None,
    sample_weight: ArrayLike | None = None,
    groups: Any = None,
    most_bytes: int = 0,
) -> bool:
    """Fit a forest, with `takers` without keeping its trees if they take too much memory.

    `forest_` is then a `TreeStream`, and the out-of-bag attributes are those of the whole forest.

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forest.
    X, y, sample_weight, groups
        As for :meth:`BaseForest.fit`.
    takers : callable, optional
        Called once `forest_` says all of the forest but its trees. The trees are then given, in
        their order, to each of the functions that it returns. By default the forest is kept.
    most_bytes : int
        Bytes that the trees may take to be kept as a whole.

    Returns
    -------
    bool
        False where the forest is kept, and nothing was called: it takes no more memory, or its
        trees depend on those before.

    Raises
    ------
    MemoryError
        When the forest, or a tree alone, may not fit in memory.
    """
    owner = type(estimator).__name__
    function = f"{owner}.fit"
    data, settings = estimator._prepare(X, y, sample_weight, groups)
    n_trees, n_threads = int(estimator.n_estimators), checks.check_jobs(owner, estimator.n_jobs)
    seed = checks.draw_seed(estimator.random_state)
    guidance = None
    if estimator._guidance is not None:
        guidance = estimator._guidance(data, settings, seed, n_threads)
    grown: Any = partial(grow, data, settings, seed=seed, n_threads=n_threads, guidance=guidance)
    stream = None
    if takers is not None and guidance is None and not data.target.censored:
        largest = most_tree_bytes(settings, data)
        if largest * n_trees > most_bytes:
            require_tree(function, settings, data)
            part = min(_PART, most_bytes)
            pilot = min(PILOT_TREES, n_trees, max(n_threads, part // largest))
            first = grown(first_tree=0, n_trees=pilot)
            of_tree = max(1, first.nbytes // pilot)
            if of_tree * n_trees > most_bytes and pilot < n_trees:
                size = max(n_threads, min(_MOST_TREES, part // of_tree))
                stream = TreeStream.after(first, n_trees, size, grown, data.table.schema)
    if stream is None:
        if isinstance(data.table, ColumnStore):
            require_memory(
                patch_memory(data.table, settings, n_threads),
                what=f"random patches on {n_threads} threads",
                function=function,
                hint="lower max_samples, n_subspace_features or n_jobs",
            )
        refuse_large_forest(function, n_trees, settings, data, n_threads)
        with progress_bar(n_trees, owner, estimator.verbose) as report:
            forest = grown(first_tree=0, n_trees=n_trees, progress=report)
        estimator._adopt(forest)
        parts = None
    else:
        assert takers is not None
        estimator._adopt(stream)
        parts = _taken(stream, takers(), owner, estimator.verbose)
    if estimator.oob_score:
        deviations, counts, estimator.oob_error_curve_ = prediction.estimate_out_of_bag(
            estimator.forest_, data.table, data.target, n_threads, parts
        )
        seen = counts > 0
        if not seen.all():
            warn(
                f"{owner}: {int((~seen).sum())} of {len(seen)} rows are in the bag of every "
                "tree and have no out-of-bag estimate (NaN); grow more trees",
            )
        estimator._set_out_of_bag(deviations, seen, data.target)
    elif parts is not None:
        for _ in parts:
            pass
    return stream is not None


def _taken(
    stream: TreeStream, takers: Sequence[Taker], owner: str, verbose: int
) -> Iterator[Forest]:
    """Yield the trees of a stream, each part once all takers have had it."""
    with progress_bar(stream.n_trees, owner, verbose) as report:
        done = 0
        for trees in stream.parts():
            for take in takers:
                take(trees)
            yield trees
            done += trees.n_trees
            if report is not None:
                report(done)
