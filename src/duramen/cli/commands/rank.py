"""Command `duramen rank`: from a table to a ranking of its features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.analyses.clustering import DISTANCE
from duramen.analyses.problem import Problem, noted
from duramen.analyses.ranking.request import (
    LEAST_TREES,
    MANY_ROWS,
    TREES,
    Groups,
    Request,
    fewer_trees,
    trees_by_default,
    with_estimates,
)
from duramen.analyses.ranking.request import Resampling as ResamplingRequest
from duramen.cli.command import perform
from duramen.cli.console import notes
from duramen.cli.declaration import (
    Declared,
    choice,
    command_line,
    group,
    option,
    option_values,
    parameters,
    without_use,
)
from duramen.cli.ending import Clock
from duramen.cli.inputs import SampledInput
from duramen.cli.options import (
    MAX_FEATURES,
    OPTIONS,
    ClusterWork,
    Printed,
    Representing,
    Strata,
    criterion_option,
    estimator_of,
    parsed_max_features,
    settled_criterion,
    writable,
)
from duramen.cli.problem import EVENT, Source, check_columns, named_by, naming_columns
from duramen.data.provenance import RowNames
from duramen.estimators.catalogue import FORESTS, WEIGHTINGS

if TYPE_CHECKING:
    from duramen.analyses.ranking.ranking import Ranking
    from duramen.analyses.ranking.rows import RowsAsked
    from duramen.importances import Measure
    from duramen.reports import Report
    from duramen.significance import SignificanceTest


COMMAND = "rank"
CLUSTERS = "clusters"  # value of --feature-groups


def _choices() -> dict[str, Any]:
    """Names that options take, by their field."""
    from duramen.data.target import Task
    from duramen.importances import catalogue as measures
    from duramen.importances.groups import Aggregation
    from duramen.significance import catalogue as tests
    from duramen.significance.conditional_rates import Reading
    from duramen.significance.null_distributions import DISTRIBUTIONS
    from duramen.significance.resampling_intervals import SCALES

    return {
        "task": Task,
        "distribution": DISTRIBUTIONS,
        "rank_based": Reading,
        "group_score": Aggregation,
        "significance": tests,
        "interval_scale": SCALES,
        "measure": measures,
    }


@dataclass(frozen=True, kw_only=True)
class Growth:
    """Parameters of the forest."""

    forest: str = choice("random-forest", FORESTS, "Kind of forest.")
    trees: int | None = option(
        None,
        f"Number of trees; {TREES:,} by default, and of more than {MANY_ROWS:,} rows "
        f"{TREES * MANY_ROWS:,} divided by their number, at least {LEAST_TREES}.",
        metavar="T",
        min=1,
        parameter="n_estimators",
    )
    max_features: str = option("auto", f"{MAX_FEATURES}.", metavar="K")
    max_depth: int | None = option(
        None,
        "Maximum depth of the trees; no limit by default.",
        metavar="D",
        min=1,
        echo="changed",
    )
    min_leaf: int = option(
        1,
        "Minimum number of rows in a leaf.",
        metavar="N",
        min=1,
        parameter="min_samples_leaf",
        echo="changed",
    )
    criterion: str = criterion_option()
    class_weight: str | None = choice(
        None,
        WEIGHTINGS,
        "Weights of the classes: balanced gives each the same weight; none by default.",
        echo="changed",
    )
    bootstrap: bool | None = option(
        None,
        "Draw the rows of each tree with replacement, or use all rows; the default depends "
        "on --forest.",
        "--bootstrap/--no-bootstrap",
    )
    memory: str | None = option(
        None,
        "Memory for the ranking, such as 2GiB. A column store of which it would take more stays on "
        "disk: random patches that fit are grown, each tree on a sample of rows and columns. By "
        "default, a store is mapped into memory.",
        metavar="SIZE",
        echo="changed",
    )

    def n_trees(self, n_rows: int) -> int:
        """Return the number of trees for a table of so many rows."""
        return trees_by_default(n_rows) if self.trees is None else self.trees

    def notes(self, n_rows: int) -> list[str]:
        """Say so where there are fewer trees by default."""
        return fewer_trees(n_rows, "--trees") if self.trees is None else []


@dataclass(frozen=True, kw_only=True)
class SurvivalInput(SampledInput):
    """Table or column store whose target may be survival."""

    task: str = choice(
        "auto",
        _choices,
        "Task: classification of classes, regression of numbers, or survival, with the times in "
        "--target and the events in --event; auto is survival with --event, else decided by the "
        "values of the target.",
        before=("auto",),
    )
    event: str | None = option(
        None,
        "Column that is 1 or true if the event occurred at the time in --target, and 0 or false "
        "if the time is right-censored; or 2 and 1, as in R. It is not used as a feature.",
        metavar="NAME",
    )

    def check(self, target: str | None = None) -> None:
        """Check that options of the data go together; `target` is in place of ``--target``."""
        super().check(target)
        if self.event is None and self.task == "survival":
            raise ValueError(
                "--task survival needs --event NAME: the column that is 1 if the event occurred "
                "at the time in --target, else 0"
            )
        if self.event is None:
            return
        if self.demo:
            raise ValueError("--event: must be left out with --demo, whose target is classes")
        if self.task not in ("auto", "survival"):
            raise ValueError(f"--event is for --task survival, got --task {self.task}")

    def apart(self, labels: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
        """Return the columns that are set apart, the events among them, by their option."""
        return labels if self.event is None else {**labels, EVENT: (self.event,)}

    def own_source(self, command: str, labels: Mapping[str, Sequence[str]]) -> Source:
        """Read the table and set the events apart."""
        source = super().own_source(command, self.apart(labels))
        if self.event is None:
            return source
        source = source.with_event(self.event)
        return source.rows_with_target() if self.drop_missing_target else source

    def settled(self, problem: Problem[Any]) -> dict[str, Any]:
        """Return the values of options that reading the table settled."""
        return {**super().settled(problem), "event": self.event}


def described_measure(measure: Measure) -> str:
    """Return the name of a measure, and whether it is computed by default."""
    return f"{measure.option} (default)" if measure.default else measure.option


def described_test(test: SignificanceTest) -> str:
    """Return the name of a test, whether it is the default, and options that few others take."""
    own = ["default"] if test.default else []
    own += [
        option.word for option, _ in option_values(Parameters()) if test.takes(option.parameter)
    ]
    return f"{test.option} ({', '.join(own)})" if own else test.option


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Parameters that few of the significance tests take."""

    distribution: str | None = choice(
        None,
        _choices,
        "Distribution of importances under the null hypothesis: the permutations themselves, or "
        "one fitted to them; empirical by default.",
        before=("empirical",),
    )
    stop_after: int | None = option(
        None,
        "Number of permutations with at least the importance of a feature after which its "
        "test stops early; no early stop by default.",
        metavar="H",
        min=1,
    )
    probes: int | None = option(
        None,
        "Number of random probes, such as 200; by default the number of features for forests, "
        "and 1 for the linear model.",
        metavar="R",
        min=1,
        parameter="n_probes",
    )
    rank_based: str | None = choice(
        None,
        _choices,
        "Compare ranks instead of importances: those of the features after each one (later), or "
        "its own (own). By default, importances are compared.",
    )
    group_score: str | None = choice(
        None,
        _choices,
        "Importance of a group of --feature-groups, computed from those of its features; mean by "
        "default.",
        parameter="how",
    )


