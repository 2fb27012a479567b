"""Columns of two tables side by side, in memory and as a view of a store."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from tests.io.store.stores import genotypes, write_bed

from duramen.data import encode
from duramen.data.recoding import joined
from duramen.io import open_store
from duramen.io.store.column_store import with_columns, without

LEFT = {"a": [1.5, 2.5, None], "b": ["u", "v", "u"]}
RIGHT = {"c": list(range(3)), "d": ["x", None, "y"], "e": np.linspace(0, 1, 3)}


def test_they_are_the_columns_of_one_table():
    tables = [encode(pa.table(columns)) for columns in (LEFT, RIGHT)]
    both = joined(*tables, "test")
    assert both.fingerprint() == encode(pa.table({**LEFT, **RIGHT})).fingerprint()
    assert both.values(1).tolist() == ["u", "v"]
    with pytest.raises(ValueError, match="column 'a' occurs twice"):
        joined(tables[0], tables[0], "test")
    with pytest.raises(ValueError, match="the same number of rows, got 3 and 1"):
        joined(tables[0], encode(pa.table({"z": [1]})), "test")


def test_columns_beside_those_of_a_store(tmp_path):
    copies = genotypes(20, 6)
    store = open_store(write_bed(tmp_path / "x.bed", copies))
    random = np.random.default_rng(0)
    more = encode(pa.table({"age": random.normal(size=20), "sex": ["f", "m"] * 10}))
    wide = without(with_columns(store, more), [2])
    assert wide.names == ("rs0", "rs1", "rs3", "rs4", "rs5", "age", "sex")
    assert wide.kinds[-2:] == ("numeric", "nominal")
    expected = without(store, [2]).as_table()
    whole = joined(expected, more, "test")
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
