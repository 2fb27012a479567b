"""The exact theory: what the kernel computes, and what is drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.inputs import N, jobs, numbers, uniform
from tests.contracts.registry import case

from duramen import theory
from duramen.theory import examples


def empirical(context: bool = False, y: Any = None) -> Any:
    """Rows of four small columns, taken for all there is."""
    X = (uniform(N, 4, seed=2) * 3).astype(int)
    y = (X[:, 0] + X[:, 1] * (X[:, 2] > 1)) % 3 if y is None else y
    options = np.where(X[:, 3] > 0, "in", "out") if context else None
    return theory.FiniteDistribution.from_table(X[:, : 3 if context else 4], y, context=options)


POPULATION = theory.population_importances


@case("population_importances/digits", make=examples.digits7)
@case("population_importances/variance", number=True, criterion="variance")
@case("population_importances/depth", max_depth=2)
@case("population_importances/K = 2", max_features=2)
@case("population_importances/ordered, best", splits="ordered", cut="best", max_features=2)
@case("population_importances/one-vs-rest", splits="one-vs-rest")
@case("population_importances/any", splits="any")
def _population(make: Any = None, number: bool = False, **options: Any) -> Any:
    dist = make() if make else empirical(y=numbers().round(0) if number else None)
    jobs_too = {} if options.get("max_features") or options.get("splits") else {"n_jobs": jobs()}
    return extracts.importances(POPULATION(dist, **options, **jobs_too))


@case("population_mda/ensemble", votes="ensemble", max_features=2)
@case("population_mda/predictor", votes="predictor", max_depth=2)
@case("population_mda/given", given="associated")
def _population_mda(**options: Any) -> Any:
    return extracts.importances(theory.population_mda(empirical(), **options))


@case("population_local_mdi")
def _population_local(**options: Any) -> Any:
    result = theory.population_local_mdi(empirical(), **options)
    return result.values, result.names, result.weights, result.start, result.unit


@case("population_context_importances")
@case("population_context_importances/K = 2", max_features=2)
def _context(**options: Any) -> Any:
    makers = (lambda: empirical(context=True), examples.problem_1)
    return [
        extracts.contexts(theory.population_context_importances(make(), n_jobs=jobs(), **options))
        for make in makers
    ]


@case("simulate/drawn")
def _simulated() -> Any:
    scenario = theory.subspaces.random_conditionings(4, max_degree=3, random_state=1)
    result = theory.subspaces.simulate(
        scenario, n_features=20, subspace=8, keep=0.5, n_trees=12, n_repeats=20, random_state=5
    )
    return (
        result.curve,
        result.found_at,
        result.degrees,
        result.standard_error,
        result.feature_curves,
    )