@dataclass(frozen=True, kw_only=True)
class Test:
    """Choice and parameters of the significance test."""

    significance: str | None = choice(
        None,
        _choices,
        "Significance test of the importances.",
        metavar="METHOD",
        describe=described_test,
    )
    no_test: bool = option(False, "Skip the significance test.")
    direct: bool = option(
        False,
        "Also test each feature given all others, which tells features that matter directly from "
        "those that are only correlated with them.",
    )
    permutations: int | None = option(
        None,
        "Number of rounds of the test, each with new forests; by default 99 for each stage of "
        "max-t, 10 for forest-probe-ranking, else 100.",
        metavar="B",
        min=1,
    )
    parameters: Parameters = group(Parameters)
    rows: Strata = group(Strata)


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """Intervals and stability of a ranking, from forests on random parts of the rows."""

    intervals: bool = option(
        False,
        "Estimate confidence intervals of the importances by the first measure, from forests on "
        "random subsamples of the rows.",
    )
    interval_scale: str | None = choice(
        None,
        _choices,
        "With --intervals: what they are of, the importances, as by default, or their fractions of "
        "the sum over all features, which heavy tails of a numeric target do not distort.",
        parameter="scale",
    )
    stability: int | None = option(
        None,
        "Measure the agreement of forests on random halves of the rows about the K most "
        "important features, such as 10.",
        metavar="K",
        min=1,
    )
    confidence_level: float | None = option(
        None,
        "With --intervals or --stability: confidence level of the intervals, such as 0.9; "
        "0.95 by default.",
        metavar="C",
        parameter="confidence_level",
    )
    resamples: int | None = option(
        None,
        "With --intervals or --stability: number of random subsamples of the rows, each with a "
        "forest; by default 100 for --intervals, 50 for --stability.",
        metavar="B",
        min=2,
    )

    def request(self) -> ResamplingRequest:
        """Return the intervals and the stability that are asked for."""
        return ResamplingRequest(
            self.intervals,
            self.interval_scale or "importance",
            self.stability,
            0.95 if self.confidence_level is None else self.confidence_level,
            self.resamples,
        )

    @property
    def asked(self) -> tuple[str, ...]:
        """Options that ask for forests on parts of the rows."""
        stable = () if self.stability is None else ("--stability",)
        return ("--intervals", *stable) if self.intervals else stable

    def check(self) -> None:
        """Check that options go together.

        Raises
        ------
        ValueError
            If one has no use, or the level is none.
        """
        own = {"--confidence-level": self.confidence_level, "--resamples": self.resamples}
        unused = [word for word, value in own.items() if value is not None]
        if unused and not self.asked:
            raise without_use(unused, "without --intervals or --stability K")
        if self.interval_scale is not None and not self.intervals:
            raise without_use(["--interval-scale"], "without --intervals")
        if self.confidence_level is not None and not 0 < self.confidence_level < 1:
            raise ValueError(
                "--confidence-level: must be a probability between 0 and 1, got "
                f"{self.confidence_level:g}. Hint: 0.95"
            )


