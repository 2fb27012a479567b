"""Catalogue of the kinds of forests, as commands, documentation and tests use it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class ForestKind:
    """Kind of forest, whose estimators are imported when they are asked for."""

    name: str  # on the command line
    stem: str  # name of its estimators, without "Classifier" and "Regressor"
    title: str  # description in one line
    regresses: bool = True  # whether it has a regressor
    survival: str = ""  # name of its estimator for survival, if it has one

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its estimators, the classifier first."""
        own = (f"{self.stem}Classifier", f"{self.stem}Regressor")[: 1 + self.regresses]
        return (*own, self.survival) if self.survival else own

    @property
    def estimators(self) -> tuple[Any, ...]:
        """Classes of its estimators, the classifier first."""
        package = import_module("duramen.estimators")
        return tuple(getattr(package, name) for name in self.names)

    def estimator(self, task: str) -> Any:
        """Return the class of its estimator for a task; None where it has none."""
        name = {
            "classification": f"{self.stem}Classifier",
            "regression": f"{self.stem}Regressor" if self.regresses else "",
            "survival": self.survival,
        }.get(task)
        return getattr(import_module("duramen.estimators"), name) if name else None


FORESTS = (
    ForestKind(
        "random-forest",
        "RandomForest",
        "Random forest: bagged trees, the best cut of K random features at each node",
        survival="RandomSurvivalForest",
    ),
    ForestKind(
        "extra-trees",
        "ExtraTrees",
        "Extremely randomized trees: the best of K features, each cut at random",
        survival="ExtraSurvivalTrees",
    ),
    ForestKind(
        "totally-randomized-trees",
        "TotallyRandomizedTrees",
        "Totally randomized trees: a random feature at each node; one child for each "
        "value, or a random cut of numbers of many values",
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

WEIGHTINGS = ("balanced", "balanced_subsample")
"""Weights of classes that have a name: by their rows in the data, or in the rows of a tree."""


OF_THE_TREES = frozenset(
    (
        *("criterion", "max_depth", "min_samples_split", "min_samples_leaf", "max_features"),
        *("max_leaf_nodes", "min_impurity_decrease", "min_impurity_split", "n_subspace_features"),
        *("bootstrap", "ccp_alpha", "max_samples", "splits", "n_best_splits", "feature_first"),
        *("stop_alpha", "stop_permutations", "count_constant_features"),
    )
)
"""Parameters that say how trees are grown, apart from weights of classes."""


def random_forest(task: str, n_estimators: int) -> Any:
    """Return a random forest for a task, its other parameters by default."""
    return FORESTS[0].estimator(task)(n_estimators)
