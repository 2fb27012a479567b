"""Report of a selection of features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from duramen.plots.curves import FOUND
from duramen.reports.facts import OTHER_METHODS, about, looked_at, subject, thousands, unit_words
from duramen.reports.report import HELD, Chart, Fact, Plot, Prose, Report, Run, Section, Table
from duramen.results.columns import Column, counted
from duramen.selection import Account, BaseSelector, Selector
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.arrow import pa
from duramen.support.text import fixed

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
