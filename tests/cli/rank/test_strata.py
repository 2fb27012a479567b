"""`duramen rank --strata` and `--groups`."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused, done

import duramen as dm
from duramen.significance import catalogue

N, TREES = 80, 10
TEST = ("--measure", "mdi", "--trees", TREES, "--permutations", 19, "--test")


def columns():
    random = np.random.default_rng(5)
    X = random.normal(size=(N, 4)).round(2)
    person = np.repeat(np.arange(N // 2), 2)
    population = np.where(person % 2, "north", "south")
    y = np.where(X[:, 2] + X[:, 3] > 0, "a", "b")
    named = {f"x{j}": X[:, j] for j in range(4)}
    return named, {"population": population, "person": person}, y


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    named, labels, y = columns()
    path = tmp_path_factory.mktemp("tables") / "t.parquet"
    pq.write_table(pa.table({**named, **labels, "y": y}), path)
    return path


def written(out):
    return pq.read_table(out / "result.parquet").to_pydict()


@pytest.mark.slow
@pytest.mark.parametrize("method", catalogue, ids=lambda test: test.option)
def test_every_method_takes_strata_or_refuses_them(method, file, tmp_path):
    able = method.takes("strata")
    refused = ("janitza", "one-probe", "forest-probe-ranking", "probe-ranking")
    assert able == (method.option not in refused)
    words = ["rank", file, "--target", "y", *TEST, method.option, "--strata", "population"]
    if method.repeats == "":
        words = [word for word in words if word not in ("--permutations", 19)]
    if able:
        _, run = done(tmp_path / "out", *words)
        assert "strata" in run["settings"]["significance"]
    else:
        message = (
            f"--strata has no effect with --test {method.option}; allowed with max-t, altmann, "
        )
        assert_refused("rank", tmp_path / "out", words[1:], message)


def test_hold_out_importance_keeps_blocks_together(file, tmp_path):
    words = ["--measure", "holdout-mda", "--trees", TREES, "--test", "altmann"]
    more = ["--permutations", 3, "--groups", "person", "--drop", "population"]
    done(tmp_path / "out", "rank", file, "--target", "y", *words, *more)
    named, labels, y = columns()
    forest = dm.RandomForestClassifier(TREES, criterion="entropy", random_state=0)
    wanted = dm.importances.holdout_mda(
        forest, pa.table(named), y, random_state=0, groups=labels["person"]
    )
    result = written(tmp_path / "out")
    place = [wanted.names.index(name) for name in result["name"]]
    assert result["importance"] == wanted.values[place].tolist()
