"""Parameters that the estimators share: their check, and the settings of growth that they make."""

from __future__ import annotations

from typing import Any

import numpy as np

from duramen.forests.criteria import aliases_for
from duramen.forests.settings import (
    SPLITS,
    resolve_max_features,
    resolve_max_samples,
    resolve_subspace,
)
from duramen.support import checks

FEW_VALUES = 10
"""A numeric column with more distinct values has no child for each of them by default."""

_OF_THE_SAME_NAME = (
    *("criterion", "max_depth", "min_samples_split", "min_samples_leaf", "max_features"),
    *("max_leaf_nodes", "min_impurity_decrease", "min_impurity_split", "bootstrap", "ccp_alpha"),
    *("splits", "n_best_splits", "feature_first", "stop_alpha", "stop_permutations"),
)
SETTINGS = {name: name for name in _OF_THE_SAME_NAME} | {
    "n_subspace_features": "column_samples",
    "class_weight": "balanced_subsample",
    "max_samples": "row_samples",
    "count_constant_features": "count_constants",
}
"""Parameters that say how trees are grown, and the field of `GrowthSettings` that each sets."""


def split_family(splits: Any, table: Any) -> Any:
    """Return the family of splits that "auto" stands for on a table; others as they are.

    "ordered" where a numeric column has more than `FEW_VALUES` distinct values, else "multiway".
    """
    if not (isinstance(splits, str) and splits == "auto"):
        return splits
    if table is None:
        return "ordered"
    numeric = table.schema.kind_codes == 0
    many = np.diff(table.schema.value_offsets)[numeric] > FEW_VALUES
    return "ordered" if many.any() else "multiway"


def resolved_parameters(
    forest: Any, splits: Any, n_rows: int, n_features: int, n_groups: int | None = None
) -> dict[str, Any]:
    """Check every parameter, in the order of the signature, and return what each stands for.

    `splits` is the family of splits on the table (:func:`split_family`). `n_groups` is the number
    of groups of rows that trees draw as a whole; None where rows are drawn by themselves.
    """
    owner = type(forest).__name__

    def limit(name: str, least: int) -> int | None:
        return checks.check_optional_integer(owner, name, getattr(forest, name), least)

    def rows(name: str, least: int) -> int:
        return checks.check_count_or_fraction(owner, name, getattr(forest, name), n_rows, least)

    def number(name: str) -> float:
        return checks.check_real(owner, name, getattr(forest, name), 0)

    def flag(name: str) -> bool:
        return checks.check_flag(owner, name, getattr(forest, name))

    subspace = resolve_subspace(owner, forest.n_subspace_features, n_features)
    units = (n_rows, "rows") if n_groups is None else (n_groups, "groups")
    criteria, oob_score = aliases_for(forest.task), forest.oob_score
    return {
        "n_estimators": checks.check_integer(
            owner, "n_estimators", forest.n_estimators, 1, most=2**62
        ),
        "criterion": criteria[checks.check_choice(owner, "criterion", forest.criterion, criteria)],
        "max_depth": limit("max_depth", 1),
        "min_samples_split": rows("min_samples_split", 2),
        "min_samples_leaf": rows("min_samples_leaf", 1),
        "max_features": resolve_max_features(
            owner, forest.max_features, n_features, subspace or n_features
        ),
        "max_leaf_nodes": limit("max_leaf_nodes", 2),
        "min_impurity_decrease": number("min_impurity_decrease"),
        "min_impurity_split": number("min_impurity_split"),
        "n_subspace_features": subspace,
        "bootstrap": flag("bootstrap"),
        "oob_score": oob_score if callable(oob_score) else flag("oob_score"),
        "n_jobs": checks.check_jobs(owner, forest.n_jobs),
        "verbose": checks.check_verbosity(owner, forest.verbose),
        "warm_start": flag("warm_start"),
        "class_weight": isinstance(forest.class_weight, str)
        and forest.class_weight == "balanced_subsample",
        "ccp_alpha": number("ccp_alpha"),
        "max_samples": resolve_max_samples(
            owner, forest.max_samples, units[0], forest.bootstrap, units[1]
        ),
        "splits": checks.check_choice(owner, "splits", splits, ("auto", *SPLITS)),
        "n_best_splits": _n_best_splits(owner, forest.n_best_splits, splits),
        "feature_first": flag("feature_first"),
        "stop_alpha": _stop_alpha(owner, forest),
        "stop_permutations": _stop_permutations(owner, forest),
        "count_constant_features": flag("count_constant_features"),
    }


def _n_best_splits(owner: str, value: Any, splits: Any) -> int:
    name = "n_best_splits"
    count: int = checks.check_integer(owner, name, value, 1, most=2**31 - 1)
    if count > 1 and splits == "multiway":
        raise ValueError(
            f"{owner}: {name} must be 1 with splits='multiway', whose nodes have one split "
            f"a feature, got {value}. Hint: splits='ordered'."
        )
    return count


def _stop_alpha(owner: str, forest: Any) -> float:
    value, hint = forest.stop_alpha, "None or 1 for no test"
    return 1.0 if value is None else checks.check_real(owner, "stop_alpha", value, 0, 1, hint=hint)


def _stop_permutations(owner: str, forest: Any) -> int:
    name, value = "stop_permutations", forest.stop_permutations
    if value is None:
        return 0
    count: int = checks.check_integer(owner, name, value, 1)
    alpha = _stop_alpha(owner, forest)
    if alpha >= 1:
        raise ValueError(
            f"{owner}: {name} must be None without a test, got {value}. Hint: stop_alpha "
            "is the level of the test."
        )
    if alpha * (count + 1) * (1 + 1e-12) < 1:
        raise ValueError(
            f"{owner}: {name} must be at least 1 / stop_alpha - 1, since no p-value is "
            f"below 1 / ({name} + 1), got {value} with stop_alpha={alpha:g}. Hint: more "
            "permutations, or a larger stop_alpha."
        )
    return count
