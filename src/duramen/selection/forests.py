"""Forests of selectors, and the importances that these go by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import Task
from duramen.data.shadows import with_probes
from duramen.estimators.catalogue import random_forest
from duramen.importances import Measure, catalogue, mda
from duramen.importances.refit import seeded, template_of
from duramen.results.importances import Importances
from duramen.significance.measured import Data, Measured, MeasureLike, measured
from duramen.support import checks

N_TREES = 500
FEWEST_SHADOWS = 5
SCALED_MDA = Measure(
    "scaled_mda",
    lambda given: mda(given.estimator, given.data, scaled=True, n_jobs=given.n_jobs),
    catalogue["mda"].words,
    reference=catalogue["mda"].reference,
    rows="out-of-bag",
)
"""MDA divided by its standard error over the trees, beside the measures of the catalogue."""


def task_of(estimator: Any, owner: str) -> Task | None:
    """Return the task of an estimator; None, for any task, where there is none."""
    if estimator is None:
        return None
    task: Task = template_of(estimator, owner).task
    return task


def subject_of(
    estimator: Any,
    n_estimators: Any,
    measure: MeasureLike,
    data: Data,
    owner: str,
    n_threads: int,
) -> Measured:
    """Return a measure of forests: of random forests, where no estimator is given."""
    n_trees = checks.check_optional_integer(owner, "n_estimators", n_estimators, 1)
    if estimator is None:
        estimator = random_forest(data.task, N_TREES)
    known = (SCALED_MDA.name, *(one.name for one in catalogue if one.testable))
    name = None if callable(measure) else checks.check_choice(owner, "measure", measure, known)
    scaled = name == SCALED_MDA.name
    subject = measured(estimator, data, None, "mda" if scaled else measure, owner)
    if scaled:
        subject = replace(subject, measure=SCALED_MDA, identifier=SCALED_MDA.name)
    settings = {} if n_trees is None else {"n_estimators": n_trees}
    subject.template.set_params(n_jobs=n_threads, **settings)
    return subject


def among_copies(
    subject: Measured, columns: NDArray[np.int64], n_copies: int, seed: int, owner: str
) -> NDArray[np.float64]:
    """Return importances of some columns and, after them, of permuted copies of each.

    Copies are permuted independently of each other; they stand for the codes of their columns, so
    that nothing is encoded. Their number is `n_copies` times that of the columns.
    """
    random = np.random.default_rng(seed)
    table = subject.data.table.take_columns(columns)
    copied = np.tile(np.arange(len(columns)), n_copies)
    orders = [subject.exchangeability.permutation(random) for _ in copied]
    data = subject.data.with_table(
        with_probes(table, copied, orders, function=owner), key=("copies", columns.tolist(), seed)
    )
    return subject.scores(int(random.integers(2**32)), data=data)


def unit_of(subject: Measured) -> str:
    """Return the unit of the importances, as a small forest has it."""
    small = seeded(subject.template, 0).set_params(n_estimators=2)
    found: Importances = replace(subject, template=small).importances(0)
    return found.unit


def beside_shadows(
    subject: Measured, columns: NDArray[np.int64], seed: int, owner: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return importances of some columns, and those of their shadows, at least 5."""
    n_copies = 1
    while n_copies * len(columns) < FEWEST_SHADOWS:
        n_copies *= 2
    scores = among_copies(subject, columns, n_copies, seed, owner)
    return scores[: len(columns)], scores[len(columns) :]


@dataclass(frozen=True)
class ShadowRound:
    """Task of a round: importances of all features, and a percentile of those of their shadows.

    Features that are not active have NaN.
    """

    subject: Measured
    percentile: float
    function: str

    def __call__(self, _: int, seed: int, active: NDArray[np.int64]) -> NDArray[np.float64]:
        """Grow the forest of a round on the active features and their shadows."""
        own, shadows = beside_shadows(self.subject, active, seed, self.function)
        row = np.full(self.subject.data.n_columns + 1, np.nan)
        row[active] = own
        row[-1] = np.percentile(shadows, self.percentile)
        return row
