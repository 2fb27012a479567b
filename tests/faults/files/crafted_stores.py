"""Packed stores whose bytes or annotations were altered, all checksums computed again."""

from __future__ import annotations

import functools
import json
import shutil
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from zlib import crc32

import numpy as np
from tests.faults.batches import ALLOWED, READ
from tests.faults.files.crafted_annotations import N_KINDS, write_annotations
from tests.faults.hostile import raw_characters

import duramen as dm
from duramen.io.store import layout

N_ROWS = 40


@functools.cache
def sound() -> Path:
    """A store with columns of every kind and width."""
    import pandas as pd

    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "bit": random.integers(0, 2, N_ROWS),
            "copies": random.integers(0, 3, N_ROWS).astype(float),
            "number": random.normal(size=N_ROWS),
            "gaps": np.where(random.random(N_ROWS) < 0.2, np.nan, random.normal(size=N_ROWS)),
            "text": random.choice(["a", "bc", "def"], N_ROWS),
            "flag": random.random(N_ROWS) < 0.5,
            "class": pd.Categorical(random.choice(["u", "v"], N_ROWS)),
        }
    )
    place = Path(tempfile.mkdtemp()) / "sound.store"
    dm.pack(frame, place, samples=pd.DataFrame({"y": random.integers(0, 2, N_ROWS)}))
    return place


def attempt(number: int, folder: Path) -> str:
    """Alter some bytes of some files, make all checksums right, and use the store."""
    random = np.random.default_rng(number)
    place = folder / "crafted.store"
    shutil.copytree(sound(), place)
    header = json.loads((place / layout.HEADER).read_bytes())
    header.pop("check")
    if number % 3 == 0:
        write_annotations(place / layout.SAMPLES, number // 3 % N_KINDS, N_ROWS, random)
        _seal(place, header)
        return _used(place)
    if random.random() < 0.15:
        _alter_header(header, random)
    names = [n for n in header["files"] if (place / n).is_file() and (place / n).stat().st_size]
    for name in random.choice(
        names, size=min(len(names), int(random.integers(1, 3))), replace=False
    ):
        _alter(place / name, random)
    _seal(place, header)
    return _used(place)


def _used(place: Path) -> str:
    """Use a store; what is said against it is one short line without control characters."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            use(place)
        said = [str(warning.message) for warning in caught]
        assert not raw_characters("".join(said)), ascii(said)
        assert max(map(len, said), default=0) <= 1000
    except ALLOWED as error:
        said = str(error)
        assert len(said) <= 1000, f"a message of {len(said)} characters"
        assert "\n" not in said, said[:200]
        assert not raw_characters(said), ascii(said[:200])
        raise
    return READ


def _alter(file: Path, random: np.random.Generator) -> None:
    data = bytearray(file.read_bytes())
    how = random.integers(10)
    if how == 0:
        del data[int(random.integers(len(data))) :]
    elif how == 1:
        data += bytes(random.integers(0, 256, int(random.integers(1, 64)), dtype=np.uint8))
    else:
        for place in random.integers(len(data), size=int(random.integers(1, 4))):
            data[place] = int(random.choice([0, 1, 2, 3, 127, 128, 255, random.integers(256)]))
    file.write_bytes(data)


def _alter_header(header: dict[str, object], random: np.random.Generator) -> None:
    odd = [0, -1, 1, 7, 2**31, 2**62, 2**80, None, "x", "\ud800", [], {}, True, 1.5, float("1e308")]
    value = odd[int(random.integers(len(odd)))]
    key = str(random.choice(["n_rows", "n_columns", "named", "fingerprint", "files", "sizes"]))
    if key == "files":
        header["files"] = {**header["files"], "../elsewhere": {"size": 3, "crc32": 0}}  # type: ignore[dict-item]
    elif key == "sizes":
        name = str(random.choice(sorted(header["files"])))  # type: ignore[call-overload]
        header["files"] = {**header["files"], name: value}  # type: ignore[dict-item]
    else:
        header[key] = value


def _seal(place: Path, header: dict[str, object]) -> None:
    """Compute the checksums of columns, files and header again."""
    records = _records(place)
    if records is not None and isinstance(header.get("n_rows"), int):
        _seal_columns(place, records, int(header["n_rows"]))  # type: ignore[call-overload]
    for name, entry in header["files"].items():  # type: ignore[attr-defined]
        if (place / name).is_file() and isinstance(entry, dict):
            data = (place / name).read_bytes()
            entry["size"], entry["crc32"] = len(data), crc32(data)
    (place / layout.HEADER).write_bytes(layout.header_to_bytes(header))


def _records(place: Path):  # type: ignore[no-untyped-def]
    try:
        return np.frombuffer((place / layout.COLUMNS).read_bytes(), dtype=layout.COLUMN).copy()
    except ValueError:
        return None


def _seal_columns(place: Path, records, n_rows: int) -> None:  # type: ignore[no-untyped-def]
    codes = [(place / name).read_bytes() for name in layout.CODES]
    at = [0] * len(codes)
    values, labels, names = (
        (place / n).read_bytes() for n in (layout.VALUES, layout.LABELS, layout.NAMES)
    )
    v = w = n = 0
    for record in records:
        file = int(record["file"])
        if file < len(codes) and 0 < n_rows < 10**6:
            size = layout.row_bytes(file, n_rows)
            row = codes[file][at[file] : at[file] + size].ljust(size, b"\0")
            record["codes_check"] = crc32(layout.codes_of_bytes(row, file, n_rows).tobytes())
            at[file] += size
        v1, w1, n1 = (
            v + 8 * int(record["n_values"]),
            w + int(record["n_labels"]),
            n + int(record["n_name"]),
        )
        record["words_check"] = crc32(names[n:n1] + values[v:v1] + labels[w:w1])
        v, w, n = v1, w1, n1
    (place / layout.COLUMNS).write_bytes(records.tobytes())


def use(place: Path) -> None:
    """Whatever is accepted is read in both ways, grown on and predicted from."""
    import pandas as pd

    store = dm.open_store(place)
    assert store.names is not None
    part = store.take_columns(np.arange(store.n_columns)[::-1])
    whole = store.as_table()
    for table in (part, whole):
        for j in range(table.n_columns):
            codes = table.codes(j)
            assert codes.max() < table.n_codes()[j]
    y = np.arange(store.n_rows) % 2
    for table in (part, whole):
        for splits in ("ordered", "multiway"):
            forest = dm.ExtraTreesClassifier(3, splits=splits, random_state=0).fit(table, y)
            forest.predict_proba(table)
    if store.samples is not None:
        store.samples.to_pylist()
        printed = repr(store)
        assert len(printed) <= 1000
        assert not raw_characters(printed)
        options = pd.DataFrame({"name": store.row_names or [f"r{i}" for i in range(N_ROWS)]})
        match = "position" if store.row_names is None else "exact"
        dm.open_store(place, samples=options.assign(z=np.arange(N_ROWS)), samples_match=match)
        for name in store.samples.column_names:
            with suppress(TypeError):  # of dates and the like
                store.target(name)
