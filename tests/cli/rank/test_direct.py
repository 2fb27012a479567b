"""`duramen rank --direct`: each feature given all others, beside the ranking."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import done

import duramen as dm

N, P, TREES = 200, 8, 50


def frame(seed=0):
    """x0 and x4 matter; x1 to x3 stand in for x0; some values are missing."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, P))
    X[:, 1:4] = X[:, :1] + 0.5 * X[:, 1:4]
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(P)])
    y = 2 * X[:, 0] + X[:, 4] + random.normal(size=N)
    table.loc[random.random(N) < 0.1, "x5"] = np.nan
    return table.assign(y=y, batch=np.where(np.arange(N) % 2, "a", "b"))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "t.csv"
    frame().to_csv(path, index=False)
    return path


def words(file, *more):
    return ("rank", file, "--target", "y", "--trees", TREES, "--test", "none", "--direct", *more)


def columns_of(out):
    return pq.read_table(out / "result.parquet").to_pydict()


@pytest.mark.slow
def test_clusters_are_offered_where_rows_are_too_few(tmp_path):
    random = np.random.default_rng(0)
    signal = random.normal(size=(40, 3))
    X = np.repeat(signal, 20, axis=1) + 0.2 * random.normal(size=(40, 60))
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(60)])
    table["y"] = np.where(signal[:, 0] + 0.3 * random.normal(size=40) > 0, "ill", "well")
    table.to_csv(tmp_path / "t.csv", index=False)
    result, _ = done(tmp_path / "plain", *words(tmp_path / "t.csv"))
    shown = " ".join(result.stderr.split())
    assert "--direct: the rows are too few for a verdict: all 60 features vary so little" in shown
    assert "with --feature-groups clusters --clusters 0.8" in shown
    assert "noise" not in columns_of(tmp_path / "plain")["direct"]
    more = ("--feature-groups", "clusters", "--clusters", 0.8)
    _, record = done(tmp_path / "clusters", *words(tmp_path / "t.csv", *more))
    assert len(record["results"]["direct"]["direct_groups"]) == 1
    report = dm.rank(
        table,
        "y",
        feature_groups="clusters",
        estimator=dm.RandomForestClassifier(TREES, criterion="entropy"),
        test=False,
        direct=True,
        clusters=0.8,
    )
    assert json.loads(report.run.to_json())["results"]["direct"] == record["results"]["direct"]


def test_strata_and_groups_that_the_test_beside_verdicts_uses():
    table = dm.read(frame(), "y", strata="batch", groups=np.arange(N))
    with pytest.raises(ValueError, match="strata has no effect with test='janitza'"):
        dm.rank(table, test="janitza", interactions=True)
    forest = dm.RandomForestRegressor(10)
    report = dm.rank(table, estimator=forest, test="janitza", direct=True)
    assert "within strata" in report.direct.null


def test_weights_are_refused_before_a_forest_grows(monkeypatch):
    monkeypatch.setattr("duramen.analyses.rank.grow_and_compute", None)
    weights = np.linspace(1, 2, N)
    with pytest.raises(ValueError, match="conditional: sample_weight must be None"):
        dm.rank(
            dm.read(frame().drop(columns="batch"), "y", sample_weight=weights), test="conditional"
        )
