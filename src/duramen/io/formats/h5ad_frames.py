"""The tables of an .h5ad file: what is known of the cells (obs) and of the genes (var)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.io.row_names import named_rows

if TYPE_CHECKING:
    import pyarrow as pa


def text_of(value: Any) -> str:
    """Text, whether it comes as bytes or not."""
    return value.decode() if isinstance(value, bytes) else str(value)


def index_of(frame: Any) -> list[str]:
    """Return the row names of a table."""
    if hasattr(frame, "dtype"):  # up to version 0.6: one array of records
        name = "index" if "index" in frame.dtype.names else frame.dtype.names[0]
        return [text_of(value) for value in frame[:][name]]
    index = _array(frame[text_of(frame.attrs.get("_index", "_index"))])
    return [] if index is None else [str(value) for value in index.to_pylist()]


def frame_of(file: Any, where: str, names: Sequence[str]) -> pa.Table:
    """Return a table of the file with its row names first, as the column ``name``.

    Columns that are neither numbers, truth values, text nor categories are left out.
    """
    import pyarrow as pa

    frame = file[where]
    columns: dict[str, Any] = {"name": pa.array(names, pa.string())}
    for name in _column_names(frame):
        column = _column(file, frame, name)
        if column is not None:
            columns[name if name != "name" else "name_"] = column
    return named_rows(pa.table(columns), "name")


def _column_names(frame: Any) -> list[str]:
    if hasattr(frame, "dtype"):
        return [name for name in frame.dtype.names[0:] if name != "index"]
    index = text_of(frame.attrs.get("_index", "_index"))
    order = frame.attrs.get("column-order", sorted(frame))
    return [name for name in map(text_of, order) if name != index and name in frame]


def _column(file: Any, frame: Any, name: str) -> Any:
    """Return a column in Arrow; None where it is of no kind that is known."""
    if hasattr(frame, "dtype"):
        values = frame[:][name]
        categories = file.get(f"uns/{name}_categories")
        if categories is None:
            return _plain(values)
        return _categories(values, _plain(categories[:]), False)
    column = frame[name]
    if not hasattr(column, "dtype"):
        parts = set(column)
        if {"codes", "categories"} <= parts:
            ordered = bool(column.attrs.get("ordered", False))
            return _categories(column["codes"][:], _array(column["categories"]), ordered)
        return _array(column)
    reference = column.attrs.get("categories")  # version 0.7
    if reference is not None:
        categories = file[reference]
        ordered = bool(categories.attrs.get("ordered", False))
        return _categories(column[:], _array(categories), ordered)
    return _plain(column[:])


def _array(node: Any) -> Any:
    """Return an array, with or without a mask, in Arrow; None where its kind is unknown."""
    if hasattr(node, "dtype"):
        return _plain(node[:])
    if {"values", "mask"} <= set(node):
        return _plain(node["values"][:], node["mask"][:])
    return None


def _plain(values: NDArray[Any], mask: NDArray[np.bool_] | None = None) -> Any:
    import pyarrow as pa

    if values.ndim != 1 or values.dtype.kind not in "biufOS":
        return None
    if values.dtype.kind in "OS":
        texts = [text_of(value) for value in values]
        return pa.array(texts, pa.string(), mask=mask)
    return pa.array(values, mask=mask)


def _categories(codes: NDArray[Any], labels: Any, ordered: bool) -> Any:
    import pyarrow as pa

    if labels is None:
        return None
    if codes.dtype.kind not in "iu" or codes.ndim != 1:
        raise ValueError(f"codes of categories are of type {codes.dtype}")
    if len(codes) and not -1 <= int(codes.min()) <= int(codes.max()) < len(labels):
        raise ValueError(f"codes of categories are not in -1..{len(labels) - 1}")
    indices = pa.array(np.maximum(codes, 0).astype(np.int32), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, labels, ordered=ordered)
