"""A store without some columns is the table without them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from tests.grid import one_test
from tests.io.store.stores import assert_same, genotypes, write_bed

from duramen import pack
from duramen.data import encode
from duramen.io import open_store
from duramen.io.store.column_store import without


def mixed(n=40, p=23):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({f"g{j}": rng.integers(0, 2 + 30 * (j % 3), n) for j in range(p)})
    frame["word"] = rng.choice(["u", "v", None], n)
    frame["wide"] = rng.normal(size=n)
    return frame


@one_test
@pytest.mark.parametrize("left_out", [[0], [24], [5, 6, 7], [23, 0, 11, 0], [-1], []])
def test_it_is_the_table_without_them(tmp_path, left_out):
    frame = mixed()
    store = pack(frame, tmp_path / "s")
    view = without(store, np.array(left_out, dtype=np.int64))
    others = np.delete(np.arange(25), left_out)
    assert_same(view, encode(frame).take_columns(others))
    assert [view.find(name) for name in view.names] == list(range(len(others)))
    assert view.to_table().equals(store.to_table().take(others))
    for j in left_out:
        with pytest.raises(KeyError, match="has no column"):
            view.find(store.names[j])


def test_of_a_plink_file_and_of_unnamed_columns(tmp_path):
    bed = open_store(write_bed(tmp_path / "a.bed", genotypes(30, 12)))
    view = without(bed, [3, 0])
    assert view.names == tuple(f"rs{j}" for j in range(12) if j not in (0, 3))
    assert_same(view, bed.as_table().take_columns([1, 2, *range(4, 12)]))
    assert view.samples.equals(bed.samples)
    assert view.target("sex")[0].tolist() == list(range(10))
    plain = without(pack(np.eye(5), tmp_path / "s"), [1])
    assert plain.names == ("x0", "x2", "x3", "x4")
    assert (plain.find("x3"), plain.shape) == (2, (5, 4))
    with pytest.raises(KeyError):
        plain.find("x1")


def test_views_of_views_and_pickles(tmp_path):
    store = pack(mixed(), tmp_path / "s")
    view = without(without(store, [2, 5]), [0, 2, 22])
    assert view.names == tuple(n for i, n in enumerate(store.names) if i not in (0, 2, 3, 5, 24))
    again = pickle.loads(pickle.dumps(view))
    assert again.names == view.names
    assert again.fingerprint() == view.fingerprint()
    assert again.take_columns([0, 19]).fingerprint() == view.take_columns([0, 19]).fingerprint()


def test_fingerprints_tell_views_apart(tmp_path):
    store = pack(mixed(), tmp_path / "s")
    prints = {v.fingerprint() for v in (store, without(store, [0]), without(store, [1]))}
    assert len(prints) == 3
    assert without(store, [4, 1]).fingerprint() == without(store, [1, 4]).fingerprint()


def test_what_is_no_choice_is_refused(tmp_path):
    store = pack(np.eye(3), tmp_path / "s")
    with pytest.raises(ValueError, match="without: all 3 columns of s are left out"):
        without(store, [0, 1, 2])
    with pytest.raises(IndexError, match=r"without: an index lies outside 0\.\.2"):
        without(store, [3])
    with pytest.raises(ValueError, match="one-dimensional"):
        without(store, [0.5])
