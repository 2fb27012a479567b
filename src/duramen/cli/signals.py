"""Options for clusters of correlated features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from duramen.analyses.clustering import DISTANCE
from duramen.analyses.clustering import Clustering as ClusteringRequest
from duramen.cli.declaration import option, recorded


@dataclass(frozen=True, kw_only=True)
class Clustering:
    """Clusters of features that stand for the same signal."""

    clusters: float | None = option(
        None,
        "Put features in a cluster with a more important one if their absolute correlation is at "
        "least R, such as 0.8; variants of a PLINK file only within --distance. None by default.",
        metavar="R",
        echo="changed",
    )
    distance: int = option(
        DISTANCE,
        "With --clusters: largest distance, in base pairs, between a variant and the "
        "representative of its cluster.",
        metavar="BP",
        min=0,
        echo="changed",
    )

    def check(self) -> None:
        """Check that the correlation can be one.

        Raises
        ------
        ValueError
            If it cannot.
        """
        _check_threshold("--clusters", self.clusters)
        if self.clusters is None and self.distance != DISTANCE:
            raise ValueError("--distance needs --clusters R")

    def request(self) -> ClusteringRequest:
        """Return the clusters that are asked for."""
        return ClusteringRequest(self.clusters, self.distance)

    def record(self) -> dict[str, Any]:
        """Return the settings for the record, if clusters are asked for."""
        own = recorded(self)
        asked = {name: one for name, one in own.items() if name != "distance" and one is not None}
        return own if asked else {}


@dataclass(frozen=True, kw_only=True)
class Representing(Clustering):
    """Clusters of features, also as what a forest is grown on."""

    representatives: float | None = option(
        None,
        "Grow the forest on one representative of each cluster of features whose absolute rank "
        "correlation is R on average, such as 0.8; the results have all members. None by default.",
        metavar="R",
        echo="changed",
    )

    def check(self) -> None:
        """Check that correlations can be such, and that one way to cluster is asked for.

        Raises
        ------
        ValueError
            If not.
        """
        super().check()
        _check_threshold("--representatives", self.representatives)
        if self.clusters is not None and self.representatives is not None:
            raise ValueError(
                "--clusters puts features in clusters after they are ranked, --representatives "
                "before; give one of them"
            )

    def request(self) -> ClusteringRequest:
        """Return the clusters that are asked for."""
        return replace(super().request(), representatives=self.representatives)


def _check_threshold(word: str, value: float | None) -> None:
    if value is not None and not 0 < value <= 1:
        raise ValueError(f"{word} must be a correlation in (0, 1], got {value:g}")
