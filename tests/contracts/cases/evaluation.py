"""Evaluations of selectors and rankings, scores of selections."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from tests.contracts.inputs import estimator, jobs, table, target
from tests.contracts.registry import case

import duramen as dm
from duramen import evaluation, selection


@cache
def evaluated(task: str = "classification", **options: Any) -> Any:
    """A few methods in four splits."""
    methods = {
        "mdi": "mdi",
        "mda": evaluation.Ranking("mda", estimator(task, max_depth=2)),
        "knock-out": dm.KnockOut(estimator(task), n_permutations=19, max_rounds=1),
        "all": None,
    }
    settings = {"n_features": (1, 2, 4), "n_resamples": 4, "random_state": 3, "n_jobs": jobs()}
    forest = {"estimator": estimator(task), "learner": estimator(task)}
    return dm.evaluate_selection(
        methods, table(), target(task), **{**settings, **forest, **options}
    )


def _columns(**options: Any) -> Any:
    result = evaluated(**options)
    return {
        name: np.nan_to_num(np.asarray(column), nan=-1.0) if name != "method" else column
        for name, column in result.columns().items()
    }


for label, options in (
    ("classes", {}),
    ("two scores", {"score": ("auc", "balanced_accuracy")}),
    ("numbers", {"task": "regression", "test_size": 0.3}),
    ("neighbors", {"learner": "k_nearest_neighbors", "test_size": 9}),
):
    covered = (dm.evaluate_selection, evaluation.SelectionEvaluation, evaluation.Ranking)
    case(f"evaluate_selection/{label}", **options)(_columns)


@case("SelectionEvaluation/enough")
def _enough() -> Any:
    result = evaluated().enough("mdi")
    return (result.n_features, result.low, result.high, result.best, result.columns())


@case("SelectionEvaluation/interrupted")
def _interrupted() -> Any:
    return evaluation.EvaluationInterrupted(evaluated()).result.n_resamples


@case("selection/scores")
def _scores() -> Any:
    chosen, relevant = np.arange(12) % 3 == 0, np.arange(12) % 4 < 2
    return selection.scores(chosen, relevant, ranking=np.arange(12) % 5).columns()
