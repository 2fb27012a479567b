"""Files of every format with a few wrong bytes, read and packed.

A file that is read and packed gives one table in both ways. Where the format has checksums of its
content, it is the table that was written; other formats do not tell a wrong byte from a right one.
"""

from __future__ import annotations

import functools
import gzip
import shutil
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from tests.faults.batches import ALLOWED, READ
from tests.faults.files import crafted_stores, damaged_workbooks
from tests.faults.files.fuzz_tables import GCT, GEO
from tests.faults.files.fuzz_text import same

import duramen as dm
from duramen.io import read_table
from duramen.io.formats import native_reader

N_ROWS = 60
native_reader._SECONDS = 5.0  # the library of HDF5 does not return from some
COMPRESSED = {"csv.gz": "gzip", "csv.bz2": "bz2", "csv.zst": "zstd"}
TABLES = ("arrow", "parquet", "csv", "txt", "npy", "h5ad", "gct", "cls", "arff")
OTHERS = ("series_matrix.txt.gz", "csv.zip", "gmt", "store", *damaged_workbooks.KINDS)
KINDS = (*TABLES, "bed", *COMPRESSED, *OTHERS)
# Formats with checksums of their content; Zstandard, HDF5, Parquet and Arrow files as they are
# written here have none, nor have workbooks of the kind .xls.
OF_ARCHIVES = tuple(kind for kind in damaged_workbooks.KINDS if kind != "xls")
CHECKED = ("csv.gz", "csv.bz2", "csv.zip", "series_matrix.txt.gz", "store", *OF_ARCHIVES)
# Packing warns of the dates of the workbooks.
READ_ONLY = ("cls", "arff", "gmt", *damaged_workbooks.KINDS)
PACKED_ONLY = ("npy", "h5ad", "gct")


@functools.cache
def sound() -> Path:
    """A folder with a folder for each format, in which there are t.KIND and files beside it."""
    import pandas as pd

    folder = Path(tempfile.mkdtemp())
    places = {kind: folder / kind / f"t.{kind}" for kind in KINDS}
    for place in places.values():
        place.parent.mkdir()
    random = np.random.default_rng(0)
    X = random.normal(size=(N_ROWS, 4))
    names = ["a", "b", "c", "d"]
    frame = pd.DataFrame(X, columns=names)
    frame["text"] = random.choice(["one", "two", "three"], N_ROWS)
    frame["class"] = pd.Categorical(random.choice(["u", "v"], N_ROWS))
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with pa.OSFile(str(places["arrow"]), "wb") as file, pa.ipc.new_file(file, table.schema) as w:
        w.write_table(table, max_chunksize=25)
    pyarrow.parquet.write_table(table, places["parquet"], row_group_size=25)
    frame.to_csv(places["csv"], index=False)
    frame.to_csv(places["txt"], index=False, sep=" ")
    for kind, codec in COMPRESSED.items():
        with pa.CompressedOutputStream(str(places[kind]), codec) as packed:
            packed.write(places["csv"].read_bytes())
    with zipfile.ZipFile(places["csv.zip"], "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(places["csv"], "t.csv")
    np.save(places["npy"], X)
    _write_anndata(places["h5ad"], X, names)
    genotypes = random.integers(0, 4, size=(3, -(-N_ROWS // 4) * 4))
    codes = (genotypes.reshape(3, -1, 4) << (2 * np.arange(4))).sum(axis=2).astype(np.uint8)
    bed = places["bed"]
    bed.write_bytes(b"\x6c\x1b\x01" + codes.tobytes())
    bim = (f"1\trs{j}\t0\t{j + 1}\tA\tC\n" for j in range(3))
    bed.with_suffix(".bim").write_text("".join(bim))
    fam = (f"f{i}\ti{i}\t0\t0\t1\t{1 + i % 2}\n" for i in range(N_ROWS))
    bed.with_suffix(".fam").write_text("".join(fam))
    places["gct"].write_bytes(GCT)
    places["cls"].write_text("6 2 1\n# ill well\n1 1 0 0 1 0\n")
    rows = "".join(f"{i},'b {i % 2}'\n" for i in range(6))
    head = "@relation r\n@attribute a numeric\n@attribute b {'b 0', 'b 1'}\n@data\n"
    places["arff"].write_text(head + rows)
    places["gmt"].write_text("".join(f"set{j}\tabout it\ta{j}\tb\tc{j}\n" for j in range(5)))
    places["series_matrix.txt.gz"].write_bytes(gzip.compress(GEO, mtime=0))
    shutil.copytree(crafted_stores.sound(), places["store"])
    for kind in damaged_workbooks.KINDS:
        places[kind].write_bytes(damaged_workbooks.sound(kind))
    return folder


def _write_anndata(h5ad: Path, X: Any, names: list[str]) -> None:
    import anndata
    import pandas as pd

    data = anndata.AnnData(X, obs=pd.DataFrame({"y": ["u", "v"] * (N_ROWS // 2)}))
    data.obs_names = [f"cell{i}" for i in range(N_ROWS)]
    data.var_names = names
    data.write_h5ad(h5ad)


@functools.cache
def written(kind: str) -> Any:
    """The table of a format with checksums, as it was written."""
    with tempfile.TemporaryDirectory() as folder:
        return _tables(kind, sound() / kind, Path(folder))[0]


def attempt(number: int, folder: Path) -> str:
    """Alter 1 to 3 bytes of a file, cut or lengthen it, and read it in all ways there are."""
    random = np.random.default_rng(number)
    kind = KINDS[number % len(KINDS)]
    place = folder / "in"
    shutil.copytree(sound() / kind, place)
    files = sorted(path for path in place.rglob("*") if path.is_file() and path.stat().st_size)
    _alter(files[int(random.integers(len(files)))], random)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # on odd columns, and what is read of a file
        first, *others = _tables(kind, place, folder)
        for other in others:
            same(first, other)
        if kind in CHECKED:
            same(written(kind), first)
    return READ


def _alter(path: Path, random: np.random.Generator) -> None:
    data = bytearray(path.read_bytes())
    how = random.random()
    if how < 0.1:
        del data[int(random.integers(len(data))) :]
    elif how < 0.15:
        data += random.bytes(int(random.integers(1, 300)))
    for place in random.integers(len(data) or 1, size=int(random.integers(1, 4))):
        if place < len(data):
            data[place] = int(random.choice([0, 1, 127, 128, 255, random.integers(256)]))
    path.write_bytes(data)


def _tables(kind: str, place: Path, folder: Path) -> list[Any]:
    """Return the table of a file in each way of reading it; an error if one of them fails."""
    path = place / f"t.{kind}"
    ways = [_read] if kind in READ_ONLY else [_pack] if kind in PACKED_ONLY else [_read, _pack]
    tables, errors = [], []
    for way in ways:
        try:
            tables.append(way(path, folder))
        except ALLOWED as error:
            errors.append(error)
    if errors:
        assert not tables, f"reading and packing differ: {errors[0]}"
        raise errors[0]
    return tables


def _read(path: Path, folder: Path) -> Any:
    if path.suffix in (".bed", ".store"):
        return dm.open_store(path).as_table()
    if path.suffix == ".gmt":
        return dm.io.read_gmt(path)
    table = read_table(path)
    table.to_pylist()
    dates = [f.name for f in table.schema if pa.types.is_temporal(f.type)]
    return dm.encode(table.drop_columns(dates))


def _pack(path: Path, folder: Path) -> Any:
    store = dm.pack(path, folder / "t.store", overwrite=True)
    store.verify()
    if store.samples is not None:
        store.samples.to_pylist()
    return store.as_table()
