"""Command `duramen compare`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.analyses import ALL, COMPARED, COMPARED_TREES
from duramen.analyses.problem import noted
from duramen.cli.command import perform
from duramen.cli.console import notes
from duramen.cli.declaration import choice, command_line, group, option, recorded
from duramen.cli.ending import Clock
from duramen.cli.inputs import SampledInput
from duramen.cli.options import ClusterWork, Printed, count_or_fraction
from duramen.selection.records import catalogue as selectors

if TYPE_CHECKING:
    from duramen.analyses.comparison import Compared
    from duramen.reports import Report


COMMAND = "compare"


def _choices() -> dict[str, Any]:
    """Names that options take, by their field."""
    from duramen.evaluation.learners import catalogue as learners
    from duramen.evaluation.result import SELECTIONS
    from duramen.importances import catalogue as measures

    return {"measure": measures, "learner": learners, "selection": SELECTIONS}


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Methods, and how they are evaluated."""

    selector: tuple[str, ...] = choice(
        (),
        selectors,
        "Selector of duramen select, with its defaults, or all-features; repeat for more.",
        after=(ALL,),
    )
    measure: tuple[str, ...] = choice(
        (),
        _choices,
        "Importance measure of duramen rank, evaluated with its first --features; repeat for "
        "more. Without --selector and --measure: mdi, mda and all-features.",
    )
    features: tuple[int, ...] = option(
        (),
        "Number of features to keep from the top of a ranking; repeat for more. By default 1, 2, "
        "5, 10, 20, 50, ... below the number of columns.",
        metavar="K",
        parameter="n_features",
    )
    trees: int = option(
        COMPARED_TREES, "Number of trees of the forests that rank and predict.", metavar="T", min=1
    )
    learner: str = choice(
        "forest",
        _choices,
        "Learner that predicts from the features selected.",
    )
    score: tuple[str, ...] = option(
        (),
        "Score of the predictions: balanced-accuracy, auc or r2; repeat for more. By default "
        "balanced-accuracy for classes and r2 for numbers.",
        metavar="NAME",
    )
    resamples: int = option(
        50,
        "Number of random splits into training and test rows.",
        metavar="B",
        min=2,
        parameter="n_resamples",
    )
    test: str = option(
        "0.1", "Number of test rows, or their fraction.", metavar="M", parameter="test_size"
    )
    selection: str = choice(
        "inside",
        _choices,
        "Rows on which features are selected: the training rows (inside), or all rows (outside), "
        "which biases the scores upward.",
    )


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen compare`."""

    input: SampledInput = group(SampledInput, "Data")
    evaluation: Evaluation = group(Evaluation, "Evaluation")
    work: ClusterWork = group(ClusterWork, "Run")
    output: Printed = group(Printed, "Results", out=Path("duramen-compare"))


def compare(options: Options) -> None:
    """Compare selectors and importance rankings on random splits of the rows.

    Example: duramen compare genes.csv --target disease --measure mda --selector all-features

    Selects features on training rows, predicts the test rows from them, and prints score, number
    of features, stability and time of each method; writes result.csv, result.parquet, run.json and
    report.html to the folder --out.
    """
    perform(COMMAND, options, _check, _compute, _report)


def _check(options: Options) -> dict[str, Any]:
    """Return the parameters of `evaluate_selection` that the options stand for."""
    options.input.check()
    asked = options.evaluation
    return {
        "methods": _methods(asked),
        "n_features": list(asked.features) or None,
        "score": [name.replace("-", "_") for name in asked.score] or None,
        "n_resamples": asked.resamples,
        "test_size": count_or_fraction(asked.test),
        "selection": asked.selection,
    }


def _methods(asked: Evaluation) -> dict[str, str | None]:
    """Return the methods by their names on the command line; None for all features."""
    named = [("--selector", name) for name in asked.selector]
    named += [("--measure", name) for name in asked.measure]
    methods: dict[str, str | None] = {}
    for word, name in named:
        shown = name.replace("_", "-")
        if shown in methods:
            raise ValueError(f"{word} must name each method once, got {shown} twice")
        methods[shown] = None if name == ALL else name
    return methods or {**{name: name for name in COMPARED}, ALL: None}


def _compute(options: Options, settings: dict[str, Any], clock: Clock) -> Compared:
    """Read the table and evaluate the methods."""
    from duramen.analyses.comparison import compare_methods
    from duramen.estimators.catalogue import random_forest

    problem = options.input.load(COMMAND, options.work.jobs, clock, {}, options.work.seed)
    notes(problem.remarks, options.output.quiet)
    forest = random_forest(problem.task, options.evaluation.trees)
    asked = options.evaluation.learner
    methods = {**settings, "estimator": forest, "learner": forest if asked == "forest" else asked}
    execution = options.work.execution(options.output.quiet, clock)
    return compare_methods(problem, execution, methods)


def _report(options: Options, _: dict[str, Any], compared: Compared, clock: Clock) -> Report:
    """Return the report of the comparison."""
    from duramen.analyses.comparison import report_of

    problem = compared.problem
    return report_of(
        compared,
        command=command_line(COMMAND, options, **options.input.settled(problem)),
        settings=recorded(options.evaluation),
        more={**options.input.record(), **noted(problem.remarks)},
        notes=problem.remarks,
    )
