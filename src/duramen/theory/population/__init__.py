"""Importances in the population: exact values for infinitely many trees."""

from duramen.theory.population.accuracy import (
    additive_mda,
    block_mda,
    gaussian_mda,
    population_mda,
)
from duramen.theory.population.importances import (
    ConditioningTerms,
    conditioning_terms,
    last_level_importances,
    population_importances,
    redundant_importances,
    total_sobol_indices,
)
from duramen.theory.population.lattice import LatticeCost, lattice_cost
from duramen.theory.population.shapley import (
    population_interactions,
    population_local_mdi,
    shapley_effects,
)

__all__ = [
    "ConditioningTerms",
    "LatticeCost",
    "additive_mda",
    "block_mda",
    "conditioning_terms",
    "gaussian_mda",
    "last_level_importances",
    "lattice_cost",
    "population_importances",
    "population_interactions",
    "population_local_mdi",
    "population_mda",
    "redundant_importances",
    "shapley_effects",
    "total_sobol_indices",
]
