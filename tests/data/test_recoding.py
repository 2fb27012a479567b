"""Columns of a table that are permuted, or copied as shadows, probes and knockoffs."""

import numpy as np
import pandas as pd
import pytest
from tests.grid import one_test

from duramen.data import encode
from duramen.data.recoding import with_permuted, with_probes, with_shadows

N = 300
ORDER = np.random.default_rng(1).permutation(N)


def mixed():
    """Columns of all kinds and widths of code, with missing values."""
    random = np.random.default_rng(0)
    grades = pd.Categorical(random.choice(["low", "high"], N), ["low", "high"], ordered=True)
    return pd.DataFrame(
        {
            "two": random.integers(0, 2, N),
            "many": random.normal(size=N),
            "holes": np.where(random.random(N) < 0.2, np.nan, random.integers(0, 9, N)),
            "word": pd.Categorical(random.choice(["b", "a", "c"], N)),
            "flat": np.ones(N),
            "grade": grades,
        }
    )


def assert_encoded(table, frame):
    """Check that a table is the frame, encoded; blocks may have their columns in another order."""
    again = encode(frame)
    assert table.names == again.names
    assert table.kinds == again.kinds
    np.testing.assert_array_equal(table.n_codes(), again.n_codes())
    np.testing.assert_array_equal(table.cut_values, again.cut_values)
    np.testing.assert_array_equal(table.missing, again.missing)
    for j in range(again.n_columns):
        np.testing.assert_array_equal(table.codes(j), again.codes(j))
        np.testing.assert_array_equal(table.values(j), again.values(j))
        assert table.codes(j).dtype == again.codes(j).dtype
    assert all(block.flags.c_contiguous for block in table.blocks)


def permuted(frame, j, order):
    return frame.iloc[order, j].reset_index(drop=True)


@one_test
@pytest.mark.parametrize("columns", [[0, 1], [3], [], [True, False, True, False, False, False]])
def test_permuted_columns_are_those_of_a_permuted_frame(columns):
    frame, table = mixed(), encode(mixed())
    for j in np.arange(6)[np.array(columns, dtype=bool if columns[:1] == [True] else int)]:
        frame.isetitem(j, permuted(frame, j, ORDER))
    result = with_permuted(table, columns, ORDER)
    assert result.fingerprint() == encode(frame).fingerprint()
    assert_encoded(result, frame)
    assert encode(mixed()).fingerprint() == table.fingerprint()


def test_shadows_are_permuted_copies_of_all_columns():
    frame, table = mixed(), encode(mixed())
    copies = frame.iloc[ORDER].reset_index(drop=True).add_suffix(" (shadow)")
    doubled = with_shadows(table, ORDER)
    assert_encoded(doubled, pd.concat([frame, copies], axis=1))
    pairs = zip(doubled.blocks, table.blocks, strict=True)
    assert not any(np.shares_memory(mine, theirs) for mine, theirs in pairs)
    assert encode(mixed()).fingerprint() == table.fingerprint()


def test_probes_are_copies_of_columns_with_orders_of_their_own():
    frame, random = mixed(), np.random.default_rng(1)
    columns = [3, 1, 2, 1, 5]
    orders = np.array([random.permutation(N) for _ in columns])
    longer = with_probes(encode(frame), columns, orders)
    for i, j in enumerate(columns):
        frame[f"{frame.columns[j]} (probe {i + 1})"] = permuted(frame, j, orders[i])
    assert_encoded(longer, frame)
    none = with_probes(encode(mixed()), [], np.empty((0, N), dtype=int))
    assert none.names == tuple(mixed().columns)


def test_names_of_copies_must_be_new():
    table = encode(np.arange(6.0).reshape(2, 3), names=["a", "a (shadow)", "a (probe 1)"])
    for call in (lambda: with_shadows(table, [1, 0]), lambda: with_probes(table, [0], [[1, 0]])):
        with pytest.raises(ValueError, match=r"column 'a \((shadow|probe 1)\)' occurs twice"):
            call()
