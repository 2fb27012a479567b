"""Lines of delimited text, cut into fields without looking at what is in them.

The rules are those of Arrow's reader: lines end with LF, CR or both, empty ones do not count; a
field that begins with a quote ends at the next quote that is not doubled, and may hold delimiters
and line ends; any other quote is a character like others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import IntArray

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
        found = field.match(data, at)
        assert found is not None  # an empty field matches
        if found["open"] is not None:
            return np.array(cuts, np.int64), np.array(ends, np.int64), at
        at = found.end()
        if at < size:
            (cuts if data[at : at + 1] == delimiter else ends).append(at)
            at += 1
    return np.array(cuts, np.int64), np.array(ends, np.int64), None


def unquoted(field: bytes) -> bytes:
    """Return the text of a field, without the quotes around it."""
    if not field.startswith(b'"'):
        return field
    found = re.compile(rb'"([^"]*(?:""[^"]*)*)"').match(field)
    if found is None:
        return field
    return found[1].replace(b'""', b'"') + field[found.end() :]
