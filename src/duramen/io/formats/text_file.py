"""Delimited text in a file: its bytes as UTF-8, its separator, and its errors."""

from __future__ import annotations

import codecs
import csv
import io
import lzma
import re
import shlex
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import Any

from duramen.data.memory import require_memory
from duramen.io.formats.format import Request
from duramen.support.arrow import pa
from duramen.support.text import first_line, quoted

COMPRESSIONS = (".gz", ".bz2", ".zst", ".zip")
_TABLES = (".csv", ".tsv", ".tab", ".txt")  # endings of the files in an archive that come first
# What holds no text, by its first bytes.
_PACKED = {
    b"\x1f\x8b": "gzip (.gz)",
    b"\x28\xb5\x2f\xfd": "Zstandard (.zst)",
    b"PK\x03\x04": "an archive (.zip) or a workbook (.xlsx)",
}
_SEPARATORS = (",", ";", "\t", "|", " ")
_BOM = b"\xef\xbb\xbf"
_HEAD, _LINES = 1 << 16, 20  # bytes and lines by which the separator is told
_FEWEST_LINES, _WIDEST = 3, 1 << 25  # lines that are looked at, of that many bytes at the most
_MOST_FIELDS, _FEWEST_DECIMALS = 1 << 15, 5  # fields looked at, and numbers for, decimal commas
_BLOCK = 1 << 18
_METERED = 1 << 26  # bytes of text between two looks at the memory that is left
_NUMBER = re.compile(r"\s*(-?\d+([.,]\d*)?([eE][-+]?\d+)?|NA|NaN|)\s*", re.ASCII)
_DECIMAL = {sign: re.compile(rf"\s*[+-]?\d*{re.escape(sign)}(\d+)\s*", re.ASCII) for sign in ",."}
# Raised for damaged archives, and for those of a version or with a password that is not supported.
_OF_ARCHIVES = (zipfile.BadZipFile, RuntimeError, zlib.error, lzma.LZMAError, struct.error)


