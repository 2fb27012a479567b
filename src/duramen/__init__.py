"""Feature importances from ensembles of randomized trees: which features matter, why, how surely.

A learning set (a table and its target, encoded once) goes into a forest, and the forest gives
importances::

    import duramen as dm

    leukemia = dm.datasets.load_leukemia()
    data = dm.learning_set(leukemia.X, leukemia.y, names=leukemia.names)
    forest = dm.RandomForestClassifier(1000, random_state=0).fit(data)
    print(dm.importances.mdi(forest))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from duramen import (
        contexts,
        datasets,
        effects,
        estimators,
        evaluation,
        forests,
        importances,
        networks,
        plots,
        reports,
        selection,
        significance,
        theory,
    )
    from duramen.analyses.compare import ComparisonReport, compare
    from duramen.analyses.connectome import ConnectomeReport, connectome
    from duramen.analyses.context import ContextReport, context
    from duramen.analyses.exact import ExactReport, exact
    from duramen.analyses.execution import AnalysisInterrupted
    from duramen.analyses.network import NetworkReport, network
    from duramen.analyses.pack import pack
    from duramen.analyses.plan import PlanReport, plan
    from duramen.analyses.rank import rank
    from duramen.analyses.ranking.report import RankingReport
    from duramen.analyses.select import SelectionReport, select
    from duramen.configuration import config_context, get_config, set_config
    from duramen.data import EncodedTable, encode
    from duramen.data.learning_sets import LearningSet, learning_set
    from duramen.estimators import (
        BaggedTreesClassifier,
        BaggedTreesRegressor,
        ExtraSurvivalTrees,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        GuidedForestClassifier,
        GuidedForestRegressor,
        PERTClassifier,
        RandomForestClassifier,
        RandomForestRegressor,
        RandomPatchesClassifier,
        RandomPatchesRegressor,
        RandomSubspaceClassifier,
        RandomSubspaceRegressor,
        RandomSurvivalForest,
        TotallyRandomizedTreesClassifier,
        TotallyRandomizedTreesRegressor,
    )
    from duramen.evaluation import evaluate_selection
    from duramen.forests import Forest
    from duramen.io import ColumnStore, open_store
    from duramen.networks import genie3
    from duramen.reading.tables import read
    from duramen.results.context_importances import ContextImportances, ContextNetwork
    from duramen.results.importances import Importances
    from duramen.results.network import Network
    from duramen.results.significance import Significance
    from duramen.selection import (
        VSURF,
        ArtificialContrasts,
        BackwardElimination,
        Boruta,
        ClusterRepresentatives,
        InformationFilter,
        KnockOut,
        LassoSelector,
        MarkovBoundary,
        RegularizedForestSelector,
        ReliefF,
        RidgeSelector,
        SequentialRandomSubspace,
        SequentialSelection,
        StabilitySelection,
    )

__all__ = [
    "VSURF",
    "AnalysisInterrupted",
    "ArtificialContrasts",
    "BackwardElimination",
    "BaggedTreesClassifier",
    "BaggedTreesRegressor",
    "Boruta",
    "ClusterRepresentatives",
    "ColumnStore",
    "ComparisonReport",
    "ConnectomeReport",
    "ContextImportances",
    "ContextNetwork",
    "ContextReport",
    "EncodedTable",
    "ExactReport",
    "ExtraSurvivalTrees",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "Forest",
    "GuidedForestClassifier",
    "GuidedForestRegressor",
    "Importances",
    "InformationFilter",
    "KnockOut",
    "LassoSelector",
    "LearningSet",
    "MarkovBoundary",
    "Network",
    "NetworkReport",
    "PERTClassifier",
    "PlanReport",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomPatchesClassifier",
    "RandomPatchesRegressor",
    "RandomSubspaceClassifier",
    "RandomSubspaceRegressor",
    "RandomSurvivalForest",
    "RankingReport",
    "RegularizedForestSelector",
    "ReliefF",
    "RidgeSelector",
    "SelectionReport",
    "SequentialRandomSubspace",
    "SequentialSelection",
    "Significance",
    "StabilitySelection",
    "TotallyRandomizedTreesClassifier",
    "TotallyRandomizedTreesRegressor",
    "compare",
    "config_context",
    "connectome",
    "context",
    "contexts",
    "datasets",
    "effects",
    "encode",
    "estimators",
    "evaluate_selection",
    "evaluation",
    "exact",
    "forests",
    "genie3",
    "get_config",
    "importances",
    "learning_set",
    "network",
    "networks",
    "open_store",
    "pack",
    "plan",
    "plots",
    "rank",
    "read",
    "reports",
    "select",
    "selection",
    "set_config",
    "significance",
    "theory",
]

# Modules of public names that are neither packages, estimators nor selectors.
_HOMES = {
    "rank": "analyses.rank",
    "RankingReport": "analyses.ranking.report",
    **dict.fromkeys(("select", "SelectionReport"), "analyses.select"),
    **dict.fromkeys(("compare", "ComparisonReport"), "analyses.compare"),
    **dict.fromkeys(("connectome", "ConnectomeReport"), "analyses.connectome"),
    **dict.fromkeys(("context", "ContextReport"), "analyses.context"),
    **dict.fromkeys(("exact", "ExactReport"), "analyses.exact"),
    **dict.fromkeys(("network", "NetworkReport"), "analyses.network"),
    **dict.fromkeys(("plan", "PlanReport"), "analyses.plan"),
    "pack": "analyses.pack",
    "AnalysisInterrupted": "analyses.execution",
    "read": "reading.tables",
    **dict.fromkeys(("config_context", "get_config", "set_config"), "configuration"),
    **dict.fromkeys(("EncodedTable", "LearningSet", "encode", "learning_set"), "data"),
    **dict.fromkeys(("ColumnStore", "open_store"), "io"),
    "evaluate_selection": "evaluation",
    "Forest": "forests",
    "genie3": "networks",
    **dict.fromkeys(("ContextImportances", "ContextNetwork"), "results.context_importances"),
    "Importances": "results.importances",
    "Network": "results.network",
    "Significance": "results.significance",
}
_PACKAGES = {"data", "findings", "io", "results"} | {
    name for name in __all__ if name.islower() and name not in _HOMES
}


def __getattr__(name: str) -> Any:
    """Import a package when it is first asked for: ``import duramen`` itself does no work."""
    if name in _PACKAGES:
        return import_module(f"duramen.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'duramen' has no attribute {name!r}")
    homes = [_HOMES[name]] if name in _HOMES else ["estimators", "selection"]
    modules = (import_module(f"duramen.{home}") for home in homes)
    value = next(getattr(module, name) for module in modules if hasattr(module, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
