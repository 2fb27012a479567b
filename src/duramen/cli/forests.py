"""The forests that a command can grow, by the names of the catalogue."""

from __future__ import annotations

from typing import Any

from duramen.cli.options import settled_criterion


def forest_names() -> tuple[str, ...]:
    """Return the names of the forests."""
    from duramen.estimators.catalogue import FORESTS

    return tuple(one.name for one in FORESTS)


def make_forest(
    name: str,
    task: str,
    *,
    trees: int,
    max_features: str,
    criterion: str,
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
    from duramen.estimators.catalogue import FORESTS

    forest = next(one for one in FORESTS if one.name == name)
    kind = forest.classifier if task == "classification" else forest.regressor
    if kind is None:
        raise ValueError(
            f"--forest: {name} is for classification only, but the target holds numbers. Hint: "
            "choose another forest, or --task classification."
        )
    impurity = settled_criterion(criterion, task)
    estimator: Any = kind(
        n_estimators=trees,
        criterion="squared_error" if impurity == "variance" else impurity,
        random_state=seed,
        n_jobs=jobs,
        verbose=int(verbose),
    )
    parameters = estimator.get_params()
    if max_features != "auto":
        if "max_features" not in parameters:
            raise ValueError(
                f"--max-features: must be auto with --forest {name}, got {max_features}"
            )
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
        "--max-features: must be auto, sqrt, log2, all, an integer from 1 or a fraction in (0, 1], "
        f"got {given!r}"
    )
