"""For asv: exact importances, relevance, and planning of random subspaces."""

from __future__ import annotations

from benchmarks.speed.lattice import Table, drawn, primary_tumor
from duramen.theory import (
    FiniteDistribution,
    expected_trees,
    markov_boundaries,
    population_importances,
)
from duramen.theory.dependence import feature_relevance
from duramen.theory.population import lattice_cost

TABLES = {
    "primary tumor": primary_tumor,
    "16 x 300 bits": lambda: drawn(300, 16, 2, 2),
    "16 x 300, three values": lambda: drawn(300, 16, 3, 5),
}


class Population:
    """Importances of infinitely many trees."""

    params = (list(TABLES), ["entropy", "gini"])
    param_names = ("table", "criterion")

    def setup(self, table: str, criterion: str) -> None:
        rows: Table = TABLES[table]()
        self.dist = FiniteDistribution.from_table(*rows)

    def time_importances(self, table: str, criterion: str) -> None:
        population_importances(self.dist, criterion=criterion)

    def time_estimate(self, table: str, criterion: str) -> None:
        lattice_cost(self.dist, criterion=criterion)


class Relevant:
    """Relevance and Markov boundaries."""

    params = list(TABLES)
    param_names = ("table",)

    def setup(self, table: str) -> None:
        self.dist = FiniteDistribution.from_table(*TABLES[table]())

    def time_relevance(self, table: str) -> None:
        feature_relevance(self.dist)

    def time_boundaries(self, table: str) -> None:
        markov_boundaries(self.dist)


class Convergence:
    """Exact Markov chains with a million features."""

    params = ["chain", "clique", "marginal"]
    param_names = ("scenario",)

    def time_expected_trees(self, scenario: str) -> None:
        expected_trees(scenario, n_features=10**6, subspace=1000, n_relevant=100, keep=1)
