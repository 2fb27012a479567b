"""Forest that the options describe."""

from __future__ import annotations

from typing import Any

from duramen.analyses.ranking.forests import with_estimates
from duramen.cli.numbers import parsed_max_features
from duramen.cli.options import settled_criterion
from duramen.cli.rank.options import Growth


def make_forest(
    growth: Growth, task: str, n_trees: int, *, seed: int, jobs: int, verbose: bool
) -> Any:
    """Return the estimator that the options describe, with out-of-bag estimates if it has any."""
    from duramen.data.target import target_class
    from duramen.estimators.catalogue import FORESTS

    name, max_features = growth.forest, growth.max_features
    forest = next(one for one in FORESTS if one.name == name)
    kind = forest.estimator(task)
    if kind is None and target_class(task).censored:
        able = ", ".join(one.name for one in FORESTS if one.survival)
        raise ValueError(f"--forest: must be one of {able} for survival, got {name}")
    if kind is None:
        raise ValueError(
            f"--forest: {name} is for classification only, but the target holds numbers. Hint: "
            "choose another forest, or --task classification."
        )
    impurity = settled_criterion(growth.criterion, task)
    estimator: Any = kind(
        n_estimators=n_trees, random_state=seed, n_jobs=jobs, verbose=int(verbose)
    )
    if not target_class(task).censored:  # which has one criterion
        estimator.set_params(criterion="squared_error" if impurity == "variance" else impurity)
    parameters = estimator.get_params()
    if max_features != "auto":
        if "max_features" not in parameters:
            raise ValueError(
                f"--max-features: must be auto with --forest {name}, got {max_features}"
            )
        estimator.set_params(max_features=parsed_max_features(max_features))
    if growth.class_weight is not None:
        if not target_class(task).categorical:
            raise ValueError(
                f"--class-weight: is for classes, but the task is {task}; leave it out"
            )
        if "class_weight" not in parameters:
            raise ValueError(f"--class-weight: --forest {name} has no class weights; leave it out")
        estimator.set_params(class_weight=growth.class_weight)
    for word, name, value in (
        ("--max-depth", "max_depth", growth.max_depth),
        ("--min-leaf", "min_samples_leaf", growth.min_leaf if growth.min_leaf > 1 else None),
    ):
        if value is None:
            continue
        if name not in parameters:
            raise ValueError(f"{word}: --forest {forest.name} has no such limit; leave it out")
        estimator.set_params(**{name: value})
    if growth.bootstrap is not None:
        estimator.set_params(bootstrap=growth.bootstrap)
    return with_estimates(estimator)
