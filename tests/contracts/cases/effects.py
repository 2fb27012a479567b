"""Effects of features on predictions."""

from __future__ import annotations

from typing import Any

from tests.contracts import extracts
from tests.contracts.inputs import NAMES, forest, jobs, table, target
from tests.contracts.registry import case

import duramen as dm
from duramen import effects

TASKS = ("classification", "regression")


def _curve(function: Any, task: str, **options: Any) -> Any:
    result = function(forest(task), table(), n_jobs=jobs(), **options)
    return result.values, result.points, result.labels, extracts.frame(result)


def _pairs(task: str) -> Any:
    result = effects.interaction_strength(forest(task), table(), NAMES[:3], n_jobs=jobs())
    return result.strengths, result.h, extracts.frame(result)


def _described(task: str) -> Any:
    data = dm.learning_set(table(), target(task), task=task)
    result = effects.describe_effects(forest(task), data, NAMES, n_jobs=jobs())
    return result.outputs, [direction.words for direction in result.directions]


for task in TASKS:
    local, dependence = effects.accumulated_local_effects, effects.partial_dependence
    case(f"effects/ale, {task}", function=local, task=task, feature=0)(_curve)
    case(
        f"effects/partial dependence, {task}",
        function=dependence,
        task=task,
        feature=NAMES[1],
        n_points=7,
    )(_curve)
    case(f"effects/interactions, {task}", task=task)(_pairs)
    case(f"effects/directions, {task}", task=task)(_described)
