"""Types of arrays, masked arrays, and numbers whose squares float64 can hold."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.support.arrow import pa, pc

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Arrays: TypeAlias = dict[str, NDArray[Any]]
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
"""Seed, or a source of random numbers from which one is drawn."""


class DataFrame(Protocol):
    """Data frame of pandas or polars, or a table of pyarrow."""

    @property
    def columns(self) -> Any:
        """Names of the columns; of pyarrow, the columns."""


class SparseMatrix(Protocol):
    """Sparse matrix or array of SciPy."""

    def tocsc(self) -> Any:
        """Return the matrix by columns."""


class AnnData(Protocol):
    """Annotated matrix: values, observations and variables."""

    @property
    def obs(self) -> Any:
        """Annotations of the rows."""

    @property
    def var(self) -> Any:
        """Annotations of the columns."""


class EncodedRows(Protocol):
    """Table of this package: a `LearningSet`, an `EncodedTable` or a `ColumnStore`."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""


TableLike: TypeAlias = (
    ArrayLike | DataFrame | SparseMatrix | AnnData | EncodedRows | PathLike[str] | str
)
"""Table, in memory or on disk."""

_MISSING: dict[str, Any] = {"f": np.nan, "c": np.nan, "m": "NaT", "M": "NaT"}


def unmasked(values: Any) -> Any:
    """Return a masked array as a plain array whose masked entries are missing values.

    NumPy's functions, `numpy.asarray` among them, take what lies under a mask for data. Anything
    else is returned as it is. Where entries are masked, floating-point numbers, complex numbers,
    dates and times get NaN or NaT in their place, integers and truth values become float64 with NaN
    (objects with None where float64 cannot hold them), all other types objects with None.
    """
    if not isinstance(values, np.ma.MaskedArray):
        return values
    data: NDArray[Any] = np.asarray(values.data)
    mask = np.ma.getmaskarray(values)
    if data.dtype.names is not None or not mask.any():
        return data
    kind = data.dtype.kind
    if kind in "iub" and (np.abs(data.astype(np.float64)) <= 2.0**53).all():
        data, kind = data.astype(np.float64), "f"
    missing = _MISSING.get(kind)
    plain = data.astype(object) if missing is None else data.copy()
    plain[mask] = missing
    return plain


def is_structured(y: Any) -> bool:
    """Return whether a target is a structured array of two fields, besides one named entry."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    return names is not None and len([name for name in names if name != "entry"]) == 2


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ in {"NAType", "NaTType", "MaskedConstant"}:
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return isinstance(value, (float, np.floating)) and bool(value != value)


def array_of(values: Any) -> NDArray[Any]:
    """Return values as an array without a mask; numbers among strings stay numbers."""
    values = unmasked(values)
    array: NDArray[Any] = np.asarray(values)
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        array = np.array(values, dtype=object)  # numbers would have become strings
    return array


def refuse_masked(values: Any, parameter: str, function: str) -> Any:
    """Return values without their mask; raise ValueError with the first row that is masked."""
    if isinstance(values, np.ma.MaskedArray) and (mask := np.ma.getmaskarray(values)).any():
        row = int(np.argwhere(mask)[0][0]) if mask.ndim else 0
        raise ValueError(
            f"{function}: {parameter} must not be masked, but row {row} is. Hint: leave such rows "
            "out of everything that has a value for each row."
        )
    return unmasked(values)


# Powers of these, and of 1 / these, are normal: the fourth, which standard errors take, and the
# square.
OF_SAMPLES, OF_DISTRIBUTIONS = 1e70, 1e150


def of_unit_size(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide finite numbers by the power of two just above the largest.

    For what depends on neither their scale nor their unit: differences and squares of the result
    stay in the range of float64, and ratios are exact, except that numbers some 1e-308 times the
    largest or less become 0.
    """
    exponent = int(np.frexp(np.abs(numbers).max(initial=0.0))[1])
    return np.ldexp(numbers, -exponent)


def check_magnitude(
    numbers: NDArray[np.float64], parameter: str, function: str, largest: float = OF_SAMPLES
) -> None:
    """Check that variances of finite numbers are in the range of float64.

    Beyond it they become infinite, or 0, and importances with them. Numbers above `largest` in size
    are refused, and those that differ by less than 1 / `largest` without being equal.
    """
    size = float(np.abs(numbers).max(initial=0.0))
    spread = float(np.ptp(numbers)) if 0 < size <= largest else 0.0
    if size > largest:
        got, hint = f"a number of size {size:.3g}", "divide"
    elif 0 < spread < 1 / largest:
        got, hint = f"different numbers within {spread:.3g}", "multiply"
    else:
        return
    raise ValueError(
        f"{function}: {parameter} must hold numbers up to {largest:.0e} in size that are equal or "
        f"lie {1 / largest:.0e} or more apart, got {got}: the variance is out of the range of "
        f"float64. Hint: {hint} {parameter} by a power of ten."
    )


def ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """Return the numbers starts[i] .. starts[i] + sizes[i] - 1, end to end."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.repeat(starts - (ends - sizes), sizes) + np.arange(total))


def native_frame(columns: Mapping[str, Any]) -> Any:
    """Return a frame of pandas, polars or pyarrow, the first that is installed."""
    import narwhals.stable.v2 as nw

    backend: Literal["pandas", "polars", "pyarrow"] = "pyarrow"
    if importlib.util.find_spec("pandas") is not None:
        backend = "pandas"
    elif importlib.util.find_spec("polars") is not None:
        backend = "polars"
    return nw.from_dict(dict(columns), backend=backend).to_native()


def arrow_array(values: Any) -> Any:
    """Return values as an Arrow array; None and NaN are missing."""
    if isinstance(values, pa.ChunkedArray | pa.Array):
        return values
    return pa.array(values, from_pandas=True)


def are_missing(values: Any) -> NDArray[np.bool_]:
    """Tell which values are missing."""
    return np.asarray(pc.is_null(arrow_array(values), nan_is_null=True))
