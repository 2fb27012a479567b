"""Text of a file as bytes of UTF-8, from the line that names the columns on, and its lines."""

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
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from duramen.data.memory import require_memory
from duramen.io.formats.format import Request
from duramen.support.arrays import IntArray
from duramen.support.arrow import pa
from duramen.support.text import first_line, quoted

LF, CR, QUOTE = b"\n"[0], b"\r"[0], b'"'[0]
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, eq=False)
class Lines:
    """Some lines, none of them empty."""

    data: bytes
    begin: IntArray  # where each of the R lines begins in `data`
    end: IntArray  # where it ends, its line end left out
    cuts: IntArray  # where the delimiters between the fields are
    # Shape (R + 1,): line r has ``cuts[first_cut[r]:first_cut[r + 1]]``.
    first_cut: IntArray

    def __len__(self) -> int:
        return len(self.begin)

    def n_fields(self) -> IntArray:
        """Return the number of fields of each line."""
        return np.diff(self.first_cut) + 1

    def fields(self, line: int) -> list[bytes]:
        """Return the fields of a line, quotes and all."""
        cuts = self.cuts[self.first_cut[line] : self.first_cut[line + 1]].tolist()
        begins = [int(self.begin[line]), *(cut + 1 for cut in cuts)]
        ends = [*cuts, int(self.end[line])]
        data = self.data
        return [data[begin:end] for begin, end in zip(begins, ends, strict=True)]

    def texts(self, line: int) -> list[str]:
        """Return the fields of a line as text, without quotes."""
        return [unquoted(field).decode(UTF8) for field in self.fields(line)]

    def rest(self, first: int) -> Lines:
        """Return the lines from the given one on."""
        return Lines(
            self.data, self.begin[first:], self.end[first:], self.cuts, self.first_cut[first:]
        )


class UnclosedQuote(ValueError):
    """A quote that is open at the end of the text."""


def lines_of(stream: Any, delimiter: bytes, chunk: int) -> Iterator[Lines]:
    """Read lines from a stream of bytes, `chunk` bytes at a time; more where a line is longer."""
    rest, first, wanted = b"", True, chunk
    while True:
        block = stream.read(wanted)
        if first and block.startswith(BOM):
            block = block[len(BOM) :]
        first = False
        data = rest + block
        lines, used = _cut(data, delimiter[0], final=not block)
        if len(lines):
            yield lines
        if not block:
            return
        rest = data[used:]
        wanted = max(chunk, len(rest))  # a line that is longer is met with longer blocks


def _cut(data: bytes, delimiter: int, final: bool) -> tuple[Lines, int]:
    """Cut the lines that are whole, and say how many bytes they take."""
    if final and data:
        data += b"\n"
    text = np.frombuffer(data, dtype=np.uint8)
    cuts = np.flatnonzero(text == delimiter)
    ends = np.flatnonzero((text == LF) | (text == CR))
    quotes = np.flatnonzero(text == QUOTE)
    open_at = None
    if len(quotes):
        if _regular(text, quotes, delimiter):
            cuts = cuts[np.searchsorted(quotes, cuts) % 2 == 0]
            ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
            open_at = int(quotes[-1]) if len(quotes) % 2 else None
        else:
            cuts, ends, open_at = _by_the_rules(data, bytes([delimiter]))
    if final and open_at is not None:
        raise UnclosedQuote
    used = int(ends[-1]) + 1 if len(ends) else 0
    begin = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64) if len(ends) else ends
    there = ends > begin
    begin, end = begin[there], ends[there]
    cuts = cuts[: np.searchsorted(cuts, used)]
    first_cut = np.append(np.searchsorted(cuts, begin), len(cuts))
    return Lines(data, begin, end, cuts, first_cut), used


