"""Sample annotations of a store, ``samples.arrow``, that no writer of the package makes."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tests.faults.hostile import ANNOTATION, KEY, LONG, NAMES

Random = np.random.Generator
KEPT = b"duramen.row_names"  # of the schema's metadata: the columns that name the rows


def _strings(offsets: Any, data: bytes) -> pa.Array:
    """An array of strings of these offsets."""
    buffers = [None, pa.py_buffer(np.asarray(offsets, dtype=np.int32)), pa.py_buffer(data)]
    return pa.StringArray.from_buffers(len(offsets) - 1, buffers[1], buffers[2])


def absurd_offsets(n: int, random: Random) -> Any:
    """Texts whose offsets `spoiled` alters once PyArrow has checked them."""
    return _strings(np.arange(n + 1) * 3, b"abc" * n)


def spoiled(array: pa.Array, random: Random) -> None:
    """Put odd offsets into an array of strings, in place."""
    n = len(array)
    offsets = np.arange(n + 1, dtype=np.int32) * 3
    odd = [-1, -(2**31), 2**31 - 1, 2**30, 3 * n + 1, 10**6]
    offsets[random.integers(0, n + 1, 3)] = random.choice(odd, 3)
    ctypes.memmove(array.buffers()[1].address, offsets.tobytes(), offsets.nbytes)


def no_text(n: int, random: Random) -> Any:
    return _strings(np.arange(n + 1) * 2, bytes(random.integers(128, 256, 2 * n, dtype=np.uint8)))


def wrong_type(n: int, random: Random) -> Any:
    choices = [
        pa.array(random.normal(size=n)),
        pa.nulls(n),
        pa.array([[1]] * n),
        pa.array([{"a": 1}] * n),
        pa.array([True] * n),
        pa.array([b"\xff"] * n),
        pa.array(np.arange(n), pa.timestamp("s")),
        pa.array(np.full(n, 2**64 - 1, dtype=np.uint64)),
        pa.array(np.full(n, np.nan)),
    ]
    return choices[int(random.integers(len(choices)))]


def indices_out_of_range(n: int, random: Random) -> Any:
    indices = pa.array(random.choice([-1, 0, 2, 2**31 - 1], n), pa.int32())
    return pa.DictionaryArray.from_arrays(indices, pa.array(["u", "v"]), safe=False)


def hostile(n: int, random: Random) -> Any:
    kinds = ([f"{NAMES[i % 7]}{i}" for i in range(n)], [NAMES[0]] * n)
    long = [LONG] * 2 + [f"r{i}" for i in range(n - 2)]
    return pa.array([*kinds, long][int(random.integers(3))])


def missing(n: int, random: Random) -> Any:
    return pa.array([None if random.random() < 0.5 else f"r{i}" for i in range(n)], pa.string())


def sound(n: int, random: Random) -> Any:
    return pa.array([f"r{i}" for i in range(n)])


KINDS: list[Callable[[int, Random], Any]] = [
    *(absurd_offsets, no_text, wrong_type, indices_out_of_range, hostile, missing, sound),
]
N_KINDS = len(KINDS)


def write_annotations(path: Path, kind: int, n_rows: int, random: Random) -> None:
    """Write annotations of one of `KINDS`, in a fifth of cases with other flaws as well.

    Those are a wrong number of rows, two columns of one name, a hostile name of the column, and
    metadata that do not say which column names the rows.
    """
    flaw = int(random.integers(20))
    n = int(random.choice([0, 1, n_rows - 1, n_rows + 1])) if flaw == 0 else n_rows
    names = KINDS[kind](max(n, 3), random)
    title = str(random.choice([KEY, ANNOTATION, "name"]))
    others = [title if flaw == 1 else "y", LONG if flaw == 2 else "z"]
    columns = [names, pa.array(np.arange(len(names)) % 2), pa.array(["v"] * len(names))]
    odd = [b"", b"\xff", b"[", b"{}", b"7", b'[["a"]]', b"[" * 10**5, b'["absent"]', b"[]"]
    stored = odd[int(random.integers(len(odd)))] if flaw == 3 else json.dumps([title]).encode()
    fields = [pa.field(t, c.type) for t, c in zip([title, *others], columns, strict=True)]
    schema = pa.schema(fields, metadata={KEPT: stored} if flaw != 4 else None)
    batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    if KINDS[kind] is absurd_offsets:
        spoiled(batch.column(0), random)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        writer.write_batch(batch)
