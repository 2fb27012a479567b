"""Options of `duramen rank`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.analyses.problem import Problem
from duramen.analyses.ranking.forests import (
    LEAST_TREES,
    MANY_ROWS,
    TREES,
    fewer_trees,
    trees_by_default,
)
from duramen.analyses.ranking.resampling import Resampling as ResamplingRequest
from duramen.cli.declaration import choice, given, group, option, without_use
from duramen.cli.numbers import MAX_FEATURES
from duramen.cli.options import Printed, Strata, Work, criterion_option
from duramen.cli.sampling import SampledInput
from duramen.cli.signals import Representing
from duramen.cli.source import EVENT, Source

if TYPE_CHECKING:
    from duramen.importances import Measure
    from duramen.significance import SignificanceTest

COMMAND = "rank"
MEASURES = "duramen.importances:catalogue"
TESTS = "duramen.significance:catalogue"
CLUSTERS = "clusters"  # value of --feature-groups


@dataclass(frozen=True, kw_only=True)
class Growth:
    """Parameters of the forest."""

    forest: str = choice("random-forest", "duramen.estimators.catalogue:FORESTS", "Kind of forest.")
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
        "duramen.estimators.catalogue:WEIGHTINGS",
        "Weights of the classes: balanced gives each the same weight; none by default.",
        echo="changed",
    )
    bootstrap: bool | None = option(
        None,
        "Draw the rows of each tree with replacement, or use all rows; the default depends "
        "on --forest.",
        "--bootstrap/--no-bootstrap",
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
        "duramen.data.target:Task",
        "Task: classification of classes, regression of numbers, or survival, with the times in "
        "--target and the events in --event; auto is survival with --event, else decided by the "
        "values of the target.",
        before=("auto",),
    )
    event: str | None = option(
        None,
        "Column that is 1 or true if the event occurred at the time in --target, and 0 or false "
        "if the time is right-censored. It is not used as a feature.",
        metavar="NAME",
    )

    def check(self) -> None:
        """Check that options of the data go together."""
        super().check()
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
    own += [one.word for one, _ in given(Parameters()) if test.takes(one.parameter)]
    return f"{test.option} ({', '.join(own)})" if own else test.option


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Parameters that few of the significance tests take."""

    distribution: str | None = choice(
        None,
        "duramen.significance.p_values.nulls:DISTRIBUTIONS",
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
        "duramen.significance.error_rates.conditional_error_rate:Reading",
        "Compare ranks instead of importances: those of the features after each one (later), or "
        "its own (own). By default, importances are compared.",
    )
    group_score: str | None = choice(
        None,
        "duramen.significance.error_rates.conditional_error_rate:How",
        "Importance of a group of --feature-groups, computed from those of its features; mean by "
        "default.",
        parameter="how",
    )


@dataclass(frozen=True, kw_only=True)
class Test:
    """Choice and parameters of the significance test."""

    significance: str | None = choice(
        None,
        TESTS,
        "Significance test of the importances.",
        metavar="METHOD",
        describe=described_test,
    )
    no_test: bool = option(False, "Skip the significance test.")
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
        "duramen.significance.intervals.confidence_intervals:SCALES",
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
        "Groups of features, each permuted as a whole for its MDA: a file of two columns, the "
        "features and the group of each, such as groups.csv; or clusters, those of --clusters. "
        "None by default.",
        metavar="FILE",
        echo="changed",
        keyword=CLUSTERS,
    )

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
class Options:
    """Options of `duramen rank`."""

    input: SurvivalInput = group(SurvivalInput, "Data")
    growth: Growth = group(Growth, "Forest")
    measure: tuple[str, ...] = choice(
        (),
        MEASURES,
        "Importance measure; repeat for more, the first one orders the features. By default, "
        "those marked below, as far as the forest allows; features are then ordered by verdict, "
        "and by MDI-oob where trees leave rows out.",
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
    resampling: Resampling = group(Resampling, "Confidence intervals and stability")
    signals: Grouping = group(Grouping, "Correlated features and groups")
    work: Work = group(Work, "Run")
    output: Printed = group(Printed, "Results", out=Path("duramen-rank"))
