"""Native readers that never return: tests/faults alters bytes of all formats at random."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import duramen as dm
from duramen.io import Request
from duramen.io.formats import native_reader
from duramen.io.store.packing import open_input

h5py = pytest.importorskip("h5py")


def write_h5ad(path: Path) -> Path:
    """Write an AnnData file whose first heap of text begins with GCOL."""
    with h5py.File(path, "w") as file:
        file["X"] = np.arange(12.0).reshape(4, 3)
        for name, count in (("obs", 4), ("var", 3)):
            group = file.create_group(name)
            group.attrs["_index"] = "_index"
            group.attrs["column-order"] = np.array([], dtype="S1")
            group["_index"] = np.array([f"{name}{i}" for i in range(count)], dtype=object)
    return path


def endless(path: Path) -> Path:
    """Alter a byte of a heap, on which the HDF5 library never returns."""
    data = bytearray(write_h5ad(path).read_bytes())
    data[data.index(b"GCOL") + 8] = 255
    path.write_bytes(data)
    return path


@pytest.mark.smoke
def test_a_reader_that_never_returns_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native_reader, "_SECONDS", 2.0)
    path = endless(tmp_path / "t.h5ad")
    with pytest.raises(ValueError, match=r"t\.h5ad is not an \.h5ad .* no progress for 2 seconds"):
        dm.pack(path, tmp_path / "s")


def readers(parent: int) -> list[int]:
    """Return the processes with a native reader that a process has started."""
    command = ["ps", "-ww", "-o", "pid=,args=", "--ppid", f"{parent}"]
    lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    return [int(line.split()[0]) for line in lines if "reader_process.py" in line]


def is_running(process: int) -> bool:
    """Tell whether a process runs; one that has ended and is not yet waited for does not."""
    out = subprocess.run(["ps", "-o", "stat=", "-p", f"{process}"], capture_output=True, text=True)
    return bool(out.stdout.strip()) and not out.stdout.startswith("Z")


def within(seconds: float, condition: Callable[[], object]) -> bool:
    """Wait until a condition is true."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(condition())


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs signals and ps")


@linux
def test_a_reader_ends_with_its_input(tmp_path: Path) -> None:
    path = write_h5ad(tmp_path / "t.h5ad")
    source = open_input(path, Request("pack", budget=10**6))
    (reader,) = readers(os.getpid())
    assert is_running(reader)
    np.testing.assert_array_equal(next(source.groups(tmp_path)), np.arange(12.0).reshape(4, 3))
    del source
    assert within(10, lambda: not is_running(reader))
    assert dm.pack(path, tmp_path / "s").shape == (4, 3)
    assert readers(os.getpid()) == []


@pytest.mark.slow
@linux
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_both_processes(tmp_path: Path, stop: signal.Signals) -> None:
    """Far sooner than the limit of time, with the handlers of Python and without."""
    path = endless(tmp_path / "t.h5ad")
    program = f"import duramen as dm; dm.pack({str(path)!r}, {str(tmp_path / 's')!r})"
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    try:
        assert within(30, lambda: readers(process.pid))
        (reader,) = readers(process.pid)
        spent = Path(f"/proc/{reader}/stat")
        assert within(
            30, lambda: int(spent.read_text().split()[13]) > 1.5 * os.sysconf("SC_CLK_TCK")
        )
        process.send_signal(stop)
        assert process.wait(10) == -stop
        assert within(10, lambda: not is_running(reader))
    finally:
        process.kill()
        process.wait(10)
