"""Forests that a test refits: a measured learning set, a seed, and the plan of the work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from duramen.jobs.replicates import (
    OBSERVED,
    ExecutionParameters,
    Plan,
    Task,
    replicate_seed,
    run_replicates,
)
from duramen.results.importances import Importances
from duramen.significance.measured import Measured, MeasureLike, measured
from duramen.significance.sequential import all_decided
from duramen.support.arrays import FloatArray

PROMISE = (
    "The p-values are exact under the complete null hypothesis that the target is independent of "
    "all features together. A small p-value indicates that a feature is associated with the "
    "target, which is also true of features that are correlated with relevant ones and add "
    "nothing to them. The p-values of features that are independent of the target and of the "
    "relevant features tend to be too large, because relevant features take splits that they "
    "would get by chance."
)


@dataclass(frozen=True, eq=False)
class Refits:
    """Measure of a learning set that a significance test computes again and again."""

    function: str  # the public function, for errors, metadata and the progress bar
    subject: Measured  # importances as a function of rows and seed
    seed: int  # seed of the run
    plan: Plan  # workers, checkpoint, progress

    @classmethod
    def checked(
        cls,
        function: str,
        estimator: Any,
        X: Any,
        y: Any,
        measure: MeasureLike,
        execution: ExecutionParameters,
        **rows: Any,
    ) -> Self:
        """Check what the user said; `rows` are strata and groups, as for :func:`measured`."""
        plan = execution.plan(function)
        subject = measured(estimator, X, y, measure, function, **rows)
        return cls(function, subject, execution.seed(), plan)

    def observed(self) -> Importances:
        """Grow a forest on the data as they are and measure it."""
        return self.subject.importances(replicate_seed(self.seed, OBSERVED))

    def run(
        self, task: Task, n: int, width: int, identity: dict[str, Any] | None = None, **how: Any
    ) -> FloatArray:
        """Run a task n times (:func:`run_replicates`), as the work of this function by default."""
        return run_replicates(
            task,
            n,
            width,
            seed=how.pop("seed", self.seed),
            identity=self.subject.identity(self.function) if identity is None else identity,
            plan=how.pop("plan", self.plan),
            function=self.function,
            **how,
        )

    def permuted_scores(
        self, n: int, *, observed: FloatArray | None = None, stop_after: int | None = None
    ) -> FloatArray:
        """Return the scores of every feature after each permutation of the target, shape (b, p).

        With `stop_after`, b is less than `n` where all features are decided.
        """
        subject, rows = self.subject, self.subject.exchangeability
        rows.require(n, self.function, subject.data.target.values)

        def task(_: int, seed_b: int) -> FloatArray:
            return subject.permuted_scores(np.random.default_rng(seed_b), seed_b)

        decided = None
        if stop_after is not None and observed is not None:
            decided = all_decided(observed, stop_after)
        identity = subject.identity("permuted labels", **rows.identity())
        return self.run(task, n, len(subject.names), identity, decided=decided)

    def metadata(self, identity: dict[str, Any] | None = None, **choices: Any) -> dict[str, Any]:
        """Return what a result tells of itself: the identity of the run, choices, the seed."""
        settings = self.subject.identity(self.function) if identity is None else identity
        return {**settings, **choices, "seed": self.seed}
