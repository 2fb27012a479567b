"""`duramen.rank`, `select` and `compare` give what the commands of these names write."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import FILES, done, undrawn

import duramen as dm

N = 90


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Leave the figures of reports undrawn; tests/reports draws them."""
    monkeypatch.setattr("duramen.reports.report.svg", undrawn)


def patients():
    """Classes, with numbers, text, missing values, a leak and a constant column."""
    random = np.random.default_rng(0)
    age, dose = random.normal(60, 9, N).round(), random.normal(size=N)
    ill = np.where(age + 9 * dose + random.normal(0, 3, N) > 60, "ill", "well")
    frame = pd.DataFrame(
        {
            "age": age,
            "dose": dose,
            "site": random.choice(["north", "south", "west"], N),
            "noise": random.normal(size=N),
            "constant": 1.0,
            "after": np.where(ill == "ill", 1.0, np.nan),
            "ill": ill,
        }
    )
    frame.loc[::7, "dose"] = np.nan
    return frame


def numbers():
    """Numbers, of which two features and their product matter."""
    X = np.random.default_rng(1).normal(size=(N, 6))
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(6)])
    return frame.assign(level=X[:, 0] + X[:, 1] + X[:, 0] * X[:, 1])


def batches():
    """Whole numbers of few values, with a batch within which rows are exchanged."""
    random = np.random.default_rng(2)
    frame = pd.DataFrame(random.integers(0, 3, (N, 5)), columns=list("abcde"))
    batch = np.arange(N) % 3
    return frame.assign(batch=batch, y=(frame.a + frame.b + batch > 3).astype(int))


def classifier(n):
    """Forest of `duramen rank --trees n`."""
    return dm.RandomForestClassifier(n, criterion="entropy")


TABLES = {
    "classes": (patients, "ill", {}, classifier),
    "numbers": (numbers, "level", {}, dm.RandomForestRegressor),
    "strata": (batches, "y", {"strata": "batch"}, classifier),
}


@pytest.fixture(params=TABLES)
def table(request, tmp_path):
    make, target, more, forest = TABLES[request.param]
    frame = make()
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "t.parquet")
    options = [word for name, value in more.items() for word in (f"--{name}", value)]
    words = [tmp_path / "t.parquet", "--target", target, *options]
    return dm.Table(frame, target, **more), words, forest


def unstratified(table, words):
    """The table without strata and their column, and the words of a command for it."""
    if table.strata is None:
        return table, words
    return dm.Table(table.X.drop(columns="batch"), "y"), [*words[:3], "--drop", "batch"]


def written(out):
    return pq.read_table(out / "result.parquet"), json.loads((out / "run.json").read_text())


def assert_same(report, out):
    """The table of results, the figures and the settings are those of the command."""
    columns, record = written(out)
    assert pa.table(dict(report.table)).equals(columns)
    run = json.loads(report.run.to_json())
    for name in ("task", "target", "fingerprint", "seed", "results", "classes", "n_rows"):
        assert run[name] == record[name], name
    own = {name: value for name, value in run["settings"].items() if name != "notes"}
    assert {name: record["settings"].get(name) for name in own} == own
    kinds = [
        (finding["kind"], finding["columns"], finding["message"]) for finding in record["findings"]
    ]
    assert [
        (finding["kind"], finding["columns"], finding["message"]) for finding in run["findings"]
    ] == kinds
    assert report.references == tuple(record["references"])


@pytest.mark.slow
def test_rank(table, tmp_path):
    table, words, forest = table
    done(tmp_path / "out", "rank", *words, "--trees", 30, "--seed", 3)
    data = dm.read(table.X, table.y, strata=table.strata)
    report = dm.rank(data, estimator=forest(30), random_state=3)
    assert_same(report, tmp_path / "out")
    columns, _ = written(tmp_path / "out")
    verdicts = dict(zip(columns["name"].to_pylist(), columns["verdict"].to_pylist(), strict=True))
    assert report.verdicts == verdicts
    assert set(report.selected) == {
        name for name, verdict in verdicts.items() if verdict != "noise"
    }
    assert set(report.directions) <= set(verdicts)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert report.conclusion.replace("'", "&#39;") in page


@pytest.mark.slow
def test_rank_with_all_else(table, tmp_path):
    table, words, forest = table
    more = ["--measure", "mda", "--measure", "frequency", "--test", "altmann"]
    more += ["--permutations", 120, "--intervals", "--stability", 2, "--clusters", 0.5]
    done(tmp_path / "out", "rank", *words, "--trees", 20, *more)
    report = dm.rank(
        dm.read(table.X, table.y, strata=table.strata),
        estimator=forest(20),
        measure=["mda", "frequency"],
        test="altmann",
        n_permutations=120,
        intervals=True,
        stability=2,
        clusters=0.5,
    )
    assert_same(report, tmp_path / "out")
    assert report.verdicts == {}
    assert list(report.importances) == ["mda", "frequency", "mdi"][: len(report.importances)]


