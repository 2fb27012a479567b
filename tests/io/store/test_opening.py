"""Damaged stores and other folders are refused with the reason."""

from __future__ import annotations

import json
import os
import pickle

import numpy as np
import pandas as pd
import pytest
from tests.grid import one_test
from tests.io.store.stores import left_over

import duramen as dm
from duramen import pack
from duramen.data import encode
from duramen.io import open_store
from duramen.io.store import layout
from duramen.io.store.column_store import without

FRAME = pd.DataFrame(
    {
        "a": np.arange(30) % 5,
        "b": np.arange(30.0),
        "c": list("vwxyz") * 6,
        "d": np.arange(30) % 2 == 0,
    }
)


@pytest.fixture
def store(tmp_path):
    return pack(
        FRAME, tmp_path / "s", samples=pd.DataFrame({"y": range(30)}), samples_match="position"
    )


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(bytes(data))


def test_samples_of_ones_own_take_the_place_of_what_is_known(store, tmp_path):
    own = pd.DataFrame({"kind": ["u", "v"] * 15})
    own.to_csv(tmp_path / "own.csv", index=False)
    for samples in (own, str(tmp_path / "own.csv")):
        opened = open_store(store.path, samples, samples_match="position")
        assert opened.samples.column_names == ["kind"]
        assert opened.target("kind")[1].tolist() == ["u", "v"] * 15
        assert opened.fingerprint() == store.fingerprint()
    for same in (pickle.loads(pickle.dumps(opened)), without(opened, [1])):
        assert same.samples.column_names == ["kind"]
    assert store.samples.column_names == ["y"]


@pytest.mark.parametrize("name", ["columns.bin", "names.bin"])
def test_what_is_read_at_once_is_checked_at_once(store, name):
    flip(store.path / name, -1)
    with pytest.raises(ValueError, match=f"open_store: .*{name} is damaged.*checksum"):
        open_store(store.path)


@pytest.mark.parametrize(
    ("name", "at", "column", "message"),
    [
        ("codes.u1", 37, 1, r"codes\.u1 is damaged: the codes of column 'b'"),
        ("codes.b2", 1, 3, r"codes\.b2 is damaged: the codes of column 'd'"),
        ("values.f8", 45, 1, "column 1 do not match their checksum"),
        ("labels.bin", 16, 2, "column 2 do not match their checksum"),
    ],
)
def test_columns_are_checked_whenever_they_are_read(store, name, at, column, message):
    flip(store.path / name, at)
    opened = open_store(store.path)
    opened.take_columns(np.delete(np.arange(4), column))
    for read in (lambda: opened.take_columns([0, column]), lambda: opened.values(column)):
        with pytest.raises(ValueError, match=message):
            read()
    for read in (opened.verify, opened.as_table, lambda: dm.encode(opened)):
        with pytest.raises(ValueError, match=f"{name} is damaged"):
            read()


def test_bad_transposed_files(tmp_path):
    for frame, error, message in [
        (pd.DataFrame({"g": [1, 2], "s": [1, 2]}), TypeError, "holds the names of the columns"),
        (pd.DataFrame({"g": ["a", None], "s": [1, 2]}), ValueError, "a name is missing"),
        (pd.DataFrame({"g": ["a", "b"]}), ValueError, "no other column"),
        (pd.DataFrame({"g": ["a", "a"], "s": [1, 2]}), ValueError, "than one column named 'a'"),
        (pd.DataFrame({"g": ["a"], "s": [pd.Timestamp(0)]}), TypeError, "is of type timestamp"),
    ]:
        frame.to_parquet(tmp_path / "a.parquet")
        with pytest.raises(error, match=message):
            pack(tmp_path / "a.parquet", tmp_path / "s", transpose=True)
    assert left_over(tmp_path) == []


@pytest.mark.parametrize("name", ["codes.u1", "codes.b2", "values.f8", "columns.bin", "labels.bin"])
def test_truncated_and_absent_files(store, name):
    path = store.path / name
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    with pytest.raises(ValueError, match=f"{name} is damaged: it has {len(data) - 1} bytes, not"):
        open_store(store.path)
    path.unlink()
    with pytest.raises(ValueError, match=f"s is damaged: {name} is not there"):
        open_store(store.path)


def test_cut_while_open(store):
    with open(store.path / "codes.u1", "rb+") as file:
        file.truncate(70)
    with pytest.raises(ValueError, match="truncated while it was open"):
        store.take_columns([0, 2])


def test_headers(store, tmp_path):
    path = store.path / "header.json"
    good = json.loads(path.read_text())
    for changes, message in [
        ({"n_rows": 29}, "does not match its own check"),
        ({"format": 5}, "format 5, this version reads 4; a later duramen packed it: upgrade"),
        ({"format": 1}, "format 1, this version reads 4; an earlier duramen packed it: pack"),
        ({"what": "forest"}, "describes a 'forest', not a column store"),
        ({"format": None}, "describes"),
    ]:
        path.write_text(json.dumps({**good, **changes}))
        with pytest.raises(ValueError, match=message):
            open_store(store.path)
    path.write_text(json.dumps(good)[:-20])
    with pytest.raises(ValueError, match=r"header\.json is not the header of a column store"):
        open_store(store.path)
    path.unlink()
    with pytest.raises(ValueError, match=r"s is a folder, but not a column store: it has no.*pack"):
        open_store(store.path)
    with pytest.raises(FileNotFoundError, match="there is no folder or file"):
        open_store(tmp_path / "nothing")
    (tmp_path / "a.csv").write_text("x\n1\n")
    with pytest.raises(
        ValueError, match=r"a\.csv is not a column store; give .*Hint: pack\('a\.csv'"
    ):
        open_store(tmp_path / "a.csv")


