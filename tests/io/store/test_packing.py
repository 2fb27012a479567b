"""A packed table is the encoded table, whatever it came from and however little memory there is."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from tests.grid import one_test
from tests.io.store.stores import assert_same, left_over, small_budget

from duramen import pack
from duramen.data import encode
from duramen.io import read_table
from duramen.io.store import layout

TINY = 20_000  # bytes


def mixed(n: int = 60, p: int = 40, seed: int = 0) -> pd.DataFrame:
    """Columns of many types."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    for j in range(p):
        match j % 7:
            case 0:
                column = rng.normal(size=n)
            case 1:
                column = rng.integers(-3, 3, n)
            case 2:
                column = pd.array(rng.choice([True, False], n))
            case 3:
                column = rng.choice(np.array(["a", "b,c", 'd"e', "é\nf", None], dtype=object), n)
            case 4:
                column = np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 4, n))
            case 5:
                column = rng.integers(0, 400, n) * 1.5
            case _:
                column = np.full(n, np.nan if j % 2 else 7.0)
        columns[f"col {j}é"] = column
    return pd.DataFrame(columns)


@pytest.fixture
def frame() -> pd.DataFrame:
    return mixed()


# --- tables in memory ----------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [TINY, 10**9])
@pytest.mark.parametrize(
    "make",
    [
        lambda frame: frame,
        lambda frame: pl.from_pandas(frame),
        lambda frame: pa.Table.from_pandas(frame),
        lambda frame: frame.select_dtypes("float").to_numpy(),
        lambda frame: sp.random(50, 30, 0.2, format="csr", random_state=0),
        lambda frame: frame.astype(object).to_numpy(),
        lambda frame: [[1, 2.5], [3, 4]],
        lambda frame: encode(frame),
        lambda frame: encode(np.eye(5)),
        lambda frame: pd.DataFrame({"n": pd.Categorical([3, None, 1], ordered=True)}),
    ],
)
def test_tables_in_memory(tmp_path, monkeypatch, frame, make, budget):
    small_budget(monkeypatch, budget)
    table = make(frame)
    assert_same(pack(table, tmp_path / "s"), encode(table))
    assert left_over(tmp_path) == []


@pytest.mark.smoke
def test_names_and_kinds(tmp_path, monkeypatch, frame):
    small_budget(monkeypatch, TINY)
    numbers = frame.select_dtypes("number")
    names = [f"n{j}" for j in range(numbers.shape[1])]
    for kinds in ("ordinal", {"n1": "nominal", 3: "ordinal"}, [None, "nominal"] * 15):
        kinds = kinds if not isinstance(kinds, list) else kinds[: len(names)]
        store = pack(numbers, tmp_path / "s", names=iter(names), kinds=kinds, overwrite=True)
        assert_same(store, encode(numbers, names=names, kinds=kinds))
    array = numbers.to_numpy()
    assert_same(
        pack(array, tmp_path / "t", kinds={2: "nominal", "x3": "ordinal"}),
        encode(array, kinds={2: "nominal", "x3": "ordinal"}),
    )


def test_wide_codes(tmp_path, monkeypatch):
    small_budget(monkeypatch, 2_000_000)
    rng = np.random.default_rng(0)
    n = 70_000
    X = np.column_stack(
        [np.arange(n), rng.integers(0, 300, n), rng.integers(0, 3, n), rng.random(n)] * 2
    )
    store = pack(X, tmp_path / "s")
    assert_same(store, encode(X))
    assert [codes.dtype.itemsize for codes in map(store.codes, range(4))] == [4, 2, 1, 4]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 64, 101])