def _regular(text: NDArray[np.uint8], quotes: IntArray, delimiter: int) -> bool:
    """Return whether quotes open and close in turn: at borders of fields, or doubled in one."""
    opening, closing = quotes[::2], quotes[1::2]
    before = text[np.maximum(opening - 1, 0)]
    opens = (opening == 0) | (before == delimiter) | (before == LF) | (before == CR)
    opens[1:] |= opening[1:] == closing[: len(opening) - 1] + 1
    after = text[np.minimum(closing + 1, len(text) - 1)]
    closes = (closing == len(text) - 1) | (after == delimiter) | (after == LF) | (after == CR)
    closes[: len(opening) - 1] |= opening[1:] == closing[: len(opening) - 1] + 1
    return bool(opens.all() and closes.all())


def _by_the_rules(data: bytes, delimiter: bytes) -> tuple[IntArray, IntArray, int | None]:
    """Delimiters and line ends outside quotes, and where a quote is open: field by field."""
    field = re.compile(
        rb'("[^"]*(?:""[^"]*)*(?:"|(?P<open>\Z)))?[^' + re.escape(delimiter) + rb"\r\n]*"
    )
    cuts: list[int] = []
    ends: list[int] = []
    at, size = 0, len(data)
    while at < size:
        match = field.match(data, at)
        assert match is not None  # an empty field matches
        if match["open"] is not None:
            return np.array(cuts, np.int64), np.array(ends, np.int64), at
        at = match.end()
        if at < size:
            (cuts if data[at : at + 1] == delimiter else ends).append(at)
            at += 1
    return np.array(cuts, np.int64), np.array(ends, np.int64), None


def unquoted(field: bytes) -> bytes:
    """Return the text of a field, without the quotes around it."""
    if not field.startswith(b'"'):
        return field
    match = re.compile(rb'"([^"]*(?:""[^"]*)*)"').match(field)
    if match is None:
        return field
    return match[1].replace(b'""', b'"') + field[match.end() :]


ZIP = ".zip"
_TABLES = (".csv", ".tsv", ".tab", ".txt")  # endings of the files in an archive that come first
COMPRESSIONS = (".gz", ".bz2", ".zst", ZIP)
# What holds no text, by its first bytes, and how to give it instead.
_PACKED = {
    b"\x1f\x8b": ("compressed with gzip", "{}.gz"),
    b"\x28\xb5\x2f\xfd": ("compressed with Zstandard", "{}.zst"),
    b"PK\x03\x04": ("a .zip archive or a workbook", "{0}.zip or {0}.xlsx"),
}
SEPARATORS = (",", ";", "\t", "|")
ANY = (*SEPARATORS, " ")  # of files whose ending does not tell the separator
UTF8 = "utf-8"
_HEAD, _LINES = 1 << 16, 20  # bytes and lines by which the separator is told
_FEWEST_LINES, _WIDEST = 3, 1 << 25  # lines that are looked at, of that many bytes at the most
_MOST_FIELDS = 1 << 15  # that are looked at for decimal commas
_BLOCK = 1 << 18
_METERED = 1 << 26  # bytes of text between two looks at the memory that is left
_OF_EXCEL = re.compile(rb"sep=(.)\s*", re.IGNORECASE)  # first line that some programs write
_NUMBER = re.compile(r"\s*(-?\d+([.,]\d*)?([eE][-+]?\d+)?|NA|NaN|)\s*", re.ASCII)
_SHOWN = 5
_DECIMAL = {sign: re.compile(rf"\s*[+-]?\d*{re.escape(sign)}(\d+)\s*", re.ASCII) for sign in ",."}
_MOSTLY = 0.5  # fraction of the characters of a text
_FEWEST_DECIMALS = 5  # numbers by which the decimal point is told
# Raised for damaged archives, and for those of a version or with a password that is not supported.
_OF_ARCHIVES = (zipfile.BadZipFile, RuntimeError, zlib.error, lzma.LZMAError, struct.error)


