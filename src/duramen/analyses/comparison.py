"""Comparison of selectors and rankings on random splits of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from duramen.analyses.execution import Execution, checkpoints
from duramen.analyses.problem import Problem, stopped
from duramen.analyses.report import AnalysisReport
from duramen.results.columns import Column
from duramen.results.text import duration

if TYPE_CHECKING:
    from duramen.evaluation import SelectionEvaluation
    from duramen.tables import EncodedTable


@dataclass(frozen=True, eq=False)
class Compared:
    """Evaluation of the methods on a problem."""

    problem: Problem[EncodedTable]
    evaluation: SelectionEvaluation
    stop: KeyboardInterrupt | None = None  # what ended it


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ComparisonReport(AnalysisReport):
    """Report of `duramen.compare`: score, number of features, stability and time of methods.

    Attributes
    ----------
    run, table, notes, references
        As of every report of an analysis.
    evaluation : SelectionEvaluation
        Scores, sizes and selections in each split.
    """

    evaluation: SelectionEvaluation

    @property
    def conclusion(self) -> str:
        """The number of features that is enough for each ranking, or the best mean score."""
        from duramen.reports.comparison import enough_words

        lines = enough_words(self.evaluation)
        if lines:
            return " ".join(lines)
        score = next(iter(self.evaluation.scores))
        mean = self.evaluation.mean(score)
        best = int(mean.argmax())
        return (
            f"{self.evaluation.methods[best]} has the largest mean {score.replace('_', ' ')}, "
            f"{mean[best]:.3f}."
        )

    def _shown_columns(self, rows: int) -> Sequence[Column]:
        found = self.evaluation
        shown = found.shown_rows()[:rows].tolist()
        columns = [
            Column("method", [found.methods[r] for r in shown], left=True),
            Column("features", [f"{found.n_features[r]:.4g}" for r in shown]),
        ]
        for name in found.scores:
            mean = found.mean(name)
            columns.append(Column(name.replace("_", " "), [f"{mean[r]:.3f}" for r in shown]))
        stable = [f"{found.nogueira[r]:.2f}" for r in shown]
        times = [duration(found.seconds[found.methods[r]]) for r in shown]
        return [*columns, Column("stability", stable), Column("time", times)]


def compare_methods(
    problem: Problem[EncodedTable], execution: Execution, settings: Mapping[str, Any]
) -> Compared:
    """Evaluate the methods, with the settings of `evaluate_selection`.

    Once two splits are done, a stop such as Ctrl-C ends the work with those that are.
    """
    from duramen.evaluation import EvaluationInterrupted, evaluate_selection

    try:
        with (
            execution.keeping(lambda: checkpoints(execution.checkpoint)),
            execution.clock.step("evaluate"),
            execution.warnings_as_notes(),
        ):
            found = evaluate_selection(
                X=problem.data,
                random_state=execution.random_state,
                n_jobs=execution.n_jobs,
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
        return Compared(problem, error.result, stop)
    return Compared(problem, found)


def report_of(
    compared: Compared,
    execution: Execution,
    *,
    command: str,
    settings: Mapping[str, Any],
    more: Mapping[str, Any],
    notes: tuple[str, ...] = (),
) -> ComparisonReport:
    """Return the report; command and settings are for the record of its run.

    The record has `settings`, the numbers of rows, and `more`.
    """
    from duramen.evaluation import evaluate_selection
    from duramen.reports import Run, summarize_evaluation
    from duramen.results.provenance import references, versions

    problem, found = compared.problem, compared.evaluation
    run = Run(
        **problem.facts(),
        command=command,
        seed=execution.random_state,
        settings={**settings, "n_train": found.n_train, "n_test": found.n_test, **more},
        versions=versions("pyarrow", "matplotlib"),
        results={"splits": found.n_resamples, "enough": _enough(found)},
        timings=dict(execution.clock.seconds),
    )
    return ComparisonReport(
        run=run,
        table=found.columns(),
        notes=notes,
        references=references(evaluate_selection),
        gather=partial(summarize_evaluation, found, run),
        evaluation=found,
    )


def _enough(found: SelectionEvaluation) -> dict[str, list[int]]:
    """Return the number of features that is enough, with its interval, of each ranking."""
    several = [name for name in dict.fromkeys(found.methods) if len(found.rows(name)) > 1]
    numbers = {name: found.enough(name) for name in several}
    return {name: [one.n_features, one.low, one.high] for name, one in numbers.items()}
