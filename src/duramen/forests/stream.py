"""A forest whose trees are grown part by part, and let go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from duramen.data import Schema, Task
from duramen.forests.forest import Forest
from duramen.forests.settings import GrowthSettings


@dataclass(frozen=True, eq=False)
class TreeStream:
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
    grow : callable
        Takes the number of a tree and a number of trees, and returns these trees.
    """

    first: Forest
    n_trees: int
    size: int
    grow: Callable[[int, int], Forest]

    def parts(self) -> Iterator[Forest]:
        """Yield all trees, in their order, some at a time."""
        yield self.first
        for start in range(self.first.n_trees, self.n_trees, self.size):
            yield self.grow(start, min(self.size, self.n_trees - start))

    @property
    def origin(self) -> float:
        """Number that predictions of regression are relative to."""
        return self.first.origin

    @property
    def n_values(self) -> int:
        """Numbers that a leaf holds: classes, or 1 in regression."""
        return self.first.n_values

    @property
    def settings(self) -> GrowthSettings:
        """Settings of growth."""
        return self.first.settings

    @property
    def schema(self) -> Schema:
        """The training table without its rows."""
        return self.first.schema

    @property
    def classes(self) -> NDArray[Any] | None:
        """Class labels in the order of the codes; None in regression."""
        return self.first.classes

    @property
    def n_rows(self) -> int:
        """Rows of the training table."""
        return self.first.n_rows

    @property
    def seed(self) -> int:
        """Seed of the random numbers."""
        return self.first.seed

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the training table, the target and the weights."""
        return self.first.fingerprint

    @property
    def task(self) -> Task:
        """Task of the forest."""
        return self.first.task

    @property
    def n_features(self) -> int:
        """Number of columns p of the training table."""
        return self.first.n_features

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.first.names
