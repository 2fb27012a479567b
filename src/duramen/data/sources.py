"""Tables column by column, with one interface for every container that X may be."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from duramen.data.columns import Column, from_arrow, from_objects, numbers, refusal
from duramen.data.schema import default_names, names_of_labels
from duramen.support import checks
from duramen.support.arrays import IntArray, array_of, unmasked
from duramen.support.arrow import pa
from duramen.support.text import first_line

WHOLE_BYTES = 1 << 26  # tables of at most so many bytes are turned into one matrix, which is quick


class Source(Protocol):
    """A table, column by column."""

    n_rows: int
    n_columns: int
    names: tuple[str, ...] | None  # that the container itself gives

    @property
    def matrix(self) -> NDArray[Any] | None:
        """All columns at once, in a type that the kernel reads, where they lie so."""

    @property
    def stored(self) -> Stored | None:
        """All columns at once, where they are sparse."""

    def column(self, j: int, name: str, function: str, kind: str | None = None) -> Column:
        """Return the j-th column.

        `name` and `function` are for errors; `kind` is what the user named the column, which
        decides about the order of its categories.
        """


class Stored(NamedTuple):
    """Values of a sparse matrix that are stored, column after column; all others are 0."""

    starts: IntArray  # of the columns, and the number of values
    rows: NDArray[np.integer]  # ascending within a column
    values: NDArray[Any]  # in a type that the kernel reads

    def part(self, begin: int, end: int) -> Stored:
        """Return the columns from `begin` to `end`."""
        starts = self.starts[begin : end + 1]
        here = slice(int(starts[0]), int(starts[-1]))
        return Stored(starts - starts[0], self.rows[here], self.values[here])


def open_source(X: Any, function: str) -> ArraySource | SparseSource | FrameSource:
    """Return the source of X; raises where X is no table.

    Beside columns for the kernel, it gives the values of a column of any type, as they are.
    """
    X = unmasked(X)
    if type(X).__module__.partition(".")[0] == "scipy" and hasattr(X, "tocsc"):
        return SparseSource(X, function)
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise TypeError(f"{function}: X is a lazy {type(X).__name__}; call its .collect() first")
    labels = None if isinstance(X, np.ndarray) else getattr(X, "columns", None)
    if labels is not None:
        import narwhals as nw

        if type(X).__module__.partition(".")[0] == "pyarrow":
            labels = X.schema.names
            X = pa.Table.from_batches([X]) if isinstance(X, pa.RecordBatch) else X
        names_of_labels(labels, function)  # repeated names have an error of ours
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            return FrameSource(frame, list(labels), function)
    if isinstance(X, str | bytes | dict | set) or X is None:
        raise TypeError(
            f"{function}: X is a {type(X).__name__}; give a two-dimensional array, a data frame, "
            "an Arrow table or a sparse matrix"
        )
    try:
        array = array_of(X)
    except ValueError as error:
        raise ValueError(
            f"{function}: X is ragged, its rows differ in length; give rows of one length ({error})"
        ) from None
    return ArraySource(array, function)


class ArraySource:
    """A NumPy array of two dimensions."""

    names: tuple[str, ...] | None = None
    stored: Stored | None = None

    def __init__(self, X: NDArray[Any], function: str) -> None:
        if X.ndim != 2:
            hint = "reshape it to (n_samples, n_features)"
            if X.ndim < 2:
                hint = "Reshape your data with X.reshape(-1, 1) for one column, X.reshape(1, -1) "
                hint += "for one row"
            raise ValueError(
                f"{function}: expected 2D array, got {X.ndim}D array instead (shape={X.shape}). "
                f"{hint}."
            )
        self.n_rows, self.n_columns = X.shape
        self._array, self._function = np.asarray(X), function

    @cached_property
    def matrix(self) -> NDArray[Any] | None:
        """All columns, unless they are objects or text."""
        if self._array.dtype.kind in "OUT":
            return None
        return numbers(self._array, function=self._function)

    def values(self, j: int) -> NDArray[Any]:
        """Return the values of the j-th column."""
        return self._array[:, j]

    def column(self, j: int, name: str, function: str, kind: str | None = None) -> Column:
        """Return the j-th column."""
        if self.matrix is not None:
            return self.matrix[:, j]
        return from_objects(self.values(j).astype(object), function=function, name=name)


class SparseSource:
    """A scipy sparse matrix, whose columns are read from what is stored of them."""

    names: tuple[str, ...] | None = None
    matrix: NDArray[Any] | None = None

    def __init__(self, X: Any, function: str) -> None:
        if X.ndim != 2:
            raise ValueError(
                f"{function}: expected 2D array, got a sparse array of shape {X.shape}. "
                "Reshape your data to (n_samples, n_features)."
            )
        _check_sparse(X, function)
        self.n_rows, self.n_columns = X.shape
        self._original, self._function = X, function

    @cached_property
    def _columns(self) -> Any:
        columns = self._original.tocsc()
        if not columns.has_canonical_format:
            columns = columns.copy()
            columns.sum_duplicates()
        return columns

    @cached_property
    def _numbers(self) -> NDArray[Any]:
        return numbers(self._columns.data, function=self._function)

    @property
    def n_stored(self) -> int:
        """Number of values that are stored, before duplicates are added up."""
        return int(self._original.nnz)

    @cached_property
    def stored(self) -> Stored | None:
        """All columns at once."""
        columns = self._columns
        return Stored(columns.indptr.astype(np.int64), columns.indices, self._numbers)

    def _dense(self, j: int, data: NDArray[Any]) -> NDArray[Any]:
        begin, end = self._columns.indptr[j : j + 2]
        dense = np.zeros(self.n_rows, dtype=data.dtype)
        dense[self._columns.indices[begin:end]] = data[begin:end]
        return dense

    def values(self, j: int) -> NDArray[Any]:
        """Return the values of the j-th column, dense."""
        return self._dense(j, self._columns.data)

    def column(self, j: int, name: str, function: str, kind: str | None = None) -> Column:
        """Return the j-th column, dense."""
        return self._dense(j, self._numbers)


def _check_sparse(X: Any, function: str) -> None:
    """Check that the indices of a sparse matrix lie within it; SciPy follows any.

    Raises
    ------
    ValueError
        If one does not, or the arrays of the matrix do not fit together.
    """
    try:
        if X.format in ("csr", "csc", "bsr"):
            X.check_format(full_check=True)
        elif X.format == "coo":
            for size, places in zip(X.shape, (X.row, X.col), strict=True):
                if len(places) != len(X.data):
                    raise ValueError("its coordinates are not as many as its values")
                if len(places) and not 0 <= places.min() <= places.max() < size:
                    raise ValueError(f"a coordinate is not in 0..{size - 1}")
    except (ValueError, IndexError) as error:
        raise ValueError(
            f"{function}: the sparse matrix of shape {X.shape} is damaged ({first_line(error)}). "
            "Hint: its arrays were changed after it was made; make it anew"
        ) from None


class FrameSource:
    """A pandas, polars or pyarrow table, or any other that narwhals reads eagerly."""

    stored: Stored | None = None

    def __init__(self, frame: Any, labels: Sequence[Any], function: str) -> None:
        self.n_rows, self.n_columns = frame.shape
        self.names = names_of_labels(labels, function)
        self._frame, self._labels = frame, labels

    @cached_property
    def matrix(self) -> NDArray[Any] | None:
        """All columns as one matrix where they are of one floating type and not large."""
        if self.n_rows * self.n_columns * 8 > WHOLE_BYTES or self.n_columns == 0:
            return None
        import narwhals as nw

        pandas = self._frame.implementation.is_pandas()
        frame = self._frame.to_native() if pandas else self._frame
        types = set(frame.dtypes if pandas else frame.schema.values())
        floating: set[Any] = {nw.Float64(), nw.Float32()}
        if pandas:
            floating = {np.dtype(np.float64), np.dtype(np.float32)}
        if len(types) != 1 or not types <= floating:
            return None
        array: NDArray[Any] = frame.to_numpy()
        return array if array.dtype.kind == "f" and array.ndim == 2 else None

    def values(self, j: int) -> Any:
        """Return the j-th column as the library has it."""
        return self._frame.get_column(self._labels[j]).to_native()

    def column(self, j: int, name: str, function: str, kind: str | None = None) -> Column:
        """Return the j-th column."""
        import narwhals as nw

        series = self._frame.get_column(self._labels[j])
        dtype = series.dtype
        if dtype in (nw.Float64, nw.Float32):
            array = series.to_numpy()
            if array.dtype.kind == "f":
                return numbers(array, function=function, name=name)
        elif (dtype.is_integer() or dtype == nw.Boolean) and not series.null_count():
            array = series.to_numpy()
            if array.dtype.kind in "iub":
                return numbers(array, function=function, name=name)
        elif dtype == nw.Object or str(dtype) == "Unknown":
            array = series.to_numpy()
            if array.dtype == object:
                return from_objects(array, function=function, name=name)
            if array.dtype.kind not in "OUTS":
                return numbers(array, function=function, name=name)
        elif not (dtype.is_numeric() or dtype in (nw.Boolean, nw.String, nw.Categorical, nw.Enum)):
            raise TypeError(refusal(str(dtype), function, name))
        # The chunks of an Arrow column stay as they lie, and its order declared as it was.
        library = series.implementation
        arrow = series.to_native() if library.is_pyarrow() else series.to_arrow()
        ordered = None  # the column's own declaration decides
        if kind == "nominal":
            ordered = False
        elif library.is_polars():  # an enum has an order, but seldom means it
            ordered = kind == "ordinal" and dtype == nw.Enum
        elif kind == "ordinal" and library.is_pandas_like():
            ordered = True
        return from_arrow(arrow, function=function, name=name, ordered=ordered)


def table_like(X: Any) -> Any:
    """Return X, or a list of rows as an array that keeps numbers and strings apart."""
    X = unmasked(X)
    if hasattr(X, "shape") or isinstance(X, str | bytes | dict | set) or X is None:
        return X
    if hasattr(X, "collect") or hasattr(X, "columns"):
        return X
    return array_of(X)


def shape_of(X: Any) -> tuple[int, int] | None:
    """Return the shape of X, or None where it is no table, which the encoder refuses."""
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or not all(shape):
        return None
    return int(shape[0]), int(shape[1])


def names_of(X: Any) -> list[Any] | None:
    """Return the names of the columns of a data frame; None for anything else."""
    if hasattr(X, "as_table"):  # a store, whose schema is read from disk
        return None
    names = getattr(getattr(X, "schema", None), "names", None) or getattr(X, "columns", None)
    return None if names is None or callable(names) else list(names)


def categorical_kinds(
    owner: str, categorical_features: Any, names: Any, n_features: int
) -> dict[int, str] | None:
    """Return the kinds of the columns that ``categorical_features`` makes categorical, by index.

    None and "from_dtype" leave the kinds to the types of the columns (None is returned); a mask of
    p truth values, indices or names make those columns nominal, in addition.
    """
    if categorical_features is None or (
        isinstance(categorical_features, str) and categorical_features == "from_dtype"
    ):
        return None
    one_type = (bool | np.bool_, str, int | np.integer)
    if (
        isinstance(categorical_features, str | bytes | dict)
        or not hasattr(categorical_features, "__len__")
        or not any(all(isinstance(e, kind) for e in categorical_features) for kind in one_type)
    ):
        allowed = "None, 'from_dtype', or a list of column names, of indices, or of p truth values"
        raise checks.refuse(owner, "categorical_features", allowed, categorical_features)
    entries = np.array(categorical_features)
    if not entries.size or entries.tolist() == [False] * n_features:
        return {}
    if entries.dtype != np.bool_:
        entries = entries.astype(object)
    names = default_names(n_features) if names is None else list(names)
    where = f"{owner}: categorical_features"
    return dict.fromkeys(checks.places_of(entries, names, where, "column"), "nominal")


def is_anndata(X: Any) -> bool:
    """Tell whether an object is an AnnData, which need not be installed."""
    return type(X).__module__.partition(".")[0] == "anndata" and hasattr(X, "var_names")


def matrix_of(X: Any, function: str) -> tuple[Any, list[str]]:
    """Return the matrix ``X`` of an AnnData and the names of its variables.

    Raises
    ------
    ValueError
        If it has no matrix.
    """
    matrix = X.to_memory().X if getattr(X, "isbacked", False) else X.X
    if matrix is None:
        raise ValueError(
            f"{function}: the AnnData has no matrix X. Hint: give a layer, X=adata.layers[NAME]."
        )
    return matrix, [str(name) for name in X.var_names]
