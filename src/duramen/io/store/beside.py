"""Sample annotations of a store, kept beside its columns."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def samples_table(samples: Any, function: str) -> pa.Table:
    """Return what a user gives for it, a table or the path of one, as an Arrow table."""
    from duramen.io.files import read_table

    if isinstance(samples, str | os.PathLike):
        return read_table(samples, function=function)
    table = as_arrow(samples)
    if table is None:
        raise TypeError(
            f"{function}: samples is a {type(samples).__name__}; give a data frame, an Arrow "
            "table, or the path of a file with one row for each row of the table"
        )
    return table


def as_arrow(frame: Any) -> pa.Table | None:
    """Return a data frame as an Arrow table; None where it is no data frame."""
    import narwhals as nw
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        return frame
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        return None
    if table.implementation.is_pandas() and not any(frame.index.names):
        table = nw.from_native(frame.reset_index(drop=True), eager_only=True)
    return table.to_arrow()  # without pandas' row labels, which are no column


def check_samples(samples: pa.Table | None, n_rows: int, function: str) -> None:
    """Raise ValueError if there is not one row for each row of the table."""
    if samples is not None and samples.num_rows != n_rows:
        raise ValueError(
            f"{function}: samples has {samples.num_rows} rows, but the table has {n_rows}; "
            "without row names to match, samples must have one row for each row of the table, in "
            "the same order"
        )
