"""Catalogue of the kinds of forests."""

from __future__ import annotations

from duramen.estimators.bagged_trees import BAGGED_TREES
from duramen.estimators.extra_trees import EXTRA_TREES
from duramen.estimators.pert import PERT
from duramen.estimators.random_forest import RANDOM_FOREST
from duramen.estimators.random_patches import RANDOM_PATCHES
from duramen.estimators.random_subspace import RANDOM_SUBSPACE
from duramen.estimators.totally_randomized_trees import TOTALLY_RANDOMIZED_TREES

FORESTS = (
    RANDOM_FOREST,
    EXTRA_TREES,
    TOTALLY_RANDOMIZED_TREES,
    BAGGED_TREES,
    RANDOM_SUBSPACE,
    RANDOM_PATCHES,
    PERT,
)
