"""Tables, errors and reports of `duramen.rank`, `select` and `compare`."""

import anndata
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from tests.grid import one_test

import duramen as dm
from duramen.significance import catalogue as tests

N, P = 60, 5
FOREST = dm.RandomForestClassifier(20, criterion="entropy")
QUICK = {"estimator": FOREST, "test": False}


def rows(seed=0):
    X = np.random.default_rng(seed).normal(size=(N, P)).round(2)
    return X, np.where(X[:, 1] + X[:, 3] > 0, "a", "b")


NAMES = [f"g{j}" for j in range(P)]


def frame():
    X, y = rows()
    return pd.DataFrame(X, columns=NAMES).assign(kind=y, batch=np.arange(N) % 2)


def columns(report):
    """Columns of a report but for the means of the classes, which depend on strata."""
    table = report.to_frame().filter(regex="^(?!mean_)")
    return table.to_dict(orient="list")


# --- tables --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wanted():
    X, y = rows()
    return columns(dm.rank(dm.read(X, y, names=NAMES, strata=np.arange(N) % 2), **QUICK))


@one_test
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_a_frame_whose_columns_are_named(kind, wanted):
    report = dm.rank(dm.read(kind(frame()), "kind", strata="batch"), **QUICK)
    assert columns(report) == wanted
    assert report.run.target == "kind"


@one_test
@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_matrix])
def test_anndata(matrix, wanted):
    X, y = rows()
    obs = pd.DataFrame({"kind": y, "batch": np.arange(N) % 2}, index=[f"cell{i}" for i in range(N)])
    cells = anndata.AnnData(matrix(X), obs=obs, var=pd.DataFrame(index=NAMES))
    report = dm.rank(dm.read(cells, "kind", strata="batch"), **QUICK)
    assert columns(report) == wanted
    assert dm.encode(cells).names == tuple(NAMES)
    forest = dm.RandomForestClassifier(5, random_state=0).fit(cells, y)
    assert dm.importances.mdi(forest).names == tuple(NAMES)
    with pytest.raises(ValueError, match=r"read: target 'kinds' is not a column .* did you mean"):
        dm.rank(cells, "kinds")


def test_anndata_on_disk_and_without_matrix(tmp_path, wanted):
    X, y = rows()
    obs = pd.DataFrame({"kind": y}, index=[f"cell{i}" for i in range(N)])
    anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=NAMES)).write_h5ad(tmp_path / "c.h5ad")
    cells = anndata.read_h5ad(tmp_path / "c.h5ad", backed="r")
    assert columns(dm.rank(cells, "kind", **QUICK)) == wanted
    cells.file.close()
    empty = anndata.AnnData(obs=obs, var=pd.DataFrame(index=NAMES))
    with pytest.raises(ValueError, match="has no matrix X"):
        dm.rank(empty, "kind")


def test_a_store_and_its_annotations(tmp_path, wanted):
    X, y = rows()
    samples = pa.table({"kind": y, "batch": np.arange(N) % 2})
    store = dm.pack(pd.DataFrame(X, columns=NAMES), tmp_path / "s.store", samples=samples)
    assert columns(dm.rank(dm.read(store, "kind", strata="batch"), **QUICK)) == wanted
    own = dm.pack(frame().drop(columns="batch"), tmp_path / "own.store")
    assert columns(dm.rank(own, "kind", **QUICK)) == wanted
    of_store = dm.select(store, "kind", n_estimators=20)
    in_memory = dm.select(dm.read(X, y, names=NAMES), n_estimators=20)
    pd.testing.assert_frame_equal(of_store.to_frame(), in_memory.to_frame(), check_exact=True)


def test_a_learning_set(wanted):
    X, y = rows()
    data = dm.learning_set(X, y, names=NAMES)
    assert columns(dm.rank(data, **QUICK)) == wanted
    with pytest.raises(ValueError, match="leave out target"):
        dm.rank(data, y)


# --- messages ------------------------------------------------------------------------------------


def test_findings_are_notes_and_identifiers_are_left_out():
    table = frame().assign(patient_id=[f"p{i:03d}" for i in range(N)], constant=1.0)
    report = dm.rank(table, "kind", **QUICK)
    assert "patient_id" not in list(report.table["name"])
    (note,) = [note for note in report.notes if "patient_id" in note]
    assert "it was left out" in note
    assert "keep_identifiers=True keeps it" in note
    with pytest.raises(ValueError, match=r"no column is left .* keep_identifiers=True keeps"):
        dm.rank(table[["patient_id", "kind"]], "kind", **QUICK)
    whole = dm.rank(dm.read(table, "kind", keep_identifiers=True), **QUICK)
    assert any("'constant' is constant" in note for note in whole.notes)
    assert any("patient_id" in note for note in whole.notes)
    assert set(whole.run.settings["notes"]) <= set(whole.notes)


@pytest.mark.smoke
def test_it_shows_itself():
    X, y = rows()
    report = dm.rank(dm.read(X, y, names=NAMES), estimator=FOREST)
    text, page = repr(report), report._repr_html_()
    assert text.startswith(report.conclusion)
    assert "confirmed" in text
    assert page.count("<tr>") == 1 + P
    assert "duramen-result" in page
    with dm.config_context(max_rows=2):
        assert repr(report).rstrip().splitlines()[-len(report.notes) - 1] == "... and 3 more"
    assert report.metadata["fingerprint"] == dm.learning_set(X, y, names=NAMES).fingerprint
    assert list(report.verdicts) == list(report.table["name"])
    assert repr(dm.select(X, y)).startswith(dm.select(X, y).conclusion)


