"""`duramen rank` on tall tables: trees that are let go, samples of rows, limits of trees."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused, done

from duramen.analyses.ranking import forest, significance
from duramen.data import NumberTarget, SurvivalTarget
from duramen.data.target import encode_target, sampled_rows
from duramen.estimators import base

N = 240


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    random = np.random.default_rng(1)
    X = random.normal(size=(N, 5))
    y = np.digitize(X[:, 0] + 0.3 * random.normal(size=N), [-1.0, 0.5])
    columns = {f"x{j}": X[:, j] for j in range(5)}
    path = tmp_path_factory.mktemp("tall") / "t.parquet"
    pq.write_table(pa.table({**columns, "y": np.array(["a", "b", "c"])[y]}), path)
    return path


def let_go(monkeypatch):
    """Let trees go however few they are, in small parts."""
    monkeypatch.setattr(forest, "_MOST_BYTES", 0)
    monkeypatch.setattr(base, "PILOT_TREES", 3)
    monkeypatch.setattr(base, "_MOST_TREES", 7)


def figures(out):
    read = pq.read_table(out / "result.parquet").to_pydict()
    return {name: read[name] for name in read if name != "direction"}


MEASURES = ["mdi", "mdi-oob", "mda", "frequency", "minimal-depth", "vote-change"]
FEW = ("--target", "y", "--test", "none")
WORDS = [word for name in MEASURES for word in ("--measure", name)]


@pytest.mark.filterwarnings("ignore:vote_change. p-values shrink")
@pytest.mark.parametrize("jobs", [1, 3])
def test_ranking_of_trees_that_are_let_go(table, tmp_path, monkeypatch, jobs):
    words = ["rank", table, *FEW, "--trees", 40, *WORDS, "--jobs", jobs]
    _, retained = done(tmp_path / "kept", *words)
    let_go(monkeypatch)
    _, gone = done(tmp_path / "gone", *words)
    assert figures(tmp_path / "gone") == figures(tmp_path / "kept")
    for name in ("oob_error", "baseline_error", "features_used", "importance_sum"):
        assert gone["results"][name] == retained["results"][name]
    assert gone["settings"]["mda"] == retained["settings"]["mda"]


def test_measure_that_needs_all_trees_is_refused(table, tmp_path, monkeypatch):
    let_go(monkeypatch)
    words = [table, *FEW, "--trees", 20, "--measure", "prediction-change"]
    message = "--max-rows, --n-estimators, --max-depth or --min-samples-leaf"
    assert_refused("rank", tmp_path / "out", words, message)


@pytest.mark.slow
def test_test_and_effects_of_a_sample_where_there_are_many_rows(table, tmp_path, monkeypatch):
    let_go(monkeypatch)
    for module in (forest, significance):
        monkeypatch.setattr(module, "MANY", 200)
    monkeypatch.setattr(forest, "FEW", 60)
    words = ["rank", table, "--target", "y", "--trees", 20]
    result, record = done(tmp_path / "out", *words, "--permutations", 19)
    said = "the significance test is of a random sample of 60 of the 240 rows, in which classes"
    assert said in " ".join(result.stderr.split())
    assert said in record["results"]["significance"]["notes"][0]
    # One that is asked for is of all rows.
    result, record = done(tmp_path / "all", *words, "--test", "max-t", "--permutations", 19)
    assert "random sample" not in result.stderr


def test_sample_of_the_rows(table, tmp_path):
    words = [table, "--target", "y", "--max-rows", 100]
    own = ["--trees", 9, "--test", "none"]
    result, record = done(tmp_path / "a", "rank", *words, *own)
    sizes = dict(zip(*np.unique(pq.read_table(table)["y"], return_counts=True), strict=True))
    counts = record["data"]["classes"] if "data" in record else record["classes"]
    assert sum(counts.values()) == 100
    for name, size in sizes.items():
        assert abs(counts[name] - size * 100 / N) < 1
    said = "the rows are a random sample of 100 of 240 (--max-rows 100 --random-state 0), in which"
    assert said in " ".join(result.stderr.split())
    assert "--max-rows 100" in record["command"]
    # The same rows with the same seed, others with another; all rows if there are no more.
    done(tmp_path / "b", "rank", *words, *own)
    done(tmp_path / "c", "rank", *words, *own, "--seed", 1)
    assert figures(tmp_path / "a") == figures(tmp_path / "b") != figures(tmp_path / "c")
    done(tmp_path / "d", "rank", table, "--target", "y", "--max-rows", N, *own)
    done(tmp_path / "e", "rank", table, "--target", "y", *own)
    assert figures(tmp_path / "d") == figures(tmp_path / "e")


def test_rows_drawn_keep_proportions():
    target = encode_target(np.repeat(["a", "b", "c"], [700, 200, 100]), "classification")
    rows = sampled_rows(target, 10, 0)
    assert np.bincount(target.values[rows]).tolist() == [7, 2, 1]
    assert (np.diff(rows) > 0).all()
    events = np.arange(40) * 2 + (np.arange(40) < 10)
    survival = SurvivalTarget(events.astype(np.uint32), np.arange(40.0))
    assert (sampled_rows(survival, 8, 0) < 10).sum() == 2
    numbers = NumberTarget(np.arange(50.0))
    drawn = [sampled_rows(numbers, 5, seed) for seed in range(2000)]
    counts = np.bincount(np.concatenate(drawn), minlength=50)
    assert counts.sum() == 10_000
    assert np.abs(counts - 200).max() < 5 * np.sqrt(200 * 0.9)
