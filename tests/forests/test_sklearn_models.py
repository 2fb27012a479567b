"""Forests and trees of scikit-learn, read into forests: predictions, bags, splits, measures."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.grid import one_test

import duramen as dm
from duramen import importances
from duramen.forests.growth import bag
from duramen.forests.prediction import leaves, predict, rows_of, with_interval_codes
from duramen.importances.arguments import trees_of

N = 90


def numbers(missing=False, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, 5))
    X[:, 3] = random.integers(0, 3, N)
    y = 3 * X[:, 0] + X[:, 3] * X[:, 1] + random.normal(size=N)
    if missing:
        X[random.random(X.shape) < 0.2] = np.nan
    return X, y


def classes(y):
    return np.array(["low", "mid", "top"])[np.digitize(y, [-1.0, 2.0])]


def fitted(model, missing=False, **options):
    X, y = numbers(missing)
    y = classes(y) if hasattr(model, "predict_proba") else 1000 + y
    return model.fit(X, y, **options), X, y


def outputs(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)[:, None]


def predictions(forest, X):
    return predict(forest, rows_of(forest, X, "forest", "predict"))


WEIGHTS = np.random.default_rng(1).integers(0, 4, N) / 2
MODELS = [
    (RandomForestClassifier(8, random_state=0), {}),
    (RandomForestClassifier(8, min_samples_leaf=4, max_samples=0.5, random_state=0), {}),
    (RandomForestClassifier(8, class_weight="balanced", random_state=0), {}),
    (RandomForestClassifier(8, class_weight="balanced_subsample", random_state=0), {}),
    (RandomForestClassifier(8, criterion="entropy", random_state=0), {"sample_weight": WEIGHTS}),
    (RandomForestRegressor(8, random_state=0), {}),
    (RandomForestRegressor(8, min_samples_leaf=0.05, random_state=0), {"sample_weight": WEIGHTS}),
    (ExtraTreesClassifier(8, bootstrap=True, random_state=0), {}),
    (ExtraTreesRegressor(8, max_leaf_nodes=9, random_state=0), {}),
    (DecisionTreeClassifier(ccp_alpha=0.01, random_state=0), {"sample_weight": WEIGHTS + 1}),
    (DecisionTreeRegressor(max_depth=4, random_state=0), {}),
]


@one_test
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("model", "options"), MODELS)
def test_predictions_bags_and_decreases_are_those_of_the_model(model, options, missing, tmp_path):
    model, X, y = fitted(model, missing, **options)
    forest = dm.Forest.from_sklearn(model, X, y)
    forest.check()
    forest.save(tmp_path / "forest.npz")
    new, _ = numbers(missing, seed=3)
    for own in (forest, dm.Forest.load(tmp_path / "forest.npz")):
        for rows in (dm.encode(X), X, new):
            values = rows if isinstance(rows, np.ndarray) else X
            assert np.abs(predictions(own, rows) - outputs(model, values)).max() < 1e-12
        for tree, drawn in enumerate(getattr(model, "estimators_samples_", [])):
            assert bag(own, tree).tolist() == np.bincount(drawn, minlength=N).tolist()
    trees = [member.tree_ for member in getattr(model, "estimators_", [model])]
    decreases = np.mean([t.compute_feature_importances(normalize=False) for t in trees], axis=0)
    for result in (importances.mdi(forest), importances.mdi(model)):
        assert np.allclose(result.values, decreases, rtol=1e-9, atol=1e-12)


@one_test
@pytest.mark.parametrize("model", [ExtraTreesRegressor(4, random_state=0), DecisionTreeRegressor()])
def test_values_that_round_to_a_threshold_take_its_side(model):
    random = np.random.default_rng(5)
    X = random.integers(0, 40, (N, 2)) / 7 + random.integers(-2, 3, (N, 2)) * 2.0**-25
    model.fit(X, random.normal(size=N))
    forest = dm.Forest.from_sklearn(model, X, np.zeros(N) + np.arange(N))
    single = np.unique(forest.threshold[forest.feature >= 0]).astype(np.float32)
    ends = [np.nextafter(single, np.float32(end)) for end in (-np.inf, np.inf)]
    middles = [(single.astype(np.float64) + end) / 2 for end in ends]
    near = [np.nextafter(middle, end) for middle in middles for end in (-np.inf, np.inf)]
    values = np.concatenate([single, *middles, *near]).astype(np.float64)
    rows = np.column_stack([values, values[::-1]])
    assert predictions(forest, rows).ravel().tolist() == pytest.approx(
        model.predict(rows), abs=1e-12
    )
    coded = predictions(forest, dm.encode(X))
    assert coded.ravel().tolist() == pytest.approx(model.predict(X), abs=1e-12)


@one_test
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("as_table", [False, True])
def test_intervals_between_thresholds_lead_rows_to_the_leaves_of_their_values(missing, as_table):
    X, y = numbers(missing)
    new = np.vstack([numbers(missing, seed=4)[0], np.full(5, -1e9), np.full(5, 1e9)])
    frame = pd.DataFrame(X).rename(columns=str).assign(c=pd.Categorical(classes(y)))
    held_out = (
        pd.DataFrame(new)
        .rename(columns=str)
        .assign(c=pd.Categorical(np.resize(["mid", "low"], len(new))))
    )
    categorical = dm.RandomForestRegressor(5, random_state=0).fit(frame, y).forest_
    for forest, rows in (
        (trees_of(RandomForestRegressor(5, random_state=0).fit(X, y), "mda"), new),
        (dm.ExtraTreesRegressor(5, random_state=0).fit(X, y).forest_, new),
        (categorical, held_out),
    ):
        table = dm.encode(rows) if as_table else rows
        recoded, codes = with_interval_codes(forest, table, "mda")
        assert recoded.schema is codes.schema
        assert codes.n_codes().max() <= forest.n_nodes
        values = rows_of(forest, rows, "forest", "predict")
        assert np.array_equal(leaves(recoded, codes), leaves(forest, values))


def test_categories_that_the_forest_never_saw_keep_their_rows_as_they_are():
    X, y = numbers()
    frame = pd.DataFrame(X).rename(columns=str).assign(c=pd.Categorical(classes(y)))
    forest = dm.RandomForestRegressor(5, random_state=0).fit(frame, y).forest_
    new = frame.assign(c="other")
    assert with_interval_codes(forest, new, "mda")[0] is forest
    with pytest.raises(ValueError, match="categories that the forest never saw"):
        importances.mda(forest, new, y, rows=None)


# --- measures ------------------------------------------------------------------------------------


def test_mda_is_the_mean_loss_of_the_trees_over_all_permutations():
    model, X, y = fitted(RandomForestClassifier(6, random_state=0))
    result = importances.mda(model, X, y, n_repeats="all")
    codes, losses = np.searchsorted(model.classes_, y), np.zeros((6, 5))
    for t, (tree, drawn) in enumerate(
        zip(model.estimators_, model.estimators_samples_, strict=True)
    ):
        out = np.setdiff1d(np.arange(N), drawn)
        right = (tree.predict(X[out]) == codes[out]).mean()
        for j in range(5):
            after = []
            for donor in out:
                permuted = X[out].copy()
                permuted[:, j] = X[donor, j]
                after.append((tree.predict(permuted) == codes[out]).mean())
            losses[t, j] = right - np.mean(after)
    assert np.allclose(result.values, losses.mean(axis=0), atol=1e-12)
    data = dm.learning_set(X, y)
    own = dm.Forest.from_sklearn(model, data)
    for again in (importances.mda(model, data), importances.mda(own, X, y)):
        assert again.values.tolist() == importances.mda(model, X, y).values.tolist()


@one_test
@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, min_samples_leaf=5, class_weight="balanced", random_state=0),
        ExtraTreesRegressor(5, min_samples_leaf=5, random_state=0),
    ],
)
def test_mda_of_the_predictor_is_the_loss_of_predict(model, held_out):
    model, X, y = fitted(model)
    if held_out:
        X, other = numbers(seed=8)
        y = classes(other) if hasattr(model, "predict_proba") else 1000 + other
    options = {"rows": None, "votes": "predictor", "n_repeats": 8, "random_state": 4}
    groups = {"one": [0], "two": [1, 3]}
    result = importances.mda(model, X, y, **options)
    seed = result.metadata["mda"]["permutation_seed"]
    grouped = importances.mda(model, X, y, feature_groups=groups, **options)
    assert (
        importances.mda(model, X, y, n_jobs=2, **options).values.tolist() == result.values.tolist()
    )

    def score(rows):
        told = model.predict(rows)
        return (told == y).mean() if told.dtype.kind == "U" else -np.mean((told - y) ** 2)

    for values, columns in ((result, [[j] for j in range(5)]), (grouped, list(groups.values()))):
        for g, members in enumerate(columns):
            losses = []
            for repeat in range(8):
                permuted = X.copy()
                order = np.random.default_rng([seed, repeat, g]).permutation(N)
                permuted[:, members] = X[np.ix_(order, members)]
                losses.append(score(X) - score(permuted))
            assert values.values[g] == pytest.approx(np.mean(losses), abs=1e-9)
    scoring = "accuracy" if y.dtype.kind == "U" else "neg_mean_squared_error"
    theirs = permutation_importance(model, X, y, scoring=scoring, n_repeats=8, random_state=0)
    error = np.hypot(result.standard_error, theirs.importances_std / np.sqrt(8))
    assert (np.abs(result.values - theirs.importances_mean) <= 4 * error).all()


@one_test
@pytest.mark.parametrize(
    "model", [RandomForestClassifier(8, random_state=0), RandomForestRegressor(8, random_state=0)]
)
def test_local_importances_add_up_to_predictions_and_to_mdi(model):
    model, X, y = fitted(model)
    of = {"of": "prediction"} if y.dtype.kind == "f" else {"of": "prediction", "y": "top"}
    local = importances.local_mdi(model, X, **of)
    output = outputs(model, X)[:, -1]
    assert np.allclose(local.start + local.values.sum(axis=1), output, atol=1e-10)
    new = numbers(seed=2)[0][:30]
    local = importances.local_mdi(model, new, **of)
    total = local.start + local.values.sum(axis=1)
    assert np.allclose(total, outputs(model, new)[:, -1], atol=1e-10)
    mean = importances.local_mdi(model, X, rows="in-bag").mean()
    assert np.allclose(mean.values, importances.mdi(model).values, atol=1e-9)


@one_test
@pytest.mark.parametrize(
    "model", [RandomForestClassifier(8, random_state=0), RandomForestRegressor(8, random_state=0)]
)
def test_partial_dependence_is_that_of_scikit_learn(model):
    model, X, _ = fitted(model)
    effect = dm.effects.partial_dependence(model, X, 0, n_points=12)
    grid = {"custom_values": {0: effect.points}, "method": "brute", "kind": "average"}
    theirs = partial_dependence(model, X, [0], **grid)["average"]
    assert np.allclose(effect.values.T, theirs, atol=1e-10)


MEASURES = {
    "mdi of all rows": lambda f, X, y: importances.mdi(f, X, y),
    "mdi out of bag": lambda f, X, y: importances.mdi(f, X, y, rows="oob"),
    "mdi+": importances.mdi_plus,
    "conditional mda": importances.conditional_mda,
    "vote change": importances.vote_change,
    "noising": importances.noising,
    "Sobol-MDA": importances.sobol_mda,
    "frequency": lambda f, X, y: importances.frequency(f),
    "minimal depth": lambda f, X, y: importances.minimal_depth(f),
    "interactions": lambda f, X, y: importances.interactions(f, X),
    "effect": lambda f, X, y: dm.effects.accumulated_local_effects(f, X, "x0"),
    "interaction strength": lambda f, X, y: dm.effects.interaction_strength(f, X, max_rows=20),
}


@one_test
@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_a_measure_takes_the_model_as_its_forest(measure):
    model, X, y = fitted(RandomForestClassifier(6, criterion="entropy", random_state=0))
    own = measure(dm.Forest.from_sklearn(model, X, y), X, y)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(5)])
    for rows in (frame, dm.encode(X)):
        result = measure(model, rows, y)
        values = getattr(result, "strengths", getattr(result, "values", None))
        assert np.array_equal(values, getattr(own, "strengths", getattr(own, "values", None)))
    if hasattr(own, "top"):
        assert "x0" in own.top(2).names


def test_directions_and_trees_needed_take_the_model():
    model, X, y = fitted(RandomForestRegressor(60, random_state=0))
    data = dm.learning_set(X, y)
    directions = dm.effects.describe_effects(model, data, ["x0", "x4"])
    assert [direction.words for direction in directions] == ["up", "no direction"]
    assert dm.significance.trees_needed(model, X, y).n_trees == 60


# --- names, and what is refused ------------------------------------------------------------------


def test_features_have_the_names_of_the_table_that_the_model_was_fitted_on():
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = RandomForestRegressor(5, random_state=0).fit(frame, y)
    for result in (
        importances.mdi(model),
        importances.mda(model, frame, y),
        importances.mda(model, X, y),
    ):
        assert result.names == tuple("abcde")
    with pytest.raises(
        ValueError, match=r"mda: X must have the columns .* column 0 is 'b', and was 'a'"
    ):
        importances.mda(model, frame[list("bacde")], y)
    unnamed = RandomForestRegressor(5, random_state=0).fit(X, y)
    assert importances.mda(unnamed, frame, y).names == tuple("abcde")


def test_rows_must_be_those_that_the_model_was_fitted_on():
    model, X, y = fitted(RandomForestRegressor(5, random_state=0))
    for rows in (X[::-1], X[:-1], numbers(seed=9)[0]):
        with pytest.raises(
            ValueError, match=r"X must hold the rows that the model was fitted on, 90"
        ):
            dm.Forest.from_sklearn(model, rows, y[: len(rows)])
        with pytest.raises(ValueError, match=r'mda: with rows="oob", X must be the table'):
            importances.mda(model, rows, y[: len(rows)])
    nominal = dm.encode(X, kinds={"x3": "nominal"})
    with pytest.raises(ValueError, match=r"numeric columns.*'x3' is nominal"):
        importances.mda(model, nominal, y)
    with pytest.raises(ValueError, match="X has 2 features, but mda is expecting 5"):
        importances.mda(model, X[:, :2], y)


@one_test
@pytest.mark.parametrize(
    ("model", "target", "error", "message"),
    [
        (RandomForestRegressor(2), None, NotFittedError, "not fitted yet"),
        (RandomForestRegressor(2), "two", ValueError, "one target, but this .* was fitted on 2"),
        (
            RandomForestRegressor(2, criterion="poisson"),
            "one",
            ValueError,
            "criterion must be one of",
        ),
        (
            GradientBoostingRegressor(n_estimators=2),
            "one",
            TypeError,
            "a decision tree of scikit-learn",
        ),
        (
            make_pipeline(StandardScaler(), RandomForestRegressor(2)),
            "one",
            TypeError,
            r"pipe\[-1\]",
        ),
    ],
)
def test_other_models_are_refused(model, target, error, message):
    X, y = numbers()
    y = np.abs(np.column_stack([y, y]) if target == "two" else y)
    if target is not None:
        model.fit(X, y)
    with pytest.raises(error, match=message):
        importances.mdi(model, X, y)


def test_trees_that_saw_all_rows_have_no_rows_out_of_bag():
    model, X, y = fitted(ExtraTreesRegressor(5, random_state=0))
    for measure in (importances.mda, importances.sobol_mda, importances.conditional_mda):
        with pytest.raises(ValueError, match='rows="oob" needs trees that leave rows out'):
            measure(model, X, y)
    with pytest.raises(ValueError, match=r"predictor.* is for .* with rows=None.*got rows='oob'"):
        importances.mda(model, X, y, votes="predictor")
