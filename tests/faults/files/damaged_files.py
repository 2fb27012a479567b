"""Tables on disk with a few wrong bytes, read and packed."""

from __future__ import annotations

import functools
import shutil
import tempfile
import warnings
from pathlib import Path

import numpy as np
from tests.faults.batches import READ
from tests.io.store.test_genotypes import write_bgen, write_pgen, write_vcz

import duramen as dm
from duramen.io import read_table
from duramen.io.formats import native_reader

N_ROWS = 60
PACKED = {"csv.gz": "gzip", "csv.bz2": "bz2", "csv.zst": "zstd"}
KINDS = (
    *("arrow", "feather", "parquet", "csv", "tsv", "npy", *PACKED),
    *("h5ad", "zarr", "bed", "pgen", "bgen", "vcz"),
)
native_reader._SECONDS = 5.0  # the library of HDF5 does not return from some


@functools.cache
def sound() -> Path:
    """A folder with one table in every format."""
    import anndata
    import pandas as pd
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    folder = Path(tempfile.mkdtemp())
    random = np.random.default_rng(0)
    X = random.normal(size=(N_ROWS, 4))
    names = ["a", "b", "c", "d"]
    frame = pd.DataFrame(X, columns=names)
    frame["text"] = random.choice(["one", "two", "three"], N_ROWS)
    frame["class"] = pd.Categorical(random.choice(["u", "v"], N_ROWS))
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with pa.OSFile(str(folder / "t.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as w:
        w.write_table(table, max_chunksize=25)
    pyarrow.feather.write_feather(table, folder / "t.feather")
    pyarrow.parquet.write_table(table, folder / "t.parquet", row_group_size=25)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "t.tsv", index=False, sep="\t")
    for kind, codec in PACKED.items():
        with pa.CompressedOutputStream(str(folder / f"t.{kind}"), codec) as file:
            file.write((folder / "t.csv").read_bytes())
    np.save(folder / "t.npy", X)
    data = anndata.AnnData(X, obs=pd.DataFrame({"y": random.choice(["u", "v"], N_ROWS)}))
    data.obs_names = [f"cell{i}" for i in range(N_ROWS)]
    data.var_names = names
    data.write_h5ad(folder / "t.h5ad")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of formats that will change
        data.write_zarr(folder / "t.zarr")
    write_pgen(folder / "t.pgen")
    write_bgen(folder / "t.bgen")
    write_vcz(folder / "t.vcz")
    genotypes = random.integers(0, 4, size=(3, -(-N_ROWS // 4) * 4))
    packed = (genotypes.reshape(3, -1, 4) << (2 * np.arange(4))).sum(axis=2).astype(np.uint8)
    (folder / "t.bed").write_bytes(b"\x6c\x1b\x01" + packed.tobytes())
    (folder / "t.bim").write_text("".join(f"1\trs{j}\t0\t{j + 1}\tA\tC\n" for j in range(3)))
    fam = (f"f{i}\ti{i}\t0\t0\t1\t{1 + i % 2}\n" for i in range(N_ROWS))
    (folder / "t.fam").write_text("".join(fam))
    return folder


def attempt(number: int, folder: Path) -> str:
    """Alter 1 to 3 bytes of a file, or cut it, and read it in all ways there are."""
    random = np.random.default_rng(number)
    kind = KINDS[number % len(KINDS)]
    table = folder / f"t.{kind}"
    beside = {"bed": (".bim", ".fam"), "pgen": (".pvar", ".psam")}.get(kind, ())
    for name in (table.name, *(f"t{suffix}" for suffix in beside)):
        whole = sound() / name
        (shutil.copytree if whole.is_dir() else shutil.copy)(whole, folder / name)
    path = table.with_suffix(str(random.choice([table.suffix, *beside]))) if beside else table
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        path = files[int(random.integers(len(files)))]
    data = bytearray(path.read_bytes())
    if random.random() < 0.1:
        del data[int(random.integers(len(data))) :]
    for place in random.integers(len(data), size=int(random.integers(1, 4))):
        if place < len(data):
            data[place] = int(random.choice([0, 1, 127, 128, 255, random.integers(256)]))
    path.write_bytes(data)
    errors = []
    for use in (_read, _pack):
        try:
            use(table, folder)
        except (ValueError, OSError) as error:
            errors.append(error)
    if errors:
        raise errors[0]
    return READ


def _read(path: Path, folder: Path) -> None:
    if path.suffix == ".bed":
        dm.open_store(path).as_table()
    elif path.suffix not in (".npy", ".h5ad", ".zarr", ".pgen", ".bgen", ".vcz"):  # only packed
        table = read_table(path)
        table.to_pylist()
        dm.encode(table)


def _pack(path: Path, folder: Path) -> None:
    store = dm.pack(path, folder / "t.store")
    store.verify()
    store.as_table()
    if store.samples is not None:
        store.samples.to_pylist()
