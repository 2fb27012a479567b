"""Markov boundaries of tables, and FOCUS."""

import itertools

import numpy as np
import pytest

import duramen as dm
from duramen.theory.dependence import relevant_features as search
from duramen.theory.dependence.relevant_features import smallest_boundary


def test_the_smallest_consistent_set():
    """As exhaustive search over all sets of features finds it."""
    random = np.random.default_rng(2)
    X = random.integers(0, 2, size=(60, 6))
    y = (X[:, 1] & X[:, 4]) ^ X[:, 2]

    def consistent(columns):
        seen = {}
        rows = zip(X[:, columns].tolist(), y.tolist(), strict=True)
        return all(seen.setdefault(tuple(row), label) == label for row, label in rows)

    for size in range(7):
        sets = [
            boundary
            for boundary in itertools.combinations(range(6), size)
            if consistent(list(boundary))
        ]
        if sets:
            break
    model = dm.MarkovBoundary().fit(X, y)
    assert tuple(model.selected_.tolist()) == sets[0]
    smallest = [tuple(boundary.tolist()) for boundary in model.boundaries_ if len(boundary) == size]
    assert smallest == sets


def test_one_of_identical_columns_and_all_of_them():
    X = np.array(list(itertools.product([0, 1], repeat=3)))
    X = np.column_stack([X, X[:, 0]])
    y = X[:, 0] ^ X[:, 1]
    assert dm.MarkovBoundary().fit(X, y).selected_.tolist() == [0, 1]
    union = dm.MarkovBoundary(select="union").fit(X, y)
    assert union.selected_.tolist() == [0, 1, 3]
    assert union.history_["size"].tolist() == [2, 2]
    assert union.importances_.values.tolist() == [0.0] * 4


@pytest.mark.filterwarnings("ignore:No features were selected")
def test_independent_target():
    X = np.array(list(itertools.product([0, 1], repeat=2)) * 2)
    y = np.repeat(["a", "b"], 4)
    model = dm.MarkovBoundary().fit(X, y)
    assert model.selected_.tolist() == []
    assert model.transform(X).shape == (8, 0)


def test_focus_among_many_features(monkeypatch):
    """Thousands of other sets determine 200 rows; the two that make the class are the smallest."""
    random = np.random.default_rng(0)
    X = random.integers(0, 2, size=(200, 30))
    y = X[:, 3] ^ X[:, 11]
    monkeypatch.setattr(search, "MOST_SETS", 100)  # for speed
    model = dm.MarkovBoundary().fit(X, y)
    assert model.selected_.tolist() == [3, 11]
    assert [boundary.tolist() for boundary in model.boundaries_] == [[3, 11]]
    with pytest.raises(ValueError, match="too many Markov boundaries"):
        dm.MarkovBoundary(select="union").fit(X, y)


@pytest.mark.parametrize("seed", range(4))
def test_a_smallest_boundary_is_one_of_all(seed):
    random = np.random.default_rng(seed)
    for n in (6, 25, 60):
        X = random.integers(0, 3, size=(n, 6))
        for y in (random.integers(0, 2, n), (X[:, 1] & X[:, 4]) ^ X[:, 2], np.zeros(n)):
            dist = dm.theory.FiniteDistribution.from_table(X, y)
            boundaries = dm.theory.markov_boundaries(dist)
            result = smallest_boundary(dist)
            assert result in boundaries
            assert len(result) == len(boundaries[0])


def test_a_search_for_a_small_set_ends(monkeypatch):
    monkeypatch.setattr(search, "MOST_SETS", 10)
    monkeypatch.setattr(search, "MOST_STEPS", 10)
    random = np.random.default_rng(0)
    X, y = random.integers(0, 2, size=(100, 20)), random.integers(0, 2, 100)
    with pytest.raises(ValueError, match="10 steps did not find one"):
        dm.MarkovBoundary().fit(X, y)
