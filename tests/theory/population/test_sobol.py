"""Total Sobol indices against enumeration and closed forms."""

from collections import defaultdict

import numpy as np
import pytest

import duramen as dm
from duramen.theory import FiniteDistribution, total_sobol_indices


def residual(rows, features):
    """E Var(Y | features) by enumeration of rows (x, y, weight)."""
    cells = defaultdict(list)
    for x, y, w in rows:
        cells[tuple(x[j] for j in features)].append((y, w))
    total = 0.0
    for cell in cells.values():
        mass = sum(w for _, w in cell)
        mean = sum(w * y for y, w in cell) / mass
        total += sum(w * (y - mean) ** 2 for y, w in cell)
    return total


def random_rows(seed):
    random = np.random.default_rng(seed)
    X = random.integers(0, 3, (12, 3))
    y = random.integers(0, 4, 12).astype(float)
    w = random.random(12)
    return X, y, w / w.sum()


@pytest.mark.parametrize("seed", range(5))
def test_against_enumeration(seed):
    X, y, w = random_rows(seed)
    dist = FiniteDistribution.from_table(X, y, weights=w)
    rows = list(zip(X.tolist(), y.tolist(), w.tolist(), strict=True))
    variance, least = residual(rows, ()), residual(rows, (0, 1, 2))
    groups = {"0": [0], "1": [1], "2": [2], "0 and 1": [0, 1], "all": [0, 1, 2]}
    actual = total_sobol_indices(dist, feature_groups=groups)
    for group, value in zip(groups.values(), actual.values, strict=True):
        rest = [j for j in range(3) if j not in group]
        assert value == pytest.approx((residual(rows, rest) - least) / variance, abs=1e-12)
    singles = total_sobol_indices(dist)
    np.testing.assert_array_equal(singles.values, actual.values[:3])


def test_classes_add_up_the_variances_of_their_indicators():
    X, y, w = random_rows(7)
    dist = FiniteDistribution.from_table(X, [f"c{int(v)}" for v in y], weights=w)
    rest, every, none = 0.0, 0.0, 0.0
    for label in np.unique(y):
        rows = list(zip(X.tolist(), (y == label).tolist(), w.tolist(), strict=True))
        rest += residual(rows, (1, 2))
        every += residual(rows, (0, 1, 2))
        none += residual(rows, ())
    actual = total_sobol_indices(dist, criterion="gini")
    assert actual.values[0] == pytest.approx((rest - every) / none, abs=1e-12)


def test_copies_have_nothing_and_a_constant_target_too():
    copies = FiniteDistribution.from_table([[0, 0], [1, 1]], [0.0, 1.0])
    assert total_sobol_indices(copies).values.tolist() == [0.0, 0.0]
    assert total_sobol_indices(copies, feature_groups={"both": [0, 1]}).values.tolist() == [1.0]
    constant = FiniteDistribution.from_table([[0, 0], [1, 1]], [1.0, 1.0])
    assert total_sobol_indices(constant).values.tolist() == [0.0, 0.0]


def test_what_is_refused():
    words = FiniteDistribution.from_table([[0], [1]], ["a", "b"])
    with pytest.raises(ValueError, match="numeric"):
        total_sobol_indices(words)
    with pytest.raises(ValueError, match="criterion must be"):
        total_sobol_indices(words, criterion="entropy")
    with pytest.raises(TypeError):
        total_sobol_indices([[0]])
    assert dm.theory.total_sobol_indices is total_sobol_indices
