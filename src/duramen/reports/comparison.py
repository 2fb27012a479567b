"""Report of an evaluation of selectors and rankings."""

from __future__ import annotations

import numpy as np

from duramen.evaluation.performance import catalogue as performances
from duramen.evaluation.result import SelectionEvaluation, number
from duramen.plots.curves import SELECTION_CURVES
from duramen.reports.facts import about, looked_at, subject, thousands
from duramen.reports.report import Chart, Fact, Plot, Prose, Report, Run, Section, Table
from duramen.results.columns import Column
from duramen.support.text import duration

_ROWS = 200


def summarize_evaluation(
    evaluation: SelectionEvaluation, run: Run, *, n_rows: int = _ROWS
) -> Report:
    """Summarize an evaluation of selectors and rankings as a report.

    Parameters
    ----------
    evaluation : SelectionEvaluation
        What was found.
    run : Run
        What was run.
    n_rows : int
        The most rows of the table.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> result = dm.evaluate_selection(
    ...     "mdi", data.X, data.y, n_resamples=4, random_state=0,
    ...     estimator=dm.RandomForestClassifier(20), learner="logistic_regression")
    >>> run = dm.reports.Run(command="duramen compare", target="y", settings={}, versions={})
    >>> dm.reports.summarize_evaluation(result, run).title
    'Selections of features for y compared'
    """
    first = next(iter(evaluation.scores))
    sections: list[Section] = [
        *(_chart(evaluation, name) for name in evaluation.scores),
        *([_chart(evaluation, "stability")] if np.isfinite(evaluation.nogueira).any() else []),
        *_tables(evaluation, n_rows),
        Prose("Interpretation", _reading(evaluation)),
        Prose("Limitations", _cautions(evaluation), points=True, caution=True),
    ]
    splits = (
        f"{evaluation.n_resamples:,} splits into {evaluation.n_train:,} training and "
        f"{evaluation.n_test:,} test rows"
    )
    return Report(
        kind="comparison",
        title=f"Selections of features for {run.target} compared",
        run=run,
        headline=(
            Fact("rows", thousands(run.n_rows)),
            Fact("features", thousands(run.n_features)),
            Fact("methods", str(len(dict.fromkeys(evaluation.methods)))),
            Fact("splits", f"{evaluation.n_resamples:,}"),
            Fact("score", performances[first].title),
        ),
        sections=(*looked_at(run), *sections, *about(run)),
        conclusion=_conclusion(evaluation),
        subject=subject(run, splits),
        table=evaluation.columns(),
    )


def _conclusion(evaluation: SelectionEvaluation) -> str:
    """Return the number of features that suffices for each ranking, or the best mean score."""
    if lines := enough_words(evaluation):
        return " ".join(lines)
    score = next(iter(evaluation.scores))
    mean = evaluation.mean(score)
    best = int(mean.argmax())
    return (
        f"{evaluation.methods[best]} has the largest mean {score.replace('_', ' ')}, "
        f"{mean[best]:.3f}."
    )


def enough_words(evaluation: SelectionEvaluation) -> tuple[str, ...]:
    """Return a sentence on the number of features that suffices, for each ranking.

    Where another method is better than all of these, a last one names it.
    """
    score = next(iter(evaluation.scores))
    values = evaluation.scores[score]
    lines = []
    for name in dict.fromkeys(evaluation.methods):
        rows = evaluation.rows(name)
        if len(rows) < 2 or (~np.isnan(values[:, rows]).any(axis=1)).sum() < 2:
            continue
        found = evaluation.enough(name)
        of_size = dict(zip(found.sizes.tolist(), found.means.tolist(), strict=True))
        title, n, best = performances[score].title, found.n_features, found.best
        features = "feature has" if best == 1 else "features have"
        lines.append(
            f"Of the numbers compared by {name}, {best:,} {features} the largest mean {title}, "
            f"{number(of_size[best])}"
            + (
                f"; {n:,} {'suffices' if n == 1 else 'suffice'} for one within a standard error "
                f"({found.standard_error:.2g}) of it, {number(of_size[n])} "
                f"({found.confidence_level:.0%} "
                f"interval of this number {found.low:,} to {found.high:,})."
                if n != best
                else f", and no smaller number has one within a standard error "
                f"({found.standard_error:.2g}) of it ({found.confidence_level:.0%} interval of "
                f"the number that suffices {found.low:,} to {found.high:,})."
            )
        )
    means = evaluation.mean(score)
    if lines and np.isfinite(means).any():
        best = int(np.nanargmax(means))
        if len(evaluation.rows(evaluation.methods[best])) < 2:
            lines.append(
                f"The largest mean {performances[score].title} of all methods is "
                f"{number(means[best])}, of {evaluation.methods[best]} with "
                f"{evaluation.n_features[best]:.4g} features."
            )
    return tuple(lines)


