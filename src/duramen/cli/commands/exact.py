"""Command `duramen exact`: importances of infinitely many trees, relevance of the features."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from duramen.analyses.problem import Problem, loaded
from duramen.cli import console
from duramen.cli.command import perform
from duramen.cli.console import note, standard_error
from duramen.cli.declaration import choice, command_line, group, option, parameters, recorded
from duramen.cli.ending import Clock
from duramen.cli.inputs import Demo, Small
from duramen.cli.options import Jobs, Printed, Trees, settled_criterion
from duramen.cli.problem import as_arrow
from duramen.support.arrow import pa

if TYPE_CHECKING:
    from duramen.data import EncodedTable
    from duramen.reports import Report, Run
    from duramen.results.context_importances import ContextImportances
    from duramen.results.importances import Importances
    from duramen.theory import FiniteDistribution
    from duramen.theory.dependence.relevant_features import Relevance


COMMAND = "exact"
MEASURES = ("mdi", "mda")
"""Mean decrease of impurity and of accuracy."""

MOST_CONTEXTS = 20

FEW = 10
"""Distinct numbers up to which a column of numbers is categorical by default."""


@dataclass(frozen=True, kw_only=True)
class Input(Small):
    """Table or column store of a finite distribution, with sample annotations."""

    # The papers leave it out of the primary tumor set.
    demo_set: ClassVar[Demo] = Demo("primary tumor set", "PRIMARY_TUMOR", ("sex",))

    context: str | None = option(
        None,
        "Column whose values are contexts, such as sex: also compute how the importances depend on "
        "them. It is not used as a feature.",
        metavar="NAME",
        echo="changed",
    )

    @property
    def dropped(self) -> tuple[str, ...]:
        """Columns to leave out, but for the context."""
        return tuple(name for name in super().dropped if name != self.context or name in self.drop)

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """The context, by the name of its option."""
        return {} if self.context is None else {"context": (self.context,)}


def _choices() -> dict[str, Any]:
    """Names that options take, by their field."""
    from duramen.theory.distributions.discretization import Method
    from duramen.theory.population.accuracy import GIVEN, VOTES
    from duramen.theory.population.recursion import CUTS
    from duramen.theory.population.splits import FAMILIES

    return {"discretize": Method, "splits": FAMILIES, "cut": CUTS, "votes": VOTES, "given": GIVEN}


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """Discretization of columns of numbers."""

    discretize: str = choice(
        "auto",
        _choices,
        f"Method that cuts numeric columns into intervals; auto cuts columns of more than {FEW} "
        "distinct numbers at quantiles.",
        before=("auto",),
        after=("none",),
    )
    bins: int = option(5, "Number of intervals.", metavar="B", min=2)


@dataclass(frozen=True, kw_only=True)
class Splits(Trees):
    """Trees, and their splits."""

    splits: str = choice(
        "multiway",
        _choices,
        "Family of splits: one branch for each value (multiway), or two branches (the others).",
    )
    cut: str = choice(
        "random",
        _choices,
        "Cut of a feature into two branches: any place between its values, all alike (random); one "
        "that is uniform between its least and its largest value, with --splits ordered and "
        "--discretize none (uniform); or the best one (best).",
    )
    min_samples_split: float = option(
        0.0,
        "Least fraction of the rows in a node that is split; a node with fewer is a leaf.",
        metavar="FRACTION",
        min=0.0,
        max=1.0,
        echo="changed",
    )
    min_impurity_decrease: float = option(
        0.0,
        "Least decrease of impurity of a split, times the fraction of the rows in its node; a "
        "node whose best candidate has less is a leaf.",
        metavar="DECREASE",
        min=0.0,
        echo="changed",
    )

    @property
    def limits(self) -> dict[str, float]:
        """Limits of the nodes other than the depth that are set, by option."""
        limits = {
            "--min-samples-split": self.min_samples_split,
            "--min-impurity-decrease": self.min_impurity_decrease,
        }
        return {word: least for word, least in limits.items() if least > 0}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Importance of the trees."""

    measure: str = choice(
        "mdi",
        MEASURES,
        "Importance: mdi, the mean decrease of impurity, or mda, the mean decrease of accuracy "
        "when a feature is permuted (of multiway splits).",
        echo="changed",
    )
    votes: str = choice(
        "tree",
        _choices,
        "Prediction that --measure mda scores: that of single trees (tree); the vote of all "
        "trees, each with its own permutation (ensemble); or the vote of all trees, with one "
        "permutation for all (predictor).",
        echo="changed",
    )
    given: str = choice(
        "none",
        _choices,
        "Features given which --measure mda permutes a feature, among rows with equal values of "
        "these: none, or those associated with it by more than 0.01 bits.",
        before=("none",),
        echo="changed",
    )


