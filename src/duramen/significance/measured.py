"""Significance tests, and importances as a function of rows and a seed."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.catalogue import Entry
from duramen.data import EncodedTable, Exchangeability, LearningSet
from duramen.data.recoding import with_permuted
from duramen.data.target import target_class
from duramen.forests import Forest
from duramen.importances import Inputs, Measure, catalogue
from duramen.importances.measure import TreeSums
from duramen.importances.models import of_fitted_model
from duramen.importances.refit import (
    data_for,
    is_model,
    leaves_rows_out,
    one_threaded,
    parameters_of,
    qualified,
    seeded,
    template_of,
)
from duramen.jobs.replicates import (
    OBSERVED,
    Batches,
    OutcomeT,
    Plan,
    Steps,
    Task,
    replicate_seed,
    run_replicates,
)
from duramen.jobs.workers import running
from duramen.results.importances import Importances
from duramen.results.summary import counted
from duramen.support import checks
from duramen.support.arrays import FloatArray, TableLike
from duramen.support.provenance import versions
from duramen.support.text import duration

Data = LearningSet[EncodedTable]
MeasureLike = str | Callable[[Any, EncodedTable, NDArray[Any]], Any]

# With measure="auto" a node is split from a thirtieth of the rows on, or 50 rows: splits of fewer
# add more noise to importances than signal (docs/explanation/tests/max-t.md).
_ROWS_PER_SPLIT, _MOST_SPLIT = 30, 50

# Bytes that the trees of a forest may take to be kept until it is measured; those of a larger one
# are measured some at a time, and let go.
_KEPT = 1 << 23

PROMISE = (
    "The p-values are exact under the complete null hypothesis that the target is independent of "
    "all features together. A small p-value indicates that a feature is associated with the "
    "target, which is also true of features that are correlated with relevant ones and add "
    "nothing to them. Features that are independent of both tend to have too large p-values."
)
HUYNH_THU = (
    "V. A. Huynh-Thu et al. (2012). Statistical interpretation of machine learning-based feature "
    "importance scores for biomarker discovery. Bioinformatics 28."
)
"""Source of several tests."""


@dataclass(frozen=True, eq=False)
class SignificanceTest(Entry):
    """Record of a significance test in :data:`duramen.significance.catalogue`.

    Attributes
    ----------
    name : str
        Name in Python, also that of its function; the option ``--test`` has hyphens in it.
    function : callable
        Takes an estimator and a learning set; or importances, if it grows no forests; or a table
        and a target, if it is about neither.
    title : str
        Name in tables and sentences.
    promise : str
        What its numbers promise and when they do not; ``{level}`` stands for the level.
    reference : str
        Source.
    repeats : str
        Parameter for the number of forests, or rounds of them; "" for a test that grows none, or
        whose number is not chosen.
    forests : callable
        Greatest number of forests, from that number, 0 without such a parameter, and the number of
        features.
    least : int
        Least number of rounds with which anything can be significant at .05.
    suits : callable
        Whether it can test a :class:`duramen.importances.Measure`.
    of_rows : bool
        Whether it is about the table and the target alone, and suits no measure; it is given an
        estimator if it takes one.
    of_groups : bool
        Whether ``duramen rank`` has it test groups of features: in place of features, or before
        them.
    permutes : bool
        Whether nearly all of its forests are grown on a permuted target, which takes longer: their
        trees are deeper than those on the data as they are.
    fraction : float
        Fraction of the rows that its forests are grown on.
    stops_early : bool
        Whether it may end with fewer forests than `forests` says.
    most_trees : callable, optional
        Most trees of a forest that ``duramen rank`` has it grow, from the number of rows; None for
        those of the ranking.
    default : bool
        Whether ``duramen rank`` runs it where the user names no test.
    rate : str
        Name of its rates, of a test that gives `ErrorRates`.
    controls : bool
        Whether a small number is evidence of relevance for a feature among many.
    check : callable, optional
        Refuses a learning set that the test cannot handle; ``duramen rank`` calls it before a
        forest is grown.
    adapt : callable, optional
        Further arguments from the settings of growth, and whether anything asks for permutations.

    Examples
    --------
    >>> import duramen as dm
    >>> test = dm.significance.catalogue["max_t"]
    >>> test.option, test.rounds(), test.takes("strata")
    ('max-t', 99, True)
    """

    function: Callable[..., Any]
    title: str
    promise: str
    reference: str = ""
    repeats: str = "n_permutations"
    forests: Callable[[int, int], int] = lambda rounds, p: rounds + 1
    least: int = 1
    suits: Callable[[Measure], bool] = lambda measure: measure.testable
    of_rows: bool = False
    of_groups: bool = False
    permutes: bool = False
    fraction: float = 1.0
    stops_early: bool = False
    most_trees: Callable[[int], int] | None = None
    default: bool = False
    rate: str = "error rate"
    controls: bool = True
    check: Callable[[Any], None] = lambda data: None
    adapt: Callable[[Any, bool], dict[str, Any]] = lambda settings, permuting: {}

    def takes(self, parameter: str) -> bool:
        """Tell whether the function has a parameter."""
        return parameter in inspect.signature(self.function).parameters

    def rounds(self, asked: int | None = None) -> int:
        """Return the number of rounds that is asked for, or the default of the function."""
        if asked is not None or not self.repeats:
            return asked or 0
        return int(inspect.signature(self.function).parameters[self.repeats].default)


@dataclass(frozen=True, eq=False)
class Measured:
    """Importance of every column of a table, ready to be computed again and again."""

    template: Any  # parameters of the forests, or a model; fitted on one thread each
    data: Data  # n rows of p columns, encoded once, with the rows that a test may exchange
    measure: Measure  # how it is computed
    identifier: str  # name of the measure, or module and name of a function, in checkpoints

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.data.names

    @property
    def exchangeability(self) -> Exchangeability:
        """Rows that a test may exchange."""
        return self.data.exchangeability

    def importances(self, seed: int, *, data: Data | None = None) -> Importances:
        """Fit a forest or model from a seed and measure it, on these rows or others in their place.

        A measure that is a sum over trees is computed part by part of a large forest.
        """
        from duramen.estimators.base import fit_by_parts  # imports scikit-learn

        measure, data, seed = self.measure, self.data if data is None else data, seed % 2**32
        forest = seeded(self.template, seed)
        if measure.refits:
            data = exchanging(measure, data)
        n_jobs = getattr(forest, "n_jobs", 1)
        inputs, sums, by_parts = Inputs(forest, data, seed, n_jobs), list[TreeSums](), False

        def takers() -> list[Callable[[Forest], None]]:
            sums.append(measure.compute(inputs))
            return [sums[0].add]

        if measure.over_trees and not measure.refits:
            by_parts = fit_by_parts(forest, data, takers, most_bytes=_KEPT)
        elif not measure.refits:
            forest.fit(data)
        values = sums[0].importances() if by_parts else measure(inputs)
        if not isinstance(values, Importances):
            raise TypeError(
                f"measure {measure.name} must return importances, got {type(values).__name__}."
            )
        return values

    def scores(self, seed: int, *, data: Data | None = None) -> FloatArray:
        """Return the values of :meth:`importances`, of shape (p,)."""
        return self.importances(seed, data=data).values

    def permuted_scores(
        self,
        number: object,
        seed: int,
        permutation: int | None = None,
        rejected: NDArray[np.intp] | None = None,
    ) -> FloatArray:
        """Permute the target as the rows allow, grow a forest, and return the importances.

        It is the task of :func:`run_replicates`: permutation and forest come from the seed of the
        job, or from that of another `permutation`. The columns `rejected`, by index, are permuted
        with the target, and so keep their association.
        """
        seed, data = seed if permutation is None else permutation, self.data
        random = np.random.default_rng(seed)
        order = data.exchangeability.permutation(random, data.target.values)
        if rejected is not None and len(rejected):
            table = with_permuted(data.table, rejected, order)
            data = data.with_table(table, key=("kept", *rejected))
        data = data.permuted(order, key=("permuted", seed))
        return self.importances(int(random.integers(2**32)), data=data).values

    @property
    def clause(self) -> str:
        """Sentences on the exchange of groups, strata and weights under the null hypothesis."""
        weighted = self.data.weights is not None
        together = " Each target is exchanged together with the weight of its row."
        return self.data.exchangeability.clause + (together if weighted else "")

    def of_rows(self, rows: NDArray[Any], key: object) -> Measured:
        """Return this measure on some rows, by index."""
        return replace(self, data=self.data.of_rows(rows, key=("rows", key)))

    def identity(self, method: str, **choices: Any) -> dict[str, Any]:
        """Return what replicates of this measure depend on, for checkpoints and metadata."""
        return {
            "method": method,
            "measure": self.identifier,
            "estimator": type(self.template).__name__,
            "parameters": parameters_of(self.template),
            "data": self.data.fingerprint,
            "versions": versions(),
            **self.data.exchangeability.identity(),
            **choices,
        }


def exchanging(measure: Measure, data: Data) -> Data:
    """Return the rows with the strata and groups that a measure of several forests needs."""
    rows = data.exchangeability
    # Targets of groups of different sizes can be exchanged, their rows cannot.
    if measure.permutes and rows.restricted and rows.count() == 1:
        return data.with_exchangeability(Exchangeability(data.n_rows))
    return data


def measured(
    estimator: Any,
    X: Any,
    y: Any,
    measure: MeasureLike,
    function: str,
    *,
    strata: Any = None,
    groups: Any = None,
    takes_strata: bool = True,
) -> Measured:
    """Check an estimator, encode X and y once, and tie them to a measure, by name or a function.

    Strata of a learning set are refused where the function does not take them.

    Raises
    ------
    TypeError, ValueError
        If `measure`, the data or the labels are not as described.
    """
    other, chosen = is_model(estimator), measure == "auto"
    template = one_threaded(estimator) if other else template_of(estimator, function)
    if chosen:
        measure = automatic(template)
    if chosen and not other:
        own, kind = template.get_params(), template.target_class
        asked = kind.ranking_parameters.items()
        template.set_params(**{name: value for name, value in asked if name in own})
    record = measure_of(measure, function, model=other)
    data = data_for(template, X, y, function, strata=strata, groups=groups)
    if chosen and not other and own.get("min_samples_split") == kind.min_samples_split:
        fewest = min(data.n_rows // _ROWS_PER_SPLIT, _MOST_SPLIT)
        template.set_params(min_samples_split=max(kind.min_samples_split, fewest))
    if not takes_strata and data.exchangeability.strata is not None:
        raise ValueError(
            f"{function}: the rows of this learning set have strata, which {function} does not "
            "support. Hint: learning_set without strata."
        )
    identifier = qualified(measure) if callable(measure) else measure
    if other:
        return Measured(template, data, record, identifier)
    if not callable(measure) and "oob_score" in template.get_params():
        template.set_params(oob_score=False)  # no measure of ours reads it
    return Measured(template.set_params(n_jobs=1, verbose=0), data, record, identifier)


def automatic(estimator: Any) -> str:
    """Return the name of the measure that is tested and ranked by unless another is named.

    It is that of out-of-bag rows if the trees of the estimator leave rows out, and it suits the
    target; of a model of another package that of rows held out.
    """
    if is_model(estimator):
        return "holdout_mda"
    suits = catalogue["mdi_oob"].suits(target_class(estimator.task))
    return "mdi_oob" if leaves_rows_out(estimator) and suits else "mdi"


def of_function(function: Callable[[Any, EncodedTable, NDArray[Any]], Any]) -> Measure:
    """Return the record of a measure that is a function ``measure(forest, X, y)``."""
    name = getattr(function, "__name__", type(function).__name__)
    return Measure(
        name,
        lambda inputs: function(inputs.estimator, inputs.data.table, inputs.data.y),
        name,
        rows="training",
        spread="",
    )


def measure_of(
    measure: MeasureLike, function: str, *, refits: bool = True, model: bool = False
) -> Measure:
    """Return the record of a measure that is given by name or as a function.

    With ``refits=False`` those that grow forests of their own are refused; with `model`, for a
    model of another package, all but that on held-out rows and functions.
    """
    if callable(measure):
        return of_fitted_model(measure) if model else of_function(measure)
    if model and measure != "holdout_mda":
        raise ValueError(
            f"{function}: measure must be 'auto', 'holdout_mda', or a function "
            f"measure(model, X, y) that returns importances, for models of other packages, got "
            f"{measure!r}."
        )
    records = {
        entry.name: entry for entry in catalogue if entry.testable and (refits or not entry.refits)
    }
    if not isinstance(measure, str) or measure not in records:
        raise ValueError(
            f"{function}: measure must be one of {', '.join(map(repr, records))}, or a function "
            f"measure(forest, X, y) that returns importances, got {measure!r}."
        )
    return records[measure]


@dataclass(frozen=True, eq=False, kw_only=True)
class Refits(Plan):
    """Measure of a learning set that a significance test computes again and again."""

    function: str  # the public function, for errors, metadata and the progress bar
    subject: Measured  # importances as a function of rows and seed
    seed: int = 0  # seed of the run

    @classmethod
    def of(
        cls,
        function: str,
        estimator: Any,
        X: Any,
        y: Any,
        measure: MeasureLike,
        execution: tuple[Any, ...],
        **rows: Any,
    ) -> Self:
        """Check the arguments of a test.

        `execution` are its random_state, n_jobs, client, checkpoint and verbose, and `rows` strata
        and groups, as for :func:`measured`.
        """
        random_state, n_jobs, client, checkpoint, verbose = execution
        subject = measured(estimator, X, y, measure, function, **rows)
        run = {"function": function, "subject": subject, "seed": checks.draw_seed(random_state)}
        return cls.checked(function, n_jobs, checkpoint, verbose, client, **run)

    def observed(self) -> Importances:
        """Grow a forest on the data as they are and measure it."""
        return self.subject.importances(replicate_seed(self.seed, OBSERVED))

    def identity(self, **choices: Any) -> dict[str, Any]:
        """Return the settings of the result: the measure, the rows, and choices."""
        return self.subject.identity(self.function.removesuffix(".fit"), **choices)

    def metadata(self, identity: dict[str, Any] | None = None, **choices: Any) -> dict[str, Any]:
        """Return the metadata of a result: the identity of the run, choices, the seed."""
        settings = self.identity() if identity is None else identity
        return {**settings, **choices, "seed": self.seed}

    def run(
        self, task: Task, n: int, width: int, identity: dict[str, Any] | None = None, **how: Any
    ) -> FloatArray:
        """Run a task n times (:func:`run_replicates`), as the work of this function by default."""
        how = {"seed": self.seed, "plan": self, "function": self.function, **how}
        identity = self.identity() if identity is None else identity
        return run_replicates(task, n, width, identity=identity, **how)

    def follow(
        self,
        task: Task,
        most: int,
        width: int,
        steps: Steps[OutcomeT],
        *,
        part: str = "",
        **choices: Any,
    ) -> tuple[FloatArray, OutcomeT]:
        """Run at most `most` jobs of a generator; return all rows, and its outcome.

        A second run of a function is a part with a name, which its checkpoint has as a further
        suffix.
        """
        plan, seed, batches = self, self.seed, Batches(steps)
        if part:
            seed = replicate_seed(seed, OBSERVED)
            if plan.checkpoint is not None:
                plan = replace(plan, checkpoint=f"{plan.checkpoint}.{part}")
        rows = run_replicates(
            task,
            most,
            width,
            seed=seed,
            identity=self.identity(**choices),
            plan=plan,
            function=self.function,
            ready=batches.ready,
            arguments=batches.arguments,
        )
        batches.ready(rows)
        return rows, cast(OutcomeT, batches.outcome)

    def permuted_scores(self, n: int) -> FloatArray:
        """Return the scores of every feature after each permutation of the target, shape (n, p)."""
        data, task = self.subject.data, self.subject.permuted_scores
        data.exchangeability.require(n, self.function, data.target.values)
        return self.run(task, n, data.n_columns, self.subject.identity("permuted labels"))


# --- expected time of many forests, from that of a few --------------------------------------------

# A first forest that took longer than this, in seconds, is not timed a second time; others are, for
# so long in all, or so many.
_LONG = 1.0
_ENOUGH, _MOST_ROUNDS = 0.3, 8


@dataclass(frozen=True)
class Cost:
    """Expected time of many forests.

    Attributes
    ----------
    seconds : float
        Time from beginning to end, in seconds.
    n_forests : int
        Number of forests.
    n_threads : int
        Forests that are grown at a time.
    model : str
        Class of the model that is refitted in place of forests, if any.

    Examples
    --------
    >>> import duramen as dm
    >>> print(dm.significance.Cost(seconds=90.0, n_forests=1000, n_threads=4))
    1,000 forests, 4 at a time: about 1.5 min
    """

    seconds: float
    n_forests: int
    n_threads: int = 1
    model: str = ""

    def __str__(self) -> str:
        forests = counted(self.n_forests, "refit" if self.model else "forest")
        forests += f" of {self.model}" * bool(self.model)
        return f"{forests}, {self.n_threads} at a time: about {duration(self.seconds)}"


def estimate_cost(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None,
    n_forests: int,
    *,
    measure: MeasureLike = "mdi",
    permuted: bool = False,
    fraction: float = 1.0,
    n_jobs: int | None = None,
) -> Cost:
    """Estimate the time to grow many forests and measure importances in each.

    Some forests are grown and measured, at least two unless they are slow, and where `n_jobs`
    allows for several at a time, as many beside each other: processors that share memory and
    caches are slower than one alone.

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    n_forests : int
        How many forests there will be: S for `altmann` with S permutations, and for `fdr_curve`;
        p S at the most for `hapfelmeier` and `conditional_error_rate`.
    measure : str or callable
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances.
    permuted : bool, default=False
        Whether the forests are grown on a permuted target, as those of `altmann`, `max_t` and
        `fdr_curve` are but the first: their trees are deeper where features are relevant.
    fraction : float, default=1.0
        Fraction of the rows that each forest is grown on.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    Cost
        ``str(cost)`` reads as a sentence.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> dm.significance.estimate_cost(forest, data.X, data.y, 100).n_forests
    100
    """
    name = "estimate_cost"
    count = checks.check_integer(name, "n_forests", n_forests, 1, most=2**62)
    n_threads = checks.check_jobs(name, n_jobs)
    subject = measured(estimator, X, y, measure, name)
    if checks.check_real(name, "fraction", fraction, 0.0, 1.0) < 1:
        drawn = np.random.default_rng(0).permutation(subject.data.n_rows)
        n_rows = max(2, round(fraction * len(drawn)))
        subject = subject.of_rows(np.sort(drawn[:n_rows]), key="cost")

    def task(seed: int) -> Any:
        return subject.permuted_scores(0, seed) if permuted else subject.scores(seed)

    model = type(estimator).__name__ if is_model(estimator) else ""
    # The first forest of a process may be slower than the others.
    at_a_time, done, seconds = min(n_threads, count), 0, 0.0
    with running(task, at_a_time) as run:
        start = time.perf_counter()
        list(run([(0,)]))
        first = time.perf_counter() - start
        if first > _LONG and at_a_time == 1:
            return Cost(first * count, count, n_threads, model)
        while not done or (seconds < _ENOUGH and done < _MOST_ROUNDS * at_a_time):
            start = time.perf_counter()
            list(run((seed,) for seed in range(1 + done, 1 + done + at_a_time)))
            seconds += time.perf_counter() - start
            done += at_a_time
    return Cost(seconds / done * count, count, n_threads, model)
