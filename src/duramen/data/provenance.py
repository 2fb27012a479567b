"""Provenance of a learning set: its file, the names of its rows, and findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrow import pa
from duramen.support.text import quoted

_SHOWN = 5  # columns that a sentence names


@dataclass(frozen=True)
class Finding:
    """Something in a table or its target that is seldom meant.

    Attributes
    ----------
    kind : str
        "identifier", "index", "row order", "date", "stray values", "missing code", "many values",
        "constant", "duplicate", "unequal values", "numbers in text", "several units", "leak",
        "entry", "groups of rows", "within groups of rows"; of rows "similar rows", "serial
        dependence"; of the target "target identifier", "target date", "target missing", "one
        class", "imbalance", "rare class", "classes of numbers", "whole numbers", "code outside",
        "labels merged"; of a file "separator", "decimal commas" and "names".
    columns : tuple of str
        The columns that it is about.
    message : str
        What was found, a sentence without its full stop.
    hint : str
        What to do about it.
    refused : bool
        Whether commands refuse the table unless told otherwise.
    values : tuple of str
        Values that it is about, where there are such.

    Examples
    --------
    >>> from duramen.data import Finding
    >>> print(Finding("constant", ("site",), "column 'site' is constant", "leave it out"))
    column 'site' is constant. Hint: leave it out
    """

    kind: str
    columns: tuple[str, ...]
    message: str
    hint: str
    refused: bool = False
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.message}. Hint: {self.hint}"


def columns(names: Sequence[str]) -> str:
    """Name columns in a sentence, the first few of many."""
    shown = ", ".join(map(quoted, names[:_SHOWN]))
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"column {shown}" if len(names) == 1 else f"columns {shown}{more}"


def them(names: Sequence[str]) -> str:
    """Return the pronoun for columns."""
    return "it" if len(names) == 1 else "them"


def dropping(names: Sequence[str]) -> str:
    """Return a hint with the parameter that leaves columns out."""
    listed = [*names] if len(names) <= _SHOWN else [*names[:1], "..."]
    return f"drop={listed!r} leaves {them(names)} out"


@dataclass(frozen=True, eq=False)
class RowNames:
    """Names of rows: labels of a column or an index, or row numbers of the original table."""

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
        raise ValueError(
            f"no row is called {quoted(name)}; numbers count rows from {self.start}, of {n_rows:,} "
            "here"
        )


NUMBERED, COUNTED = RowNames(), RowNames(start=0)
"""Names of rows without labels, as lines of a file and as rows of an array are numbered."""


@dataclass(frozen=True, eq=False)
class Provenance:
    """Origin of a learning set, and findings about its data.

    Attributes
    ----------
    file : str
        Name of the file or folder, without where that lies, or its URL; empty for data in memory.
    path : str
        The file as it was given.
    target : str
        Name of the target.
    citation : str
        What the data ask to be cited.
    notes : tuple of str
        Remarks on how the table was read.
    findings : tuple of Finding
        What is seldom meant in the table, with what to do about it.
    dropped_rows : int
        Number of rows that were left out, as their target or another value is missing.
    row_names : RowNames
        Names of the rows.
    annotations : pyarrow.Table or None
        Sample annotations, a row for each row of the table.
    variants : pyarrow.Table or None
        Places of the columns on the genome, as `ColumnStore.variants`.
    covariates : pyarrow.Table or None
        Covariates, and the column of strata, of which the strata of the rows are made.
    settings : dict
        Parameters of `duramen.read` other than the defaults.
    inspected : bool
        Whether the columns were looked at, as `duramen.read` does.
    """

    file: str = ""
    path: str = ""
    target: str = "y"
    citation: str = ""
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    dropped_rows: int = 0
    row_names: RowNames = NUMBERED
    annotations: pa.Table | None = None
    variants: pa.Table | None = None
    covariates: pa.Table | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    inspected: bool = False

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes and findings as sentences."""
        return (*self.notes, *map(str, self.findings))

    def records(self, kinds: Sequence[str] | None = None) -> tuple[dict[str, Any], ...]:
        """Return the findings, or the findings of some kinds, for the record of a run."""
        return records([one for one in self.findings if kinds is None or one.kind in kinds])

    def of_rows(self, rows: NDArray[np.integer]) -> Provenance:
        """Return the provenance of some of the rows, by their indices."""
        parts = {name: getattr(self, name) for name in ("annotations", "covariates")}
        taken = {name: table.take(rows) for name, table in parts.items() if table is not None}
        return replace(self, row_names=self.row_names.take(rows), **taken)


def records(findings: Sequence[Finding]) -> tuple[dict[str, Any], ...]:
    """Return findings in the form of the record of a run."""
    return tuple(
        {name: value for name, value in asdict(finding).items() if name != "refused"}
        for finding in findings
    )
