"""Random patches on a store: the trees of the table in memory, read part by part."""

import warnings

import numpy as np
import pandas as pd
import pytest

import duramen as dm
from duramen.forests import patches
from duramen.forests.structure import ARRAY_NAMES
from duramen.io.store.column_store import of_rows, with_columns, without


def mixed(random, n_rows):
    """Columns of all kinds and widths, some with missing values."""
    table = pd.DataFrame(
        {
            "real": random.normal(size=n_rows),
            "tenths": random.normal(size=n_rows).round(1),
            "genotype": random.integers(0, 3, n_rows).astype(float),
            "letter": random.choice(list("uvwx"), n_rows),
            "count": random.integers(0, 700, n_rows),
            "time": random.exponential(size=n_rows),
            "switch": random.choice(["on", "off"], n_rows),
        }
    )
    table.loc[random.random(n_rows) < 0.2, "tenths"] = np.nan
    table.loc[random.random(n_rows) < 0.1, "time"] = np.nan
    return table


def same_trees(left, right):
    for name in ARRAY_NAMES:
        mine, other = getattr(left, name), getattr(right, name)
        assert mine.dtype == other.dtype, name
        assert mine.tobytes() == other.tobytes(), name


def weights_of(random, n_rows):
    kind = random.integers(3)
    whole = random.integers(0, 4, n_rows).astype(float)
    return None if kind == 0 else whole if kind == 1 else random.random(n_rows)


def parameters_of(random, classes):
    splits = random.choice(["ordered", "ordered", "multiway", "one-vs-rest", "any"])
    own = {
        "n_estimators": 5,
        "random_state": int(random.integers(1000)),
        "max_samples": float(random.choice([0.1, 0.5, 1.0])),
        "n_subspace_features": float(random.choice([0.3, 0.6, 1.0])),
        "bootstrap": bool(random.integers(2)),
        "splits": str(splits),
        "max_features": random.choice([None, "sqrt"]),
        "min_samples_leaf": int(random.choice([1, 5])),
        "max_leaf_nodes": random.choice([None, 10]),
        "n_best_splits": 1 if splits == "multiway" else int(random.choice([1, 3])),
        "stop_alpha": random.choice([None, 0.2]),
        "ccp_alpha": float(random.choice([0.0, 0.01])),
    }
    own["oob_score"] = own["bootstrap"] or own["max_samples"] < 1
    if own["stop_alpha"] is not None:
        own["stop_permutations"] = random.choice([None, 20])
    if classes:
        own["criterion"] = str(random.choice(["gini", "entropy"]))
        own["class_weight"] = random.choice([None, "balanced", "balanced_subsample"])
    return own


@pytest.mark.slow
@pytest.mark.parametrize("number", range(30))
def test_trees_on_a_store_are_those_in_memory(number, tmp_path, monkeypatch):
    # Blocks as small as can be, so that there are several.
    monkeypatch.setattr(patches, "_BLOCK", 1)
    warnings.simplefilter("ignore")
    random = np.random.default_rng(number)
    n_rows, classes = int(random.choice([40, 300, 3000])), number % 2 == 0
    table = mixed(random, n_rows)
    y = (table.real + table.genotype + random.normal(size=n_rows)).to_numpy()
    y = np.digitize(y, [0.0]) if classes else y
    weights, own = weights_of(random, n_rows), parameters_of(random, classes)
    kind = dm.RandomPatchesClassifier if classes else dm.RandomPatchesRegressor
    encoded, store = dm.encode(table), dm.pack(table, tmp_path / "table.store")
    whole = kind(**own).fit(encoded, y, weights)
    part = kind(**own, n_jobs=2).fit(store, y, weights)
    same_trees(whole.forest_, part.forest_)
    assert whole.predict(encoded).tolist() == part.predict(store).tolist()
    assert (whole.apply(encoded) == part.apply(store)).all()
    if own["oob_score"]:
        assert np.array_equal(whole.oob_error_curve_, part.oob_error_curve_, equal_nan=True)
        task = "classification" if classes else "regression"
        measured = [
            dm.importances.mdi(
                forest, dm.learning_set(data, y, sample_weight=weights, task=task), rows="oob"
            )
            for forest, data in ((whole, encoded), (part, store))
        ]
        assert measured[0].values.tobytes() == measured[1].values.tobytes()


def test_parts_of_stores_are_read_as_stores(tmp_path):
    random = np.random.default_rng(0)
    table = mixed(random, 90)
    y = random.integers(0, 2, 90)
    store = dm.pack(table, tmp_path / "table.store")
    views = (
        without(store, [1, 3]),
        of_rows(store, np.arange(5, 80)),
        with_columns(store, dm.encode(pd.DataFrame({"more": random.normal(size=90)}))),
    )
    for view in views:
        whole = view.as_table()
        for j in range(view.n_columns):
            assert view.codes(j, 7, 42).tolist() == whole.codes(j)[7:42].tolist()
            assert view.codes(j).tolist() == whole.codes(j).tolist()
        forest = dm.RandomPatchesClassifier(3, random_state=0)
        rows = y[: view.n_rows]
        memory = dm.RandomPatchesClassifier(3, random_state=0).fit(whole, rows)
        same_trees(forest.fit(view, rows).forest_, memory.forest_)
        assert forest.predict(view).tolist() == memory.predict(whole).tolist()


def test_a_fit_reads_no_column_that_its_trees_do_not_see(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    store = dm.pack(random.normal(size=(60, 40)), tmp_path / "table.store")
    read = []
    codes = type(store._columns).codes
    monkeypatch.setattr(
        type(store._columns),
        "codes",
        lambda self, j, begin, end: read.append(j) or codes(self, j, begin, end),
    )
    monkeypatch.setattr(type(store), "as_table", lambda self: pytest.fail("all columns are read"))
    forest = dm.RandomPatchesRegressor(2, n_subspace_features=4, random_state=0)
    forest.fit(store, random.normal(size=60))
    assert len(read) == 8


def test_damaged_codes_are_refused(tmp_path):
    random = np.random.default_rng(0)
    store = dm.pack(random.normal(size=(60, 3)).round(1), tmp_path / "table.store")
    with open(tmp_path / "table.store" / "codes.u1", "r+b") as file:
        file.write(b"\xff\xff")
    forest = dm.RandomPatchesRegressor(2, n_subspace_features=1.0, random_state=0)
    with pytest.raises(ValueError, match="checksum"):
        forest.fit(store, np.arange(60.0))
