"""`duramen rank --intervals`, `--stability`, and the sentence on the number of trees."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import done
from tests.cli.rank.tables import write_sum

from duramen.analyses.ranking.precision import trees_words
from duramen.significance import TreesNeeded

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


def needed(to_rank, *, k=10, to_see=5.0, agreed=0.7):
    return TreesNeeded(
        *(100, "mdi", k, 0.9, np.array([50]), np.array([agreed]), 0.8, to_rank),
        *(20, 4, 12.0, 0.05, 0.99, to_see, 0),
    )


def test_whether_the_trees_suffice():
    assert trees_words(needed(80.0), "MDI") == (
        "100 trees are sufficient for an average agreement of 90% on the first 10 features by MDI: "
        "two forests of 50 trees on these rows have 70% of them in common on average."
    )
    assert trees_words(needed(321.0), "MDI").endswith("; about 330 trees are needed.")
    assert "400 trees would not suffice" in trees_words(needed(math.inf), "MDI")
    assert trees_words(needed(80.0, k=1, agreed=0.98), "MDI").endswith(
        "on the first feature by MDI: two forests of 50 trees on these rows have the same one with "
        "a probability of 0.98."
    )