@dataclass(frozen=True, kw_only=True)
class Grouping(Representing):
    """Clusters of correlated features, and groups that are permuted together."""

    feature_groups: Path | None = option(
        None,
        "Groups of features, each permuted as a whole for its MDA, and tested as a whole by max-t, "
        "conditional-error-rate and --direct: a file of two columns, the features and the group of "
        "each, such as groups.csv; "
        "a .gmt file of gene sets that do not overlap, of which features that are not in the table "
        "are left out; a table of name, chromosome and position, for blocks as wide as --distance; "
        "or clusters, those of --clusters. None by default.",
        metavar="FILE",
        echo="changed",
        keyword=CLUSTERS,
    )
    distance: int = option(
        DISTANCE,
        "Largest distance, in base pairs: with --clusters, between a variant and the "
        "representative of its cluster; with --feature-groups, between the first and the last "
        "variant of a block.",
        metavar="BP",
        min=0,
        echo="changed",
    )

    @property
    def distance_needs(self) -> str:
        """Options that --distance has no effect without, empty if one of them is given."""
        needed = super().distance_needs
        if not needed or self.feature_groups is not None:
            return ""
        return f"{needed} or --feature-groups FILE"

    @property
    def of_clusters(self) -> bool:
        """True if the groups are the clusters that are found."""
        return self.feature_groups is not None and str(self.feature_groups) == CLUSTERS

    def check(self) -> None:
        """Check that options go together.

        Raises
        ------
        ValueError
            If not.
        """
        super().check()
        if self.representatives is not None and self.feature_groups is not None:
            raise ValueError(
                "--feature-groups and --representatives both group features; give one of them"
            )
        if self.of_clusters and self.clusters is None:
            raise ValueError(
                f"--feature-groups {CLUSTERS} needs --clusters R, such as --clusters 0.8. Hint: "
                f"for a file of that name, --feature-groups ./{CLUSTERS}"
            )


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows whose predictions are explained."""

    explain: tuple[str, ...] = option(
        (),
        "Row to explain: which features lead to its prediction. Its name in the sample "
        "annotations or the column that identifies rows, or its number, from 1; all for every "
        "row; repeat for more.",
        metavar="ROW",
        echo="changed",
    )
    explain_rows: Path | None = option(
        None,
        "Table of new rows to explain, in a file with the columns of the features.",
        metavar="FILE",
        parameter="explain",
        echo="changed",
    )

    def asked(self, options: SurvivalInput, problem: Problem[Any]) -> RowsAsked | None:
        """Return the rows that are asked for; new ones are read as the table is.

        Raises
        ------
        ValueError, OSError
            If the file cannot be read.
        """
        from duramen.analyses.ranking.rows import RowsAsked

        file = self.explain_rows
        if file is None:
            return RowsAsked(self.explain) if self.explain else None
        table = options.reading.options.table(file, [], "--explain-rows")
        names = naming_columns(
            table, [c for c in table.column_names if c not in problem.table.names]
        )
        new = named_by(RowNames(), table, names)
        return RowsAsked(self.explain, table, new, file.name)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen rank`."""

    input: SurvivalInput = group(SurvivalInput, "Data")
    growth: Growth = group(Growth, "Forest")
    measure: tuple[str, ...] = choice(
        (),
        _choices,
        "Importance measure; repeat for more, the first one orders the features. By default, "
        "those marked below, as far as the forest allows; features are then ordered by verdict, "
        "and by MDI-oob (survival: MDA) where trees leave rows out.",
        describe=described_measure,
        section="Importances",
    )
    positive: str | None = option(
        None,
        "Class that the directions of effects are about, such as that of the ill; by default the "
        "rarer one of two classes, and of more classes for each feature the one that depends on it "
        "most.",
        metavar="CLASS",
        section="Importances",
        echo="changed",
    )

    test: Test = group(Test, "Significance test")
    interactions: bool = option(
        False,
        "Also test all pairs of columns for an interaction beyond their main effects.",
        section="Significance test",
        echo="changed",
    )
    rows: Rows = group(Rows, "Single rows")
    resampling: Resampling = group(Resampling, "Confidence intervals and stability")
    signals: Grouping = group(Grouping, "Correlated features and groups")
    work: ClusterWork = group(ClusterWork, "Run")
    output: Printed = group(Printed, "Results", out=Path("duramen-rank"))
    typed: frozenset[str] = frozenset()


