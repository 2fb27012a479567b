"""Boosted trees of other packages, read into forests: predictions, importances, effects."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence
from tests.forests.test_shap_export import expected, shapley
from tests.grid import one_test

import duramen as dm
from duramen import importances
from duramen.forests import shap_trees
from duramen.forests.prediction import predict, rows_of

N = 120


def table(kind="numbers", seed=0):
    """Return rows, with missing values and a column of categories where the kind asks for them."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, 4))
    letters = random.choice(list("zyxwvu"), N)
    y = 3 * X[:, 0] + X[:, 1] * X[:, 2]
    if kind == "numbers":
        return X, y
    X[random.random(X.shape) < 0.2] = np.nan
    if kind == "missing":
        return X, y
    y += 6 * np.isin(letters, ["z", "w"]) - 2
    frame = pd.DataFrame(X, columns=list("abde")).assign(c=pd.Categorical(letters))
    frame.loc[::17, "c"] = np.nan
    return frame, y


def target(y, task):
    if task == "two":
        return np.array(["no", "yes"])[(y > 0).astype(int)]
    return np.digitize(y, [-1.0, 2.0]) if task == "three" else np.exp(y / 5)


def scores(model, X):
    """Return the raw predictions of a forest of a model: of the last of two classes."""
    forest = dm.Forest.from_boosting(model)
    forest.check()
    values = predict(forest, rows_of(forest, X, "forest", "predict"))
    if forest.classes is None or len(forest.classes) > 2:
        return np.squeeze(values)
    assert np.array_equal(values[:, 0], -values[:, 1])
    return values[:, 1]


HISTOGRAMS = [
    (HistGradientBoostingRegressor(max_iter=4), "numbers"),
    (HistGradientBoostingRegressor(max_iter=4, loss="poisson", max_depth=2), "numbers"),
    (HistGradientBoostingClassifier(max_iter=4), "two"),
    (HistGradientBoostingClassifier(max_iter=4), "three"),
]


@one_test
@pytest.mark.parametrize("kind", ["numbers", "missing", "categories"])
@pytest.mark.parametrize(("model", "task"), HISTOGRAMS)
def test_raw_predictions_are_those_of_histogram_boosting(model, task, kind, tmp_path):
    X, y = table(kind)
    model.fit(X, target(y, task))
    new = table(kind, seed=1)[0]
    if task != "numbers":
        raw = model.decision_function(new)
    else:
        raw = np.log(model.predict(new)) if model.loss == "poisson" else model.predict(new)
    assert np.abs(scores(model, new) - raw).max() < 1e-12
    assert np.abs(scores(model, dm.encode(new)) - raw).max() < 1e-12
    forest = dm.Forest.from_boosting(model)
    forest.save(tmp_path / "forest.npz")
    again = dm.Forest.load(tmp_path / "forest.npz")
    assert again.link == forest.link == ("logit" if task != "numbers" else again.link)
    assert np.array_equal(*(predict(f, rows_of(f, new, "f", "predict")) for f in (forest, again)))


def test_categories_that_are_numbers_or_new_take_the_side_of_the_model():
    random = np.random.default_rng(2)
    X = np.column_stack([random.choice([0.0, 3.0, 7.0, 20.0], N), random.normal(size=N)])
    y = np.isin(X[:, 0], [3, 20]) + X[:, 1]
    model = HistGradientBoostingRegressor(max_iter=4, categorical_features=[0]).fit(X, y)
    X[::5, 0], X[1::5, 0] = 5.0, np.nan
    assert np.abs(scores(model, X) - model.predict(X)).max() < 1e-12


@one_test
@pytest.mark.parametrize("kind", ["numbers", "missing", "categories"])
@pytest.mark.parametrize(
    ("task", "options"),
    [("numbers", {}), ("numbers", {"boosting_type": "dart"}), ("two", {}), ("three", {})],
)
@pytest.mark.skipif(find_spec("lightgbm") is None, reason="lightgbm is not installed")
def test_raw_predictions_are_those_of_lightgbm(task, options, kind):
    import lightgbm

    X, y = table(kind)
    kinds = {"numbers": lightgbm.LGBMRegressor}
    model = kinds.get(task, lightgbm.LGBMClassifier)(
        n_estimators=4,
        min_child_samples=5,
        min_data_per_group=5,
        cat_smooth=1,
        cat_l2=1,
        verbose=-1,
        n_jobs=1,
        **options,
    ).fit(X, y if task == "numbers" else target(y, task))
    assert (kind == "categories") == ("==" in str(model.booster_.dump_model()["tree_info"]))
    new = table(kind, seed=1)[0]
    raw = model.predict(new, raw_score=True)
    assert np.abs(scores(model, new) - raw).max() < 1e-12
    assert np.abs(scores(model.booster_, new) - raw).max() < 1e-12
    if kind == "numbers":  # where training had no missing values, they count as 0
        new[::3, 0] = np.nan
        assert np.abs(scores(model, new) - model.predict(new, raw_score=True)).max() < 1e-12


