"""Importance measures of grown forests, one a file."""

from duramen.importances.air import air
from duramen.importances.comparison import Comparison, compare
from duramen.importances.conditional_mda import conditional_mda
from duramen.importances.depths import FirstSplits
from duramen.importances.frequency import frequency
from duramen.importances.group import group
from duramen.importances.holdout_mda import holdout_mda
from duramen.importances.mcfs import mcfs
from duramen.importances.mda import mda
from duramen.importances.mdi import mdi
from duramen.importances.minimal_depth import first_splits, minimal_depth, minimal_depth_law
from duramen.importances.noising import noising
from duramen.importances.representatives import Representatives, representatives
from duramen.importances.sandri import sandri
from duramen.importances.smoothing import smooth
from duramen.importances.vote_change import vote_change
from duramen.results import Importances, MonteCarloSelection, Significance

__all__ = [
    "Comparison",
    "FirstSplits",
    "Importances",
    "MonteCarloSelection",
    "Representatives",
    "Significance",
    "air",
    "compare",
    "conditional_mda",
    "first_splits",
    "frequency",
    "group",
    "holdout_mda",
    "mcfs",
    "mda",
    "mdi",
    "minimal_depth",
    "minimal_depth_law",
    "noising",
    "representatives",
    "sandri",
    "smooth",
    "vote_change",
]
