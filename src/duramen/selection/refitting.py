"""Selectors that grow forests again and again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from duramen.data import EncodedTable, LearningSet, Target, Task
from duramen.data.recoding import with_probes
from duramen.estimators.catalogue import random_forest
from duramen.forests.forest import Forest
from duramen.forests.prediction import estimate_out_of_bag, predict, rows_of
from duramen.importances import Inputs, catalogue
from duramen.importances.measures.mda import SCALED_MDA
from duramen.importances.refit import seeded, template_of
from duramen.jobs.batches import Batches, OutcomeT, Steps
from duramen.jobs.replicates import OBSERVED, replicate_seed
from duramen.results.columns import Column
from duramen.results.importances import Importances
from duramen.selection.selector import BaseSelector, Data, SelectionSummary
from duramen.significance.measured import Measured, MeasureLike, Refits, automatic, measured
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.checks import refuse


@dataclass(frozen=True, eq=False)
class Opening(Refits):
    """Arguments of a call of `fit`, checked; the measure is on the rows in memory."""

    data: Data  # the rows as they were given, which may be a store

    def identity(self, **choices: Any) -> dict[str, Any]:
        """Return what the result depends on: the forests, and choices."""
        return self.subject.identity(self.function.removesuffix(".fit"), **choices)

    def follow(
        self,
        task: Callable[..., FloatArray],
        most: int,
        width: int,
        steps: Steps[OutcomeT],
        *,
        part: str = "",
        **choices: Any,
    ) -> tuple[FloatArray, OutcomeT]:
        """Run the jobs of a generator, at most so many; return all rows, and its outcome.

        A second run of a `fit` is a part with a name, which its checkpoint has as a further suffix.
        """
        plan, seed = self.plan, self.seed
        if part:
            seed = replicate_seed(seed, OBSERVED)
            if plan.checkpoint is not None:
                plan = replace(plan, checkpoint=f"{plan.checkpoint}.{part}")
        batches = Batches(steps)
        ready, arguments = batches.ready, batches.arguments
        rows = self.run(
            task,
            most,
            width,
            self.identity(**choices),
            seed=seed,
            plan=plan,
            ready=ready,
            arguments=arguments,
        )
        batches.ready(rows)
        return rows, cast(OutcomeT, batches.outcome)


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

    def summary(self) -> SelectionSummary:
        """Return the summary of the run for a report."""
        account = super().summary()
        metadata = self.importances_.metadata
        forest = {
            "estimator": metadata["estimator"],
            "n_estimators": int(metadata["parameters"]["n_estimators"]),
        }
        return replace(account, settings={**account.settings, **forest})


class RoundsOfReplicates(ABC):
    """Features found in rounds of R replicates, each of which ends before the next begins.

    Parameters
    ----------
    p : int
        Number of features.
    most : int
        Number of rounds at most.
    n_replicates : int
        Number R of replicates of a round.

    Attributes
    ----------
    found_in : int64 array of shape (p,)
        Round in which each feature was found; 0 for the others.
    importances : list of float64 arrays of shape (p,)
        Importances of each round.
    thresholds : list of float
        Importance that was to be exceeded in each round.
    """

    def __init__(self, p: int, most: int, n_replicates: int) -> None:
        self._most, self._size = most, n_replicates
        self.found_in = np.zeros(p, dtype=np.int64)
        self.importances: list[FloatArray] = []
        self.thresholds: list[float] = []

    @property
    def left(self) -> IntArray:
        """Features that are not found."""
        return np.flatnonzero(self.found_in == 0)

    @abstractmethod
    def judged(self, replicates: FloatArray) -> tuple[FloatArray, float, IntArray]:
        """Return importances, threshold and new features of a round from its replicates."""

    @abstractmethod
    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments of the replicates of the next round."""

    def steps(self) -> Steps[None]:
        """Yield the replicates of the rounds, until one finds nothing, or all is found."""
        for number in range(1, self._most + 1):
            replicates = yield [self.arguments()] * self._size
            importance, threshold, new = self.judged(replicates)
            self.found_in[new] = number
            self.importances.append(importance)
            self.thresholds.append(threshold)
            if not len(new) or not len(self.left):
                return


