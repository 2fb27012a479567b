"""Rows to be predicted are read in the terms of training, or refused as scikit-learn refuses."""

import warnings

import numpy as np
import pandas as pd
import pytest

from duramen.data import encode
from duramen.data.encoding import routing_values

FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]})


def test_other_types_become_float64_and_infinities_are_named() -> None:
    table = encode(FRAME)
    for dtype in (np.float32, np.int8, bool, object):
        routed = routing_values(table, np.eye(2).astype(dtype))
        assert routed.dtype == np.float64
        np.testing.assert_array_equal(routed, np.eye(2))
    with pytest.raises(ValueError, match="predict: column 'b' contains infinity"):
        routing_values(table, np.array([[1.0, 2.0], [3.0, -np.inf]]), function="predict")


def test_names_must_be_those_of_training() -> None:
    table, plain = encode(FRAME), encode(np.eye(3))
    start = "The feature names should match those that were passed during fit.\n"
    for X, message in (
        (FRAME.rename(columns={"b": "c"}), "Feature names unseen at fit time:\n- c\nFeat"),
        (FRAME[["b", "a"]], "Feature names must be in the same order"),
        (FRAME[["a"]], "Feature names seen at fit time, yet now missing"),
    ):
        with pytest.raises(ValueError, match=start + message):
            routing_values(table, X)
    with pytest.raises(ValueError, match="X has 2 features, but Forest is expecting 3 features as"):
        routing_values(plain, np.ones((4, 2)), estimator_name="Forest")
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        routing_values(plain, np.ones((0, 3)))


def test_names_on_one_side_only_are_warned_about() -> None:
    named, plain = encode(FRAME), encode(FRAME.to_numpy())
    with pytest.warns(UserWarning, match="X does not have valid feature names, but F was fitted w"):
        routing_values(named, FRAME.to_numpy(), estimator_name="F")
    with pytest.warns(UserWarning, match="X has feature names, but F was fitted without"):
        routing_values(plain, FRAME, estimator_name="F")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        routing_values(named, FRAME, estimator_name="F")
        routing_values(plain, FRAME.to_numpy(), estimator_name="F")


def test_unseen_and_missing_categories() -> None:
    table = encode(pd.DataFrame({"c": ["b", "a", "d"], "n": [1, 2, 3]}))
    new = pd.DataFrame({"c": ["d", None, "c", "a", "zz", ""], "n": [1, None, 9, 1, 1, 1]})
    routed = routing_values(table, new)
    np.testing.assert_array_equal(routed[:, 0], [2, np.nan, -1, 0, -1, -1])
    np.testing.assert_array_equal(routed[:, 1], [1, np.nan, 9, 1, 1, 1])
    other = encode(new)
    np.testing.assert_array_equal(routing_values(table, other), routed)


def test_a_column_that_changed_its_type() -> None:
    table = encode(pd.DataFrame({"c": ["b", "a"], "n": [1, 2]}))
    with pytest.raises(ValueError, match="column 'c' held strings when fitted, such as 'a', but"):
        routing_values(table, pd.DataFrame({"c": [1, 2], "n": [1, 2]}))
    rows = pd.DataFrame({"c": ["a"], "n": ["a"]})
    for new in (rows, encode(rows)):
        with pytest.raises(ValueError, match="'n' must hold numbers to be numeric, got strings"):
            routing_values(table, new)


def test_a_column_that_was_all_missing() -> None:
    table = encode(pd.DataFrame({"c": pd.Categorical([None, None]), "n": [1, 2]}))
    routed = routing_values(table, pd.DataFrame({"c": ["a", None], "n": [1, 2]}))
    np.testing.assert_array_equal(routed[:, 0], [-1, np.nan])