@dataclass(frozen=True)
class TextFile:
    """Text in a file.

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
        What the line after the last one begins with.
    """

    path: Path
    usual: str = ","
    separator: str | None = None
    encoding: str = UTF8
    skip_rows: int = 0
    member: str | None = None
    function: str = "read_table"
    until: bytes = b""

    @classmethod
    def of(cls, path: Path, usual: str, request: Request) -> TextFile:
        """Return the text that a request asks for.

        Raises
        ------
        ValueError
            If an option is not as documented.
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
        text = cls(path, usual, *asked, function)
        text._check_content()
        return text

    def _check_content(self) -> None:
        """Raise ValueError if the first bytes are those of compressed data or of UTF-16 text."""
        with suppress(OSError, EOFError), self._unpacked() as stream:  # else reading says why
            head = bytes(stream.read(_HEAD))
            for mark, (what, name) in _PACKED.items():
                if head.startswith(mark):
                    twice = self.path.suffix.lower() in COMPRESSIONS
                    hint = "decompress it once" if twice else f"call it {name.format(self.path)}"
                    raise ValueError(
                        f"{self.function}: {self.path} must hold text, but "
                        f"{'its decompressed content' if twice else 'it'} is {what}. Hint: {hint}"
                    )
            if self.encoding == UTF8 and (encoding := _utf16(head)):
                raise ValueError(
                    f"{self.function}: {self.path} is UTF-16 text, not UTF-8. Hint: "
                    f"encoding={encoding!r} (--encoding {encoding})"
                )

    @cached_property
    def archived(self) -> bool:
        """True if the file is a .zip archive."""
        return self.path.suffix.lower() == ZIP

    @property
    def size(self) -> int:
        """Bytes of the text, as far as they are known: compressed ones where it is compressed."""
        if self.archived:
            with suppress(OSError, *_OF_ARCHIVES), zipfile.ZipFile(self.path) as archive:
                parts = {member.filename: member.file_size for member in archive.infolist()}
                return parts[self._chosen(list(parts))]
        return self.path.stat().st_size

    @contextmanager
    def opened(self, *, metered: bool = False) -> Iterator[Any]:
        """Open the text, as a stream of bytes that ends with a line end.

        `metered` raises MemoryError before all memory is taken: a compressed file does not say how
        large its text is.
        """
        with self._decoded() as stream:
            blocks = self._blocks(stream)
            yield _buffered(self._metered(blocks) if metered else blocks)

    def _blocks(self, stream: Any) -> Iterator[bytes]:
        """Yield the text from the line that names the columns on."""
        first = self._header
        rest = _after(stream, self.skipped + bool(first))
        if first:
            yield first
        if self.until:
            yield from _before(self.until, self.buffered(rest))
        else:
            yield from iter(lambda: rest.read(_BLOCK), b"")
        yield b"\n"  # Arrow takes an empty last field without it for quoted if another one is

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

    @staticmethod
    def buffered(stream: Any) -> Any:
        """Return a stream that gives lines."""
        return _buffered(iter(lambda: stream.read(_BLOCK), b""))

    def head(self, size: int) -> bytes:
        """Return the first bytes of all of the text; none where they cannot be read."""
        try:
            with self._decoded() as stream:
                return bytes(stream.read(size))
        except (OSError, EOFError, ValueError):
            return b""

    @contextmanager
    def all_lines(self) -> Iterator[Any]:
        """Open all of the text, from its first byte on, as lines."""
        with self._decoded() as stream:
            yield self.buffered(stream)

    @cached_property
    def delimiter(self) -> str:
        """Separator that was asked for, or told by the first lines.

        Another one than the usual only where that one does not cut all lines into as many fields,
        and the other does; a space only where each line has a number.
        """
        if self.separator is not None:
            return self.separator
        lines: list[str] = self._lines[self.skipped :]
        usual = self.usual or "\t"
        signs: dict[str, None] = dict.fromkeys((usual, *ANY))
        for lacking in (0, 1):  # fields of the header, as R writes it
            n_fields = {sign: _fields(lines, sign, lacking) for sign in signs}
            if self.usual and (lacking or not all(map(_has_number, lines[1:_LINES]))):
                n_fields[" "] = 1  # words of a text, or numbers with a unit
            if n_fields[usual] > 1:
                return usual
            if max(n_fields.values()) > 1:
                break
        return max(n_fields, key=lambda sign: n_fields[sign])

    @property
    def n_fields(self) -> int:
        """Number of fields of the first line, as far as it is within the first bytes."""
        return next((line.count(self.delimiter) + 1 for line in self._lines[self.skipped :]), 0)

    @cached_property
    def decimal_commas(self) -> tuple[str, ...]:
        """Numbers with decimal commas in the first lines; none where they may be something else.

        Where commas do not separate fields, some numbers have them, none has a point, and not all
        of them may be thousands.
        """
        if self.delimiter == ",":
            return ()
        try:
            rows = csv.reader(self._lines[self.skipped + 1 :], delimiter=self.delimiter)
            fields = dict.fromkeys(islice((field for row in rows for field in row), _MOST_FIELDS))
        except csv.Error:
            return ()
        if any(_DECIMAL["."].fullmatch(field) for field in fields):
            return ()
        fractions = {f: match[1] for f in fields if (match := _DECIMAL[","].fullmatch(f))}
        some = any(len(fraction) != 3 for fraction in fractions.values())
        return tuple(fractions) if some and len(fractions) >= _FEWEST_DECIMALS else ()

    @property
    def sign(self) -> bytes:
        """The separator, as bytes."""
        return self.delimiter.encode()

    # --- bytes ------------------------------------------------------------------------------------

    @contextmanager
    def _decoded(self) -> Iterator[Any]:
        """Open all of the text, as UTF-8."""
        with ExitStack() as stack:
            stream = stack.enter_context(self._unpacked())
            if self.encoding != UTF8:
                blocks = _recoded(stream, self.encoding)
                stream = _buffered(self._readable(blocks))
            yield stream

    def _readable(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield blocks; says so where they are not in the encoding."""
        try:
            yield from blocks
        except UnicodeError as error:
            raise ValueError(
                f"{self.function}: {self.path} is not text in {self.encoding} ({error}); check "
                "encoding (--encoding)"
            ) from None

    @contextmanager
    def _unpacked(self) -> Iterator[Any]:
        if self.archived:
            with self._member() as stream:
                yield stream
        else:
            with pa.input_stream(self.path, compression="detect") as stream:
                yield stream

    @contextmanager
    def _member(self) -> Iterator[Any]:
        """Open the file in a .zip archive."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                name = self._chosen([member.filename for member in archive.infolist()])
                with archive.open(name) as stream:
                    yield stream
        except _OF_ARCHIVES as error:
            raise ValueError(f"{self.function}: cannot read {self.path} ({error})") from None

    def _chosen(self, names: list[str]) -> str:
        """Return the name of the file to take of an archive."""
        tables = [name for name in names if not name.endswith("/") and not _is_hidden(name)]
        if self.member is not None and self.member not in tables:
            self._refuse_members("has no file", tables, self.member)
        if self.member is None and len(tables) != 1:
            tables.sort(key=lambda name: Path(name).suffix.lower() not in _TABLES)
            self._refuse_members("holds several files" if tables else "holds no file", tables)
        return self.member or tables[0]

    def _refuse_members(self, what: str, names: list[str], asked: str = "") -> NoReturn:
        shown = ", ".join(map(quoted, names[:_SHOWN])) + (", ..." if len(names) > _SHOWN else "")
        first = names[0] if names else ""
        hint = (
            f". Hint: member={first!r} (--member {shlex.quote(first)}) takes one of text; unzip it "
            "for others"
            if first
            else ""
        )
        there = f": {shown}" if names else ""
        named = f" {quoted(asked)}" if asked else ""
        raise ValueError(f"{self.function}: {self.path} {what}{named}{there}{hint}")

    # --- the first lines --------------------------------------------------------------------------

    @cached_property
    def _lines(self) -> list[str]:
        """The first lines of all of the text; none where they cannot be read."""
        try:
            with self._decoded() as stream:
                stream = _after(stream, self.skip_rows)
                text: bytes = stream.read(_HEAD)
                while text.count(b"\n") < _FEWEST_LINES and len(text) < _WIDEST:
                    block = stream.read(_BLOCK)
                    text += block
                    if not block:
                        break
                whole = len(text) < _HEAD or not stream.read(1)
        except (OSError, EOFError):
            return []  # reading it says what is wrong
        lines = text.removeprefix(BOM).decode(UTF8, "replace").splitlines()
        if not whole and len(lines) > 1:
            lines.pop()  # it may be cut
        return [""] * self.skip_rows + lines

    @cached_property
    def skipped(self) -> int:
        """Number of lines before the one that names the columns: as asked for, and comments."""
        count, lines = self.skip_rows, self._lines
        if len(lines) > count and _OF_EXCEL.fullmatch(lines[count].encode()):
            count += 1
        while len(lines) > count + 1 and _is_comment(lines[count], lines[count + 1]):
            count += 1
        return count

    @cached_property
    def _header(self) -> bytes:
        """Line of names in place of the one that lacks a field: R's, or of rows that end in one.

        Empty where the line may stay as it is.
        """
        lines = self._lines[self.skipped :]
        if _fields(lines, self.delimiter, lacking=1) == 1:
            return b""
        try:
            rows = [row for row in csv.reader(lines, delimiter=self.delimiter) if row][:_LINES]
        except csv.Error:
            return b""
        if len(rows) < 3 or {len(row) for row in rows[1:]} != {len(rows[0]) + 1}:
            return b""
        sign, line = self.delimiter, next(line for line in lines if line)
        if not any(row[-1] for row in rows[1:]):
            return f"{line}{sign}\n".encode()
        is_names = _are_names(lines, rows, sign) and is_data(rows[1], rows[2:])
        return f"{sign}{line}\n".encode() if is_names else b""


def _utf16(head: bytes) -> str | None:
    """Return the encoding of UTF-16 text.

    Without a byte order mark it is known by its Latin letters, whose other bytes are zero.
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    high, low = head[::2].count(0), head[1::2].count(0)  # of big-endian text
    if not head or max(high, low) < _MOSTLY * len(head) / 2 or min(high, low):
        return None
    return "utf-16-be" if high else "utf-16-le"


