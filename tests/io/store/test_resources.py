"""Memory stays within bounds, in packing and in reading."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from tests.io.store.stores import write_bed

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.slow,
]

START = """
import bed_reader, re, sys, numpy as np, pyarrow.csv, pyarrow.parquet
import duramen as dm
from duramen import pack
from duramen.io import open_store
def status(what):
    return int(re.search(what + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1000
dm.encode(np.eye(3))
folder = sys.argv[1]
open(folder + "/tiny.csv", "w").write("a,b\\n1,2\\n3,4\\n")
pack(folder + "/tiny.csv", folder + "/tiny", overwrite=True).take_columns([0])
before = status("VmHWM")
"""

PACK = """
store = pack(folder + "/" + sys.argv[2], folder + "/s", memory=sys.argv[3], transpose={transpose})
print(status("VmHWM") - before)
"""

READ = """
before, file = status("VmRSS"), status("RssFile")
store = open_store(folder + "/" + sys.argv[2])
opened = status("VmRSS") - before
rng = np.random.default_rng(0)
for _ in range(20):
    store.take_columns(rng.choice(store.n_columns, 1000, replace=False))
print(opened, status("VmRSS") - before, status("RssFile") - file)
"""


def run(code: str, *words: object) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", START + code, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


def csv_of(path: Path, n: int, p: int, turned: bool) -> int:
    values = np.random.default_rng(0).integers(0, 1000, (p, n))
    columns = {"g": [f"g{i}" for i in range(n)]} if turned else {}
    table = pa.table(columns | {f"s{j}": values[j] for j in range(p)})
    pyarrow.csv.write_csv(table, path, pyarrow.csv.WriteOptions(quoting_style="none"))
    return path.stat().st_size


ALLOCATORS = 4  # MB that those of Arrow and Python keep beyond what a tiny table takes
OF_TURNED = 45  # MB that Arrow takes for lines of 8,000 fields, whatever their length; 38 were seen


@pytest.mark.parametrize("turned", [False, True])
def test_packing_a_text(tmp_path, turned):
    size = csv_of(tmp_path / "a.csv", 8000, 1000, turned)  # 31 MB of text, 64 MB of numbers
    (used,) = run(PACK.format(transpose=turned), tmp_path, "a.csv", "16MB")
    assert size > 30e6
    assert used < 16 + ALLOCATORS + OF_TURNED * turned


def test_packing_a_matrix(tmp_path):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).random((2000, 3000)))  # 48 MB
    for transpose in (False, True):
        (used,) = run(PACK.format(transpose=transpose), tmp_path, "a.npy", "16MB")
        assert used < 16
        shutil.rmtree(tmp_path / "s")


# MB that reading takes by itself: filters of HDF5, the index of a Parquet file; datasets of Arrow.
LIBRARIES, OF_ARROW = 38, 27


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.ipc", "d.h5ad", "s.h5ad"])
def test_packing_other_files(tmp_path, name):
    n, p = 3000, 1600
    X = np.random.default_rng(0).random((n, p))  # 38 MB
    if name.endswith("h5ad"):
        anndata = pytest.importorskip("anndata")
        matrix = sp.csr_matrix(np.where(X < 0.8, 0, X)) if name[0] == "s" else X
        anndata.AnnData(matrix).write_h5ad(tmp_path / name, compression="gzip")
    elif name == "a.parquet":
        pq.write_table(pa.table(dict(enumerate_names(X))), tmp_path / name, row_group_size=500)
    else:
        table = pa.table(dict(enumerate_names(X)))
        new = pa.ipc.new_file if name == "a.arrow" else pa.ipc.new_stream
        with pa.OSFile(str(tmp_path / name), "wb") as file, new(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=200)
    (used,) = run(PACK.format(transpose=False), tmp_path, name, "16MB")
    assert used < 16 + LIBRARIES + OF_ARROW * (name[0] == "a")


def enumerate_names(X: np.ndarray) -> list[tuple[str, np.ndarray]]:
    return [(f"g{j}", X[:, j]) for j in range(X.shape[1])]


def test_many_genotypes(tmp_path):
    p, n = 250_000, 400  # 25 MB of genotypes
    rng = np.random.default_rng(0)
    write_bed(tmp_path / "a.bed", np.zeros((n, 1), dtype=int))
    with open(tmp_path / "a.bed", "wb") as file:
        file.write(b"\x6c\x1b\x01" + rng.integers(0, 256, p * n // 4, dtype=np.uint8).tobytes())
    with open(tmp_path / "a.bim", "w") as file:
        file.writelines(f"1\trs{j + 10**7}\t0\t{j}\tA\tC\n" for j in range(p))
    (used,) = run(PACK.format(transpose=False), tmp_path, "a.bed", "16MB")
    assert used < 16 + ALLOCATORS + 65 * p / 1e6  # 59 to 64 bytes a column were seen
    assert (tmp_path / "s" / "codes.b2").stat().st_size == n // 4 * p
    for name in ("s", "a.bed"):
        opened, read, mapped = run(READ, tmp_path, name)
        assert opened < 20  # 10 and 17 were seen
        assert read < 24  # all genotypes are 25
        assert mapped < 4  # 2 were seen, of the code of bed-reader
