"""PLINK files: in place, packed, and as another package reads them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tests.grid import one_test
from tests.io.store.stores import assert_same, genotypes, left_over, small_budget, write_bed

from duramen import pack
from duramen.data import encode
from duramen.io import open_store, read_table
from duramen.io.groups import Positions
from duramen.io.store.column_store import of_rows, without


def numbers(copies: np.ndarray) -> np.ndarray:
    return np.where(copies < 0, np.nan, copies.astype(float))


@one_test
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 31])
def test_in_place_and_packed_are_the_encoded_numbers(tmp_path, monkeypatch, n):
    small_budget(monkeypatch, 3000)
    copies = genotypes(n, 83, seed=n)
    path = write_bed(tmp_path / "x.bed", copies)
    expected = encode(numbers(copies), names=[f"rs{j}" for j in range(83)])
    inplace = open_store(path)
    packed = pack(path, tmp_path / "s")
    for store in (inplace, packed):
        assert_same(store, expected)
        assert store.samples["IID"].to_pylist() == [f"I{i}" for i in range(n)]
        labels = (None, "control", "case") if n > 2 else (0, 1)  # without a 2, numbers
        phenotype = [None, *(labels[i % 3] for i in range(1, n))]
        assert store.samples["phenotype"].to_pylist() == phenotype
    assert inplace.fingerprint() == packed.fingerprint()
    assert pack(inplace, tmp_path / "t").fingerprint() == packed.fingerprint()
    assert inplace.to_table().equals(packed.to_table())
    assert inplace.find("rs7") == packed.find("rs7") == 7


BIM = "1 rs0 0 10 A C\n1\trs1\t0\t25\tG\tT\n\nX rs2 0.5 7 AT C\n0 rs3 0 0 0 G\n"
VARIANTS = {
    "name": ["rs0", "rs1", "rs2", "rs3"],
    "chromosome": ["1", "1", "X", "0"],
    "position": [10, 25, 7, 0],
    "allele_1": ["A", "G", "AT", "0"],
    "allele_2": ["C", "T", "C", "G"],
}


@pytest.mark.smoke
def test_places_and_alleles_in_place_and_packed(tmp_path):
    path = write_bed(tmp_path / "x.bed", genotypes(9, 4), bim=BIM)
    packed = pack(path, tmp_path / "s")
    again = pack(packed, tmp_path / "t")
    for store in (open_store(path), packed, again, pickle.loads(pickle.dumps(packed))):
        assert store.variants.to_pydict() == VARIANTS
    others = without(packed, [1])
    assert others.variants["name"].to_pylist() == ["rs0", "rs2", "rs3"]
    assert others.variants["position"].to_pylist() == [10, 7, 0]
    assert of_rows(others, np.array([1, 2])).variants.equals(others.variants)
    assert pack(np.eye(3), tmp_path / "u").variants is None
    places = Positions.of(packed, ("rs2", "rs0"), "test")
    assert (places.chromosomes, places.position.tolist()) == (("1", "X"), [7, 10])
    with pytest.raises(ValueError, match="positions of the columns of this store are not known"):
        Positions.of(open_store(tmp_path / "u"), ("x0",), "test")


@pytest.mark.parametrize(
    "line", ["1 rs1 0 x A C", "1 rs1 0 5 A", "1 rs1 0 99999999999999999999 A C"]
)
def test_a_damaged_place_is_an_error(tmp_path, line):
    path = write_bed(tmp_path / "x.bed", genotypes(9, 2), bim=f"1 rs0 0 10 A C\n{line}\n")
    message = r"x\.bim must have 6 words per line.*in base pairs; variant 2 has"
    with pytest.raises(ValueError, match=message):
        open_store(path)
    with pytest.raises(ValueError, match=message):
        pack(path, tmp_path / "s")


def test_what_another_reader_sees(tmp_path):
    bed_reader = pytest.importorskip("bed_reader")
    path = write_bed(tmp_path / "x.bed", genotypes(30, 50))
    with bed_reader.open_bed(path) as bed:
        values, names = bed.read(dtype="float64"), list(bed.sid)
    assert_same(open_store(path), encode(values, names=names))


@pytest.mark.slow
@pytest.mark.shared
def test_hapmap(tmp_path, shared_data):
    bed_reader = pytest.importorskip("bed_reader")
    folder = shared_data / "hapmap3-plink"
    with bed_reader.open_bed(folder / "hapmap3.bed") as bed:
        values = bed.read(dtype="float32")
    inplace = open_store(folder / "hapmap3.bed")
    expected = encode(values, names=inplace.names)
    packed = pack(
        folder / "hapmap3.bed", tmp_path / "s", samples=folder / "samples.csv", memory="2MB"
    )
    assert expected.shape == (957, 14079)
    assert int(np.isnan(values).sum()) == sum(packed.to_table()["missing"].to_pylist()) == 20548
    assert_same(inplace, expected)
    assert_same(packed, expected)
    assert inplace.fingerprint() == packed.fingerprint()
    columns, y = packed.target("y")
    assert (len(columns), len(set(y))) == (14079, 11)
    assert inplace.samples["IID"].equals(read_table(folder / "samples.csv")["IID"])


def test_kinds_and_names(tmp_path):
    copies = genotypes(20, 5)
    path = write_bed(tmp_path / "x.bed", copies, names=["rs"] * 5)
    with pytest.raises(
        ValueError, match=r"x\.bim has more than one column named 'rs'.*Hint: plink2"
    ):
        open_store(path)
    with pytest.raises(
        ValueError, match=r"x\.bim has more than one column named 'rs'.*rename them"
    ):
        pack(path, tmp_path / "s")
    names = list("abcde")
    store = pack(path, tmp_path / "s", names=names, kinds="nominal")
    assert_same(store, encode(numbers(copies), names=names, kinds="nominal"))
    assert_same(pack(path, tmp_path / "t", names=names), encode(numbers(copies), names=names))


def test_variants_without_names_are_called_by_their_place(tmp_path):
    path = write_bed(tmp_path / "x.bed", genotypes(20, 2), names=["."] * 2)
    assert open_store(path).names == pack(path, tmp_path / "s").names == ("1:1:C:A", "1:2:C:A")


def shorten(path):
    path.write_bytes(path.read_bytes()[:-1])


@one_test
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda bed: shorten(bed), "truncated"),
        (lambda bed: bed.write_bytes(bed.read_bytes() + b"\0"), "too long"),
        (lambda bed: bed.write_bytes(b""), "empty|begins with nothing"),
        (lambda bed: bed.write_bytes(b"\x6c\x1b\x00" + bed.read_bytes()[3:]), "by samples"),
        (
            lambda bed: bed.write_bytes(b"PK\x01" + bed.read_bytes()[3:]),
            "not a PLINK 1 binary file",
        ),
        (lambda bed: bed.with_suffix(".bim").write_text("1 a 0 1 A C\n"), "1 variants"),
        (lambda bed: bed.with_suffix(".bim").write_text("a\n"), r"\.bim must have 6 words"),
        (lambda bed: bed.with_suffix(".bim").write_bytes(b"1 \xff 0\n"), "not UTF-8"),
        (lambda bed: bed.with_suffix(".bim").write_text(""), r"\.bim is empty"),
        (lambda bed: bed.with_suffix(".fam").write_text("a b c d 1 2\n"), "of 1 samples"),
        (lambda bed: bed.with_suffix(".fam").write_text("a b c\n"), "sample 1 has 3"),
        (lambda bed: bed.with_suffix(".fam").write_text(""), r"\.fam is empty"),
        (lambda bed: bed.with_suffix(".bim").unlink(), r"no file .*x\.bim"),
        (lambda bed: bed.with_suffix(".fam").unlink(), r"no file .*x\.fam"),
    ],
)
def test_damaged_files_are_refused(tmp_path, damage, message):
    path = write_bed(tmp_path / "x.bed", genotypes(10, 6))
    damage(path)
    for call in (open_store, lambda bed: pack(bed, tmp_path / "s")):
        with pytest.raises((ValueError, FileNotFoundError), match=message):
            call(path)
    assert not (tmp_path / "s").exists()
    assert left_over(tmp_path) == []


def test_a_file_that_is_cut_while_it_is_open(tmp_path):
    path = write_bed(tmp_path / "x.bed", genotypes(10, 6))
    store = open_store(path)
    with open(path, "rb+") as file:
        file.truncate(8)
    with pytest.raises(ValueError, match="truncated"):
        store.take_columns([5])
    with pytest.raises(ValueError, match="truncated"):
        store.verify()
    with pytest.raises(ValueError, match="transpose=True is not for"):
        pack(write_bed(tmp_path / "y.bed", genotypes(2, 2)), tmp_path / "s", transpose=True)
