"""The sequential random subspace selector."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.grid import one_test
from tests.oracles.theory.subspaces import decreases_of_tree

import duramen as dm
from duramen.forests.prediction import leaves
from duramen.io.store.reader import memory_bytes
from duramen.selection import SequentialRandomSubspace
from duramen.selection.subspace_search import Grower, among_found, stream

RESULTS = (
    "selected_",
    "entered_",
    "support_",
    "draws_",
    "wins_",
    "n_estimators_",
    "n_subspace_features_",
    "forest_columns_",
)
# A test that lets features in soon, so that a few trees show what happens then.
SOON = {"relevance": "probe", "min_draws": 2, "min_win_rate": 0.6}


def trees(tree="extra", criterion=None, max_features=None, **limits):
    """Estimator of Extra-Trees, CART or totally randomized trees; regression for "variance"."""
    classifiers = {"cart": dm.RandomForestClassifier}
    regressors = {"cart": dm.RandomForestRegressor}
    if tree == "cart":
        limits["bootstrap"] = False
    if tree == "random":
        max_features = 1
    if criterion == "variance":
        kind = regressors.get(tree, dm.ExtraTreesRegressor)
    else:
        kind = classifiers.get(tree, dm.ExtraTreesClassifier)
        limits["criterion"] = criterion or "gini"
    return kind(max_features=max_features, **limits)


GROWTH = ("tree", "criterion", "max_features", "splits", "max_depth", "min_samples_leaf")


def selector(n_estimators=40, **options):
    growth = {name: options.pop(name) for name in GROWTH if name in options}
    if growth:
        options["estimator"] = trees(**growth)
    options = {"n_subspace_features": 6, "random_state": 0, **SOON, **options}
    return SequentialRandomSubspace(n_estimators=n_estimators, **options)


def problem(n=60, p=20, seed=0):
    """Three values; the class is an exclusive or of two of them and a third."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 3, (n, p)).astype(float)
    return X, ((X[:, 2] > 0) ^ (X[:, 5] > 0) | (X[:, 9] == 2)).astype(int)


def everything(model):
    """All that a search leads to, as bytes."""
    parts = {name: np.asarray(getattr(model, name)) for name in RESULTS}
    parts |= model.forest_.arrays()
    parts |= model.history_
    parts["importances"] = model.importances_.values
    return {name: (part.dtype, part.shape, part.tobytes()) for name, part in parts.items()}


@pytest.fixture
def grown(monkeypatch):
    """Trees that are grown while the test runs: number, columns, found before, outcome."""
    calls = []
    original = Grower.grow

    def watched(self, tree, columns, result):
        outcome = original(self, tree, columns, result)
        calls.append((tree, columns, result.copy(), outcome))
        return outcome

    monkeypatch.setattr(Grower, "grow", watched)
    return calls


# --- the search -----------------------------------------------------------------------------


def test_alpha_zero_is_the_random_subspace_method(grown):
    X, y = problem()
    model = selector(keep=0.0).fit(X, y)
    assert len(model.selected_) > 2
    none = np.zeros(0, dtype=np.int64)
    for tree, columns, _, _ in grown:
        drawn = among_found(stream(model.forest_.seed, tree, 0), none, 20, 6, 0)
        np.testing.assert_array_equal(columns, drawn)


@pytest.mark.parametrize("relevance", ["probe", "decoy"])
def test_counts_are_those_of_the_trees(grown, relevance):
    X, y = problem()
    model = selector(relevance=relevance, n_probes=2).fit(X, y)
    shadows = 4 if relevance == "decoy" else 0  # of each of fewer than 50 features
    assert model.n_shadows_ == shadows
    draws, wins = np.zeros(20, int), np.zeros(20, int)
    for _, columns, _, outcome in grown:
        own = columns[:6]
        draws[own] += 1
        assert (columns[6:] - 20).tolist() == [4 * j + s for j in own for s in range(shadows)]
        assert len(outcome.probes) == (0 if relevance == "decoy" else 2)
        assert len(outcome.excess) == (30 if relevance == "decoy" else 0)
        for j, value in zip(own, outcome.values, strict=False):
            wins[j] += all(value > probe for probe in outcome.probes) and relevance != "decoy"
    np.testing.assert_array_equal(model.draws_, draws)
    np.testing.assert_array_equal(model.wins_, wins)
    assert model.draws_.sum() == 40 * 6


