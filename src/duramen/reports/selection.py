"""Report of a selection of features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from duramen.evaluation.performance import catalogue as performances
from duramen.evaluation.result import SelectionEvaluation, number
from duramen.plots.curves import FOUND, SELECTION_CURVES
from duramen.reports.facts import OTHER_METHODS, about, looked_at, subject, thousands, unit_words
from duramen.reports.report import HELD, Chart, Fact, Plot, Prose, Report, Run, Section, Table
from duramen.results.columns import Column, counted
from duramen.selection import Account, BaseSelector, Selector
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.arrow import pa
from duramen.support.text import duration, fixed

_ROWS = 200
MOST_LISTED = 100_000
"""Up to so many features a result lists those that were not found, too."""


@dataclass(frozen=True, eq=False)
class Selection:
    """Features that a selector chose, with a row a feature.

    Attributes
    ----------
    names : tuple of str
        The features found, in the order in which they were; after them, where there are no more
        than `MOST_LISTED` in all, the others by importance.
    n_found : int
        Number of those found.
    details : tuple of Column
        Columns of the selector.
    importances : float64 array of shape (rows,)
        Importances.
    unit : str
        Unit of the importances.
    sizes : int64 array of shape (steps + 1,) or None
        Number of features found after 0, 1, ... steps; None where the selector does not tell.
    account : Account
        What the selector tells of its run.
    kind : str
        Name of the selector in sentences.
    metadata : mapping
        What is on record of the importances: settings of the trees, fingerprint of the data.
    """

    names: tuple[str, ...]
    n_found: int
    details: tuple[Column, ...]
    importances: FloatArray
    unit: str
    sizes: IntArray | None
    account: Account
    kind: str = "selection"
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, selector: BaseSelector, record: Selector, *, most: int = MOST_LISTED) -> Selection:
        """Take what is to be told from a fitted selector.

        Parameters
        ----------
        selector : BaseSelector
            Fitted.
        record : Selector
            That of its class.
        most : int
            Up to so many features, those that were not found are listed too.
        """
        scores, account = selector.importances_, selector.account(record)
        rows = selector.selected_
        if len(scores) <= most:
            best = np.argsort(-scores.values, kind="stable")
            rows = np.concatenate([rows, best[~selector.support_[best]]])
        sizes = selector.history_.get("n_selected")
        return cls(
            names=tuple(scores.names[j] for j in rows.tolist()),
            n_found=len(selector.selected_),
            details=tuple(column.take(rows) for column in account.columns),
            importances=scores.values[rows],
            unit=scores.unit,
            sizes=None if sizes is None else np.concatenate([[0], sizes]),
            account=account,
            kind=record.title,
            metadata=scores.metadata,
        )

    def columns(self) -> dict[str, Any]:
        """Return all columns of result.csv; null where a detail is not known."""
        rest = len(self.names) - self.n_found
        columns: dict[str, Any] = {
            "name": pa.array(self.names, pa.string()),
            "found": pa.array([True] * self.n_found + [False] * rest, pa.bool_()),
        }
        columns |= {column.name: pa.array(column.values) for column in self.details}
        return {**columns, "importance": self.importances}

    def table(self, most: int) -> tuple[Column, ...]:
        """Return the `most` important features that were found, column by column."""
        best = np.argsort(-self.importances[: self.n_found], kind="stable")[:most]
        return (
            Column("feature", [self.names[i] for i in best.tolist()], "name"),
            *(column.take(best).written() for column in self.details),
            Column("importance", fixed(self.importances[best], 5)),
        )


def summarize_selection(selection: Selection, run: Run, *, n_rows: int = _ROWS) -> Report:
    """Summarize a selection as a report, with a table of at most `n_rows` rows."""
    account = selection.account
    sections: list[Section] = [] if selection.sizes is None else [_curve(account, selection.sizes)]
    if selection.n_found:
        sections.append(_table(selection, n_rows))
    else:
        said = (f"{found_words(selection)}.", account.next_step)
        sections.append(Prose("Features found", said, brief=(account.next_step,)))
    unit = unit_words(selection.unit)
    reading = tuple(sentence.replace("{unit}", unit) for sentence in account.reading)
    sections += [
        *([Prose("Interpretation", reading)] if reading else []),
        Prose("Limitations", (*account.cautions, OTHER_METHODS), points=True, caution=True),
    ]
    return Report(
        kind=selection.kind,
        title=f"Features selected for {run.target}",
        run=run,
        headline=(
            Fact("rows", thousands(run.n_rows)),
            Fact("features", thousands(run.n_features)),
            Fact("features found", f"{selection.n_found:,}"),
            *(Fact(name, figure) for name, figure in account.facts),
        ),
        sections=(*looked_at(run), *sections, *about(run)),
        conclusion=_conclusion(selection, run),
        subject=subject(run),
        table=selection.columns(),
    )


def _conclusion(selection: Selection, run: Run) -> str:
    n, all_features = selection.n_found, counted(run.n_features or 0, "feature")
    count = selection.account.nothing
    if n:
        count = f"{n:,} of {all_features} {'were' if n > 1 else 'was'} found"
    return f"{count} ({', '.join(filter(None, (selection.kind, selection.account.run)))})."


def found_words(selection: Selection) -> str:
    """Say how many features were found, without a full stop."""
    n = selection.n_found
    return f"{counted(n, 'feature')} found" if n else selection.account.nothing


def _curve(account: Account, sizes: IntArray) -> Chart:
    step, last = account.step, len(sizes) - 1
    half = int(sizes[last // 2])
    return Chart(
        title=f"Features found, {step} by {step}",
        plot=Plot(FOUND, {account.label: sizes}),
        text=f"Line chart of the number of features found against the number of {step}s: "
        f"{half:,} after {last // 2:,} {step}s, {int(sizes[-1]):,} after {last:,}.",
        caption=f"Number of features found after each {step}. A line that is still rising at its "
        f"end indicates that more {step}s would find more features.",
    )


def _table(selection: Selection, n_rows: int) -> Table:
    n = min(n_rows, selection.n_found)
    total = f"{counted(selection.n_found, 'feature')} found"
    some = f"The {n:,} most important of {total}" if n < selection.n_found else f"All {total}"
    rest = len(selection.names) > selection.n_found
    return Table(
        "Features found",
        selection.table(max(n_rows, HELD)),
        f"{some}, in the order of their importance; result.csv and result.parquet hold "
        f"{'all features' if rest else 'all that were found'}.",
        shown=n_rows,
        total=selection.n_found,
        what="features found",
        main=True,
    )


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
        conclusion=_conclusion_of_evaluation(evaluation),
        subject=subject(run, splits),
        table=evaluation.columns(),
    )


def _conclusion_of_evaluation(evaluation: SelectionEvaluation) -> str:
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
        enough = evaluation.enough(name)
        of_size = dict(zip(enough.sizes.tolist(), enough.means.tolist(), strict=True))
        title, n, best = performances[score].title, enough.n_features, enough.best
        features = "feature has" if best == 1 else "features have"
        lines.append(
            f"Of the numbers compared by {name}, {best:,} {features} the largest mean {title}, "
            f"{number(of_size[best])}"
            + (
                f"; {n:,} {'suffices' if n == 1 else 'suffice'} for one within a standard error "
                f"({enough.standard_error:.2g}) of it, {number(of_size[n])} "
                f"({enough.confidence_level:.0%} "
                f"interval of this number {enough.low:,} to {enough.high:,})."
                if n != best
                else f", and no smaller number has one within a standard error "
                f"({enough.standard_error:.2g}) of it ({enough.confidence_level:.0%} interval of "
                f"the number that suffices {enough.low:,} to {enough.high:,})."
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
    where = "on the training rows" if evaluation.selection == "inside" else "once, on all rows"
    return (
        f"The rows were split {evaluation.n_resamples:,} times at random into "
        f"{evaluation.n_train:,} training and {evaluation.n_test:,} test rows. Each method "
        f"selected features {where}, a learner was fitted to these features of the "
        "training rows, and its predictions of the test rows were scored.",
        "Intervals of scores take into account that splits share rows (Nadeau and Bengio 2003). "
        "Stability is the agreement of the selections corrected for chance (Nogueira et al. 2018), "
        "1 for the same features in all splits and 0 for features drawn at random.",
        "The number of features that is enough is the smallest whose mean score is within one "
        "standard error of the best (Breiman et al. 1984).",
    )


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
