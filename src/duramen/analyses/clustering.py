"""Clusters of correlated features, and places of features on the genome."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from duramen.analyses.execution import Clock
from duramen.analyses.problem import Problem

if TYPE_CHECKING:
    from duramen.data import EncodedTable
    from duramen.importances.comparison import Measured
    from duramen.reports.signals import Signals

DISTANCE = 250_000
"""Base pairs between a variant and the representative of its cluster, at most, by default."""


@dataclass(frozen=True)
class Clustering:
    """Clusters of features after they are ranked, or before."""

    clusters: float | None = None  # least absolute correlation with the representative
    distance: int = DISTANCE
    representatives: float | None = None  # average absolute correlation, before the ranking

    def signals(self, problem: Problem[Any], ranked: Measured, clock: Clock) -> Signals:
        """Return the places of features, and their clusters where these are asked for."""
        from duramen.importances import clusters
        from duramen.reports.facts import as_importances
        from duramen.reports.signals import Signals

        places = Signals(problem.variants)
        if self.clusters is None:
            return places
        scores = as_importances(ranked)
        with clock.step("cluster"):
            clustered = clusters(
                scores,
                problem.table,
                threshold=self.clusters,
                positions=None if problem.variants is None else places.positions(scores.names),
                distance=self.distance,
            )
        return replace(places, clusters=clustered)

    def represented(
        self, problem: Problem[EncodedTable], clock: Clock
    ) -> tuple[Problem[EncodedTable], Signals | None]:
        """Return the problem with the representatives for features, and the clusters."""
        if self.representatives is None:
            return problem, None
        with clock.step("cluster"):
            return _represented(problem, self.representatives)


def _represented(
    problem: Problem[EncodedTable], threshold: float
) -> tuple[Problem[EncodedTable], Signals]:
    import numpy as np

    from duramen.importances import Clusters, representatives
    from duramen.importances.clustering import pairwise, with_gaps
    from duramen.reports.signals import Signals

    represented = representatives(problem.table, threshold=threshold)
    numbers = with_gaps(problem.table, "spearman")
    r = np.ones(len(represented.names))
    for k, medoid in enumerate(represented.medoids.tolist()):
        members = np.flatnonzero(represented.labels == k)
        if len(members) > 1:
            r[members] = pairwise(numbers[:, [medoid]], numbers[:, members])[0]
            r[medoid] = 1.0
    settings = {"threshold": threshold, "correlation": "spearman", "distance": None}
    made = Clusters(
        represented.names, represented.labels.copy(), represented.medoids.copy(), r, settings
    )
    data = problem.data.with_table(represented.transform(problem.table))
    return replace(problem, data=data), Signals(problem.variants, made, grown=True)
