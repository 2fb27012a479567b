"""Fingerprints: the same for the same data, different for any other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.grid import one_test

from duramen import RandomForestClassifier, encode
from duramen.support.provenance import fingerprint


def test_known_fingerprint():
    # Written down once, on one machine: every other machine and build must agree.
    result = fingerprint(
        "duramen", np.arange(100, dtype=np.uint16), np.array(["a", 2], dtype=object)
    )
    assert result == "a3126175a66b3a14ccd87ce10bce7b30c65889dafb6d9dfc56113207e0d4238d"


@given(st.binary(min_size=1, max_size=300), st.data())
def test_a_changed_bit_changes_the_fingerprint(content, data):
    array = np.frombuffer(content, dtype=np.uint8)
    other = array.copy()
    place = data.draw(st.integers(0, len(array) - 1))
    other[place] ^= 1 << data.draw(st.integers(0, 7))
    assert fingerprint(array) != fingerprint(other)


@one_test
@pytest.mark.parametrize(
    "other",
    [
        [np.zeros(9)],
        [np.zeros((4, 2))],
        [np.zeros(8, dtype=np.int64)],
        [np.zeros(8), np.zeros(0)],
        [np.zeros(4), np.zeros(4)],
        [np.zeros(8), None],
        [np.full(8, -0.0)],
        ["0"],
    ],
)
def test_shape_type_and_number_of_parts_count(other):
    assert fingerprint(np.zeros(8)) != fingerprint(*other)


def test_fingerprint_of_a_forest_is_that_of_its_data():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(30, 4)), random.integers(0, 2, 30)

    def of(X, y, seed=0, **fit):
        return RandomForestClassifier(2, random_state=seed).fit(X, y, **fit).forest_.fingerprint

    base = of(X, y)
    assert base == of(encode(X), y, seed=1)
    assert base == of(X[::1].copy(order="F"), list(y))
    other_X, other_y = X.copy(), y.copy()
    other_X[3, 2] += 1
    other_y[5] ^= 1
    others = [of(other_X, y), of(X, other_y), of(X, y, sample_weight=np.arange(1.0, 31))]
    assert len({base, *others}) == 4
