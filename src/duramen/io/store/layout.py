"""The form of a packed store: a folder of plain files, little-endian, and what is in each.

=================  =================================================================================
``header.json``    shape, fingerprint, source, and size and CRC-32 of every other file; written last
``codes.b2``       the codes of the columns that have four at most, such as genotypes, in two bits,
                   the first row in the lowest; a column begins with a byte
``codes.u1`` ...   the codes of the other columns that take one, two, four bytes a code
                   (``codes.u2``, ``codes.u4``), those of a column one after the other, columns in
                   their order
``columns.bin``    a record for each column, `COLUMN`
``values.f8``      the values of the columns, as in `EncodedTable.cut_values`
``names.bin``      the names in UTF-8; empty where they are ``x0``, ``x1``, ...
``labels.bin``     the labels of ordinal and nominal columns, see `labels_to_bytes`
``samples.arrow``  what is known of the rows, where anything is
``variants.arrow`` where the columns lie on the genome, where that is known
=================  =================================================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
FORMAT = 3

HEADER = "header.json"
CODES = ("codes.u1", "codes.u2", "codes.u4")
QUARTERS = "codes.b2"
COLUMNS = "columns.bin"
VALUES = "values.f8"
NAMES = "names.bin"
LABELS = "labels.bin"
SAMPLES = "samples.arrow"
VARIANTS = "variants.arrow"
BESIDE = (SAMPLES, VARIANTS)  # not in every store
NEEDED = (*CODES, QUARTERS, COLUMNS, VALUES, NAMES, LABELS)  # in every store, which grow by group

CODE_TYPES = (np.dtype("<u1"), np.dtype("<u2"), np.dtype("<u4"))

# flags: block in bits 0 and 1, kind in 2 and 3, whether values are missing in 4, `IN_TWO_BITS`.
# Checks are CRC-32: of the codes, and of the name, the values and the labels one after the other.
# The check of codes in two bits is that of the same codes in bytes.
COLUMN = np.dtype(
    [
        ("flags", "u1"),
        ("n_values", "<u4"),
        ("n_missing", "<u4"),
        ("n_name", "<u4"),
        ("n_labels", "<u8"),
        ("codes_check", "<u4"),
        ("words_check", "<u4"),
    ]
)
IN_TWO_BITS = 1 << 5  # of block 0, and in `QUARTERS`


def variants_schema() -> pa.Schema:
    """Return the columns of `VARIANTS`."""
    names = ("chromosome", "position", "allele_1", "allele_2")
    return pa.schema([(name, pa.int64() if name == "position" else pa.string()) for name in names])


def name_bytes(name: str) -> bytes:
    """Return a name as it lies on disk."""
    return name.encode("utf-8", "surrogatepass")


def name_of_bytes(data: bytes) -> str:
    """Return the name of its bytes on disk."""
    return data.decode("utf-8", "surrogatepass")


def labels_to_bytes(labels: NDArray[Any]) -> bytes:
    """Return labels as they lie on disk.

    A byte with the length of the type's name, the name, then the numbers; of strings, whose type
    is called ``O``, the lengths in UTF-8 as uint32, then the strings.
    """
    if labels.dtype == object:
        texts = [name_bytes(text) for text in labels]
        sizes = np.array([len(text) for text in texts], dtype="<u4")
        return b"\x01O" + sizes.tobytes() + b"".join(texts)
    little = labels.astype(labels.dtype.newbyteorder("<"), copy=False)
    kind = little.dtype.str.encode("ascii")
    return bytes([len(kind)]) + kind + little.tobytes()


def labels_of_bytes(data: bytes, count: int) -> NDArray[Any]:
    """Return `count` labels of their bytes on disk; ValueError if they are not of so many."""
    begin = 1 + (data[0] if data else 0)
    kind = data[1:begin].decode("ascii", "replace")
    if kind != "O":
        if kind[-2:-1] not in ("b", "i", "u", "f") or not kind[-1:].isdecimal():
            raise ValueError(f"labels of a column have the type {kind!r}")
        read = np.frombuffer(data[begin:], dtype=np.dtype(kind))
        if len(read) != count:
            raise ValueError(f"a column of {count} values has {len(read)} labels")
        return read.astype(read.dtype.newbyteorder("="))
    if len(data) < begin + 4 * count:
        raise ValueError(f"a column has no {count} labels")
    sizes = np.frombuffer(data, dtype="<u4", count=count, offset=begin)
    ends = begin + 4 * count + np.cumsum(sizes, dtype=np.int64)
    if len(data) != (ends[-1] if count else begin):
        raise ValueError(f"the labels of a column do not have {len(data)} bytes")
    labels = np.empty(count, dtype=object)
    for i, (end, size) in enumerate(zip(ends.tolist(), sizes.tolist(), strict=True)):
        labels[i] = name_of_bytes(data[end - size : end])
    return labels


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of a table as they lie on disk.

    Attributes
    ----------
    records : ndarray of `COLUMN`, shape (p,)
    data : mapping of str to bytes-like
        What to append to the files `CODES`, `QUARTERS`, `VALUES`, `NAMES` and `LABELS`.
    """

    records: NDArray[Any]
    data: Mapping[str, Any]


