"""Arrow is given no more threads than the system lets start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from duramen.io import read_table
from duramen.support import threads


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    counts = pa.cpu_count(), pa.io_thread_count()
    threads._arrow_threads.cache_clear()
    yield
    threads._arrow_threads.cache_clear()
    pa.set_cpu_count(counts[0])
    pa.set_io_thread_count(counts[1])


def test_reading_is_refused_where_arrow_would_end_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    monkeypatch.setattr(threads, "startable", lambda wanted: 2)
    with pytest.raises(OSError, match=r"read_table: reading tables needs 2 threads.*ulimit -u"):
        read_table(tmp_path / "t.csv")


def test_arrow_works_with_the_threads_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    monkeypatch.setattr(threads, "startable", lambda wanted: 3)
    assert read_table(tmp_path / "t.csv").num_rows == 1
    assert (pa.cpu_count(), pa.io_thread_count()) == (1, 1)
