"""Options for reading text files, and sample annotations that go with a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.cli.declaration import choice, option
from duramen.support.arrow import pa

if TYPE_CHECKING:
    from duramen.data import Finding
    from duramen.io.store.row_ids import Paired
    from duramen.reading.text import FileOptions

_SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Kinds of columns, and settings for reading CSV and TSV files."""

    categorical: tuple[str, ...] = option(
        (), "Column of numbers to treat as categorical; repeat for more.", metavar="NAME"
    )
    as_text: tuple[str, ...] = option(
        (),
        "Column of text to leave as it is: numbers with units and the like are not read as "
        "numbers, labels of a target that differ by case or spaces are not merged; repeat for "
        "more.",
        metavar="NAME",
        echo="changed",
    )
    na: tuple[str, ...] = option(
        (),
        "Additional word for a missing value in CSV and TSV files, such as '?'; repeat for more.",
        metavar="WORD",
        parameter="na_values",
        record="na",
        echo="changed",
    )
    decimal: str | None = option(
        None,
        "Decimal point of numbers in CSV and TSV files, . or ,; by default detected from the first "
        "lines.",
        metavar="SIGN",
        echo="changed",
    )
    separator: str | None = option(
        None,
        "Character between two fields of CSV and TSV files, or comma, semicolon, tab, pipe, "
        "space; by default detected from the first lines.",
        metavar="SIGN",
        echo="changed",
    )
    encoding: str = option(
        "utf-8",
        "Encoding of CSV, TSV and text files, such as latin-1 or utf-16; sample annotations may "
        "also be in UTF-8.",
        metavar="NAME",
        echo="changed",
    )
    skip_rows: int = option(
        0,
        "Number of lines of FILE before the one that names the columns; rows of a workbook.",
        metavar="N",
        min=0,
        echo="changed",
    )
    member: str | None = option(
        None,
        "File to read from FILE, a .zip archive; by default the only one.",
        metavar="NAME",
        echo="changed",
    )
    sheet: str | None = option(
        None,
        "Sheet of a workbook, such as an .xlsx file; the first by default.",
        metavar="NAME",
        echo="changed",
    )

    @property
    def options(self) -> FileOptions:
        """Parameters of reading, as `duramen.read` has them."""
        from duramen.reading.text import FileOptions

        return FileOptions(
            as_text=self.as_text,
            na_values=self.na,
            decimal=self.decimal,
            separator=self.separator,
            encoding=self.encoding,
            skip_rows=self.skip_rows,
            member=self.member,
            sheet=self.sheet,
        )


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Orientation of a matrix in a file, and its layer."""

    transpose: bool = option(
        False,
        "Transpose the file: its rows, such as genes, become columns, and its first column "
        "names them.",
        echo="changed",
    )
    layer: str | None = option(
        None,
        "Layer of an AnnData to read, or raw; X by default.",
        metavar="NAME",
        echo="changed",
    )

    def check_unused(self) -> None:
        """Check that nothing is asked of a table that is not packed."""
        for word, asked in (("--transpose", self.transpose), ("--layer", self.layer is not None)):
            if asked:
                raise ValueError(
                    f"{word} has no effect on a table that is read in place, such as a store; "
                    f"duramen pack FILE {word} makes one"
                )


def _choices() -> dict[str, Any]:
    """Names that options take, by their field."""
    from duramen.io.store.row_ids import MATCHES

    return {"samples_match": MATCHES}


@dataclass(frozen=True, kw_only=True)
class Annotations:
    """Sample annotations, and how their rows are paired with those of a table."""

    samples: Path | None = option(
        None,
        "Sample annotations, such as classes: a table, paired with FILE by the names of the rows.",
        metavar="FILE",
    )
    samples_id: str | None = option(
        None,
        "Column of --samples, or of FILE, with the names of the rows; by default, the column whose "
        "values match.",
        metavar="NAME",
        echo="changed",
    )
    samples_match: str = choice(
        "exact",
        _choices,
        "Pairing of the rows: by their names as they are; by names folded, without case, spaces, "
        "signs such as . and -, an X before a digit, and leading zeros; or by position, in the "
        "order of both files.",
        echo="changed",
    )

    def check(self) -> None:
        """Check that there are annotations, and one way to pair them."""
        asked = {
            "--samples-id": self.samples_id is not None,
            "--samples-match": self.samples_match != "exact",
        }
        if self.samples is None:
            for option in (option for option, value in asked.items() if value):
                raise ValueError(f"{option} needs --samples FILE")
        if self.samples_id is not None and self.samples_match == "position":
            raise ValueError(
                "--samples-id pairs rows by name, --samples-match position by order; give one of "
                "them"
            )

    def read(self, reading: Reading, function: str, findings: list[Finding]) -> pa.Table | None:
        """Read the annotations, if there are any; add what was found in their text."""
        if self.samples is None:
            return None
        own = reading.options.of_samples(self.samples)
        try:
            return own.table(self.samples, findings, function)
        except ValueError as error:
            message = str(error)
            for option, advice in _OF_FILE.items():
                if f"({option} " in message:
                    message = (
                        f"{message.partition(' Hint: ')[0]} Hint: {option} is for FILE; {advice}"
                    )
                    break
            raise ValueError(f"{message} (of --samples)") from None

    def beside(
        self, data: pa.Table, reading: Reading, where: str, function: str, findings: list[Finding]
    ) -> tuple[pa.Table, Paired]:
        """Pair the annotations with a table in memory, which loses its column of names."""
        from duramen.io.store.row_ids import Names, Pairing, of_table, pair, texts_of

        asked = Pairing(self.samples_id, self.samples_match, where, function)
        samples = self.read(reading, function, findings)
        if self.samples_id is not None and self.samples_id in data.column_names:
            labels = texts_of(data.column(self.samples_id))
            if labels is None or None in labels:
                raise ValueError(
                    f"--samples-id {self.samples_id} must hold the name of every row of {where}, "
                    "as text or whole numbers"
                )
            names = [Names((self.samples_id,), labels, in_table=True)]
        else:
            names = of_table(data)
        try:
            paired = pair(samples, names, data.num_rows, asked)
        except ValueError as error:
            title = None
            if samples is not None:
                title = _names_of_columns(samples, data.column_names)
            if title is None:
                raise
            words = str(error).partition(" Hint: ")[0]
            raise ValueError(
                f"{words} Hint: --transpose: column {title} of --samples names columns of {where}, "
                "whose rows are features, such as genes"
            ) from None
        return data if paired.column is None else data.drop_columns([paired.column]), paired


# Options that are for FILE alone, and what helps where the samples need them.
_OF_FILE = {
    "--skip-rows": "of --samples, remove the lines before the one that names the columns",
    "--member": "of --samples, take the file out of the archive",
}


def _names_of_columns(samples: pa.Table, names: Sequence[str]) -> str | None:
    """Return the column of annotations whose values are mostly names of columns of the table."""
    from duramen.io.store.row_ids import texts_of

    there = set(names)
    for title, column in zip(samples.column_names, samples.columns, strict=True):
        texts = set(texts_of(column) or ())
        if len(texts) > 1 and 2 * len(texts & there) > len(texts):
            return str(title)
    return None
