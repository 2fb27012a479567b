"""The form of a packed store: a folder of plain files, little-endian.

=================  =================================================================================
``header.json``    shape, fingerprint, source, and size and CRC-32 of every other file; written last
``columns.bin``    a record for each column, `COLUMN`
``codes.u1`` ...   the codes of the columns that take one, two, four bytes a code (``codes.u2``,
                   ``codes.u4``), those of a column one after the other, columns in their order
``codes.b2``       the codes of the columns that have four at most, such as genotypes, in two bits,
                   the first row in the lowest; a column begins with a byte
``values.f8``      the values of the columns, as in `EncodedTable.cut_values`
``names.bin``      the names of the columns in UTF-8
``labels.bin``     the labels of ordinal and nominal columns, see `labels_to_bytes`
``samples.arrow``  sample annotations, where there are any
``variants.arrow`` where the columns lie on the genome, where that is known
=================  =================================================================================
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from duramen.data.encoded import EncodedTable
from duramen.support.arrays import IntArray
from duramen.support.arrow import pa

WHAT = "column store"
FORMAT = 4

HEADER = "header.json"
COLUMNS = "columns.bin"
CODES = ("codes.u1", "codes.u2", "codes.u4", "codes.b2")
VALUES = "values.f8"
NAMES = "names.bin"
LABELS = "labels.bin"
SAMPLES = "samples.arrow"
VARIANTS = "variants.arrow"
NEEDED = (COLUMNS, *CODES, VALUES, NAMES, LABELS)  # in every store, which grow by group
BESIDE = (SAMPLES, VARIANTS)  # not in every store

CODE_TYPES = (np.dtype("<u1"), np.dtype("<u2"), np.dtype("<u4"))
QUARTERS = 3  # place in `CODES` of the file with two bits a code

# Checks are CRC-32: of the codes, and of the name, the values and the labels one after the other.
# The check of codes in two bits is that of the same codes in bytes.
COLUMN = np.dtype(
    [
        ("file", "u1"),  # place in `CODES`
        ("kind", "u1"),
        ("missing", "u1"),  # 1 where values are missing
        ("n_values", "<u4"),
        ("n_missing", "<u4"),
        ("n_name", "<u4"),
        ("n_labels", "<u8"),
        ("codes_check", "<u4"),
        ("words_check", "<u4"),
    ]
)


def variants_schema() -> pa.Schema:
    """Return the columns of `VARIANTS`."""
    names = ("chromosome", "position", "allele_1", "allele_2")
    return pa.schema([(name, pa.int64() if name == "position" else pa.string()) for name in names])


# --- names ----------------------------------------------------------------------------------------


def offsets_of(sizes: NDArray[np.unsignedinteger]) -> NDArray[Any]:
    """Return the starts of runs and the end of the last run, in a narrow type if possible."""
    total = int(sizes.sum(dtype=np.uint64))
    offsets = np.zeros(len(sizes) + 1, dtype=np.uint32 if total < 2**32 else np.uint64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


class Names(Sequence[str]):
    """Names of columns, which are decoded from bytes when they are used."""

    def __init__(self, data: bytes, sizes: NDArray[np.unsignedinteger]) -> None:
        self.data, self._offsets = data, offsets_of(sizes)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, index: Any) -> Any:
        chosen = np.arange(len(self))[index]
        names = [name.decode("utf-8", "surrogatepass") for name in self.words(chosen)]
        return names if chosen.ndim else names[0]

    def words(self, chosen: Any) -> list[bytes]:
        """Return names as bytes."""
        chosen = np.atleast_1d(chosen)
        begins, ends = self._offsets[chosen].tolist(), self._offsets[chosen + 1].tolist()
        return [self.data[begin:end] for begin, end in zip(begins, ends, strict=True)]

    def find(self, name: str) -> int | None:
        """Return the number of the column with a name, or None."""
        word, letters = name_bytes(name), np.frombuffer(self.data, dtype=np.uint8)
        places = np.flatnonzero(np.diff(self._offsets) == len(word))
        for i, letter in enumerate(word):
            places = places[letters[self._offsets[places] + i] == letter]
        return int(places[0]) if len(places) else None

    def repeated(self) -> list[str]:
        """Return the names that occur more than once.

        Names are compared where their hashes are equal: eight bytes for each name.
        """
        hashes = np.fromiter(map(hash, self._each()), dtype=np.int64, count=len(self))
        ordered = np.sort(hashes)
        suspects = np.isin(hashes, ordered[1:][np.diff(ordered) == 0])
        words = self.words(np.flatnonzero(suspects))
        return [word.decode("utf-8", "replace") for word, n in Counter(words).items() if n > 1]

    def _each(self) -> Iterator[bytes]:
        for begin in range(0, len(self), 1 << 16):
            yield from self.words(np.arange(begin, min(begin + (1 << 16), len(self))))


def name_bytes(name: str) -> bytes:
    """Return the bytes of a name on disk."""
    return name.encode("utf-8", "surrogatepass")


def names_of(names: Iterable[str]) -> Names:
    """Return names in their bytes."""
    data, sizes = bytearray(), array("I")
    for name in names:
        word = name_bytes(name)
        data += word
        sizes.append(len(word))
    return Names(bytes(data), np.frombuffer(sizes, dtype=np.uint32))


# --- columns --------------------------------------------------------------------------------------


def labels_to_bytes(labels: NDArray[Any]) -> bytes:
    """Return the bytes of labels on disk: JSON of their type and a list."""
    kind = "O" if labels.dtype == object else labels.dtype.newbyteorder("<").str
    return json.dumps([kind, labels.tolist()]).encode("ascii")


def labels_of_bytes(data: bytes, count: int) -> NDArray[Any]:
    """Return `count` labels from their bytes on disk; ValueError for another number."""
    try:
        kind, values = json.loads(data)
        plain = kind == "O" or (kind[-2:-1] in ("b", "i", "u", "f") and kind[-1:].isdecimal())
        labels = np.array(values, dtype=kind) if plain else None
    except (ValueError, TypeError, OverflowError, RecursionError):
        labels = None
    if labels is None or labels.shape != (count,):
        raise ValueError(f"a column of {count} values must have {count} labels")
    if labels.dtype == object and not all(isinstance(label, str) for label in values):
        raise ValueError("labels of a column are not text")
    return labels.astype(labels.dtype.newbyteorder("="), copy=False)


def columns_of(table: EncodedTable) -> dict[str, Any]:
    """Return the content to append to each of the files `NEEDED` for columns of a table."""
    table = table.dense()
    records = np.zeros(table.n_columns, dtype=COLUMN)
    records["file"], records["kind"] = table.block_of, table.kind_codes
    records["missing"], records["n_values"] = table.missing, np.diff(table.value_offsets)
    blocks: dict[str, Any] = {}
    for number, name in enumerate(CODES[:QUARTERS]):
        here = np.flatnonzero(table.block_of == number)
        block: NDArray[Any] = table.blocks[number]
        if not np.array_equal(table.slot[here], np.arange(len(block))):
            block = block[table.slot[here]]
        block = np.ascontiguousarray(block, dtype=CODE_TYPES[number])
        records["codes_check"][here] = [crc32(row) for row in block]
        gaps = np.flatnonzero(table.missing[here])
        last = records["n_values"][here[gaps], np.newaxis]
        records["n_missing"][here[gaps]] = np.count_nonzero(block[gaps] == last, axis=1)
        if number == 0:
            few = records["n_values"][here] + table.missing[here] <= 4
            records["file"][here[few]] = QUARTERS
            blocks[CODES[QUARTERS]] = in_two_bits(block, np.flatnonzero(few))
            block = block[~few] if few.any() else block
        blocks[name] = block
    values = np.ascontiguousarray(table.cut_values, dtype="<f8").view(np.uint8)
    ends = (8 * table.value_offsets).tolist()
    names = [name_bytes(name) for name in table.names]
    labels = {j: labels_to_bytes(table.labels[j]) for j in sorted(table.labels)}
    records["n_name"] = [len(name) for name in names]
    checks = [
        crc32(values.data[begin:end], crc32(name))
        for name, (begin, end) in zip(names, pairwise(ends), strict=True)
    ]
    for j, label in labels.items():
        records["n_labels"][j] = len(label)
        checks[j] = crc32(label, checks[j])
    records["words_check"] = checks
    words = {NAMES: b"".join(names), LABELS: b"".join(labels.values())}
    return {COLUMNS: records, **blocks, VALUES: values[ends[0] : ends[-1]], **words}


def row_bytes(number: int, n_rows: int) -> int:
    """Return the bytes that a column takes in a file of codes."""
    return (n_rows + 3) // 4 if number == QUARTERS else n_rows * CODE_TYPES[number].itemsize


def in_two_bits(codes: NDArray[np.uint8], columns: IntArray) -> NDArray[np.uint8]:
    """Return the codes of columns, all below 4, in two bits each.

    `codes` has the shape (k, n), and `columns` says which of its rows are meant; the result has the
    shape (len(columns), ceil(n / 4)).
    """
    n_rows = codes.shape[1]
    packed = np.empty((len(columns), row_bytes(QUARTERS, n_rows)), dtype=np.uint8)
    step = max(1, _AT_A_TIME // max(1, n_rows))
    for begin in range(0, len(columns), step):
        some = columns[begin : begin + step]
        parts = np.zeros((len(some), packed.shape[1], 4), dtype=np.uint8)
        parts.reshape(len(some), -1)[:, :n_rows] = codes[some]
        into = packed[begin : begin + len(some)]
        np.copyto(into, parts[..., 0])
        for place in (1, 2, 3):
            into |= parts[..., place] << 2 * place
    return packed


# The four codes in a byte, as one number in the order of this machine.
_FOUR = np.stack([np.arange(256) >> shift & 3 for shift in (0, 2, 4, 6)], axis=1)
_FOUR_CODES = np.ascontiguousarray(_FOUR, dtype=np.uint8).view(np.uint32).ravel()
_AT_A_TIME = 1 << 20  # codes, put into two bits


def codes_of_bytes(data: Any, number: int, n_rows: int) -> NDArray[Any]:
    """Return the codes in bytes of the file of codes of that number, of shape (k, n)."""
    if number != QUARTERS:
        return np.frombuffer(data, dtype=CODE_TYPES[number]).reshape(-1, n_rows)
    packed = np.frombuffer(data, dtype=np.uint8).reshape(-1, row_bytes(number, n_rows))
    codes = _FOUR_CODES.take(packed).view(np.uint8)
    return np.ascontiguousarray(codes[:, :n_rows])


def fingerprint_of(n_rows: int, named: bool, records: NDArray[Any]) -> str:
    """Return the fingerprint of a store: 64 hexadecimal digits.

    It depends on names, kinds, codes, values and labels, in their order, and on nothing else:
    neither on where the columns came from nor on how they were packed. It notices accidents, and
    is no defence against forgery.
    """
    total = sha256(f"{WHAT} {n_rows} {len(records)} {int(named)}\n".encode())
    fields = [name for name in COLUMN.names or () if name not in ("file", "n_name", "n_labels")]
    for begin in range(0, len(records), _AT_A_TIME):
        part = records[begin : begin + _AT_A_TIME]
        for name in fields:
            total.update(np.ascontiguousarray(part[name]).tobytes())
    return total.hexdigest()


# --- header ---------------------------------------------------------------------------------------


def header_to_bytes(header: Mapping[str, Any]) -> bytes:
    """Return the bytes of the header on disk, with a checksum."""
    return json.dumps({**header, "check": _check(header)}, indent=1, allow_nan=False).encode()


def header_of_bytes(data: bytes, where: str, function: str) -> dict[str, Any]:
    """Return the header of its bytes on disk; ValueError if altered, or of another version."""
    try:
        header = json.loads(data)
        what, number, check = header["what"], header["format"], header.pop("check")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{function}: {where} is not the header of a column store ({type(error).__name__}: "
            f"{error}); pack the table again"
        ) from None
    if what != WHAT or not isinstance(number, int):
        raise ValueError(f"{function}: {where} describes a {what!r}, not a {WHAT}")
    if number != FORMAT:
        later = number > FORMAT
        raise ValueError(
            f"{function}: {where} has format {number}, this version reads {FORMAT}; "
            f"{'a later' if later else 'an earlier'} duramen packed it: "
            f"{'upgrade, or ' if later else ''}pack the table again"
        )
    files, needed = header.get("files"), set(NEEDED)
    sound = isinstance(files, dict) and needed <= set(files) <= needed | set(BESIDE)
    if sound:  # names only files of a store, and all files that every store has
        entries = [entry if isinstance(entry, dict) else {} for entry in files.values()]
        sizes = [entry.get(key) for entry in entries for key in ("size", "crc32")]
        counts = [header.get(key) for key in ("n_rows", "n_columns")]
        sound = (
            all(type(size) is int and 0 <= size < 2**63 for size in sizes)
            and all(type(count) is int and 1 <= count < 2**63 for count in counts)
            and isinstance(header.get("named"), bool)
            and isinstance(header.get("fingerprint"), str)
        )
    if check != _check(header) or not sound:
        raise ValueError(
            f"{function}: {where} is damaged: it does not match its own check; pack the table again"
        )
    return dict(header)


def _check(header: Mapping[str, Any]) -> int:
    return crc32(json.dumps(header, sort_keys=True, allow_nan=False).encode())
