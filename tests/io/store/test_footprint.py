"""Memory and room on disk that packing takes, before it starts."""

from __future__ import annotations

import shutil
from collections import namedtuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from tests.io.store.stores import write_bed

from duramen import pack
from duramen.io import Request
from duramen.io.store.packing import open_input

RANDOM = np.random.default_rng(0)
NUMBERS = RANDOM.normal(size=(300, 40))


def written(folder, kind):
    """Write a table of 300 rows; return what is packed, and whether it is transposed."""
    path = folder / f"table.{kind}"
    if kind == "npy":
        np.save(path, NUMBERS)
    elif kind == "parquet":
        pq.write_table(pa.table({f"v{j}": NUMBERS[:, j] for j in range(40)}), path)
    elif kind == "csv":
        frame = pd.DataFrame(NUMBERS.T, columns=[f"s{i}" for i in range(300)])
        frame.rename_axis("gene").rename(index="g{}".format).to_csv(path)
    elif kind == "bed":
        return write_bed(folder / "x.bed", RANDOM.integers(-1, 3, (300, 40))), False
    elif kind == "table":
        return NUMBERS, False
    else:
        return sparse.csr_matrix(NUMBERS * (NUMBERS > 1)), False
    return path, kind == "csv"


@pytest.mark.parametrize("kind", ["npy", "parquet", "csv", "bed", "table", "sparse"])
def test_codes_and_values_take_what_is_said(tmp_path, kind):
    source, transpose = written(tmp_path, kind)
    pack(source, tmp_path / "s", transpose=transpose)
    size = open_input(source, Request("pack", transpose=transpose, budget=1 << 29))
    assert size.n_rows == 300
    least, most = size.store_bytes()
    names = ("codes.b2", "codes.u1", "codes.u2", "codes.u4", "values.f8")
    taken = sum((tmp_path / "s" / name).stat().st_size for name in names)
    assert least <= taken <= most


def test_a_column_beyond_the_memory_warns_and_one_beyond_the_machine_is_refused(
    tmp_path, leave_memory
):
    np.save(tmp_path / "t.npy", np.zeros((60_000, 2)))
    with pytest.warns(UserWarning, match=r"60,000 rows takes about 2.4 MB.* memory=1 MB"):
        pack(tmp_path / "t.npy", tmp_path / "s", memory="1MB")
    leave_memory(1_000_000)
    with pytest.raises(MemoryError, match=r"60,000 rows, which is packed as a whole, needs at"):
        pack(tmp_path / "t.npy", tmp_path / "t", memory="1MB")
    assert not (tmp_path / "t").exists()


def test_a_full_disk_is_found_before(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10_000, 9_000, 1_000))
    with pytest.raises(OSError, match="takes at least 3 KB, and"):
        pack(NUMBERS, tmp_path / "s")
    assert list(tmp_path.iterdir()) == []