class RoundsSelector(RefittingSelector):
    """Selector that finds features in rounds, with their account."""

    found_as: ClassVar[str]  # verb for a feature that is selected

    found_in_: IntArray
    p_values_: FloatArray
    n_rounds_: int

    def _take(
        self,
        opening: Opening,
        rounds: RoundsOfReplicates,
        p_values: FloatArray,
        **history: NDArray[Any],
    ) -> None:
        """Take the features that were found, by round, and by importance within a round."""
        importance = np.array(rounds.importances)
        selected = np.flatnonzero(rounds.found_in)
        round_of = rounds.found_in[selected]
        sizes = [np.count_nonzero(round_of <= k + 1) for k in range(len(importance))]
        history = {
            "n_selected": np.array(sizes),
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

    def summary(self) -> SelectionSummary:
        """Return the summary of the run for a report."""
        check_is_fitted(self, "support_")
        return replace(
            super().summary(),
            run=f"{self.n_rounds_:,} round{'s' * (self.n_rounds_ != 1)}",
            step="round",
            facts=(("rounds", f"{self.n_rounds_:,}"),),
            columns=(
                Column(f"{self.found_as} in round", name="round", numbers=self.found_in_),
                Column("p-value", name="p_value", numbers=self.p_values_),
            ),
            results={"rounds": self.n_rounds_},
        )


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
    subject: Measured, columns: IntArray, seed: int, owner: str, sizes: IntArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return importances of some columns, and those of their shadows, at least 5.

    Shadows are permuted independently of each other, or, with the sizes of groups in which the
    columns lie one after the other, those of a group together. They stand for the codes of their
    columns, so that nothing is encoded.
    """
    sizes = np.ones(len(columns), dtype=np.int64) if sizes is None else sizes
    n_copies = 1
    while n_copies * len(sizes) < FEWEST_SHADOWS:
        n_copies *= 2
    random = np.random.default_rng(seed)
    copied = np.tile(np.arange(len(columns)), n_copies)
    orders = [
        order
        for size in np.tile(sizes, n_copies).tolist()
        for order in [subject.exchangeability.permutation(random)] * size
    ]
    table = with_probes(subject.data.table.take_columns(columns), copied, orders, function=owner)
    data = subject.data.with_table(table, key=("copies", columns.tolist(), seed))
    scores = subject.scores(int(random.integers(2**32)), data=data)
    return scores[: len(columns)], scores[len(columns) :]


@dataclass(frozen=True)
class ShadowRound:
    """Task of a round: importances of all features, and a percentile of those of their shadows.

    Features that are not active have NaN. With groups, a disjoint cover of the features, the scores
    of the groups stand between importances and percentile, which is that of the scores of shadow
    groups, and groups are active or not.
    """

    subject: Measured
    percentile: float
    function: str
    groups: tuple[IntArray, ...] | None = None

    @property
    def width(self) -> int:
        """Numbers of a round."""
        return self.subject.data.n_columns + 1 + len(self.groups or ())

    def __call__(self, _: int, seed: int, active: IntArray) -> FloatArray:
        """Grow the forest of a round on the active features and their shadows."""
        row = np.full(self.width, np.nan)
        if self.groups is None:
            own, shadows = beside_shadows(self.subject, active, seed, self.function)
            row[active] = own
        else:
            groups = [self.groups[g] for g in active]
            columns, sizes = np.concatenate(groups), np.array([len(group) for group in groups])
            own, copies = beside_shadows(self.subject, columns, seed, self.function, sizes)
            row[columns] = own
            center = copies.mean()
            row[self.subject.data.n_columns + active] = _group_scores(own, sizes, center)
            shadows = _group_scores(copies.reshape(-1, len(columns)), sizes, center).ravel()
        row[-1] = np.percentile(shadows, self.percentile)
        return row


def _group_scores(values: FloatArray, sizes: IntArray, center: float) -> FloatArray:
    """Return sums of centered importances over groups, by the roots of their sizes."""
    starts = np.cumsum(sizes) - sizes
    scores: FloatArray = np.add.reduceat(values - center, starts, axis=-1) / np.sqrt(sizes)
    return scores


def require_out_of_bag(subject: Measured, owner: str) -> None:
    """Raise ValueError if trees do not leave rows out.

    Raises
    ------
    ValueError
        If every tree has all rows.
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


def require_fitted_measure(subject: Measured, owner: str) -> None:
    """Raise ValueError if a measure grows forests of its own.

    Raises
    ------
    ValueError
        If it does.
    """
    if subject.measure.refits:
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


@dataclass(frozen=True)
class Trial:
    """Task of a forest on some features: p importances, error, its standard error, held-out error.

    Attributes
    ----------
    subject : Measured
        The forests.
    folds : int64 array of shape (n,) or None
        Fold of each row, of which a trial may leave one out.
    """

    subject: Measured
    folds: IntArray | None = None

    def __call__(
        self, _: int, seed: int, columns: IntArray, measured: bool, fold: int = -1
    ) -> FloatArray:
        """Grow a forest without the rows of a fold; -1 for all rows.

        Returns
        -------
        float64 array of shape (p + 3,)
            Importances of the columns, NaN for others and where they are not asked for; the
            out-of-bag error and its standard error; the mean loss of the fold, or NaN.
        """
        whole = self.subject.data
        table = whole.table.take_columns(columns)
        data = whole.with_table(table, key=("columns", columns.tolist()))
        if self.folds is not None and fold >= 0:
            data = data.of_rows(np.flatnonzero(self.folds != fold), key=("without", fold))
        grown = seeded(self.subject.template, seed).fit(data)
        row = np.full(whole.n_columns + 3, np.nan)
        if measured:
            inputs = Inputs(grown, data, seed % 2**32, self.subject.template.n_jobs)
            importances: Any = self.subject.measure(inputs)
            row[columns] = importances.values
        loss = losses(
            estimate_out_of_bag(grown.forest_, data.table, data.target).means(), data.target
        )
        seen = ~np.isnan(loss)
        if seen.any():
            groups = data.exchangeability.groups
            own_groups = None if groups is None else groups[seen]
            row[-3:-1] = loss[seen].mean(), standard_error(loss[seen], own_groups)
        if self.folds is not None and fold >= 0:
            row[-1] = self._held_out(grown.forest_, table, fold)
        return row

    def _held_out(self, forest: Forest, table: EncodedTable, fold: int) -> float:
        """Return the mean loss of the rows of a fold; classes that the forest lacks are missed."""
        rows = np.flatnonzero(self.folds == fold)
        held = table.take_rows(rows)
        means = predict(forest, rows_of(forest, held, "", "trial"))
        target = self.subject.data.target
        if forest.classes is None:
            return float(losses(means, target.take(rows)).mean())
        labels = forest.classes[np.argmax(means, axis=1)]
        return float(np.mean(labels != target.labels[rows]))
