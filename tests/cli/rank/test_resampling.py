"""`duramen rank --intervals`, `--stability`, and the sentence on the number of trees."""

import re
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import done
from tests.cli.rank.tables import write_sum

N, P, TREES = 80, 6, 20


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Write six features, of which two matter, batches and persons of two rows each."""
    more = {"batch": np.arange(N) // 2 % 2, "person": np.arange(N) // 2}
    return write_sum(tmp_path_factory.mktemp("tables") / "t.parquet", N, P, more)


def ranked(file, out, *words, rows=("--drop", "batch", "--drop", "person")):
    test = [] if "--permutations" in words else ["--test", "none"]
    options = ["--target", "y", *rows, "--trees", TREES, *test]
    result, record = done(out, "rank", file, *options, *words)
    return result, record, pq.read_table(out / "result.parquet").to_pydict()


def test_work_is_kept_and_announced(file, tmp_path, monkeypatch):
    monkeypatch.setattr("duramen.analyses.ranking.significance.LONG", 0.0)
    words = ["--intervals", "--stability", 2, "--n-resamples", 4, "--checkpoint", tmp_path / "kept"]
    result, _, _ = ranked(file, tmp_path / "out", *words)
    for what in ("intervals", "stability"):
        assert re.search(
            rf"note: {what} of MDI-oob: 4 forests, \d+ at a time: about ", result.stderr
        )
        assert (tmp_path / f"kept-{what}").is_file()

    def fail(*_, **__):
        raise AssertionError("a forest was resampled")

    monkeypatch.setattr("duramen.significance.measured.Measured.importances", fail)
    monkeypatch.setattr(
        "duramen.analyses.ranking.significance.estimate_cost",
        lambda *_, **__: SimpleNamespace(seconds=-1.0),
    )
    ranked(file, tmp_path / "again", *words)
    first, again = ((tmp_path / name / "result.csv").read_bytes() for name in ("out", "again"))
    assert first == again
