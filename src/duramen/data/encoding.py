"""Encoding: a table as dense codes, and new rows in the terms of the columns of training."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen._kernel import ColumnEncoder
from duramen.data.dates import with_numbers_of_dates
from duramen.data.encoded import EncodedTable, SparseColumns
from duramen.data.memory import require_memory
from duramen.data.schema import Schema, check_names, default_names, resolve_kinds
from duramen.data.sources import (
    LARGEST_EXACT,
    Categories,
    Source,
    SparseSource,
    categories_of_numbers,
    describe,
    infinite,
    is_anndata,
    matrix_of,
    numbers_of_categories,
    open_source,
    too_large,
)
from duramen.data.text_numbers import StrayValues, stray_values, warn_of_stray_values
from duramen.support.arrays import FloatArray, TableLike
from duramen.support.checks import check_jobs, warn

_PENDING_BYTES = 1 << 25  # bytes of the columns that wait for the kernel, for each thread
_LISTED = 5  # names that a message lists
UNSEEN = -1.0


def encode(
    X: TableLike,
    *,
    names: Iterable[str] | None = None,
    kinds: str | Mapping[Any, str] | Sequence[str | None] | None = None,
    n_jobs: int | None = None,
) -> EncodedTable:
    """Encode a table into dense codes, one for each distinct value of a column.

    Parameters
    ----------
    X : table of shape (n, p)
        A two-dimensional NumPy array or list of rows; a pandas, polars or pyarrow table; a scipy
        sparse matrix, whose columns stay sparse where few rows differ; an AnnData, whose matrix
        ``X`` has the rows and whose variables are the columns; an `EncodedTable`, which is returned
        as it is; or a `ColumnStore`, which is mapped into memory.
    names : iterable of str, optional
        Names of the columns; by default the labels of the table as text, those of a MultiIndex
        joined by ``_``, else ``x0``, ``x1``, ...
    kinds : str, mapping or sequence, optional
        "numeric", "ordinal" or "nominal": one for all columns, a mapping from names or indices, or
        a sequence with one entry a column (None: decide by type). By type, numbers and booleans
        are numeric; ordered categories and polars enums are ordinal in their order; other
        categories and strings are nominal, their labels sorted. A numeric column named ordinal or
        nominal has its values as labels. Strings named ordinal are in lexicographic order; a
        categorical column named ordinal is in the order of its categories.
    n_jobs : int, optional
        Threads; None means 1, -1 all processors. The result does not depend on it.

    Returns
    -------
    EncodedTable

    Raises
    ------
    ValueError
        If the table is empty or not two-dimensional, names repeat, a value is infinite or complex,
        or integers lie beyond 2**53, where float64 cannot tell them apart.
    TypeError
        If a column holds dates, nested values or mixed types.
    MemoryError
        If the codes would not fit in memory.

    Warns
    -----
    StrayValuesWarning
        Where a column of text whose kind is not given is nominal although most of its values are
        numbers: a ``?`` or ``n/a`` among them, or decimal commas.

    Examples
    --------
    >>> import duramen as dm
    >>> rows = [["A", 31.0], ["0", None], ["A", 47.0]]
    >>> table = dm.encode(rows, names=["blood", "age"])
    >>> table
    EncodedTable of 3 rows x 2 columns (1 numeric, 1 nominal), 1 with missing values
    >>> table.codes(0).tolist(), table.values(0).tolist()
    ([1, 0, 1], ['0', 'A'])
    """
    function = "encode"
    if isinstance(X, EncodedTable) or hasattr(X, "as_table"):
        if names is not None or kinds is not None:
            raise ValueError(
                "encode: X is encoded already, so names and kinds cannot be given; "
                "give them when it is encoded first"
            )
        return X if isinstance(X, EncodedTable) else X.as_table()
    if is_anndata(X):
        X, of_variables = matrix_of(X, function)
        names = of_variables if names is None else names
    source = open_source(X, function)
    shape = (source.n_rows, source.n_columns)
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(
                f"{function}: found array with 0 {what}(s) (shape={shape}) while a minimum of 1 "
                "is required."
            )
    if source.n_rows >= 2**32 - 1:
        raise ValueError(
            f"{function}: X has {source.n_rows} rows; at most 2**32 - 2 can be encoded: "
            "take a sample of the rows"
        )
    n_bytes = source.n_rows * source.n_columns
    if isinstance(source, SparseSource):  # the sparse columns have 3/16 of a byte a row
        n_bytes = min(n_bytes, n_bytes * 3 // 16 + source.n_stored)
    require_memory(
        n_bytes,
        what=f"a table of {shape[0]} x {shape[1]} codes",
        function=function,
        hint="take fewer columns or rows",
    )
    if names is not None:
        chosen = check_names(names, source.n_columns, function)
    else:
        chosen = source.names or default_names(source.n_columns)
    asked = resolve_kinds(kinds, chosen, function)
    return encode_source(
        source,
        chosen,
        asked,
        named=names is not None or source.named,
        n_threads=check_jobs(function, n_jobs),
        function=function,
    )


def encode_source(
    source: Source,
    chosen: tuple[str, ...],
    asked: Sequence[str | None],
    *,
    named: bool,
    n_threads: int,
    function: str,
    pending: int = _PENDING_BYTES,
) -> EncodedTable:
    """Encode a source of p `chosen` names and `asked` kinds, None where the type decides.

    `named` says whether the table or the user gave the names. Columns wait for the kernel in groups
    of `pending` bytes a thread.
    """
    encoder = ColumnEncoder(source.n_rows, n_threads)
    labels: dict[int, NDArray[Any]] = {}
    integral: dict[int, bool] = {}  # whether columns of numbers are whole
    stored = source.stored
    whole = source.matrix if stored is None else stored.values
    as_numbers = set(asked) <= {None, "numeric"}
    if whole is not None and (as_numbers or not whole.size or not _beyond_exact(whole)):
        outcome = encoder.add_matrix(whole) if stored is None else encoder.add_sparse(*stored)
        if outcome >= 0:
            raise ValueError(_rejection(whole, function, chosen[outcome]))
        kinds = [kind or "numeric" for kind in asked]
        if set(kinds) != {"numeric"}:
            integral = dict.fromkeys(range(source.n_columns), whole.dtype.kind != "f")
    else:
        kinds = []
        waiting: list[NDArray[Any]] = []  # columns of numbers
        n_bytes = 0
        stray: list[StrayValues] = []

        def flush() -> None:
            outcome = encoder.add(waiting)
            if outcome >= 0:
                name = chosen[len(kinds) - len(waiting) + outcome]
                raise ValueError(_rejection(waiting[outcome], function, name))
            waiting.clear()

        for j, (name, kind) in enumerate(zip(chosen, asked, strict=True)):
            column = source.column(j, name, function, kind)
            if isinstance(column, Categories):
                if kind == "numeric":
                    column = numbers_of_categories(
                        column.labels, column.codes, function=function, name=name
                    )
            elif kind in ("ordinal", "nominal") and _beyond_exact(column):
                column = categories_of_numbers(column)
            if isinstance(column, Categories):
                own = column.labels
                if column.text and kind is None:
                    counts = np.bincount(column.codes, minlength=len(own))[: len(own)]
                    found = stray_values(name, own.tolist(), counts)
                    stray += [] if found is None else [found]
                flush()
                encoder.add_codes(column.codes, len(own), column.missing)
                labels[j] = own
                kinds.append(kind or ("ordinal" if column.ordered else "nominal"))
                continue
            integral[j] = column.dtype.kind != "f"
            waiting.append(column)
            kinds.append(kind or "numeric")
            n_bytes += column.nbytes
            if n_bytes > pending * n_threads:
                flush()
                n_bytes = 0
        flush()
        warn_of_stray_values(stray, function)
    blocks, sparse, block_of, slot, values, offsets, missing = encoder.finish()
    for j, of_integers in integral.items():
        if kinds[j] != "numeric":  # numbers as categories: their values become labels
            own = values[offsets[j] : offsets[j + 1]]
            labels[j] = own.astype(np.int64) if of_integers else own.copy()
            own[:] = np.arange(len(own))
    bits, frequent, width, begin, narrow, middle, wide = sparse
    columns = None
    if len(width):
        columns = SparseColumns(source.n_rows, bits, frequent, width, begin, (narrow, middle, wide))
    return EncodedTable(
        n_rows=source.n_rows,
        names=chosen,
        kinds=tuple(kinds),
        blocks=blocks,
        block_of=block_of,
        slot=slot,
        cut_values=values,
        value_offsets=offsets,
        labels=labels,
        missing=missing,
        named=named,
        sparse=columns,
    )


def _beyond_exact(array: NDArray[Any]) -> bool:
    """Return whether some integers are too large to be exact in float64."""
    return array.dtype == np.int64 and bool(
        array.max() > LARGEST_EXACT or array.min() < -LARGEST_EXACT
    )


def _rejection(array: NDArray[Any], function: str, name: str) -> str:
    return (infinite if array.dtype.kind == "f" else too_large)(function, name)


def routing_values(
    schema: Schema, X: Any, *, estimator_name: str | None = None, function: str = "routing_values"
) -> FloatArray:
    """Read rows of X in the terms of a schema, to be sent down trees.

    X is anything that `encode` takes. Where an estimator asks, errors read as scikit-learn's do,
    and names that are missing on one side are warned about. Returned is a C-contiguous float64
    array of shape (n, p): the value in numeric columns; the code in ordinal and nominal ones, -1
    for a category that training never saw; NaN for missing. It is X itself where X is such an array
    and all columns are numeric.
    """
    if schema.dates:
        X = with_numbers_of_dates(X, schema.dates, function)
    table = X if isinstance(X, EncodedTable) else open_source(X, function)
    names = table.names if table.named else None
    matrix = None if isinstance(table, EncodedTable) or schema.labels else table.matrix
    if schema.named and names is not None and tuple(names) != schema.names:
        unseen, absent = set(names) - set(schema.names), set(schema.names) - set(names)
        lines = ["The feature names should match those that were passed during fit."]
        for title, listed in (
            ("Feature names unseen at fit time:", sorted(unseen)),
            ("Feature names seen at fit time, yet now missing:", sorted(absent)),
        ):
            if listed:
                more = ["- ..."] if len(listed) > _LISTED else []
                lines += [title, *(f"- {name}" for name in listed[:_LISTED]), *more]
        if not unseen and not absent:
            lines.append("Feature names must be in the same order as they were in fit.")
        raise ValueError("\n".join(lines) + "\n")
    if table.n_columns != schema.n_columns:
        raise ValueError(
            f"X has {table.n_columns} features, but {estimator_name or function} is expecting "
            f"{schema.n_columns} features as input"
        )
    if estimator_name is not None and schema.named != (names is not None):
        new = "does not have valid feature names" if schema.named else "has feature names"
        old = "with" if schema.named else "without"
        warn(f"X {new}, but {estimator_name} was fitted {old} feature names")
    if table.n_rows == 0:
        raise ValueError(
            f"{function}: found array with 0 sample(s) (shape=(0, {schema.n_columns})) while a "
            "minimum of 1 is required."
        )
    if matrix is not None:
        values = np.ascontiguousarray(matrix, dtype=np.float64)
    else:
        require_memory(
            table.n_rows * schema.n_columns * 8,
            what=f"a dense table of {table.n_rows} x {schema.n_columns} values",
            function=function,
            hint="predict fewer rows at a time",
        )
        values = np.empty((table.n_rows, schema.n_columns))
        for j, name in enumerate(schema.names):
            labels, codes = schema.labels.get(j), None
            if isinstance(table, EncodedTable):
                column, codes = table.values(j), table.codes(j)
                if name in schema.dates and name in table.dates:
                    column = schema.dates[name].numbers_from(column, table.dates[name], name)
            else:
                read = table.column(j, name, function)
                column = read.labels if isinstance(read, Categories) else read
                codes = read.codes if isinstance(read, Categories) else None
            if labels is None:
                if codes is not None:
                    column = numbers_of_categories(column, codes, function=function, name=name)
                values[:, j] = column
            elif codes is not None:
                codes_in_forest = _look_up(column, labels, name, function)
                values[:, j] = np.append(codes_in_forest, np.nan)[codes]
            else:
                present = ~np.isnan(column)
                values[:, j] = np.nan
                if present.any():  # without a value, its type does not tell what it would hold
                    if column.dtype.kind != labels.dtype.kind and labels.dtype != object:
                        column, labels = column.astype(np.float64), labels.astype(np.float64)
                    values[present, j] = _look_up(column[present], labels, name, function)
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return values
    for begin in range(0, len(values), 4096):
        columns = np.isinf(values[begin : begin + 4096]).any(axis=0)
        if columns.any():
            raise ValueError(infinite(function, schema.names[int(columns.argmax())]))
    return values


def _look_up(values: NDArray[Any], labels: NDArray[Any], name: str, function: str) -> FloatArray:
    """Return the position of each value among the labels, -1 for other values."""
    if len(labels) == 0 or len(values) == 0:
        return np.full(len(values), UNSEEN)
    if (values.dtype == object) != (labels.dtype == object):
        was, came = ("strings", "numbers") if labels.dtype == object else ("numbers", "strings")
        label, new = labels[:1].tolist()[0], values[:1].tolist()[0]
        raise ValueError(
            f"{function}: {describe(name)} held {was} when fitted, such as {label!r}, but "
            f"holds {came} now, such as {new!r}; convert it to {was}"
        )
    order = None
    if not bool(np.all(labels[:-1] <= labels[1:])):  # declared orders need not be sorted
        order = np.argsort(labels, kind="stable")
    place = np.minimum(np.searchsorted(labels, values, sorter=order), len(labels) - 1)
    code = place if order is None else order[place]
    return np.where(labels[code] == values, code.astype(np.float64), UNSEEN)
