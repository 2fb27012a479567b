"""Intervals, stability and number of trees of a ranking, and samples of the rows of tall tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

from duramen.analyses.execution import Execution, checkpoints
from duramen.analyses.ranking.measuring import is_let_go
from duramen.analyses.ranking.significance import LONG, Request
from duramen.data import EncodedTable, LearningSet
from duramen.data.sampling import proportions, sampled_rows
from duramen.importances import Inputs, Measure, catalogue
from duramen.jobs.replicates import checkpoint_beside
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


@dataclass(frozen=True)
class Resampling:
    """Intervals and stability of a ranking, from forests on random parts of the rows."""

    intervals: bool = False
    scale: Literal["importance", "fraction"] = "importance"  # of the intervals
    stability: int | None = None  # number of first features whose stability is asked for
    confidence_level: float = 0.95
    n_resamples: int | None = None  # parts of the rows

    @property
    def asked(self) -> tuple[str, ...]:
        """Parameters that ask for forests on parts of the rows."""
        asked = {"intervals": self.intervals, "stability": self.stability is not None}
        return tuple(name for name, is_asked in asked.items() if is_asked)

    @property
    def part(self) -> str:
        """What they add to the results."""
        words = {"intervals": "confidence intervals", "stability": "stability"}
        return (
            " and ".join(words[name] for name in self.asked) or "the number of trees that is needed"
        )

    def check(self, measure: Measure, n_features: int) -> None:
        """Check that a measure of so many features can be resampled.

        Raises
        ------
        ValueError
            If it cannot, or there are too few features.
        """
        if self.asked and not measure.testable:
            able = ", ".join(other.name for other in catalogue if other.testable)
            raise ValueError(
                f"rank: {self.asked[0]} needs a first measure that is one of {able}, got "
                f"{measure.name}"
            )
        if self.stability is not None and self.stability >= n_features:
            raise ValueError(
                f"rank: stability must be less than the number of features, {n_features}, got "
                f"{self.stability}"
            )

    def check_target(self, scores: Importances, data: LearningSet[EncodedTable]) -> None:
        """Check that importances of a target can have intervals, before a long test is run.

        Raises
        ------
        ValueError
            If one row has most of the sum of squares of the target.
        """
        if self.intervals:
            tails = tails_of(data, scores.unit, self.scale)
            check_tails(tails, "rank: intervals=True", "interval_scale='fraction'")


def precision_of(
    asked: Resampling,
    measure: Measure,
    scores: Importances,
    inputs: Inputs,
    k: int,
    execution: Execution,
) -> Precision:
    """Return intervals and stability as asked for, and the trees that k features need.

    `scores` are the importances by the measure in the forest that was grown.
    """
    # Strata are for the test alone; groups are drawn as a whole.
    rows = inputs.data.exchangeability.without_strata()
    inputs = replace(inputs, data=inputs.data.with_exchangeability(rows))
    level = asked.confidence_level
    intervals: Intervals | None = None
    stability: Stability | None = None
    if asked.intervals:
        n = asked.n_resamples or 100
        with _resampled("intervals", measure, inputs, n, 0.75, execution) as more:
            intervals = confidence_intervals(
                inputs.unfitted().estimator,
                inputs.data,
                measure=scores,
                n_resamples=n,
                confidence_level=level,
                scale=asked.scale,
                **more,
            )
        execution.notes(f"intervals: {said}" for said in intervals.notes)
    if asked.stability is not None:
        n = asked.n_resamples or 50
        with _resampled("stability", measure, inputs, n, 0.5, execution) as more:
            stability = ranking_stability(
                inputs.unfitted().estimator,
                inputs.data,
                measure=measure.name,
                n_resamples=n,
                k=asked.stability,
                confidence_level=level,
                **more,
            )
        execution.notes(f"stability: {said}" for said in stability.notes)
    trees = _trees_needed(measure, inputs, k, execution)
    return Precision(measure.title, intervals, stability, trees)


@contextmanager
def _resampled(
    what: str, measure: Measure, inputs: Inputs, n: int, fraction: float, execution: Execution
) -> Iterator[dict[str, Any]]:
    """Give what concerns the run of n forests on parts of the rows, and say how long they take."""
    if execution.announce is not None:
        _announce(what, measure, inputs, n, fraction, execution)
    file = checkpoint_beside(execution.checkpoint, what)
    with execution.keeping(lambda: checkpoints(file)), execution.clock.step(what):
        yield {
            "random_state": inputs.random_state,
            "n_jobs": inputs.n_jobs,
            "client": execution.client,
            "checkpoint": file,
            "verbose": inputs.verbose,
        }


def _trees_needed(
    measure: Measure, inputs: Inputs, k: int, execution: Execution
) -> TreesNeeded | None:
    """Return the trees that the first features need; None where parts of a forest do not tell.

    A measure that grows forests of its own has no parts.
    """
    if is_let_go(inputs.estimator):
        return None
    trees, p = inputs.estimator.forest_.n_trees, inputs.data.n_columns
    if measure.refits or not measure.testable or trees < _LEAST_TREES:
        return None
    if not 2 <= p <= _MOST_FEATURES:
        return None
    k = min(k or min(_FIRST, p // 2), _FIRST, p - 1)
    with execution.clock.step("trees needed"):
        return trees_needed(inputs.estimator, inputs.data, measure=measure.name, k=k)


def _announce(
    what: str, measure: Measure, inputs: Inputs, n: int, fraction: float, execution: Execution
) -> None:
    """Say what forests on parts of the rows take, if more than a few seconds."""
    cost = estimate_cost(
        inputs.unfitted().estimator,
        inputs.data,
        None,
        n,
        measure=measure.name,
        fraction=fraction,
        n_jobs=inputs.n_jobs,
    )
    if cost.seconds > LONG and execution.announce is not None:
        execution.announce(f"{what} of {measure.title}: {cost}")


# Rows from which on the test that nobody asked for is of a sample, and the rows of samples. A test
# grows about 100 forests, so that its time is about that of the ranking on 100 times as many rows.
MANY, FEW = 100_000, 20_000
DESCRIBING_TREES = 200  # that describe effects if those of the ranking were let go, at most


def tested_rows(request: Request, inputs: Inputs) -> tuple[Inputs, tuple[str, ...]]:
    """Return the rows that the test is about, and what is to be said of them."""
    data = inputs.data
    if not request.default or data.n_rows <= MANY:
        return inputs, ()
    note = (
        f"the significance test is of a random sample of {FEW:,} of the {data.n_rows:,} rows"
        f"{proportions(data.target)}, since it grows many forests; features with small effects may "
        f"be found on all rows alone: test={request.test.name!r} tests them on all"
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
