"""Files that are unpacked, decoded, turned or joined as they are read, of any content.

Archives, GEO series matrices, GCT files, text in other encodings and below other lines, matrices
whose rows are features, folders of Parquet files: read and packed alike, in one piece or in
several, or refused.
"""

from __future__ import annotations

import functools
import gzip
import io
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from tests.faults.batches import READ, REFUSED
from tests.faults.files.fuzz_text import WORDS as OF_TEXT
from tests.faults.files.fuzz_text import outcome, same
from tests.faults.fuzzing import altered

import duramen as dm
from duramen.io import Request, read_table
from duramen.io.formats import format_of
from duramen.io.formats.format import READING
from duramen.io.store.packing import pack_table

N = 8
CSV = b"".join(b"%d,%d.5,%s\n" % (i, i * i, b"xyz"[i % 3 :][:1]) for i in range(N))
GENES = b"gene,s1,s2,s3\n" + b"".join(b"g%d,%d,%d.5,\n" % (i, i, i * i) for i in range(N))
GEO = (
    b'!Series_title\t"a"\n!Sample_geo_accession\t"s1"\t"s2"\n'
    b'!Sample_characteristics_ch1\t"age: 30"\t"age: NA"\n!series_matrix_table_begin\n'
    b'"ID_REF"\t"s1"\t"s2"\n"g1"\t1\t2.5\n"g2"\t3\tnull\n!series_matrix_table_end\n'
)
GCT = b"#1.3\n2\t2\t1\t1\nid\tsymbol\ts1\ts2\nage\tna\t30\tNA\ng1\tA\t1\t2.5\ng2\tB\t3\tnull\n"


@dataclass(frozen=True)
class Kind:
    """One kind of file.

    Attributes
    ----------
    name : str
        Name of the file.
    seed : callable
        Returns the bytes to alter.
    options : dict
        Options with which it is read.
    put : callable
        Writes such bytes to a path, as this kind of file has them.
    """

    name: str
    seed: Callable[[], bytes]
    options: dict[str, Any] = field(default_factory=dict)
    put: Callable[[Path, bytes], object] = Path.write_bytes


def _archive(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def _archived(path: Path, data: bytes) -> None:
    path.write_bytes(_archive({"b.csv": data, "c.csv": b"a\n1\n", "__MACOSX/._b.csv": b"x"}))


def _compressed(path: Path, data: bytes) -> None:
    path.write_bytes(gzip.compress(data, mtime=0))


def _recoded(encoding: str) -> Callable[[Path, bytes], None]:
    def put(path: Path, data: bytes) -> None:
        path.write_bytes(data.decode("utf-8", "replace").encode(encoding, "replace"))

    return put


def _folder(path: Path, data: bytes) -> None:
    path.mkdir()
    (path / "part-0.parquet").write_bytes(_parquet())
    (path / "part-1.parquet").write_bytes(data)


@functools.cache
def _parquet() -> bytes:
    file = io.BytesIO()
    values = {"gene": list("abcdefgh"), "s1": range(N), "s2": np.arange(N) / 4}
    pd.DataFrame(values).to_parquet(file, row_group_size=3)
    return file.getvalue()


def _npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(24.0).reshape(6, 4))
    return file.getvalue()


@functools.cache
def _h5ad() -> bytes:
    import anndata

    rows = pd.DataFrame({"y": list("uvuvuv")}, index=[f"c{i}" for i in range(6)])
    data = anndata.AnnData(np.arange(24.0).reshape(6, 4), obs=rows)
    data.layers["raw counts"] = np.ones((6, 4))
    file = io.BytesIO()
    import h5py

    with h5py.File(file, "w") as content:
        anndata.io.write_elem(content, "/", data)
    return file.getvalue()


