"""Forest that features are ranked by, and samples of the rows of tall tables for long steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from duramen.analyses.execution import Execution
from duramen.data import EncodedTable, LearningSet
from duramen.data.target import sampled_rows, target_class
from duramen.estimators.catalogue import FORESTS
from duramen.forests import Forest
from duramen.forests.settings import CRITERIA
from duramen.importances import Inputs
from duramen.importances.refit import leaves_rows_out, template_of
from duramen.support import checks

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
TREES, LEAST_TREES = 1000, 50
"""Number of trees by default, and of those of the tallest tables."""
# Rows from which on there are fewer trees by default, and the default test is of a sample, and the
# rows of samples. A test grows about 100 forests, so that its time is about that of the ranking.
MANY, FEW = 100_000, 20_000
DESCRIBING_TREES = 200  # that describe effects if those of the ranking were let go, at most


def forest_of(
    estimator: Any,
    growth: Mapping[str, Any],
    changed: Sequence[str],
    data: LearningSet[Any],
    execution: Execution,
) -> tuple[Any, str]:
    """Return the forest to grow, with out-of-bag estimates if it has any, and the name of its kind.

    A kind of forest gets the parameters of `growth`, which has those of `PARAMETERS`; an estimator
    has its own, so that none may be `changed`, and the seed and the number of threads of the call
    where it has none.

    Raises
    ------
    ValueError, TypeError
        If it is for another task, none of duramen, or has no use for a parameter.
    """
    work = {
        "random_state": execution.random_state,
        "n_jobs": execution.n_jobs,
        "verbose": execution.verbose,
    }
    if not isinstance(estimator, str):
        forest = template_of(estimator, "rank")
        own = type(forest).__name__
        if changed:
            raise ValueError(f"rank: {changed[0]} has no effect beside a {own}; set it there")
        if forest.task != data.task:
            raise ValueError(
                f"rank: estimator must be for {data.task}, which is the task of this target, got "
                f"{own}."
            )
        unset = {name: value for name, value in work.items() if getattr(forest, name) is None}
        forest.set_params(**{"verbose": forest.verbose or execution.verbose, **unset})
        name = next((kind.name for kind in FORESTS if own in kind.names), own)
        return forest.set_params(oob_score=leaves_rows_out(forest)), name
    names = [kind.name for kind in FORESTS]
    name = checks.check_choice("rank", "estimator", estimator.replace("_", "-"), names)
    task, target = data.task, target_class(data.task)
    made = FORESTS[names.index(name)].estimator(task)
    if made is None:
        able = ", ".join(kind.name for kind in FORESTS if kind.estimator(task) is not None)
        only = "" if target.censored else f"; {name} is for classification only"
        raise ValueError(f"rank: estimator must be one of {able} for {task}, got {name}{only}")
    n_trees = growth["n_estimators"]
    if n_trees is None:
        n_trees = max(LEAST_TREES, min(TREES, TREES * MANY // data.n_rows))
        if n_trees != TREES:
            execution.tell(
                f"the forest has {n_trees:,} trees instead of {TREES:,}, as the table has "
                f"{data.n_rows:,} rows; n_estimators sets another number"
            )
    forest = made(n_estimators=n_trees, **work)
    criterion = growth["criterion"]
    if criterion == "auto":
        criterion = target.criterion
    suited = [known.name for known in CRITERIA.values() if known.task == task]
    if criterion not in suited:
        allowed = " or ".join(["auto", *([] if target.censored else suited)])
        raise ValueError(f"rank: criterion must be {allowed} for {task}, got {criterion}")
    if not target.censored:  # which has one criterion
        forest.set_params(criterion="squared_error" if criterion == "variance" else criterion)
    defaults = {"max_features": "auto", "min_samples_leaf": 1}
    for parameter in ("max_features", "class_weight", "max_depth", "min_samples_leaf"):
        value = growth[parameter]
        if isinstance(value, str | int | float | None) and value == defaults.get(parameter):
            continue
        if parameter == "class_weight" and not target.categorical:
            raise ValueError(f"rank: class_weight is for classes, but the task is {task}")
        if parameter not in forest.get_params():
            raise ValueError(
                f"rank: {parameter} has no effect with estimator={name!r}; leave it out"
            )
        if isinstance(value, str):
            value = None if value == "all" else value.replace("-", "_")
        forest.set_params(**{parameter: value})
    if growth["bootstrap"] is not None:
        forest.set_params(bootstrap=growth["bootstrap"])
    return forest.set_params(oob_score=leaves_rows_out(forest)), name


def is_let_go(estimator: Any) -> bool:
    """Tell whether the trees of a fitted forest were let go."""
    return not isinstance(estimator.forest_, Forest)


# --- samples of the rows ----------------------------------------------------------------------


def sampled_if_many(inputs: Inputs) -> Inputs:
    """Return a random sample of many rows, in which classes keep their proportions."""
    if inputs.data.n_rows <= MANY:
        return inputs
    seed = inputs.random_state or 0
    rows = sampled_rows(inputs.data.target, FEW, seed)
    return replace(inputs, data=inputs.data.of_rows(rows, key=("sample", FEW, seed)))


def described(inputs: Inputs) -> tuple[Any, LearningSet[EncodedTable]]:
    """Return a fitted forest and its rows, by which effects are described.

    Where the trees of the ranking were let go, those of a sample of the rows.
    """
    if not is_let_go(inputs.estimator):
        return inputs.estimator, inputs.data
    data, estimator = sampled_if_many(inputs).data, inputs.unfitted().estimator
    estimator.set_params(n_estimators=min(DESCRIBING_TREES, estimator.n_estimators))
    return estimator.fit(data), data
