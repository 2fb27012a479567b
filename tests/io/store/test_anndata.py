"""AnnData files, dense and sparse."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tests.grid import one_test
from tests.io.store.stores import assert_same, left_over, small_budget

from duramen import pack
from duramen.data import encode

h5py = pytest.importorskip("h5py")

CELLS, GENES = 47, 38


def counts(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    dense = rng.poisson(0.6, (CELLS, GENES)).astype("f4") * 0.5
    dense[:, 3] = 0
    return dense


def observations() -> pd.DataFrame:
    frame = pd.DataFrame(index=[f"cell{i}" for i in range(CELLS)])
    frame["kind"] = pd.Categorical(
        ["B", "T", None] * 15 + ["B", "B"], categories=["T", "B"], ordered=True
    )
    frame["depth"] = np.arange(CELLS) * 0.5
    frame["good"] = np.arange(CELLS) % 2 == 0
    frame["batch"] = [f"b{i % 3}" for i in range(CELLS)]
    frame["n"] = pd.array([None, *range(CELLS - 1)], dtype="Int64")
    return frame


def names() -> list[str]:
    return [f"gene{j}" for j in range(GENES)]


def written(path, X, **more):
    anndata = pytest.importorskip("anndata")
    table = anndata.AnnData(X=X, obs=observations(), var=pd.DataFrame(index=names()), **more)
    table.write_h5ad(path)
    return path


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("budget", [5000, 10**9])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_matrices(tmp_path, monkeypatch, make, budget):
    small_budget(monkeypatch, budget)
    dense = counts()
    path = written(tmp_path / "a.h5ad", make(dense), layers={"twice": make(2 * dense)})
    store = pack(path, tmp_path / "s")
    assert_same(store, encode(dense, names=names()))
    assert_same(pack(path, tmp_path / "l", layer="twice"), encode(2 * dense, names=names()))
    turned = pack(path, tmp_path / "t", transpose=True)
    assert_same(turned, encode(dense.T, names=list(observations().index)))
    assert turned.samples.to_pydict() == {"name": names()}
    expected = observations()
    samples = store.samples.to_pandas()
    assert samples["name"].tolist() == list(expected.index)
    for name in ("kind", "depth", "good", "batch"):
        assert samples[name].tolist() == pytest.approx(expected[name].tolist(), nan_ok=True) or (
            samples[name].astype(object).where(samples[name].notna()).tolist()
            == expected[name].astype(object).where(expected[name].notna()).tolist()
        )
    assert store.samples["n"].to_pylist() == [None, *range(CELLS - 1)]
    assert store.samples["kind"].type.ordered
    assert store.target("batch")[1].tolist() == expected["batch"].tolist()
    assert left_over(tmp_path) == []


def test_compressed_chunks_that_are_wider_than_a_group(tmp_path, monkeypatch):
    dense = counts()
    path = written(tmp_path / "a.h5ad", np.zeros_like(dense))
    with h5py.File(path, "r+") as file:
        attributes = dict(file["X"].attrs)
        del file["X"]
        chunked = file.create_dataset("X", data=dense, chunks=(5, GENES), compression="gzip")
        chunked.attrs.update(attributes)
    for budget in (2000, 20_000, 10**9):
        small_budget(monkeypatch, budget)
        store = pack(path, tmp_path / f"s{budget}")
        assert_same(store, encode(dense, names=names()))
        turned = pack(path, tmp_path / f"t{budget}", transpose=True)
        assert_same(turned, encode(dense.T, names=list(observations().index)))
    assert left_over(tmp_path) == []


@pytest.mark.smoke
def test_raw(tmp_path):
    anndata = pytest.importorskip("anndata")
    table = anndata.AnnData(X=counts(), obs=observations(), var=pd.DataFrame(index=names()))
    table.raw = table
    table = table[:, :5].copy()
    path = tmp_path / "a.h5ad"
    table.write_h5ad(path)
    assert pack(path, tmp_path / "s").n_columns == 5
    store = pack(path, tmp_path / "r", layer="raw")
    assert_same(store, encode(counts(), names=names()))


def masked(file, where, mask=None):
    """Put a column of text in the layout of anndata 0.13 with pandas 3: values, and a mask."""
    if isinstance(file[where], h5py.Group):
        values, mask = file[where]["values"][:], file[where]["mask"][:] if mask is None else mask
    else:
        values = file[where][:]
    del file[where]
    group = file.create_group(where)
    group.attrs.update({"encoding-type": "nullable-string-array", "encoding-version": "0.1.0"})
    group["values"] = values
    group["mask"] = np.zeros(len(values), dtype=bool) if mask is None else mask


def test_text_with_a_mask(tmp_path):
    path = written(tmp_path / "a.h5ad", counts())
    missing = np.arange(CELLS) % 5 == 0
    with h5py.File(path, "r+") as file:
        for where in ("obs/_index", "var/_index"):
            masked(file, where)
        masked(file, "obs/kind/categories")
        values = np.array([f"b{i % 3}" for i in range(CELLS)], dtype=object)
        del file["obs/batch"]
        file["obs/batch"] = values
        masked(file, "obs/batch", missing)
    store = pack(path, tmp_path / "s")
    assert_same(store, encode(counts(), names=names()))
    samples = store.samples.to_pydict()
    assert samples["name"] == list(observations().index)
    assert samples["kind"] == ["B", "T", None] * 15 + ["B", "B"]
    assert samples["batch"] == [None if m else v for m, v in zip(missing, values, strict=True)]


def test_categories_of_version_0_7(tmp_path):
    path = written(tmp_path / "a.h5ad", counts())
    with h5py.File(path, "r+") as file:
        codes, labels = (file[f"obs/kind/{part}"][:] for part in ("codes", "categories"))
        del file["obs/kind"]
        file["obs/kind"], file["obs/__categories/kind"] = codes, labels
        file["obs/kind"].attrs["categories"] = file["obs/__categories/kind"].ref
    samples = pack(path, tmp_path / "s").samples.to_pydict()
    assert samples["kind"] == ["B", "T", None] * 15 + ["B", "B"]


@pytest.mark.shared
def test_pbmc(tmp_path, shared_data):
    """A file of an anndata before 0.7 is refused, and read once it is written anew."""
    anndata = pytest.importorskip("anndata")
    old, path = shared_data / "pbmc68k-h5ad" / "pbmc68k_reduced.h5ad", tmp_path / "new.h5ad"
    with pytest.raises(ValueError, match=r"before 0\.7. Hint: anndata\.read_h5ad"):
        pack(old, tmp_path / "s")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = anndata.read_h5ad(old)
        table.write_h5ad(path)
    for memory in ("1MB", "512MB"):
        store = pack(path, tmp_path / memory, memory=memory)
        assert_same(store, encode(np.asarray(table.X), names=list(table.var_names)))
        store = pack(path, tmp_path / f"raw{memory}", layer="raw", memory=memory)
        assert_same(store, encode(table.raw.X, names=list(table.raw.var_names)))
    _, y = store.target("bulk_labels")
    assert pd.Series(y).value_counts()["Dendritic"] == 240
    assert len(set(y)) == 10


def test_bad_files(tmp_path):
    path = written(tmp_path / "a.h5ad", counts())
    with pytest.raises(ValueError, match=r"has no layer 'odd'; its layers are \[\]"):
        pack(path, tmp_path / "s", layer="odd")
    with h5py.File(path, "r+") as file:
        del file["X"]
    with pytest.raises(ValueError, match="has no matrix X; it has"):
        pack(path, tmp_path / "s")
    with h5py.File(path, "r+") as file:
        file["X"] = np.zeros((3, 2))
    with pytest.raises(ValueError, match=r"its matrix is of shape \(3, 2\), its names of rows and"):
        pack(path, tmp_path / "s")
    path = written(tmp_path / "b.h5ad", sp.csr_matrix(counts()))
    with h5py.File(path, "r+") as file:
        file["X"].attrs["encoding-type"] = "odd_matrix"
    with pytest.raises(ValueError, match="a matrix of the kind 'odd_matrix'"):
        pack(path, tmp_path / "s")
    (tmp_path / "d.zarr").mkdir()
    with pytest.raises(IsADirectoryError, match="is a directory"):
        pack(tmp_path / "d.zarr", tmp_path / "s")
    (tmp_path / "c.h5ad").write_text("no HDF5")
    with pytest.raises(ValueError, match=r"is not an \.h5ad file, or is damaged"):
        pack(tmp_path / "c.h5ad", tmp_path / "s")
    assert left_over(tmp_path) == []
