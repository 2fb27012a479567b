import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duramen.tables import encode, memory
from duramen.tables.shadows import with_shadows


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


@pytest.mark.parametrize("order", [[0, 1], [0, 0, 1], [0, 1, 3], [0.0, 1.0, 2.0], [[0, 1, 2]]])
def test_order_must_be_a_permutation(order):
    table = encode(np.arange(6.0).reshape(3, 2))
    with pytest.raises(ValueError, match=r"air: order must be a permutation of 0 to 2.*Hint"):
        with_shadows(table, order, function="air")


def test_what_does_not_fit_is_refused(monkeypatch):
    table = encode(np.arange(600.0).reshape(300, 2))
    monkeypatch.setattr(memory, "available_bytes", lambda: 100)
    with pytest.raises(MemoryError, match="air: a table of 2 columns and as many shadows needs"):
        with_shadows(table, np.arange(300), function="air")
