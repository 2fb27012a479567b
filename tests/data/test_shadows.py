import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.grid import one_test

from duramen.data import encode
from duramen.data.recoding import with_probes, with_shadows


def mixed(n=300):
    """Columns of all kinds and widths of code, with missing values."""
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "two": random.integers(0, 2, n),
            "many": random.normal(size=n),
            "holes": np.where(random.random(n) < 0.2, np.nan, random.integers(0, 9, n)),
            "word": pd.Categorical(random.choice(["b", "a", "c"], n)),
            "flat": np.ones(n),
            "grade": pd.Categorical(
                random.choice(["low", "high"], n), categories=["low", "high"], ordered=True
            ),
        }
    )


def test_shadow_is_its_column_with_rows_permuted():
    table = encode(mixed())
    order = np.random.default_rng(1).permutation(table.n_rows)
    doubled = with_shadows(table, order)
    assert doubled.shape == (300, 12)
    assert doubled.kinds == table.kinds * 2
    for j in range(6):
        np.testing.assert_array_equal(doubled.codes(j), table.codes(j))
        np.testing.assert_array_equal(doubled.codes(6 + j), table.codes(j)[order])
        assert doubled.codes(6 + j).dtype == table.codes(j).dtype
        np.testing.assert_array_equal(doubled.values(6 + j), table.values(j))
    np.testing.assert_array_equal(doubled.missing[6:], table.missing)


def test_it_is_the_table_that_encoding_side_by_side_would_give():
    frame = mixed()
    order = np.random.default_rng(1).permutation(len(frame))
    shadow = frame.iloc[order].reset_index(drop=True)
    shadow.columns = [f"{name} (shadow)" for name in frame.columns]
    doubled = with_shadows(encode(frame), order)
    again = encode(pd.concat([frame, shadow], axis=1))
    assert doubled.names == again.names
    np.testing.assert_array_equal(doubled.n_codes(), again.n_codes())
    np.testing.assert_array_equal(doubled.cut_values, again.cut_values)
    for j in range(12):
        np.testing.assert_array_equal(doubled.codes(j), again.codes(j))


def test_blocks_stay_contiguous_and_the_table_unchanged():
    table = encode(mixed())
    before = table.fingerprint()
    doubled = with_shadows(table, np.arange(table.n_rows)[::-1])
    assert all(block.flags.c_contiguous for block in doubled.blocks)
    assert not any(
        np.shares_memory(mine, theirs)
        for mine, theirs in zip(doubled.blocks, table.blocks, strict=True)
    )
    assert encode(mixed()).fingerprint() == before == table.fingerprint()


def test_names_stay_different():
    X = np.arange(6.0).reshape(2, 3)
    table = encode(X, names=["a", "a (shadow)", "a (shadow) (shadow)"])
    doubled = with_shadows(table, [1, 0])
    assert len(set(doubled.names)) == 6
    assert doubled.names[3:] == tuple(f"{name} (shadow)'" for name in table.names)
    assert with_shadows(encode(X), [1, 0]).names[3:] == tuple(f"x{j} (shadow)" for j in range(3))


@given(n=st.integers(1, 40), p=st.integers(1, 6), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_columns_can_be_taken_apart_again(n, p, seed):
    random = np.random.default_rng(seed)
    table = encode(random.integers(0, 5, (n, p)))
    order = random.permutation(n)
    doubled = with_shadows(table, order)
    same = doubled.take_columns(np.arange(p))
    np.testing.assert_array_equal(same.blocks[0], table.blocks[0])
    np.testing.assert_array_equal(same.cut_values, table.cut_values)
    back = doubled.take_rows(np.argsort(order))
    for j in range(p):
        np.testing.assert_array_equal(back.codes(p + j), table.codes(j))


@one_test
@pytest.mark.parametrize("order", [[0, 1], [0, 0, 1], [0, 1, 3], [0.0, 1.0, 2.0], [[0, 1, 2]]])
def test_order_must_be_a_permutation(order):
    table = encode(np.arange(6.0).reshape(3, 2))
    with pytest.raises(ValueError, match=r"air: order must be a permutation of 0 to 2.*Hint"):
        with_shadows(table, order, function="air")


def test_what_does_not_fit_is_refused(leave_memory):
    table = encode(np.arange(600.0).reshape(300, 2))
    leave_memory(100)
    with pytest.raises(MemoryError, match="air: a table of 2 columns and as many shadows needs"):
        with_shadows(table, np.arange(300), function="air")


# --- probes --------------------------------------------------------------------------------------


def test_probes_are_columns_with_orders_of_their_own():
    frame = mixed()
    table = encode(frame)
    random = np.random.default_rng(1)
    columns = np.array([3, 1, 2, 1, 5])
    orders = np.array([random.permutation(300) for _ in columns])
    longer = with_probes(table, columns, orders)
    assert longer.shape == (300, 11)
    assert longer.names[6:] == (
        "word (probe 1)",
        "many (probe 2)",
        "holes (probe 3)",
        "many (probe 4)",
        "grade (probe 5)",
    )
    for j in range(6):
        np.testing.assert_array_equal(longer.codes(j), table.codes(j))
    for i, j in enumerate(columns):
        np.testing.assert_array_equal(longer.codes(6 + i), table.codes(j)[orders[i]])
        np.testing.assert_array_equal(longer.values(6 + i), table.values(j))
        assert longer.kinds[6 + i] == table.kinds[j]
        assert longer.missing[6 + i] == table.missing[j]
    names = dict(zip(longer.names, range(11), strict=True))
    side = frame.copy()
    for i, j in enumerate(columns):
        side[longer.names[6 + i]] = frame.iloc[orders[i], j].array
    again = encode(side)
    assert list(names) == list(again.names)
    for j in range(11):
        np.testing.assert_array_equal(longer.codes(j), again.codes(j))
    np.testing.assert_array_equal(longer.cut_values, again.cut_values)


def test_no_probe_and_every_column_once_are_the_given_table_and_shadows():
    table = encode(mixed())
    none = with_probes(table, [], np.empty((0, 300), dtype=int))
    assert none.names == table.names
    order = np.random.default_rng(0).permutation(300)
    probes = with_probes(table, np.arange(6), np.tile(order, (6, 1)))
    shadows = with_shadows(table, order)
    for j in range(12):
        np.testing.assert_array_equal(probes.codes(j), shadows.codes(j))
    assert encode(mixed()).fingerprint() == table.fingerprint()


def test_names_of_probes_stay_different():
    table = encode(np.arange(6.0).reshape(2, 3), names=["a", "a (probe 1)", "b"])
    longer = with_probes(table, [0, 0], [[1, 0], [0, 1]])
    assert longer.names[3:] == ("a (probe 1)'", "a (probe 2)'")


def test_wrong_probes_are_refused():
    table = encode(np.arange(6.0).reshape(3, 2))
    with pytest.raises(IndexError, match=r"one_probe: a column lies outside 0\.\.1"):
        with_probes(table, [2], [[0, 1, 2]], function="one_probe")
    with pytest.raises(ValueError, match="2 columns need one order each, got 1"):
        with_probes(table, [0, 1], [[0, 1, 2]])
    with pytest.raises(ValueError, match="with_probes: order must be a permutation of 0 to 2"):
        with_probes(table, [0], [[0, 1, 1]])