def _is_hidden(name: str) -> bool:
    """Tell whether a file in an archive is one that a system adds."""
    return name.startswith("__MACOSX/") or Path(name).name.startswith(".")


def _fields(lines: list[str], separator: str, lacking: int) -> int:
    """Return the number of fields of the first lines, or 1 where they differ in it.

    The very first one lacks so many.
    """
    try:
        rows = csv.reader(lines, delimiter=separator)
        counts = [len(row) for row in islice(rows, _LINES) if row]
    except csv.Error:
        return 1
    if lacking and counts:
        counts[0] += lacking
    return counts[0] if len(set(counts)) == 1 else 1


def _has_number(line: str) -> bool:
    """Tell whether a word of a line is a number; true of an empty line."""
    return not line or any(map(_NUMBER.fullmatch, line.split()))


def _is_comment(line: str, following: str) -> bool:
    """Tell whether a line is a comment: one with # that is not cut as the next one is."""
    if not line.startswith("#"):
        return False
    sign = max(ANY, key=following.count)
    return line.startswith("##") or line.count(sign) != following.count(sign)


def _are_names(lines: list[str], rows: list[list[str]], sign: str) -> bool:
    """Tell whether the first fields are names of rows, or their numbers, and no number is cut.

    Where commas separate fields, they are names only in quotes: a comma within a number would make
    as many fields.
    """
    names = [row[0] for row in rows[1:]]
    if len(set(names)) < len(names):
        return False
    numbered = names == [str(i + 1) for i in range(len(names))]
    quoted_names = all(
        line.startswith('"') for line in [line_ for line_ in lines if line_][1:_LINES]
    )
    return numbered or quoted_names or sign not in (",", ";")


