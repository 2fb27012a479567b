"""Selectors."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.inputs import classes, jobs, missing, uniform
from tests.contracts.registry import case

import duramen as dm

N, P = 48, 60


def wide() -> np.ndarray:
    """Sixty columns, so that their decoys have tails; the first two matter."""
    return uniform(N, P, seed=6)


def two() -> np.ndarray:
    """Classes that depend on the first two columns."""
    X = wide()
    return np.where(X[:, 0] + 0.5 * X[:, 1] > 0.7, "yes", "no")


def searched(X: Any = None, y: Any = None, **options: Any) -> Any:
    """A fitted search."""
    settings = {"n_estimators": 40, "n_subspace_features": 15, "random_state": 4, "alpha": 0.3}
    search = dm.SequentialRandomSubspace(**{**settings, "n_jobs": jobs(), **options})
    return search.fit(wide() if X is None else X, two() if y is None else y)


def _found(**options: Any) -> Any:
    search = searched(**options)
    return (
        search.importances_.values,
        search.get_support(indices=True),
        search.ranking_,
        search.draws_,
        search.wins_,
    )


SMALL = {"relevance": "probe", "n_subspace_features": 3, "min_draws": 5, "min_win_rate": 0.6}
MISSING = {"X": missing(), "y": classes(), **SMALL}
CART_SQRT = dm.RandomForestClassifier(bootstrap=False)


for label, options in (
    ("decoy", {}),
    ("decoy, regression", {"y": wide()[:, 0] + wide()[:, 3] * wide()[:, 4]}),
    ("probe", {"relevance": "probe", "min_draws": 2, "min_win_rate": 0.6}),
    ("CART", {"estimator": CART_SQRT, "relevance": "probe", "min_draws": 2}),
    ("batches", {"batch_size": 4}),
    ("missing values", MISSING),
):
    case(f"SequentialRandomSubspace/{label}", **options)(_found)


@case("SequentialRandomSubspace/forest")
def _forest() -> Any:
    search = searched(**{**SMALL, "X": missing(), "y": classes()})
    return (extracts.forest(search.forest_), np.asarray(search.forest_columns_))


@case("SequentialRandomSubspace/store")
def _stored() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        store = dm.pack(wide(), Path(folder) / "store", n_jobs=jobs())
        return _found(X=store)


@case("RegularizedForestSelector/plain")
def _regularized() -> Any:
    settings = {"n_estimators": 10, "random_state": 3, "n_jobs": jobs()}
    model = dm.RegularizedForestSelector(**settings).fit(wide()[:, :8], two())
    return (
        model.selected_,
        model.ranking_,
        model.importances_.values.round(9),
        [model.entered_, model.factors_],
        {name: values.astype(float).round(9) for name, values in model.history_.items()},
    )