@dataclass(frozen=True)
class TextFile:
    """Delimited text in a file.

    Attributes
    ----------
    path : Path
    usual : str
        Separator that the ending of the file stands for; "" where it stands for none.
    separator : str, optional
        Separator that was asked for.
    encoding : str
        Encoding of the text.
    skip_rows : int
        Number of lines before the one that names the columns.
    member : str, optional
        File to take, in a .zip archive of several.
    function : str
        The function or command that the user called, for errors.
    until : bytes
        Begin of the line after the last one.
    transposed : bool
        Whether lines are columns, so that the first line may lack a field above their names.
    """

    path: Path
    usual: str = ","
    separator: str | None = None
    encoding: str = "utf-8"
    skip_rows: int = 0
    member: str | None = None
    function: str = "read_table"
    until: bytes = b""
    transposed: bool = False

    @classmethod
    def of(cls, path: Path, usual: str, request: Request) -> TextFile:
        """Return the text that a request asks for.

        Raises
        ------
        ValueError
            If an option is not as documented, or the file holds no text.
        """
        function, separator = request.function, request.separator
        if separator is not None and (
            len(separator) != 1 or separator in '"\r\n' or not separator.isascii()
        ):
            raise ValueError(
                f"{function}: separator must be one character, such as ';', got {separator!r}."
            )
        if separator is not None and separator == request.decimal:
            raise ValueError(
                f"{function}: separator and decimal must differ, got {separator!r} for both."
            )
        if isinstance(request.skip_rows, bool) or request.skip_rows != max(0, request.skip_rows):
            raise ValueError(
                f"{function}: skip_rows must be a number of lines, got {request.skip_rows!r}."
            )
        try:
            encoding = codecs.lookup(request.encoding).name
            "".encode(encoding)
        except (LookupError, TypeError, ValueError):
            raise ValueError(
                f"{function}: encoding (--encoding) must be the name of one, such as 'utf-8', "
                f"'latin-1', 'cp1252' or 'utf-16', got {request.encoding!r}."
            ) from None
        asked = separator, encoding, int(request.skip_rows), request.member
        text = cls(path, usual, *asked, function, transposed=request.transpose)
        head = b""
        with suppress(OSError, EOFError), text._unpacked() as stream:  # else reading says why
            head = bytes(stream.read(_HEAD))
        for mark, what in _PACKED.items():
            if head.startswith(mark):
                inside = "its decompressed content" if path.suffix in COMPRESSIONS else "it"
                raise ValueError(
                    f"{function}: {path} must hold text, but {inside} is {what}. Hint: "
                    "decompress it once, or give it that extension"
                )
        # UTF-16 is known by its first bytes, or by the zeros of its Latin letters.
        high, low = head[::2].count(0), head[1::2].count(0)
        marked = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        letters = min(high, low) == 0 and max(high, low) >= max(1, len(head) / 4)
        if encoding == "utf-8" and (marked or letters):
            wide = "utf-16" if marked else "utf-16-be" if high else "utf-16-le"
            raise ValueError(
                f"{function}: {path} is UTF-16 text, not UTF-8. Hint: encoding={wide!r} "
                f"(--encoding {wide})"
            )
        return text

    @property
    def size(self) -> int:
        """Bytes of the text, as far as they are known: compressed ones where it is compressed."""
        if self.path.suffix.lower() == ".zip":
            with suppress(OSError, *_OF_ARCHIVES), zipfile.ZipFile(self.path) as archive:
                return archive.getinfo(self._chosen(archive.namelist())).file_size
        return self.path.stat().st_size

    @contextmanager
    def opened(self, *, metered: bool = False, end: bytes = b"\n") -> Iterator[Any]:
        """Open the text from the line that names the columns on, with a line end after it.

        `metered` raises MemoryError before all memory is taken: a compressed file does not say how
        large its text is. Arrow takes an empty last field without the line end for quoted if
        another field is.
        """
        header = self._header
        with self.decoded() as stream:
            for _ in range(self.skipped + bool(header)):
                stream.readline()
            blocks: Iterator[bytes] = iter(lambda: stream.read(_BLOCK), b"")
            if self.until:
                lines = iter(stream.readline, b"")
                blocks = takewhile(lambda line: not line.startswith(self.until), lines)
            blocks = chain([header] if header else [], blocks, [end])
            yield io.BufferedReader(_Blocks(self._metered(blocks) if metered else blocks))

    def _metered(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        n_bytes = 0
        for block in blocks:
            if n_bytes % _METERED + len(block) >= _METERED:
                require_memory(
                    2 * _METERED,
                    what=f"the text of {self.path}, of which {n_bytes:,} bytes are read, still",
                    function=self.function,
                    hint="check that it is the file that you mean; duramen pack reads it in little "
                    "memory",
                )
            n_bytes += len(block)
            yield block

    @contextmanager
    def decoded(self) -> Iterator[Any]:
        """Open all of the text as UTF-8, as a stream of bytes that gives lines."""
        with self._unpacked() as stream:
            blocks = iter(lambda: stream.read(_BLOCK), b"")
            if self.encoding != "utf-8":
                blocks = self._recoded(blocks)
            yield io.BufferedReader(_Blocks(blocks))

    def _recoded(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(self.encoding)()
        try:
            for block in blocks:
                yield decoder.decode(block).encode()
            yield decoder.decode(b"", final=True).encode()
        except UnicodeError as error:
            raise ValueError(
                f"{self.function}: {self.path} is not text in {self.encoding} ({error}); check "
                "encoding (--encoding)"
            ) from None

    @contextmanager
    def _unpacked(self) -> Iterator[Any]:
        if self.path.suffix.lower() != ".zip":
            with pa.input_stream(self.path, compression="detect") as stream:
                yield stream
            return
        try:
            with (
                zipfile.ZipFile(self.path) as archive,
                archive.open(self._chosen(archive.namelist())) as stream,
            ):
                yield stream
        except _OF_ARCHIVES as error:
            raise ValueError(f"{self.function}: cannot read {self.path} ({error})") from None

    def _chosen(self, names: list[str]) -> str:
        """Return the file to read from an archive, apart from files of operating systems."""
        tables = [
            name
            for name in names
            if not (name.endswith("/") or name.startswith("__MACOSX/"))
            and not Path(name).name.startswith(".")
        ]
        if self.member in tables:
            return self.member
        if self.member is None and len(tables) == 1:
            return tables[0]
        what = f"has no file {quoted(self.member)}"
        if self.member is None:
            tables.sort(key=lambda name: Path(name).suffix.lower() not in _TABLES)
            what = "holds several files" if tables else "holds no file"
        message = f"{self.function}: {self.path} {what}"
        if tables:
            shown = ", ".join(map(quoted, tables[:5])) + (", ..." if len(tables) > 5 else "")
            message += (
                f": {shown}. Hint: member={tables[0]!r} (--member {shlex.quote(tables[0])}) takes "
                "one of text; unzip it for others"
            )
        raise ValueError(message)

    # --- the first lines --------------------------------------------------------------------------

    @cached_property
    def _lines(self) -> list[str]:
        """The first lines after `skip_rows`; none where they cannot be read."""
        try:
            with self.decoded() as stream:
                for _ in range(self.skip_rows):
                    stream.readline()
                text: bytes = stream.read(_HEAD)
                while text.count(b"\n") < _FEWEST_LINES and len(text) < _WIDEST:
                    if not (block := stream.read(_BLOCK)):
                        break
                    text += block
                whole = len(text) < _HEAD or not stream.read(1)
        except (OSError, EOFError):
            return []  # reading it says what is wrong
        lines = text.removeprefix(_BOM).decode(errors="replace").splitlines()
        if not whole and len(lines) > 1:
            lines.pop()  # it may be cut
        return lines

    @cached_property
    def skipped(self) -> int:
        """Number of lines before the line of column names: `skip_rows`, and comments.

        A comment is a line with # that is not cut as the next one is. Some programs write the
        separator as the first line, such as sep=;.
        """
        lines, count = self._lines, 0
        if lines and re.fullmatch(r"sep=(.)\s*", lines[0], re.IGNORECASE):
            count = 1
        while len(lines) > count + 1 and lines[count].startswith("#"):
            line, following = lines[count : count + 2]
            sign = max(_SEPARATORS, key=following.count)
            if not line.startswith("##") and line.count(sign) == following.count(sign):
                break
            count += 1
        return self.skip_rows + count

    @property
    def first_lines(self) -> list[str]:
        """First lines of the file, from the line of column names."""
        return self._lines[self.skipped - self.skip_rows :]

    @cached_property
    def delimiter(self) -> str:
        """Requested separator, or the separator of the first lines.

        Another one than the usual only where that one does not cut all lines into as many fields,
        and the other does; a space only where each line has a number, so that neither words of a
        text nor numbers with a unit are cut.
        """
        if self.separator is not None:
            return self.separator
        usual, lines = self.usual or "\t", self.first_lines
        numbers = all(
            not line or any(map(_NUMBER.fullmatch, line.split())) for line in lines[1:_LINES]
        )
        for lacking in (0, 1):  # fields of the header, as R writes it
            n_fields = {sign: _fields(lines, sign, lacking) for sign in (usual, *_SEPARATORS)}
            if self.usual and (lacking or not numbers):
                n_fields[" "] = 1
            if n_fields[usual] > 1:
                return usual
            if max(n_fields.values()) > 1:
                break
        return max(n_fields, key=lambda sign: n_fields[sign])

    @cached_property
    def decimal_commas(self) -> tuple[str, ...]:
        """Numbers with decimal commas in the first lines; none where they may be something else.

        Where commas do not separate fields, some numbers have them, none has a point, and not all
        of them may be thousands.
        """
        if self.delimiter == ",":
            return ()
        try:
            rows = csv.reader(self.first_lines[1:], delimiter=self.delimiter)
            fields = dict.fromkeys(islice(chain.from_iterable(rows), _MOST_FIELDS))
        except csv.Error:
            return ()
        if any(_DECIMAL["."].fullmatch(field) for field in fields):
            return ()
        fractions = {f: match[1] for f in fields if (match := _DECIMAL[","].fullmatch(f))}
        some = any(len(fraction) != 3 for fraction in fractions.values())
        return tuple(fractions) if some and len(fractions) >= _FEWEST_DECIMALS else ()

    @cached_property
    def _header(self) -> bytes:
        """Completed line of names where it lacks a field, as in files of R.

        Empty where the line may stay as it is. The first fields of the rows are names of rows
        where they differ: if the field that is lacking may come of a comma within a number, only
        in quotes or as numbers of the rows.
        """
        lines, sign = [line for line in self.first_lines if line], self.delimiter
        try:
            rows = [row for row in csv.reader(lines, delimiter=sign) if row][:_LINES]
        except csv.Error:
            return b""
        if len(rows) < 2 or {len(row) for row in rows[1:]} != {len(rows[0]) + 1}:
            return b""
        if len(rows) > 2 and not any(row[-1] for row in rows[1:]):
            return f"{lines[0]}{sign}\n".encode()
        if self.transposed:
            return f"{sign}{lines[0]}\n".encode()
        names = [row[0] for row in rows[1:]]
        are_names = len(set(names)) == len(names) and (
            sign not in (",", ";")
            or names == [str(i + 1) for i in range(len(names))]
            or all(line.startswith('"') for line in lines[1:_LINES])
        )
        is_names = len(rows) > 2 and are_names and _is_data(rows[1], rows[2:])
        return f"{sign}{lines[0]}\n".encode() if is_names else b""

    # --- errors -----------------------------------------------------------------------------------

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Raise a ValueError that explains a failure of reading or parsing."""
        try:
            yield
        except (pa.ArrowException, OSError, EOFError, csv.Error, UnicodeError) as error:
            self.check_encoding()
            self.check_fields()
            raise ValueError(
                f"{self.function}: cannot read {self.path} ({first_line(error)})"
            ) from None

    def check_encoding(self) -> None:
        """Raise ValueError for the first byte that is not UTF-8."""
        offset = 0
        with suppress(OSError, EOFError), self.decoded() as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    line.decode()
                except UnicodeDecodeError as error:
                    if number > self.skipped:
                        raise ValueError(
                            f"{self.function}: {self.path} is not UTF-8 text: byte "
                            f"{line[error.start]:#04x} at offset {offset + error.start} (line "
                            f"{number}); it may be latin-1 or cp1252. Hint: encoding='latin-1' "
                            "(--encoding latin-1) or encoding='cp1252' (--encoding cp1252)"
                        ) from None
                offset += len(line)

    def check_fields(self) -> None:
        """Raise ValueError for the first row that is longer or shorter than the header."""
        with (
            suppress(OSError, EOFError, csv.Error, StopIteration),
            self.opened() as stream,
            io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="") as lines,
        ):
            rows = csv.reader(lines, delimiter=self.delimiter)
            header = next(row for row in rows if row)
            row = next(row for row in rows if row and len(row) != len(header))
            line = self.skipped + rows.line_num
            following = [other for other in islice(rows, _LINES) if other]
            hint = f"quote fields that hold the separator {self.delimiter!r}, or give another one"
            alike = len(row) > len(header) and all(len(other) == len(row) for other in following)
            if alike and not (following and _is_data(row, following)):
                hint = (
                    f"if that line names the columns, skip_rows={line - 1} (--skip-rows "
                    f"{line - 1}) begins there; if it is a row, add the missing name to the header"
                )
            elif len(row) > len(header) and not any(row[len(header) :]):
                hint = f"remove the {self.delimiter!r} at the end of that line"
            fields = "field" if len(row) == 1 else "fields"
            raise ValueError(
                f"{self.function}: {self.path} has {len(row)} {fields} in line {line}, but its "
                f"header has {len(header)}. Hint: {hint}"
            )


def _fields(lines: list[str], separator: str, lacking: int) -> int:
    """Return the number of fields of the first lines, or 1 where they differ in it.

    The very first one lacks so many.
    """
    try:
        counts = [len(row) for row in islice(csv.reader(lines, delimiter=separator), _LINES) if row]
    except csv.Error:
        return 1
    counts[:1] = [count + lacking for count in counts[:1]]
    return counts[0] if len(set(counts)) == 1 else 1


def _is_data(row: list[str], others: list[list[str]]) -> bool:
    """Tell whether a row has numbers in all columns where the other rows have numbers."""
    places = [j for j in range(1, len(row)) if all(_NUMBER.fullmatch(other[j]) for other in others)]
    return bool(places) and all(_NUMBER.fullmatch(row[j]) for j in places)


class _Blocks(io.RawIOBase):
    """Blocks of bytes as a file."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._rest = blocks, memoryview(b"")

    def readable(self) -> bool:
        """Return true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Copy bytes; 0 at the end."""
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = memoryview(block)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
