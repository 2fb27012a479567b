"""Tables column by column, with one interface for every container that X may be.

A column is either an array of numbers, NaN standing for missing, in one of the types that the
kernel reads, or `Categories`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen.data.schema import default_names, name_of_label, names_of_labels
from duramen.support import checks
from duramen.support.arrays import IntArray, array_of, is_missing, unmasked
from duramen.support.arrow import is_number, is_text, pa, pc
from duramen.support.text import first_line, quoted

LARGEST_EXACT = 2**53
"""float64 holds every integer up to here, and not every one beyond."""

_WHOLE_BYTES = 1 << 26  # largest table in bytes that becomes one matrix, which is quick
_EXACT_DIGITS = 15  # decimals with up to this number of digits stay distinct
_WIDER = {"i1": np.int16, "u2": np.int32, "u4": np.int64, "f2": np.float32}
_NUMBERS = (bool, int, float, np.number, np.bool_, Decimal, Fraction)
_INTEGERS = (int, np.integer, bool, np.bool_)


@dataclass(frozen=True)
class Categories:
    """A column of categories."""

    codes: NDArray[np.uint32]  # dense codes; ``len(labels)`` where the value is missing
    labels: NDArray[Any]  # in code order; each occurs in the column
    ordered: bool  # whether the order of the labels was declared
    missing: bool  # whether any value is missing
    text: bool = False  # whether it came as plain text, not as categories that somebody declared


Column: TypeAlias = NDArray[Any] | Categories


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


class Source(Protocol):
    """A table, column by column."""

    n_rows: int
    n_columns: int
    names: tuple[str, ...] | None  # that the container itself gives
    named: bool  # whether they were text, as scikit-learn asks of names

    @property
    def matrix(self) -> NDArray[Any] | None:
        """All columns as one matrix of a type that the kernel reads, if they are stored so."""

    @property
    def stored(self) -> Stored | None:
        """All columns as one sparse matrix, if they are sparse."""

    def column(self, j: int, name: str, function: str, kind: str | None = None) -> Column:
        """Return the j-th column.

        `name` and `function` are for errors; `kind` is what the user named the column, which
        decides about the order of its categories.
        """


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
        names = names_of_labels(labels, function)  # repeated names have an error of ours
        types = {type(label) for label in labels}
        if len(types) > 1 and any(issubclass(kind, str) for kind in types):
            shown = sorted(kind.__qualname__ for kind in types)
            raise TypeError(
                f"{function}: Feature names are only supported if all input features have string "
                f"names, but your input has {shown} as feature name / column name types. If you "
                "want feature names to be stored and validated, you must convert them all to "
                "strings, by using X.columns = X.columns.astype(str) for example."
            )
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            return FrameSource(frame, list(labels), names)
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
    named: bool = False
    stored: Stored | None = None

    def __init__(self, X: NDArray[Any], function: str) -> None:
        if X.ndim != 2:
            raise ValueError(
                f"{function}: expected 2D array, got {X.ndim}D array instead (shape={X.shape}). "
                "Reshape your data to (n_samples, n_features): X.reshape(-1, 1) for one column, "
                "X.reshape(1, -1) for one row."
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
    """A scipy sparse matrix, whose columns are read from their stored entries."""

    names: tuple[str, ...] | None = None
    named: bool = False
    matrix: NDArray[Any] | None = None

    def __init__(self, X: Any, function: str) -> None:
        if X.ndim != 2:
            raise ValueError(
                f"{function}: expected 2D array, got a sparse array of shape {X.shape}. "
                "Reshape your data to (n_samples, n_features)."
            )
        try:  # SciPy follows any index
            if X.format in ("csr", "csc", "bsr"):
                X.check_format(full_check=True)
            elif X.format == "coo":
                for size, places in zip(X.shape, (X.row, X.col), strict=True):
                    if len(places) != len(X.data):
                        raise ValueError("the numbers of its coordinates and values differ")
                    if len(places) and not 0 <= places.min() <= places.max() < size:
                        raise ValueError(f"a coordinate is not in 0..{size - 1}")
        except (ValueError, IndexError) as error:
            raise ValueError(
                f"{function}: the sparse matrix of shape {X.shape} is damaged "
                f"({first_line(error)}). Hint: its arrays were changed after it was made; make it "
                "anew"
            ) from None
        self.n_rows, self.n_columns = X.shape
        self.n_stored = int(X.nnz)  # before duplicates are added up
        self._original, self._function = X, function

    @cached_property
    def _columns(self) -> Any:
        columns = self._original.tocsc()
        if not columns.has_canonical_format:
            columns = columns.copy()
            columns.sum_duplicates()
        return columns

    @cached_property
    def stored(self) -> Stored:
        """All columns at once."""
        columns = self._columns
        values = numbers(columns.data, function=self._function)
        return Stored(columns.indptr.astype(np.int64), columns.indices, values)

    def values(self, j: int) -> NDArray[Any]:
        """Return the values of the j-th column, dense."""
        return self._dense(j, self._columns.data)

    def column(self, j: int, name: str, function: str, kind: str | None = None) -> Column:
        """Return the j-th column, dense."""
        return self._dense(j, self.stored.values)

    def _dense(self, j: int, data: NDArray[Any]) -> NDArray[Any]:
        begin, end = self._columns.indptr[j : j + 2]
        dense = np.zeros(self.n_rows, dtype=data.dtype)
        dense[self._columns.indices[begin:end]] = data[begin:end]
        return dense


class FrameSource:
    """A pandas, polars or pyarrow table, or any other that narwhals reads eagerly."""

    names: tuple[str, ...] | None
    stored: Stored | None = None

    def __init__(self, frame: Any, labels: Sequence[Any], names: tuple[str, ...]) -> None:
        self.n_rows, self.n_columns = frame.shape
        self.names: tuple[str, ...] | None = names
        self.named = all(isinstance(label, str) for label in labels)
        self._frame, self._labels = frame, labels

    @cached_property
    def matrix(self) -> NDArray[Any] | None:
        """All columns as one matrix where they are of one floating type and not large."""
        if self.n_rows * self.n_columns * 8 > _WHOLE_BYTES or self.n_columns == 0:
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
        elif library.is_polars():  # which exports the order of an enum as none
            ordered = dtype == nw.Enum
        elif kind == "ordinal" and library.is_pandas_like():
            ordered = True
        return from_arrow(arrow, function=function, name=name, ordered=ordered)


def describe(name: str | None) -> str:
    """Return the name of a column for errors."""
    return "X" if name is None else f"column {quoted(name)}"


def refusal(type_name: str, function: str, name: str | None) -> str:
    """Return the message for a type that cannot be encoded, with a hint."""
    hints = {
        "turn it into numbers first, for instance days since a date; duramen.read does so": (
            "date time duration period"
        ),
        "decode it to text first": "bytes binary large_binary |s fixed_size_binary",
        "unnest it into columns of their own first": (
            "list struct array large_list map fixed_size_list"
        ),
    }
    hint = "each entry of this argument must be a string or a number: convert it first"
    for advice, begins in hints.items():
        if type_name.lower().startswith(tuple(begins.split())):
            hint = advice
    return (
        f"{function}: {describe(name)} is of type {type_name}; columns hold numbers, booleans, "
        f"strings or categories: {hint}"
    )


def too_large(function: str, name: str | None) -> str:
    """Return the message for integers that float64 cannot hold."""
    return (
        f"{function}: {describe(name)} holds integers beyond 2**53, which cannot be told apart as "
        "float64; if they are identifiers, leave the column out or treat it as categorical "
        f"(kinds={{{quoted(name)}: 'nominal'}}), else subtract an offset or convert it to float64"
    )


def infinite(function: str, name: str | None) -> str:
    """Return the message for infinities."""
    return (
        f"{function}: {describe(name)} contains infinity (inf); only finite values and missing "
        "ones (NaN) are allowed: replace infinities by NaN (na_values=['inf'] in files of text) or "
        "by a large finite value"
    )


def refuse_merged(numbers: NDArray[Any] | Iterable[Any], what: str, function: str) -> None:
    """Raise ValueError if two different numbers are equal as float64; `what` names the column.

    The numbers are an array of any type, or of Python: int, float, Decimal or Fraction, finite.
    """
    pair = None
    if isinstance(numbers, np.ndarray) and numbers.dtype != object:
        distinct = np.unique(numbers)
        equal = np.flatnonzero(np.diff(distinct.astype(np.float64)) == 0)
        pair = (distinct[equal[0]], distinct[equal[0] + 1]) if len(equal) else None
    else:
        wide = np.dtype(np.longdouble).itemsize > 8  # such numbers stay as NumPy has them
        first: dict[float, Any] = {}
        for number in numbers:
            if isinstance(number, np.generic) and not (wide and isinstance(number, np.longdouble)):
                number = number.item()
            other = first.setdefault(float(number), number)
            if other != number:
                pair = other, number
                break
    if pair is not None:
        raise ValueError(
            f"{function}: {what} holds different numbers that are equal as float64, such as "
            f"{pair[0]} and {pair[1]}; if they are identifiers, leave the column out or convert it "
            "to categories, else subtract an offset"
        )


def numbers(array: NDArray[Any], *, function: str, name: str | None = None) -> NDArray[Any]:
    """Return an array in a type that the kernel reads; a view where possible.

    Raises
    ------
    ValueError
        If the numbers are complex, unsigned integers beyond 2**53, or different ones that are
        equal as float64.
    TypeError
        If it holds dates, times, bytes or records.
    """
    kind = array.dtype.kind
    if kind == "b":
        return array.view(np.uint8)
    if kind == "c":
        raise ValueError(
            f"{function}: Complex data not supported: {describe(name)} is of type {array.dtype}; "
            "pass its real and imaginary parts, or modulus and angle, as columns of their own"
        )
    if kind not in "iuf":
        raise TypeError(refusal(str(array.dtype), function, name))
    odd_strides = any(stride % array.itemsize for stride in array.strides)
    if not array.dtype.isnative or not array.flags.aligned or odd_strides:
        array = array.astype(array.dtype.newbyteorder("="), order="K")
    if array.dtype == np.uint64:
        if array.size and int(array.max()) >= 2**63:
            raise ValueError(too_large(function, name))
        return array.astype(np.int64, order="K")
    if array.dtype.itemsize > 8:
        for j, column in enumerate(array.T if array.ndim > 1 else [array]):
            refuse_merged(column, describe(f"x{j}" if array.ndim > 1 else name), function)
        return array.astype(np.float64, order="K")
    wider = _WIDER.get(array.dtype.str[1:])
    return array if wider is None else array.astype(wider, order="K")


def from_objects(array: NDArray[Any], *, function: str, name: str | None) -> Column:
    """Make a column from an array of Python objects: all numbers, or all strings, or missing."""
    values = [None if is_missing(value) else value for value in array]
    present = [value for value in values if value is not None]
    types = set(map(type, present))
    if types and all(issubclass(t, str) for t in types):
        try:
            texts = pa.array([None if v is None else str(v) for v in values], pa.large_string())
        except UnicodeEncodeError:
            raise ValueError(
                f"{function}: {describe(name)} holds text that is not valid Unicode (a lone "
                "surrogate); decode the file that it came from with the right encoding"
            ) from None
        return from_arrow(texts, function=function, name=name)
    odd = sorted(t.__name__ for t in types if not issubclass(t, (*_NUMBERS, str)))
    if odd:
        raise TypeError(refusal(odd[0], function, name))
    if not all(issubclass(t, _NUMBERS) for t in types):
        shown = " and ".join(sorted(t.__name__ for t in types))
        raise TypeError(
            f"{function}: {describe(name)} mixes {shown}; a column holds numbers or strings, "
            "not both: convert it to one type"
        )
    if any(issubclass(t, np.complexfloating) for t in types):
        return numbers(array.astype(complex), function=function, name=name)
    try:
        if types and all(issubclass(t, _INTEGERS) for t in types) and len(present) == len(values):
            return np.array([int(value) for value in present], dtype=np.int64)
        if any(isinstance(v, _INTEGERS) and abs(int(v)) > LARGEST_EXACT for v in present):
            raise OverflowError
        refuse_merged(present, describe(name), function)
        return np.array([np.nan if v is None else float(v) for v in values], dtype=np.float64)
    except OverflowError:
        raise ValueError(too_large(function, name)) from None


def from_arrow(
    array: pa.Array | pa.ChunkedArray,
    *,
    function: str,
    name: str | None,
    ordered: bool | None = None,
) -> Column:
    """Make a column from an Arrow array.

    Whether the order of a dictionary is one of meaning is by default what its type says. Categories
    are those that occur; their labels are sorted, unless their order is one of meaning.
    """
    if pa.types.is_null(array.type):
        return np.full(len(array), np.nan)
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.uint8())
    elif pa.types.is_decimal(array.type):
        array = of_decimals(array, describe(name), function)
    if is_number(array.type):
        values = np.asarray(array)
        if array.null_count and pa.types.is_integer(array.type):
            values = values.astype(np.float64)
            if np.nanmax(np.abs(values), initial=0.0) >= LARGEST_EXACT:
                raise ValueError(too_large(function, name))
        return numbers(values, function=function, name=name)
    if isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries().combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0) if array.num_chunks else pa.array([], array.type)
    text = is_text(array.type) or "string_view" in str(array.type)
    if text:
        array = pc.dictionary_encode(array.cast(pa.large_string()))
    if not pa.types.is_dictionary(array.type):
        raise TypeError(refusal(str(array.type), function, name))
    ordered = not text and bool(array.type.ordered if ordered is None else ordered)
    dictionary = array.dictionary
    if "string_view" in str(dictionary.type):
        dictionary = dictionary.cast(pa.large_string())
    kind = dictionary.type
    as_objects = is_text(kind) or pa.types.is_null(kind)
    if not (as_objects or is_number(kind) or pa.types.is_boolean(kind)):
        raise TypeError(refusal(str(kind), function, name))
    if pa.types.is_floating(kind):
        dictionary = pc.if_else(pc.is_nan(dictionary), pa.scalar(None, kind), dictionary)
    index = array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    # A dictionary may repeat a value or hold a null; afterwards each value has one position.
    single = pc.dictionary_encode(dictionary)
    if len(single.dictionary) < len(dictionary):
        position = single.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        index = np.where(index < 0, -1, position[index])
        dictionary = single.dictionary
    occurs = np.zeros(len(dictionary) + 1, dtype=bool)
    occurs[index] = True
    order = np.arange(len(dictionary))
    if not ordered:
        order = pc.array_sort_indices(dictionary).to_numpy(zero_copy_only=False).astype(np.int64)
    order = order[occurs[order]]
    code = np.full(len(dictionary) + 1, len(order), dtype=np.uint32)
    code[order] = np.arange(len(order), dtype=np.uint32)
    labels = dictionary.take(pa.array(order)).to_numpy(zero_copy_only=False)
    labels = labels.astype(object) if as_objects else labels
    return Categories(code[index], labels, ordered, bool(occurs[-1]), text)


def of_decimals(array: Any, what: str, function: str) -> Any:
    """Return Arrow decimals as float64; refuse distinct numbers that would become equal."""
    if array.type.precision > _EXACT_DIGITS:
        distinct = [number for number in array.unique().to_pylist() if number is not None]
        refuse_merged(distinct, what, function)
    return array.cast(pa.float64())


def categories_of_numbers(array: NDArray[Any]) -> Categories:
    """Return numbers as categories, which are exact for numbers of any size."""
    values, codes = np.unique(array, return_inverse=True)
    missing = bool(len(values) and values[-1] != values[-1])
    return Categories(
        codes.astype(np.uint32), values[: len(values) - missing], ordered=False, missing=missing
    )


def numbers_of_categories(
    labels: NDArray[Any], codes: NDArray[Any], *, function: str, name: str | None
) -> NDArray[Any]:
    """Return the values of a column whose categories are numbers."""
    if labels.dtype == object and len(labels):
        example = labels[0]
        raise ValueError(
            f"{function}: {describe(name)} must hold numbers to be numeric, got strings such as "
            f"{example!r}; convert it to numbers, or let it be nominal"
        )
    return np.asarray(np.append(labels.astype(np.float64), np.nan)[codes])


def table_like(X: Any) -> Any:
    """Return X, or a list of rows as an array that keeps numbers and strings apart."""
    X = unmasked(X)
    if hasattr(X, "shape") or isinstance(X, str | bytes | dict | set) or X is None:
        return X
    if hasattr(X, "collect") or hasattr(X, "columns"):
        return X
    return array_of(X)


def shape_of(X: Any) -> tuple[int, int] | None:
    """Return the shape of X, or None if it is no table."""
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or not all(shape):
        return None
    return int(shape[0]), int(shape[1])


def names_of(X: Any) -> list[str] | None:
    """Return the names of the columns of a data frame; None for anything else."""
    if hasattr(X, "as_table"):  # a store, whose schema is read from disk
        return None
    arrow = type(X).__module__.partition(".")[0] == "pyarrow"
    names = X.schema.names if arrow else getattr(X, "columns", getattr(X, "names", None))
    return None if names is None or callable(names) else list(map(name_of_label, names))


def aligned(values: Any, index: Any, parameter: str) -> Any:
    """Return a series of pandas in the order of the rows of a table.

    Labels 0, 1, ... of a series are no names of rows, so that it is paired by position.

    Raises
    ------
    ValueError
        If the series has labels that the table lacks.
    """
    counted = getattr(values.index, "start", None) == 0 and getattr(values.index, "step", None) == 1
    if index is None or counted or len(values) != len(index) or values.index.equals(index):
        return values
    if values.index.is_unique and index.is_unique and values.index.isin(index).all():
        return values.reindex(index)
    odd = values.index[~values.index.isin(index)]
    lacking = f"such as {quoted(odd[0])}" if len(odd) else "in another order, some repeated"
    raise ValueError(
        f"read: {parameter} has row labels that are not in the table, {lacking}; align "
        f"both by their index, or give {parameter} as an array, to pair rows by position"
    )


def with_text_names(X: Any, function: str) -> Any:
    """Return a data frame of pandas whose labels of columns are text; others as they are."""
    if type(X).__module__.partition(".")[0] != "pandas":
        return X
    names = names_of_labels(X.columns, function)
    if all(isinstance(label, str) for label in X.columns):
        return X
    X = X.copy(deep=False)
    X.columns = list(names)
    return X


def categorical_kinds(
    owner: str, categorical_features: Any, names: Any, n_features: int
) -> dict[int, str] | None:
    """Return the kinds of the columns that ``categorical_features`` makes categorical, by index.

    None and "from_dtype" leave the kinds to the types of the columns (None is returned); a mask of
    p truth values, indices or names make those columns nominal, in addition.
    """
    listed = categorical_features
    if listed is None or (isinstance(listed, str) and listed == "from_dtype"):
        return None
    one_type = (bool | np.bool_, str, int | np.integer)
    sequence = hasattr(listed, "__len__") and not isinstance(listed, str | bytes | dict)
    if not sequence or not any(all(isinstance(e, kind) for e in listed) for kind in one_type):
        allowed = "None, 'from_dtype', or a list of column names, of indices, or of p truth values"
        raise checks.refuse(owner, "categorical_features", allowed, listed)
    entries = np.array(listed)
    if not entries.size or entries.tolist() == [False] * n_features:
        return {}
    names = default_names(n_features) if names is None else list(names)
    entries = entries if entries.dtype == np.bool_ else entries.astype(object)
    places = checks.places_of(entries, names, f"{owner}: categorical_features", "column")
    return dict.fromkeys(places, "nominal")


def is_anndata(X: Any) -> bool:
    """Tell whether an object is an AnnData, without an import of anndata."""
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