def make_forest(
    growth: Growth, task: str, n_trees: int, *, seed: int, jobs: int, verbose: bool
) -> Any:
    """Return the estimator that the options describe, with out-of-bag estimates if it has any."""
    from duramen.data.target import target_class

    name, max_features = growth.forest, growth.max_features
    estimator = estimator_of(
        name, task, n_estimators=n_trees, random_state=seed, n_jobs=jobs, verbose=int(verbose)
    )
    if estimator is None and target_class(task).censored:
        able = ", ".join(kind.name for kind in FORESTS if kind.survival)
        raise ValueError(f"--forest: must be one of {able} for survival, got {name}")
    if estimator is None:
        raise ValueError(
            f"--forest: {name} is for classification only, but the target holds numbers. Hint: "
            "choose another forest, or --task classification."
        )
    impurity = settled_criterion(growth.criterion, task)
    if not target_class(task).censored:  # which has one criterion
        estimator.set_params(criterion="squared_error" if impurity == "variance" else impurity)
    parameters = estimator.get_params()
    if max_features != "auto":
        if "max_features" not in parameters:
            raise ValueError(
                f"--max-features: must be auto with --forest {name}, got {max_features}"
            )
        estimator.set_params(max_features=parsed_max_features(max_features))
    if growth.class_weight is not None:
        if not target_class(task).categorical:
            raise ValueError(
                f"--class-weight: is for classes, but the task is {task}; leave it out"
            )
        if "class_weight" not in parameters:
            raise ValueError(f"--class-weight: --forest {name} has no class weights; leave it out")
        estimator.set_params(class_weight=growth.class_weight)
    for word, parameter, value in (
        ("--max-depth", "max_depth", growth.max_depth),
        ("--min-leaf", "min_samples_leaf", growth.min_leaf if growth.min_leaf > 1 else None),
    ):
        if value is None:
            continue
        if parameter not in parameters:
            raise ValueError(f"{word}: --forest {name} has no such limit; leave it out")
        estimator.set_params(**{parameter: value})
    if growth.bootstrap is not None:
        estimator.set_params(bootstrap=growth.bootstrap)
    return with_estimates(estimator)


def in_table(feature_groups: Groups, features: Sequence[str]) -> Groups:
    """Return groups of a file that covers a genome without the features that a table lacks."""
    from duramen.io.groups import NamedGroups
    from duramen.support.checks import group_of_each  # slow imports

    if not feature_groups.wider:
        return feature_groups
    owner = f"--feature-groups {feature_groups.file}"
    members = NamedGroups(feature_groups.members(), wider=True).among(features, owner)
    return replace(feature_groups, of_feature=group_of_each(members, owner))


