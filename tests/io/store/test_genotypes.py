"""Genotypes of PLINK 2, VCF-Zarr and BGEN files, as their own packages wrote them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.io.store.stores import assert_same, genotypes, small_budget, write_bed

from duramen import pack
from duramen.data import encode
from duramen.io import read_table

VARIANTS = {
    "name": ["rs0", "1:25:T:G", "rs2", "rs3"],
    "chromosome": ["1", "1", "X", "2"],
    "position": [10, 25, 7, 3],
    "allele_1": ["A", "G", "AT", "G,C"],
    "allele_2": ["C", "T", "C", "T"],
}
IDS = ["rs0", ".", "rs2", "rs3"]
PVAR = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\n" + "".join(
    f"{chromosome}\t{position}\t{name}\t{reference}\t{others}\t.\n"
    for name, chromosome, position, others, reference in zip(
        IDS, *(VARIANTS[key] for key in list(VARIANTS)[1:]), strict=True
    )
)
PSAM = "#FID\tIID\tSEX\tBMI\tGROUP\n" + "".join(
    f"F{i % 2}\tI{i}\t{1 + i % 2}\t{'NA' if i == 0 else 20.5 + i}\tg{i % 3}\n" for i in range(5)
)
# Alleles of four variants of five samples, -1 where missing; the last variant has three alleles.
CALLS = np.array(
    [
        [[0, 0], [0, 1], [1, 1], [-1, -1], [0, 0]],
        [[1, 1], [1, 1], [1, 0], [0, 0], [-1, -1]],
        [[0, 0], [0, 0], [0, 0], [0, 0], [1, 0]],
        [[0, 2], [1, 2], [0, 0], [-1, -1], [1, 0]],
    ],
    dtype=np.int8,
)
COPIES = np.where((CALLS < 0).any(axis=2), np.nan, (CALLS > 0).sum(axis=2)).T
PROBABILITIES = np.array([[0.7, 0.2, 0.1], [0, 1, 0], [0.25, 0.25, 0.5], [1, 0, 0]])


def write_pgen(path: Path, variants: str = PVAR, samples: str = PSAM) -> Path:
    pgenlib = pytest.importorskip("pgenlib")
    with pgenlib.PgenWriter(
        str(path).encode(), 5, variant_ct=4, nonref_flags=False, allele_ct_limit=3
    ) as writer:
        for calls, count in zip(CALLS, (2, 2, 2, 3), strict=True):
            alleles = np.where(calls < 0, -9, calls).astype(np.int32)
            writer.append_alleles(alleles.reshape(-1), allele_ct=count)
    path.with_suffix(".pvar").write_text(variants)
    path.with_suffix(".psam").write_text(samples)
    return path


def write_vcz(path: Path, format_: int = 2) -> Path:
    zarr = pytest.importorskip("zarr")
    root = zarr.open_group(str(path), mode="w", zarr_format=format_)
    alleles = [
        [reference, *others.split(",")]
        for reference, others in zip(VARIANTS["allele_2"], VARIANTS["allele_1"], strict=True)
    ]
    words = {
        "variant_allele": [row + [""] * (3 - len(row)) for row in alleles],
        "variant_id": IDS,
        "contig_id": ["1", "2", "X"],
        "sample_id": [f"I{i}" for i in range(5)],
    }
    arrays = {
        "call_genotype": CALLS,
        "call_DP": np.arange(20, dtype=np.int32).reshape(4, 5) - 1,
        "variant_contig": np.array([0, 0, 2, 1], dtype=np.int8),
        "variant_position": np.array(VARIANTS["position"], dtype=np.int32),
        **{name: np.array(texts, dtype=object) for name, texts in words.items()},
    }
    for name, values in arrays.items():
        kind = str if name in words else values.dtype
        root.create_array(name, shape=values.shape, dtype=kind)[...] = values
    return path


def write_bgen(path: Path, phased: bool = False) -> Path:
    bgen = pytest.importorskip("bgen")
    with bgen.BgenWriter(str(path), 4, samples=list("abcd")) as writer:
        for j, name in enumerate(("rs0", "rs1")):
            writer.add_variant(
                name, name, "7", 10 + j, ["T", "C"], PROBABILITIES[:: 1 - 2 * j], bit_depth=16
            )
        three = np.zeros((4, 6))
        three[[0, 1, 2, 3], [5, 3, 0, 2]] = 1  # (2, 2), (0, 2), (0, 0), (1, 1)
        three[3] = np.nan
        writer.add_variant("rs2", "rs2", "X", 5, ["A", "C", "G"], three)
        of_haplotypes = np.array([[1, 0, 0, 0, 1, 0], [0, 0.5, 0.5, 0, 0, 1]] * 2, dtype=float)
        writer.add_variant("rs3", "rs3", "X", 9, ["A", "C", "G"], of_haplotypes, phased=True)
    return path


@pytest.mark.filterwarnings("ignore:The codec `vlen-utf8`")  # zarr 3.1.0, as it writes
@pytest.mark.parametrize(
    "write", [write_pgen, write_vcz, lambda path: write_vcz(path, 3)], ids=["pgen", "vcz2", "vcz3"]
)
def test_packed_are_the_copies_of_other_alleles(tmp_path, monkeypatch, write):
    small_budget(monkeypatch, 700)
    suffix = ".pgen" if write is write_pgen else ".vcz"
    path = write(tmp_path / f"x{suffix}")
    store = pack(path, tmp_path / "s")
    assert_same(store, encode(COPIES, names=VARIANTS["name"]))
    assert store.variants.to_pydict() == VARIANTS
    if suffix == ".pgen":
        assert store.samples.to_pydict() == {
            "FID": ["F0", "F1", "F0", "F1", "F0"],
            "IID": ["I0", "I1", "I2", "I3", "I4"],
            "SEX": [1, 2, 1, 2, 1],
            "BMI": [None, 21.5, 22.5, 23.5, 24.5],
            "GROUP": ["g0", "g1", "g2", "g0", "g1"],
        }
    else:
        assert store.samples.to_pydict() == {"sample_id": ["I0", "I1", "I2", "I3", "I4"]}


def test_the_same_store_as_of_a_bed_file(tmp_path):
    pgenlib = pytest.importorskip("pgenlib")
    copies = genotypes(31, 40)
    bed = write_bed(tmp_path / "x.bed", copies)
    with pgenlib.PgenWriter(
        str(tmp_path / "y.pgen").encode(), 31, variant_ct=40, nonref_flags=False
    ) as writer:
        for calls in copies.T:
            writer.append_biallelic(np.where(calls < 0, -9, calls).astype(np.int8))
    for suffix in (".bim", ".fam"):
        (tmp_path / f"y{suffix}").write_bytes(bed.with_suffix(suffix).read_bytes())
    ours, theirs = pack(tmp_path / "y.pgen", tmp_path / "s"), pack(bed, tmp_path / "t")
    assert ours.fingerprint() == theirs.fingerprint()
    assert ours.variants.equals(theirs.variants)
    assert ours.samples.equals(theirs.samples)


@pytest.mark.smoke
def test_dosages_of_a_pgen_file(tmp_path):
    pgenlib = pytest.importorskip("pgenlib")
    dosages = np.array([[0, 0.5, 2, -9, 1.25]], dtype=np.float32)
    with pgenlib.PgenWriter(
        str(tmp_path / "x.pgen").encode(), 5, 1, nonref_flags=False, dosage_present=True
    ) as writer:
        writer.append_dosages(dosages[0])
    (tmp_path / "x.bim").write_text("1\trs0\t0\t10\tA\tC\n")
    (tmp_path / "x.psam").write_text(PSAM)
    store = pack(tmp_path / "x.pgen", tmp_path / "s")
    assert store.values(0).tolist() == [0, 0.5, 1.25, 2]
    assert store.codes(0).tolist() == [0, 1, 3, 4, 2]
    assert store.variants["allele_1"].to_pylist() == ["A"]


@pytest.mark.smoke
def test_fields_of_a_vcf_zarr(tmp_path):
    path = write_vcz(tmp_path / "x.vcz")
    expected = np.arange(20.0).reshape(4, 5) - 1
    expected[0, 0] = np.nan
    store = pack(path, tmp_path / "s", layer="DP")
    assert_same(store, encode(expected.T, names=VARIANTS["name"]))
    with pytest.raises(ValueError, match="has no layer 'DS'; its layers are DP, genotype"):
        pack(path, tmp_path / "t", layer="DS")
    with pytest.raises(ValueError, match=r"layer='DP' is for .h5ad, .zarr and .vcz files"):
        pack(write_pgen(tmp_path / "x.pgen"), tmp_path / "t", layer="DP")


def test_haploid_calls_of_a_vcf_zarr(tmp_path):
    path = write_vcz(tmp_path / "x.vcz")
    zarr = pytest.importorskip("zarr")
    zarr.open_group(str(path), mode="r+")["call_genotype"][0] = [
        [0, -2],
        [1, -2],
        [-1, -2],
        [0, -1],
        [1, 1],
    ]
    store = pack(path, tmp_path / "s")
    assert store.values(0).tolist() == [0, 1, 2]
    assert store.codes(0).tolist() == [0, 1, 3, 3, 2]


@pytest.mark.smoke
@pytest.mark.parametrize("sample", [False, True])
def test_expected_copies_of_a_bgen_file(tmp_path, sample):
    path = write_bgen(tmp_path / "x.bgen")
    if sample:
        lines = [f"{name} {name} 0 {1 + i % 2}\n" for i, name in enumerate("abcd")]
        (tmp_path / "x.sample").write_text("ID_1 ID_2 missing sex\n0 0 0 D\n" + "".join(lines))
    store = pack(path, tmp_path / "s")
    table = store.as_table()
    expected = PROBABILITIES @ [0, 1, 2]
    decoded = [table.values(j)[table.codes(j)] for j in range(2)]
    np.testing.assert_allclose(decoded, [expected, expected[::-1]], atol=1e-4)
    assert table.codes(2).tolist() == [2, 1, 0, 3]
    assert table.values(2).tolist() == [0, 1, 2]
    np.testing.assert_allclose(table.values(3)[table.codes(3)], [1, 2, 1, 2], atol=1e-2)
    assert store.variants.to_pydict() == {
        "name": ["rs0", "rs1", "rs2", "rs3"],
        "chromosome": ["7", "7", "X", "X"],
        "position": [10, 11, 5, 9],
        "allele_1": ["C", "C", "C,G", "C,G"],
        "allele_2": ["T", "T", "A", "A"],
    }
    names = store.samples.to_pydict()
    assert names["ID_1" if sample else "sample_id"] == list("abcd")
    assert not sample or names["sex"] == [1, 2, 1, 2]


def test_compressed_variants(tmp_path):
    path = write_pgen(tmp_path / "x.pgen")
    whole = pack(path, tmp_path / "s")
    with pa.CompressedOutputStream(str(tmp_path / "x.pvar.zst"), "zstd") as file:
        file.write(PVAR.encode())
    path.with_suffix(".pvar").unlink()
    assert pack(path, tmp_path / "t").variants.equals(whole.variants)


@pytest.mark.parametrize(
    ("part", "count", "message"),
    [
        (b"1\t10\trs\tA\tC\t.\n", 1 << 16, "describes more variants than it can have"),
        (b"0" * 64, 1 << 19, "a line of text has 16,777,216 characters or more"),
    ],
)
def test_variants_that_expand_without_end(tmp_path, part, count, message):
    path = write_pgen(tmp_path / "x.pgen")
    path.with_suffix(".pvar").unlink()
    with pa.CompressedOutputStream(str(tmp_path / "x.pvar.zst"), "zstd") as file:
        file.write(PVAR.encode() + part * count)
    with pytest.raises(ValueError, match=message):
        pack(path, tmp_path / "s")


@pytest.mark.parametrize(
    ("suffix", "text", "message"),
    [
        (".pvar", "#CHROM\tPOS\tREF\tALT\n", "must have the columns #CHROM, POS, ID, REF"),
        (".pvar", "1 x A\n", "a first line of other words"),
        (".pvar", PVAR.replace("\t25\t", "\tx\t"), "another line near variant 1"),
        (".pvar", PVAR[: PVAR.index("2\t3")], "3 variants are described, but it has 4|damaged"),
        (".psam", "I0 1\n", "must begin with a line of names"),
        (".psam", PSAM + "F1\tI5\n", "has 2 words for sample 6, not 5"),
        (".psam", PSAM + "F1\tI5\t1\t1\t1\n", "is damaged|or is damaged"),
    ],
)
def test_files_beside_that_do_not_fit(tmp_path, suffix, text, message):
    path = write_pgen(tmp_path / "x.pgen")
    path.with_suffix(suffix).write_text(text)
    with pytest.raises(ValueError, match=message):
        pack(path, tmp_path / "s")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["x.pgen", "x.psam", "x.pvar"]


def test_damaged_and_missing_files(tmp_path):
    path = write_pgen(tmp_path / "x.pgen")
    path.with_suffix(".psam").unlink()
    with pytest.raises(FileNotFoundError, match=r"needs the .pvar and .psam files"):
        pack(path, tmp_path / "s")
    for name in ("y.bgen", "y.vcz", "z.pgen"):
        (tmp_path / name).write_bytes(b"nothing of the kind")
    (tmp_path / "z.pvar").write_text(PVAR)
    (tmp_path / "z.psam").write_text(PSAM)
    (tmp_path / "w.vcz").mkdir()
    for name in ("y.bgen", "y.vcz", "z.pgen", "w.vcz"):
        with pytest.raises(ValueError, match=f"{name} is not a .* file, or is damaged"):
            pack(tmp_path / name, tmp_path / "s")
    cut = write_bgen(tmp_path / "cut.bgen")
    for other in tmp_path.glob("cut.bgen.*"):
        other.unlink()
    cut.write_bytes(cut.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"cut.bgen is not a BGEN file, or is damaged"):
        pack(cut, tmp_path / "s")
    with pytest.raises(ValueError, match=r"transpose=True is not for .bgen files"):
        pack(write_bgen(tmp_path / "v.bgen"), tmp_path / "s", transpose=True)
    with pytest.raises(ValueError, match="Hint: duramen pack makes a store of it"):
        read_table(cut)
