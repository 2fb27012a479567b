"""Random subspaces: number of trees needed, coverage of features, simulation and planning."""

from duramen.theory.subspaces.convergence import (
    all_seen_probability,
    blind_probability,
    companions_probability,
    draws_needed,
    expected_draws,
    expected_trees,
    found_curve,
    transition_matrix,
    trees_to_find_all,
    unseen_probability,
)
from duramen.theory.subspaces.planning import Plan, PlanOption, search_plan
from duramen.theory.subspaces.simulation import (
    Simulation,
    random_conditionings,
    simulate,
)

__all__ = [
    "Plan",
    "PlanOption",
    "Simulation",
    "all_seen_probability",
    "blind_probability",
    "companions_probability",
    "draws_needed",
    "expected_draws",
    "expected_trees",
    "found_curve",
    "random_conditionings",
    "search_plan",
    "simulate",
    "transition_matrix",
    "trees_to_find_all",
    "unseen_probability",
]
