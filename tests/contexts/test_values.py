"""Accepted and refused contexts, and learning sets with a context."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.contexts.trees import random_trees
from tests.grid import one_test

import duramen as dm
from duramen.contexts.inputs import read_context, split_off
from duramen.data import encode

SETTINGS = {"n_permutations": 3, "random_state": 0}
CODES = np.arange(30) % 2


def learning_set():
    random = np.random.default_rng(0)
    return random.integers(0, 2, (30, 3)).astype(str), random.integers(0, 2, 30)


def analyze(context=CODES, **changes):
    X, y = learning_set()
    y = changes.pop("y", y)
    trees = random_trees(3, "regression" if np.asarray(y).dtype.kind == "f" else "classification")
    options = {"X": X, "y": y, "context": context, "estimator": trees} | SETTINGS | changes
    return dm.contexts.context_importances(**options)


def read(options, n_bins=3):
    return read_context(options, len(options), n_bins, "test")


# --- one context ---------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("options", "labels"),
    [
        (CODES, ("0", "1")),
        (CODES == 1, ("False", "True")),
        (np.where(CODES, "treated", "control"), ("control", "treated")),
        (np.array(["10", "9", "8", "7", "6"] * 6), ("10", "6", "7", "8", "9")),
        (CODES + 0.5, ("0.5", "1.5")),
        (pd.Categorical(np.where(CODES, "hi", "lo")), ("hi", "lo")),
        (np.datetime64("2020-01-01") + CODES, ("2020-01-01", "2020-01-02")),
        (pd.Series(CODES), ("0", "1")),
        (pl.Series(CODES), ("0", "1")),
        (pa.array(CODES), ("0", "1")),
        (CODES.reshape(-1, 1), ("0", "1")),
    ],
)
def test_categories(options, labels):
    context = read(options)
    assert context.cuts is None
    assert context.name == "Xc"
    assert context.count == len(context.labels)
    assert context.codes.dtype == np.uint32
    assert context.fractions.sum() == pytest.approx(1)
    assert context.labels == labels
    values = [str(v) for v in np.ravel(np.asarray(options))]
    assert [context.labels[code] for code in context.codes] == values


@one_test
@pytest.mark.parametrize("kind", [float, int, object])
def test_numbers_in_quantile_bins(kind):
    numbers = np.random.default_rng(0).permutation(40).astype(kind)
    context = read(numbers, 4)
    assert context.count == 4
    assert np.bincount(context.codes).tolist() == [10] * 4
    assert len(context.cuts) == 3
    wanted = np.searchsorted(context.cuts, numbers.astype(float))
    assert context.codes.tolist() == wanted.tolist()
    assert context.labels[0].startswith("<= ")
    assert context.labels[3].startswith("> ")


def test_numbers_with_many_ties():
    half = read(np.r_[np.zeros(50), np.arange(1, 51)])
    assert half.count == 3
    assert half.codes[:50].tolist() == [0] * 50
    most = read(np.r_[np.zeros(95), np.arange(1.0, 6)])
    assert most.labels == ("<= 0", "> 0")
    assert (most.fractions > 0).all()


# --- columns of the table ------------------------------------------------------------------------


def table():
    random = np.random.default_rng(3)
    X, _ = learning_set()
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(
        sex=np.where(CODES, "male", "female"),
        grade=np.arange(30) % 5,
        code=np.array(["10", "9", "8", "7", "6"] * 6),
        age=random.normal(size=30),
    )


@one_test
@pytest.mark.parametrize("column", ["sex", "grade", "code", "age"])
def test_a_column_is_read_as_its_values_are(column):
    """Whole numbers stay categories, and text stays text, whatever it looks like."""
    frame = table()
    _, context = split_off(encode(frame), column, 3, "test")
    apart = read_context(frame[column], 30, 3, "test")
    assert context.name == column
    assert context.labels == apart.labels
    assert context.codes.tolist() == apart.codes.tolist()
    assert context.cuts == apart.cuts


# --- the learning set ----------------------------------------------------------------------------


def test_splits_go_by_the_columns():
    numbers = np.random.default_rng(0).normal(size=(30, 2))
    splits = {
        "ordered": analyze(X=numbers),
        "multiway": analyze(X=numbers.round()),
    }
    for family, result in splits.items():
        assert result.metadata["forest"]["splits"] == family
    few = analyze(X=numbers, n_bins=3)
    assert few.metadata["forest"]["splits"] == "multiway"
    by_hand = np.column_stack(
        [np.searchsorted(np.quantile(x, [1 / 3, 2 / 3]), x) for x in numbers.T]
    ).astype(str)
    np.testing.assert_allclose(few.absolute, analyze(X=by_hand).absolute, rtol=0, atol=1e-12)


def test_missing_inputs_are_a_value_of_their_own():
    X, _ = learning_set()
    holes = X.astype(object)
    holes[::4, 0] = None
    named = holes.copy()
    named[::4, 0] = "nothing"
    result, wanted = analyze(X=holes), analyze(X=named)
    np.testing.assert_allclose(result.absolute, wanted.absolute, rtol=0, atol=1e-12)


def test_a_context_of_one_row_and_of_one_class():
    _, y = learning_set()
    rare = np.where(np.arange(30) == 4, "rare", "rest")
    result = analyze(rare, plain="p_values")
    assert result.conditional[0].tolist() == [0, 0, 0]
    assert result.within[0].tolist() == [0, 0, 0]
    pure = analyze(y)
    assert pure.within.max() == 0
    assert pure.conditional.max() == 0


# --- what is refused -----------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"context": np.array(["a", None] * 15, dtype=object)},
            r"context is missing at row 1; .*Hint",
        ),
        ({"context": np.r_[0.5, np.nan, np.arange(28.0)]}, "context is missing at row 1"),
        ({"context": np.zeros(30)}, r"context must have at least two values, got only 0\.0"),
        ({"context": ["x"]}, "context 'x' is not a column of X"),
        ({"context": CODES[:-1]}, "context must have one value per row of X, got 29 values for 30"),
        ({"context": np.zeros((30, 2))}, r"context must have one value per row, got .* \(30, 2\)"),
        ({"context": ["a", "b"] * 15}, "give the values of a context as an array"),
        ({"context": {}}, "context must be a single context, got 0"),
        ({"context": np.r_[np.inf, np.arange(29.0)]}, "context must be finite"),
        ({"context": "x0", "X": np.eye(30)[:, :1]}, "X must have a column besides the context"),
        ({"empty": "drop"}, ": empty must be one of 'skip', 'zero', got 'drop'"),
        (
            {"plain": "p_values", "n_permutations": 0},
            "plain='p_values' needs n_permutations of at least 1, got 0",
        ),
    ],
)
def test_what_is_refused(changes, message):
    with pytest.raises(ValueError, match=message) as caught:
        analyze(**changes)
    assert "context_importances" in str(caught.value)


@one_test
@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (
            dm.ExtraTreesClassifier(splits="any"),
            "splits of estimator must be one of 'auto', 'multiway', 'ordered', got 'any'",
        ),
        (
            dm.RandomForestClassifier(max_samples=9),
            "max_samples of estimator has no effect",
        ),
        (dm.ExtraTreesClassifier(max_leaf_nodes=4), "max_leaf_nodes of estimator has no effect"),
    ],
)
def test_estimators_that_are_refused(estimator, message):
    with pytest.raises(ValueError, match=message):
        analyze(estimator=estimator)
