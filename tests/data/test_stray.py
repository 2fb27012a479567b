"""Columns of text that are nearly numbers are pointed out; those that are categories are not."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from tests.grid import one_test

import duramen as dm
from duramen.data import StrayValuesWarning, encode
from duramen.data.text_numbers import stray_values, stray_values_of
from duramen.io import read_table, write_table

RNG = np.random.default_rng(0)
DECIMALS = [f"{value:.2f}" for value in RNG.normal(size=60)]
CHROMOSOMES = [str(c) for c in range(1, 23)] * 10


def stray_finding(values):
    labels, counts = np.unique(np.array(values, dtype=object), return_counts=True)
    finding = stray_values("c", labels.tolist(), counts)
    assert finding == stray_values_of("c", pa.array(values))
    return finding


@one_test
@pytest.mark.parametrize(
    ("values", "stray", "rows"),
    [
        ([*DECIMALS, "?", "?"], ("?",), 2),
        ([*DECIMALS, "n/a", "?", "?"], ("?", "n/a"), 3),
        ([*DECIMALS, "<0.01"], ("<0.01",), 1),
        ([*"123456789", "10", "?"] * 4, ("?",), 4),  # grades 1 to 10
        ([*"01", "?"] * 9, ("?",), 9),
        ([*map(str, range(60)), "none of them"] * 2, ("none of them",), 2),
        (["?"] * 70 + DECIMALS[:10], ("?",), 70),
        (["1e-3", "2E4", " 5.", "-.5", "+7", *DECIMALS, "missing"], ("missing",), 1),
        (DECIMALS, (), 0),
    ],
)
def test_numbers_with_stray_values(values, stray, rows):
    result = stray_finding(values)
    assert (result.values, result.n_rows, result.commas) == (stray, rows, False)
    assert result.fraction == pytest.approx(1 - rows / len(values))
    assert ("as text" in result.describe()) == (not stray)


def test_decimal_commas():
    finding = stray_finding([text.replace(".", ",") for text in DECIMALS])
    assert finding.commas
    assert finding.fraction == 1
    assert "numbers with commas, such as '" in finding.describe()
    assert stray_finding([f"{number:,}" for number in range(1000, 90_000, 500)]).commas
    assert stray_finding([*(text.replace(".", ",") for text in DECIMALS), "?", "3"]).commas


@one_test
@pytest.mark.parametrize(
    "values",
    [
        [*CHROMOSOMES, "X", "X", "Y"],
        [*CHROMOSOMES, "X", "Y", "MT"],
        ["1,1", "1,2", "2,2"] * 20,  # pairs of alleles
        [f"{number:05d}" for number in range(200)],  # postal codes
        [str(number) for number in range(1000, 1200)],  # numbers that were made text
        ["250.83", "401", "V27", "E909"] * 9,  # codes of diagnoses
        ["red", "green", "1"] * 9,
        ["?", "-"],
        ["?", "1"] * 5,
        [f"p{number}" for number in range(900)],
        ["2020-01-01", "2020-01-02"] * 9,
    ],
)
def test_categories(values):
    assert stray_finding(values) is None


def test_columns_of_other_types_are_none_of_its_business():
    dictionary = pa.array(["1.5", "?"] * 20).dictionary_encode()
    for array in (pa.array([1, 2]), dictionary, pa.array([None], pa.string())):
        assert stray_values_of("c", array) is None


FRAMES = {
    "numpy": lambda c: np.array([[v] for v in c], dtype=object),
    "pandas": lambda c: pd.DataFrame({"x0": c}),
    "polars": lambda c: pl.DataFrame({"x0": c}),
    "pyarrow": lambda c: pa.table({"x0": c}),
}


@one_test
@pytest.mark.parametrize("container", list(FRAMES))
def test_encode_warns_where_it_was_called(container):
    X = FRAMES[container]([*DECIMALS, "?", None])
    with pytest.warns(
        StrayValuesWarning, match=r"column 'x0' has numbers in 98 % of .* '\?' in 1 r"
    ):
        table = encode(X)
    assert table.kinds == ("nominal",)
    with pytest.warns(StrayValuesWarning) as caught:
        dm.RandomForestClassifier(2, random_state=0).fit(X, np.arange(62) % 2)
    assert [warning.filename for warning in caught] == [__file__]
    assert caught[0].message.columns[0].values == ("?",)


def test_saying_that_it_is_meant_so():
    frame = pd.DataFrame({"c": [*DECIMALS, "?"], "n": 1.0})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode(frame, kinds={"c": "nominal"})
        encode(frame.astype({"c": "category"}))
        dm.RandomForestClassifier(2, categorical_features=["c"]).fit(frame, np.arange(61) % 2)


# --- reading them as numbers ---------------------------------------------------------------------


@pytest.mark.parametrize("quote", ["", '"'])
def test_words_for_missing_values(tmp_path, quote):
    lines = [f"{quote}{value}{quote},{quote}a{quote}" for value in ["1.5", "?", "NA", "-9", "2"]]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["x,w", *lines]))
    table = read_table(path, na_values=["?", "-9"])
    assert table.column("x").to_pylist() == [1.5, None, None, None, 2.0]
    with pytest.warns(StrayValuesWarning, match="pack: column 'x'"):
        dm.pack(pa.table({"x": [*DECIMALS, "?"]}), tmp_path / "t")
    store = dm.pack(path, tmp_path / "s", na_values=["?", "-9"])
    assert store.kinds == ("numeric", "nominal")
    assert store.values(0).tolist() == [1.5, 2.0]


def test_decimal_commas_in_files(tmp_path):
    (tmp_path / "a.tsv").write_text("x\ty\n0,5\t1\n1,25\t2\n")
    assert read_table(tmp_path / "a.tsv", decimal=",").column("x").to_pylist() == [0.5, 1.25]
    (tmp_path / "b.csv").write_text('x,y\n"0,5",1\n"1,25",2\n')
    assert read_table(tmp_path / "b.csv", decimal=",").column("x").to_pylist() == [0.5, 1.25]
    store = dm.pack(tmp_path / "a.tsv", tmp_path / "s", decimal=",")
    assert store.values(0).tolist() == [0.5, 1.25]
    small = dm.pack(tmp_path / "b.csv", tmp_path / "t", decimal=",", memory="1MB")
    assert small.fingerprint() == store.fingerprint()


def test_options_of_text_are_refused_for_tables(tmp_path):
    table = pa.table({"x": [1]})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"separator must not be given for a\.parquet"):
        read_table(tmp_path / "a.parquet", separator=";")
    with pytest.raises(ValueError, match="na_values must not be given for a table"):
        dm.pack(table, tmp_path / "s", na_values=["?"])


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.arrow"])
def test_numbers_that_are_missing_in_files_of_all_kinds(name, tmp_path):
    rows = {"x": [1.5, -99.0, 2.0], "n": [-99, 7, 8], "word": ["?", "A", "-99"]}
    table = pa.table({**rows, "small": pa.array([1, 2, 3], pa.int8())})
    if name == "a.csv":
        write_table(table, tmp_path / name)
    else:
        writing = pa.parquet.write_table if name == "a.parquet" else pa.feather.write_feather
        writing(table, tmp_path / name)
    read = read_table(tmp_path / name, na_values=["-99", "?", "1e300"])
    assert read.drop_columns("small").to_pydict() == {
        "x": [1.5, None, 2.0],
        "n": [None, 7, 8],
        "word": [None, "A", None],
    }
    store = dm.pack(tmp_path / name, tmp_path / "s", na_values=["-99", "?", "1e300"])
    assert store.fingerprint() == dm.pack(read, tmp_path / "t").fingerprint()
