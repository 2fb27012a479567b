"""Any bytes as the header of a store, as they are or under a checksum that fits."""

from __future__ import annotations

import functools
import json
import shutil
from pathlib import Path

import numpy as np
from tests.faults.batches import ALLOWED, READ, REFUSED
from tests.faults.files import crafted_stores
from tests.faults.fuzzing import altered

from duramen.io.store import layout


@functools.cache
def seeds() -> list[bytes]:
    """Headers without their checksum, behind a byte that asks for one, and one as it is."""
    raw = (crafted_stores.sound() / layout.HEADER).read_bytes()
    header = json.loads(raw)
    header.pop("check")
    return [b"\x00" + json.dumps(header).encode(), b"\x01" + raw]


WORDS = [
    *(b"null", b"true", b"[]", b"{}", b'""', b"-1", b"0", b"1e400", b"NaN", b"Infinity", b"1.5"),
    *(b"2147483648", b"4611686018427387904", b"1208925819614629174706176", b'"../codes.u1"'),
    *(b'"n_rows"', b'"n_columns"', b'"files"', b'"size"', b'"crc32"', b'"named"', b'"/dev/zero"'),
    *(b"\\u0000", b"\\ud800", b"\xff", b"[[[[[[", b'{"a":', b",", b"}", b'"samples.arrow"'),
]


def _sealed(text: bytes) -> bytes:
    """Return a header with its checksum; what is no header stays as it is."""
    try:
        header = json.loads(text)
        if isinstance(header, dict) and "check" not in header:
            return layout.header_to_bytes(header)
    except (ValueError, RecursionError):
        pass
    return text


def check(data: bytes, folder: Path) -> str:
    """Open a store with such a header, and use it if it is taken."""
    place = folder / "crafted.store"
    place.mkdir()
    for file in crafted_stores.sound().iterdir():
        if file.name != layout.HEADER:
            (place / file.name).symlink_to(file)
    text = data[1:]
    if data[:1] != b"\x01":
        text = _sealed(text)
    (place / layout.HEADER).write_bytes(text)
    try:
        crafted_stores.use(place)
    except ALLOWED as error:
        message = str(error)
    else:
        return READ
    finally:
        shutil.rmtree(place)
    assert message.strip()
    assert len(message) < 4000
    return REFUSED


def attempt(number: int, folder: Path) -> str:
    """Alter one of the headers at random."""
    return check(altered(np.random.default_rng(number), seeds(), WORDS), folder)
