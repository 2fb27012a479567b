"""Run of `duramen compare`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from duramen.analyses.defaults import ALL, COMPARED
from duramen.analyses.execution import Execution
from duramen.analyses.problem import noted
from duramen.cli.clock import Clock
from duramen.cli.command import perform
from duramen.cli.compare.options import COMMAND, Options
from duramen.cli.console import notes
from duramen.cli.declaration import command_line, recorded
from duramen.cli.numbers import count_or_fraction
from duramen.cli.output import Outcome

if TYPE_CHECKING:
    from duramen.analyses.comparison import Compared


@dataclass(frozen=True, eq=False)
class Done:
    """Evaluation of the methods, and how it was executed."""

    compared: Compared
    execution: Execution


def compare(options: Options) -> None:
    """Compare selectors and importance rankings on random splits of the rows.

    Example: duramen compare genes.csv --target disease --measure mda --selector all-features

    Selects features on training rows, predicts the test rows from them, and prints score, number
    of features, stability and time of each method; writes result.csv, result.parquet, run.json and
    report.html to the folder --out.
    """
    perform(COMMAND, options, _check, _find, _tell)


def _check(options: Options) -> dict[str, Any]:
    """Return the parameters of `evaluate_selection` that the options stand for."""
    options.input.check()
    asked = options.evaluation
    size = count_or_fraction(asked.test)
    if size is None:
        raise ValueError(
            f"--test: must be a number of rows or a fraction of them, such as 0.1, got "
            f"{asked.test!r}"
        )
    return {
        "methods": _methods(options),
        "n_features": list(asked.features) or None,
        "score": [one.replace("-", "_") for one in asked.score] or None,
        "n_resamples": asked.resamples,
        "test_size": size,
        "selection": asked.selection,
    }


def _methods(options: Options) -> dict[str, str | None]:
    """Return the methods by their names on the command line."""
    from duramen.importances import catalogue as measures
    from duramen.selection import catalogue as selectors

    asked, known = options.evaluation, {}
    given = [("--selector", name, [one.option for one in selectors]) for name in asked.selector]
    given += [("--measure", name, [one.option for one in measures]) for name in asked.measure]
    if not given:
        given = [("--measure", name, list(COMPARED)) for name in COMPARED]
        given.append(("--selector", ALL, []))
    for word, name, names in given:
        everything = word == "--selector" and name == ALL
        if name not in names and not everything:
            all_ = [ALL] if word == "--selector" else []
            raise ValueError(f"{word}: must be one of {', '.join([*names, *all_])}, got {name!r}")
        if name in known:
            raise ValueError(f"{word}: must name each method once, got {name} twice")
        known[name] = None if everything else name.replace("-", "_")
    return known


def _find(options: Options, settings: dict[str, Any], clock: Clock) -> Done:
    """Read the table and evaluate the methods."""
    from duramen.analyses.comparison import compare_methods
    from duramen.estimators.catalogue import random_forest

    problem = options.input.load(COMMAND, options.work.jobs, clock, {}, options.work.seed)
    notes(problem.told, options.output.quiet)
    forest = random_forest(problem.task, options.evaluation.trees)
    asked = options.evaluation.learner
    methods = {**settings, "estimator": forest, "learner": forest if asked == "forest" else asked}
    execution = options.work.execution(options.output.quiet, clock)
    return Done(compare_methods(problem, execution, methods), execution)


def _tell(options: Options, _: dict[str, Any], done: Done, clock: Clock) -> Outcome:
    """Return the table of methods, the record and the report."""
    from duramen.analyses.comparison import report_of
    from duramen.cli.compare.show import show_compare

    compared, output = done.compared, options.output
    problem = compared.problem
    report = report_of(
        compared,
        done.execution,
        command=command_line(COMMAND, options, **options.input.settled(problem)),
        settings=recorded(options.evaluation),
        more={**options.input.record(), **noted(problem.told)},
        notes=problem.told,
    )
    shown = partial(show_compare, report.evaluation, report.run, output.top, output.out)
    return Outcome.of(report, shown, compared.stop)
