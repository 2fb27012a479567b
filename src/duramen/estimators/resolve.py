"""From the parameters of an estimator to the settings of the growth loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duramen import checks
from duramen.forests import sampling
from duramen.forests.settings import SPLITS, GrowthSettings

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest


def resolve_settings(estimator: BaseForest, n_rows: int, n_features: int) -> GrowthSettings:
    """Check every parameter that shapes the trees, and resolve it for a table of n rows.

    Parameters
    ----------
    estimator : BaseForest
        The estimator, its parameters as its user gave them.
    n_rows, n_features : int
        Shape of the training table.

    Raises
    ------
    ValueError
        Naming the parameter, what is allowed and what came.
    """
    owner = type(estimator).__name__
    criterion = checks.check_choice(owner, "criterion", estimator.criterion, estimator.criteria)
    bootstrap = checks.check_flag(owner, "bootstrap", estimator.bootstrap)
    column_samples = sampling.resolve_subspace(owner, estimator.n_subspace_features, n_features)
    stop_alpha = 1.0
    if estimator.stop_alpha is not None:
        stop_alpha = checks.check_real(
            owner, "stop_alpha", estimator.stop_alpha, 0.0, 1.0, "None or 1 for no test"
        )
    settings = GrowthSettings(
        criterion=estimator.criteria[criterion],
        cut=estimator.cut_rule,
        splits=checks.check_choice(owner, "splits", estimator.splits, SPLITS),
        max_features=sampling.resolve_max_features(
            owner, estimator.max_features, n_features, column_samples or n_features
        ),
        count_constants=checks.check_flag(
            owner, "count_constant_features", estimator.count_constant_features
        ),
        max_depth=checks.check_optional_integer(owner, "max_depth", estimator.max_depth, 1),
        min_samples_split=checks.check_count_or_share(
            owner, "min_samples_split", estimator.min_samples_split, n_rows, 2
        ),
        min_samples_leaf=checks.check_count_or_share(
            owner, "min_samples_leaf", estimator.min_samples_leaf, n_rows, 1
        ),
        min_impurity_decrease=checks.check_real(
            owner, "min_impurity_decrease", estimator.min_impurity_decrease, 0.0
        ),
        max_leaf_nodes=checks.check_optional_integer(
            owner, "max_leaf_nodes", estimator.max_leaf_nodes, 2
        ),
        stop_alpha=stop_alpha,
        bootstrap=bootstrap,
        row_samples=sampling.resolve_max_samples(owner, estimator.max_samples, n_rows, bootstrap),
        column_samples=column_samples,
        balanced_subsample=isinstance(estimator.class_weight, str)
        and estimator.class_weight == "balanced_subsample",
    )
    return settings
