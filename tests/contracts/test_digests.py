"""Differences between results that digests detect or ignore."""

from __future__ import annotations

import numpy as np
from tests.contracts.digests import digest

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
