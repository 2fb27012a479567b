"""Run of `duramen compare`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from duramen.cli.checkpoint import keeping, kept
from duramen.cli.clock import Clock
from duramen.cli.command import perform
from duramen.cli.compare.options import ALL, COMMAND, MEASURES, Options
from duramen.cli.console import notes, warnings_as_notes
from duramen.cli.declaration import command_line, recorded
from duramen.cli.inputs import noted
from duramen.cli.numbers import count_or_fraction
from duramen.cli.output import Outcome
from duramen.cli.problem import Problem

if TYPE_CHECKING:
    from duramen.evaluation import SelectionEvaluation


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
        given = [("--measure", name, list(MEASURES)) for name in MEASURES]
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


def _find(
    options: Options, settings: dict[str, Any], clock: Clock
) -> tuple[Problem[Any], SelectionEvaluation, bool]:
    """Read the table and evaluate the methods; return whether Ctrl-C ended it."""
    from duramen.estimators.catalogue import random_forest
    from duramen.evaluation import EvaluationInterrupted, evaluate_selection

    quiet = options.output.quiet
    problem = options.input.load(COMMAND, options.work.jobs, clock, {})
    problem = options.input.sampled(problem, options.work.seed)
    notes(problem.told, quiet)
    forest = random_forest(problem.task, options.evaluation.trees)
    asked = options.evaluation.learner
    try:
        with (
            keeping(lambda: kept(options.work.checkpoint), quiet),
            clock.step("evaluate"),
            warnings_as_notes(quiet),
        ):
            found = evaluate_selection(
                X=problem.data,
                estimator=forest,
                learner=forest if asked == "forest" else asked,
                **settings,
                **options.work.parameters(quiet),
            )
    except EvaluationInterrupted as stop:
        problem = problem.interrupted(f"{stop.result.n_resamples:,} splits")
        notes(problem.notes[-1:], quiet)
        return problem, stop.result, True
    return problem, found, False


def _tell(
    options: Options,
    _: dict[str, Any],
    result: tuple[Problem[Any], SelectionEvaluation, bool],
    clock: Clock,
) -> Outcome:
    """Return the table of methods, the record and the report."""
    from duramen.cli.compare.show import show_compare
    from duramen.evaluation import evaluate_selection
    from duramen.reports import Run, summarize_evaluation
    from duramen.results.provenance import references, versions

    problem, found, interrupted = result
    run = Run(
        **problem.facts(),
        command=command_line(COMMAND, options, **options.input.settled(problem)),
        seed=options.work.seed,
        settings={
            **recorded(options.evaluation),
            "n_train": found.n_train,
            "n_test": found.n_test,
            **options.input.record(),
            **noted(problem.told),
        },
        versions=versions("pyarrow", "matplotlib"),
        results={"splits": found.n_resamples, "enough": _enough(found)},
        timings=dict(clock.seconds),
    )
    shown = partial(show_compare, found, run, options.output.top, options.output.out)
    report = partial(summarize_evaluation, found, run)
    sources = references(evaluate_selection)
    return Outcome(found.columns(), run, report, shown, sources, interrupted)


def _enough(found: SelectionEvaluation) -> dict[str, list[int]]:
    """Return the number of features that is enough, with its interval, of each ranking."""
    several = [name for name in dict.fromkeys(found.methods) if len(found.rows(name)) > 1]
    numbers = {name: found.enough(name) for name in several}
    return {name: [one.n_features, one.low, one.high] for name, one in numbers.items()}
