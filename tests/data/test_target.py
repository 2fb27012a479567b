"""Targets: classes are sorted and coded, numbers are float64, the rest is refused."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.exceptions import DataConversionWarning
from tests.grid import one_test

from duramen.data.target import encode_target
from duramen.findings.table import of_target

WORDS = ["b", "a", "c", "b"]
STRINGS = {
    "list": WORDS,
    "numpy": np.array(WORDS),
    "objects": np.array(WORDS, dtype=object),
    "category": pd.Series(WORDS, dtype="category"),
    "categorical": pd.Categorical(WORDS),
    "polars": pl.Series(WORDS),
    "polars enum": pl.Series(WORDS, dtype=pl.Enum(["c", "b", "a"])),
    "arrow": pa.array(WORDS),
    "arrow chunks": pa.chunked_array([WORDS[:1], WORDS[1:]]),
    "arrow dictionary": pa.array(WORDS).dictionary_encode(),
}


@one_test
@pytest.mark.parametrize("container", STRINGS)
def test_strings_are_classes_from_every_container(container: str) -> None:
    y = STRINGS[container]
    target = encode_target(y, "classification", n_rows=4)
    classes, codes = target.classes, target.values
    assert classes.tolist() == ["a", "b", "c"]
    assert codes.dtype == np.uint32
    assert codes.tolist() == [1, 0, 2, 1]
    assert encode_target(y).task == "classification"


NUMBERS = [2, 1, 3, 2]


@one_test
@pytest.mark.parametrize(
    "y",
    [
        NUMBERS,
        np.array(NUMBERS, dtype=object),
        pd.Series(NUMBERS, dtype="Int64"),
        pa.array(NUMBERS),
        np.array(NUMBERS, dtype=float),
        np.array([decimal.Decimal(v) for v in NUMBERS]),
        pa.array([decimal.Decimal(v) for v in NUMBERS]),
    ],
)
def test_numbers_from_every_container(y: object) -> None:
    target = encode_target(y, "regression").values
    assert target.dtype == np.float64
    assert target.tolist() == [2.0, 1.0, 3.0, 2.0]
    target = encode_target(y, "classification")
    classes, codes = target.classes, target.values
    assert classes.tolist() == [1, 2, 3]
    assert codes.tolist() == [1, 0, 2, 1]


def test_classes_keep_their_type() -> None:
    assert encode_target([True, False], "classification").classes.dtype == bool
    assert encode_target(pl.Series([True, False]), "classification").classes.dtype == bool
    assert encode_target(np.array([3, 1], np.int16), "classification").classes.dtype == np.int16
    assert encode_target(np.array([3.0, 1]), "classification").classes.dtype == np.float64


QUANTILES = np.linspace(0.005, 0.995, 100)


@one_test
@pytest.mark.parametrize(
    ("y", "task"),
    [
        ([True, False], "classification"),
        (["1.5", "2"], "classification"),
        (np.arange(10), "classification"),
        (np.arange(11), "regression"),
        ([*range(17), 0, 1, 2], "regression"),
        (np.arange(40) // 2, "classification"),
        (np.arange(42) // 2, "regression"),
        (np.arange(39) // 2, "regression"),
        (np.arange(1000) % 3, "classification"),
        ([0.0, 1.0], "classification"),
        ([0.0, 1.0, 2.0], "regression"),
        ([0.5, 1.0], "regression"),
        *((stats.poisson(mean).ppf(QUANTILES), "counts") for mean in (1.5, 2, 4)),
        (stats.nbinom(1, 0.3).ppf(QUANTILES), "counts"),
        (np.repeat(np.arange(9), [80, 3, 9, 12, 11, 8, 4, 2, 1]), "counts"),  # zeros in excess
        (np.repeat([1, 2, 3, 5, 6, 7], [70, 76, 17, 13, 9, 29]), "classification"),  # of glass
        (np.repeat(np.arange(7), [20, 41, 5, 13, 4, 8, 10]), "classification"),  # of animals
        (stats.binom(8, 0.5).ppf(QUANTILES).astype(int), "classification"),
        (pd.Series([1, 2], dtype="category"), "classification"),
    ],
)
def test_the_task_that_a_target_suggests(y: object, task: str) -> None:
    if task == "counts":
        y, task = np.asarray(y, dtype=int), "regression"
        assert "distributed as counts" in of_target(y)[0].message
    assert encode_target(y).task == task


def test_a_column_is_flattened_with_a_warning() -> None:
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        target = encode_target(np.array([[1.0], [2.0]]), "regression").values
    assert target.tolist() == [1.0, 2.0]


def test_one_class() -> None:
    with pytest.raises(ValueError, match="fit: y has one class only, 'a'; at least two classes"):
        encode_target(["a", "a"], "classification")
    target = encode_target(["a", "a"], "classification", allow_one_class=True)
    classes, codes = target.classes, target.values
    assert classes.tolist() == ["a"]
    assert codes.tolist() == [0, 0]


DAY = datetime.datetime(2020, 1, 1)
BOTH = ("classification", "regression")


@one_test
@pytest.mark.parametrize("task", BOTH)
@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (None, ValueError, "fit requires y to be passed, but the target y is None"),
        ([], ValueError, "y is empty"),
        ([1.0, np.nan], ValueError, "Input y contains NaN .* at row 1"),
        ([1.0, np.inf], ValueError, "Input y contains infinity .* at row 1"),
        (["a", None], ValueError, "Input y contains NaN .* at row 1"),
        (pd.Series([1, None], dtype="Int64"), ValueError, "Input y contains NaN .* at row 1"),
        (pd.Series(["a", None], dtype="category"), ValueError, "Input y contains NaN"),
        (pl.Series(["a", None]), ValueError, "Input y contains NaN"),
        (pa.array([1, None]), ValueError, "Input y contains NaN"),
        (pa.array([True, None]), ValueError, "Input y contains NaN"),
        (np.eye(2), ValueError, r"1d array, got an array of shape \(2, 2\)"),
        (np.float64(3), ValueError, r"1d array, got an array of shape \(\)"),
        ([[1], [1, 2]], ValueError, "y is ragged"),
        ([1j, 2], ValueError, "Complex data not supported"),
        (np.array(["2020"], "M8[D]"), TypeError, r"datetime64\[D\]"),
        (pa.array([DAY]), TypeError, "datetime64"),
        (np.array(["a", 1], dtype=object), TypeError, "of the types int, str"),
        (sp.csr_matrix([[1.0]]), TypeError, "sparse"),
    ],
)
def test_bad_targets(task: str, y: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        encode_target(y, task)


@one_test
@pytest.mark.parametrize(
    ("y", "task", "message"),
    [
        ([1, 2], "regression", r"inconsistent numbers of samples: \[3, 2\]"),
        ([1, 2, 3], "ranking", r"task must be 'auto', .* got 'ranking'"),
        ([0.5, 1.5, 2.0], "classification", "Unknown label type: continuous"),
        (["1", "a", "2"], "regression", "regression needs numbers, but y holds 'a' at row 1"),
    ],
)
def test_targets_that_do_not_fit_their_task(y: list, task: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        encode_target(y, task, n_rows=3)
