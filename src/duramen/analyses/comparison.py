"""Comparison of selectors and rankings on random splits of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duramen.analyses import ALL, COMPARED, COMPARED_TREES
from duramen.analyses.execution import Execution, checkpoints
from duramen.analyses.inputs import call_words, execution_of, problem_of, table_of
from duramen.analyses.problem import Problem, noted, stopped
from duramen.analyses.report import AnalysisInterrupted, run_of
from duramen.data import EncodedTable
from duramen.estimators.catalogue import random_forest
from duramen.evaluation import EvaluationInterrupted, SelectionEvaluation, evaluate_selection
from duramen.reports import Report, summarize_evaluation
from duramen.support import checks
from duramen.support.provenance import references


@dataclass(frozen=True, eq=False)
class Compared:
    """Evaluation of the methods on a problem."""

    problem: Problem[EncodedTable]
    evaluation: SelectionEvaluation
    execution: Execution
    stop: KeyboardInterrupt | None = None  # what ended it


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ComparisonReport(Report):
    """Report of `duramen.compare`: score, number of features, stability and time of methods.

    Attributes
    ----------
    run, table, notes, references
        As of every report of an analysis.
    evaluation : SelectionEvaluation
        Scores, sizes and selections in each split.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> report = dm.compare(
    ...     data.X, data.y, methods="mdi", n_features=[1, 2], n_resamples=4, n_estimators=20,
    ...     learner="logistic_regression")
    >>> report.to_frame()["n_features"].tolist()
    [1.0, 2.0]
    """

    evaluation: SelectionEvaluation


def compare_methods(
    problem: Problem[EncodedTable], execution: Execution, settings: Mapping[str, Any]
) -> Compared:
    """Evaluate the methods, with the settings of `evaluate_selection`.

    Once two splits are done, a stop such as Ctrl-C ends the work with those that are.
    """
    try:
        with (
            execution.keeping(lambda: checkpoints(execution.checkpoint)),
            execution.clock.step("evaluate"),
            execution.warnings_as_notes(),
        ):
            evaluation = evaluate_selection(
                X=problem.data,
                random_state=execution.random_state,
                n_jobs=execution.n_jobs,
                client=execution.client,
                checkpoint=execution.checkpoint,
                verbose=execution.verbose,
                **settings,
            )
    except EvaluationInterrupted as error:
        cause = error.__context__
        stop = cause if isinstance(cause, KeyboardInterrupt) else error
        execution.obey(stop)
        problem = stopped(problem, f"{error.result.n_resamples:,} splits")
        execution.notes(problem.notes[-1:])
        return Compared(problem, error.result, execution, stop)
    return Compared(problem, evaluation, execution)


def report_of(
    compared: Compared,
    *,
    command: str,
    settings: Mapping[str, Any],
    more: Mapping[str, Any],
    notes: tuple[str, ...] = (),
) -> ComparisonReport:
    """Return the report; command and settings are for the record of its run.

    The record has `settings`, the numbers of rows, and `more`.
    """
    problem, evaluation = compared.problem, compared.evaluation
    run = run_of(
        problem,
        compared.execution,
        command,
        settings={**settings, "n_train": evaluation.n_train, "n_test": evaluation.n_test, **more},
        results={"splits": evaluation.n_resamples, "enough": _enough(evaluation)},
    )
    return ComparisonReport.of(
        summarize_evaluation(evaluation, run),
        notes=notes,
        references=references(evaluate_selection),
        evaluation=evaluation,
    )


def _enough(evaluation: SelectionEvaluation) -> dict[str, list[int]]:
    """Return the number of features that is enough, with its interval, of each ranking."""
    several = [name for name in dict.fromkeys(evaluation.methods) if len(evaluation.rows(name)) > 1]
    numbers = {name: evaluation.enough(name) for name in several}
    return {name: [enough.n_features, enough.low, enough.high] for name, enough in numbers.items()}


def compare(
    X: Any,
    y: Any = None,
    *,
    methods: Any = None,
    n_features: Any = None,
    n_estimators: int = COMPARED_TREES,
    learner: Any = "forest",
    score: str | Sequence[str] | None = None,
    n_resamples: int = 50,
    test_size: int | float = 0.1,
    selection: str = "inside",
    random_state: Any = 0,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: Any = None,
    verbose: int = 0,
) -> ComparisonReport:
    """Compare selectors and importance rankings on random splits of the rows.

    Selects features on training rows and predicts the test rows from them: what the command
    ``duramen compare`` does, with the same scores for the same table.

    Parameters
    ----------
    X : table of shape (n, p), AnnData, LearningSet, ColumnStore or Table
        Table as for :func:`duramen.encode`. A :class:`duramen.Table` says more of its columns and
        rows.
    y : array-like of shape (n,), or str
        Target, or the name of its column, as for :class:`duramen.Table`, with which it is None.
    methods : selector, str, callable, Ranking, None, or a list or dict of such
        As for :func:`duramen.evaluate_selection`; by default the rankings by MDI and MDA, and all
        features.
    n_features, score, n_resamples, test_size, selection
        As for :func:`duramen.evaluate_selection`.
    n_estimators : int
        Number of trees of the forests that rank and predict.
    learner : str or estimator
        As for :func:`duramen.evaluate_selection`; "forest" is a random forest of `n_estimators`
        trees.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that runs the splits; the result does not depend on it.
    checkpoint : path, optional
        File that keeps the work done; the same call resumes from it.
    verbose : int
        Above 0: progress bars.

    Returns
    -------
    ComparisonReport
        Conclusion, table and notes; `save` writes the files of the command.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or the table is refused, as for dates and identifiers.
    AnalysisInterrupted
        Ctrl-C once two splits are done; its attribute ``report`` has what is finished.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> report = dm.compare(
    ...     data.X, data.y, methods=["mdi", None], n_features=2, n_resamples=4, n_estimators=20)
    >>> report.evaluation.methods
    ('mdi', 'all features')
    """
    call = call_words(compare, locals())
    notes: list[str] = []
    execution = execution_of(
        "compare", notes, random_state=random_state, n_jobs=n_jobs, client=client,
        checkpoint=checkpoint, verbose=verbose,
    )  # fmt: skip
    checks.check_integer("compare", "n_estimators", n_estimators, 1)
    table = table_of("compare", X, y, "strata", "sample_weight", "feature_groups", "pos_label")
    problem = problem_of("compare", table, n_jobs=n_jobs, seed=execution.random_state)
    notes += problem.remarks
    if methods is None:
        methods = {**{name: name for name in COMPARED}, ALL: None}
    forest = random_forest(problem.task, n_estimators)
    settings = {
        "n_features": n_features,
        "score": score,
        "n_resamples": n_resamples,
        "test_size": test_size,
        "selection": selection,
    }
    by_forest = isinstance(learner, str) and learner == "forest"
    asked = {
        **settings,
        "methods": methods,
        "estimator": forest,
        "learner": forest if by_forest else learner,
    }
    compared = compare_methods(problem, execution, asked)
    record = {
        **settings,
        "methods": list(dict.fromkeys(compared.evaluation.methods)),
        "n_estimators": n_estimators,
        "learner": learner if isinstance(learner, str) else type(learner).__name__,
    }
    report = report_of(
        compared,
        command=call,
        settings=record,
        more=noted(compared.problem.remarks),
        notes=tuple(dict.fromkeys(notes)),
    )
    if compared.stop is not None:
        raise AnalysisInterrupted(report) from None
    return report
