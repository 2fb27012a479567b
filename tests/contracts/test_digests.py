"""What digests of results tell apart, and what they do not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.contracts.digests import digest, head
from tests.contracts.pins import computed, difference
from tests.contracts.registry import Case

SAME = [
    (0.1 + 0.2, 0.3),
    (0.0, -0.0),
    (1e-13, 0.0),
    (float("nan"), np.float32("nan")),
    (np.uint8(3), 3),
    (np.array([1, 2], np.uint16), np.array([1, 2], np.int64)),
    ({"a": 1, "b": 2.0}, {"b": 2.0, "a": 1}),
    ([1, "x", None], (1, "x", None)),
    (np.array(["a"]), np.array(["a"], object)),
]
DIFFERENT = [
    (1.0, 1.0 + 1e-8),
    (1, 1.0),
    (True, 1),
    ("1", 1),
    (float("inf"), -float("inf")),
    (float("nan"), None),
    ([1, 2], [2, 1]),
    ([[1], [2]], [[1, 2]]),
    (np.zeros((2, 3)), np.zeros((3, 2))),
    (["ab", "c"], ["a", "bc"]),
    ({"a": 1}, {"b": 1}),
]


def test_digests_are_equal_where_numbers_are():
    assert [pair for pair in SAME if digest(pair[0]) != digest(pair[1])] == []
    assert [pair for pair in DIFFERENT if digest(pair[0]) == digest(pair[1])] == []


def test_results_are_taken_apart_by_their_case():
    with pytest.raises(TypeError, match="a case must return numbers"):
        digest([1, object()])


def test_heads_are_the_first_numbers_or_texts():
    assert head((["a"], np.array([[1.23456789, 2.0]]), {"x": 3}, 4)) == [1.23457, 2.0, 3]
    assert head(["a", "b"]) == ["a", "b"]
    assert json.loads(json.dumps(head([float("nan"), float("inf"), 1e-20]))) == ["nan", "inf", 0.0]


def test_differences_show_the_values_before_and_after():
    before, after = (Case("f/small", lambda value=value: [value, "x"]) for value in (1.5, 2.5))
    assert difference(before, computed(before)) is None
    message = difference(after, computed(before))
    assert "f/small: was" in message
    assert "[1.5], is" in message
    assert "[2.5]" in message
    assert "--pin f/small" in message
    assert "not pinned" in difference(after, None)
