"""A pack that is stopped leaves nothing, and what was there before stays."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from tests.io.store.stores import genotypes, left_over, small_budget, write_bed

from duramen import pack
from duramen.io import open_store
from duramen.io.store.writer import StoreWriter
from duramen.support.files import held

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="locks and kills")


def frame(n: int = 50, p: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 5, (n, p)), columns=[f"c{j}" for j in range(p)])
    return table.assign(c3=rng.choice(["u", "v"], n), c4=rng.normal(size=n))


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_a_stop_leaves_nothing_and_an_old_store_as_it_was(tmp_path, monkeypatch, error):
    source = tmp_path / "a.parquet"
    frame().to_parquet(source)
    small_budget(monkeypatch, 12_000)
    append, written = StoreWriter.append, []

    def stopping(self, table):
        if len(written) == 2:
            raise error
        written.append(table.n_columns)
        append(self, table)

    def stopped(**options):
        written.clear()
        with monkeypatch.context() as patch:
            patch.setattr(StoreWriter, "append", stopping)
            with pytest.raises(error):
                pack(source, tmp_path / "s", **options)
        assert len(written) == 2

    stopped()
    assert os.listdir(tmp_path) == ["a.parquet"]
    old = pack(frame(30), tmp_path / "s").fingerprint()
    stopped(overwrite=True)
    assert open_store(tmp_path / "s").fingerprint() == old
    assert pack(source, tmp_path / "s", overwrite=True).shape == (50, 40)
    assert sorted(os.listdir(tmp_path)) == ["a.parquet", "s"]


def test_a_full_disk_names_the_place(tmp_path, monkeypatch):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(StoreWriter, "append", Mock(side_effect=full))
    with pytest.raises(OSError, match=r"t cannot be written .*name another place$"):
        pack(np.ones((2, 2)), tmp_path / "t")
    assert os.listdir(tmp_path) == []


@LINUX
def test_two_at_a_time_do_not_get_in_each_others_way(tmp_path):
    with held(tmp_path / "s"), pytest.raises(BlockingIOError, match="another process is packing"):
        pack(frame(), tmp_path / "s")
    assert pack(frame(), tmp_path / "s").n_columns == 40


def test_only_folders_that_killed_processes_left_are_removed(tmp_path):
    (tmp_path / ".s.0123abcd.part").mkdir()
    (tmp_path / ".s.0123abcd.part" / "codes.u1").write_bytes(b"half")
    (tmp_path / ".s.89abcdef.part").mkdir()
    (tmp_path / ".s.89abcdef.part" / "precious.txt").write_text("not ours")
    pack(frame(), tmp_path / "s")
    assert sorted(os.listdir(tmp_path)) == [".s.89abcdef.part", "s"]


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
                if list(tmp_path.glob(".s.*.part/codes.u1")):
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
