"""The default test of `duramen rank`, on problems whose relevant features are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from duramen.cli.commands.rank import Growth, make_forest

LEVEL = 0.05
TEST = dm.significance.catalogue["max_t"]
TREES = TEST.most_trees
PERMUTATIONS = TEST.rounds()

Bool = NDArray[np.bool_]


@dataclass(frozen=True)
class Problem:
    """A table, its target, and the features that the target depends on."""

    X: Any
    y: NDArray[Any]
    """Classes as text or integers; numbers as floats; (event, time) as a structured array."""
    relevant: Bool
    """The others are independent of the target and of the relevant features together."""
    rows: Mapping[str, Any] = field(default_factory=dict)
    """Any of `sample_weight`, `strata` and `groups`."""

    @property
    def task(self) -> str:
        if self.y.dtype.names is not None:
            return "survival"
        return "regression" if self.y.dtype.kind == "f" else "classification"

    def learning_set(self) -> Any:
        return dm.learning_set(self.X, self.y, task=self.task, **self.rows)


def forest(task: str, trees: int = TREES, **growth: Any) -> Any:
    """The forest of `duramen rank`; `growth` are its options, such as ``criterion="gini"``."""
    return make_forest(Growth(**growth), task, trees, seed=0, jobs=1, verbose=False)


def default_result(
    problem: Problem,
    seed: int,
    *,
    trees: int = TREES,
    permutations: int = PERMUTATIONS,
    **growth: Any,
) -> Any:
    """Run the default test; `growth` as for `forest`."""
    return dm.significance.max_t(
        forest(problem.task, trees, **growth),
        problem.learning_set(),
        n_permutations=permutations,
        random_state=seed % 2**32,
        n_jobs=1,
    )


def confirm(problem: Problem, seed: int, **options: Any) -> NDArray[np.str_]:
    """Verdicts of the default test; options as for `default_result`."""
    return np.array(default_result(problem, seed, **options).verdicts(LEVEL))
