"""Options of `duramen rank`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from duramen.cli.declaration import choice, given, group, option
from duramen.cli.inputs import Input
from duramen.cli.numbers import MAX_FEATURES
from duramen.cli.options import Printed, Strata, Work, criterion_option
from duramen.cli.signals import Representing

if TYPE_CHECKING:
    from duramen.importances import Measure
    from duramen.significance import SignificanceTest

COMMAND = "rank"
MEASURES = "duramen.importances:catalogue"
TESTS = "duramen.significance:catalogue"


@dataclass(frozen=True, kw_only=True)
class Growth:
    """Parameters of the forest."""

    forest: str = choice("random-forest", "duramen.estimators.catalogue:FORESTS", "Kind of forest.")
    trees: int = option(1000, "Number of trees.", metavar="T", min=1, parameter="n_estimators")
    max_features: str = option("auto", f"{MAX_FEATURES}.", metavar="K")
    criterion: str = criterion_option()
    class_weight: str | None = choice(
        None,
        "duramen.estimators.catalogue:WEIGHTINGS",
        "Weights of the classes: balanced gives each the same weight; none by default.",
        echo="changed",
    )
    bootstrap: bool | None = option(
        None,
        "Whether trees draw their rows with replacement; by default as the forest does.",
        "--bootstrap/--no-bootstrap",
    )


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
        "Permutations with as much importance after which a feature is given up; none by default.",
        metavar="H",
        min=1,
    )
    rank_based: bool = option(False, "Compare ranks instead of importances.")
    groups: Path | None = option(
        None,
        "Rank groups of columns: a file of two columns, features and their groups.",
        metavar="FILE",
    )
    group_score: str | None = choice(
        None,
        "duramen.significance.error_rates.conditional_error_rate:How",
        "Importance of a group, from those of its features; mean by default.",
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
        "Rounds of the test, each with forests of its own; 99 or 100 by default.",
        metavar="B",
        min=1,
    )
    parameters: Parameters = group(Parameters)
    rows: Strata = group(Strata)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen rank`."""

    input: Input = group(Input, "Data")
    growth: Growth = group(Growth, "Forest")
    measure: tuple[str, ...] = choice(
        (),
        MEASURES,
        "Importance measure; repeat for more, the first one ranks. By default those that the "
        "forest allows.",
        describe=described_measure,
        section="Importances",
    )
    test: Test = group(Test, "Significance test")
    signals: Representing = group(Representing, "Correlated features")
    work: Work = group(Work, "Run")
    output: Printed = group(Printed, "Results", out=Path("duramen-rank"))
