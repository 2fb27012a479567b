"""Selectors that grow forests again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from duramen.jobs.replicates import (
    OBSERVED,
    Arguments,
    Plan,
    Ready,
    replicate_seed,
    run_replicates,
)
from duramen.results.importances import Importances
from duramen.selection.forests import subject_of, task_of, unit_of
from duramen.selection.records import Account, Selector
from duramen.selection.selector import BaseSelector, Data
from duramen.significance.measured import Measured
from duramen.support import checks
from duramen.support.arrays import FloatArray


@dataclass(frozen=True)
class Opening:
    """Arguments of a call of `fit`, checked.

    Attributes
    ----------
    function : str
        Name of the call, for errors and progress bars.
    plan : Plan
        Workers, checkpoint and progress.
    data : LearningSet
        The rows as they were given, which may be a store.
    subject : Measured
        The measure of forests, on the rows in memory.
    seed : int
        Seed of the run.
    """

    function: str
    plan: Plan
    data: Data
    subject: Measured
    seed: int

    def run(
        self,
        task: Callable[..., FloatArray],
        n_replicates: int,
        width: int,
        *,
        ready: Ready | None = None,
        arguments: Arguments | None = None,
        unit: str = "forest",
        part: str = "",
        **choices: Any,
    ) -> FloatArray:
        """Run a task as `run_replicates` does; the result depends on `choices`, beside the forests.

        A second run of a `fit` is a part with a name, which its checkpoint has as a further suffix.

        Returns
        -------
        float64 array of shape (replicates, width)
        """
        owner, plan, seed = self.function.removesuffix(".fit"), self.plan, self.seed
        if part:
            seed = replicate_seed(seed, OBSERVED)
            if plan.checkpoint is not None:
                plan = replace(plan, checkpoint=f"{plan.checkpoint}.{part}")
        return run_replicates(
            *(task, n_replicates, width),
            seed=seed,
            identity=self.subject.identity(owner, **choices),
            plan=plan,
            function=self.function,
            ready=ready,
            arguments=arguments,
            unit=unit,
        )


class RefittingSelector(BaseSelector):
    """Selector by importances of forests, with the parameters that all of these have."""

    estimator: Any
    n_estimators: Any
    measure: Any
    random_state: Any
    n_jobs: Any
    client: Any = None
    checkpoint: Any = None
    verbose: Any

    def _open(self, X: Any, y: Any, *, threads_grow: bool = False) -> Opening:
        """Check the shared parameters and the rows.

        Threads run jobs, of a forest each; with `threads_grow` they grow the forest of a job.
        """
        owner = type(self).__name__
        checkpoint = self._file(self.checkpoint)
        plan = Plan.checked(owner, self.n_jobs, checkpoint, self.verbose, self.client)
        n_threads = plan.threads_within
        data = self._learning_set(X, y, task_of(self.estimator, owner), n_threads=n_threads)
        subject = subject_of(
            *(self.estimator, self.n_estimators, self.measure),
            *(data.in_memory(), owner, n_threads if threads_grow else 1),
        )
        plan = replace(plan, n_threads=1) if threads_grow else plan
        return Opening(f"{owner}.fit", plan, data, subject, checks.draw_seed(self.random_state))

    def _set_importances(self, subject: Measured, values: FloatArray) -> None:
        owner = type(self).__name__
        self.importances_ = Importances(
            subject.names,
            values,
            subject.measure.name,
            unit_of(subject),
            metadata=subject.identity(owner),
        )

    def account(self, record: Selector) -> Account:
        """Return what is told of the run in a report.

        Parameters
        ----------
        record : Selector
            That of this class.
        """
        told = super().account(record)
        known = self.importances_.metadata
        forest = {
            "estimator": known["estimator"],
            "n_estimators": int(known["parameters"]["n_estimators"]),
        }
        return replace(told, settings={**told.settings, **forest})
