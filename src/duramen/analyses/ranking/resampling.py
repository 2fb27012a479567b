"""Intervals, stability and number of trees of a ranking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.analyses.execution import Execution
from duramen.analyses.ranking.measuring import is_let_go

if TYPE_CHECKING:
    from duramen.data import EncodedTable, LearningSet
    from duramen.importances import Inputs, Measure
    from duramen.reports.precision import Precision
    from duramen.results.importances import Importances
    from duramen.results.intervals import Intervals
    from duramen.significance import Stability, TreesNeeded

# First features whose order is asked for, the fewest trees that tell anything of it, and the most
# features: parts of the forest have an importance of each of them in memory.
_FIRST, _LEAST_TREES, _MOST_FEATURES = 10, 16, 100_000
_INTERVALS, _STABILITY = "intervals", "stability"


@dataclass(frozen=True)
class Resampling:
    """Intervals and stability of a ranking that the user asked for."""

    intervals: bool = False
    scale: str = "importance"  # of the intervals
    stability: int | None = None  # number of first features whose stability is asked for
    confidence_level: float = 0.95  # of the intervals
    resamples: int | None = None  # parts of the rows

    @property
    def words(self) -> str:
        """Words for the intervals and the stability; empty without either."""
        asked = {"confidence intervals": self.intervals, "stability": self.stability is not None}
        return " and ".join(name for name, is_asked in asked.items() if is_asked)


@dataclass(frozen=True)
class Resampled:
    """Forests on parts of the rows that the user asked for."""

    asked: Resampling
    execution: Execution

    def check(self, one: Measure, n_features: int) -> None:
        """Check that a measure of so many features can be resampled.

        Raises
        ------
        ValueError
            If it cannot, or there are too few features.
        """
        k, wording = self.asked.stability, self.execution.wording
        words = [wording.intervals] if self.asked.intervals else []
        words += [] if k is None else [wording.stability]
        if words and not one.testable:
            from duramen.importances import catalogue

            able = ", ".join(wording.names(other for other in catalogue if other.testable))
            raise ValueError(
                f"{' and '.join(words)}: the first {wording.measure()} must be one of {able}, "
                f"got {wording.names([one])[0]}"
            )
        if k is not None and k >= n_features:
            raise ValueError(
                f"{wording.stability}: must be less than the number of features, {n_features}, "
                f"got {k}"
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
            wording = self.execution.wording
            check_tails(tails, wording.intervals, wording.fraction)

    def precision(self, one: Measure, scores: Importances, given: Inputs, k: int) -> Precision:
        """Return intervals and stability as asked for, and the trees that k features need.

        `scores` are the importances by the measure in the forest that was grown.
        """
        from duramen.data import Exchangeability
        from duramen.reports.precision import Precision

        data = given.data  # strata are for the test alone; groups are drawn as a whole
        rows = Exchangeability(data.n_rows, None, data.exchangeability.groups)
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
                n_resamples=n,
                confidence_level=self.asked.confidence_level,
                scale=self.asked.scale,
                observed=scores,
                **more,
            ),
            (one, given, n, 0.75),
        )
        self.execution.notes(f"intervals: {said}" for said in found.notes)
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
                confidence_level=self.asked.confidence_level,
                **more,
            ),
            (one, given, n, 0.5),
        )
        self.execution.notes(f"stability: {said}" for said in found.notes)
        return found

    def _run(
        self,
        what: str,
        function: Callable[[dict[str, Any]], Any],
        cost: tuple[Measure, Inputs, int, float],
    ) -> Any:
        """Call a function with what concerns its run, after saying how long it will take."""
        file = self._checkpoint(what)
        one, given, n, fraction = cost
        if self.execution.announce is not None:
            _announce(what, one, given, n, fraction, self.execution)
        more = {
            "random_state": given.random_state,
            "n_jobs": given.n_jobs,
            "client": self.execution.client,
            "checkpoint": file,
            "verbose": given.verbose,
        }
        known = [] if file is None else [file]
        with (
            self.execution.keeping(lambda: [one for one in known if one.exists()]),
            self.execution.clock.step(what),
        ):
            return function(more)

    def _checkpoint(self, what: str) -> Path | None:
        """Return the file beside that of the test which keeps this work."""
        file = self.execution.checkpoint
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
        with self.execution.clock.step("trees needed"):
            return trees_needed(given.estimator, given.data, measure=one.name, k=k)


def _announce(
    what: str, one: Measure, given: Inputs, n: int, fraction: float, execution: Execution
) -> None:
    """Say what forests on parts of the rows take, if more than a few seconds."""
    from duramen.analyses.ranking.significance import LONG
    from duramen.significance.cost import estimate_cost

    estimator = given.unfitted().estimator
    measure, jobs = one.name, given.n_jobs
    cost = estimate_cost(
        estimator, given.data, None, n, measure=measure, fraction=fraction, n_jobs=jobs
    )
    if cost.seconds > LONG and execution.announce is not None:
        execution.announce(f"{what} of {execution.wording.measure_name(one)}: {cost}")
