"""Values that must ascend within each column, against a plain loop."""

from itertools import pairwise

import numpy as np
import pytest
from tests.grid import one_test

from duramen.data.encoded import invalid_values, unknown_code


def wrong(values: np.ndarray, offsets: np.ndarray) -> bool:
    columns = [values[begin:end] for begin, end in pairwise(offsets.tolist())]
    return any(
        not np.isfinite(column).all() or (np.diff(column) <= 0).any()
        for column in columns
        if len(column)
    )


@pytest.mark.slow
def test_values_ascend() -> None:
    random = np.random.default_rng(0)
    counts = {True: 0, False: 0}
    for _ in range(2000):
        sizes = random.integers(0, 4, random.integers(1, 6))
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        values = np.concatenate([np.sort(random.normal(size=size)) for size in sizes])
        for _ in range(random.integers(0, 3)):
            if len(values):
                odd = [np.nan, np.inf, -np.inf, 0.0, 1.0, -1.0]
                values[random.integers(len(values))] = random.choice(odd)
        expected = wrong(values, offsets)
        counts[expected] += 1
        kinds = np.zeros(len(sizes), dtype=np.uint8)
        assert (invalid_values(kinds, offsets, values, {}) is not None) == expected
    assert min(counts.values()) > 200


@one_test
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32])
def test_codes_are_known(kind: type) -> None:
    random = np.random.default_rng(0)
    for _ in range(300):
        k, n = random.integers(1, 6, 2)
        n_codes = random.integers(1, 4, k) if random.random() < 0.5 else np.full(k, 2)
        codes = random.integers(0, 3, (k, n)).astype(kind)
        bad = np.flatnonzero((codes >= n_codes[:, np.newaxis]).any(axis=1))
        assert unknown_code(codes, n_codes) == (int(bad[0]) if len(bad) else None)
    assert unknown_code(np.empty((0, 5), dtype=kind), np.empty(0, dtype=np.int64)) is None
