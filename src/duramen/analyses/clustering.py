"""Clusters of correlated features, and places of features on the genome."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from duramen.analyses.execution import Clock

if TYPE_CHECKING:
    from duramen.data import EncodedTable, LearningSet
    from duramen.importances.comparison import Measured
    from duramen.reports.signals import Signals
    from duramen.results.importances import Importances

DISTANCE = 250_000
"""Base pairs between a variant and the representative of its cluster, at most, by default."""


@dataclass(frozen=True)
class Clustering:
    """Clusters of features after they are ranked, or before."""

    clusters: float | None = None  # least absolute correlation with the representative
    distance: int = DISTANCE
    representatives: float | None = None  # average absolute correlation, before the ranking

    def signals(self, data: LearningSet[Any], ranked: Measured, clock: Clock) -> Signals:
        """Return the places of features, and their clusters where these are asked for."""
        from duramen.reports.facts import as_importances

        return signals_of(data, as_importances(ranked), self.clusters, self.distance, clock)

    def represented(
        self, data: LearningSet[EncodedTable], clock: Clock
    ) -> tuple[LearningSet[EncodedTable], Signals | None]:
        """Return the data with the representatives for features, and the clusters."""
        if self.representatives is None:
            return data, None
        with clock.step("cluster"):
            return _represented(data, self.representatives)


def signals_of(
    data: LearningSet[Any],
    scores: Importances,
    threshold: float | None,
    distance: int,
    clock: Clock,
) -> Signals:
    """Return the places of features, and their clusters from a correlation on, if there is one."""
    from duramen.importances import clusters
    from duramen.reports.signals import Signals

    variants = data.provenance.variants
    places = Signals(variants)
    if threshold is None:
        return places
    positions = None if variants is None else places.positions(scores.names)
    with clock.step("cluster"):
        clustered = clusters(
            scores, data.table, threshold=threshold, positions=positions, distance=distance
        )
    return replace(places, clusters=clustered)


def _represented(
    data: LearningSet[EncodedTable], threshold: float
) -> tuple[LearningSet[EncodedTable], Signals]:
    import numpy as np

    from duramen.importances import Clusters, representatives
    from duramen.importances.clustering import pairwise, with_gaps
    from duramen.reports.signals import Signals

    represented = representatives(data.table, threshold=threshold)
    numbers = with_gaps(data.table, "spearman")
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
    on_medoids = data.with_table(represented.transform(data.table))
    return on_medoids, Signals(data.provenance.variants, made, grown=True)
