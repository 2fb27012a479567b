"""Accumulated local effects and partial dependence."""

from unittest import mock

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.inspection import partial_dependence as by_scikit_learn

import duramen as dm
from duramen.effects import accumulated_local_effects, curves, partial_dependence


class Foreign:
    """A forest as scikit-learn's inspection takes one."""

    _estimator_type = "regressor"

    def __init__(self, forest, kind):
        self.forest, self.n_features_in_, self.fitted_ = forest, forest.n_features_in_, True
        self._estimator_type = kind

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.forest.predict(X)

    def __sklearn_tags__(self):
        kind = (
            RandomForestRegressor
            if self._estimator_type == "regressor"
            else (RandomForestClassifier)
        )
        return kind().__sklearn_tags__()

    def predict_proba(self, X):
        return self.forest.predict_proba(X)


def numbers(n=120, p=3, seed=0):
    return np.random.default_rng(seed).uniform(size=(n, p))


@pytest.mark.parametrize("task", ["regression", "two classes", "three classes"])
def test_partial_dependence_is_that_of_scikit_learn_by_brute_force(task):
    X = numbers()
    X[:, 1] = np.round(3 * X[:, 1])
    y = 2 * X[:, 0] + X[:, 1]
    if task == "regression":
        forest = dm.RandomForestRegressor(20, random_state=0).fit(X, y)
    else:
        edges = np.quantile(y, [0.5] if task == "two classes" else [0.3, 0.6])
        y = np.digitize(y, edges)
        forest = dm.RandomForestClassifier(20, random_state=0).fit(X, y)
    foreign = Foreign(forest, "regressor" if task == "regression" else "classifier")
    if task != "regression":
        foreign.classes_ = forest.classes_
    for j, n_points in ((0, 200), (0, 10), (1, 40)):
        result = partial_dependence(forest, X, j, n_points=n_points)
        grid = result.points
        wanted = by_scikit_learn(
            foreign, X, [j], custom_values={j: grid}, method="brute", kind="average"
        )["average"]
        ours = result.values[:, 1:] if task == "two classes" else result.values
        np.testing.assert_allclose(ours.T, wanted, rtol=1e-12)
        if n_points >= len(np.unique(X[:, j])):
            assert grid.tolist() == np.unique(X[:, j]).tolist()


def brute_ale(predict, X, j, ends):
    """The definition of Apley and Zhu, row by row."""
    steps = []
    for k in range(1, len(ends)):
        inside = [x for x in X if ends[k - 1] < x[j] <= ends[k] or (k == 1 and x[j] == ends[0])]
        changes = []
        for x in inside:
            low, high = x.copy(), x.copy()
            low[j], high[j] = ends[k - 1], ends[k]
            changes.append(predict(high[None])[0] - predict(low[None])[0])
        steps.append((len(inside), np.mean(changes, axis=0)))
    curve = np.cumsum([0 * steps[0][1]] + [step for _, step in steps], axis=0)
    middle = sum(n * (curve[k] + curve[k + 1]) / 2 for k, (n, _) in enumerate(steps))
    return curve - middle / sum(n for n, _ in steps)


@pytest.mark.parametrize("regression", [True, False])
def test_accumulated_local_effects_are_their_definition(regression):
    X = numbers(60)
    y = X[:, 0] * X[:, 1] + X[:, 0]
    if regression:
        forest = dm.ExtraTreesRegressor(10, random_state=0).fit(X, y)
        predict = forest.predict
    else:
        forest = dm.ExtraTreesClassifier(10, random_state=0).fit(X, np.digitize(y, [0.3, 0.8]))
        predict = forest.predict_proba
    for n_intervals in (1, 7, 100):
        result = accumulated_local_effects(forest, X, 0, n_intervals=n_intervals)
        wanted = brute_ale(predict, X, 0, result.points)
        np.testing.assert_allclose(result.values, wanted.reshape(result.values.shape), atol=1e-12)
        assert result.points[[0, -1]].tolist() == [X[:, 0].min(), X[:, 0].max()]


def test_the_effect_of_a_linear_function_is_its_slope():
    X = numbers(2000, 2)
    forest = dm.ExtraTreesRegressor(100, random_state=0, max_features=None)
    forest.fit(X, 3 * X[:, 0] - X[:, 1])
    for j, slope in ((0, 3.0), (1, -1.0)):
        result = accumulated_local_effects(forest, X, j, n_intervals=20)
        assert np.polyfit(result.points, result.values[:, 0], 1)[0] == pytest.approx(
            slope, abs=0.15
        )


def mixed(n=200):
    random = np.random.default_rng(2)
    frame = pd.DataFrame(
        {"ward": random.choice(["n", "e", "s", "w"], n), "x": random.normal(size=n)}
    )
    effect = frame["ward"].map({"n": 1.0, "e": 3.0, "s": 0.0, "w": 2.0})
    y = effect + 0.1 * frame["x"]
    frame.loc[::10, "ward"] = None
    frame.loc[::7, "x"] = np.nan
    y[::10] = 7.0
    return frame, y.to_numpy()


