"""Importance measures of grown forests, one a file."""

from duramen.catalogue import Catalogue
from duramen.importances.clustering import Clusters, clusters, representatives
from duramen.importances.groups import group, smooth
from duramen.importances.measure import Inputs, Measure
from duramen.importances.measures.conditional_mda import CONDITIONAL_MDA, conditional_mda
from duramen.importances.measures.holdout_mda import HOLDOUT_MDA, holdout_mda
from duramen.importances.measures.influence import (
    PREDICTION_CHANGE,
    prediction_change,
    relative_influence,
)
from duramen.importances.measures.interactions import interactions
from duramen.importances.measures.local_mdi import LOCAL_MDI, local_mdi
from duramen.importances.measures.mcfs import MCFS, mcfs
from duramen.importances.measures.mda import MDA, mda
from duramen.importances.measures.mdi import MDI, MDI_OOB, mdi
from duramen.importances.measures.mdi_plus import MDI_PLUS, mdi_plus
from duramen.importances.measures.shadows import AIR, SANDRI, air, sandri
from duramen.importances.measures.sobol_mda import SOBOL_MDA, sobol_mda
from duramen.importances.measures.splits import (
    FREQUENCY,
    MINIMAL_DEPTH,
    NOISING,
    frequency,
    minimal_depth,
    minimal_depth_distribution,
    noising,
)
from duramen.importances.measures.vote_change import VOTE_CHANGE, vote_change
from duramen.results.importances import MonteCarloSelection
from duramen.results.local_importances import LocalImportances
from duramen.results.pair_interactions import PairInteractions
from duramen.results.significance import VoteChange

__all__ = [
    "Clusters",
    "Inputs",
    "LocalImportances",
    "Measure",
    "MonteCarloSelection",
    "PairInteractions",
    "VoteChange",
    "air",
    "catalogue",
    "clusters",
    "conditional_mda",
    "frequency",
    "group",
    "holdout_mda",
    "interactions",
    "local_mdi",
    "mcfs",
    "mda",
    "mdi",
    "mdi_plus",
    "minimal_depth",
    "minimal_depth_distribution",
    "noising",
    "prediction_change",
    "relative_influence",
    "representatives",
    "sandri",
    "smooth",
    "sobol_mda",
    "vote_change",
]

catalogue = Catalogue(
    "measure",
    (
        MDI,
        MDI_OOB,
        MDA,
        VOTE_CHANGE,
        CONDITIONAL_MDA,
        FREQUENCY,
        MINIMAL_DEPTH,
        NOISING,
        HOLDOUT_MDA,
        AIR,
        SANDRI,
        MCFS,
        PREDICTION_CHANGE,
        SOBOL_MDA,
        MDI_PLUS,
        LOCAL_MDI,
    ),
)
"""All importance measures; ``register`` adds one."""


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
