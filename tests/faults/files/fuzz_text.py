"""Text of any content as a CSV or TSV file: read, encoded and packed alike, or refused."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tests.faults.batches import READ, REFUSED
from tests.faults.fuzzing import altered

import duramen as dm
from duramen.io import Request, read_table
from duramen.io.formats.text import TextInput
from duramen.io.formats.text_file import TextFile
from duramen.io.store.packing import pack_table

# The first byte is read as options, the rest as the file.
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"na_values": ("?", "-9")},
    {"decimal": ","},
    {"na_values": (".",), "decimal": ","},
)
FILES = [
    b"\x00a,b,c\n1,2.5,x\n2,,y\n-3,1e300,NA\n",
    b'\x00"a ""q""","b\nc",d\r\n"1",true,2020-01-01\r\n,false,\r\n',
    b"\x02a,b\n?,1\n-9,x\n0x1F,inf\n",
    b'\x01a;b\n\t1,"1,5"\n2\t"2,25"\n',
    b"\x05a\tb\n1,5\t.\n2,5\tnan\n",
    b"\xfe\xef\xbb\xbfa,a.1,\xc3\xa9\n9007199254740993,1,\xe2\x80\xae\n1,-0,\n",
]
WORDS = [
    *(b",", b"\t", b"\n", b"\r\n", b"\r", b'"', b'""', b"'", b"\\", b" ", b"\x00", b"\xff", b"."),
    *(b"NA", b"nan", b"inf", b"-inf", b"null", b"1e999", b"-0", b"0x10", b"1_000", b"true"),
    *(b"9223372036854775807", b"18446744073709551616", b"9007199254740993", b"5e-324"),
    *(b"2020-01-01", b"12:30", b"1,5", b"\xe2\x80\xae", b"\x1b[2J", b"\xef\xbb\xbf", b"#", b"=1+1"),
]


def seeds() -> list[bytes]:
    """Small files of all sorts, each behind the byte of its options."""
    return FILES


def check(data: bytes, folder: Path) -> str:
    """Read and pack a file; both refuse it, or give the same table."""
    which = data[0] if data else 0
    path = folder / ("t.tsv" if which & 1 else "t.csv")
    path.write_bytes(data[1:])
    options = OPTIONS[which // 2 % len(OPTIONS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        whole = outcome(lambda: dm.encode(read_table(path, **options)))
        packed = outcome(lambda: pack_table(path, folder / "s", reading=options).as_table())
    if isinstance(whole, str) or isinstance(packed, str):
        assert isinstance(whole, str) == isinstance(packed, str), f"{whole!r} but {packed!r}"
        return REFUSED
    same(whole, packed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        tiles = outcome(lambda: _by_tiles(path, options, folder))
    same(whole, tiles)
    return READ


def same(whole: Any, packed: Any) -> None:
    assert not isinstance(packed, str), packed
    assert (whole.names, whole.kinds) == (packed.names, packed.kinds)
    np.testing.assert_array_equal(whole.cut_values, packed.cut_values)
    np.testing.assert_array_equal(whole.missing, packed.missing)
    for j in range(whole.n_columns):
        assert whole.values(j).tolist() == packed.values(j).tolist()
        np.testing.assert_array_equal(whole.codes(j), packed.codes(j))


def _by_tiles(path: Path, options: dict[str, Any], folder: Path) -> dm.EncodedTable:
    """Encode a file column by column, as `pack` does where it is larger than its memory."""
    delimiter = "\t" if path.suffix == ".tsv" else ","
    request = Request("pack", **options, budget=1)
    text = TextInput(TextFile.of(path, delimiter, request), request)
    columns: list[Any] = []
    for group in text.groups(folder):
        columns += (
            [pa.array(values) for values in group.T]
            if isinstance(group, np.ndarray)
            else group.columns
        )
    assert len(columns) == text.n_columns
    return dm.encode(pa.table(columns, names=text.names))


def outcome(read: Any) -> Any:
    """Return a table, or the message of the error."""
    try:
        return read()
    except (ValueError, TypeError, OSError) as error:
        message = str(error)
    assert message.strip()
    assert len(message) < 4000
    assert "\x1b" not in message
    return message


def attempt(number: int, folder: Path) -> str:
    """Alter one of the seeds at random."""
    return check(altered(np.random.default_rng(number), seeds(), WORDS), folder)