def test_categories_are_in_the_order_of_their_effect_and_missing_is_apart():
    frame, y = mixed()
    forest = dm.RandomForestRegressor(50, random_state=0, max_features=None).fit(frame, y)
    local = accumulated_local_effects(forest, frame, "ward")
    assert local.kind == "nominal"
    assert local.labels == ("s", "n", "w", "e")
    np.testing.assert_allclose(np.diff(local.values[:, 0]), 1, atol=0.25)
    assert local.missing[0] > 3
    whole = partial_dependence(forest, frame, "ward")
    assert whole.labels == local.labels
    assert whole.missing[0] > 5
    sizes = frame["ward"].value_counts()[list(local.labels)].to_numpy()
    assert (sizes * local.values[:, 0]).sum() == pytest.approx(0, abs=1e-9)
    data = dm.learning_set(frame, y)
    again = dm.RandomForestRegressor(50, random_state=0, max_features=None).fit(data)
    same = accumulated_local_effects(again, data, "ward")
    np.testing.assert_allclose(same.values, local.values)


def test_constant_and_binary_features():
    X = np.column_stack([np.arange(40) % 2, np.ones(40)])
    forest = dm.RandomForestClassifier(10, random_state=0).fit(X, np.arange(40) % 2)
    flat = accumulated_local_effects(forest, X, 1)
    assert flat.values.tolist() == [[0.0, 0.0]]
    steep = accumulated_local_effects(forest, X, "x0")
    assert steep.points.tolist() == [0.0, 1.0]
    assert steep.values[:, 1].sum() == pytest.approx(0, abs=1e-12)
    assert list(steep.to_frame().columns) == ["x0", "0", "1"]
    assert "accumulated local effect of x0 at 2 points" in repr(steep)


def test_wrong_arguments():
    X = numbers(20)
    forest = dm.RandomForestRegressor(5, random_state=0).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="feature holds 'z', which is none of the 3"):
        accumulated_local_effects(forest, X, "z")
    with pytest.raises(ValueError, match="feature holds 3, which is none of the 3"):
        partial_dependence(forest, X, 3)
    with pytest.raises(ValueError, match="n_intervals"):
        accumulated_local_effects(forest, X, 0, n_intervals=0)
    with pytest.raises(ValueError, match="missing in all rows"):
        partial_dependence(forest, np.full((3, 3), np.nan), 0)
    with pytest.raises(TypeError, match="forest must be"):
        partial_dependence("forest", X, 0)


@pytest.mark.parametrize("classes", [True, False])
def test_effects_of_all_columns_at_once_are_those_of_each_by_its_definition(classes):
    """From codes on two threads in blocks of columns, and from values of each column alone."""
    random = np.random.default_rng(4)
    frame = pd.DataFrame(random.normal(size=(90, 4)), columns=list("abcd"))
    frame["few"], frame["ward"] = random.integers(0, 4, 90), random.choice(list("nesw"), 90)
    y = frame["a"] - frame["b"] ** 2 + (frame["ward"] == "n") * frame["c"]
    frame.iloc[::5, 0], frame.iloc[::7, 5], frame["empty"] = np.nan, None, np.nan
    data = dm.learning_set(frame, np.digitize(y, [-1, 0]) if classes else y)
    kind = dm.RandomForestClassifier if classes else dm.RandomForestRegressor
    forest = kind(15, random_state=0).fit(data)
    grown, rows, taken, _ = curves.read_rows(forest.forest_, data, "test", None, None)
    assert rows is data.table
    columns = range(data.n_columns)
    with mock.patch.object(curves, "_AT_ONCE", 3000):
        effects = curves.local_effects(grown, rows, taken, columns, 20, 2)
    assert [*effects] == [0, 1, 2, 3, 4, 5]
    for j, effect in effects.items():
        alone = accumulated_local_effects(forest, frame, j, n_intervals=20)
        assert effect.labels == alone.labels
        np.testing.assert_array_equal(effect.points, alone.points)
        np.testing.assert_allclose(effect.values, alone.values, atol=1e-12)
        if effect.missing is not None:
            np.testing.assert_allclose(effect.missing, alone.missing, atol=1e-12)
    predict = forest.predict_proba if classes else lambda X: forest.predict(X)[:, None]
    numbers = np.column_stack([data.table.column_values(j).astype(object) for j in columns])
    for j in (0, 1):
        here = numbers[~pd.isna(numbers[:, j])]
        as_frame = lambda X: predict(pd.DataFrame(X, columns=frame.columns).infer_objects())  # noqa: E731
        wanted = brute_ale(as_frame, here, j, effects[j].points)
        np.testing.assert_allclose(effects[j].values, wanted, atol=1e-12)


@pytest.mark.parametrize("n_values", [30, 150])
def test_points_are_quantiles_by_the_inverse_of_the_empirical_distribution(n_values):
    X = np.random.default_rng(5).integers(0, n_values, (157, 1)).astype(float)
    forest = dm.RandomForestRegressor(3, random_state=0).fit(X, X[:, 0])
    for n_intervals in (1, 7, 40):
        steps = np.linspace(0, 1, n_intervals + 1)
        wanted = np.unique(np.quantile(X[:, 0], steps, method="inverted_cdf"))
        if len(np.unique(X)) <= n_intervals + 1:
            wanted = np.unique(X)
        result = accumulated_local_effects(forest, X, 0, n_intervals=n_intervals)
        assert result.points.tolist() == wanted.tolist()
