"""Intervals, stability and number of trees of a ranking, and samples of the rows of tall tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from duramen.analyses.execution import Execution
from duramen.analyses.ranking.measuring import is_let_go
from duramen.analyses.ranking.request import Request, Resampling
from duramen.analyses.ranking.significance import LONG
from duramen.data import EncodedTable, LearningSet
from duramen.data.sampling import proportions, sampled_rows
from duramen.importances import Inputs, Measure
from duramen.reports.precision import Precision
from duramen.results.importances import Importances
from duramen.results.significance import Intervals
from duramen.significance import (
    Stability,
    TreesNeeded,
    confidence_intervals,
    ranking_stability,
    trees_needed,
)
from duramen.significance.cost import estimate_cost
from duramen.significance.resampling_intervals import check_tails, tails_of

# First features whose order is asked for, the fewest trees that tell anything of it, and the most
# features: parts of the forest have an importance of each of them in memory.
_FIRST, _LEAST_TREES, _MOST_FEATURES = 10, 16, 100_000
_INTERVALS, _STABILITY = "intervals", "stability"


@dataclass(frozen=True)
class Resampled:
    """Forests on parts of the rows that the user asked for."""

    asked: Resampling
    execution: Execution

    def check(self, measure: Measure, n_features: int) -> None:
        """Check that a measure of so many features can be resampled.

        Raises
        ------
        ValueError
            If it cannot, or there are too few features.
        """
        k, wording = self.asked.stability, self.execution.wording
        words = [wording.intervals] if self.asked.intervals else []
        words += [] if k is None else [wording.stability]
        if words and not measure.testable:
            from duramen.importances import catalogue

            able = ", ".join(wording.names(other for other in catalogue if other.testable))
            raise ValueError(
                f"{' and '.join(words)}: the first {wording.measure()} must be one of {able}, "
                f"got {wording.names([measure])[0]}"
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
        if self.asked.intervals:
            tails = tails_of(data, scores.unit, self.asked.scale)
            wording = self.execution.wording
            check_tails(tails, wording.intervals, wording.fraction)

    def precision(self, measure: Measure, scores: Importances, inputs: Inputs, k: int) -> Precision:
        """Return intervals and stability as asked for, and the trees that k features need.

        `scores` are the importances by the measure in the forest that was grown.
        """
        data = inputs.data  # strata are for the test alone; groups are drawn as a whole
        rows = data.exchangeability.without_strata()
        inputs = replace(inputs, data=data.with_exchangeability(rows))
        return Precision(
            measure.words.title,
            self._intervals(measure, scores, inputs) if self.asked.intervals else None,
            None if self.asked.stability is None else self._stability(measure, inputs),
            self._trees(measure, inputs, k),
        )

    def _intervals(self, measure: Measure, scores: Importances, inputs: Inputs) -> Intervals:

        n = self.asked.resamples or 100
        resampled: Intervals = self._run(
            _INTERVALS,
            lambda more: confidence_intervals(
                inputs.unfitted().estimator,
                inputs.data,
                measure=scores,
                n_resamples=n,
                confidence_level=self.asked.confidence_level,
                scale=self.asked.scale,
                **more,
            ),
            (measure, inputs, n, 0.75),
        )
        self.execution.notes(f"intervals: {said}" for said in resampled.notes)
        return resampled

    def _stability(self, measure: Measure, inputs: Inputs) -> Stability:

        n, k = self.asked.resamples or 50, self.asked.stability
        assert k is not None
        resampled: Stability = self._run(
            _STABILITY,
            lambda more: ranking_stability(
                inputs.unfitted().estimator,
                inputs.data,
                measure=measure.name,
                n_resamples=n,
                k=k,
                confidence_level=self.asked.confidence_level,
                **more,
            ),
            (measure, inputs, n, 0.5),
        )
        self.execution.notes(f"stability: {said}" for said in resampled.notes)
        return resampled

    def _run(
        self,
        what: str,
        function: Callable[[dict[str, Any]], Any],
        cost: tuple[Measure, Inputs, int, float],
    ) -> Any:
        """Call a function with what concerns its run, after saying how long it will take."""
        file = self._checkpoint(what)
        measure, inputs, n, fraction = cost
        if self.execution.announce is not None:
            _announce(what, measure, inputs, n, fraction, self.execution)
        more = {
            "random_state": inputs.random_state,
            "n_jobs": inputs.n_jobs,
            "client": self.execution.client,
            "checkpoint": file,
            "verbose": inputs.verbose,
        }
        files = [] if file is None else [file]
        with (
            self.execution.keeping(lambda: [measure for measure in files if measure.exists()]),
            self.execution.clock.step(what),
        ):
            return function(more)

    def _checkpoint(self, what: str) -> Path | None:
        """Return the file beside that of the test which keeps this work."""
        file = self.execution.checkpoint
        return None if file is None else file.with_name(f"{file.stem}-{what}{file.suffix}")

    def _trees(self, measure: Measure, inputs: Inputs, k: int) -> TreesNeeded | None:
        """Return the trees that the first features need; None where parts of a forest do not tell.

        A measure that grows forests of its own has no parts.
        """
        trees, p = inputs.estimator.forest_.n_trees, inputs.data.n_columns
        if is_let_go(inputs.estimator):
            return None
        if measure.refits or not measure.testable or trees < _LEAST_TREES:
            return None
        if not 2 <= p <= _MOST_FEATURES:
            return None
        k = min(k or min(_FIRST, p // 2), _FIRST, p - 1)
        with self.execution.clock.step("trees needed"):
            return trees_needed(inputs.estimator, inputs.data, measure=measure.name, k=k)


def _announce(
    what: str, measure: Measure, inputs: Inputs, n: int, fraction: float, execution: Execution
) -> None:
    """Say what forests on parts of the rows take, if more than a few seconds."""
    estimator = inputs.unfitted().estimator
    jobs = inputs.n_jobs
    cost = estimate_cost(
        estimator, inputs.data, None, n, measure=measure.name, fraction=fraction, n_jobs=jobs
    )
    if cost.seconds > LONG and execution.announce is not None:
        execution.announce(f"{what} of {execution.wording.measure_name(measure)}: {cost}")


# Rows from which on the test that nobody asked for is of a sample, and the rows of samples. A test
# grows about 100 forests, so that its time is about that of the ranking on 100 times as many rows.
MANY, FEW = 100_000, 20_000
DESCRIBING_TREES = 200  # that describe effects if those of the ranking were let go, at most


def tested_rows(
    request: Request, inputs: Inputs, execution: Execution
) -> tuple[Inputs, tuple[str, ...]]:
    """Return the rows that the test is about, and what is to be said of them."""
    data = inputs.data
    if not request.default or data.n_rows <= MANY:
        return inputs, ()
    note = (
        f"the significance test is of a random sample of {FEW:,} of the {data.n_rows:,} rows"
        f"{proportions(data.target)}, since it grows many forests; features with small effects may "
        f"be found on all rows alone: {execution.wording.test(request.test)} tests them on all"
    )
    return replace(inputs, data=_sample(inputs)), (note,)


def described(inputs: Inputs) -> tuple[Any, LearningSet[EncodedTable]]:
    """Return a fitted forest and its rows, by which effects are described.

    Where the trees of the ranking were let go, those of a sample of the rows.
    """
    if not is_let_go(inputs.estimator):
        return inputs.estimator, inputs.data
    data = inputs.data if inputs.data.n_rows <= MANY else _sample(inputs)
    estimator = inputs.unfitted().estimator
    estimator.set_params(n_estimators=min(DESCRIBING_TREES, estimator.n_estimators))
    return estimator.fit(data), data


def sampled_inputs(inputs: Inputs) -> Inputs:
    """Return a random sample of many rows, in which classes keep their proportions."""
    return inputs if inputs.data.n_rows <= MANY else replace(inputs, data=_sample(inputs))


def _sample(inputs: Inputs) -> LearningSet[EncodedTable]:
    seed = inputs.random_state or 0
    rows = sampled_rows(inputs.data.target, FEW, seed)
    return inputs.data.of_rows(rows, key=("sample", FEW, seed))
