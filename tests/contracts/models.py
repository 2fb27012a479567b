"""The list of all estimators and selectors, each with settings for small data.

What holds for every class is tested over this list; a public class that is missing is an error.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.tree import DecisionTreeClassifier

import duramen as dm
from duramen.estimators.catalogue import FORESTS
from duramen.selection import catalogue

FOREST = {"n_estimators": 8, "random_state": 0}
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
SEARCH = {"estimator": TREE, "cv": 2, "random_state": 0}
SELECTORS: dict[str, dict[str, Any]] = {
    "sequential_random_subspace": {
        **{"n_estimators": 30, "n_subspace_features": 3, "random_state": 0},
        **{"relevance": "probe", "min_draws": 2, "min_win_rate": 0.6},
    },
    "boruta": {**FOREST, "n_estimators": 20, "measure": "mdi", "max_rounds": 20},
    "knock_out": {**FOREST, "measure": "mdi", "n_permutations": 19, "max_rounds": 2},
    "artificial_contrasts": {**FOREST, "n_permutations": 3, "max_rounds": 2, "remove_masked": True},
    "backward_elimination": {**FOREST, "drop": 0.5, "nested_folds": 2},
    "vsurf": {**FOREST, "n_thresholding": 2, "n_interpretation": 2, "n_prediction": 2},
    "regularized_forest": FOREST,
    "guided_regularized_forest": {**FOREST, "guidance": 1.0},
    "forward_selection": SEARCH,
    "backward_selection": SEARCH,
    "floating_selection": SEARCH,
    "adaptive_floating_selection": SEARCH,
    "exhaustive_selection": SEARCH,
    "markov_boundary": {},
    "mrmr": {"n_features": 3},
    "jmi": {"n_features": 3},
    "cmim": {"n_features": 3},
    "fcbf": {},
    "markov_blanket_filter": {"n_features": 3},
    "relieff": {"n_features": 3},
    "lasso": {"cv": 2, "random_state": 0},
    "ridge": {"n_features": 3},
    "stability_selection": {**FOREST, "n_draws": 8, "alpha": 1},
}
RECORDS = [
    entry
    for entry in catalogue
    if entry.extra != "baselines" or importlib.util.find_spec("skrebate") is not None
]


def selector(record: Any, **options: Any) -> Any:
    """Return the selector of a record of the catalogue."""
    return record.make(**{**SELECTORS[record.name], **options})


def takes(record: Any, parameter: str) -> bool:
    """Tell whether a selector has a parameter."""
    return parameter in record.make().get_params()


# --- checks of scikit-learn that do not hold, each with its reason -------------------------------

BAGS = "a bag draws rows, however often they are repeated or however much they weigh"
PAIRS = "a cut is drawn from a pair of rows, however often they are repeated"
TIES = "equal splits are told apart by random draws, whose number depends on the number of rows"
PURE = (
    "leaves of fully grown trees are pure, whatever the weights of the classes; scikit-learn's "
    "forests pass because the check sets min_weight_fraction_leaf, which is not offered here"
)
NO_KIND = "the check looks for classes, and a selector is neither a classifier nor a regressor"
EVENTS = "the check looks for labels of an unknown type, and a target of survival has no labels"
WEIGHTS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
KINDS = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")
WHY_WEIGHTS_DIFFER = {
    **dict.fromkeys(("RandomForestClassifier", "RandomForestRegressor"), BAGS),
    **dict.fromkeys(("BaggedTreesClassifier", "BaggedTreesRegressor"), BAGS),
    **dict.fromkeys(("RandomPatchesClassifier", "RandomPatchesRegressor"), BAGS),
    **dict.fromkeys(("GuidedForestClassifier", "GuidedForestRegressor"), BAGS),
    "PERTClassifier": PAIRS,
    **dict.fromkeys(("ExtraTreesRegressor", "RandomSubspaceRegressor"), TIES),
    "TotallyRandomizedTreesClassifier": TIES,
    "TotallyRandomizedTreesRegressor": TIES,
}


@dataclass(frozen=True)
class Model:
    """An estimator or selector that is not fitted, and its copy for the checks of scikit-learn."""

    made: Any
    checked: Any

    @property
    def task(self) -> str:
        """Task of its target; that of a selector is classification."""
        return getattr(self.made, "task", "classification")

    @property
    def expected_failures(self) -> dict[str, str]:
        """Checks of scikit-learn that do not hold, each with its reason."""
        name, reasons = type(self.made).__name__, dict[str, str]()
        if name in WHY_WEIGHTS_DIFFER:
            reasons = dict.fromkeys(WEIGHTS, WHY_WEIGHTS_DIFFER[name])
        if self.task == "survival":
            return {"check_dtype_object": EVENTS}
        if is_classifier(self.made):
            return {**reasons, "check_class_weight_classifiers": PURE}
        return reasons if is_regressor(self.made) else dict.fromkeys(KINDS, NO_KIND)


class _Events:
    """Mixin for the checks of scikit-learn, whose numbers become times of events."""

    def fit(self, X: Any, y: Any, *others: Any, **more: Any) -> Any:
        return super().fit(X, _events(y), *others, **more)  # type: ignore[misc]

    def score(self, X: Any, y: Any) -> float:
        return float(super().score(X, _events(y)))  # type: ignore[misc]


def _events(y: Any) -> Any:
    if y is None:
        return None
    y = np.asarray(y)
    if y.ndim != 1 or y.dtype.kind not in "iuf":
        return y
    return np.column_stack([y - y.min() + 1.0, np.ones(len(y))])


class RandomSurvivalForestOfNumbers(_Events, dm.RandomSurvivalForest):
    """Random survival forest whose target is numbers."""


class ExtraSurvivalTreesOfNumbers(_Events, dm.ExtraSurvivalTrees):
    """Extra survival trees whose target is numbers."""


OF_NUMBERS = {
    dm.RandomSurvivalForest: RandomSurvivalForestOfNumbers,
    dm.ExtraSurvivalTrees: ExtraSurvivalTreesOfNumbers,
}
_FEW = {"n_estimators": 2, "max_rounds": 2, "n_draws": 2, "n_permutations": 2}


def _of_forest(kind: Any) -> Model:
    return Model(kind(5, random_state=0), OF_NUMBERS.get(kind, kind)(10))


def _of_record(record: Any) -> Model:
    small: dict[str, Any] = {name: n for name, n in _FEW.items() if takes(record, name)}
    if takes(record, "floating"):
        small = {"n_features": 1}
    if record.name == "knock_out":
        small["alpha"] = 0.5  # two permutations reach no lower level
    if record.name == "sequential_random_subspace":
        small = {"n_estimators": 20, "n_subspace_features": None}
    return Model(selector(record), selector(record, **small))


MODELS: dict[str, Model] = {
    **{kind.__name__: _of_forest(kind) for entry in FORESTS for kind in entry.estimators},
    "GuidedForestClassifier": _of_forest(dm.GuidedForestClassifier),
    "GuidedForestRegressor": _of_forest(dm.GuidedForestRegressor),
    **{record.name: _of_record(record) for record in RECORDS},
    "cluster_representatives": Model(
        dm.ClusterRepresentatives(n_clusters=2), dm.ClusterRepresentatives()
    ),
}


# --- results of analyses, each of forests, features and classes -----------------------------------


def _forest(X: Any, y: Any) -> Any:
    return dm.RandomForestClassifier(**FOREST).fit(X, y)


def _refitted(function: Any, n_trees: int = 8, **options: Any) -> Any:
    forest = dm.RandomForestClassifier(n_trees)
    return lambda X, y: function(forest, X, y, **options, random_state=0)


_m, _s = dm.importances, dm.significance
_CONTEXT = {
    "n_permutations": 3,
    "random_state": 0,
    "estimator": dm.TotallyRandomizedTreesClassifier(4),
}
RESULTS: dict[str, Any] = {
    "Importances": lambda X, y: _m.mda(_forest(X, y), X, y, random_state=0),
    "LocalImportances": lambda X, y: _m.local_mdi(_forest(X, y), X),
    "PairInteractions": lambda X, y: _m.interactions(_forest(X, y), X),
    "MonteCarloSelection": lambda X, y: _m.mcfs(
        X, y, n_subsets=20, n_splits=2, subset_size=3, random_state=0
    ),
    "Clusters": lambda X, y: _m.clusters(_m.mdi(_forest(X, y)), X, threshold=0.1),
    "InteractionStrengths": lambda X, y: dm.effects.interaction_strength(_forest(X, y), X),
    "SelectionEvaluation": lambda X, y: dm.evaluate_selection(
        {"mdi": "mdi", "all": None}, X, y, n_features=(1, 2), n_resamples=4, random_state=0
    ),
    "ContextImportances": lambda X, y: dm.contexts.context_importances(
        X[:, 1:], y, X[:, 0] > 0, **_CONTEXT
    ),
    "ContextNetwork": lambda X, y: dm.contexts.context_network(
        X[:, 1:], X[:, 0] > 0, n_permutations=3, estimator=dm.ExtraTreesRegressor(4), random_state=0
    ),
    "Network": lambda X, y: dm.genie3(X, random_state=0),
    "Significance": _refitted(_s.altmann, measure="mdi", n_permutations=5),
    "VoteChange": lambda X, y: _m.vote_change(_forest(X, y), X, y),
    "AdjustedSignificance": _refitted(_s.max_t, n_permutations=19),
    "ConditionalSignificance": _refitted(_s.conditional, 60),
    "ErrorRates": _refitted(_s.conditional_error_rate, n_permutations=20),
    "Intervals": _refitted(_s.confidence_intervals, measure="mdi", n_resamples=8),
    "PermutedImportances": _refitted(_s.permuted_importances, n_permutations=5),
    "Stability": _refitted(_s.ranking_stability, k=2, n_resamples=6),
    "TreesNeeded": lambda X, y: _s.trees_needed(
        dm.RandomForestClassifier(24, random_state=0).fit(X, y), k=2, random_state=0
    ),
}
# Results that have another origin than rows, or that are values of the rows.
_REPORTS = ("Report", "RankingReport", "SelectionReport", "ComparisonReport")
_REPORTS += ("ContextReport", "ExactReport", "PlanReport", "NetworkReport", "ConnectomeReport")
WITHOUT_ROWS = {
    "ChallengeScore": "of a network and the true links",
    "NetworkScores": "of a network and the true links",
    "Orientation": "of a network and the true links",
    "SelectionScores": "of a selection and the true features",
    "EnoughFeatures": "of a SelectionEvaluation",
    "FeatureEffect": "its points are quantiles of a feature",
    "FiniteDistribution": "a distribution is made of values",
    **dict.fromkeys(_REPORTS, "pages"),
}