def test_codes_in_two_bits(tmp_path, n):
    random = np.random.default_rng(n)
    genotypes = np.where(random.random((n, 9)) < 0.2, np.nan, random.integers(0, 3, (n, 9)))
    frame = pd.DataFrame(genotypes, columns=[f"g{j}" for j in range(9)])
    frame["word"] = random.choice(list("abcd"), n)
    frame["many"] = random.normal(size=n)
    frame["five"] = np.arange(n) % 5
    frame["last"] = random.integers(0, 2, n)
    table = encode(frame)
    store = pack(frame, tmp_path / "s")
    assert_same(store, table)
    few = int((table.n_codes() <= 4).sum())
    assert (tmp_path / "s" / layout.CODES[layout.QUARTERS]).stat().st_size == few * ((n + 3) // 4)
    for chosen in ([12, 0, 10], [3], [11, 10], range(12, -1, -1)):
        columns = np.array(chosen)
        part = store.take_columns(columns)
        assert part.fingerprint() == table.take_columns(columns).fingerprint()


# --- files ---------------------------------------------------------------------------------------


def file_of(frame: pd.DataFrame, path: Path) -> Path:
    """The frame in a file of the kind that the name says."""
    if path.suffixes[0] in (".parquet", ".arrow", ".ipc"):
        table = pa.Table.from_pandas(frame, preserve_index=False)
    match path.suffixes:
        case [".csv", *_]:
            frame.to_csv(path, index=False)
        case [".tsv"]:
            frame.to_csv(path, index=False, sep="\t")
        case [".parquet"]:
            pq.write_table(table, path, row_group_size=17)
        case [".arrow" | ".ipc"]:
            opened = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
            with pa.OSFile(str(path), "wb") as file, opened(file, table.schema) as writer:
                writer.write_table(table, max_chunksize=17)
    return path


@pytest.mark.parametrize("budget", [TINY, 10**9])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.parquet", "a.arrow", "a.ipc"])
def test_files(tmp_path, monkeypatch, frame, name, budget):
    small_budget(monkeypatch, budget)
    path = file_of(frame, tmp_path / name)
    store = pack(path, tmp_path / "s")
    assert_same(store, encode(read_table(path)))
    assert store.samples is None
    kinds = {"col 1é": "nominal"}
    store = pack(str(path), tmp_path / "t", kinds=kinds, n_jobs=2)
    assert_same(store, encode(read_table(path), kinds=kinds))
    assert left_over(tmp_path) == []


def test_categories_and_row_labels_of_parquet(tmp_path, monkeypatch):
    small_budget(monkeypatch, 4000)
    frame = pd.DataFrame(
        {
            "o": pd.Categorical(["x", "y", "x"], categories=["y", "x", "z"], ordered=True),
            "a.b": [1, 2, None],
            "a": pd.Categorical(["u", None, "v"]),
        },
        index=["r", "s", "t"],
    )
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.warns(UserWarning, match=r"pack: '__index_level_0__' of a\.parquet, the index of"):
        store = pack(tmp_path / "a.parquet", tmp_path / "s")
    assert store.names == ("o", "a.b", "a")
    with pytest.warns(UserWarning, match="read_table: '__index_level_0__'"):
        table = read_table(tmp_path / "a.parquet")
    assert_same(store, encode(table))


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("budget", [3000, 10**9])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["f8", "f4", "f2", "i8", "u2", "?", ">i4", "U2"])
def test_npy(tmp_path, monkeypatch, kind, order, budget):
    small_budget(monkeypatch, budget)
    X = np.asarray(np.random.default_rng(0).integers(0, 4, (20, 33)).astype(kind), order=order)
    np.save(tmp_path / "a.npy", X)
    assert_same(pack(tmp_path / "a.npy", tmp_path / "s"), encode(X))
    assert_same(pack(tmp_path / "a.npy", tmp_path / "t", transpose=True), encode(X.T))


# --- transposed ----------------------------------------------------------------------------------


def genes(n: int = 9, p: int = 31) -> pd.DataFrame:
    """Genes as rows, of integers, decimals, words and missing values, each of one type."""
    rng = np.random.default_rng(1)
    rows: list[list[Any]] = []
    for j in range(p):
        row: list[Any] = rng.integers(0, 5, n).tolist()
        if j % 3 == 1:
            row = [value * 1.25 for value in row]
        if j % 3 == 2:
            row = [f'w,"{value}"\n' for value in row]
        if j % 4 == 0:
            row[j % n] = None
        rows.append([f"gene, {j}", *row])
    return pd.DataFrame(rows, columns=["", *(f"s{i}" for i in range(n))], dtype=object)


@one_test
@pytest.mark.parametrize("budget", [2000, 10**9])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
def test_transposed_text(tmp_path, monkeypatch, name, budget):
    small_budget(monkeypatch, budget)
    frame = genes()
    turned = io.StringIO()
    frame.set_index("").T.to_csv(turned, index=False)
    (tmp_path / "turned.csv").write_text(turned.getvalue())
    path = file_of(frame, tmp_path / name)
    store = pack(path, tmp_path / "s", transpose=True)
    assert_same(store, encode(read_table(tmp_path / "turned.csv")))
    assert store.samples.to_pydict() == {"sample": [f"s{i}" for i in range(9)]}


def test_transposed_text_without_a_corner(tmp_path):
    (tmp_path / "a.csv").write_text("s1,s2\ng1,1,2\n\ng2,x,\n")
    store = pack(tmp_path / "a.csv", tmp_path / "s", transpose=True)
    assert store.names == ("g1", "g2")
    assert store.values(1).tolist() == ["x"]
    assert store.samples["sample"].to_pylist() == ["s1", "s2"]


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("budget", [1500, 10**9])
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.ipc"])
@pytest.mark.parametrize("words", [False, True])
def test_transposed_arrow(tmp_path, monkeypatch, name, words, budget):
    small_budget(monkeypatch, budget)
    rng = np.random.default_rng(0)
    values = pd.DataFrame(rng.integers(0, 4, (29, 8)), columns=[f"s{i}" for i in range(8)])
    values = values.astype(str).where(values > 0) if words else values.astype(float)
    frame = values.assign(gene=[f"g{j}" for j in range(29)])[["gene", *values.columns]]
    store = pack(file_of(frame, tmp_path / name), tmp_path / "s", transpose=True)
    expected = encode(values.T.set_axis([f"g{j}" for j in range(29)], axis=1))
    assert_same(store, expected)
    assert store.samples["sample"].to_pylist() == list(values.columns)


