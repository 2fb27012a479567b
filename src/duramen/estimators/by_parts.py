"""Fit of forests whose trees are grown part by part, and let go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from duramen.data import EncodedTable, LearningSet
from duramen.forests.forest import Forest
from duramen.forests.prediction import OutOfBagSums
from duramen.jobs.progress import progress_bar

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest

Taker = Callable[[Forest], object]


def fit_by_parts(
    estimator: BaseForest,
    data: LearningSet[EncodedTable],
    takers: Callable[[], Sequence[Taker]],
    *,
    most_bytes: int,
) -> bool:
    """Fit a forest without keeping its trees, if they take too much memory.

    `forest_` is then a `TreeStream`, and the out-of-bag attributes are those of the whole forest.

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forest.
    data : LearningSet
        The training table, target and weights.
    takers : callable
        Called once `forest_` says all of the forest but its trees. The trees are then given, in
        their order, to each of the functions that it returns.
    most_bytes : int
        Bytes that the trees may take to be kept as a whole.

    Returns
    -------
    bool
        False where the forest is to be fitted as usual, and is not yet: it would take no more
        memory, or its trees depend on those before.

    Raises
    ------
    MemoryError
        When a tree alone may not fit in memory.
    """
    growth = estimator._growth(data)
    stream = growth.stream(f"{type(estimator).__name__}.fit", most_bytes)
    if stream is None:
        return False
    estimator._adopt(stream)
    collectors = list(takers())
    estimates = None
    if estimator.oob_score:
        estimates = OutOfBagSums(stream, growth.data.table, growth.data.target)
        collectors.append(lambda trees: estimates.add(trees, growth.n_threads))
    with progress_bar(stream.n_trees, type(estimator).__name__, estimator.verbose) as report:
        done = 0
        for trees in stream.parts():
            for take in collectors:
                take(trees)
            done += trees.n_trees
            if report is not None:
                report(done)
    if estimates is not None:
        estimator._adopt_out_of_bag(estimates.estimate(), growth.data)
    return True
