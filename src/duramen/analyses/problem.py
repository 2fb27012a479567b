"""Learning set that an analysis works on, and where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from duramen.data.provenance import RowNames, records
from duramen.support.arrow import pa
from duramen.support.warning import gathered_warnings, warn

if TYPE_CHECKING:
    from duramen.data import EncodedTable, Finding, LearningSet
    from duramen.data.text_numbers import StrayValues
    from duramen.io import ColumnStore

TableT = TypeVar("TableT", bound="EncodedTable | ColumnStore")


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
            "findings": records(self.findings),
        }


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


def sampled(problem: Problem[Any], n: int | None, seed: int, words: str) -> Problem[Any]:
    """Return a problem on a random sample of n rows if it has more; a store stays on disk.

    `words` are the settings that ask for it, as in the notes.
    """
    from duramen.data import EncodedTable
    from duramen.data.sampling import proportions, sampled_rows
    from duramen.io.store.column_store import of_rows

    data = problem.data
    if n is None or data.n_rows <= n:
        return problem
    rows, key = sampled_rows(data.target, n, seed), ("max_rows", n, seed)
    if isinstance(data.table, EncodedTable):
        part = data.of_rows(rows, key=key)
    else:
        part = data.seen_in(of_rows(data.table, rows), rows, key=key)
    note = (
        f"the rows are a random sample of {part.n_rows:,} of {data.n_rows:,} ({words})"
        f"{proportions(data.target)}"
    )
    names = problem.row_names.take(rows)
    return replace(problem, data=part, notes=(*problem.notes, note), row_names=names)


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