def is_data(row: list[str], others: list[list[str]]) -> bool:
    """Tell whether a row has a number wherever all others have, and there is such a place."""
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


def _buffered(blocks: Iterator[bytes]) -> Any:
    return io.BufferedReader(_Blocks(blocks))


def _after(stream: Any, count: int) -> Any:
    """Return the stream after so many lines."""
    if not count:
        return stream
    buffered = TextFile.buffered(stream)
    for _ in range(count):
        buffered.readline()
    return buffered


def _before(mark: bytes, stream: Any) -> Iterator[bytes]:
    """Yield the lines before one that begins with a mark."""
    for line in iter(stream.readline, b""):
        if line.startswith(mark):
            return
        yield line


def _recoded(stream: Any, encoding: str) -> Iterator[bytes]:
    """Yield text in UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)()
    while block := stream.read(_BLOCK):
        yield decoder.decode(block).encode(UTF8)
    yield decoder.decode(b"", final=True).encode(UTF8)


_FOLLOWING = 20  # rows after one of another length, by which it is told whether it is a header


def explain_encoding(text: TextFile) -> None:
    """Raise for the first byte that is not UTF-8, if there is one."""
    offset = 0
    with suppress(OSError), text.all_lines() as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode(UTF8)
            except UnicodeDecodeError as error:
                if number > text.skipped:
                    raise ValueError(
                        f"{text.function}: {text.path} is not UTF-8 text: byte "
                        f"{line[error.start]:#04x} at offset {offset + error.start} (line "
                        f"{number}); it may be latin-1 or cp1252. Hint: encoding='latin-1' "
                        "(--encoding latin-1) or encoding='cp1252' (--encoding cp1252)"
                    ) from None
            offset += len(line)


def explain_ragged(text: TextFile) -> None:
    """Raise for the first row that is longer or shorter than the header, if there is one."""
    delimiter = text.delimiter
    try:
        with (
            text.opened() as stream,
            io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="") as lines,
        ):
            rows = csv.reader(lines, delimiter=delimiter)
            header: list[str] = []
            while not header:  # empty lines before it do not count
                header = next(rows)
            for row in rows:
                if row and len(row) != len(header):
                    at = text.skipped + rows.line_num
                    following = [other for other in islice(rows, _FOLLOWING) if other]
                    raise _ragged(text, header, row, at, following)
    except (OSError, csv.Error, StopIteration):
        return


def _ragged(
    text: TextFile, header: list[str], row: list[str], line: int, following: list[list[str]]
) -> ValueError:
    """Return the error about a row that is longer or shorter than the header."""
    fields = f"{len(row)} {'field' if len(row) == 1 else 'fields'}"
    alike = len(row) > len(header) and all(len(other) == len(row) for other in following)
    hint = (
        f"mend that line (quote fields that hold the delimiter {text.delimiter!r}), or check that "
        "the delimiter is right"
    )
    if alike and not (following and is_data(row, following)):
        skip = line - 1
        hint = (
            f"if that line names the columns, skip_rows={skip} (--skip-rows {skip}) begins there; "
            "if it is a row, add the missing name to the header"
        )
    elif alike and header[1:2] == [str(len(row) - 1)]:  # as in files of scikit-learn
        hint = f"put a line with {len(row)} names in its place"
    elif len(row) > len(header) and not any(row[len(header) :]):
        hint = f"remove the {text.delimiter!r} at the end of that line"
    return ValueError(
        f"{text.function}: {text.path} has {fields} in line {line}, but its header has "
        f"{len(header)}. Hint: {hint}"
    )


@contextmanager
def explained(text: TextFile) -> Iterator[None]:
    """Raise ValueError that says what is wrong with a file where reading or parsing fails."""
    try:
        yield
    except (pa.ArrowException, OSError, EOFError, csv.Error, UnicodeError, UnclosedQuote) as error:
        explain_encoding(text)
        explain_ragged(text)
        what = first_line(error) if str(error) else "a quote is not closed"
        raise ValueError(f"{text.function}: cannot read {text.path} ({what})") from None