def check_groups(feature_groups: Groups, features: Sequence[str], target: str) -> None:
    """Check that they are groups of these features.

    Raises
    ------
    ValueError
        If they name a feature that is not there, or a group is called as a feature in none.
    """
    from duramen.support.text import quoted  # a slow import

    check_columns("--feature-groups:", list(feature_groups.of_feature), features, target)
    alone = set(features) - set(feature_groups.of_feature)
    for name in feature_groups.of_feature.values():
        if name in alone:
            raise ValueError(
                f"--feature-groups {feature_groups.file}: {quoted(name)} is the name of a group "
                "and of a column "
                "that is in no group; give the column a group, or the group another name"
            )


def read_groups(path: Path, distance: int) -> Groups:
    """Read the groups of features from a file; blocks of variants are no wider than a distance."""
    from duramen.io.groups import named_groups
    from duramen.support.checks import group_of_each  # slow imports

    owner = f"--feature-groups {path}"
    read = named_groups(path, owner, distance=distance)
    return Groups(path.name, group_of_each(read.groups, f"{owner}: groups"), read.wider)


def requested(
    asked: Test,
    checkpoint: Path | None,
    feature_groups: Groups | None = None,
    *,
    beside: bool = False,
) -> Request | None:
    """Return the test to run: the one asked for, or the default; None with ``--no-test``.

    Tests of groups take these; others are of single features. `beside` tells whether something
    else is computed that uses groups and the checkpoint.
    """
    from duramen.significance import catalogue

    named = [] if asked.significance is None else ["--significance"]
    set_options = [
        option
        for option, value in option_values(asked)
        if value not in (None, False, ()) and option.name not in _ALONE
        if not (beside and option.name == "groups")
        if not (asked.direct and option.name in _OF_ROWS)
    ]
    if asked.no_test:
        refusing = [] if checkpoint is None or beside else ["--checkpoint"]
        if refused := [*named, *(set_option.word for set_option in set_options), *refusing]:
            raise without_use(refused, "with --no-test, which skips the test")
        return None
    test = next(
        entry
        for entry in catalogue
        if (entry.name == asked.significance if named else entry.default)
    )
    _check_taken(test, set_options, None if beside else checkpoint)
    _check_together(test, asked, feature_groups)
    choices = parameters(asked.parameters)
    request = Request(
        test,
        asked.permutations,
        {name: value for name, value in choices.items() if value not in (None, False)},
        feature_groups if test.of_groups else None,
        not named,
    )
    request.check(OPTIONS)
    return request


# Options that choose the test.
_ALONE = ("significance", "no_test", "direct")
# Options of rows that the test of each feature given all others takes as well.
_OF_ROWS = ("strata", "groups", "covariate")


def _check_taken(
    test: SignificanceTest, asked: Sequence[Declared], checkpoint: Path | None
) -> None:
    """Check that the test has a use for each option."""
    from duramen.significance import catalogue

    used = {
        option.word: "" if option.name == "permutations" else option.parameter for option in asked
    }
    used |= {} if checkpoint is None else {"--checkpoint": "checkpoint"}
    refused: dict[str, list[str]] = {}  # options by the reason
    for word, parameter in used.items():
        if word == "--permutations" and test.grows and not test.repeats:
            why = f"with --significance {test.option}, whose number of forests is fixed"
        elif word in ("--permutations", "--checkpoint") and not test.grows:
            why = f"with --significance {test.option}, which grows no forests"
        elif parameter and not test.takes(parameter):
            able = ", ".join(entry.option for entry in catalogue if entry.takes(parameter))
            why = f"with --significance {test.option}; allowed with {able}"
        else:
            continue
        refused.setdefault(why, []).append(word)
    if refused:
        raise ValueError("; ".join(str(without_use(words, why)) for why, words in refused.items()))


def _check_together(test: SignificanceTest, asked: Test, feature_groups: Groups | None) -> None:
    """Check that options go together."""
    own: Parameters = asked.parameters
    if own.stop_after is not None and own.distribution not in (None, "empirical"):
        raise ValueError(
            f"--stop-after needs --distribution empirical, got {own.distribution}: an early stop "
            "depends on the permuted importances and changes their distribution"
        )
    if asked.direct and test.name == "conditional":
        raise ValueError(
            "--direct and --significance conditional are the same test; give one of them"
        )
    if own.group_score is not None and feature_groups is None:
        raise ValueError("--group-score needs --feature-groups FILE")


