"""Options for clusters of correlated features, and places of features on the genome."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from duramen.cli.declaration import option, recorded
from duramen.cli.output import Outcome
from duramen.cli.problem import Problem

if TYPE_CHECKING:
    from duramen.cli.clock import Clock
    from duramen.importances.after.comparison import Measured
    from duramen.reports.signals import Signals
    from duramen.reports.significance import Verdict
    from duramen.tables import EncodedTable


_DISTANCE = 250_000


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
        _DISTANCE,
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
        if self.clusters is None and self.distance != _DISTANCE:
            raise ValueError("--distance needs --clusters R")

    def signals(self, problem: Problem[Any], ranked: Measured, clock: Clock) -> Signals:
        """Return the places of features, and their clusters where these are asked for."""
        from duramen.importances import clusters
        from duramen.reports.measures import as_importances
        from duramen.reports.signals import Signals

        places = Signals(problem.variants)
        if self.clusters is None:
            return places
        scores = as_importances(ranked)
        with clock.step("cluster"):
            found = clusters(
                scores,
                problem.table,
                threshold=self.clusters,
                positions=None if problem.variants is None else places.positions(scores.names),
                distance=self.distance,
            )
        return replace(places, clusters=found)

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

    def represented(
        self, problem: Problem[EncodedTable], clock: Clock
    ) -> tuple[Problem[EncodedTable], Signals | None]:
        """Return the problem with the representatives for features, and the clusters."""
        if self.representatives is None:
            return problem, None
        with clock.step("cluster"):
            return self._represented(problem, self.representatives)

    def _represented(
        self, problem: Problem[EncodedTable], threshold: float
    ) -> tuple[Problem[EncodedTable], Signals]:
        import numpy as np

        from duramen.importances import Clusters, representatives
        from duramen.importances.after.correlations import pairwise, with_gaps
        from duramen.reports.signals import Signals

        found = representatives(problem.table, threshold=threshold)
        numbers = with_gaps(problem.table, "spearman")
        r = np.ones(len(found.names))
        for k, medoid in enumerate(found.medoids.tolist()):
            members = np.flatnonzero(found.labels == k)
            if len(members) > 1:
                r[members] = pairwise(numbers[:, [medoid]], numbers[:, members])[0]
                r[medoid] = 1.0
        known = {"threshold": threshold, "correlation": "spearman", "distance": None}
        made = Clusters(found.names, found.labels.copy(), found.medoids.copy(), r, known)
        data = problem.data.with_table(found.table)
        return replace(problem, data=data), Signals(problem.variants, made, grown=True)


def _check_threshold(word: str, value: float | None) -> None:
    if value is not None and not 0 < value <= 1:
        raise ValueError(f"{word} must be a correlation in (0, 1], got {value:g}")


def with_signals(
    outcome: Outcome,
    signals: Signals,
    ranked: Measured,
    top: int,
    tested: Verdict | None = None,
) -> Outcome:
    """Return the results of a command with places and clusters of the features."""
    from duramen.reports.measures import as_importances

    if signals.variants is None and signals.clusters is None:
        return outcome
    scores, show = as_importances(ranked), outcome.show

    def shown() -> None:
        said = signals.words(scores.top(top).names)
        if said:
            from duramen.cli.show import say  # imports that take long

            say(f"{said}.")
        if show is not None:
            show()

    return replace(
        outcome,
        columns=signals.columns(outcome.columns),
        report=lambda: signals.report(outcome.report(), scores, tested),
        show=shown,
    )
