"""How text files are read, and the sample annotations that go with a table."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from duramen.tables.store.pairing import Paired
    from duramen.tables.stray import StrayValues

_SHOWN = 3


def repeated(option: str, values: Sequence[str]) -> list[str]:
    """Return the words of an option that is given once a value."""
    return [word for value in values for word in (option, value)]


@dataclass(frozen=True)
class Reading:
    """How CSV and TSV files are read.

    Parameters
    ----------
    na : tuple of str
        Further words for missing values.
    decimal : str
        Decimal point of the numbers.
    """

    na: tuple[str, ...] = ()
    decimal: str = "."

    def check(self, *files: Path | str | None) -> None:
        """Check that options of text are given for text, and the decimal point is one.

        Raises
        ------
        ValueError
            If none of the files is a CSV or TSV file, or `decimal` is neither a point nor a comma.
        """
        if self.decimal not in (".", ","):
            raise ValueError(f"--decimal must be . or , got {self.decimal!r}")
        if not self.words() or any(file is not None and is_text(file) for file in files):
            return
        raise ValueError(
            f"{self.words()[0]} is for CSV and TSV files; the values of other files have types"
        )

    def read(self, path: Path | str, function: str) -> pa.Table:
        """Read a table, with these options where it is text."""
        from duramen.tables import read_table

        if not is_text(path):
            return read_table(path, function=function)
        return read_table(path, na_values=self.na, decimal=self.decimal, function=function)

    def words(self) -> list[str]:
        """Return the options that ask for this."""
        decimal = [] if self.decimal == "." else ["--decimal", self.decimal]
        return repeated("--na", self.na) + decimal

    def record(self) -> dict[str, Any]:
        """Return what is on record of it; nothing where files are read as usual."""
        return {"na": list(self.na), "decimal": self.decimal} if self.words() else {}


def is_text(file: Path | str) -> bool:
    """Return whether the name of a file tells a format of text, such as CSV."""
    from duramen.tables.formats import format_of

    found = format_of(file)
    return found is not None and found.text


@dataclass(frozen=True)
class Samples:
    """Sample annotations, and how their rows are paired with those of a table.

    Parameters
    ----------
    file : Path or None
        The annotations; None where there are none.
    id : str or None
        Their column with the names of the rows; None to look for it.
    by_position : bool
        Whether rows are paired by their order.
    """

    file: Path | None = None
    id: str | None = None
    by_position: bool = False

    def check(self) -> None:
        """Check that there are annotations, and one way to pair them.

        Raises
        ------
        ValueError
            If there is an option but no file, or two ways.
        """
        if self.file is None and (self.id is not None or self.by_position):
            option = "--samples-by-position" if self.by_position else "--samples-id"
            raise ValueError(f"{option} needs --samples FILE")
        if self.id is not None and self.by_position:
            raise ValueError(
                "--samples-id pairs rows by name, --samples-by-position by order; give one of them"
            )

    def words(self) -> list[str]:
        """Return the options that ask for this."""
        words = [] if self.file is None else ["--samples", self.file.name]
        words += [] if self.id is None else ["--samples-id", self.id]
        return [*words, "--samples-by-position"] if self.by_position else words

    def record(self) -> dict[str, Any]:
        """Return what is on record of it."""
        record: dict[str, Any] = {"samples": None if self.file is None else self.file.name}
        record |= {} if self.id is None else {"samples_id": self.id}
        return record | ({"samples_by_position": True} if self.by_position else {})

    def beside(
        self, data: pa.Table, reading: Reading, where: str, function: str
    ) -> tuple[pa.Table, Paired]:
        """Pair the annotations with a table in memory.

        Returns
        -------
        data : pyarrow.Table
            Without its column of names.
        paired : Paired

        Raises
        ------
        ValueError
            If the table has no column that names its rows, or the rows cannot be paired.
        """
        from duramen.tables.store.pairing import Names, pair, texts_of

        if self.id is None and not self.by_position:
            raise ValueError(
                f"--samples needs --samples-id NAME, a column of {where} and of the annotations "
                "that names the rows, or --samples-by-position; PLINK files and stores with names "
                "of rows need neither"
            )
        names = None
        if self.id is not None:
            if self.id not in data.column_names:
                raise ValueError(f"--samples-id {self.id} is no column of {where}")
            labels = texts_of(data.column(self.id))
            if labels is None or None in labels:
                raise ValueError(
                    f"--samples-id {self.id} must hold the name of every row of {where}, as text "
                    "or whole numbers"
                )
            names = Names((self.id,), tuple(map(str, labels)))
            data = data.drop_columns([self.id])
        paired = pair(
            None if self.file is None else reading.read(self.file, function),
            names,
            data.num_rows,
            samples_id=self.id,
            by_position=self.by_position,
            where=where,
            function=function,
        )
        return data, paired


@contextmanager
def pairing_unwarned() -> Iterator[None]:
    """Keep back the warning that rows were paired by position, which a note says."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* paired by position", category=UserWarning)
        yield


def stray_notes(found: Sequence[StrayValues], file: str, keep: str | None = None) -> list[str]:
    """Say which columns of text are nearly numbers, and what to do about them.

    Parameters
    ----------
    found : sequence of StrayValues
        The columns.
    file : str
        Name of the file.
    keep : str, optional
        The option that says that a column is meant to be categorical; by default ``--categorical``
        with its name.
    """
    lines = []
    for one in found[:_SHOWN]:
        silence = keep or f"--categorical {shlex.quote(one.name)}"
        if not is_text(file) or not one.values:
            advice = "convert it to numbers"
        elif one.commas:
            advice = "--decimal , reads decimal commas; commas between thousands have to go"
        else:
            words = " ".join(f"--na {shlex.quote(value)}" for value in one.values[:_SHOWN])
            advice = f"{words} reads {'it' if len(one.values) == 1 else 'them'} as missing"
        lines.append(
            f"{one.describe()}; it is treated as categorical. Hint: {advice}; {silence} says that "
            "it is meant so"
        )
    more = len(found) - _SHOWN
    return [*lines, f"{more:,} more columns of text are nearly numbers"] if more > 0 else lines
