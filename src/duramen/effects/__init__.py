"""Effects of features on the predictions of forests: direction, shape and interactions."""

from duramen.effects.curves import accumulated_local_effects, partial_dependence
from duramen.effects.direction import Direction, describe_effects
from duramen.effects.interactions import interaction_strength
from duramen.results.feature_effect import FeatureEffect, InteractionStrengths

__all__ = [
    "Direction",
    "FeatureEffect",
    "InteractionStrengths",
    "accumulated_local_effects",
    "describe_effects",
    "interaction_strength",
    "partial_dependence",
]
