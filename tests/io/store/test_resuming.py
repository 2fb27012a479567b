"""A pack that is stopped leaves nothing that looks whole, and goes on where it was."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from tests.grid import one_test
from tests.io.store.stores import genotypes, left_over, small_budget, write_bed

from duramen import pack
from duramen.io import open_store
from duramen.io.store.writer import StoreWriter

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="locks and kills")


def frame(n: int = 50, p: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 5, (n, p)), columns=[f"c{j}" for j in range(p)])
    return table.assign(c3=rng.choice(["u", "v"], n), c4=rng.normal(size=n))


def sources(folder: Path) -> dict[str, tuple[Path, dict]]:
    """A file of every kind, with options."""
    table = frame()
    table.to_csv(folder / "a.csv", index=False)
    table.set_index("c0").T.to_csv(folder / "t.csv")
    table.to_parquet(folder / "a.parquet")
    numbers = table.select_dtypes("number")
    np.save(folder / "a.npy", numbers.to_numpy())
    turned = numbers.T.rename_axis("gene").rename(columns=str).reset_index()
    turned.to_parquet(folder / "t.parquet")
    write_bed(folder / "a.bed", genotypes(50, 60))
    with pa.OSFile(str(folder / "a.arrow"), "wb") as file:
        whole = pa.Table.from_pandas(table)
        with pa.ipc.new_stream(file, whole.schema) as writer:
            writer.write_table(whole)
    names = ("a.csv", "a.parquet", "a.npy", "a.bed", "a.arrow", "t.csv", "t.parquet")
    return {name: (folder / name, {"transpose": name[0] == "t"}) for name in names}


NAMES = ["a.csv", "a.parquet", "a.npy", "a.bed", "a.arrow", "t.csv", "t.parquet"]
NAMES += ["a.h5ad", "b.h5ad"]


def source_named(name: str, folder: Path) -> tuple[Path, dict]:
    if not name.endswith("h5ad"):
        return sources(folder)[name]
    anndata = pytest.importorskip("anndata")
    X = frame().select_dtypes("number").to_numpy() - 2.0
    matrix = sp.csr_matrix(X) if name == "a.h5ad" else X
    anndata.AnnData(matrix).write_h5ad(folder / name, compression="gzip")
    return folder / name, {}


def interrupt_after(
    monkeypatch: pytest.MonkeyPatch, n_groups: int, error=KeyboardInterrupt
) -> list:
    """Stop packing after so many groups of columns; the list notes the groups that were written."""
    written: list[int] = []
    append = StoreWriter.append

    def counted(self, table):
        if len(written) == n_groups:
            raise error
        append(self, table)
        written.append(table.n_columns)

    monkeypatch.setattr(StoreWriter, "append", counted)
    return written


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_it_goes_on_where_it_was(tmp_path, monkeypatch, name, error):
    source, options = source_named(name, tmp_path)
    small_budget(monkeypatch, 12_000, chunk=1200)
    whole = pack(source, tmp_path / "whole", **options)
    with pytest.MonkeyPatch.context() as patch:
        before = interrupt_after(patch, 2, error)
        with pytest.raises(error):
            pack(source, tmp_path / "s", **options)
    assert not (tmp_path / "s").exists()
    assert left_over(tmp_path) == [".s.part"]
    with pytest.raises(ValueError, match="not a column store"):
        open_store(tmp_path / ".s.part")
    # What was being written when the power went is longer than what was noted.
    with open(tmp_path / ".s.part" / "codes.u1", "ab") as file:
        file.write(b"half a group")
    with pytest.MonkeyPatch.context() as patch:
        after = interrupt_after(patch, 10**6)
        store = pack(source, tmp_path / "s", **options)
    assert sum(before) + sum(after) == store.n_columns
    assert before
    assert after
    assert store.fingerprint() == whole.fingerprint()
    for file in sorted(entry.name for entry in whole.path.iterdir()):
        assert (store.path / file).read_bytes() == (whole.path / file).read_bytes()
    assert left_over(tmp_path) == []


def test_a_full_disk_names_the_folder_that_holds_the_work(tmp_path, monkeypatch):
    source, _ = sources(tmp_path)["a.csv"]
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with monkeypatch.context() as patch:
        patch.setattr(StoreWriter, "append", Mock(side_effect=full))
        with pytest.raises(OSError, match=r"s cannot be written .*\.s\.part holds the work done"):
            pack(source, tmp_path / "s")
        with pytest.raises(OSError, match=r"t cannot be written .*name another place$"):
            pack(np.ones((2, 2)), tmp_path / "t")  # a table in memory cannot be resumed
    assert left_over(tmp_path) == [".s.part"]


def test_another_source_starts_anew_and_says_so(tmp_path, monkeypatch):
    source, _ = sources(tmp_path)["a.parquet"]
    small_budget(monkeypatch, 12_000)

    def stopped(**options):
        with pytest.MonkeyPatch.context() as patch:
            interrupt_after(patch, 2)
            with pytest.raises(KeyboardInterrupt):
                pack(source, tmp_path / "s", **options)

    stopped()
    changes = [
        lambda: {"kinds": {"c7": "nominal"}},
        lambda: {"names": [f"n{j}" for j in range(40)]},
        lambda: os.utime(source, ns=(1, 1)) or {},
        lambda: frame(51).to_parquet(source) or {},
    ]
    for change in changes:
        options = change()
        with pytest.warns(UserWarning, match="packing starts anew"):
            store = pack(source, tmp_path / "s", overwrite=True, **options)
        with pytest.MonkeyPatch.context() as patch:
            interrupt_after(patch, 10**6)
            fresh = pack(source, tmp_path / "fresh", overwrite=True, **options)
        assert store.fingerprint() == fresh.fingerprint()
        stopped(overwrite=True)


def test_tables_in_memory_leave_nothing(tmp_path, monkeypatch):
    small_budget(monkeypatch, 12_000)
    with pytest.MonkeyPatch.context() as patch:
        interrupt_after(patch, 2)
        with pytest.raises(KeyboardInterrupt):
            pack(frame(), tmp_path / "s")
    assert list(tmp_path.iterdir()) == []


def test_an_old_store_stays_until_the_new_one_is_whole(tmp_path, monkeypatch):
    old = pack(frame(), tmp_path / "s").fingerprint()
    source, _ = sources(tmp_path)["a.bed"]
    small_budget(monkeypatch, 12_000)
    with pytest.MonkeyPatch.context() as patch:
        interrupt_after(patch, 2)
        with pytest.raises(KeyboardInterrupt):
            pack(source, tmp_path / "s", overwrite=True)
    assert open_store(tmp_path / "s").fingerprint() == old
    assert pack(source, tmp_path / "s", overwrite=True).n_columns == 60
    assert left_over(tmp_path) == []


@LINUX
def test_two_at_a_time_do_not_get_in_each_others_way(tmp_path):
    import fcntl

    source, _ = sources(tmp_path)["a.csv"]
    (tmp_path / ".s.part").mkdir()
    with open(tmp_path / ".s.part" / "lock", "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(BlockingIOError, match="another process is packing to"):
            pack(source, tmp_path / "s")
    assert pack(source, tmp_path / "s").n_columns == 40


PACK = """
import sys
from duramen import pack
pack(sys.argv[1], sys.argv[2], memory="1MB", transpose=sys.argv[3] == "True")
"""


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("name", ["big.csv", "big.bed"])
def test_killed_in_the_middle(tmp_path, name):
    source = tmp_path / name
    if name == "big.csv":
        table = pd.DataFrame(np.random.default_rng(0).integers(0, 100, (4000, 600)))
        table.rename(columns=str).to_csv(source, index=False)
    else:
        write_bed(source, genotypes(400, 20_000))
    whole = pack(source, tmp_path / "whole", memory="1MB")
    kills = 0
    for wait in (0.02, 0.1, 0.3):
        words = [sys.executable, "-c", PACK, str(source), str(tmp_path / "s"), "False"]
        process = subprocess.Popen(words)
        try:
            deadline = time.monotonic() + 30
            while process.poll() is None and time.monotonic() < deadline:
                if (tmp_path / ".s.part" / "plan.json").exists():
                    break
                time.sleep(0.005)
            time.sleep(wait)
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
        finally:
            process.kill()
            process.wait()
        assert (tmp_path / "s").exists() == (process.returncode == 0)
        if process.returncode == 0:
            break
    assert kills
    store = pack(source, tmp_path / "s", memory="1MB", overwrite=True)
    for file in sorted(entry.name for entry in whole.path.iterdir()):
        assert (store.path / file).read_bytes() == (whole.path / file).read_bytes()
    assert left_over(tmp_path) == []
