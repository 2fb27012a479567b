"""Forests and estimators survive files and pickles."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import duramen as dm
from duramen import estimators
from duramen.forests import Forest
from duramen.forests.prediction import same_codes
from duramen.results.archive import read_archive, write_archive


def same_forest(first, other):
    assert other.arrays().keys() == first.arrays().keys()
    for name, array in first.arrays().items():
        np.testing.assert_array_equal(other.arrays()[name], array)
        assert other.arrays()[name].dtype == array.dtype
    for name in ("settings", "n_rows", "total_weight", "seed", "first_tree", "names"):
        assert getattr(other, name) == getattr(first, name)
    assert other.schema.kinds == first.schema.kinds
    assert other.schema.named == first.schema.named
    assert other.schema.labels.keys() == first.schema.labels.keys()
    for column, labels in first.schema.labels.items():
        assert other.schema.labels[column].dtype == labels.dtype
        np.testing.assert_array_equal(other.schema.labels[column], labels)
    if first.classes is None:
        assert other.classes is None
    else:
        assert other.classes.dtype == first.classes.dtype
        np.testing.assert_array_equal(other.classes, first.classes)


@pytest.mark.parametrize(
    "name",
    ["classes, best, ordered", "numbers, random, multiway", "classes, random, any", "patches"],
)
class TestRoundTrips:
    def test_forest_in_a_file(self, name, grown, tmp_path):
        forest = grown[name].forest_
        forest.save(tmp_path / "forest.npz")
        same_forest(forest, Forest.load(tmp_path / "forest.npz"))

    def test_forest_in_a_pickle(self, name, grown):
        forest = grown[name].forest_
        same_forest(forest, pickle.loads(pickle.dumps(forest)))

    def test_estimator_in_a_file(self, name, grown, mixed, tmp_path):
        estimator = grown[name]
        estimator.save(tmp_path / "estimator.npz")
        again = type(estimator).load(str(tmp_path / "estimator.npz"))
        assert again.get_params() == estimator.get_params()
        np.testing.assert_array_equal(again.predict(mixed[0]), estimator.predict(mixed[0]))
        np.testing.assert_array_equal(again.feature_names_in_, estimator.feature_names_in_)
        same_forest(estimator.forest_, Forest.load(tmp_path / "estimator.npz"))

    def test_estimator_in_a_pickle(self, name, grown, mixed):
        estimator = grown[name]
        again = pickle.loads(pickle.dumps(estimator))
        np.testing.assert_array_equal(again.predict(mixed[0]), estimator.predict(mixed[0]))
        np.testing.assert_array_equal(again.proximity(mixed[0]), estimator.proximity(mixed[0]))


def test_parameters_of_every_type(tmp_path):
    X, y = load_iris(return_X_y=True)
    labels = np.array(["a", "b", "c"], dtype=object)[y]
    forest = estimators.ExtraTreesClassifier(
        np.int64(3),
        class_weight={"a": 1.0, "b": 2, "c": np.float64(0.5)},
        categorical_features=np.array([False, True, False, False]),
        random_state=np.random.default_rng(0),
    ).fit(X, labels)
    forest.save(tmp_path / "f.npz")
    again = estimators.ExtraTreesClassifier.load(tmp_path / "f.npz")
    assert again.n_estimators == 3
    assert again.class_weight == {"a": 1.0, "b": 2, "c": 0.5}
    assert again.categorical_features == [False, True, False, False]
    assert again.random_state is None
    assert again.forest_.seed == forest.forest_.seed
    assert again.classes_.dtype == object
    np.testing.assert_array_equal(again.predict(X), forest.predict(X))


def test_files_hold_no_pickles(grown, tmp_path):
    path = tmp_path / "forest.npz"
    grown["classes, best, ordered"].forest_.save(path)
    with np.load(path, allow_pickle=False) as archive:
        plain = json.loads(archive["json"].tobytes())
        assert all(archive[name].dtype != object for name in archive.files)
    assert plain["format"] == 4
    assert plain["forest"]["names"] == ["depth", "holed", "size", "colour", "count", "same"]


def test_wrong_files_are_refused(grown, tmp_path):
    path = tmp_path / "forest.npz"
    with pytest.raises(FileNotFoundError):
        Forest.load(path)
    path.write_bytes(b"not an archive")
    with pytest.raises(
        ValueError, match=r"Forest.load: .*forest.npz is not a file saved by duramen"
    ):
        Forest.load(path)
    np.savez(path, a=np.arange(3))
    with pytest.raises(ValueError, match="not a file saved by duramen"):
        Forest.load(path)
    grown["patches"].save(path)
    with pytest.raises(ValueError, match="holds a RandomPatchesRegressor, not RandomForest"):
        estimators.RandomForestRegressor.load(path)
    header, arrays = read_archive(path, what=None, newest=9, function="test")
    for name in ("child", "cut_values"):
        write_archive(path, header, {key: arrays[key] for key in arrays if key != name})
        with pytest.raises(ValueError, match=f"lacks '{name}'"):
            Forest.load(path)


def test_damaged_trees_are_refused(grown, tmp_path):
    path = tmp_path / "forest.npz"
    grown["patches"].forest_.save(path)
    header, arrays = read_archive(path, what="Forest", newest=9, function="test")
    arrays["child"][0] = 10**6
    write_archive(path, header, arrays)
    with pytest.raises(ValueError, match="child points outside the tree"):
        Forest.load(path)


def test_a_failed_write_leaves_the_old_file(grown, tmp_path, monkeypatch):
    path = tmp_path / "forest.npz"
    grown["patches"].forest_.save(path)
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(KeyboardInterrupt):
        grown["shallow"].forest_.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["forest.npz"]


# --- values of the training table -----------------------------------------------------------------


def ragged(n=80):
    """Numbers with gaps, few whole numbers, labels that matter and labels that do not."""
    random = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "number": np.where(random.random(n) < 0.2, np.nan, random.normal(size=n)),
            "count": random.integers(0, 4, n),
            "color": random.choice(["red", "green", "blue"], n),
            "place": "here",
        }
    )
    return frame, np.where(frame["number"].fillna(0) + (frame["color"] == "red") > 0.3, "a", "b")


@pytest.mark.parametrize("splits", ["ordered", "multiway", "one-vs-rest", "any"])
def test_loaded_forests_predict_and_measure_alike(splits, tmp_path):
    X, y = ragged()
    forest = estimators.RandomForestClassifier(30, splits=splits, random_state=0).fit(X, y)
    forest.save(tmp_path / "f")
    again = estimators.RandomForestClassifier.load(tmp_path / "f")
    table = dm.encode(X)
    for rows in (X, table, table.take_rows([3, 1, 4])):
        np.testing.assert_array_equal(again.predict_proba(rows), forest.predict_proba(rows))
    for measure in (dm.importances.mda, dm.importances.sobol_mda):
        values = [measure(f, X, y).values.tolist() for f in (forest, again)]
        assert values[0] == values[1]
    assert dm.importances.mdi(again).values.tolist() == dm.importances.mdi(forest).values.tolist()
    for feature in X:
        effects = [dm.effects.partial_dependence(f, X, feature) for f in (forest, again)]
        assert effects[0].values.tolist() == effects[1].values.tolist()
    assert effects[0].labels == ("here",)  # of the rows: no tree splits on that column


def test_a_table_is_known_by_the_thresholds():
    """A table whose values move past no threshold leads to the same leaves, and no other does."""
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    forest = estimators.ExtraTreesClassifier(1, max_depth=1, random_state=0)
    forest = forest.fit(X, [0, 0, 1, 1]).forest_
    (cut,) = forest.threshold[~np.isnan(forest.threshold)].tolist()[:1]
    assert same_codes(forest, dm.encode(X).schema)
    moved = np.sort(np.where(cut < X, X + 10, X), axis=0)
    assert same_codes(forest, dm.encode(moved).schema)
    assert not same_codes(forest, dm.encode(X + 10).schema)
    assert not same_codes(forest, dm.encode(X[:3]).schema)
