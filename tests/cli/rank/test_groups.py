"""`duramen rank --feature-groups`: MDA of groups of features."""

import csv

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import done

import duramen as dm

N, TREES = 80, 20
FEW = ("--target", "y", "--trees", TREES, "--test", "none")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write a table in which x0 and x1 are nearly equal, and groups of its columns."""
    place = tmp_path_factory.mktemp("tables")
    random = np.random.default_rng(2)
    X = random.normal(size=(N, 5))
    X[:, 1] = X[:, 0] + 0.1 * random.normal(size=N)
    columns = {f"x{j}": X[:, j] for j in range(5)}
    pq.write_table(pa.table({**columns, "y": np.where(X[:, 0] > 0, "a", "b")}), place / "t.parquet")
    (place / "groups.csv").write_text("column,group\nx0,=signal\nx1,=signal\nx3,rest\nx4,rest\n")
    return place


def of_groups(out):
    with (out / "result-groups.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_groups_are_permuted_together(folder, tmp_path):
    words = [*FEW, "--feature-groups", folder / "groups.csv"]
    result, record = done(tmp_path / "out", "rank", folder / "t.parquet", *words)
    table = pq.read_table(folder / "t.parquet")
    X, y = table.drop_columns(["y"]), np.array(table["y"].to_pylist())
    forest = dm.RandomForestClassifier(TREES, criterion="entropy", random_state=0).fit(X, y)
    groups = {"=signal": ["x0", "x1"], "rest": ["x3", "x4"], "x2": ["x2"]}
    wanted = dm.importances.mda(forest, X, y, feature_groups=groups)
    alone = dm.importances.mda(forest, X, y)
    actual = of_groups(tmp_path / "out")
    assert {row["name"]: float(row["importance"]) for row in actual} == dict(wanted)
    first = actual[0]
    assert (first["name"], first["rank"], first["n_features"]) == ("=signal", "1", "2")
    assert first["features"] == "x0;x1"
    assert float(first["sum_of_features"]) == pytest.approx(alone["x0"] + alone["x1"])
    assert float(first["importance"]) > float(first["sum_of_features"])  # they stand in
    assert "Groups by the MDA of permuting their features together" in result.stdout
    assert "result-groups.csv" in result.stdout
    assert "--feature-groups groups.csv" in record["command"]
    assert record["settings"]["group_mda"]["n_groups"] == 3
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Groups of features" in page
    safe = [*words, "--spreadsheet-safe", "--measure", "mdi"]
    done(tmp_path / "out", "rank", folder / "t.parquet", *safe)
    actual = of_groups(tmp_path / "out")
    assert actual[0]["name"] == "'=signal"
    assert "sum_of_features" not in actual[0]  # no MDA of single features
    done(tmp_path / "out", "rank", folder / "t.parquet", *FEW)
    assert not (tmp_path / "out" / "result-groups.csv").exists()  # it would be of another run


@pytest.mark.slow
def test_the_default_test_has_verdicts_of_groups_beside_those_of_their_members(folder, tmp_path):
    words = ["--target", "y", "--trees", TREES, "--feature-groups", folder / "groups.csv"]
    result, record = done(tmp_path / "out", "rank", folder / "t.parquet", *words)
    verdict = {row["name"]: row["verdict"] for row in of_groups(tmp_path / "out")}
    assert verdict == {"=signal": "confirmed", "rest": "noise", "x2": ""}
    assert "groups were tested first, and 1 of 2 are confirmed" in " ".join(result.stderr.split())
    assert record["settings"]["significance"]["feature_groups"] == {"=signal": 2, "rest": 2}
    with (tmp_path / "out" / "result.csv").open(encoding="utf-8", newline="") as file:
        of_features = {row["name"]: row["verdict"] for row in csv.DictReader(file)}
    assert set(of_features) == {f"x{j}" for j in range(5)}
    assert of_features["x0"] == "confirmed"
    table = pq.read_table(folder / "t.parquet").to_pandas()
    groups = {"=signal": ["x0", "x1"], "rest": ["x3", "x4"]}
    forest = dm.RandomForestClassifier(TREES, criterion="entropy")
    report = dm.rank(table, "y", feature_groups=groups, estimator=forest, n_jobs=1)
    assert "groups were tested first" in " ".join(report.notes)
    # A group with the name of a feature: the test is of features alone.
    own = dm.rank(table, "y", feature_groups={"x0": ["x0", "x1"]}, estimator=forest)
    assert "groups were tested first" not in " ".join(own.notes)