def test_forests_of_lightgbm_are_averaged():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = table()
    options = {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.6, "verbose": -1}
    model = lightgbm.LGBMRegressor(n_estimators=5, n_jobs=1, **options).fit(X, y)
    assert np.abs(scores(model, X) - model.predict(X)).max() < 1e-12


@one_test
@pytest.mark.parametrize("kind", ["numbers", "missing", "categories"])
@pytest.mark.parametrize(
    ("task", "options"),
    [
        ("numbers", {}),
        ("numbers", {"booster": "dart", "rate_drop": 0.3}),
        ("numbers", {"gamma": 5}),
        ("two", {}),
        ("three", {}),
    ],
)
@pytest.mark.skipif(find_spec("xgboost") is None, reason="xgboost is not installed")
def test_raw_predictions_are_those_of_xgboost(task, options, kind):
    import xgboost

    X, y = table(kind)
    y = y if task == "numbers" else np.unique(target(y, task), return_inverse=True)[1]
    kinds = {"numbers": xgboost.XGBRegressor}
    model = kinds.get(task, xgboost.XGBClassifier)(
        n_estimators=4, max_depth=3, enable_categorical=True, n_jobs=1, **options
    ).fit(X, y)
    new = table(kind, seed=1)[0]
    raw = model.predict(new, output_margin=True)
    assert np.abs(scores(model, new) - raw).max() < 1e-5
    # A number that rounds to a threshold in float32 goes right.
    if kind == "numbers":
        forest = dm.Forest.from_boosting(model)
        ends = forest.threshold[forest.feature == 0]
        values = np.concatenate([ends, *(np.nextafter(ends, end) for end in (-np.inf, np.inf))])
        rows = np.resize(X, (len(values), 4))
        rows[:, 0] = values
        assert np.abs(scores(model, rows) - model.predict(rows, output_margin=True)).max() < 1e-5


def test_early_stopping_of_xgboost_leaves_the_best_iterations():
    xgboost = pytest.importorskip("xgboost")
    X, y = table()
    model = xgboost.XGBRegressor(n_estimators=60, early_stopping_rounds=3, n_jobs=1)
    model.fit(X[:80], y[:80], eval_set=[(X[80:], y[80:])], verbose=False)
    assert dm.Forest.from_boosting(model).n_trees == model.best_iteration + 1 < 60
    assert np.abs(scores(model, X) - model.predict(X)).max() < 1e-5


# --- importances and effects ---------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("model", "task", "kind"),
    [(*HISTOGRAMS[1], "numbers"), (*HISTOGRAMS[2], "categories"), (*HISTOGRAMS[3], "numbers")],
)
def test_mda_is_the_loss_of_predict(model, task, kind):
    X, y = table(kind)
    y = target(y, task)
    model.fit(X, y)
    result = importances.mda(model, X, y, n_repeats=2, random_state=4)
    forest = dm.Forest.from_boosting(model)
    for again in (
        importances.mda(model, X, y, n_repeats=2, random_state=4, n_jobs=2),
        importances.mda(forest, X, y, n_repeats=2, random_state=4, votes="predictor", rows=None),
    ):
        assert again.values.tolist() == result.values.tolist()
    seed = result.metadata["mda"]["permutation_seed"]

    def score(rows):
        told = model.predict(rows)
        return -np.mean((told - y) ** 2) if task == "numbers" else (told == y).mean()

    frame = pd.DataFrame(X)
    for j, name in enumerate(frame):
        losses = []
        for repeat in range(2):
            order = np.random.default_rng([seed, repeat, j]).permutation(N)
            permuted = frame.copy()
            permuted[name] = frame[name].to_numpy()[order]
            if kind == "categories":
                permuted = permuted.astype(X.dtypes)
            losses.append(score(X) - score(permuted if kind == "categories" else permuted.values))
        assert result.values[j] == pytest.approx(np.mean(losses), abs=1e-9)
    assert result.names == (tuple("abdec") if kind == "categories" else forest.names)