@pytest.mark.parametrize("n_columns", [10**8, 2**62])
def test_columns_beyond_the_codes_take_no_memory(store, n_columns):
    """Of a header whose own check is right."""
    path = store.path / "header.json"
    header = json.loads(path.read_text())
    del header["check"]
    path.write_bytes(layout.header_to_bytes({**header, "n_columns": n_columns}))
    with pytest.raises(ValueError, match=rf"columns.bin has \d+ bytes, but {n_columns:,} columns"):
        open_store(store.path)


def test_a_header_without_end_is_not_read(store):
    os.truncate(store.path / "header.json", 1 << 40)
    with pytest.raises(ValueError, match=r"header\.json is not the header .* 1,099,511,627,776"):
        open_store(store.path)


def test_places(store, tmp_path):
    before = store.fingerprint()
    with pytest.raises(FileExistsError, match=r"is a column store already.*overwrite=True"):
        pack(FRAME, tmp_path / "s")
    assert open_store(tmp_path / "s").fingerprint() == before
    changed = pack(FRAME[:9], tmp_path / "s", overwrite=True)
    assert (changed.n_rows, changed.samples) == (9, None)
    assert store.take_columns([1]).n_rows == 30  # the old one is open still
    (tmp_path / "file").write_text("!")
    with pytest.raises(FileExistsError, match="was left unchanged; choose another"):
        pack(FRAME, tmp_path / "file", overwrite=True)
    with pytest.raises(FileNotFoundError, match="which is not a folder; create it first"):
        pack(FRAME, tmp_path / "no" / "where")
    assert left_over(tmp_path) == []


def test_indices(store):
    table = encode(FRAME)
    mask = np.array([True, False, True, False])
    assert store.take_columns(mask).names == ("a", "c")
    assert store.take_columns([-1, 0]).fingerprint() == table.take_columns([-1, 0]).fingerprint()
    assert store.take_columns([]).shape == (30, 0)
    for index, error, message in [
        ([0, 0], ValueError, "indices must be different"),
        ([4], IndexError, r"outside 0\.\.3"),
        ([0.5], ValueError, "one-dimensional integers"),
        (mask[:3], ValueError, "the mask has 3 entries"),
    ]:
        with pytest.raises(error, match=message):
            store.take_columns(index)
    with pytest.raises(IndexError):
        store.codes(4)
    assert store.find("c") == 2
    with pytest.raises(KeyError, match="has no column 'e'"):
        store.find("e")
    with pytest.raises(ValueError, match="encoded already, so names and kinds"):
        encode(store, kinds="nominal")


@one_test
@pytest.mark.parametrize(
    ("source", "options", "error", "message"),
    [
        ("nothing.csv", {}, FileNotFoundError, r"no file .*nothing\.csv"),
        ("good.csv", {"layer": "raw"}, ValueError, r"layer='raw' is for \.h5ad files"),
        ("good.csv", {"memory": "much"}, ValueError, "memory must be a size such as '512MB'"),
        ("good.csv", {"memory": "10kB"}, ValueError, "memory must be at least 1MB"),
        ("good.csv", {"memory": True}, ValueError, "memory must be a size"),
        ("good.csv", {"n_jobs": 0}, ValueError, "pack: n_jobs must be an int other than 0"),
        ("good.csv", {"names": ["a", "b"]}, ValueError, "names has 2 entries, but X has 1"),
        ("good.csv", {"kinds": "odd"}, ValueError, "kinds must be .* got 'odd'"),
        ("good.csv", {"kinds": {"y": "nominal"}}, ValueError, "kinds holds 'y', which is none"),
    ],
)
def test_bad_sources(tmp_path, monkeypatch, source, options, error, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").write_text("x\n1\n2\n")
    with pytest.raises(error, match=message):
        pack(source, "s", **options)
    assert not (tmp_path / "s").exists()
    assert left_over(tmp_path) == []


def test_bad_tables(tmp_path):
    for source, options, error, message in [
        (np.zeros((0, 3)), {}, ValueError, "the table is empty"),
        (FRAME, {"transpose": True}, ValueError, "a DataFrame must be transposed before"),
        (encode(FRAME), {"kinds": "nominal"}, ValueError, "kinds cannot be given"),
        (FRAME, {"layer": "X"}, ValueError, "a table is not one"),
        (np.array([[np.inf]]), {}, ValueError, "pack: .*infinity"),
        (pd.DataFrame({"m": ["a", 1.5]}), {}, TypeError, "pack: column 'm' mixes float and str"),
        (None, {}, TypeError, "X is a NoneType"),
    ]:
        with pytest.raises(error, match=message):
            pack(source, tmp_path / "s", **options)
    np.save(tmp_path / "o.npy", np.array([[None]], dtype=object), allow_pickle=True)
    with pytest.raises(TypeError, match="holds Python objects"):
        pack(tmp_path / "o.npy", tmp_path / "s")
    np.save(tmp_path / "v.npy", np.zeros(3))
    with pytest.raises(ValueError, match=r"an array of shape \(3,\)"):
        pack(tmp_path / "v.npy", tmp_path / "s")
    np.save(tmp_path / "t.npy", np.zeros((3, 3)))
    data = (tmp_path / "t.npy").read_bytes()
    (tmp_path / "t.npy").write_bytes(data[:-1])
    with pytest.raises(ValueError, match="is truncated: it has 199 bytes, its header requires 200"):
        pack(tmp_path / "t.npy", tmp_path / "s")
    assert left_over(tmp_path) == []