VARIANTS = {
    "extra": {},
    "cart": {"tree": "cart"},
    "random": {"tree": "random"},
    "K": {"max_features": 2},
    "multiway": {"splits": "multiway"},
    "one-vs-rest": {"splits": "one-vs-rest"},
    "any": {"splits": "any"},
    "entropy": {"criterion": "entropy"},
    "variance": {"criterion": "variance"},
    "depth": {"max_depth": 2, "min_samples_leaf": 0.1},
    "decoy": {"relevance": "decoy"},
    "probes": {"n_probes": 3},
}


@one_test
@pytest.mark.parametrize("variant", VARIANTS)
def test_importances_are_those_of_the_trees(variant):
    """By a sum over nodes and children one by one, with probes left out."""
    X, y = problem()
    model = selector(15, **VARIANTS[variant]).fit(X, y)
    forest, columns = model.forest_, model.forest_columns_
    forest.check()
    assert forest.n_trees == 15
    expected = np.zeros(20)
    for tree in forest:
        arrays = {
            name: getattr(tree, name).tolist()
            for name in ("feature", "child", "n_children", "rows", "impurity")
        }
        for column, value in decreases_of_tree(arrays, 60).items():
            if column < len(columns):
                expected[columns[column]] += value / 15
    np.testing.assert_allclose(model.importances_.values, expected, rtol=1e-10, atol=1e-13)
    mdi = dm.importances.mdi(forest)
    np.testing.assert_allclose(mdi.values[:-1], expected[columns], rtol=1e-10, atol=1e-13)
    assert not np.delete(model.importances_.values, columns).any()
    assert model.importances_.names == tuple(f"x{j}" for j in range(20))
    assert model.importances_.unit == mdi.unit
    if variant == "decoy":
        assert mdi.values[-1] > 0  # shadow features: there are fewer than 50 others
    if variant == "random":
        assert forest.settings.max_features == 1


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_cart_on_a_subspace_is_the_tree_of_a_peer(grown, task):
    """Continuous columns, and no small nodes, where the best splits are not tied."""
    random = np.random.default_rng(1)
    X = random.normal(size=(200, 50))
    signal_of_rows = X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=200)
    y = signal_of_rows if task == "regression" else (signal_of_rows > 0).astype(int)
    peer = DecisionTreeRegressor if task == "regression" else DecisionTreeClassifier
    limits = {"max_depth": 2, "min_samples_leaf": 10}
    criterion = "variance" if task == "regression" else "gini"
    model = selector(6, relevance="decoy", tree="cart", criterion=criterion, **limits).fit(X, y)
    assert hasattr(model, "classes_") == (task == "classification")
    for _, columns, _, outcome in grown:
        tree = peer(random_state=0, **limits).fit(X[:, columns], y).tree_
        values = tree.compute_feature_importances(normalize=False)
        np.testing.assert_allclose(outcome.values, values, atol=1e-10)


# --- the same always --------------------------------------------------------------------------


def test_patience_ends_a_search():
    X, y = problem()
    long = selector(200, batch_size=3).fit(X, y)
    newest = long.entered_[-1]
    gaps = np.diff([0, *long.entered_])
    patience = int(gaps.max()) + 4  # also rounds, of three, are waited for
    model = selector(200, batch_size=3, patience=patience).fit(X, y)
    assert patience <= model.n_estimators_ - newest < patience + 3
    np.testing.assert_array_equal(model.selected_, long.selected_)
    assert len(model.history_["n_selected"]) == model.n_estimators_ == model.forest_.n_trees
    none = selector(200, patience=7, min_win_rate=1.0, min_draws=100).fit(X, y)
    assert none.n_estimators_ == 7
    assert none.selected_.shape == (0,)


