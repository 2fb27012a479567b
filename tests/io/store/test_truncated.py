"""Files of a store that are truncated, or written to, while they are mapped."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import duramen as dm

X = np.random.default_rng(0).normal(size=(5000, 6))
USES: list[Callable[[Any], Any]] = [
    lambda table: table.codes(2).sum(),
    lambda table: table.values(2).sum(),
    lambda table: table.take_columns([1, 3]),
    lambda table: table.take_rows([1, 3]),
    lambda table: table.fingerprint(),
    lambda table: dm.RandomForestRegressor(2).fit(table, X[:, 0]),
]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", ["codes.u2", "values.f8"])
def test_a_truncated_file_is_an_error_and_no_signal(use: Any, name: str, tmp_path: Path) -> None:
    """Reading beyond its end would end the process (SIGBUS)."""
    table = dm.pack(X, tmp_path / "s").as_table()
    copy = pickle.loads(pickle.dumps(table))
    os.truncate(tmp_path / "s" / name, 100)
    with pytest.raises(ValueError, match=rf"{name} is damaged: it was truncated from .* to 100 "):
        use(table)
    use(copy)  # which is in memory


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", ["codes.u2", "values.f8"])
def test_a_file_that_was_written_to_is_an_error(use: Any, name: str, tmp_path: Path) -> None:
    """Codes beyond those of a column would be places outside of an array of the kernel."""
    table = dm.pack(X, tmp_path / "s").as_table()
    file = tmp_path / "s" / name
    before = file.stat()
    with open(file, "r+b") as stream:
        stream.write(b"\xff" * 1000)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))  # of a coarse clock
    with pytest.raises(ValueError, match=rf"{name} was written to while it was open; open the "):
        use(table)


def test_a_mapped_table_is_used_as_any_other(tmp_path: Path) -> None:
    mapped, encoded = dm.pack(X, tmp_path / "s").as_table(), dm.encode(X)
    assert mapped.fingerprint() == encoded.fingerprint()
    for table in (mapped.take_rows(np.arange(50)), mapped.take_columns([4, 2])):
        assert type(table.codes(0)) is np.ndarray
    forest = dm.RandomForestRegressor(3, random_state=0)
    predicted = [forest.fit(table, X[:, 0]).predict(X[:20]) for table in (mapped, encoded)]
    np.testing.assert_array_equal(*predicted)
