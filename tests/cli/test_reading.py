"""Sample annotations by name, words for missing values and decimal commas, in all commands."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.cli.commands import assert_refused, done, duramen
from tests.io.store.stores import genotypes, write_bed

import duramen as dm
from duramen.findings.table import of_names

N = 60
ORDER = np.random.default_rng(1).permutation(N)


@pytest.fixture
def people():
    """Where they live is what rs20 says."""
    return pd.DataFrame(
        {"IID": [f"I{i}" for i in range(N)], "town": ["north", "south", "south"] * (N // 3)}
    )


def sources(folder):
    """Write genotypes as a PLINK file, a store, an .h5ad file and a table of text."""
    values = genotypes(N, 40)
    values[:, 20] = np.arange(N) % 3
    bed = write_bed(folder / "a.bed", values)
    dm.pack(bed, folder / "store")
    frame = pd.DataFrame(values, columns=[f"rs{j}" for j in range(40)])
    frame.insert(0, "IID", [f"I{i}" for i in range(N)])
    frame.to_csv(folder / "a.csv", index=False)
    dm.pack(frame, folder / "plain")
    return {
        "PLINK": [bed],
        "store": [folder / "store"],
        "text": [folder / "a.csv", "--samples-id", "IID"],
        "store with a column of names": [folder / "plain", "--samples-id", "IID"],
    }


def test_packing_by_name(tmp_path, people):
    (bed,) = sources(tmp_path)["PLINK"]
    people.iloc[ORDER].to_csv(tmp_path / "people.csv", index=False)
    result, run = done(tmp_path / "s", "pack", bed, "--samples", tmp_path / "people.csv")
    assert "note: Rows of samples were paired with those of a.bed by column 'IID'." in result.stderr
    store = dm.open_store(tmp_path / "s")
    assert store.target("town")[1].tolist() == people["town"].tolist()
    words = ["--samples", tmp_path / "people.csv", "--samples-match", "position"]
    people.to_csv(tmp_path / "people.csv", index=False)
    result, run = done(tmp_path / "t", "pack", bed, *words)
    assert run["command"].split()[3:7] == ["--samples", "people.csv", "--samples-match", "position"]
    assert "by position, as asked" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.csv", "--samples", "few.csv"], "lacks 58 of 60: 'I2', 'I3', 'I4', 'I5', 'I6', ..."),
        (["a.csv", "--samples", "few.csv", "--samples-id", "x"], "samples has no column 'x'"),
        (["a.bed", "--samples-match", "fold"], "--samples-match needs --samples FILE"),
        (["a.csv", "--samples-id", "IID"], "--samples-id needs --samples FILE"),
        (
            ["a.bed", "--samples", "few.csv", "--samples-match", "position", "--samples-id", "IID"],
            "give one of them",
        ),
        (["a.bed", "--na-values", "?"], "--na-values is for CSV and TSV files"),
        (["a.csv", "--decimal", ";"], "--decimal must be '.' or ',', got ';'"),
    ],
)
def test_refusals(tmp_path, people, words, message):
    sources(tmp_path)
    people[:2].to_csv(tmp_path / "few.csv", index=False)
    options = [tmp_path / word if word in ("a.bed", "a.csv", "few.csv") else word for word in words]
    assert_refused("rank", tmp_path / "out", [*options, "--target", "town"], message)


def test_a_missing_target_is_reported_with_what_is_odd_about_the_file(tmp_path):
    """Other sheets of a workbook, and a first row that is taken for names."""
    table = pd.DataFrame({"dose": [0.5, 1.5] * 6, "site": ["a", "b"] * 6, "y": [0, 1] * 6})
    with pd.ExcelWriter(tmp_path / "a.xlsx") as book:
        pd.DataFrame({"notes": ["of 2024"]}).to_excel(book, sheet_name="notes", index=False)
        table.to_excel(book, sheet_name="data", index=False)
    table.to_csv(tmp_path / "a.csv", index=False, header=False)
    for name, message in (
        ("a.xlsx", "--sheet data"),
        ("a.csv", "'0.5', 'a', '0' look like values"),
    ):
        words = [tmp_path / name, "--target", "y"]
        assert_refused("rank", tmp_path / "out", words, message)
    words = [tmp_path / "a.csv", "--target", "0", "--test", "none", "--trees", 20]
    result, _ = done(tmp_path / "out", "rank", *words)
    assert "no line of names" in result.stderr
    packed = duramen("pack", tmp_path / "a.csv", "--out", tmp_path / "s")
    assert "no line of names" in packed.stderr


def test_numbers_of_rows_and_features_are_no_names(tmp_path):
    """As in the files of scikit-learn."""
    rows = pd.DataFrame({"a": [0.5, 1.5] * 6, "b": [1.5, 2.5, 3.5] * 4, "y": [0, 1] * 6})
    rows.columns = ["12", "2", "kind"]
    rows.to_csv(tmp_path / "a.csv", index=False)
    words = [tmp_path / "a.csv", "--target", "kind", "--test", "none", "--trees", 20]
    result, _ = done(tmp_path / "out", "rank", *words)
    assert "note: the first line begins with 12 and 2, the numbers of rows" in result.stderr


@pytest.mark.parametrize(
    "names",
    [
        ["0", "1", "2", "3"],  # numbers of columns, among their values or not
        ["7157", "672", "1956", "2064"],  # of genes
        ["dose", "a", "2.5", "age"],
        ["08:00", "09:00", "10:00", "11:00"],  # of times, or places in the genome
    ],
)
def test_names_that_are_numbers_are_names(names):
    columns = [[0, 1, 2], ["a", "b", "b"], [0, 1, 2], [0, 1, 2]]
    assert of_names(pa.table(dict(zip(names, columns, strict=True)))) == []
