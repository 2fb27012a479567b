"""A selector written and registered in one file is everywhere at once."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from tests.cli.commands import assert_refused, done, duramen
from tests.contracts.toys.toy_selector import TOY, ToySelector

import duramen as dm
from duramen.selection import catalogue


@pytest.fixture(autouse=True)
def _registered():
    catalogue.register(TOY)
    yield
    catalogue.remove(TOY.name)


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 6))
    columns = {f"x{j}": X[:, j] for j in range(6)} | {"y": np.where(X[:, 1] > 0, "a", "b")}
    pa_csv.write_csv(pa.table(columns), tmp_path / "t.csv")
    return tmp_path / "t.csv"


def test_it_keeps_the_contract():
    X = np.random.default_rng(0).normal(size=(80, 5))
    y = np.where(X[:, 2] > 0, "a", "b")
    model = ToySelector(random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [2]
    assert model.ranking_[2] == 1
    assert sorted(model.ranking_) == [1, 2, 3, 4, 5]
    assert model.transform(X).shape == (80, 1)
    assert model.transform(dm.encode(X)).names == ("x2",)
    assert model.classes_.tolist() == ["a", "b"]
    again = clone(model).fit(dm.learning_set(X, y))
    np.testing.assert_array_equal(again.importances_.values, model.importances_.values)
    with pytest.raises(AttributeError, match="without feature names"):
        model.feature_names_in_  # noqa: B018


def test_it_runs_with_a_report(table, tmp_path):
    out = tmp_path / "out"
    words = ["select", table, "--target", "y", "--selector", "toy-selector", "--alpha", "0.5"]
    result, run = done(out, *words)
    assert "(selection by a toy" in result.stdout.splitlines()[0]
    written = pq.read_table(out / "result.parquet").to_pydict()
    assert (written["name"][0], written["found"][:2]) == ("x1", [True, False])
    assert list(written) == ["name", "found", "importance"]
    assert run["settings"]["selector"] == "toy-selector"
    assert run["settings"]["alpha"] == 0.5
    assert run["results"]["features_found"] == 1
    assert "--selector toy-selector --alpha 0.5" in run["command"]
    page = (out / "report.html").read_text(encoding="utf-8")
    meaning = "Features whose mean decrease of impurity is above a fraction of the largest."
    for part in ("selection by a toy", meaning, TOY.reference, "Features found, step by step"):
        assert part in page
    assert json.loads((out / "run.json").read_text(encoding="utf-8")) == run


def test_defaults_are_its_own(table, tmp_path):
    _, run = done(tmp_path / "out", "select", table, "--target", "y", "--selector", "toy-selector")
    assert run["settings"]["alpha"] == 0.3


def test_options_of_others_are_refused(table, tmp_path):
    words = ["--target", "y", "--selector", "toy-selector", "--trees", 5]
    message = "--n-estimators does not apply to --selector toy-selector; leave it out"
    assert_refused("select", tmp_path / "out", [table, *words], message)
    unknown = duramen("select", table, "--target", "y", "--selector", "none")
    assert unknown.exit_code == 2
    assert "toy-selector" in unknown.stderr


def test_its_own_option_is_one_of_the_command(table, tmp_path):
    words = ["select", table, "--target", "y", "--margin"]
    _, written = done(tmp_path / "out", *words, "8", "--selector", "toy-selector")
    assert written["settings"]["margin"] == 8.0
    assert written["results"]["features_found"] == 0
    assert "--margin 8.0" in written["command"]
    message = "--margin does not apply to --selector boruta; leave it out"
    assert_refused("select", tmp_path / "no", [*words[1:], "8", "--selector", "boruta"], message)
    message = "--margin must be a number in [0, 9], got 10"
    words = [*words[1:], "10", "--selector", "toy-selector"]
    assert_refused("select", tmp_path / "no", words, message)