def test_groups_and_another_forest():
    X, y = rows()
    groups = {"first": ["x0", "x1"], "last": ["x3", "x4"]}
    forest = dm.ExtraTreesClassifier(20, bootstrap=True, random_state=4)
    report = dm.rank(X, y, feature_groups=groups, estimator=forest, test=False)
    fitted = forest.fit(X, y)
    whole = {**groups, "x2": ["x2"]}
    expected = dict(dm.importances.mda(fitted, X, y, feature_groups=whole))
    groups_of = report.further["result-groups.csv"]
    actual = dict(zip(groups_of["name"], groups_of["importance"], strict=True))
    assert actual == pytest.approx(expected)
    assert dict(report.importances["mdi"]) == dict(dm.importances.mdi(fitted))
    assert not hasattr(report, "estimator")


# --- what is refused -----------------------------------------------------------------------------

X, Y = rows()


@one_test
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dm.rank(X), "the table was read without a target"),
        (lambda: dm.rank(X, "kind"), "read: target 'kind' is not a column of the table"),
        (lambda: dm.rank(frame(), "kid"), "did you mean 'kind'"),
        (lambda: dm.rank(X, Y, measure="mdx"), "rank: measure must be one of 'auto', 'mdi'"),
        (lambda: dm.rank(X, Y, measure=[]), "rank: measure must be 'auto' or names"),
        (lambda: dm.rank(X, Y, test="t"), "rank: test must be one of 'auto', 'none', 'max_t'"),
        (lambda: dm.rank(X, Y, estimator="oak"), "rank: estimator must be one of 'random-forest'"),
        (lambda: dm.rank(X, Y, estimator=FOREST, max_depth=3), "rank: max_depth has no effect bes"),
        (
            lambda: dm.select(dm.read(X, Y, sample_weight=np.ones(N))),
            "have weights, which SequentialRandomSubspace.fit does not support",
        ),
        (
            lambda: dm.compare(dm.read(frame(), "kind", strata="batch")),
            "compare: strata and covariates have no effect; leave them out",
        ),
        (lambda: dm.rank(X, Y, estimator=dm.RandomForestRegressor()), "must be for classific"),
        (
            lambda: dm.rank(X, Y, feature_groups={"a": ["x9"]}),
            "rank: feature_groups['a'] holds 'x9'",
        ),
        (
            lambda: dm.rank(X, Y, feature_groups={"a": "x1", "b": "x1"}),
            "must not overlap",
        ),
        (lambda: dm.rank(X, Y, random_state=-1), "rank: random_state must be an int"),
        (lambda: dm.select(X, Y, selector="mdi"), "select: selector must be one of"),
        (
            lambda: dm.select(dm.read(X, Y, groups=Y)),
            "groups has no effect with selector='sequential-random-subspace'",
        ),
        (lambda: dm.compare(X, Y, n_estimators=0), "compare: n_estimators must be an int >= 1"),
    ],
)
def test_refused(call, message):
    with pytest.raises((ValueError, TypeError)) as refused:
        call()
    assert message in str(refused.value)


# --- stops ---------------------------------------------------------------------------------------


def stopping(*_, **__):
    raise KeyboardInterrupt


def test_ctrl_c_during_the_test_keeps_the_ranking(monkeypatch):
    test = next(note for note in tests if note.default)
    monkeypatch.setattr("duramen.analyses.ranking.significance.run_test", stopping)
    with pytest.raises(dm.AnalysisInterrupted) as stop:
        dm.rank(X, Y, estimator=FOREST)
    report = stop.value.report
    assert isinstance(stop.value, KeyboardInterrupt)
    assert report.verdicts == {}
    assert "No significance test was run" in report.conclusion
    assert any("left out of the results: the significance test" in note for note in report.notes)
    whole = dm.rank(X, Y, **QUICK)
    assert dict(report.importances["mdi"]) == dict(whole.importances["mdi"])
    assert test.name not in report.run.settings


def test_ctrl_c_before_the_first_measure_keeps_nothing(monkeypatch):
    monkeypatch.setattr("duramen.estimators.base.BaseForest._prepare", stopping)
    with pytest.raises(KeyboardInterrupt) as stop:
        dm.rank(X, Y, estimator=FOREST)
    assert not isinstance(stop.value, dm.AnalysisInterrupted)


def test_ctrl_c_during_a_later_measure_keeps_those_before(monkeypatch):
    def stop_later(measure, data):
        if measure.name != "mdi":
            raise KeyboardInterrupt
        return data

    monkeypatch.setattr("duramen.analyses.ranking.forest.exchanging", stop_later)
    with pytest.raises(dm.AnalysisInterrupted) as stop:
        dm.rank(X, Y, measure=["mdi", "minimal_depth", "air"], **QUICK)
    assert tuple(stop.value.report.importances) == ("mdi",)


def test_a_note_advises_the_test_of_direct_effects_where_many_features_are_found():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 12))
    y = X.sum(axis=1) + 0.5 * random.normal(size=200)

    def advice(columns, **options):
        forest = dm.RandomForestRegressor(10)
        report = dm.rank(X[:, :columns], y, estimator=forest, n_permutations=19, **options)
        return [note for note in report.notes if "tests each feature given all others" in note]

    (note,) = advice(12)
    assert "12 features are confirmed or candidates" in note
    assert "direct=True" in note
    assert advice(5) == []
    assert advice(12, direct=True) == []


def test_two_rows_are_ranked_by_few_trees():
    """Parts of the forest without out-of-bag rows tell nothing of the trees needed."""
    X, y = np.array([[1.0, 3.0], [2.0, 4.0]]), np.array(["a", "b"])
    report = dm.rank(X, y, n_estimators=30, test="none", random_state=0)
    assert len(report.to_frame()) == 2
    assert "trees_needed" not in report.run.results
