"""Sparse columns: codes, forests, importances and predictions of the dense table, bit for bit."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from tests.faults.batches import READ
from tests.faults.sparse_columns import attempt, draw_target, same_forests, same_tables
from tests.grid import one_test

import duramen as dm
from duramen.data import EncodedTable, recoding
from duramen.data.encoded import SPARSE
from duramen.forests import GrowthSettings, grow
from duramen.forests.growth import Guidance, grow_beside_decoys


@pytest.mark.parametrize("part", range(4))
def test_same_forests_on_120_random_tables(part, tmp_path):
    outcomes = [attempt(number, tmp_path) for number in range(part, 120, 4)]
    assert outcomes.count(READ) > 20


@one_test
@pytest.mark.parametrize(
    ("name", "n_classes"),
    [
        ("ExtraTreesClassifier", 2),
        ("ExtraTreesClassifier", 3),
        ("ExtraTreesRegressor", 0),
        ("RandomForestClassifier", 2),
        ("RandomForestRegressor", 0),
    ],
)
@pytest.mark.parametrize(
    "options", [{}, {"max_leaf_nodes": 60}, {"max_features": 1}, {"min_samples_leaf": 20}]
)
def test_same_forests_with_subtrees_of_several_sizes(name, n_classes, options):
    # More rows than a subtree, columns in more than a word of a row, more codes than a byte.
    random = np.random.default_rng(5)
    held = random.random((2500, 70)) < random.uniform(0.0, 0.24, 70)
    X = np.where(held, random.poisson(2, held.shape), 0).astype(float)
    X[:, :5] = np.where(held[:, :5], random.normal(size=(2500, 5)), 0.0)
    y = draw_target(random, X, n_classes)
    table = dm.encode(sparse.csc_matrix(X))
    assert np.count_nonzero(table.block_of == SPARSE) == 70
    assert table.n_codes().max() > 256
    estimator = getattr(dm, name)(n_estimators=3, random_state=0, n_jobs=2, **options)
    forest, other = estimator.fit(table, y).forest_, estimator.fit(table.dense(), y).forest_
    same_forests(forest, other)


@one_test
@pytest.mark.parametrize("target", ["sparse", "two classes", "three classes", "continuous"])
@pytest.mark.parametrize(
    "options",
    [
        {"max_depth": 3},
        {"min_samples_leaf": 40, "bootstrap": False},
        {"max_leaf_nodes": 30, "max_features": None},
        {"stop_alpha": 0.01, "max_depth": 4},
    ],
)
def test_same_forests_from_entries_in_the_order_of_their_codes(target, options):
    # Columns of many codes, with ties, values on both sides of the most frequent one, and a column
    # whose most frequent value is stored; nodes from the root to a few rows.
    random = np.random.default_rng(6)
    n, p = 5000, 12
    held = random.random((n, p)) < random.uniform(0.06, 0.24, p)
    X = np.where(held, random.normal(size=(n, p)), 0.0)
    X[:, :4] = X[:, :4].round(2)
    X[:, 4:7] = np.abs(X[:, 4:7])
    X[:, 7] = np.where(held[:, 7], X[:, 7], 1.5)
    signal = X[:, 0] + X[:, 5] * X[:, 8]
    y = {
        "sparse": np.where(random.random(n) < 0.1, random.normal(size=n).round(2), signal.round(1)),
        "two classes": signal > 0.1,
        "three classes": np.digitize(signal, [0.0, 0.3]),
        "continuous": signal + random.normal(size=n),
    }[target]
    kind = dm.RandomForestRegressor if target in ("sparse", "continuous") else None
    table = dm.encode(sparse.csc_matrix(X))
    assert (table.block_of == SPARSE).all()
    assert table.n_codes().max() > 256
    estimator = (kind or dm.RandomForestClassifier)(5, random_state=0, n_jobs=2, **options)
    forest, other = estimator.fit(table, y).forest_, estimator.fit(table.dense(), y).forest_
    same_forests(forest, other)


def counts(n=400, p=9, seed=0):
    random = np.random.default_rng(seed)
    X = np.where(random.random((n, p)) < 0.12, random.poisson(3, (n, p)), 0).astype(float)
    X[:, 8] = random.normal(size=n)  # stays dense among the sparse ones
    return X, dm.encode(sparse.csc_matrix(X)), dm.encode(X)


def test_stores_of_sparse_matrices(tmp_path):
    X, table, _ = counts()
    store = dm.pack(sparse.csc_matrix(X), tmp_path / "s")
    assert store.as_table().block_of.tolist() == table.block_of.tolist()
    same_tables(store.as_table(), table)
    same_tables(store.take_columns([8, 3, 1]), table.take_columns([8, 3, 1]))
    assert store.take_columns([8, 3, 1]).block_of.tolist() == [1, SPARSE, SPARSE]
    assert store.take_columns([3], sparse=False).sparse is None
    again = dm.pack(store, tmp_path / "again").as_table()
    assert again.block_of.tolist() == table.block_of.tolist()
    dense = dm.pack(X, tmp_path / "d")
    assert dense.as_table().sparse is dense.take_columns([3]).sparse is None


def test_columns_of_many_entries():
    """Stay sparse beside those of few, and are dense where most columns have many."""
    random = np.random.default_rng(3)
    for of_others, sparse_ones in ((0.05, 21), (0.25, 19)):
        density = np.array([of_others] * 19 + [0.4, 0.6, 0.75])
        X = random.poisson(2, (400, 22)) + 1
        X *= random.random(X.shape) < density
        table, dense = dm.encode(sparse.csr_matrix(X)), dm.encode(X)
        assert table.block_of.tolist() == [SPARSE] * sparse_ones + [0] * (22 - sparse_ones)
        assert dense.with_sparse_columns().block_of.tolist() == table.block_of.tolist()
        same_tables(table, dense)
        y = (X[:, 19:].sum(axis=1) > 4).astype(int)
        for make in (dm.ExtraTreesClassifier, dm.RandomForestClassifier):
            forests = [make(5, random_state=0).fit(rows, y).forest_ for rows in (table, dense)]
            same_forests(*forests)


@one_test
@pytest.mark.parametrize("kinds", ["nominal", "ordinal", {0: "nominal", 8: "ordinal"}])
@pytest.mark.parametrize("dtype", [np.int64, np.float32, bool])
def test_categories(kinds, dtype):
    X = counts()[0].round().astype(dtype)
    table, dense = dm.encode(sparse.csr_array(X), kinds=kinds), dm.encode(X, kinds=kinds)
    assert table.sparse is not None
    same_tables(table, dense)
    assert all(np.array_equal(table.labels[j], dense.labels[j]) for j in dense.labels)
    large = sparse.csc_array(np.where(X == 0, 0, 2**60 + X.astype(np.int64)))
    if kinds == "nominal":  # whole numbers that float64 cannot hold
        same_tables(dm.encode(large, kinds=kinds), dm.encode(large.toarray(), kinds=kinds))


CHANGES = {
    "rows": lambda t: t.take_rows(np.arange(0, 390, 3)),
    "repeated rows": lambda t: t.take_rows(np.arange(800) % 400),
    "mask": lambda t: t.take_rows(np.arange(400) % 5 > 0),
    "columns": lambda t: t.take_columns([8, 3, 1]),
    "no sparse column": lambda t: t.take_columns([8]),
    "copies": lambda t: t.take(np.array([1, 1, 8, 0])),
    "permuted": lambda t: recoding.with_permuted(t, [2, 8], np.arange(400)[::-1]),
    "shadows": lambda t: recoding.with_shadows(t, np.roll(np.arange(400), 7)),
    "probes": lambda t: recoding.with_probes(t, [2, 8], [np.arange(400)[::-1]] * 2),
    "knockoffs": lambda t: recoding.with_knockoffs(t, [2, 8], [[5] * 400, [6] * 400]),
    "ordinal": lambda t: recoding.with_ordinal(t, {2: (np.arange(400) % 3, np.array([*"abc"]))}),
    "pickled": lambda t: pickle.loads(pickle.dumps(t)),
}


@one_test
@pytest.mark.parametrize("change", list(CHANGES))
def test_changed_tables(change):
    _, table, dense = counts()
    changed, expected = CHANGES[change](table), CHANGES[change](dense)
    assert isinstance(changed, EncodedTable)
    assert changed.names == expected.names
    assert changed.kinds == expected.kinds
    for j in range(expected.n_columns):
        np.testing.assert_array_equal(changed.codes(j), expected.codes(j))
    y = np.arange(changed.n_rows) % 3
    fits = [dm.ExtraTreesClassifier(3, random_state=1).fit(t, y) for t in (changed, expected)]
    if change not in ("copies", "no sparse column"):
        assert changed.sparse is not None
    same_forests(fits[0].forest_, fits[1].forest_)


@one_test
@pytest.mark.parametrize("kind", [dm.RandomSurvivalForest, dm.ExtraSurvivalTrees])
def test_survival(kind):
    X, table, dense = counts()
    random = np.random.default_rng(1)
    times = random.exponential(1 + X[:, 0]).round(1) + 0.1
    y = np.column_stack([times, random.random(400) < 0.7])
    fits = [kind(3, random_state=0, min_samples_leaf=9).fit(t, y) for t in (table, dense)]
    same_forests(fits[0].forest_, fits[1].forest_)


def test_decoys_and_guidance():
    X, table, dense = counts()
    random = np.random.default_rng(0)
    y = (X[:, 0] + X[:, 1] + X[:, 8] + random.normal(size=400) > 0.5).astype(int)
    cycle, judged = random.permutation(400).astype(np.uint32), np.arange(9) != 4
    for cut in ("best", "random"):
        settings = GrowthSettings(cut=cut, max_features=9)
        decoys = [
            grow_beside_decoys(
                dm.learning_set(t, y), settings, tree=2, seed=3, cycle=cycle, judged=judged
            )
            for t in (table, dense)
        ]
        same_forests(decoys[0][0], decoys[1][0])
        assert np.count_nonzero(decoys[0][1]) > 3
        assert decoys[0][1].tobytes() == decoys[1][1].tobytes()
        guided = [
            grow(
                dm.learning_set(t, y),
                replace(settings, max_features=3),
                n_trees=5,
                seed=3,
                guidance=Guidance(np.linspace(1, 2, 9)),
            )
            for t in (table, dense)
        ]
        same_forests(*guided)
