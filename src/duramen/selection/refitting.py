"""Selectors that grow forests again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from inspect import signature
from os import PathLike
from typing import Any, ClassVar

import numpy as np

from duramen.data import EncodedTable, LearningSet, Task
from duramen.data.recoding import with_probes
from duramen.estimators.catalogue import random_forest
from duramen.importances import catalogue
from duramen.importances.measures.mda import SCALED_MDA
from duramen.importances.models import feature_importances
from duramen.importances.refit import is_model, seeded, template_of
from duramen.importances.refit import task_of as task_of_model
from duramen.results.importances import Importances
from duramen.selection.selector import BaseSelector, Data
from duramen.significance.measured import Measured, Refits, automatic, measured
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, RandomState
from duramen.support.checks import refuse


@dataclass(frozen=True, eq=False, kw_only=True)
class Opening(Refits):
    """Arguments of a call of `fit`, checked; the measure is on the rows in memory."""

    data: Data  # the rows as they were given, which may be a store


@dataclass(kw_only=True, eq=False, repr=False)
class ForestSelector(BaseSelector):
    """Selector by importances of forests, with the parameters that all of these have."""

    of_models: ClassVar[bool] = False  # whether it takes models of other packages

    estimator: Any = field(default=None, kw_only=False)
    n_estimators: int | None = None
    measure: str | Callable[..., Any] = "mda"
    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: int = 0

    def _open(self, X: Any, y: Any, *, threads_grow: bool = False) -> Opening:
        """Check the shared parameters and the rows.

        Threads run jobs, of a forest each; with `threads_grow` they grow the forest of a job.
        """
        owner = type(self).__name__
        plan = self._plan()
        n_threads = plan.threads_within
        data = self._learning_set(
            X, y, task_of(self.estimator, owner, models=self.of_models), n_threads=n_threads
        )
        n_trees = checks.check_optional_integer(owner, "n_estimators", self.n_estimators, 1)
        rows, estimator, measure = data.in_memory(), self.estimator, self.measure
        if estimator is None:
            estimator = random_forest(data.task, N_TREES)
        elif self.of_models and is_model(estimator):
            return Opening(
                plan.n_threads,
                plan.checkpoint,
                plan.verbose,
                plan.cluster,
                function=f"{owner}.fit",
                subject=self._of_model(rows, owner),
                seed=checks.draw_seed(self.random_state),
                data=data,
            )
        scaled = measure == SCALED_MDA.name
        if not callable(measure):
            names = [entry.name for entry in catalogue if entry.testable]
            checks.check_choice(owner, "measure", measure, ("auto", SCALED_MDA.name, *names))
        if measure == "auto":
            measure = automatic(template_of(estimator, owner))
        subject = measured(estimator, rows, None, "mda" if scaled else measure, owner)
        if scaled:
            subject = replace(subject, measure=SCALED_MDA, identifier=SCALED_MDA.name)
        settings = {} if n_trees is None else {"n_estimators": n_trees}
        subject.template.set_params(n_jobs=n_threads if threads_grow else 1, **settings)
        return Opening(
            1 if threads_grow else plan.n_threads,
            plan.checkpoint,
            plan.verbose,
            plan.cluster,
            function=f"{owner}.fit",
            subject=subject,
            seed=checks.draw_seed(self.random_state),
            data=data,
        )

    def _of_model(self, rows: LearningSet[EncodedTable], owner: str) -> Measured:
        """Return a model of another package, measured as is asked for.

        By default the measure is what the model tells of its columns once it is fitted, if it does.
        """
        if self.n_estimators is not None:
            name = type(self.estimator).__name__
            raise refuse(owner, "n_estimators", f"None beside a {name}", self.n_estimators)
        measure, of_class = self.measure, signature(type(self)).parameters["measure"].default
        subject = measured(self.estimator, rows, None, feature_importances, owner)
        if measure not in ("auto", of_class):
            return measured(self.estimator, rows, None, measure, owner)
        try:
            subject.importances(0)
        except AttributeError:
            return measured(self.estimator, rows, None, "auto", owner)
        return subject

    def _set_importances(self, subject: Measured, values: FloatArray) -> None:
        """Take the importances, in the unit of those of a small forest."""
        small = seeded(subject.template, 0)
        if not is_model(small):
            small.set_params(n_estimators=2)
        unit = replace(subject, template=small).importances(0).unit
        metadata = subject.identity(type(self).__name__)
        measure = subject.measure.name
        self.importances_ = Importances(subject.names, values, measure, unit, metadata=metadata)

    def _settings(self) -> dict[str, Any]:
        metadata = self.importances_.metadata
        settings = {**super()._settings(), "estimator": metadata["estimator"]}
        if "n_estimators" in metadata["parameters"]:
            settings["n_estimators"] = int(metadata["parameters"]["n_estimators"])
        return settings


@dataclass(kw_only=True, eq=False, repr=False)
class RefittingSelector(ForestSelector):
    """Selector that grows forests again and again."""

    client: Any = None
    checkpoint: str | PathLike[str] | None = None


N_TREES = 500
FEWEST_SHADOWS = 5


def task_of(estimator: Any, owner: str, *, models: bool = False) -> Task | None:
    """Return the task of an estimator; None, for any task, where there is none.

    Models of other packages are refused unless the selector takes them.
    """
    if estimator is None:
        return None
    if models and is_model(estimator):
        of_model = task_of_model(estimator)
        return None if of_model == "auto" else of_model
    task: Task = template_of(estimator, owner).task
    return task


def beside_shadows(
    subject: Measured, columns: IntArray, seed: int, owner: str
) -> tuple[FloatArray, FloatArray]:
    """Return importances of some columns, and of at least 5 of their shadows.

    Shadows are permuted independently of each other. They stand for the codes of their columns, so
    that nothing is encoded.
    """
    n_copies = 1
    while n_copies * len(columns) < FEWEST_SHADOWS:
        n_copies *= 2
    random = np.random.default_rng(seed)
    copied = np.tile(np.arange(len(columns)), n_copies)
    orders = [subject.exchangeability.permutation(random) for _ in copied]
    table = with_probes(subject.data.table.take_columns(columns), copied, orders, function=owner)
    data = subject.data.with_table(table, key=("copies", columns.tolist(), seed))
    scores = subject.scores(int(random.integers(2**32)), data=data)
    return scores[: len(columns)], scores[len(columns) :]


def require_out_of_bag(subject: Measured, owner: str, *, fitted: bool = False) -> None:
    """Check that trees leave rows out; with `fitted`, that the measure grows no other forests.

    Raises
    ------
    ValueError
    """
    data = subject.data
    if not subject.template.growth_settings(data.n_rows, data.n_columns).samples_rows:
        raise refuse(
            owner,
            "estimator",
            "a forest whose trees leave rows out",
            type(subject.template).__name__,
            "bootstrap=True, or max_samples below all the rows",
        )
    if fitted and subject.measure.refits:
        raise refuse(
            owner,
            "measure",
            "a measure of a fitted forest, such as 'mda' or 'mdi'",
            subject.measure.name,
            "the errors are computed from that forest",
        )
