"""A grown forest, and a light view of each of its trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from typing import Any, NamedTuple, Self, TypeAlias
from weakref import ref

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen import _kernel
from duramen.data import LearningSet, Schema, Target, Task
from duramen.data.learning_sets import learning_set_of
from duramen.data.target import target_class
from duramen.forests import boosting, sklearn_models, storage, structure
from duramen.forests.settings import CRITERIA, GrowthSettings
from duramen.forests.structure import (
    ARRAY_NAMES,
    FAMILY_MASK,
    ORDERED,
    LeafEvents,
    TreeArrays,
    joined,
)
from duramen.support.arrays import FloatArray, TableLike


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Grown:
    """Description of trees, and of the table that they were grown on, without the trees.

    Attributes
    ----------
    settings : GrowthSettings
        How the trees were grown.
    schema : Schema
        Columns of the training table: names, kinds, and numbers of distinct values. A forest has
        labels only of the columns that its trees split on, and numbers only of columns with splits
        that are not ordered, which look them up.
    classes : array of shape (C,) or None
        Class labels in the order of the codes; None in regression.
    n_rows : int
        Rows of the training table.
    total_weight : float
        Sum of the row weights of the training table.
    seed : int
        Seed of the counter-based random numbers, in 0..2**64-1.
    fingerprint : str
        Fingerprint of the training table, the target and the weights.
    origin : float
        Number that the values of the leaves in a regression are less than the means of ``y``: the
        lower median of ``y``. Predictions add it.
    link : {"identity", "log", "logit"} or None
        None where predictions are means over the trees. Of boosted trees, whose scores add up: the
        function of predictions, the mean of a distribution or the probabilities of classes, that
        the mean over the trees is.
    groups : uint32 array of shape (n_rows,) or None
        Group of each row of the training table: bags draw whole groups. None where they draw rows.
    task : {"classification", "regression", "survival"}
        Task of the forest.
    target_class : type
        Class of the targets that the forest predicts.
    n_features : int
        Number of columns p of the training table.
    names : tuple of str
        Names of the columns.
    """

    settings: GrowthSettings
    schema: Schema
    classes: NDArray[Any] | None
    n_rows: int
    total_weight: float
    seed: int
    fingerprint: str
    origin: float = 0.0
    link: str | None = None
    groups: NDArray[np.uint32] | None = None
    task: Task = field(init=False)
    target_class: type[Target] = field(init=False)
    n_features: int = field(init=False)
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        task = CRITERIA[self.settings.criterion].task
        derived = {
            "task": task,
            "target_class": target_class(task),
            "n_features": self.schema.n_columns,
            "names": tuple(self.schema.names),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Forest(TreeArrays, Grown):
    """Trees as flat arrays, with the metadata to read and use them.

    The arrays are those of :class:`~duramen.forests.structure.TreeArrays`, the description that of
    :class:`Grown`; ``p`` is the number of columns.

    Attributes
    ----------
    first_tree : int
        Number of the first tree in the stream of random numbers; 0 unless the forest is a part.
    leaf_events : LeafEvents or None
        Event times of the leaves in survival; None otherwise.
    drawn : uint32 array of shape (trees of the whole forest, draws), or None
        Rows that were drawn for each tree by other software, repeated as often as they were drawn;
        None where the seed gives the bags.

    Notes
    -----
    A forest holds no row of the training table. Of its values there are the labels and numbers that
    `schema` describes, thresholds between values, the class labels, in regression `origin` and the
    means of the leaves, which are single values of ``y`` in leaves of one row, and in survival the
    times of events.

    Examples
    --------
    >>> import duramen as dm
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> forest = dm.ExtraTreesClassifier(3, random_state=0).fit(X, y).forest_
    >>> forest.n_nodes
    15
    >>> forest.tree(0)
    Tree(0: 7 nodes, 4 leaves, depth 3)
    """

    first_tree: int = 0
    leaf_events: LeafEvents | None = None
    drawn: NDArray[np.uint32] | None = None

    def __post_init__(self) -> None:
        TreeArrays.__post_init__(self)
        Grown.__post_init__(self)

    @property
    def is_classifier(self) -> bool:
        """True if the target holds classes."""
        return self.classes is not None

    @cached_property
    def degree(self) -> NDArray[np.uint32]:
        """Interaction degree of every split, of shape (N,); 0 at a leaf.

        The number of columns conditioned on above the split: its depth, but in multiway trees the
        columns that were drawn and found constant count too, as they do in the theory.
        """
        if len(self.node_degree) == self.n_nodes:
            return self.node_degree
        return np.where(self.feature < 0, 0, structure.depths(self)).astype(np.uint32)

    @property
    def mean_depth(self) -> FloatArray:
        r"""Mean depth of the leaves of each tree, of shape (T,).

        It is the average depth by which the thesis of Sutera (2019, section 3.2.2.2) measures the
        complexity of a tree. With splits in two and L leaves it is at least :math:`\log_2 L` and at
        most :math:`(L + 1) / 2 - 1 / L`, so that ``max_leaf_nodes`` limits it.
        """
        leaf, trees = self.feature < 0, structure.trees_of_nodes(self)
        depths = structure.depths(self)[leaf]
        return np.bincount(trees[leaf], depths) / np.bincount(trees[leaf])

    @cached_property
    def bags(self) -> _kernel.Bag:
        """Kernel object that gives the bags of the trees."""
        return _kernel.Bag(
            row_samples=self.settings.row_samples,
            bootstrap=self.settings.bootstrap,
            seed=self.seed,
            first_tree=self.first_tree,
            groups=self.groups,
            drawn=self.drawn,
        )

    def has_cuts_of(self, schema: Schema) -> bool:
        """Return whether the codes of a table give the sides of all thresholds.

        Rows of that table can be sent down the trees by their codes. The values of the last such
        table are remembered by reference: a few rows go down faster than all thresholds compare.
        """
        values, offsets = schema.cut_values, schema.value_offsets
        if self._compared and self._compared[0]() is values:
            return True
        nodes = np.flatnonzero((self.feature >= 0) & ~np.isnan(self.threshold))
        if len(nodes) and len(values):
            threshold, columns = self.threshold[nodes], self.feature[nodes]
            last = offsets[columns + 1] - 1
            low = np.minimum(offsets[columns] + self.cut[nodes], last)
            below_next = (low == last) | (threshold < values[np.minimum(low + 1, last)])
            if not ((values[low] <= threshold) & below_next).all():
                return False
        self._compared[:] = [ref(values)]
        return True

    @cached_property
    def _compared(self) -> list[ref[NDArray[np.float64]]]:
        return []

    def is_filled_by(self, leaves: NDArray[np.int32]) -> bool:
        """Tell whether rows fill the leaves, shape (n, T), as the training rows did.

        In every tree no leaf may hold fewer distinct rows of the bag than it did in growth (rows of
        weight 0 were left out of it), nor any row come to another leaf.
        """
        if len(leaves) != self.n_rows:
            return False
        for tree in range(self.n_trees):
            drawn = self.bags.draw(self.n_rows, tree) > 0
            grown = self.tree(tree)
            counts = np.bincount(leaves[drawn, tree], minlength=grown.n_nodes)
            ends = grown.feature < 0
            if (counts[ends] < grown.rows[ends]).any():
                return False
        return True

    def tree(self, index: int) -> Tree:
        """View tree ``index``, counted from 0 (negative: from the end).

        Raises
        ------
        IndexError
            When there is no such tree.
        """
        if not -self.n_trees <= index < self.n_trees:
            raise IndexError(
                f"Forest.tree: index must be in {-self.n_trees}..{self.n_trees - 1}, got {index}"
            )
        index %= self.n_trees
        return Tree(**self.part(index, index + 1).fields())

    def __len__(self) -> int:
        return self.n_trees

    def __iter__(self) -> Iterator[Tree]:
        return (self.tree(index) for index in range(self.n_trees))

    def parts(self) -> Iterator[Forest]:
        """Yield all trees at once, as :class:`~duramen.forests.forest.TreeStream` does by parts."""
        yield self

    def part(self, start: int, stop: int) -> Self:
        """Return the forest of the trees ``start`` .. ``stop - 1``; its arrays are views."""
        if start == 0 and stop == self.n_trees:
            return self
        nodes = slice(int(self.offsets[start]), int(self.offsets[stop]))
        leaves = slice(int(self.leaf_offsets[start]), int(self.leaf_offsets[stop]))
        words = slice(int(self.pool_offsets[start]), int(self.pool_offsets[stop]))
        entries = {"leaf_values": leaves, "pool": words}
        arrays: dict[str, Any] = {}
        for name in ARRAY_NAMES:
            array = getattr(self, name)
            if name.endswith("offsets"):
                arrays[name] = array[start : stop + 1] - array[start]
            else:
                arrays[name] = array[entries.get(name, nodes)]
        return replace(
            self,
            **arrays,
            first_tree=self.first_tree + start,
            leaf_events=None if self.leaf_events is None else self.leaf_events.part(leaves),
        )

    def check(self) -> None:
        """Check that the arrays describe trees (see :mod:`duramen.forests.storage`).

        Raises
        ------
        ValueError
            When they do not, naming the array and the first node at fault.
        """
        storage.check(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Save the forest to one .npz file, without pickle (see :mod:`duramen.forests.storage`).

        Raises
        ------
        TypeError
            When a label is no number, string or truth value.
        """
        storage.save(path, "Forest", self, {})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load a forest that :meth:`save`, of a forest or of an estimator, wrote, and check it.

        Raises
        ------
        ValueError
            When the file is no such file, or its arrays describe no trees.
        """
        return storage.load(path, None, "Forest.load", lambda fields, *_: cls.checked(fields))

    @classmethod
    def from_sklearn(cls, model: Any, X: TableLike, y: ArrayLike | None = None) -> Self:
        """Read a fitted forest or decision tree of scikit-learn.

        The forest has the splits, leaves, impurities and bags of the model and predicts as it does.
        Every measure, effect and explanation takes it, and also takes the model itself.

        Parameters
        ----------
        model : fitted estimator
            RandomForestClassifier or -Regressor, ExtraTreesClassifier or -Regressor, or a decision
            tree of scikit-learn, of one target, with an impurity of Gini, entropy or squared error.
        X : table of shape (n, p), or LearningSet
            Numeric columns of the rows that the model was fitted on, in their order.
        y : array-like of shape (n,), optional
            Classes or numbers of the rows; None with a learning set.

        Returns
        -------
        Forest

        Raises
        ------
        TypeError
            If `model` is another kind of model.
        NotFittedError
            If it is not fitted.
        ValueError
            If `X` holds other rows or columns than those that the model was fitted on, or the model
            has several targets or another criterion.

        Notes
        -----
        scikit-learn rounds X to float32 before it compares a value with a threshold. The thresholds
        of the forest are the float64 numbers that tell all values apart in the same way.

        Examples
        --------
        >>> import duramen as dm
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
        >>> model = RandomForestClassifier(10, random_state=0).fit(X, y)
        >>> forest = dm.Forest.from_sklearn(model, X, y)
        >>> forest.n_trees, forest.classes.tolist()
        (10, ['a', 'b'])
        """
        function = "Forest.from_sklearn"
        if not sklearn_models.is_readable(model):
            raise TypeError(
                f"{function}: model must be a fitted {sklearn_models.READABLE}, got "
                f"{type(model).__module__}.{type(model).__name__}."
            )
        table = sklearn_models.numeric_table(X, function)
        forest = cls(**sklearn_models.forest_fields(model, table, function))
        rows = X if isinstance(X, LearningSet) else table
        data = learning_set_of(rows, y, function, forest.task, allow_one_class=True)
        fits = table.n_rows == forest.n_rows and forest.has_cuts_of(table.schema)
        if not fits or not forest.is_filled_by(_kernel.apply(forest.kernel, table.kernel, 1)):
            raise ValueError(
                f"{function}: X must hold the rows that the model was fitted on, {forest.n_rows} "
                f"in their order, but these {table.n_rows} rows do not fill its leaves. Hint: "
                "measures take the model itself, with rows that were held out too."
            )
        return replace(forest, fingerprint=data.fingerprint)

    @classmethod
    def from_boosting(cls, model: Any) -> Self:
        """Read fitted boosted trees of scikit-learn, LightGBM or XGBoost.

        The mean over the trees of the forest is the raw prediction of the model: the number, its
        logarithm, or the log-odds of a class. `mda`, effects, `local_mdi` of the prediction and
        `shap_trees` take the forest, and also take the model itself.

        Parameters
        ----------
        model : fitted estimator or Booster
            HistGradientBoostingClassifier or -Regressor of scikit-learn, or a model of LightGBM or
            XGBoost, for classes or numbers.

        Returns
        -------
        Forest
            With as many trees as the model. A leaf holds the score of its tree times the number of
            trees, plus the base score; of two classes, for each its log-odds.

        Raises
        ------
        TypeError
            If `model` is another kind of model.
        NotFittedError
            If it is not fitted.
        ValueError
            If it has linear leaves, several targets, or an objective that is neither for classes
            nor for numbers.

        Notes
        -----
        LightGBM is read from ``Booster.dump_model``, XGBoost from ``Booster.save_raw("json")``, and
        scikit-learn, which publishes no trees, from attributes that may change. XGBoost compares
        and adds in float32: predictions agree to 1e-6, those of the others to 1e-12.

        Examples
        --------
        >>> import duramen as dm
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = [[i / 50, i % 5] for i in range(50)], [i % 5 for i in range(50)]
        >>> forest = dm.Forest.from_boosting(HistGradientBoostingRegressor(max_iter=7).fit(X, y))
        >>> forest.n_trees, forest.link
        (7, 'identity')
        """
        function = "Forest.from_boosting"
        if not boosting.is_boosted(model):
            raise TypeError(
                f"{function}: model must be a fitted {boosting.BOOSTED}, got "
                f"{type(model).__module__}.{type(model).__name__}."
            )
        return cls(**boosting.forest_fields(model, None, function))

    def fields(self) -> dict[str, Any]:
        """Return the fields of the forest by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.init}

    @classmethod
    def checked(cls, fields: dict[str, Any]) -> Self:
        """Return the forest of fields that were read, checked."""
        forest = cls(**fields)
        forest.check()
        return forest

    def __repr__(self) -> str:
        task = self.task if self.classes is None else f"{len(self.classes)} classes"
        grown = self.settings
        return (
            f"Forest({self.n_trees} trees, {self.n_nodes} nodes, {task}, "
            f"{self.n_rows} rows x {self.n_features} columns, {grown.criterion}, "
            f"{grown.cut} {grown.splits} splits, K={grown.max_features}, seed={self.seed})"
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Tree(Forest):
    """A tree as a forest of size one, with nodes and leaves numbered within the tree.

    Attributes
    ----------
    feature, child, cut, threshold, split, rows, degree, weight, impurity, pool
        Parts of the forest's arrays.
    values : float64 array of shape (L, C)
        Values of the leaves, with the forest's origin.
    n_children, parent, depth, decrease
        Number of children of every node, its parent (-1 at the root), its depth, and the decrease
        of impurity by its split.

    Examples
    --------
    >>> import duramen as dm
    >>> X, y = [[0.0], [1.0], [2.0]], ["a", "a", "b"]
    >>> tree = dm.ExtraTreesClassifier(1, random_state=0).fit(X, y).forest_.tree(0)
    >>> tree.feature.tolist(), tree.depth.tolist()
    ([0, -1, 0, -1, -1], [0, 1, 1, 2, 2])
    """

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.leaf_values)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Values of the leaves, one row per leaf."""
        return self.leaf_values + self.origin

    @cached_property
    def n_children(self) -> NDArray[np.int64]:
        """Number of children; 0 at a leaf."""
        return structure.child_counts(self)

    @cached_property
    def parent(self) -> NDArray[np.int64]:
        """Number of the parent; -1 at the root."""
        return structure.parents(self)

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """Depth, 0 at the root."""
        return structure.depths(self)

    @cached_property
    def decrease(self) -> NDArray[np.float64]:
        """Decrease of impurity by the node's split."""
        return structure.decreases(self)

    def __repr__(self) -> str:
        deepest = int(self.depth.max(initial=0))
        return (
            f"Tree({self.first_tree}: {self.n_nodes} nodes, {self.n_leaves} leaves, "
            f"depth {deepest})"
        )


