"""Options for reading text files, and sample annotations that go with a table."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.cli.declaration import choice, option
from duramen.support.arrow import pa
from duramen.support.warning import gathered_warnings, warn

if TYPE_CHECKING:
    from duramen.data import Finding
    from duramen.data.text_numbers import StrayValues
    from duramen.io import Format
    from duramen.io.store.row_ids import Paired

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

    def check(self, *files: Path | str | None) -> None:
        """Check that options of text are given for text."""
        there = [format_ for file in files if file is not None and (format_ := _format(file))]
        words = any(format_.text or format_.sheets for format_ in there)
        typed = any(format_.read is not None for format_ in there)
        if self.sheet is not None and not any(format_.sheets for format_ in there):
            raise ValueError("--sheet is for workbooks, such as .xlsx files; leave it out")
        of_text = {
            "--na": bool(self.na) and not typed,
            "--skip-rows": bool(self.skip_rows) and not words,
            "--decimal": self.decimal is not None,
            "--separator": self.separator is not None,
            "--encoding": self.encoding != "utf-8",
            "--member": self.member is not None,
        }
        for word, asked in of_text.items():
            if asked and not any(format_.text for format_ in there):
                raise ValueError(
                    f"{word} is for CSV and TSV files; the values of other files have types"
                )

    @property
    def sign(self) -> str | None:
        """Separator that was asked for, as a character."""
        return None if self.separator is None else _SIGNS.get(self.separator, self.separator)

    def read(self, path: Path | str, function: str, findings: list[Finding]) -> pa.Table:
        """Read a table, with these options where it is text; add what was found in its text."""
        from duramen.io import read_table

        with self.looking(path, findings):
            return read_table(path, **self.parameters(path), function=function)

    @contextmanager
    def looking(self, path: Path | str, findings: list[Finding]) -> Iterator[None]:
        """Add what is found in the text of a file while it is read; other warnings stay."""
        from duramen.data import NumbersInTextWarning

        with gathered_warnings() as gathered:
            yield
        for warning in gathered:
            if isinstance(warning, NumbersInTextWarning):
                findings += [self._with_option(finding, path) for finding in warning.findings]
            else:
                warn(warning)

    def _with_option(self, finding: Finding, path: Path | str) -> Finding:
        """Return a finding about text with the options that answer it."""
        name = shlex.quote(finding.columns[0])
        if finding.kind == "several units":
            return replace(finding, hint=f"convert them to one unit; --drop {name} leaves it out")
        hint = f"--as-text {name} keeps the text"
        if finding.values and takes_words(path):
            words = " ".join(f"--na {shlex.quote(value)}" for value in finding.values[:_SHOWN])
            hint += f"; {words} reads limits as missing"
        return replace(finding, hint=hint)

    def parameters(self, path: Path | str) -> dict[str, Any]:
        """Return the parameters of `read_table` for a file."""
        return {**self._by_format(path), "as_text": self.as_text}

    def _by_format(self, path: Path | str) -> dict[str, Any]:
        """Return the parameters that the format of a file takes."""
        format_ = _format(path)
        if format_ is None or not (format_.text or format_.sheets):
            return (
                {"na_values": self.na} if format_ is not None and format_.read is not None else {}
            )
        both: dict[str, Any] = {"na_values": self.na, "skip_rows": self.skip_rows}
        if format_.sheets:
            return {**both, "sheet": self.sheet}
        return {**both, **self._of_text(path)}

    def _of_text(self, path: Path | str) -> dict[str, Any]:
        """Return the parameters about the text of a file."""
        settings: dict[str, Any] = {"encoding": self.encoding, "member": self.member}
        sign, commas = self._detected(path)
        settings["separator"] = self.sign or sign
        settings["decimal"] = self.decimal or ("," if commas else ".")
        return settings

    def _detected(self, path: Path | str) -> tuple[str | None, tuple[str, ...]]:
        """Return what the first lines of a text file tell where nobody named it.

        The separator if it is not the usual one, and numbers with decimal commas.
        """
        from duramen.io.formats.format import Request
        from duramen.io.formats.text_file import TextFile
        from duramen.support.files import expanded

        format_ = _format(path)
        if format_ is None or not format_.separator:
            return None, ()
        how: dict[str, Any] = {"skip_rows": self.skip_rows, "member": self.member}
        request = Request("read_table", encoding=self.encoding, separator=self.sign, **how)
        text = TextFile.of(expanded(path), format_.separator, request)
        usual = self.separator is not None or text.delimiter == text.usual
        commas = text.decimal_commas if self.decimal is None else ()
        return None if usual else text.delimiter, commas

    def findings(self, path: Path | str) -> list[Finding]:
        """Tell of a separator and of decimal commas that were not asked for."""
        from duramen.data import Finding
        from duramen.support.text import quoted

        findings = []
        sign, commas = self._detected(path)
        if sign is not None:
            word = next(word for word in _SIGNS if _SIGNS[word] == sign)
            message = f"{Path(path).name} is separated by {word}s, and was read accordingly"
            hint = f"--separator {word} confirms that it is right"
            findings.append(Finding("separator", (), message, hint))
        if commas:
            some = ", ".join(map(quoted, commas[:_SHOWN]))
            message = f"numbers of {Path(path).name} have decimal commas, such as {some}, and were "
            message += "read as such"
            hint = "--decimal , confirms that it is right; --decimal . leaves them as text"
            findings.append(Finding("decimal commas", (), message, hint))
        return findings


_SIGNS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "space": " "}


def _format(file: Path | str) -> Format | None:
    from duramen.io.formats import format_of

    return format_of(file)


def takes_words(file: Path | str) -> bool:
    """Return whether --na takes words for a file, by its name: one of text, or a workbook."""
    format_ = _format(file)
    return format_ is not None and (format_.text or format_.sheets)


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
        encoding = "utf-8" if _is_utf8(self.samples) else reading.encoding
        own = replace(reading, skip_rows=0, member=None, encoding=encoding)
        try:
            return own.read(self.samples, function, findings)
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


def _is_utf8(path: Path) -> bool:
    """Return whether a file of text is in UTF-8; others may be, for what is known of them."""
    from duramen.io import Request
    from duramen.io.formats import text_of
    from duramen.support.files import expanded

    place = expanded(path)
    try:
        text = text_of(place, Request("samples")) if place.is_file() else None
        if text is None:
            return True
        with text.opened() as stream:
            data: bytes = stream.read()
        return b"\x00" not in data.decode("utf-8").encode()
    except (OSError, EOFError, ValueError):
        return False


def _names_of_columns(samples: pa.Table, names: Sequence[str]) -> str | None:
    """Return the column of annotations whose values are mostly names of columns of the table."""
    from duramen.io.store.row_ids import texts_of

    there = set(names)
    for title, column in zip(samples.column_names, samples.columns, strict=True):
        texts = set(texts_of(column) or ())
        if len(texts) > 1 and 2 * len(texts & there) > len(texts):
            return str(title)
    return None


OF_TARGET = "--task classification"  # says that a target is meant to hold classes


def stray_findings(
    strays: Sequence[StrayValues], file: str, keep: str | None = None
) -> list[Finding]:
    """Tell which columns of text are nearly numbers, and what to do about them.

    `keep` is the option that says that a column is meant to be categorical; by default
    ``--categorical`` with its name.
    """
    from duramen.findings.table import of_stray

    made = []
    for stray in strays[:_SHOWN]:
        silence = keep or f"--categorical {shlex.quote(stray.name)}"
        form = _format(file)
        if not takes_words(file) or not stray.values or (stray.commas and form and form.sheets):
            advice = "convert it to numbers"
        elif stray.commas:
            advice = "--decimal , reads decimal commas; commas between thousands have to go"
        else:
            words = " ".join(f"--na {shlex.quote(value)}" for value in stray.values[:_SHOWN])
            as_missing = f"reads {'it' if len(stray.values) == 1 else 'them'} as missing"
            gone = "--drop-missing-target leaves these rows out"
            advice = f"{words} {gone if keep == OF_TARGET else as_missing}"
        made.append(replace(of_stray(stray), hint=f"{advice}; {silence} confirms that it is right"))
    rest = tuple(stray.name for stray in strays[_SHOWN:])
    if rest:
        more = f"{len(rest):,} more columns of text are nearly numbers: {', '.join(rest[:_SHOWN])}"
        what = f"{more}{', ...' if len(rest) > _SHOWN else ''}"
        made.append(replace(made[0], columns=rest, message=what, values=()))
    return made
