"""Selectors that grow forests again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet, Target, Task
from duramen.data.recoding import with_probes
from duramen.estimators.catalogue import random_forest
from duramen.forests.forest import Forest
from duramen.forests.prediction import estimate_out_of_bag, predict, rows_of
from duramen.importances import Inputs, catalogue
from duramen.importances.measures.mda import SCALED_MDA
from duramen.importances.refit import seeded, template_of
from duramen.results.importances import Importances
from duramen.results.summary import Column, counted
from duramen.selection.selector import BaseSelector, Data
from duramen.significance.measured import Measured, MeasureLike, Refits, automatic, measured
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.checks import refuse


@dataclass(frozen=True, eq=False)
class Opening(Refits):
    """Arguments of a call of `fit`, checked; the measure is on the rows in memory."""

    data: Data  # the rows as they were given, which may be a store


@dataclass(kw_only=True, eq=False, repr=False)
class ForestSelector(BaseSelector):
    """Selector by importances of forests, with the parameters that all of these have."""

    estimator: Any = field(default=None, kw_only=False)
    n_estimators: int | None = None
    measure: str | Callable[..., Any] = "mda"
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def _open(self, X: Any, y: Any, *, threads_grow: bool = False) -> Opening:
        """Check the shared parameters and the rows.

        Threads run jobs, of a forest each; with `threads_grow` they grow the forest of a job.
        """
        owner = type(self).__name__
        plan = self._plan()
        n_threads = plan.threads_within
        data = self._learning_set(X, y, task_of(self.estimator, owner), n_threads=n_threads)
        subject = subject_of(
            self.estimator,
            self.n_estimators,
            self.measure,
            data.in_memory(),
            owner,
            n_threads if threads_grow else 1,
        )
        plan = replace(plan, n_threads=1) if threads_grow else plan
        return Opening(f"{owner}.fit", subject, checks.draw_seed(self.random_state), plan, data)

    def _set_importances(self, subject: Measured, values: FloatArray) -> None:
        owner = type(self).__name__
        self.importances_ = Importances(
            subject.names,
            values,
            subject.measure.name,
            unit_of(subject),
            metadata=subject.identity(owner),
        )

    def _settings(self) -> dict[str, Any]:
        metadata = self.importances_.metadata
        n_estimators = int(metadata["parameters"]["n_estimators"])
        forest = {"estimator": metadata["estimator"], "n_estimators": n_estimators}
        return {**super()._settings(), **forest}


@dataclass(kw_only=True, eq=False, repr=False)
class RefittingSelector(ForestSelector):
    """Selector that grows forests again and again."""

    client: Any = None
    checkpoint: str | PathLike[str] | None = None


@dataclass(eq=False)
class Rounds:
    """Features found in rounds, each of which ends before the next begins.

    Attributes
    ----------
    found_in : int64 array of shape (p,)
        Round in which each feature was found; 0 for the others.
    most : int
        Number of rounds at most.
    importances : list of float64 arrays of shape (p,)
        Importances of each round.
    thresholds : list of float
        Importance that was to be exceeded in each round.
    p_values : list of float64 arrays of shape (p,)
        P-values of each round.
    """

    found_in: IntArray
    most: int
    importances: list[FloatArray] = field(default_factory=list)
    thresholds: list[float] = field(default_factory=list)
    p_values: list[FloatArray] = field(default_factory=list)
    open: bool = True  # whether another round follows

    @property
    def left(self) -> IntArray:
        """Features that are not found."""
        return np.flatnonzero(self.found_in == 0)

    def add(
        self, importance: FloatArray, threshold: float, p_values: FloatArray, new: IntArray
    ) -> None:
        """Add a round; the last one finds nothing, or all that is left, or is the most-th."""
        self.importances.append(importance)
        self.thresholds.append(threshold)
        self.p_values.append(p_values)
        number = len(self.importances)
        self.found_in[new] = number
        self.open = len(new) > 0 and len(self.left) > 0 and number < self.most


class RoundsSelector(RefittingSelector):
    """Selector that finds features in rounds, with their account."""

    found_as: ClassVar[str]  # verb for a feature that is selected

    found_in_: IntArray
    p_values_: FloatArray
    n_rounds_: int

    def _take(
        self, opening: Opening, rounds: Rounds, p_values: FloatArray, **history: NDArray[Any]
    ) -> None:
        """Take the features that were found, by round, and by importance within a round."""
        importance = np.array(rounds.importances)
        selected = np.flatnonzero(rounds.found_in)
        round_of = rounds.found_in[selected]
        history = {
            "n_selected": np.cumsum(np.bincount(round_of, minlength=len(importance) + 1)[1:]),
            "threshold": np.array(rounds.thresholds),
            "importance": importance,
            **history,
        }
        order = np.lexsort((-importance[round_of - 1, selected], round_of))
        self._adopt(opening.data, selected[order], history)
        self.found_in_ = rounds.found_in
        self.p_values_ = p_values
        self.n_rounds_ = len(importance)
        self._set_importances(opening.subject, importance[0])

    def _figures(self) -> dict[str, Any]:
        return {
            "run": counted(self.n_rounds_, "round"),
            "step": "round",
            "facts": (("rounds", f"{self.n_rounds_:,}"),),
            "columns": (
                Column(f"{self.found_as} in round", name="round", numbers=self.found_in_),
                Column("p-value", name="p_value", numbers=self.p_values_),
            ),
            "results": {"rounds": self.n_rounds_},
        }


N_TREES = 500
FEWEST_SHADOWS = 5


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
    data: LearningSet[EncodedTable],
    owner: str,
    n_threads: int,
) -> Measured:
    """Return a measure of forests: of random forests, where no estimator is given."""
    n_trees = checks.check_optional_integer(owner, "n_estimators", n_estimators, 1)
    if estimator is None:
        estimator = random_forest(data.task, N_TREES)
    measures = ("auto", SCALED_MDA.name, *(entry.name for entry in catalogue if entry.testable))
    name = None if callable(measure) else checks.check_choice(owner, "measure", measure, measures)
    if name == "auto":
        measure = automatic(template_of(estimator, owner))
    scaled = name == SCALED_MDA.name
    subject = measured(estimator, data, None, "mda" if scaled else measure, owner)
    if scaled:
        subject = replace(subject, measure=SCALED_MDA, identifier=SCALED_MDA.name)
    settings = {} if n_trees is None else {"n_estimators": n_trees}
    subject.template.set_params(n_jobs=n_threads, **settings)
    return subject


def unit_of(subject: Measured) -> str:
    """Return the unit of the importances, as a small forest has it."""
    small = seeded(subject.template, 0).set_params(n_estimators=2)
    importances: Importances = replace(subject, template=small).importances(0)
    return importances.unit


def beside_shadows(
    subject: Measured, columns: IntArray, seed: int, owner: str
) -> tuple[FloatArray, FloatArray]:
    """Return importances of some columns, and those of their shadows, at least 5.

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
            "one of a grown forest, such as 'mda' or 'mdi'",
            subject.measure.name,
            "the errors are those of the same forest",
        )


