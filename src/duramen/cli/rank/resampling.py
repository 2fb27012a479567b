"""Intervals, stability and number of trees of a ranking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.cli.checkpoint import keeping, writable
from duramen.cli.clock import Clock
from duramen.cli.console import note, notes
from duramen.cli.rank.measuring import is_let_go
from duramen.cli.rank.options import Resampling

if TYPE_CHECKING:
    from duramen.importances import Inputs, Measure
    from duramen.reports.precision import Precision
    from duramen.results.importances import Importances
    from duramen.results.intervals import Intervals
    from duramen.significance import Stability, TreesNeeded
    from duramen.tables import EncodedTable, LearningSet

# First features whose order is asked for, the fewest trees that tell anything of it, and the most
# features: parts of the forest have an importance of each of them in memory.
_FIRST, _LEAST_TREES, _MOST_FEATURES = 10, 16, 100_000
_INTERVALS, _STABILITY = "intervals", "stability"


@dataclass(frozen=True)
class Resampled:
    """Forests on parts of the rows that the user asked for."""

    asked: Resampling
    checkpoint: Path | None
    quiet: bool
    clock: Clock

    def check(self, one: Measure, n_features: int) -> None:
        """Check that a measure of so many features can be resampled.

        Raises
        ------
        ValueError
            If it cannot, or there are too few features.
        """
        if self.asked.asked and not one.testable:
            from duramen.importances import catalogue

            able = ", ".join(other.option for other in catalogue if other.testable)
            raise ValueError(
                f"{' and '.join(self.asked.asked)}: the first --measure must be one of {able}, "
                f"got {one.option}"
            )
        k = self.asked.stability
        if k is not None and k >= n_features:
            raise ValueError(
                f"--stability: must be less than the number of features, {n_features}, got {k}"
            )

    def check_target(self, scores: Importances, data: LearningSet[EncodedTable]) -> None:
        """Check that importances of a target can have intervals, before a long test is run.

        Raises
        ------
        ValueError
            If one row has most of the sum of squares of the target.
        """
        from duramen.significance.intervals.limits import check_tails, tails_of

        if self.asked.intervals:
            tails = tails_of(data, scores.unit, self.asked.scale)
            check_tails(tails, "--intervals", "--interval-scale fraction")

    def precision(self, one: Measure, scores: Importances, given: Inputs, k: int) -> Precision:
        """Return intervals and stability as asked for, and the trees that k features need.

        `scores` are the importances by the measure in the forest that was grown.
        """
        from duramen.reports.precision import Precision
        from duramen.tables import Exchangeability

        data = given.data  # strata are for the test alone; blocks are drawn as a whole
        rows = Exchangeability(data.n_rows, None, data.exchangeability.blocks)
        given = replace(given, data=data.with_exchangeability(rows))
        return Precision(
            one.words.title,
            self._intervals(one, scores, given) if self.asked.intervals else None,
            None if self.asked.stability is None else self._stability(one, given),
            self._trees(one, given, k),
        )

    def _intervals(self, one: Measure, scores: Importances, given: Inputs) -> Intervals:
        from duramen.significance import confidence_intervals

        n = self.asked.resamples or 100
        found: Intervals = self._run(
            _INTERVALS,
            lambda more: confidence_intervals(
                *(given.unfitted().estimator, given.data),
                measure=one.name,
                n_replicates=n,
                level=self._level,
                scale=self.asked.scale,
                observed=scores,
                **more,
            ),
            (one, given, n, 0.75),
        )
        notes([f"intervals: {said}" for said in found.notes], self.quiet)
        return found

    def _stability(self, one: Measure, given: Inputs) -> Stability:
        from duramen.significance import ranking_stability

        n, k = self.asked.resamples or 50, self.asked.stability
        assert k is not None
        found: Stability = self._run(
            _STABILITY,
            lambda more: ranking_stability(
                *(given.unfitted().estimator, given.data),
                measure=one.name,
                n_resamples=n,
                k=k,
                level=self._level,
                **more,
            ),
            (one, given, n, 0.5),
        )
        notes([f"stability: {said}" for said in found.notes], self.quiet)
        return found

    @property
    def _level(self) -> float:
        return 0.95 if self.asked.confidence is None else self.asked.confidence

    def _run(
        self,
        what: str,
        function: Callable[[dict[str, Any]], Any],
        cost: tuple[Measure, Inputs, int, float],
    ) -> Any:
        """Call a function with what concerns its run, after saying how long it will take."""
        file = self._checkpoint(what)
        one, given, n, fraction = cost
        if not self.quiet:
            _announce(what, one, given, n, fraction)
        more = {
            "random_state": given.random_state,
            "n_jobs": given.n_jobs,
            "checkpoint": file,
            "verbose": given.verbose,
        }
        known = [] if file is None else [file]
        with (
            keeping(lambda: [one for one in known if one.exists()], self.quiet),
            self.clock.step(what),
        ):
            return function(more)

    def _checkpoint(self, what: str) -> Path | None:
        """Return the file beside that of the test which keeps this work."""
        file = writable(self.checkpoint)
        return None if file is None else file.with_name(f"{file.stem}-{what}{file.suffix}")

    def _trees(self, one: Measure, given: Inputs, k: int) -> TreesNeeded | None:
        """Return the trees that the first features need; None where parts of a forest do not tell.

        A measure that grows forests of its own has no parts.
        """
        from duramen.significance import trees_needed

        trees, p = given.estimator.forest_.n_trees, given.data.n_columns
        if is_let_go(given.estimator):
            return None
        if one.refits or not one.testable or trees < _LEAST_TREES:
            return None
        if not 2 <= p <= _MOST_FEATURES:
            return None
        k = min(k or min(_FIRST, p // 2), _FIRST, p - 1)
        with self.clock.step("trees needed"):
            return trees_needed(given.estimator, given.data, measure=one.name, k=k)


def _announce(what: str, one: Measure, given: Inputs, n: int, fraction: float) -> None:
    """Say on standard error what forests on parts of the rows take, if more than a few seconds."""
    from duramen.cli.rank.significance import LONG
    from duramen.significance.cost import estimate_cost

    estimator = given.unfitted().estimator
    measure, jobs = one.name, given.n_jobs
    cost = estimate_cost(
        estimator, given.data, None, n, measure=measure, fraction=fraction, n_jobs=jobs
    )
    if cost.seconds > LONG:
        note(f"{what} of {one.option}: {cost}")
