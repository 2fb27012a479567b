"""Forest that features are ranked by: a kind of forest with its parameters, or an estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from duramen.analyses.execution import Execution
from duramen.data import LearningSet
from duramen.data.target import target_class
from duramen.estimators.catalogue import FORESTS, WEIGHTINGS, ForestKind
from duramen.forests.criteria import CRITERIA
from duramen.importances.refit import leaves_rows_out, template_of
from duramen.support import checks

TREES, LEAST_TREES = 1000, 50
"""Number of trees by default, and of those of the tallest tables."""
MANY_ROWS = 100_000
"""From so many rows on there are fewer trees by default."""

PARAMETERS = (
    "n_estimators",
    "max_features",
    "max_depth",
    "min_samples_leaf",
    "criterion",
    "class_weight",
    "bootstrap",
)
"""Parameters of `duramen.rank` that a kind of forest takes."""


def trees_by_default(n_rows: int) -> int:
    """Return the number of trees for a table of so many rows.

    The trees of a tall table take long, and differ less than those of a short one.
    """
    return max(LEAST_TREES, min(TREES, TREES * MANY_ROWS // n_rows))


def kind_of(estimator: Any, growth: Mapping[str, Any], changed: Sequence[str]) -> ForestKind | None:
    """Return the kind of forest that is named; None for an estimator, whose parameters are its own.

    Raises
    ------
    ValueError
        If there is no such kind, a parameter is out of its range, or one is `changed` beside an
        estimator.
    """
    if not isinstance(estimator, str):
        for name in changed:
            raise ValueError(
                f"rank: {name} has no effect beside a {type(estimator).__name__}; set it in the "
                "estimator"
            )
        return None
    name = checks.check_choice(
        "rank", "estimator", estimator.replace("_", "-"), [kind.name for kind in FORESTS]
    )
    for parameter in ("n_estimators", "max_depth"):
        checks.check_optional_integer("rank", parameter, growth[parameter], 1)
    checks.check_integer("rank", "min_samples_leaf", growth["min_samples_leaf"], 1)
    checks.check_choice(
        "rank", "criterion", growth["criterion"], ("auto", "gini", "entropy", "variance")
    )
    if isinstance(growth["class_weight"], str):
        checks.check_choice("rank", "class_weight", _word(growth["class_weight"]), WEIGHTINGS)
    return next(kind for kind in FORESTS if kind.name == name)


def _word(name: str) -> str:
    return name.replace("-", "_")


def forest_of(
    kind: ForestKind | None,
    estimator: Any,
    growth: Mapping[str, Any],
    data: LearningSet[Any],
    execution: Execution,
) -> tuple[Any, str]:
    """Return the forest to grow, with out-of-bag estimates if it has any, and the name of its kind.

    An estimator without a seed or a number of threads takes those of the call.

    Raises
    ------
    ValueError, TypeError
        If it is none of duramen, is for another task, or lacks a parameter.
    """
    if kind is not None:
        forest = _of_kind(kind, growth, data, execution)
        return forest.set_params(oob_score=leaves_rows_out(forest)), kind.name
    forest = template_of(estimator, "rank")
    if forest.task != data.task:
        raise ValueError(
            f"rank: estimator must be for {data.task}, which is the task of this target, got "
            f"{type(forest).__name__}."
        )
    if forest.random_state is None:
        forest.set_params(random_state=execution.random_state)
    work = {"n_jobs": execution.n_jobs, "verbose": execution.verbose}
    own = {name: value for name, value in work.items() if getattr(forest, name) in (None, 0)}
    name = next(
        (one.name for one in FORESTS if type(forest).__name__ in one.names), type(forest).__name__
    )
    forest.set_params(**own)
    return forest.set_params(oob_score=leaves_rows_out(forest)), name


def _of_kind(
    kind: ForestKind, growth: Mapping[str, Any], data: LearningSet[Any], execution: Execution
) -> Any:
    """Return the estimator of a kind of forest with these parameters."""
    task, target = data.task, target_class(data.task)
    if kind.estimator(task) is None and target.censored:
        able = ", ".join(other.name for other in FORESTS if other.survival)
        raise ValueError(f"rank: estimator must be one of {able} for survival, got {kind.name}")
    if kind.estimator(task) is None:
        raise ValueError(
            f"rank: estimator={kind.name!r} is for classification only, but the target holds "
            "numbers. Hint: choose another forest, or task='classification'."
        )
    n_trees = growth["n_estimators"]
    if n_trees is None:
        n_trees = trees_by_default(data.n_rows)
        if n_trees != TREES:
            execution.tell(
                f"the forest has {n_trees:,} trees instead of {TREES:,}, as the table has "
                f"{data.n_rows:,} rows; n_estimators sets another number"
            )
    forest = kind.estimator(task)(
        n_estimators=n_trees,
        random_state=execution.random_state,
        n_jobs=execution.n_jobs,
        verbose=execution.verbose,
    )
    impurity = criterion_for(growth["criterion"], task)
    if not target.censored:  # which has one criterion
        forest.set_params(criterion="squared_error" if impurity == "variance" else impurity)
    parameters, unset = forest.get_params(), {"max_features": "auto", "min_samples_leaf": 1}
    for name in ("max_features", "class_weight", "max_depth", "min_samples_leaf"):
        value = growth[name]
        if isinstance(value, str | int | float | None) and value == unset.get(name):
            continue
        if name == "class_weight" and not target.categorical:
            raise ValueError(f"rank: {name} is for classes, but the task is {task}; leave it out")
        if name not in parameters:
            raise ValueError(
                f"rank: {name} has no effect with estimator={kind.name!r}; leave it out"
            )
        if name == "class_weight" and isinstance(value, str):
            value = _word(value)
        forest.set_params(**{name: None if value == "all" else value})
    if growth["bootstrap"] is not None:
        forest.set_params(bootstrap=growth["bootstrap"])
    return forest


def criterion_for(asked: str, task: str) -> str:
    """Return the impurity criterion that is asked for, given the task.

    Raises
    ------
    ValueError
        If it is for another task.
    """
    suited = [criterion.name for criterion in CRITERIA if criterion.task == task]
    if asked == "auto":
        return target_class(task).criterion
    if asked not in suited:
        allowed = ["auto", *(name for name in suited if not target_class(task).censored)]
        raise ValueError(f"rank: criterion must be {' or '.join(allowed)} for {task}, got {asked}")
    return asked
