"""Trees that draw whole groups of rows."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import set_config
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.faults.routing import same_nodes, schema_of
from tests.oracles import bags, route

import duramen as dm
from duramen.forests.growth import bag

# Groups of 1 to 9 rows, whose rows lie apart.
GROUPS = np.random.default_rng(0).permutation(np.repeat(np.arange(12), [1, 9, 4, 4, 2, 7] * 2))
N = len(GROUPS)


def problem(task="classification"):
    random = np.random.default_rng(1)
    X = random.normal(size=(N, 4)).round(1)
    y = X[:, 0] + random.normal(size=N)
    y = y > 0 if task == "classification" else y
    if task == "survival":
        y = np.column_stack([np.exp(X[:, 0]), random.random(N) < 0.7])
    return X, y


def same_trees(one, other):
    for name, array in one.arrays().items():
        np.testing.assert_array_equal(other.arrays()[name], array, err_msg=name)


def by_oracle(forest, codes, tree):
    settings, count = forest.settings, int(codes.max()) + 1
    of_groups = bags.bag(count, settings.row_samples, settings.bootstrap, forest.seed, tree)
    return np.array(of_groups)[codes]


@pytest.mark.parametrize(
    "drawn",
    [
        {"bootstrap": True},
        {"bootstrap": True, "max_samples": 5},
        {"bootstrap": True, "max_samples": 40},
        {"bootstrap": False, "max_samples": 0.5},
        {"bootstrap": False, "max_samples": 11},
        {"bootstrap": False},
    ],
)
def test_bags_are_those_of_an_oracle(drawn):
    X, y = problem()
    forest = dm.RandomForestClassifier(9, random_state=3, **drawn).fit(X, y, groups=GROUPS).forest_
    first = dict.fromkeys(GROUPS.tolist())  # groups are numbered in the order of their rows
    codes = np.array([list(first).index(group) for group in GROUPS.tolist()])
    np.testing.assert_array_equal(forest.groups, codes)
    for tree in range(9):
        drawn_rows = by_oracle(forest, codes, tree)
        np.testing.assert_array_equal(bag(forest, tree), drawn_rows)
        root = forest.offsets[tree]
        assert forest.rows[root] == (drawn_rows > 0).sum()
        assert forest.weight[root] == drawn_rows.sum()


@pytest.mark.parametrize("criterion", ["gini", "entropy", "variance", "balanced"])
@pytest.mark.parametrize("weighted", [False, True])
def test_nodes_hold_the_rows_of_their_bags(criterion, weighted):
    X, y = problem("regression" if criterion == "variance" else "classification")
    weights = np.random.default_rng(2).integers(0, 4, N).astype(float) if weighted else None
    if criterion == "variance":
        model = dm.RandomForestRegressor(3, random_state=0)
    elif criterion == "balanced":
        model = dm.RandomForestClassifier(3, class_weight="balanced_subsample", random_state=0)
    else:
        model = dm.RandomForestClassifier(3, criterion=criterion, random_state=0)
    forest = model.fit(X, y, weights, groups=GROUPS).forest_
    rows = route.coded(schema_of(forest), [X[:, j].tolist() for j in range(4)])
    drawn = [by_oracle(forest, forest.groups, tree).tolist() for tree in range(3)]
    target = y.tolist() if criterion == "variance" else y.astype(int).tolist()
    same_nodes(forest, rows, drawn, target, ([1.0] * N if weights is None else weights.tolist()))


def test_rows_that_are_groups_give_the_forest_without_groups():
    X, y = problem()
    for drawn in ({}, {"max_samples": 7}, {"max_samples": 0.3, "bootstrap": False}):
        alone = dm.RandomForestClassifier(30, random_state=0, oob_score=True, **drawn).fit(X, y)
        labels = [f"person {row}" for row in range(N)]
        grouped = dm.RandomForestClassifier(30, random_state=0, oob_score=True, **drawn)
        grouped.fit(X, y, groups=labels)
        same_trees(alone.forest_, grouped.forest_)
        assert grouped.forest_.groups is None
        np.testing.assert_array_equal(grouped.oob_error_curve_, alone.oob_error_curve_)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_copies_in_groups_give_what_rows_alone_give(criterion):
    random = np.random.default_rng(4)
    X = random.normal(size=(40, 3))
    y = X[:, 0] + random.normal(size=40) > 0
    model = dm.RandomForestClassifier(30, criterion=criterion, random_state=0, oob_score=True)
    values, curves, forests = [], [], []
    for rows, groups in ((np.arange(40), None), (np.repeat(np.arange(40), 3),) * 2):
        data = dm.learning_set(X[rows], y[rows], groups=groups)
        forests.append(model.fit(data).forest_)
        curves.append(model.oob_error_curve_)
        values.append(dm.importances.mdi(model, data, rows="oob").values)
    np.testing.assert_array_equal(forests[0].feature, forests[1].feature)
    np.testing.assert_array_equal(forests[0].threshold, forests[1].threshold)
    np.testing.assert_allclose(curves[1], curves[0], rtol=1e-9)
    np.testing.assert_allclose(values[1], values[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("task", ["classification", "regression", "survival"])
def test_out_of_bag_estimates_use_trees_without_the_group(task):
    X, y = problem(task)
    kind = {
        "classification": dm.RandomForestClassifier,
        "regression": dm.RandomForestRegressor,
        "survival": dm.RandomSurvivalForest,
    }[task]
    model = kind(40, random_state=0, oob_score=True).fit(X, y, groups=GROUPS)
    single = model.estimators_
    if task == "classification":
        of_trees = np.stack([tree.predict_proba(X) for tree in single])
        estimates = model.oob_decision_function_
    else:
        of_trees = np.stack([tree.predict(X) for tree in single])[..., None]
        estimates = model.oob_prediction_[:, None]
    for row in range(N):
        unseen = [
            tree for tree in range(40) if not bag(model.forest_, tree)[GROUPS[row] == GROUPS].any()
        ]
        expected = of_trees[unseen, row].mean(axis=0)
        np.testing.assert_allclose(estimates[row], expected, rtol=1e-12, atol=1e-12)


def test_files_pickles_and_parts_keep_the_groups(tmp_path):
    X, y = problem()
    model = dm.RandomForestClassifier(6, random_state=0, oob_score=True).fit(X, y, groups=GROUPS)
    forest = model.forest_
    model.save(tmp_path / "model.npz")
    forest.save(tmp_path / "forest.npz")
    again = [
        dm.RandomForestClassifier.load(tmp_path / "model.npz").forest_,
        dm.forests.Forest.load(tmp_path / "forest.npz"),
        pickle.loads(pickle.dumps(model)).forest_,
    ]
    for other in again:
        same_trees(forest, other)
        np.testing.assert_array_equal(bag(other, 5), bag(forest, 5))
    np.testing.assert_array_equal(bag(forest.part(2, 6), 3), bag(forest, 5))
    data = dm.learning_set(X, y, groups=GROUPS)
    whole = dm.importances.mda(forest, data, rows="oob").values
    np.testing.assert_array_equal(dm.importances.mda(again[0], data, rows="oob").values, whole)


def test_stores_draw_groups(tmp_path):
    X, y = problem()
    settings = {"max_samples": 0.5, "n_subspace_features": 3, "oob_score": True, "random_state": 0}
    model = dm.RandomPatchesClassifier(10, **settings)
    whole = model.fit(dm.encode(X), y, groups=GROUPS).forest_
    curve = model.oob_error_curve_
    same_trees(whole, model.fit(dm.pack(X, tmp_path / "t.store"), y, groups=GROUPS).forest_)
    np.testing.assert_array_equal(model.oob_error_curve_, curve)


def test_max_samples_counts_groups():
    X, y = problem()
    model = dm.RandomForestClassifier(5, max_samples=13, bootstrap=False)
    with pytest.raises(ValueError, match=r"1\.\.12 or .*draws groups without replacement"):
        model.fit(X, y, groups=GROUPS)
    assert model.fit(X, y).forest_.settings.row_samples == 13
    assert model.growth_settings(N, 4, n_groups=13).row_samples == 0


def test_wrong_groups_are_refused():
    X, y = problem()
    model = dm.RandomForestClassifier(3)
    with pytest.raises(ValueError, match=r"RandomForestClassifier\.fit: groups must have a label"):
        model.fit(X, y, groups=GROUPS[1:])
    forest = model.fit(X, y, groups=GROUPS).forest_
    with pytest.raises(ValueError, match="groups must be the number of the group"):
        dm.forests.Forest(**{**forest.fields(), "groups": forest.groups[1:]}).check()


def test_groups_are_routed_by_scikit_learn():
    X, y = problem()
    seen = SimpleNamespace(groups=None)

    class Spy(dm.RandomForestClassifier):
        def _prepare(self, X, y=None, sample_weight=None, groups=None):
            seen.groups = groups
            return super()._prepare(X, y, sample_weight, groups)

    set_config(enable_metadata_routing=True)
    try:
        forest = Spy(3, random_state=0).set_fit_request(groups=True, sample_weight=False)
        make_pipeline(StandardScaler(), forest).fit(X, y, groups=GROUPS)
        np.testing.assert_array_equal(seen.groups, GROUPS)
        assert len(cross_val_score(forest, X, y, params={"groups": GROUPS}, cv=3)) == 3
        assert len(seen.groups) < N
    finally:
        set_config(enable_metadata_routing=False)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_irrelevant_features_have_no_impurity_out_of_bag_on_average(criterion):
    # Rows of a person are nearly the same, so that rows drawn by themselves find each other.
    person = np.repeat(np.arange(20), 4)
    values = {True: [], False: []}
    for seed in range(40):
        random = np.random.default_rng(seed)
        X = random.normal(size=(20, 2))[person] + 0.1 * random.normal(size=(80, 2))
        y = random.permutation(person[::4] % 2)[person]
        for grouped, means in values.items():
            data = dm.learning_set(X, y, groups=person if grouped else None)
            model = dm.RandomForestClassifier(20, criterion=criterion, random_state=seed).fit(data)
            means.append(dm.importances.mdi(model, data, rows="oob").values.mean())
    grouped, alone = (np.array(values[key]) for key in (True, False))
    assert abs(grouped.mean()) < 3 * grouped.std() / np.sqrt(40)
    assert alone.mean() > 10 * alone.std() / np.sqrt(40)
