import numpy as np
import pandas as pd
import pytest
from tests.grid import one_test

from duramen.data import encode
from duramen.data.recoding import with_permuted


def mixed(n=300):
    """Columns of both narrow and wide codes, with missing values and labels."""
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "two": random.integers(0, 2, n),
            "many": random.normal(size=n),
            "holes": np.where(random.random(n) < 0.2, np.nan, random.integers(0, 9, n)),
            "word": pd.Categorical(random.choice(["b", "a", "c"], n)),
        }
    )


@one_test
@pytest.mark.parametrize("columns", [[0, 1], [3], [], [True, False, True, False]])
def test_it_is_the_table_that_encoding_permuted_columns_gives(columns):
    frame = mixed()
    order = np.random.default_rng(1).permutation(len(frame))
    chosen = np.arange(4)[np.array(columns, dtype=bool if columns[:1] == [True] else int)]
    other = frame.copy()
    for j in chosen:
        other.isetitem(j, frame.iloc[order, j].reset_index(drop=True))
    permuted = with_permuted(encode(frame), columns, order)
    assert permuted.fingerprint() == encode(other).fingerprint()
    assert all(block.flags.c_contiguous for block in permuted.blocks)


def test_the_table_is_left_alone_and_what_stays_is_shared():
    table = encode(mixed())
    before = encode(mixed()).fingerprint()
    permuted = with_permuted(table, [1], np.arange(300)[::-1])
    assert table.fingerprint() == before != permuted.fingerprint()
    assert permuted.blocks[0] is table.blocks[0]


def test_all_columns_permuted_are_the_rows_permuted():
    table = encode(mixed())
    order = np.random.default_rng(2).permutation(300)
    permuted = with_permuted(table, np.arange(4), order)
    assert permuted.fingerprint() == table.take_rows(order).fingerprint()


def test_columns_and_order_are_checked():
    table = encode(mixed())
    with pytest.raises(ValueError, match="cer: order must be a permutation of 0 to 299"):
        with_permuted(table, [0], np.zeros(300, dtype=int), function="cer")
    with pytest.raises(ValueError, match="order must be a permutation"):
        with_permuted(table, [0], np.arange(300.0))
    with pytest.raises(IndexError, match="outside"):
        with_permuted(table, [4], np.arange(300))
