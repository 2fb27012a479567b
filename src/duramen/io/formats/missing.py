"""Words for missing values in columns that have types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def with_missing(table: pa.Table, words: Sequence[str]) -> pa.Table:
    """Return a table where some words, and the numbers that they stand for, are missing values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from duramen.io.formats.missing import with_missing
    >>> with_missing(pa.table({"age": [36, -99], "site": ["?", "A"]}), ["-99", "?"]).to_pydict()
    {'age': [36, None], 'site': [None, 'A']}
    """
    import pyarrow as pa

    if not words:
        return table
    columns = [_with_missing(column, list(map(str, words))) for column in table.columns]
    return pa.table(columns, names=table.column_names)


def _with_missing(column: Any, words: list[str]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        sought = pa.array(words, kind)
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        numbers = [number for number in map(_number, words) if number is not None]
        sought = pa.array(_of_kind(numbers, kind), kind)
    else:
        return column
    return pc.if_else(pc.is_in(column, sought), pa.scalar(None, kind), column)


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _of_kind(numbers: list[float], kind: Any) -> list[Any]:
    """Return the numbers that a type can hold."""
    import pyarrow as pa

    if pa.types.is_floating(kind):
        return list(numbers)
    signed = pa.types.is_signed_integer(kind)
    least = -(2 ** (kind.bit_width - 1)) if signed else 0
    most = 2 ** (kind.bit_width - signed) - 1
    return [int(number) for number in numbers if number.is_integer() and least <= number <= most]
