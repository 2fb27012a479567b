"""The default test of `duramen rank`, on problems whose relevant features are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from benchmarks.designs.problem import Problem
from duramen.estimators.catalogue import random_forest

LEVEL = 0.05
TEST = dm.significance.catalogue["max_t"]
PERMUTATIONS = TEST.rounds()


def forest(problem: Problem, trees: int | None = None, **growth: Any) -> Any:
    """The forest of `duramen rank`; `growth` are its parameters, such as ``criterion="gini"``."""
    assert TEST.most_trees is not None
    trees = trees or TEST.most_trees(len(problem.y))
    made = random_forest(problem.task, trees).set_params(random_state=0, n_jobs=1)
    return made.set_params(**{**made.target_class.ranking_parameters, **growth})


def default_result(
    problem: Problem,
    seed: int,
    *,
    trees: int | None = None,
    permutations: int = PERMUTATIONS,
    **growth: Any,
) -> Any:
    """Run the default test; `growth` as for `forest`."""
    return dm.significance.max_t(
        forest(problem, trees, **growth),
        problem.learning_set(),
        n_permutations=permutations,
        random_state=seed % 2**32,
        n_jobs=1,
    )


def confirm(problem: Problem, seed: int, **options: Any) -> NDArray[np.str_]:
    """Verdicts of the default test; options as for `default_result`."""
    return np.array(default_result(problem, seed, **options).verdicts(LEVEL))
