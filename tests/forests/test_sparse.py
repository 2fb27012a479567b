"""Sparse columns: the codes, forests, importances and predictions of the dense table, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from tests.faults.problems import draw_estimator, draw_weights
from tests.grid import one_test

import duramen as dm
from duramen.data.encoded import EncodedTable
from duramen.data.sparse_columns import SPARSE
from duramen.forests import GrowthSettings, grow
from duramen.forests.arrays import ARRAY_NAMES
from duramen.forests.growth import Guidance, grow_beside_decoys

REASONS = ("weight", "max_features", "min_samples", "splits", "stop_", "n_best", "leaf")


def draw_table(random, n, p):
    """A dense matrix, and the same as a sparse one that stores some zeros explicitly."""
    kind = random.choice(["counts", "reals", "signed", "many values", "missing", "truth"])
    density = random.uniform(0.0, 0.45, p)
    held = random.random((n, p)) < density
    values = {
        "counts": lambda: random.poisson(2, (n, p)).astype(np.float32),
        "reals": lambda: random.normal(size=(n, p)).round(1),
        "signed": lambda: random.integers(-3, 4, (n, p)).astype(np.int16),
        "many values": lambda: random.normal(size=(n, p)),
        "missing": lambda: random.choice([np.nan, 0.0, 1.5, 2.5], (n, p)),
        "truth": lambda: random.random((n, p)) < 0.7,
    }[kind]()
    X = np.where(held, values, np.zeros((), dtype=values.dtype))
    if kind == "reals":
        X[:, 0] = np.where(held[:, 0], X[:, 0], 1.0)  # the most frequent value is stored
        X[:, 1] = np.where(held[:, 1], 1.0 + 1e-9 * X[:, 1], 1.0)  # equal in single precision
    stored = held | (X != 0)  # NaN differs from 0
    rows, columns = np.nonzero(stored)
    matrix = sparse.coo_array((X[rows, columns], (rows, columns)), shape=(n, p))
    return X, matrix.asformat(str(random.choice(["csr", "csc", "coo"])))


def draw_target(random, X, n_classes):
    signal = np.nan_to_num(X[:, :3].astype(float)).sum(axis=1) + random.normal(size=len(X))
    if n_classes == 0:
        return signal.round(1)
    return np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)


def same_tables(table, dense):
    assert table.fingerprint() == dense.fingerprint() == table.dense().fingerprint()
    assert table.value_offsets.tobytes() == dense.value_offsets.tobytes()
    assert table.cut_values.tobytes() == dense.cut_values.tobytes()
    assert table.missing.tobytes() == dense.missing.tobytes()
    for j in range(table.n_columns):
        assert table.codes(j).dtype == dense.codes(j).dtype
        assert table.codes(j).tobytes() == dense.codes(j).tobytes(), j


def same_forests(forest, other):
    for name in ARRAY_NAMES:
        assert getattr(forest, name).tobytes() == getattr(other, name).tobytes(), name


@pytest.mark.parametrize("part", range(4))
def test_same_forests_on_200_random_tables(part):
    n_sparse = n_grown = 0
    for number in range(part, 200, 4):
        random = np.random.default_rng(number)
        n, p = int(random.integers(257, 500)), int(random.integers(3, 14))
        X, matrix = draw_table(random, n, p)
        n_classes = int(random.choice([0, 2, 3, 5]))
        y = draw_target(random, X, n_classes)
        table, dense = dm.encode(matrix), dm.encode(X)
        same_tables(table, dense)
        n_sparse += np.count_nonzero(table.block_of == SPARSE)
        weights = draw_weights(random, n)
        estimator = draw_estimator(random, n_classes, y.tolist(), n_trees=3)
        fits = []
        for given in (table, dense):
            try:
                fits.append(estimator.set_params(n_jobs=None).fit(given, y, sample_weight=weights))
            except ValueError as error:
                fits.append(str(error))
            estimator = type(estimator)(**estimator.get_params())
        if isinstance(fits[0], str):
            assert fits[0] == fits[1]
            continue
        forest, other = fits
        same_forests(forest.forest_, other.forest_)
        n_grown += 1
        assert forest.predict(matrix).tobytes() == other.predict(X).tobytes()
        if hasattr(other, "oob_score_"):
            np.testing.assert_array_equal(forest.oob_score_, other.oob_score_)
        importances = [
            dm.importances.mdi(fit, given, y) for fit, given in ((forest, table), (other, dense))
        ]
        assert importances[0].values.tobytes() == importances[1].values.tobytes()
    assert n_sparse > 100
    assert n_grown > 35