@dataclass(frozen=True, kw_only=True)
class Search:
    """Search for relevance."""

    level: float = option(
        0.0,
        "Information, in bits, up to which a feature counts as irrelevant.",
        metavar="BITS",
        min=0.0,
        echo="changed",
    )
    max_degree: int | None = option(
        None,
        "Size of the largest sets of features that relevance is conditioned on; by default, the "
        "largest size that takes a few seconds.",
        metavar="N",
        min=0,
    )
    max_hours: float = option(
        6.0,
        "Longest estimated time, in hours; a longer computation is refused.",
        metavar="H",
        min=0.0,
        echo="never",
    )


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen exact`."""

    input: Input = group(Input, "Data")
    intervals: Intervals = group(Intervals, "Intervals")
    trees: Splits = group(Splits, "Trees")
    measured: Measured = group(Measured, "Measure")
    search: Search = group(Search, "Search")
    work: Jobs = group(Jobs, "Run")
    output: Printed = group(Printed, "Results", out=Path("duramen-exact"))


@dataclass(frozen=True)
class Finite:
    """Finite distribution, and the intervals of its columns of numbers."""

    dist: FiniteDistribution
    method: str  # quantile, uniform, mdl or none
    cuts: dict[str, list[float]]  # cut points of the columns in intervals


def finite(problem: Problem[EncodedTable], how: str, bins: int) -> Finite:
    """Treat the rows of a table as a distribution.

    The method "auto" puts columns of more than 10 (and more than `bins`) distinct numbers into
    intervals by quantiles, any other method those of more than `bins`.

    Raises
    ------
    ValueError
        If the method does not suit the target.
    """
    from duramen.theory import FiniteDistribution
    from duramen.theory.distributions.discretization import discretize

    table: Any = problem.table
    method: Any = "quantile" if how == "auto" else how
    if method == "mdl" and not problem.data.target.categorical:
        raise ValueError(
            "--discretize mdl needs a target of classes, got numbers; use --discretize quantile"
        )
    cuts: dict[str, list[float]] = {}
    if how != "none":
        if how == "auto":
            table = replace(table, kinds=_kinds(problem))
        y = problem.data.y if method == "mdl" else None
        table = discretize(table, y, method=method, n_bins=bins)
        cuts = {name: points.tolist() for name, points in table.cuts.items()}
    context = next(starmap(_context, problem.labels.get("context", {}).items()), None)
    dist = FiniteDistribution.from_table(table, problem.data.y, context=context)
    return Finite(dist, method, cuts)


def _context(name: str, column: Any) -> Any:
    """Return the values of a context as a named column of text; missing ones are a value.

    Raises
    ------
    ValueError
        If there are too many values.
    """
    import narwhals as nw

    values = as_arrow(column).to_pylist()
    texts = ["missing" if value is None else str(value) for value in values]
    if (count := len(set(texts))) > MOST_CONTEXTS:
        raise ValueError(
            f"--context: must have at most {MOST_CONTEXTS} values, got {count:,}. Hint: merge rare "
            "values, cut numbers into intervals"
        )
    return nw.from_native(pa.table({name: texts}))[name]


def _kinds(problem: Problem[EncodedTable]) -> tuple[str, ...]:
    """Return the kinds of the columns, those of few numbers as categories."""
    table = problem.table
    return tuple(
        "nominal" if len(table.values(j)) <= FEW else kind for j, kind in enumerate(table.kinds)
    )


def names_of_rows(problem: Problem[EncodedTable], dist: FiniteDistribution) -> list[str]:
    """Return the features with another value in each row, such as numbers of patients.

    Such a feature says everything about the target, and would about any other. Numbers of rows that
    were cut into intervals say where in the file a row stands.
    """
    from duramen.findings.table import left_out, of_codes

    n_rows, identifiers = problem.data.n_rows, left_out(of_codes(problem.data.table))
    pairs = zip(dist.names, dist.cardinalities.tolist(), strict=True)
    return [name for name, n_values in pairs if n_values == n_rows or name in identifiers]


# By default as many conditionings are searched as take some seconds for a hundred rows.
_SETS = 2**18
# More Markov boundaries than these are counted, not listed.
_LISTED = 100
# A run on fewer features than these, or of fewer seconds, is not announced.
_FEW_FEATURES = 15
_SHORT = 2.0


@dataclass(frozen=True)
class Population:
    """Exact results about a distribution."""

    importances: Importances  # of infinitely many trees
    relevance: tuple[Relevance, ...]  # of each feature, in the order of the columns
    boundaries: list[tuple[str, ...]] | None  # all Markov boundaries, if there are not too many
    effects: ContextImportances | None  # of the context, if there is one
    left_out: tuple[str, ...]  # results that were not computed, and why
    information: float  # decrease of the impurity of the target by all features together
    impurity: float  # of the target

    @property
    def is_mda(self) -> bool:
        """True for decreases of accuracy, False for those of impurity."""
        return "loss" in self.importances.metadata

    @property
    def searched_degree(self) -> int:
        """Size of the largest conditioning that was searched."""
        return self.relevance[0].searched_degree

    def counts(self) -> dict[str, int]:
        """Return the number of features of each kind of relevance."""
        counted = Counter(entry.relevance for entry in self.relevance)
        return {kind: counted[kind] for kind in ("strong", "weak", "irrelevant", "unknown")}

    def boundaries_record(self) -> dict[str, Any]:
        """Return the boundaries for the record of the run: their number, and the first of them."""
        if self.boundaries is None:
            return {"n_markov_boundaries": None, "markov_boundaries": None}
        return {
            "n_markov_boundaries": len(self.boundaries),
            "markov_boundaries": [list(boundary) for boundary in self.boundaries[:_LISTED]],
        }

    def columns(self) -> dict[str, Any]:
        """Return the table on disk by column: one row a feature, the most important first."""
        order = self.importances.order()
        ranked = [self.relevance[j] for j in order]
        return {
            **self.importances.top(len(self.importances)).columns(),
            "relevance": [entry.relevance for entry in ranked],
            "degree": pa.array([entry.degree for entry in ranked], pa.int64()),  # some are missing
            "conditionings": [
                json.dumps(entry.conditionings, ensure_ascii=False) for entry in ranked
            ],
            "strong_information": [entry.strong_information for entry in ranked],
            "largest_information": [entry.largest_information for entry in ranked],
        }


def _population(
    dist: FiniteDistribution,
    criterion: Any,
    trees: Splits,
    measured: Measured,
    search: Search,
    *,
    jobs: int,
    quiet: bool,
    clock: Clock,
) -> Population:
    """Compute importances, relevance and boundaries.

    Raises
    ------
    ValueError
        If what was asked for is out of reach, with a hint at what is not.
    """
    from duramen.theory.dependence.relevant_features import feature_relevance, markov_boundaries

    everything = range(dist.n_features)
    information = dist.impurity_decrease(everything, criterion=criterion)
    with clock.step("importances"):
        if measured.measure == "mda":
            importances = _accuracy(dist, criterion, trees, measured, quiet)
        else:
            importances = _importances(dist, criterion, trees, search.max_hours, jobs, quiet)
    left_out = []
    searched = _searchable(dist.n_features) if search.max_degree is None else search.max_degree
    with clock.step("relevance"), _telling("looking for relevant features", quiet):
        relevance = feature_relevance(dist, level=search.level, max_degree=searched)
    if relevance[0].searched_degree < dist.n_features - 1:
        left_out.append(_not_searched(relevance))
    boundaries = None
    with clock.step("boundaries"), _telling("looking for Markov boundaries", quiet):
        try:
            boundaries = markov_boundaries(dist)
        except ValueError as error:  # too many of them: the table is fine, as was seen before
            left_out.append(f"Markov boundaries are not listed. {error}")
    effects = None
    if dist.context is not None:
        with clock.step("contexts"), _telling("computing the effects of the context", quiet):
            effects = _effects(dist, criterion, trees, search.max_hours, jobs)
    return Population(
        importances=importances,
        effects=effects,
        relevance=relevance,
        boundaries=boundaries,
        left_out=tuple(left_out),
        information=information,
        impurity=dist.impurity(criterion=criterion),
    )


def _importances(
    dist: FiniteDistribution,
    criterion: str,
    trees: Splits,
    max_hours: float,
    jobs: int,
    quiet: bool,
) -> Importances:
    from duramen.theory.population.importances import population_importances

    if not quiet:
        _announce(dist, criterion, trees, jobs)
    with _progress_bar("importances", quiet) as progress:
        return population_importances(
            dist,
            **{**parameters(trees), "criterion": criterion},
            n_jobs=jobs,
            progress=progress,
            max_hours=max_hours,
        )


def _effects(
    dist: FiniteDistribution, criterion: Any, trees: Splits, max_hours: float, jobs: int
) -> ContextImportances:
    from duramen.theory.population.context import population_context_importances

    return population_context_importances(
        dist,
        max_features=trees.max_features,
        max_depth=trees.max_depth,
        criterion=criterion,
        max_hours=max_hours,
        n_jobs=jobs,
    )


def _accuracy(
    dist: FiniteDistribution, criterion: str, trees: Splits, measured: Measured, quiet: bool
) -> Importances:
    from duramen.theory.population.accuracy import population_mda

    with _telling("permuting features", quiet):
        return population_mda(
            dist,
            max_features=trees.max_features,
            max_depth=trees.max_depth,
            criterion=criterion,
            votes=measured.votes,
            given=None if measured.given == "none" else measured.given,
        )


def _announce(dist: FiniteDistribution, criterion: str, trees: Splits, jobs: int) -> None:
    """Say how long it will take where that is long and can be estimated."""
    from duramen.theory.population.lattice import lattice_cost

    summed = trees.max_features == 1 and trees.splits == "multiway" and not trees.limits
    if not summed or dist.n_features < _FEW_FEATURES:
        return
    cost = lattice_cost(dist, trees.max_depth, criterion=criterion, n_jobs=jobs)
    if cost.seconds > _SHORT:
        note(str(cost))


@contextmanager
def _progress_bar(what: str, quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """Give a function that shows on a terminal what fraction of the work is done."""
    if quiet or not standard_error().is_terminal:
        yield None
        return
    from tqdm import tqdm

    layout = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
    with tqdm(total=1.0, desc=what, bar_format=layout) as bar:

        def report(done: float) -> None:
            bar.update(done - bar.n)

        yield report
        report(1.0)


def _searchable(n_features: int) -> int:
    """Return the size of the largest conditionings that are searched unless the user says."""
    from duramen.theory.distributions.subsets import count_subsets

    degree = 0
    while degree < n_features - 1 and count_subsets(n_features, degree + 2) <= _SETS:
        degree += 1
    return degree


def _not_searched(relevance: Sequence[Relevance]) -> str:
    searched, most = relevance[0].searched_degree, len(relevance) - 1
    unknown = sum(entry.relevance == "unknown" for entry in relevance)
    left = (
        f"{unknown:,} features for which it was not found are called unknown"
        if unknown
        else ("larger sets of conditioning features are not listed")
    )
    return (
        f"Relevance was tested given up to {searched} other features, not up to {most}: "
        f"{left}. --max-degree sets the largest number."
    )


@contextmanager
def _telling(what: str, quiet: bool) -> Iterator[None]:
    """Say what is going on as long as it does, on a terminal."""
    console = standard_error()
    if quiet or not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


@dataclass(frozen=True)
class Distributed:
    """Table as it is computed on."""

    problem: Problem[EncodedTable]
    finite: Finite
    criterion: str
    notes: list[str]


def exact(options: Options) -> None:
    """Compute the importances of infinitely many trees, exactly.

    Example: duramen exact survey.csv --target answer

    Treats the rows of a table as the population, prints the importances with the relevance of
    every feature and the Markov boundaries, and writes result.csv, result.parquet, run.json and
    report.html to the folder --out.
    """
    perform(COMMAND, options, _check, _compute, _report)


def _check(options: Options) -> None:
    options.input.check()
    trees, measured = options.trees, options.measured
    for word, asked in (
        ("--context", options.input.context is not None),
        ("--measure mda", measured.measure == "mda"),
    ):
        if asked and trees.limits:
            raise ValueError(
                f"{word} does not support {' and '.join(trees.limits)}; limit the trees with "
                "--max-depth"
            )
    if options.input.context is not None:
        for word, value, needed in (
            ("--splits", trees.splits, "multiway"),
            ("--measure", measured.measure, "mdi"),
        ):
            if value != needed:
                raise ValueError(f"--context needs {word} {needed}, got {value}")
    if measured.measure == "mda":
        if trees.splits != "multiway":
            raise ValueError(
                f"--measure mda needs --splits multiway, got {trees.splits}; leave --splits out"
            )
        return
    for word, value, default in (
        ("--votes", measured.votes, "tree"),
        ("--given", measured.given, "none"),
    ):
        if value != default:
            raise ValueError(f"{word} {value} has no effect with --measure mdi; use --measure mda")


def _compute(options: Options, _: None, clock: Clock) -> tuple[Distributed, Population]:
    """Read the table and compute."""
    distributed, quiet = _read(options, clock), options.output.quiet
    console.notes(distributed.notes, quiet)
    population = _population(
        distributed.finite.dist,
        distributed.criterion,
        options.trees,
        options.measured,
        options.search,
        jobs=options.work.jobs,
        quiet=quiet,
        clock=clock,
    )
    return distributed, population


def _report(
    options: Options, _: None, result: tuple[Distributed, Population], clock: Clock
) -> Report:
    """Return the report of the population, with the table of its features."""
    from duramen.reports import summarize_exact
    from duramen.support.provenance import references
    from duramen.theory import population_context_importances, population_importances

    rows, population = result
    report = summarize_exact(
        population.importances,
        _record(options, rows, population, clock),
        relevance=population.relevance,
        boundaries=population.boundaries,
        effects=population.effects,
        left_out=population.left_out,
        notes=rows.notes,
    )
    computed: list[Callable[..., Any]] = [population_importances]
    computed += [] if population.effects is None else [population_context_importances]
    sources = [source for function in computed for source in references(function)]
    return replace(report, table=population.columns(), references=tuple(dict.fromkeys(sources)))


def _problem(options: Options, clock: Clock) -> Problem[EncodedTable]:
    """Read the table, or take a store into memory."""
    data = options.input
    if data.is_stored:
        with clock.step("read"):
            stored = loaded(data.stored(COMMAND, data.labels, population=True))
            problem, rows = data.complete(stored)
            labels = {
                option: {name: as_arrow(values).take(rows) for name, values in columns.items()}
                for option, columns in problem.labels.items()
            }
            return replace(problem, labels=labels)
    with clock.step("read"):
        source = data.rows(data.own_source(COMMAND, data.labels)).labelled(data.labels)
    with clock.step("encode"):
        return data.encoded(COMMAND, source, options.work.jobs, population=True)


def _read(options: Options, clock: Clock) -> Distributed:
    intervals = options.intervals
    problem = _problem(options, clock)
    with clock.step("encode"):
        criterion = settled_criterion(options.trees.criterion, problem.task)
        table = finite(problem, intervals.discretize, intervals.bins)
        return Distributed(problem, table, criterion, _notes(options, problem, table))


def _notes(options: Options, problem: Problem[EncodedTable], table: Finite) -> list[str]:
    from duramen.reports.report import joined
    from duramen.support.text import printable

    def listed(names: Iterable[str]) -> str:
        return joined([printable(name) or "''" for name in names], shown=5)

    lines = list(problem.remarks)
    if table.cuts and options.intervals.discretize == "auto":
        lines.append(
            f"columns of many distinct numbers were cut into {options.intervals.bins} quantile "
            f"intervals: {listed(table.cuts)}; change this with --discretize, --bins or "
            "--categorical"
        )
    naming = names_of_rows(problem, table.dist)
    if naming:
        lines.append(
            f"{listed(naming)} has a different value in every row: it identifies these rows and "
            "predicts nothing for others. Consider leaving it out with --drop"
        )
    return lines


def _record(
    options: Options, distributed: Distributed, population: Population, clock: Clock
) -> Run:
    from duramen.reports import Run
    from duramen.support.provenance import versions

    problem, dist = distributed.problem, distributed.finite.dist
    return Run(
        **problem.facts(),
        command=command_line(COMMAND, options, **options.input.settled(problem)),
        settings={
            **recorded(options.trees, criterion=distributed.criterion),
            **recorded(options.measured),
            "level": options.search.level,
            "max_degree": population.searched_degree,
            **options.input.record(),
            "incomplete_rows_dropped": problem.dropped_rows,
            "discretize": distributed.finite.method,
            "bins": options.intervals.bins,
            "cuts": distributed.finite.cuts,
        },
        versions=versions("pyarrow", "matplotlib"),
        results={
            "importance_sum": float(population.importances.values.sum()),
            "information": population.information,
            "impurity": population.impurity,
            **({"loss": population.importances.metadata["loss"]} if population.is_mda else {}),
            "unit": population.importances.unit,
            "distinct_rows": dist.n_rows,
            "relevance": population.counts(),
            **population.boundaries_record(),
            **_contexts(population),
        },
        timings=dict(clock.seconds),
    )


def _contexts(population: Population) -> dict[str, Any]:
    """Return what is said of a context: its own importance, and the features that depend on it."""
    from duramen.results.context_importances import INDEPENDENT

    effects = population.effects
    if effects is None:
        return {}
    depends = (effects.kind != INDEPENDENT).any(axis=0)
    return {
        "contexts": dict(zip(effects.contexts, effects.fractions.tolist(), strict=True)),
        "context_importance": effects.relevance,
        "depend_on_context": [
            name for name, yes in zip(effects.names, depends, strict=True) if yes
        ],
    }
