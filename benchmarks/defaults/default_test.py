"""The default test of `duramen rank`, on problems whose relevant features are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

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


def boosting(problem: Problem) -> Any:
    """Boosting by scikit-learn, of few small trees."""
    kind = HistGradientBoostingClassifier
    if problem.task == "regression":
        kind = HistGradientBoostingRegressor
    return kind(max_iter=15, max_leaf_nodes=8, min_samples_leaf=5, learning_rate=0.2)


def linear_model(problem: Problem) -> Any:
    """A linear model of standardized numbers; of categories one column each."""
    model = RidgeCV() if problem.task == "regression" else LogisticRegression()
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    if problem.learning_set().table.labels:
        encoder = OneHotEncoder(handle_unknown="ignore")
        columns = make_column_selector(dtype_exclude="number")
        numbers = make_column_transformer((encoder, columns), remainder=numbers)
    return make_pipeline(numbers, model)


MODELS: dict[str, Callable[[Problem], Any]] = {"boosting": boosting, "linear": linear_model}
"""Models of other packages, which the default test refits in place of forests."""


def default_result(
    problem: Problem,
    seed: int,
    *,
    model: str | None = None,
    trees: int | None = None,
    permutations: int = PERMUTATIONS,
    **growth: Any,
) -> Any:
    """Run the default test of a forest, or of one of `MODELS`; `growth` as for `forest`."""
    return dm.significance.max_t(
        MODELS[model](problem) if model else forest(problem, trees, **growth),
        problem.learning_set(),
        n_permutations=permutations,
        random_state=seed % 2**32,
        n_jobs=1,
    )


def confirm(problem: Problem, seed: int, **options: Any) -> NDArray[np.str_]:
    """Verdicts of the default test; options as for `default_result`."""
    return np.array(default_result(problem, seed, **options).verdicts(LEVEL))
