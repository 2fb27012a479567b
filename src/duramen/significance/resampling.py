"""Rows drawn at random, within each class where there are classes, and forests on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.jobs.replicates import Task
from duramen.results.importances import Importances
from duramen.significance.measured import Data, Measured
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

Draw = Callable[[np.random.Generator], IntArray]

# Up to so many rows a subsample is a fixed fraction of them; of more, that times sqrt(1000/n).
_MANY_ROWS = 1000


def shrinking_size(n_rows: int, fraction: float) -> int:
    """Return a fraction of n rows, and from n = 1000 on the fraction times sqrt(1000/n)."""
    return max(2, round(n_rows * fraction * min(1.0, math.sqrt(_MANY_ROWS / n_rows))))


def subsample_size(
    subsample: Any,
    n_rows: int,
    n_classes: int,
    function: str,
    default: int | None = None,
    units: str = "rows",
) -> int:
    """Return the rows m of a subsample that is asked for as a number or a fraction of n rows.

    None stands for `default`, or, without one, n/e, from n = 1000 on n/e sqrt(1000/n). Of each
    class a row is drawn at least; there are 0 in regression. `units` names what is drawn.
    """
    least = max(2, n_classes)
    if default is None:
        default = max(least, shrinking_size(n_rows, 1 / math.e))
    asked, size = default if subsample is None else subsample, 0
    if checks.is_integer(asked):
        size = int(asked)
    elif checks.is_real(asked) and 0 < asked < 1:
        size = round(float(asked) * n_rows)
    if not least <= size < n_rows:
        raise ValueError(
            f"{function}: subsample must leave some of the {n_rows} {units} out and keep {least} "
            f"at least: an int in {least}..{n_rows - 1} or a fraction, got {asked!r}."
        )
    return size


def subsamples(labels: NDArray[Any] | None, n_rows: int, size: int) -> Draw:
    """Return a function that draws `size` different rows, in ascending order.

    Classes, if given, are drawn from in proportion, with one row of each at least.
    """
    members = [np.arange(n_rows)] if labels is None else rows_by_class(labels)
    counts = shared_out(np.array([len(rows) for rows in members]), size)

    def draw(random: np.random.Generator) -> IntArray:
        pairs = zip(members, counts.tolist(), strict=True)
        return np.sort(np.concatenate([random.permutation(rows)[:count] for rows, count in pairs]))

    return draw


def bootstraps(labels: NDArray[Any] | None, n_rows: int) -> Draw:
    """Return a function that draws as many rows with replacement, within classes if given."""
    members = [np.arange(n_rows)] if labels is None else rows_by_class(labels)

    def draw(random: np.random.Generator) -> IntArray:
        drawn = [rows[random.integers(len(rows), size=len(rows))] for rows in members]
        return np.sort(np.concatenate(drawn))

    return draw


def resampling_task(subject: Measured, draw: Draw, *, noise: bool = False) -> Task:
    """Return the task of a replicate: draw rows, grow a forest on them, measure it there.

    With `noise` the p values are followed by their `tree_variance`.
    """

    def task(_: int, seed_b: int) -> FloatArray:
        random = np.random.default_rng(seed_b)
        drawn = subject.of_rows(draw(random), key=seed_b)
        drawn_importances = drawn.importances(int(random.integers(2**32)))
        if not noise:
            return drawn_importances.values
        return np.concatenate([drawn_importances.values, tree_variance(subject, drawn_importances)])

    return task


def tree_variance(subject: Measured, importances: Importances) -> FloatArray:
    """Return the variance of importances over forests on the same rows, from the spread of trees.

    Zeros where the standard error of a measure is not known to be that over trees.
    """
    error = importances.standard_error
    if error is None or subject.measure.spread != "trees":
        return np.zeros(len(importances))
    return np.square(error)


def rows_by_class(labels: NDArray[Any]) -> list[IntArray]:
    """Return the rows of every class, ascending."""
    _, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    grouped: IntArray = np.argsort(codes, kind="stable")
    return np.split(grouped, np.cumsum(sizes)[:-1])


def shared_out(sizes: IntArray, total: int) -> IntArray:
    """Divide a total in proportion to sizes, at least 1 each and no more than the size."""
    quota = total * sizes / sizes.sum()
    counts = np.maximum(np.floor(quota), 1).astype(np.int64)
    while (missing := total - int(counts.sum())) != 0:
        step = 1 if missing > 0 else -1
        room = counts < sizes if step > 0 else counts > 1
        counts[np.argmax(np.where(room, step * (quota - counts), -np.inf))] += step
    return np.asarray(counts)


# --- units that resampling draws: single rows, or whole groups of rows ----------------------------


@dataclass(frozen=True, eq=False)
class SamplingUnits:
    """Rows of a table, or its groups where it has some."""

    count: int  # number N of units
    # (N,): Class of each unit, for draws within classes; groups with rows of several classes
    # are one class more. None in regression.
    labels: NDArray[Any] | None
    members: list[IntArray] | None = None  # rows of each group; None where each row is a unit

    @classmethod
    def of(cls, data: Data) -> SamplingUnits:
        """Return the units of a learning set."""
        groups = data.exchangeability.groups
        labels = data.target.codes
        if groups is None:
            return cls(data.n_rows, labels)
        members = rows_by_class(groups)
        if labels is None:
            return cls(len(members), None, members)
        several = data.target.n_classes
        of_groups = np.array(
            [c[0] if (c[0] == c).all() else several for c in (labels[rows] for rows in members)]
        )
        return cls(len(members), of_groups, members)

    @property
    def name(self) -> str:
        """Name of the units, in the plural."""
        return "rows" if self.members is None else "groups"

    @property
    def n_classes(self) -> int:
        """Number of classes of the units; 0 in regression."""
        return 0 if self.labels is None else len(np.unique(self.labels))

    def rows(self, draw: Draw) -> Draw:
        """Return a function that draws the rows of the units that `draw` draws, ascending."""
        members = self.members
        if members is None:
            return draw

        def drawn(random: np.random.Generator) -> IntArray:
            return np.sort(np.concatenate([members[unit] for unit in draw(random)]))

        return drawn