@pytest.mark.slow
def test_select(table, tmp_path):
    table, words = unstratified(*table[:2])  # the default selector takes no strata
    done(tmp_path / "out", "select", *words, "--seed", 1)
    report = dm.select(table, random_state=1)
    assert_same(report, tmp_path / "out")
    columns, _ = written(tmp_path / "out")
    result = columns["name"].filter(columns["found"]).to_pylist()
    assert list(report.selected) == result


@pytest.mark.slow
def test_select_by_another_method(table, tmp_path):
    table, words, _ = table
    done(tmp_path / "out", "select", *words, "--method", "boruta", "--rounds", 12)
    report = dm.select(table, selector=dm.Boruta(max_rounds=12))
    assert_same(report, tmp_path / "out")


def test_files_are_those_of_the_command(tmp_path):
    frame = patients()
    report = dm.rank(frame, "ill", estimator=classifier(20), test=False)
    report.save(tmp_path / "new" / "folder")
    names = [path.name for path in (tmp_path / "new/folder").iterdir()]
    assert sorted(names) == sorted([*FILES, "report.npz"])
    columns, record = written(tmp_path / "new" / "folder")
    assert columns.equals(pa.table(dict(report.table)))
    assert record["command"] == (
        "dm.rank(data, y='ill', estimator=RandomForestClassifier(criterion='entropy', "
        "n_estimators=20), test=False)"
    )
    page = (tmp_path / "new/folder/report.html").read_text(encoding="utf-8")
    assert "Feature importances for ill" in page
    assert report.run.fingerprint in page
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        report.save(tmp_path / "file")


def test_the_call_of_a_table():
    frame = batches()
    rows = range(N)
    assert repr(dm.Table(frame, frame.y, groups=rows)) == "Table(X, y, groups=range(0, 90))"
    assert (
        repr(dm.Table(frame, groups=list(rows), max_rows=9)) == "Table(X, groups=..., max_rows=9)"
    )


def many(n=150):
    random = np.random.default_rng(4)
    frame = pd.DataFrame(random.normal(size=(n, 6)).round(3), columns=list("abcdef"))
    return frame.assign(y=np.where(frame["a"] + random.normal(size=n) > 0.7, "ill", "well"))


@pytest.mark.slow
@pytest.mark.parametrize("packed", [False, True])
def test_samples_of_the_rows(packed, tmp_path, monkeypatch):
    # Tables in memory and stores, read in several parts, have the same sample.
    monkeypatch.setattr("duramen.io.store.column_store._BLOCK", 2 * 150)
    frame = many()
    frame.to_csv(tmp_path / "t.csv", index=False)
    store = dm.pack(tmp_path / "t.csv", tmp_path / "s")
    place = tmp_path / ("s" if packed else "t.csv")
    words = [place, "--target", "y", "--max-rows", 90, "--seed", 5]
    table = dm.Table(store if packed else frame, "y", max_rows=90)
    done(tmp_path / "rank", "rank", *words, "--trees", 20, "--test", "none")
    select = dm.select(table, random_state=5)
    done(tmp_path / "select", "select", *words)
    data = dm.read(store if packed else frame, "y", max_rows=90, random_state=5)
    rank = dm.rank(data, estimator=classifier(20), test=False, random_state=5)
    compare = dm.compare(data, methods="mdi", n_features=1, n_resamples=3, n_estimators=5)
    for name, report in {"rank": rank, "select": select}.items():
        columns, record = written(tmp_path / name)
        assert record["n_rows"] == report.run.n_rows == 90
        assert pa.table(dict(report.table)).equals(columns)
        assert "a random sample of 90 of 150" in " ".join(record["settings"]["notes"])
        assert "max_rows=90, random_state=5" in " ".join(report.notes)
    assert compare.run.n_rows == 90
    ill = frame["y"].eq("ill").mean() * 90
    assert rank.run.classes["ill"] == pytest.approx(ill, abs=1)
    if packed:
        rows = dm.read(frame, "y", max_rows=90, random_state=5)
        other = dm.rank(rows, estimator=classifier(20), test=False, random_state=5)
        assert pa.table(dict(other.table)).equals(pa.table(dict(rank.table)))


def test_a_number_of_rows_that_is_none_is_refused():
    with pytest.raises(ValueError, match="max_rows"):
        dm.select(dm.Table(many(), "y", max_rows=1))
