"""Catalogue of the kinds of forests."""

from __future__ import annotations

from duramen.estimators.forest_kind import ForestKind

FORESTS = (
    ForestKind(
        "random-forest",
        "RandomForest",
        "Random forest: bagged trees, the best cut of K random features at each node",
    ),
    ForestKind(
        "extra-trees",
        "ExtraTrees",
        "Extremely randomized trees: the best of K features, each cut at random",
    ),
    ForestKind(
        "totally-randomized-trees",
        "TotallyRandomizedTrees",
        "Totally randomized trees: a random feature at each node, one child a value",
    ),
    ForestKind(
        "bagged-trees",
        "BaggedTrees",
        "Bagged trees: bootstrap samples, and the best cut of all features",
    ),
    ForestKind(
        "random-subspace",
        "RandomSubspace",
        "Random subspace trees: each grown on a random subset of the features",
    ),
    ForestKind(
        "random-patches",
        "RandomPatches",
        "Random patches: each tree is grown on random subsets of rows and features",
    ),
    ForestKind(
        "pert",
        "PERT",
        "Perfect random tree ensembles: a cut between two random rows of different classes",
        regresses=False,
    ),
)