@one_test
@pytest.mark.parametrize(
    "options", [SOON, {**SOON, "max_features": 2}, {**SOON, "tree": "cart"}, {"relevance": "decoy"}]
)
def test_a_store_of_a_sparse_matrix_gives_what_a_dense_one_gives(tmp_path_factory, options):
    random = np.random.default_rng(0)
    X = np.where(random.random((400, 60)) < 0.1, random.poisson(3, (400, 60)), 0).astype(float)
    y = X[:, 3] + X[:, 7] > 0
    folder = tmp_path_factory.mktemp("stores")
    numbers = {"n_subspace_features": 12, "n_jobs": 1, **options}
    sparse, dense = (
        selector(20, **numbers).fit(dm.pack(rows, folder / kind), y)
        for kind, rows in (("sparse", scipy.sparse.csc_matrix(X)), ("dense", X))
    )
    assert everything(sparse) == everything(dense)


# --- the forest ----------------------------------------------------------------------------


def test_at_a_split_on_a_probe_rows_go_where_most_went():
    """Trees of a single column, with holes as in its probes; the paths that see probes alone."""
    random = np.random.default_rng(0)
    X = np.where(random.random((50, 4)) < 0.4, np.nan, random.integers(0, 5, (50, 4)))
    y = random.integers(0, 2, 50)
    for splits in ("ordered", "multiway", "one-vs-rest", "any"):
        model = selector(30, n_subspace_features=1, splits=splits, n_probes=3, max_depth=2).fit(
            X, y
        )
        forest = model.forest_
        probe = len(model.forest_columns_)
        came_to = leaves(forest, np.full((3, forest.n_features), np.nan))
        followed = 0
        for index, tree in enumerate(forest):
            node = 0
            while tree.feature[node] == probe:
                children = tree.child[node] + np.arange(tree.n_children[node])
                ties = children[tree.rows[children] == tree.rows[children].max()]
                if len(ties) > 1:
                    break
                node = int(ties[0])
            if tree.feature[node] < 0:
                assert (came_to[:, index] == node).all()
                followed += node > 0
        assert followed >= 3


@one_test
@pytest.mark.parametrize("frame", [None, pd.DataFrame, pl.DataFrame, pa.table])
def test_trees_without_any_split(frame):
    X, y = np.ones((9, 4)), np.arange(9) < 3
    rows = X if frame is None else frame({name: np.ones(9) for name in "abcd"})
    for relevance in ("decoy", "probe"):
        model = selector(5, n_subspace_features=2, relevance=relevance).fit(rows, y)
        assert not model.importances_.values.any()
        assert model.forest_columns_.shape == (0,)
        assert model.forest_.n_features == 1
        assert model.selected_.shape == (0,)


# --- scikit-learn -----------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("estimator", "relevance", "message"),
    [
        (dm.RandomForestClassifier(), "probe", "estimator must be a forest whose trees have all"),
        (dm.ExtraTreesClassifier(class_weight="balanced"), "probe", "got 'ExtraTreesClassifier'"),
        (dm.GuidedForestClassifier(bootstrap=False), "probe", "got 'GuidedForestClassifier'"),
        (dm.PERTClassifier(), "decoy", "relevance must be 'probe' or 'positive'"),
        (dm.ExtraTreesClassifier(max_leaf_nodes=4), "decoy", "relevance must be 'probe'"),
        (dm.ExtraTreesClassifier(ccp_alpha=0.1), "decoy", "relevance must be 'probe'"),
        (
            dm.ExtraTreesClassifier(max_features=5000),
            "decoy",
            "max_features must be at most .* of the features and .* shadow features",
        ),
    ],
)
def test_estimators_that_are_refused(estimator, relevance, message):
    X, y = problem()
    with pytest.raises(ValueError, match=f"SequentialRandomSubspace: .*{message}"):
        selector(5, estimator=estimator, relevance=relevance).fit(X, y)