@pytest.mark.smoke
def test_transposed_in_memory(tmp_path):
    X = np.arange(12.0).reshape(3, 4)
    assert_same(pack(X, tmp_path / "s", transpose=True), encode(X.T))
    assert_same(pack(sp.csr_matrix(X), tmp_path / "t", transpose=True), encode(X.T))


# --- samples and targets -------------------------------------------------------------------------


def test_samples_and_targets(tmp_path):
    X = pd.DataFrame({"x": [1.0, 2.0, 2.0], "k": ["a", None, "b"], "h": [0.5, 1.0, np.nan]})
    annotations = pd.DataFrame({"y": ["u", "v", "u"], "age": [1.5, 2.0, 3.0]})
    annotations.to_csv(tmp_path / "known.csv", index=False)
    for i, samples in enumerate(
        [annotations, pa.Table.from_pandas(annotations), tmp_path / "known.csv"]
    ):
        store = pack(X, tmp_path / str(i), samples=samples)
        assert store.samples.to_pandas().equals(annotations)
    columns, y = store.target("y")
    assert (columns.tolist(), y.tolist()) == ([0, 1, 2], ["u", "v", "u"])
    assert store.target("age")[1].tolist() == [1.5, 2.0, 3.0]
    columns, y = store.target("x")
    assert (columns.tolist(), y.tolist(), y.dtype) == ([1, 2], [1, 2, 2], np.int64)
    assert store.target("k")[1].tolist() == ["a", None, "b"]
    np.testing.assert_array_equal(store.target("h")[1], [0.5, 1.0, np.nan])
    with pytest.raises(KeyError, match=r"no column 'ag'.*nor have its samples, .*'age'"):
        store.target("ag")
    with pytest.raises(ValueError, match="samples has 2 rows, but the table has 3"):
        pack(X, tmp_path / "n", samples=annotations[:2].assign(y="u"))
    with pytest.raises(TypeError, match="samples is a list"):
        pack(X, tmp_path / "n", samples=[1, 2, 3])
    assert not (tmp_path / "n").exists()
    assert left_over(tmp_path) == []


def test_a_store_can_be_packed_and_described(tmp_path, frame):
    first = pack(frame, tmp_path / "a", samples=frame[["col 3é"]])
    again = pack(first, tmp_path / "b")
    assert again.fingerprint() == first.fingerprint()
    assert again.samples.equals(first.samples)
    about = again.to_table().to_pandas()
    table = encode(frame)
    assert about["name"].tolist() == list(table.names)
    assert about["kind"].tolist() == list(table.kinds)
    assert about["values"].tolist() == np.diff(table.value_offsets).tolist()
    assert about["missing"].tolist() == frame.isna().sum().tolist()


def test_fingerprints(tmp_path, monkeypatch, frame):
    whole = pack(frame, tmp_path / "a").fingerprint()
    small_budget(monkeypatch, 5000)
    assert pack(file_of(frame, tmp_path / "f.parquet"), tmp_path / "b").fingerprint() == whole
    others = [frame.iloc[:, ::-1], frame[1:], frame.rename(columns={"col 0é": "c"})]
    others.append(frame.assign(**{"col 0é": frame["col 0é"] + 1}))
    others.append(frame.assign(**{"col 3é": frame["col 3é"].replace("a", "z")}))
    prints = {pack(other, tmp_path / f"o{i}").fingerprint() for i, other in enumerate(others)}
    assert len(prints | {whole}) == len(others) + 1


def test_a_column_beyond_the_memory_warns_and_one_beyond_the_machine_is_refused(
    tmp_path, leave_memory
):
    np.save(tmp_path / "t.npy", np.zeros((60_000, 2)))
    with pytest.warns(UserWarning, match=r"60,000 rows takes about 2.4 MB.* memory=1 MB"):
        pack(tmp_path / "t.npy", tmp_path / "s", memory="1MB")
    leave_memory(1_000_000)
    with pytest.raises(MemoryError, match=r"60,000 rows, which is packed as a whole, needs at"):
        pack(tmp_path / "t.npy", tmp_path / "t", memory="1MB")
    assert not (tmp_path / "t").exists()
