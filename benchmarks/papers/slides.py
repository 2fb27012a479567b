"""Geurts (2016), slides on random subspaces."""

from __future__ import annotations

import duramen as dm
from benchmarks.papers.entries import Entry, Value, row
from duramen.theory.subspaces import blind_probability, companions_probability


def relevance() -> list[Value]:
    """Importances of an exclusive or and a noisy copy of the target."""
    importances = dm.theory.population_importances(dm.theory.examples.noisy_copy(0.05))
    return row("", "0.262 0.262 0.476", importances.values, importances.names)


def draws() -> list[Value]:
    """Trees that hold a feature of degree 1 with its companion; trees without relevant features."""
    together = companions_probability(10_000, 50, degree=1)
    return [
        Value("probability of both, in units of 1e-5", "2.5", together * 1e5, "rounded"),
        Value("trees to find it", "40812", 1 / together),
        Value("trees without any of 10, in %", "95", 100 * blind_probability(10_000, 50, 10)),
    ]


ENTRIES = (
    Entry("slides-relevance", "Strong and weak relevance", "slides on relevance", relevance),
    Entry("slides-draws", "Random subspaces of 50 of 10,000 features", "slides on RS", draws),
)
