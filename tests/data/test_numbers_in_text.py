"""Text that holds numbers of one form is read as numbers, and other text stays as it is."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.grid import one_test

import duramen as dm
from duramen.data import NumbersInTextWarning, numbers_in_text
from duramen.findings.table import merged_labels, of_target
from duramen.io import read_table

RNG = np.random.default_rng(0)
COUNTS = RNG.integers(100, 90_000, 60).tolist()
LARGE = [value + 1000 for value in COUNTS]
SMALL = RNG.uniform(10, 40, 60).round(1).tolist()
SPACE = "\u202f"

# Name: texts, numbers, words of the finding.
READ = {
    "thousands": ([f"{v:,}" for v in COUNTS], COUNTS, "commas separate thousands"),
    "apostrophes": ([f"{v:,}".replace(",", "'") for v in LARGE], LARGE, "apostrophes separate"),
    "spaces": ([f"{v:,}".replace(",", SPACE) for v in LARGE], LARGE, "spaces separate"),
    "currency": ([f"${v:,}.50" for v in LARGE], [v + 0.5 for v in LARGE], "'$' is the unit"),
    "unit": ([f"{v}kg/m2" for v in SMALL], SMALL, "'kg/m2' is the unit"),
    "unit with a space": ([f" {v} mg/dl" for v in COUNTS], COUNTS, "'mg/dl' is the unit"),
    "case of a unit": ([f"{v} {'mg' if v % 2 else 'MG'}" for v in COUNTS], COUNTS, "'mg' is"),
    "percent": ([f"{v} %" for v in SMALL], SMALL, "'%' is the unit"),
    "limits": (["<5", *map(str, COUNTS)], [5, *COUNTS], "'<5' becomes its limit, 5"),
    "limits with a unit": ([">= 100 U/l", *(f"{v} U/l" for v in SMALL)], [100, *SMALL], "limit"),
    "missing": (["n/a", *(f"{v} mm" for v in SMALL)], [None, *SMALL], "'n/a' as missing"),
    "signs": ([f"-${v}" for v in COUNTS], [-v for v in COUNTS], "'$' is the unit"),
}
LETTERS = [f"{i % 12 + 1}{'ABCDEFGH'[i % 8]}" for i in range(60)]
KEPT = {
    "decimal commas": [f"{v}".replace(".", ",") for v in SMALL],
    "three decimals": [f"{v:.3f}".replace(".", ",") for v in RNG.uniform(0, 9, 60)],
    "thousands or decimals": [f"{v:,}" for v in LARGE],
    "large numbers with and without commas": [f"{v:,}" if v % 2 else f"{v}" for v in LARGE],
    "whole numbers": [str(v) for v in COUNTS],
    "wells": LETTERS,
    "stages": ["1a", "2a", "2b", "3c"] * 15,
    "age bands": ["<18", "18-65", ">65"] * 20,
    "dates": [f"{i % 28 + 1}.{i % 12 + 1}.2020" for i in range(60)],
    "codes": [f"{i:03d} mg" for i in range(60)],
    "names with a letter": [f"{i}T" for i in range(60)],
    "few numbers": ["5 mg", "10 mg", "20 mg", "40 mg"] * 15,
    "one word": ["see note", *(f"{v} mg" for v in SMALL)],
}


@one_test
@pytest.mark.parametrize("name", list(READ))
def test_numbers_are_read(name):
    texts, numbers, words = READ[name]
    sure = name == "currency"
    table, (finding,) = numbers_in_text(pa.table({"x": texts}), thousands=sure)
    assert table["x"].to_pylist() == numbers
    assert finding.kind == "numbers in text"
    assert finding.columns == ("x",)
    assert finding.message.startswith("column 'x' has numbers as text, such as ")
    assert words in finding.message
    unread, result = numbers_in_text(pa.table({"x": texts}), as_text=["x"])
    assert unread["x"].to_pylist() == texts
    assert result == ()


@one_test
@pytest.mark.parametrize("name", list(KEPT))
def test_other_text_stays(name):
    table, result = numbers_in_text(pa.table({"x": KEPT[name]}))
    assert table["x"].to_pylist() == KEPT[name]
    assert result == ()


def test_several_units_are_named_and_stay():
    texts = [f"{v} mg/dl" for v in COUNTS] + ["5.2 mmol/l", "6.1 mmol/l"]
    table, (finding,) = numbers_in_text(pa.table({"x": texts}))
    assert table["x"].to_pylist() == texts
    assert finding.kind == "several units"
    assert "several units, 'mg/dl', 'mmol/l';" in finding.message


def test_files_are_read_so(tmp_path):
    frame = pd.DataFrame({"x": [f"{v:,}" for v in LARGE], "y": SMALL})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    with pytest.warns(NumbersInTextWarning, match="commas separate thousands"):
        assert read_table(tmp_path / "a.csv")["x"].to_pylist() == LARGE
    assert read_table(tmp_path / "a.csv", as_text=["x"])["x"].to_pylist() == frame["x"].tolist()
    assert read_table(tmp_path / "a.tsv")["x"].to_pylist() == frame["x"].tolist()  # or decimals
    with pytest.warns(NumbersInTextWarning, match="pack: column 'x' has numbers as text"):
        store = dm.pack(tmp_path / "a.csv", tmp_path / "s")
    assert store.kinds == ("numeric", "numeric")
    assert store.target("x")[1].tolist() == LARGE


# --- targets -------------------------------------------------------------------------------------


def test_labels_that_are_alike_are_merged():
    labels = ["Yes", "No", "yes", " No", "Yes", "no  ", "No", None]
    column, finding = merged_labels(pa.array(labels), "ill")
    assert column.to_pylist() == ["Yes", "No", "Yes", "No", "Yes", "No", "No", None]
    assert "'yes' (1 row) into 'Yes'" in finding.message
    assert merged_labels(pa.array(["a", "b"]), "y")[1] is None
    assert merged_labels(pa.array([1, 2]), "y")[1] is None


@one_test
@pytest.mark.parametrize(
    ("y", "kind", "words"),
    [
        ([0, 1] * 30 + [9], "code outside", "9 in 1 row beside 0, 1"),
        ([1, 2] * 30 + [-9, -9], "code outside", "-9 in 2 rows beside 1, 2"),
        ([0, 1, 2] * 30, "code outside", None),
        ([0, 1] * 30 + [9] * 30, "code outside", None),
        (list(range(1, 27)) * 3, "whole numbers", ""),
        ([0.0, 1.0, 2.0] * 30, "whole numbers", ""),
        ([0.0, 1.0] * 30, "whole numbers", None),
        ([0.5, 1.0] * 30, "whole numbers", None),
        ([0, 1] * 30, "whole numbers", None),
    ],
)
def test_codes_and_whole_numbers_are_reported(y, kind, words):
    results = [finding.message for finding in of_target(y) if finding.kind == kind]
    assert (not results) if words is None else (words in results[0])
    if kind == "whole numbers":
        assert kind not in {finding.kind for finding in of_target(y, "y", "regression")}


def test_points_separate_thousands_beside_decimal_commas():
    values = ["5.416", "61.072", "28.812", "99.001", "1.250"]
    table = pa.table({"income": values, "sum": [f"{value},5 €" for value in values]})
    read, _ = numbers_in_text(table, decimal=",")
    assert read["income"].to_pylist() == [5416, 61072, 28812, 99001, 1250]
    assert read["sum"].to_pylist() == [5416.5, 61072.5, 28812.5, 99001.5, 1250.5]
    # Beside larger numbers without one, a point may be a decimal point.
    mixed, _ = numbers_in_text(pa.table({"income": [*values, "7000,5"]}), decimal=",")
    assert mixed["income"].to_pylist() == [*values, "7000,5"]
    assert numbers_in_text(table.select(["income"]))[1] == ()