KINDS = (
    Kind("t.csv.zip", lambda: _archive({"t.csv": b"a,b,c\n" + CSV})),
    Kind("t.zip", lambda: b"a,b,c\n" + CSV, {"member": "b.csv"}, _archived),
    Kind("GSE1_series_matrix.txt", lambda: GEO),
    Kind("GSE1_series_matrix.txt.gz", lambda: GEO, {}, _compressed),
    Kind("t.gct", lambda: GCT),
    Kind("t.txt", lambda: (b"a,b,c\n" + CSV).replace(b",", b" ")),
    Kind("t.txt", lambda: b"# made by R\n" + (b"a;b;c\n" + CSV).replace(b",", b";")),
    Kind("t.csv", lambda: GENES, {"transpose": True}),
    Kind("t.txt", lambda: b"title\n" + GENES, {"transpose": True, "skip_rows": 1}),
    Kind("t.csv", lambda: b"a,b,c\xc3\xa9\n" + CSV, {"encoding": "latin-1"}, _recoded("latin-1")),
    Kind("t.csv", lambda: b"a,b,c\n" + CSV, {"encoding": "utf-16"}, _recoded("utf-16")),
    Kind("t.csv", lambda: GENES, {"encoding": "utf-16", "transpose": True}, _recoded("utf-16")),
    Kind("t.csv", lambda: b"a,b,c\n" + CSV, {"encoding": "shift-jis"}),
    Kind("t.csv", lambda: b"Patient,,\n\na,b,c\n" + CSV, {"skip_rows": 2}),
    Kind("t.csv", lambda: b'a,b,c\n"1",2,3,4\n"2",5,6,7\n"3",8,9,1\n'),
    Kind("parts", _parquet, {}, _folder),
    Kind("t.parquet", _parquet, {"transpose": True}),
    Kind("t.npy", _npy, {"transpose": True}),
    Kind("t.h5ad", _h5ad, {"transpose": True}),
    Kind("t.h5ad", _h5ad, {"layer": "raw counts"}),
)
WORDS = [
    *OF_TEXT,
    *(b"!series_matrix_table_begin\n", b"!series_matrix_table_end\n", b"!Sample_x\t1\t2\n"),
    *(b"!Sample_characteristics_ch1", b": ", b"sep=;\n", b"#", b"Length", b"PK\x01\x02", b" "),
    *(b"PK\x05\x06", b"\xff\xff\xff\xff", b"b.csv", b"../../b.csv", b"PAR1", b"\x1f\x8b", b"BZh"),
]


@functools.cache
def seeds() -> list[bytes]:
    """A small file of each kind, behind the byte that tells it."""
    return [bytes([number]) + kind.seed() for number, kind in enumerate(KINDS)]


def check(data: bytes, folder: Path) -> str:
    """Read and pack a file; both refuse it, or give the same table."""
    kind = KINDS[(data[0] if data else 0) % len(KINDS)]
    path = folder / kind.name
    kind.put(path, data[1:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        packed = outcome(lambda: _packed(path, folder / "s", kind.options))
        format_ = format_of(path)
        if format_ is not None and format_.read is not None and "transpose" not in kind.options:
            whole = outcome(lambda: dm.encode(read_table(path, **kind.options)))
            if isinstance(whole, str) or isinstance(packed, str):
                assert isinstance(whole, str) == isinstance(packed, str), (
                    f"{whole!r} but {packed!r}"
                )
            else:
                same(whole, packed)
        if isinstance(packed, str):
            return REFUSED
        if format_ is not None and (format_.text or format_.name == "parquet"):
            same(packed, outcome(lambda: _by_groups(path, kind.options, folder)))
    return READ


def _packed(path: Path, place: Path, options: dict[str, Any]) -> dm.EncodedTable:
    reading = {name: value for name, value in options.items() if name in READING}
    own = {name: value for name, value in options.items() if name not in READING}
    store = pack_table(path, place, **own, reading=reading)
    store.verify()
    if store.samples is not None:
        assert store.samples.num_rows == store.n_rows
        store.samples.to_pylist()
    return store.as_table()


def _by_groups(path: Path, options: dict[str, Any], folder: Path) -> dm.EncodedTable:
    """Encode a file group by group, as `pack` does where it is larger than its memory."""
    column = format_of(path)
    assert column is not None
    assert column.groups is not None
    opened = column.groups(path, Request("pack", **options, budget=1))
    columns: list[Any] = []
    for group in opened.groups(folder):
        columns += group.columns if isinstance(group, pa.Table) else list(np.asarray(group).T)
    assert len(columns) == opened.n_columns
    return dm.encode(pa.table([pa.array(column) for column in columns], names=list(opened.names)))


def attempt(number: int, folder: Path) -> str:
    """Alter one of the seeds at random."""
    random = np.random.default_rng(number)
    which = seeds()[number % len(KINDS)]
    return check(which[:1] + altered(random, [which[1:]], WORDS), folder)
