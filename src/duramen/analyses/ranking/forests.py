"""Forest of a ranking: its trees by default, and its out-of-bag estimates."""

from __future__ import annotations

from typing import Any

TREES, LEAST_TREES = 1000, 50
"""Number of trees by default, and of those of the tallest tables."""
MANY_ROWS = 100_000
"""From so many rows on there are fewer trees by default."""


def trees_by_default(n_rows: int) -> int:
    """Return the number of trees for a table of so many rows.

    The trees of a tall table take long, and differ less than those of a short one.
    """
    return max(LEAST_TREES, min(TREES, TREES * MANY_ROWS // n_rows))


def fewer_trees(n_rows: int, parameter: str) -> list[str]:
    """Say so where there are fewer trees by default; the parameter sets another number."""
    n_trees = trees_by_default(n_rows)
    if n_trees == TREES:
        return []
    return [
        f"the forest has {n_trees:,} trees instead of {TREES:,}, as the table has {n_rows:,} "
        f"rows; {parameter} sets another number"
    ]


def with_estimates(estimator: Any) -> Any:
    """Return an estimator that computes out-of-bag estimates if its trees leave rows out."""
    from duramen.importances.refit import leaves_rows_out

    return estimator.set_params(oob_score=leaves_rows_out(estimator))


def default_forest(task: str, n_trees: int, **work: Any) -> Any:
    """Return the random forest that features are ranked by if no other is asked for."""
    from duramen.estimators.catalogue import FORESTS

    estimator = FORESTS[0].estimator(task)(n_estimators=n_trees, **work)
    return with_estimates(estimator.set_params(**estimator.target_class.ranking_parameters))
