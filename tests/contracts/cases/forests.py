"""Growth below the estimators, trees, and maps of rows from proximities."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.inputs import classes, features, forest, jobs, numbers, table, weights
from tests.contracts.registry import case

import duramen as dm
from duramen.forests import (
    GrowthSettings,
    classical_scaling,
    cost_complexity_pruning_path,
    grow,
    outlier_measure,
    patch_memory,
    pruned,
    shap_trees,
)


@case("forests.grow/entropy")
@case("forests.grow/best of all", criterion="gini", max_features=5)
@case("forests.grow/bootstrap", criterion="gini", bootstrap=True)
@case("forests.grow/weights", weighted=True)
@case("forests.grow/later trees", first_tree=3)
def _grown(weighted: bool = False, first_tree: int = 0, **changes: Any) -> Any:
    options = {
        "criterion": "entropy",
        "cut": "random",
        "max_features": 2,
        "max_depth": 4,
        **changes,
    }
    grown = grow(
        dm.learning_set(table(), classes(), sample_weight=weights() if weighted else None),
        GrowthSettings(**options),
        n_trees=3,
        seed=7,
        first_tree=first_tree,
        n_threads=jobs(),
    )
    return extracts.forest(grown)


@case("forests.patch_memory")
def _patches() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        store = dm.pack(np.arange(4000.0).reshape(400, 10) % 7, Path(folder) / "sevens.store")
        model = dm.RandomPatchesRegressor(4, max_samples=100, random_state=0, n_jobs=jobs())
        memory = patch_memory(store, model.growth_settings(*store.shape), 2)
        grown = model.fit(store, np.arange(400.0) % 11).forest_
        return memory.shared, memory.per_thread, memory.total, extracts.forest(grown)


@case("forests.grow/regression")
def _grown_regression() -> Any:
    settings = GrowthSettings(criterion="variance", max_features=3, row_samples=20)
    return extracts.forest(grow(dm.learning_set(table(), numbers()), settings, n_trees=3, seed=7))


@case("forests.Tree/classification")
@case("forests.Tree/regression", task="regression")
def _tree(task: str = "classification") -> Any:
    tree = forest(task).forest_.tree(2)
    return (
        tree.decrease,
        tree.depth,
        tree.parent,
        tree.n_children,
        tree.weight,
        tree.degree,
        tree.values,
        tree.n_nodes,
        tree.n_leaves,
    )


@case("forests.Forest/sizes")
def _sizes() -> Any:
    grown = forest().forest_
    return (grown.n_trees, grown.n_nodes, grown.n_features, grown.n_values, grown.names)


@case("forests.cost_complexity_pruning_path")
def _path() -> Any:
    path = cost_complexity_pruning_path(forest().forest_)
    return (path.ccp_alphas[::20], path.impurities[::20], path.n_leaves[::20])


@case("forests.pruned")
def _pruned() -> Any:
    return extracts.forest(pruned(forest().forest_, 0.02))


@case("forests.classical_scaling")
def _map() -> Any:
    # Eigenvectors have no sign of their own: distances between the rows are what counts.
    places = classical_scaling(forest().proximity(features()), n_components=2)[:10]
    return np.linalg.norm(places[:, None] - places[None], axis=2).round(7)


@case("forests.shap_trees")
def _shap_trees() -> Any:
    return [[tree[name] for name in sorted(tree)] for tree in shap_trees(forest())["trees"][:2]]


@case("forests.outlier_measure")
def _outliers() -> Any:
    return outlier_measure(forest().proximity(features()), classes())
