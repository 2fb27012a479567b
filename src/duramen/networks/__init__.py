"""Network inference: regulatory links between genes, and links between neurons."""

from duramen.forests.gradient_boosting import GradientBoosting
from duramen.networks import connectome
from duramen.networks.challenge import ChallengeScore, challenge_score
from duramen.networks.inference import Experiment, genie3, group_links
from duramen.networks.regression_error import reci
from duramen.results.network_scores import NetworkScores, Orientation, undirected_ceiling

__all__ = [
    "ChallengeScore",
    "Experiment",
    "GradientBoosting",
    "NetworkScores",
    "Orientation",
    "challenge_score",
    "connectome",
    "genie3",
    "group_links",
    "reci",
    "undirected_ceiling",
]
