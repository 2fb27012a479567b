"""Different numbers that are equal as float64 are refused at every door."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.grid import one_test

import duramen as dm
from duramen.data.sources import refuse_merged
from duramen.data.target import encode_target
from duramen.io import read_table
from duramen.theory import FiniteDistribution

BEYOND = "integers beyond 2\\*\\*53|different numbers that are equal as float64"
ROWS = 6
WHOLE = [2**63 + i for i in range(ROWS)]
DECIMALS = [Decimal(2**60 + i) + Decimal("0.5") for i in range(ROWS)]
LONG = np.longdouble(2**60) + np.arange(ROWS)
LONGER = np.dtype(np.longdouble).itemsize > 8


def frames():
    """Return several kinds of table with equal numbers in a column "id"."""
    other = np.arange(ROWS, dtype=float)
    big = pa.array([Decimal(v) for v in WHOLE], pa.decimal128(25, 0))
    huge = pa.array(DECIMALS, pa.decimal256(45, 3))
    return {
        "numpy uint64": np.column_stack([np.array(WHOLE, dtype=np.uint64)] * 2),
        "numpy longdouble": np.column_stack([LONG, np.zeros(ROWS)]),
        "numpy objects": np.array([[v, 0.5] for v in WHOLE], dtype=object),
        "pandas uint64": pd.DataFrame({"id": np.array(WHOLE, dtype=np.uint64), "x": other}),
        "pandas longdouble": pd.DataFrame({"id": LONG, "x": other}),
        "pandas Decimal": pd.DataFrame({"id": pd.Series(DECIMALS, dtype=object), "x": other}),
        "pandas Fraction": pd.DataFrame(
            {"id": pd.Series([Fraction(d) for d in DECIMALS], dtype=object), "x": other}
        ),
        "Arrow uint64": pa.table({"id": pa.array(WHOLE, pa.uint64()), "x": other}),
        "Arrow decimal128": pa.table({"id": big, "x": other}),
        "Arrow decimal256": pa.table({"id": huge, "x": other}),
        "polars UInt64": pl.DataFrame({"id": pl.Series(WHOLE, dtype=pl.UInt64), "x": other}),
        "polars Decimal": pl.DataFrame(
            {"id": pl.Series(DECIMALS, dtype=pl.Decimal(38, 3)), "x": other}
        ),
    }


@one_test
@pytest.mark.parametrize("name", list(frames()))
def test_tables_in_memory(name):
    if "longdouble" in name and not LONGER:
        return
    with pytest.raises(ValueError, match=BEYOND) as error:
        dm.encode(frames()[name])
    assert "column" in str(error.value)
    assert "id" in str(error.value) or "x0" in str(error.value)


@one_test
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@pytest.mark.parametrize("values", [WHOLE, DECIMALS])
def test_text_files(tmp_path, suffix, values):
    separator = "," if suffix == ".csv" else "\t"
    path = tmp_path / f"table{suffix}"
    lines = [f"x{separator}id", *(f"{i}{separator}{v}" for i, v in enumerate(values))]
    path.write_text("\n".join(lines) + "\n")
    for door in (read_table, lambda p: dm.pack(p, tmp_path / "store")):
        with pytest.raises(ValueError, match=BEYOND) as error:
            door(path)
        assert "id" in str(error.value)


def test_parquet_files(tmp_path):
    for number, name in enumerate(name for name in frames() if name.startswith("Arrow")):
        path = tmp_path / f"{number}.parquet"
        pq.write_table(frames()[name], path)
        for door in (lambda p: dm.encode(read_table(p)), lambda p: dm.pack(p, tmp_path / "store")):
            with pytest.raises(ValueError, match=BEYOND) as error:
                door(path)
            assert "id" in str(error.value)


def test_targets():
    exact = [2**60 + np.arange(ROWS), np.array(WHOLE, dtype=np.uint64), WHOLE]
    exact += [pd.Series([float(2**60), *DECIMALS], dtype=object)]
    exact += [pa.array(DECIMALS, pa.decimal128(30, 3)), *([LONG] if LONGER else [])]
    for y in exact:
        with pytest.raises(ValueError, match=BEYOND):
            encode_target(y, "regression")
    survival = pd.DataFrame({"time": exact[0], "event": [True] * ROWS})
    with pytest.raises(ValueError, match="times holds different numbers"):
        encode_target(survival, "survival")


def test_numbers_of_a_distribution():
    dist = FiniteDistribution.from_table([[0], [1], [2]], [2**60, 2**60 + 1, 2**60 + 2])
    with pytest.raises(ValueError, match="the target Y holds different numbers"):
        dm.theory.population_importances(dist, criterion="variance")
    if LONGER:
        with pytest.raises(ValueError, match="different numbers"):
            FiniteDistribution.from_table(pd.DataFrame({"a": LONG}), np.arange(ROWS))


def test_what_stays_different_is_read(tmp_path):
    rounded = [Decimal("0.1"), Decimal("0.2"), Decimal("12345678901.5")]
    frame = pd.DataFrame({"d": pd.Series(rounded, dtype=object), "f": [1e300, 2.0**60, 2.0**60]})
    assert dm.encode(frame).cut_values.tolist() == [0.1, 0.2, 12345678901.5, 2.0**60, 1e300]
    arrow = pa.table({"d": pa.array(rounded, pa.decimal128(38, 10))})
    assert dm.encode(arrow).cut_values.tolist() == [0.1, 0.2, 12345678901.5]
    path = tmp_path / "floats.csv"
    path.write_text("a,b\n1e19,1\n2e19,2\n2.5e300,3\nnan,4\n")
    assert read_table(path).column("a").to_pylist()[:3] == [1e19, 2e19, 2.5e300]
    assert encode_target([2.0**60, 2.0**60, 0.5], "regression").values[0] == 2.0**60
    labels = encode_target(np.array(WHOLE, dtype=np.uint64), "classification")
    assert labels.n_classes == ROWS  # classes need no float64


def test_the_pair_that_is_named():
    with pytest.raises(ValueError, match=f"such as {2**60} and {2**60 + 1}"):
        refuse_merged([0.5, Decimal(2**60), Fraction(2**60 + 1)], "x", "test")
    refuse_merged(np.array([1, 2, 3]), "x", "test")
