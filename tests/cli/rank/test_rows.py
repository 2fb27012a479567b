"""`duramen rank --explain`: rows by their names, what leads to their predictions, new rows."""

import numpy as np
import pandas as pd
import pytest
from tests.cli.commands import done

import duramen as dm

N, TREES = 60, 40


def frame():
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(N, 4)), columns=list("abcd"))
    table["word"] = random.choice(["u", "v", "w"], N)
    table.loc[5, "c"] = np.nan
    table["y"] = np.where(table["a"] + (table["word"] == "u") > 0.4, "ill", "well")
    table["z"] = table["a"] + 0.3 * random.normal(size=N)
    return table


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "t.csv"
    frame().assign(id=[f"P{i}" for i in range(N)]).to_csv(path, index=False)
    return path


def words(file, *more, target="y", other="z"):
    drop = ("--target", target, "--drop", other)
    return ("rank", file, *drop, "--trees", TREES, "--test", "none", *more)


def values(out, row, column="prediction"):
    table = pd.read_csv(out / "result-rows.csv", dtype={"row": str})
    return table[table["row"] == row].set_index("feature")[column]


def test_parts_add_up_to_the_prediction_out_of_bag(file, tmp_path):
    explained = ("--explain", "P5", "--explain", "12")  # the twelfth row is P11
    result, record = done(tmp_path / "out", *words(file, *explained))
    X, y = frame().drop(columns=["y", "z"]), frame()["y"]
    forest = dm.RandomForestClassifier(
        TREES, criterion="entropy", oob_score=True, random_state=0
    ).fit(X, y)
    (figures,) = record["results"]["rows"]
    assert figures["rows"] == ["P5", "P11"]
    assert figures["out_of_bag"]
    for place, row in enumerate((5, 11)):
        probability = forest.oob_decision_function_[row]
        assert figures["prediction"][place] == pytest.approx(probability.max())
        assert figures["predicted"][place] == forest.classes_[probability.argmax()]
        parts = values(tmp_path / "out", f"P{row}").sum()
        assert figures["without_features"][place] + parts == pytest.approx(probability.max())
    local = dm.importances.local_mdi(forest, X, rows="oob").values[5]
    written = values(tmp_path / "out", "P5", "bits")
    assert np.allclose(written[list("abcd")].to_numpy(), local[:4])
    assert pd.read_csv(tmp_path / "out" / "result-rows.csv")["value"].isin(["missing"]).any()
    assert f"Row P5 (class {y[5]})" in result.stdout
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Single rows" in page
    assert "Row P11" in page


def test_numbers_count_rows_of_the_file(file, tmp_path):
    table = frame()
    table.loc[[0, 3], "y"] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    more = ("--drop-missing-target", "--max-rows", 40, "--explain", "all")
    record = done(tmp_path / "out", *words(tmp_path / "t.csv", *more))[1]
    (figures,) = record["results"]["rows"]
    assert len(figures["rows"]) == 40
    for name in figures["rows"][:5]:
        shown = values(tmp_path / "out", name, "value")["a"]
        assert float(shown) == pytest.approx(table["a"].iloc[int(name) - 1], rel=1e-4)


def test_python_explains_the_same(file, tmp_path):
    table = frame().drop(columns="z").set_index(pd.Index([f"P{i}" for i in range(N)]))
    done(tmp_path / "out", *words(file, "--explain", "P7"))
    forest = dm.RandomForestClassifier(TREES, criterion="entropy")
    report = dm.rank(table, "y", estimator=forest, test=False, explain="P7", n_jobs=1)
    (rows,) = report.rows
    assert rows.names == ("P7",)
    written = values(tmp_path / "out", "P7")
    own = dict(zip(rows.prediction.names, rows.prediction.values[0], strict=True))
    assert written.to_dict() == pytest.approx({name: own[name] for name in written.index})
    new = table.drop(columns="y").iloc[:2]
    (rows,) = dm.rank(table, "y", estimator=forest, test=False, explain_rows=new, n_jobs=1).rows
    assert rows.names == ("P0", "P1")
    with pytest.raises(ValueError, match="labels or numbers of rows"):
        dm.rank(table, "y", estimator=forest, test=False, explain=[2.5])
    with pytest.raises(ValueError, match="lack 1 of the 5 features"):
        dm.rank(table, "y", test=False, explain_rows=new.drop(columns="b"))
