"""Markov boundaries of tables, and FOCUS."""

import itertools

import numpy as np
import pytest

import duramen as dm


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
        sets = [one for one in itertools.combinations(range(6), size) if consistent(list(one))]
        if sets:
            break
    model = dm.MarkovBoundary().fit(X, y)
    assert tuple(model.selected_.tolist()) == sets[0]
    smallest = [tuple(one.tolist()) for one in model.boundaries_ if len(one) == size]
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


def test_refusals():
    with pytest.raises(ValueError, match="MarkovBoundary: select must be one of"):
        dm.MarkovBoundary(select="none").fit([[0], [1]], ["a", "b"])