@one_test
@pytest.mark.parametrize(
    "estimator",
    [
        dm.PERTClassifier(),
        dm.ExtraTreesClassifier(max_features=None, max_leaf_nodes=4),
        dm.ExtraTreesClassifier(max_features=None, min_samples_split=20),
        dm.TotallyRandomizedTreesClassifier(),
    ],
)
def test_trees_are_those_of_the_estimator(estimator):
    """With all features and no probe, each tree is one that the estimator grows from that seed."""
    X, y = problem()
    model = selector(4, estimator=estimator, n_subspace_features=None, relevance="positive")
    forest = model.fit(X, y).forest_
    grown = clone(estimator).set_params(n_estimators=4, random_state=0).fit(X, y)
    assert [tree.n_nodes for tree in forest] == [tree.n_nodes for tree in grown.forest_]
    np.testing.assert_allclose(
        model.importances_.values, dm.importances.mdi(grown).values, rtol=1e-12, atol=1e-15
    )


def test_memory_says_how_many_features():
    """Columns of three values: 12 bytes a row, 24 a value, and 400."""
    X, y = problem(n=100, p=1500)
    options = {"n_subspace_features": None, "relevance": "decoy"}
    column = 1200 + 72 + 400
    for memory, batch in (("1MB", 1), (2_000_000, 7)):
        model = selector(2, memory=memory, batch_size=batch, **options).fit(X, y)
        assert model.n_subspace_features_ == int(memory_bytes(memory, "")) // batch // column
        assert model.draws_.sum() == 2 * model.n_subspace_features_
    model = selector(2, memory="1GB", **options).fit(X, y)
    assert model.n_subspace_features_ == 1500
    assert selector(1, **options).fit(X, y).n_subspace_features_ == 1500


def test_memory_that_will_not_do_is_refused():
    X, y = problem()
    for memory in ("1 kB", "much", -1, "100"):
        with pytest.raises(ValueError, match="memory must be"):
            selector(5, n_subspace_features=None, memory=memory).fit(X, y)
    with pytest.raises(ValueError, match="n_subspace_features must be None with memory"):
        selector(5, memory="1MB").fit(X, y)
    with pytest.raises(ValueError, match="widest column, of 60 rows, in 2000 trees"):
        selector(5, n_subspace_features=None, memory="1MB", batch_size=2000).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "p", "cardinality", "fraction"),
    [(60, 10, 0, 0.5), (60, 30, 0, 0.15), (100, 20, 3, 0.3), (40, 5, 0, 0.5), (200, 45, 1, 0.5)],
)
def test_few_features_of_noise_are_rarely_found(n, p, cardinality, fraction):
    """20 data sets of each kind: at a level of .05, some feature is found in two at most.

    With cardinality 3, columns have 2, 3 and 20 values or are continuous; with 1 they have two.
    """
    some = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        X = random.normal(size=(n, p))
        if cardinality:
            values = [2] * p if cardinality == 1 else [2, 3, 20, 0] * p
            for j, m in zip(range(p), values, strict=False):
                X[:, j] = random.integers(0, m, n) if m else X[:, j]
        y = random.permutation(np.arange(n) < fraction * n)
        some += (
            SequentialRandomSubspace(n_estimators=50, random_state=seed).fit(X, y).support_.any()
        )
    assert some <= 2


# --- the rule of algorithm 7.1, on distributions ------------------------------------------------


def every_row(p):
    """Rows of p independent fair bits."""
    return np.array(list(itertools.product((0, 1), repeat=p)))


def selected_by(X, y, q, keep=0.5, n_estimators=150, **options):
    model = SequentialRandomSubspace(
        trees(**{"tree": "random", "criterion": "entropy", **options}),
        n_estimators=n_estimators,
        n_subspace_features=q,
        keep=keep,
        relevance="positive",
        random_state=0,
    )
    return set(model.fit(X, y).selected_.tolist())


