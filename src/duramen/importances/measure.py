"""Description of an importance measure: how it is computed and what it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from inspect import signature
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np

from duramen.catalogue import Entry
from duramen.data import EncodedTable, LearningSet, Target
from duramen.forests.forest import AnyForest, Forest, extended
from duramen.results.importances import Importances
from duramen.results.significance import Significance


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
        """Return the same with the parameters of the forest in place of the forest."""
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
        `over_trees`, the `TreeSums` of no trees so far.
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
        those of frequent values more than those of rare ones (docs/biases/cardinality.md).
    spread : str
        What its standard error is over: "trees", or something else.
    default : bool
        Whether ``duramen rank`` computes it where the user names no measure.
    by_blocks : bool
        Whether it takes the rows block by block, so that those of a store stay on disk.
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
    by_blocks: bool = False
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
        """Compute the measure."""
        values = self.compute(inputs)
        return self.result(values.over_all() if isinstance(values, TreeSums) else values, inputs)

    def result(self, values: Any, inputs: Inputs) -> Importances | Significance:
        """Return what was computed as importances; p numbers are named and get the unit."""
        if isinstance(values, Importances | Significance):
            return values
        return Importances(inputs.data.names, np.asarray(values), self.name, self.unit)


SCATTERS = (
    "{title} of an irrelevant feature varies about 0: a value above 0 is no evidence of relevance."
)
"""Caution about a measure whose values are 0 on average for irrelevant features."""


# Nodes x columns that a run of trees may take in a temporary array: 2 MB of float64, which stay in
# the caches.
_RUN = 250_000


class TreeSums:
    """Importances that are sums over trees, which are added in their order.

    The results are the same, bit for bit, however many trees are added at a time.

    Parameters
    ----------
    forest : Forest or TreeStream
        Source of the trees.
    add : callable
        Adds trees, which come after those before.
    result : callable
        Returns the importances, once all trees are added.
    n_rows : int, optional
        Rows that are sent down the trees. Trees are then added in runs that are small enough for
        temporary arrays of all their nodes; by default as they come.
    """

    def __init__(
        self,
        forest: AnyForest,
        add: Callable[[Forest], object],
        result: Callable[[], Any],
        *,
        n_rows: int | None = None,
    ) -> None:
        self.forest, self._add, self._result, self._n_rows = forest, add, result, n_rows
        self._open: Forest | None = None  # last run, which further trees may join

    def add(self, trees: Forest) -> None:
        """Add trees, which come after those before."""
        if self._n_rows is None:
            self._add(trees)
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
            self._add(trees.part(start, stop))
            start = stop

    def over_all(self) -> Any:
        """Add the trees of the forest, and return the importances."""
        for trees in self.forest.parts():
            self.add(trees)
        return self.importances()

    def importances(self) -> Any:
        """Return the importances, once all trees are added."""
        if self._open is not None:
            self._add(self._open)
            self._open = None
        return self._result()


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def over_trees(
    result: type[Result],
) -> Callable[[Callable[Arguments, TreeSums]], Callable[Arguments, Result]]:
    """Return a decorator of functions that return the `TreeSums` of no trees so far.

    The decorated function adds the trees of its forest, and returns the importances.
    """

    def decorator(sums: Callable[Arguments, TreeSums]) -> Callable[Arguments, Result]:
        @wraps(sums)
        def measure(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Any:
            return sums(*args, **kwargs).over_all()

        own = signature(sums).replace(return_annotation=result.__name__)
        measure.__signature__ = own  # type: ignore[attr-defined]
        return measure

    return decorator


def sums_of(
    measure: Callable[Arguments, Any], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Any:
    """Return the sums of no trees so far of a function that `over_trees` decorates."""
    return measure.__wrapped__(*args, **kwargs)  # type: ignore[attr-defined]
