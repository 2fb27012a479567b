"""Files from elsewhere: what cannot be read is refused with one error, and nothing crashes."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from tests.faults.batches import READ, REFUSED, run

import duramen as dm
from duramen.forests import Forest

# Stores and forests whose checksums fit are tried by tools/sanitize, with the same bounds.
SHORT = {
    "files.damaged_workbooks": 40,
    "files.damaged_recordings": 40,
    "files.fuzz_tables": 57,
    "files.crafted_results": 156,  # four of each class
}


@pytest.mark.parametrize(
    "attempts",
    [
        pytest.param({"files.damaged_files": 25}, id="all formats"),
        pytest.param(SHORT, id="by format", marks=pytest.mark.slow),
    ],
)
def test_altered_files_are_read_or_refused(
    attempts: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for kind, outcomes in run({kind: range(count) for kind, count in attempts.items()}).items():
        assert outcomes.faults == []
        assert set(outcomes.counts) <= {READ, REFUSED}
        assert outcomes.counts.total() == attempts[kind]
        # Attempts that are all refused, or all read, would show nothing.
        assert outcomes.counts[REFUSED] >= 10
        assert outcomes.counts[READ] >= 3
    assert list(tmp_path.iterdir()) == []  # no temporary files


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    with pytest.raises(ValueError, match="not a regular file"):
        Forest.load(tmp_path / "pipe.npz")
    (tmp_path / "x.store").mkdir()
    os.mkfifo(tmp_path / "x.store" / "header.json")
    with pytest.raises(ValueError, match=r"not a column store|not a regular file"):
        dm.open_store(tmp_path / "x.store")


def test_an_archive_takes_no_more_memory_than_its_file(tmp_path: Path) -> None:
    path = tmp_path / "small.npz"
    np.savez_compressed(path, json=np.zeros(1, np.uint8), offsets=np.zeros(10**7))
    assert path.stat().st_size < 200_000
    with pytest.raises(ValueError, match="a member is compressed"):
        Forest.load(path)
    # A shape that claims more than there is.
    with open(path, "wb") as file:
        np.savez(file, json=np.zeros(1, np.uint8), offsets=np.zeros(3))
    data = path.read_bytes()
    path.write_bytes(data.replace(b"'shape': (3,), }    ", b"'shape': (3000000,),}"[:20]))
    with pytest.raises(ValueError, match="not a file saved by duramen"):
        Forest.load(path)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"what": ' * 50_000])
def test_a_header_of_endless_depth_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "deep.npz"
    with open(path, "wb") as file:
        np.savez(file, json=np.frombuffer(text.encode(), np.uint8))
    with pytest.raises(ValueError, match="not a file saved by duramen"):
        Forest.load(path)
