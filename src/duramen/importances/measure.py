"""Description of an importance measure, and importances that are sums over trees."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import wraps
from inspect import signature
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar

import numpy as np

from duramen.catalogue import Entry
from duramen.data import EncodedTable, LearningSet, Target
from duramen.forests.forest import AnyForest, Forest, extended
from duramen.forests.structure import Nodes
from duramen.results.importances import Importances
from duramen.results.significance import Significance
from duramen.support.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Inputs:
    """Inputs of a measure.

    Attributes
    ----------
    estimator : estimator or Forest
        Fitted forest; for a measure that refits, the parameters of its forests.
    data : LearningSet
        Rows that the forest was grown on, or that a measure grows its forests on.
    random_state : int or None
        Seed of a measure that refits.
    n_jobs : int or None
        Number of threads.
    verbose : int
        Above 0: a progress bar.
    by_degree : bool
        Whether to split importances up by interaction degree, where the measure can.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> inputs = dm.importances.Inputs(forest, dm.learning_set(data.X, data.y), random_state=0)
    >>> dm.importances.catalogue["air"](inputs).top(2).names
    ('x0', 'x1')
    """

    estimator: Any
    data: LearningSet[EncodedTable]
    random_state: int | None = None
    n_jobs: int | None = None
    verbose: int = 0
    by_degree: bool = False

    def unfitted(self) -> Inputs:
        """Return these inputs with an unfitted clone of the estimator."""
        from sklearn.base import clone

        return replace(self, estimator=clone(self.estimator).set_params(oob_score=False))


@dataclass(frozen=True, eq=False)
class Measure(Entry):
    """Record of an importance measure in :data:`duramen.importances.catalogue`.

    Attributes
    ----------
    name : str
        Name in Python, also that of its function; the option ``--measure`` has hyphens in it.
    compute : callable
        Takes :class:`Inputs` and returns `Importances`, `Significance`, or p numbers; with
        `over_trees`, `TreeSums`.
    title : str
        Heading of its column in tables.
    reading : str
        What its values are, for reports; ``{unit}`` stands for their unit.
    caution : str
        What its values are not.
    reference : str
        Source.
    unit : str
        Unit of the values where `compute` returns plain numbers.
    refits : bool
        Whether it grows forests of its own.
    rows : {"", "training", "out-of-bag", "held-out"}
        Rows that it is computed on; "" for a measure of the forest alone.
    permutes : bool
        Whether it permutes rows, as their strata and groups allow.
    classes : bool
        Whether the target must be classes.
    survival : bool
        Whether it is defined for survival.
    testable : bool
        Whether it can be the ``measure=`` of tests that refit forests.
    zero_if_irrelevant : bool
        Whether irrelevant features have 0 on average.
    symmetric : bool
        Whether values of irrelevant features lie as far below 0 as above it.
    favors_many_values : bool
        Whether irrelevant features of many values have more of it on average than those of few, and
        those of frequent values more than those of rare ones.
    spread : str
        What its standard error is over: "trees", or something else.
    default : bool
        Whether ``duramen rank`` computes it where the user names no measure.
    over_trees : bool
        Whether it is a sum over trees, which need not all be in memory.
    survival_reading : str
        What its values are for survival; empty if they are no others.
    p_values : str
        What its p-values depend on; ``{n_trees}`` stands for the number of trees.
    of_parts : callable, optional
        In place of `compute` for parts of a forest, if only that is a mean over trees.
    of_copies : callable, optional
        Takes :class:`Inputs` and, of each row, the index of the row that it is a copy of; for a
        measure on out-of-bag rows, which copies of a row in the bag are not.

    Examples
    --------
    >>> import duramen as dm
    >>> measure = dm.importances.catalogue["holdout_mda"]
    >>> measure.option, measure.refits, measure.rows
    ('holdout-mda', True, 'held-out')
    """

    compute: Callable[[Inputs], Any]
    title: str
    reading: str = ""
    caution: str = ""
    reference: str = ""
    unit: str = "1"
    refits: bool = False
    rows: Literal["", "training", "out-of-bag", "held-out"] = ""
    permutes: bool = False
    classes: bool = False
    survival: bool = False
    testable: bool = True
    zero_if_irrelevant: bool = True
    symmetric: bool = True
    favors_many_values: bool = False
    spread: str = "trees"
    default: bool = False
    over_trees: bool = False
    survival_reading: str = ""
    p_values: str = ""
    of_parts: Callable[[Inputs], Importances] | None = None
    of_copies: Callable[[Inputs, Any], Importances] | None = None

    def suits(self, target: Target | type[Target]) -> bool:
        """Tell whether it is defined for a target."""
        if target.censored:
            return self.survival
        return target.categorical or not self.classes

    def __call__(self, inputs: Inputs) -> Importances | Significance:
        """Compute the measure; p numbers are named and get the unit."""
        values = self.compute(inputs)
        if isinstance(values, TreeSums):
            values = values.importances()
        if isinstance(values, Importances | Significance):
            return values
        return Importances(inputs.data.names, np.asarray(values), self.name, self.unit)


Measured: TypeAlias = Importances | Significance
"""What a measure returns: values of features, for some measures with p-values."""

SCATTERS = (
    "{title} of an irrelevant feature varies about 0: a value above 0 is no evidence of relevance."
)
"""Caution about a measure whose values are 0 on average for irrelevant features."""


# Nodes x columns that a run of trees may take in a temporary array: 2 MB of float64, which stay in
# the caches.
_RUN = 250_000

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

Sums: TypeAlias = Generator[tuple[AnyForest, int | None], Forest | None, Result]
"""Steps of a measure that is a sum over trees.

