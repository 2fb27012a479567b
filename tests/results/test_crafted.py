"""Saved results that somebody altered on purpose: refused when they are read, never followed."""

import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_array

import duramen as dm
from duramen.results.archive import read_archive, write_archive
from duramen.results.local_importances import LocalImportances
from duramen.results.pair_interactions import PairInteractions


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A file of each class of results that hold a sparse matrix."""
    folder = tmp_path_factory.mktemp("saved")
    random = np.random.default_rng(0)
    names, each = tuple("abcdef"), np.full(6, 1 / 6)
    square = np.abs(random.normal(size=(6, 6))) * (1 - np.eye(6))
    sparse, pairs = csr_array(square), csr_array(square + square.T)
    local = {"measure": "local mdi", "unit": "bits", "weights": each, "start": np.zeros(6)}
    genes = dm.networks.genie3(square, estimator=dm.RandomForestRegressor(3), random_state=0)
    results = (
        genes.heaviest(9),
        LocalImportances(names, sparse, **local),
        PairInteractions(names, pairs, "interaction", "bits"),
        dm.Importances(names, each, "mdi", "bits"),
    )
    files = {}
    for result in results:
        files[type(result)] = folder / f"{type(result).__name__}.npz"
        result.save(files[type(result)])
    return files


def altered(file, alter, folder, end):
    """The file with some of its arrays altered, under a digest that fits: those with this end."""
    header, arrays = read_archive(file, what=None, newest=9, function="altered")
    names = [name for name in arrays if name.endswith(end)]
    assert names
    write_archive(
        folder / "altered.npz", header, {**arrays, **{name: alter(arrays[name]) for name in names}}
    )
    return folder / "altered.npz"


def middle(value):
    def alter(array):
        array[1:-1] = value
        return array

    return alter


def one(value):
    def alter(array):
        array[3] = value
        return array

    return alter


@pytest.mark.parametrize(
    ("end", "alter"),
    [
        ("indptr", middle(2**30)),
        ("indptr", middle(-1)),
        ("indices", one(-(10**8))),
        ("indices", one(53)),
        ("indices", lambda array: np.full_like(array, 2**31 - 5)),
        ("data", lambda array: array[:3]),
    ],
)
def test_sparse_matrices_are_checked(end, alter, saved, tmp_path):
    for kind in (dm.Network, LocalImportances, PairInteractions):
        file = saved[kind]
        with pytest.raises(ValueError, match="was altered"):
            kind.load(altered(file, alter, tmp_path, end=end))


def test_arrays_of_nothing_are_counted(saved, tmp_path):
    """1.4 GB were taken for 976 bytes."""
    kind, file = next((k, f) for k, f in saved.items() if k is dm.Importances)
    header = b"{'descr': '<U0', 'fortran_order': False, 'shape': (12000000,), }"
    header += b" " * (117 - len(header)) + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in members if name.startswith("values"))
    with zipfile.ZipFile(tmp_path / "altered.npz", "w") as archive:
        for member, old in members.items():
            archive.writestr(member, content if member == name else old)
    with pytest.raises(ValueError, match="claims 12,000,000 items in 1"):
        kind.load(tmp_path / "altered.npz")


def test_swapped_members_are_refused(saved, tmp_path):
    """The checksums of the members fit; those of two arrays of the same shape are exchanged."""
    for kind, names in (
        (dm.Network, ("weights/data", "weights/indices")),
        (LocalImportances, ("weights", "start")),
    ):
        with zipfile.ZipFile(saved[kind]) as archive:
            members = {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}
        one, other = names
        members[one], members[other] = members[other], members[one]
        with zipfile.ZipFile(tmp_path / "altered.npz", "w") as archive:
            for name, content in members.items():
                archive.writestr(f"{name}.npy", content)
        with pytest.raises(ValueError, match="digest"):
            kind.load(tmp_path / "altered.npz")


def test_an_encrypted_member_is_refused(saved, tmp_path):
    kind, file = next(iter(saved.items()))
    content = bytearray(file.read_bytes())
    directory = content.index(b"PK\x01\x02")
    content[directory + 8] |= 1
    (tmp_path / "altered.npz").write_bytes(content)
    with pytest.raises(ValueError, match="a member is encrypted"):
        kind.load(tmp_path / "altered.npz")