def _chart(evaluation: SelectionEvaluation, what: str) -> Chart:
    title = "stability" if what == "stability" else performances[what].title
    values = evaluation.nogueira if what == "stability" else evaluation.mean(what)
    best = int(np.nanargmax(values)) if np.isfinite(values).any() else 0
    return Chart(
        f"{title[0].upper()}{title[1:]} against the number of features",
        Plot(SELECTION_CURVES, evaluation, {"what": what}),
        f"Line chart of {title} against the number of features. The largest is "
        f"{number(values[best])}, of {evaluation.methods[best]} with "
        f"{evaluation.n_features[best]:.4g} features.",
        f"Mean {title} over {evaluation.n_resamples:,} splits; bands and bars are "
        f"{evaluation.confidence_level:.0%} intervals.",
    )


def _tables(evaluation: SelectionEvaluation, n_rows: int) -> list[Table]:
    """Return the table of the methods, and that of all numbers of features."""
    best, total = evaluation.shown_rows(), len(evaluation.methods)
    main = Table(
        "Methods",
        _columns(evaluation, best.tolist()),
        "One row a method; of a ranking, the number of features that suffices.",
        shown=n_rows,
        what="methods",
        main=True,
    )
    if len(best) == total:
        return [main]
    rows = list(range(min(n_rows, total)))
    note = f"{len(rows):,} of {total:,} rows; result.csv and result.parquet hold all."
    return [main, Table("All numbers of features", _columns(evaluation, rows), note)]


def _columns(evaluation: SelectionEvaluation, rows: list[int]) -> tuple[Column, ...]:
    columns = [
        Column("method", [evaluation.methods[r] for r in rows], "name"),
        Column("features", [f"{evaluation.n_features[r]:.4g}" for r in rows]),
    ]
    for name in evaluation.scores:
        mean, (low, high) = evaluation.mean(name), evaluation.interval(name)
        texts = [f"{mean[r]:.3f} ({number(low[r])} to {number(high[r])})" for r in rows]
        columns.append(Column(performances[name].title, texts))
    times = [duration(evaluation.seconds.get(evaluation.methods[r], 0.0)) for r in rows]
    stability = Column("stability", [number(evaluation.nogueira[r]) for r in rows])
    return (*columns, stability, Column("time", times))


def _reading(evaluation: SelectionEvaluation) -> tuple[str, ...]:
    return (
        f"The rows were split {evaluation.n_resamples:,} times at random into "
        f"{evaluation.n_train:,} training and {evaluation.n_test:,} test rows. Each method "
        f"selected features {_where(evaluation)}, a learner was fitted to these features of the "
        "training rows, and its predictions of the test rows were scored.",
        "Intervals of scores take into account that splits share rows (Nadeau and Bengio 2003). "
        "Stability is the agreement of the selections corrected for chance (Nogueira et al. 2018), "
        "1 for the same features in all splits and 0 for features drawn at random.",
        "The number of features that is enough is the smallest whose mean score is within one "
        "standard error of the best (Breiman et al. 1984).",
    )


def _where(evaluation: SelectionEvaluation) -> str:
    return "on the training rows" if evaluation.selection == "inside" else "once, on all rows"


def _cautions(evaluation: SelectionEvaluation) -> tuple[str, ...]:
    lines = [
        "The score of a method that is chosen because its score is the best here is biased "
        "upward; other rows are needed for an unbiased score.",
        f"Training sets share most of their rows, {evaluation.n_train:,} of "
        f"{evaluation.n_train + evaluation.n_test:,}: selections on independent samples would "
        "agree less.",
        "A good score does not mean that all relevant features were selected, nor that the "
        "selected features are causes of the target.",
    ]
    if evaluation.selection == "outside":
        lines.insert(
            0,
            "Features were selected on all rows, the test rows included: the scores are biased "
            "upward, also where all features are noise.",
        )
    return tuple(lines)
