"""Parameters that the estimators share: their check, and the settings of growth that they make."""

from __future__ import annotations

from typing import Any

import numpy as np

from duramen.forests.criteria import aliases_for
from duramen.forests.settings import (
    SPLITS,
    GrowthSettings,
    resolve_max_features,
    resolve_max_samples,
    resolve_subspace,
)
from duramen.support import checks

FEW_VALUES = 10
"""A numeric column with more distinct values has no child for each of them by default."""

OF_THE_TREES = frozenset(
    (
        *("criterion", "max_depth", "min_samples_split", "min_samples_leaf", "max_features"),
        *("max_leaf_nodes", "min_impurity_decrease", "min_impurity_split", "n_subspace_features"),
        *("bootstrap", "ccp_alpha", "max_samples", "splits", "n_best_splits", "feature_first"),
        *("stop_alpha", "stop_permutations", "count_constant_features"),
    )
)
"""Parameters that say how trees are grown, apart from weights of classes."""


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


def growth_settings(
    forest: Any, splits: Any, n_rows: int, n_features: int, n_groups: int | None = None
) -> GrowthSettings:
    """Check every parameter of an estimator, and return the settings of growth.

    `splits` is the family of splits on the table (:func:`split_family`). `n_groups` is the number
    of groups of rows that trees draw as a whole; None where rows are drawn by themselves.
    """
    owner = type(forest).__name__

    def checked(check: Any, name: str, *limits: Any, **options: Any) -> Any:
        return check(owner, name, getattr(forest, name), *limits, **options)

    checked(checks.check_integer, "n_estimators", 1, most=2**62)
    criteria = aliases_for(forest.task)
    subspace = resolve_subspace(owner, forest.n_subspace_features, n_features)
    offered, n_best = subspace or n_features, "n_best_splits"
    units = (n_rows, "rows") if n_groups is None else (n_groups, "groups")
    settings = GrowthSettings(
        criterion=criteria[checked(checks.check_choice, "criterion", criteria)],
        cut=forest.cut_rule,
        max_depth=checked(checks.check_optional_integer, "max_depth", 1),
        min_samples_split=checked(checks.check_count_or_fraction, "min_samples_split", n_rows, 2),
        min_samples_leaf=checked(checks.check_count_or_fraction, "min_samples_leaf", n_rows, 1),
        max_features=resolve_max_features(owner, forest.max_features, n_features, offered),
        max_leaf_nodes=checked(checks.check_optional_integer, "max_leaf_nodes", 2),
        min_impurity_decrease=checked(checks.check_real, "min_impurity_decrease", 0),
        min_impurity_split=checked(checks.check_real, "min_impurity_split", 0),
        column_samples=subspace,
        bootstrap=checked(checks.check_flag, "bootstrap"),
        balanced_subsample=isinstance(forest.class_weight, str)
        and forest.class_weight == "balanced_subsample",
        ccp_alpha=checked(checks.check_real, "ccp_alpha", 0),
        row_samples=resolve_max_samples(
            owner, forest.max_samples, units[0], forest.bootstrap, units[1]
        ),
        splits=checks.check_choice(owner, "splits", splits, ("auto", *SPLITS)),
        n_best_splits=checked(checks.check_integer, n_best, 1, most=2**31 - 1),
        feature_first=checked(checks.check_flag, "feature_first"),
        stop_alpha=1.0
        if forest.stop_alpha is None
        else checked(checks.check_real, "stop_alpha", 0, 1, hint="None or 1 for no test"),
        stop_permutations=checked(checks.check_optional_integer, "stop_permutations", 1) or 0,
        count_constants=checked(checks.check_flag, "count_constant_features"),
    )
    if not callable(forest.oob_score):
        checked(checks.check_flag, "oob_score")
    checks.check_jobs(owner, forest.n_jobs)
    checks.check_verbosity(owner, forest.verbose)
    if settings.n_best_splits > 1 and splits == "multiway":
        raise ValueError(
            f"{owner}: {n_best} must be 1 with splits='multiway', whose nodes have one split a "
            f"feature, got {settings.n_best_splits}. Hint: splits='ordered'."
        )
    count, alpha = settings.stop_permutations, settings.stop_alpha
    if count and (alpha >= 1 or alpha * (count + 1) * (1 + 1e-12) < 1):
        raise ValueError(
            f"{owner}: stop_permutations must be at least 1 / stop_alpha - 1, as no p-value is "
            f"below 1 / (stop_permutations + 1), and stop_alpha, the level of the test, below 1; "
            f"got {count} with stop_alpha={alpha:g}."
        )
    return settings
