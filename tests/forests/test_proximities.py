import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from tests.grid import one_test

import duramen as dm
from duramen.forests import classical_scaling, outlier_measure


def proximities(n=40, seed=0, trees=100):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    y = (X[:, 0] > 0).astype(int)
    forest = dm.RandomForestClassifier(trees, random_state=0).fit(X, y)
    return forest.proximity(X), X, y


def test_all_coordinates_give_the_distances_back():
    fractions, _, _ = proximities()
    places = classical_scaling(fractions, n_components=40)
    np.testing.assert_allclose(squareform(pdist(places)) ** 2, 1 - fractions, atol=1e-7)
    np.testing.assert_allclose(places.mean(axis=0), 0, atol=1e-9)
    spread = (places**2).sum(axis=0)
    assert (np.diff(spread) <= 1e-9).all()


def test_outlier_measure_against_its_definition():
    fractions, _, y = proximities(trees=500)
    actual = outlier_measure(fractions, y)
    for label in (0, 1):
        rows = [i for i in range(40) if y[i] == label]
        raw = [40 / sum(fractions[i, j] ** 2 for j in rows if j != i) for i in rows]
        middle = np.median(raw)
        spread = np.mean([abs(r - middle) for r in raw])
        expected = [(r - middle) / spread for r in raw]
        np.testing.assert_allclose(actual[rows], expected, rtol=1e-9)


def test_classes_of_one_row_and_of_equal_rows_have_no_outliers():
    fractions = np.eye(5)
    fractions[1:4, 1:4] = 1
    assert outlier_measure(fractions, [0, 1, 1, 1, 2]).tolist() == [0, 0, 0, 0, 0]
    alone = outlier_measure(fractions, [1, 1, 1, 1, 2])
    assert alone.tolist() == [np.inf, 0, 0, 0, 0]


@one_test
@pytest.mark.parametrize("function", [classical_scaling, lambda s: outlier_measure(s, [0, 1, 0])])
@pytest.mark.parametrize(
    ("fractions", "message"),
    [
        (np.eye(3)[:2], "shape"),
        (np.full((3, 3), np.nan), "hold NaN"),
        (np.arange(9.0).reshape(3, 3), "symmetric"),
        (np.zeros((3, 3)), "1 on its diagonal"),
    ],
)
def test_what_are_no_proximities_is_refused(function, fractions, message):
    with pytest.raises(ValueError, match=message):
        function(fractions)
