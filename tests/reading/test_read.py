"""`duramen.read`: sources of every kind, columns that are set apart, rows left out, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import duramen as dm

N = 60


def columns() -> dict[str, Any]:
    """Features, a target, and columns with other parts to play."""
    random = np.random.default_rng(3)
    dose = random.integers(0, 9, N)
    return {
        "dose": dose,
        "marker": random.normal(size=N).round(2),
        "sex": np.array(["f", "m"])[random.integers(0, 2, N)],
        "person": [f"p{i // 3}" for i in range(N)],
        "site": np.array(["north", "south"])[np.arange(N) // 3 % 2],
        "months": random.integers(1, 40, N),
        "died": random.integers(0, 2, N),
        "weight": 1.0 + np.arange(N) % 3,
        "ill": np.array(["no", "yes"])[(dose + random.integers(0, 4, N) > 5).astype(int)],
    }


ROLES = {"groups": "person", "strata": "site", "sample_weight": "weight"}
DROP = ("months", "died")


def test_sources_of_every_kind_give_the_same_learning_set(tmp_path: Path) -> None:
    table = columns()
    pd.DataFrame(table).to_csv(tmp_path / "t.csv", index=False)
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    sources: dict[str, Any] = {
        "csv": str(tmp_path / "t.csv"),
        "parquet": tmp_path / "t.parquet",
        "arrow": pa.table(table),
        "pandas": pd.DataFrame(table),
        "polars": pl.DataFrame(table),
        "store": dm.pack(pa.table(table), tmp_path / "t.store"),
        "folder": str(tmp_path / "t.store"),
    }
    by_hand = dm.learning_set(
        pd.DataFrame({name: table[name] for name in ("dose", "marker", "sex")}),
        table["ill"],
        groups=table["person"],
        strata=table["site"],
        sample_weight=table["weight"],
    )
    for kind, source in sources.items():
        data = dm.read(source, "ill", drop=DROP, **ROLES)
        assert data.names == ("dose", "marker", "sex"), kind
        assert data.in_memory().table.fingerprint() == by_hand.table.fingerprint(), kind
        assert data.y.tolist() == by_hand.y.tolist(), kind
        for part in ("strata", "groups"):
            ours = getattr(data.exchangeability, part)
            assert np.array_equal(ours, getattr(by_hand.exchangeability, part)), (kind, part)
        assert data.weights.tolist() == by_hand.weights.tolist(), kind  # type: ignore[union-attr]
        assert data.provenance.target == "ill"


def test_arrays_and_values_in_place_of_names() -> None:
    table = columns()
    X = np.column_stack([table["dose"], table["marker"]])
    for source in (X, sparse.csr_matrix(X), dm.encode(X)):
        data = dm.read(source, table["ill"], groups=table["person"])
        wanted = dm.learning_set(source, table["ill"], groups=table["person"])
        assert data.fingerprint == wanted.fingerprint
        assert np.array_equal(data.exchangeability.groups, wanted.exchangeability.groups)
    frame = pd.DataFrame({"dose": table["dose"], "marker": table["marker"]})
    assert dm.read(frame, pd.Series(table["ill"], name="ill")).provenance.target == "ill"


def test_a_learning_set_is_what_it_is() -> None:
    data = dm.read(pd.DataFrame(columns()), "ill", drop=(*DROP, "weight"))
    assert dm.read(data) is data
    with pytest.raises(ValueError, match="already holds strata"):
        dm.read(data, strata="site")


def test_samples_are_paired_by_name_and_features_of_them_join(tmp_path: Path) -> None:
    table = columns()
    names = [f"S{i}" for i in range(N)]
    values = pa.table({"sample": names, "dose": table["dose"], "marker": table["marker"]})
    order = np.random.default_rng(0).permutation(N)
    notes = {"id": names, "ill": table["ill"], "age": np.arange(N) % 7, "site": table["site"]}
    samples = pa.table(notes).take(order)
    asked: dict[str, Any] = {"samples_features": ["age"], "strata": "site"}
    pq.write_table(values, tmp_path / "t.parquet")
    pq.write_table(samples, tmp_path / "samples.parquet")
    whole = pa.table({"dose": table["dose"], "marker": table["marker"], "age": notes["age"]})
    wanted = dm.learning_set(whole, table["ill"])
    for source, beside in (
        (values, samples),
        (tmp_path / "t.parquet", str(tmp_path / "samples.parquet")),
        (values.to_pandas(), samples.to_pandas()),
        (dm.pack(values, tmp_path / "t.store"), None),
    ):
        if beside is None:
            source = dm.open_store(source.path, samples)
        data = dm.read(source, "ill", samples=beside, **asked)
        assert data.names == ("dose", "marker", "age")
        assert data.in_memory().table.fingerprint() == wanted.table.fingerprint(), type(source)
        assert data.y.tolist() == wanted.y.tolist(), type(source)
        assert data.provenance.row_names.name(4) == "S4"
        assert any("were paired" in note for note in data.provenance.notes)
        assert data.column("site").tolist() == list(table["site"])


def test_rows_without_a_target_and_incomplete_rows_are_left_out() -> None:
    table = {name: list(values) for name, values in columns().items() if name in ("dose", "sex")}
    table["ill"] = list(columns()["ill"])
    table["ill"][4] = None
    table["sex"][7] = None
    table["site"] = list(columns()["site"])
    frame: Any
    for frame in (pl.DataFrame(table), pd.DataFrame(table), pa.table(table)):
        with pytest.raises(ValueError, match=r"missing in 1 of 60 rows.*drop_missing_target=True"):
            dm.read(frame, "ill")
        data = dm.read(frame, "ill", drop_missing_target=True, strata="site")
        south = [table["site"][i] == "south" for i in range(N) if i != 4]
        assert data.exchangeability.strata is not None
        assert len(set(zip(data.exchangeability.strata.tolist(), south, strict=True))) == 2
    data = dm.read(frame, "ill", drop_missing_target=True, drop=["site"])
    assert (data.n_rows, data.provenance.dropped_rows) == (59, 1)
    assert data.provenance.row_names.name(4) == "5"
    assert data.provenance.notes == ("1 of 60 rows has no target and was left out",)
    complete = dm.read(frame, "ill", missing="drop", drop=["site"])
    assert (complete.n_rows, complete.provenance.dropped_rows) == (58, 2)
    rows = [i for i in range(N) if i not in (4, 7)]
    assert complete.y.tolist() == [table["ill"][i] for i in rows]
    assert complete.column("sex").tolist() == [table["sex"][i] for i in rows]


def test_survival_and_covariates() -> None:
    frame = pd.DataFrame(columns()).drop(columns=["ill", "weight", "person"])
    data = dm.read(frame, "months", event="died", covariates=["site"])
    assert data.task == "survival"
    assert data.names == ("dose", "marker", "sex", "site")
    strata = data.exchangeability.strata
    assert strata is not None
    assert np.array_equal(strata == strata[0], frame["site"] == frame["site"][0])
    assert any("rows are permuted within 2 strata of site" in n for n in data.provenance.notes)


def test_findings_are_told_with_what_answers_them() -> None:
    frame = pd.DataFrame({**columns(), "id": range(N), "one": 1})
    data = dm.read(frame, "ill", drop=("weight", *DROP))
    told = {finding.kind: str(finding) for finding in data.provenance.findings}
    assert "id" not in data.names
    assert "keep_identifiers=True keeps it" in told["identifier"]
    assert "drop=['one'] leaves it out" in told["constant"]
    kept = dm.read(frame, "ill", drop=("weight", *DROP), keep_identifiers=True)
    assert "id" in kept.names
    assert data.provenance.settings == {"drop": ["weight", "months", "died"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": "il"}, r"target 'il' is not a column of the table; did you mean 'ill'\?"),
        ({"target": "ill", "drop": ["doze"]}, "drop 'doze' is not a column .* 'dose'"),
        ({"target": "ill", "drop": ["ill"]}, "drop 'ill' is the target"),
        ({"target": "ill", "groups": "ill"}, "groups 'ill' is the target"),
        ({"target": "ill", "strata": "sex", "drop": ["sex"]}, "drop must not name 'sex'"),
        ({"target": "ill", "samples_features": ["x"]}, "samples_features needs samples=FILE"),
        ({"target": "ill", "samples_id": "x"}, "samples_id needs samples"),
        ({"target": "ill", "categorical": ["x"]}, "categorical 'x' is not a column"),
        ({"task": "regression"}, "task needs target=NAME"),
        ({"covariates": ["dose"]}, "covariates needs target=NAME"),
    ],
)
def test_what_does_not_go_together_is_refused(arguments: dict[str, Any], message: str) -> None:
    frame = pd.DataFrame({name: columns()[name] for name in ("dose", "sex", "ill")})
    with pytest.raises(ValueError, match=f"read: .*{message}|read: {message}"):
        dm.read(frame, **arguments)


def test_parameters_of_text_are_for_text(tmp_path: Path) -> None:
    pq.write_table(pa.table(columns()), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="decimal is for CSV and TSV files"):
        dm.read(tmp_path / "t.parquet", "ill", decimal=",")
    with pytest.raises(ValueError, match="sheet is for workbooks"):
        dm.read(tmp_path / "t.parquet", "ill", sheet="a")


def test_analyses_take_what_was_read() -> None:
    frame = pd.DataFrame({"id": [f"P{i}" for i in range(N)], **columns()})
    data = dm.read(frame, "ill", drop=("weight", *DROP), groups="person", strata="site")
    forest = dm.RandomForestClassifier(30)
    report = dm.rank(data, estimator=forest, n_permutations=19, random_state=0)
    assert report.run.target == "ill"
    assert any("'id' has a different value in each row" in note for note in report.notes)
    explained = dm.rank(data, estimator=forest, test=False, explain=["P7"], random_state=0)
    assert "P7" in str(explained.rows)


def test_a_table_without_a_target(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": range(40), "a": np.arange(40.0) % 7, "b": np.arange(40.0) % 5})
    frame.to_csv(tmp_path / "a.csv", index=False)
    data = dm.read(tmp_path / "a.csv", missing="drop", max_rows=30, random_state=1)
    assert data.names == ("a", "b")
    assert (data.n_rows, data.provenance.target, repr(data)[-4:]) == (30, "", "none")
    assert data.fingerprint != dm.read(frame).fingerprint
    again = dm.read(data.of_rows(np.arange(20)))
    assert again.n_rows == 20
    for refusing in (lambda: data.task, lambda: data.y, lambda: dm.exact(data)):
        with pytest.raises(ValueError, match="read without a target"):
            refusing()


def test_values_whose_name_is_that_of_a_column_take_its_place_only_if_they_are_the_same():
    frame = pd.DataFrame({"dose": np.arange(40.0) % 7, "noise": np.arange(40) % 5})
    assert dm.read(frame, frame["dose"]).names == ("noise",)
    assert dm.read(frame, 2 * frame["dose"] % 5).names == ("dose", "noise")
    assert dm.read(frame, frame["dose"] % 2, groups=frame["noise"]).names == ("dose",)
    data = dm.read(frame, frame["dose"] % 2, groups=frame["noise"] // 2)
    assert data.names == ("dose", "noise")
    assert data.provenance.notes == ()


def test_rows_left_out_leave_identifiers_and_constants_to_be_found():
    target = [None] * 6 + ["a", "b"] * 17
    site = ["x"] * 6 + ["y"] * 34
    frame = pd.DataFrame({"nr": np.arange(40), "site": site, "dose": np.arange(40) % 7})
    data = dm.read(dm.encode(frame), np.array(target, dtype=object), drop_missing_target=True)
    assert data.names == ("site", "dose")
    assert {finding.kind for finding in data.provenance.findings} == {"identifier", "constant"}


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([400, 402, 7], ("400", "402", "7")),
        ([400.5, 402.0, 7.0], ("400.5", "402.0", "7.0")),
        (range(3), ("0", "1", "2")),
        ([1, "b", 2.5], ("1", "b", "2.5")),
        ([("mean", "a"), ("mean", "b"), ("id", "")], ("mean_a", "mean_b", "id")),
    ],
)
def test_labels_of_columns_are_their_names(labels: Any, names: tuple[str, ...]) -> None:
    values = np.random.default_rng(0).normal(size=(N, 3))
    frame = pd.DataFrame(values)
    frame.columns = pd.MultiIndex.from_tuples(labels) if "id" in names else pd.Index(labels)
    assert dm.read(frame, columns()["ill"]).names == names
    assert dm.read(frame, labels[2]).names == names[:2]
    assert dm.read(frame, frame[labels[2]]).names == names[:2]
    assert dm.read(frame, labels[2], drop=[labels[0]]).names == names[1:2]
    report = dm.rank(frame, labels[2], n_estimators=5, test="none", explain_rows=frame[:2])
    assert set(report.rows[0].columns()["feature"]) <= {*names}
    if len({*map(type, labels)}) == 1:
        forest = dm.RandomForestRegressor(3, random_state=0).fit(frame, values[:, 0])
        assert dm.importances.mdi(forest).names == names
        assert not hasattr(forest, "feature_names_in_")  # as scikit-learn: names are text
        assert len(forest.predict(values)) == N


def test_names_that_two_columns_have_are_refused() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "b"])
    with pytest.raises(ValueError, match="not unique: 'b' occurs more than once"):
        dm.read(frame)
    with pytest.raises(ValueError, match="not unique: '1' occurs more than once"):
        dm.read(frame.set_axis([1, "1", "c"], axis=1))


@pytest.mark.parametrize("labels", [range(N), range(5, N + 5), [f"p{i}" for i in range(N)]])
def test_series_are_paired_by_the_labels_of_rows(labels: Any) -> None:
    frame = pd.DataFrame({name: columns()[name] for name in ("dose", "sex")}, index=list(labels))
    y = pd.Series(columns()["ill"], index=list(labels))
    order = np.random.default_rng(1).permutation(N)
    expected = dm.read(frame, y.to_numpy())
    for given in (y, y.iloc[order], y.reset_index(drop=True)):
        assert dm.read(frame, given).y.tolist() == expected.y.tolist()
    strata = dm.read(frame, y, strata=frame["sex"].iloc[order]).exchangeability.strata
    assert strata.tolist() == dm.read(frame, y, strata="sex").exchangeability.strata.tolist()
    with pytest.raises(ValueError, match="target has row labels that are not in the table"):
        dm.read(frame, y.set_axis([f"q{i}" for i in range(N)]))
    with pytest.raises(ValueError, match="in another order, some repeated"):
        dm.read(frame, y.iloc[[1, *range(1, N)]])