It checks its arguments and yields the forest, with the number of rows that it sends down the trees
(None to take trees as they come, not in runs of bounded size). It is then sent trees, in their
order, and None after the last ones, and returns the result.
"""


class TreeSums:
    """Sums over trees, which are added in their order.

    The results are the same, bit for bit, however many trees are added at a time.
    """

    def __init__(self, sums: Sums[Any]) -> None:
        self._sums, self._begun = sums, False
        self._forest, self._n_rows = next(sums)
        self._open: Forest | None = None  # last run, which further trees may join

    def add(self, trees: Forest) -> None:
        """Add the next trees, in runs small enough for temporary arrays."""
        self._begun = True
        if self._n_rows is None:
            self._sums.send(trees)
            return
        trees = trees if self._open is None else extended(self._open, trees)
        start = 0
        while True:
            nodes = trees.offsets[start + 1 :] - trees.offsets[start]
            size = nodes * (trees.n_values + 8) + np.arange(1, len(nodes) + 1) * self._n_rows
            fits = int(np.searchsorted(size, _RUN))
            if fits == len(nodes):
                self._open = trees.part(start, trees.n_trees) if fits else None
                return
            stop = start + max(1, fits)
            self._sums.send(trees.part(start, stop))
            start = stop

    def importances(self) -> Any:
        """Return the importances, of all trees of the forest if none were added."""
        if not self._begun:
            for trees in self._forest.parts():
                self.add(trees)
        if self._open is not None:
            self._sums.send(self._open)
        try:
            self._sums.send(None)
        except StopIteration as end:
            return end.value
        raise RuntimeError("sums over trees must end after the last trees")


def over_trees(
    result: type[Result],
) -> Callable[[Callable[Arguments, Sums[Result]]], Callable[Arguments, Result]]:
    """Return a decorator of functions of `Sums`, which adds the trees of the forest."""

    def decorator(sums: Callable[Arguments, Sums[Result]]) -> Callable[Arguments, Result]:
        @wraps(sums)
        def measure(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Any:
            return TreeSums(sums(*args, **kwargs)).importances()

        own = signature(sums).replace(return_annotation=result.__name__)
        measure.__signature__ = own  # type: ignore[attr-defined]
        return measure

    return decorator


def sums_of(
    measure: Callable[Arguments, Any], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> TreeSums:
    """Return the sums of a function that `over_trees` decorates, to which trees can be added."""
    return TreeSums(measure.__wrapped__(*args, **kwargs))  # type: ignore[attr-defined]


class Tally:
    """Sums of the contributions of inner nodes, by feature and interaction degree.

    The value of a feature is the mean over the trees of the sum of the contributions of the nodes
    that split on it; its standard error is the standard deviation (ddof 1) of these sums over the
    square root of the number of trees. A tree that does not use a feature counts as 0. Trees are
    added one by one, so that the sums are the same, bit for bit, whatever the runs.
    """

    def __init__(self, n_features: int, *, by_degree: bool = False) -> None:
        self.n_trees = 0
        self.sum, self.squares = np.zeros(n_features), np.zeros(n_features)
        self.degrees: list[FloatArray] | None = [] if by_degree else None

    def add(self, nodes: Nodes, contribution: FloatArray, *, n_trees: int) -> None:
        """Add the contributions (one a node, inner nodes count) of a run of `n_trees` trees."""
        p = len(self.sum)
        order = np.argsort(nodes.tree[nodes.inner.parents], kind="stable")
        inner = nodes.inner.parents[order]
        amount = contribution[inner]
        feature = nodes.trees.feature[inner].astype(np.int64)
        by_tree, place = np.unique(nodes.tree[inner] * p + feature, return_inverse=True)
        sums = np.bincount(place, amount, by_tree.size)
        self.n_trees += n_trees
        np.add.at(self.sum, by_tree % p, sums)
        np.add.at(self.squares, by_tree % p, sums**2)
        if self.degrees is None:
            return
        recorded = nodes.trees.node_degree  # empty where it is the depth
        degree = recorded[inner] if len(recorded) else nodes.depth[order]
        for k in range(int(degree.max(initial=0)) + 1):
            if k == len(self.degrees):
                self.degrees.append(np.zeros(p))
            np.add.at(self.degrees[k], feature[degree == k], amount[degree == k])

    def means(self) -> tuple[FloatArray, FloatArray | None, FloatArray | None]:
        """Return means over the trees, standard errors, and the means by degree, (p, D).

        Means are 0 without trees. Standard errors are None below two trees, and means by degree
        unless they were asked for.
        """
        n_trees, by_degree, error = self.n_trees, None, None
        if self.degrees is not None:
            degrees = self.degrees or [np.zeros(len(self.sum))]
            by_degree = np.column_stack(degrees) / max(1, n_trees)
        if n_trees > 1:
            spread = self.squares - self.sum**2 / n_trees
            error = np.sqrt(np.maximum(spread, 0.0) / (n_trees - 1) / n_trees)
        return self.sum / max(1, n_trees), error, by_degree