@dataclass(frozen=True)
class Asked:
    """Test and groups that the options ask for."""

    request: Request | None
    feature_groups: Groups | None  # from a file


def rank(options: Options) -> None:
    """Rank the columns of a table by their importance for a target.

    Example: duramen rank patients.csv --target diagnosis

    Grows a forest, tests which importances are larger than expected by chance, prints the ranking,
    and writes result.csv, result.parquet, run.json and report.html to the folder --out.
    """
    perform(COMMAND, options, _check, _compute, _report)


def _check(options: Options) -> Asked:
    """Check that the options go together; return the test and the groups that they ask for."""
    options.input.check()
    options.test.rows.check(options.input.drop)
    options.signals.check()
    options.resampling.check()
    file, checkpoint = options.signals.feature_groups, writable(options.work.checkpoint)
    feature_groups = (
        None
        if file is None or options.signals.of_clusters
        else read_groups(file, options.signals.distance)
    )
    beside = bool(options.resampling.asked) or options.test.direct or options.interactions
    request = requested(options.test, checkpoint, feature_groups, beside=beside)
    if options.signals.of_clusters and request is not None and request.tests_groups:
        raise ValueError(
            f"--feature-groups clusters and --significance {request.test.option} do not go "
            "together: the clusters follow from the ranking that would be tested. Hint: "
            "--feature-groups FILE"
        )
    return Asked(request, feature_groups)


def _compute(options: Options, asked: Asked, clock: Clock) -> Ranking:
    """Read the table and rank its features."""
    from duramen.analyses.ranking.patches import PATCHES, check_kind, fitted_to, memory_of, settled
    from duramen.analyses.ranking.ranking import RankingRequest, rank_features

    work, quiet, growth = options.work, options.output.quiet, options.growth
    labels = options.test.rows.labels()
    memory = memory_of(growth.memory, "--memory")
    read = options.input.load if memory is None else options.input.sample
    problem: Any = read(COMMAND, work.jobs, clock, labels, work.seed)
    execution = work.execution(quiet, clock)
    problem, memory = settled(problem, memory, execution)
    if memory is not None and "forest" not in options.typed:
        growth = replace(growth, forest=PATCHES.name)
    more = growth.notes(problem.data.n_rows)
    problem = replace(problem, notes=(*problem.notes, *more))
    notes(problem.remarks, quiet)
    feature_groups = asked.feature_groups
    if feature_groups is not None:
        feature_groups = in_table(feature_groups, problem.data.names)
        check_groups(feature_groups, problem.data.names, problem.target)
    test = asked.request
    if test is not None:
        test = test.with_groups(feature_groups, problem.data.names)
    n_trees = growth.n_trees(problem.data.n_rows)
    estimator = make_forest(
        growth,
        problem.task,
        n_trees,
        seed=work.seed,
        jobs=work.jobs,
        verbose=bool(execution.verbose),
    )
    if memory is not None:
        check_kind(growth.forest, execution.wording)
        estimator, note = fitted_to(estimator, problem.data, memory, execution)
        problem = replace(problem, notes=(*problem.notes, note))
        execution.tell(note)
    request = RankingRequest(
        growth.forest,
        options.measure,
        test,
        options.resampling.request(),
        options.signals.request(),
        options.test.direct,
        feature_groups,
        options.signals.of_clusters,
        tuple(options.test.rows.notes()),
        options.positive,
        options.rows.asked(options.input, problem),
        options.interactions,
        memory,
    )
    return rank_features(problem, estimator, request, execution)


def _report(options: Options, _: Asked, ranking: Ranking, clock: Clock) -> Report:
    """Return the report of the ranking."""
    from duramen.analyses.ranking.ranking import report_of

    problem = ranking.problem
    return report_of(
        ranking,
        command=command_line(
            COMMAND,
            options,
            **options.input.settled(problem),
            forest=ranking.request.forest,
            measure=ranking.computed.names,
            trees=ranking.estimator.n_estimators,
        ),
        settings={
            **options.input.record(),
            **options.test.rows.record(),
            **options.signals.record(),
            **noted(problem.remarks),
        },
        notes=problem.remarks,
        top=options.output.top,
    )
