"""Report of an analysis: conclusion, table and notes, and what is shown and written of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from duramen.analyses.files import write_tables
from duramen.results.columns import Column, hidden
from duramen.results.summary import Framed, Summary
from duramen.support.files import expanded, replacing

if TYPE_CHECKING:
    from duramen.analyses.execution import Execution
    from duramen.analyses.problem import Problem
    from duramen.reports import Report, Run


def run_of(
    problem: Problem[Any],
    execution: Execution,
    command: str,
    *,
    settings: Mapping[str, Any],
    results: Mapping[str, Any],
) -> Run:
    """Return the record of a run."""
    from duramen.reports import Run
    from duramen.support.provenance import versions

    return Run(
        **problem.facts(),
        command=command,
        seed=execution.random_state,
        settings=settings,
        versions=versions("pyarrow", "matplotlib"),
        results=results,
        timings=dict(execution.clock.seconds),
    )


class AnalysisInterrupted(KeyboardInterrupt):
    """Ctrl-C during an analysis of which a part is done.

    Attributes
    ----------
    report : AnalysisReport
        Results so far; its notes say what is left out.
    """

    def __init__(self, report: AnalysisReport) -> None:
        super().__init__("interrupted; the attribute report of this exception has what is done")
        self.report = report


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AnalysisReport(Framed):
    """Report of an analysis, the same that a command prints and writes.

    It shows itself as text, and as a table in a notebook.

    Attributes
    ----------
    run : Run
        Record of the run: settings, seed, versions, fingerprint of the data.
    table : mapping of str to columns
        Columns of the table of results, those of ``result.csv``.
    notes : tuple of str
        Remarks on the data and on the analysis, a sentence each.
    references : tuple of str
        Sources of the methods.
    """

    run: Run
    table: Mapping[str, Any]
    notes: tuple[str, ...]
    references: tuple[str, ...]
    gather: Callable[[], Report]  # makes the sections of the report
    feature_groups: Mapping[str, Any] | None = None  # table of groups of features, column by column

    @property
    def conclusion(self) -> str:
        """The result in a sentence."""
        raise NotImplementedError

    @property
    def metadata(self) -> dict[str, Any]:
        """Settings, seed, versions and fingerprint of the data."""
        known = {"fingerprint": self.run.fingerprint, "seed": self.run.seed}
        return {**self.run.settings, **known, "versions": dict(self.run.versions)}

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name, those of ``result.csv``."""
        import pyarrow as pa

        table = pa.table(dict(self.table))
        return {name: table[name].to_numpy() for name in table.column_names}

    def report(self) -> Report:
        """Return the sections of the report as plain data; `duramen.reports.render` draws them."""
        return self.gather()

    def save(self, folder: str | PathLike[str], *, spreadsheet_safe: bool = False) -> None:
        """Write the report and the results to a folder, as the command does.

        The files are report.html, result.csv, result.parquet and run.json, and result-groups.csv
        of a ranking with groups. Each appears whole or not at all; other files stay.

        Parameters
        ----------
        folder : path
            Made if it does not exist.
        spreadsheet_safe : bool
            Whether text in result.csv that a spreadsheet would evaluate as a formula gets an
            apostrophe.

        Raises
        ------
        OSError
            If the folder cannot be written to.
        """
        place = expanded(folder, f"{type(self).__name__}.save")
        place.mkdir(parents=True, exist_ok=True)
        write_tables(place, self.table, self.feature_groups, spreadsheet_safe=spreadsheet_safe)
        record = replace(self.run, references=self.references)
        written = {"report.html": _html(self), "run.json": record.to_json()}
        for name, text in written.items():
            with replacing(place / name) as file:
                file.write(text.encode("utf-8"))

    def _shown_columns(self, rows: int) -> Sequence[Column]:
        """Return the columns that are shown of the table."""
        raise NotImplementedError

    def _summary(self, rows: int) -> Summary:
        columns = self._shown_columns(rows)
        shown = len(columns[0].cells) if columns else 0
        below = hidden(self._n_listed, shown)
        return Summary((self.conclusion,), columns, below, self.notes)

    @property
    def _n_listed(self) -> int:
        """Number of rows of which the first are shown."""
        return len(next(iter(self.table.values()), ()))


def _html(report: AnalysisReport) -> str:
    from duramen.reports import render

    return render(report.report())
