"""The forests that a command can grow, by the names of its options."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from duramen.cli.options import Criterion, settled_criterion


class ForestName(StrEnum):
    """Names of forests on the command line."""

    rf = "rf"
    extra_trees = "extra-trees"
    totally_randomised = "totally-randomised"
    bagged = "bagged"
    random_subspace = "random-subspace"
    random_patches = "random-patches"
    pert = "pert"


_CLASSES = {
    ForestName.rf: "RandomForest",
    ForestName.extra_trees: "ExtraTrees",
    ForestName.totally_randomised: "TotallyRandomizedTrees",
    ForestName.bagged: "BaggedTrees",
    ForestName.random_subspace: "RandomSubspace",
    ForestName.random_patches: "RandomPatches",
    ForestName.pert: "PERT",
}


def make_forest(
    name: ForestName,
    task: str,
    *,
    trees: int,
    max_features: str,
    criterion: Criterion,
    bootstrap: bool | None,
    seed: int,
    jobs: int,
    verbose: bool,
) -> Any:
    """Return the estimator that the options describe, with out-of-bag estimates if it has any.

    Raises
    ------
    ValueError
        If the options do not go together.
    """
    from duramen import estimators

    suffix = "Classifier" if task == "classification" else "Regressor"
    kind = getattr(estimators, _CLASSES[name] + suffix, None)
    if kind is None:
        raise ValueError(f"--forest {name.value} does {_other(task)} only; the target is a number")
    impurity = settled_criterion(criterion, task)
    estimator = kind(
        n_estimators=trees,
        criterion="squared_error" if impurity == "variance" else impurity,
        random_state=seed,
        n_jobs=jobs,
        verbose=int(verbose),
    )
    parameters = estimator.get_params()
    if max_features != "auto":
        if "max_features" not in parameters:
            raise ValueError(f"--max-features must be auto with --forest {name.value}")
        estimator.set_params(max_features=parsed_max_features(max_features))
    if bootstrap is not None:
        estimator.set_params(bootstrap=bootstrap)
    return estimator.set_params(oob_score=leaves_rows_out(estimator))


def leaves_rows_out(estimator: Any) -> bool:
    """Tell whether the trees of an estimator leave rows out, so that there are out-of-bag rows."""
    return bool(estimator.bootstrap or estimator.max_samples is not None)


def parsed_max_features(given: str) -> str | int | float | None:
    """Return ``--max-features`` as the estimators take it.

    Raises
    ------
    ValueError
        If it is none of the words and no positive number.
    """
    if given == "all":
        return None
    if given in ("sqrt", "log2"):
        return given
    try:
        number = float(given)
    except ValueError:
        number = float("nan")
    if given.isdecimal() and number >= 1:
        return int(given)
    if 0 < number <= 1:
        return number
    raise ValueError(
        "--max-features must be auto, sqrt, log2, all, a whole number or a share from 0 to 1, got "
        f"{given!r}"
    )


def _other(task: str) -> str:
    return "regression" if task == "classification" else "classification"
