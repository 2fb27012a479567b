"""Values that cannot be encoded are refused with the column, the reason and a hint."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from tests.grid import one_test

from duramen.data import encode
from duramen.data.memory import available_bytes

GOOD = np.arange(6.0).reshape(3, 2)
DAY = datetime.datetime(2020, 1, 1)

CASES = [
    (np.zeros((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"),
    (np.zeros((3, 0)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
    (pd.DataFrame(), ValueError, r"0 sample\(s\)"),
    (sp.csr_matrix((0, 2)), ValueError, r"0 sample\(s\)"),
    ([], ValueError, "Reshape your data"),
    (np.arange(3.0), ValueError, "expected 2D array, got 1D array .* Reshape your data"),
    (pl.Series([1.0]), ValueError, "got 1D array"),
    (np.zeros((2, 2, 2)), ValueError, "got 3D array"),
    ([[1, 2], [3]], ValueError, "X is ragged"),
    ("table.csv", TypeError, "X is a str"),
    ({"a": [1]}, TypeError, "X is a dict"),
    (pl.LazyFrame({"a": [1]}), TypeError, r"lazy LazyFrame; call its \.collect\(\)"),
    (GOOD * 1j, ValueError, "Complex data not supported"),
    (np.array([[1j], ["a"]], dtype=object), TypeError, "must be a string or a number"),
    (sp.csr_matrix(GOOD * 1j), ValueError, "Complex data not supported"),
    (GOOD.astype("M8[D]"), TypeError, r"datetime64\[D\].* days since"),
    (GOOD.astype("S"), TypeError, "decode it to text"),
    (pd.DataFrame({"day": [DAY]}), TypeError, "column 'day' is of type Datetime.*days since"),
    (pd.DataFrame({"gap": [DAY - DAY]}), TypeError, "column 'gap' is of type Duration"),
    (pa.table({"at": [DAY.time()]}), TypeError, "column 'at' is of type Time"),
    (pl.DataFrame({"cells": [[1, 2]]}), TypeError, "column 'cells' is of type List.*unnest"),
    (pa.table({"raw": [b"x"]}), TypeError, "column 'raw' is of type Binary.*decode"),
    (pd.DataFrame({"day": pd.Categorical([DAY])}), TypeError, "column 'day' is of type timestamp"),
    (np.array([["a"], [1]], dtype=object), TypeError, "column 'x0' mixes int and str"),
    (np.array([[{}], [1]], dtype=object), TypeError, "column 'x0' is of type dict.* string or"),
    (np.array([[DAY], [None]], dtype=object), TypeError, "column 'x0' is of type datetime"),
    (np.array([["\ud800"]], dtype=object), ValueError, "column 'x0' holds text .* Unicode"),
    (np.array([[10**30], [1]], dtype=object), ValueError, r"integers beyond 2\*\*53"),
    (np.array([[2**64 - 1]], dtype=np.uint64), ValueError, r"integers beyond 2\*\*53"),
    (pl.DataFrame({"n": [2**60, None]}), ValueError, r"column 'n' holds integers beyond 2\*\*53"),
    (pa.table([[1], [2], [3]], names=["a", "b", "a"]), ValueError, "not unique: 'a' occur"),
    (pd.DataFrame(GOOD, columns=["q", "q"]), ValueError, "not unique: 'q' occur"),
    (pd.DataFrame(GOOD, columns=["q", 1]), TypeError, r"only supported if all .*'int', 'str'"),
    (pl.DataFrame({"u": ["a"], "v": [-np.inf]}), ValueError, "column 'v' contains infinity"),
    (sp.csr_matrix([[0, np.inf]]), ValueError, "column 'x1' contains infinity"),
]  # fmt: skip


@one_test
@pytest.mark.parametrize(("X", "error", "message"), CASES)
def test_bad_tables(X: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=r"(?s)encode: .*" + message):
        encode(X)


@one_test
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"names": ["a"]}, ValueError, "names has 1 entries, but X has 2 columns"),
        ({"names": ["a", "a"]}, ValueError, "not unique: 'a' occur"),
        ({"names": ["a", 3]}, TypeError, "names must be a list of strings, got 3"),
        ({"names": "ab"}, TypeError, "names must be a list of strings, got 'ab'"),
        ({"kinds": "number"}, ValueError, "kinds must be .numeric., .* got 'number'"),
        ({"kinds": ["numeric"]}, ValueError, "each of the 2 columns.* got 1 entries"),
        ({"kinds": {"x00": "nominal"}}, ValueError, "'x00', which is none of .* did you mean 'x0'"),
        (
            {"kinds": {None: "nominal"}},
            TypeError,
            "must hold names or indices of columns, got None",
        ),
        ({"kinds": 3}, ValueError, "got 3"),
    ],
)
def test_bad_arguments(arguments: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=r"encode: .*" + message):
        encode(GOOD, **arguments)


def test_strings_cannot_be_numeric() -> None:
    with pytest.raises(
        ValueError, match=r"column 's' must hold numbers to be numeric.* such as '1'"
    ):
        encode(pd.DataFrame({"s": ["1", "2"]}), kinds="numeric")


@pytest.mark.skipif(available_bytes() is None, reason="the system does not say what it has")
@pytest.mark.parametrize(
    "X", [sp.csr_matrix((10**6, 10**7)), np.broadcast_to(np.float64(0), (10**6, 10**7))]
)
def test_absurd_sizes_are_refused_before_any_work(X: object) -> None:
    with pytest.raises(MemoryError, match=r"1000000 x 10000000 codes needs at least (10|1.88) TB"):
        encode(X)


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "bsr_matrix", "coo_matrix"])
def test_indices_outside_a_sparse_matrix_are_refused(kind: str) -> None:
    """SciPy follows them, and the process ends."""
    matrix = getattr(sp, kind)(GOOD)
    places = matrix.row if kind == "coo_matrix" else matrix.indices
    for place in (10**6, -(10**6)):
        places[0] = place
        with pytest.raises(ValueError, match=r"encode: the sparse matrix of shape \(3, 2\) is dam"):
            encode(matrix)
    if kind == "csr_matrix":
        matrix = sp.csr_matrix(GOOD)
        matrix.indptr[1] = 10**6
        with pytest.raises(ValueError, match="is damaged"):
            encode(matrix)