def losses(means: FloatArray, target: Target) -> FloatArray:
    """Return the loss of every row, shape (n,): 0 or 1 for classes, squared errors for numbers.

    Rows without a prediction, NaN in `means` of shape (n, C), are NaN.
    """
    missing = np.isnan(means[:, 0])
    if target.codes is None:
        return np.asarray((means[:, 0] - target.values) ** 2, dtype=np.float64)
    guessed = np.argmax(np.where(missing[:, np.newaxis], 0.0, means), axis=1)
    return np.where(missing, np.nan, guessed != target.codes)


def standard_error(losses: FloatArray, groups: IntArray | None) -> float:
    """Return the standard error of a mean over rows, or over the rows of independent groups."""
    if groups is None:
        return float(losses.std() / np.sqrt(len(losses)))
    sums = np.bincount(groups, losses - losses.mean())
    return float(np.sqrt(sums @ sums) / len(losses))


def trial(
    subject: Measured,
    seed: int,
    columns: IntArray,
    measured: bool = False,
    folds: IntArray | None = None,
    fold: int = -1,
) -> FloatArray:
    """Grow a forest on some features; return its importances and errors.

    Parameters
    ----------
    subject : Measured
        The forests.
    seed : int
        Seed of the forest.
    columns : int64 array
        The features.
    measured : bool
        Whether importances are computed.
    folds : int64 array of shape (n,), optional
        Fold of each row, of which a trial may leave one out.
    fold : int
        The fold that is left out; -1 for all rows.

    Returns
    -------
    float64 array of shape (p + 3,)
        Importances of the columns, NaN for others and where they are not asked for; the
        out-of-bag error and its standard error; the mean loss of the fold, or NaN. Classes that
        the forest lacks are missed.
    """
    whole = subject.data
    table = whole.table.take_columns(columns)
    data = whole.with_table(table, key=("columns", columns.tolist()))
    held_out = folds is not None and fold >= 0
    if held_out:
        data = data.of_rows(np.flatnonzero(folds != fold), key=("without", fold))
    grown = seeded(subject.template, seed).fit(data)
    forest: Forest = grown.forest_
    row = np.full(whole.n_columns + 3, np.nan)
    if measured:
        inputs = Inputs(grown, data, seed % 2**32, subject.template.n_jobs)
        importances: Any = subject.measure(inputs)
        row[columns] = importances.values
    loss = losses(estimate_out_of_bag(forest, data.table, data.target).means(), data.target)
    seen = ~np.isnan(loss)
    if seen.any():
        groups = data.exchangeability.groups
        row[-3] = loss[seen].mean()
        row[-2] = standard_error(loss[seen], None if groups is None else groups[seen])
    if held_out:
        rows = np.flatnonzero(folds == fold)
        means = predict(forest, rows_of(forest, table.take_rows(rows), "", "trial"))
        if forest.classes is None:
            row[-1] = losses(means, whole.target.take(rows)).mean()
        else:
            row[-1] = np.mean(forest.classes[np.argmax(means, axis=1)] != whole.target.labels[rows])
    return row