def columns_of(table: EncodedTable) -> Columns:
    """Put the columns of a table into the form of the disk."""
    table = table.dense()
    records = np.zeros(table.n_columns, dtype=COLUMN)
    records["flags"] = table.block_of | table.kind_codes << 2 | table.missing << 4
    records["n_values"] = np.diff(table.value_offsets)
    blocks = [_in_order(table, number) for number in range(3)]
    for number, block in enumerate(blocks):
        here = table.block_of == number
        if not here.any():
            continue
        records["codes_check"][here] = [crc32(row) for row in block]
        gaps = table.missing[here].astype(bool)
        last = records["n_values"][here][gaps, np.newaxis]
        records["n_missing"][np.flatnonzero(here)[gaps]] = np.count_nonzero(
            block[gaps] == last, axis=1
        )
    few = (table.block_of == 0) & (records["n_values"] + table.missing <= 4)
    records["flags"][few] |= IN_TWO_BITS
    small = few[table.block_of == 0]
    quarters = in_two_bits(blocks[0], np.flatnonzero(small))
    if small.any():
        blocks[0] = blocks[0][~small]
    values = np.ascontiguousarray(table.cut_values, dtype="<f8").view(np.uint8)
    ends = (8 * table.value_offsets).tolist()
    names = [name_bytes(name) for name in table.names] if table.named else [b""] * table.n_columns
    labels = {j: labels_to_bytes(table.labels[j]) for j in sorted(table.labels)}
    own = [values.data[begin:end] for begin, end in pairwise(ends)]
    records["n_name"] = [len(name) for name in names]
    checks = [crc32(list_, crc32(name)) for name, list_ in zip(names, own, strict=True)]
    for j, label in labels.items():
        records["n_labels"][j] = len(label)
        checks[j] = crc32(label, checks[j])
    records["words_check"] = checks
    words: dict[str, Iterable[Any]] = {VALUES: own, NAMES: names, LABELS: labels.values()}
    data = {name: b"".join(parts) for name, parts in words.items()}
    return Columns(records, {**dict(zip(CODES, blocks, strict=True)), QUARTERS: quarters, **data})


def _in_order(table: EncodedTable, number: int) -> NDArray[Any]:
    """Return the codes of the columns in a block, in the order of the columns."""
    slots = table.slot[table.block_of == number]
    block: NDArray[Any] = table.blocks[number]
    if len(slots) != len(block) or (len(slots) and (np.diff(slots) != 1).any()):
        block = block[slots]
    return np.ascontiguousarray(block, dtype=CODE_TYPES[number])


def in_two_bits(codes: NDArray[np.uint8], columns: IntArray) -> NDArray[np.uint8]:
    """Return the codes of columns, all below 4, in two bits each.

    `codes` has the shape (k, n), and `columns` says which of its rows are meant; the result has the
    shape (len(columns), ceil(n / 4)).
    """
    n_rows = codes.shape[1]
    packed = np.empty((len(columns), quarter_bytes(n_rows)), dtype=np.uint8)
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