@pytest.mark.slow
@pytest.mark.parametrize("keep", [0.0, 0.5, 1.0])
def test_proposition_7_1_all_relevant_features_are_found_if_they_fit(keep):
    """K = 1 and r <= q: F are the relevant features, also those of degree r - 1 and copies."""
    X = every_row(6)
    assert selected_by(X, X[:, 0] ^ X[:, 3] ^ X[:, 5], 3, keep) == {0, 3, 5}
    copied = np.column_stack([X, X[:, 0]])  # weakly relevant: 0 and 6
    assert selected_by(copied, X[:, 0] ^ X[:, 3], 3, keep) == {0, 3, 6}
    numbers = X[:, 1] + 0.5 * X[:, 2] * X[:, 4]
    assert selected_by(X, numbers, 3, keep, criterion="variance") == {1, 2, 4}


@pytest.mark.slow
@pytest.mark.parametrize("keep", [0.0, 0.5, 1.0])
def test_theorem_7_2_strongly_relevant_features_are_found_for_any_k(keep):
    """r <= q: 3 is strongly relevant, 0 and its copy 6 are weakly; no irrelevant one is found."""
    X = np.column_stack([every_row(6), every_row(6)[:, 0]])
    y = X[:, 0] | X[:, 3]
    for K in (1, 2, 4):
        F = selected_by(X, y, 4, keep, tree="cart", max_features=K)
        assert {3} <= F <= {0, 3, 6}


def test_proposition_7_3_low_degrees_are_found_though_not_all_fit():
    """r = 5 > q = 4, K = 1: degrees below (1 - alpha) q; with alpha = 1 none need be found."""
    X = every_row(5)
    y = (X * [16, 8, 4, 2, 1]).sum(axis=1)  # all of degree 0
    for keep in (0.0, 0.5, 0.75):
        assert selected_by(X, y.astype(str), 4, keep) == set(range(5))
    assert len(selected_by(X, y.astype(str), 4, 1.0)) == 4  # no place is left for the fifth


def test_proposition_7_4_strongly_relevant_features_of_low_degree():
    """r = 6 > q = 4, any K: all strongly relevant and of degree 0 or 1 < (1 - alpha) q = 2."""
    X = every_row(6)
    y = 4 * (X[:, 0] ^ X[:, 1]) + 2 * (X[:, 2] ^ X[:, 3]) + X[:, 4] + 8 * X[:, 5]
    for K in (1, 2, 4):
        options = {"tree": "cart", "max_features": K, "criterion": "variance"}
        assert selected_by(X, y.astype(float), 4, 0.5, 300, **options) == set(range(6))


def test_rounding_is_no_importance():
    X = every_row(6)
    scaled = {"criterion": "variance", "tree": "extra"}
    assert selected_by(X, X[:, 2] * 1e-6 + 1e3, 3, **scaled) == {2}
    assert selected_by(X, X[:, 2] * 1e9, 3, **scaled) == {2}


# --- what it finds ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_an_exclusive_or_is_found(seed):
    """Neither of two columns of 200 tells anything alone; both are in one tree of sixteen."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 2, (1000, 200))
    y = X[:, 17] != X[:, 101]
    model = SequentialRandomSubspace(
        n_estimators=400, n_subspace_features=50, random_state=seed
    ).fit(X, y)
    assert model.support_[[17, 101]].all()
    assert set(model.importances_.top(2).names) == {"x17", "x101"}


@pytest.mark.slow
def test_noise_seldom_gives_anything():
    """Ten searches (seeds 0 to 9) of 150 trees on noise: at most two find anything."""
    result = []
    for seed in range(10):
        random = np.random.default_rng(100 + seed)
        X, y = random.integers(0, 2, (300, 200)), random.integers(0, 2, 300)
        model = SequentialRandomSubspace(
            n_estimators=150, n_subspace_features=50, random_state=seed
        )
        result.append(len(model.fit(X, y).selected_))
    assert np.count_nonzero(result) <= 2, result