def values_for_prediction(schema: Schema, trees: Mapping[str, NDArray[Any]]) -> Schema:
    """Return the columns of a training table with the values that predictions look up.

    They are the labels of the ordinal and nominal columns that the trees split on, and the numbers
    of numeric columns whose splits are not ordered: there, each number has its own child, or is
    told from numbers that the training table does not have. Ordered splits of a numeric column
    compare with thresholds, and need none of its values.
    """
    inner = trees["feature"] >= 0
    feature, family = trees["feature"][inner], trees["split"][inner] & FAMILY_MASK
    columns = np.zeros(schema.n_columns, dtype=np.bool_)
    columns[feature[(family != ORDERED) | (schema.kind_codes[feature] != 0)]] = True
    return schema.with_values_of(columns)


def arrays_on(forest: Forest, columns: NDArray[np.integer]) -> dict[str, NDArray[Any]]:
    """Return the flat arrays of a forest with columns renumbered by `columns`.

    Cuts and thresholds keep their meaning where the columns keep their codes, as those of
    `take_columns` do.
    """
    arrays = forest.arrays()
    feature = arrays["feature"]
    arrays["feature"] = np.where(feature < 0, -1, columns[feature]).astype(np.int32)
    return arrays


def extended(forest: Forest, more: Forest) -> Forest:
    """Return a forest with the next trees of its random stream appended."""
    events = forest.leaf_events
    if events is not None and more.leaf_events is not None:
        events = LeafEvents.joined([events, more.leaf_events])
    arrays: dict[str, Any] = joined([forest.arrays(), more.arrays()])
    schema = forest.schema.merged(more.schema)
    return replace(forest, **arrays, leaf_events=events, schema=schema)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TreeStream(Grown):
    """A forest that is too large for memory: its trees come part by part, in their order.

    A tree depends on the learning set, the settings, the seed and its own number alone, so that
    the trees are those of the forest that is kept as a whole. Each run over the parts grows all
    trees but the first ones again.

    Attributes
    ----------
    first : Forest
        The first trees, which are kept.
    n_trees : int
        Number of trees T.
    size : int
        Trees of each further part.
    n_values : int
        Numbers that a leaf holds: classes, or 1 in regression.
    grow : callable
        Takes ``first_tree``, the number of a tree, and ``n_trees``, and returns these trees.
    """

    first: Forest
    n_trees: int
    size: int
    grow: Callable[..., Forest]
    n_values: int = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "n_values", self.first.n_values)

    @classmethod
    def after(
        cls,
        first: Forest,
        n_trees: int,
        size: int,
        grow: Callable[..., Forest],
        schema: Schema,
    ) -> Self:
        """Return the stream that begins with trees that are grown, with all values of a table."""
        described = {own.name: getattr(first, own.name) for own in fields(Grown) if own.init}
        described["schema"] = schema
        return cls(first=first, n_trees=n_trees, size=size, grow=grow, **described)

    def parts(self) -> Iterator[Forest]:
        """Yield all trees, in their order, some at a time."""
        yield self.first
        for start in range(self.first.n_trees, self.n_trees, self.size):
            yield self.grow(first_tree=start, n_trees=min(self.size, self.n_trees - start))


