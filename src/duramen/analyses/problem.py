"""Learning set that an analysis works on, and where it came from."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from duramen.support.arrow import pa
from duramen.support.warning import gathered_warnings, warn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from duramen.data import EncodedTable, Finding, LearningSet
    from duramen.data.text_numbers import StrayValues
    from duramen.io import ColumnStore

TableT = TypeVar("TableT", bound="EncodedTable | ColumnStore")


@dataclass(frozen=True, eq=False)
class RowNames:
    """Names of rows: labels of a column or an index, or numbers in the table as it was read."""

    labels: Sequence[Any] | None = None
    numbers: NDArray[np.integer] | None = None  # less `start`; None: all rows, in their order
    start: int = 1  # number of the first row of the table

    def take(self, rows: NDArray[np.integer]) -> RowNames:
        """Return the names of some rows, by their indices."""
        labels = None if self.labels is None else [self.labels[i] for i in rows.tolist()]
        return RowNames(labels, rows if self.numbers is None else self.numbers[rows], self.start)

    def name(self, row: int) -> str:
        """Return the name of a row, by its index."""
        label = None if self.labels is None else self.labels[row]
        number = row if self.numbers is None else int(self.numbers[row])
        return str(number + self.start if label is None else label)

    def find(self, name: str, n_rows: int) -> int:
        """Return the index of the row that has a label, or else a number.

        Raises
        ------
        ValueError
            If there is none, or several have the label.
        """
        from duramen.support.text import quoted  # a slow import

        labels = [] if self.labels is None else list(map(str, self.labels))
        rows = [i for i, label in enumerate(labels) if label == name]
        if not rows and name.isdecimal():
            wanted = int(name) - self.start
            if self.numbers is not None:
                rows = (self.numbers == wanted).nonzero()[0].tolist()
            else:
                rows = [wanted] if 0 <= wanted < n_rows else []
        if len(rows) == 1:
            return int(rows[0])
        if rows:
            raise ValueError(f"{len(rows)} rows are called {quoted(name)}; give the number of one")
        close = difflib.get_close_matches(name, labels, n=1)
        numbers = f"numbers count rows from {self.start}"
        hint = f"did you mean {quoted(close[0])}?" if close else f"{numbers}, of {n_rows:,} here"
        raise ValueError(f"no row is called {quoted(name)}; {hint}")


@dataclass(frozen=True)
class Problem(Generic[TableT]):
    """Learning set, and what is known of where it came from."""

    name: str  # of the file or folder, without where that lies, or its URL
    data: LearningSet[TableT]  # the columns but those left out, and the target
    target: str  # its name
    citation: str = ""  # what the data ask to be cited
    notes: tuple[str, ...] = ()  # on how the table was read
    dropped_rows: int = 0  # incomplete rows that were left out
    findings: tuple[Finding, ...] = ()  # what the look at the data found, with options as hints
    # Columns that options name, such as strata, by their names, by the option.
    labels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    variants: pa.Table | None = None  # places of columns on the genome, as `ColumnStore.variants`
    row_names: RowNames = field(default_factory=RowNames)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on the data: notes and findings."""
        return (*self.notes, *map(str, self.findings))

    @property
    def table(self) -> TableT:
        """Columns but the target and those left out."""
        return self.data.table

    @property
    def task(self) -> str:
        """Task of the target: "classification", "regression" or "survival"."""
        return self.data.task

    def facts(self) -> dict[str, Any]:
        """Return what a record says of the data."""
        return {
            "task": self.task,
            "target": self.target,
            "file": self.name,
            "n_rows": self.data.n_rows,
            "n_features": self.data.n_columns,
            "fingerprint": self.data.fingerprint,
            "classes": self.data.target.class_sizes(),
            "citation": self.citation,
            "findings": as_records(self.findings),
        }


def as_records(findings: Sequence[Finding]) -> tuple[dict[str, Any], ...]:
    """Return findings for the record of a run."""
    return tuple(
        {name: value for name, value in asdict(finding).items() if name != "refused"}
        for finding in findings
    )


def noted(notes: Sequence[str]) -> dict[str, Any]:
    """Return notes for the record, if there are any."""
    return {"notes": list(notes)} if notes else {}


def stopped(problem: Problem[TableT], done: str) -> Problem[TableT]:
    """Return the problem with a note that the work ended after this was done."""
    interruption = f"interrupted; the results are those after {done}"
    return replace(problem, notes=(*problem.notes, interruption))


def loaded(problem: Problem[Any]) -> Problem[EncodedTable]:
    """Return the problem with its table in memory.

    Raises
    ------
    ValueError
        If all columns are constant, or those of a store are damaged.
    """
    data = problem.data.in_memory()
    if data.table.constant().all():
        raise ValueError(f"every column is constant: none can be relevant for {problem.target}")
    return replace(problem, data=data)


@contextmanager
def stray_columns() -> Iterator[list[StrayValues]]:
    """Gather the columns that are warned of as nearly numbers, in place of the warnings."""
    from duramen.data import StrayValuesWarning

    stray: list[StrayValues] = []
    with gathered_warnings() as gathered:
        yield stray
    for warning in gathered:
        if isinstance(warning, StrayValuesWarning):
            stray += warning.columns
        else:
            warn(warning)