@one_test
@pytest.mark.parametrize(("model", "task"), HISTOGRAMS)
def test_effects_and_local_importances_add_up_to_raw_predictions(model, task):
    X, y = table()
    model.fit(X, target(y, task))
    log = getattr(model, "loss", "") == "poisson"
    effect = dm.effects.partial_dependence(model, X, 0, n_points=7)
    if not log:
        grid = {"custom_values": {0: effect.points}, "kind": "average", "method": "brute"}
        response = {} if task == "numbers" else {"response_method": "decision_function"}
        theirs = partial_dependence(model, X, [0], **grid, **response)["average"]
        assert np.allclose(effect.values.T[-len(theirs) :], theirs, atol=1e-12)
    local = importances.local_mdi(model, X, of="prediction", y=2 if task == "three" else None)
    raw = scores(model, X)
    raw = raw[:, 2] if task == "three" else raw
    assert np.allclose(local.start + local.values.sum(axis=1), raw, atol=1e-12)
    assert local.unit == ("log-odds" if task != "numbers" else "log y" if log else "y")
    trees = shap_trees(model)["trees"]
    sums = np.array([sum(expected(tree, row, range(4)) for tree in trees) for row in X[:5]])
    assert np.allclose(sums[:, -1], raw[:5], atol=1e-12)


def test_directions_and_interactions_take_boosted_trees():
    X, y = table()
    model = HistGradientBoostingRegressor(max_iter=30).fit(X, y)
    directions = dm.effects.describe_effects(model, dm.learning_set(X, y), ["x0", "x3"])
    assert [direction.words for direction in directions] == ["up", "no direction"]
    model.set_params(min_samples_leaf=3).fit(X, X[:, 0] + 3 * (X[:, 1] > 0) * (X[:, 2] > 0))
    assert dm.effects.interaction_strength(model, X, max_rows=40).pairs[0] == ("x1", "x2")


def test_shapley_values_are_the_contributions_of_xgboost():
    xgboost = pytest.importorskip("xgboost")
    X, y = table("missing")
    model = xgboost.XGBRegressor(n_estimators=4, max_depth=3, n_jobs=1).fit(X, y)
    trees = shap_trees(model)["trees"]
    theirs = model.get_booster().predict(xgboost.DMatrix(X[:6]), pred_contribs=True)
    for row, contributions in zip(X[:6], theirs, strict=True):
        values, start = shapley(trees, row, 4)
        assert np.allclose(values[:, 0], contributions[:-1], atol=1e-5)
        assert start[0] == pytest.approx(contributions[-1], abs=1e-5)


# --- what is refused -----------------------------------------------------------------------------


def test_what_boosted_trees_cannot_say_is_refused():
    X, y = table()
    model = HistGradientBoostingRegressor(max_iter=2).fit(X, y)
    for measure in (
        lambda: importances.mdi(model),
        lambda: importances.local_mdi(model, X),
        lambda: importances.conditional_mda(model, X, y),
    ):
        with pytest.raises(ValueError, match="must have trees that are averaged, got boosted"):
            measure()
    with pytest.raises(ValueError, match="votes must be"):
        importances.mda(model, X, y, votes="ensemble")
    with pytest.raises(NotFittedError):
        dm.Forest.from_boosting(HistGradientBoostingRegressor())
    with pytest.raises(TypeError, match=r"lightgbm or xgboost, got .*GradientBoostingRegressor"):
        dm.Forest.from_boosting(GradientBoostingRegressor())


def test_models_that_no_forest_can_hold_are_refused():
    xgboost = pytest.importorskip("xgboost")
    lightgbm = pytest.importorskip("lightgbm")
    X, y = table()
    quiet = {"n_estimators": 2, "verbose": -1, "n_jobs": 1}
    for model, problem in (
        (xgboost.XGBRegressor(booster="gblinear", n_jobs=1), "which has no trees"),
        (xgboost.XGBRegressor(n_estimators=2, missing=0.0, n_jobs=1), "takes 0.0 for missing"),
        (lightgbm.LGBMRegressor(linear_tree=True, **quiet), "linear models"),
        (lightgbm.LGBMRegressor(zero_as_missing=True, **quiet), "zero_as_missing"),
        (lightgbm.LGBMRegressor(reg_sqrt=True, **quiet), "objective is regression sqrt"),
    ):
        with pytest.raises(ValueError, match=problem):
            dm.Forest.from_boosting(model.fit(X, y))
