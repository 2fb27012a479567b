"""Growth below the estimators, trees, and maps of rows from proximities."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from tests.contracts import extracts
from tests.contracts.inputs import classes, forest, jobs, table, uniform, weights
from tests.contracts.registry import case
from tests.io.store.stores import write_bed

import duramen as dm
from duramen.forests import (
    GrowthSettings,
    cost_complexity_pruning_path,
    grow,
    patch_memory,
    pruned,
)


@case("forests.grow/entropy")
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
        return memory, extracts.forest(grown)


@case("forests.cost_complexity_pruning_path")
def _path() -> Any:
    path = cost_complexity_pruning_path(forest().forest_)
    return (path.ccp_alphas[::20], path.impurities[::20], path.n_leaves[::20])


@case("forests.pruned")
def _pruned() -> Any:
    return extracts.forest(pruned(forest().forest_, 0.02))


@case("forests.grow/sparse columns", sparse=True)
@case("forests.grow/codes of two bytes")
def _of_other_codes(sparse: bool = False) -> Any:
    """Columns that are mostly zero, or of more than 256 values."""
    X = uniform(600, 6, seed=7) + uniform(600, 6, seed=9) / 100
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0.6, "yes", "no")
    table = dm.encode(csr_array(np.where(X > 0.9, X, 0.0)) if sparse else X)
    assert (table.sparse is not None) == sparse
    assert sparse or table.n_codes().min() > 256
    model = dm.RandomForestClassifier(3, random_state=2, n_jobs=jobs()).fit(table, y)
    return extracts.forest(model.forest_)


@case("forests.grow/packed genotypes")
def _of_genotypes() -> Any:
    values = np.floor(3 * uniform(120, 6, seed=8)).astype(int)
    with tempfile.TemporaryDirectory() as folder:
        store = dm.open_store(write_bed(Path(folder) / "a.bed", values))
        model = dm.RandomForestClassifier(3, random_state=2, n_jobs=jobs())
        return extracts.forest(model.fit(store, values[:, 0] > 0).forest_)
