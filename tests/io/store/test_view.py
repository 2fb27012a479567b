"""A store without some columns, or with more of them, is the table of these columns."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.io.store.stores import assert_same, genotypes, write_bed

from duramen import pack
from duramen.data import encode
from duramen.data.recoding import joined
from duramen.io import open_store
from duramen.io.store.column_store import with_columns, without


def mixed(n=40, p=23):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({f"g{j}": rng.integers(0, 2 + 30 * (j % 3), n) for j in range(p)})
    frame["word"] = rng.choice(["u", "v", None], n)
    frame["wide"] = rng.normal(size=n)
    return frame


def test_columns_that_are_left_out(tmp_path):
    store = pack(mixed(), tmp_path / "s")
    prints = {store.fingerprint()}
    for left_out in ([0], [24], [5, 6, 7], [23, 0, 11, 0], [-1]):
        view = without(store, np.array(left_out))
        others = np.delete(np.arange(25), left_out)
        assert_same(view, encode(mixed()).take_columns(others))
        assert [view.find(name) for name in view.names] == list(range(len(others)))
        assert view.to_table().equals(store.to_table().take(others))
        with pytest.raises(KeyError, match="has no column"):
            view.find(store.names[left_out[0]])
        prints.add(view.fingerprint())
    assert len(prints) == 5  # two of the views are the same
    twice = without(without(store, [2, 5]), [0, 2, 22])
    assert twice.names == tuple(n for i, n in enumerate(store.names) if i not in (0, 2, 3, 5, 24))
    again = pickle.loads(pickle.dumps(twice))
    assert again.fingerprint() == twice.fingerprint()
    assert again.take_columns([0, 19]).fingerprint() == twice.take_columns([0, 19]).fingerprint()
    with pytest.raises(ValueError, match="without: all 25 columns of s are left out"):
        without(store, np.arange(25))
    with pytest.raises(IndexError, match=r"without: an index lies outside 0\.\.24"):
        without(store, [25])


def test_two_tables_side_by_side():
    left = {"a": [1.5, 2.5, None], "b": ["u", "v", "u"]}
    right = {"c": list(range(3)), "d": ["x", None, "y"], "e": np.linspace(0, 1, 3)}
    tables = [encode(pa.table(columns)) for columns in (left, right)]
    both = joined(*tables, "test")
    assert both.fingerprint() == encode(pa.table({**left, **right})).fingerprint()
    with pytest.raises(ValueError, match="column 'a' occurs twice"):
        joined(tables[0], tables[0], "test")
    with pytest.raises(ValueError, match="the same number of rows, got 3 and 1"):
        joined(tables[0], encode(pa.table({"z": [1]})), "test")


def test_columns_beside_those_of_a_store(tmp_path):
    store = open_store(write_bed(tmp_path / "x.bed", genotypes(20, 6)))
    random = np.random.default_rng(0)
    more = encode(pa.table({"age": random.normal(size=20), "sex": ["f", "m"] * 10}))
    wide = without(with_columns(store, more), [2])
    assert wide.names == ("rs0", "rs1", "rs3", "rs4", "rs5", "age", "sex")
    assert wide.kinds[-2:] == ("numeric", "nominal")
    assert wide.samples.equals(store.samples)
    whole = joined(without(store, [2]).as_table(), more, "test")
    assert wide.as_table().fingerprint() == whole.fingerprint()
    for index in ([5], [6, 0], [3, 6, 1, 5], [4, 0]):
        assert wide.take_columns(index).fingerprint() == whole.take_columns(index).fingerprint()
    assert (wide.find("sex"), wide.find("rs3")) == (6, 2)
    assert wide.variants["position"].to_pylist() == [1, 2, 4, 5, 6, None, None]
    assert wide.n_codes().tolist() == whole.n_codes().tolist()
    again = pickle.loads(pickle.dumps(wide))
    assert again.fingerprint() == wide.fingerprint() != without(store, [2]).fingerprint()
    with pytest.raises(ValueError, match="has a column 'rs0' already"):
        with_columns(store, encode(pa.table({"rs0": [1.0] * 20})))