def quarter_bytes(n_rows: int) -> int:
    """Return the bytes of a column in two bits."""
    return (n_rows + 3) // 4


# The four codes in a byte, as one number in the order of this machine.
_FOUR = np.stack([np.arange(256) >> shift & 3 for shift in (0, 2, 4, 6)], axis=1)
_FOUR_CODES = np.ascontiguousarray(_FOUR, dtype=np.uint8).view(np.uint32).ravel()


def of_two_bits(packed: NDArray[np.uint8], n_rows: int) -> NDArray[np.uint8]:
    """Return the codes that `in_two_bits` put into bytes, of shape (k, n)."""
    codes = _FOUR_CODES.take(packed).view(np.uint8)
    return np.ascontiguousarray(codes[:, :n_rows])


_AT_A_TIME = 1 << 20  # codes, put into two bits


def words_check(name: bytes, values: bytes | memoryview, labels: bytes) -> int:
    """Return the CRC-32 of all that a column has beside its codes."""
    total = crc32(name) if name else 0
    total = crc32(values, total)
    return crc32(labels, total) if labels else total


def fingerprint_of(
    n_rows: int, n_columns: int, named: bool, records: Iterable[NDArray[Any]]
) -> str:
    """Return the fingerprint of a store: 64 hexadecimal digits.

    It depends on names, kinds, codes, values and labels, in their order, and on nothing else:
    neither on where the columns came from nor on how they were packed. It notices accidents, and
    is no defence against forgery.
    """
    identifying = [name for name in COLUMN.names or () if name not in ("n_name", "n_labels")]
    packed = np.dtype([(name, COLUMN[name]) for name in identifying])
    total = sha256(f"{WHAT} {n_rows} {n_columns} {int(named)}\n".encode())
    for part in records:
        chosen = np.empty(len(part), dtype=packed)
        for name in identifying:
            chosen[name] = part[name]
        chosen["flags"] &= IN_TWO_BITS - 1  # which says how, not what
        total.update(chosen.tobytes())
    return total.hexdigest()


def header_to_bytes(header: Mapping[str, Any]) -> bytes:
    """Return the header as it lies on disk, with a check of its own."""
    return json.dumps({**header, "check": _check(header)}, indent=1, allow_nan=False).encode()


def header_of_bytes(data: bytes, where: str, function: str) -> dict[str, Any]:
    """Return the header of its bytes on disk; ValueError if altered, or of a later version."""
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
        raise ValueError(
            f"{function}: {where} has format {number}, this version reads {FORMAT}; "
            f"{'a later' if number > FORMAT else 'an earlier'} duramen packed it: "
            f"{'upgrade, or ' if number > FORMAT else ''}pack the table again"
        )
    if check != _check(header):
        raise ValueError(
            f"{function}: {where} is damaged: it does not match its own check; pack the table again"
        )
    if not _sound(header):
        raise ValueError(
            f"{function}: {where} is damaged: it does not describe a column store; pack the table "
            "again"
        )
    return dict(header)


def _sound(header: Mapping[str, Any]) -> bool:
    """Tell whether a header has what every store has, and names no files but those of a store."""
    files, needed = header.get("files"), set(NEEDED)
    if not isinstance(files, dict) or not needed <= set(files) <= needed | set(BESIDE):
        return False
    entries = [entry if isinstance(entry, dict) else {} for entry in files.values()]
    numbers = [entry.get(key) for entry in entries for key in ("size", "crc32")]
    return (
        all(_is_count(number, 0) for number in numbers)
        and _is_count(header.get("n_rows"), 1)
        and _is_count(header.get("n_columns"), 1)
        and isinstance(header.get("named"), bool)
        and isinstance(header.get("fingerprint"), str)
    )


def _check(header: Mapping[str, Any]) -> int:
    return crc32(json.dumps(header, sort_keys=True, allow_nan=False).encode())


def _is_count(number: Any, least: int) -> bool:
    return type(number) is int and least <= number < 2**63