AnyForest: TypeAlias = Forest | TreeStream
"""A forest whose trees are in memory, or come part by part."""


class Decreases(NamedTuple):
    """Mean decrease of impurity of every column, in the criterion's unit, not normalized.

    Attributes
    ----------
    values : float64 array of shape (p,)
        Mean over the trees of the sum, over the nodes t that split on the column, of p(t) times
        the decrease of impurity at t, p(t) being the fraction of the tree's weight at t.
    standard_error : float64 array of shape (p,)
        Standard deviation over the trees (ddof 1) over sqrt(T); NaN for a single tree.
    by_degree : float64 array of shape (p, D)
        ``values`` split up by the interaction degree of the splits, 0 to D - 1: how many columns
        are conditioned on above them (see ``degree`` of :class:`Forest`);
        D is 0 unless this was asked for.
    """

    values: FloatArray
    standard_error: FloatArray
    by_degree: FloatArray


def mean_decreases(forest: Forest, *, by_degree: bool = False) -> Decreases:
    """Reduce the splits of a forest to one number a column, in the order of its trees.

    In survival splits have scores and nodes no impurity: the means are those of the scores.
    """
    sums = _kernel.Decreases(forest.n_features, by_degree, forest.target_class.censored)
    sums.add(forest.kernel)
    return Decreases(*sums.means())
